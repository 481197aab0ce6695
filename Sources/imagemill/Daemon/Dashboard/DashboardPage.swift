// The page at `/`: one document, put together from files that are part of the program.
import Engine
import System

/// The dashboard.
enum DashboardPage {
    /// Nothing but what is in the page itself runs, and nothing comes from elsewhere.
    static let policy =
        "default-src 'none'; script-src '\(digest(script))'; style-src '\(digest(style))'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static let response = HTTPResponse(
        type: "text/html; charset=utf-8", body: page,
        headers: [("Content-Security-Policy", policy)])

    private static let style = PackageResources.dashboard_css

    /// One script, in the order in which its parts need each other.
    private static let script =
        PackageResources.words_js + PackageResources.failures_js + PackageResources.inboxes_js
        + PackageResources.activity_js + PackageResources.operator_js + PackageResources.feed_js

    private static var page: [UInt8] {
        var page: [UInt8] = []
        var rest = PackageResources.dashboard_html[...]
        // Each place to fill in is there once, in this order.
        for (place, bytes) in [("@style@", style), ("@script@", script)] {
            guard let range = rest.firstRange(of: Array(place.utf8)) else { continue }
            page += rest[..<range.lowerBound] + bytes
            rest = rest[range.upperBound...]
        }
        return page + rest
    }

    /// The name of a script or style in a policy.
    private static func digest(_ text: [UInt8]) -> String { "sha256-" + Digest.base64(of: text) }

    /// The icons in the tab, by their paths: three sheets, one on the other, with a mark for each level of the headline,
    /// and one for a daemon that does not answer, when none can be asked for any more: so browsers may keep them.
    static let icons: [String: HTTPResponse] = [
        "/icon.svg": icon(mark: ""),
        "/icon-attention.svg": icon(mark: ##"<circle cx="11" cy="11" r="4.5" fill="#d98200" stroke="#fff"/>"##),
        "/icon-trouble.svg": icon(mark: ##"<circle cx="11" cy="11" r="4.5" fill="#c4211a" stroke="#fff"/>"##),
        "/icon-unknown.svg": icon(
            mark:
                ##"<path d="M1 1l14 14M15 1L1 15" stroke="#fff" stroke-width="4"/><path d="M1 1l14 14M15 1L1 15" stroke="#c4211a" stroke-width="2.4"/>"##
        ),
    ]

    private static func icon(mark: String) -> HTTPResponse {
        let sheets = [("1", "5", "#9cc2ea"), ("3", "3", "#5a96d4"), ("5", "1", "#0b57a4")].map { x, y, color in
            #"<rect x="\#(x)" y="\#(y)" width="10" height="10" rx="2" fill="\#(color)"/>"#
        }
        let text = #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">\#(sheets.joined())\#(mark)</svg>"#
        return HTTPResponse(type: "image/svg+xml", body: Array(text.utf8), isKept: true)
    }
}
