// The rows of a picture as PNG packs them: a byte for the filter, then the samples, high byte first.
import CPNGFilter
import Glibc

/// The layout of a picture's rows in memory. Writes them as they are, or filtered.
struct PNGRows {
    let width: Int
    let height: Int
    /// 1 to 4: grey, grey and alpha, RGB, RGB and alpha.
    let bands: Int
    /// 1 or 2.
    let bytesPerSample: Int

    /// The length of a row.
    var bytes: Int { width * bands * bytesPerSample }
    private var bytesPerPixel: Int { bands * bytesPerSample }

    /// The rest of `IHDR`: depth, type of color, and the only methods of packing, filtering and, without, interlacing.
    var kind: [UInt8] { [UInt8(8 * bytesPerSample), [0, 4, 2, 6][bands - 1], 0, 0, 0] }

    /// Some rows from all over the picture, an eighth of it; nil if that is too little to judge by.
    var sample: [Range<Int>]? {
        let (wanted, places) = (height / 8, 8)
        guard wanted >= places, wanted * bytes >= Self.fewestBytes else { return nil }
        let each = wanted / places
        return (0..<places).map { place in
            let first = (height - each) * place / (places - 1)
            return first..<first + each
        }
    }

    private static let fewestBytes = 8192

    /// Rows as they are.
    func plain(_ pixels: UnsafeRawBufferPointer, _ rows: [Range<Int>]) -> [UInt8] {
        written(rows) { row, out in
            out[0] = 0
            copy(pixels, row, to: out + 1)
        }
    }

    /// The shares of pixels in some rows that are as their neighbor to the left or above, and as both, 0 to 1.
    func repeats(_ pixels: UnsafeRawBufferPointer, _ rows: [Range<Int>]) -> (either: Double, both: Double) {
        let first = pixels.baseAddress!.assumingMemoryBound(to: UInt8.self)
        var (either, both, count) = (0, 0, 0)
        for number in rows.joined() {
            let row = first + number * bytes
            let repeats = cpngfilter_repeats(row, number > 0 ? row - bytes : nil, bytes, CInt(bytesPerPixel))
            either += repeats.either
            both += repeats.both
            count += width
        }
        return (Double(either) / Double(count), Double(both) / Double(count))
    }

    /// Rows as differences, each by the filter that suits it.
    /// - Returns: the rows, and the mean of the differences' amounts, 0 to 128.
    func filtered(_ pixels: UnsafeRawBufferPointer, _ rows: [Range<Int>]) -> (rows: [UInt8], difference: Double) {
        let instructions = cinstructions_best()
        // Two rows, each with a pixel of zeros in front.
        let stride = bytesPerPixel + bytes
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * stride) { buffers in
            buffers.initialize(repeating: 0)
            var (row, above) = (buffers.baseAddress! + bytesPerPixel, buffers.baseAddress! + stride + bytesPerPixel)
            var last = -1
            var (sum, count): (UInt64, Int) = (0, 0)
            let filtered = written(rows) { number, out in
                if number > 0 && last != number - 1 { copy(pixels, number - 1, to: above) }
                copy(pixels, number, to: row)
                sum += cpngfilter_adaptive(instructions, row, above, bytes, CInt(bytesPerPixel), out)
                count += bytes
                swap(&row, &above)
                last = number
            }
            return (filtered, Double(sum) / Double(count))
        }
    }

    private func written(_ rows: [Range<Int>], _ write: (Int, UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
        let total = rows.map(\.count).reduce(0, +) * (bytes + 1)
        return [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
            for row in rows.joined() {
                write(row, buffer.baseAddress! + count)
                count += bytes + 1
            }
        }
    }

    private func copy(_ pixels: UnsafeRawBufferPointer, _ row: Int, to out: UnsafeMutablePointer<UInt8>) {
        let start = pixels.baseAddress! + row * bytes
        guard bytesPerSample == 2 else {
            memcpy(out, start, bytes)
            return
        }
        let samples = start.assumingMemoryBound(to: UInt16.self)
        for index in 0..<width * bands {
            out[2 * index] = UInt8(samples[index] >> 8)
            out[2 * index + 1] = UInt8(samples[index] & 0xFF)
        }
    }
}
