// The ledger in PostgreSQL, beyond the contract that it shares with the others.
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import Postgres
@testable import System

@Suite(
    .enabled(if: PostgresServer.isThere, "there is no PostgreSQL 14 or newer here"))
struct PostgresLedgerTests {
    private let server: PostgresServer
    private let conninfo: String

    init() throws {
        server = try #require(PostgresServer.shared)
        conninfo = try server.newSchema()
    }

    private func open(_ attempts: Int = 3) throws -> PostgresLedger {
        try PostgresLedger(conninfo, policy: { _ in RetryPolicy(attempts: attempts) })
    }

    private func new(_ number: Int) -> NewJob {
        NewJob(
            id: names.next(), inbox: "in", path: BytePath("p\(number).jpg"),
            observed: FileVersion(device: 1, inode: UInt64(number), bytes: 10, modified: 1))
    }
    private let names = JobNames()

    private func request(_ owner: String, _ limit: Int = 16) -> TakeRequest {
        TakeRequest(inbox: "in", limit: limit, lightBytes: 100, owner: owner, lease: 60_000, recipe: "r")
    }

    @Test func `values of all types come back as they were`() throws {
        let connection = try PostgresConnection(conninfo, patience: .seconds(10))
        let odd: [UInt8] = [0, 255, 10, 34, 92, 39, 0]
        let words = "a \"quoted\" \\ word, {braces} and ü"
        let row = try #require(
            connection.run(
                "SELECT $1::bigint, $2::text, $3::bytea, $4::boolean, $5::text, ($6::bigint[])[2], ($7::text[])[1], ($8::bytea[])[2]",
                [
                    .integer(.min), .text(words), .bytes(odd), .boolean(true), nil, .integers([1, -7]),
                    .texts([words, ""]), .manyBytes([[], odd]),
                ]
            ).first)
        #expect(row.integer(0) == .min && row.text(1) == words && row.bytes(2) == odd && row.boolean(3) == true)
        #expect(row.text(4) == nil && row.integer(5) == -7 && row.text(6) == words && row.bytes(7) == odd)
        #expect(row.text(99) == nil)
        #expect(throws: PostgresError.self) { try connection.run("SELECT nothing") }
        #expect(try connection.run("SELECT 1::bigint").first?.integer(0) == 1, "an error leaves it as good as it was")
    }

    @Test func `a database without a ledger, and one of another layout, are refused in words`() throws {
        let none = #expect(throws: StoreError.self) { try open() }
        #expect(none?.description.contains("imagemill ledger init") == true, "\(String(describing: none))")
        try PostgresLedger.prepare(conninfo)
        try PostgresLedger.prepare(conninfo)
        #expect(try open().isNew)
        try open().record(inboxes: [BytePath("/srv/in"): "in"], running: [])
        #expect(try !open().isNew)
        try server.statement("UPDATE ledger SET layout = 99", on: conninfo)
        let newer = #expect(throws: StoreError.self) { try open() }
        #expect(newer?.kind == .otherLayout && newer?.description.contains("a newer Imagemill") == true)
    }

    @Test func `a server that is not there is unreachable, and soon said to be so`() throws {
        let start = Moment.now
        let error = #expect(throws: StoreError.self) {
            try PostgresLedger(
                "host=/nowhere user=mill dbname=postgres", policy: { _ in .run }, patience: .seconds(2))
        }
        #expect(error?.kind == .unreachable && .now < start + .seconds(10), "\(String(describing: error))")
    }

    @Test func `connections that the server has closed cost nothing but new ones`() throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        #expect(try ledger.offer([new(1)]) == [.added])
        try server.statement(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = current_schema() AND pid <> pg_backend_pid()"
        )
        #expect(try ledger.take(request("a")).count == 1)
    }

    @Test func `of many that take at once, each job has one holder`() async throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        let jobs = (0..<400).map(new)
        #expect(try ledger.offer(jobs) == Array(repeating: .added, count: 400))
        let conninfo = conninfo
        let leases = try await withThrowingTaskGroup(of: [Lease].self) { group in
            for owner in 0..<6 {
                group.addTask {
                    try await onNewThread { try Self.workOff(as: "\(owner)", conninfo) }
                }
            }
            return try await group.reduce([], +)
        }
        #expect(leases.count == 400 && Set(leases.map(\.job.id)) == Set(jobs.map(\.id)))
        #expect(Set(leases.map(\.token)).count == 400)
        #expect(try ledger.counts()["in"]?.done == 400)
    }

    @Test func `a job that another transaction has locked is passed over`() throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        #expect(try ledger.offer([new(1), new(2)]) == [.added, .added])
        let other = try PostgresConnection(conninfo, patience: .seconds(10))
        try other.run("BEGIN")
        try other.run("SELECT 1 FROM jobs ORDER BY number LIMIT 1 FOR UPDATE")
        #expect(try ledger.take(request("a")).map(\.job.path.text) == ["p2.jpg"])
        try other.run("ROLLBACK")
        #expect(try ledger.take(request("a")).map(\.job.path.text) == ["p1.jpg"])
    }

    private static func workOff(as owner: String, _ conninfo: String) throws -> [Lease] {
        let node = try PostgresLedger(conninfo, policy: { _ in .run })
        let request = TakeRequest(
            inbox: "in", limit: 8, lightBytes: 100, owner: owner, lease: 60_000, recipe: "r")
        var all: [Lease] = []
        while case let leases = try node.take(request), !leases.isEmpty {
            all += leases
            _ = try node.update(leases.map { JobUpdate($0, .published(damage: nil)) })
            _ = try node.update(leases.map { JobUpdate($0, .settled) })
        }
        return all
    }

    /// The primary key would answer in the same order, and be slower with every job that was done.
    @Test func `jobs are taken by the index of open ones, however many have ended`() throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        _ = try ledger.offer((0..<50).map(new))
        try server.statement(
            """
            INSERT INTO jobs (id, inbox, path, is_set, device, inode, bytes, modified, originals, state, attempts, ends,
                not_before, recipe, offered, changed)
            SELECT 'x' || i, 'in', convert_to('q' || i, 'UTF8'), false, 1, i, 1, 1, 'move', 'done', 1, 0, 0, 'r', 0, 0
                FROM generate_series(1, 50000) AS i;
            ANALYZE jobs
            """, on: conninfo)
        let connection = try PostgresConnection(conninfo, patience: .seconds(10))
        let plan = try connection.run(
            "EXPLAIN SELECT number FROM jobs WHERE \(PostgresLedger.freeJobs) FOR UPDATE SKIP LOCKED",
            [.text("in"), .integer(1 << 50), .integer(1 << 50), .text("me"), .integer(16)]
        ).compactMap { $0.text(0) }.joined(separator: "\n")
        #expect(plan.contains("due_jobs") && !plan.contains("Sort") && !plan.contains("Seq Scan"), "\(plan)")
    }

    @Test func `times are the server's, and go on between its answers`() throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        let first = ledger.now
        #expect(abs(first - Int(Date().timeIntervalSince1970 * 1_000)) < 10_000)
        Thread.sleep(forTimeInterval: 0.05)
        #expect(ledger.now >= first + 40)
    }

    @Test func `jobs whose lease was given and never heard of are taken again`() throws {
        try PostgresLedger.prepare(conninfo)
        let ledger = try open()
        #expect(try ledger.offer([new(1)]) == [.added])
        let lease = try #require(try ledger.take(request("a")).first)
        // As if the answer had been lost.
        ledger.unheard.withLock { $0 = [lease.token] }
        let again = try #require(try ledger.take(request("a")).first)
        #expect(again.job.id == lease.job.id && again.token != lease.token)
        #expect(ledger.unheard.withLock { $0.isEmpty })
    }
}
