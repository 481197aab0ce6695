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

    @Test(arguments: ["", "abc", "10px", "%", "50 %", "50%%", "0x10", ".inf", "nan", "1-2", "1,5", "١٢"])
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
    }

    @Test
    func `a length says what is written`() {
        #expect(Length.points(12).written == "12")
        #expect(Length.points(-0.5).written == "-0.5")
        #expect(Length.percent(12.5).written == "12.5%")
        #expect(PositiveLength(.percent(50)).written == "50%")
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
    func `an extent is never below one pixel`() {
        #expect(PositiveLength(.points(0.2)).pixels(of: 100, scale: 1) == 1)
        #expect(PositiveLength(.percent(0.1)).pixels(of: 100, scale: 3) == 1)
        #expect(PositiveLength(.points(0.5)).pixels(of: 100, scale: 3) == 2)
    }

    @Test
    func `a radius need not be whole`() {
        #expect(Length.points(2.5).exactPixels(of: 100, scale: 3) == 7.5)
        #expect(Length.percent(2.5).exactPixels(of: 100, scale: 3) == 2.5)
    }
}
