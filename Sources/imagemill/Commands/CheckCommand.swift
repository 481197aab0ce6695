import ArgumentParser
import Engine
import FoundationEssentials
import Glibc
import Pipeline
import System

/// `imagemill check`: is a pipeline file, or a mill file with its pipelines, right?
struct CheckCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks pipeline files and the assets they name, and mill files with their pipelines and folders.",
        discussion: """
            Example: imagemill check my.yaml mill.yaml
                     imagemill check --json web-photos *.yaml
                     imagemill check cards.yaml photos/a.jpg.yaml photos/_imagemill.yaml

            A sidecar is checked against the pipeline that is named before it.
            - reads a pipeline from standard input. Exit codes: 0 all are good, 75 try again later, 78 a mistake.
            """)

    @Argument(help: "Pipeline files, mill files, or names of shipped pipelines.", completion: .file())
    var files: [String]

    @Flag(help: "Prints the results as JSON on standard output.")
    var json = false

    @OptionGroup
    var parameters: ParameterOptions

    @OptionGroup
    var color: ColorOption

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerPool) async throws {
        var failure: ExitCode?
        var results: [CheckedFile] = []
        var pipeline: LoadedPipeline?
        var hasPipeline = false
        for argument in files {
            let file = argument == "-" ? "/dev/stdin" : PipelineArgument.file(argument)
            do {
                let text = try LoadedPipeline.text(of: file)
                let found: (sentence: String, warnings: [String])
                if isSidecar(BytePath(file)), hasPipeline || !text.contains("renditions:") {
                    found = (try checkSidecar(at: file, text: text, of: pipeline, isNamed: hasPipeline), [])
                } else if MillFile.isLikely(text) {
                    found = try await checkMill(at: file, text: text, workers: workers)
                } else {
                    (pipeline, hasPipeline) = (nil, true)
                    found = try await checkPipeline(at: file, text: text, workers: workers)
                    pipeline = try LoadedPipeline(path: file, text: text, given: parameters.given)
                }
                results.append(CheckedFile(file, warnings: found.warnings))
                if !json {
                    printOutput("\(argument): good; \(found.sentence)\n")
                    for warning in found.warnings { printOutput("  \(Paint(1).yellow("warning")): \(warning)\n") }
                }
            } catch {
                results.append(CheckedFile(file, error))
                failure = json ? ExitStatus.configuration : ExitStatus.explaining(error, reading: file, ending: "")
            }
        }
        if json { printOutput(System.json(CheckedFile.document(results), pretty: true) + "\n") }
        if let failure { throw failure }
    }

    /// Whether a file is a sidecar by its name: that of a picture's, or of a folder's.
    private func isSidecar(_ path: BytePath) -> Bool {
        if path.lastComponent == Sidecar.ofFolder { return true }
        let formats = Set(SourceFormat.onRequest)
        return Sidecar.picture(of: path).map { isNamedLikeAPicture($0, allowed: formats) } ?? false
    }

    /// - Parameter isNamed: whether a pipeline comes before it, which may have mistakes.
    private func checkSidecar(
        at path: String, text: String, of pipeline: LoadedPipeline?, isNamed: Bool
    ) throws -> String {
        guard let pipeline else {
            let problem =
                isNamed
                ? "not checked: the pipeline before it has mistakes"
                : "this is a sidecar by its name; name its pipeline before it: imagemill check PIPELINE \(path)"
            throw Diagnostics(
                file: path, text: text, items: [Diagnostic(Position(line: 1, column: 1), problem)])
        }
        let isOfFolder = BytePath(path).lastComponent == Sidecar.ofFolder
        let sidecar = Sidecar(name: path, text: text, origin: isOfFolder ? .folder : .sidecar)
        let checked = try pipeline.checked(sidecar)
        let names = checked.filter { $0.origin == sidecar.origin }.map(\.name)
        return names.isEmpty ? "it sets nothing" : "it sets \(listed(names))"
    }

    /// - Returns: also what is no mistake, and not what most people want.
    private func checkPipeline(
        at path: String, text: String, workers: WorkerPool
    ) async throws -> (sentence: String, warnings: [String]) {
        var findings = CheckFindings()
        let loaded = try findings.value { try LoadedPipeline(path: path, text: text, given: parameters.given) }
        try await checkContents(
            of: WrittenPipeline(path: path, text: text, given: parameters.given), loaded, limits: Limits(), workers,
            &findings)
        guard let loaded, findings.isEmpty else { throw findings.error }
        let files = loaded.file.renditions.reduce(0) { $0 + $1.scales.count }
        let unended = loaded.file.renditions.compactMap(\.file).filter { !$0.hasExtension }
        return (
            "\(loaded.file.hasConditions ? "up to " : "")\(counted(files, "file")) for each picture",
            unended.map { "'\($0.text)' gives names without an extension; end it with '.{ext}'" }
        )
    }

    /// A pipeline's text, and the values for its parameters.
    private struct WrittenPipeline {
        let path: String
        let text: String
        let given: [String: String]
    }

    /// Looks for mistakes that only a worker finds, in a pipeline that may have others.
    private func checkContents(
        of written: WrittenPipeline, _ loaded: LoadedPipeline?, limits: Limits, _ workers: WorkerPool,
        _ findings: inout CheckFindings
    ) async throws {
        var found: Diagnostics?
        do {
            if let loaded { return try await checkAssets(of: loaded, limits: limits, workers: workers) }
        } catch let mistakes as Diagnostics {
            found = mistakes
        }
        // That ends with the first mistake; each asset by itself shows all.
        let mistakes = try await LoadedPipeline.assetMistakes(
            path: written.path, text: written.text, given: written.given
        ) {
            try await checkAssets(of: $0, limits: limits, workers: workers)
        }
        if !mistakes.isEmpty { found = Diagnostics(file: written.path, text: written.text, items: mistakes) }
        if let found { findings.add(found) }
    }

    /// - Returns: also what keeps this user from running it, which is no mistake: another one may run it.
    private func checkMill(
        at path: String, text: String, workers: WorkerPool
    ) async throws -> (sentence: String, warnings: [String]) {
        var findings = CheckFindings()
        let mill = try findings.value {
            try LoadedMill(path: path, text: text) { name in getenv(name).map { String(cString: $0) } }
        }
        guard let file = mill?.file ?? MillFile.reading(text: text, file: path).file else { throw findings.error }
        for inbox in mill?.inboxes ?? [] { try findings.value { try checkPlaces(of: inbox, in: mill) } }
        try await checkPipelines(of: file, at: path, mill, workers, &findings)
        let missing = LoadedMill.hookProblems(of: file.inboxes, in: path)
        if !missing.isEmpty { findings.add(Diagnostics(file: path, text: text, items: missing)) }
        if let token = file.http?.token, let problem = try tokenProblem(file.http, beside: BytePath(path)) {
            findings.add(Diagnostics(file: path, text: text, items: [Diagnostic(token.position, problem)]))
        }
        guard let mill, findings.isEmpty else { throw findings.error }
        let count = mill.inboxes.count
        let head = counted(count, "inbox", "inboxes")
        let cache = mill.cache.map {
            "cache: \($0.folder.printable), at most \(($0.bound ?? SharedCache.usualBound) >> 20) MiB"
        }
        let sentence = ([head] + mill.inboxes.map(sentence) + [cache].compactMap(\.self)).joined(separator: "\n  ")
        return (sentence, try Self.warnings(mill, path))
    }

    private static func warnings(_ mill: LoadedMill, _ path: String) throws -> [String] {
        let places = StatePlaces(ProcessInfo.processInfo.environment)
        guard
            let missing = onNewThread(
                withinSeconds: 10, { mill.missingRights(isMadeByOthers: { places.isMadeBySystemd($0) }) })
        else {
            throw SystemError("look at the rights to the folders", code: ETIMEDOUT)
        }
        if missing.isEmpty { return [] }
        return missing + [
            "so `imagemill watch` of this user would not start, or would pause; as another one: sudo -u USER imagemill check \(path)"
        ]
    }

    /// - Parameter mill: nil if it has mistakes.
    private func checkPipelines(
        of file: MillFile, at path: String, _ mill: LoadedMill?, _ workers: WorkerPool,
        _ findings: inout CheckFindings
    ) async throws {
        let limits = file.limits(memory: Machine.memory / 2)
        let named =
            file.inboxes.map { ($0.pipeline, $0.given, $0.limits(within: limits)) }
            + file.otherPipelines.map { ($0, GivenParameters(), limits) }
        var seen: Set<[String]> = []
        for (written, given, limits) in named {
            let pipeline = written.resolved(beside: BytePath(path))
            // A pipeline that cannot be read is a mistake of the mill file.
            guard seen.insert([pipeline.text, given.written]).inserted,
                let text = try? LoadedPipeline.text(of: pipeline.text)
            else {
                continue
            }
            let loaded = try? LoadedPipeline(path: pipeline.text, text: text, given: given.values)
            try await checkContents(
                of: WrittenPipeline(path: pipeline.text, text: text, given: given.values), loaded, limits: limits,
                workers, &findings)
        }
    }

    /// Tries again what could not be seen, or took too long.
    private func checkPlaces(of inbox: LoadedMill.Inbox, in mill: LoadedMill?) throws {
        guard let mill, inbox.places == nil else { return }
        guard let found = onNewThread(withinSeconds: 10, { Result { try mill.look(at: inbox) } }) else {
            throw SystemError("look at the folders of the inbox '\(inbox.settings.name)'", code: ETIMEDOUT)
        }
        var placed = mill
        _ = try placed.place(inbox, at: try found.get())
    }

    /// Why the token cannot be used; nil if it can.
    private func tokenProblem(_ http: HTTPSettings?, beside file: BytePath) throws -> String? {
        guard let http, let token = http.token?.resolved(beside: file) else { return nil }
        do throws(SystemError) {
            _ = try OpenFile.reading(token)
        } catch {
            // One that only the user of the service can read is no mistake.
            if error.code == EACCES { return nil }
        }
        do {
            _ = try HTTPListener.token(http, beside: file)
            return nil
        } catch let found as MillProblems {
            return found.refusals.joined(separator: "; ")
        }
    }

    private func sentence(_ inbox: LoadedMill.Inbox) -> String {
        let head = "\(inbox.settings.name): \(inbox.path.printable) → \(inbox.outbox.printable)"
        if let place = inbox.spool.predicted {
            return "\(head); work/, done/ and failed/ will be in \(place.printable)"
        }
        let isThere = (try? FileSystem.status(inbox.path)).flatMap { $0 } != nil
        let trouble =
            isThere ? "this user may write to no place for work/, done/ and failed/" : Self.missing(inbox.path)
        return "\(head); \(trouble)"
    }

    private static func missing(_ inbox: BytePath) -> String {
        "the inbox is missing: make it with mkdir -p \(shellQuoted(inbox)), or mount it; until then `imagemill watch` waits for it"
    }

    /// The worker decodes the assets.
    private func checkAssets(of pipeline: LoadedPipeline, limits: Limits, workers: WorkerPool) async throws {
        let settings = RenderSettings.looking(pipeline, limits: limits)
        try await onNewThread { try WorkerLoan(workers, cancellation: settings.cancellation).prepare(settings) }
    }
}

/// The mistakes in a file and in all that it names, from all layers.
private struct CheckFindings {
    private var mistakes: [Diagnostics] = []
    private var refusals: [String] = []

    var isEmpty: Bool { mistakes.isEmpty && refusals.isEmpty }

    var error: any Error {
        mistakes.count == 1 && refusals.isEmpty ? mistakes[0] : MillProblems(mistakes: mistakes, refusals: refusals)
    }

    mutating func add(_ found: Diagnostics) {
        guard let index = mistakes.firstIndex(where: { $0.file == found.file }) else { return mistakes.append(found) }
        mistakes[index] = mistakes[index].adding(found.items)
    }

    /// The value that a look gives; nil if it finds mistakes, which are kept.
    /// - Throws: trouble that is nobody's mistake.
    @discardableResult
    mutating func value<Value>(_ look: () throws -> Value) throws -> Value? {
        do {
            return try look()
        } catch let found as Diagnostics {
            add(found)
        } catch let found as MillProblems {
            for diagnostics in found.mistakes { add(diagnostics) }
            refusals += found.refusals
        }
        return nil
    }
}
