// A color profile as both sides read it: the supervisor to find mistakes, a worker to use it.
package import Pipeline
package import System

extension OpenFile {
    /// The profile in an .icc file that colors can be converted to.
    package func profile() throws -> ICCProfile {
        let status = try status()
        guard status.kind == .regular else {
            throw Failure(.notARegularFile, stage: "read", "expected an .icc file, found a folder, a pipe or a device")
        }
        guard status.bytes <= ICCProfile.mostBytes else {
            throw Failure(
                .tooManyBytes, stage: "read",
                "an .icc file has at most \(ICCProfile.mostBytes) bytes here, and this one has \(status.bytes)")
        }
        let profile = ICCProfile(try bytes(at: 0, count: status.bytes))
        if let refusal = profile.refusalAsTarget {
            throw Failure(.unsupportedFormat, stage: "read", refusal)
        }
        return profile
    }
}
