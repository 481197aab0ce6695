// The names, sizes and times of a source's files, or of its renditions, which tell that they are as they were.
package import Pipeline

/// Files as they were at one moment. A picture is one file without a name; a set has a file for each member, by its
/// name.
package struct Fingerprint: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package let name: BytePath
        package let stamp: FileStamp

        package init(name: BytePath, _ stamp: FileStamp) {
            self.name = name
            self.stamp = stamp
        }

        /// Whether a file is as this one was.
        package func matches(_ status: FileStatus) -> Bool {
            status.kind == .regular && status.stamp == stamp
        }

        /// The same of a folder with all that is in it.
        package func matches(folder path: BytePath) -> Bool {
            (try? Directory(path).contentsStamp()) == stamp
        }
    }

    package var files: [File]

    package init(_ files: [File]) { self.files = files }

    /// The one file of a picture.
    package init(_ status: FileStatus) { files = [File(name: BytePath([]), status.stamp)] }
}

// As bytes in the record: for each file the length of its name, the name, its size and its time, numbers in eight
// bytes, the lowest first.

extension Fingerprint {
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for file in files {
            append(file.name.bytes.count, to: &bytes)
            bytes += file.name.bytes
            append(file.stamp.bytes, to: &bytes)
            append(file.stamp.modified, to: &bytes)
        }
        return bytes
    }

    /// - Returns: nil if these bytes are no fingerprint; they come from a file that anybody may have written to.
    package init?(encoded bytes: [UInt8]) {
        var rest = bytes[...]
        var files: [File] = []
        while !rest.isEmpty {
            guard let length = Self.number(from: &rest), (0...rest.count).contains(length) else { return nil }
            let name = BytePath(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
            guard let size = Self.number(from: &rest), let modified = Self.number(from: &rest) else { return nil }
            files.append(File(name: name, FileStamp(bytes: size, modified: modified)))
        }
        self.files = files
    }

    private func append(_ number: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    private static func number(from bytes: inout ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return bytes.withUnsafeBytes { Int(littleEndian: $0.loadUnaligned(as: Int.self)) }
    }
}
