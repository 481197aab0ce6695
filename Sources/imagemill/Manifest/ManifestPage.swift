// A manifest as a page: a `<picture>` for each rendition of each source, to look at and to copy.
import Engine
import Pipeline
import System

struct ManifestPage {
    private let manifest: Manifest
    private let addresses: Addresses?
    private let outbox: BytePath

    init(_ manifest: Manifest, _ addresses: Addresses?, outbox: BytePath) {
        (self.manifest, self.addresses, self.outbox) = (manifest, addresses, outbox)
    }

    /// The formats that an `<img>` may have, the best known first.
    private static let usual: [OutputFormat] = [.jpeg, .png, .gif, .webp, .avif]

    var html: String {
        let failed = manifest.failed.map { "<li>\(Self.text($0.path.printable)): \(Self.text($0.message))</li>\n" }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file: data:">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <link rel="icon" href="data:,">
            <title>Imagemill manifest</title>
            <style>
            :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
            body { margin: 0 auto; padding: 1rem; max-width: 60rem; }
            h1 { font-size: 1.5rem; }
            h2 { font-size: 1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
            h3 { font-size: .875rem; font-weight: normal; margin: .5rem 0; overflow-wrap: anywhere; }
            img { display: block; max-width: 100%; height: auto; }
            pre { overflow-x: auto; padding: .5rem; border: 1px solid; font-size: .8125rem; }
            </style>
            </head>
            <body>
            <h1>Imagemill manifest</h1>
            \(manifest.sources.map(section).joined())\(failed.isEmpty ? "" : "<h2>Failed</h2>\n<ul>\n\(failed.joined())</ul>\n")</body>
            </html>

            """
    }

    private func section(_ source: Manifest.Source) -> String {
        let renditions = source.renditions.map { rendition in
            let picture = picture(rendition, color: source.color)
            let title =
                source.renditions.count > 1 ? "<h3>\(Self.text(rendition.name))</h3>\n" : ""
            guard let picture else { return title + links(rendition) }
            return """
                \(title)\(picture)
                <details><summary>HTML</summary><pre><code>\(Self.text(picture))</code></pre></details>

                """
        }
        return "<section>\n<h2>\(Self.text(source.path.printable))</h2>\n\(renditions.joined())</section>\n"
    }

    // MARK: - Pictures

    /// Nil if no format is one that browsers show.
    private func picture(_ rendition: Manifest.Rendition, color: String?) -> String? {
        let shown = rendition.formats.filter { $0.format.declaration.isShownByBrowsers }
        guard let last = Self.usual.firstFound({ format in shown.first { $0.format == format } }) else { return nil }
        let better = shown.filter { $0.format != last.format }.sorted { Self.isBetter($0.format, $1.format) }
        let sources = better.map { format in
            let type = format.format.declaration.mediaType
            return "  <source type=\"\(type)\" \(candidates(format))>\n"
        }
        // Whoever knows no candidates takes the largest; pictures for denser screens have the size of the first.
        let isByDensity = Self.isByDensity(last)
        guard let file = isByDensity ? last.files.min(by: { $0.scale < $1.scale }) : last.files.last else { return nil }
        let ground = color.map { " style=\"background-color: \($0)\"" } ?? ""
        let several = last.files.count > 1 ? " \(candidates(last))" : ""
        return """
            <picture>
            \(sources.joined())  <img src="\(address(file))"\(several) width="\(file.size.width)" height="\(file.size.height)" alt="" loading="lazy"\(ground)>
            </picture>
            """
    }

    /// Browsers take the first that they know.
    private static func isBetter(_ one: OutputFormat, _ other: OutputFormat) -> Bool {
        (usual.firstIndex(of: one) ?? -1) > (usual.firstIndex(of: other) ?? -1)
    }

    private static func isByDensity(_ format: Manifest.Format) -> Bool { Set(format.files.map(\.scale)).count > 1 }

    private func candidates(_ format: Manifest.Format) -> String {
        if Self.isByDensity(format) {
            return "srcset=\"\(format.files.map { "\(address($0)) \($0.scale)x" }.joined(separator: ", "))\""
        }
        guard format.files.count > 1, let largest = format.files.last?.size.width else {
            return "srcset=\"\(format.files.map(address).joined())\""
        }
        let list = format.files.map { "\(address($0)) \($0.size.width)w" }.joined(separator: ", ")
        return "srcset=\"\(list)\" sizes=\"(max-width: \(largest)px) 100vw, \(largest)px\""
    }

    private func links(_ rendition: Manifest.Rendition) -> String {
        let links = rendition.formats.flatMap(\.files).map { file in
            "<a href=\"\(address(file))\">\(Self.text(file.path.printable))</a>"
        }
        return "<p>\(links.joined(separator: ", "))</p>\n"
    }

    /// Letters, digits and percent signs: nothing that HTML or `srcset` reads as anything else.
    private func address(_ file: Manifest.File) -> String {
        addresses?.address(file.path, in: outbox) ?? file.path.percentEncoded
    }

    private static func text(_ words: String) -> String {
        words.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
