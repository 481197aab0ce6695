import Pipeline
import Stages
import Vips

extension RawSource: SourceDecoder {
    static let operation = JPEGSource.operation

    static func opened(_ file: ReceivedFile, _ opening: Loader.Opening, tolerance: Tolerance) throws -> Image {
        // LibRaw would make black of what is not there.
        guard try file.structureForDecoding({ completeness(of: .raw, in: $0) }) != .incomplete else {
            throw Failure(.corrupt, stage: "decode", "the file ends before the picture does")
        }
        let raw = try file.raw ?? RawFile(file.opened, develops: opening.developsRaw)
        file.raw = raw
        return try raw.opened(shrink: opening.shrink)
    }

    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) throws -> Image? {
        guard let raw = file.raw, raw.reading != .preview else { return nil }
        return try raw.developed(like: opened, isHalved: shrink > 1)
    }

    static func preview(_ load: PreviewLoad, in file: ReceivedFile, of format: SourceFormat) throws -> Picture? {
        try file.raw?.openedPreview(shrink: load.shrink)
    }

    static func readSample(_ bytes: [UInt8]) throws {
        let raw = try RawFile(bytes, develops: true)
        _ = try raw.developed(like: raw.opened(shrink: 1), isHalved: false)
    }

    static func canBeTruncated(_ facts: SourceFacts) -> Bool { false }

    /// A DNG of 24×24 places: LibRaw reads none that is smaller than 22.
    static let sample = """
        SUkqAAgAAAAYAP4ABAABAAAAAAAAAAABBAABAAAAGAAAAAEBBAABAAAAGAAAAAIBAwABAAAACAAAAAMBAwABAAAAAQAAAAYBAwABAAAAI4AAAA8BAgAKAA\
        AALgEAABABAgAKAAAAOAEAABEBBAABAAAAygEAABIBAwABAAAAAQAAABUBAwABAAAAAQAAABYBBAABAAAAGAAAABcBBAABAAAAQAIAABwBAwABAAAAAQAA\
        ADIBAgAUAAAAQgEAAI2CAwACAAAAAgACAI6CAQAEAAAAAAEBAhLGAQAEAAAAAQQAABTGAgAUAAAAVgEAABrGBAABAAAAAAAAAB3GBAABAAAA/wAAACHGCg\
        AJAAAAagEAACjGBQADAAAAsgEAAFrGAwABAAAAFQAAAAAAAABJbWFnZW1pbGwAR2VuZXJhdGVkADIwMjQ6MDU6MDYgMDc6MDg6MDkASW1hZ2VtaWxsIEdl\
        bmVyYXRlZACoDAAA6AMAAP/5///oAwAADv7//+gDAAA3/P//6AMAAFQHAADoAwAAKgAAAOgDAAA4AAAA6AMAADT////oAwAAIQQAAOgDAAABAAAAAQAAAA\
        EAAAABAAAAAQAAAAEAAAAABw4VHCMqMTg/Rk1UW2JpcHd+hYyTmqGor7a9xAMKERgfJi00O0JJUFdeZWxzeoGIj5adpKuyucDHBg0UGyIpMDc+RUxTWmFo\
        b3Z9hIuSmaCnrrW8wwIJEBceJSwzOkFIT1ZdZGtyeYCHjpWco6qxuL/GBQwTGiEoLzY9REtSWWBnbnV8g4qRmJ+mrbS7wgEIDxYdJCsyOUBHTlVcY2pxeH\
        +GjZSboqmwt77FBAsSGSAnLjU8Q0pRWF9mbXR7gomQl56lrLO6wQAHDhUcIyoxOD9GTVRbYmlwd36FjJOaoaivtr3EAwoRGB8mLTQ7QklQV15lbHN6gYiP\
        lp2kq7K5wMcGDRQbIikwNz5FTFNaYWhvdn2Ei5KZoKeutbzDAgkQFx4lLDM6QUhPVl1ka3J5gIeOlZyjqrG4v8YFDBMaISgvNj1ES1JZYGdudXyDipGYn6\
        attLvCAQgPFh0kKzI5QEdOVVxjanF4f4aNlJuiqbC3vsUECxIZICcuNTxDSlFYX2ZtdHuCiZCXnqWss7rBAAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2\
        vcQDChEYHyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAxwYNFBsiKTA3PkVMU1phaG92fYSLkpmgp661vMMCCRAXHiUsMzpBSE9WXWRrcnmAh46VnKOqsbi/xg\
        UMExohKC82PURLUllgZ251fIOKkZifpq20u8IBCA8WHSQrMjlAR05VXGNqcXh/ho2Um6KpsLe+xQQLEhk=
        """
}
