// PDFs of a few objects, with a table of their places that is right.

package enum SmallPDF {
    /// - Parameter pages: the drawing of each, in PDF's own operators.
    package static func file(pages: [String], width: Int, height: Int) -> String {
        let kids = pages.indices.map { "\(3 + 2 * $0) 0 R" }.joined(separator: " ")
        var objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[\(kids)]/Count \(pages.count)>>"]
        for (index, page) in pages.enumerated() {
            objects.append("<</Type/Page/Parent 2 0 R/MediaBox[0 0 \(width) \(height)]/Contents \(4 + 2 * index) 0 R>>")
            objects.append("<</Length \(page.utf8.count)>>stream\n\(page)\nendstream")
        }
        var file = "%PDF-1.4\n"
        var table = "0000000000 65535 f \n"
        for (index, object) in objects.enumerated() {
            let place = String(file.utf8.count)
            table += String(repeating: "0", count: 10 - place.count) + place + " 00000 n \n"
            file += "\(index + 1) 0 obj\(object)endobj\n"
        }
        let start = file.utf8.count
        let count = objects.count + 1
        return file + "xref\n0 \(count)\n\(table)trailer<</Size \(count)/Root 1 0 R>>\nstartxref\n\(start)\n%%EOF\n"
    }
}
