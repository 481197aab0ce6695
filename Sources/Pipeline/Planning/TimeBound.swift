// How long the work on a source may take: what the settings allow, and what its pixels may take besides.

package struct TimeBound: Hashable, Sendable {
    /// A limit of time, and how long the work took until it was stopped, which is more if pixels get time besides.
    package struct Overrun: Hashable, Sendable, CustomStringConvertible {
        fileprivate let bound: TimeBound
        fileprivate let isOfProcessor: Bool

        /// Names the setting, what it allows, and what the work took.
        package var description: String {
            let (allowed, setting) = isOfProcessor ? (bound.processor, "max-cpu-time") : (bound.wall, "max-time")
            let spent = written(allowed + bound.pixels) + (isOfProcessor ? " of processor time" : "")
            let besides = bound.pixels > 0 ? ", and \(written(bound.pixels)) for its pixels" : ""
            switch bound.work {
            case .source: return "was stopped after \(spent); the limit is \(written(allowed)) (\(setting))\(besides)"
            case .header:
                return
                    "was stopped after \(spent) at its header; the limit for that is half of \(written(2 * allowed)) (\(setting))"
            case .preparation: return "was stopped after \(spent) of preparation, which is the limit"
            }
        }

        private func written(_ seconds: Double) -> String {
            writtenNumber(seconds < 10 ? (seconds * 10).rounded() / 10 : seconds.rounded()) + " s"
        }
    }

    /// The times that the settings allow, in seconds.
    private let wall: Double
    private let processor: Double
    /// The further time that decoding and encoding so many pixels may take on a slow machine, in seconds.
    private var pixels: Double
    private let work: Work

    private enum Work { case source, header, preparation }

    /// For a source.
    package init(_ limits: Limits, pixelSeconds: Double) {
        wall = Double(limits.maximumMilliseconds) / 1000
        processor = Double(limits.maximumProcessorMilliseconds) / 1000
        pixels = pixelSeconds
        work = .source
    }

    /// For what is not about a source.
    package init(seconds: Double) { (wall, processor, pixels, work) = (seconds, .infinity, 0, .preparation) }

    /// For a header, which is small: half of what a source may take.
    package init(header limits: Limits) {
        wall = Double(limits.maximumMilliseconds) / 2000
        processor = Double(limits.maximumProcessorMilliseconds) / 2000
        pixels = 0
        work = .header
    }

    /// The bound of this work and of more on the same source after it.
    func followed(by more: TimeBound) -> TimeBound {
        var sum = self
        sum.pixels += more.pixels
        return sum
    }

    /// Seconds after which the worker is stopped.
    package var seconds: Double { wall + pixels }
    /// Seconds of processor time, of all its threads together, after which the worker is stopped.
    package var processorSeconds: Double { processor + pixels }

    package var overrun: Overrun { Overrun(bound: self, isOfProcessor: false) }
    package var processorOverrun: Overrun { Overrun(bound: self, isOfProcessor: true) }
}
