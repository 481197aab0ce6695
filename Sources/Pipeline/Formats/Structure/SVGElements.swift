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
        var isStyle = false
        for token in XMLTokens(source.read(0, source.count)) {
            switch token {
            case .start(let name, let attributes):
                isStyle = local(name) == "style"
                let shown = showingElements.contains(local(name)) ? attributes.first { local($0.name) == "href" } : nil
                if let address = shown.flatMap({ outside($0.value) }) { return address }
                for attribute in attributes { if let address = linked(inCSS: attribute.value) { return address } }
            case .text(let text): if isStyle, let address = linked(inCSS: withoutFonts(text)) { return address }
            case .end: isStyle = false
            }
        }
        return nil
    }

    /// A style sheet without the fonts and the other sheets that it names, which are nothing that is shown.
    private static func withoutFonts(_ css: String) -> String {
        var result = css
        for (start, end) in [("@font-face", "}"), ("@import", ";"), ("@namespace", ";")] {
            while let found = result.firstRange(of: start) {
                let rest = result[found.upperBound...]
                result.removeSubrange(found.lowerBound..<(rest.firstRange(of: end)?.upperBound ?? rest.endIndex))
            }
        }
        return result
    }

    /// The first address in `url(…)` that is not in this file, as a mask, a filter or a fill may have.
    private static func linked(inCSS text: String) -> String? {
        var rest = text[...]
        while let found = rest.firstRange(of: "url(") {
            rest = rest[found.upperBound...]
            guard let end = rest.firstIndex(of: ")") else { return nil }
            let address = rest[..<end].drop { $0.isWhitespace || $0 == "'" || $0 == "\"" }
            if let address = outside(address.prefix { $0 != "'" && $0 != "\"" && !$0.isWhitespace }) { return address }
        }
        return nil
    }

    /// An address, if it is not of this file.
    private static func outside(_ written: some StringProtocol) -> String? {
        let address = written.drop(while: \.isWhitespace)
        let isOwn = address.isEmpty || address.hasPrefix("#") || address.lowercased().hasPrefix("data:")
        return isOwn ? nil : String(address)
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
