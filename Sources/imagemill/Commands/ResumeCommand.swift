import ArgumentParser

/// `imagemill resume`: ends a pause that somebody has asked for.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends the pause of an inbox that `imagemill pause` has begun.",
        discussion: """
            Example: imagemill resume mill.yaml photos
                     imagemill resume --state /var/lib/imagemill photos

            A pause with another reason ends by itself when its cause is gone.

            Exit codes: 0 it goes on, 1 it does not, 75 no daemon is running.
            """)

    @OptionGroup
    var inbox: InboxArgument

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func run() throws { try inbox.ask(daemon, isPaused: false) }
}
