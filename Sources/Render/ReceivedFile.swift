// The file of a source as the supervisor has handed it over, with its beginning, which is read once.
import Pipeline
import System

/// The file of a source that is being decoded.
final class ReceivedFile {
    let opened: OpenFile
    private var beginning: FileBeginning?
    /// The raw file, once its header was read; nil for other formats.
    var raw: RawFile?

    init(_ file: OpenFile) { opened = file }

    var descriptor: CInt { opened.descriptor }

    /// Reads the structure of a source by code that knows no files. A read that fails is not taken for damage, and a
    /// change between two looks not for another picture: the supervisor checks the disk and the file, and the source is
    /// tried again later.
    func structureForDecoding<Found>(_ find: (ByteSource) -> Found) throws(Failure) -> Found {
        do throws(SystemError) {
            let known = if let beginning { beginning } else { try FileBeginning(of: opened) }
            beginning = known
            return try opened.structure(beginning: known, find)
        } catch {
            throw Failure(
                .changedWhileRead, stage: "decode", "the picture cannot be read any more", detail: error.description)
        }
    }
}
