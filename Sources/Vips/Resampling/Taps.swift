// Along one side of a picture: which pixels make a pixel of the scaled one, and with what weight.
import Synchronization

/// The pixels that count for each pixel of the result.
struct Taps {
    /// The first one.
    private(set) var starts: [Int] = []
    /// All weights, one pixel of the result after the other; those of one sum up to 1.
    private var weights: [Float] = []
    /// Where the weights of each pixel of the result begin, and where the last ones end.
    private var places: [Int] = [0]

    /// - Parameters:
    ///   - length: pixels along this side of the source.
    ///   - extent: the same if the last pixel is not a whole one.
    ///   - newLength: pixels along this side of the result.
    init(from length: Int, extent: Double, to newLength: Int, kernel: ResamplingKernel) {
        let scale = extent / Double(newLength)
        // Shrinking, the curve is stretched over all the pixels that become one.
        let stretch = max(1, scale)
        let radius = kernel.radius * stretch
        starts.reserveCapacity(newLength)
        places.reserveCapacity(newLength + 1)
        weights.reserveCapacity(newLength * Int(2 * radius + 2))
        var raw: [Double] = []
        for index in 0..<newLength {
            let middle = (Double(index) + 0.5) * scale
            let first = min(max(0, Int((middle - radius + 0.5).rounded(.down))), length - 1)
            let end = max(first + 1, min(length, Int((middle + radius + 0.5).rounded(.down))))
            raw.removeAll(keepingCapacity: true)
            for source in first..<end { raw.append(kernel.weight(at: (Double(source) + 0.5 - middle) / stretch)) }
            // At an edge the curve is cut, and what is left of it weighs all.
            let sum = raw.reduce(0, +)
            for weight in raw { weights.append(Float(weight / sum)) }
            starts.append(first)
            places.append(weights.count)
        }
    }

    /// The same, from those computed last if they are among them: icons and thumbnails come in the same sizes again and again.
    static func recent(from length: Int, extent: Double, to newLength: Int, kernel: ResamplingKernel) -> Taps {
        let side = Side(length: length, extent: extent, newLength: newLength, kernel: kernel)
        if let taps = recent.withLock({ $0[side] }) { return taps }
        let taps = Taps(from: length, extent: extent, to: newLength, kernel: kernel)
        guard taps.weights.count <= mostWeights else { return taps }
        recent.withLock { known in
            if known.count >= mostSides { known.removeAll(keepingCapacity: true) }
            known[side] = taps
        }
        return taps
    }

    private struct Side: Hashable {
        let length: Int
        let extent: Double
        let newLength: Int
        let kernel: ResamplingKernel
    }

    /// At most 512 KiB: 16 sides of 8,192 weights.
    private static let recent = Mutex<[Side: Taps]>([:])
    private static let mostSides = 16
    private static let mostWeights = 8192

    var count: Int { starts.count }

    /// Behind the last pixel that counts.
    func end(_ index: Int) -> Int { starts[index] + places[index + 1] - places[index] }

    func weight(of source: Int, in index: Int) -> Float { weights[places[index] + source - starts[index]] }

    func withWeights(of index: Int, from source: Int, _ body: (UnsafePointer<Float>) -> Void) {
        weights.withUnsafeBufferPointer { body($0.baseAddress! + places[index] + source - starts[index]) }
    }

    /// The most pixels of the source that one pixel of the result is made of.
    var longest: Int { (0..<count).map { end($0) - starts[$0] }.max() ?? 1 }

    /// The most pixels of the result that one pixel of the source counts for.
    var overlap: Int {
        var most = 1
        var oldest = 0
        for index in 0..<count {
            while end(oldest) <= starts[index] { oldest += 1 }
            most = max(most, index - oldest + 1)
        }
        return most
    }
}
