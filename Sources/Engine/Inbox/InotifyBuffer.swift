// The kernel's events as bytes, and what they say. Pure: the bytes come from elsewhere.
import Glibc

/// One event of inotify(7).
struct InotifyEvent: Equatable {
    let watch: Int32
    let mask: UInt32
    /// Empty where the event is about the watched folder itself.
    let name: [UInt8]

    func has(_ flag: Int) -> Bool { mask & UInt32(truncatingIfNeeded: flag) != 0 }
    var isFolder: Bool { has(Int(IN_ISDIR)) }

    /// All events of a buffer; an incomplete one at its end is left out.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var place = 0
        // Watch, mask, cookie and the length of the name, four bytes each; the name is filled up with zeros.
        while bytes.count - place >= 16 {
            let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
            guard bytes.count - place - 16 >= length else { break }
            let name = bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    watch: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self),
                    mask: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self), name: Array(name)))
            place += 16 + length
        }
        return events
    }
}
