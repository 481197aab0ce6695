import ArgumentParser

/// `imagemill resume`: ends a pause that somebody has asked for.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Ends the pauses of inboxes that `imagemill pause` has begun.",
        discussion: """
            Example: imagemill resume mill.yaml photos
                     imagemill resume --state /var/lib/imagemill photos scans

            A pause with another reason ends by itself when its cause is gone.

            Exit codes: 0 all go on, 1 some do not, 75 no daemon is running.
            """)

    @OptionGroup
    var inbox: InboxArgument

    @OptionGroup(title: "The daemon")
    var daemon: DaemonOptions

    func validate() throws { try inbox.validate(for: daemon) }

    func run() throws { try inbox.ask(daemon, isPaused: false) }
}
