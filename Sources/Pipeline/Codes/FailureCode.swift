// Every reason for which a source can fail. The list is closed: reports, scripts and the documentation rely on the
// words.

/// Where a remedy is read, which decides whether it names options or settings.
package enum RemedyPlace: Sendable {
    /// In the documentation, and where it is not known.
    case anywhere
    /// After `run`, `plan` or another command on files.
    case command
    /// Where a drop folder's failures are shown.
    case millFile
}

/// Why a source failed.
package enum FailureCode: String, CaseIterable, Sendable, Codable {
    // The source as it arrived.
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
    // The demands of the pipeline on it.
    case noSuchPage = "no-such-page"
    case emptyResult = "empty-result"
    case overlayDoesNotFit = "overlay-does-not-fit"
    case tooLargeForFormat = "too-large-for-format"
    case unequalSizes = "unequal-sizes"
    case setMemberFailed = "set-member-failed"
    case targetNotReached = "target-not-reached"
    case refusedByPolicy = "refused-by-policy"
    case requirementNotMet = "requirement-not-met"
    case badParameters = "bad-parameters"
    // Rendering.
    case timedOut = "timed-out"
    case workerCrashed = "worker-crashed"
    case outOfMemory = "out-of-memory"
    case encodingFailed = "encoding-failed"
    case outputRejected = "output-rejected"
    // Publishing.
    case duplicate
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
            .setMemberFailed, .targetNotReached, .refusedByPolicy, .requirementNotMet, .badParameters, .encodingFailed,
            .outputRejected,
            .duplicate,
            .nameTaken, .nameInvalid, .outputTooLarge, .internal:
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
        case .empty, .unsupportedFormat, .unsupportedColour, .corrupt, .tooManyPixels, .tooLongSide, .tooManyBands,
            .tooManyFrames, .tooMuchMetadata, .changedWhileRead,
            .noSuchPage, .emptyResult,
            .overlayDoesNotFit,
            .tooLargeForFormat, .unequalSizes, .setMemberFailed, .encodingFailed, .internal:
            true
        case .notAnImage, .truncated, .tooManyScans, .tooManyMembers, .tooManyBytes,
            .tooMuchMemory, .notFound, .isADirectory, .notARegularFile,
            .permissionDenied, .changedSincePlan, .timedOut, .workerCrashed, .outOfMemory, .outputRejected, .nameTaken,
            .nameInvalid, .outputTooLarge, .targetNotReached, .refusedByPolicy, .requirementNotMet, .badParameters,
            .duplicate,
            .diskFull,
            .outputNotWritable, .ioError:
            false
        }
    }

    /// When it happens, as Markdown.
    package var cause: String {
        switch self {
        case .empty: "The file has no bytes."
        case .notAnImage: "The first bytes are those of no picture that Imagemill knows."
        case .unsupportedFormat: "The format is known by name but not read."
        case .unsupportedColour: "The picture's colors cannot be used for what the pipeline does."
        case .truncated: "The file ends before the picture does."
        case .corrupt: "The decoder found the file damaged."
        case .tooManyPixels: "The picture, or a result, has more pixels than the limit."
        case .tooLongSide: "The picture is wider or higher than the limit."
        case .tooManyBands: "The picture has more bands, which are its colors and alpha, than the limit."
        case .tooManyFrames: "The animation has more frames than the limit."
        case .tooManyScans: "The JPEG is drawn in more passes than the limit, which no camera or program does."
        case .tooManyMembers: "The set has more than 50,000 files."
        case .tooManyBytes: "The file is larger than the limit."
        case .tooMuchMetadata:
            "The picture's metadata or color profile is larger than the limit, which no camera or program makes."
        case .tooMuchMemory:
            "Rendering would need more memory than the budget, or decoding took far more than the header led to expect."
        case .notFound: "The file is not there, or the link points to nothing."
        case .isADirectory: "A directory is where a file was expected, or the folders of a set are nested too deeply."
        case .notARegularFile: "It is a pipe, a socket or a device, which is never opened."
        case .permissionDenied: "The file may not be read."
        case .changedWhileRead: "Something wrote to the file while it was read."
        case .changedSincePlan: "The file is not the one that `imagemill shard` saw."
        case .noSuchPage: "The file has fewer pages than `page` in the pipeline asks for."
        case .emptyResult: "A stage would leave nothing of this picture, or one of its lengths comes out too small."
        case .overlayDoesNotFit:
            "The overlay cannot be moved off the protected rectangle and stay inside the picture, or a text has letters too large to be drawn."
        case .tooLargeForFormat: "The output format cannot hold a picture of this size."
        case .unequalSizes: "The members of the set have several sizes."
        case .setMemberFailed: "One member of a set failed; the message names it."
        case .targetNotReached:
            "No quality makes a rendition as small, or as like the picture, as it has to be; the message says how near it came."
        case .refusedByPolicy: "A warning came up that `policy` makes a failure; the message has it."
        case .requirementNotMet:
            "The source is not what `require` in the pipeline asks for; the message has what was found."
        case .badParameters:
            "A value that the picture's metadata or a sidecar have for a parameter cannot be used; the message says what was expected."
        case .timedOut: "The work on the picture took longer than the limit and was stopped."
        case .workerCrashed: "The process that decoded this file died each time."
        case .outOfMemory: "The system killed the worker process, most likely because memory ran out."
        case .encodingFailed: "The encoder refused the result; the detail is its own text."
        case .outputRejected: "The rendered file is not what was planned, so it was not published."
        case .duplicate: "Another source of the inbox had the same bytes, and `duplicates` is `fail`."
        case .nameTaken: "The output name belongs to another source, and the collision policy is `fail`."
        case .nameInvalid: "The output name that the pipeline makes for this source cannot be a file name."
        case .outputTooLarge: "A rendition is larger than the limit."
        case .diskFull: "The disk or the quota of the output folder is full."
        case .outputNotWritable: "The output folder cannot be written to."
        case .ioError: "The system reported an input or output error."
        case .internal: "A mistake in Imagemill."
        }
    }

    /// The remedy, as Markdown: the one text that reports, terminals, pages and the documentation show.
    private func remedyMarkdown(_ place: RemedyPlace) -> String {
        func either(_ command: String, _ mill: String) -> String {
            switch place {
            case .anywhere: "\(command), or \(mill) in a mill file"
            case .command: command
            case .millFile: "\(mill) in the mill file"
            }
        }
        /// - Parameter limits: their names in a mill file.
        func raise(_ limits: String..., trusting: Bool = false) -> String {
            let options = limits.map { "`--\($0)`" }.joined(separator: " or ")
            let settings = limits.map { "`\($0)`" }.joined(separator: " or ")
            let way =
                place == .anywhere && limits.count > 1
                ? "\(options), or the same settings in a mill file" : either(options, settings)
            return "Raise the limit with \(way)\(trusting ? ", if you trust where the file comes from" : "")."
        }
        return switch self {
        case .empty: "Copy the file again."
        case .notAnImage:
            "Remove the file, or leave such names out with \(place == .anywhere ? "`--exclude`, or with `ignore` in a mill file" : either("`--exclude`", "`ignore`"))."
        case .unsupportedFormat:
            "Convert the file to JPEG, PNG or TIFF, if the message names no other way."
        case .unsupportedColour: "Remove `profile: keep` from the pipeline, or convert the file to RGB first."
        case .truncated:
            "Copy the file again, or render what there is of a JPEG or PNG with `tolerate: truncated` in the pipeline."
        case .corrupt: "Open the file in the program that made it, and export it again."
        case .tooManyPixels: raise("max-pixels", trusting: true)
        case .tooLongSide: raise("max-side", trusting: true)
        case .tooManyBands: raise("max-bands", trusting: true)
        case .tooManyFrames: raise("max-frames", trusting: true)
        case .tooManyScans: raise("max-scans", trusting: true)
        case .tooManyMembers: "Divide the set into several folders."
        case .tooManyBytes: raise("max-source-bytes", trusting: true)
        case .tooMuchMetadata:
            raise("max-metadata-bytes", "max-profile-bytes")
        case .tooMuchMemory:
            "Raise the budget with \(either("`--max-memory`", "`max-memory`")), or make smaller renditions."
        case .notFound: "Check the path, and whether something else moves files there."
        case .isADirectory:
            "Give the paths of the pictures and not of their folder, or make the folders of the set flatter."
        case .notARegularFile: "Remove it from the source folder."
        case .permissionDenied: "Change the permissions of the file and of its folders, so that this user may read it."
        case .changedWhileRead:
            switch place {
            case .anywhere: "Run again when its writer is done; a drop folder tries again by itself."
            case .command: "Run again when its writer is done."
            case .millFile: "Give the file another name until its writer is done, and rename it then."
            }
        case .changedSincePlan: "Make another plan of what has changed, with `imagemill shard`."
        case .noSuchPage: "Change `page` in the pipeline, or leave the file out."
        case .emptyResult: "Change the stage that the message names, or leave the picture out."
        case .overlayDoesNotFit: "Make the overlay or the letters smaller, or the rectangle that `avoid` protects."
        case .tooLargeForFormat: "Choose another output format, or a smaller size."
        case .unequalSizes: "Add a `frame` or `resize` stage that gives all of them one size."
        case .setMemberFailed:
            "Repair the members that the message names, or leave them out with \(either("`--exclude`", "`ignore`"))."
        case .targetNotReached:
            "Make the rendition smaller, change its `max-bytes`, `quality` or `min-quality`, or set `target-missed` to `warn` in `policy`\(place == .millFile ? "" : " or with `--policy`")."
        case .refusedByPolicy:
            "Change what the warning names, or set it to `warn` in `policy`\(place == .millFile ? "" : " or with `--policy`")."
        case .requirementNotMet: "Give it a picture that fits, or change `require` in the pipeline."
        case .badParameters:
            "Change the value where the message says that it is: in the picture's metadata, its sidecar, or `_imagemill.yaml` of its folder."
        case .timedOut:
            raise("max-time", "max-cpu-time")
        case .workerCrashed: "Keep the file, and please report it; the other pictures are not affected."
        case .outOfMemory: "Give the machine or the service more memory, or lower `max-memory` or `max-pixels`."
        case .encodingFailed: "Try another format, or other options in `save`."
        case .outputRejected: "Please report this, with the picture."
        case .duplicate: "Remove the file, or set `duplicates: process` for the inbox and retry."
        case .nameTaken:
            "Rename one, have the second one numbered (`collision: version`), or keep folders apart with `{dir}` in `file`\(place == .millFile ? "" : " or `--keep-tree`")."
        case .nameInvalid: "Change `file` in the pipeline."
        case .outputTooLarge:
            "Choose a smaller size or another format, or raise the limit with \(either("`--max-output-bytes`", "`max-output-bytes`"))."
        case .diskFull:
            place == .millFile
                ? "Make room; until then it is tried again each half minute."
                : "Make room, and run again; what was done stays."
        case .outputNotWritable: "Change the permissions of the output folder, or mount it for writing."
        case .ioError: "Look at the system's log (`dmesg`), and at the disk, its cable or the network."
        case .internal: "Please report it, with the detail from the report."
        }
    }

    /// The remedy, as plain text.
    package func remedy(in place: RemedyPlace) -> String { remedyMarkdown(place).filter { $0 != "`" } }

    /// When it happens and what to do, as Markdown for the documentation.
    package var explanation: String { "\(cause) \(remedyMarkdown(.anywhere))" }
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

    /// The remedy, as plain text.
    package func remedy(in place: RemedyPlace) -> String {
        code.remedy(in: place).replacing("the stage that the message names", with: "the stage '\(stage)'")
    }

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
