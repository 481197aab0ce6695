// The report of a run: written while the run goes on, the summary last.
import CLinux
import Glibc
package import Pipeline
import Stages
import Synchronization
package import System

/// The results of a run, in numbers.
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
    /// Files that a search found and that are no pictures.
    package var passedOver = 0
    /// Those of a dry run that would be done. In the document they count as skipped.
    package var planned = 0

    private enum CodingKeys: String, CodingKey {
        case sources, done, failed, skipped, renditions, milliseconds, interrupted
        case passedOver = "passed-over"
    }

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

/// How the documents of a run's sources are written.
package enum BatchForm: Sendable {
    /// One document, whose end makes it complete.
    case document
    /// A line for each source when it is finished, and one for the summary.
    case lines
}

/// Writes the documents of a run to files and streams. For any thread.
///
/// A file gets its name when the document is complete. Until then it has none, or one of its own, so that several runs
/// can have the same destination; nothing is left if the run ends without `finish`.
package final class BatchReport: Sendable {
    private let state: Mutex<State>

    private struct State {
        let destinations: [(writer: ReportWriter, form: BatchForm)]
        var isFirst = true

        mutating func write(_ documents: [[UInt8]]) {
            for (writer, form) in destinations {
                var text: [UInt8] = []
                text.reserveCapacity(documents.reduce(0) { $0 + $1.count + 2 })
                for (index, document) in documents.enumerated() {
                    if form == .document { text += (isFirst && index == 0 ? "\n" : ",\n").utf8 }
                    text += document
                    if form == .lines { text.append(UInt8(ascii: "\n")) }
                }
                writer.write(text)
            }
            isFirst = false
        }
    }

    /// - Parameters:
    ///   - file: where the document goes. A link there is replaced, not followed.
    ///   - mayBeStream: a pipe or a device there, or a link to one, is written into, since the user named it.
    ///   - stream: an open descriptor that gets it too.
    ///   - form: how the stream gets it.
    package init(file: BytePath?, mayBeStream: Bool = false, stream: CInt?, form: BatchForm = .document)
        throws(SystemError)
    {
        var destinations: [(writer: ReportWriter, form: BatchForm)] = []
        if let file { destinations.append((try ReportWriter(file: file, mayBeStream: mayBeStream), .document)) }
        if let stream { destinations.append((ReportWriter(stream: stream), form)) }
        for (writer, form) in destinations where form == .document {
            writer.write(#"{"schema":"imagemill.batch/1","sources":["#)
        }
        state = Mutex(State(destinations: destinations))
    }

    /// Adds one source's document, as JSON without line breaks.
    package func add(_ document: String) { add([Array(document.utf8)]) }

    /// Adds documents, also such as were recorded earlier.
    package func add(_ documents: [[UInt8]]) {
        guard !documents.isEmpty else { return }
        state.withLock { $0.write(documents) }
    }

    /// Completes the document and gives the file its name.
    /// - Throws: if some of it could not be written.
    package func finish(_ summary: BatchSummary) throws(SystemError) {
        try state.withLock { state throws(SystemError) in
            let end =
                #""summary":\#(json(summary)),"engine":\#(json(EngineVersions(codecs: LibraryVersions.codecs)))}"#
                + "\n"
            for (writer, form) in state.destinations {
                switch form {
                case .document: writer.write("\n],\(end)")
                case .lines: writer.write(#"{"schema":"imagemill.summary/1",\#(end)"#)
                }
                try writer.finish()
            }
        }
    }
}

/// One destination of a document that is written piece by piece.
final class ReportWriter {
    /// nil for standard output.
    private let file: OpenFile?
    private let descriptor: CInt
    /// A file that gets its name at the end; nil for a stream.
    private let staged: StagedFile?
    private let title: String
    private var failure: SystemError?
    /// Nobody reads the stream any more, as with `| head`: the rest is left out.
    private var hasNoReader = false

    init(file path: BytePath, mayBeStream: Bool = false) throws(SystemError) {
        title = "write the report '\(path.printable)'"
        // A file put in place of a pipe or a device would take it away from everybody.
        if mayBeStream, try FileSystem.status(path)?.kind == .other {
            descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, O_WRONLY | O_CLOEXEC, 0) }
            guard descriptor >= 0 else { throw SystemError(title) }
            (file, staged) = (OpenFile(owning: descriptor), nil)
        } else {
            let folder = DurableFile.folder(of: path)
            try FileSystem.makeDirectories(folder)
            let staged = try StagedFile(in: Directory(folder), destination: path, token: DurableFile.newToken)
            self.staged = staged
            (file, descriptor) = (staged.file, staged.file.descriptor)
        }
    }

    init(stream: CInt) {
        title = "write the report"
        descriptor = stream
        (file, staged) = (nil, nil)
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ text: [UInt8]) {
        guard failure == nil, !hasNoReader else { return }
        var bytes = text[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else {
                if file == nil && errno == EPIPE { hasNoReader = true } else { failure = SystemError(title) }
                return
            }
            bytes = bytes.dropFirst(written)
        }
    }

    func finish() throws(SystemError) {
        if let failure { throw failure }
        try staged?.publish()
    }
}
