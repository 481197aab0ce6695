// Opening a source with care: only regular files, never waiting, and knowing afterwards whether somebody wrote to it.
import Glibc
package import Pipeline

/// A source that is open for reading.
package struct OpenedSource: Sendable {
    package let file: OpenFile
    package let format: SourceFormat
    let status: FileStatus
    /// When it was opened, in nanoseconds since 1970.
    private let opened: Int

    package var bytes: Int { status.bytes }
    /// As EXIF writes dates, in UTC.
    package var modificationDate: String { exifDate(seconds: status.modified / 1_000_000_000) }

    /// Opens a source and recognises its format by its first bytes.
    /// - Throws: `Failure` that says what stands there instead of a picture.
    package init(_ source: SourceFile, limits: Limits) throws(Failure) {
        if let problem = source.problem { throw problem }
        do throws(SystemError) {
            // Before opening: opening a device can do things.
            guard let status = try FileSystem.status(source.path) else {
                let isLink = (try? FileSystem.status(source.path, followLinks: false)).flatMap { $0 }?.kind == .link
                throw SystemError(isLink ? "follow the link, it points to nothing" : "find the file", code: ENOENT)
            }
            try Self.check(status.kind)
            opened = nanosecondsSince1970()
            file = try OpenFile.reading(source.path)
            self.status = try file.status()
            try Self.check(self.status.kind)
        } catch {
            throw error.code == EXDEV ? Self.notRegular : error.asSourceFailure
        }
        guard status.bytes > 0 else { throw Failure(.empty, stage: "read", "expected a picture, found a file of 0 bytes") }
        guard status.bytes <= limits.maximumSourceBytes else {
            let message = "the file has \(status.bytes) bytes; the limit is \(limits.maximumSourceBytes) (max-source-bytes)"
            throw Failure(.tooManyBytes, stage: "read", message)
        }
        switch guessFormat(file.bytes(at: 0, count: 4096)) {
        case .readable(let format): self.format = format
        case .recognised(let name):
            throw Failure(.unsupportedFormat, stage: "read", "expected JPEG, PNG, WebP, GIF, TIFF, HEIC or AVIF, found \(name)")
        case .unknown:
            throw Failure(.notAnImage, stage: "read", "expected a picture, found a file that begins like none")
        }
    }

    private static let notRegular = Failure(.notARegularFile, stage: "read", "expected a file, found a pipe, a socket or a device")

    /// EXDEV stands for "no regular file" here; no call above gives it.
    private static func check(_ kind: FileStatus.Kind) throws(SystemError) {
        switch kind {
        case .regular: return
        case .directory: throw SystemError("read it as a picture", code: EISDIR)
        case .link, .other: throw SystemError("read it as a picture", code: EXDEV)
        }
    }

    /// Whether the file is still what it was when it was opened.
    package var isUnchanged: Bool { (try? file.status()) == status }

    /// SHA-256 of the content, in hexadecimal.
    package func sha256() -> String { Digest.of(file) }

    /// What the next run compares the source with; nil where it was written to so shortly before it was opened that another write need not
    /// have moved its time.
    package var fingerprint: Fingerprint? {
        (opened &- status.modified).magnitude < Self.clockTick ? nil : Fingerprint(status)
    }

    /// How far apart two times of files may be and still be the same, in nanoseconds: kernels move that clock a hundred times a second.
    private static let clockTick = 10_000_000

    /// The failure of a picture that could not be decoded: of a rare kind, truncated where its structure does not end, else corrupt.
    package func refined(_ failure: Failure) -> Failure {
        guard failure.code == .corrupt, let bytes = try? file.byteSource() else { return failure }
        if format == .jpeg && isRareJPEG(bytes) {
            let message = "expected an ordinary JPEG, found a lossless or hierarchical one"
            return Failure(.unsupportedFormat, stage: failure.stage, message, detail: failure.detail)
        }
        guard completeness(of: format, in: bytes) == .incomplete else { return failure }
        return Failure(.truncated, stage: failure.stage, "the file ends before the picture does", detail: failure.detail)
    }

    /// A name that promises another format than the content has.
    package func extensionWarning(_ name: SourceName) -> Warning? {
        let expected: [String] =
            switch format {
            case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
            case .png: ["png", "apng"]
            case .webp: ["webp"]
            case .gif: ["gif"]
            case .tiff: ["tif", "tiff"]
            case .heic: ["heic", "heif", "hif"]
            case .avif: ["avif", "avifs", "heif"]
            }
        guard !name.fileExtension.isEmpty, !expected.contains(name.fileExtension) else { return nil }
        return Warning(.extensionMismatch, "the name says '.\(name.fileExtension)', the content is \(format.rawValue)")
    }
}

/// Now, in nanoseconds since 1970.
func nanosecondsSince1970() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Seconds since 1970 as EXIF writes dates, in UTC.
func exifDate(seconds: Int) -> String {
    var time = time_t(seconds)
    var fields = tm()
    guard gmtime_r(&time, &fields) != nil else { return "1970:01:01 00:00:00" }
    func padded(_ value: CInt, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let date = [padded(fields.tm_year + 1900, 4), padded(fields.tm_mon + 1, 2), padded(fields.tm_mday, 2)].joined(separator: ":")
    return date + " " + [padded(fields.tm_hour, 2), padded(fields.tm_min, 2), padded(fields.tm_sec, 2)].joined(separator: ":")
}
