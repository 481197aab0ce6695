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
        var testDescription: String {
            "exposure: \(exposure), gamma: \(gamma), brightness: \(brightness), contrast: \(contrast), saturation: \(saturation)"
        }

        static let all = [
            Case(exposure: 1), Case(exposure: -2.5), Case(gamma: 2.2), Case(gamma: 0.5), Case(brightness: 1.4),
            Case(brightness: 0), Case(contrast: 1.8), Case(contrast: 0.3), Case(saturation: 0), Case(saturation: 0.5),
            Case(saturation: 2),
            Case(exposure: 0.7, gamma: 1.3, brightness: 0.9, contrast: 1.2, saturation: 1.4),
        ]

        /// The formulas of IEC 61966-2-1 and of the documentation, in floating point.
        func expected(_ colours: [Double]) -> [Double] {
            let toned = colours.map { value in
                var value = exposure == 0 ? value : encode(min(1, light(value) * pow(2, exposure)))
                value = pow(value, 1 / gamma) * brightness
                return max(0, min(1, 0.5 + contrast * (value - 0.5)))
            }
            guard saturation != 1, toned.count == 3 else { return toned }
            let lights = toned.map(light)
            let gray = 0.2126 * lights[0] + 0.7152 * lights[1] + 0.0722 * lights[2]
            return lights.map { encode(max(0, min(1, gray + saturation * ($0 - gray)))) }
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
        #expect(worst <= 0.6 / 255, "\(worst * 255) of 255")
    }

    @Test(arguments: ["exposure: 0", "gamma: 1, brightness: 1, contrast: 1, saturation: 1"])
    func `what changes nothing gives the very same picture`(parameters: String) throws {
        let picture = try TestPicture.coded(width: 9, height: 7)
        #expect(try render("adjust: { \(parameters) }", picture).pixels == PixelGrid(picture))
    }
}
