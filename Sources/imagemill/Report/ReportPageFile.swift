// The file of a report's page, for `imagemill report` and `run --report page.html`.
import Engine
import Pipeline
import System

/// A page that is written from a report's file.
struct ReportPageFile {
    private let path: BytePath
    private let pictures: PicturePlaces

    /// A journal with all that was put aside has no more.
    private static let largest = 1 << 30

    init(_ path: BytePath, _ pictures: PicturePlaces) { (self.path, self.pictures) = (path, pictures) }

    /// Whether a name is that of a page.
    static func isPage(_ name: String) -> Bool { [".html", ".htm"].contains { name.lowercased().hasSuffix($0) } }

    /// - Returns: how many entries of the report could not be read; the page says so too.
    /// - Throws: `SystemError`, `ReportDocument.NoReport`.
    @discardableResult
    func write(reportIn file: BytePath) throws -> Int {
        try write(ReportDocument(OpenFile.contents(file, limit: Self.largest)))
    }

    /// - Returns: how many entries of the document could not be read.
    /// - Throws: `SystemError`.
    @discardableResult
    func write(_ document: ReportDocument) throws -> Int {
        let isStream = path.text == "-"
        if !isStream { try FileSystem.makeDirectories(DurableFile.folder(of: path)) }
        let html = ReportPage(document, pictures, page: isStream ? BytePath("page") : path).html
        if isStream {
            printOutput(String(decoding: html, as: UTF8.self))
        } else {
            try DurableFile.write(html, to: path, syncsFolder: false)
        }
        return document.unreadable
    }
}
