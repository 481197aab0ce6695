/// A format that pictures are read from, as facts, messages, reports and caches have it: the word for a declaration.
package struct SourceFormat: RawRepresentable, CaseIterable, Codable, Hashable, Sendable {
    package let declaration: any SourceFormatDeclaration.Type

    init(_ declaration: any SourceFormatDeclaration.Type) { self.declaration = declaration }

    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    package var rawValue: String { declaration.name }
}

extension SourceFormat {
    /// Every format, in the order in which the documentation and messages name them.
    package static let allCases: [SourceFormat] = [jpeg, png, webp, gif, tiff, heic, avif, svg, pdf, raw, jxl, jp2]

    package static let alwaysRead = allCases.filter { !$0.isOnRequest }
    package static let onRequest = allCases.filter(\.isOnRequest)

    package var title: String { declaration.title }
    package var fileExtensions: [String] { declaration.fileExtensions }
    package var isOnRequest: Bool { declaration.isOnRequest }
    package var isVector: Bool { declaration.isVector }

    /// libvips may come without what decodes it.
    package var mayBeMissing: Bool { declaration.decoderPackage != nil || isOnRequest }

    /// The message and the advice if pictures of this format cannot be read.
    package var missingDecoder: String {
        if self == .raw {
            return "LibRaw, which reads raw files, is not on this system; install libraw23t64, or libraw20 on Debian 12"
        }
        let remedy = declaration.decoderPackage.map { "the package \($0)" } ?? "a libvips that can read it"
        return "libvips on this system cannot read \(rawValue); install \(remedy)"
    }
}
