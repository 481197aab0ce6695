// The arithmetic of colors in floating point, by its sources and not by the program.
import Foundation

package enum ReferenceColor {
    /// Light in sRGB's primaries. By CSS Color 4, as fractions.
    package static func standard(_ light: [Double], from primaries: [[Double]]) -> [Double] {
        let toStandard: [[Double]] = [
            [12831.0 / 3959, -329.0 / 214, -1974.0 / 3959],
            [-851781.0 / 878810, 1648619.0 / 878810, 36519.0 / 878810],
            [705.0 / 12673, -2585.0 / 12673, 705.0 / 667],
        ]
        func times(_ rows: [[Double]], _ color: [Double]) -> [Double] {
            rows.map { row in row[0] * color[0] + row[1] * color[1] + row[2] * color[2] }
        }
        return times(toStandard, times(primaries, light))
    }

    package static let p3: [[Double]] = [
        [608311.0 / 1_250_200, 189793.0 / 714400, 198249.0 / 1_000_160],
        [35783.0 / 156275, 247089.0 / 357200, 198249.0 / 2_500_400], [0, 32229.0 / 714400, 5_220_557.0 / 5_000_800],
    ]
    package static let bt2020: [[Double]] = [
        [63426534.0 / 99577255, 20160776.0 / 139408157, 47086771.0 / 278816314],
        [26158966.0 / 99577255, 472592308.0 / 697040785, 8267143.0 / 139408157],
        [0, 19567812.0 / 697040785, 295819943.0 / 278816314],
    ]

    package static func encoded(_ light: Double) -> Double {
        let clipped = min(max(light, 0), 1)
        return clipped <= 0.0031308 ? clipped * 12.92 : 1.055 * pow(clipped, 1 / 2.4) - 0.055
    }

    package static func decoded(_ number: Double) -> Double {
        number <= 0.04045 ? number / 12.92 : pow((number + 0.055) / 1.055, 2.4)
    }

    /// BT.2390 §5.4 in its own terms, from a peak of 1000 to 203 cd/m², on the largest of three lights.
    package static func toneMapped(_ light: [Double], peak: Double) -> [Double] {
        func number(_ light: Double) -> Double {
            let y = pow(light / 10_000, 2610.0 / 16384)
            let part = (3424.0 / 4096 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y)
            return pow(part, 2523.0 / 32)
        }
        let most = light.max() ?? 0
        guard most > 0 else { return light }
        let e1 = number(min(most, peak)) / number(peak)
        let maxLum = number(203) / number(peak)
        let ks = 1.5 * maxLum - 0.5
        let t = (e1 - ks) / (1 - ks)
        let (t2, t3) = (t * t, t * t * t)
        var p = (2 * t3 - 3 * t2 + 1) * ks
        p += (t3 - 2 * t2 + t) * (1 - ks)
        p += (3 * t2 - 2 * t3) * maxLum
        let e2 = e1 < ks ? e1 : p
        let result = decodedPQ(e2 * number(peak))
        return light.map { $0 / most * result / 203 }
    }

    package static func decodedPQ(_ number: Double) -> Double {
        let y = pow(number, 32.0 / 2523)
        let part = Swift.max(y - 3424.0 / 4096, 0) / (2413.0 / 128 - 2392.0 / 128 * y)
        return 10_000 * pow(part, 16384.0 / 2610)
    }

    package static func decodedHLG(_ number: Double) -> Double {
        let a = 0.17883277, b = 1 - 4 * 0.17883277
        let c = 0.5 - a * log(4 * a)
        return number <= 0.5 ? number * number / 3 : (Foundation.exp((number - c) / a) + b) / 12
    }
}
