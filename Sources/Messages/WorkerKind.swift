// The differences between workers. Pictures in formats whose libraries are not meant for strangers' files never meet a
// worker that reads others.
package import Pipeline

/// A kind of worker: it stays of this kind for as long as it lives.
package struct WorkerKind: Hashable, Codable, Sendable {
    /// Some stage needs fonts.
    package var drawsText: Bool
    /// Some stage draws an asset in SVG. It reads no SVG of anybody else.
    package var drawsSVG: Bool
    /// The format on request that its sources have; nil for a worker that reads the usual formats.
    package var format: SourceFormat?
    /// libvips' modules that it has loaded, to read usual formats and to save.
    package var modules: Set<CodecModule>
    /// The inbox whose sources alone it meets; nil for a worker that serves all that have none of their own.
    package var inbox: String?

    package init(
        drawsText: Bool = false, drawsSVG: Bool = false, format: SourceFormat? = nil, modules: Set<CodecModule> = [],
        inbox: String? = nil
    ) {
        self.drawsText = drawsText
        self.drawsSVG = drawsSVG
        self.format = format
        self.modules = modules
        self.inbox = inbox
    }

    /// All modules that it loads.
    package var allModules: Set<CodecModule> { modules.union([format?.declaration.module].compactMap(\.self)) }

    /// The formats on request that it can decode.
    package var unblocked: Set<SourceFormat> { Set([format, drawsSVG ? .svg : nil].compactMap(\.self)) }

    package var readsFonts: Bool { drawsText || unblocked.contains(where: \.isVector) }

    package func reads(_ format: SourceFormat) -> Bool {
        if format.isOnRequest { return format == self.format }
        return self.format == nil && (format.declaration.module.map(modules.contains) ?? true)
    }

    package func saves(_ format: any OutputFormatDeclaration.Type) -> Bool {
        format.separateEncoder.map { modules.contains($0.module) } ?? true
    }

    /// Returns true if a worker of this kind can do all that one of the other kind can.
    package func serves(_ other: WorkerKind) -> Bool { isOfFamily(other) && modules.isSuperset(of: other.modules) }

    /// The same but for modules.
    package func isOfFamily(_ other: WorkerKind) -> Bool {
        drawsText == other.drawsText && drawsSVG == other.drawsSVG && format == other.format && inbox == other.inbox
    }
}
