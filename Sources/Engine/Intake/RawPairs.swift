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
                switch use {
                case .preview: taken[raw] = name
                case .prefer, .develop: taken[name] = raw
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

    /// By a file's name; nil for one that is neither.
    init?(_ path: BytePath) {
        let name = SourceName(path).fileExtension
        if JPEGSource.fileExtensions.contains(name) {
            self = .jpeg
        } else if RawSource.fileExtensions.contains(name) {
            self = .raw
        } else {
            return nil
        }
    }

    private var others: [String] {
        switch self {
        case .raw: JPEGSource.fileExtensions
        case .jpeg: RawSource.fileExtensions
        }
    }

    /// The names that the other file of a photo may have, of which most are not there.
    static func others(of name: BytePath) -> [BytePath] {
        guard let own = PhotoFile(name) else { return [] }
        let stem = name.withoutExtension
        return own.others.flatMap { ending in
            [ending.uppercased(), ending].map { BytePath(stem + [UInt8(ascii: ".")] + $0.utf8) }
        }
    }
}

extension PhotoFile {
    /// The name of a photo's other file beside a source that has got another name.
    static func name(_ other: BytePath, beside source: BytePath) -> BytePath {
        let ending = other.bytes.dropFirst(other.withoutExtension.count)
        let name = source.withoutExtension + ending
        return name.count > 255 ? other : BytePath(name)
    }
}

extension RawUse {
    /// The kind of file that is the source, of a photo that has both.
    private var source: PhotoFile { self == .preview ? .jpeg : .raw }

    /// The names of files beside a source that go where it goes, of which most are not there.
    func companions(of name: BytePath) -> [BytePath] {
        PhotoFile(name) == source ? PhotoFile.others(of: name) : []
    }

    /// The names of files that are taken in a file's place, of which most are not there.
    func sources(inPlaceOf name: BytePath) -> [BytePath] {
        PhotoFile(name) == source ? [] : PhotoFile.others(of: name)
    }
}

/// A regular file in a folder.
struct FileInFolder {
    let name: BytePath
    let status: FileStatus
}

extension Directory {
    /// The files among these names.
    func files(of names: [BytePath]) throws(SystemError) -> [FileInFolder] {
        var found: [FileInFolder] = []
        for name in names {
            guard let status = try status(name), status.kind == .regular else { continue }
            found.append(FileInFolder(name: name, status: status))
        }
        return found
    }
}

extension BytePath {
    /// Without the last dot and what follows.
    fileprivate var withoutExtension: [UInt8] {
        bytes.lastIndex(of: UInt8(ascii: ".")).map { Array(bytes[..<$0]) } ?? bytes
    }
}
