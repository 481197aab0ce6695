// Changes an EXIF block: directories that change are written anew at its end, so that everything else, such as a maker's
// notes with offsets of their own, stays where it is. EXIF 2.3 §4.5 and TIFF 6.0 §2.

/// An EXIF block, without `Exif\0\0` in front.
struct EXIFBlock {
    private(set) var bytes: [UInt8]
    private let order: ByteOrder

    private static let mark = Array("Exif\0\0".utf8)
    private static let (countBytes, fieldBytes, offsetBytes, ascii) = (2, 12, 4, 2)
    /// Bytes that may still be erased. Fields of a damaged block may all claim the same ones.
    private var erasable = 0

    /// A block that says nothing.
    init() {
        (bytes, order) = (Array("II*\0\0\0\0\0".utf8), .little)
    }

    /// - Parameter exif: with or without `Exif\0\0` in front.
    /// - Returns: nil if it is none.
    init?(_ exif: [UInt8]) {
        bytes = exif.starts(with: Self.mark) ? Array(exif.dropFirst(Self.mark.count)) : exif
        guard let layout = try? TIFFLayout(of: ByteSource(bytes)), !layout.isBig else { return nil }
        order = layout.order
    }

    /// With `Exif\0\0` in front.
    var marked: [UInt8] { Self.mark + bytes }

    /// States texts anew, as UTF-8, which EXIF 3.0 allows and most programs have always written.
    /// - Parameter tags: those of which nothing else stays.
    /// - Returns: false if the block is damaged.
    mutating func state(_ texts: [TIFFTag: String], insteadOf tags: Set<TIFFTag> = []) -> Bool {
        rewriteFirst { fields in
            fields.removeAll { field in
                TIFFTag(rawValue: field.tag).map { texts[$0] != nil || tags.contains($0) } ?? false
            }
            fields += texts.map { Field(tag: $0.rawValue, content: .text(Array($1.utf8) + [0])) }
        }
    }

    /// Removes what says, or may say, where the picture was taken: the directory of the place, the maker's notes, and
    /// other blocks of metadata within this one. No byte of the first two stays where they usually are. Directories that
    /// only libraries find, behind these, go too.
    /// - Returns: false if the block is damaged.
    mutating func removeLocation() -> Bool {
        guard let fields = fields(at: first) else { return false }
        erasable = 4 * bytes.count
        let inner = offset(.exifDirectory, in: fields)
        for directory in [fields, inner.flatMap { self.fields(at: $0) } ?? []] {
            if let place = offset(.locationDirectory, in: directory) { erase(directoryAt: place) }
            for field in directory where Self.removed.contains(field.tag) { erase(field) }
        }
        guard erasable >= 0 else { return false }
        var kept: Field?
        if let inner {
            guard let moved = rewrite(at: inner, next: 0, { $0.removeAll { Self.removed.contains($0.tag) } }) else {
                return false
            }
            let tag = TIFFTag.exifDirectory.rawValue
            let (long, one) = (number(4, 2), number(1, 4))
            kept = Field(tag: tag, content: .raw(number(tag, 2) + long + one + number(moved, Self.offsetBytes)))
        }
        return rewriteFirst(next: 0) { fields in
            fields.removeAll { Self.removed.contains($0.tag) }
            if let kept { fields.append(kept) }
        }
    }

    private static let removed: Set<Int> = Set(
        [
            TIFFTag.xmp, .iptc, .photoshop, .exifDirectory, .locationDirectory, .makerNote, .interoperabilityDirectory,
            .privateData,
        ].map(\.rawValue))

    /// Writes the first directory anew, without an orientation: renditions are upright.
    /// - Returns: false if the block is damaged.
    private mutating func rewriteFirst(next: Int? = nil, _ edit: (inout [Field]) -> Void) -> Bool {
        let place = rewrite(at: first, next: next) { fields in
            fields.removeAll { $0.tag == TIFFTag.orientation.rawValue }
            edit(&fields)
        }
        guard let place else { return false }
        bytes.replaceSubrange(Self.offsetBytes..<2 * Self.offsetBytes, with: number(place, Self.offsetBytes))
        return true
    }

    // MARK: - Directories

    private struct Field {
        enum Content {
            /// The twelve bytes of the field.
            case raw([UInt8])
            case text([UInt8])
        }

        let tag: Int
        let content: Content
    }

    private var first: Int { integer(at: Self.offsetBytes, Self.offsetBytes) ?? 0 }

    /// The fields of a directory; none if its offset is 0, nil if it is not in the block.
    private func fields(at offset: Int) -> [Field]? {
        if offset == 0 { return [] }
        guard let count = integer(at: offset, Self.countBytes) else { return nil }
        let start = offset + Self.countBytes
        guard start + count * Self.fieldBytes + Self.offsetBytes <= bytes.count else { return nil }
        return (0..<count).map { index in
            let raw = Array(bytes[start + index * Self.fieldBytes..<start + (index + 1) * Self.fieldBytes])
            return Field(tag: integer(at: start + index * Self.fieldBytes, 2) ?? 0, content: .raw(raw))
        }
    }

    /// Writes a directory anew at the end.
    /// - Parameter following: the offset of the directory after it; nil: as before.
    /// - Returns: where it is now; nil if the block is damaged.
    private mutating func rewrite(
        at offset: Int, next following: Int?, _ edit: (inout [Field]) -> Void
    ) -> Int? {
        guard var fields = fields(at: offset) else { return nil }
        let after = offset + Self.countBytes + fields.count * Self.fieldBytes
        let next = following ?? (offset == 0 ? 0 : integer(at: after, Self.offsetBytes) ?? 0)
        edit(&fields)
        fields.sort { $0.tag < $1.tag }
        if bytes.count % 2 == 1 { bytes.append(0) }
        let start = bytes.count
        let end = start + Self.countBytes + fields.count * Self.fieldBytes + Self.offsetBytes
        var (directory, values) = (number(fields.count, Self.countBytes), [UInt8]())
        for field in fields {
            switch field.content {
            case .raw(let raw): directory += raw
            case .text(let text):
                directory += number(field.tag, 2) + number(Self.ascii, 2) + number(text.count, 4)
                // Up to four bytes are in the place of their offset.
                guard text.count > Self.offsetBytes else {
                    directory += text + Array(repeating: 0, count: Self.offsetBytes - text.count)
                    continue
                }
                directory += number(end + values.count, 4)
                values += text + (text.count % 2 == 0 ? [] : [0])
            }
        }
        bytes += directory + number(next, Self.offsetBytes) + values
        return start
    }

    private func offset(_ tag: TIFFTag, in fields: [Field]) -> Int? {
        for field in fields where field.tag == tag.rawValue {
            if case .raw(let raw) = field.content { return value(raw.suffix(Self.offsetBytes)) }
        }
        return nil
    }

    private mutating func erase(directoryAt offset: Int) {
        guard offset > 0, let fields = fields(at: offset) else { return }
        for field in fields { erase(field) }
        erase(offset..<offset + Self.countBytes + fields.count * Self.fieldBytes + Self.offsetBytes)
    }

    /// Erases the values of a field that are elsewhere.
    private mutating func erase(_ field: Field) {
        guard case .raw(let raw) = field.content else { return }
        let (type, count) = (value(raw[2..<4]), value(raw[4..<8]))
        let (length, offset) = (count * TIFFField.valueBytes(ofType: type), value(raw[8...]))
        if length > Self.offsetBytes { erase(offset..<offset + length) }
    }

    private mutating func erase(_ range: Range<Int>) {
        // Whatever a damaged field says, the header is none of its values.
        let range = range.clamped(to: 8..<max(8, bytes.count))
        erasable -= range.count
        guard erasable >= 0 else { return }
        bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    // MARK: - Numbers

    private func value(_ bytes: some Collection<UInt8>) -> Int {
        (order == .big ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }

    private func integer(at offset: Int, _ count: Int) -> Int? {
        offset >= 0 && offset + count <= bytes.count ? value(bytes[offset..<offset + count]) : nil
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return order == .little ? little : little.reversed()
    }
}
