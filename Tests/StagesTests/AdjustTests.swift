import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct AdjustTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var exposure = 0.0
        var gamma = 1.0
        var brightness = 1.0
        var contrast = 1.0
        var saturation = 1.0
        var temperature = 6500.0
        var levels = [0.0, 255]
        var testDescription: String {
            "exposure: \(exposure), gamma: \(gamma), brightness: \(brightness), contrast: \(contrast), saturation: \(saturation), "
                + "temperature: \(temperature), levels: { black: \(levels[0]), white: \(levels[1]) }"
        }

        static let all = [
            Case(exposure: 1), Case(exposure: -2.5), Case(gamma: 2.2), Case(gamma: 0.5), Case(brightness: 1.4),
            Case(brightness: 0), Case(contrast: 1.8), Case(contrast: 0.3), Case(saturation: 0), Case(saturation: 0.5),
            Case(saturation: 2),
            Case(levels: [20, 200]), Case(levels: [0, 128.5]), Case(temperature: 3000), Case(temperature: 2000),
            Case(temperature: 10_000), Case(exposure: -1, saturation: 1.5, temperature: 5000, levels: [10, 255]),
            Case(exposure: 0.7, gamma: 1.3, brightness: 0.9, contrast: 1.2, saturation: 1.4),
        ]

        /// The formulas of IEC 61966-2-1 and of the documentation, in floating point.
        func expected(_ colours: [Double]) -> [Double] {
            let leveled = colours.map { max(0, min(1, ($0 * 255 - levels[0]) / (levels[1] - levels[0]))) }
            let lit = balanced(leveled.map(light)).map { encode(max(0, min(1, $0 * pow(2, exposure)))) }
            let toned = lit.map { value in
                var value = value
                value = pow(value, 1 / gamma) * brightness
                return max(0, min(1, 0.5 + contrast * (value - 0.5)))
            }
            guard saturation != 1, toned.count == 3 else { return toned }
            let lights = toned.map(light)
            let gray = 0.2126 * lights[0] + 0.7152 * lights[1] + 0.0722 * lights[2]
            return lights.map { encode(max(0, min(1, gray + saturation * ($0 - gray)))) }
        }

        /// Bradford's adaptation of colors to another white, step by step.
        private func balanced(_ light: [Double]) -> [Double] {
            guard light.count == 3, temperature != 6500 else { return light }
            let xyz = [
                0.4124564 * light[0] + 0.3575761 * light[1] + 0.1804375 * light[2],
                0.2126729 * light[0] + 0.7151522 * light[1] + 0.0721750 * light[2],
                0.0193339 * light[0] + 0.1191920 * light[1] + 0.9503041 * light[2],
            ]
            let (own, from, to) = (cones(xyz), cones(blackBody(temperature)), cones(blackBody(6500)))
            let seen = (0..<3).map { own[$0] * to[$0] / from[$0] }
            let adapted = [
                0.9869929 * seen[0] - 0.1470543 * seen[1] + 0.1599627 * seen[2],
                0.4323053 * seen[0] + 0.5183603 * seen[1] + 0.0492912 * seen[2],
                -0.0085287 * seen[0] + 0.0400428 * seen[1] + 0.9684867 * seen[2],
            ]
            return [
                3.2404542 * adapted[0] - 1.5371385 * adapted[1] - 0.4985314 * adapted[2],
                -0.9692660 * adapted[0] + 1.8760108 * adapted[1] + 0.0415560 * adapted[2],
                0.0556434 * adapted[0] - 0.2040259 * adapted[1] + 1.0572252 * adapted[2],
            ]
        }

        private func cones(_ xyz: [Double]) -> [Double] {
            [
                0.8951 * xyz[0] + 0.2664 * xyz[1] - 0.1614 * xyz[2],
                -0.7502 * xyz[0] + 1.7135 * xyz[1] + 0.0367 * xyz[2],
                0.0389 * xyz[0] - 0.0685 * xyz[1] + 1.0296 * xyz[2],
            ]
        }

        /// XYZ of a black body, from the published table of chromaticities (Wyszecki and Stiles), not by a formula.
        private func blackBody(_ kelvin: Double) -> [Double] {
            let table: [Double: (x: Double, y: Double)] = [
                2000: (0.52669, 0.41331), 3000: (0.43693, 0.40407), 4000: (0.38045, 0.37675), 5000: (0.34510, 0.35162),
                6500: (0.31352, 0.32363), 10_000: (0.28063, 0.28828),
            ]
            let (x, y) = table[kelvin] ?? (1, 1)
            return [x / y, 1, (1 - x - y) / y]
        }

        private func light(_ value: Double) -> Double {
            value > 0.04045 ? pow((value + 0.055) / 1.055, 2.4) : value / 12.92
        }
        private func encode(_ light: Double) -> Double {
            light > 0.0031308 ? 1.055 * pow(light, 1 / 2.4) - 0.055 : 12.92 * light
        }
    }

    @Test(arguments: Case.all, PictureKind.all)
    private func `each pixel is what the formulas say, and its alpha stays`(item: Case, kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 61, height: 47, kind: kind)
        let original = try PixelGrid(picture)
        let result = try render("adjust: { \(item.testDescription) }", picture).pixels
        let top = Double(kind.maximum)
        var worst = 0.0
        for y in 0..<47 {
            for x in 0..<61 {
                let expected = item.expected((0..<kind.colours).map { Double(original[x, y, $0]) / top })
                for band in 0..<kind.colours {
                    worst = max(worst, abs(Double(result[x, y, band]) / top - expected[band]))
                }
                if kind.hasAlpha { #expect(result[x, y, kind.colours] == original[x, y, kind.colours]) }
            }
        }
        // The table has four or five digits.
        let bound = item.temperature == 6500 ? 0.6 : 1.0
        #expect(worst <= bound / 255, "\(worst * 255) of 255")
    }

    /// Values from 50 to 200 with two of a thousand beyond, and hidden ones.
    @Test(arguments: PictureKind.all)
    func `auto levels makes the darkest thousandth black and the lightest white, of what is seen`(
        kind: PictureKind
    ) throws {
        let (width, height) = (200, 50)
        let step = kind.isDeep ? 257 : 1
        var values: [Int] = []
        for index in 0..<width * height {
            let isHidden = kind.hasAlpha && index % 7 == 3
            let value = isHidden ? 250 : index == 0 ? 3 : index == 1 ? 254 : 50 + index % 151
            values += Array(repeating: value * step, count: kind.colours)
            if kind.hasAlpha { values.append(isHidden ? 0 : 255 * step) }
        }
        let picture = try TestPicture.make(
            PixelGrid(width: width, height: height, bands: kind.bands, maximum: kind.maximum, values: values))
        let automatic = try render("adjust: { auto: levels }", picture)
        let written = try render("adjust: { levels: { black: 50, white: 200 } }", picture).pixels
        #expect(automatic.pixels == written)
        #expect(automatic.step.plan.note == "levels from 50 to 200")
    }

    @Test func `all frames of an animation get the same levels`() throws {
        let frames = [60, 120].map { value in
            (value..<value + 100).map { UInt8($0) }
        }.map { row in try? TestPicture.make(width: 100, height: 1, bands: 3) { x, _ in [row[x], row[x], row[x]] } }
        let pictures = try frames.map { Frames([try Picture(decoded: try #require($0))]).pictures[0] }
        var parameters = "renditions: { a: { stages: [ { adjust: { auto: levels } } ], save: { format: webp } } }"
        parameters += "\n"
        let file = try PipelineFile(text: parameters, file: "a.yaml", catalogue: .all)
        let planner = Planner(pipeline: file, assets: [:], limits: Limits())
        let facts = SourceFacts(format: .webp, size: PixelSize(100, 1), frames: 2)
        let plan = try planner.plan(facts, pixelsPerPoint: 1)
        let step = try #require(planner.firstUnmeasured(in: plan, [:])?.step)
        let found = try step.measure(Frames(pictures), in: RenderContext(assets: TestAssets()))
        #expect(found == .levels(black: 60 / 255, white: 219 / 255))
    }

    @Test func `the lightness of gray hardly changes with the temperature, and 6500 changes nothing`() throws {
        let picture = try TestPicture.solid([128, 128, 128], width: 2, height: 2)
        let cold = try render("adjust: { temperature: 4000 }", picture).pixels
        #expect(cold[0, 0, 0] < 128 && cold[0, 0, 2] > 128)
        let warm = try render("adjust: { temperature: 9000 }", picture).pixels
        #expect(warm[0, 0, 0] > 128 && warm[0, 0, 2] < 128)
        for result in [cold, warm] {
            let gray = try render("grayscale", TestPicture.make(result)).pixels
            #expect(abs(gray[0, 0, 0] - 128) <= 3, "\(gray[0, 0, 0])")
        }
    }

    @Test(arguments: [
        "exposure: 0", "temperature: 6500", "levels: { black: 0 }",
        "gamma: 1, brightness: 1, contrast: 1, saturation: 1",
    ])
    func `what changes nothing gives the very same picture`(parameters: String) throws {
        let picture = try TestPicture.coded(width: 9, height: 7)
        #expect(try render("adjust: { \(parameters) }", picture).pixels == PixelGrid(picture))
    }
}
