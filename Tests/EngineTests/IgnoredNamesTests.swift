import Pipeline
import Testing

@testable import Engine

@Suite struct IgnoredNamesTests {
    @Test(
        "What other programs leave behind is passed over",
        arguments: [
            ".hidden", ".DS_Store", "._a.jpg", ".nfs0001", "Thumbs.db", "THUMBS.DB", "ehthumbs.db", "desktop.ini", "@eaDir", "#recycle",
            "$RECYCLE.BIN",
            "__MACOSX", "a.jpg.part", "a.partial", "a.filepart", "a.tmp", "a.TMP", "a.crdownload", "a.!ut", ".a.swp", "a.swp", "a.jpg~",
            "~$a.docx", ".goutputstream-ABC", ".syncthing.a.jpg.tmp", ".a.jpg.XyZ123", ".AppleDouble", ".stfolder", ".Trash-1000", "a.rsync",
        ])
    func ignored(name: String) { #expect(isIgnored(Array(name.utf8))) }

    @Test(
        "Anything else is a source", arguments: ["a.jpg", "part", "apart", "tmp.jpg", "a~b.jpg", "thumbs.db.jpg", "IMG_1", "~a.jpg", "-x"])
    func kept(name: String) { #expect(!isIgnored(Array(name.utf8))) }

    @Test("A name that is not UTF-8 is judged like any other")
    func bytes() {
        #expect(!isIgnored([0xFF, 0xFE]))
        #expect(isIgnored([0xFF] + Array(".part".utf8)))
    }

    @Test("An inbox' own patterns add to the list and take from it, the last one deciding; our own names stay ignored")
    func patterns() throws {
        let names = IgnoredNames(try ["*.xmp", "!*.tmp", "secret.tmp", "!.*"].map { try #require(NamePattern($0)) })
        func ignores(_ name: String) -> Bool { names.contains(Array(name.utf8)) }
        #expect(ignores("a.xmp") && !ignores("a.tmp") && ignores("secret.tmp") && !ignores(".hidden.jpg"))
        #expect(ignores("a.part") && !ignores("a.jpg"))
        #expect(ignores(".imagemill") && ignores(".imagemill-trial-1"))
        #expect(IgnoredNames().contains(Array(".x".utf8)) && !IgnoredNames().contains(Array("x".utf8)))
    }
}
