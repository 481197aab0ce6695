import Pipeline
import Synchronization
import Testing

// The counts of the drop folder's work.
@testable import Engine
@testable import System
@testable import imagemill

@Suite struct ActivityTests {
    private let job = JobID(milliseconds: 1, counter: 2, random: 3)

    private func report(_ name: String, _ renditions: [(String, OutputFormat, Int?)] = []) -> SourceReport {
        var report = SourceReport(status: .done, pipeline: "p", source: BytePath(name))
        report.renditions = renditions.map { name, format, bytes in
            SourceReport.RenditionEntry(
                name: "r", scale: 1, path: BytePath(name), format: format, size: PixelSize(1, 1), frames: 1,
                bytes: bytes,
                sha256: nil)
        }
        return report
    }

    @Test func `the latest results are kept, newest first, with the smallest picture that a browser shows`() {
        let activity = Activity()
        for index in 1...30 { activity.happened(.done(job, report("\(index).png")), inbox: "in") }
        let renditions: [(String, OutputFormat, Int?)] = [
            ("a.tif", .tiff, 10), ("a.jpg", .jpeg, 900), ("a.webp", .webp, 400), ("huge.png", .png, 2 << 20),
            ("b.png", .png, nil),
        ]
        activity.happened(.done(job, report("last.png", renditions)), inbox: "in")
        activity.happened(.done(job, report("large.png", [("huge.png", .png, 2 << 20)])), inbox: "in")
        let results = activity.snapshot.results
        #expect(results.map(\.number) == Array((9...32).reversed()) && results[1].path == BytePath("last.png"))
        #expect(
            results[1].picture == 2 && results[1].renditions[2].path == BytePath("a.webp")
                && results[1].renditions[2].type == "image/webp" && results[0].picture == nil)
        #expect(activity.result(31)?.path == BytePath("last.png") && activity.result(1) == nil)
    }

    @Test func `the pace is that of the last five minutes, and of less if the flow has just begun`() {
        let time = Mutex(1_000_000_000)
        let activity = Activity(clock: { time.withLock { $0 } })
        for _ in 0..<4 { activity.happened(.done(job, report("a")), inbox: "in") }
        #expect(activity.snapshot.endsPerSecond == nil, "too few to tell")
        for _ in 0..<46 { activity.happened(.done(job, report("a")), inbox: "in") }
        time.withLock { $0 += 10_000 }
        #expect(activity.snapshot.endsPerSecond == 5)
        time.withLock { $0 += 400_000 }
        #expect(activity.snapshot.endsPerSecond == nil, "nothing has ended for long")
    }

    @Test func `an hour has sixty minutes; what is older is forgotten`() {
        let time = Mutex(0)
        let (activity, failed) = (Activity(clock: { time.withLock { $0 } }), Failure(.truncated, stage: "decode", "x"))
        for minute in 0..<300 {
            time.withLock { $0 = minute * 60_000 }
            if minute != 290 { activity.happened(.done(job, report("a")), inbox: "in") }
        }
        activity.happened(.failed(job, BytePath("b"), failed, attempts: 3), inbox: "in")
        let minutes = activity.snapshot.minutes
        #expect(
            minutes.count == 60 && minutes.last == Activity.Minute(done: 1, failed: 1)
                && minutes[50] == Activity.Minute())
        #expect(minutes.reduce(0) { $0 + $1.done } == 59 && activity.snapshot.inboxes["in"]?.done == 299)
    }
}
