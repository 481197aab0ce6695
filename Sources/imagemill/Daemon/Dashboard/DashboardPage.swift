// The page at `/`: one file, which is part of the program.
import Engine

/// The dashboard.
enum DashboardPage {
    /// Nothing but what is in the page itself runs, and nothing comes from elsewhere.
    static let policy =
        "default-src 'none'; script-src \(hash(of: "script")); style-src \(hash(of: "style")); img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static let response = HTTPResponse(
        type: "text/html; charset=utf-8", body: PackageResources.dashboard_html,
        headers: [("Content-Security-Policy", policy)])

    /// The icon in the tab: three sheets, one on the other.
    static let icon = HTTPResponse(
        type: "image/svg+xml",
        body: Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="5" width="10" height="10" rx="2" fill="#9cc2ea"/>\
            <rect x="3" y="3" width="10" height="10" rx="2" fill="#5a96d4"/><rect x="5" y="1" width="10" height="10" rx="2" fill="#0b57a4"/></svg>
            """.utf8))

    /// The source expression that allows the content of the only element of a kind.
    private static func hash(of element: String) -> String {
        let page = PackageResources.dashboard_html
        let (open, close) = (Array("<\(element)>".utf8), Array("</\(element)>".utf8))
        guard let start = page.firstIndex(of: open), let end = page.firstIndex(of: close) else { return "'none'" }
        return "'sha256-\(Digest.base64(of: page[(start + open.count)..<end]))'"
    }
}

extension [UInt8] {
    fileprivate func firstIndex(of part: [UInt8]) -> Int? {
        indices.dropLast(part.count - 1).first {
            self[$0] == part[0] && self[$0..<($0 + part.count)].elementsEqual(part)
        }
    }
}
