// A pipeline file with its assets, ready for jobs.
import Glibc
import Messages
package import Pipeline
import Stages
import System

/// A pipeline that has been read, with its assets open.
package struct LoadedPipeline: Sendable {
    package let file: PipelineFile
    let assets: [OpenedAsset]
    /// The digest of the fonts that are installed; nil if no text is drawn, and no SVG, which may have some.
    let installedFonts: String?
    private let path: String
    private let token = Token()
    /// It has values of one picture.
    let isOfPicture: Bool
    /// The assets that only these name, by their whole paths; nil if another write need not move a time.
    private(set) var chosenAssets: [Fingerprint.File]? = []

    /// Where the file is, for whoever reads it later from elsewhere.
    var absolutePath: BytePath { FileSystem.absolute(BytePath(path)) ?? BytePath(path) }

    /// Tells pipelines apart that were loaded at different times.
    var identity: ObjectIdentifier { ObjectIdentifier(token) }

    private final class Token: Sendable {}

    struct OpenedAsset: Sendable {
        let reference: AssetReference
        let message: AssetMessage
        fileprivate let content: Content
        let digest: String

        fileprivate enum Content: Sendable {
            case file(OpenFile)
            /// For libraries that open files by name: in the sandbox that works with files in memory only.
            case bytes([UInt8])
        }

        func isFor(_ reference: AssetReference) -> Bool {
            self.reference.path == reference.path && self.reference.kind == reference.kind
        }

        /// The file, for one more process to read.
        func reopened() throws(SystemError) -> OpenFile {
            switch content {
            case .file(let file): try file.reopened()
            // A copy for each worker: one that a picture has taken over could write into it.
            case .bytes(let bytes): try .inMemory("imagemill-asset", bytes)
            }
        }
    }

    /// The largest font file, in bytes; those of all Chinese characters have 20 million.
    private static let largestFont = 64 << 20

    /// The largest pipeline file, in bytes.
    private static let largest = 1 << 20

    /// Reads a pipeline and opens its assets; their paths are relative to the file.
    /// - Parameter given: values of its parameters, by name.
    /// - Throws: `Diagnostics` for what is written wrongly, `SystemError` if the file cannot be read.
    package init(path: String, given: [String: String] = [:]) throws {
        try self.init(path: path, text: Self.text(of: path), given: given)
    }

    /// The text of a pipeline or mill file. A file that is a pipe can be read once only.
    package static func text(of path: String) throws -> String {
        let bytes = try OpenFile.contents(BytePath(path), limit: largest)
        // Markup is text, and no YAML.
        let isMarkup = bytes.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "<") && guessFormat(bytes) != .unknown
        guard !isMarkup, let text = String(validating: bytes, as: UTF8.self) else {
            throw noText(bytes, file: path)
        }
        return text
    }

    /// Names the content of a file that is no UTF-8 text: a picture, or a text in another encoding.
    private static func noText(_ bytes: [UInt8], file: String) -> Diagnostics {
        let found: String
        switch guessFormat(bytes) {
        case .readable(let format): found = "a picture (\(format.rawValue))"
        case .recognised(let name), .cameraRaw(let name), .noPicture(let name): found = name
        case .unknown where bytes.contains(0): found = "a binary file"
        case .unknown: return badByte(bytes, file: file)
        }
        return Diagnostics(
            file: file, text: "",
            items: [Diagnostic(Position(line: 1, column: 1), "expected a YAML file, found \(found)")])
    }

    /// The first byte that makes a text no UTF-8.
    private static func badByte(_ bytes: [UInt8], file: String) -> Diagnostics {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        let before = lines[line].indices.first {
            String(validating: lines[line][...$0], as: UTF8.self) == nil && isNoBeginning(lines[line][$0...])
        }
        let column =
            String(decoding: lines[line][..<(before ?? lines[line].startIndex)], as: UTF8.self).unicodeScalars.count + 1
        let problem = Diagnostic(
            Position(line: line + 1, column: column), "this is not UTF-8 text; save the file in the encoding UTF-8")
        return Diagnostics(file: file, text: text, items: [problem])
    }

    /// Returns true if no valid character begins here.
    private static func isNoBeginning(_ bytes: ArraySlice<UInt8>) -> Bool {
        (1...4).allSatisfy { String(validating: bytes.prefix($0), as: UTF8.self) == nil }
    }

    /// Takes a pipeline's text and opens its assets.
    /// - Parameters:
    ///   - given: values of its parameters, by name.
    ///   - catalogue: the stages that it may name.
    /// - Throws: every mistake at once.
    package init(
        path: String, text: String, given: [String: String] = [:], catalogue: StageCatalogue = .all
    ) throws {
        let read = Result { () throws(Diagnostics) in
            try PipelineFile(text: text, file: path, given: given, catalogue: catalogue)
        }
        var assets: [OpenedAsset] = []
        var problems: [Diagnostic] = []
        let references: [AssetReference]
        switch read {
        case .success(let file): references = file.assets
        case .failure(let mistakes):
            references = PipelineFile.assets(in: text, given: given, catalogue: catalogue)
            problems = mistakes.items
        }
        for reference in references
        where !assets.contains(where: { $0.isFor(reference) }) {
            do throws(Failure) {
                assets.append(try Self.open(reference, beside: BytePath(path)))
            } catch {
                let home = reference.path.hasPrefix("~/") ? "; ~ means nothing in a pipeline: write the whole path" : ""
                let message = "the asset '\(reference.path)' cannot be used: \(error.message)\(home)"
                problems.append(Diagnostic(reference.position, message))
            }
        }
        guard problems.isEmpty, case .success(let file) = read else {
            throw Diagnostics(file: path, text: text, items: problems)
        }
        self.init(file, path, assets)
    }

    /// - Parameter general: the pipeline for all pictures, if it is that of one.
    private init(_ file: PipelineFile, _ path: String, _ assets: [OpenedAsset], for general: LoadedPipeline? = nil) {
        (self.file, self.path, self.assets, isOfPicture) = (file, path, assets, general != nil)
        let readsFonts = file.drawsText || assets.contains { $0.message.format?.isVector == true }
        installedFonts = readsFonts ? general?.installedFonts ?? InstalledFonts.digest() : nil
    }

    /// The pipeline with values that a picture has for its parameters. Files that only these name are opened: they
    /// must be in the pipeline's folder or below.
    /// - Throws: `Failure` if it cannot be followed with these.
    func with(_ values: PictureValues) throws(Failure) -> LoadedPipeline {
        let file: PipelineFile
        do throws(Diagnostics) {
            file = try PipelineFile(
                text: self.file.text, file: path, given: self.file.given, ofPicture: values, catalogue: .all)
        } catch {
            throw Self.badParameters(error, values)
        }
        let known = assets
        var opened: [OpenedAsset] = []
        var (chosen, hasFresh): ([Fingerprint.File], Bool) = ([], false)
        for reference in file.assets where !opened.contains(where: { $0.isFor(reference) }) {
            if let asset = known.first(where: { $0.isFor(reference) }) {
                opened.append(asset)
                continue
            }
            do throws(Failure) {
                let (asset, status) = try Self.open(reference, below: BytePath(path).directory)
                opened.append(asset)
                hasFresh = hasFresh || status.isFresh
                chosen.append(
                    Fingerprint.File(
                        name: absolutePath.directory.appending(BytePath(reference.path)), status.stamp))
            } catch {
                let message = "'\(reference.path)', which a value names, cannot be used: \(error.message)"
                throw Failure(.badParameters, stage: "plan", message, detail: error.detail)
            }
        }
        var made = LoadedPipeline(file, path, opened, for: self)
        made.chosenAssets = hasFresh ? nil : chosen
        return made
    }

    /// The parameters with the values that they have by a sidecar.
    /// - Throws: `Diagnostics` for what is wrong with it, `Failure` for a file that it names and that cannot be used.
    package func checked(_ sidecar: Sidecar) throws -> [ParameterSetting] {
        let values = PictureValues(sidecars: [sidecar])
        _ = try PipelineFile(text: file.text, file: path, given: file.given, ofPicture: values, catalogue: .all)
        return try with(values).file.settings
    }

    /// The failure for values of a picture with which its pipeline has mistakes.
    static func badParameters(_ mistakes: Diagnostics, _ values: PictureValues) -> Failure {
        if values.sidecars.contains(where: { $0.name == mistakes.file }), let mistake = mistakes.items.first {
            let place = "\(mistakes.file):\(mistake.position.line):\(mistake.position.column)"
            // Found by our own code, before any worker has seen the picture.
            return Failure(
                .badParameters, stage: "read", "\(place): \(mistake.message.prefix(1000))",
                detail: mistakes.excerpts.map { String($0.prefix(4000)) })
        }
        let given =
            values.metadata.map { "\($0.field.written) is '\($0.text.prefix(100))'" }
            + values.sidecars.map { "'\($0.name)' has values" }
        let mistake = mistakes.items.first.map { String($0.message.prefix(1000)) } ?? "the pipeline has a mistake"
        return Failure(.badParameters, stage: "plan", "\(mistake); \(listed(given))")
    }

    /// The mistakes in the contents of the assets that a pipeline names, whatever else is wrong with it. Each asset is
    /// decoded by itself.
    /// - Parameter decode: has a worker decode the assets of a pipeline.
    package static func assetMistakes(
        path: String, text: String, given: [String: String] = [:], decode: (LoadedPipeline) async throws -> Void
    ) async throws -> [Diagnostic] {
        var (mistakes, seen): ([Diagnostic], Set<String>) = ([], [])
        for reference in PipelineFile.assets(in: text, given: given, catalogue: .all)
        where reference.kind == .picture && seen.insert(reference.path).inserted {
            let stage = "stages: [ { overlay: { image: \(json(reference.path)) } } ]"
            let alone = "renditions: { a: { \(stage), save: { format: png } } }"
            // An asset that cannot be opened is a mistake of the pipeline.
            guard let trial = try? LoadedPipeline(path: path, text: alone) else { continue }
            do {
                try await decode(trial)
            } catch let found as Diagnostics {
                mistakes += found.items.map { Diagnostic(reference.position, $0.message) }
            }
        }
        return mistakes
    }

    private static func open(_ reference: AssetReference, beside pipeline: BytePath) throws(Failure) -> OpenedAsset {
        let path = BytePath(reference.path)
        return try open(
            reference, at: .path(path.bytes.first == UInt8(ascii: "/") ? path : pipeline.directory.appending(path)))
    }

    /// Opens an asset that a picture names: in a folder or below, without following links.
    /// - Returns: also its size and time.
    private static func open(
        _ reference: AssetReference, below folder: BytePath
    ) throws(Failure) -> (asset: OpenedAsset, FileStatus) {
        let path = BytePath(reference.path)
        guard path.staysBelow else {
            throw Failure(
                .permissionDenied, stage: "read",
                "a picture names a file by its path from the pipeline's folder, without '..'")
        }
        let root: Directory
        do throws(SystemError) {
            root = try Directory(folder.bytes.isEmpty ? BytePath(".") : folder)
        } catch {
            throw error.asSourceFailure
        }
        let place = FileLocation.below(root, path)
        let status = try place.opened().status
        return (try open(reference, at: place), status)
    }

    private static func open(_ reference: AssetReference, at place: FileLocation) throws(Failure) -> OpenedAsset {
        switch reference.kind {
        case .picture: return try openPicture(reference, at: place)
        case .colorTable: return try openColorTable(reference, at: place)
        case .font: return try openFont(reference, at: place)
        case .profile: return try openProfile(reference, at: place)
        }
    }

    private static func openPicture(
        _ reference: AssetReference, at place: FileLocation
    ) throws(Failure) -> OpenedAsset {
        let path = BytePath(reference.path)
        var limits = Limits()
        limits.allowed = Set(SourceFormat.onRequest)
        let source = try OpenedSource(SourceFile(location: place, identity: path, relative: path), limits: limits)
        // All workers of the pipeline read its assets.
        guard !source.format.isOnRequest || source.format == .svg else {
            throw Failure(
                .unsupportedFormat, stage: "read",
                "assets cannot be in \(source.format.title); convert it to SVG or PNG")
        }
        if let address = try source.linkedFile {
            throw Failure(
                .corrupt, stage: "read",
                "it shows '\(address.prefix(200))', which is not read; embed that in the \(source.format.title)")
        }
        let factor = source.format.isVector ? AssetFacts.measuringFactor : 1
        let content = AssetMessage.Content.picture(
            source.format, pixelsPerPoint: SourceName(path).pixelsPerPoint * factor)
        return OpenedAsset(
            reference: reference, message: AssetMessage(path: reference.path, content: content),
            content: .file(source.file),
            digest: try source.sha256())
    }

    /// Reads the whole table, so that a mistake in it is one of the pipeline and not of each source.
    private static func openColorTable(
        _ reference: AssetReference, at place: FileLocation
    ) throws(Failure) -> OpenedAsset {
        do {
            let file = try place.opened().file
            let bytes = try file.colorTableBytes()
            _ = try ColorTable(cube: bytes)
            return OpenedAsset(
                reference: reference, message: AssetMessage(path: reference.path, content: .colorTable),
                content: .file(file),
                digest: Digest.of(bytes))
        } catch let error as SystemError {
            throw error.asSourceFailure
        } catch let error as ColorTableError {
            throw Failure(.corrupt, stage: "read", error.message)
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(.internal, stage: "read", "the table cannot be read", detail: "\(error)")
        }
    }

    private static func openFont(_ reference: AssetReference, at place: FileLocation) throws(Failure) -> OpenedAsset {
        let found = try place.opened()
        guard found.status.bytes <= largestFont else {
            throw Failure(
                .tooManyBytes, stage: "read", "it has \(found.status.bytes) bytes; a font has \(largestFont) at most")
        }
        let bytes = try found.beginning(found.status.bytes)
        let marks: [[UInt8]] = [
            [0, 1, 0, 0], Array("true".utf8), Array("OTTO".utf8), Array("ttcf".utf8),
            Array("wOFF".utf8), Array("wOF2".utf8), [0x80, 1],
        ]
        guard marks.contains(where: bytes.starts) else {
            throw Failure(
                .unsupportedFormat, stage: "read",
                "expected a TrueType, OpenType, WOFF or Type 1 font, found none in it")
        }
        return OpenedAsset(
            reference: reference, message: AssetMessage(path: reference.path, content: .font), content: .bytes(bytes),
            digest: Digest.of(bytes))
    }

    private static func openProfile(
        _ reference: AssetReference, at place: FileLocation
    ) throws(Failure) -> OpenedAsset {
        do {
            let file = try place.opened().file
            let profile = try file.profile()
            return OpenedAsset(
                reference: reference, message: AssetMessage(path: reference.path, content: .profile),
                content: .file(file), digest: Digest.of(profile.bytes))
        } catch let error as SystemError {
            throw error.asSourceFailure
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(.internal, stage: "read", "the profile cannot be read", detail: "\(error)")
        }
    }

    /// The digest of each asset's content, by its path as the pipeline writes it.
    var assetDigests: [String: String] {
        Dictionary(assets.map { ($0.reference.path, $0.digest) }) { first, _ in first }
    }

    /// The message of each asset, and the digest of its content.
    var assetContents: [(asset: AssetMessage, digest: String)] { assets.map { ($0.message, $0.digest) } }

    /// The kind of worker that sources of these formats need.
    func workerKind(for formats: [SourceFormat]) -> WorkerKind {
        let read = (formats + assets.compactMap(\.message.format)).filter { !$0.isOnRequest }.map {
            $0.declaration.module
        }
        let saved = file.renditions.flatMap { $0.separatelyEncodedFormats(of: formats) }.map {
            $0.declaration.separateEncoder?.module
        }
        return WorkerKind(
            drawsText: file.drawsText, drawsSVG: assets.contains { $0.message.format == .svg },
            format: formats.first(where: \.isOnRequest),
            modules: Set((read + saved).compactMap(\.self)))
    }

    func message(id: Int, kind: WorkerKind, limits: Limits) -> PipelineMessage {
        PipelineMessage(
            id: id, name: path, text: file.text, given: file.given, ofPicture: file.ofPicture,
            assets: assets.map(\.message), kind: kind, limits: limits)
    }

    /// The renditions that cannot be saved, because this system's libvips lacks an encoder.
    func diagnostics(format: OutputFormat, detail: String) -> Diagnostics {
        let renditions = file.renditions.filter { $0.save.format == format }
        let problems = renditions.map { Diagnostic($0.position, "'\($0.name)': \(format.missingEncoder) (\(detail))") }
        return Diagnostics(file: path, text: file.text, items: problems)
    }

    /// The mistake for an asset that a worker could not read.
    /// - Parameter index: its place among the assets.
    func diagnostics(asset index: Int, _ failure: Failure) -> Diagnostics {
        let reference = assets[index].reference
        let detail = failure.detail.map { " (\($0))" } ?? ""
        let problem = Diagnostic(
            reference.position, "the asset '\(reference.path)' cannot be used: \(failure.message)\(detail)")
        return Diagnostics(file: path, text: file.text, items: [problem])
    }
}
