// Cameras write a photo twice: as a raw file and as a JPEG of the same name. Only one of them is a source.
import Pipeline
import System

/// The pairs among the files of one folder.
struct RawPairs {
    /// By the file that is no source: the one that is.
    private let finished: [BytePath: BytePath]

    /// - Parameters:
    ///   - names: the files that are taken.
    ///   - use: the pipeline's.
    init(_ names: [BytePath], _ use: RawUse) {
        var raws: [[UInt8]: [BytePath]] = [:]
        for name in names where Self.isRaw(name) { raws[SourceName(name).stem, default: []].append(name) }
        var finished: [BytePath: BytePath] = [:]
        for name in names where !raws.isEmpty && Self.isJPEG(name) {
            for raw in raws[SourceName(name).stem] ?? [] {
                switch use {
                case .preview: finished[raw] = name
                case .prefer, .develop: finished[name] = raw
                }
            }
        }
        self.finished = finished
    }

    /// The file that is taken in a file's place; nil if it is a source itself.
    subscript(name: BytePath) -> BytePath? { finished[name] }

    private static func isRaw(_ name: BytePath) -> Bool {
        RawSource.fileExtensions.contains(SourceName(name).fileExtension)
    }

    private static func isJPEG(_ name: BytePath) -> Bool {
        JPEGSource.fileExtensions.contains(SourceName(name).fileExtension)
    }
}
