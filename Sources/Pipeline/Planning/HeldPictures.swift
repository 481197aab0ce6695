// The pictures that stages hold in memory, one after the other: a bound, not an average.

/// Bytes of the pictures that stages hold.
struct HeldPictures {
    /// The most at any time.
    var peak = 0
    /// The bytes still held when the last stage has its result, since that is made of them row by row.
    var kept = 0

    /// The bytes that are held by stages that follow each other.
    /// - Parameters:
    ///   - factor: how many times larger than planned the first picture comes in, until a stage scales it.
    ///   - isInputHeld: somebody else holds the picture that comes in, and counts it.
    ///   - made: bytes of what the first stage finds made, and somebody else counts.
    static func held(
        by steps: ArraySlice<PlannedStage>, factor: Double = 1, isInputHeld: Bool, isMade made: Int = 0
    ) -> HeldPictures {
        var held = HeldPictures()
        var factor = factor
        for (index, step) in steps.enumerated() {
            let input = step.input.scaled(by: factor)
            if index > 0 {
                let rows = rows(of: input, between: steps[steps.startIndex + index - 1], and: step)
                held.kept = saturating(held.kept, rows)
            }
            if !step.plan.isStreaming && !(index == 0 && isInputHeld) {
                // It is copied into memory, and what it was made of is let go.
                held.peak = max(held.peak, saturating(held.kept, input.bytes))
                held.kept = input.bytes
            }
            let pictures = step.plan.intermediates.map { step.isScaling ? $0 : $0.scaled(by: factor) }
            // A picture that the first stage finds made is read where it is.
            let isMade = index == 0 && made > 0
            let passing = (isMade ? [] : [input]) + pictures.map(step.shown)
            let all = pictures.map(\.bytes).reduce(rows(of: passing, in: step), saturating)
            let own = isMade ? max(0, all - made) : all
            held.peak = max(held.peak, saturating(held.kept, own))
            held.kept = step.readsAllRows ? own : saturating(held.kept, own)
            if step.isScaling { factor = 1 }
        }
        return held
    }

    /// Bytes of the rows that wait between two stages, of one frame. libvips keeps so many for its threads, and as many
    /// again of what a stage with a window has made.
    private static func rows(of picture: PictureInfo, between before: PlannedStage, and step: PlannedStage) -> Int {
        guard step.plan.isStreaming, !before.plan.isResultHeld else { return 0 }
        let rows = before.plan.sizeDependence == .anySize ? 544 : 1150
        return saturating(0, min(rows, picture.size.height) * picture.size.width * picture.bands * picture.depth.bytes)
    }

    /// Some rows of all pictures that pass through a stage, of each of their frames: of small ones no more than all, in
    /// floating point and twice.
    static func rows(of pictures: [PictureInfo], in step: PlannedStage) -> Int {
        let pixels = pictures.map { picture -> Int in
            let some = min(
                128 * saturating(picture.size.width, picture.size.height), 2 * 4 * picture.size.area + 65_536)
            return some * picture.frames
        }
        let (rows, overflow) = pixels.reduce(0, saturating)
            .multipliedReportingOverflow(
                by: max(step.input.bands, step.output.bands)
                    * min(2, max(step.input.depth.bytes, step.output.depth.bytes)))
        return overflow ? .max : rows
    }
}

extension PlannedStage {
    /// The part of a picture whose rows pass on: what the stage has scaled is in memory, and only what the result shows
    /// of it is read.
    fileprivate func shown(of picture: PictureInfo) -> PictureInfo {
        guard case .scales(let size, _) = plan.sizeDependence, picture.size == size else { return picture }
        return picture.resized(
            to: PixelSize(min(size.width, output.size.width), min(size.height, output.size.height)))
    }

    /// The stage has read all that comes in when it returns, since it has scaled it.
    fileprivate var readsAllRows: Bool {
        guard case .scales(let size, _) = plan.sizeDependence else { return false }
        return size != input.size
    }
}

extension PictureInfo {
    /// The picture with so many times as many pixels along each side.
    func scaled(by factor: Double) -> PictureInfo {
        guard factor != 1 else { return self }
        return resized(
            to: PixelSize(
                max(1, Int((Double(size.width) * factor).rounded(.up))),
                max(1, Int((Double(size.height) * factor).rounded(.up)))))
    }
}
