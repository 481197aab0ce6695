// The address that the mill file names.
import Engine
import Glibc
import Pipeline
import System

extension HTTPSettings {
    /// Where to find the dashboard, for the log.
    /// - Parameter file: the mill file, to which paths are relative.
    func dashboardSentence(beside file: BytePath) -> String {
        switch address {
        case .tcp(let host, let port): "the dashboard is at http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
        case .unix(let path): "the dashboard is on the socket '\(path.resolved(beside: file).printable)'"
        }
    }
}

extension HTTPListener {
    private static let shortestToken = 16

    /// - Parameter file: the mill file, to which paths are relative.
    /// - Throws: `SystemError`, or `MillProblems` if the token cannot be used.
    init(_ settings: HTTPSettings, beside file: BytePath) throws {
        let token = try Self.token(settings, beside: file)
        do throws(SystemError) {
            switch settings.address {
            case .tcp(let host, let port): self = try .tcp(host: host, port: port, token: token)
            case .unix(let path): self = try .unix(path.resolved(beside: file), places: Self.webPlaces, token: token)
            }
        } catch {
            throw SystemError(
                error.attempt, code: error.code,
                because: "\(error.reason); \(Self.remedy(error.code)) ('http' in '\(file.printable)')")
        }
    }

    private static func remedy(_ code: CInt) -> String {
        switch code {
        case EADDRINUSE: "stop the program that uses it, or choose another port"
        case EADDRNOTAVAIL: "no network interface of this machine has that address; choose one that has"
        case EACCES: "choose a port above 1023, or a socket in a folder that this user may write to"
        default: "choose another address"
        }
    }

    /// The token that requests have to bring along; nil if none is needed.
    /// - Parameter file: the mill file.
    /// - Throws: `MillProblems` if it cannot be used.
    static func token(_ settings: HTTPSettings, beside file: BytePath) throws -> String? {
        guard let path = settings.token?.resolved(beside: file) else { return nil }
        let status: FileStatus
        do throws(SystemError) {
            status = try OpenFile.reading(path).status()
        } catch {
            throw MillProblems(mistakes: [], refusals: ["the 'token' of 'http' cannot be read: \(error)"])
        }
        guard status.mode & 0o007 == 0 else {
            throw MillProblems(
                mistakes: [], refusals: ["everybody may read the token in '\(path.printable)'; use chmod 640"])
        }
        let text = String(decoding: try OpenFile.contents(path, limit: 4096), as: UTF8.self)
        let token = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard token.utf8.count >= shortestToken, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            let sentence =
                "the first line of '\(path.printable)' is no token: \(shortestToken) or more characters of ASCII without spaces, such as those of `openssl rand -hex 32`"
            throw MillProblems(mistakes: [], refusals: [sentence])
        }
        return token
    }
}
