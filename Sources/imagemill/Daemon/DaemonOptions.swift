// How the commands that talk to a daemon find it.
import ArgumentParser
import Engine
import FoundationEssentials
import Glibc
import Pipeline

/// Which daemon is meant.
struct DaemonOptions: ParsableArguments {
    @Option(help: "The daemon's socket. Default: that of the state folder, or of the service.")
    var socket: String?

    @Option(help: "The daemon's state folder, as in its mill.yaml.")
    var state: String?

    @Option(help: "The service imagemill@NAME.")
    var service: String?

    /// Asks the daemon.
    func ask<Answer: Decodable>(_ request: ControlRequest, as type: Answer.Type, withinSeconds seconds: Int = 10) throws -> Answer {
        let places = sockets
        // The one that is there; where there is none, the first is the one to name.
        let path = places.first { (try? FileSystem.status($0)) != nil } ?? places[0]
        do {
            return try ControlClient.ask(request, at: path, as: type, withinSeconds: seconds)
        } catch {
            printError("imagemill: \(error)")
            throw ExitStatus.tryAgain
        }
    }

    private var sockets: [BytePath] {
        if let socket { return [RawArguments.paths([socket])[0]] }
        let folder = state.map { RawArguments.paths([$0])[0] }
        return StatePlaces(ProcessInfo.processInfo.environment).sockets(state: folder, service: service)
    }
}
