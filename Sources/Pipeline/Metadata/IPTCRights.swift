// Reads the rights out of an IPTC-IIM block, as Photoshop and photo agencies write it.
// IIM: https://iptc.org/std/IIM/4.2/specification/IIMV4.2.pdf; the wrapping:
// https://www.adobe.com/devnet-apps/photoshop/fileformatashtml/ (image resource blocks).

extension Rights {
    /// The by-lines, copyright notice and credit of an IPTC block: bare IIM, or Photoshop resources around it (with or
    /// without the `Photoshop 3.0` of a JPEG segment). Never fails: reading stops at the first malformed byte.
    package init(iptc: [UInt8]) {
        self = Statements(iptc: iptc).rights
    }
}

extension Statements {
    /// The statements of an IPTC block about the picture.
    package init(iptc: [UInt8]) {
        self.init()
        for dataset in IIMDatasets(rest: ByteReader(iimBytes(in: iptc))) where dataset.record == 2 {
            guard let text = iptcText(dataset.value) else { continue }
            switch dataset.number {
            case 5: title = title ?? text
            case 25 where keywords.count < Statements.mostKeywords: keywords.append(text)
            case 80 where rights.creator.count < Rights.mostCreators: rights.creator.append(text)
            case 110: rights.credit = rights.credit ?? text
            case 116: rights.copyright = rights.copyright ?? text
            case 120: caption = caption ?? text
            default: break
            }
        }
    }
}

/// The text of a dataset of record 2; of one that is repeated, all of them.
func iptcText(_ number: Int, in block: [UInt8]) -> String? {
    let values = IIMDatasets(rest: ByteReader(iimBytes(in: block))).lazy.filter {
        ($0.record, $0.number) == (2, number)
    }
    let texts = values.prefix(Statements.mostKeywords).compactMap { iptcText($0.value) }
    return texts.isEmpty ? nil : texts.joined(separator: ", ")
}

/// UTF-8 if it is valid, else Latin-1, in which every byte is a character. The block's own declaration (1:90) is
/// not asked: it is often missing, and often wrong.
private func iptcText(_ bytes: ArraySlice<UInt8>) -> String? { Rights.cleaned(String(utf8OrLatin1: bytes)) }

/// The IIM bytes of a block, out of whatever they are wrapped in.
private func iimBytes(in block: [UInt8]) -> ArraySlice<UInt8> {
    var reader = ByteReader(block[...])
    _ = reader.skip(Array("Photoshop 3.0\0".utf8))
    if reader.rest.starts(with: PhotoshopResources.signature) {
        return PhotoshopResources(rest: reader).first { $0.identifier == PhotoshopResources.iptc }?.data ?? []
    }
    return isByteSwapped(reader.rest) ? swapped(reader.rest) : reader.rest
}

/// A big-endian TIFF that stores the block as 32-bit numbers reaches us through libtiff and libvips (8.14) with each
/// four bytes reversed, and ImageMagick and FreeImage swap them back too.
private func isByteSwapped(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.first != IIMDatasets.marker && bytes.dropFirst(3).first == IIMDatasets.marker
}

private func swapped(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var swapped: [UInt8] = []
    var reader = ByteReader(bytes)
    while let four = reader.take(4) { swapped += four.reversed() }
    return swapped[...]
}

/// A block as a JPEG has it. A TIFF has it bare, and maybe swapped.
func iptcSegment(_ block: [UInt8]) -> [UInt8] {
    let mark = Array("Photoshop 3.0\0".utf8)
    if block.starts(with: mark) { return block }
    if block.starts(with: PhotoshopResources.signature) { return mark + block }
    return mark + PhotoshopResources.bytes(PhotoshopResources.iptc, iimBytes(in: block))
}

// MARK: - Writing

extension MetadataEdit {
    /// An IPTC block after the edit, wrapped as it was. What it says is in UTF-8 then, and it says so. Of Photoshop's
    /// other resources those go that hold EXIF or XMP once more, show the picture as it was, or are a digest of the captions.
    func iptc(_ block: [UInt8]) -> [UInt8] {
        let mark = Array("Photoshop 3.0\0".utf8)
        var reader = ByteReader(block[...])
        let isSegment = reader.skip(mark)
        guard reader.rest.starts(with: PhotoshopResources.signature) else { return datasets(iimBytes(in: block)) }
        var result = isSegment ? mark : []
        var hasIPTC = false
        for resource in PhotoshopResources(rest: reader) {
            switch resource.identifier {
            case PhotoshopResources.iptc:
                hasIPTC = true
                result += PhotoshopResources.bytes(resource.identifier, datasets(resource.data))
            case 0x0409, 0x040C, 0x0422, 0x0423, 0x0424, 0x0425: break
            default: result += PhotoshopResources.bytes(resource.identifier, resource.data)
            }
        }
        return hasIPTC || statements.isEmpty
            ? result : result + PhotoshopResources.bytes(PhotoshopResources.iptc, datasets([]))
    }

    private func datasets(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let rights = statements.rights
        let stated: [(number: Int, texts: [String])] = [
            (5, [statements.title].compactMap(\.self)), (25, statements.keywords), (80, rights.creator),
            (110, [rights.credit].compactMap(\.self)), (116, [rights.copyright].compactMap(\.self)),
            (120, [statements.caption].compactMap(\.self)),
        ].filter { !$0.texts.isEmpty }
        // Content location, city, sublocation, state, and country.
        let places: Set = removesLocation ? [26, 27, 90, 92, 95, 100, 101] : []
        let replaced = places.union(stated.map(\.number))
        // Small pictures, which show what was cut away, and may have metadata of their own.
        let pictures: Set = [200, 201, 202]
        var found: [(record: Int, number: Int, value: [UInt8])] = []
        for (record, number, value) in IIMDatasets(rest: ByteReader(bytes)) {
            switch record {
            case 1 where number == 90: break
            case 2 where replaced.contains(number) || pictures.contains(number): break
            // The caption as a picture.
            case 2 where number != 125: found.append((record, number, Array(String(utf8OrLatin1: value).utf8)))
            case 1, 2: found.append((record, number, Array(value)))
            // Other records hold files.
            default: break
            }
        }
        found += stated.flatMap { number, texts in texts.map { (2, number, Array($0.utf8.prefix(0x7FFF))) } }
        let utf8: [UInt8] = [IIMDatasets.marker, 1, 90, 0, 3, 0x1B, 0x25, 0x47]
        return found.enumerated().sorted { ($0.element.record, $0.offset) < ($1.element.record, $1.offset) }
            .reduce(into: utf8) { result, dataset in
                let (record, number, value) = dataset.element
                // Longer ones have a count of bytes for their length in place of it.
                let length = value.count < 0x8000 ? bigEndian(value.count, 2) : [0x80, 4] + bigEndian(value.count, 4)
                result += [IIMDatasets.marker, UInt8(record), UInt8(number)] + length + value
            }
    }
}

/// The datasets of an IIM block: 0x1C, record, number, length, value.
private struct IIMDatasets: Sequence, IteratorProtocol {
    static let marker: UInt8 = 0x1C

    var rest: ByteReader

    mutating func next() -> (record: Int, number: Int, value: ArraySlice<UInt8>)? {
        guard rest.number(bytes: 1) == Int(Self.marker), let record = rest.number(bytes: 1),
            let number = rest.number(bytes: 1),
            let length = length(), let value = rest.take(length)
        else { return nil }
        return (record, number, value)
    }

    /// Two bytes; or, if the top bit is set, the count of the bytes that hold the length.
    private mutating func length() -> Int? {
        guard let length = rest.number(bytes: 2) else { return nil }
        return length & 0x8000 == 0 ? length : rest.number(bytes: length & 0x7FFF)
    }
}

/// Photoshop's image resources: `8BIM`, identifier, Pascal string, length, data; the last two padded to even lengths.
private struct PhotoshopResources: Sequence, IteratorProtocol {
    static let signature = Array("8BIM".utf8)
    static let iptc = 0x0404

    var rest: ByteReader

    mutating func next() -> (identifier: Int, data: ArraySlice<UInt8>)? {
        guard rest.skip(Self.signature), let identifier = rest.number(bytes: 2),
            let nameLength = rest.number(bytes: 1), rest.take(nameLength | 1) != nil,
            let length = rest.number(bytes: 4), let data = rest.take(length)
        else { return nil }
        if length % 2 == 1 { _ = rest.take(1) }
        return (identifier, data)
    }

    /// A resource without a name.
    static func bytes(_ identifier: Int, _ data: some Collection<UInt8>) -> [UInt8] {
        signature + bigEndian(identifier, 2) + [0, 0] + bigEndian(data.count, 4) + data
            + (data.count % 2 == 0 ? [] : [0])
    }
}

private func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// Takes bytes from the front of a slice, and nothing when there are too few.
private struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A big-endian number of at most four bytes.
    mutating func number(bytes count: Int) -> Int? {
        guard count <= 4 else { return nil }
        return take(count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func skip(_ mark: [UInt8]) -> Bool {
        guard rest.starts(with: mark) else { return false }
        rest = rest.dropFirst(mark.count)
        return true
    }
}
