// The names that are ignored, and which of them are unfinished uploads.
import Pipeline
import Testing

@testable import Engine

@Suite struct IgnoredNamesTests {
    @Test(arguments: [
        ".hidden", ".DS_Store", "._a.jpg", ".nfs0001", "Thumbs.db", "THUMBS.DB", "ehthumbs.db", "desktop.ini",
        "@eaDir", "#recycle",
        "$RECYCLE.BIN",
        "__MACOSX", "a.jpg.part", "a.partial", "a.filepart", "a.tmp", "a.TMP", "a.crdownload", "a.!ut", ".a.swp",
        "a.swp", "a.jpg~",
        "~$a.docx", ".goutputstream-ABC", ".syncthing.a.jpg.tmp", ".a.jpg.XyZ123", ".AppleDouble", ".stfolder",
        ".Trash-1000", "a.rsync",
    ])
    func `unfinished uploads and leftovers are ignored`(name: String) { #expect(isIgnored(Array(name.utf8))) }

    @Test(arguments: [
        "a.jpg.part", "a.PARTIAL", "a.filepart", "a.tmp", "a.temp", "a.crdownload", "a.download", "a.!ut",
        "a.opdownload", "a.swp", ".a.swp",
        "a.rsync", ".a.jpg.XyZ123", ".2.tif.AbC123", ".noextension.a1b2c3", "._MG_1234.tif.a1B2c3",
        ".goutputstream-ABC", ".syncthing.a.jpg.tmp",
        ".~tmp~", ".rsync-partial", ".in.a.jpg.", ".pureftpd-upload.5a.15.1",
    ])
    func `a temporary name of an upload is unfinished`(name: String) {
        #expect(IgnoredName(Array(name.utf8)) == .unfinished)
    }

    @Test(arguments: [
        "Thumbs.db", ".DS_Store", "desktop.ini", "._a.jpg", "._a.jpg.part", "._a.folder", "~$a.docx", "@eaDir",
        ".hidden", ".nfs0001", "a.jpg~",
        ".done", ".git", ".a.jpg.XyZ12", ".a.jpg.XyZ-23", ".XyZ123", "..XyZ123", ".stfolder", "__MACOSX",
    ])
    func `what systems and editors leave behind is not an unfinished upload`(name: String) {
        #expect(IgnoredName(Array(name.utf8)) == .leftover)
    }

    @Test(arguments: ["a.jpg", "part", "apart", "tmp.jpg", "a~b.jpg", "thumbs.db.jpg", "IMG_1", "~a.jpg", "-x"])
    func `anything else is a source`(name: String) { #expect(!isIgnored(Array(name.utf8))) }

    @Test func `a name that is not UTF-8 is judged like any other`() {
        #expect(!isIgnored([0xFF, 0xFE]))
        #expect(isIgnored([0xFF] + Array(".part".utf8)))
    }

    @Test
    func `an inbox's own patterns add to the list and take from it, the last one deciding; our own names stay ignored`()
        throws
    {
        let names = IgnoredNames(try ["*.xmp", "!*.tmp", "secret.tmp", "!.*"].map { try #require(NamePattern($0)) })
        func ignores(_ name: String) -> Bool { names.contains(Array(name.utf8)) }
        #expect(ignores("a.xmp") && !ignores("a.tmp") && ignores("secret.tmp") && !ignores(".hidden.jpg"))
        #expect(ignores("a.part") && !ignores("a.jpg"))
        #expect(ignores(".imagemill") && ignores(".imagemill-trial-1"))
        #expect(IgnoredNames().contains(Array(".x".utf8)) && !IgnoredNames().contains(Array("x".utf8)))
    }

    @Test func `an inbox's own patterns make leftovers, unless the name is that of an upload`() throws {
        let names = IgnoredNames(try ["*.xmp", "x*", "!*.tmp"].map { try #require(NamePattern($0)) })
        func kind(_ name: String) -> IgnoredName? { names.kind(of: Array(name.utf8)) }
        #expect(
            kind("a.xmp") == .leftover && kind("x.part") == .unfinished && kind("a.tmp") == nil
                && kind(".imagemill-1.tmp") == .leftover)
    }
}
