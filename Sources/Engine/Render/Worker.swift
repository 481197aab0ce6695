// The worker process: the only place where pixels exist. It opens nothing by itself; everything it reads and writes comes as a descriptor.
import CLinux
import Glibc
import Pipeline
import Stages
import Vips

/// The life of a worker process, from start to the end of its socket.
package enum Worker {
    /// Serves requests on standard input until the supervisor closes it.
    /// - Returns: the exit code.
    package static func run() -> CInt {
        // Where the supervisor is gone already, its end of the socket is closed, which ends the loop below. Its number tells nothing:
        // in a container it may well be 1.
        guard clinux_bind_to_parent() == 0 else { return 70 }
        _ = clinux_limit_core(0)
        // A file that grows past its limit is an error to report, not a reason to die.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        do {
            try VipsLibrary.start(threads: 1)
        } catch {
            let words = "libvips does not start: \(error)\n"
            _ = write(2, words, words.utf8.count)
            return 70
        }
        VipsLibrary.blockUntrusted()
        var worker = WorkerState()
        let channel = Channel(OpenFile(owning: dup(0)))
        while let (request, files) = try? channel.receive(Request.self) {
            let reply = worker.answer(request, files)
            guard (try? channel.send(reply)) != nil else { return 70 }
        }
        return 0
    }
}

/// What a worker keeps between requests: the pipelines it was given.
private struct WorkerState {
    private struct Prepared {
        let planner: Planner
        let assets: AssetStore
    }

    private var pipelines: [Int: Prepared] = [:]

    mutating func answer(_ request: Request, _ files: [OpenFile]) -> Reply {
        // What an earlier picture left behind is not this one's fault.
        _ = VipsLibrary.takeErrors()
        _ = GLibLog.shared.take()
        switch request {
        case .prepare(let message): return prepare(message, files)
        case .probe(let format): return reply(decoding: { .facts(try Loader.facts(of: format, try single(files))) })
        case .render(let message): return reply(decoding: { .rendered(try render(message, files)) })
        }
    }

    private mutating func prepare(_ message: PipelineMessage, _ files: [OpenFile]) -> Reply {
        _ = clinux_limit_file_size(UInt64(clamping: message.limits.maximumOutputBytes))
        // The last stop only: admission is by prediction. Below 2 GiB libvips has been seen to succeed with wrong pixels.
        _ = clinux_limit_address_space(UInt64(clamping: max(4 << 30, 2 * message.limits.maximumMemory + (2 << 30))))
        guard files.count == message.assets.count,
            let file = try? PipelineFile(text: message.text, file: message.name, catalogue: .all)
        else { return .failed(Failure(.internal, stage: "read", "the worker does not understand the pipeline")) }
        let assets = AssetStore()
        for (index, asset) in message.assets.enumerated() {
            do {
                try assets.add(asset, files[index])
            } catch {
                return .assetFailed(index, failure(from: error, stage: "decode"))
            }
        }
        let planner = Planner(pipeline: file, assets: assets.facts, limits: message.limits)
        pipelines[message.id] = Prepared(planner: planner, assets: assets)
        return .assets(message.assets.compactMap { assets.facts[$0.path] })
    }

    private func render(_ message: RenderMessage, _ files: [OpenFile]) throws -> RenderResult {
        guard let prepared = pipelines[message.pipeline], let source = files.first else {
            throw Failure(.internal, stage: "read", "the worker was not given the pipeline or the source")
        }
        let plan = try prepared.planner.plan(message.facts, pixelsPerPoint: message.pixelsPerPoint)
        guard files.count == plan.renditions.count + 1 else {
            throw Failure(.internal, stage: "save", "the worker was given \(files.count - 1) outputs for \(plan.renditions.count) renditions")
        }
        let renderer = Renderer(plan: plan, pipeline: prepared.planner.pipeline, assets: prepared.assets)
        return try renderer.render(source, to: Array(files.dropFirst()))
    }

    private func single(_ files: [OpenFile]) throws -> OpenFile {
        guard let file = files.first, files.count == 1 else { throw Failure(.internal, stage: "read", "a request came without its source") }
        return file
    }

    private func reply(decoding work: () throws -> Reply) -> Reply {
        do {
            return try work()
        } catch {
            return .failed(failure(from: error, stage: "decode"))
        }
    }

    private func failure(from error: any Error, stage: String) -> Failure {
        switch error {
        case let failure as Failure: failure
        case let error as PlanFailure: error.failure
        case let error as VipsError:
            Failure(.corrupt, stage: stage, "the picture cannot be decoded", detail: error.description)
        default: Failure(.internal, stage: stage, "an unexpected error", detail: "\(error)")
        }
    }
}
