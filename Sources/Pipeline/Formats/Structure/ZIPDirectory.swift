// A ZIP archive whose files are stored as they are, one after the other, and listed at its end.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT

/// The directory of an archive that this program has written. Anything else is no archive: nothing is packed, nothing
/// is between the files, and no name leads out of the folder.
package struct ZIPDirectory {
    package struct Entry {
        package let name: String
        /// Its bytes in the archive.
        package let content: Range<Int>
    }

    package let entries: [Entry]

    private static let fileMark: [UInt8] = [0x50, 0x4B, 3, 4]
    private static let entryMark: [UInt8] = [0x50, 0x4B, 1, 2]
    private static let endMark: [UInt8] = [0x50, 0x4B, 5, 6]
    private static let (fileHead, entryHead, endHead) = (30, 46, 22)
    private static let longestName = 200

    package static func isArchive(_ file: ByteSource) -> Bool { file.read(0, fileMark.count) == fileMark }

    /// - Returns: nil if it is not as this program writes it.
    package init?(of file: ByteSource) {
        let end = file.read(file.count - Self.endHead, Self.endHead)
        guard end.count == Self.endHead, end.starts(with: Self.endMark) else { return nil }
        let (count, start) = (Self.number(end, 10, 2), Self.number(end, 16, 4))
        guard Self.number(end, 12, 4) == file.count - Self.endHead - start else { return nil }
        let directory = file.read(start, file.count - Self.endHead - start)
        var (entries, place, offset): ([Entry], Int, Int) = ([], 0, 0)
        for _ in 0..<count {
            guard let entry = Self.entry(directory, at: place), entry.start == offset,
                let content = Self.content(of: entry, in: file)
            else { return nil }
            entries.append(Entry(name: entry.name, content: content))
            offset = content.upperBound
            place += Self.entryHead + entry.name.utf8.count
        }
        guard place == directory.count, offset == start else { return nil }
        self.entries = entries
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func entry(_ directory: [UInt8], at place: Int) -> (name: String, start: Int, bytes: Int)? {
        guard directory.count - place >= entryHead, directory[place..<place + 4].elementsEqual(entryMark) else {
            return nil
        }
        func number(_ field: Int, _ count: Int) -> Int { Self.number(directory, place + field, count) }
        let length = number(28, 2)
        // Stored, without another field or a comment.
        guard number(10, 2) == 0, number(20, 4) == number(24, 4), number(30, 2) == 0, number(32, 2) == 0,
            (1...longestName).contains(length), directory.count - place - entryHead >= length
        else { return nil }
        let name = String(
            decoding: directory[place + entryHead..<place + entryHead + length], as: UTF8.self)
        guard name.utf8.count == length, BytePath(name).staysBelow else { return nil }
        return (name, number(42, 4), number(24, 4))
    }

    /// The bytes of a file, whose own head says the same.
    private static func content(of entry: (name: String, start: Int, bytes: Int), in file: ByteSource) -> Range<Int>? {
        let length = entry.name.utf8.count
        let head = file.read(entry.start, fileHead + length)
        guard head.count == fileHead + length, head.starts(with: fileMark), number(head, 6, 2) & 8 == 0,
            number(head, 8, 2) == 0, number(head, 22, 4) == entry.bytes, number(head, 26, 2) == length,
            number(head, 28, 2) == 0, head[fileHead...].elementsEqual(entry.name.utf8)
        else { return nil }
        let start = entry.start + fileHead + length
        return start + entry.bytes <= file.count ? start..<start + entry.bytes : nil
    }

    // MARK: - Writing

    /// The bytes before a file's content.
    /// - Parameter sum: CRC-32 of the content.
    package static func head(of name: String, bytes: Int, sum: UInt32) -> [UInt8] {
        fileMark + fields(name, bytes: bytes, sum: sum) + Array(name.utf8)
    }

    /// The directory, after all files.
    /// - Parameter files: in their order, with the offset of each one's head.
    package static func directory(of files: [(name: String, bytes: Int, sum: UInt32, start: Int)], at start: Int)
        -> [UInt8]
    {
        var entries: [UInt8] = []
        for file in files {
            entries += entryMark + little(20, 2) + fields(file.name, bytes: file.bytes, sum: file.sum)
            entries += little(0, 10) + little(file.start, 4) + Array(file.name.utf8)
        }
        let counts = little(0, 4) + little(files.count, 2) + little(files.count, 2)
        return entries + endMark + counts + little(entries.count, 4) + little(start, 4) + little(0, 2)
    }

    /// Version 2.0; names in UTF-8; stored; the first of January 1980, so that equal files make equal archives.
    private static func fields(_ name: String, bytes: Int, sum: UInt32) -> [UInt8] {
        let method = little(20, 2) + little(0x800, 2) + little(0, 2)
        let time = little(0, 2) + little(0x21, 2)
        let sizes = little(Int(sum), 4) + little(bytes, 4) + little(bytes, 4)
        return method + time + sizes + little(name.utf8.count, 2) + little(0, 2)
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * $0)) : 0 }
    }
}
