import ArgumentParser
import Engine
import FoundationEssentials
import Glibc
import Logging
import Pipeline
import System

/// `imagemill watch`: the drop folder.
struct WatchCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watches drop folders, and turns what arrives into finished renditions.",
        discussion: """
            Example: imagemill watch /etc/imagemill/mill.yaml

            Runs until SIGTERM or Ctrl-C, which let running jobs finish; a second one ends it at once. SIGHUP, or `imagemill reload`, reads the \
            file again. `imagemill check mill.yaml` shows where originals will go; `imagemill status mill.yaml` shows what it is doing.

            Exit codes: 0 stopped by a signal, 75 try again later (another one works with the state folder, disk full), 78 a mistake in the file, or another user's state folder.
            """)

    @Argument(help: "The mill file.", completion: .file())
    var mill: String

    @Flag(help: "Log each change of a job too: what happened, what state it is in, and what is done next.")
    var debug = false

    @OptionGroup
    var color: ColorOption

    static var copiesWorkers: Bool { false }

    struct Preparation: Sendable {
        let loaded: LoadedMill
        let signals: DaemonSignals
    }

    func prepare() throws -> Preparation {
        Machine.packMemory()
        do {
            // Before all that may take its time.
            let signals = try DaemonSignals()
            return Preparation(loaded: try Self.load(mill), signals: signals)
        } catch {
            throw ExitStatus.explaining(error, reading: mill, ending: "; nothing is watched")
        }
    }

    static func load(_ path: String) throws -> LoadedMill {
        try LoadedMill.reading(path) { name in getenv(name).map { String(cString: $0) } }
    }

    func workerCount(for preparation: Preparation) -> Int {
        switch preparation.loaded.file.workers {
        case .auto: Machine.cores
        case .count(let count): count
        }
    }

    func run(_ preparation: Preparation, _ workers: WorkerPool) async throws {
        let (loaded, signals) = (preparation.loaded, preparation.signals)
        let variables = ProcessInfo.processInfo.environment
        let (path, debug) = (mill, debug)
        do {
            try await onNewThread {
                let news = DaemonNews(LogSink(variables), file: path, level: debug ? .debug : .info)
                defer { news.sink.flush() }
                for problem in loaded.hookProblems {
                    news.log.noted("\(path):\(problem.position.line): \(problem.message)")
                }
                // A large state folder, and much that an earlier run has begun, may take a while.
                ServiceManager(variables)?.tell(.extendTimeout(600_000), .status("starting"))
                let folder = try DropFolder(
                    loaded, workers: workers, observer: news.observer, trace: debug ? news.log.follow : nil)
                try Daemon(folder, file: path, variables: variables, news: news, http: loaded.file.http).run(
                    until: signals, drain: loaded.file.drain)
            }
        } catch let error as StateInUse {
            printError("imagemill: \(error)")
            throw ExitStatus.tryAgain
        } catch let error as ForeignState {
            printError("imagemill: \(error.sentence(mill: path, hasService: StatePlaces.hasService()))")
            // Trying again never helps: a service manager is not to start it over and over.
            throw ExitStatus.configuration
        } catch {
            throw ExitStatus.explaining(error, pipeline: path)
        }
    }
}

extension ForeignState {
    /// A sentence that says what is wrong and how to start it instead.
    func sentence(mill: String, hasService: Bool) -> String {
        let known = ThisUser.knownName(of: owner)
        let name = known ?? "\(owner)"
        let service = hasService && name == "imagemill" ? "systemctl start imagemill, or " : ""
        let user = known.map { shellQuoted(BytePath($0)) } ?? "'#\(owner)'"
        return
            "the state folder '\(state.printable)' belongs to '\(name)', who could not use what '\(ThisUser.name)' wrote into it; "
            + "nothing is watched. Start it as '\(name)': \(service)sudo -u \(user) imagemill watch \(shellQuoted(BytePath(mill)))"
    }
}
