import Testing

@testable import Pipeline

struct AnchorTests {
    @Test(
        arguments: [
            ("center", 7, 17), ("top", 7, 0), ("bottom", 7, 35), ("leading", 0, 17), ("trailing", 15, 17),
            ("top-leading", 0, 0), ("top-trailing", 15, 0), ("bottom-leading", 0, 35), ("bottom-trailing", 15, 35),
            ("left", 0, 17), ("right", 15, 17), ("top-left", 0, 0), ("top-right", 15, 0), ("bottom-left", 0, 35),
            ("bottom-right", 15, 35),
        ])
    func `every name has its place`(name: String, x: Int, y: Int) {
        let anchor = read(Anchor.self, name).value
        #expect(anchor?.offset(of: PixelSize(10, 5), in: PixelSize(25, 40)) == PixelOffset(x, y))
    }

    @Test
    func `the table knows every name`() {
        #expect(Anchor.names.count == 15)
    }

    @Test
    func `a centred offset is rounded down, also below zero`() {
        let sides = [(0, 0), (1, 0), (2, 1), (3, 1), (-1, -1), (-2, -1), (-3, -2), (-4, -2)]
        for (space, offset) in sides {
            #expect(
                Anchor.center.offset(of: PixelSize(10, 10), in: PixelSize(10 + space, 10)).x == offset,
                "space of \(space)")
        }
    }

    @Test
    func `a wrong name brings the nearest one`() {
        let (anchor, log) = read(Anchor.self, "centre")
        #expect(anchor == nil)
        let message = log.problems.first?.message ?? ""
        #expect(message.hasPrefix("expected one of center, top, bottom, leading, trailing, top-leading"))
        #expect(message.hasSuffix("found 'centre'; did you mean 'center'?"))
    }

    @Test(arguments: Anchor.names.map(\.name))
    func `what an anchor writes is read as the same anchor`(name: String) {
        let anchor = read(Anchor.self, name).value
        #expect(anchor.flatMap { read(Anchor.self, $0.written).value } == anchor)
    }
}
