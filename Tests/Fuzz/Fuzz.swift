// The function that libFuzzer calls with one input after the other. Built by `make fuzz` only; the environment says
// which reader gets the input.
import CDeflate
import CLinux
import FoundationEssentials
import Glibc
import Messages
import Render
import Stages
import System
import Vips

@testable import Engine
@testable import Pipeline

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    reader(bytes)
    return 0
}

private let readers: [String: @Sendable ([UInt8]) -> Void] = [
    "formats": readFormats, "metadata": readMetadata, "pipeline": readPipeline, "mill": readMill, "reply": readReply,
    "request": readRequest,
    "messages": readMessages, "records": readRecords, "png": readPNG,
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
        let structure = format.declaration.structure
        _ = try? structure.hasHiddenFrames(source)
        _ = try? structure.hasProfile(source)
        _ = try? structure.unsupportedFeature(in: source)
        _ = try? structure.codedPicture(in: source)
        _ = try? structure.refusal(of: 2, in: source)
        _ = structure.linkedFile(in: source)
        precondition(structure.scans(in: source, atMost: 500) <= 501)
        if let size = headerSize(of: format, in: source) { precondition(size.width > 0 && size.height > 0) }
    }
}

@Sendable private func readMetadata(_ bytes: [UInt8]) {
    let rights = Rights(exif: bytes).merged(over: Rights(iptc: bytes)).merged(over: Rights(xmp: bytes))
    // The rights that are written must be read again as they were.
    precondition(
        rights == Rights()
            || Rights(xmp: Statements(rights: rights).xmpPacket())
                == Rights(xmp: Statements(rights: Rights(xmp: Statements(rights: rights).xmpPacket())).xmpPacket())
    )
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

/// The reply of a worker, up to the plan that the supervisor makes of it.
@Sendable private func readReply(_ bytes: [UInt8]) {
    guard let reply = try? MessageCoding.value(Reply.self, from: bytes) else { return }
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

/// The request of a supervisor: the worker must not crash on it either.
@Sendable private func readRequest(_ bytes: [UInt8]) {
    guard let request = try? MessageCoding.value(Request.self, from: bytes) else { return }
    if case .prepare(let message) = request {
        _ = try? PipelineFile(text: message.text, file: message.name, catalogue: .all)
    }
}

/// Messages as bytes on the socket, read by the supervisor and by the worker. Few enough for the socket to hold them.
@Sendable private func readMessages(_ bytes: [UInt8]) {
    func read<Message: Decodable>(_ type: Message.Type) {
        guard let (channel, theirs) = try? Channel.pair() else { fatalError("no socket") }
        guard send(theirs.descriptor, bytes, bytes.count, CInt(MSG_DONTWAIT)) == bytes.count else {
            fatalError("the socket is too small")
        }
        shutdown(theirs.descriptor, CInt(SHUT_WR))
        while (try? channel.receive(type, until: .now + .seconds(5))) != nil {}
    }
    if bytes.isEmpty { return }
    read(Reply.self)
    read(Request.self)
}

/// A PNG as it comes, and the same bytes as the packed rows of one that has no fault in its chunks.
@Sendable private func readPNG(_ bytes: [UInt8]) {
    decode(bytes)
    guard bytes.count > 4 else { return }
    let (color, isDeep) = ([0, 2, 4, 6][Int(bytes[0] % 4)], bytes[1] % 2 == 1)
    let (width, height) = (1 + Int(bytes[2] % 70), 1 + Int(bytes[3] % 40))
    let bands = [0: 1, 2: 3, 4: 2, 6: 4][color] ?? 1
    let length = height * (1 + width * bands * (isDeep ? 2 : 1))
    // Rows that are as long as they should be, a byte less or more, and any other number.
    let content = Array(bytes.dropFirst(4))
    let wanted = [length, length, length, length - 1, length + 1, content.count][Int(bytes[1] / 2) % 6]
    let rows = (0..<max(1, wanted)).map { content[$0 % content.count] }
    let header = PNGChunk.bigEndian(width) + PNGChunk.bigEndian(height) + [isDeep ? 16 : 8, UInt8(color), 0, 0, 0]
    decode(
        PNGChunk.signature
            + [PNGChunk("IHDR", header), PNGChunk("IDAT", packed(rows)), PNGChunk("IEND", [])].flatMap(\.bytes))
}

private func decode(_ file: [UInt8]) {
    guard let decoder = PNGDecoder(ByteSource(file)) else { return }
    func number(_ offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (width, height, bands) = (number(16), number(20), [0: 1, 2: 3, 4: 2, 6: 4][file[25]] ?? 1)
    // The pixels that libvips has of it do not matter here.
    guard width * height < 1 << 20, isVipsStarted,
        let flat = try? Image.black(width: width, height: height, bands: bands),
        let opened = file[24] == 16 ? try? flat.cast(.ushort) : flat
    else { return }
    if let decoded = try? decoder.decoded(opened) {
        precondition(decoded.width == width && decoded.height == height && decoded.bands == bands)
    }
}

private let isVipsStarted = (try? VipsLibrary.start(threads: 1, loadsModules: false)) != nil

private func packed(_ rows: [UInt8]) -> [UInt8] {
    guard let compressor = libdeflate_alloc_compressor(1) else { fatalError("no memory") }
    defer { libdeflate_free_compressor(compressor) }
    let bound = libdeflate_zlib_compress_bound(compressor, rows.count)
    return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
        count = libdeflate_zlib_compress(compressor, rows, rows.count, buffer.baseAddress, bound)
    }
}

/// Reports, lists and archives that are read again.
@Sendable private func readRecords(_ bytes: [UInt8]) {
    _ = (try? JSONDecoder().decode(OpenedMembers.self, from: Data(bytes)))?.files
    readTar(bytes)
    _ = PlannedSource.decode(bytes)
    _ = try? JSONDecoder().decode(ShardResult.self, from: Data(bytes))
    _ = try? JSONDecoder().decode(ShardPlan.self, from: Data(bytes))
}

@Sendable private func readTar(_ bytes: [UInt8]) {
    let file = OpenFile(owning: clinux_memory_file("fuzz"))
    guard !bytes.isEmpty, write(file.descriptor, bytes, bytes.count) == bytes.count, var tar = try? TarReader(file)
    else { return }
    while let member = try? tar.next() {
        precondition(member.offset >= 0 && member.bytes >= 0 && member.bytes <= bytes.count - member.offset)
    }
}

/// Pipelines whose plans depend on much: sizes, assets, measurements.
let pipelines: [(PipelineFile, PipelineMessage)] = [
    "renditions: { a: { stages: [trim: {}, resize: { width: 50%, height: 300 }], scale: [1, 2], save: { format: png } } }",
    "renditions: { a: { stages: [crop: { width: 80, height: 60, anchor: attention }, overlay: { image: a.png, anchor: bottom }], save: { format: png } } }",
    "stages: [inset: { all: 2% }]\nrenditions: { a: { stages: [frame: { width: 600, height: 600, mode: aspect-fill }], save: { format: webp } } }",
].map { text in
    guard let file = try? PipelineFile(text: text, file: "fuzz.yaml", catalogue: .all) else {
        fatalError("not a pipeline: \(text)")
    }
    let assets = file.assets.map { AssetMessage(path: $0.path, content: .picture(.png, pixelsPerPoint: 1)) }
    return (file, PipelineMessage(id: 1, name: "fuzz.yaml", text: text, assets: assets, limits: Limits()))
}
