import ArgumentParser
import Engine
import Pipeline
import System

/// Inboxes of a running drop folder.
struct InboxArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The mill file that `imagemill watch` was started with, if the daemon is to be found by it, and the names of inboxes.",
            valueName: "mill-and-inboxes"),
        completion: .file())
    var words: [String] = []

    /// - Throws: `ValidationError` if it cannot be told which inboxes are meant.
    func validate(for daemon: DaemonOptions) throws {
        let (mill, inboxes) = named
        guard let first = words.first else {
            throw ValidationError("name the inbox, after the mill file if you name that")
        }
        guard !inboxes.isEmpty else { throw ValidationError("'\(first)' is a mill file; name the inbox after it") }
        guard mill != nil || inboxes.count == 1 || daemon.isNamed else {
            throw ValidationError(
                "'\(oneLine(first))' is no mill file; for several inboxes name the mill file before them, or use --state, --socket or --service"
            )
        }
    }

    /// A mill file comes first, and is known by its name or by what is in it.
    private var named: (mill: String?, inboxes: [String]) {
        guard let first = words.first, Self.isMill(first) else { return (nil, words) }
        return (first, Array(words.dropFirst()))
    }

    private static func isMill(_ word: String) -> Bool {
        if [".yaml", ".yml"].contains(where: word.hasSuffix) { return true }
        return (try? LoadedPipeline.text(of: word)).map(MillFile.isLikely) ?? false
    }

    /// Asks for each inbox in turn, and says what came of it.
    func ask(_ daemon: DaemonOptions, isPaused: Bool) throws {
        let (mill, inboxes) = named
        if let mill, FileSystem.isAbsent(RawArguments.paths([mill])[0]) {
            printError("imagemill: there is no mill file '\(oneLine(mill))'")
            throw ExitStatus.configuration
        }
        var areAllDone = true
        for inbox in inboxes {
            let request = PauseRequest(inbox: inbox, isPaused: isPaused)
            let reply = try daemon.ask(.pause(request), of: mill, as: ControlReply.self, withinSeconds: 30)
            reply.print()
            areAllDone = areAllDone && reply.ok
        }
        if !areAllDone { throw ExitStatus.someFailed }
    }
}
