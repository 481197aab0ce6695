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

    /// It is found without a mill file, and is not the usual one.
    var isNamed: Bool { socket != nil || state != nil || service != nil }

    /// Asks the daemon.
    /// - Parameter mill: the mill file that it was started with; nil if the user has not named it.
    func ask<Answer: Decodable>(
        _ request: ControlRequest, of mill: String? = nil, as type: Answer.Type, withinSeconds seconds: Int = 10
    ) throws -> Answer {
        let places = try sockets(of: mill)
        // The one that is there, or that this user may not see; if there is none, the first is the one to name.
        let path = places.first(where: Self.mayBeThere) ?? places[0]
        do {
            return try HTTPClient.ask(request, at: path, as: type, withinSeconds: seconds)
        } catch {
            printError("imagemill: \(error)\(Self.hint(path.directory))")
            throw ExitStatus.tryAgain
        }
    }

    /// A daemon whose socket has gone with its folder cannot be asked.
    private static func hint(_ folder: BytePath) -> String {
        guard FileSystem.isAbsent(folder) else { return "" }
        return " (there is no folder '\(folder.printable)'; if a daemon runs, it was moved or deleted: put it back)"
    }

    private static func mayBeThere(_ path: BytePath) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(path) != nil
        } catch {
            return error.code == EACCES
        }
    }

    private func sockets(of mill: String?) throws -> [BytePath] {
        if let socket { return [RawArguments.paths([socket])[0]] }
        let environment = ProcessInfo.processInfo.environment
        let named = state.map { RawArguments.paths([$0])[0] }
        let folder = try named ?? mill.flatMap { try Self.stateFolder(of: $0, environment) }
        let places = StatePlaces(environment)
        // The service has its socket in /run, wherever its state folder is.
        let usual = mill != nil && named == nil ? places.sockets(state: nil, service: service) : []
        return places.sockets(state: folder, service: service) + usual
    }

    private static func stateFolder(of mill: String, _ environment: [String: String]) throws -> BytePath? {
        do {
            return try LoadedMill.stateFolder(path: mill, text: try LoadedPipeline.text(of: mill)) { environment[$0] }
        } catch {
            throw ExitStatus.explaining(error, reading: mill, ending: "")
        }
    }
}
