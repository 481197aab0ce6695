// What workers differ in. Pictures in formats whose libraries are not meant for strangers' files never meet a worker
// that reads others.
import Pipeline

/// A kind of worker: it stays of this kind for as long as it lives.
struct WorkerKind: Hashable, Codable, Sendable {
    /// Some stage needs fonts.
    var drawsText = false
    /// The format on request that its sources have; nil for a worker that reads the usual formats.
    var format: SourceFormat?
    /// It has libheif with its codecs, which take some milliseconds to load.
    var hasHEIF = false
    /// The inbox whose sources alone it meets; nil for a worker that serves all that have none of their own.
    var inbox: String?

    var readsFonts: Bool { drawsText || format?.isVector == true }

    func reads(_ format: SourceFormat) -> Bool {
        if format.isHEIF && !hasHEIF { return false }
        return format.isOnRequest ? format == self.format : self.format == nil
    }

    /// Returns true if a worker of this kind can do all that one of the other kind can.
    func serves(_ other: WorkerKind) -> Bool { isOfFamily(other) && (hasHEIF || !other.hasHEIF) }

    /// The same but for libheif.
    func isOfFamily(_ other: WorkerKind) -> Bool {
        drawsText == other.drawsText && format == other.format && inbox == other.inbox
    }
}
