// The curves of profiles that say all by three of them and where red, green and blue are.

/// Light by the number for it, both from 0 to 1.
package enum ProfileCurve: Hashable, Sendable {
    /// A `parametricCurveType`, with the numbers of its kind.
    case formula(kind: Int, [Double])
    /// Light at equal distances.
    case table([UInt16])

    /// - Parameter content: of a tag.
    init?(_ content: [UInt8]) {
        let source = ByteSource(content)
        if content.starts(with: FourCC("para").bytes) {
            guard let kind = source.integer(at: 8, bytes: 2), Self.counts.indices.contains(kind) else { return nil }
            let numbers = (0..<Self.counts[kind]).compactMap { source.fixedNumber(at: 12 + 4 * $0) }
            guard numbers.count == Self.counts[kind], numbers[0] > 0, numbers.count < 2 || numbers[1] > 0 else {
                return nil
            }
            self = .formula(kind: kind, numbers)
        } else if content.starts(with: FourCC("curv").bytes), let count = source.integer(at: 8, bytes: 4) {
            switch count {
            case 0: self = .formula(kind: 0, [1])
            case 1:
                guard let exponent = source.integer(at: 12, bytes: 2), exponent > 0 else { return nil }
                self = .formula(kind: 0, [Double(exponent) / 256])
            default:
                guard count <= Self.mostEntries, content.count >= 12 + 2 * count else { return nil }
                let entries = (0..<count).map { UInt16(content[12 + 2 * $0]) << 8 | UInt16(content[13 + 2 * $0]) }
                // One that falls somewhere has two numbers for one light.
                guard zip(entries, entries.dropFirst()).allSatisfy({ $0 <= $1 }), entries[0] < entries[count - 1] else {
                    return nil
                }
                self = .table(entries)
            }
        } else {
            return nil
        }
    }

    /// How many numbers each kind of formula has.
    private static let counts = [1, 3, 4, 5, 7]
    private static let mostEntries = 16_384
    /// The largest tag that has one, in bytes.
    static let mostBytes = 12 + 2 * mostEntries
}

extension ICCProfile {
    /// The curves of red, green and blue, or of gray alone; nil if it has tables for whole colors instead.
    package var curves: [ProfileCurve]? {
        guard content(of: "A2B0") == nil, content(of: "A2B1") == nil else { return nil }
        let isGray = ByteSource(bytes).read(16, 4) == FourCC("GRAY").bytes
        let tags: [FourCC] = isGray ? ["kTRC"] : ["rTRC", "gTRC", "bTRC"]
        let found = tags.compactMap { content(of: $0, atMost: ProfileCurve.mostBytes).flatMap(ProfileCurve.init) }
        return found.count == tags.count && (isGray || colorants != nil) ? found : nil
    }
}

extension ByteSource {
    /// A number with 16 bits before the point, and 16 after it.
    func fixedNumber(at offset: Int) -> Double? {
        integer(at: offset, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65_536 }
    }
}
