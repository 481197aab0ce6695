// File names are bytes on Linux: any but NUL and the slash. They are never taken for text, except to show them.

/// A relative or absolute path as the bytes that the system uses.
package struct BytePath: Hashable, Sendable, Codable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The path as text; what is not UTF-8 is shown as U+FFFD.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Percent-encoded bytes if the path is not UTF-8; nil if `text` says it all.
    package var percentEncodedIfNotText: String? {
        guard Array(text.utf8) != bytes else { return nil }
        return bytes.map { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
                ? String(UnicodeScalar(byte)) : escaped(byte)
        }.joined()
    }

    /// The absolute path as a URI, escaped as GLib does it, so that programs which compare them as texts find them
    /// equal.
    package var fileURI: String {
        let plain = Set("-_.!~*'()/&=:@+$,".utf8)
        return bytes.reduce(into: "file://") { uri, byte in
            let isLetter = (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
            uri += isLetter || plain.contains(byte) ? String(UnicodeScalar(byte)) : escaped(byte)
        }
    }

    /// The path for a terminal or a log: control characters are escaped, so that a name cannot fake a line.
    package var printable: String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isControl =
                scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
            result += isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return result
    }

    package func appending(_ component: BytePath) -> BytePath {
        if bytes.isEmpty { return component }
        if component.bytes.isEmpty { return self }
        return BytePath(bytes + (bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + component.bytes)
    }

    /// `photos` for `photos/`; the root stays the root.
    package var withoutTrailingSlashes: BytePath {
        let kept = bytes.reversed().drop { $0 == UInt8(ascii: "/") }.reversed()
        return kept.isEmpty ? self : BytePath(Array(kept))
    }

    package var lastComponent: BytePath {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return BytePath(Array(bytes[(slash + 1)...]))
    }

    /// All but the last component; empty if there is only one.
    package var directory: BytePath {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return BytePath([]) }
        return BytePath(Array(bytes[..<max(slash, slash == 0 ? 1 : 0)]))
    }
}

private func escaped(_ byte: UInt8) -> String {
    "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
}

/// The facts from a source's name.
package struct SourceName: Hashable, Sendable {
    /// The path from the source root.
    package let path: BytePath
    /// The name without directory, extension and `@Nx`.
    package let stem: [UInt8]
    /// Pixels in one point: the N of `@Nx`, 1 without.
    package let pixelsPerPoint: Int
    /// In lower case, without the dot; empty if there is none.
    package let fileExtension: String

    package init(_ path: BytePath) {
        self.path = path
        let name = path.lastComponent.bytes
        var stem = name
        // A leading dot makes a hidden file, not an extension.
        if let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, Self.isExtension(name[(dot + 1)...]) {
            stem = Array(name[..<dot])
            fileExtension = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
        } else {
            fileExtension = ""
        }
        // `@2x` to `@9x`, after at least one other character.
        if stem.count > 3, stem[stem.count - 3] == UInt8(ascii: "@"), stem[stem.count - 1] == UInt8(ascii: "x"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(stem[stem.count - 2])
        {
            pixelsPerPoint = Int(stem[stem.count - 2] - UInt8(ascii: "0"))
            stem.removeLast(3)
        } else {
            pixelsPerPoint = 1
        }
        self.stem = stem
    }

    /// The numbers of archives have dots too, as `II.HA 12.1`: what has a space or nothing but digits belongs to the name.
    private static func isExtension(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.isEmpty
            || !bytes.contains(UInt8(ascii: " "))
                && !bytes.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The name of a folder, which stands for the pictures in it: a dot or an `@` in it means nothing.
    package init(folder path: BytePath) {
        self.path = path
        stem = path.lastComponent.bytes
        pixelsPerPoint = 1
        fileExtension = ""
    }
}
