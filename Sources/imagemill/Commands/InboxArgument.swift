import ArgumentParser

/// An inbox of a running drop folder.
struct InboxArgument: ParsableArguments {
    @Argument(
        help:
            "The mill file that `imagemill watch` was started with, if the daemon is to be found by it, and the inbox's name.",
        completion: .file())
    var words: [String] = []

    func validate() throws {
        guard (1...2).contains(words.count) else {
            throw ValidationError("name the inbox, after the mill file if you name that")
        }
        guard words.count == 2 || ![".yaml", ".yml"].contains(where: words[0].hasSuffix) else {
            throw ValidationError("'\(words[0])' is a mill file; name the inbox after it")
        }
    }

    func ask(_ daemon: DaemonOptions, isPaused: Bool) throws {
        let request = PauseRequest(inbox: words[words.count - 1], isPaused: isPaused)
        let mill = words.count == 2 ? words[0] : nil
        let reply = try daemon.ask(.pause(request), of: mill, as: ControlReply.self, withinSeconds: 30)
        reply.print()
        if !reply.ok { throw ExitStatus.someFailed }
    }
}
