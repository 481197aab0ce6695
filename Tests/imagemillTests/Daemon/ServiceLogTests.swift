// The log: every event is one, with its priority and its fields, whatever files are called.
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import imagemill

/// The logs that a test has begun.
private final class Sinks: Sendable { let all = Mutex<[LogSink]>([]) }

@Suite struct ServiceLogTests {
    private let folder: TemporaryFolder
    private let errors: CInt
    private let sinks = Sinks()

    init() throws {
        folder = try TemporaryFolder()
        errors = open(folder.path("errors"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    private var stream: String {
        var status = stat()
        fstat(errors, &status)
        return "\(status.st_dev):\(status.st_ino)"
    }

    private func lines() throws -> [String] {
        for sink in sinks.all.withLock({ $0 }) { sink.flush() }
        return try String(contentsOfFile: folder.path("errors"), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast()
            .map(String.init)
    }

    private let evil = "a\nPRIORITY=0\u{1B}[31m.jpg"

    private func logger(_ variables: [String: String], journal: String = "/nowhere") -> Logger {
        let sink = LogSink(variables, errors: errors, journal: journal)
        sinks.all.withLock { $0.append(sink) }
        return ServiceLog.logger(sink)
    }

    @Test
    func `outside of systemd an event is a line with its time and level, and a hostile name stays in it`() throws {
        defer { close(errors) }
        var log = logger([:])
        log[metadataKey: "INBOX"] = "/in"
        log.warning("failed \(evil)", metadata: .event(.failed, [.source: evil, .code: "truncated"]))
        log.debug("not shown")
        let found = try lines()
        #expect(found.count == 1)
        let tail =
            #"warning: failed a\nPRIORITY=0\u{1B}[31m.jpg (ERROR_KIND=truncated, INBOX=/in, SOURCE_NAME=a\nPRIORITY=0\u{1B}[31m.jpg)"#
        #expect(found[0].hasSuffix(" " + tail), "\(found[0])")
        #expect(found[0].first == "2" && found[0].split(separator: " ")[0].hasSuffix("Z"))
    }

    @Test func `where the journal reads standard error and has no socket, lines begin with their priority`() throws {
        defer { close(errors) }
        let log = logger(["JOURNAL_STREAM": stream])
        log.critical("a")
        log.error("b")
        log.warning("c")
        log.notice("d")
        log.info("e")
        #expect(try lines() == ["<2>a", "<3>b", "<4>c", "<5>d", "<6>e"])
    }

    @Test
    func `journald gets fields; a value with a line feed has its length before it and cannot pass for a field`() throws
    {
        defer { close(errors) }
        let listener = try DatagramListener(folder.path("journal"))
        let log = logger(["JOURNAL_STREAM": stream], journal: folder.path("journal"))
        log.warning("it failed", metadata: .event(.failed, [.source: evil, .job: "abc"]))
        let fields = try parse(try #require(listener.next()))
        #expect(fields["MESSAGE"] == ["it failed"])
        #expect(fields["PRIORITY"] == ["4"])
        #expect(fields["SYSLOG_IDENTIFIER"] == ["imagemill"])
        #expect(fields["SOURCE_NAME"] == [evil])
        #expect(fields["JOB_ID"] == ["abc"])
        #expect(fields["EVENT"] == ["failed"])
        #expect(fields["MESSAGE_ID"] == [DaemonEvent.failed.messageID])
        #expect(try lines() == [])
    }

    /// As journald reads it: see the description of its native protocol.
    private func parse(_ bytes: [UInt8]) throws -> [String: [String]] {
        var fields: [String: [String]] = [:]
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = try #require(rest.firstIndex(of: 0x0A))
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if let sign = line.firstIndex(of: "=") {
                fields[String(line[..<sign]), default: []].append(String(line[line.index(after: sign)...]))
            } else {
                let length = rest.prefix(8).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
                fields[line, default: []].append(String(decoding: rest.dropFirst(8).prefix(length), as: UTF8.self))
                rest = rest.dropFirst(8 + length + 1)
            }
        }
        return fields
    }

    @Test
    func `where standard error was sent elsewhere since, or journald is gone, lines go to standard error`() throws {
        defer { close(errors) }
        let listener = try DatagramListener(folder.path("journal"))
        logger(["JOURNAL_STREAM": "1:2"], journal: folder.path("journal")).info("elsewhere")
        // Each log has a thread of its own.
        _ = try lines()
        logger(["JOURNAL_STREAM": stream], journal: folder.path("gone")).info("gone")
        let found = try lines()
        #expect(found.count == 2 && found[0].hasSuffix("info: elsewhere") && found[1] == "<6>gone")
        #expect(listener.next(withinSeconds: 0) == nil)
    }

    @Test func `a field's name is one that journald takes`() {
        #expect(
            ["JOB_ID", "job-id", "_HIDDEN", "9lives", "ä", "a=b\nc"].map(LogLine.fieldName) == [
                "JOB_ID", "JOB_ID", "HIDDEN", "LIVES", "FIELD", "A_B_C",
            ])
    }

    @Test func `each kind of event has a number of its own, of the form that journald wants`() {
        let numbers = DaemonEvent.allCases.map(\.messageID)
        #expect(Set(numbers).count == numbers.count)
        for number in numbers { #expect(number.count == 32 && number.allSatisfy { $0.isHexDigit && !$0.isUppercase }) }
    }
}
