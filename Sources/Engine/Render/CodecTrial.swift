// Finds out what libvips on this system can do, by trying it with a tiny picture.
import FoundationEssentials
import Pipeline
import Vips

/// Trials of codecs that a system may lack.
enum CodecTrial {
    /// Why no picture can be saved in a format, in libvips' words; nil if pictures can be saved.
    static func trouble(saving format: OutputFormat) -> String? {
        guard format.declaration.separateEncoder != nil else { return nil }
        return trouble { try save(by: format.encoder) }
    }

    /// Whether pictures of a format can be read at all.
    static func canRead(_ format: SourceFormat) -> Bool {
        guard let sample = Data(base64Encoded: sample(format)) else { return false }
        return trouble {
            try Operation(Loader.operation(for: format), ["source": .source(try Source(bytes: Array(sample)))]).image()
                .evaluated()
        }
            == nil
    }

    private static func save<Encoder: OutputEncoder>(by type: Encoder.Type) throws {
        let pixel = try Image.black(width: 16, height: 16, bands: 3).copy(interpretation: .srgb)
        try Parameters.usual(type).saveByLibvips(
            pixel, as: PictureInfo(size: PixelSize(16, 16), hasAlpha: false), to: Target(), strip: true)
    }

    private static func trouble(_ work: () throws -> Void) -> String? {
        VipsLibrary.settingMessagesAside {
            do {
                try work()
                return nil
            } catch {
                return (error as? VipsError)?.message ?? "\(error)"
            }
        }
    }

    /// A picture of 16×16 pixels, in base64.
    private static func sample(_ format: SourceFormat) -> String {
        switch format {
        case .avif: avif
        case .heic: heic
        case .jpeg: jpeg
        case .png: png
        case .webp: webp
        case .gif: gif
        case .tiff: tiff
        case .svg: svg
        case .pdf: pdf
        case .jxl: jxl
        case .jp2: jp2
        }
    }

    private static let avif = """
        AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAA\
        AAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAHAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlwcnAA\
        AABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAQAAAAEAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQ\
        AAAAAAAAABAAEEgYIDhAAAACRtZGF0EgAKCRgM/9ggQEDQgDINGAAKKKKEADlTjzRAoA==
        """

    private static let heic = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAA\
        AAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAIgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlp\
        bmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAA\
        AAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAA\
        AwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbW\
        EAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACptZGF0AAAAHigBrwQSEkzg+AROY/7pVFUBIKzotHShyJcQ\
        k7tqwA==
        """

    private static let jpeg = """
        /9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi\
        9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAA\
        AAAAAAAAAAAAAAf/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAh\
        EDEQA/AJ+AD//Z
        """

    private static let png = """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQokWNgGAWjYBTAAAADEAABC3uRhAAAAA\
        BJRU5ErkJggg==
        """

    private static let webp = """
        UklGRu4AAABXRUJQVlA4WAoAAAAIAAAADwAADwAAVlA4TA4AAAAvD8ADAAcQEf0PRET/A0VYSUa6AAAARXhpZgAASUkqAAgAAAAGABIBAwABAAAAAQ\
        AAABoBBQABAAAAVgAAABsBBQABAAAAXgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAZgAAAAAAAAA4YwAA6AMAADhjAADoAwAABgAA\
        kAcABAAAADAyMTABkQcABAAAAAECAwAAoAcABAAAADAxMDABoAMAAQAAAP//AAACoAQAAQAAABAAAAADoAQAAQAAABAAAAAAAAAA
        """

    private static let gif = """
        R0lGODlhEAAQAIAAAEdwTAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAAEAAQAAACDoyPqcvtD6OctNqLsz4FADs=
        """

    private static let tiff = """
        SUkqABgAAAB4nGNgGAWjYOQCAAMAAAEAEAAAAQMAAQAAABAAAAABAQMAAQAAABAAAAACAQMAAwAAAO4AAAADAQMAAQAAAAgAAAAGAQMAAQAAAAIAAA\
        ARAQQAAQAAAAgAAAASAQMAAQAAAAEAAAAVAQMAAQAAAAMAAAAWAQMAAQAAAIAAAAAXAQQAAQAAAA8AAAAaAQUAAQAAAN4AAAAbAQUAAQAAAOYAAAAc\
        AQMAAQAAAAEAAAAoAQMAAQAAAAMAAAA9AQMAAQAAAAIAAABTAQMAAwAAAPQAAAAAAAAACgAAAAEAAAAKAAAAAQAAAAgACAAIAAEAAQABAA==
        """

    /// With a text and a picture inside, so that all that draws them is loaded.
    private static let svg = """
        PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHhtbG5zOnhsaW5rPSJodHRwOi8vd3d3LnczLm9yZy8xOTk5L3hsaW5rIi\
        B3aWR0aD0iMTYiIGhlaWdodD0iMTYiPjxpbWFnZSB3aWR0aD0iOCIgaGVpZ2h0PSI4IiB4bGluazpocmVmPSJkYXRhOmltYWdlL3BuZztiYXNl\
        NjQsaVZCT1J3MEtHZ29BQUFBTlNVaEVVZ0FBQUJBQUFBQVFDQUlBQUFDUWtXZzJBQUFBQ1hCSVdYTUFBQVBvQUFBRDZBRzFlMUpyQUFBQUVFbE\
        VRVlFva1dOZ0dBV2pZQlRBQUFBREVBQUJDM3VSaEFBQUFBQkpSVTVFcmtKZ2dnPT0iLz48dGV4dCB5PSIxMiIgZm9udC1zaXplPSIxMiI+QWc8\
        L3RleHQ+PC9zdmc+
        """

    /// With a text in a font that the file does not bring along.
    private static let pdf = """
        JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZy9QYWdlcyAyIDAgUj4+ZW5kb2JqCjIgMCBvYmo8PC9UeXBlL1BhZ2VzL0tpZHNbMyAwIF\
        JdL0NvdW50IDE+PmVuZG9iagozIDAgb2JqPDwvVHlwZS9QYWdlL1BhcmVudCAyIDAgUi9NZWRpYUJveFswIDAgMTYgMTZdL0NvbnRlbnRzIDQg\
        MCBSL1Jlc291cmNlczw8L0ZvbnQ8PC9GPDwvVHlwZS9Gb250L1N1YnR5cGUvVHlwZTEvQmFzZUZvbnQvSGVsdmV0aWNhPj4+Pj4+Pj5lbmRvYm\
        oKNCAwIG9iajw8L0xlbmd0aCAyOT4+c3RyZWFtCkJUIC9GIDEyIFRmIDEgMyBUZCAoQWcpIFRqIEVUCmVuZHN0cmVhbWVuZG9iagp4cmVmCjAg\
        NQowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwMDkgMDAwMDAgbiAKMDAwMDAwMDA1MiAwMDAwMCBuIAowMDAwMDAwMTAxIDAwMDAwIG4gCj\
        AwMDAwMDAyNDkgMDAwMDAgbiAKdHJhaWxlcjw8L1NpemUgNS9Sb290IDEgMCBSPj4Kc3RhcnR4cmVmCjMyMwolJUVPRgo=
        """

    private static let jxl = """
        /wpDBgGwAJNhCQCACpVRxg1ezvV8+aHDYtrGdYa22rawhLHZXhgkJBQSYwMADCMGKkkA
        """

    private static let jp2 = """
        AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAEAAAABAAAwcHAAAAAAAPY29scgEAAAAAABAAAACSan\
        AyY/9P/1EALwAAAAAAEAAAABAAAAAAAAAAAAAAAgAAAAIAAAAAAAAAAAAAAwcBAQcBAQcBAf9SAA0BAgABAQAEBAAAiP9cAAVCQAD/ZAAlAAFD\
        cmVhdGVkIGJ5IE9wZW5KUEVHIHZlcnNpb24gMi41LjD/kAAKAAAAAAAYAAH/k9wwEVBUr/TIgID/2Q==
        """
}
