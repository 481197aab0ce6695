import ArgumentParser

/// `imagemill pause`: inboxes take nothing until they are resumed.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses inboxes of the running drop folder until they are resumed.",
        discussion: """
            Example: imagemill pause mill.yaml photos
                     imagemill pause --state /var/lib/imagemill photos scans

            Running jobs finish, and nothing more is taken; what arrives stays in the inbox. The pause lasts over restarts. It runs no on-pause hook.

            Exit codes: 0 all are paused, 1 some are not, 75 no daemon is running.
            """)

    @OptionGroup
    var inbox: InboxArgument

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func validate() throws { try inbox.validate(for: daemon) }

    func run() throws { try inbox.ask(daemon, isPaused: true) }
}
