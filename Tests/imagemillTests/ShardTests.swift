// Batches in shards: `shard`, `run --plan` and `gather`, as a cluster's tasks call them.
import Foundation
import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct ShardTests {
    /// Files of an output folder and their contents, without what Imagemill keeps there.
    private func renditions(_ runner: CommandRunner, in folder: String = "out") throws -> [String: [UInt8]] {
        try runner.files(in: folder).reduce(into: [:]) { $0[$1] = try runner.bytes(folder + "/" + $1) }
    }

    private func plan(_ runner: CommandRunner, _ folder: String = "plan") throws -> [String: Any] {
        let data = Data(try runner.bytes(folder + "/plan.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func id(_ runner: CommandRunner, _ folder: String = "plan") throws -> String {
        try #require(try plan(runner, folder)["id"] as? String)
    }

    /// The contents of the folder of the plan's own files.
    private func kept(_ runner: CommandRunner, _ folder: String) throws -> [String] {
        let place = "out/.imagemill/plan-\(try id(runner))/\(folder)"
        return try FileManager.default.contentsOfDirectory(atPath: runner.folder.path(place)).sorted()
    }

    private func result(_ runner: CommandRunner, _ shard: Int) throws -> [String: Any] {
        let name = "out/.imagemill/plan-\(try id(runner))/shards/00000\(shard).json"
        return try #require(try JSONSerialization.jsonObject(with: Data(try runner.bytes(name))) as? [String: Any])
    }

    private func codes(_ runner: CommandRunner, _ shard: Int) throws -> [String] {
        try #require(try result(runner, shard)["failures"] as? [[String: Any]]).compactMap { $0["code"] as? String }
    }

    /// Seven pictures in two folders, one of which is none.
    private func archive(_ runner: CommandRunner) async throws {
        try runner.pipeline()
        for name in ["in/1.jpg", "in/2.png", "in/10.jpg", "in/b/1.jpg", "in/b/2.webp", "in/b/3.gif"] {
            try await runner.picture(name)
        }
        try runner.folder.write("no picture", to: "in/b/4.jpg")
    }

    private func runAll(_ runner: CommandRunner, tasks: Int, _ more: String...) async throws {
        for task in 0..<tasks {
            let result = try await runner.run(["run", "--plan", "plan", "--task", "\(task)", "-o", "out"] + more)
            #expect(result.exit == 0, "\(result.errors)")
        }
    }

    // MARK: - The whole

    @Test
    func `shards make the same files as one run, each in its shard's folder; a source that fails is listed by gather`()
        async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        let made = try await runner.run(
            "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "2", "--tasks", "3")
        #expect(made.exit == 0, "\(made.errors)")
        #expect(made.errors.contains("7 sources in 4 shards and 3 tasks, --array=0-2"), "\(made.errors)")
        try await runAll(runner, tasks: 3)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "one", "--keep-tree").exit == 1)

        let files = try renditions(runner)
        #expect(
            files.keys.sorted() == [
                "000000/1.webp", "000000/2.webp", "000001/1.webp", "000001/10.webp", "000002/2.webp", "000002/3.webp",
            ])
        let single = try renditions(runner, in: "one")
        let places = [
            "000000/1.webp": "1.webp", "000000/2.webp": "2.webp", "000001/10.webp": "10.webp",
            "000001/1.webp": "b/1.webp",
            "000002/2.webp": "b/2.webp", "000002/3.webp": "b/3.webp",
        ]
        for (shard, one) in places { #expect(files[shard] == single[one], "\(shard)") }

        let gathered = try await runner.run("gather", "plan", "-o", "out", "--json")
        #expect(gathered.exit == 0)
        #expect(
            gathered.errors.contains("4 of 4 shards, 6 of 7 sources done, 1 failed, 6 renditions"), "\(gathered.errors)"
        )
        #expect(gathered.errors.contains("1 failed: not-an-image"))
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(gathered.output.utf8)) as? [String: Any])
        let failures = try #require(document["failures"] as? [[String: Any]])
        #expect(failures.map { $0["path"] as? String } == ["b/4.jpg"] && failures[0]["shard"] as? Int == 3)
        #expect(try runner.bytes("out/.imagemill/report.json") == Array(gathered.output.utf8))
        #expect(try await runner.run("gather", "plan", "-o", "out", "--missing").output == "")
        #expect(try kept(runner, "staging") == [])
    }

    @Test(arguments: ["folders", "tree", "tar"])
    func `gather writes a page of all shards whose addresses lead to their files; what is missing or packed is named`(
        layout: String
    ) async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        let options = ["folders": [], "tree": ["--keep-tree"], "tar": ["--pack", "tar"]][layout]!
        #expect(
            try await runner.run(
                ["shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "4", "--tasks", "2"] + options
            ).exit == 0)
        #expect(try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out").exit == 0)
        let part = try await runner.run("gather", "plan", "-o", "out", "--report", "pages/report.html")
        #expect(part.exit == 75, "\(part.errors)")
        let early = try content(runner)
        #expect(
            early.notices == ["1 of 2 shards are not done; run these tasks again: 1."] && !early.rows.isEmpty
                && early.rows.count < 7)
        #expect(try await runner.run("run", "--plan", "plan", "--task", "1", "-o", "out").exit == 0)
        let result = try await runner.run("gather", "plan", "-o", "out", "--report", "pages/report.html")
        #expect(result.exit == 0, "\(result.errors)")
        let all = try content(runner)
        #expect(
            all.notices.isEmpty && all.rows.count == 7
                && all.rows.filter { $0.status == "failed" }.map(\.path) == ["b/4.jpg"])
        for row in all.rows where row.status == "done" {
            #expect((row.archive != nil) == (layout == "tar"))
            let addresses = [row.url] + row.renditions.map(\.url)
            if layout == "tar" {
                #expect(addresses.allSatisfy { $0 == nil } && runner.exists("out/" + (row.archive ?? "")))
            } else {
                for address in addresses { #expect(runner.exists("pages/" + (address ?? "?")), "\(address ?? "nil")") }
            }
        }
    }

    private struct PageContent: Decodable {
        struct Row: Decodable {
            struct Rendition: Decodable { let url: String? }
            let status, path: String
            let url, archive: String?
            let renditions: [Rendition]
        }
        let rows: [Row]
        let notices: [String]
    }

    private func content(_ runner: CommandRunner) throws -> PageContent {
        let page = String(decoding: try runner.bytes("pages/report.html"), as: UTF8.self)
        let start = try #require(page.range(of: #"<script type="application/json" id="data">"#)).upperBound
        let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        return try JSONDecoder().decode(PageContent.self, from: Data(page[start..<end].utf8))
    }

    @Test func `a page of a batch is no document, and --missing has none`() async throws {
        let runner = try CommandRunner()
        let json = try await runner.run("gather", "plan", "-o", "out", "--report", "report.json")
        #expect(
            json.exit == 64 && json.errors.contains("--report writes a page; name a file that ends with .html"),
            "\(json.errors)")
        #expect(
            try await runner.run("gather", "plan", "-o", "out", "--report", "a.html", "--missing").errors.contains(
                "exclude each other"))
    }

    @Test func `plan, results and what gather writes are as their schemas say`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "4").exit == 0)
        try await runAll(runner, tasks: 2)
        #expect(try await runner.run("gather", "plan", "-o", "out").exit == 0)
        let place = "out/.imagemill/plan-\(try id(runner))"
        for (schema, files) in [
            ("plan", ["plan/plan.json"]), ("shard", ["\(place)/shards/000000.json", "\(place)/shards/000001.json"]),
            ("gather", ["out/.imagemill/report.json"]),
            ("batch", ["\(place)/reports/000000.json", "\(place)/reports/000001.json"]),
        ] {
            let result = try await runner.validate(schema, files)
            #expect(result.exit == 0, "\(schema): \(result.output)\(result.errors)")
        }
    }

    @Test
    func `with --keep-tree a folder is never split, and the files are those of one run, names and all`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        for name in ["in/c/d/1.jpg", "in/c/d/1.png", "in/c/2.jpg"] { try await runner.picture(name) }
        #expect(
            try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "3", "--keep-tree")
                .exit == 0)
        #expect(try plan(runner)["shards"] as? Int == 3)
        #expect(try plan(runner)["layout"] as? String == "tree")
        try await runAll(runner, tasks: 3)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "one", "--keep-tree").exit == 1)
        let files = try renditions(runner)
        #expect(files["c/d/1-2.webp"] != nil)
        #expect(try files == renditions(runner, in: "one"))
    }

    @Test func `names of digests need no folders: all renditions are in one`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(file: "{hash:16}.{ext}")
        for name in ["in/1.jpg", "in/2.png", "in/3.gif", "in/copy.jpg"] { try await runner.picture(name) }
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "1").exit == 0)
        #expect(try plan(runner)["layout"] as? String == "hash")
        try await runAll(runner, tasks: 4)
        let names = runner.files()
        #expect(names.count == 3 && names.allSatisfy { $0.count == 16 + 5 }, "\(names)")
    }

    @Test
    func `a packed shard is one tar with its members in order and the report last; twice it is the same`() async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        let long = String(repeating: "long-", count: 30)
        try await runner.picture("in/c/\(long)é.jpg")
        let words = [
            "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "4", "--keep-tree", "--pack", "tar",
        ]
        #expect(try await runner.run(words).exit == 0)
        try await runAll(runner, tasks: 2)
        #expect(runner.files() == ["000000.tar", "000001.tar"])
        let listed = try await runner.shell("for n in 0 1; do tar -tf out/00000$n.tar --quoting-style=literal; done")
        let expected = [
            "1.webp", "2.webp", "10.webp", "b/1.webp", "000000.json", "b/2.webp", "b/3.webp", "c/\(long)é.webp",
            "000001.json",
        ]
        #expect(listed.output.split(separator: "\n").map(String.init) == expected, "\(listed.errors)")

        #expect(try await runner.run("run", "p.yaml", "in", "-o", "one", "--keep-tree").exit == 1)
        #expect(try await runner.shell("mkdir two && for n in 0 1; do tar -xf out/00000$n.tar -C two; done").exit == 0)
        let reports = try await runner.validate("batch", ["two/000000.json", "two/000001.json"])
        #expect(reports.exit == 0, "\(reports.output)")
        _ = try await runner.shell("rm two/*.json")
        #expect(try renditions(runner, in: "two") == renditions(runner, in: "one"))
        #expect(try kept(runner, "staging") == [])
        #expect(try await runner.run("gather", "plan", "-o", "out").exit == 0)
    }

    @Test func `a set of pictures is one source of a shard`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "source: set\nrenditions:\n  sheet:\n    stages:\n      - contact-sheet: { columns: 2, cell: { width: 20, height: 20 } }\n    save: { format: png }\n",
            to: "p.yaml")
        for name in ["in/a/1.jpg", "in/a/2.jpg", "in/b/1.jpg", "in/b/2.png"] { try await runner.picture(name) }
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "1").exit == 0)
        _ = try await runner.shell("sleep 0.02; cp in/a/1.jpg in/b/1.jpg && echo x >> in/b/1.jpg")
        try await runAll(runner, tasks: 2)
        #expect(runner.files() == ["000000/a.png"])
        #expect(try codes(runner, 1) == ["changed-since-plan"])
        let refused = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan2", "--keep-tree")
        #expect(refused.exit == 64 && refused.errors.contains("sets of pictures"), "\(refused.errors)")
    }

    // MARK: - Plans

    @Test func `an interrupted walk leaves no plan, and the next one makes it`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(mkfifo(runner.folder.path("list"), 0o600) == 0)
        let command = try runner.start("shard", "--files-from", "list", "--pipeline", "p.yaml", "-o", "plan")
        let feeding = Task { try await runner.shell("(touch opened; echo in/1.jpg; sleep 60) > list", seconds: 90) }
        // The shell opens the pipe when somebody reads it.
        for _ in 0..<2000 where !runner.exists("opened") { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(200))
        command.signal(SIGKILL)
        _ = try await command.finish()
        feeding.cancel()
        #expect(!runner.exists("plan/plan.json"))
        let early = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(early.exit == 78 && early.errors.contains("there is no complete plan"), "\(early.errors)")
        #expect(!runner.exists("out"))
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("plan")).sorted()
        #expect(files == ["pipeline.yaml", "plan.json", "shards.index", "sources.list"])
        let again = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan")
        #expect(again.exit == 78 && again.errors.contains("there is a plan"), "\(again.errors)")
    }

    @Test func `the same sources make the same plan; the number of tasks is a part of it`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        for (folder, tasks) in [("plan", "5"), ("plan2", "5"), ("plan3", "4")] {
            #expect(
                try await runner.run(
                    "shard", "in", "--pipeline", "p.yaml", "-o", folder, "--per-shard", "1", "--tasks", tasks
                ).exit == 0)
        }
        #expect(try id(runner) == id(runner, "plan2"))
        #expect(try id(runner) != id(runner, "plan3"))
    }

    @Test func `a list of files, with odd names, names twice and files that are missing`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        _ = try await runner.shell(
            "cp in/1.jpg \"$(printf 'in/new\\nline.jpg')\"; cp in/1.jpg \"$(printf 'in/x\\377.jpg')\"; cp in/1.jpg 'in/ a b .jpg'"
        )
        let made = try await runner.shell(
            "(printf '%s\\0' ./in/1.jpg in/1.jpg missing.jpg; find in -name '*n*' -print0 -o -name '*x*' -print0 -o -name '* *' -print0) "
                + "| \"$IMAGEMILL\" shard --files-from - --from0 --pipeline p.yaml -o plan")
        #expect(made.exit == 0 && made.errors.contains("left out 'in/1.jpg': it was named twice"), "\(made.errors)")
        try await runAll(runner, tasks: 1)
        // `in` is a folder that the list names: all of it is below.
        let names = Set(runner.files().map { $0.split(separator: "/").last.map(String.init) ?? "" })
        #expect(names.isSuperset(of: ["1.webp", " a b .webp", "new\nline.webp"]), "\(names)")
        #expect(try codes(runner, 0).sorted() == ["not-an-image", "not-found"])

        let up = try await runner.shell(
            "echo ../x.jpg | \"$IMAGEMILL\" shard --files-from - --pipeline p.yaml -o plan2")
        #expect(up.exit == 64 && up.errors.contains("entry 1 of the list, '../x.jpg'"), "\(up.errors)")
        let mixed = try await runner.shell(
            "printf 'in/1.jpg\\nin/b/1.jpg\\nin/2.png\\n' | \"$IMAGEMILL\" shard --files-from - --keep-tree --pipeline p.yaml -o plan3"
        )
        #expect(mixed.exit == 64 && mixed.errors.contains("comes back to the folder 'in'"), "\(mixed.errors)")
        #expect(!runner.exists("plan3/plan.json"))
    }

    @Test func `what does not fit together is refused before anything is written`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(try await runner.run("shard", "in", "in/b", "--pipeline", "p.yaml", "-o", "plan").exit == 64)
        #expect(
            try await runner.run("shard", "in/b", "in/1.jpg", "--keep-tree", "--pipeline", "p.yaml", "-o", "plan").exit
                == 64)
        #expect(try await runner.run("shard", "--pipeline", "p.yaml", "-o", "plan").exit == 64)
        #expect(try await runner.run("shard", "nowhere", "--pipeline", "p.yaml", "-o", "plan").exit == 75)
        #expect(
            try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "0").exit == 64)
        #expect(!runner.exists("plan/plan.json"))
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        for words in [
            ["--task", "0", "-o", "out", "--force"], ["--task", "1", "-o", "out"],
            ["--task", "0", "-o", "out", "--max-pixels", "5"], ["-o", "out"],
            ["p.yaml", "in", "--task", "0", "-o", "out"],
        ] {
            let result = try await runner.run(["run", "--plan", "plan"] + words)
            #expect(result.exit == 64, "\(words): \(result.exit) \(result.errors)")
        }
        #expect(!runner.exists("out"))
    }

    @Test func `an empty folder makes a plan without shards`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try runner.folder.write("", to: "in/.hidden")
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        try await runAll(runner, tasks: 1)
        #expect(try await runner.run("gather", "plan", "-o", "out").exit == 0)
    }

    // MARK: - Tasks

    @Test(arguments: [
        "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX",
    ])
    func `the number of the task comes from Slurm, Kubernetes or AWS Batch`(variable: String) async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "4").exit == 0)
        let words = ["run", "--plan", "plan", "-o", "out"]
        let result = try await runner.start(words, variables: ["\(variable)=1"]).finish()
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try kept(runner, "shards") == ["000001.json"])
        #expect(try await runner.start(words, variables: ["\(variable)=x"]).finish().exit == 64)
        #expect(try await runner.run("gather", "plan", "-o", "out", "--missing").output == "0\n")
        let gathered = try await runner.run("gather", "plan", "-o", "out")
        #expect(
            gathered.exit == 75 && gathered.errors.contains("1 shard is missing; run these tasks again: 0"),
            "\(gathered.errors)")
    }

    @Test
    func `a shard that is done is passed over; one whose result is gone is done again, to the same bytes`() async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(
            try await runner.run(
                "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "2", "--tasks", "1"
            ).exit == 0)
        try await runAll(runner, tasks: 1)
        let files = try renditions(runner)
        let old =
            try FileManager.default.attributesOfItem(atPath: runner.folder.path("out/000000/1.webp"))[.systemFileNumber]
            as? Int
        let second = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(second.exit == 0 && second.errors.contains("4 shards done already; nothing to do"), "\(second.errors)")

        let place = runner.folder.path("out/.imagemill/plan-\(try id(runner))")
        try FileManager.default.removeItem(atPath: place + "/shards/000000.json")
        try FileManager.default.removeItem(atPath: place + "/shards/000002.json")
        try runner.folder.write("cut", to: "out/000002/2.webp")
        // As a killed attempt leaves it.
        try runner.folder.write(
            "rest", to: "out/.imagemill/plan-\(try id(runner))/staging/000002-node9-1-x/.imagemill-1.part")
        try runner.folder.write("{\"schema\":", to: "out/.imagemill/plan-\(try id(runner))/shards/000003.json")
        #expect(try await runner.run("gather", "plan", "-o", "out", "--missing").output == "0\n")
        try FileManager.default.removeItem(atPath: place + "/shards/000003.json")
        let third = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        #expect(third.exit == 0 && third.errors.contains("3 shards; 1 shard done already"), "\(third.errors)")
        #expect(try files == renditions(runner))
        let new =
            try FileManager.default.attributesOfItem(atPath: runner.folder.path("out/000000/1.webp"))[.systemFileNumber]
            as? Int
        #expect(old != new, "it was made again")
        #expect(try kept(runner, "staging") == [])
    }

    @Test
    func `one task many times at once does no harm: everybody ends with 0, and nothing is left over`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        let noise = try await SamplePicture.noise(width: 300, height: 300)
        for index in 0..<12 { try runner.folder.write(noise, to: "in/\(index).jpg") }
        try runner.folder.write(noise, to: "in/1.jpeg")
        #expect(
            try await runner.run(
                "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "7", "--tasks", "1"
            ).exit == 0)
        let running = try (0..<4).map { _ in
            try runner.start("run", "--plan", "plan", "--task", "0", "-o", "out", "--jobs", "2")
        }
        for command in running {
            let result = try await command.finish(withinSeconds: 120)
            #expect(result.exit == 0, "\(result.exit): \(result.errors)")
        }
        #expect(runner.files().count == 13)
        #expect(try await runner.run("gather", "plan", "-o", "out").exit == 0)
        #expect(try kept(runner, "staging") == [])
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "one").exit == 0)
        let one = try renditions(runner, in: "one")
        for (name, bytes) in try renditions(runner) { #expect(one.values.contains(bytes), "\(name)") }
    }

    @Test func `an attempt that somebody else has overtaken cannot publish any more, and ends with 0`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        let noise = try await SamplePicture.noise(width: 900, height: 900)
        for index in 0..<40 { try runner.folder.write(noise, to: "in/\(index).jpg") }
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        let words = ["run", "--plan", "plan", "--task", "0", "-o", "out", "--jobs", "1"]
        let slow = try runner.start(words)
        for _ in 0..<2000 {
            guard runner.files().isEmpty else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        slow.signal(SIGSTOP)
        #expect(try await runner.run(words).exit == 0)
        let files = try renditions(runner)
        let numbers = try runner.files().map {
            try FileManager.default.attributesOfItem(atPath: runner.folder.path("out/" + $0))[.systemFileNumber] as? Int
        }
        slow.signal(SIGCONT)
        let result = try await slow.finish()
        #expect(
            result.exit == 0 && result.errors.contains("another attempt has done it"), "\(result.exit) \(result.errors)"
        )
        #expect(try files == renditions(runner))
        let after = try runner.files().map {
            try FileManager.default.attributesOfItem(atPath: runner.folder.path("out/" + $0))[.systemFileNumber] as? Int
        }
        #expect(numbers == after)
        #expect(try kept(runner, "staging") == [])
    }

    @Test func `SIGTERM ends a task at once with 143; what it had begun can be done again`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        for index in 0..<12 {
            try runner.folder.write(try await SamplePicture.noise(width: 900, height: 900), to: "in/\(index).jpg")
        }
        #expect(
            try await runner.run(
                "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "4", "--tasks", "1"
            ).exit == 0)
        let task = try runner.start("run", "--plan", "plan", "--task", "0", "-o", "out", "--jobs", "1")
        for _ in 0..<2000 {
            guard runner.files().isEmpty else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        task.signal(SIGTERM)
        let result = try await task.finish()
        #expect(result.exit == 143, "\(result.errors)")
        #expect(try kept(runner, "staging") == [])
        #expect(try await runner.run("gather", "plan", "-o", "out", "--missing").output == "0\n")
        try await runAll(runner, tasks: 1)
        #expect(runner.files().count == 12)
        #expect(try await runner.run("gather", "plan", "-o", "out").exit == 0)
    }

    // MARK: - Changes

    @Test
    func `a source that changed since the plan fails with changed-since-plan, one that is gone with not-found`()
        async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        _ = try await runner.shell(
            "sleep 0.02; touch in/1.jpg; cp in/1.jpg in/2.png; rm in/b/1.jpg; cp in/10.jpg in/b/new.jpg")
        try await runAll(runner, tasks: 1)
        #expect(
            try codes(runner, 0).sorted() == ["changed-since-plan", "changed-since-plan", "not-an-image", "not-found"])
        #expect(runner.files() == ["000000/10.webp", "000000/2.webp", "000000/3.webp"])
    }

    @Test
    func `a folder of sources that is missing or empty is trouble with the machine: 75, and the shard is not done`()
        async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        for line in ["mv in away", "mkdir in"] {
            #expect(try await runner.shell(line).exit == 0)
            let result = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out", "-q")
            #expect(result.exit == 75 && result.errors.contains("shard 0 is not done"), "\(line): \(result.errors)")
            #expect(try kept(runner, "shards") == [])
        }
        _ = try await runner.shell("rmdir in; mv away in")
        try await runAll(runner, tasks: 1)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `a full disk ends the task with 75 and leaves the shard to be done`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        for index in 0..<8 {
            try runner.folder.write(try await SamplePicture.noise(width: 500, height: 500), to: "in/\(index).jpg")
        }
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        try FileManager.default.createDirectory(atPath: runner.folder.path("out"), withIntermediateDirectories: true)
        try #require(try await runner.shell("mount -t tmpfs -o size=1m none out").exit == 0)
        let result = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        let left = try kept(runner, "shards") + kept(runner, "staging")
        _ = try await runner.shell("umount out")
        #expect(result.exit == 75 && result.errors.contains("shard 0 is not done"), "\(result.errors)")
        #expect(left == [])
    }

    @Test func `an index whose lines have changed places ends with 78, also for a task of other shards`() async throws {
        let runner = try CommandRunner()
        try await archive(runner)
        let made = try await runner.run(
            "shard", "in", "--pipeline", "p.yaml", "-o", "plan", "--per-shard", "1", "--tasks", "5")
        #expect(made.exit == 0)
        #expect(try await runner.shell("sed -i '2{h;d};3G' plan/shards.index").exit == 0)
        for task in ["0", "1"] {
            let result = try await runner.run("run", "--plan", "plan", "--task", task, "-o", "out")
            #expect(
                result.exit == 78
                    && result.errors.contains(
                        "the plan in 'plan' is damaged: shards.index is not the one that was written"),
                "\(result.exit) \(result.errors)")
        }
        #expect(!runner.exists("out"))
    }

    @Test
    func `a plan of another version, pipeline or assets ends with 78; so does another plan's output folder`()
        async throws
    {
        let runner = try CommandRunner()
        try await archive(runner)
        try await runner.picture("mark.png")
        try runner.folder.write(
            "renditions:\n  a:\n    stages:\n      - overlay: { image: mark.png, anchor: center }\n    save: { format: webp }\n",
            to: "p.yaml")
        #expect(try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan").exit == 0)
        func task() async throws -> CommandResult {
            try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "out")
        }

        for (line, words) in [
            ("sed -i 's/imagemill 0/imagemill 99/' plan/plan.json", "is not the plan that was written there"),
            ("echo '# more' >> plan/pipeline.yaml", "has another pipeline.yaml"),
            ("cp in/1.jpg mark.png", "was made with another 'mark.png'"),
            ("printf x | dd of=plan/sources.list conv=notrunc status=none", "the list of shard 0"),
            ("mkdir -p out && touch out/mine.txt", "has other files in it ('mine.txt')"),
            ("mkdir -p out/.imagemill/plan-0123456789abcdef", "has the results of another plan"),
        ] {
            #expect(try await runner.shell("cp -a plan kept; cp mark.png kept.png; \(line)").exit == 0)
            let result = try await task()
            #expect(result.exit == 78 && result.errors.contains(words), "\(line): \(result.exit) \(result.errors)")
            #expect(try await runner.shell("rm -rf plan out; mv kept plan; cp kept.png mark.png").exit == 0)
        }
        #expect(try await task().exit == 0)
    }
}
