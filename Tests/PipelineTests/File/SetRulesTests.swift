import Testing

@testable import Pipeline

@Suite struct SetRulesTests {
    private func set(
        _ stages: String, save: String = "png", shared: String = "[]", head: String = "source: set"
    ) -> String {
        "\(head)\nstages: \(shared)\nrenditions:\n  one: { stages: \(stages), save: { format: \(save) } }\n"
    }

    @Test func `a pipeline for sets has one stage that joins on each way`() {
        #expect(mistakes(set("[ { resize: { width: 9 } }, stitch, { trim: {} } ]")) == [])
        #expect(mistakes(set("[ { resize: { width: 9 } } ]", save: "gif", shared: "[ animate ]")) == [])
        // The first frame is a poster.
        #expect(mistakes(set("[]", save: "jpeg", shared: "[ animate ]")) == [])
    }

    @Test func `what cannot be joined is shown with its place`() {
        #expect(
            mistakes(set("[ stitch ]", head: "source: picture")) == [
                "4:20 'stitch' takes a set of pictures; write 'source: set' at the top of the file"
            ])
        #expect(
            mistakes(set("[ { blur: { sigma: 1 } } ]")) == [
                "4:3 'one' makes no picture of the set; add one of the stages that do, such as 'stitch', 'contact-sheet' or 'animate'"
            ])
        #expect(
            mistakes(set("[ stitch ]", shared: "[ contact-sheet ]")) == [
                "4:20 'stitch' comes after 'contact-sheet', which has joined the set already; remove one"
            ])
        #expect(
            mistakes(set("[ { trim: {} }, stitch ]")) == [
                "4:22 'trim' would find something else in each member; put it after 'stitch'"
            ])
        #expect(
            mistakes(set("[ animate ]")) == [
                "4:20 'animate' makes an animation, which png cannot hold; save as gif or webp"
            ])
        #expect(
            mistakes(set("[ stitch ]", head: "source: set\nprofile: keep")) == [
                "2:1 the members of a set are joined in sRGB, whatever profiles they have; remove 'profile: keep'"
            ])
        #expect(
            mistakes(set("[ { stitch: { overlap: 3, spacing: 2 } } ]")).first?.contains("exclude each other") == true)
        #expect(
            mistakes(set("[ stitch, { overlay: { image: a.png, stages: [ stitch ] } } ]")).contains {
                $0.contains("here is only one")
            })
    }
}
