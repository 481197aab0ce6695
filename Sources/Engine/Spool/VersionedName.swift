// A free name beside one that is taken: `photo~2.jpg`, `photo~3.jpg`, …
import Glibc
import Pipeline
import System

/// A name for something, or the first version of it that is free.
struct VersionedName {
    let wish: BytePath
    var calls = NameCalls.system
    /// The names of what will be beside a name, which must be free too.
    var companions: (BytePath) -> [BytePath] = { _ in [] }

    /// A version of a name: `~2` before the extension. Too long a stem is shortened, so that the whole is a name.
    static func version(_ number: Int, of name: BytePath) -> BytePath {
        guard number > 1 else { return name }
        let bytes = name.bytes
        // A leading dot makes a hidden file, not an extension.
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
        let ending = Array("~\(number)".utf8) + bytes[dot...]
        return BytePath(Array(bytes[..<min(dot, max(0, 255 - ending.count))]) + ending.suffix(255))
    }

    /// Whether a name is another one, or looks like a version of it.
    static func isVersion(_ name: BytePath, of wish: BytePath) -> Bool {
        if name == wish { return true }
        // The number follows the last `~` before the extension.
        guard let mark = name.bytes.lastIndex(of: UInt8(ascii: "~")) else { return false }
        let digits = name.bytes[(mark + 1)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int(String(decoding: digits, as: UTF8.self)), number > 1 else { return false }
        return version(number, of: wish) == name
    }

    /// Moves something to the first version of the wish that is free.
    /// - Returns: that name.
    func move(_ name: BytePath, from: Directory, to folder: Directory) throws(SystemError) -> BytePath {
        let taken = try folder.status(wish)
        if let taken, taken.kind == .regular, try from.status(name)?.identity == taken.identity,
            try Self.areFree(companions(wish), in: folder)
        {
            // A crash came between the link and the removal of the old name, on a file system that needs both.
            try from.remove(name)
            return wish
        }
        var number = taken == nil ? 1 : try Self.freeVersion(of: wish, in: folder)
        while true {
            let candidate = Self.version(number, of: wish)
            guard try Self.areFree(companions(candidate), in: folder) else {
                number += 1
                continue
            }
            do throws(SystemError) {
                try from.moveAcrossMounts(name, to: folder, as: candidate, calls: calls)
                return candidate
            } catch  where error.code == EEXIST {
                number += 1
            }
        }
    }

    private static func areFree(_ names: [BytePath], in folder: Directory) throws(SystemError) -> Bool {
        for name in names where try folder.status(name) != nil { return false }
        return true
    }

    /// The folder of this name, or of the first version of it that is a folder or free: a file may have the name.
    static func folder(
        _ name: BytePath, in parent: Directory
    ) throws(SystemError) -> (folder: Directory, name: BytePath, isNew: Bool) {
        for number in 1... {
            let candidate = version(number, of: name)
            let found = try parent.status(candidate)
            if let found, found.kind != .directory { continue }
            return (try parent.makingFolder(candidate), candidate, found == nil)
        }
        preconditionFailure("there is no largest version")
    }

    /// A version that is free, found in steps that double: a name that is dropped every minute has many. Gaps do not
    /// matter.
    private static func freeVersion(of name: BytePath, in folder: Directory) throws(SystemError) -> Int {
        var (taken, free) = (1, 2)
        while try folder.status(version(free, of: name)) != nil { (taken, free) = (free, free * 2) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if try folder.status(version(middle, of: name)) == nil { free = middle } else { taken = middle }
        }
        return free
    }
}
