// A message of each case between supervisor and worker, for libFuzzer to begin with.
import FoundationEssentials
import Glibc
import Messages

@testable import Engine
@testable import Pipeline

/// Called once before the first input. Writes the messages and ends, if the environment says where to.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    guard let folder = getenv("IMAGEMILL_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
    do {
        for (number, request) in requests.enumerated() { try write(request, to: "\(folder)/request-\(number)") }
        for (number, reply) in replies.enumerated() { try write(reply, to: "\(folder)/reply-\(number)") }
    } catch {
        fatalError("\(error)")
    }
    exit(0)
}

private func write(_ message: some Encodable, to path: String) throws {
    try Data(MessageCoding.bytes(of: message)).write(to: URL(filePath: path))
}

private let facts = SourceFacts(
    format: .png, size: PixelSize(300, 200), orientation: 6, frames: 2, hasAlpha: true, hasProfile: true,
    captureDate: "2024:05:06 07:08:09")

private let measurements = [
    StageMeasurement(
        path: Planner.StagePath(rendition: 0, stage: 0), measurement: .box(left: 0.1, top: 0.2, width: 0.5, height: 0.5)
    ),
    StageMeasurement(path: Planner.StagePath(rendition: nil, stage: 2), measurement: .offsets([0, 0.5])),
]

private let requests: [Request] =
    pipelines.map { .prepare($0.1) } + [
        .probe(.jpeg), .probe(.tiff, page: 2), .tryReading(.svg), .member, .findTransparency(pipeline: 1),
        .measure(RenderMessage(pipeline: 1, source: .picture(pixelsPerPoint: 2))),
        .render(
            RenderMessage(
                pipeline: 1, source: .set([MemberFacts(name: BytePath("a.png"), facts: facts)]),
                measurements: measurements, omitted: [1],
                thumbnail: ThumbnailFacts(uri: "file:///a.png", modified: 1, bytes: 2, format: .png))),
    ]

private let failure = Failure(.corrupt, stage: "decode", "the picture cannot be decoded", detail: "libpng")

private let replies: [Reply] = [
    .facts(facts), .assets([AssetFacts(size: PixelSize(9, 9), pixelsPerPoint: 1, isGrey: false)]),
    .measured(measurements),
    .measured([measurements[0]]),
    .needsMember(1),
    .readable(true), .failed(failure), .assetFailed(0, failure), .cannotSave(.avif, "no encoder"),
    .noRoom("a", "the disk is full"),
    .rendered(
        RenderResult(
            renditions: [
                RenderedSize(
                    size: PixelSize(9, 9), frames: 1, reached: ReachedQuality(quality: 7, similarity: 1, trials: 2))
            ],
            warnings: [Warning(.sourceDamaged, "extraneous bytes")], peakMemory: 1)),
]
