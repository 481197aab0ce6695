import Stages
import Testing

@testable import Pipeline

struct PipelineFileTests {
    @Test
    func `a pipeline is read with its defaults`() throws {
        let file = try PipelineFile(
            text: "renditions: { web: { save: { format: webp } } }", file: "dir/web-photos.yaml", catalogue: .all)
        #expect(file.name == "web-photos")
        #expect(file.stages.isEmpty)
        #expect(file.profile == .srgb)
        #expect(file.tolerance == .nothing)
        let rendition = try #require(file.renditions.first)
        #expect(rendition.name == "web")
        #expect(rendition.scales == [1])
        #expect(rendition.save.background == .white)
        #expect(rendition.save.metadata == MetadataPolicy())
    }

    @Test
    func `renditions, stages and assets keep the order of the text`() throws {
        let text = """
            renditions:
              z: { stages: [overlay: { image: b.png }, grayscale], save: { format: png } }
              a: { stages: [overlay: { image: a.png }], save: { format: png } }
            """
        let file = try pipeline(text)
        #expect(file.renditions.map(\.name) == ["z", "a"])
        #expect(file.renditions.first?.stages.map(\.name) == ["overlay", "grayscale"])
        #expect(file.assets.map(\.path) == ["b.png", "a.png"])
        #expect(file.assets.first?.position == Position(line: 2, column: 35))
    }

    @Test
    func `one name for two files is found though other keys of their renditions are wrong`() {
        let text = """
            renditions:
              a: { save: { format: jpeg }, fil: x }
              b: { save: { format: jpeg }, stags: [] }
              c: { save: { format: jpeg, qualty: 3 }, file: a.jpg, stags: [] }
              d: { save: { format: jpeg }, file: a.jpg }
              e: { save: { format: jpeg }, file: "{stem}.{ext}" }
              f: { save: { format: wepb }, file: "{stem}.{ext}" }
              g: { save: { format: jpeg }, file: "{stem}.{ext}", scal: 2 }
              h: { file: a.jpg, save: [ { format: jpeg } ], colour: x }
            """
        let clashes = mistakes(text).filter { $0.contains("would write the same file") }
        #expect(
            clashes.map { $0.prefix { $0 != ";" } } == [
                "5:3 'd' would write the same file as 'c': 'a.jpg'",
                "9:3 'h' would write the same file as 'd': 'a.jpg'",
            ], "\(mistakes(text))")
    }

    @Test
    func `a broken file with five mistakes gives five`() {
        let text = """
            profile: none
            renditions:
              a:
                scale: 12
                stages:
                  - blurr: { sigma: 4 }
                  - flip: { axis: up }
                save: { format: jepg }
            """
        #expect(mistakes(text).map { $0.prefix { $0 != " " } } == ["1:10", "4:12", "6:9", "7:23", "8:21"])
    }

    @Test(arguments: StageCatalogue.all.stages.map { $0.name })
    func `the example of every stage is a stage of a pipeline`(name: String) throws {
        let type = try #require(StageCatalogue.all.stage(named: name))
        let file = try pipeline(
            onePipeline([String(type.example.dropFirst(2))], save: "{ format: webp }", head: type.head))
        #expect(file.renditions.first?.stages.map(\.name) == [name])
    }

    @Test(arguments: ["\u{FEFF}", "---\n", "# größe\n", "%YAML 1.1\n---\n"])
    func `marks that YAML allows before the text change nothing`(head: String) throws {
        #expect(try pipeline(head + "renditions: { web: { save: { format: png } } }\n").renditions.count == 1)
    }
}
