// A small picture of a failed source, for people who look at the failures.
package import Pipeline
import Synchronization
import System

extension DropFolder {
    /// The intact part of a truncated picture is worth a look.
    private static let failedPicture = Result {
        try LoadedPipeline(
            path: "the picture of a failure",
            text: """
                tolerate: truncated
                renditions:
                  small: { stages: [ { resize: { size: "128x128>" } } ], save: { format: png } }
                """)
    }

    /// Renders a failed source small. Waits for its file system and for a worker, under the limits of its inbox, and
    /// writes no file.
    /// - Parameter path: from the inbox's folder `failed/`.
    /// - Returns: a PNG; nil if there is no such inbox.
    /// - Throws: `Failure` if it cannot be rendered, `SystemError`, `WorkerLoss`.
    package func picture(ofFailed path: BytePath, in inbox: String) throws -> [UInt8]? {
        guard path.staysBelow, let controller = state.withLock({ $0.controllers[inbox] }),
            let folder = controller.spool?.path(.failed)
        else { return nil }
        let own = controller.route.render
        var settings = RenderSettings(
            pipeline: try Self.failedPicture.get(), limits: own.limits,
            outbox: Outbox(path: stateFolder, of: .dropFolder), keepsTree: false, memory: memory,
            cancellation: cancellation)
        settings.isolatedInbox = own.isolatedInbox
        let source = SourceFile(
            location: .below(try Directory(folder), path), identity: folder.appending(path), relative: path)
        return try RenditionMaker(workers, cancellation: cancellation).bytesOfSingle(source, settings)
    }
}
