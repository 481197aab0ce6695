import Pipeline
import Vips

extension PNGSource: SourceDecoder {
    static func corrected(_ opened: Image, of file: ReceivedFile, page: Int, tolerance: Tolerance) throws -> Image {
        tolerance == .truncated ? try withoutLeftovers(opened, of: file) : opened
    }

    /// A truncated PNG with gray, instead of what happened to be in memory, where libvips has read no rows: parts of other
    /// pictures may be there.
    /// - Throws: `Failure` with the code `truncated` if no row can be read; `VipsError`.
    private static func withoutLeftovers(_ image: Image, of file: ReceivedFile) throws -> Image {
        let strict = try Operation(
            operation,
            [
                ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
                ("fail_on", "error"),
            ]
        ).image()
        let rows = try strict.rowsBeforeFault()
        _ = VipsLibrary.takeErrors()
        guard rows < image.height else { return image }
        guard rows > 0 else {
            throw Failure(.truncated, stage: "decode", "the file ends before a row of the picture is whole")
        }
        let most = image.format == .ushort ? 65_535.0 : 255
        let colours = image.bands - (image.hasAlpha ? 1 : 0)
        let gray = Array(repeating: (most / 2).rounded(), count: colours) + (image.hasAlpha ? [most] : [])
        return try image.extractArea(left: 0, top: 0, width: image.width, height: rows)
            .embed(x: 0, y: 0, width: image.width, height: image.height, background: gray)
    }

    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) throws -> Image? {
        facts.isUnpackedAtOnce ? try file.structureForDecoding { PNGDecoder($0) }?.decoded(opened) : nil
    }

    static func canBeTruncated(_ facts: SourceFacts) -> Bool { !facts.isInterlaced }

    static let sample = """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQokWNgGAWjYBTAAAADEAABC3uRhAAAAA\
        BJRU5ErkJggg==
        """
}
