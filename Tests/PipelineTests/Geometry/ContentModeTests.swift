import Testing

@testable import Pipeline

/// The twelve content modes against a reference of their own, in fractions, written from what each mode means.
struct ContentModeTests {
    private struct Case {
        let picture: PixelSize
        let frame: PixelSize
        let scale: Int
        let pixelsPerPoint: Int
        let anchor: Anchor
    }

    private static let pictures = [
        (1200, 800), (333, 1000), (57, 57), (1, 500), (777, 1), (1, 1), (3, 2), (200, 101), (101, 200), (4001, 2999),
    ]
    private static let frames = [(100, 100), (64, 48), (1, 1), (7, 300), (301, 8), (1500, 1501)]

    private static let cases: [Case] = pictures.flatMap { picture in
        frames.flatMap { frame in
            [1, 2, 3].flatMap { scale in
                [1, 2, 3].flatMap { pixelsPerPoint in
                    Anchor.names.prefix(9).map { _, anchor in
                        Case(
                            picture: PixelSize(picture.0, picture.1),
                            frame: PixelSize(frame.0 * scale, frame.1 * scale), scale: scale,
                            pixelsPerPoint: pixelsPerPoint, anchor: anchor)
                    }
                }
            }
        }
    }

    @Test(arguments: ContentMode.allCases)
    func `every mode draws what it means`(mode: ContentMode) {
        let wrong = Self.cases.filter { item in
            let natural = PictureInfo(size: item.picture, pixelsPerPoint: Double(item.pixelsPerPoint)).naturalSize(
                scale: Double(item.scale))
            let placement = Placement(
                of: item.picture, natural: natural, in: item.frame, mode: mode, anchor: item.anchor)
            let (size, offset) = reference(item, mode)
            return placement.drawn != size || placement.offset != offset
        }
        #expect(wrong.isEmpty, "the first of them: \(wrong.first.map { "\($0)" } ?? "")")
        #expect(Self.cases.count == 4860)
    }

    // MARK: - The reference

    private func reference(_ item: Case, _ mode: ContentMode) -> (PixelSize, PixelOffset) {
        let (width, height) = drawn(item, mode)
        let (horizontal, vertical) = edges(of: mode) ?? (item.anchor.horizontal, item.anchor.vertical)
        let x = offset(horizontal, space: item.frame.width - width)
        let y = offset(vertical, space: item.frame.height - height)
        return (PixelSize(width, height), PixelOffset(x, y))
    }

    private func drawn(_ item: Case, _ mode: ContentMode) -> (Int, Int) {
        let (w, h) = (item.picture.width, item.picture.height)
        let (frameWidth, frameHeight) = (item.frame.width, item.frame.height)
        let (horizontal, vertical) = (Rational(frameWidth, w), Rational(frameHeight, h))
        switch mode {
        case .aspectFit:
            let s = min(horizontal, vertical)
            return (max(1, (w * s).rounded), max(1, (h * s).rounded))
        case .aspectFill:
            let s = max(horizontal, vertical)
            return (max(frameWidth, (w * s).rounded), max(frameHeight, (h * s).rounded))
        case .scaleToFill:
            return (frameWidth, frameHeight)
        case .center, .top, .bottom, .left, .right, .topLeft, .topRight, .bottomLeft, .bottomRight:
            let s = Rational(item.scale, item.pixelsPerPoint)
            return (max(1, (w * s).rounded), max(1, (h * s).rounded))
        }
    }

    private func edges(of mode: ContentMode) -> (Anchor.Edge, Anchor.Edge)? {
        guard ![.aspectFit, .aspectFill, .scaleToFill].contains(mode) else { return nil }
        let name = mode.rawValue
        let horizontal: Anchor.Edge = name.contains("left") ? .start : name.contains("right") ? .end : .center
        let vertical: Anchor.Edge = name.contains("top") ? .start : name.contains("bottom") ? .end : .center
        return (horizontal, vertical)
    }

    private func offset(_ edge: Anchor.Edge, space: Int) -> Int {
        switch edge {
        case .start: 0
        case .center: Rational(space, 2).floor
        case .end: space
        }
    }

    // MARK: - By hand

    @Test
    func `half a pixel is rounded up`() {
        #expect(ScalingMode.aspectFit.size(of: PixelSize(200, 101), in: PixelSize(100, 100)) == PixelSize(100, 51))
        #expect(ScalingMode.aspectFill.size(of: PixelSize(101, 200), in: PixelSize(50, 100)) == PixelSize(51, 100))
    }

    @Test
    func `no side becomes less than one pixel`() {
        #expect(ScalingMode.aspectFit.size(of: PixelSize(1000, 1), in: PixelSize(10, 10)) == PixelSize(10, 1))
        #expect(ScalingMode.aspectFit.size(of: PixelSize(1, 100_000), in: PixelSize(10, 10)) == PixelSize(1, 10))
    }

    @Test
    func `a picture of another shape that fits is centred with the smaller half above`() {
        let placement = Placement(
            of: PixelSize(10, 5), natural: PixelSize(10, 5), in: PixelSize(10, 10), mode: .aspectFit, anchor: .center)
        #expect(
            placement
                == Placement(
                    of: PixelSize(20, 10), natural: PixelSize(20, 10), in: PixelSize(10, 10), mode: .aspectFit,
                    anchor: .center))
        #expect(placement.offset == PixelOffset(0, 2))
    }

    @Test
    func `a centred picture that is larger by an odd number loses the larger half on the left`() {
        let placement = Placement(
            of: PixelSize(13, 10), natural: PixelSize(13, 10), in: PixelSize(10, 10), mode: .center, anchor: .center)
        #expect(placement.offset == PixelOffset(-2, 0))
    }

    @Test(
        arguments: [
            (.aspectFit, false), (.aspectFill, true), (.scaleToFill, true), (.center, false), (.topLeft, false),
        ] as [(ContentMode, Bool)])
    func `it is known whether any background shows`(mode: ContentMode, covers: Bool) {
        let frame = PixelSize(100, 50)
        let placement = Placement(
            of: PixelSize(30, 30), natural: PixelSize(30, 60), in: frame, mode: mode, anchor: .center)
        #expect(placement.covers(frame) == covers)
    }

    @Test
    func `twelve modes have the names of an image view's`() {
        let names = [
            "aspect-fit", "aspect-fill", "scale-to-fill", "center", "top", "bottom", "left", "right", "top-left",
            "top-right",
            "bottom-left",
            "bottom-right",
        ]
        #expect(ContentMode.allCases.map(\.rawValue) == names)
    }
}
