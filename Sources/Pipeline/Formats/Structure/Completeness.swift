// Whether a file ends where its structure says, so that one still being written is not taken for a picture.

/// The completeness of a file, as its structure tells it.
package enum Completeness: Sendable {
    /// All that the structure announces is there. Bytes after it do not count: some cameras and phones write them.
    case complete
    /// Something that the structure announces is not there yet; more bytes, or the filling of a hole of zeros, may mend
    /// that.
    case incomplete
    /// Waiting would not help: it is not that format, or a form of it that is not known here. A decoder has to judge.
    case unknown
}

/// Looks at the structure of the whole file, but decodes nothing. Linear in the file's size; files of no bytes are
/// incomplete.
package func completeness(of format: SourceFormat, in bytes: ByteSource) -> Completeness {
    do throws(StructureError) {
        try format.declaration.structure.walk(bytes)
        return .complete
    } catch {
        switch error {
        case .endsEarly: return .incomplete
        case .malformed: return .unknown
        }
    }
}
