import Stages
import Testing

@testable import Pipeline

struct RenditionNameTests {
    /// One template for one source, and the name that comes of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let template: String
        var source = "in/photo.jpeg"
        var scale = 1
        var version = 1
        var keepsTree = false
        let name: String
        var testDescription: String { "\(template) for \(source), version \(version)" }
    }

    @Test(
        arguments: [
            Row(template: "{stem}.{ext}", name: "photo.png"),
            Row(template: "{stem}-{rendition}{scale}.{ext}", name: "photo-web.png"),
            Row(template: "{stem}-{rendition}{scale}.{ext}", scale: 2, name: "photo-web@2x.png"),
            Row(template: "{dir}/{stem}.{ext}", name: "in/photo.png"),
            Row(template: "{dir}/{stem}.{ext}", source: "photo.jpeg", name: "photo.png"),
            Row(template: "{width}x{height}/{stem}.{ext}", name: "30x20/photo.png"),
            Row(template: "{hash:8}.{ext}", name: "01234567.png"),
            Row(template: "{hash}.{ext}", name: "0123456789abcdef.png"),
            Row(template: "{date:%Y/%m/%d}/{stem}.{ext}", name: "2026/11/20/photo.png"),
            Row(template: "{date:%H-%M-%S}.{ext}", name: "23-30-05.png"),
            // The stem drops @Nx.
            Row(template: "{stem}{scale}.{ext}", source: "icon@3x.png", scale: 2, name: "icon@2x.png"),
            Row(template: "{stem}.{ext}", source: "icon@2x.png", name: "icon.png"),
            // A version comes after the stem.
            Row(template: "{stem}.{ext}", source: "a.png", version: 2, name: "a-2.png"),
            Row(template: "{stem}{scale}.{ext}", source: "a.png", scale: 2, version: 2, name: "a-2@2x.png"),
            Row(template: "{stem}/{rendition}.{ext}", source: "a.png", version: 12, name: "a-12/web.png"),
            // Without a stem it comes before the extension.
            Row(template: "{hash:4}.{ext}", version: 2, name: "0123-2.png"),
            Row(template: "cover.{rendition}.{ext}", version: 3, name: "cover.web-3.png"),
            Row(template: "out.d/cover", version: 3, name: "out.d/cover-3"),
            // The tree is kept where that is asked for, once.
            Row(template: "{stem}.{ext}", source: "a/b/c.png", keepsTree: true, name: "a/b/c.png"),
            Row(template: "{dir}/{stem}.{ext}", source: "a/b/c.png", keepsTree: true, name: "a/b/c.png"),
            Row(template: "x/{stem}.{ext}", source: "a/b/c.png", keepsTree: true, name: "a/b/x/c.png"),
            Row(template: "{stem}.{ext}", source: "c.png", keepsTree: true, name: "c.png"),
            Row(template: "{hash:4}.{ext}", source: "a/c.png", version: 2, keepsTree: true, name: "a/0123-2.png"),
        ])
    func `a template and a source make a name`(row: Row) throws {
        let name = try name(
            row.template, source: BytePath(row.source), scale: row.scale, version: row.version, keepsTree: row.keepsTree
        )
        #expect(name.path.text == row.name)
        #expect(!name.isShortened)
    }

    @Test(
        arguments: [
            ("{dir}", "photo.png", ""), ("{stem}/x", "...jpg", "../x"),
        ])
    func `a name that cannot be used is refused, not repaired`(template: String, source: String, name: String) {
        let failure = failure { _ = try self.name(template, source: BytePath(source)) }
        #expect(
            failure
                == Failure(
                    .nameInvalid, stage: "publish",
                    "the output name '\(name)' cannot be used; change 'file' in the pipeline"))
    }

    @Test
    func `no source can write into Imagemill's own folder`() {
        #expect(
            failure { _ = try self.name("{stem}/{rendition}.{ext}", source: BytePath(".imagemill.jpg")) }?.code
                == .nameInvalid)
        #expect(
            failure { _ = try self.name("{dir}/{stem}.{ext}", source: BytePath(".imagemill/a.jpg")) }?.code
                == .nameInvalid)
    }

    @Test
    func `bytes that are not UTF-8 survive`() throws {
        let bytes: [UInt8] = [0x66, 0xFC, 0x72]
        let name = try name("{stem}-{rendition}.{ext}", source: BytePath(bytes + Array(".jpg".utf8)))
        #expect(name.path.bytes == bytes + Array("-web.png".utf8))
    }

    @Test(arguments: [250, 251, 252, 300, 1000])
    func `a name of more than 255 bytes is shortened and keeps its extension`(length: Int) throws {
        let name = try name("{stem}.{ext}", source: BytePath(String(repeating: "a", count: length) + ".jpg"))
        #expect(name.path.bytes.count == min(255, length + 4))
        #expect(name.isShortened == (length > 251))
        #expect(name.path.text.hasSuffix(".png"))
    }

    @Test(arguments: ["ä", "日", "👩‍👩‍👧", "aä", "a日"])
    func `a shortened name ends between characters`(letter: String) throws {
        let stem = String(repeating: letter, count: 300 / letter.utf8.count + 60)
        let path = try name("{stem}.{ext}", source: BytePath(stem + ".jpg")).path
        #expect(path.bytes.count <= 255)
        #expect(path.bytes.count >= 230)
        #expect(path.percentEncodedIfNotText == nil)
    }

    @Test
    func `long names that differ only at their end stay different, also by version and scale`() throws {
        let stem = String(repeating: "x", count: 260)
        let names = try [
            name("{stem}{scale}.{ext}", source: BytePath(stem + "1.jpg")),
            name("{stem}{scale}.{ext}", source: BytePath(stem + "2.jpg")),
            name("{stem}{scale}.{ext}", source: BytePath(stem + "1.jpg"), version: 2),
            name("{stem}{scale}.{ext}", source: BytePath(stem + "1.jpg"), scale: 2),
        ]
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.path.bytes.count <= 255 })
        #expect(try name("{stem}{scale}.{ext}", source: BytePath(stem + "1.jpg")) == names[0])
    }

    @Test
    func `every folder of a name is held to what a file system takes`() throws {
        let folder = String(repeating: "d", count: 300)
        let path = try name("{dir}/{stem}.{ext}", source: BytePath(folder + "/a.jpg")).path
        #expect(path.directory.bytes.count == 255)
        #expect(path.lastComponent.text == "a.png")
    }

    @Test
    func `long bytes that are not UTF-8 are shortened too`() throws {
        let path = try name("{stem}.{ext}", source: BytePath([UInt8](repeating: 0xBF, count: 400))).path
        #expect((1...255).contains(path.bytes.count))
    }

    @Test
    func `two renditions whose sizes turn out equal are found before publishing`() throws {
        let text = """
            renditions:
              a: { stages: [resize: { size: "100>" }], save: { format: png }, file: "a{width}.{ext}" }
              b: { stages: [resize: { size: "200>" }], save: { format: png }, file: "a{height}.{ext}" }
            """
        let facts = NamingFacts(source: SourceName(BytePath("x.png")))
        #expect(
            try plan(text, .png(300, 300)).names(for: facts, version: 1).map(\.path.text) == ["a100.png", "a200.png"])
        let small = try plan(text, .png(50, 50))
        let words = "two renditions of this source would both be named 'a50.png'; add {rendition} or {scale} to 'file'"
        #expect(failure { _ = try small.names(for: facts, version: 1) } == Failure(.nameTaken, stage: "publish", words))
    }

    private func name(
        _ template: String, source: BytePath, scale: Int = 1, version: Int = 1, keepsTree: Bool = false
    ) throws -> RenditionName {
        let hash = String(repeating: "0123456789abcdef", count: 4)
        let facts = NamingFacts(
            source: SourceName(source), hash: hash, date: "2026:11:20 23:30:05", keepsTree: keepsTree)
        let rendition = RenditionFacts(name: "web", scale: scale, fileExtension: "png", size: PixelSize(30, 20))
        return try NameTemplate(template).name(of: rendition, for: facts, version: version)
    }

    private func failure(_ work: () throws -> Void) -> Failure? {
        do {
            try work()
            return nil
        } catch {
            return (error as? PlanFailure)?.failure
        }
    }
}
