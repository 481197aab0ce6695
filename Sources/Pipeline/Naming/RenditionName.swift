// A template and a source make a name.

/// The facts that names can be made of, besides the rendition itself.
package struct NamingFacts: Hashable, Sendable {
    package let source: SourceName
    /// SHA-256 of the source in hexadecimal; only if a template asks for it.
    package let hash: String?
    /// `YYYY:MM:DD HH:MM:SS`, as EXIF writes it.
    package let date: String
    /// Puts every name below the source's directory, unless the template says `{dir}` itself.
    package let keepsTree: Bool
    /// MD5 of the source's URI in hexadecimal; only if a rendition is a thumbnail for file managers.
    package let thumbnailDigest: String?

    package init(
        source: SourceName, hash: String? = nil, date: String = "1970:01:01 00:00:00", keepsTree: Bool = false,
        thumbnailDigest: String? = nil
    ) {
        self.thumbnailDigest = thumbnailDigest
        self.source = source
        self.hash = hash
        self.date = date
        self.keepsTree = keepsTree
    }
}

/// A name relative to the output folder.
package struct RenditionName: Hashable, Sendable {
    package let path: BytePath
    /// A part was longer than a file name can be.
    package let isShortened: Bool
    /// The name is that of a thumbnail of one certain file, so that a file of this name is an older one.
    package var isThumbnail = false
    /// The name is that of a folder, which is unpacked from an archive.
    package var isFolder = false

    package init(path: BytePath, isShortened: Bool = false, isThumbnail: Bool = false) {
        self.path = path
        self.isShortened = isShortened
        self.isThumbnail = isThumbnail
    }
}

extension Rendition {
    /// The name of this rendition of one source.
    /// - Parameter contents: the SHA-256 of its file in hexadecimal; nil before it is rendered.
    /// - Throws: `PlanFailure` if the result cannot be a file name.
    func name(
        for facts: NamingFacts, scale: Int, size: PixelSize, contents: String?, version: Int
    ) throws(PlanFailure) -> RenditionName {
        switch layout {
        case .plain:
            let rendition = RenditionFacts(
                name: name, scale: scale, fileExtension: save.encoding.ownExtension, size: size, contents: contents)
            var name = try template.name(of: rendition, for: facts, version: version)
            name.isFolder = save.encoding.isFolder
            return name
        case .freedesktop:
            return RenditionName(
                path: BytePath("\(name)/\(facts.thumbnailDigest ?? "").png"), isShortened: false, isThumbnail: true)
        }
    }
}

/// The facts of a rendition that its name may contain.
package struct RenditionFacts {
    let name: String
    let scale: Int
    /// `{ext}`.
    let fileExtension: String
    let size: PixelSize
    /// The SHA-256 of its file in hexadecimal; nil before it is rendered.
    var contents: String?

    /// Stands for a digit that is not known yet.
    fileprivate static let unknownDigit: Character = "?"
}

extension NameTemplate {
    /// The name of one rendition of one source.
    /// - Parameter version: 1 for the name itself; 2 makes `a-2.webp` of `a.webp`, so that two sources do not share a
    ///   name.
    /// - Throws: `PlanFailure` if the result cannot be a file name.
    package func name(
        of rendition: RenditionFacts, for facts: NamingFacts, version: Int
    ) throws(PlanFailure) -> RenditionName {
        let suffix = version == 1 ? [] : Array("-\(version)".utf8)
        var bytes: [UInt8] = facts.keepsTree && !parts.contains(.dir) ? facts.source.path.directory.bytes + [slash] : []
        for part in parts {
            switch part {
            case .literal(let text): bytes += Array(text.utf8)
            case .stem: bytes += facts.source.stem + suffix
            case .ext: bytes += Array(rendition.fileExtension.utf8)
            case .dir: bytes += facts.source.path.directory.bytes
            case .rendition: bytes += Array(rendition.name.utf8)
            case .scale: bytes += Array(scaleSuffix(rendition.scale).utf8)
            case .width: bytes += Array(String(rendition.size.width).utf8)
            case .height: bytes += Array(String(rendition.size.height).utf8)
            case .hash(let digits): bytes += Array((facts.hash ?? "").prefix(digits).utf8)
            case .contentHash(let digits):
                let contents = rendition.contents ?? String(repeating: RenditionFacts.unknownDigit, count: digits)
                bytes += Array(contents.prefix(digits).utf8)
            case .date(let format): bytes += Array(formatted(facts.date, as: format).utf8)
            }
        }
        var components = bytes.split(separator: slash).map(Array.init)
        if !parts.contains(.stem), var last = components.popLast() {
            last.insert(contentsOf: suffix, at: last.lastIndex(of: UInt8(ascii: ".")) ?? last.count)
            components.append(last)
        }
        return try Self.checked(components, facts.source)
    }

    private static func checked(_ components: [[UInt8]], _ source: SourceName) throws(PlanFailure) -> RenditionName {
        let reserved = components.first?.starts(with: Array(".imagemill".utf8)) ?? true
        guard !reserved, !components.contains([UInt8(ascii: ".")]), !components.contains(Array("..".utf8)) else {
            let name = BytePath(Array(components.joined(separator: [slash]))).printable
            throw PlanFailure(
                .nameInvalid, stage: "publish",
                "the output name '\(name)' cannot be used; change 'file' in the pipeline")
        }
        let fitting = components.map { shortened($0, source) }
        return RenditionName(
            path: BytePath(Array(fitting.joined(separator: [slash]))), isShortened: fitting != components)
    }
}

private let slash = UInt8(ascii: "/")
/// The longest file name that Linux' file systems take, in bytes.
private let longestName = 255

/// A component that fits: the beginning, a digest of the whole that keeps it distinct, and the extension.
private func shortened(_ component: [UInt8], _ source: SourceName) -> [UInt8] {
    guard component.count > longestName else { return component }
    let dot =
        component.lastIndex(of: UInt8(ascii: ".")).flatMap { component.count - $0 <= 16 ? $0 : nil } ?? component.count
    let ending = Array("~\(digest(component))".utf8) + component[dot...]
    var beginning = Array(component[..<dot].prefix(longestName - ending.count))
    // Do not end in the middle of a UTF-8 character.
    while let last = beginning.last, last & 0xC0 == 0x80 { beginning.removeLast() }
    if let last = beginning.last, last >= 0xC0 { beginning.removeLast() }
    return beginning + ending
}

private func digest(_ bytes: [UInt8]) -> String {
    let text = String(FNV1a(bytes).value, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}

func formatted(_ date: String, as format: String) -> String {
    let fields = date.split { $0 == ":" || $0 == " " }.map(String.init)
    guard fields.count == 6 else { return "" }
    var result = ""
    var isField = false
    for character in format {
        if isField, let index = Array("YmdHMS").firstIndex(of: character) {
            result += fields[index]
            isField = false
        } else if character == "%" {
            isField = true
        } else {
            result.append(character)
        }
    }
    return result
}
