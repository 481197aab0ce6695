// A picture in libvips: a recipe for pixels, computed when they are asked for. Immutable; every operation gives a new
// one.
import CVips

/// A picture. Owns one reference to a `VipsImage`.
package final class Image {
    /// The wrapped image; it lives as long as this object. Stays inside this module.
    let pointer: UnsafeMutablePointer<VipsImage>

    /// Takes over a reference that the caller owns.
    init(owning pointer: UnsafeMutablePointer<VipsImage>) {
        self.pointer = pointer
    }

    deinit { g_object_unref(pointer) }

    /// Pixels.
    package var width: Int { Int(vips_image_get_width(pointer)) }
    /// Pixels; of all frames together if they are stacked below each other.
    package var height: Int { Int(vips_image_get_height(pointer)) }
    package var bands: Int { Int(vips_image_get_bands(pointer)) }
    package var format: BandFormat { BandFormat(vips_image_get_format(pointer)) }
    package var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// Where the origin of the picture it was cut out of lies.
    package var xoffset: Int { Int(vips_image_get_xoffset(pointer)) }
    package var yoffset: Int { Int(vips_image_get_yoffset(pointer)) }
    /// Across and down.
    package var pixelsPerMillimetre: (Double, Double) { (vips_image_get_xres(pointer), vips_image_get_yres(pointer)) }
    /// The size of all pixels, uncompressed.
    package var bytes: Int { width * height * bands * Int(vips_format_sizeof(vips_image_get_format(pointer))) }
    /// Pixels of one frame.
    package var pageHeight: Int { Int(vips_image_get_page_height(pointer)) }
    /// How many frames or pages the file has, loaded or not.
    package var pages: Int { Int(vips_image_get_n_pages(pointer)) }

    /// The color space or other meaning of the bands.
    package var interpretation: Interpretation { Interpretation(vips_image_guess_interpretation(pointer)) }
}

// Pixels in and out of memory.
extension Image {
    /// A picture of bytes, row by row, bands interleaved; libvips keeps a copy of its own.
    package convenience init(bytes: [UInt8], width: Int, height: Int, bands: Int) throws(VipsError) {
        precondition(bytes.count == width * height * bands, "the bytes are not those of a picture of this size")
        let made = bytes.withUnsafeBytes {
            vips_image_new_from_memory_copy(
                $0.baseAddress, $0.count, CInt(width), CInt(height), CInt(bands), VIPS_FORMAT_UCHAR)
        }
        guard let made else { throw VipsError.failed(operation: "new_from_memory") }
        self.init(owning: made)
    }

    /// A matrix, as operations take it.
    convenience init(matrix rows: [[Double]]) throws(VipsError) {
        let numbers = rows.flatMap { $0 }
        precondition(!rows.isEmpty && rows.allSatisfy { $0.count == rows[0].count }, "the rows are not of one length")
        let made = vips_image_new_matrix_from_array(
            CInt(rows[0].count), CInt(rows.count), numbers, CInt(numbers.count))
        guard let made else { throw VipsError.failed(operation: "new_matrix_from_array") }
        self.init(owning: made)
    }

    /// All pixels in the image's own format, row by row, bands interleaved. Evaluates the picture.
    package func pixels() throws(VipsError) -> [UInt8] {
        var size = 0
        guard let memory = vips_image_write_to_memory(pointer, &size) else {
            throw VipsError.failed(operation: "write_to_memory")
        }
        defer { g_free(memory) }
        return [UInt8](UnsafeRawBufferPointer(start: memory, count: size))
    }

    /// All pixels are in memory; none is still to be computed.
    package var isInMemory: Bool { pointer.pointee.dtype == VIPS_IMAGE_SETBUF }

    /// Gives access to all pixels of a picture that is in memory.
    package func withPixels<Value>(_ work: (UnsafeRawBufferPointer) throws -> Value) throws -> Value {
        guard let pixels = vips_image_get_data(pointer) else { throw VipsError.failed(operation: "get_data") }
        return try work(UnsafeRawBufferPointer(start: pixels, count: bytes))
    }

    /// A picture in memory with this one's metadata, and with other pixels.
    /// - Parameters:
    ///   - width, height: nil for this one's.
    ///   - fill: writes the pixels, row after row without gaps; false if it cannot.
    package func withPixels(
        width: Int? = nil, height: Int? = nil, filledBy fill: (UnsafeMutableRawBufferPointer) throws -> Bool
    ) throws -> Image? {
        guard let memory = cvips_memory_image_like(pointer, CInt(width ?? self.width), CInt(height ?? self.height))
        else {
            throw VipsError.failed(operation: "new_memory")
        }
        let image = Image(owning: memory)
        guard let pixels = cvips_image_row(memory, 0) else { throw VipsError.failed(operation: "new_memory") }
        return try fill(UnsafeMutableRawBufferPointer(start: pixels, count: image.bytes)) ? image : nil
    }

    /// Computes all pixels and keeps none of them.
    package func evaluated() throws(VipsError) { _ = try Operation("avg", ["in": .image(self)]) }

    /// The picture with its pixels computed once and held in memory; the source is no longer needed.
    package func inMemory() throws(VipsError) -> Image {
        guard let copy = vips_image_copy_memory(pointer) else { throw VipsError.failed(operation: "copy_memory") }
        return Image(owning: copy)
    }
}

// Metadata, by libvips' field names.
extension Image {
    package var fields: [String] {
        guard let names = vips_image_get_fields(pointer) else { return [] }
        defer { g_strfreev(names) }
        var result: [String] = []
        while let name = names[result.count] { result.append(String(cString: name)) }
        return result
    }

    package func int(_ field: String) -> Int? {
        guard vips_image_get_typeof(pointer, field) == cvips_type_int() else { return nil }
        var value: CInt = 0
        return vips_image_get_int(pointer, field, &value) == 0 ? Int(value) : nil
    }

    package func ints(_ field: String) -> [Int]? {
        guard vips_image_get_typeof(pointer, field) == cvips_type_array_int() else { return nil }
        var values: UnsafeMutablePointer<CInt>?
        var count: CInt = 0
        guard vips_image_get_array_int(pointer, field, &values, &count) == 0, let values else { return nil }
        return (0..<Int(count)).map { Int(values[$0]) }
    }

    package func string(_ field: String) -> String? {
        guard vips_image_get_typeof(pointer, field) == cvips_type_string() else { return nil }
        var value: UnsafePointer<CChar>?
        guard vips_image_get_string(pointer, field, &value) == 0, let value else { return nil }
        return String(cString: value)
    }

    package func blob(_ field: String) -> [UInt8]? {
        guard vips_image_get_typeof(pointer, field) == cvips_type_blob() else { return nil }
        var value: UnsafeRawPointer?
        var size = 0
        guard vips_image_get_blob(pointer, field, &value, &size) == 0, let value else { return nil }
        return [UInt8](UnsafeRawBufferPointer(start: value, count: size))
    }

    /// Bytes of a blob or a text; 0 if there is none.
    package func byteCount(of field: String) -> Int {
        var value: UnsafeRawPointer?
        var size = 0
        guard vips_image_get_typeof(pointer, field) == cvips_type_blob() else { return string(field)?.utf8.count ?? 0 }
        return vips_image_get_blob(pointer, field, &value, &size) == 0 ? size : 0
    }

    package func has(_ field: String) -> Bool { vips_image_get_typeof(pointer, field) != 0 }

    /// The same picture without some of its metadata; itself if it has none of it.
    package func removingMetadata(_ fields: [String]) throws(VipsError) -> Image {
        let present = fields.filter(has)
        return present.isEmpty ? self : try editingMetadata { editor in present.forEach(editor.remove) }
    }

    /// The same picture with bytes of its own in place of those that libvips keeps for it.
    package func copyingBlobs() throws(VipsError) -> Image {
        try editingMetadata { editor in
            for field in fields { if let bytes = blob(field) { editor.set(field, blob: bytes) } }
        }
    }

    /// The same picture with other metadata. The pixels are shared.
    package func editingMetadata(_ edit: (MetadataEditor) -> Void) throws(VipsError) -> Image {
        let copy = try copy()
        edit(MetadataEditor(pointer: copy.pointer))
        return copy
    }
}

/// Changes the metadata of a picture that nobody else can see yet.
package struct MetadataEditor {
    fileprivate let pointer: UnsafeMutablePointer<VipsImage>

    package func set(_ field: String, int value: Int) { vips_image_set_int(pointer, field, CInt(clamping: value)) }
    package func set(_ field: String, string value: String) { vips_image_set_string(pointer, field, value) }
    package func set(_ field: String, ints values: [Int]) {
        vips_image_set_array_int(pointer, field, values.map { CInt(clamping: $0) }, CInt(values.count))
    }
    package func set(_ field: String, blob bytes: [UInt8]) {
        bytes.withUnsafeBytes { vips_image_set_blob_copy(pointer, field, $0.baseAddress, $0.count) }
    }
    package func remove(_ field: String) { _ = vips_image_remove(pointer, field) }
}
