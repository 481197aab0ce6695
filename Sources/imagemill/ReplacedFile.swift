// Files that a command writes where the user says: what is there already is replaced only if it is of the same kind,
// since a slip in an option must not cost a picture, or the pipeline.
import ArgumentParser
import Engine
import Pipeline
import System

/// The kind of a file that a command writes.
enum ReplacedFile {
    case report, page, metrics, manifest, manifestPage

    /// As it is called in messages.
    var title: String {
        switch self {
        case .report, .page: "report"
        case .metrics: "metrics"
        case .manifest, .manifestPage: "manifest"
        }
    }

    /// As it is called beside others of its title.
    private var kind: String { self == .page || self == .manifestPage ? "page" : title }

    /// The beginning of such a file, and what its first bytes contain.
    private var signs: (beginning: String, sign: String) {
        switch self {
        case .report: ("{", "\"schema\":\"imagemill.")
        case .page: ("<!doctype html>", "<title>Imagemill report")
        case .metrics: ("# HELP ", "imagemill_")
        case .manifest: ("{", "imagemill.manifest/")
        case .manifestPage: ("<!doctype html>", "<title>Imagemill manifest")
        }
    }

    /// Ends the command if a file is there that is something else. What is no file, such as `/dev/stdout`, may be
    /// written to.
    func refuseOthers(at path: BytePath, option: String) throws {
        guard let status = try? FileSystem.status(path), status.kind == .regular, status.bytes > 0,
            let bytes = try? OpenFile.reading(path).bytes(at: 0, count: 1024)
        else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix(signs.beginning) && text.contains(signs.sign) { return }
        let what = self == .metrics ? "are no metrics" : "is no \(kind)"
        printError(
            "imagemill: '\(path.printable)' is there and \(what) of Imagemill; choose another file (\(option)), or remove it first"
        )
        throw ExitStatus.usage
    }
}
