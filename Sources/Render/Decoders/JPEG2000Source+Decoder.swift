import Pipeline

extension JPEG2000Source: SourceDecoder {
    static var operation: String { "jp2kload_source" }
    static var blockedClass: String? { "VipsForeignLoadJp2k" }
    static var pagesAreSizes: Bool { true }

    static let sample = """
        AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAEAAAABAAAwcHAAAAAAAPY29scgEAAAAAABAAAACSan\
        AyY/9P/1EALwAAAAAAEAAAABAAAAAAAAAAAAAAAgAAAAIAAAAAAAAAAAAAAwcBAQcBAQcBAf9SAA0BAgABAQAEBAAAiP9cAAVCQAD/ZAAlAAFD\
        cmVhdGVkIGJ5IE9wZW5KUEVHIHZlcnNpb24gMi41LjD/kAAKAAAAAAAYAAH/k9wwEVBUr/TIgID/2Q==
        """
}
