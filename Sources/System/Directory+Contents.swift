// All that is in a folder, in a few numbers.
import Pipeline

extension Directory {
    /// The names, sizes and times of all files in the folder and below.
    package func contentsStamp() throws(SystemError) -> FileStamp {
        var (bytes, lines): (Int, [[UInt8]]) = (0, [])
        try note(below: BytePath([]), &bytes, &lines)
        lines.sort { $0.lexicographicallyPrecedes($1) }
        let digest = FNV1a(lines.flatMap { $0 + [0] }).value
        return FileStamp(bytes: bytes, modified: Int(truncatingIfNeeded: digest))
    }

    private func note(below path: BytePath, _ bytes: inout Int, _ lines: inout [[UInt8]]) throws(SystemError) {
        for name in try names().map({ BytePath($0) }) {
            guard let status = try status(name) else { continue }
            let path = path.appending(name)
            if status.kind == .directory {
                try folder(name).note(below: path, &bytes, &lines)
            } else {
                bytes = saturating(bytes, status.bytes)
                lines.append(path.bytes + Array(" \(status.bytes) \(status.modified)".utf8))
            }
        }
    }
}
