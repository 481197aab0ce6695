import ArgumentParser
import Engine
import Pipeline

/// `imagemill status`: what the running daemon is doing.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows what the running drop folder is doing.",
        discussion: """
            Example: imagemill status --state /var/lib/imagemill

            Exit codes: 0 all is well, 1 an inbox is paused, 75 no daemon is running.
            """)

    @Flag(help: "Prints the status document.")
    var json = false

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func run() throws {
        let status = try daemon.ask(.status, as: StatusDocument.self)
        printOutput(json ? Engine.json(status, pretty: true) + "\n" : StatusTable(status: status).text)
        if status.inboxes.contains(where: { $0.state == .paused }) { throw ExitStatus.someFailed }
    }
}
