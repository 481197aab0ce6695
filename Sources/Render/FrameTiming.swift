// When the frames of an animation are shown, as it is read and as it is saved.
import Pipeline
import Stages
import Vips

/// The times of a source's frames.
struct FrameTiming {
    let frames: Int
    private let delays: [Int]
    private let repeatCount: Int

    /// The times of the frames that a plan loads.
    init(_ image: Image, _ plan: SourcePlan) {
        let frames = plan.load.loadsAllFrames ? plan.source.frames : 1
        let known = (image.ints("delay") ?? []).prefix(frames)
        self.frames = frames
        delays = frames > 1 ? known + Array(repeating: known.last ?? 100, count: frames - known.count) : []
        repeatCount = frames > 1 ? image.int("loop") ?? 0 : 0
    }

    func frames(of stack: Picture) throws -> Frames {
        try Frames(stack: stack, count: frames, delays: delays, repeatCount: repeatCount)
    }
}

extension Frames {
    /// How long frames that a set was made into are shown; an animation that came as one keeps its own times.
    func shownDelays(in format: OutputFormat) -> [Int] {
        delays.map { max($0, format.declaration.animation?.shortestFrame ?? 0) }
    }

    /// All frames below each other, as libvips saves an animation.
    /// - Parameter delays: milliseconds for which each is shown.
    func joined(for format: OutputFormat, delays: [Int]) throws -> Image {
        guard pictures.count > 1 else { return try pictures[0].inLibvipsNumbers }
        let height = pictures[0].height
        let whole = try stack?.image ?? Image.arrayjoin(pictures.map(\.image))
        return try whole.editingMetadata { editor in
            editor.set("page-height", int: height)
            editor.set("delay", ints: inUnits(of: format.declaration.animation?.unit ?? 1, delays))
            editor.set("loop", int: repeatCount)
        }
    }

    /// Delays in whole units of a format. Each frame ends near its own time, so that the errors do not add up.
    /// - Parameter unit: in milliseconds.
    private func inUnits(of unit: Int, _ delays: [Int]) -> [Int] {
        var (end, shown) = (0, 0)
        return delays.map { delay in
            end += delay
            let next = (end + unit / 2) / unit * unit
            defer { shown = next }
            return next - shown
        }
    }
}
