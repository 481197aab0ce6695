// The table of a .cube file, which says what each color is changed to. The format is Adobe's "Cube LUT Specification
// 1.0", with the input ranges that DaVinci Resolve writes.

/// A table of colors: a curve for each of red, green and blue, or a cube that has a color for each color.
package struct ColorTable: Sendable {
    /// Entries along a side.
    package let size: Int
    package let isCube: Bool
    /// Red, green and blue of each entry; in a cube red changes fastest, then green.
    package let values: [Float]
    /// The colors, 0…1 each, of the first entry and of the last one.
    package let low, high: [Double]

    /// Bytes of a file beyond which it is refused unread. The largest cube that is read has fewer.
    package static let mostBytes = 80 << 20
    /// Entries along a side: of a cube as much as other programs read, of a curve as in the specification.
    private static let mostInCube = 129
    private static let mostInCurve = 65_536
    /// The largest cube, and as many comments as anybody writes.
    private static let mostLines = 2_200_000
    /// Bytes; four times what the specification allows.
    private static let longestLine = 1000
    /// Values beyond are no colors, and differences of such would overflow.
    private static let mostValue: Float = 65_504

    /// Reads a .cube file, with or without the byte order mark that editors of Windows write before UTF-8.
    /// - Throws: what is wrong, with its line.
    package init(cube bytes: [UInt8]) throws(ColorTableError) {
        var reading = Reading()
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var (number, rest) = (0, bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...])
        while !rest.isEmpty {
            number += 1
            guard number <= Self.mostLines else {
                throw ColorTableError(message: "it has more than \(Self.mostLines) lines")
            }
            let line = rest.prefix(Self.longestLine + 1).prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            do throws(ColorTableError) {
                try reading.read(line)
            } catch {
                throw ColorTableError(message: "line \(number): \(error.message)")
            }
        }
        guard let size = reading.size else {
            throw ColorTableError(message: "it has neither LUT_3D_SIZE nor LUT_1D_SIZE, so it is no .cube file")
        }
        guard reading.values.count == reading.expected else {
            throw ColorTableError(
                message: "expected \(reading.expected / 3) lines of three numbers, found \(reading.values.count / 3)")
        }
        guard zip(reading.low, reading.high).allSatisfy({ $0 < $1 }) else {
            throw ColorTableError(message: "DOMAIN_MIN has to be less than DOMAIN_MAX")
        }
        (self.size, isCube, values) = (size, reading.isCube, reading.values)
        (low, high) = (reading.low, reading.high)
    }

    /// The table as plans count it: a picture with a pixel for each entry.
    /// - Parameter bytes: of its file, all of which is read at once.
    package func facts(reading bytes: Int) -> AssetFacts {
        let size = PixelSize(isCube ? size * size : size, isCube ? size : 1)
        return AssetFacts(
            size: size, pixelsPerPoint: 1, isGrey: false, depth: .float, decoding: bytes + 16 * size.area)
    }

    /// The findings in the lines so far.
    private struct Reading {
        var size: Int?
        var isCube = false
        var values: [Float] = []
        var low = [0.0, 0, 0]
        var high = [1.0, 1, 1]
        /// Numbers that the table has to have.
        var expected: Int { size.map { isCube ? 3 * $0 * $0 * $0 : 3 * $0 } ?? 0 }

        mutating func read(_ line: ArraySlice<UInt8>) throws(ColorTableError) {
            guard line.count <= ColorTable.longestLine else {
                throw ColorTableError(message: "it is longer than \(ColorTable.longestLine) bytes")
            }
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            guard let first = words.first, let initial = first.first else { return }
            if initial == UInt8(ascii: "-") || initial == UInt8(ascii: "+") || initial == UInt8(ascii: ".")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(initial)
            {
                return try add(words, line)
            }
            guard values.isEmpty else { throw Self.expected("three numbers", line) }
            switch String(decoding: first.prefix(40), as: UTF8.self) {
            case "TITLE": break
            case "LUT_3D_SIZE": try setSize(words, line, isCube: true, most: ColorTable.mostInCube)
            case "LUT_1D_SIZE": try setSize(words, line, isCube: false, most: ColorTable.mostInCurve)
            case "DOMAIN_MIN": low = try Self.numbers(words.dropFirst(), 3, line)
            case "DOMAIN_MAX": high = try Self.numbers(words.dropFirst(), 3, line)
            case "LUT_3D_INPUT_RANGE", "LUT_1D_INPUT_RANGE":
                let range = try Self.numbers(words.dropFirst(), 2, line)
                (low, high) = (Array(repeating: range[0], count: 3), Array(repeating: range[1], count: 3))
            default: throw Self.expected("a keyword of a .cube file or three numbers", line)
            }
        }

        private mutating func setSize(
            _ words: [ArraySlice<UInt8>], _ line: ArraySlice<UInt8>, isCube: Bool, most: Int
        ) throws(ColorTableError) {
            guard size == nil else {
                throw ColorTableError(message: "a second size; a file with a curve and a cube is not supported")
            }
            guard words.count == 2, let found = Int(String(decoding: words[1].prefix(20), as: UTF8.self)),
                (2...most).contains(found)
            else { throw Self.expected("a size from 2 to \(most)", line) }
            (size, self.isCube) = (found, isCube)
            values.reserveCapacity(expected)
        }

        private mutating func add(
            _ words: [ArraySlice<UInt8>], _ line: ArraySlice<UInt8>
        ) throws(ColorTableError) {
            guard size != nil else {
                throw ColorTableError(message: "numbers before LUT_3D_SIZE or LUT_1D_SIZE")
            }
            guard values.count < expected else {
                throw ColorTableError(
                    message: "more than the \(expected / 3) lines of three numbers that its size says")
            }
            for number in try Self.numbers(words[...], 3, line) {
                guard abs(number) <= Double(ColorTable.mostValue) else { throw Self.expected("three colors", line) }
                values.append(Float(number))
            }
        }

        private static func numbers(
            _ words: ArraySlice<ArraySlice<UInt8>>, _ count: Int, _ line: ArraySlice<UInt8>
        ) throws(ColorTableError) -> [Double] {
            let numbers = words.compactMap(number)
            guard words.count == count, numbers.count == count else {
                throw expected(count == 3 ? "three numbers" : "two numbers", line)
            }
            return numbers
        }

        /// As `finiteNumber`, but quickly: a table has a hundred thousand of them and more.
        private static func number(_ word: ArraySlice<UInt8>) -> Double? {
            guard word.count <= 40, word.allSatisfy({ digits.contains($0) }),
                let value = Double(String(decoding: word, as: UTF8.self)), value.isFinite
            else { return nil }
            return value
        }

        private static let digits = Array("0123456789.+-eE".utf8)

        private static func expected(_ what: String, _ line: ArraySlice<UInt8>) -> ColorTableError {
            let printable = line.prefix(40).filter { $0 != 0x0D }.map {
                (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?")
            }
            return ColorTableError(message: "expected \(what), found '\(String(decoding: printable, as: UTF8.self))'")
        }
    }
}

/// The mistake in a .cube file.
package struct ColorTableError: Error, Equatable {
    package let message: String
}
