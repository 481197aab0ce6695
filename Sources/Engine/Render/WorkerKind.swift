// What workers differ in. Pictures in formats whose libraries are not meant for strangers' files never meet a worker
// that reads others.
import Pipeline

/// A kind of worker: it stays of this kind for as long as it lives.
struct WorkerKind: Hashable, Codable, Sendable {
    /// Some stage needs fonts.
    var drawsText = false
    /// Some stage draws an asset in SVG. It reads no SVG of anybody else.
    var drawsSVG = false
    /// The format on request that its sources have; nil for a worker that reads the usual formats.
    var format: SourceFormat?
    /// libvips' modules that it has loaded, to read usual formats and to save.
    var modules: Set<CodecModule> = []
    /// The inbox whose sources alone it meets; nil for a worker that serves all that have none of their own.
    var inbox: String?

    /// All modules that it loads.
    var allModules: Set<CodecModule> { modules.union([format?.declaration.module].compactMap(\.self)) }

    /// The formats on request that it can decode.
    var unblocked: Set<SourceFormat> { Set([format, drawsSVG ? .svg : nil].compactMap(\.self)) }

    var readsFonts: Bool { drawsText || unblocked.contains(where: \.isVector) }

    func reads(_ format: SourceFormat) -> Bool {
        if format.isOnRequest { return format == self.format }
        return self.format == nil && (format.declaration.module.map(modules.contains) ?? true)
    }

    func saves(_ format: any OutputFormatDeclaration.Type) -> Bool {
        format.separateEncoder.map { modules.contains($0.module) } ?? true
    }

    /// Returns true if a worker of this kind can do all that one of the other kind can.
    func serves(_ other: WorkerKind) -> Bool { isOfFamily(other) && modules.isSuperset(of: other.modules) }

    /// The same but for modules.
    func isOfFamily(_ other: WorkerKind) -> Bool {
        drawsText == other.drawsText && drawsSVG == other.drawsSVG && format == other.format && inbox == other.inbox
    }
}
