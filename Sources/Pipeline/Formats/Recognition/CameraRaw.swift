// Files of cameras that are TIFFs by their first bytes: what a sensor has measured, with small finished pictures beside
// it, of which one is the first page. Nobody wants that as the photo.
// TIFF/EP (ISO 12234-2), DNG 1.7: https://helpx.adobe.com/camera-raw/digital-negative.html

package enum CameraRaw {
    /// Directories that are looked at; cameras write four or five.
    private static let mostDirectories = 32
    /// The numbers of a sensor with a filter of colors, and those with all colors at each place.
    private static let sensorNumbers = [32_803, 34_892]
    /// A smaller version of another picture in the file.
    private static let isReduced = 1

    /// The name of the kind, for people, if a TIFF is one.
    /// - Parameter source: the file, or its beginning, in which directories may be missing.
    package static func name(of source: ByteSource) -> String? {
        guard let layout = try? TIFFLayout(of: source), let start = try? layout.firstDirectory(in: source) else {
            return nil
        }
        if source.read(8, 3) == Array("CR".utf8) + [2] { return "RAW: Canon CR2" }
        if source.read(8, 4) == Array("IIII".utf8) { return "RAW: Phase One IIQ" }
        if source.read(8, 4) == [0xBA, 0xB0, 0xAC, 0xBB] { return "RAW: Canon TIF" }
        guard let first = try? TIFFDirectory(at: start, in: source, layout) else { return nil }
        if first.fields[.digitalNegativeVersion] != nil { return "RAW: DNG" }
        // A first page that is a smaller version of another picture, which is in a directory below it.
        let isPreview =
            first.number(.newSubfileType, in: source).map { $0 & isReduced != 0 } == true
            && first.fields[.subdirectories] != nil && first.fields[.make] != nil
        guard isPreview || hasSensorNumbers(first, in: source, layout) else { return nil }
        return title(madeBy: first.fields[.make]?.text(in: source, limit: 32) ?? [])
    }

    private static func hasSensorNumbers(
        _ first: TIFFDirectory, in source: ByteSource, _ layout: TIFFLayout
    ) -> Bool {
        var waiting = [first]
        var count = 0
        while let directory = waiting.popLast(), count < mostDirectories {
            count += 1
            if let kind = directory.number(.photometricInterpretation, in: source), sensorNumbers.contains(kind) {
                return true
            }
            for place in [directory.next] + below(directory, in: source) where place != 0 {
                guard let other = try? TIFFDirectory(at: place, in: source, layout) else { continue }
                waiting.append(other)
            }
        }
        return false
    }

    /// The places of the directories below one.
    private static func below(_ directory: TIFFDirectory, in source: ByteSource) -> [Int] {
        guard let field = directory.fields[.subdirectories], var numbers = try? field.numbers(in: source) else {
            return []
        }
        return (0..<min(field.count, 16)).compactMap { _ in try? numbers.next() }
    }

    /// Returns true if a file based on TIFF, or a CR3, says that its finished pictures are in Adobe RGB.
    package static func isAdobeRGB(_ file: ByteSource) -> Bool {
        if let first = firstDirectory(of: file), let stated = first.number(.previewColorSpace, in: file) {
            return stated == dngAdobeRGB
        }
        guard let (source, exif) = exif(of: file) else { return false }
        switch exif.number(.colorSpace, in: source) {
        case 2: return true
        // Another one, which is named below; with cameras it is no other.
        case 65_535:
            guard let place = exif.number(.interoperabilityDirectory, in: source),
                let layout = try? TIFFLayout(of: source),
                let directory = try? TIFFDirectory(at: place, in: source, layout),
                let index = directory.fields[.interoperabilityIndex]?.text(in: source, limit: 4)
            else { return true }
            return index.starts(with: Array("R03".utf8))
        default: return false
        }
    }

    /// DNG's number for the colors of a preview.
    private static let dngAdobeRGB = 3

    /// EXIF's number of the file's first directory; 1 if there is none.
    package static func orientation(of file: ByteSource) -> Int {
        let number = firstDirectory(of: file)?.number(.orientation, in: RawStructure.asTIFF(file)) ?? 1
        return (1...8).contains(number) ? number : 1
    }

    private static func firstDirectory(of file: ByteSource) -> TIFFDirectory? {
        let source = RawStructure.asTIFF(file)
        guard let layout = try? TIFFLayout(of: source), let place = try? layout.firstDirectory(in: source) else {
            return nil
        }
        return try? TIFFDirectory(at: place, in: source, layout)
    }

    /// Returns true if a DNG asks to be shown cropped. LibRaw develops the whole sensor, and a small preview shows the
    /// crop.
    /// - Parameter pixels: of the whole.
    package static func isCropped(_ file: ByteSource, pixels: Int) -> Bool {
        guard let layout = try? TIFFLayout(of: file), let first = firstDirectory(of: file) else { return false }
        let inner = below(first, in: file).compactMap { try? TIFFDirectory(at: $0, in: file, layout) }
        return ([first] + inner).contains { directory in
            if let field = directory.fields[.defaultUserCrop], !field.isWholePicture(in: file) { return true }
            guard let (width, height) = directory.fields[.defaultCropSize]?.pair(in: file) else { return false }
            return width.multipliedReportingOverflow(by: height).partialValue < pixels / 10 * 9
        }
    }

    private static func exif(of file: ByteSource) -> (ByteSource, TIFFDirectory)? {
        let start = file.read(0, min(file.count, 1 << 18))
        // Canon's CR3 has a TIFF of its own for it.
        if file.read(4, 8) == Array("ftypcrx ".utf8), let place = start.firstRange(of: Array("CMT2".utf8)) {
            let source = ByteSource(Array(start[place.upperBound...]))
            guard let layout = try? TIFFLayout(of: source), let first = try? layout.firstDirectory(in: source),
                let directory = try? TIFFDirectory(at: first, in: source, layout)
            else { return nil }
            return (source, directory)
        }
        let source = RawStructure.asTIFF(file)
        guard let layout = try? TIFFLayout(of: source), let first = firstDirectory(of: file),
            let exif = first.number(.exifDirectory, in: source),
            let directory = try? TIFFDirectory(at: exif, in: source, layout)
        else { return nil }
        return (source, directory)
    }

    private static func title(madeBy make: [UInt8]) -> String {
        let kinds = [
            "NIKON": "Nikon NEF", "SONY": "Sony ARW", "PENTAX": "Pentax PEF", "RICOH": "Pentax PEF",
            "SAMSUNG": "Samsung SRW", "HASSELBLAD": "Hasselblad 3FR", "EPSON": "Epson ERF", "SEIKO": "Epson ERF",
            "KODAK": "Kodak DCR", "EASTMAN": "Kodak DCR", "MAMIYA": "Mamiya MEF", "LEAF": "Leaf MOS",
            "CANON": "Canon TIF", "OLYMPUS": "Olympus", "PANASONIC": "Panasonic", "LEICA": "Leica",
        ]
        let word = String(decoding: make.prefix { $0 > 0x20 }, as: UTF8.self).uppercased()
        return kinds[word].map { "RAW: \($0)" } ?? "RAW"
    }
}
