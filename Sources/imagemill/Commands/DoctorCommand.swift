import ArgumentParser
import Engine
import Glibc
import Pipeline
import Render
import System

/// `imagemill doctor`: what this system can do, which limits hold, and what to do about what is missing.
struct DoctorCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Shows what this system can do, which limits hold, and what to do about what is missing.",
        discussion: """
            Example: imagemill doctor /etc/imagemill/mill.yaml

            Exit codes: 0 nothing is missing, 1 something is, 78 a mistake in the mill file.
            """)

    @Argument(
        help:
            "A mill file, whose limits are shown and whose hooks are looked at. Default: the limits of `imagemill run`."
    )
    var mill: String?

    func workerCount(for preparation: Void) -> Int { 1 }

    func run(_ preparation: Void, _ workers: WorkerPool) async throws {
        let usual = Self.usual
        let loaded: LoadedMill?
        do {
            loaded = try mill.map { try WatchCommand.load($0) }
        } catch {
            throw ExitStatus.explaining(error, reading: mill ?? "", ending: "")
        }
        let limits = loaded?.file.limits(memory: usual.maximumMemory) ?? usual
        let formats = try await onNewThread { try Formats(workers) }
        printOutput("imagemill \(versionText)\n\n")
        printOutput(Self.row("sandbox", Sandbox.inForce))
        printOutput(Self.row("reads", formats.readable.map(\.rawValue).joined(separator: " ")))
        printOutput(Self.row("on request", formats.onRequest.map(\.rawValue).joined(separator: " ")))
        printOutput(Self.row("writes", formats.writable.map(\.rawValue).joined(separator: " ")))
        printOutput(Self.row("workers", "\(Machine.cores), one for each core"))
        for (name, value, standard) in Self.described(limits, usual: usual) {
            printOutput(
                Self.row(
                    name, value + (value == standard ? " (default)" : " (\(mill ?? ""); the default is \(standard))")))
        }
        for inbox in loaded?.inboxes ?? [] { printOutput(Self.ownLimits(of: inbox, within: limits).joined()) }
        let problems =
            Sandbox.missing.map { $0 + "; see \"Security\" in the documentation" } + formats.problems
            + (loaded?.hookProblems.map { "\(mill ?? ""):\($0.position.line): \($0.message)" } ?? [])
        for problem in problems { printOutput("\nproblem: \(problem)\n") }
        if !problems.isEmpty { throw ExitStatus.someFailed }
    }

    /// The default limits.
    private static var usual: Limits {
        var limits = Limits()
        limits.maximumMemory = Machine.memory / 2
        return limits
    }

    /// The limits that an inbox or its pipeline sets, with the value that holds.
    private static func ownLimits(of inbox: LoadedMill.Inbox, within mill: Limits) -> [String] {
        let ofInbox = inbox.settings.limits(within: mill)
        let ofPipeline = inbox.pipeline.file.limits.lowering(ofInbox)
        return LimitSetting.all.compactMap { setting in
            let values = [mill, ofInbox, ofPipeline].map { $0[keyPath: setting.value] }
            if values[2] != values[1] {
                return row(
                    setting.name,
                    "\(text(values[2], setting.unit)) (pipeline \(inbox.settings.pipeline.text), for inbox \(inbox.settings.name))"
                )
            }
            return values[1] == values[0]
                ? nil : row(setting.name, "\(text(values[1], setting.unit)) (inbox \(inbox.settings.name))")
        }
    }

    private static func row(_ name: String, _ value: String) -> String {
        name + String(repeating: " ", count: max(1, 20 - name.count)) + value + "\n"
    }

    private static func text(_ value: Int, _ unit: LimitSetting.Unit) -> String {
        switch unit {
        case .count: "\(value)"
        case .bytes: value < 1 << 20 ? "\(value) bytes" : "\(value >> 20) MiB"
        case .milliseconds: Duration.milliseconds(value).written
        }
    }

    /// Each limit by its name in a mill file, with its value and its default.
    private static func described(_ limits: Limits, usual: Limits) -> [(String, String, String)] {
        LimitSetting.all.map {
            ($0.name, text(limits[keyPath: $0.value], $0.unit), text(usual[keyPath: $0.value], $0.unit))
        }
            + [("max-memory", text(limits.maximumMemory, .bytes), text(usual.maximumMemory, .bytes))]
    }

    /// The formats that a worker can read and write, by trying it with tiny pictures.
    private struct Formats {
        var readable: [SourceFormat] = []
        /// The formats that --allow and 'allow' can add.
        var onRequest: [SourceFormat] = []
        var writable: [OutputFormat] = []
        var problems: [String] = []

        /// Waits for a worker.
        init(_ workers: WorkerPool) throws {
            for format in OutputFormat.allCases {
                let pipeline = try LoadedPipeline(
                    path: "doctor.yaml", text: "renditions: { a: { save: { format: \(format.rawValue) } } }")
                let settings = RenderSettings.looking(pipeline, limits: Limits())
                do {
                    try WorkerLoan(workers, cancellation: settings.cancellation).prepare(settings)
                    writable.append(format)
                } catch is Diagnostics {
                    problems.append(format.missingEncoder)
                }
            }
            let worker = WorkerLoan(workers, cancellation: Cancellation())
            for format in SourceFormat.alwaysRead {
                if try worker.canRead(format) {
                    readable.append(format)
                } else {
                    problems.append(format.missingDecoder)
                }
            }
            onRequest = try SourceFormat.onRequest.filter { try worker.canRead($0) }
        }
    }
}
