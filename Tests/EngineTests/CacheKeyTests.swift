// A key depends on everything that decides a rendition's bytes, and on nothing else.
import Stages
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct CacheKeyTests {
    private static let text = """
        profile: srgb
        stages:
          - inset: { all: 2% }
        renditions:
          card:
            scale: [1, 2]
            stages:
              - resize: { width: 100, height: 80, mode: aspect-fit }
            save: { format: jpeg, quality: 80 }
            file: "{stem}-card{scale}.{ext}"
        """

    private func keys(
        _ text: String = text, source: String = "aa", pixelsPerPoint: Int = 1, assets: [String: String] = [:],
        more: [String: String] = [:]
    ) throws -> [CacheKey] {
        let pipeline = try PipelineFile(text: text, file: "p.yaml", catalogue: .all)
        var builder = CacheKeyBuilder(pipeline: pipeline, assets: assets)
        for (name, value) in more { builder.add(name, value) }
        return builder.keys(for: pipeline, source: source, pixelsPerPoint: pixelsPerPoint)
    }

    @Test func `each scale has a key of its own, and the same question the same answer`() throws {
        let keys = try keys()
        #expect(keys.count == 2 && keys[0] != keys[1] && keys[0].text.count == 64)
        #expect(try self.keys() == keys)
    }

    @Test
    func `names, comments, layout and the order of keys do not count; neither do a rendition's other scales`() throws {
        let other = """
            # another file
            renditions:
              other-name:
                file: "x/{stem}{scale}.{ext}"
                save: { quality: 80, format: jpeg }
                stages: [ { resize: { mode: aspect-fit, height: 80, width: 100 } } ]
                scale: 1
            stages: [ { inset: { all: 2% } } ]
            profile: srgb
            """
        #expect(try keys(other) == [keys()[0]])
    }

    @Test(arguments: [
        ("profile: srgb", "profile: keep"), ("all: 2%", "all: 3%"), ("width: 100", "width: 101"),
        ("quality: 80", "quality: 81"),
        ("mode: aspect-fit", "mode: aspect-fill"), ("format: jpeg", "format: webp"),
        ("profile: srgb", "profile: srgb\ntolerate: truncated"),
        ("quality: 80", "quality: 80, metadata: strip"),
        ("    stages:\n", "    stages:\n      - flip: { axis: horizontal }\n"),
    ])
    func `every part of the pipeline counts`(old: String, new: String) throws {
        let parts = Self.text.replacing(first: old, new)
        #expect(parts != Self.text)
        #expect(try Set(keys(parts)).isDisjoint(with: keys()))
    }

    @Test func `the source, its pixels per point, the assets' content and whatever else is added count`() throws {
        let all = try [
            keys(), keys(source: "ab"), keys(pixelsPerPoint: 2), keys(assets: ["b.png": "1"]),
            keys(assets: ["b.png": "2"]),
            keys(more: ["thumbnail": "file:///a"]),
        ]
        #expect(Set(all.flatMap { $0 }).count == 12)
    }
}

extension String {
    /// This text with the first place of another replaced.
    fileprivate func replacing(first old: String, _ new: String) -> String {
        guard let place = ranges(of: old).first else { return self }
        var text = self
        text.replaceSubrange(place, with: new)
        return text
    }
}
