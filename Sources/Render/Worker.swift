// The worker process: the only place where pixels exist. It can open nothing by itself; everything it reads and writes
// comes as a descriptor.
import CLinux
import Glibc
import Messages
import Pipeline
import Stages
import System
import Vips

/// The life of a worker process, from start to the end of its socket.
package enum Worker {
    /// Freed bytes at the end of the heap above which they are given back at once: what one picture frees, the next one
    /// takes. Before one of another need, all but `CostModel.keptMemory` are given back.
    private static let trimThreshold = 64 << 20

    /// Serves requests on standard input until the supervisor closes it.
    /// - Returns: the exit code.
    package static func run() -> CInt {
        // If the supervisor is gone already, its end of the socket is closed, which ends the loop below. Its number
        // tells nothing: in a container it may well be 1.
        guard clinux_bind_to_parent() == 0 else { return 70 }
        _ = clinux_forbid_core()
        clinux_end_without_threads()
        // Files in memory only: libvips would else write large pictures to a temporary file.
        _ = clinux_set_environment("VIPS_DISC_THRESHOLD", "1000g")
        clinux_keep_freed_memory(trimThreshold)
        // A file that grows past its limit is an error to report, not a reason to die.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        do {
            try VipsLibrary.start(threads: 1, loadsModules: false)
        } catch {
            let words = "libvips does not start: \(error)\n"
            _ = write(2, words, words.utf8.count)
            return 70
        }
        VipsLibrary.blockUntrusted()
        _ = clinux_die_first()
        var worker = WorkerState()
        let channel = Channel(OpenFile(owning: dup(0)))
        while let reply = answer(channel, &worker) {
            guard (try? channel.send(reply)) != nil else { return 70 }
        }
        return 0
    }

    /// The answer to the next request. The files that came with it are closed when this returns: the supervisor takes
    /// an output that is still open after the answer for a lie.
    private static func answer(_ channel: Channel, _ worker: inout WorkerState) -> Reply? {
        guard let (request, files) = try? channel.receive(Request.self) else { return nil }
        return worker.answer(request, files: files) { try channel.member($0) }
    }
}

/// The state of a worker between requests: the pipelines it was given, and the source that it works on.
private struct WorkerState {
    private struct Prepared {
        let planner: Planner
        let assets: AssetStore
    }

    private var pipelines: [Int: Prepared] = [:]
    /// Formats that were tried and can be saved.
    private var savable: Set<OutputFormat> = []
    /// The source that the last probe opened, until it is rendered.
    private var source: ProbedSource?
    /// The most bytes that a picture needed to be decoded since freed memory was given back.
    private var largestNeed = 0
    /// So much less may a picture need than the one that has left its buffers: they are found again but for that.
    private static let mostUnused = CostModel.keptMemory / 2
    private let profiles = ProfileBook()
    private var sandbox = Sandbox()
    private var kind = WorkerKind()

    /// - Parameter member: asks for a member of the set that is under way.
    mutating func answer(_ request: Request, files: [OpenFile], member: @escaping (Int) throws -> OpenFile) -> Reply {
        // Messages that an earlier picture left behind are not this one's fault.
        _ = VipsLibrary.takeErrors()
        _ = GLibLog.shared.take()
        // Nor does its plan say what may stay allocated.
        clinux_bound_heap(0, 0)
        switch request {
        case .prepare(let message): return prepare(message, files)
        case .tryReading(let format): return reply { worker in .readable(try worker.tryReading(format)) }
        case _ where !sandbox.isEntered:
            return .failed(Failure(.internal, stage: "read", "the worker was not given a pipeline"))
        case .probe(let format, let page, let wanted):
            return reply { worker in .facts(try worker.probe(format, page: page, wanted: wanted, files)) }
        case .measure(let message): return reply { worker in .measured(try worker.measure(message, member)) }
        case .findTransparency(let number):
            return reply { worker in .transparent(try worker.findTransparency(number)) }
        case .render(let message):
            return reply { worker in .rendered(try worker.render(message, files: files, member: member)) }
        case .member: return .failed(Failure(.internal, stage: "read", "a member came that nobody asked for"))
        }
    }

    private mutating func prepare(_ message: PipelineMessage, _ files: [OpenFile]) -> Reply {
        do {
            try sandbox.enter(message.kind)
            kind = message.kind
        } catch {
            return .failed(
                Failure(.internal, stage: "read", "the worker process cannot be shut in", detail: error.description))
        }
        guard files.count == message.assets.count,
            let file = try? PipelineFile(
                text: message.text, file: message.name, given: message.given, ofPicture: message.ofPicture,
                catalogue: .complete)
        else { return .failed(Failure(.internal, stage: "read", "the worker does not understand the pipeline")) }
        for format in Set(file.renditions.map(\.save.format)).subtracting(savable) {
            if let words = CodecTrial.trouble(saving: format) { return .cannotSave(format, words) }
            savable.insert(format)
        }
        // The pipeline of the picture before is removed first.
        pipelines[message.id] = nil
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

    /// Reads our own sample of a format, whatever the kind of this worker.
    private mutating func tryReading(_ format: SourceFormat) throws -> Bool {
        if !sandbox.isEntered, let module = format.declaration.module { Sandbox.load(module) }
        // Decoding the sample may start threads, and this worker may be told to read fonts later.
        try sandbox.narrow()
        guard format != kind.format, let operations = format.decoder.blockedClass else {
            return CodecTrial.canRead(format)
        }
        VipsLibrary.setBlocked(operations, false)
        defer { VipsLibrary.setBlocked(operations, true) }
        return CodecTrial.canRead(format)
    }

    private mutating func probe(
        _ format: SourceFormat, page: Int?, wanted: WantedMetadata, _ files: [OpenFile]
    ) throws -> SourceFacts {
        source = nil
        guard kind.reads(format) else {
            throw Failure(.internal, stage: "read", "a worker of another kind was given \(format.title)")
        }
        guard let file = files.first, files.count == 1 else {
            throw Failure(.internal, stage: "read", "a request came without its source")
        }
        let probed = try ProbedSource(file, format: format, page: page, wanted: wanted)
        source = probed
        // Memory that an earlier picture has left is not counted for one that needs much less, nor for one that needs more:
        // its blocks are larger than those that were freed.
        let need = probed.facts.decodingBytes(to: 0)
        if need > largestNeed || largestNeed - need > Self.mostUnused {
            clinux_return_freed_memory(CostModel.keptMemory)
            largestNeed = 0
        }
        largestNeed = max(largestNeed, need)
        return probed.facts
    }

    private mutating func measure(
        _ message: RenderMessage, _ member: @escaping (Int) throws -> OpenFile
    ) throws -> [StageMeasurement] {
        let prepared = try prepared(message.pipeline)
        let measuring = Measuring(
            planner: planner(prepared, message), assets: prepared.assets, colours: colours(prepared))
        switch message.source {
        case .picture(let pixelsPerPoint): return try measuring.measure(try probed(), pixelsPerPoint: pixelsPerPoint)
        case .set(let members): return try measuring.measure(SetSource(members: members, open: member))
        }
    }

    private mutating func findTransparency(_ number: Int) throws -> Bool {
        let prepared = try prepared(number)
        let measuring = Measuring(planner: prepared.planner, assets: prepared.assets, colours: colours(prepared))
        return try measuring.findTransparency(of: try probed())
    }

    private mutating func render(
        _ message: RenderMessage, files: [OpenFile], member: @escaping (Int) throws -> OpenFile
    ) throws -> RenderResult {
        let prepared = try prepared(message.pipeline)
        let planner = planner(prepared, message)
        let plan: SourcePlan
        switch message.source {
        case .picture(let pixelsPerPoint):
            plan = try planner.plan(
                try probed().facts, pixelsPerPoint: pixelsPerPoint, measurements: message.measurements.byPath)
        case .set(let members):
            plan = try planner.plan(set: members, measurements: message.measurements.byPath)
        }
        let wanted = plan.renditions.indices.filter { !message.omitted.contains($0) }
        guard files.count == wanted.count else {
            throw Failure(
                .internal, stage: "save", "the worker was given \(files.count) outputs for \(wanted.count) renditions")
        }
        let renderer = Renderer(
            plan: plan, pipeline: prepared.planner.pipeline, assets: prepared.assets, colours: colours(prepared),
            thumbnail: message.thumbnail)
        switch message.source {
        case .picture:
            let source = try probed()
            self.source = nil
            return try renderer.render(source, wanted: wanted, to: files)
        case .set(let members):
            return try renderer.render(SetSource(members: members, open: member), wanted: wanted, to: files)
        }
    }

    private func prepared(_ number: Int) throws -> Prepared {
        guard let prepared = pipelines[number] else {
            throw Failure(.internal, stage: "read", "the worker was not given the pipeline")
        }
        return prepared
    }

    /// The planner for the source of a message.
    private func planner(_ prepared: Prepared, _ message: RenderMessage) -> Planner {
        let facts: SourceFacts? =
            switch message.source {
            case .picture: source?.facts
            case .set(let members): members.first?.facts
            }
        let planner = prepared.planner.leavingOut(message.leftOut ?? OmittedParts())
        guard let texts = message.texts, let facts else { return planner }
        return planner.saying(texts, of: facts)
    }

    private func probed() throws -> ProbedSource {
        guard let source else { throw Failure(.internal, stage: "read", "the worker was not given the source") }
        return source
    }

    private func colours(_ prepared: Prepared) -> ColourConversion {
        let (policy, toneMap) = (prepared.planner.pipeline.profile, prepared.planner.pipeline.toneMap)
        let target: ICCProfile? =
            switch policy {
            case .srgb, .keep: nil
            case .displayP3: .displayP3
            case .file(let path): prepared.assets.profiles[path]
            }
        return ColourConversion(keepsProfile: policy == .keep, target: target, toneMap: toneMap, profiles: profiles)
    }

    private mutating func reply(decoding work: (inout WorkerState) throws -> Reply) -> Reply {
        do {
            return try work(&self)
        } catch let trouble as NoRoom {
            return .noRoom(trouble.rendition, trouble.detail)
        } catch {
            return .failed(failure(from: error, stage: "decode"))
        }
    }

    private func failure(from error: any Error, stage: String) -> Failure {
        switch error {
        case let failure as Failure: failure
        case let error as PlanFailure: error.failure
        // The pixels were in memory, so that the decoder has no part in it.
        case let error as FailedOperation: error.failure
        case let error as VipsError:
            Failure(.corrupt, stage: stage, "the picture cannot be decoded", detail: error.description)
        default: Failure(.internal, stage: stage, "an unexpected error", detail: "\(error)")
        }
    }
}

extension Channel {
    /// The next member of a set, which the supervisor opens when it is asked.
    fileprivate func member(_ index: Int) throws -> OpenFile {
        try send(Reply.needsMember(index))
        guard case (.member, let files) = try receive(Request.self), let file = files.first else {
            throw Failure(.setMemberFailed, stage: "read", "a member of the set cannot be opened")
        }
        return file
    }
}
