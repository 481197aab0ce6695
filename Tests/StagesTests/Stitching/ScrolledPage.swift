// Pages that are hard to join: cards that all show the same picture, captured under a header and floating things.

/// Captures of a generated page, the same for each seed, and what should become of them.
struct ScrolledPage {
    enum Kind: CaseIterable { case article, list, cards }

    static let (width, height) = (180, 320)

    let kind: Kind
    /// How many rows of the page each capture goes on by; more than are seen of it if the captures do not overlap.
    let steps: [Int]
    /// The parts of the screen that lie over the page.
    let header, clock: Int
    let hasButton, hasHomeLine: Bool
    private let seed: UInt64
    private let pitch, pictureHeight: Int

    init(_ kind: Kind, seed: UInt64, isOverlapping: Bool = true) {
        var random = SplitMix(state: seed)
        (self.kind, self.seed) = (kind, seed)
        header = [0, 24, 40].randomElement(using: &random) ?? 0
        hasButton = Int.random(in: 0..<3, using: &random) == 0
        hasHomeLine = Bool.random(using: &random)
        clock = Int.random(in: 0..<1000, using: &random)
        pictureHeight = Int.random(in: 30...70, using: &random)
        pitch = pictureHeight + Int.random(in: 34...50, using: &random)
        let seen = Self.height - header
        steps = (0..<3).map { _ in
            isOverlapping
                ? seen - seen * Int.random(in: 25...60, using: &random) / 100
                : seen + Int.random(in: 1...200, using: &random)
        }
    }

    /// The rows that the joined picture should have.
    var length: Int {
        Self.height + steps.reduce(0) { $0 + ($1 < Self.height - header ? $1 : Self.height) }
    }

    /// A pixel of a capture.
    func pixel(_ x: Int, _ y: Int, capture: Int) -> [UInt8] {
        if hasHomeLine, (Self.height - 8..<Self.height - 4).contains(y), (60..<120).contains(x) { return [0, 0, 0] }
        if hasButton, (x - 156) * (x - 156) + (y - 280) * (y - 280) < 14 * 14 { return [220, 40, 60] }
        if y < header {
            let isClock = (4..<12).contains(y) && (8..<28).contains(x)
            let isInk = isClock && Self.noise(x / 3, y / 2, clock + capture) & 3 == 0
            let isTitle = (header - 12..<header - 4).contains(y) && (70..<110).contains(x)
            return isInk || isTitle && Self.noise(x / 3, y / 2, 7) & 3 == 0 ? [0, 0, 0] : [250, 250, 252]
        }
        return page(x, y - header + steps[..<capture].reduce(0, +))
    }

    private func page(_ x: Int, _ y: Int) -> [UInt8] {
        let white: [UInt8] = [255, 255, 255]
        switch kind {
        case .article: return isInk(x, y, from: 8, to: 172, line: y / 14, row: y % 14) ? [20, 20, 20] : white
        case .list:
            if y % 32 == 31 { return [210, 210, 210] }
            if (6..<26).contains(y % 32), (8..<28).contains(x) { return picture(x, y % 32) }
            return isInk(x, y, from: 36, to: 130, line: y / 16, row: y % 16) ? [20, 20, 20] : white
        case .cards:
            let (card, row) = (y / pitch, y % pitch)
            guard (8..<172).contains(x) else { return white }
            if row < pictureHeight { return picture(x, row) }
            // A title and a number differ, a button is the same.
            if row < pictureHeight + 16 {
                return isInk(x, y, from: 12, to: 80, line: card, row: row - pictureHeight - 2) ? [20, 20, 20] : white
            }
            let isButton = (pictureHeight + 18..<pictureHeight + 28).contains(row) && (12..<60).contains(x)
            return isButton ? [0, 122, 255] : white
        }
    }

    /// The picture that every card shows, and every entry of a list.
    private func picture(_ x: Int, _ y: Int) -> [UInt8] {
        let noise = Self.noise(x / 4, y / 4, Int(seed % 1000))
        return seed % 2 == 0 ? [UInt8(noise & 255), UInt8(noise >> 8 & 255), 128] : [200, 204, UInt8(190 + y % 40)]
    }

    private func isInk(_ x: Int, _ y: Int, from start: Int, to end: Int, line: Int, row: Int) -> Bool {
        (0..<9).contains(row) && (start..<end).contains(x)
            && Self.noise(x / 3, row / 2, line &* 31 &+ Int(seed % 977)) & 3 == 0
    }

    private static func noise(_ x: Int, _ y: Int, _ z: Int) -> UInt64 {
        var random = SplitMix(
            state: UInt64(bitPattern: Int64(x &* 73_856_093 ^ y &* 19_349_663 ^ z &* 83_492_791)))
        return random.next() >> 20
    }
}
