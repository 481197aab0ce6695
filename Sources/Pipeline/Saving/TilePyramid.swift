// The tiles of a picture at every size, by the layouts that viewers know. Pure: the worker makes what is listed here, and
// the supervisor finds nothing else in the archive.

/// A picture cut into tiles, at its own size, at half of it, a quarter and so on.
package struct TilePyramid: Sendable {
    /// How the files are named, and described.
    package enum Layout: String, ParameterWord {
        /// Microsoft's Deep Zoom: `image.dzi` and `image_files/LEVEL/COLUMN_ROW.jpg`.
        case deepzoom
        /// IIIF Image API 3, level 0: `info.json` and `REGION/SIZE/0/default.jpg`.
        case iiif
        /// `ZOOM/COLUMN/ROW.jpg`, as maps are; each tile is whole, the last ones with an empty margin.
        case xyz
    }

    /// One size of the picture.
    package struct Level: Sendable {
        /// How many pixels of the picture, along a side, one of its own stands for.
        let factor: Int
        package let size: PixelSize
        package let tiles: [Tile]
    }

    package struct Tile: Sendable {
        package let name: String
        /// In pixels of the level, with the overlap.
        package let area: (x: Int, y: Int, size: PixelSize)
    }

    package enum Description: Sendable {
        case xml(String)
        case json(JSONValue)
    }

    private let layout: Layout
    private let size: PixelSize
    private let side: Int
    private let overlap: Int
    private let format: OutputFormat

    /// - Parameters:
    ///   - side: of a tile, in pixels.
    ///   - overlap: pixels that a tile has of each neighbor.
    init(_ layout: Layout, of size: PixelSize, side: Int, overlap: Int, format: OutputFormat) {
        (self.layout, self.size, self.side, self.overlap) = (layout, size, side, overlap)
        self.format = format
    }

    /// The picture itself first.
    package var levels: [Level] {
        var sizes = [size]
        // Deep Zoom goes down to one pixel, the others to one tile.
        let smallest = layout == .deepzoom ? 1 : side
        while let last = sizes.last, max(last.width, last.height) > smallest {
            sizes.append(PixelSize((last.width + 1) / 2, (last.height + 1) / 2))
        }
        return sizes.enumerated().map { place, size in
            let (factor, number) = (1 << place, sizes.count - 1 - place)
            let tiles = (0..<Self.parts(size.height, side)).flatMap { row in
                (0..<Self.parts(size.width, side)).map { column in
                    let (left, top) = (max(0, column * side - overlap), max(0, row * side - overlap))
                    let right = min(size.width, (column + 1) * side + overlap)
                    let bottom = min(size.height, (row + 1) * side + overlap)
                    let area = (x: left, y: top, size: PixelSize(right - left, bottom - top))
                    let name =
                        switch layout {
                        case .deepzoom: "image_files/\(number)/\(column)_\(row)"
                        case .iiif: iiifName(column, row, of: factor, area.size)
                        case .xyz: "\(number)/\(column)/\(row)"
                        }
                    return Tile(name: "\(name).\(format.fileExtension)", area: area)
                }
            }
            // The whole picture at the largest size that is given at once, which every server of IIIF has.
            let largest = Tile(name: "full/max/0/default.\(format.fileExtension)", area: (0, 0, size))
            let hasLargest = layout == .iiif && sizes.count > 1 && place == sizes.count - 2
            return Level(factor: factor, size: size, tiles: tiles + (hasLargest ? [largest] : []))
        }
    }

    /// How many tiles the pyramid of a picture has.
    static func count(of size: PixelSize, side: Int) -> Int {
        var (size, count) = (size, 0)
        while true {
            count = saturating(count, parts(size.width, side) * parts(size.height, side))
            if max(size.width, size.height) == 1 { return count }
            size = PixelSize((size.width + 1) / 2, (size.height + 1) / 2)
        }
    }

    private static func parts(_ length: Int, _ side: Int) -> Int { (length + side - 1) / side }

    /// The path of a tile without its extension, in the canonical forms, which viewers ask for.
    private func iiifName(_ column: Int, _ row: Int, of factor: Int, _ tile: PixelSize) -> String {
        let (x, y) = (column * side * factor, row * side * factor)
        let (width, height) = (min(side * factor, size.width - x), min(side * factor, size.height - y))
        let isWhole = x == 0 && y == 0 && width == size.width && height == size.height
        let region = isWhole ? "full" : "\(x),\(y),\(width),\(height)"
        let scaled = isWhole && factor == 1 ? "max" : "\(tile.width),\(tile.height)"
        return "\(region)/\(scaled)/0/default"
    }

    /// Tiles of a map are whole.
    package var isPadded: Bool { layout == .xyz }
    package var tileSize: PixelSize { PixelSize(side, side) }

    /// The file that says how the others are to be read; nil for a layout that has none.
    /// - Parameter id: the address of the folder, for IIIF.
    package func description(id: String) -> (name: String, content: Description)? {
        switch layout {
        case .xyz: return nil
        case .deepzoom:
            let text = """
                <?xml version="1.0" encoding="UTF-8"?>
                <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="\(format.fileExtension)" Overlap="\(overlap)" TileSize="\(side)">
                  <Size Width="\(size.width)" Height="\(size.height)"/>
                </Image>

                """
            return ("image.dzi", .xml(text))
        case .iiif: return ("info.json", .json(information(id: id)))
        }
    }

    private func information(id: String) -> JSONValue {
        let whole = levels.last.map(\.size) ?? size
        var members: [String: JSONValue] = [
            "@context": "http://iiif.io/api/image/3/context.json", "id": .string(id), "type": "ImageService3",
            "protocol": "http://iiif.io/api/image", "profile": "level0", "width": .int(size.width),
            "height": .int(size.height),
            "sizes": [["width": .int(whole.width), "height": .int(whole.height)]],
            "tiles": [
                [
                    "width": .int(side), "height": .int(side),
                    "scaleFactors": .array(levels.map { .int($0.factor) }),
                ]
            ],
        ]
        if let largest = levels.dropLast().last?.size {
            let most = max(largest.width, largest.height, side)
            members["maxWidth"] = .int(most)
            members["maxHeight"] = .int(most)
        }
        if format != .jpeg {
            members["preferredFormats"] = [.string(format.fileExtension)]
            members["extraFormats"] = [.string(format.fileExtension)]
        }
        return .object(members)
    }

    /// The parts of the longest path in a folder of tiles.
    package static let deepest = 4

    /// Whether a file of this path may be in some folder of tiles.
    package static func isName(_ path: String) -> Bool {
        if ["image.dzi", "info.json"].contains(path) { return true }
        guard let dot = path.lastIndex(of: "."),
            TilesOutput.TileFormat.extensions.contains(String(path[path.index(after: dot)...]))
        else {
            return false
        }
        let parts = path[..<dot].split(separator: "/", omittingEmptySubsequences: false)
        func areNumbers(_ text: Substring, _ separator: Character, _ count: Int) -> Bool {
            let numbers = text.split(separator: separator, omittingEmptySubsequences: false)
            return numbers.count == count
                && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
        }
        if parts.count == 3, parts[0] == "image_files" {
            return areNumbers(parts[1], "/", 1) && areNumbers(parts[2], "_", 2)
        }
        if parts.count == 3 { return parts.allSatisfy { areNumbers($0, "/", 1) } }
        return parts.count == 4 && parts[2...] == ["0", "default"]
            && (parts[0] == "full" || areNumbers(parts[0], ",", 4))
            && (parts[1] == "max" || areNumbers(parts[1], ",", 2))
    }

    /// The names of all files in their order: the description, then the tiles of each level.
    package func names() -> [String] {
        (description(id: "").map { [$0.name] } ?? []) + levels.flatMap(\.tiles).map(\.name)
    }
}
