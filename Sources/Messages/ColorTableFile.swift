// A table of colors as both sides read it: the supervisor to find mistakes, a worker to use it.
import Pipeline
package import System

extension OpenFile {
    /// The content of a .cube file.
    package func colorTableBytes() throws -> [UInt8] {
        let status = try status()
        guard status.kind == .regular else {
            throw Failure(.notARegularFile, stage: "read", "expected a .cube file, found a folder, a pipe or a device")
        }
        guard status.bytes <= ColorTable.mostBytes else {
            throw Failure(
                .tooManyBytes, stage: "read",
                "a .cube file has at most \(ColorTable.mostBytes) bytes, and this one has \(status.bytes)")
        }
        return try bytes(at: 0, count: status.bytes)
    }
}
