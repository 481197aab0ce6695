// A raw file of a camera, read by LibRaw: the finished picture in it, and the one that is made of what the sensor has
// measured.
import CRaw
import Glibc
import Pipeline
import Stages
import System
import Vips

/// A raw file whose header was read. For one thread.
final class RawFile {
    let reading: RawReading
    /// The size of the sensor, with its margins.
    let sensorSize: PixelSize
    /// `YYYY:MM:DD HH:MM:SS`; nil if the camera does not say.
    let captureDate: String?
    /// A preview that is smaller than the photo, upright; nil if there is none, or if the photo is a preview.
    let smallPreview: EmbeddedPreview?

    /// The file as LibRaw has opened it; nil if all is in the preview.
    private let raw: OpenedRaw?
    /// Pixels of the developed picture, upright.
    private let size: PixelSize
    /// A developed picture has its metadata too.
    private let preview: Preview?
    /// The file says so of its finished pictures.
    private let isAdobeRGB: Bool

    /// A preview with so much of the photo's width and height is as good as that: a camera leaves out some columns and
    /// rows at the edges, and LibRaw does not.
    private static let nearlyAll = 0.95
    /// LibRaw counts in 16 bits.
    private static let longestSide = 65_535

    /// - Parameter develops: the finished picture in the file is not used.
    /// - Throws: `Failure` if the file cannot be read any more, or is none that LibRaw reads.
    convenience init(_ file: OpenFile, develops: Bool) throws(Failure) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try file.bytes(at: 0, count: file.status().bytes)
        } catch {
            throw Failure(
                .changedWhileRead, stage: "decode", "the picture cannot be read any more", detail: error.description)
        }
        try self.init(bytes, develops: develops)
    }

    init(_ bytes: [UInt8], develops: Bool) throws(Failure) {
        var header = CRawHeader()
        let opened = try OpenedRaw(bytes, &header)
        size = PixelSize(Int(header.width), Int(header.height))
        sensorSize = PixelSize(Int(header.sensor_width), Int(header.sensor_height))
        captureDate = Self.date(header.taken)
        isAdobeRGB = CameraRaw.isAdobeRGB(ByteSource(bytes))
        let found = Self.preview(of: opened, in: ByteSource(bytes))
        preview = found
        let used = develops ? nil : found
        opened.forgetResult()
        let isWhole = used.map { [size] in Self.isWhole($0.uprightSize, of: size) } ?? false
        reading = isWhole ? .preview : .development(canBeHalved: header.can_be_halved != 0)
        raw = isWhole ? nil : opened
        let isCropped = CameraRaw.isCropped(ByteSource(bytes), pixels: size.area)
        smallPreview = isWhole || isCropped ? nil : used.map { EmbeddedPreview(size: $0.uprightSize, place: .raw) }
        let sides = 1...Self.longestSide
        guard [size.width, size.height, sensorSize.width, sensorSize.height].allSatisfy(sides.contains) else {
            throw Failure(.corrupt, stage: "decode", "the raw file says a size that cannot be")
        }
    }

    // MARK: - The header

    /// A finished picture in the file.
    private struct Preview {
        /// A JPEG.
        let file: [UInt8]
        /// EXIF's number: its own, else that of the raw file.
        let orientation: Int
        /// Pixels as stored.
        let size: PixelSize

        var uprightSize: PixelSize { orientation >= 5 ? size.transposed : size }
    }

    private static func preview(of raw: OpenedRaw, in file: ByteSource) -> Preview? {
        guard let found = raw.preview() else { return nil }
        let bytes = withoutInventedEXIF(found)
        let structure = JPEGSource.structure
        guard completeness(of: .jpeg, in: ByteSource(bytes)) == .complete,
            structure.scans(in: ByteSource(bytes), atMost: mostScans) <= mostScans
        else { return nil }
        // A preview that is unsound is none. The picture's own messages stay for whoever judges them.
        let opened = VipsLibrary.settingMessagesAside { try? jpeg(bytes, shrink: 1) }
        guard let opened, opened.bands == 3, opened.interpretation == .srgb else { return nil }
        let own = opened.has("exif-ifd0-Orientation") ? opened.int("orientation") : nil
        return Preview(
            file: bytes, orientation: own ?? CameraRaw.orientation(of: file),
            size: PixelSize(opened.width, opened.height))
    }

    /// As many passes as a JPEG may have that is a source.
    private static let mostScans = Limits().maximumScans

    /// LibRaw puts EXIF of its own, signed by dcraw, before all that a preview has, unless that begins with EXIF. If there
    /// is some further on, it is the camera's.
    private static func withoutInventedEXIF(_ file: [UInt8]) -> [UInt8] {
        var place = 2
        var found: [Range<Int>] = []
        while place + 4 <= file.count, file[place] == 0xFF, (0xE0...0xEF).contains(file[place + 1]) {
            let end = place + 2 + (Int(file[place + 2]) << 8 | Int(file[place + 3]))
            if file[place + 1] == 0xE1, file.dropFirst(place + 4).starts(with: Array("Exif".utf8)) {
                found.append(place..<end)
            }
            place = end
        }
        guard found.count > 1, found[0].lowerBound == 2, file[found[0]].firstRange(of: Array("dcraw v".utf8)) != nil
        else { return file }
        return Array(file[..<2] + file[found[0].upperBound...])
    }

    private static func isWhole(_ preview: PixelSize, of size: PixelSize) -> Bool {
        let (across, down) = (
            Double(preview.width) / Double(size.width), Double(preview.height) / Double(size.height)
        )
        return min(across, down) >= nearlyAll && abs(across / down - 1) <= 1 - nearlyAll
    }

    private static func date(_ seconds: Int64) -> String? {
        var (time, parts) = (time_t(seconds), tm())
        guard seconds > 0, localtime_r(&time, &parts) != nil else { return nil }
        func digits(_ number: CInt) -> String { (number < 10 ? "0" : "") + String(number) }
        let date = "\(Int(parts.tm_year) + 1900):\(digits(parts.tm_mon + 1)):\(digits(parts.tm_mday))"
        let text = "\(date) \(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
        return isDate(text) ? text : nil
    }

    // MARK: - Pixels

    /// The picture, of which no pixel was read yet. If it is to be developed, it is black, and has the preview's metadata.
    func opened(shrink: Int) throws -> Image {
        if reading == .preview, let preview { return try coloredPreview(preview, shrink: shrink) }
        let black = try Image.black(width: size.width / shrink, height: size.height / shrink, bands: 3)
            .copy(interpretation: .srgb)
        guard let preview else { return black }
        let metadata = try Self.jpeg(preview.file, shrink: 1)
        return try black.editingMetadata { editor in
            if let exif = metadata.blob("exif-data") { editor.set("exif-data", blob: exif) }
            for field in metadata.fields where field.hasPrefix("exif-ifd") && !field.hasSuffix("Orientation") {
                if let text = metadata.string(field) { editor.set(field, string: text) }
            }
            editor.set("orientation", int: 1)
        }
    }

    /// The small preview, as it is stored.
    func openedPreview(shrink: Int) throws -> Picture? {
        guard let preview else { return nil }
        if preview.orientation == 1 { return try Picture(decoded: coloredPreview(preview, shrink: shrink)) }
        // Turned, a last pixel that stands for less than the others would come first.
        let upright = try Picture(decoded: coloredPreview(preview, shrink: 1)).inMemory().upright(
            orientation: preview.orientation)
        return try upright.with(upright.image.averaged(by: shrink))
    }

    /// The developed picture in memory.
    /// - Parameter opened: what `opened` gave.
    func developed(like opened: Image, isHalved: Bool) throws -> Image? {
        defer { raw?.forgetResult() }
        guard let picture = try raw?.developed(isHalved: isHalved), let pixels = picture.pixels else {
            throw MismatchedPlan(stage: "decode")
        }
        let (width, height, bands) = (Int(picture.width), Int(picture.height), Int(picture.bands))
        // LibRaw leaves out a last column or row of half a pixel, or does not.
        guard (0...1).contains(width - opened.width), (0...1).contains(height - opened.height) else {
            throw Failure(
                .corrupt, stage: "decode",
                "the raw file's header says \(opened.width)×\(opened.height) pixels, and it has \(width)×\(height)")
        }
        return try opened.withPixels { rows in
            for row in 0..<opened.height {
                let from = UnsafeRawBufferPointer(start: pixels + row * width * bands, count: opened.width * bands)
                let to = UnsafeMutableRawBufferPointer(
                    rebasing: rows[(row * opened.width * 3)...].prefix(opened.width * 3))
                if bands == 3 {
                    to.copyMemory(from: from)
                } else {
                    for place in to.indices { to[place] = from[place / 3] }
                }
            }
            return true
        }
    }

    private static func jpeg(_ bytes: [UInt8], shrink: Int) throws -> Image {
        try Operation(
            JPEGSource.operation,
            [("source", .source(try Source(bytes: bytes))), ("fail_on", "error")]
                + JPEGSource.options(shrink: shrink, factor: 1, allFrames: false)
        ).image()
    }

    // MARK: - Colors

    /// The preview with the profile of its colors, and the way it is stored. Cameras write no profile of Adobe RGB.
    private func coloredPreview(_ preview: Preview, shrink: Int) throws -> Image {
        let opened = try Self.jpeg(preview.file, shrink: shrink)
        let isOther = !opened.has("icc-profile-data") && (Self.isAdobeRGB(opened) || isAdobeRGB)
        let profile = isOther ? ICCProfile(.adobeRGB) : nil
        return try opened.editingMetadata { editor in
            editor.set("orientation", int: preview.orientation)
            if let profile { editor.set("icc-profile-data", blob: profile.bytes) }
        }
    }

    /// By the preview's own EXIF: the color space is "uncalibrated", and the interoperability index that of Adobe RGB.
    private static func isAdobeRGB(_ opened: Image) -> Bool {
        opened.string("exif-ifd4-InteroperabilityIndex")?.hasPrefix("R03") == true
    }
}

/// A file that LibRaw has opened, with its bytes, which LibRaw reads when it needs them. For one thread.
private final class OpenedRaw {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private let raw: OpaquePointer

    init(_ file: [UInt8], _ header: inout CRawHeader) throws(Failure) {
        bytes = .allocate(capacity: file.count)
        _ = bytes.initialize(from: file)
        var fault: CInt = 0
        guard let raw = craw_open(bytes.baseAddress, bytes.count, &header, &fault) else {
            bytes.deallocate()
            throw Self.failure(fault, "LibRaw cannot read the file's header")
        }
        self.raw = raw
    }

    deinit {
        craw_close(raw)
        bytes.deallocate()
    }

    func preview() -> [UInt8]? {
        var count = 0
        return craw_preview(raw, &count).map { [UInt8](UnsafeBufferPointer(start: $0, count: count)) }
    }

    /// The pixels stay until the next call.
    func developed(isHalved: Bool) throws(Failure) -> CRawPicture {
        var picture = CRawPicture()
        let fault = craw_develop(raw, isHalved ? 1 : 0, &picture)
        guard fault == 0 else { throw Self.failure(fault, "LibRaw finds what the sensor has measured damaged") }
        return picture
    }

    private static func failure(_ fault: CInt, _ message: String) -> Failure {
        if fault == CRAW_OUT_OF_MEMORY {
            return Failure(.outOfMemory, stage: "decode", "there is no memory for the raw file")
        }
        guard fault == CRAW_UNSUPPORTED else { return Failure(.corrupt, stage: "decode", message) }
        let version = craw_load()
        let name = "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
        return Failure(
            .unsupportedFormat, stage: "decode", "LibRaw \(name) does not know raw files of this camera or kind")
    }

    /// Frees what the last call has given, and what LibRaw holds beside it.
    func forgetResult() { craw_forget_result(raw) }
}
