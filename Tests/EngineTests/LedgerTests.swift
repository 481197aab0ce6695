// The ledger: every step is there after a crash, none is taken twice, and what goes wrong is said.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct LedgerTests {
    private let folder: TemporaryFolder
    private let names = JobNames()

    init() throws { folder = try TemporaryFolder() }

    private var state: BytePath { BytePath(folder.path("state")) }
    private let inbox = BytePath("/in")
    private let failure = Failure(.workerCrashed, stage: "render", "it died", detail: "signal 11")

    private func open(at time: Int = 1000, patience: Double = 10) throws -> SQLiteLedger {
        try SQLiteLedger(state: state, patience: patience, clock: { time })
    }

    private func new(_ path: String = "a.jpg", stays: Bool = false) -> NewJob {
        NewJob(
            id: names.next(), inbox: inbox, path: BytePath(path), observed: ObservedFile(device: .max, inode: 7, bytes: 12, modified: 99),
            staysInInbox: stays)
    }

    /// A job that was brought to its end.
    private func ended(_ ledger: SQLiteLedger, _ new: NewJob, failing: Bool = false) throws {
        try ledger.add([new])
        _ = try ledger.begin([new.id])
        if failing { try ledger.reject(new.id, because: failure) } else { try ledger.publish([new.id]) }
        try ledger.finish([FinishedJob(new.id, recipe: "r1", sha256: "ff")])
    }

    // MARK: - The life of a job

    @Test("A job is kept with everything that was said of it, its path byte for byte")
    func kept() throws {
        let ledger = try open()
        let path = BytePath([0xFF, 0x0A, UInt8(ascii: "/"), 0x27, UInt8(ascii: "a")])
        let job = NewJob(id: names.next(), inbox: inbox, path: path, observed: ObservedFile(device: .max, inode: 1 << 63, bytes: 12, modified: -5))
        try ledger.add([job])
        let found = try #require(try ledger.job(job.id))
        #expect(found.path == path && found.observed == job.observed && found.inbox == inbox && !found.staysInInbox)
        #expect(found.state == .claimed && found.attempts == 0 && found.names.isEmpty && found.failure == nil)
        #expect(found.identity == BytePath(Array("/in/".utf8) + path.bytes))
        #expect(found.claimed == 1000)
    }

    @Test("An attempt is on the disk before it begins: it is counted though the program is gone at once")
    func attempts() throws {
        let job = new()
        do {
            let ledger = try open()
            try ledger.add([job])
            #expect(try ledger.begin([job.id]) == [job.id: 1])
        }
        for attempt in 2...3 {
            let ledger = try open()
            #expect(try ledger.job(job.id)?.attempts == attempt - 1)
            #expect(try ledger.begin([job.id]) == [job.id: attempt])
        }
    }

    @Test("What was recorded is seen by another process without a close: a crash takes nothing back")
    func crash() throws {
        // Two ledgers at once stand for the one that was killed and its successor: nothing is ever closed here.
        let killed = try open()
        let jobs = [new("a"), new("b"), new("c")]
        try killed.add(jobs)
        _ = try killed.begin([jobs[1].id, jobs[2].id])
        try killed.publish([jobs[2].id])
        let successor = try open()
        #expect(try successor.openJobs(inbox: inbox).map(\.state) == [.claimed, .rendering, .published])
        withExtendedLifetime(killed) {}
    }

    @Test("Success and failure for good are counted, and the job is no longer open")
    func ends() throws {
        let ledger = try open()
        try ended(ledger, new("a"))
        try ended(ledger, new("b"), failing: true)
        try ledger.add([new("c")])
        #expect(try ledger.totals(inbox: inbox) == LedgerTotals(done: 1, failed: 1, open: 1, waiting: 0, oldest: 1000))
        #expect(try ledger.totals(inbox: BytePath("/other")) == LedgerTotals())
        let failures = try ledger.recentFailures(limit: 10)
        #expect(failures.map(\.path) == [BytePath("b")] && failures[0].failure == failure)
        #expect(try ledger.openJobs(inbox: nil).map(\.path) == [BytePath("c")])
    }

    @Test("The end of a job counts once, also where a crash makes the program say it again")
    func endsOnce() throws {
        let ledger = try open()
        let job = new()
        try ended(ledger, job)
        try ledger.finish([FinishedJob(job.id)])
        #expect(try ledger.totals(inbox: inbox).done == 1)
    }

    @Test("A job that was put off keeps the reason and the time; one that the world stopped has lost no attempt")
    func postponed() throws {
        let ledger = try open()
        let (own, world) = (new("a"), new("b"))
        try ledger.add([own, world])
        _ = try ledger.begin([own.id, world.id])
        try ledger.postpone(own.id, until: 5000, costsAttempt: true, because: failure)
        try ledger.postpone(world.id, until: 6000, costsAttempt: false, because: Failure(.diskFull, stage: "publish", "no room"))
        let jobs = try ledger.openJobs(inbox: inbox)
        #expect(jobs.map(\.attempts) == [1, 0] && jobs.map(\.notBefore) == [5000, 6000] && jobs.map(\.state) == [.waiting, .waiting])
        #expect(jobs[0].failure == failure)
        #expect(try ledger.totals(inbox: inbox).waiting == 2)
        // One that waits is put off again without an attempt: nothing is given back that was not taken.
        try ledger.postpone(world.id, until: 7000, costsAttempt: false, because: failure)
        #expect(try ledger.job(world.id)?.attempts == 0)
    }

    @Test("An attempt that was stopped is given back")
    func givenBack() throws {
        let ledger = try open()
        let job = new()
        try ledger.add([job])
        _ = try ledger.begin([job.id])
        try ledger.giveBack([job.id])
        #expect(try ledger.job(job.id)?.state == .claimed)
        #expect(try ledger.begin([job.id]) == [job.id: 1])
    }

    @Test("A claim that came to nothing leaves nothing, and counts as nothing")
    func forgotten() throws {
        let ledger = try open()
        let (job, done) = (new(), new("b"))
        try ledger.add([job])
        try ended(ledger, done)
        try ledger.forget([job.id, done.id])
        #expect(try ledger.job(job.id) == nil)
        #expect(try ledger.job(done.id)?.state == .finished, "what has ended is history, and is not forgotten")
        #expect(try ledger.totals(inbox: inbox) == LedgerTotals(done: 1))
    }

    @Test("Jobs are recorded all or none")
    func allOrNone() throws {
        let ledger = try open()
        let twice = new("b")
        #expect(throws: LedgerError.self) { try ledger.add([new("a"), twice, twice]) }
        #expect(try ledger.openJobs(inbox: nil).isEmpty)
    }

    @Test("A step that does not follow from the state is refused with the state")
    func outOfStep() throws {
        let ledger = try open()
        let job = new()
        try ledger.add([job])
        let early = #expect(throws: LedgerError.self) { try ledger.publish([job.id]) }
        #expect(early?.kind == .outOfStep && early?.description == "the job \(job.id.text) cannot take this step: it is claimed")
        #expect(throws: LedgerError.self) { try ledger.finish([FinishedJob(job.id)]) }
        let unknown = names.next()
        let nobody = #expect(throws: LedgerError.self) { try ledger.begin([unknown]) }
        #expect(nobody?.description == "the job \(unknown.text) cannot take this step: there is no such job")
        #expect(nobody?.asFailure.code == .internal)
        #expect(try ledger.job(job.id)?.state == .claimed)
    }

    // MARK: - Names

    private func claim(_ ledger: SQLiteLedger, _ source: String, _ policy: CollisionPolicy = .version, taken: Set<String> = []) throws -> String {
        let job = new(source)
        try ledger.add([job])
        let request = NameRequest(
            job: job.id, outbox: BytePath("/out"), source: BytePath("/in/" + source), policy: policy,
            candidates: { version throws(PlanFailure) in
                [
                    RenditionName(path: BytePath(version == 1 ? "a.webp" : "a-\(version).webp"), isShortened: false),
                    RenditionName(path: BytePath(version == 1 ? "a@2x.webp" : "a-\(version)@2x.webp"), isShortened: false),
                ]
            }, isTaken: { taken.contains($0.text) })
        let names = try ledger.claimNames(request).map(\.path)
        #expect(try ledger.job(job.id)?.names == names)
        return names[0].text
    }

    @Test("A name stays with the source that had it first, over restarts and under each policy")
    func ownedNames() throws {
        var ledger = try open()
        #expect(try claim(ledger, "a.jpg") == "a.webp")
        #expect(try claim(ledger, "a.png") == "a-2.webp")
        ledger = try open()
        #expect(try claim(ledger, "a.png") == "a-2.webp")
        #expect(try claim(ledger, "a.jpg", .fail) == "a.webp")
        let taken = #expect(throws: Failure.self) { try claim(ledger, "a.gif", .fail) }
        #expect(taken == Failure(.nameTaken, stage: "publish", "the name 'a.webp' belongs to '/in/a.jpg'"))
        #expect(try claim(ledger, "a.gif", .overwrite) == "a.webp")
        #expect(try claim(ledger, "a.jpg") == "a-3.webp", "the name now belongs to the source that was told to take it")
    }

    @Test("A file that Imagemill did not write is left alone; all names of a source share a version")
    func foreign() throws {
        let ledger = try open()
        #expect(try claim(ledger, "a.jpg", taken: ["a@2x.webp", "a-2.webp"]) == "a-3.webp")
        let failure = #expect(throws: Failure.self) { try claim(ledger, "b.jpg", .fail, taken: ["a.webp"]) }
        #expect(failure?.message == "a file that Imagemill did not write stands at 'a.webp'")
    }

    @Test("A plan that has no name is that failure, and records nothing")
    func noName() throws {
        let ledger = try open()
        let job = new()
        try ledger.add([job])
        let request = NameRequest(
            job: job.id, outbox: BytePath("/out"), source: inbox, policy: .version,
            candidates: { _ throws(PlanFailure) in throw PlanFailure(.nameInvalid, stage: "publish", "no name") }, isTaken: { _ in false })
        #expect(throws: PlanFailure.self) { try ledger.claimNames(request) }
        #expect(try ledger.job(job.id)?.names == [])
    }

    // MARK: - Originals that stay

    @Test("An original that stays is known as done until it, or what is to be done with it, changes")
    func keptOriginals() throws {
        let job = new(stays: true)
        try ended(try open(), job)
        try ended(try open(), new("bad", stays: true), failing: true)
        try ended(try open(), new("moved"))
        let ledger = try open()
        let kept = try #require(try ledger.kept(inbox: inbox, path: BytePath("a.jpg")))
        #expect(kept.code == nil && kept.sha256 == "ff")
        #expect(kept.covers(job.observed, recipe: "r1"))
        #expect(kept.covers(ObservedFile(device: 1, inode: 8, bytes: 12, modified: 99), recipe: "r1"))
        #expect(!kept.covers(job.observed, recipe: "r2"))
        #expect(!kept.covers(ObservedFile(device: .max, inode: 7, bytes: 13, modified: 99), recipe: "r1"))
        #expect(!kept.covers(ObservedFile(device: .max, inode: 7, bytes: 12, modified: 98), recipe: "r1"))
        #expect(try ledger.kept(inbox: inbox, path: BytePath("bad"))?.code == .workerCrashed)
        #expect(try ledger.kept(inbox: inbox, path: BytePath("moved")) == nil)
        try ledger.forgetKept(inbox: inbox, paths: [BytePath("a.jpg")])
        #expect(try ledger.kept(inbox: inbox, path: BytePath("a.jpg")) == nil)
    }

    // MARK: - Growth

    @Test("Old jobs go, a bounded number at a time; open ones and the counts stay, and failures have a share of their own")
    func pruned() throws {
        let ledger = try open()
        for index in 0..<12 { try ended(ledger, new("\(index)")) }
        for index in 0..<3 { try ended(ledger, new("bad\(index)"), failing: true) }
        try ledger.add([new("open")])
        #expect(try ledger.prune(keeping: 5) == 7)
        #expect(try ledger.prune(keeping: 5) == 0)
        #expect(try ledger.totals(inbox: inbox) == LedgerTotals(done: 12, failed: 3, open: 1, waiting: 0, oldest: 1000))
        #expect(try ledger.recentFailures(limit: 2).map(\.path.text) == ["bad2", "bad1"])
    }

    // MARK: - Trouble

    @Test("A damaged ledger, and a file that is none, are refused with what to do", arguments: [true, false])
    func damaged(isForeign: Bool) throws {
        do { try ended(try open(), new()) }
        let path = folder.path("state/ledger.sqlite")
        if isForeign {
            try folder.write(String(repeating: "no database\n", count: 500), to: "state/ledger.sqlite")
        } else {
            // The first page of tables is overwritten in its middle.
            let file = fopen(path, "r+")
            fseek(file, 4096, SEEK_SET)
            for _ in 0..<4096 { fputc(0xA5, file) }
            fclose(file)
        }
        for name in ["-wal", "-shm"] { unlink(path + name) }
        let error = #expect(throws: LedgerError.self) { try open() }
        #expect(error?.kind == .damaged)
        #expect(error?.description.hasPrefix("the ledger '\(path)' is damaged (") == true)
        #expect(error?.description.contains("move it away together with its -wal and -shm files and start again") == true)
    }

    @Test("A ledger that another program holds is said to be held, not damaged")
    func locked() throws {
        let first = try open()
        try first.changeOrFail { _ in
            let error = #expect(throws: LedgerError.self) { try open(patience: 0.1).add([new()]) }
            #expect(error?.kind == .locked)
            #expect(error?.description.contains("is held by another program") == true)
        }
    }

    @Test("A ledger of a newer version is refused")
    func newer() throws {
        do { try open().add([new()]) }
        // The number of the layout stands at a fixed place in the file.
        let file = fopen(folder.path("state/ledger.sqlite"), "r+")
        fseek(file, 63, SEEK_SET)
        fputc(9, file)
        fclose(file)
        let error = #expect(throws: LedgerError.self) { try open() }
        #expect(error?.kind == .tooNew)
        #expect(error?.description.contains("was written by a newer Imagemill (layout 9)") == true)
    }

    @Test("The state folder may have a name that is no text, and is made where it is missing")
    func oddFolder() throws {
        let odd = BytePath(Array(folder.path("").utf8) + [0xFF, UInt8(ascii: "'"), UInt8(ascii: "/"), 0xFE])
        let job = new()
        do { try SQLiteLedger(state: odd, clock: { 1 }).add([job]) }
        #expect(try SQLiteLedger(state: odd, clock: { 1 }).job(job.id) != nil)
        #expect(try FileSystem.status(odd.appending(BytePath("ledger.sqlite"))) != nil)
    }

    @Test("Many threads may use one ledger")
    func threads() async throws {
        let ledger = try open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    try await onNewThread { for index in 0..<10 { try ended(ledger, new("\(thread)-\(index)")) } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try ledger.totals(inbox: inbox).done == 40)
    }
}
