// Drawings that do not say how large they are.

/// Whether an SVG has neither a `viewBox` nor a width and a height in units. libvips then measures the drawing itself,
/// and draws it no larger at any scale. A compressed SVG is not examined.
package func lacksSize(_ format: SourceFormat, in source: ByteSource) -> Bool {
    guard format == .svg else { return false }
    let head = source.read(0, min(source.count, largestHead))
    for case .start(let name, let attributes) in XMLTokens(head) {
        guard name == "svg" || name.hasSuffix(":svg") else { return false }
        func value(_ name: String) -> String? {
            let value = attributes.first { $0.name == name }?.value.filter { !$0.isWhitespace }
            return value?.isEmpty == true ? nil : value
        }
        // CSS can give it a size too.
        guard value("viewBox") == nil, value("style") == nil, value("class") == nil else { return false }
        return ["width", "height"].contains { value($0).map { $0.hasSuffix("%") || $0 == "auto" } ?? true }
    }
    return false
}

/// Bytes after which the outermost element has begun, whatever comments and entities come before it.
private let largestHead = 1 << 20
