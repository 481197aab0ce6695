// Where the daemon's state and its socket are if nobody says so.
import Engine
import Pipeline
import System

/// Places that follow from the environment alone.
struct StatePlaces {
    /// The daemon's socket in its folder.
    static let socketName = "status.sock"

    private let variables: [String: String]

    init(_ variables: [String: String]) { self.variables = variables }

    /// The state folder if the configuration names none: systemd's, else the user's own.
    var defaultState: BytePath {
        // systemd separates several by colons; the first is ours.
        if let folder = first("STATE_DIRECTORY") { return BytePath(folder) }
        if let folder = variables["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return BytePath(folder).appending(BytePath("imagemill"))
        }
        return BytePath(variables["HOME"] ?? "/").appending(BytePath(".local/state/imagemill"))
    }

    /// The folder of the socket of a daemon with this state folder.
    func socketFolder(state: BytePath) -> BytePath { first("RUNTIME_DIRECTORY").map { BytePath($0) } ?? state }

    /// Where to look for a daemon: with its state folder known, or not.
    func sockets(state: BytePath?, service: String?) -> [BytePath] {
        let folders = [service.map { BytePath("/run/imagemill").appending(BytePath($0)) }, state]
        let known = folders.compactMap { $0 }
        let all = known.isEmpty ? [socketFolder(state: defaultState), BytePath("/run/imagemill")] : known
        return all.map { $0.appending(BytePath(Self.socketName)) }
    }

    /// Whether systemd makes a folder of state or cache for the service that it starts, as its variables or the packaged
    /// units say.
    func isMadeBySystemd(_ folder: BytePath, root: BytePath = BytePath("/")) -> Bool {
        let named = ["STATE_DIRECTORY", "CACHE_DIRECTORY"].flatMap {
            (variables[$0] ?? "").split(separator: ":").map { BytePath(String($0)) }
        }
        let packaged = Self.hasService(in: root) ? ["/var/lib/imagemill", "/var/cache/imagemill"] : []
        return (named + packaged.map { BytePath($0) }).contains { folder.isAtOrBelow($0) }
    }

    /// Whether the packaged service is installed, running or not.
    /// - Parameter root: the folder of the system.
    static func hasService(in root: BytePath = BytePath("/")) -> Bool {
        let units = ["usr/lib", "usr/local/lib", "etc"].map { "\($0)/systemd/system/imagemill.service" }
        return (units + ["var/lib/imagemill"]).contains { !FileSystem.isAbsent(root.appending(BytePath($0))) }
    }

    private func first(_ name: String) -> String? {
        variables[name]?.split(separator: ":").first.map(String.init)
    }
}
