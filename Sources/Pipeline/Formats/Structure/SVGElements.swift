/// The elements of an SVG. A compressed one is not looked into.
enum SVGElements: FileStructure {
    static func refusal(of page: Int, in source: ByteSource) -> Failure? {
        let message = "the SVG has neither a viewBox nor a width and height in units, so it has no size; add a viewBox"
        return lackSize(in: source) ? Failure(.corrupt, stage: "read", message) : nil
    }

    /// Whether there is neither a `viewBox` nor a width and a height in units. libvips then measures the drawing itself,
    /// and draws it no larger at any scale.
    private static func lackSize(in source: ByteSource) -> Bool {
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

    static func linkedFile(in source: ByteSource) -> String? {
        guard source.count <= largestToSearch else { return nil }
        for case .start(let name, let attributes) in XMLTokens(source.read(0, source.count))
        where showingElements.contains(local(name)) {
            let address = attributes.first { local($0.name) == "href" }?.value.drop(while: \.isWhitespace)
            if let address, !address.isEmpty, !address.hasPrefix("#"), !address.lowercased().hasPrefix("data:") {
                return String(address)
            }
        }
        return nil
    }

    /// Bytes after which the outermost element has begun, whatever comments and entities come before it.
    private static let largestHead = 1 << 20
    /// Bytes beyond which a search takes longer than its result is worth.
    private static let largestToSearch = 64 << 20
    private static let showingElements: Set<Substring> = ["image", "feImage", "use"]

    private static func local(_ name: String) -> Substring {
        name[(name.lastIndex(of: ":").map(name.index(after:)) ?? name.startIndex)...]
    }
}
