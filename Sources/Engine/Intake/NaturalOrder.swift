// Natural order of paths: 2.png comes before 10.png.
package import Pipeline

extension BytePath {
    /// Whether this path comes before another in natural order: runs of digits are compared as numbers, and a folder's
    /// files come before those of its sub-folders.
    package func precedes(_ other: BytePath) -> Bool {
        var left = bytes[...]
        var right = other.bytes[...]
        while let a = left.first, let b = right.first {
            if isDigit(a) && isDigit(b) {
                let (order, restLeft, restRight) = compareNumbers(left, right)
                if order != 0 { return order < 0 }
                (left, right) = (restLeft, restRight)
            } else if a != b {
                // The slash ends a name, so it comes before any byte that could continue the name.
                return weight(a) < weight(b)
            } else {
                left = left.dropFirst()
                right = right.dropFirst()
            }
        }
        // Equal except for leading zeros: any fixed order will do.
        return left.isEmpty && right.isEmpty ? bytes.lexicographicallyPrecedes(other.bytes) : left.isEmpty
    }
}

private func weight(_ byte: UInt8) -> Int { byte == UInt8(ascii: "/") ? -1 : Int(byte) }

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

private typealias Bytes = ArraySlice<UInt8>

/// Compares the numbers at the beginning of both; below 0 if the left one is smaller.
private func compareNumbers(_ left: Bytes, _ right: Bytes) -> (order: Int, Bytes, Bytes) {
    let a = left.prefix(while: isDigit).drop { $0 == UInt8(ascii: "0") }
    let b = right.prefix(while: isDigit).drop { $0 == UInt8(ascii: "0") }
    let restLeft = left.drop(while: isDigit)
    let restRight = right.drop(while: isDigit)
    if a.count != b.count { return (a.count - b.count, restLeft, restRight) }
    return (a.elementsEqual(b) ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1, restLeft, restRight)
}
