// The address that the mill file names.
import Engine
import Pipeline

extension HTTPListener {
    private static let shortestToken = 16

    /// - Parameter file: the mill file, to which paths are relative.
    /// - Throws: `SystemError`, or `MillProblems` if the token cannot be used.
    init(_ settings: HTTPSettings, beside file: BytePath) throws {
        let token = try settings.token.map { try Self.token(in: $0.resolved(beside: file)) }
        switch settings.address {
        case .tcp(let host, let port): self = try .tcp(host: host, port: port, token: token)
        case .unix(let path): self = try .unix(path.resolved(beside: file), places: Self.webPlaces, token: token)
        }
    }

    private static func token(in path: BytePath) throws -> String {
        let status = try OpenFile.reading(path).status()
        guard status.mode & 0o007 == 0 else {
            throw MillProblems(mistakes: [], refusals: ["everybody may read the token in '\(path.printable)'; use chmod 640"])
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
