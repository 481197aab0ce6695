// The report of a run: written as it goes, the summary last.
import CLinux
import FoundationEssentials
import Glibc
package import Pipeline
import Synchronization

/// What a run did, in numbers.
package struct BatchSummary: Sendable, Encodable, Equatable {
    package var sources = 0
    package var done = 0
    package var failed = 0
    /// Left as they are, or planned only.
    package var skipped = 0
    package var renditions = 0
    package var milliseconds = 0
    /// The run was stopped before the last source.
    package var interrupted = false
    /// Those of a dry run that would be done. Not in the document, where they count as skipped.
    package var planned = 0

    private enum CodingKeys: String, CodingKey { case sources, done, failed, skipped, renditions, milliseconds, interrupted }

    /// Sources that are as they were when they were done.
    package var unchanged: Int { skipped - planned }

    package mutating func add(_ report: SourceReport) {
        switch report.status {
        case .done: done += 1
        case .skipped: skipped += 1
        case .planned:
            skipped += 1
            planned += 1
        case .failed: failed += 1
        }
        if report.status == .done { renditions += report.renditions.count }
    }
}

/// Writes the batch document to files and streams.
package final class BatchReport: Sendable {
    private let state: Mutex<State>

    private struct State: ~Copyable {
        let writers: [Writer]
        var isFirst = true

        var separator: String { isFirst ? "\n" : ",\n" }
    }

    /// - Parameters:
    ///   - file: where the document goes; while it grows it stands beside, with `.part` behind the name.
    ///   - stream: an open descriptor that gets it too.
    package init(file: BytePath?, stream: CInt?) throws(SystemError) {
        var writers: [Writer] = []
        if let file { writers.append(try Writer(file: file)) }
        if let stream { writers.append(Writer(stream: stream)) }
        for writer in writers { writer.write(#"{"schema":"imagemill.batch/1","sources":["#) }
        state = Mutex(State(writers: writers))
    }

    /// Adds one source's document, as JSON.
    func add(_ document: String) {
        state.withLock { state in
            for writer in state.writers { writer.write(state.separator + document) }
            state.isFirst = false
        }
    }

    /// Adds documents that were recorded earlier.
    func add(_ documents: [[UInt8]]) {
        guard !documents.isEmpty else { return }
        state.withLock { state in
            var text: [UInt8] = []
            text.reserveCapacity(documents.reduce(0) { $0 + $1.count + 2 })
            for document in documents {
                text += state.separator.utf8
                text += document
                state.isFirst = false
            }
            for writer in state.writers { writer.write(text) }
        }
    }

    /// Completes the document and gives the file its name.
    /// - Throws: where some of it could not be written.
    package func finish(_ summary: BatchSummary) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            for writer in state.writers {
                writer.write("\n],\"summary\":\(json(summary))}\n")
                try writer.finish()
            }
        }
    }
}

/// A value as JSON, its keys sorted; on one line, or indented for people.
package func json(_ value: some Encodable, pretty: Bool = false) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    // Our own documents hold numbers, texts and lists; none of them can fail to encode.
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
}

/// One place that the document goes to.
private final class Writer {
    private let file: OpenFile?
    private let descriptor: CInt
    private let path: BytePath?
    private var failure: SystemError?

    init(file path: BytePath) throws(SystemError) {
        try FileSystem.makeDirectories(path.directory.bytes.isEmpty ? BytePath(".") : path.directory)
        // A pipe or a device is written into; a file put in its place would take it away from everybody.
        let isStream = try FileSystem.status(path).map { $0.kind == .other } ?? false
        self.path = isStream ? nil : path
        descriptor = withPath(isStream ? path : Self.growing(path)) { clinux_openat(AT_FDCWD, $0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard descriptor >= 0 else { throw SystemError("write the report '\(path.printable)'") }
        file = OpenFile(owning: descriptor)
    }

    init(stream: CInt) {
        path = nil
        file = nil
        descriptor = stream
    }

    private static func growing(_ path: BytePath) -> BytePath { BytePath(path.bytes + Array(".part".utf8)) }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ text: [UInt8]) {
        guard failure == nil else { return }
        var bytes = text[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else {
                failure = SystemError("write the report")
                return
            }
            bytes = bytes.dropFirst(written)
        }
    }

    func finish() throws(SystemError) {
        if let failure { throw failure }
        if let path { try FileSystem.rename(Self.growing(path), to: path) }
    }
}
