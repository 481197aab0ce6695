// Reads a mill file with a deadline: it, a pipeline or an asset may be on a share that does not answer.
import Glibc
import System

extension LoadedMill {
    /// How long the files may take to be read, in seconds.
    package static let readingPatience = 30

    /// Reads a mill file, its pipelines and their assets. Waits, but for no file system that hangs.
    /// - Throws: what `init` throws, or a `SystemError` that names what does not answer.
    package static func reading(
        _ path: String, withinSeconds seconds: Int = readingPatience,
        environment: @escaping @Sendable (String) -> String?
    ) throws -> LoadedMill {
        let current = Monitor("the mill file '\(path)'")
        @Sendable func load() throws -> LoadedMill {
            try LoadedMill(path: path, text: LoadedPipeline.text(of: path), environment: environment) { next in
                current.change { $0 = next }
            }
        }
        guard let read = onNewThread(withinSeconds: seconds, { Result { try load() } }) else {
            let reason = "the file system has not answered for \(seconds) s; see to it, and try again"
            throw SystemError("read \(current.change { $0 })", code: ETIMEDOUT, because: reason)
        }
        return try read.get()
    }
}
