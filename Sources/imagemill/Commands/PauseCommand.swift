import ArgumentParser

/// `imagemill pause`: an inbox takes nothing until it is resumed.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses an inbox of the running drop folder until it is resumed.",
        discussion: """
            Example: imagemill pause mill.yaml photos
                     imagemill pause --state /var/lib/imagemill photos

            Running jobs finish, and nothing more is taken; what arrives stays in the inbox. The pause lasts over restarts. It runs no on-pause hook.

            Exit codes: 0 it is paused, 1 it is not, 75 no daemon is running.
            """)

    @OptionGroup
    var inbox: InboxArgument

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func run() throws { try inbox.ask(daemon, isPaused: true) }
}
