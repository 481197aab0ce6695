/// SVG, a drawing in XML.
package enum SVGSource: VectorSource {
    package static let name = "svg"
    package static let title = "SVG"
    package static let mediaType = "image/svg+xml"
    package static let rootElement: String? = "svg"
    package static let structure: any FileStructure.Type = SVGElements.self
}

extension SourceFormat {
    package static let svg = SourceFormat(SVGSource.self)
}
