// A report that is read back says what was written.
import FoundationEssentials
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct SourceReportTests {
    private var full: SourceReport {
        var report = SourceReport(status: .done, pipeline: "p", source: BytePath([0xFF, UInt8(ascii: "/"), 0x0A]))
        let facts = SourceReport.Facts(
            format: .png, size: PixelSize(3, 5), orientation: 6, frames: 2, hasAlpha: true,
            color: SourceReport.Color(name: "Display P3", by: "nclx"), gainMap: "Ultra HDR")
        report.inbox = "in"
        report.source.location = BytePath("x/y.png")
        report.source.bytes = 9
        report.source.sha256 = "ab"
        report.source.facts = facts
        report.source.members = [SourceReport.Member(path: BytePath([0xFE]), bytes: 4, facts: facts)]
        report.renditions = [
            SourceReport.RenditionEntry(
                name: "r", scale: 2, path: BytePath([0xFD]), format: .webp, size: PixelSize(1, 2), frames: 1, bytes: 7,
                sha256: "cd", cached: true)
        ]
        report.warnings = [Warning(.sourceDamaged, "a bit")]
        report.error = Failure(.corrupt, stage: "decode", "it is", detail: "of libvips")
        report.attempt = 3
        report.milliseconds = SourceReport.Times(wait: 1, render: 2, publish: 3)
        (report.peakMemory, report.predictedMemory) = (11, 12)
        return report
    }

    @Test func `a report that is read back says what was written, with all that it can have and with nothing`() throws {
        for report in [full, SourceReport(status: .failed, pipeline: "p", source: BytePath("a"))] {
            let again = try #require(SourceReport(document: report.document))
            #expect(again.document == report.document)
            #expect(again.source.path == report.source.path && again.source.location == report.source.location)
        }
        #expect(SourceReport(document: full.document)?.source.members?.first?.path == BytePath([0xFE]))
        #expect(SourceReport(document: full.document)?.error == full.error)
    }

    @Test func `the versions of what made it stay those of then`() throws {
        let text = String(decoding: full.document, as: UTF8.self)
        let older = text.replacing("\"imagemill\":\"\(imagemillVersion)\"", with: "\"imagemill\":\"0.0.7\"")
        #expect(older != text)
        #expect(SourceReport(document: Array(older.utf8)).map { String(decoding: $0.document, as: UTF8.self) } == older)
    }

    @Test func `what is no report is none`() {
        #expect(SourceReport(document: []) == nil && SourceReport(document: Array("{}".utf8)) == nil)
    }
}
