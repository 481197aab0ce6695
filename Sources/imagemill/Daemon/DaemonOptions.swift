// How the commands that talk to a daemon find it.
import ArgumentParser
import Engine
import FoundationEssentials
import Glibc
import Pipeline
import System

/// The options that name the daemon.
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
        let path =
            try places.own.first(where: Self.mayBeThere) ?? serviceSocket(among: places.ofServices, mill)
            ?? places.own[0]
        do {
            return try HTTPClient.ask(request, at: path, as: type, withinSeconds: seconds)
        } catch {
            let help = serviceHint(path)
            // Without a daemon, the user's state folder and a service's folder in /run need not exist.
            let isUsual =
                service != nil || path.directory == StatePlaces(ProcessInfo.processInfo.environment).defaultState
            printError("imagemill: \(error)\(help != nil && isUsual ? "" : Self.hint(path.directory))")
            if let help { printError("  \(help)") }
            if FileSystem.isAbsent(path), let hint = unreadableStateHint(mill) { printError("  \(hint)") }
            throw ExitStatus.tryAgain
        }
    }

    /// The service's socket, if it works with this mill file.
    private func serviceSocket(among sockets: [BytePath], _ mill: String?) throws -> BytePath? {
        guard let mill, let path = sockets.first(where: Self.mayBeThere) else { return nil }
        // If it does not say, the command itself will say why.
        guard let status = try? HTTPClient.ask(.status, at: path, as: StatusDocument.self, withinSeconds: 10),
            let other = status.mill?.original, !Self.isOne(RawArguments.paths([mill])[0], other)
        else { return path }
        printError(
            "imagemill: no daemon is running for '\(BytePath(mill).printable)'; the one at '\(path.printable)' works with '\(other.printable)'"
        )
        throw ExitStatus.tryAgain
    }

    private static func isOne(_ file: BytePath, _ other: BytePath) -> Bool {
        if let path = FileSystem.absolute(file), path == FileSystem.absolute(other) ?? other { return true }
        let identity = (try? FileSystem.status(file))??.identity
        return identity != nil && identity == (try? FileSystem.status(other))??.identity
    }

    /// A daemon whose socket has gone with its folder cannot be asked.
    private static func hint(_ folder: BytePath) -> String {
        guard FileSystem.isAbsent(folder) else { return "" }
        return " (there is no folder '\(folder.printable)'; if a daemon runs, it was moved or deleted: put it back)"
    }

    /// A hint that the daemon may be somewhere else, since its mill file is no YAML and names no state folder.
    private func unreadableStateHint(_ mill: String?) -> String? {
        guard let mill, socket == nil, state == nil, let text = try? LoadedPipeline.text(of: mill),
            MillFile.hasUnreadableState(text)
        else { return nil }
        let name = BytePath(mill).printable
        return "'\(name)' is no YAML, so its 'state' cannot be read: "
            + "'imagemill check \(name)' says why; '--state' names the daemon's folder"
    }

    /// The command that tells more, if the service is installed and nothing is at the socket.
    private func serviceHint(_ path: BytePath) -> String? {
        guard socket == nil, state == nil, FileSystem.isAbsent(path), StatePlaces.hasService() else { return nil }
        guard let service else {
            return
                "if the service is meant: 'systemctl status imagemill' says why it does not run; for a service imagemill@NAME use --service NAME"
        }
        return "'systemctl status imagemill@\(oneLine(service))' says why it does not run"
    }

    private static func mayBeThere(_ path: BytePath) -> Bool {
        do throws(SystemError) {
            return try FileSystem.status(path) != nil
        } catch {
            return error.code == EACCES
        }
    }

    /// The sockets at which the daemon may be, and those of the usual service.
    private func sockets(of mill: String?) throws -> (own: [BytePath], ofServices: [BytePath]) {
        if let socket { return ([RawArguments.paths([socket])[0]], []) }
        let environment = ProcessInfo.processInfo.environment
        let named = state.map { RawArguments.paths([$0])[0] }
        let folder = try named ?? mill.flatMap { try Self.stateFolder(of: $0, environment) }
        let places = StatePlaces(environment)
        // The service has its socket in /run, wherever its state folder is.
        let usual = mill != nil && named == nil ? places.sockets(state: nil, service: service) : []
        return (places.sockets(state: folder, service: service), usual)
    }

    private static func stateFolder(of mill: String, _ environment: [String: String]) throws -> BytePath? {
        do {
            return try LoadedMill.stateFolder(path: mill, text: try LoadedPipeline.text(of: mill)) { environment[$0] }
        } catch {
            throw ExitStatus.explaining(error, reading: mill, ending: "")
        }
    }
}
