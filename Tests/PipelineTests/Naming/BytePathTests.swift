import Testing

@testable import Pipeline

struct BytePathTests {
    @Test
    func `a path that is text needs no second form`() {
        #expect(BytePath("größe/日本.jpg").percentEncodedIfNotText == nil)
        #expect(BytePath("").percentEncodedIfNotText == nil)
    }

    @Test
    func `a path that is not UTF-8 is percent-encoded beside a readable form`() {
        let path = BytePath([0x61, 0x20, 0x25, 0xFC, 0x0A, 0x2F, 0x7E])
        #expect(path.percentEncodedIfNotText == "a%20%25%FC%0A/~")
        #expect(path.text == "a %\u{FFFD}\n/~")
    }

    @Test(
        arguments: [
            ("plain.jpg", "plain.jpg"), ("größe 日本", "größe 日本"), ("a\nb", "a\\nb"), ("a\u{1B}[31m", "a\\u{1B}[31m"),
            ("a\u{7F}", "a\\u{7F}"),
            ("a\u{9B}b", "a\\u{009B}b"), ("gpj\u{202E}.exe", "gpj\\u{202E}.exe"), ("a\u{2066}b", "a\\u{2066}b"),
            ("a\u{2028}b", "a\\u{2028}b"),
        ])
    func `control characters and changes of direction are escaped for terminals`(text: String, printable: String) {
        #expect(BytePath(text).printable == printable)
    }

    @Test(
        arguments: [
            ("", "a", "a"), ("a", "", "a"), ("a", "b", "a/b"), ("a/", "b", "a/b"), ("/", "b", "/b"),
        ])
    func `parts are joined by one slash`(left: String, right: String, joined: String) {
        #expect(BytePath(left).appending(BytePath(right)) == BytePath(joined))
    }

    @Test(
        arguments: [
            ("a/b/c.jpg", "a/b", "c.jpg"), ("c.jpg", "", "c.jpg"), ("/c.jpg", "/", "c.jpg"), ("/a/c", "/a", "c"),
            ("a/", "a", ""),
        ])
    func `a path has a directory and a last part`(path: String, directory: String, last: String) {
        #expect(BytePath(path).directory == BytePath(directory))
        #expect(BytePath(path).lastComponent == BytePath(last))
    }

    @Test(
        arguments: [
            ("a/photo.JPG", "photo", 1, "jpg"), ("icon@2x.png", "icon", 2, "png"), ("icon@9x", "icon", 9, ""),
            ("icon@0x.png", "icon@0x", 1, "png"),
            ("icon@10x.png", "icon@10x", 1, "png"), ("@2x.png", "@2x", 1, "png"), ("icon@2X.png", "icon@2X", 1, "png"),
            (".hidden", ".hidden", 1, ""),
            ("a.tar.gz", "a.tar", 1, "gz"), ("a.", "a", 1, ""), ("a@2x@3x.png", "a@2x", 3, "png"),
            ("d@2x/a.png", "a", 1, "png"), ("II.HA 12.1", "II.HA 12.1", 1, ""), ("II.HA 12", "II.HA 12", 1, ""),
            ("II.HA 12.1.tif", "II.HA 12.1", 1, "tif"), ("a.3fr", "a", 1, "3fr"), ("a@2x.7", "a@2x.7", 1, ""),
        ])
    func `a source's name gives stem, points and extension`(
        path: String, stem: String, pixelsPerPoint: Int, ext: String
    ) {
        let name = SourceName(BytePath(path))
        #expect(String(decoding: name.stem, as: UTF8.self) == stem)
        #expect(name.pixelsPerPoint == pixelsPerPoint)
        #expect(name.fileExtension == ext)
    }
}

@Suite struct TrailingSlashTests {
    @Test(arguments: [("photos/", "photos"), ("a/b//", "a/b"), ("/", "/"), ("x", "x"), ("", "")])
    func `a slash behind a folder's name says nothing`(path: String, kept: String) {
        #expect(BytePath(path).withoutTrailingSlashes == BytePath(kept))
    }
}

struct RelativePathTests {
    @Test(
        arguments: [
            ("/h/a/photos/a.jpg", "/h/a/out", "../photos/a.jpg"), ("/h/a/out/x.jpg", "/h/a/out", "x.jpg"),
            ("/h/a/out", "/h/a/out", "."),
            ("/h/a", "/h/a/out", ".."), ("/h/outer/x", "/h/out", "../outer/x"), ("/h/out", "/h/outer", "../out"),
            ("/x/y", "/z/w/v", "../../../x/y"), ("/a/b", "/", "a/b"), ("/", "/a/b", "../.."), ("/", "/", "."),
            ("/a/b/", "/a/c/", "../b"),
        ])
    func `a path is relative to a folder by whole names`(path: String, folder: String, relative: String) {
        #expect(BytePath(path).relative(to: BytePath(folder)) == BytePath(relative))
    }

    @Test
    func `a relative path keeps bytes that are not text`() {
        #expect(
            BytePath([0x2F, 0xFF, 0x2F, 0xFE]).relative(to: BytePath([0x2F, 0xFF, 0x2F, 0xFD])).bytes == [
                0x2E, 0x2E, 0x2F, 0xFE,
            ])
    }
}
