// Asks a running daemon over its Unix socket.
import Engine
import FoundationEssentials
import Glibc
import Pipeline
import System

/// No daemon answers; the sentence says where it was looked for.
struct NoDaemon: Error, Equatable, CustomStringConvertible {
    let description: String
}

enum HTTPClient {
    /// The largest answer that is taken, in bytes.
    private static let longestAnswer = 64 << 20

    /// Sends a request, and waits for the answer.
    /// - Parameter seconds: how long, at most.
    static func ask<Answer: Decodable>(
        _ request: ControlRequest, at path: BytePath, as type: Answer.Type, withinSeconds seconds: Int
    ) throws
        -> Answer
    {
        let socket = try connect(path)
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket.descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        let bytes = request.bytes
        let sent = bytes.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        guard sent == bytes.count else { throw SystemError("ask the daemon at '\(path.printable)'") }
        guard let answer = body(of: try receive(socket, path)) else {
            throw NoDaemon(
                description: "the daemon at '\(path.printable)' answers what this version does not understand")
        }
        if let answer = try? JSONDecoder().decode(type, from: answer) { return answer }
        // A refusal may come instead of any document.
        if let refusal = try? JSONDecoder().decode(ControlReply.self, from: answer) {
            throw NoDaemon(description: refusal.message)
        }
        throw NoDaemon(description: "the daemon at '\(path.printable)' answers what this version does not understand")
    }

    /// The body after the head, if it is as long as the head says.
    private static func body(of answer: [UInt8]) -> Data? {
        guard answer.starts(with: Array("HTTP/1.1 ".utf8)) else { return nil }
        let end = answer.indices.dropLast(3).first { answer[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
        guard let end else { return nil }
        let (head, body) = (String(decoding: answer[..<end], as: UTF8.self).lowercased(), answer[(end + 4)...])
        return head.split(separator: "\r\n").contains("content-length: \(body.count)") ? Data(body) : nil
    }

    private static func connect(_ path: BytePath) throws -> OpenFile {
        let nobody = NoDaemon(
            description: "no daemon is running at '\(path.printable)'; start one with 'imagemill watch mill.yaml'")
        let socket = try unixSocket(SOCK_STREAM, nonblocking: false)
        let folder: OpenFile
        do throws(SystemError) {
            folder = try OpenFile.reading(DurableFile.folder(of: path))
        } catch {
            throw error.code == EACCES ? refused(path) : nobody
        }
        let address = UnixAddress(in: folder, name: path.lastComponent.text)
        let result = withExtendedLifetime(folder) { address.withPointer { Glibc.connect(socket.descriptor, $0, $1) } }
        guard result != 0 else { return socket }
        if [ENOENT, ECONNREFUSED, ENOTDIR, ENOTSOCK].contains(errno) { throw nobody }
        throw errno == EACCES ? refused(path) : SystemError("ask the daemon at '\(path.printable)'")
    }

    /// Whether one runs there cannot be told.
    private static func refused(_ path: BytePath) -> any Error {
        NoDaemon(
            description:
                "the daemon at '\(path.printable)' may not be asked by this user; ask as the user that it runs as, or as root"
        )
    }

    private static func receive(_ socket: OpenFile, _ path: BytePath) throws -> [UInt8] {
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let got = recv(socket.descriptor, &chunk, chunk.count, 0)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                if errno == EAGAIN { throw NoDaemon(description: "the daemon at '\(path.printable)' does not answer") }
                throw SystemError("hear from the daemon at '\(path.printable)'")
            }
            if got == 0 {
                guard !answer.isEmpty else {
                    throw NoDaemon(description: "the daemon at '\(path.printable)' ended before it answered")
                }
                return answer
            }
            answer += chunk[..<got]
            guard answer.count <= longestAnswer else {
                throw NoDaemon(description: "the daemon at '\(path.printable)' answers without end")
            }
        }
    }
}
