// The mill file: what it says if nothing is said, and what is said of its mistakes.
import Testing

@testable import Pipeline

struct MillFileTests {
    private func mill(_ text: String) throws(Diagnostics) -> MillFile { try MillFile(text: text, file: "mill.yaml") }

    private func inbox(_ more: String = "") throws -> MillInbox {
        try #require(try mill("inboxes:\n  - { path: drop/in, outbox: out, pipeline: p.yaml\(more) }\n").inboxes.first)
    }

    @Test
    func `an inbox is read with its defaults`() throws {
        let inbox = try inbox()
        #expect(inbox.name == "in")
        #expect([inbox.path, inbox.outbox, inbox.pipeline].map(\.text) == ["drop/in", "out", "p.yaml"])
        #expect(
            [inbox.settle, inbox.incompleteAfter, inbox.zeroByteAfter, inbox.setQuiet] == [
                .seconds(2), .seconds(600), .seconds(60), .seconds(5),
            ])
        #expect(
            inbox.originals == .move && inbox.watch == .auto && inbox.collision == .version && inbox.reports == .beside)
        #expect(inbox.attempts == 3 && inbox.priority == 1 && inbox.keepsTree && inbox.ignore.isEmpty)
        #expect(inbox.pipeline.position == Position(line: 2, column: 45))
    }

    @Test
    func `a mill is read with its defaults`() throws {
        let file = try mill("inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n")
        #expect(file.state == nil && file.workers == .auto && file.drain == .seconds(30))
        var limits = Limits()
        limits.maximumMemory = 77
        #expect(file.limits(memory: 77) == limits)
    }

    @Test
    func `every setting is read`() throws {
        let inbox = try inbox(
            """
            , name: shop, settle: 500ms, originals: keep, watch: poll every 1.5s, attempts: 5, collision: fail, keep-tree: false,
                incomplete-after: 1h, zero-byte-after: 2m, set-quiet: 0s, priority: 7, ignore: ["*.xmp", "!*.tmp"], reports: folder
            """)
        #expect(inbox.name == "shop" && inbox.settle == .milliseconds(500) && inbox.originals == .keep)
        #expect(
            inbox.watch == .poll(every: .milliseconds(1500)) && inbox.attempts == 5 && inbox.collision == .fail
                && !inbox.keepsTree)
        #expect(
            [inbox.incompleteAfter, inbox.zeroByteAfter, inbox.setQuiet] == [.seconds(3600), .seconds(120), .zero])
        #expect(inbox.priority == 7 && inbox.ignore.map(\.text) == ["*.xmp", "!*.tmp"] && inbox.reports == .folder)
        let file = try mill(
            "state: /var/x\nworkers: 3\ndrain: 5m\nmax-pixels: 300M\nmax-frames: 9\nmax-source-bytes: 1K\nmax-memory: 4G\nmax-output-bytes: 2M\n"
                + "inboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n")
        #expect(file.state?.text == "/var/x" && file.workers == .count(3) && file.drain == .seconds(300))
        let limits = file.limits(memory: 1)
        #expect([limits.maximumPixels, limits.maximumFrames, limits.maximumSourceBytes] == [300_000_000, 9, 1024])
        #expect([limits.maximumMemory, limits.maximumOutputBytes] == [4 << 30, 2 << 20])
    }

    @Test
    func `an inbox may have limits of its own, and takes the others from the mill`() throws {
        let file = try mill(
            "max-pixels: 5M\nmax-side: 900\ninboxes:\n"
                + "  - { path: in, outbox: out, pipeline: p.yaml, limits: { max-pixels: 300M, max-profile-bytes: 1K } }\n"
                + "  - { path: in2, outbox: out2, pipeline: p.yaml }\n")
        let all = file.limits(memory: 1)
        let own = file.inboxes.map { $0.limits(within: all) }
        #expect(own.map(\.maximumPixels) == [300_000_000, 5_000_000] && own.map(\.maximumSide) == [900, 900])
        #expect(own.map(\.maximumProfileBytes) == [1024, 4 << 20] && own.map(\.maximumMemory) == [1, 1])
    }

    @Test(arguments: Fixture.mills)
    func `each fixture brings exactly the messages that are below it`(fixture: Fixture) {
        let error = #expect(throws: Diagnostics.self) {
            try MillFile(text: fixture.input, file: fixture.name + ".yaml")
        }
        #expect(error?.description == fixture.expected)
    }

    @Test
    func `the fixtures are there`() { #expect(Fixture.mills.count >= 5) }

    @Test
    func `paths are relative to the file, and absolute ones are not`() throws {
        let position = Position(line: 1, column: 1)
        let relative = WrittenPath(text: "../drop/in/", position: position)
        #expect(relative.resolved(beside: BytePath("/etc/mills/mill.yaml")).text == "/etc/mills/../drop/in")
        #expect(relative.resolved(beside: BytePath("mill.yaml")).text == "../drop/in")
        #expect(
            WrittenPath(text: "/srv/in", position: position).resolved(beside: BytePath("/etc/mill.yaml")).text
                == "/srv/in")
    }

    @Test(
        arguments: [
            ("inboxes: []", true), ("inboxs: []\nstate: x\nworkers: 3", true), ("renditions: {}", false),
            ("stages: []\nrendition: {}", false),
            ("- a", false),
            ("", false), ("a: [", false),
        ])
    func `a mill file is told from a pipeline by its keys`(text: String, isMill: Bool) {
        #expect(MillFile.isLikely(text) == isMill)
    }

    @Test
    func `a pipeline in place of a mill file, and the other way round, is one mistake`() {
        let pipeline = "# a\nrenditions: { web: { save: { format: webp } } }\n"
        let mill = "state: s\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n"
        let first = #expect(throws: Diagnostics.self) { try MillFile(text: pipeline, file: "p.yaml") }
        let pipelineFound = "expected a mill file, found a pipeline; name it as the 'pipeline' of an inbox"
        #expect(first?.items == [Diagnostic(Position(line: 2, column: 1), pipelineFound)])
        let second = #expect(throws: Diagnostics.self) {
            try PipelineFile(text: mill, file: "m.yaml", catalogue: StageCatalogue([]))
        }
        let millFound = "expected a pipeline, found a mill file, which `imagemill watch` takes"
        #expect(second?.items == [Diagnostic(Position(line: 1, column: 1), millFound)])
        // A file that has keys of both kinds is of the kind that it was read as, with mistakes.
        let both = #expect(throws: Diagnostics.self) { try MillFile(text: "state: s\nstages: []\n", file: "m.yaml") }
        #expect(both?.items.count == 2)
    }

    @Test
    func `the schema knows every setting, and describes an inbox once`() throws {
        let (file, inbox, cache) = MillFile.descriptions
        #expect(file.map(\.key).starts(with: ["state", "workers", "inboxes", "cache", "http", "drain", "max-pixels"]))
        #expect(cache.map(\.key) == ["path", "size"])
        #expect(inbox.filter(\.isRequired).map(\.key) == ["path", "outbox", "pipeline"])
        guard case .object(let members) = MillFile.schema, case .object(let definitions)? = members["$defs"] else {
            Issue.record("the schema is no object")
            return
        }
        #expect(definitions.keys.sorted() == ["inbox"])
        #expect(members["additionalProperties"] == false)
    }
}
