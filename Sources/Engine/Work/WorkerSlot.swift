// A worker process as a lane uses it: started when it is needed, given each pipeline once, and replaced when it has
// grown old or has lied.
import Messages
import Pipeline
import Synchronization
import System

/// One worker process and the pipelines that it knows. Used from one thread at a time.
final class WorkerSlot {
    /// The pool outlives its slots: it has those that are idle, and who has one keeps the pool.
    private unowned let workers: WorkerPool
    /// The cancellation that ends the wait for an answer; whoever takes the slot sets it.
    var cancellation = Cancellation()
    /// Ends the wait for an answer too; whoever takes the slot sets it.
    var isSilent: () -> Bool = { false }
    /// It is lent for work of one inbox alone.
    var isApart = false
    private var worker: WorkerProcess?
    /// The pipelines that the worker was given, by what tells them apart.
    private var known: [ObjectIdentifier: Known] = [:]
    /// The kind of the worker.
    private(set) var kind = WorkerKind()
    /// The source that the worker was asked about last, and whether it was asked about others before.
    private var source: BytePath?
    private var hasMetOthers = false

    struct Known {
        /// The number of the pipeline in messages.
        let number: Int
        let planner: Planner
        /// By the paths as the pipeline writes them.
        let assets: [String: AssetFacts]
        /// Keeps the identity from being used again.
        fileprivate let pipeline: LoadedPipeline
    }

    /// A worker is replaced after so many renderings, or once it keeps so many bytes: that bounds what its libraries
    /// may have leaked.
    private static let renderingsPerWorker = 5000
    private static let keptBytesPerWorker = 768 << 20
    /// The remains of pipelines in a worker are bounded too.
    private static let mostPipelines = 64
    /// The number of the pipeline that has values of one picture; the worker removes the one before.
    private static let ofPicture = 0
    private static let timeToPrepare = TimeBound(seconds: 60)

    init(_ workers: WorkerPool) { self.workers = workers }

    // MARK: - The worker

    /// The worker that gave the last answer, or was lost over it, has met no other source before.
    var isFresh: Bool { !hasMetOthers }

    /// The next question goes to a new worker.
    func replaceWorker() {
        worker = nil
        known = [:]
    }

    /// The next questions are about this source.
    func begin(_ identity: BytePath) {
        if let source, source != identity { hasMetOthers = true }
        source = identity
    }

    /// Whether nothing would have to be replaced for work of a kind.
    func serves(_ kind: WorkerKind) -> Bool { worker != nil && self.kind.serves(kind) }

    var hasNoProcess: Bool { worker == nil }

    /// The memory that the worker has taken since its last answer, and the processor time of its whole life.
    var spending: (memory: Int, processorSeconds: Double) { (worker?.growth ?? 0, worker?.processorSeconds ?? 0) }

    /// Only pictures that need text, or have a format on request, meet a worker that can read fonts, or that format.
    private func become(_ kind: WorkerKind) {
        if isUsable && self.kind.serves(kind) { return }
        replaceWorker()
        // Pipelines that need other modules take turns with one worker.
        let modules = self.kind.isOfFamily(kind) ? self.kind.modules : []
        self.kind = kind
        self.kind.modules.formUnion(modules)
    }

    private var isUsable: Bool {
        guard let worker else { return false }
        return worker.renderings < Self.renderingsPerWorker && worker.restingMemory < Self.keptBytesPerWorker
            && known.count < Self.mostPipelines
    }

    /// Starts the worker if there is none.
    func start() throws(SystemError) {
        guard worker == nil else { return }
        worker = try workers.start()
        (source, hasMetOthers) = (nil, false)
    }

    // MARK: - Questions

    /// Makes sure that there is a worker that knows the pipeline.
    /// - Returns: the pipeline's number, and its planner with the assets as the worker found them.
    /// - Throws: `Diagnostics` if an asset cannot be decoded or a format cannot be saved, `SystemError` if no worker
    ///   can be started, `WorkerLoss`.
    func prepare(_ pipeline: LoadedPipeline, limits: Limits, kind: WorkerKind) throws -> Known {
        do {
            return try learn(pipeline, limits, kind)
        } catch  where source != nil && (error is Diagnostics || error is Failure) {
            // A picture that the worker has met may have brought that about: a fresh one has the last word.
            replaceWorker()
            return try learn(pipeline, limits, kind)
        }
    }

    private func learn(_ pipeline: LoadedPipeline, _ limits: Limits, _ kind: WorkerKind) throws -> Known {
        become(kind)
        if let known = known[pipeline.identity] { return known }
        let number = pipeline.isOfPicture ? Self.ofPicture : 1 + (known.values.map(\.number).max() ?? Self.ofPicture)
        let message = pipeline.message(id: number, kind: self.kind, limits: limits)
        let formats = Set(pipeline.file.renditions.map(\.save.format))
        // Several workers read the assets at one time.
        let files = try pipeline.assets.map { asset throws(SystemError) in try asset.reopened() }
        try start()
        try worker?.limit(limits)
        if pipeline.isOfPicture { known = known.filter { $0.value.number != Self.ofPicture } }
        do {
            // How large assets are is not known here; their pixels may take what pictures may.
            let growth = Self.growthOfPreparation + (files.isEmpty ? 0 : limits.maximumMemory)
            let facts = try ask(
                WorkerQuestion(.prepare(message), files: files), within: Self.timeToPrepare, growth: growth
            ) {
                try $0.assets(for: message, saving: formats)
            }
            let assets = Dictionary(zip(message.assets.map(\.path), facts)) { first, _ in first }
            let planner = Planner(pipeline: pipeline.file, assets: assets, limits: limits)
            let prepared = Known(number: number, planner: planner, assets: assets, pipeline: pipeline)
            known[pipeline.identity] = prepared
            return prepared
        } catch let bad as WorkerReply.BadAsset {
            throw pipeline.diagnostics(asset: bad.index, bad.failure)
        } catch let bad as WorkerReply.BadFormat {
            throw pipeline.diagnostics(format: bad.format, detail: bad.detail)
        }
    }

    /// Whether pictures of a format can be read on this system at all, by a worker of this kind.
    func canRead(_ format: SourceFormat, _ kind: WorkerKind) throws -> Bool {
        become(kind)
        let isFirst = worker == nil || source == nil
        try start()
        let isReadable = try ask(
            WorkerQuestion(.tryReading(format)), within: Self.timeToPrepare, growth: Self.growthOfPreparation
        ) {
            try $0.isReadable()
        }
        // As above.
        guard !isReadable, !isFirst else { return isReadable }
        replaceWorker()
        return try canRead(format, kind)
    }

    func facts(
        of source: OpenedSource, page: Int?, wanted: WantedMetadata = WantedMetadata(), _ limits: Limits
    ) throws -> SourceFacts {
        try ask(
            WorkerQuestion(.probe(source.format, page: page, wanted: wanted), files: [source.file]),
            within: TimeBound(header: limits), growth: Self.growthOfHeader + 2 * source.bytes
        ) {
            try $0.facts(of: source.format, wanted: wanted)
        }
    }

    /// Returns true if a pixel of the source of the last probe is not opaque.
    func isTransparent(_ known: Known, within time: TimeBound, memory: ReservedMemory) throws -> Bool {
        try ask(WorkerQuestion(.findTransparency(pipeline: known.number)), within: time, growth: memory.growth) {
            try $0.isTransparent()
        }
    }

    func measurements(
        _ message: RenderMessage, _ planner: Planner, of opened: OpenedInput, within time: TimeBound,
        memory: ReservedMemory
    ) throws -> [StageMeasurement] {
        // The members are decoded anew for each stage that is measured.
        let members = Members(of: opened, passes: planner.pipeline.measuredStages.count)
        let question = WorkerQuestion(.measure(message))
        return try ask(question, within: time, growth: memory.growth, members: members) {
            try $0.measurements(for: planner.pipeline)
        }
    }

    /// - Parameter outputs: one for each rendition that is wanted.
    func render(
        _ message: RenderMessage, by plan: SourcePlan, of opened: OpenedInput, to outputs: [OpenFile],
        memory: ReservedMemory
    ) throws -> RenderResult {
        let members = Members(of: opened, passes: 1)
        let question = WorkerQuestion(.render(message), files: outputs)
        return try ask(question, within: plan.time, growth: memory.growth, members: members) {
            try $0.rendered(count: outputs.count, mayUsePreviews: plan.mayUsePreviews)
        }
    }

    /// By how many bytes a worker may grow over a header, besides twice the file: metadata are unpacked and kept.
    private static let growthOfHeader = 192 << 20
    /// By how many bytes a worker may grow while it gets ready: with its libraries, their fonts and plugins.
    private static let growthOfPreparation = 512 << 20

    /// Asks the worker, which is replaced if it is lost over the question or answers what cannot be.
    private func ask<Answer>(
        _ question: WorkerQuestion, within time: TimeBound, growth: Int, members: Members? = nil,
        checked: (WorkerReply) throws -> Answer
    ) throws -> Answer {
        guard let worker else { throw Failure(.internal, stage: "read", "there is no worker") }
        var question = question
        question.members = members?.access ?? .none
        do {
            let reply = try worker.ask(
                question, within: time, growth: growth, cancellation: cancellation, isSilent: isSilent)
            let answer = try checked(reply)
            if let trouble = members?.trouble { throw trouble }
            return answer
        } catch let loss as WorkerLoss {
            replaceWorker()
            throw loss
        } catch let failure as Failure {
            // The worker only knows that it got nothing.
            throw members?.trouble ?? failure
        }
    }
}

/// The memory for a piece of work, in bytes.
struct ReservedMemory {
    /// The bytes that it needs at most, if the picture is what its header says.
    let predicted: Int
    /// The bytes that nothing else gets meanwhile; all that there are, if it is done alone.
    let reserved: Int

    private static let growthBeyondPrediction = 128 << 20

    init(_ predicted: Int, of budget: MemoryBudget, alone: Bool) {
        self.predicted = predicted
        reserved = alone ? budget.total : predicted
    }

    /// By how many bytes its worker may grow.
    var growth: Int { max(predicted + predicted / 4 + Self.growthBeyondPrediction, reserved) }
}

/// Opens the members of a set for a worker, and remembers why one could not be opened.
private final class Members: Sendable {
    private let firstTrouble = Mutex<Failure?>(nil)
    private let set: OpenedSet
    private let passes: Int

    /// - Parameter passes: how many times the worker may ask for each member.
    /// - Returns: nil for a single picture.
    init?(of opened: OpenedInput, passes: Int) {
        guard case .set(let set) = opened else { return nil }
        (self.set, self.passes) = (set, passes)
    }

    var trouble: Failure? { firstTrouble.withLock { $0 } }

    var access: MemberAccess {
        MemberAccess(count: set.count, mostRequests: set.count * passes) { index in
            do throws(Failure) {
                return try self.set.open(index).file
            } catch {
                self.firstTrouble.withLock { $0 = $0 ?? error }
                return nil
            }
        }
    }
}
