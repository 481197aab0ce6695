// Cameras write a photo twice: as a raw file and as a JPEG of the same name. Only one of them is a source.
import Pipeline
import System

/// The pairs among the files of one folder.
struct RawPairs {
    /// By the file that is no source: the one that is.
    private let taken: [BytePath: BytePath]

    /// - Parameters:
    ///   - names: the files that are taken.
    ///   - use: the pipeline's.
    init(_ names: [BytePath], _ use: RawUse) {
        var raws: [[UInt8]: [BytePath]] = [:]
        for name in names where PhotoFile(name) == .raw { raws[name.withoutExtension, default: []].append(name) }
        var taken: [BytePath: BytePath] = [:]
        for name in names where !raws.isEmpty && PhotoFile(name) == .jpeg {
            for raw in raws[name.withoutExtension] ?? [] {
                switch use.source {
                case .jpeg: taken[raw] = name
                case .raw: taken[name] = raw
                }
            }
        }
        self.taken = taken
    }

    /// The file that is taken in a file's place; nil if it is a source itself.
    subscript(name: BytePath) -> BytePath? { taken[name] }
}

/// One of the two files of a photo.
enum PhotoFile {
    case raw
    case jpeg

    /// By a file's name, whose extension is in small or in large letters; nil for one that is neither.
    init?(_ path: BytePath) {
        let name = SourceName(path).fileExtension
        let written = Array(path.bytes.suffix(name.utf8.count))
        guard written == Array(name.utf8) || written == Array(name.uppercased().utf8) else { return nil }
        if JPEGSource.fileExtensions.contains(name) {
            self = .jpeg
        } else if RawSource.fileExtensions.contains(name) {
            self = .raw
        } else {
            return nil
        }
    }

    /// The names that a photo's other file may have, of which most are not there.
    static func others(of name: BytePath) -> [BytePath] {
        guard let own = PhotoFile(name) else { return [] }
        let others = own == .raw ? JPEGSource.fileExtensions : RawSource.fileExtensions
        let stem = name.withoutExtension + [UInt8(ascii: ".")]
        return others.flatMap { [$0.uppercased(), $0] }.map { BytePath(stem + $0.utf8) }.filter { $0.isName }
    }

    /// The name of a photo's other file beside a source that has got another name; nil if that is too long.
    static func name(_ other: BytePath, beside source: BytePath) -> BytePath? {
        let ending = other.bytes.dropFirst(other.withoutExtension.count)
        let name = BytePath(source.withoutExtension + ending)
        return name.isName ? name : nil
    }
}

extension RawUse {
    /// The kind of file that is the source, of a photo that has both.
    var source: PhotoFile { self == .preview ? .jpeg : .raw }
}

extension BytePath {
    /// Without the last dot and what follows.
    fileprivate var withoutExtension: [UInt8] {
        bytes.lastIndex(of: UInt8(ascii: ".")).map { Array(bytes[..<$0]) } ?? bytes
    }

    /// File systems have no longer names.
    fileprivate var isName: Bool { lastComponent.bytes.count <= 255 }
}
