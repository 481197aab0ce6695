// How strong Apple's gain maps are, as older phones say it: by two numbers in EXIF's maker note.
// https://developer.apple.com/documentation/appkit/applying-apple-hdr-effect-to-your-photos

enum AppleMakerNote {
    private static let name = Array("Apple iOS".utf8) + [0]
    /// The entries of a directory of TIFF, which follows the name, a version and the order of bytes.
    private static let (orderOffset, directoryOffset, entryBytes) = (12, 14, 12)
    private static let signedFraction = 10
    /// The tags of the headroom and of the gain.
    private static let (headroomTag, gainTag) = (33, 48)

    /// How much brighter than white the map makes the brightest parts, as a logarithm of base 2.
    /// - Parameter exif: an EXIF block.
    /// - Returns: nil if no note says so.
    static func stops(in exif: [UInt8]) -> Double? {
        guard let start = exif.firstRange(of: name)?.lowerBound else { return nil }
        let note = ByteSource(Array(exif[start...]))
        let order: ByteOrder = note.read(orderOffset, 2) == Array("II".utf8) ? .little : .big
        func number(_ tag: Int) -> Double? {
            guard let count = note.integer(at: directoryOffset, bytes: 2, order) else { return nil }
            for index in 0..<min(count, 256) {
                let entry = directoryOffset + 2 + entryBytes * index
                guard note.integer(at: entry, bytes: 2, order) == tag,
                    note.integer(at: entry + 2, bytes: 2, order) == signedFraction,
                    let place = note.integer(at: entry + 8, bytes: 4, order),
                    let above = note.integer(at: place, bytes: 4, order),
                    let below = note.integer(at: place + 4, bytes: 4, order), below > 0
                else { continue }
                return Double(Int32(truncatingIfNeeded: above)) / Double(below)
            }
            return nil
        }
        guard let headroom = number(headroomTag), let gain = number(gainTag) else { return nil }
        let isSteep = gain <= 0.01
        let stops =
            headroom < 1
            ? (isSteep ? -20 * gain + 1.8 : -0.101 * gain + 1.601)
            : (isSteep ? -70 * gain + 3 : -0.303 * gain + 2.303)
        return (0...8).contains(stops) ? stops : nil
    }
}
