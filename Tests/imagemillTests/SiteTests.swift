// The documentation as a site. How it looks in a browser, `make test-site` checks.
import Foundation
import TestSupport
import Testing

@Suite struct SiteTests {
    private static let hasGenerator = FileManager.default.fileExists(
        atPath: "/usr/lib/python3/dist-packages/markdown_it")

    @Test(.enabled(if: hasGenerator, "skipped: there is no markdown-it (apt install python3-markdown-it)"))
    func `every page is in the site's contents, every link leads somewhere, and nothing comes from another host`()
        async throws
    {
        let runner = try CommandRunner()
        let built = try await runner.shell("'\(Checkout.path)/docs/site/build' site")
        #expect(built.exit == 0, "\(built.errors)")
        let checked = try await runner.shell("'\(Checkout.path)/Tests/Site/links' site")
        #expect(checked.exit == 0, "\(checked.errors)")
        #expect(runner.files(in: "site").contains("deploy/systemd/http.conf"))
        let pages = runner.files(in: "site").filter { $0.hasSuffix(".html") }
        let version = try Checkout.text("Sources/Engine/Report/SourceReport.swift").firstMatch(
            of: /imagemillVersion = "([^"]+)"/)
        for page in pages {
            let text = String(decoding: try runner.bytes("site/" + page), as: UTF8.self)
            #expect(text.contains(">\(try #require(version).output.1)</a>"), "\(page)")
        }
    }

    @Test(.enabled(if: hasGenerator, "skipped: there is no markdown-it (apt install python3-markdown-it)"))
    func `the page for lost addresses leads to the site's root, wherever that is`() async throws {
        let runner = try CommandRunner()
        #expect(try await runner.shell("'\(Checkout.path)/docs/site/build' site /mill/").exit == 0)
        let lost = String(decoding: try runner.bytes("site/404.html"), as: UTF8.self)
        #expect(lost.contains("href=\"/mill/site.css\"") && lost.contains("href=\"/mill/docs/guide/tutorial.html\""))
        #expect(!lost.contains("href=\"docs/") && !lost.contains("href=\"../"))
        #expect(try await runner.shell("'\(Checkout.path)/docs/site/build' site mill").exit == 1)
    }

    @Test(arguments: [
        ("<a href='b.html'>", "a.html: the link 'b.html' leads nowhere"),
        ("<a href='#no'>", "a.html: the link '#no' has no such anchor"),
        ("<a href='../a.html'>", "a.html: the link '../a.html' leads out of the folder"),
        ("<script src='//x.org/y.js'></script>", "a.html: it loads '//x.org/y.js'"),
        ("<img src='a.html'>", "a.html: the picture 'a.html' has no text"),
        ("<p id='x'><p id='x'>", "a.html: the anchor 'x' is there twice"),
    ])
    func `the check of links finds what is wrong`(text: String, message: String) async throws {
        let runner = try CommandRunner()
        try runner.folder.write("<a href='a.html'>" + text, to: "site/a.html")
        let result = try await runner.shell("/usr/bin/python3 '\(Checkout.path)/Tests/Site/links' site")
        #expect(result.exit == 1 && result.errors.contains(message), "\(result.errors)")
    }
}
