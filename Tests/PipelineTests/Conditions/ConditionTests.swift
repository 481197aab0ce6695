// Conditions as they are read, what comes of them for a source, and which exclude each other.
import Testing

@testable import Pipeline

@Suite struct ConditionTests {
    private static func condition(_ text: String) throws(Diagnostics) -> Condition {
        let file = try pipeline("require: \(text)\nrenditions: { a: { save: { format: png } } }\n")
        return file.requirement!
    }

    private static func finding(
        _ text: String, _ facts: SourceFacts = SourceFacts(format: .jpeg, size: PixelSize(1920, 1080)),
        at path: String = "2026/logos/a-logo.png"
    ) throws -> Finding {
        Subject(picture: facts, path: BytePath(path)).judge(try condition(text))
    }

    @Test(arguments: [
        ("{ width: 1920 }", true), ("{ width: \">1919, <= 1920\" }", true), ("{ width: \"< 1920\" }", false),
        ("{ width: \">= 2K\" }", false), ("{ pixels: \">= 2MP\" }", true), ("{ pixels: \"> 2073600\" }", false),
        ("{ ratio: 16:9 }", true), ("{ ratio: \"= 16:9\" }", true), ("{ ratio: \"> 1.78\" }", false),
        ("{ orientation: landscape }", true), ("{ orientation: [portrait, square] }", false),
        ("{ format: [png, jpeg] }", true), ("{ format: png }", false), ("{ alpha: false, animated: false }", true),
        ("{ profile: true }", false), ("{ transparent: false }", true),
        ("{ name: \"*-LOGO.*\" }", true), ("{ name: [\"*.jpg\", \"*.{gif,png}\"] }", true), ("{ name: logos }", false),
        ("{ folder: logos }", true), ("{ folder: 2026 }", true), ("{ folder: 2026/logos }", true),
        ("{ folder: \"2026/*\" }", true), ("{ folder: 2025/logos }", false), ("{ folder: a-logo.png }", false),
        ("{ set: false }", true), ("{ set: \">= 1\" }", false),
        ("{ any: [{ format: png }, { width: \"> 1000\", height: \"< 2000\" }] }", true),
        ("{ not: { format: jpeg, width: 5 } }", true), ("{ not: { any: [{ format: jpeg }, { width: 5 }] } }", false),
    ])
    func `all that is named must hold`(text: String, holds: Bool) throws {
        #expect(try Self.finding(text).holds == holds)
    }

    @Test func `sizes are those that a person sees`() throws {
        let turned = SourceFacts(format: .jpeg, size: PixelSize(400, 300), orientation: 6)
        #expect(
            try Self.finding("{ width: 300, height: 400, orientation: portrait, ratio: 0.75 }", turned).holds == true)
    }

    @Test func `pixels are looked at only if nothing else decides`() throws {
        var facts = SourceFacts(format: .png, size: PixelSize(40, 30), hasAlpha: true)
        #expect(try Self.finding("{ transparent: true }", facts).holds == nil)
        #expect(try Self.finding("{ transparent: true, width: 50 }", facts).holds == false)
        #expect(try Self.finding("{ any: [{ transparent: true }, { width: 40 }] }", facts).holds == true)
        #expect(try Self.finding("{ not: { transparent: true } }", facts).holds == nil)
        facts.isTransparent = true
        #expect(try Self.finding("{ transparent: true }", facts).holds == true)
        facts.hasAlpha = false
        #expect(try Self.finding("{ transparent: true }", facts).holds == false)
    }

    @Test func `a set is what all of its pictures are`() throws {
        let members = [(40, true), (60, true)].map {
            MemberFacts(
                name: BytePath("\($0.0).png"),
                facts: SourceFacts(format: .png, size: PixelSize($0.0, 30), hasAlpha: $0.1))
        }
        let set = Subject(set: members, path: BytePath("shop/vase"))
        let findings = try ["{ alpha: true }", "{ width: \">= 50\" }", "{ set: 2 }", "{ name: vase, folder: shop }"].map
        {
            set.judge(try Self.condition($0))
        }
        #expect(findings.map(\.holds) == [true, false, true, true])
        #expect(findings[1].words == "'40.png': width is 40, expected >= 50")
    }

    @Test(arguments: [
        ("{ width: \">= 2000\" }", "width is 1920, expected >= 2000"),
        ("{ format: [png, gif], width: 1 }", "format is jpeg, expected png or gif"),
        ("{ alpha: true }", "alpha is false"), ("{ ratio: \"<= 1\" }", "ratio is 1.778, expected <= 1"),
        ("{ folder: x }", "folder is '2026/logos', expected x"),
        ("{ not: { format: jpeg } }", "format is jpeg, which 'not' excludes"),
        (
            "{ not: { width: \">= 100\", not: { format: png } } }",
            "width is 1920, format is jpeg, which 'not' excludes"
        ),
        ("{ any: [{ width: 1 }, { height: 1 }] }", "width is 1920, expected 1; height is 1080, expected 1"),
    ])
    func `it says what was found`(text: String, words: String) throws {
        #expect(try Self.finding(text).words == words)
    }

    @Test(arguments: [
        ("{}", "1:10 nothing is asked for; name a condition such as { alpha: true }"),
        (
            "{ width: wide }",
            "1:19 'width' expects a comparison such as \">= 2000\", or several with commas, found 'wide'"
        ),
        ("{ width: \"> 5, < 4\" }", "1:19 no number is > 5, < 4: write comparisons that can hold together"),
        ("{ name: a/b }", "1:18 a file name has no '/'; use 'folder' for the folders"),
        (
            "{ format: jpg }",
            "1:20 expected one of jpeg, png, webp, gif, tiff, heic, avif, svg, pdf, raw, jxl, jp2, found 'jpg'"
        ),
        ("{ any: [] }", "1:17 'any' expects a list of conditions, found an empty list"),
        ("{ widht: 5 }", "1:12 unknown key 'widht' in the condition; did you mean 'width'?"),
    ])
    func `mistakes are said with their place`(text: String, words: String) {
        let found = mistakes("require: \(text)\nrenditions: { a: { save: { format: png } } }\n")
        #expect(found.count == 1 && found[0].hasPrefix(words), "\(found)")
    }

    @Test func `conditions that are in each other too deeply are a mistake, soon`() {
        let text = String(repeating: "{ not: ", count: 300) + "{ alpha: true }" + String(repeating: " }", count: 300)
        let found = mistakes("require: \(text)\nrenditions: { a: { save: { format: png } } }\n")
        #expect(found.count == 1 && found[0].contains("20 deep"), "\(found)")
    }

    @Test func `a comparison without quotes is said to need them`() {
        let found = mistakes("require: { width: >= 5 }\nrenditions: { a: { save: { format: png } } }\n")
        #expect(found.count == 1 && found[0].contains("put the value in quotes: \">= 5\""), "\(found)")
    }

    @Test func `conditions within a stage, of a stage that joins, and on pixels of sets are refused`() {
        let inner = mistakes(
            onePipeline(["overlay: { image: a.png, stages: [ { resize: { size: 5x, when: { alpha: true } } } ] }"]))
        #expect(inner.count == 1 && inner[0].contains("and not at stages within a stage"), "\(inner)")
        let join = mistakes(
            onePipeline(["stitch: { direction: vertical, when: { alpha: true } }"], head: "source: set"))
        #expect(join.count == 1 && join[0].contains("a set is joined whatever it is"), "\(join)")
        let look = mistakes(
            onePipeline(
                ["stitch: { direction: vertical }", "sharpen: { when: { transparent: true } }"], head: "source: set"))
        #expect(look.count == 1 && look[0].contains("'transparent' is not looked for in sets"), "\(look)")
        let need = mistakes(
            onePipeline(["stitch: { direction: vertical }"], head: "source: set\nrequire: { transparent: true }"))
        #expect(need.count == 1 && need[0].hasPrefix("2:1 'transparent' is not looked for in sets"), "\(need)")
    }

    // MARK: - Conditions that exclude each other

    @Test(arguments: [
        ("{ alpha: true }", "{ alpha: false }", false), ("{ alpha: true }", "{ animated: false }", true),
        ("{ transparent: true }", "{ alpha: false }", false), ("{ transparent: false }", "{ alpha: true }", true),
        ("{ format: [png, gif] }", "{ format: jpeg }", false),
        ("{ format: [png, gif] }", "{ format: [jpeg, gif] }", true),
        ("{ format: jpeg }", "{ alpha: true }", false), ("{ format: jpeg }", "{ animated: true }", false),
        ("{ format: tiff }", "{ not: { format: png } }", true),
        ("{ not: { format: gif } }", "{ animated: true }", true),
        ("{ not: { format: [jpeg, webp, gif] } }", "{ not: { format: [webp, jpeg, gif] } }", true),
        ("{ width: \">= 100\" }", "{ width: \"< 100\" }", false),
        ("{ width: \">= 100\" }", "{ width: \"<= 100\" }", true),
        ("{ width: \"> 1000\" }", "{ width: \"< 1001\" }", false),
        ("{ pixels: \">= 4M\" }", "{ width: \"< 1000\", height: \"< 1000\" }", false),
        ("{ pixels: \">= 4M\" }", "{ width: \"< 1000\", height: \"> 3900\" }", true),
        ("{ orientation: portrait }", "{ width: \">= 2000\", height: \"< 1500\" }", false),
        ("{ orientation: portrait }", "{ ratio: \">= 1\" }", false),
        ("{ ratio: \"> 16:9\" }", "{ ratio: \"< 2\", pixels: \"> 1M\" }", true),
        ("{ orientation: [portrait, square] }", "{ orientation: [landscape, square] }", true),
        ("{ orientation: landscape }", "{ not: { orientation: landscape } }", false),
        ("{ any: [{ alpha: true }, { animated: true }] }", "{ alpha: false, animated: false }", false),
        ("{ folder: logos }", "{ not: { folder: logos } }", false), ("{ folder: logos }", "{ folder: photos }", false),
        ("{ name: \"*.png\" }", "{ name: \"a*\" }", false), ("{ name: \"*.png\" }", "{ folder: \"2026/*\" }", true),
        ("{ name: \"*-{logo,mark}.*\" }", "{ width: \"< 50\" }", true),
        ("{ not: { width: 5 } }", "{ width: \">= 5, <= 5\" }", false),
    ])
    func `a source is found for which both hold, if there is an ordinary one`(one: String, other: String, both: Bool)
        throws
    {
        let conditions = try [one, other].map(Self.condition)
        #expect((Self.sharedSource(of: conditions, isSet: false) != nil) == both)
        for condition in conditions { #expect(Self.sharedSource(of: [condition], isSet: false) != nil) }
    }

    private static func sharedSource(of conditions: [Condition], isSet: Bool) -> Subject? {
        var tries = 50_000
        return Condition.sharedSource(of: conditions, isSet: isSet, tries: &tries)
    }

    @Test func `sets share what their pictures and their number share`() throws {
        func isShared(_ one: String, _ other: String) throws -> Bool {
            Self.sharedSource(of: try [one, other].map(Self.condition), isSet: true) != nil
        }
        #expect(try isShared("{ set: \">= 3\" }", "{ width: 5 }") && !isShared("{ set: \"> 3\" }", "{ set: \"< 4\" }"))
        #expect(try !isShared("{ set: false }", "{ width: 5 }"))
    }

    @Test func `renditions that are never made together may share a name`() throws {
        func text(_ one: String, _ other: String) -> String {
            """
            renditions:
              a: { save: { format: png }, file: "{stem}.png"\(one) }
              b: { save: { format: png }, file: "{stem}.png"\(other) }
            """
        }
        #expect(mistakes(text(", when: { alpha: true }", ", when: { alpha: false }")).isEmpty)
        #expect(mistakes(text(", when: { folder: a }", ", when: { folder: b }")).isEmpty)
        // A misspelt condition is one mistake.
        #expect(mistakes(text(", when: { alhpa: true }", ", when: { alpha: false }")).count == 1)
        #expect(
            mistakes(
                text(
                    ", when: { name: \"x*\" }, scale: [1, 2], stages: [ { resize: { width: 5 } } ]",
                    ", when: { alpha: true }")
            ).count > 0)
        for other in ["", ", when: { width: 5 }", ", when: { name: \"*.png\" }"] {
            let found = mistakes(text(", when: { alpha: true }", other))
            #expect(found.count == 1 && found[0].contains("or write 'when' so that never both are made"), "\(found)")
        }
        #expect(mistakes(text("", "")).count == 1)
    }

    @Test func `nobody's stages cannot fail, and what is left is planned as if it stood alone`() throws {
        let file = try pipeline(
            """
            stages: [ { crop: { x: 50%, y: 0, width: 10, height: 10, when: { width: "< 20" } } } ]
            renditions:
              a: { when: { width: "< 20" }, save: { format: png } }
              b: { stages: [ { resize: { size: 10x } }, { sharpen: { when: { alpha: true } } } ], save: { format: jpeg } }
            """)
        let facts = SourceFacts(format: .png, size: PixelSize(40, 30))
        let omitted = try #require(file.omitted(for: Subject(picture: facts, path: BytePath("a.png"))))
        #expect(omitted.parts.renditions == [0] && omitted.parts.stages.count == 2)
        #expect(omitted.omissions.map(\.stage) == [nil, "sharpen", "crop"])
        let planner = Planner(pipeline: file, assets: [:], limits: Limits()).leavingOut(omitted.parts)
        let plan = try planner.plan(facts, pixelsPerPoint: 1)
        #expect(plan.warnings.isEmpty)
        #expect(plan.renditions.map(\.index) == [1] && plan.shared.isEmpty)
        #expect(
            plan.renditions[0].steps.map(\.name) == ["resize"] && plan.renditions[0].output.size == PixelSize(10, 8))
    }
}
