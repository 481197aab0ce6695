/// PDF, of which a page is drawn.
package enum PDFSource: VectorSource {
    package static let name = "pdf"
    package static let title = "PDF"
    package static let mediaType = "application/pdf"
    package static let signatures = [[mark("%PDF-")]]
    package static let isDocument = true
    package static let module: CodecModule? = .poppler
}

extension SourceFormat {
    package static let pdf = SourceFormat(PDFSource.self)
}
