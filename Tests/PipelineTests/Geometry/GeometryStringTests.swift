import Testing

@testable import Pipeline

struct GeometryStringTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let text: String
        var width: Length?
        var height: Length?
        var mode = ScalingMode.aspectFit
        var limit = ScalingLimit.none
        var testDescription: String { text }
    }

    @Test(
        arguments: [
            Form(text: "800x600", width: .points(800), height: .points(600)),
            Form(text: "800x", width: .points(800)),
            Form(text: "x600", height: .points(600)),
            Form(text: "800", width: .points(800), height: .points(800)),
            Form(text: "50%", width: .percent(50), height: .percent(50), mode: .scaleToFill),
            Form(text: "12.5%", width: .percent(12.5), height: .percent(12.5), mode: .scaleToFill),
            Form(text: "200%<", width: .percent(200), height: .percent(200), mode: .scaleToFill, limit: .onlyEnlarge),
            Form(text: "800x600>", width: .points(800), height: .points(600), limit: .onlyShrink),
            Form(text: "800x>", width: .points(800), limit: .onlyShrink),
            Form(text: "x600<", height: .points(600), limit: .onlyEnlarge),
            Form(text: "800<", width: .points(800), height: .points(800), limit: .onlyEnlarge),
            Form(text: "800x600!", width: .points(800), height: .points(600), mode: .scaleToFill),
            Form(text: "800!", width: .points(800), height: .points(800), mode: .scaleToFill),
            Form(text: "800x600^", width: .points(800), height: .points(600), mode: .aspectFill),
            Form(text: "800x600^>", width: .points(800), height: .points(600), mode: .aspectFill, limit: .onlyShrink),
            Form(text: "800x600>^", width: .points(800), height: .points(600), mode: .aspectFill, limit: .onlyShrink),
            Form(text: "10000000x1", width: .points(10_000_000), height: .points(1)),
        ])
    func `every form is understood`(form: Form) throws {
        let size = try GeometryString(form.text)
        #expect(size.width?.length == form.width)
        #expect(size.height?.length == form.height)
        #expect(size.mode == form.mode)
        #expect(size.limit == form.limit)
        #expect(size.written == form.text)
    }

    private static let expected =
        "expected a size such as 800x600, 800x, x600, 800 or 50%, followed by > < ! or ^ if you like, found "

    @Test(
        arguments: [
            "", "x", ">", "!", "x!", "800x600x400", "800 x 600", "800X600", "-800x600", "0x600", "800x0", "0", "0%",
            "-5%", "%", "50%x",
            "x50%",
            "800.5x600", "1e3", "10000001", "800x600>>", "800>x600", ">800", "800x600?", "½x600", "٨٠٠",
        ])
    func `anything else is refused with a sentence that shows the forms`(text: String) {
        #expect(message(text) == Self.expected + "'\(text)'")
    }

    @Test(
        arguments: [
            ("800x600<>", "'>' (only shrink) and '<' (only enlarge) exclude each other in '800x600<>'"),
            ("800x!", "'!' needs both a width and a height in '800x!'"),
            ("x600^", "'^' needs both a width and a height in 'x600^'"),
            ("800x600!^", "'!' (exactly this size) cannot be combined with '>', '<' or '^' in '800x600!^'"),
            ("800x600!<", "'!' (exactly this size) cannot be combined with '>', '<' or '^' in '800x600!<'"),
        ])
    func `signs that do not go together are refused`(text: String, expected: String) {
        #expect(message(text) == expected)
    }

    private func message(_ text: String) -> String? {
        do throws(GeometryStringError) {
            _ = try GeometryString(text)
            return nil
        } catch {
            return error.message
        }
    }
}
