// Parts of paths, paths within paths, and paths as text that holds every byte.

extension BytePath {
    /// The names between the slashes.
    package var components: [[UInt8]] {
        bytes.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    /// Whether this path is another one, or something below it.
    package func isAtOrBelow(_ other: BytePath) -> Bool {
        if other.bytes.isEmpty || bytes == other.bytes { return true }
        let ending = other.bytes.last == UInt8(ascii: "/")
        return bytes.starts(with: other.bytes) && (ending || bytes[other.bytes.count] == UInt8(ascii: "/"))
    }
}

extension BytePath {
    /// This path as it is from a folder above it; the path itself if the folder is not above it.
    package func relative(below folder: BytePath) -> BytePath {
        guard !folder.bytes.isEmpty, self != folder, isAtOrBelow(folder) else { return self }
        return BytePath(Array(bytes[folder.bytes.count...].drop { $0 == UInt8(ascii: "/") }))
    }

    /// How many components it has.
    package var depth: Int { bytes.isEmpty ? 0 : components.count }

    package var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

    /// The way to this path from a folder: `../photos/a.jpg` for `/home/anna/photos/a.jpg` from `/home/anna/out`, `.`
    /// for the folder itself. Both paths are absolute, without links, `.` and `..`.
    package func relative(to folder: BytePath) -> BytePath {
        let (path, folder) = (bytesBeforeTrailingSlashes, folder.bytesBeforeTrailingSlashes)
        let common = sharedFolders(of: path, and: folder)
        let levels = folder[common...].count { $0 == slash }
        var result: [UInt8] = []
        result.reserveCapacity(3 * levels + path.count - common)
        for _ in 0..<levels { result += dots }
        result += path[common...].dropFirst()
        if result.last == slash { result.removeLast() }
        return result.isEmpty ? BytePath(".") : BytePath(result)
    }

    /// Empty for the root.
    private var bytesBeforeTrailingSlashes: [UInt8] {
        bytes.last == slash ? Array(bytes[..<((bytes.lastIndex { $0 != slash } ?? -1) + 1)]) : bytes
    }
}

/// How many bytes two absolute paths share, up to the end of a whole name in both.
private func sharedFolders(of left: [UInt8], and right: [UInt8]) -> Int {
    var end = 0
    var index = 0
    while index < left.count, index < right.count, left[index] == right[index] {
        if left[index] == slash { end = index }
        index += 1
    }
    let endsName = (index == left.count || left[index] == slash) && (index == right.count || right[index] == slash)
    return endsName ? index : end
}

private let slash = UInt8(ascii: "/")
private let dots = Array("../".utf8)

extension BytePath {
    /// The bytes that `percentEncoded` stands for; nil if it is not well formed.
    package init?(percentEncoded text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        self.init(bytes)
    }

    /// Every byte that is not a letter, a digit or one of `-._~/`, as `%XX`.
    package var percentEncoded: String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        let written = bytes.map { byte in
            if plain.contains(byte) { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
        return written.joined()
    }

    /// A relative path that leads nowhere but down: no empty part, no `.` or `..`, no NUL.
    package var staysBelow: Bool {
        guard !bytes.isEmpty, !bytes.contains(0) else { return false }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && Array($0) != Array(".".utf8) && Array($0) != Array("..".utf8) }
    }
}
