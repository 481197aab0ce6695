import Testing

@testable import Pipeline

@Suite
struct ColorTableTests {
    private static let cube = "LUT_3D_SIZE 2\n" + String(repeating: "0 0.5 1\n", count: 8)

    @Test func `comments, titles, spaces and line ends of all kinds are read`() throws {
        let text =
            "# a look\r\nTITLE \"x # y\"\r\n\r\nLUT_3D_SIZE  2 # small\r\nDOMAIN_MIN 0 -1 0\r\nDOMAIN_MAX 1\t2 3\r\n"
            + String(repeating: "  +0 5e-1\t1.25 # white\r\n", count: 8)
        let table = try ColorTable(cube: Array(text.utf8))
        #expect(table.isCube && table.size == 2)
        #expect(table.values == (0..<8).flatMap { _ in [Float(0), 0.5, 1.25] })
        #expect(table.low == [0, -1, 0] && table.high == [1, 2, 3])
        #expect(table.facts(reading: 0).size == PixelSize(4, 2))
    }

    @Test func `a byte order mark before the text is passed over`() throws {
        let marked = try ColorTable(cube: [0xEF, 0xBB, 0xBF] + Array(Self.cube.utf8))
        #expect(try marked.values == ColorTable(cube: Array(Self.cube.utf8)).values)
        #expect(throws: ColorTableError.self) {
            try ColorTable(cube: [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + Array(Self.cube.utf8))
        }
    }

    @Test(arguments: [
        ("", "it has neither LUT_3D_SIZE nor LUT_1D_SIZE, so it is no .cube file"),
        ("\u{89}PNG\r\n\u{1A}", "line 1: expected a keyword of a .cube file or three numbers, found '??PNG'"),
        ("LUT_3D_SIZE 1\n", "line 1: expected a size from 2 to 129, found 'LUT_3D_SIZE 1'"),
        (
            "LUT_3D_SIZE 99999999999999999999",
            "line 1: expected a size from 2 to 129, found 'LUT_3D_SIZE 99999999999999999999'"
        ),
        ("LUT_3D_SIZE 2000", "line 1: expected a size from 2 to 129, found 'LUT_3D_SIZE 2000'"),
        ("LUT_1D_SIZE 70000", "line 1: expected a size from 2 to 65536, found 'LUT_1D_SIZE 70000'"),
        ("LUT_3D_SIZE 2\nLUT_1D_SIZE 4", "line 2: a second size; a file with a curve and a cube is not supported"),
        ("0 0 0\n", "line 1: numbers before LUT_3D_SIZE or LUT_1D_SIZE"),
        ("LUT_3D_SIZE 2\n0 0 0\n", "expected 8 lines of three numbers, found 1"),
        ("LUT_3D_SIZE 2\n0 0\n", "line 2: expected three numbers, found '0 0'"),
        ("LUT_3D_SIZE 2\nnan 0 0\n", "line 2: expected a keyword of a .cube file or three numbers, found 'nan 0 0'"),
        ("LUT_3D_SIZE 2\n0 nan 0\n", "line 2: expected three numbers, found '0 nan 0'"),
        ("LUT_3D_SIZE 2\n0 inf 0\n", "line 2: expected three numbers, found '0 inf 0'"),
        ("LUT_3D_SIZE 2\n0 1e999 0\n", "line 2: expected three numbers, found '0 1e999 0'"),
        ("LUT_3D_SIZE 2\n0 1e30 0\n", "line 2: expected three colors, found '0 1e30 0'"),
        ("LUT_3D_SIZE 2\nDOMAIN_MIN 0 0\n", "line 2: expected three numbers, found 'DOMAIN_MIN 0 0'"),
        (cube + "0 0 0\n", "line 10: more than the 8 lines of three numbers that its size says"),
        (cube + "TITLE \"late\"\n", "line 10: expected three numbers, found 'TITLE \"late\"'"),
        ("DOMAIN_MAX 0 1 1\n" + cube, "DOMAIN_MIN has to be less than DOMAIN_MAX"),
        (String(repeating: " ", count: 2000), "line 1: it is longer than 1000 bytes"),
    ])
    func `a mistake has its line`(text: String, message: String) {
        #expect(throws: ColorTableError(message: message)) { try ColorTable(cube: Array(text.utf8)) }
    }
}
