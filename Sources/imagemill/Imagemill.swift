import ArgumentParser
import Engine
import Glibc
import Render
import Stages
import System

/// The program. Started by its supervisor it is a worker; started by a person, a command.
@main
struct Imagemill {
    /// On the main thread, since the first workers are copies of a process that has no other thread yet.
    @MainActor static func main() async {
        // Swift takes the arguments from there too.
        guard access("/proc/self", F_OK) == 0 else {
            printError("imagemill: /proc is not mounted here; in a chroot: mount -t proc proc /proc")
            exit(ExitStatus.tryAgain.rawValue)
        }
        if CommandLine.arguments.dropFirst().first == "__worker" { exit(Worker.run()) }
        let words = Array(CommandLine.arguments.dropFirst())
        // ArgumentParser wants its text before it has seen whether anybody asks for it.
        if [["--version"], ["-V"], ["version"]].contains(words) {
            printOutput(versionText + "\n")
            leave()
        }
        Machine.refuseInspection()
        signal(SIGPIPE, SIG_IGN)
        // A file that grows past a limit of the shell's is an error to report, not a reason to die.
        signal(SIGXFSZ, SIG_IGN)
        if let complaint = CommandNames.complaint(about: words) {
            printError("imagemill: \(complaint)")
            exit(ExitStatus.usage.rawValue)
        }
        do {
            var command = try parsed(words)
            if let task = (command as? RunCommand)?.planned {
                try await task.start()
            } else if let rendering = command as? any RenderingCommand {
                try await rendering.start()
            } else if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            end(for: error)
        }
        leave()
    }

    /// Ends the program without the exit handlers of a hundred libraries: the system frees their memory faster.
    private static func leave() -> Never {
        fflush(nil)
        _exit(0)
    }
}

/// The program's version, and in a second line those of the libraries that it works with here.
var versionText: String {
    imagemillVersion + "\n"
        + (["libvips \(LibraryVersions.libvips)"] + LibraryVersions.codecsWithAbilities).joined(separator: ", ")
}

extension Imagemill {
    /// Ends the program. What is wrong begins as all other messages do, and not as the parser's own.
    private static func end(for error: any Error) -> Never {
        let text = RootCommand.fullMessage(for: error)
        guard text.hasPrefix("Error: ") else { RootCommand.exit(withError: error) }
        printError("imagemill: " + text.dropFirst("Error: ".count))
        exit(RootCommand.exitCode(for: error).rawValue)
    }

    /// The command. Ends the program if the parser has no good words for what is wrong.
    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
        do {
            return try RootCommand.parseAsRoot(words)
        } catch {
            guard RootCommand.exitCode(for: error) == ExitStatus.usage,
                let complaint = CommandNames.complaint(aboutOptionsIn: words)
            else { throw error }
            printError("imagemill: \(complaint)")
            exit(ExitStatus.usage.rawValue)
        }
    }
}

/// Work that needs workers.
protocol Rendering: Sendable {
    associatedtype Preparation: Sendable
    /// Finds out what there is to do. Starts no thread if workers are copied from this process afterwards.
    func prepare() throws -> Preparation
    /// How many workers it needs at once, at most.
    func workerCount(for preparation: Preparation) -> Int
    /// Its first workers are copies of this process, which start sooner than programs. What lives long starts all of
    /// them as programs: each has its own layout in memory then, and nothing of the supervisor's.
    static var copiesWorkers: Bool { get }
    func run(_ preparation: Preparation, _ workers: WorkerPool) async throws
}

/// A command that needs workers.
protocol RenderingCommand: Rendering, AsyncParsableCommand {}

extension Rendering {
    static var copiesWorkers: Bool { true }

    /// Those that run before and beside the lanes.
    private static var fewestThreads: Int { 8 }

    /// Runs with workers that are made ready now.
    @MainActor func start() async throws {
        Machine.raiseDescriptorLimit()
        let preparation = try prepare()
        for missing in Sandbox.missing {
            printError(
                "warning: sandbox-unavailable: \(missing), so a picture that takes a decoder over reaches more than its own files"
            )
        }
        // More than run at once are started when they are needed, if they are.
        let ready = Self.copiesWorkers ? min(workerCount(for: preparation), Machine.cores) : 0
        let workers = WorkerPool(copies: (ready, Worker.run))
        do {
            // Swift's concurrency would wait forever for threads that the system refuses.
            try checkThreads(Self.fewestThreads)
        } catch {
            printError("imagemill: \(error)")
            throw ExitStatus.tryAgain
        }
        try await run(preparation, workers)
    }
}

extension RenderingCommand {
    mutating func run() async throws { try await run(try prepare(), WorkerPool()) }
}

extension RenderingCommand where Preparation == Void {
    func prepare() {}
}

struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "imagemill",
        abstract: "Turns a stream of pictures into finished renditions.",
        discussion: """
            Try it:
              imagemill run --resize '1600x1600>' --format webp photos/ -o out/
              imagemill init shop

            Completions: imagemill --generate-completion-script bash (or zsh, fish).

            Exit codes: 0 all good, 1 some sources failed, 2 all failed, 64 wrong usage, 75 try again later (disk full, folder missing or in \
            use), 78 a mistake in a pipeline file or a plan that does not fit, 130 and 143 stopped by Ctrl-C or SIGTERM.
            """,
        version: imagemillVersion,
        subcommands: [
            RunCommand.self, InitCommand.self, PlanCommand.self, CheckCommand.self, StagesCommand.self,
            WatchCommand.self, StatusCommand.self,
            RetryCommand.self, ReloadCommand.self, PauseCommand.self, ResumeCommand.self, SchemaCommand.self,
            CacheCommand.self, DoctorCommand.self,
            ShardCommand.self, GatherCommand.self,
            ReportCommand.self,
            DocsCommand.self,
        ])
}
