import Pipeline
import Vips

extension WebPSource: SourceDecoder {
    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) throws -> Image? {
        let decoder = facts.isUnpackedAtOnce ? try file.structureForDecoding { WebPDecoder($0) } : nil
        return try decoder?.decoded(opened, shrink: shrink) ?? opened.averaged(by: shrink)
    }

    static let sample = """
        UklGRu4AAABXRUJQVlA4WAoAAAAIAAAADwAADwAAVlA4TA4AAAAvD8ADAAcQEf0PRET/A0VYSUa6AAAARXhpZgAASUkqAAgAAAAGABIBAwABAAAAAQ\
        AAABoBBQABAAAAVgAAABsBBQABAAAAXgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAZgAAAAAAAAA4YwAA6AMAADhjAADoAwAABgAA\
        kAcABAAAADAyMTABkQcABAAAAAECAwAAoAcABAAAADAxMDABoAMAAQAAAP//AAACoAQAAQAAABAAAAADoAQAAQAAABAAAAAAAAAA
        """
}
