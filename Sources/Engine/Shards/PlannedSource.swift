// A source as a plan's list has it: text that ends with a NUL, since names may hold anything else.
import Pipeline
import System

/// One source of a plan.
struct PlannedSource: Equatable {
    /// A file as it was when the plan was made; nothing is known of one that was not to be found.
    struct File: Equatable {
        /// From the root, or from the folder of the set.
        let path: BytePath
        let stamp: FileStamp?

        init(path: BytePath, _ stamp: FileStamp?) {
            self.path = path
            self.stamp = stamp
        }
    }

    enum Kind: Equatable {
        case picture(File)
        /// A file in a tar, which is the root; its time is the tar's.
        case member(File, offset: Int)
        /// A folder with its files.
        case set(BytePath, [File])
        /// Why it was no source already when the plan was made.
        case problem(BytePath, Failure)
    }

    /// The place of its root in the plan.
    let root: Int
    let kind: Kind

    /// The path from the root; empty for the root itself.
    var path: BytePath {
        switch kind {
        case .picture(let file), .member(let file, _): file.path
        case .set(let path, _), .problem(let path, _): path
        }
    }

    /// The folder that its renditions go into if the tree is kept. A tar is as one folder, since it may come back to a
    /// folder at any time.
    var folder: BytePath { if case .member = kind { BytePath([]) } else { path.directory } }

    var bytes: Int {
        switch kind {
        case .picture(let file), .member(let file, _): file.stamp?.bytes ?? 0
        case .set(_, let members): members.map { $0.stamp?.bytes ?? 0 }.reduce(0, saturating)
        case .problem: 0
        }
    }
}

// `P root bytes modified path`, `T root offset bytes modified path`, `S root members path` and then `M root bytes
// modified name` for each, `E root code length message path`.

extension PlannedSource {
    var encoded: [UInt8] {
        switch kind {
        case .picture(let file): Self.record("P \(root)", file)
        case .member(let file, let offset): Self.record("T \(root) \(offset)", file)
        case .set(let path, let members):
            Array("S \(root) \(members.count) ".utf8) + path.bytes + [0]
                + members.flatMap { Self.record("M \(root)", $0) }
        case .problem(let path, let failure):
            Array("E \(root) \(failure.code.rawValue) \(failure.message.utf8.count) \(failure.message) ".utf8)
                + path.bytes + [0]
        }
    }

    private static func record(_ head: String, _ file: File) -> [UInt8] {
        Array("\(head) \(file.stamp.map { "\($0.bytes) \($0.modified)" } ?? "- -") ".utf8)
            + file.path.bytes + [0]
    }

    /// Reads the sources of a shard.
    /// - Returns: nil if it is no list.
    static func decode(_ bytes: [UInt8]) -> [PlannedSource]? {
        var reader = RecordReader(rest: bytes[...])
        var sources: [PlannedSource] = []
        while !reader.isAtEnd {
            guard let source = reader.source() else { return nil }
            sources.append(source)
        }
        return sources
    }
}

private struct RecordReader {
    var rest: ArraySlice<UInt8>

    var isAtEnd: Bool { rest.isEmpty }

    mutating func source() -> PlannedSource? {
        guard let letter = word(), let root = number() else { return nil }
        switch letter {
        case "P": return file().map { PlannedSource(root: root, kind: .picture($0)) }
        case "T":
            guard let offset = number(), offset >= 0, let file = file(), let stamp = file.stamp, stamp.bytes >= 0 else {
                return nil
            }
            return PlannedSource(root: root, kind: .member(file, offset: offset))
        case "S":
            guard let count = number(), count >= 0, let path = path() else { return nil }
            var members: [PlannedSource.File] = []
            for _ in 0..<count {
                guard word() == "M", number() == root, let member = file() else { return nil }
                members.append(member)
            }
            return PlannedSource(root: root, kind: .set(path, members))
        case "E":
            guard let code = word().flatMap(FailureCode.init), let length = number(), (0..<rest.count).contains(length)
            else { return nil }
            let message = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length + 1)
            return path().map { PlannedSource(root: root, kind: .problem($0, Failure(code, stage: "read", message))) }
        default: return nil
        }
    }

    private mutating func file() -> PlannedSource.File? {
        guard let bytes = word(), let modified = word(), let path = path() else { return nil }
        let numbers = (Int(bytes), Int(modified))
        guard case (let bytes?, let modified?) = numbers else { return PlannedSource.File(path: path, nil) }
        return PlannedSource.File(path: path, FileStamp(bytes: bytes, modified: modified))
    }

    private mutating func word() -> String? {
        guard let end = rest.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private mutating func number() -> Int? { word().flatMap { Int($0) } }

    private mutating func path() -> BytePath? {
        guard let end = rest.firstIndex(of: 0) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return BytePath(Array(rest[..<end]))
    }
}
