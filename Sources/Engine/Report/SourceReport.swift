// The report about one source: the document that people and programs read. Its schema is in docs/schema/.
import Glibc
package import Messages
package import Pipeline
import System

/// The version of this program.
package let imagemillVersion = "0.1.0"

/// One source's report, as JSON.
package struct SourceReport: Sendable, Codable {
    package enum Status: String, Sendable, Codable, CaseIterable {
        case done, failed, planned
        /// Nothing has changed since it was done; its document is that of then.
        case skipped
    }

    package struct Source: Sendable, Codable {
        package var path: BytePath
        /// In a run, the path as the user would type it, for messages. Not in the document.
        package var typed: BytePath?
        /// In a run, the path from the output folder, which tells sources of several folders apart.
        package var location: BytePath?
        package var bytes: Int?
        package var sha256: String?
        package var facts: Facts?
        /// The pictures of a set, in their order.
        package var members: [Member]?
    }

    /// The facts from a picture's header.
    package struct Facts: Equatable, Sendable {
        package let format: SourceFormat
        /// Pixels as stored, before the orientation is applied; of one frame.
        package let size: PixelSize
        /// EXIF orientation, 1…8.
        package let orientation: Int
        package let frames: Int
        package let hasAlpha: Bool
        /// The colors that its numbers are in; nil if the file does not say.
        package let color: Color?
        /// The kind of its gain map, such as `Ultra HDR`; nil if there is none.
        package let gainMap: String?
    }

    package struct Color: Equatable, Sendable, Codable {
        /// By its own name, such as `Display P3`.
        package let name: String
        /// The part of the file that says so, such as `ICC profile`.
        package let by: String
    }

    package struct Member: Sendable, Codable {
        package let path: BytePath
        package let bytes: Int
        package let facts: Facts
    }

    package struct RenditionEntry: Sendable, Codable {
        package var name: String
        package var scale: Int
        package var path: BytePath
        package var format: OutputFormat
        package var size: PixelSize
        package var frames: Int
        /// nil if nothing was written.
        package var bytes: Int?
        package var sha256: String?
        /// Nil if the rendition has no target.
        package var reached: ReachedQuality?
        /// It was copied from the cache.
        package var cached = false
        /// Nil if it is not wanted.
        package var look: PictureLook?
        /// The file has the source's own bytes.
        var isOriginal = false
        /// It is made of the preview in the source's file.
        var isOfPreview = false

        mutating func note(_ said: RenderedSize) {
            (size, frames, reached) = (said.size, said.frames, said.reached)
            (look, isOriginal, isOfPreview) = (said.look, said.isOriginal, said.isOfPreview)
        }
    }

    /// A document beside the renditions.
    package struct DocumentEntry: Sendable {
        package let name: String
        package var path: BytePath
        /// nil if nothing was written.
        package var bytes: Int?
    }

    package struct Times: Sendable, Codable {
        package var wait = 0
        package var render = 0
        package var publish = 0
    }

    package var status: Status
    package let pipeline: String
    /// The name of the inbox, for a drop folder.
    package var inbox: String?
    package var source: Source
    /// The parameters of the pipeline; nil if it has none.
    package var parameters: [ParameterSetting]?
    package var renditions: [RenditionEntry] = []
    package var documents: [DocumentEntry] = []
    package var warnings: [Warning] = []
    package var error: Failure?
    package var attempt = 1
    package let started: String
    package var milliseconds = Times()
    /// Bytes that the worker had at most while it rendered the source; since it was started, if the system does not
    /// tell them apart.
    package var peakMemory: Int?
    /// Bytes that the worker was expected to need at most.
    package var predictedMemory: Int?
    /// In a dry run, which looks at no pixels: why the source failed in an earlier run.
    package var failedBefore: String?
    /// The versions of what made it.
    let engine: EngineVersions

    package init(status: Status, pipeline: String, source: BytePath) {
        self.status = status
        self.pipeline = pipeline
        self.source = Source(path: source)
        started = timestamp()
        engine = EngineVersions()
    }

    /// The paths of all that is written.
    package var paths: [BytePath] { renditions.map(\.path) + documents.map(\.path) }

    /// Nothing was published.
    mutating func fail(_ failure: Failure, attempts: Int) {
        status = .failed
        error = failure
        (renditions, documents) = ([], [])
        attempt = max(attempt, attempts)
    }
}
