// An event of inotify, parsed from the kernel's bytes.
import Glibc

/// One event of inotify(7).
struct InotifyEvent: Equatable {
    let watch: Int32
    let mask: UInt32
    /// Empty if the event is about the watched folder itself.
    let name: [UInt8]

    func has(_ flag: Int) -> Bool { mask & UInt32(truncatingIfNeeded: flag) != 0 }
    var isFolder: Bool { has(Int(IN_ISDIR)) }

    /// All events in a buffer, without an incomplete one at its end.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var offset = 0
        // Watch, mask, cookie and the length of the name have four bytes each; the name is padded with zeros.
        while bytes.count - offset >= 16 {
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
            guard bytes.count - offset - 16 >= length else { break }
            let name = bytes[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                    mask: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self), name: Array(name)))
            offset += 16 + length
        }
        return events
    }
}
