/// Where the daemon serves its dashboard and its metrics: `127.0.0.1:8080`, a Unix socket, or `{ address: 0.0.0.0:8080,
/// token: FILE }`.
package struct HTTPSettings: ParameterValue, Equatable {
    package enum Address: Equatable, Sendable {
        /// A numeric address, or `localhost`.
        case tcp(host: String, port: Int)
        case unix(WrittenPath)
    }

    package let address: Address
    /// A file with what requests have to bring along.
    package let token: WrittenPath?

    package static let expectation =
        "an address such as 127.0.0.1:8080, the path of a socket, or { address: 0.0.0.0:8080, token: FILE }"
    package static var schema: JSONValue {
        guard case .object(let mapping) = Group.mappingSchema() else { return ["type": "string"] }
        return ["anyOf": [["type": "string"], .object(mapping)]]
    }
    package static var placeholder: HTTPSettings {
        HTTPSettings(address: .tcp(host: "127.0.0.1", port: 8080), token: nil)
    }
    package var written: String { "127.0.0.1:8080" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> HTTPSettings? {
        var (text, token, position) = (node.text, WrittenPath?.none, node.position)
        if case .mapping = node.content {
            guard let group = Parameters.read(Group.self, from: node, owner: "'http'", &log) else { return nil }
            (text, token, position) = (group.address.text, group.token, group.address.position)
        }
        guard let text else { return nil }
        guard let address = Address(text, at: position) else {
            let host = text.firstRange(of: "://").map { text[$0.upperBound...].prefix { $0 != "/" } } ?? ""
            log.problem(position, "expected \(expectation), found '\(text)'" + (host.isEmpty ? "" : "; write \(host)"))
            return nil
        }
        guard token != nil || !address.isOpen else {
            log.problem(
                position,
                "'\(text)' is open to other hosts; use 127.0.0.1, or name a file with a secret: http: { address: \"\(text)\", token: /etc/imagemill/token }"
            )
            return nil
        }
        return HTTPSettings(address: address, token: token)
    }

    private struct Group: ParameterGroup {
        let address: WrittenPath
        let token: WrittenPath?

        init(_ p: inout Parameters) {
            address = p.required("address", "127.0.0.1:8080, [::1]:8080, or the path of a Unix socket.")
            token = p.optional(
                "token",
                "A file with a secret of 16 characters or more, which requests have to bring along. Needed for other hosts."
            )
        }
    }
}

extension HTTPSettings.Address {
    /// - Parameter text: `HOST:PORT`, `[IPv6]:PORT`, or a path with a slash.
    init?(_ text: String, at position: Position) {
        guard !text.contains("://") else { return nil }
        if text.contains("/") {
            self = .unix(WrittenPath(text: text, position: position))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        let host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            guard address.contains(":"), address.utf8.allSatisfy({ "0123456789abcdefABCDEF:.".utf8.contains($0) })
            else { return nil }
            self = .tcp(host: String(address), port: Int(port))
            return
        }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host == "localhost" || numbers.count == 4 && numbers.allSatisfy({ UInt8($0) != nil }) else { return nil }
        self = .tcp(host: String(host), port: Int(port))
    }

    /// Whether other hosts may reach it.
    var isOpen: Bool {
        switch self {
        case .unix: false
        case .tcp(let host, _): host != "localhost" && host != "::1" && !host.hasPrefix("127.")
        }
    }
}
