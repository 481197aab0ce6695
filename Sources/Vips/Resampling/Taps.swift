// Along one side of a picture: which pixels make a pixel of the scaled one, and with what weight.
import CResample
import Kernels
import Synchronization

/// The pixels that count for each pixel of the result.
struct Taps {
    /// The first one.
    private(set) var starts: [Int32] = []
    /// All weights, one pixel of the result after the other; those of one sum up to 1.
    private var weights: [Float] = []
    /// Where the weights of each pixel of the result begin, and where the last ones end.
    private var places: [Int32] = [0]

    /// - Parameters:
    ///   - length: pixels along this side of the source.
    ///   - extent: the same if the last pixel is not a whole one.
    ///   - newLength: pixels along this side of the result.
    init(from length: Int, extent: Double, to newLength: Int, kernel: ScalingKernel) {
        if kernel == .nearest {
            // The pixel below the middle of the new one: in whole numbers, since the middle may be on an edge.
            starts = (0..<newLength).map { Int32((2 * $0 + 1) * length / (2 * newLength)) }
            weights = Array(repeating: 1, count: newLength)
            places = (0...newLength).map(Int32.init)
            return
        }
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
            starts.append(Int32(first))
            places.append(Int32(weights.count))
        }
    }

    /// The same, from those computed last if they are among them: icons and thumbnails come in the same sizes again and
    /// again.
    static func recent(from length: Int, extent: Double, to newLength: Int, kernel: ScalingKernel) -> Taps {
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
        let kernel: ScalingKernel
    }

    /// At most 4 MiB: 32 sides of 32,768 weights, which is what a photo of 5,400 pixels has.
    private static let recent = Mutex<[Side: Taps]>([:])
    private static let mostSides = 32
    private static let mostWeights = 32_768

    var count: Int { starts.count }

    func start(_ index: Int) -> Int { Int(starts[index]) }

    /// Behind the last pixel that counts.
    func end(_ index: Int) -> Int { Int(starts[index] + places[index + 1] - places[index]) }

    func withWeights(of index: Int, from source: Int, _ body: (UnsafePointer<Float>) -> Void) {
        weights.withUnsafeBufferPointer { body($0.baseAddress! + Int(places[index]) + source - start(index)) }
    }

    /// As the inner loops take them.
    /// - Parameter columns: pixels of the source that their scratch has room for.
    func withPointers(columns: Int, _ body: (CResampleTaps) -> Void) {
        starts.withUnsafeBufferPointer { starts in
            places.withUnsafeBufferPointer { places in
                weights.withUnsafeBufferPointer { weights in
                    body(
                        CResampleTaps(
                            starts: starts.baseAddress, places: places.baseAddress, weights: weights.baseAddress,
                            columns: CInt(columns)))
                }
            }
        }
    }

    /// The most pixels of the source that one pixel of the result is made of.
    var longest: Int { (0..<count).map { end($0) - start($0) }.max() ?? 1 }

    /// The most pixels of the result that one pixel of the source counts for.
    var overlap: Int {
        var most = 1
        var oldest = 0
        for index in 0..<count {
            while end(oldest) <= start(index) { oldest += 1 }
            most = max(most, index - oldest + 1)
        }
        return most
    }

    /// The most pixels of the result that begin within so many neighbouring pixels of the source.
    func begun(byRows length: Int) -> Int {
        var most = 1
        var oldest = 0
        for index in 0..<count {
            while start(index) - start(oldest) >= length { oldest += 1 }
            most = max(most, index - oldest + 1)
        }
        return most
    }
}
