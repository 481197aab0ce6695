// The parts of plans that need no files: cutting, records, task numbers, totals.
import Pipeline
import Stages
import System
import Testing

@testable import Engine

@Suite struct ShardPartsTests {
    private func cut(_ sources: [(folder: String, count: Int)], perShard: Int, keepsFolders: Bool) -> [Int] {
        var cutter = ShardCutter(perShard: perShard, keepsFolders: keepsFolders)
        var blocks: [ShardBlock] = []
        for source in sources {
            for _ in 0..<source.count {
                if let block = cutter.add([1], in: BytePath(source.folder)) { blocks.append(block) }
            }
        }
        return (blocks + cutter.finish()).map(\.sources)
    }

    @Test func `shards have the wanted number of sources, the last one the rest`() {
        #expect(cut([("a", 3), ("b", 4)], perShard: 3, keepsFolders: false) == [3, 3, 1])
        #expect(cut([("a", 6)], perShard: 3, keepsFolders: false) == [3, 3])
        #expect(cut([], perShard: 3, keepsFolders: false) == [])
    }

    @Test func `a folder is not split, and a shard is larger only if one folder is`() {
        #expect(
            cut([("a", 2), ("b", 1), ("c", 3), ("d", 9), ("e", 1)], perShard: 3, keepsFolders: true) == [3, 3, 9, 1])
        #expect(cut([("a", 2), ("b", 2), ("c", 2)], perShard: 3, keepsFolders: true) == [2, 2, 2])
        #expect(cut([], perShard: 3, keepsFolders: true) == [])
    }

    @Test func `sources are read as they were written, whatever their names are`() throws {
        let odd = BytePath([0x61, 0x20, 0x0A, 0xFF, 0x2F, 0x20])
        let sources: [PlannedSource] = [
            PlannedSource(root: 0, kind: .picture(.init(path: odd, FileStamp(bytes: 12, modified: -5)))),
            PlannedSource(root: 3, kind: .picture(.init(path: BytePath("gone"), nil))),
            PlannedSource(root: 2, kind: .member(.init(path: odd, FileStamp(bytes: 7, modified: 8)), offset: 1 << 40)),
            PlannedSource(
                root: 1, kind: .set(BytePath([]), [.init(path: odd.lastComponent, FileStamp(bytes: 0, modified: .max))])
            ),
            PlannedSource(root: 0, kind: .set(BytePath("empty"), [])),
            PlannedSource(
                root: 0, kind: .problem(odd, Failure(.permissionDenied, stage: "read", "cannot open 'é': no"))),
        ]
        let bytes = sources.flatMap(\.encoded)
        #expect(PlannedSource.decode(bytes) == sources)
        for end in bytes.indices.dropFirst() where PlannedSource.decode(Array(bytes[..<end])) != nil {
            #expect(bytes[end - 1] == 0, "only whole records are read: \(end)")
        }
        for text in [
            "T 0 5 - 1 a\0", "T 0 -5 1 1 a\0", "P", "P 0 1 2", "X 0 1 2 a\0", "S 0 9 a\0", "S 0 -1 a\0",
            "E 0 no-such 1 a b\0",
            "E 0 corrupt 99 a b\0", "P x 1 2 a\0",
        ] {
            #expect(PlannedSource.decode(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func `every line of the index has the same length`() {
        let digest = String(repeating: "a", count: 64)
        for entry in [
            ShardEntry(offset: 0, bytes: 0, sources: 0, digest: digest),
            ShardEntry(offset: 9_999_999_999_999, bytes: 999_999_999, sources: 1_000_000, digest: digest),
        ] {
            #expect(entry.line.count == ShardEntry.lineBytes)
            #expect(ShardEntry(line: entry.line) == entry)
        }
    }

    @Test(arguments: [
        ([], ""), ([3], "3"), ([3, 17, 200, 201, 202], "3,17,200-202"), ([0, 1, 5, 6, 7, 9], "0,1,5-7,9"),
    ])
    func `task numbers are written as sbatch takes them`(numbers: [Int], text: String) {
        #expect(TaskRanges(numbers).description == text)
    }

    @Test func `the time of a node at work counts what overlaps once`() {
        #expect(ShardTally.covered([(0, 10), (5, 15), (20, 30), (22, 25)]) == 25)
        #expect(ShardTally.covered([]) == 0)
    }

    @Test(arguments: [
        ("{stem}.{ext}", ShardLayout.folders), ("{dir}/{stem}.{ext}", .tree), ("thumbs/{dir}/{stem}.{ext}", .tree),
        ("{dir}{stem}.{ext}", .folders),
        ("x{dir}/{stem}.{ext}", .folders), ("{hash}.{ext}", .hash), ("{hash:16}-{stem}.{ext}", .hash),
        ("{hash:15}.{ext}", .folders),
    ])
    func `where renditions go follows from the names`(file: String, layout: ShardLayout) throws {
        let text = "renditions:\n  a:\n    save: { format: webp }\n    file: \"\(file)\"\n"
        let pipeline = try PipelineFile(text: text, file: "p.yaml", catalogue: .all)
        #expect(ShardLayout(pipeline, keepsTree: false) == layout)
        #expect(ShardLayout(pipeline, keepsTree: true) == .tree)
        #expect(ShardLayout(pipeline, keepsTree: true, packs: true) == .tar)
    }
}
