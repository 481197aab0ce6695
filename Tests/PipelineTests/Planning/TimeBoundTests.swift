import Testing

@testable import Pipeline

struct TimeBoundTests {
    private static func limits(_ milliseconds: Int, _ processorMilliseconds: Int) -> Limits {
        var limits = Limits()
        (limits.maximumMilliseconds, limits.maximumProcessorMilliseconds) = (milliseconds, processorMilliseconds)
        return limits
    }

    @Test
    func `pixels get time besides what the settings allow`() {
        let bound = TimeBound(Self.limits(60_000, 90_000), pixelSeconds: 12)
        #expect(bound.seconds == 72 && bound.processorSeconds == 102)
    }

    @Test
    func `a message names the setting, what it allows, and what was taken`() {
        let bound = TimeBound(Self.limits(1_500, 90_000), pixelSeconds: 12)
        #expect(
            bound.overrun.description
                == "was stopped after 14 s; the limit is 1.5 s (max-time), and 12 s for its pixels")
        #expect(
            bound.processorOverrun.description
                == "was stopped after 102 s of processor time; the limit is 90 s (max-cpu-time), and 12 s for its pixels"
        )
    }

    @Test
    func `a header has half of it, and a preparation names no setting`() {
        let header = TimeBound(header: Self.limits(60_000, 120_000))
        #expect(header.seconds == 30 && header.processorSeconds == 60)
        #expect(
            header.overrun.description
                == "was stopped after 30 s at its header; the limit for that is half of 60 s (max-time)")
        #expect(
            TimeBound(seconds: 60).overrun.description == "was stopped after 60 s of preparation, which is the limit")
    }
}
