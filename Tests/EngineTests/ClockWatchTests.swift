// A time of day that is set is noticed and said; small corrections are not.
import Testing

@testable import Engine
@testable import System

@Suite struct ClockWatchTests {
    @Test func `a jump is noticed once, forward and back; small corrections and the time that passes are none`() {
        let fake = FakeClocks()
        var watch = ClockWatch(fake.clocks)
        fake.pass(.seconds(86_400))
        #expect(watch.jump() == nil)
        fake.setWall(by: .seconds(2))
        #expect(watch.jump() == nil)
        fake.setWall(by: .seconds(2 * 86_400))
        #expect(watch.jump() == 2 * 86_400_000)
        #expect(watch.jump() == nil)
        fake.setWall(by: .seconds(-86_400))
        #expect(watch.jump() == -86_400_000)
    }

    @Test func `a jump is said with its size and its direction`() {
        #expect(
            [172_800_000, -86_400_000, 90_000].map(ClockWatch.sentence) == [
                "the system's clock was set forward by 2 d; waits and retention go on by the time that really passes",
                "the system's clock was set back by 24 h; waits and retention go on by the time that really passes",
                "the system's clock was set forward by 1 min; waits and retention go on by the time that really passes",
            ])
    }

    @Test func `the system's uptime goes on`() {
        let start = Clocks.system.uptime()
        #expect(start > 0 && Clocks.system.uptime() >= start)
    }
}
