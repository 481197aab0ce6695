// The failed sources as the dashboard pages through them.
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct FailureListTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var failed: BytePath { BytePath(folder.path("failed")) }

    private func fail(_ name: String, _ code: FailureCode, _ message: String = "x") throws {
        try folder.write("x", to: "failed/" + name)
        try FailureNote(
            source: BytePath(name), job: "7", inbox: BytePath("/in"), quarantined: failed.appending(BytePath(name)),
            pipeline: BytePath("/p"), failure: Failure(code, stage: "decode", message), attempts: 3
        ).write(beside: BytePath(name), in: Directory(failed))
    }

    private func standing(_ count: Int = 20_000) -> [String: Standing] {
        ["in": Standing(failures: StandingFailures(failed, describing: count))]
    }

    @Test func `all are there, in pages; a page after the last is the last`() throws {
        for number in 100..<220 { try fail("\(number).jpg", .notAnImage) }
        let standing = standing()
        var names: [String] = []
        for offset in stride(from: 0, to: 125, by: 25) {
            let page = FailureList(standing, FailureQuery(), offset: offset)
            #expect(page.total == 120 && page.matching == 120 && page.offset == offset)
            names += page.failures.map(\.path)
        }
        #expect(names.sorted() == (100..<220).map { "\($0).jpg" })
        let last = FailureList(standing, FailureQuery(), offset: 5000)
        #expect(last.offset == 100 && last.failures.count == 20)
        #expect(FailureList([:], FailureQuery(), offset: 70).offset == 0)
    }

    @Test func `they are found by code, inbox and words, and the groups are those of all`() throws {
        try fail("sea.jpg", .truncated, "it ends after 12 bytes")
        try fail("SEA two.jpg", .notAnImage)
        try fail("meadow.jpg", .notAnImage)
        try folder.write("x", to: "failed/no note.jpg")
        let standing = standing()
        func paths(_ query: FailureQuery) -> [String] {
            let page = FailureList(standing, query, offset: 0)
            #expect(page.groups.map { "\($0.code) \($0.count)" } == ["not-an-image 2", "truncated 1", "unknown 1"])
            return page.failures.map(\.path).sorted()
        }
        #expect(paths(FailureQuery(code: "not-an-image")) == ["SEA two.jpg", "meadow.jpg"])
        #expect(paths(FailureQuery(search: "sea JPG")) == ["SEA two.jpg", "sea.jpg"])
        #expect(paths(FailureQuery(search: "12 bytes")) == ["sea.jpg"])
        #expect(paths(FailureQuery(code: "unknown")) == ["no note.jpg"])
        #expect(paths(FailureQuery(inbox: "other")) == [])
        // The latest comes first, and what has no time last.
        let all = FailureList(standing, FailureQuery(), offset: 0).failures
        #expect(
            all.last?.path == "no note.jpg" && all.dropLast().compactMap(\.time).sorted(by: >) == all.compactMap(\.time)
        )
        let failure = try #require(FailureList(standing, FailureQuery(code: "truncated"), offset: 0).failures.first)
        #expect(failure.attempts == 3 && failure.stage == "decode" && failure.name == "in/sea.jpg")
        #expect(failure.time != nil && failure.remedy == FailureCode.truncated.remedy(in: .millFile))
        #expect(all.last?.remedy?.contains("the log") == true)
    }

    @Test func `those that are too many to be listed are counted`() throws {
        for number in 0..<8 { try fail("\(number).jpg", .corrupt) }
        let page = FailureList(standing(5), FailureQuery(), offset: 0)
        #expect(page.total == 8 && page.listed == 5 && page.matching == 5)
    }

    @Test func `a note is read again only after it has changed`() throws {
        try fail("a.jpg", .corrupt)
        let first = try #require(StandingFailures(failed))
        #expect(StandingFailures(failed, known: first) == first)
        try fail("a.jpg", .truncated)
        let second = try #require(StandingFailures(failed, known: first))
        #expect(second != first && second.entries.map(\.code) == ["truncated"])
    }
}
