// Words for a shell: a command in a document must be safe to paste, whatever a file is called.
package import Pipeline

/// A word as a shell reads it back, byte for byte.
///
/// If quotes are not enough (control characters, bytes that are no text), it is written as `$'…'`, which bash, zsh and
/// ksh read.
package func shellQuoted(_ word: BytePath) -> String {
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:,@%=".utf8)
    if !word.bytes.isEmpty, word.bytes.allSatisfy(plain.contains) { return word.text }
    let isText = word.percentEncodedIfNotText == nil && word.printable == word.text
    guard !isText else {
        return "'" + word.text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
    return "$'" + word.bytes.map(escaped).joined() + "'"
}

private func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\\"): return "\\" + String(UnicodeScalar(byte))
    case 0x20...0x7E: return String(UnicodeScalar(byte))
    default:
        // Always three digits: what follows may be one.
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
