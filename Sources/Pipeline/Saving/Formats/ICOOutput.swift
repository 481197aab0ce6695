/// ICO, the icons of browsers and of Windows: one picture in several sizes.
package struct ICOOutput: OutputFormatDeclaration {
    package static let name = "ico"
    package static let sourceFormat: SourceFormat? = nil
    package static let mediaType = "image/vnd.microsoft.icon"
    package static let isShownByBrowsers = false
    package static let longestSide = 256
    package static let holdsProfile = false
    package static let metadata: Set<MetadataBlock> = []

    /// The longest sides of the smaller pictures in it, in pixels.
    package let sides: [Int]

    package init(_ p: inout Parameters) {
        let sizes = p.optional(
            "sizes", WidthList(widths: [16, 32, 48]),
            "The longest sides of the smaller pictures in it, in pixels, besides the picture itself.")
        sides = sizes.widths.sorted()
        if let side = sides.last, side > Self.longestSide {
            p.problem(
                at: "sizes", "'sizes' has \(side), and a picture in an ICO has at most \(Self.longestSide) a side")
        }
    }

    package func depth(of drawn: BitDepth) -> BitDepth { .eight }
    package func takesWhole(_ picture: PictureInfo) -> Bool { true }
    /// Each picture with alpha, and as it is packed.
    package func memory(saving picture: PictureInfo) -> Int { 4 * 4 * picture.size.area * (sides.count + 1) }
    package var secondsPerMegapixel: Double { 8 }

    /// Type 1, in a reserved field and one of its own.
    private static let mark: [UInt8] = [0, 0, 1, 0]
    private static let (headBytes, entryBytes) = (6, 16)

    package static func recognizes(_ file: ByteSource) -> Bool { file.read(0, mark.count) == mark }

    /// The size of the last picture, if the file has the pictures that it should, by their own headers.
    package func size(in file: ByteSource, said: PixelSize) -> (width: Int, height: Int)? {
        let (count, longest) = (file.read(Self.mark.count, 2), max(said.width, said.height))
        let expected = smaller(than: longest) + [longest]
        guard count.count == 2, Int(count[0]) | Int(count[1]) << 8 == expected.count else { return nil }
        let sizes = expected.indices.compactMap { index -> (width: Int, height: Int)? in
            let place = file.read(Self.headBytes + Self.entryBytes * index + 12, 4)
            guard place.count == 4 else { return nil }
            let offset = place.reversed().reduce(0) { $0 << 8 | Int($1) }
            let header = file.read(offset, 24)
            guard header.count == 24, guessFormat(header) == .readable(.png) else { return nil }
            func number(_ start: Int) -> Int { header[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
            return (number(16), number(20))
        }
        return sizes.map { max($0.width, $0.height) } == expected ? sizes.last : nil
    }

    /// The longest sides of the pictures besides one with this longest side.
    package func smaller(than longest: Int) -> [Int] { sides.filter { $0 < longest } }

    /// The file that has these pictures.
    /// - Parameter pictures: their sizes, and as PNG; each side at most `longestSide`.
    package static func file(_ pictures: [(size: PixelSize, png: [UInt8])]) -> [UInt8] {
        func little(_ number: Int, bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var head = mark + little(pictures.count, bytes: 2)
        var offset = headBytes + entryBytes * pictures.count
        for picture in pictures {
            // 0 stands for 256. No palette; one plane of 32 bits.
            head += little(picture.size.width, bytes: 1) + little(picture.size.height, bytes: 1) + [0, 0]
            head += little(1, bytes: 2) + little(32, bytes: 2) + little(picture.png.count, bytes: 4)
            head += little(offset, bytes: 4)
            offset += picture.png.count
        }
        return head + pictures.flatMap(\.png)
    }
}

extension OutputFormat {
    package static let ico = OutputFormat(ICOOutput.self)
}
