// A source as intake found it, before it is opened.
package import Pipeline
package import System

/// One source: a picture or a set, or something that is in the place of one.
package struct SourceFile: Sendable {
    /// Where to open it.
    package let location: FileLocation
    /// The absolute path, without links above it.
    package let identity: BytePath
    /// The absolute path as the user named it, links included: other programs know the source by it.
    package let address: BytePath
    /// The path from the source root, as reports show it.
    package let relative: BytePath
    /// The path as the user would type it, for messages.
    package let typed: BytePath
    /// The pictures of a set in natural order; nil for a single picture.
    package let members: [SourceFile]?
    /// The size and time that the file must still have when it is opened, from a shard's list; nil if any will do.
    package let planned: Fingerprint.File?
    /// Why it cannot be processed, if that is known before it is opened.
    package let problem: Failure?
    /// How many folders it is below the one that the user has named, or the inbox.
    var depth = 0
    /// Where its own sidecar is, if not beside it.
    var sidecar: FileLocation?
    /// Where it was found, if it is elsewhere now; its folders may have sidecars.
    var home: FileLocation?

    /// - Parameters:
    ///   - address: nil if it is the identity.
    ///   - typed: nil if it is the relative path.
    package init(
        location: FileLocation, identity: BytePath, address: BytePath? = nil, relative: BytePath,
        typed: BytePath? = nil,
        members: [SourceFile]? = nil, planned: Fingerprint.File? = nil, problem: Failure? = nil
    ) {
        self.address = address ?? identity
        self.typed = typed ?? relative
        self.location = location
        self.identity = identity
        self.relative = relative
        self.members = members
        self.planned = planned
        self.problem = problem
    }

    /// The same source with another path in messages.
    package func shown(as text: String) -> SourceFile {
        var source = SourceFile(
            location: location, identity: identity, address: address, relative: relative, typed: BytePath(text),
            members: members, planned: planned,
            problem: problem)
        (source.depth, source.sidecar, source.home) = (depth, sidecar, home)
        return source
    }

    /// A set of fewer members.
    package func having(_ members: [SourceFile]) -> SourceFile {
        var source = SourceFile(
            location: location, identity: identity, address: address, relative: relative, typed: typed,
            members: members, planned: planned, problem: problem)
        source.depth = depth
        return source
    }

    package var name: SourceName { members == nil ? SourceName(relative) : SourceName(folder: relative) }
}

extension Fingerprint.File {
    /// It is no part of the source: a value of its parameters has chosen it as an asset.
    var isChosen: Bool { name.isAbsolute }

    /// Such a file as it is now; nil if there is none.
    func now() -> Fingerprint.File? {
        (try? FileSystem.status(name))?.map { Fingerprint.File(name: name, $0.stamp) } ?? nil
    }
}

extension Fingerprint {
    /// The fingerprint of a source as it is now; nil if it cannot be examined.
    /// - Parameter withSidecars: those are part of it.
    package static func current(of source: SourceFile, withSidecars: Bool) -> Fingerprint? {
        guard source.problem == nil, var fingerprint = current(of: source) else { return nil }
        if withSidecars {
            guard let sidecars = source.sidecarStamps() else { return nil }
            fingerprint.files += sidecars
        }
        return fingerprint
    }

    private static func current(of source: SourceFile) -> Fingerprint? {
        guard let members = source.members else {
            return (try? source.location.status())?.map { Fingerprint($0) } ?? nil
        }
        let files = members.compactMap { member in
            (try? member.location.status())?.map { File(name: member.location.name, $0.stamp) } ?? nil
        }
        return files.count == members.count ? Fingerprint(files) : nil
    }
}
