import Testing

@testable import Pipeline

struct PixelSizeTests {
    @Test(
        arguments: [
            (0.5, 1), (1.5, 2), (2.5, 3), (-0.5, -1), (-1.5, -2), (0.49, 0), (-0.49, 0), (1e300, 10_000_000),
            (-1e300, -10_000_000),
        ])
    func `numbers are rounded half away from zero and held to what a picture can be`(value: Double, whole: Int) {
        #expect(rounded(value) == whole)
    }

    @Test
    func `a side is rounded exactly where floating point would not`() {
        for value in [1, 7, 499, 6001, 9_999_999] {
            for (numerator, denominator) in [(1, 2), (1, 3), (2, 3), (999, 1000), (9_999_999, 10_000_000), (5, 1)] {
                #expect(
                    scaledSide(value, times: numerator, over: denominator)
                        == max(1, (value * Rational(numerator, denominator)).rounded))
            }
        }
    }

    @Test
    func `a side that no number can hold becomes the largest`() {
        #expect(scaledSide(.max, times: 2, over: 1) == maximumCoordinate)
    }

    @Test
    func `no side of a size is below one`() {
        #expect(PixelSize(0, -5) == PixelSize(1, 1))
    }

    @Test
    func `an area beyond all numbers is the largest number`() {
        #expect(PixelSize(.max, 2).area == .max)
        #expect(PixelSize(3, 2).area == 6)
    }

    @Test
    func `sizes, places and boxes are shown as people write them`() {
        let box = PixelBox(PixelOffset(-3, 4), PixelSize(30, 20))
        #expect(box.description == "30×20 at (-3, 4)")
        #expect(box.size.transposed == PixelSize(20, 30))
    }

    @Test(arguments: [
        (1, 1, "100×67"), (2, 1, "200×134"), (3, 1, "300×201"), (1, 2, "50×34"), (3, 2, "150×101"), (1, 3, "33×22"),
        (3, 3, "100×67"),
    ])
    func `the natural size is the pixels by the points of the name, times the scale`(
        scale: Double, pixelsPerPoint: Double, size: String
    ) {
        let picture = PictureInfo(size: PixelSize(100, 67), pixelsPerPoint: pixelsPerPoint)
        #expect(picture.naturalSize(scale: scale).description == size)
    }
}
