import CVips
import Kernels
import TestSupport
import Testing

@testable import Vips

@Suite(.quietVips)
struct NicknameTests {
    /// An enum of ours, and libvips' type whose nicknames it has.
    struct Words: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let words: [String]
        let type: GType

        init<Word: RawRepresentable<String> & CaseIterable>(_ word: Word.Type, _ type: GType) {
            testDescription = "\(word)"
            words = word.allCases.map(\.rawValue)
            self.type = type
        }
    }

    @Test(arguments: [
        Words(Interpretation.self, vips_interpretation_get_type()), Words(Direction.self, vips_direction_get_type()),
        Words(Angle.self, vips_angle_get_type()),
        Words(Interesting.self, vips_interesting_get_type()), Words(CompositeMode.self, vips_blend_mode_get_type()),
        Words(RenderingIntent.self, vips_intent_get_type()), Words(ScalingKernel.self, vips_kernel_get_type()),
    ])
    func `libvips knows every word of an enum`(enum: Words) {
        let known = Operation.nicknames(of: `enum`.type)
        #expect(!known.isEmpty && `enum`.words.filter { !known.contains($0) } == [], "libvips knows \(known)")
    }

    @Test func `libvips knows every band format but the one for all others`() {
        let known = Operation.nicknames(of: vips_band_format_get_type())
        #expect(
            BandFormat.allCases.map(\.rawValue).filter { !known.contains($0) } == ["other"], "libvips knows \(known)")
    }

    @Test func `a value of libvips is the case of its nickname, and one without a nickname is an error`() {
        let values = [
            VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_HSV,
        ]
        #expect(values.map(Interpretation.init) == [.bw, .srgb, .labq, .hsv])
        #expect(
            Interpretation(VIPS_INTERPRETATION_ERROR) == .error
                && Interpretation(VipsInterpretation(rawValue: 1000)) == .error)
    }

    @Test(arguments: BuiltInProfile.allCases)
    func `libvips brings every built-in profile along`(profile: BuiltInProfile) throws {
        let converted = try TestPicture.solid([200, 100, 50], width: 2, height: 2).iccTransform(
            to: profile, input: .srgb)
        #expect(converted.blob("icc-profile-data") != nil)
        #expect(try converted.pixels().count == 4 * (profile == .cmyk ? 4 : 3))
    }
}
