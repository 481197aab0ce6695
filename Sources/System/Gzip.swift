// gzip (RFC 1952) by libdeflate, for what is in memory as a whole.
import CDeflate

/// The bytes as a gzip file.
/// - Returns: nil if that is no shorter, or there is no memory for it.
package func gzip(_ bytes: [UInt8]) -> [UInt8]? {
    // As much as pages and metrics are worth: higher levels take twice the time for two percent.
    guard let compressor = libdeflate_alloc_compressor(6) else { return nil }
    defer { libdeflate_free_compressor(compressor) }
    // libdeflate gives up once the result would not be shorter.
    let packed = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
        count = libdeflate_gzip_compress(compressor, bytes, bytes.count, buffer.baseAddress, bytes.count)
    }
    return packed.isEmpty ? nil : packed
}
