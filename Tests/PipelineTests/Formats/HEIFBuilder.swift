// Builds HEIF files of two items: a thumbnail, then the primary one, whose pixels are one extent each.

@testable import Pipeline

struct HEIFBuilder {
    var brand = "heic"
    /// Whether the first item is called the thumbnail of the other.
    var namesThumbnail = false
    /// The properties of the thumbnail besides its extent of 30 × 20.
    var thumbnailProperties: [[UInt8]] = []
    /// The properties of the primary item, in their order.
    var properties: [[UInt8]] = [HEIFBuilder.extent(300, 200)]
    var hasLongIndices = false
    /// The version of `iloc`. From 1 on there is a construction method, from 2 on item numbers have four bytes.
    var locationVersion = 0
    /// The items that are derived from others, by item numbers of `referenceBytes` bytes.
    var derivations: [(item: Int, from: [Int])] = []
    var referenceBytes = 2
    /// Whether `mdat` has its size in eight bytes, or says 0: to the end of the file.
    var mediaDataSize = MediaDataSize.short

    enum MediaDataSize: CaseIterable {
        case short, long, toTheEnd
    }

    func file() -> [UInt8] {
        let fileType = Self.box("ftyp", Array(brand.utf8) + [0, 0, 0, 0] + Array("mif1".utf8) + Array(brand.utf8))
        let pixels = [UInt8](repeating: 0xCD, count: 24)
        let header = mediaDataHeader(content: pixels.count)
        // The locations are as long wherever they point to, so that a first try tells where the pixels will be.
        let pixelsOffset = fileType.count + meta(pixelsOffset: 0).count + header.count
        return fileType + meta(pixelsOffset: pixelsOffset) + header + pixels
    }

    func meta(pixelsOffset: Int) -> [UInt8] {
        let primary = Self.fullBox("pitm", SmallFiles.big(2, 2))
        let entries = [1, 2].flatMap { item in
            Self.fullBox("infe", version: 2, SmallFiles.big(item, 2) + [0, 0] + Array("hvc1".utf8) + [0])
        }
        let types = Self.fullBox(
            "iinf", SmallFiles.big(namesThumbnail ? 2 : 0, 2) + (namesThumbnail ? entries : []))
        return Self.fullBox(
            "meta",
            primary + types + locations(pixelsOffset) + Self.box("iprp", propertyContainer + associations) + references)
    }

    private var references: [UInt8] {
        guard !derivations.isEmpty || namesThumbnail else { return [] }
        let thumbnail = Self.box(
            "thmb", [1, 1, 2].flatMap { SmallFiles.big($0, 2) })
        let boxes =
            (namesThumbnail ? thumbnail : [])
            + derivations.flatMap { item, sources in
                Self.box(
                    "dimg",
                    SmallFiles.big(item, referenceBytes) + SmallFiles.big(sources.count, 2)
                        + sources.flatMap { SmallFiles.big($0, referenceBytes) })
            }
        return Self.fullBox("iref", version: referenceBytes == 2 ? 0 : 1, boxes)
    }

    /// Item 1 has 10 bytes of the pixels, item 2 has the other 14.
    private func locations(_ pixelsOffset: Int) -> [UInt8] {
        func item(_ number: Int, _ offset: Int, _ length: Int) -> [UInt8] {
            let method: [UInt8] = locationVersion == 0 ? [0, 0] : [0, 0, 0, 0]
            let place = [pixelsOffset, offset, length].map { SmallFiles.big($0, 4) }
            return SmallFiles.big(number, locationVersion < 2 ? 2 : 4) + method + place[0] + SmallFiles.big(1, 2)
                + place[1] + place[2]
        }
        let count = SmallFiles.big(2, locationVersion < 2 ? 2 : 4)
        return Self.fullBox(
            "iloc", version: UInt8(locationVersion), [0x44, 0x40] + count + item(1, 0, 10) + item(2, 10, 14))
    }

    private var propertyContainer: [UInt8] {
        Self.box("ipco", Self.extent(30, 20) + (properties + thumbnailProperties).joined())
    }

    /// Each index is marked as essential.
    private var associations: [UInt8] {
        let index = { (number: Int) in hasLongIndices ? SmallFiles.big(number | 0x8000, 2) : [UInt8(number) | 0x80] }
        let own = thumbnailProperties.indices.flatMap { index($0 + properties.count + 2) }
        let thumbnail = SmallFiles.big(1, 2) + [UInt8(thumbnailProperties.count + 1)] + index(1) + own
        let primary = SmallFiles.big(2, 2) + [UInt8(properties.count)] + properties.indices.flatMap { index($0 + 2) }
        return Self.fullBox("ipma", flags: hasLongIndices ? 1 : 0, SmallFiles.big(2, 4) + thumbnail + primary)
    }

    private func mediaDataHeader(content: Int) -> [UInt8] {
        switch mediaDataSize {
        case .short: SmallFiles.big(content + 8, 4) + Array("mdat".utf8)
        case .long: SmallFiles.big(1, 4) + Array("mdat".utf8) + SmallFiles.big(content + 16, 8)
        case .toTheEnd: SmallFiles.big(0, 4) + Array("mdat".utf8)
        }
    }

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        SmallFiles.big(content.count + 8, 4) + Array(type.utf8) + content
    }

    static func fullBox(_ type: String, version: UInt8 = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, [version] + SmallFiles.big(flags, 3) + content)
    }

    static func extent(_ width: Int, _ height: Int) -> [UInt8] {
        fullBox("ispe", SmallFiles.big(width, 4) + SmallFiles.big(height, 4))
    }

    /// In halves of a pixel, and from the middle.
    static func crop(_ doubleWidth: Int, _ doubleHeight: Int) -> [UInt8] {
        box("clap", [doubleWidth, 2, doubleHeight, 2, 0, 1, 0, 1].flatMap { SmallFiles.big($0, 4) })
    }

    static func rotation(quarterTurns: UInt8) -> [UInt8] {
        box("irot", [quarterTurns])
    }
}
