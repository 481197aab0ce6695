import ArgumentParser
import Engine
import Pipeline

/// `imagemill reload`: the running daemon reads its configuration again.
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Has the running drop folder read its configuration again, and waits until that is done.",
        discussion: """
            Example: imagemill reload mill.yaml
                     imagemill reload --state /var/lib/imagemill

            Exit codes: 0 the new configuration is at work, 75 no daemon is running, 78 it was refused, and the old one is still at work.
            """)

    @Argument(help: "The mill file that `imagemill watch` was started with.", completion: .file())
    var mill: String?

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func run() throws {
        let reply = try daemon.ask(.reload, of: mill, as: ControlReply.self, withinSeconds: 120)
        reply.print()
        if !reply.ok { throw ExitStatus.configuration }
    }
}

extension ControlReply {
    /// The answer, for people: what went well on standard output, the rest on standard error.
    func print() {
        // Diagnostics have lines of their own; each of their lines is shown as it is, and harmless.
        let lines = ([message] + details).flatMap {
            $0.split(separator: "\n", omittingEmptySubsequences: false).map { oneLine(String($0)) }
        }
        lines.forEach { ok ? printOutput($0 + "\n") : printError($0) }
    }
}
