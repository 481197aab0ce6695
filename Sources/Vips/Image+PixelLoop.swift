// Pictures whose pixels are computed from another's by a loop of ours, while libvips asks for them.
import CVips

extension Image {
    /// A picture of the same size and kind, each of whose pixels depends on the one in its place alone.
    /// - Parameter work: makes a row of pixels: from where, to where, and how many. Several threads may call it at once.
    package func mappingPixels(
        _ work: @escaping @Sendable (UnsafeRawPointer, UnsafeMutableRawPointer, Int) -> Void
    ) throws(VipsError) -> Image {
        guard let new = vips_image_new() else { throw VipsError.failed(operation: "pixels") }
        let result = Image(owning: new)
        // The result keeps the loop and this picture for as long as libvips has it.
        let loop = Unmanaged.passRetained(PixelLoop(source: self, work: work))
        cvips_keep(new, loop.toOpaque()) { Unmanaged<PixelLoop>.fromOpaque($0!).release() }
        guard cvips_pipeline(new, pointer) == 0,
            vips_image_generate(new, vips_start_one, mapPixels, vips_stop_one, pointer, loop.toOpaque()) == 0
        else {
            throw VipsError.failed(operation: "pixels")
        }
        return result
    }
}

/// A loop and the picture that it reads.
private final class PixelLoop {
    /// Kept alive and not used: libvips has a region of it for each thread.
    private let source: Image
    private let work: @Sendable (UnsafeRawPointer, UnsafeMutableRawPointer, Int) -> Void

    init(source: Image, work: @escaping @Sendable (UnsafeRawPointer, UnsafeMutableRawPointer, Int) -> Void) {
        (self.source, self.work) = (source, work)
    }

    func fill(_ output: UnsafeMutablePointer<VipsRegion>, from input: UnsafeMutablePointer<VipsRegion>) -> Bool {
        var area = output.pointee.valid
        guard vips_region_prepare(input, &area) == 0 else { return false }
        for y in area.top..<area.top + area.height {
            guard let from = cvips_region_place(input, area.left, y), let to = cvips_region_place(output, area.left, y)
            else { return false }
            work(from, UnsafeMutableRawPointer(mutating: to), Int(area.width))
        }
        return true
    }
}

private let mapPixels: VipsGenerateFn = { output, input, _, loop, _ in
    let loop = Unmanaged<PixelLoop>.fromOpaque(loop!).takeUnretainedValue()
    return loop.fill(output!, from: input!.assumingMemoryBound(to: VipsRegion.self)) ? 0 : -1
}
