// Failed sources go back to their inboxes: `imagemill retry`.
import Glibc
import Pipeline
import Synchronization

struct MillRetry {
    let posts: [InboxPost]
    let ledger: any JobLedger

    /// - Parameter names: absolute, or from the folder `failed/` of any inbox; nil for all that there are.
    func run(_ names: [BytePath]?) -> (moved: [BytePath], problems: [String]) {
        var moved: [BytePath] = []
        var problems: [String] = []
        for (post, place, source) in wanted(names, &problems) {
            do throws(SystemError) {
                moved.append(post.path.appending(try giveBack(source, post, place)))
            } catch {
                problems.append(error.description)
            }
        }
        for post in posts { post.state.withLock { $0.watcher }?.rescan() }
        return (moved, problems)
    }

    private func wanted(_ names: [BytePath]?, _ problems: inout [String]) -> [(InboxPost, WorkPlace, BytePath)] {
        let places = posts.compactMap { post in post.place.map { (post, $0) } }
        guard let names else {
            return places.flatMap { post, place in
                let sources = (try? post.failedFolder(place).sources()) ?? []
                return sources.map { (post, place, $0) }
            }
        }
        return names.flatMap { name -> [(InboxPost, WorkPlace, BytePath)] in
            let found = places.compactMap { post, place in path(name, below: place.path(.failed)).map { (post, place, $0) } }
            if found.isEmpty { problems.append("there is no '\(name.printable)' in any folder failed/") }
            return found
        }
    }

    /// The path of a failed source from its folder; nil where it is not there.
    private func path(_ name: BytePath, below folder: BytePath) -> BytePath? {
        var path = name
        if name.bytes.first == UInt8(ascii: "/") {
            guard let real = FileSystem.absolute(folder), name.isAtOrBelow(real), name.bytes.count > real.bytes.count + 1 else { return nil }
            path = BytePath(Array(name.bytes[(real.bytes.count + 1)...]))
        }
        guard path.staysBelow else { return nil }
        return (try? FileSystem.status(folder.appending(path), followLinks: false)).flatMap { $0 } == nil ? nil : path
    }

    private func giveBack(_ source: BytePath, _ post: InboxPost, _ place: WorkPlace) throws(SystemError) -> BytePath {
        let file = place.path(.failed).appending(source)
        let path = FailureNote.source(ofNoteBeside: file) ?? source
        guard try isCopy(file, of: path, post) else { return try post.failedFolder(place).giveBack(source) }
        do throws(LedgerError) {
            try ledger.forgetKept(inbox: post.path, paths: [path])
        } catch {
            throw SystemError("forget that '\(path.printable)' has failed (\(error.description))", code: EIO)
        }
        let folder = try Directory(file.directory)
        try folder.removeTree(file.lastComponent)
        FileSystem.remove(FailureNote.path(beside: file))
        return path
    }

    /// Whether the original is still in the inbox, so that what stands in failed/ can go. It may be an original itself: that failed when the
    /// inbox did not keep them, or another file stands under its name by now.
    private func isCopy(_ file: BytePath, of path: BytePath, _ post: InboxPost) throws(SystemError) -> Bool {
        guard let failed = try FileSystem.status(file, followLinks: false),
            let original = try FileSystem.status(post.path.appending(path), followLinks: false), failed.kind == original.kind
        else { return false }
        do throws(LedgerError) {
            // The folder of a set has the time at which it was copied.
            guard try ledger.kept(inbox: post.path, path: path)?.code != nil else { return false }
        } catch {
            throw SystemError("find out whether '\(path.printable)' is in the inbox (\(error.description))", code: EIO)
        }
        return failed.kind == .directory || failed.bytes == original.bytes && failed.modified == original.modified
    }
}
