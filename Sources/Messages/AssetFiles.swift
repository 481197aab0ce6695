// Assets that are no pictures, as both sides read them: the supervisor to find mistakes, a worker to use them.
package import Pipeline
package import System

extension OpenFile {
    /// The content of a .cube file.
    package func colorTableBytes() throws -> [UInt8] { try content(of: ".cube", atMost: ColorTable.mostBytes) }

    /// The profile in an .icc file that colors can be converted to.
    package func profile() throws -> ICCProfile {
        let profile = ICCProfile(try content(of: ".icc", atMost: ICCProfile.mostBytes))
        if let refusal = profile.refusalAsTarget {
            throw Failure(.unsupportedFormat, stage: "read", refusal)
        }
        return profile
    }

    private func content(of ending: String, atMost most: Int) throws -> [UInt8] {
        let status = try status()
        let article = ending == ".icc" ? "an" : "a"
        guard status.kind == .regular else {
            throw Failure(
                .notARegularFile, stage: "read",
                "expected \(article) \(ending) file, found a folder, a pipe or a device")
        }
        guard status.bytes <= most else {
            throw Failure(
                .tooManyBytes, stage: "read",
                "\(article) \(ending) file has at most \(most) bytes, and this one has \(status.bytes)")
        }
        return try bytes(at: 0, count: status.bytes)
    }
}
