// TIFFs of one colour whose pixels have any number of samples, in one strip without compression.

package enum SmallTIFF {
    /// - Parameters:
    ///   - pixel: the samples of each pixel.
    ///   - bits: of a sample, 8 or 16; 32 for 255ths of 1 in floating point.
    ///   - photometric: 1 for gray, 2 for RGB, 5 for CMYK, 8 for Lab.
    ///   - extra: the meaning of the samples after the colours: 0 for none, 1 and 2 for alpha that is multiplied in or
    ///     not.
    package static func file(
        width: Int = 16, height: Int = 12, pixel: [Int], bits: Int = 8, photometric: Int, extra: [Int] = [],
        profile: [UInt8] = []
    ) -> [UInt8] {
        let samples = Array(repeating: pixel, count: width * height).flatMap { $0 }
        let pixels = samples.flatMap { little(bits == 32 ? Int((Float($0) / 255).bitPattern) : $0, bits / 8) }
        let lists = 8 + pixels.count
        let (widths, meanings) = (pixel.map { _ in little(bits, 2) }, extra.map { little($0, 2) })
        let fields: [(tag: Int, count: Int, value: [UInt8])] = [
            (256, 1, little(width, 2)), (257, 1, little(height, 2)), (258, pixel.count, Array(widths.joined())),
            (259, 1, little(1, 2)), (262, 1, little(photometric, 2)), (273, 1, little(8, 2)),
            (277, 1, little(pixel.count, 2)), (278, 1, little(height, 2)), (279, 1, little(pixels.count, 2)),
            (284, 1, little(1, 2)), (338, extra.count, Array(meanings.joined())),
            (339, bits == 32 ? pixel.count : 0, pixel.flatMap { _ in little(3, 2) }),
            (profileTag, profile.count, profile),
        ].filter { $0.count > 0 }
        var elsewhere: [UInt8] = []
        var entries: [UInt8] = []
        for field in fields {
            let isLong = field.value.count > 4
            let value = isLong ? little(lists + elsewhere.count, 4) : field.value
            if isLong { elsewhere += field.value }
            entries +=
                little(field.tag, 2) + little(field.tag == profileTag ? 7 : 3, 2) + little(field.count, 4) + value
            entries += [UInt8](repeating: 0, count: 4 - value.count)
        }
        let directory = little(fields.count, 2) + entries + little(0, 4)
        let header: [UInt8] = Array("II".utf8) + little(42, 2) + little(lists + elsewhere.count, 4)
        return header + pixels + elsewhere + directory
    }

    private static let profileTag = 34_675

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
