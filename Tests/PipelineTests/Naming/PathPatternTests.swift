// `--include` and `--exclude`.
import Testing

@testable import Pipeline

@Suite struct PathPatternTests {
    private func matches(_ pattern: String, _ path: String, isFolder: Bool = false) -> Bool {
        PathPattern(pattern)?.matches(BytePath(path).components[...], isFolder: isFolder) ?? false
    }

    @Test(arguments: [
        ("*.jpg", "a.jpg"), ("*.jpg", "people/a.JPG"), ("node_modules", "x/node_modules"),
        ("people/*.jpg", "people/a.jpg"),
        ("/a.jpg", "a.jpg"), ("**/a.jpg", "a.jpg"), ("**/a.jpg", "x/y/a.jpg"), ("x/**/a.jpg", "x/a.jpg"),
        ("x/**/a.jpg", "x/y/z/a.jpg"),
        ("x/**", "x/y/z.jpg"), ("*.{jpg,png}", "x/a.png"), ("{a,b}{1,2}.jpg", "b2.jpg"), ("a?.jpg", "a1.jpg"),
        ("!x.jpg", "!x.jpg"),
    ])
    func `a pattern matches`(pattern: String, path: String) { #expect(matches(pattern, path)) }

    @Test(arguments: [
        ("*.jpg", "a.jpg.txt"), ("people/*.jpg", "people/x/a.jpg"), ("people/*.jpg", "x/people/a.jpg"),
        ("/a.jpg", "x/a.jpg"),
        ("x/**", "x"), ("x/**/a.jpg", "y/a.jpg"), ("*.{jpg,png}", "a.gif"), ("a?.jpg", "a.jpg"),
        ("drafts/", "drafts"),
    ])
    func `a pattern does not match`(pattern: String, path: String) { #expect(!matches(pattern, path)) }

    @Test func `a slash at the end means folders only`() {
        #expect(matches("drafts/", "x/drafts", isFolder: true))
        #expect(matches("x/drafts/", "x/drafts", isFolder: true))
    }

    @Test(arguments: ["", "/", "a{b", "a}b", "{a,{b,c}}", "a\0"])
    func `what is no pattern is refused`(text: String) { #expect(PathPattern(text) == nil) }

    @Test func `an included folder means all that is in it, and an excluded one is not entered`() {
        let filter = PathFilter(
            include: [PathPattern("people")!, PathPattern("*.gif")!], exclude: [PathPattern("drafts")!])
        #expect(
            filter.takes(BytePath("people/stage/a.jpg")) && filter.takes(BytePath("x/a.gif"))
                && !filter.takes(BytePath("x/a.jpg")))
        #expect(!filter.enters(BytePath("people/drafts")) && filter.enters(BytePath("people")))
    }
}
