import Testing

@testable import Pipeline

@Suite struct EXIFRightsTests {
    /// A little-endian EXIF block with ASCII fields, their values after the directory.
    private func block(_ fields: [(tag: Int, value: [UInt8])], prefix: [UInt8] = Array("Exif\0\0".utf8)) -> [UInt8] {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var directory = bytes(fields.count, 2)
        var values: [UInt8] = []
        let start = 8 + 2 + 12 * fields.count + 4
        for field in fields {
            let inline = field.value.count <= 4
            directory += bytes(field.tag, 2) + bytes(2, 2) + bytes(field.value.count, 4)
            let padding = bytes(0, max(0, 4 - field.value.count))
            directory += inline ? field.value + padding : bytes(start + values.count, 4)
            if !inline { values += field.value }
        }
        return [prefix, Array("II".utf8), [42, 0], bytes(8, 4), directory, bytes(0, 4), values].flatMap(\.self)
    }

    @Test
    func `artist and copyright keep their own words`() {
        let rights = Rights(
            exif: block([(315, Array("Zoë\0".utf8)), (33_432, Array("© 2026 Zoë (all rights)\0".utf8))]))
        #expect(rights.creator == ["Zoë"])
        #expect(rights.copyright == "© 2026 Zoë (all rights)")
    }

    @Test
    func `the photographer's and the editor's copyright are two`() {
        #expect(Rights(exif: block([(33_432, Array("Ann\0Desk\0".utf8))])).copyright == "Ann, Desk")
    }

    @Test
    func `short values are in the field itself, and the mark in front may be missing`() {
        #expect(Rights(exif: block([(315, Array("Al\0".utf8))], prefix: [])).creator == ["Al"])
    }

    @Test
    func `what is not UTF-8 is Latin-1`() {
        #expect(Rights(exif: block([(315, [0x4A, 0x6F, 0x73, 0xE9, 0])])).creator == ["José"])
    }

    @Test(arguments: [
        ("Zoë Müller", "© 2026 Łódź"), ("", "x"), ("Al", ""), ("山田太郎", "日本"), ("", ""),
        (String(repeating: "u", count: 4000), "end"),
    ])
    func `a block that is written is read again`(artist: String, copyright: String) {
        let rights = Rights(creator: artist.isEmpty ? [] : [artist], copyright: copyright.isEmpty ? nil : copyright)
        #expect(rights.exif.map { Rights(exif: $0) } ?? Rights() == rights)
    }

    @Test
    func `a damaged block says nothing and harms nobody`() {
        let whole = block([(315, Array("Somebody\0".utf8)), (33_432, Array("Somebody else\0".utf8))])
        for length in 0..<whole.count { _ = Rights(exif: Array(whole.prefix(length))) }
        #expect(Rights(exif: Array(whole.prefix(20))).isEmpty)
        #expect(Rights(exif: []).isEmpty)
        #expect(Rights(exif: Array("Exif\0\0 nothing of the kind".utf8)).isEmpty)
    }
}
