// What libFuzzer calls with one input after the other. Built by `make fuzz` only; the environment says which reader gets the input.
import FoundationEssentials
import Glibc
import Stages

@testable import Engine
@testable import Pipeline

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    reader(bytes)
    return 0
}

private let readers: [String: @Sendable ([UInt8]) -> Void] = [
    "formats": readFormats, "metadata": readMetadata, "pipeline": readPipeline, "mill": readMill, "reply": readReply, "request": readRequest,
    "records": readRecords,
]

private let reader: @Sendable ([UInt8]) -> Void = {
    let name = getenv("IMAGEMILL_FUZZ").map { String(cString: $0) } ?? ""
    guard let reader = readers[name] else { fatalError("IMAGEMILL_FUZZ is one of \(readers.keys.sorted())") }
    return reader
}()

/// The table of formats and all that walks through a file.
@Sendable private func readFormats(_ bytes: [UInt8]) {
    _ = guessFormat(bytes)
    let source = ByteSource(bytes)
    for format in SourceFormat.allCases {
        _ = completeness(of: format, in: source)
        _ = hasHiddenFrames(format, in: source)
        _ = unsupportedFeature(of: format, in: source)
        _ = format.codedSize(in: source)
        _ = isPlainYCbCr(format, page: 2, source)
        if let size = headerSize(of: format, in: source) { precondition(size.width > 0 && size.height > 0) }
    }
    precondition(jpegScans(in: source, atMost: 500) <= 501)
}

@Sendable private func readMetadata(_ bytes: [UInt8]) {
    let rights = Rights(exif: bytes).merged(over: Rights(iptc: bytes)).merged(over: Rights(xmp: bytes))
    // What is written must be read again as it was.
    precondition(rights == Rights() || Rights(xmp: rights.xmpPacket()) == Rights(xmp: Rights(xmp: rights.xmpPacket()).xmpPacket()))
}

@Sendable private func readPipeline(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    guard let file = try? PipelineFile(text: text, file: "fuzz.yaml", catalogue: .all) else { return }
    let planner = Planner(pipeline: file, assets: [:], limits: Limits())
    let facts = SourceFacts(format: .jpeg, size: PixelSize(640, 480), orientation: 6, frames: 1, hasAlpha: false)
    _ = try? planner.plan(facts, pixelsPerPoint: 1)
}

@Sendable private func readMill(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    _ = try? MillFile(text: text, file: "mill.yaml")
}

/// What a worker says, up to the plan that the supervisor makes of it.
@Sendable private func readReply(_ bytes: [UInt8]) {
    guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(bytes)) else { return }
    let checked = WorkerReply(reply)
    for (file, message) in pipelines {
        var assets: [String: AssetFacts] = [:]
        if let said = try? checked.assets(for: message) {
            assets = Dictionary(zip(message.assets.map(\.path), said)) { first, _ in first }
        }
        let found = (try? checked.measurements(for: file)) ?? []
        let planner = Planner(pipeline: file, assets: assets, limits: Limits())
        for format in SourceFormat.allCases {
            guard let facts = try? checked.facts(of: format) else { continue }
            _ = try? planner.plan(facts, pixelsPerPoint: 1, measurements: found.byPath)
        }
        let facts = SourceFacts(format: .png, size: PixelSize(300, 200), orientation: 1, frames: 1, hasAlpha: true)
        _ = try? planner.plan(facts, pixelsPerPoint: 2, measurements: found.byPath)
    }
    _ = try? checked.rendered(count: 1)
    _ = try? checked.wantedMember(of: 3)
}

/// What a supervisor says: the worker must not fall over it either.
@Sendable private func readRequest(_ bytes: [UInt8]) {
    guard let request = try? JSONDecoder().decode(Request.self, from: Data(bytes)) else { return }
    if case .prepare(let message) = request {
        _ = try? PipelineFile(text: message.text, file: message.name, catalogue: .all)
    }
}

/// Reports and lists that are read again.
@Sendable private func readRecords(_ bytes: [UInt8]) {
    _ = PlannedSource.decode(bytes)
    _ = try? JSONDecoder().decode(ShardResult.self, from: Data(bytes))
    _ = try? JSONDecoder().decode(ShardPlan.self, from: Data(bytes))
}

/// Pipelines whose plans depend on much: sizes, assets, measurements.
private let pipelines: [(PipelineFile, PipelineMessage)] = [
    "renditions: { a: { stages: [trim: {}, resize: { width: 50%, height: 300 }], scale: [1, 2] } }",
    "renditions: { a: { stages: [crop: { width: 80, height: 60, anchor: attention }, overlay: { image: a.png, anchor: bottom }] } }",
    "stages: [inset: { all: 2% }]\nrenditions: { a: { stages: [frame: { width: 600, height: 600, mode: aspect-fill }], save: { format: webp } } }",
].compactMap { text in
    guard let file = try? PipelineFile(text: text, file: "fuzz.yaml", catalogue: .all) else { return nil }
    let assets = file.assets.map { AssetMessage(path: $0.path, format: .png, pixelsPerPoint: 1) }
    return (file, PipelineMessage(id: 1, name: "fuzz.yaml", text: text, assets: assets, limits: Limits()))
}
