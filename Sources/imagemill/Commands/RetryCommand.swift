import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

/// `imagemill retry`: failed sources go back to their inboxes.
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Moves sources from failed/ back to their inbox, to be attempted afresh.",
        discussion: """
            Example: imagemill retry mill.yaml photo.jpg
                     imagemill retry --state /var/lib/imagemill --all

            A failed source is named by its path, or by its path below failed/, with or without the name of the inbox. Moving the file back by hand does the same.

            Exit codes: 0 all were moved, 1 some were not, 75 no daemon is running.
            """)

    @Argument(help: "The mill file that `imagemill watch` was started with, and failed sources.", completion: .file())
    var files: [String] = []

    @Flag(help: "Takes up all that have failed.")
    var all = false

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func validate() throws {
        guard all || !named.sources.isEmpty else { throw ValidationError("name the failed sources, or use --all") }
        guard !all || named.sources.isEmpty else {
            throw ValidationError("--all takes no sources; leave out '\(named.sources[0])' or --all")
        }
    }

    /// A mill file comes first, and is known by what is in it: a failed source may be a YAML file too.
    private var named: (mill: String?, sources: [String]) {
        guard let first = files.first, let text = try? LoadedPipeline.text(of: first), MillFile.isLikely(text) else {
            return (nil, files)
        }
        return (first, Array(files.dropFirst()))
    }

    func run() throws {
        let (mill, sources) = named
        let names = RawArguments.paths(sources).map { path in
            (try? FileSystem.status(path)) == nil ? path : absolute(path)
        }
        let reply = try daemon.ask(
            .retry(RetryRequest(names: names, all: all)), of: mill, as: ControlReply.self, withinSeconds: 120)
        reply.print()
        if !reply.ok { throw ExitStatus.someFailed }
    }

    /// Without following a link in the last place: it is the link that is meant.
    private func absolute(_ path: BytePath) -> BytePath {
        FileSystem.absolute(DurableFile.folder(of: path)).map { $0.appending(path.lastComponent) } ?? path
    }
}
