// A picture as an archive of its tiles, from the smallest size's description to the last tile.
import CDeflate
import Pipeline
import Stages
import System
import Vips

extension TilesOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        tileEncoder.operation(for: picture)
    }

    private var tileEncoder: any OutputEncoder {
        guard let encoder = tile as? any OutputEncoder else { preconditionFailure("a tile's format has no encoder") }
        return encoder
    }

    /// PNG keeps 16 bits.
    var reducesDepth: Bool { false }

    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        let pyramid = pyramid(of: PixelSize(image.width, image.height))
        var archive = ZIPWriter(output)
        switch pyramid.description(id: address) {
        case (let name, .xml(let text))?: try archive.add(name, Array(text.utf8))
        case (let name, .json(let document))?:
            try archive.add(name, Array((json(document, pretty: true) + "\n").utf8))
        case nil: break
        }
        var level = image.isInMemory ? image : try image.inMemory()
        for (index, size) in pyramid.levels.enumerated() {
            // Each from the one before: the whole picture is read once.
            if index > 0 { level = try level.scaled(to: size.size) }
            for tile in size.tiles { try archive.add(tile.name, bytes(of: tile, in: level, pyramid)) }
        }
        try archive.finish()
    }

    private func bytes(of tile: TilePyramid.Tile, in level: Image, _ pyramid: TilePyramid) throws -> [UInt8] {
        let area = tile.area
        var picture = try level.extractArea(
            left: area.x, top: area.y, width: area.size.width, height: area.size.height)
        if pyramid.isPadded, area.size != pyramid.tileSize {
            let ground = Array(repeating: picture.hasAlpha ? 0.0 : 255, count: picture.bands)
            picture = try picture.embed(
                x: 0, y: 0, width: pyramid.tileSize.width, height: pyramid.tileSize.height, background: ground)
        }
        let target = try Target()
        let info = PictureInfo(size: PixelSize(picture.width, picture.height), hasAlpha: picture.hasAlpha)
        try tileEncoder.saveByLibvips(picture, as: info, to: target, strip: true)
        return target.bytes
    }
}

/// Writes an archive, one file after the other.
private struct ZIPWriter {
    private let output: OpenFile
    private var files: [(name: String, bytes: Int, sum: UInt32, start: Int)] = []
    private var offset = 0

    init(_ output: OpenFile) { self.output = output }

    mutating func add(_ name: String, _ bytes: [UInt8]) throws(SystemError) {
        let sum = bytes.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        let start = offset
        try write(ZIPDirectory.head(of: name, bytes: bytes.count, sum: sum) + bytes)
        files.append((name, bytes.count, sum, start))
    }

    func finish() throws(SystemError) {
        try output.append(ZIPDirectory.directory(of: files, at: offset), for: BytePath("tiles"))
    }

    private mutating func write(_ bytes: [UInt8]) throws(SystemError) {
        try output.append(bytes, for: BytePath("tiles"))
        offset += bytes.count
    }
}
