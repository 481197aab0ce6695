// Packing for tests of PNG.
import CDeflate

/// Bytes as zlib's level 6 has them.
func zlib(_ bytes: [UInt8]) -> [UInt8] {
    let compressor = libdeflate_alloc_compressor(6)
    defer { libdeflate_free_compressor(compressor) }
    var packed = [UInt8](repeating: 0, count: libdeflate_zlib_compress_bound(compressor, bytes.count))
    let count = libdeflate_zlib_compress(compressor, bytes, bytes.count, &packed, packed.count)
    return Array(packed.prefix(count))
}
