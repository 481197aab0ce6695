// How far captures of a scrolled page repeat each other, and where one is cut and the next one goes on.

/// The part that is taken of a capture.
struct CapturePart: Equatable {
    var rows: Range<Int>
    /// How it goes on from the capture before.
    var kind = Kind.joined
    /// If it is ambiguous, the row of the capture before at which it may begin as well; as many as there are if it may
    /// repeat nothing.
    var otherStart = 0

    enum Kind: Double {
        case joined = 0
        case ambiguous = 0.5
        /// It repeats nothing of the capture before.
        case lost = 1
    }
}

/// Where two captures of a page meet.
private struct Seam {
    /// A row of the second capture shows what the row with this number more of the first one shows.
    var offset: Int
    /// The first row that is taken from the second capture.
    var row: Int
    /// Another offset that fits as well.
    var otherOffset: Int?
}

/// Places that must be shown nowhere else, for captures that were compressed without losses and with them, and so many
/// more for each row that differs.
private let (leastEvidence, leastLossyEvidence, evidencePerOther) = (8, 24, 5)

/// The rows to take of each capture. A capture that repeats nothing of the one before begins at its first row.
func newParts(of captures: [CaptureRows]) -> [CapturePart] {
    var parts = captures.map { CapturePart(rows: 0..<$0.count) }
    let seams = seams(of: captures)
    for index in captures.indices.dropFirst() {
        guard let seam = seams[index] else {
            parts[index].kind = .lost
            continue
        }
        // The first capture may begin below the place that would be best.
        let row = min(captures[index].count, max(seam.row, parts[index - 1].rows.lowerBound - seam.offset))
        parts[index - 1].rows =
            parts[index - 1].rows.lowerBound..<max(parts[index - 1].rows.lowerBound, row + seam.offset)
        parts[index].rows = row..<captures[index].count
        if let other = seam.otherOffset { (parts[index].kind, parts[index].otherStart) = (.ambiguous, other) }
    }
    return parts
}

/// Where each capture meets the one before; nil if they share nothing.
private func seams(of captures: [CaptureRows]) -> [Seam?] {
    let fixed = captures.indices.map { index in
        FixedPlaces(
            of: captures[index],
            neighbours: [index - 1, index + 1].filter(captures.indices.contains).map { captures[$0] })
    }
    let pairs = captures.indices.dropFirst().map { index in
        CapturePair(
            first: captures[index - 1], second: captures[index], firstFixed: fixed[index - 1], secondFixed: fixed[index]
        )
    }
    var choices: [OverlapChoice?] = [nil]
    var seams: [Seam?] = [nil]
    // The row of the page at which each capture begins.
    var tops = [0]
    for index in captures.indices.dropFirst() {
        let pair = pairs[index - 1]
        let nothingNew = pair.showsNothingNew ? Seam(offset: 0, row: captures[index].count) : nil
        let choice = nothingNew == nil ? pair.choice : nil
        choices.append(choice)
        seams.append(nothingNew ?? choice.map { Seam(pair, $0.best, other: $0.rivals.first?.offset) })
        tops.append(tops[index - 1] + (seams[index]?.offset ?? captures[index - 1].count))
    }
    for index in captures.indices.dropFirst() {
        let near = max(0, index - 2)...min(captures.count - 1, index + 1)
        let beside = near.map { CaptureBeside(capture: captures[$0], shift: tops[index] - tops[$0]) }
        let (nothing, all) = (captures[index - 1].count, 0..<captures[index].count)
        guard let choice = choices[index] else {
            guard seams[index] != nil else { continue }
            let evidence = captures[index].evidence(
                in: all, against: beside, tolerance: losslessTolerance, enough: leastEvidence)
            if evidence < leastEvidence { seams[index]?.otherOffset = nothing }
            continue
        }
        let enough =
            (choice.best.tolerance == losslessTolerance ? leastEvidence : leastLossyEvidence)
            + evidencePerOther * choice.best.other
        let evidence = captures[index].evidence(
            in: choice.best.run, against: beside, tolerance: choice.best.tolerance, enough: enough)
        guard evidence < enough else { continue }
        // The smallest overlap leaves nothing of the page out.
        let smallest = ([choice.best] + choice.equals).max { $0.offset < $1.offset } ?? choice.best
        let others = ([choice.best] + choice.equals + choice.rivals).filter { $0.offset != smallest.offset }
        seams[index] = Seam(pairs[index - 1], smallest, other: others.first?.offset ?? nothing)
    }
    return seams
}

extension Seam {
    fileprivate init(_ pair: CapturePair, _ fit: OverlapFit, other: Int?) {
        self.init(offset: fit.offset, row: pair.bestCut(fit), otherOffset: other)
    }
}
