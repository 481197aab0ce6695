// An opened source: a regular file, opened without waiting, that shows later whether somebody wrote to it.
import Glibc
package import Pipeline
package import System

/// A picture that is open for reading.
package struct OpenedSource: Sendable {
    package let file: OpenFile
    package let format: SourceFormat
    let status: FileStatus
    /// When it was opened, in nanoseconds since 1970.
    private let opened: Int

    package var bytes: Int { status.bytes }
    private var structure: any FileStructure.Type { format.declaration.structure }
    /// When the file was last written, in EXIF's notation and in UTC.
    package var modificationDate: String { exifDate(seconds: status.modified / 1_000_000_000) }

    /// Opens a source and recognises its format by its first bytes.
    /// - Throws: `Failure` that says what is there instead of a picture.
    package init(_ source: SourceFile, limits: Limits) throws(Failure) {
        if let problem = source.problem { throw problem }
        // A part of another file is copied when it is opened.
        if let planned = source.planned { try Self.check(planned.stamp.bytes, limits) }
        do {
            opened = nanosecondsSince1970()
            (file, status) = try source.location.open()
        } catch let error as SystemError {
            throw error.asSourceFailure
        } catch let failure as Failure {
            throw failure
        } catch {
            let isFolder = (error as? NotARegularFile)?.kind == .directory
            throw isFolder
                ? SystemError("read it as a picture", code: EISDIR, because: "it is a folder; name a picture in it")
                    .asSourceFailure : Self.notRegular
        }
        if let planned = source.planned, !planned.matches(status) {
            let message =
                "the plan has a file of \(planned.stamp.bytes) bytes, found one of \(status.bytes), or of another time"
            throw Failure(.changedSincePlan, stage: "read", message)
        }
        do throws(Failure) {
            format = try Self.format(of: file, status, limits)
        } catch {
            throw Self.isBeingWritten(file, since: status) ? Self.changed : error
        }
    }

    private static func format(
        of file: OpenFile, _ status: FileStatus, _ limits: Limits
    ) throws(Failure) -> SourceFormat {
        guard status.bytes > 0 else {
            throw Failure(.empty, stage: "read", "expected a picture, found a file of 0 bytes")
        }
        try check(status.bytes, limits)
        switch guessFormat(try beginning(of: file)) {
        case .readable(let format):
            // The beginning does not tell all of them.
            if format == .tiff, let name = try cameraRaw(file) { return try allowed(.raw, name, limits) }
            return try allowed(format, format.title, limits)
        case .cameraRaw(let name): return try allowed(.raw, name, limits)
        case .recognised(let name): throw Failure(.unsupportedFormat, stage: "read", found(name))
        case .noPicture(let name):
            throw Failure(.notAnImage, stage: "read", "expected a picture, found a file of another kind: \(name)")
        case .unknown:
            throw Failure(.notAnImage, stage: "read", "expected a picture, found a file in no recognized image format")
        }
    }

    /// The format, if it is read.
    /// - Parameter name: of the file's kind, for people.
    private static func allowed(
        _ format: SourceFormat, _ name: String, _ limits: Limits
    ) throws(Failure) -> SourceFormat {
        guard format.isOnRequest, !limits.allowed.contains(format) else { return format }
        let remedy =
            "it is read only with --allow \(format.rawValue), or if the inbox has 'allow: [\(format.rawValue)]'"
        throw Failure(.unsupportedFormat, stage: "read", found(name) + "; \(remedy)")
    }

    private static func cameraRaw(_ file: OpenFile) throws(Failure) -> String? {
        do throws(SystemError) {
            return try file.structure { CameraRaw.name(of: $0) }
        } catch {
            throw error.asSourceFailure
        }
    }

    private static func beginning(of file: OpenFile) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try file.bytes(at: 0, count: 4096)
        } catch {
            throw error.asSourceFailure
        }
    }

    private static func found(_ name: String) -> String {
        "expected \(alternatives(SourceFormat.alwaysRead.map(\.title))), found \(name)"
    }

    private static func check(_ bytes: Int, _ limits: Limits) throws(Failure) {
        guard bytes > limits.maximumSourceBytes else { return }
        let message = "the file has \(bytes) bytes; the limit is \(limits.maximumSourceBytes) (max-source-bytes)"
        throw Failure(.tooManyBytes, stage: "read", message)
    }

    private static let notRegular = Failure(
        .notARegularFile, stage: "read", "expected a file, found a pipe, a socket or a device")

    /// Whether the file is still what it was when it was opened.
    package var isUnchanged: Bool { Self.isUnchanged(file, since: status) }

    private static func isUnchanged(_ file: OpenFile, since status: FileStatus) -> Bool {
        (try? file.status())?.version == status.version
    }

    /// Whether somebody writes to the file, or has since it was opened. What is wrong with it may be mended by then.
    private static func isBeingWritten(_ file: OpenFile, since status: FileStatus) -> Bool {
        file.hasWriter == true || !isUnchanged(file, since: status)
    }

    static let changed = Failure(
        .changedWhileRead, stage: "read", "the source was written to while it was read; nothing was published")

    /// The address of another file that the picture shows and that is not read.
    var linkedFile: String? {
        get throws(Failure) {
            do throws(SystemError) {
                return try file.structure { structure.linkedFile(in: $0) }
            } catch {
                throw error.asSourceFailure
            }
        }
    }

    /// SHA-256 of the content, in hexadecimal.
    package func sha256() throws(Failure) -> String {
        do throws(SystemError) {
            return try Digest.of(file)
        } catch {
            throw error.asSourceFailure
        }
    }

    /// The fingerprint that the next run compares the source with. It is nil if the file was written to just before it
    /// was opened: another write might leave its time unchanged.
    package var fingerprint: Fingerprint? {
        (opened &- status.modified).magnitude < Self.clockTick ? nil : Fingerprint(status)
    }

    /// Nanoseconds within which two writes may give a file the same time: kernels advance that clock a hundred times a
    /// second.
    private static let clockTick = 10_000_000

    /// Makes sure that damage is the file's own: the file can be read to its end, and nobody writes to it. A decoder
    /// takes a read that fails for damage.
    /// - Throws: `Failure` with the code `io-error` or `changed-while-read`.
    func confirmDamage() throws(Failure) {
        do throws(SystemError) {
            try file.readThrough()
        } catch {
            throw error.asSourceFailure
        }
        guard !Self.isBeingWritten(file, since: status) else { throw Self.changed }
    }

    /// The failure of a picture that could not be decoded: of a file that cannot be read or is being written; truncated
    /// if its structure has no end, of a size or a kind that the decoder does not read, else corrupt.
    package func refined(_ failure: Failure) -> Failure {
        guard failure.code == .corrupt || failure.code == .changedWhileRead else { return failure }
        do throws(Failure) {
            try confirmDamage()
        } catch {
            return error
        }
        guard failure.code == .corrupt else { return failure }
        return (try? file.structure { refined(failure, in: $0) }) ?? failure
    }

    private func refined(_ failure: Failure, in bytes: ByteSource) -> Failure {
        // In an incomplete file the missing end explains the failure better than an unsupported feature.
        if completeness(of: format, in: bytes) == .incomplete {
            return Failure(
                .truncated, stage: failure.stage, "the file ends before the picture does", detail: failure.detail)
        }
        let longest = format.declaration.longestSide
        if let (width, height) = headerSize(of: format, in: bytes), max(width, height) > longest {
            let message =
                "the picture has \(width)×\(height) pixels; \(format.rawValue) is read up to \(longest) a side"
            return Failure(.tooLongSide, stage: failure.stage, message, detail: failure.detail)
        }
        guard let feature = try? structure.unsupportedFeature(in: bytes) else { return failure }
        let message = "the decoder cannot read this kind of \(format.rawValue): found \(feature)"
        return Failure(.unsupportedFormat, stage: failure.stage, message, detail: failure.detail)
    }

    /// Checks what the header does not say, and what makes a small file take long.
    /// - Throws: `Failure` with the code `too-many-scans`, or of a file that cannot be read.
    func checkStructure(_ facts: SourceFacts, _ limits: Limits) throws(Failure) {
        guard facts.isInterlaced else { return }
        let scans: Int
        do throws(SystemError) {
            scans = try file.structure { structure.scans(in: $0, atMost: limits.maximumScans) }
        } catch {
            throw error.asSourceFailure
        }
        guard scans > limits.maximumScans else { return }
        let message =
            "the \(format.title) is drawn in more than \(limits.maximumScans) passes, which is the limit (max-scans)"
        throw Failure(.tooManyScans, stage: "read", message)
    }

    /// The warning about an extension that belongs to another format than the content.
    package func extensionWarning(_ name: SourceName) -> Warning? {
        guard !name.fileExtension.isEmpty, !format.fileExtensions.contains(name.fileExtension) else { return nil }
        return Warning(.extensionMismatch, "the name says '.\(name.fileExtension)', the content is \(format.rawValue)")
    }
}
