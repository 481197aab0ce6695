// Every reason for which a source can fail. The list is closed: reports, scripts and the documentation rely on the
// words.

/// Why a source failed.
package enum FailureCode: String, CaseIterable, Sendable, Codable {
    // What arrived.
    case empty
    case notAnImage = "not-an-image"
    case unsupportedFormat = "unsupported-format"
    case unsupportedColour = "unsupported-color"
    case truncated
    case corrupt
    case tooManyPixels = "too-many-pixels"
    case tooLongSide = "too-long-side"
    case tooManyBands = "too-many-bands"
    case tooManyFrames = "too-many-frames"
    case tooManyScans = "too-many-scans"
    case tooManyMembers = "too-many-members"
    case tooManyBytes = "too-many-bytes"
    case tooMuchMetadata = "too-much-metadata"
    case tooMuchMemory = "too-much-memory"
    // The file system.
    case notFound = "not-found"
    case isADirectory = "is-a-directory"
    case notARegularFile = "not-a-regular-file"
    case permissionDenied = "permission-denied"
    case changedWhileRead = "changed-while-read"
    case changedSincePlan = "changed-since-plan"
    // What the pipeline asks of it.
    case noSuchPage = "no-such-page"
    case emptyResult = "empty-result"
    case overlayDoesNotFit = "overlay-does-not-fit"
    case tooLargeForFormat = "too-large-for-format"
    case unequalSizes = "unequal-sizes"
    case setMemberFailed = "set-member-failed"
    // Rendering.
    case timedOut = "timed-out"
    case workerCrashed = "worker-crashed"
    case outOfMemory = "out-of-memory"
    case encodingFailed = "encoding-failed"
    case outputRejected = "output-rejected"
    // Publishing.
    case nameTaken = "name-taken"
    case nameInvalid = "name-invalid"
    case outputTooLarge = "output-too-large"
    case diskFull = "disk-full"
    case outputNotWritable = "output-not-writable"
    case ioError = "io-error"
    // The rest.
    case `internal`

    /// Whether the same source may succeed later, without a change to it or to the pipeline.
    package var isRetryable: Bool {
        switch self {
        case .empty, .notAnImage, .unsupportedFormat, .unsupportedColour, .truncated, .corrupt, .tooManyPixels,
            .tooLongSide, .tooManyBands,
            .tooManyFrames,
            .tooManyScans, .tooManyMembers, .tooManyBytes, .tooMuchMetadata, .tooMuchMemory, .isADirectory,
            .notARegularFile,
            .changedSincePlan, .noSuchPage,
            .emptyResult,
            .overlayDoesNotFit, .tooLargeForFormat, .unequalSizes,
            .setMemberFailed, .encodingFailed, .outputRejected, .nameTaken, .nameInvalid, .outputTooLarge, .internal:
            false
        case .notFound, .permissionDenied, .changedWhileRead, .timedOut, .workerCrashed, .outOfMemory, .diskFull,
            .outputNotWritable, .ioError:
            true
        }
    }

    /// Whether a worker process may report it. What is true of files, names, disks and processes is found out by the
    /// supervisor alone, and a worker that reports it has been taken over by a picture.
    package var mayComeFromWorker: Bool {
        switch self {
        case .empty, .unsupportedColour, .corrupt, .tooManyPixels, .tooLongSide, .tooManyBands, .tooManyFrames,
            .tooMuchMetadata, .changedWhileRead,
            .noSuchPage, .emptyResult,
            .overlayDoesNotFit,
            .tooLargeForFormat, .unequalSizes, .setMemberFailed, .encodingFailed, .internal:
            true
        case .notAnImage, .unsupportedFormat, .truncated, .tooManyScans, .tooManyMembers, .tooManyBytes,
            .tooMuchMemory, .notFound, .isADirectory, .notARegularFile,
            .permissionDenied, .changedSincePlan, .timedOut, .workerCrashed, .outOfMemory, .outputRejected, .nameTaken,
            .nameInvalid, .outputTooLarge,
            .diskFull,
            .outputNotWritable, .ioError:
            false
        }
    }

    /// One sentence for the documentation: when it happens and what to do.
    package var explanation: String {
        switch self {
        case .empty: "The file has no bytes. Copy it again."
        case .notAnImage:
            "The first bytes are those of no picture that Imagemill knows. Remove the file from the source folder."
        case .unsupportedFormat: "The format is known by name but not read. Convert the file first."
        case .unsupportedColour:
            "The picture's colors cannot be used for what the pipeline does. Remove `profile: keep`, or convert the file first."
        case .truncated: "The file ends before the picture does. Copy it again, or allow it with `tolerate: truncated`."
        case .corrupt: "The decoder found the file damaged. Export it again."
        case .tooManyPixels:
            "The picture, or a result, has more pixels than the limit. Raise it with `--max-pixels`, or `max-pixels` in a mill file."
        case .tooLongSide:
            "The picture is wider or higher than the limit. Raise it with `--max-side`, or `max-side` in a mill file."
        case .tooManyBands:
            "The picture has more bands, which are its colors and alpha, than the limit. Raise it with `--max-bands`, or `max-bands` in a mill file."
        case .tooManyFrames:
            "The animation has more frames than the limit. Raise it with `--max-frames`, or `max-frames` in a mill file."
        case .tooManyScans:
            "The JPEG is drawn in more passes than the limit, which no camera or program does. Raise it with `--max-scans`, or `max-scans` in a mill "
                + "file."
        case .tooManyMembers: "The set has more than 50,000 files. Divide it."
        case .tooManyBytes:
            "The file is larger than the limit. Raise it with `--max-source-bytes`, or `max-source-bytes` in a mill file."
        case .tooMuchMetadata:
            "The picture's metadata or color profile is larger than the limit, which no camera or program makes. Raise it with "
                + "`--max-metadata-bytes` or `--max-profile-bytes`, which a mill file has too."
        case .tooMuchMemory:
            "Rendering would need more memory than the budget, or decoding took far more than the header led to expect. Raise the budget with "
                + "`--max-memory`, or `max-memory` in a mill file."
        case .notFound: "The file is not there, or the link points to nothing."
        case .isADirectory: "A directory is named like a picture. What is in it is processed as usual."
        case .notARegularFile: "It is a pipe, a socket or a device. It is never opened."
        case .permissionDenied: "The file may not be read. Change its permissions."
        case .changedWhileRead: "Something wrote to the file while it was read. Run again when the writer is done."
        case .changedSincePlan: "The file is not the one that `imagemill shard` saw. Make a plan of what has changed."
        case .noSuchPage:
            "The file has fewer pages than `page` in the pipeline asks for. Change `page`, or leave the file out."
        case .emptyResult: "A stage would leave nothing of this picture. Change the stage, or leave the picture out."
        case .overlayDoesNotFit: "The overlay cannot be moved off the protected rectangle and stay inside the picture."
        case .tooLargeForFormat:
            "The output format cannot hold a picture of this size. Choose another format or a smaller size."
        case .unequalSizes: "The members of a set must have one size."
        case .setMemberFailed: "One member of a set failed; the message names it."
        case .timedOut:
            "The work on the picture took longer than the limit and was stopped. Raise it with `--max-time` or `--max-cpu-time`, which a mill file "
                + "has too."
        case .workerCrashed: "The process that decoded this file died each time."
        case .outOfMemory:
            "The system killed the worker process, most likely because memory ran out. Give the machine or the service more memory, or lower "
                + "`max-pixels`."
        case .encodingFailed: "The encoder refused the result; the detail is its own text."
        case .outputRejected: "The rendered file is not what was planned, so it was not published. Please report this."
        case .nameTaken: "The output name belongs to another source, and the collision policy is `fail`."
        case .nameInvalid: "The output name that the pipeline makes for this source cannot be a file name."
        case .outputTooLarge:
            "A rendition is larger than the limit. Raise it with `--max-output-bytes`, or `max-output-bytes` in a mill file."
        case .diskFull: "The disk or the quota of the output folder is full."
        case .outputNotWritable: "The output folder cannot be written to."
        case .ioError: "The system reported an input or output error."
        case .internal: "A mistake in Imagemill. Please report it with the detail."
        }
    }
}

/// Why one source failed, with what a person needs to act on it.
package struct Failure: Error, Equatable, Sendable, Codable {
    package let code: FailureCode
    /// The stage at which it happened: a stage of the pipeline, or `read`, `decode`, `save`, `publish`.
    package let stage: String
    /// A sentence: what was expected, what was found.
    package let message: String
    /// libvips' or the system's own words, if there are any.
    package let detail: String?

    package init(_ code: FailureCode, stage: String, _ message: String, detail: String? = nil) {
        self.code = code
        self.stage = stage
        self.message = message
        self.detail = detail
    }

    /// The failure of a set because of one of its members. What may pass stays what it is, so that the set is tried
    /// again; and what another plan would repair.
    package func ofMember(_ name: String) -> Failure {
        let staysAsItIs = code.isRetryable || code == .changedSincePlan
        return Failure(
            staysAsItIs ? code : .setMemberFailed, stage: stage, "the member '\(name)' failed: \(message)",
            detail: detail)
    }
}
