// What a file shows that is in other files, which are never read.

/// The first other file that an SVG shows a part of: the address as it is written; nil if it shows none. A compressed
/// SVG is not looked into.
package func linkedFile(_ format: SourceFormat, in source: ByteSource) -> String? {
    guard format == .svg, source.count <= largestToSearch else { return nil }
    for case .start(let name, let attributes) in XMLTokens(source.read(0, source.count))
    where showingElements.contains(local(name)) {
        let address = attributes.first { local($0.name) == "href" }?.value.drop(while: \.isWhitespace)
        if let address, !address.isEmpty, !address.hasPrefix("#"), !address.lowercased().hasPrefix("data:") {
            return String(address)
        }
    }
    return nil
}

/// Bytes beyond which a search takes longer than its result is worth.
private let largestToSearch = 64 << 20

private let showingElements: Set<Substring> = ["image", "feImage", "use"]

private func local(_ name: String) -> Substring {
    name[(name.lastIndex(of: ":").map(name.index(after:)) ?? name.startIndex)...]
}
