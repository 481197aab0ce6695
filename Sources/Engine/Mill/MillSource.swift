// A claimed source as the worker reads it: private, and for a set with all its members in order.
import Glibc
import Pipeline

/// Somebody still writes to the source.
struct StillWritten: Error {}

struct MillSource {
    private let job: MillJob
    private let ignored: IgnoredNames
    private let limits: Limits

    init(_ job: MillJob, ignored: IgnoredNames, limits: Limits) {
        self.job = job
        self.ignored = ignored
        self.limits = limits
    }

    /// - Throws: `StillWritten`, or `Failure` where it cannot be read.
    func file() throws -> SourceFile {
        let identity = job.post.path.appending(job.relative)
        do throws(SystemError) {
            guard job.isSet else {
                return SourceFile(path: try path(), identity: identity, relative: job.relative)
            }
            let members = try self.members(of: Directory(job.place.source(of: job.id)))
            let problem = members.isEmpty ? Failure(.empty, stage: "read", "expected a folder with pictures, found none in it") : nil
            return SourceFile(
                path: job.place.source(of: job.id), identity: identity, relative: job.relative, members: try members.map(member),
                problem: problem)
        } catch {
            if error.code == EBUSY { throw StillWritten() }
            throw error.asSourceFailure
        }
    }

    private func member(_ path: BytePath) throws(SystemError) -> SourceFile {
        let relative = job.relative.appending(path)
        return SourceFile(path: try self.path(path), identity: job.post.path.appending(relative), relative: relative)
    }

    /// Where the source, or a member of the set, can be read. What is too large is refused when it is opened, and not copied for that.
    private func path(_ member: BytePath? = nil) throws(SystemError) -> BytePath {
        let source = job.place.source(of: job.id)
        let path = member.map { source.appending($0) } ?? source
        let bytes = try FileSystem.status(path, followLinks: false)?.bytes ?? 0
        return bytes > limits.maximumSourceBytes ? path : try job.place.open(job.id, member: member).path
    }

    /// All files of the set, in natural order, as paths from its folder.
    private func members(of folder: Directory, at path: BytePath = BytePath([])) throws(SystemError) -> [BytePath] {
        var found: [BytePath] = []
        for name in try folder.names() where !ignored.contains(name) {
            let member = path.appending(BytePath(name))
            switch try folder.sighting(BytePath(name))?.kind {
            case .regular: found.append(member)
            case .directory where member.components.count < FolderScan.deepest:
                found += try members(of: folder.folder(BytePath(name)), at: member)
            case .directory, .link, .other, nil: break
            }
        }
        return found.sorted { $0.precedes($1) }
    }
}
