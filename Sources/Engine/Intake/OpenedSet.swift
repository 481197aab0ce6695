// An opened set: every member was opened once and checked. Members are opened again when they are needed, because the
// number of open files is limited.
package import Pipeline
import System

/// A set of pictures that can all be read.
package struct OpenedSet: Sendable {
    private let members: [Member]
    private let limits: Limits

    private struct Member: Sendable {
        let source: SourceFile
        let format: SourceFormat
        let status: FileStatus
        let fingerprint: Fingerprint?
        let warning: Warning?

        var name: String { source.location.name.printable }
    }

    /// The most members of a set. A picture of as many as that would have two thousand pixels for each.
    package static let most = 50_000

    static let tooManyMembers = Failure(
        .tooManyMembers, stage: "read", "the set has more than \(most) files, which is the limit; divide it")

    /// Opens each member once.
    /// - Throws: `Failure` that names the members that are no pictures.
    package init(_ members: [SourceFile], limits: Limits) throws(Failure) {
        guard members.count <= Self.most else { throw Self.tooManyMembers }
        var opened: [Member] = []
        var failed = FailedMembers()
        for source in members {
            do throws(Failure) {
                opened.append(try namingMember(source) { () throws(Failure) in try Self.open(source, limits) })
            } catch {
                try failed.note(error, source)
            }
        }
        try failed.check()
        self.members = opened
        self.limits = limits
    }

    private static func open(_ source: SourceFile, _ limits: Limits) throws(Failure) -> Member {
        // A set has one worker for all of its members, whatever is allowed.
        var limits = limits
        limits.allowed = Set(SourceFormat.onRequest)
        let picture = try OpenedSource(source, limits: limits)
        guard !picture.format.isOnRequest else {
            let message = "a set cannot have members in \(picture.format.title); convert them first"
            throw Failure(.unsupportedFormat, stage: "read", message)
        }
        return Member(
            source: source, format: picture.format, status: picture.status, fingerprint: picture.fingerprint,
            warning: picture.extensionWarning(SourceName(source.relative)))
    }

    package var count: Int { members.count }
    package var sources: [SourceFile] { members.map(\.source) }
    var formats: [SourceFormat] { members.map(\.format) }
    /// The fingerprint for the next run to compare with; nil if one of the members has none.
    var fingerprint: Fingerprint? {
        let files = members.compactMap {
            $0.fingerprint == nil ? nil : Fingerprint.File(name: $0.source.location.name, $0.status.stamp)
        }
        return files.count == members.count ? Fingerprint(files) : nil
    }
    package var bytes: Int { members.reduce(0) { $0 + $1.status.bytes } }
    /// The time of the member that was written last.
    package var modificationDate: String {
        exifDate(seconds: (members.map(\.status.modified).max() ?? 0) / 1_000_000_000)
    }
    package var warnings: [Warning] {
        members.compactMap { member in member.warning.map { Warning($0.code, "'\(member.name)': \($0.message)") } }
    }
    func bytes(of index: Int) -> Int { members[index].status.bytes }

    /// Opens a member again.
    /// - Throws: `Failure` that names the member, if it is another file now or gone.
    func open(_ index: Int) throws(Failure) -> OpenedSource {
        let member = members[index]
        return try namingMember(member.source) { () throws(Failure) in
            let opened = try OpenedSource(member.source, limits: limits)
            guard opened.status.version == member.status.version, opened.format == member.format else {
                throw Self.changed
            }
            return opened
        }
    }

    /// Whether all files are still what they were when they were opened.
    package var isUnchanged: Bool {
        members.allSatisfy { member in
            (try? member.source.location.status())??.version == member.status.version
        }
    }

    /// SHA-256 of the members' names and contents, in hexadecimal.
    package func sha256() throws(Failure) -> String {
        let digest = Digest()
        for index in members.indices {
            let member = try open(index)
            let content = try namingMember(sources[index]) { () throws(Failure) in try member.sha256() }
            digest.update(sources[index].location.name.bytes + [0] + Array(content.utf8))
        }
        return digest.finish()
    }

    /// Makes sure that damage is the files' own, as `OpenedSource.confirmDamage` does.
    /// - Throws: `Failure` that names the member.
    func confirmDamage() throws(Failure) {
        for index in members.indices {
            let member = try open(index)
            try namingMember(sources[index]) { () throws(Failure) in try member.confirmDamage() }
        }
    }

    private static let changed = Failure(
        .changedWhileRead, stage: "read", "the file was written to while the set was read")
}

/// The members of a set that failed, which are named together.
struct FailedMembers {
    /// How many are looked for: each may take a worker's time.
    private static let most = 10

    private var names: [String] = []
    private var first: Failure?

    /// - Throws: what is not the member's own fault; and all that failed, if they are many.
    mutating func note(_ failure: Failure, _ member: SourceFile) throws(Failure) {
        guard failure.code == .setMemberFailed else { throw failure }
        first = first ?? failure
        names.append(member.location.name.printable)
        if names.count == Self.most { try check() }
    }

    /// - Throws: the first failure, if there is one; it names the others.
    func check() throws(Failure) {
        guard let first else { return }
        let others = names.dropFirst().map { "'\($0)'" }.joined(separator: ", ")
        throw others.isEmpty
            ? first
            : Failure(first.code, stage: first.stage, "\(first.message); so did \(others)", detail: first.detail)
    }
}

/// Runs something with one member, and names the member in its failure.
func namingMember<Value>(_ member: SourceFile, _ work: () throws(Failure) -> Value) throws(Failure) -> Value {
    do throws(Failure) {
        return try work()
    } catch {
        throw error.ofMember(member.location.name.printable)
    }
}
