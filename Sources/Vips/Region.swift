// A window onto a picture's pixels, for code that reads them row by row.
import CVips

/// Rows of a picture, computed when they are asked for. For one thread.
final class Region {
    private let pointer: UnsafeMutablePointer<VipsRegion>
    private let image: Image

    init(of image: Image) throws(VipsError) {
        guard let region = vips_region_new(image.pointer) else { throw VipsError.failed(operation: "region") }
        pointer = region
        self.image = image
    }

    deinit { g_object_unref(pointer) }

    /// Computes whole rows, and forgets those before.
    func prepare(rows: Range<Int>) throws(VipsError) {
        var area = VipsRect(left: 0, top: CInt(rows.lowerBound), width: CInt(image.width), height: CInt(rows.count))
        guard vips_region_prepare(pointer, &area) == 0 else { throw VipsError.failed(operation: "read") }
    }

    /// The first byte of a row that was prepared.
    func row(_ y: Int) -> UnsafeRawPointer { UnsafeRawPointer(cvips_region_place(pointer, 0, CInt(y))) }
}
