import Testing

@testable import Pipeline

struct LengthTests {
    @Test(
        arguments: [
            ("120", .points(120)), ("0.5", .points(0.5)), ("-8", .points(-8)), ("+8", .points(8)), ("0", .points(0)),
            ("1e2", .points(100)),
            ("50%", .percent(50)), ("12.5%", .percent(12.5)), ("-2%", .percent(-2)), ("0%", .percent(0)),
        ] as [(String, Length)])
    func `a bare number is points and a number with a percent sign a percentage`(text: String, length: Length) {
        let (value, log) = read(Length.self, text)
        #expect(value == length)
        #expect(log.problems.isEmpty)
        #expect(read(Length.self, text, quoted: true).value == length)
    }

    @Test(
        arguments: [
            ("100% - 64", .sum(percent: 100, points: -64)), ("100%-64", .sum(percent: 100, points: -64)),
            ("50% + 8.5", .sum(percent: 50, points: 8.5)), ("8 + 50%", .sum(percent: 50, points: 8)),
            ("-8-50%", .sum(percent: -50, points: -8)), ("1e1% - 1e-1", .sum(percent: 10, points: -0.1)),
        ] as [(String, Length)])
    func `a percentage and points add up`(text: String, length: Length) {
        let (value, log) = read(Length.self, text)
        #expect(value == length)
        #expect(log.problems.isEmpty)
        #expect(value.flatMap { read(Length.self, $0.written).value } == length)
    }

    @Test func `a sum is worked out before it is rounded, and its points are multiplied by the scale`() {
        let length = Length.sum(percent: 50, points: -3.25)
        #expect(length.exactPixels(of: 101, scale: 1) == 47.25)
        #expect(length.pixels(of: 101, scale: 1) == 47)
        #expect(length.pixels(of: 101, scale: 2) == 44)
    }

    @Test func `a sum that is too small for a picture fails, with what was computed`() throws {
        let short = Length.sum(percent: 100, points: -64)
        #expect(try PositiveLength(short).pixels(of: 65, scale: 1, "width", in: "crop") == 1)
        #expect(try Distance(short).pixels(of: 64, scale: 1, "padding", in: "text") == 0)
        #expect(try PositiveLength(.sum(percent: 50, points: -0.25)).pixels(of: 1, scale: 1, "width", in: "crop") == 1)
        func message(_ work: () throws -> Int) -> String? {
            let failure = #expect(throws: PlanFailure.self) { try work() }
            #expect(failure?.failure.code == .emptyResult)
            return failure?.failure.message
        }
        #expect(
            message { try PositiveLength(short).pixels(of: 50, scale: 1, "width", in: "crop") }
                == "'width': 100% - 64 of 50 pixels is -14; expected more than 0")
        #expect(
            message { try PositiveLength(short).pixels(of: 64, scale: 1, "width", in: "crop") }
                == "'width': 100% - 64 of 64 pixels is 0; expected more than 0")
        #expect(
            message { try Distance(short).pixels(of: 101, scale: 2, "padding", in: "text") }
                == "'padding': 100% - 64 of 101 pixels, with 2 pixels in a point, is -27; expected 0 or more")
    }

    @Test(arguments: [("100% - 64", true), ("-100% + 64", true), ("-100% - 64", false), ("0% - 1", false)])
    func `a size and a distance may be a sum that can be above zero`(text: String, isSize: Bool) {
        #expect((read(PositiveLength.self, text).value != nil) == isSize)
        #expect((read(Distance.self, text).value != nil) == isSize)
    }

    @Test(arguments: [
        "", "abc", "1% + 2%", "1 - 2", "100% - 64 - 2", "100% 64", "100% -", "+ 5%", "5% + + 4", "5 % + 4", "10px", "%",
        "50 %", "50%%", "0x10", ".inf", "nan", "1-2", "1,5", "١٢",
    ])
    func `anything else is no length`(text: String) {
        #expect(read(Length.self, text).value == nil)
    }

    @Test
    func `a length beyond any picture is refused with these words`() {
        let (value, log) = read(Length.self, "10000001")
        #expect(value == nil)
        #expect(log.problems.map(\.message) == ["the length '10000001' is larger than any picture"])
        #expect(read(Length.self, "10000000").value == .points(10_000_000))
    }

    @Test(arguments: [("0", false), ("0%", false), ("-1", false), ("-5%", false), ("0.1", true), ("1%", true)])
    func `an extent is a length above zero`(text: String, isExtent: Bool) {
        #expect((read(PositiveLength.self, text).value != nil) == isExtent)
        #expect((read(Distance.self, text).value != nil) == (isExtent || text.hasPrefix("0")))
    }

    @Test
    func `a length says what is written`() {
        #expect(Length.points(12).written == "12")
        #expect(Length.points(-0.5).written == "-0.5")
        #expect(Length.percent(12.5).written == "12.5%")
        #expect(PositiveLength(.percent(50)).written == "50%")
        #expect(Length.sum(percent: 100, points: -64).written == "100% - 64")
        #expect(Length.sum(percent: 50, points: 0.5).written == "50% + 0.5")
    }

    @Test(arguments: 1...9)
    func `points are multiplied by the scale and rounded half away from zero, as decimal arithmetic says`(scale: Int) {
        let wrong = (-1200...1200).filter { tenths in
            Length.points(Double(tenths) / 10).pixels(of: 77, scale: Double(scale))
                != Rational(tenths * scale, 10).rounded
        }
        #expect(wrong.isEmpty, "tenths of a point")
    }

    @Test(arguments: [1, 2, 3, 7, 50, 99, 100, 333, 1000, 1001, 6000, 65_535])
    func `percentages are of the side and know no scale, as decimal arithmetic says`(side: Int) {
        for scale in [1.0, 3] {
            let wrong = (-2000...2000).filter { tenths in
                Length.percent(Double(tenths) / 10).pixels(of: side, scale: scale)
                    != Rational(side * tenths, 1000).rounded
            }
            #expect(wrong.isEmpty, "tenths of a percent")
        }
    }

    @Test
    func `an extent is never below one pixel`() throws {
        func pixels(_ length: Length, of side: Int, scale: Double) throws -> Int {
            try PositiveLength(length).pixels(of: side, scale: scale, "width", in: "crop")
        }
        #expect(try pixels(.points(0.2), of: 100, scale: 1) == 1)
        #expect(try pixels(.percent(0.1), of: 100, scale: 3) == 1)
        #expect(try pixels(.points(0.5), of: 100, scale: 3) == 2)
    }

    @Test
    func `a radius need not be whole`() {
        #expect(Length.points(2.5).exactPixels(of: 100, scale: 3) == 7.5)
        #expect(Length.percent(2.5).exactPixels(of: 100, scale: 3) == 2.5)
    }
}
