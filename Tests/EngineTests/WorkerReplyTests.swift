// Every bad answer of a worker that we can think of, and the sentence with which it is refused (B13).
import Stages
import Testing

@testable import Engine
@testable import Messages
@testable import Pipeline

@Suite struct WorkerReplyTests {
    private static func size(_ width: Int, _ height: Int) -> PixelSize {
        var size = PixelSize(1, 1)
        // Not through the initialiser: what is decoded from a message has not been through it either.
        (size.width, size.height) = (width, height)
        return size
    }

    private static func asset(_ width: Int, _ height: Int, pixelsPerPoint: Int = 2) -> AssetFacts {
        AssetFacts(size: size(width, height), pixelsPerPoint: pixelsPerPoint, isGrey: false)
    }

    private static func result(
        _ sizes: [PixelSize], frames: Int = 1, warnings: [Warning] = [], peak: Int = 1
    ) -> RenderResult {
        RenderResult(
            renditions: sizes.map { RenderedSize(size: $0, frames: frames) }, warnings: warnings, peakMemory: peak)
    }

    private static func failed(_ code: FailureCode) -> Reply { .failed(Failure(code, stage: "render", "words")) }

    private let message = PipelineMessage(
        id: 1, name: "p.yaml", text: "",
        assets: [AssetMessage(path: "a@2x.png", content: .picture(.png, pixelsPerPoint: 2))],
        limits: Limits())

    private func pipeline() throws -> PipelineFile {
        let text = "renditions:\n  a:\n    stages: [ { trim: { threshold: 10 } } ]\n    save: { format: png }\n"
        return try PipelineFile(text: text, file: "p.yaml", catalogue: .all)
    }

    private func expectConfusion(_ words: String, _ work: () throws -> Void) {
        #expect(throws: WorkerLoss.confused(words)) { try work() }
    }

    @Test(arguments: [
        (Reply.assets([]), "0 assets instead of 1"),
        (.assets([asset(9, 9), asset(9, 9)]), "2 assets instead of 1"),
        (.assets([asset(0, 9)]), "an asset that cannot be: 0×9 at 2x"),
        (.assets([asset(9, -1)]), "an asset that cannot be: 9×-1 at 2x"),
        (.assets([asset(10_000_001, 9)]), "an asset that cannot be: 10000001×9 at 2x"),
        (.assets([asset(9, 9, pixelsPerPoint: 0)]), "an asset that cannot be: 9×9 at 0x"),
        (.assets([asset(9, 9, pixelsPerPoint: 1)]), "an asset that cannot be: 9×9 at 1x"),
        (
            .assets([AssetFacts(size: size(9, 9), pixelsPerPoint: 2, isGrey: false, isVector: true)]),
            "an asset that cannot be: 9×9 at 2x"
        ),
        (.assetFailed(1, Failure(.corrupt, stage: "decode", "words")), "an answer to another question"),
        (.assetFailed(-1, Failure(.corrupt, stage: "decode", "words")), "an answer to another question"),
        (
            .assetFailed(0, Failure(.diskFull, stage: "decode", "words")),
            "'disk-full', which is not for a worker to say"
        ),
        (.facts(SourceFacts(format: .png, size: PixelSize(9, 9))), "an answer to another question"),
        (.needsMember(0), "an answer to another question"),
    ])
    func `assets that cannot be are refused before anything is planned with them`(reply: Reply, words: String) {
        expectConfusion(words) { _ = try WorkerReply(reply).assets(for: message) }
    }

    @Test func `good assets, and an asset that cannot be decoded, pass`() throws {
        #expect(try WorkerReply(.assets([Self.asset(9, 9)])).assets(for: message) == [Self.asset(9, 9)])
        let failure = Failure(.corrupt, stage: "decode", "words")
        let bad = #expect(throws: WorkerReply.BadAsset.self) {
            try WorkerReply(.assetFailed(0, failure)).assets(for: message)
        }
        #expect(bad?.index == 0 && bad?.failure == failure)
    }

    @Test func `a format that cannot be saved passes if the pipeline has it`() throws {
        let reply = WorkerReply(.cannotSave(.avif, String(repeating: "x", count: 10_000)))
        let bad = #expect(throws: WorkerReply.BadFormat.self) { try reply.assets(for: message, saving: [.avif, .png]) }
        #expect(bad?.format == .avif && bad?.detail.count == 4000)
        expectConfusion("an answer to another question") { _ = try reply.assets(for: message, saving: [.png]) }
        #expect(try WorkerReply(.readable(false)).isReadable() == false)
    }

    @Test func `that an output takes no more is an answer to rendering alone, with its texts cut`() throws {
        let reply = WorkerReply(.noRoom(String(repeating: "x", count: 10_000), String(repeating: "y", count: 10_000)))
        let noRoom = #expect(throws: NoRoom.self) { try reply.rendered(count: 1, mayUsePreviews: false) }
        #expect(noRoom?.rendition.count == 2000 && noRoom?.detail.count == 4000)
        expectConfusion("an answer to another question") { _ = try reply.facts(of: .jpeg) }
    }

    @Test func `headers that cannot be, or are of another format, are refused`() throws {
        let good = SourceFacts(format: .jpeg, size: PixelSize(9, 9))
        #expect(try WorkerReply(.facts(good)).facts(of: .jpeg) == good)
        let lies: [(inout SourceFacts) -> Void] = [
            { $0.size = Self.size(0, 9) }, { $0.size = Self.size(9, .max) }, { $0.orientation = 9 }, { $0.frames = 0 },
            { $0.frames = .max },
            { $0.bytes = -1 }, { $0.bytes = .max }, { $0.captureDate = "../../../etc/passwd" }, { $0.format = .png },
            { $0.isTransparent = false },
        ]
        for lie in lies {
            var facts = good
            lie(&facts)
            expectConfusion("a header that cannot be") { _ = try WorkerReply(.facts(facts)).facts(of: .jpeg) }
        }
        expectConfusion("an answer to another question") {
            _ = try WorkerReply(.rendered(Self.result([]))).facts(of: .jpeg)
        }
    }

    @Test func `a measurement must be of a stage that measures, once, and of a picture that can be`() throws {
        let path = Planner.StagePath(rendition: 0, stage: 0)
        let box = Measurement.box(left: 0, top: 0, width: 1, height: 1)
        let good = StageMeasurement(path: path, measurement: box)
        #expect(try WorkerReply(.measured([good])).measurements(for: pipeline()) == [good])
        let lies = [
            [good, good], [StageMeasurement(path: Planner.StagePath(rendition: 0, stage: 1), measurement: box)],
            [StageMeasurement(path: Planner.StagePath(rendition: nil, stage: 0), measurement: box)],
            [StageMeasurement(path: path, measurement: .box(left: -1, top: 0, width: 1, height: 1))],
            [StageMeasurement(path: path, measurement: .offsets([.nan]))],
            [StageMeasurement(path: path, measurement: .offsets([Double](repeating: 0, count: 1_000_001)))],
        ]
        for lie in lies {
            expectConfusion("a measurement that cannot be") {
                _ = try WorkerReply(.measured(lie)).measurements(for: pipeline())
            }
        }
    }

    @Test func `renditions that cannot be are refused`() throws {
        let one = Self.result([PixelSize(9, 9)])
        #expect(try WorkerReply(.rendered(one)).rendered(count: 1, mayUsePreviews: false).renditions == one.renditions)
        let lies: [(RenderResult, String)] = [
            (Self.result([]), "0 renditions instead of 1"),
            (Self.result([Self.size(0, 9)]), "a rendition that cannot be"),
            (Self.result([Self.size(9, .max)]), "a rendition that cannot be"),
            (Self.result([PixelSize(9, 9)], frames: 0), "a rendition that cannot be"),
            (Self.result([PixelSize(9, 9)], frames: .max), "a rendition that cannot be"),
            (Self.result([PixelSize(9, 9)], peak: -1), "an amount of memory that cannot be"),
            (
                RenderResult(
                    renditions: [RenderedSize(size: PixelSize(9, 9), frames: 1, isOfPreview: true)], warnings: [],
                    peakMemory: 1), "a rendition that cannot be"
            ),
        ]
        for (lie, words) in lies {
            expectConfusion(words) { _ = try WorkerReply(.rendered(lie)).rendered(count: 1, mayUsePreviews: false) }
        }
    }

    @Test func `many warnings are cut to a few, in linear time, each once and of a bounded length`() throws {
        let many = (0..<200_000).map { Warning(.upscaled, "number \($0 % 100_000)") }
        let start = SuspendingClock.now
        let kept = try WorkerReply(.rendered(Self.result([], warnings: many))).rendered(count: 0, mayUsePreviews: false)
            .warnings
        #expect(SuspendingClock.now - start < .seconds(5))
        #expect(kept == Array(many.prefix(64)))
        let same = [Warning](repeating: Warning(.upscaled, String(repeating: "x", count: 100_000)), count: 100)
        let cut = try WorkerReply(.rendered(Self.result([], warnings: same))).rendered(count: 0, mayUsePreviews: false)
            .warnings
        #expect(cut == [Warning(.upscaled, String(repeating: "x", count: 1000))])
    }

    @Test func `a failure passes with its texts cut, also one that is a single character of any length`() {
        let long = "e" + String(repeating: "\u{301}", count: 1_000_000)
        let failure = Failure(.corrupt, stage: long, long, detail: long)
        let told = #expect(throws: Failure.self) { try WorkerReply(.failed(failure)).facts(of: .jpeg) }
        #expect(told?.code == .corrupt)
        #expect(told?.stage.unicodeScalars.count == 100)
        #expect(told?.message.unicodeScalars.count == 2000)
        #expect(told?.detail?.unicodeScalars.count == 4000)
    }

    @Test(arguments: FailureCode.allCases)
    func `a worker may say what is true of pictures, and nothing of disks, names and processes`(code: FailureCode)
        throws
    {
        let environment: Set<FailureCode> = [
            .diskFull, .outputNotWritable, .ioError, .permissionDenied, .notFound, .nameTaken, .nameInvalid,
            .outputTooLarge, .outputRejected,
            .timedOut, .workerCrashed, .outOfMemory,
        ]
        if environment.contains(code) { #expect(!code.mayComeFromWorker) }
        let pipeline = try pipeline()
        let ways: [(WorkerReply) throws -> Void] = [
            { _ = try $0.facts(of: .jpeg) }, { _ = try $0.assets(for: message) },
            { _ = try $0.rendered(count: 1, mayUsePreviews: false) },
            { _ = try $0.measurements(for: pipeline) },
        ]
        for way in ways {
            if code.mayComeFromWorker {
                let told = #expect(throws: Failure.self) { try way(WorkerReply(Self.failed(code))) }
                #expect(told?.code == code)
            } else {
                expectConfusion("'\(code.rawValue)', which is not for a worker to say") {
                    try way(WorkerReply(Self.failed(code)))
                }
            }
        }
    }

    @Test func `only members that the set has can be asked for`() throws {
        #expect(try WorkerReply(.needsMember(2)).wantedMember(of: 3) == 2)
        #expect(try WorkerReply(.facts(SourceFacts(format: .jpeg, size: PixelSize(9, 9)))).wantedMember(of: 3) == nil)
        for (index, count) in [(3, 3), (-1, 3), (0, 0), (Int.max, 3)] {
            #expect(throws: ChannelError.garbage("it asked for a member that the set does not have")) {
                try WorkerReply(.needsMember(index)).wantedMember(of: count)
            }
        }
    }
}
