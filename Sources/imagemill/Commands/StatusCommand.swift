import ArgumentParser
import Engine
import Pipeline
import System

/// `imagemill status`: what the running daemon is doing.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what the running drop folder is doing.",
        discussion: """
            Example: imagemill status mill.yaml
                     imagemill status --state /var/lib/imagemill

            Exit codes: 0 all is well; 1 an inbox is paused, but not by request, a file is blocked or waits for room, or a new configuration was refused; 75 no daemon is running.
            """)

    @Argument(help: "The mill file that `imagemill watch` was started with.", completion: .file())
    var mill: String?

    @Flag(help: "Prints the status document.")
    var json = false

    @Flag(name: [.customShort("v"), .long], help: "Lists all inboxes with their folders, and all files.")
    var verbose = false

    @OptionGroup
    var color: ColorOption

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func run() throws {
        var status = try daemon.ask(.status, of: mill, as: StatusDocument.self)
        var failures: [String: StandingFailures] = [:]
        for index in status.inboxes.indices {
            // The folder may be on a file system that does not answer, which is when somebody asks.
            guard let folder = status.inboxes[index].failedFolder.flatMap(\.original),
                let standing = onNewThread(withinSeconds: 1, { StandingFailures(folder) }) ?? nil
            else { continue }
            failures[status.inboxes[index].name] = standing
            status.inboxes[index].failedNow = standing.count
        }
        printOutput(
            json
                ? System.json(status, pretty: true) + "\n"
                : StatusTable(
                    status: status, failures: failures, isVerbose: verbose, columns: Machine.terminalColumns(1)
                ).text)
        let needsHelp =
            status.inboxes.contains { inbox in
                inbox.state == .paused && inbox.paused?.reason != .byRequest || inbox.blocked > 0
                    || inbox.waitingSources.contains(where: \.code.waitsForRoom)
            } || status.reload.state == .refused
        if needsHelp { throw ExitStatus.someFailed }
    }
}
