import ArgumentParser
import Engine
import Glibc
import Pipeline

/// `imagemill retry`: failed sources go back to their inboxes.
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Moves sources from failed/ back to their inbox, to be attempted afresh.",
        discussion: """
            Example: imagemill retry --state /var/lib/imagemill photo.jpg

            A name is a path, or a path from the folder failed/. Moving the file back by hand does the same.

            Exit codes: 0 all were moved, 1 some were not, 75 no daemon is running.
            """)

    @Argument(help: "Failed sources.")
    var files: [String] = []

    @Flag(help: "Takes up all that have failed.")
    var all = false

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func validate() throws {
        guard all != !files.isEmpty else { throw ValidationError("name the files, or say --all") }
    }

    func run() throws {
        let names = RawArguments.paths(files).map { path in (try? FileSystem.status(path)) == nil ? path : absolute(path) }
        let reply = try daemon.ask(.retry(RetryRequest(names: names, all: all)), as: ControlReply.self, withinSeconds: 120)
        reply.print()
        if !reply.ok { throw ExitStatus.someFailed }
    }

    /// Without following a link in the last place: it is the link that is meant.
    private func absolute(_ path: BytePath) -> BytePath {
        FileSystem.absolute(DurableFile.folder(of: path)).map { $0.appending(path.lastComponent) } ?? path
    }
}
