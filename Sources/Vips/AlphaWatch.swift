// Whether a picture is transparent anywhere, found out while its pixels pass by, for pictures that nobody holds in
// memory.
import CVips
import Synchronization

/// Notes whether any pixel that passed was not opaque. libvips' threads write to it.
package final class AlphaWatch: Sendable {
    private let seen = Atomic<Bool>(false)

    package init() {}

    /// Final once the picture was read to its end.
    package var sawTransparency: Bool { seen.load(ordering: .relaxed) }

    fileprivate func look(at region: UnsafeMutablePointer<VipsRegion>, _ area: VipsRect) {
        guard !sawTransparency else { return }
        let bands = Int(region.pointee.im.pointee.Bands)
        let isSixteenBit = region.pointee.im.pointee.BandFmt == VIPS_FORMAT_USHORT
        for y in area.top..<area.top + area.height {
            guard let row = cvips_region_place(region, area.left, y) else { continue }
            let isOpaque =
                isSixteenBit
                ? isOpaque(row.assumingMemoryBound(to: UInt16.self), bands: bands, width: Int(area.width))
                : isOpaque(row.assumingMemoryBound(to: UInt8.self), bands: bands, width: Int(area.width))
            if !isOpaque { return seen.store(true, ordering: .relaxed) }
        }
    }

    private func isOpaque<Number: FixedWidthInteger>(_ row: UnsafePointer<Number>, bands: Int, width: Int) -> Bool {
        var all = Number.max
        for pixel in 0..<width { all &= row[pixel * bands + bands - 1] }
        return all == .max
    }
}

extension Image {
    /// The same picture; the watch sees each pixel that is read of it. Alpha is the last band, of 8 or 16 bits.
    package func watched(by watch: AlphaWatch) throws(VipsError) -> Image {
        precondition(format == .uchar || format == .ushort, "a watch knows 8 and 16 bits")
        guard let new = vips_image_new() else { throw VipsError.failed(operation: "watch") }
        let result = Image(owning: new)
        // The result keeps what its pixels come from for as long as libvips has it, which may be longer than `result`
        // lives.
        let link = Unmanaged.passRetained(WatchLink(input: self, watch: watch))
        cvips_keep(new, link.toOpaque()) { Unmanaged<WatchLink>.fromOpaque($0!).release() }
        guard cvips_pipeline(new, pointer) == 0,
            vips_image_generate(new, vips_start_one, passOn, vips_stop_one, pointer, link.toOpaque()) == 0
        else { throw VipsError.failed(operation: "watch") }
        return result
    }
}

/// The objects that the result of `watched` needs.
private final class WatchLink: Sendable {
    // Unsafe to share, but nobody uses it: it is only retained and released, and libvips counts references atomically.
    nonisolated(unsafe) let input: Image
    let watch: AlphaWatch

    init(input: Image, watch: AlphaWatch) {
        self.input = input
        self.watch = watch
    }
}

/// Hands an area of the input on without copying it.
private let passOn: VipsGenerateFn = { output, sequence, _, link, _ in
    let input = sequence!.assumingMemoryBound(to: VipsRegion.self)
    var area = output!.pointee.valid
    guard vips_region_prepare(input, &area) == 0, vips_region_region(output, input, &area, area.left, area.top) == 0
    else { return -1 }
    Unmanaged<WatchLink>.fromOpaque(link!).takeUnretainedValue().watch.look(at: input, area)
    return 0
}
