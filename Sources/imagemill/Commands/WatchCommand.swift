import ArgumentParser
import Engine
import FoundationEssentials
import Glibc
import Logging
import Pipeline

/// `imagemill watch`: the drop folder.
struct WatchCommand: RenderingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watches drop folders, and turns what arrives into finished renditions.",
        discussion: """
            Example: imagemill watch /etc/imagemill/mill.yaml

            Runs until SIGTERM or Ctrl-C, which let running jobs finish; a second one ends it at once. SIGHUP, or `imagemill reload`, reads the \
            file again. `imagemill check mill.yaml` shows where originals will go; `imagemill status mill.yaml` shows what it is doing.

            Exit codes: 0 stopped by a signal, 75 try again later (another one works with the state folder, disk full), 78 a mistake in the file.
            """)

    @Argument(help: "The mill file.", completion: .file())
    var mill: String

    @OptionGroup
    var color: ColorOption

    static var copiesWorkers: Bool { false }

    func prepare() throws -> LoadedMill {
        do {
            return try Self.load(mill)
        } catch {
            throw ExitStatus.explaining(error, reading: mill, ending: "; nothing is watched")
        }
    }

    static func load(_ path: String) throws -> LoadedMill {
        try LoadedMill(path: path, text: try LoadedPipeline.text(of: path)) { name in
            getenv(name).map { String(cString: $0) }
        }
    }

    func workerCount(for loaded: LoadedMill) -> Int {
        switch loaded.file.workers {
        case .auto: Machine.cores
        case .count(let count): count
        }
    }

    func run(_ loaded: LoadedMill, _ workers: WorkerPool) async throws {
        let variables = ProcessInfo.processInfo.environment
        let path = mill
        do {
            try await onNewThread {
                let news = DaemonNews(LogSink(variables))
                defer { news.sink.flush() }
                for problem in loaded.hookProblems {
                    news.log.noted("\(path):\(problem.position.line): \(problem.message)")
                }
                // A large state folder, and much that an earlier run has begun, may take a while.
                ServiceManager(variables)?.tell(.extendTimeout(600_000), .status("starting"))
                let folder = try DropFolder(loaded, workers: workers, observer: news.observer)
                try Daemon(folder, file: path, variables: variables, news: news, http: loaded.file.http).run(
                    drain: loaded.file.drain)
            }
        } catch let error as StateInUse {
            printError("imagemill: \(error)")
            throw ExitStatus.tryAgain
        } catch {
            throw ExitStatus.explaining(error, pipeline: path)
        }
    }
}
