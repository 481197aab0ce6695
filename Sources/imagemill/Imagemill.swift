import ArgumentParser
import Engine
import Glibc

/// The program. Started by its supervisor it is a worker; started by a person, a command.
@main
struct Imagemill {
    static func main() async {
        if CommandLine.arguments.dropFirst().first == "__worker" { exit(Worker.run()) }
        signal(SIGPIPE, SIG_IGN)
        await RootCommand.main()
    }
}

struct RootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "imagemill",
        abstract: "Turns a stream of pictures into finished renditions.",
        discussion: """
            A pipeline file says what becomes of a picture. Try one:

              imagemill run pipelines/web-photos.yaml photos/ -o out/

            Exit codes: 0 all good, 1 some sources failed, 2 all failed, 64 wrong usage, 75 try again later (disk full, folder missing), \
            78 a mistake in a pipeline file, 130 and 143 stopped by Ctrl-C or SIGTERM.
            """,
        version: imagemillVersion,
        subcommands: [RunCommand.self, PlanCommand.self, CheckCommand.self, StagesCommand.self, SchemaCommand.self, DocsCommand.self])
}
