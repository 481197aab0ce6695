// A lane's worker process: started when it is needed, given each pipeline once, and replaced when it has grown old.
import Pipeline

/// One worker process and the pipelines that it knows. Used from one thread.
final class WorkerSeat {
    private let workers: WorkerStarter
    private let cancellation: Cancellation
    private var worker: WorkerProcess?
    /// The pipelines that the worker was given, by what tells them apart.
    private var known: [ObjectIdentifier: Known] = [:]
    /// What the worker still held after its last rendering, in bytes.
    var keptBytes = 0
    /// How many workers were started here.
    private(set) var starts = 0

    struct Known {
        /// What messages call the pipeline.
        let number: Int
        let planner: Planner
        /// By the paths as the pipeline writes them.
        let assets: [String: AssetFacts]
        /// Keeps the identity from being used again.
        fileprivate let pipeline: LoadedPipeline
    }

    /// A worker is replaced after so many renderings, or once it keeps so many bytes: that bounds what its libraries may have leaked.
    private static let renderingsPerWorker = 5000
    private static let keptBytesPerWorker = 768 << 20
    /// What pipelines leave behind in a worker is bounded too.
    private static let mostPipelines = 64

    init(_ workers: WorkerStarter, cancellation: Cancellation) {
        self.workers = workers
        self.cancellation = cancellation
    }

    private var isFresh: Bool {
        guard let worker else { return false }
        return worker.renderings < Self.renderingsPerWorker && keptBytes < Self.keptBytesPerWorker && known.count < Self.mostPipelines
    }

    /// The worker is gone, or is not to be trusted any more.
    func letGo() {
        worker = nil
        known = [:]
        keptBytes = 0
    }

    /// Sees to it that there is a worker that knows the pipeline.
    /// - Returns: the pipeline's number, and its planner with the assets as the worker found them.
    /// - Throws: `Diagnostics` where an asset cannot be decoded, `SystemError` where no worker can be started.
    func prepare(_ pipeline: LoadedPipeline, _ limits: Limits) throws -> Known {
        if !isFresh { letGo() }
        if let known = known[pipeline.identity] { return known }
        let number = known.count + 1
        let message = pipeline.message(id: number, limits: limits)
        // Several workers read the assets at one time.
        let files = try pipeline.assets.map { asset throws(SystemError) in try asset.file.reopened() }
        switch try process().ask(.prepare(message), files: files, withinSeconds: 60, cancellation: cancellation) {
        case .assets(let facts) where facts.count == message.assets.count:
            let assets = Dictionary(zip(message.assets.map(\.path), facts)) { first, _ in first }
            let planner = Planner(pipeline: pipeline.file, assets: assets, limits: limits)
            let prepared = Known(number: number, planner: planner, assets: assets, pipeline: pipeline)
            known[pipeline.identity] = prepared
            return prepared
        case .assetFailed(let index, let failure) where message.assets.indices.contains(index):
            throw pipeline.diagnostics(asset: index, failure)
        case .failed(let failure): throw failure
        case .assets, .facts, .measured, .rendered, .assetFailed, .needsMember: throw WorkerLoss.confused("an answer to another question")
        }
    }

    private func process() throws(SystemError) -> WorkerProcess {
        if let worker { return worker }
        let process = try workers.start()
        starts += 1
        worker = process
        return process
    }

    /// Asks the worker, and gives it the members of a set as it wants them.
    func ask(
        _ request: Request, _ files: [OpenFile] = [], seconds: Double, membersOf opened: OpenedInput? = nil, limits: Limits
    ) throws -> Reply {
        guard let worker else { throw Failure(.internal, stage: "read", "there is no worker") }
        guard case .set(let set)? = opened else {
            return try worker.ask(request, files: files, withinSeconds: seconds, cancellation: cancellation)
        }
        var trouble: Failure?
        let reply = try worker.ask(request, files: files, withinSeconds: seconds, cancellation: cancellation) { index in
            guard (0..<set.count).contains(index) else { return nil }
            do throws(Failure) {
                return try set.open(index, limits: limits).file
            } catch {
                trouble = error
                return nil
            }
        }
        // The worker only knows that it got nothing.
        if let trouble { throw trouble }
        return reply
    }
}
