// One source on its way into the outbox, with all that is needed to take it back.
import Glibc
import Pipeline
import System

/// Why a step of publishing did not succeed.
enum PublishTrouble: Error {
    case occupied(BytePath)
    case system(SystemError)
    case unrecorded(StoreError)
}

/// One source that is being published. Every step that changes a name can be undone.
final class PublishAttempt {
    /// Something that has changed in the outbox.
    private enum Undoable {
        case placed(StagedFile)
        /// The replaced file is kept under another name in the same folder.
        case replaced(StagedFile, kept: BytePath)
        /// The new folder has the name, and what was there has the new one's temporary name.
        case exchanged(StagedFile)
        /// The old report, under another name.
        case withdrawn(folder: Directory, name: BytePath, kept: BytePath)
    }

    let publication: Publication
    private let outbox: Outbox
    private let durability: Durability
    private let keepsReplaced: Bool
    private let newToken: () -> String
    private var steps: [Undoable] = []
    private var report: StagedFile?
    /// The digests of what is about to be published, by names.
    private var contents: [BytePath: String] = [:]
    /// Whether each of its files has an attribute with the digest.
    private(set) var isNoted = true
    /// Why it has ended early.
    private(set) var trouble: PublishTrouble?
    /// The folders in which the last step has changed a name, by their paths from the outbox.
    private(set) var changedFolders: [BytePath: Directory] = [:]
    /// The renditions as they were written; empty before `complete`.
    private(set) var files = Fingerprint([])

    init(
        _ publication: Publication, in outbox: Outbox, durability: Durability, keepsReplaced: Bool,
        newToken: @escaping () -> String
    ) {
        self.publication = publication
        self.outbox = outbox
        self.durability = durability
        self.keepsReplaced = keepsReplaced
        self.newToken = newToken
    }

    /// Does a step. If it fails, everything that was done is undone, and no other step is done.
    func attempt(_ step: () throws(PublishTrouble) -> Void) {
        guard trouble == nil else { return }
        do throws(PublishTrouble) {
            try step()
        } catch {
            trouble = error
            rollBack()
        }
    }

    // MARK: - Steps

    /// Has the renditions say whose they are.
    func prepare() throws(PublishTrouble) {
        for (output, name) in zip(publication.outputs, publication.names) {
            try system { () throws(SystemError) in
                let content = try content(of: output)
                if name.isFolder {
                    try output.unpack()
                    try FaultPoint.pass(.afterUnpack)
                }
                note(output, content)
            }
            if syncs(output.file) { output.beginSync() }
        }
    }

    /// Has the renditions written to the disk.
    func syncRenditions() throws(PublishTrouble) {
        for output in publication.outputs where syncs(output.file) {
            try system { () throws(SystemError) in
                try output.sync()
                try FaultPoint.pass(.afterTargetSync)
            }
        }
    }

    private func syncs(_ file: OpenFile) -> Bool {
        switch durability {
        case .none: false
        case .remoteContent: file.isRemote
        case .synced: true
        }
    }

    /// Writes the new report, which has no name yet.
    func writeReport(milliseconds: Int) throws(PublishTrouble) {
        guard let report = publication.report else { return }
        self.report = try system { () throws(SystemError) in
            let staged = try StagedFile(
                in: outbox.folder(report.path.directory), destination: report.path, token: newToken())
            try staged.file.append(report.bytes(milliseconds), for: report.path)
            note(staged, try content(of: staged))
            if durability == .synced { staged.beginSync() }
            return staged
        }
    }

    /// Has the new report written to the disk.
    func syncReport() throws(PublishTrouble) {
        guard let report else { return }
        try system { () throws(SystemError) in
            if durability == .synced { try report.sync() }
            try FaultPoint.pass(.afterReportWrite)
        }
    }

    /// The digest of a file; nil if its owner does not matter.
    private func content(of file: StagedFile) throws(SystemError) -> String? {
        outbox.writer == nil ? nil : try Digest.short(of: file.file)
    }

    private func note(_ file: StagedFile, _ content: String?) {
        guard let content else { return }
        contents[file.destination] = content
        if !outbox.note(content, of: publication.owner, in: file.published) { isNoted = false }
    }

    /// The names with their new contents, beside those that are there: a crash may leave either.
    /// - Parameter key: the outbox as the record of names knows it.
    func names(in key: BytePath) -> [OwnedName] {
        contents.map { name, content in
            OwnedName(
                outbox: key, name: name, source: publication.owner,
                contents: [content] + [publication.replaceable[name]?.content].compactMap { $0 })
        }
    }

    /// Takes the old report away: it must not describe renditions that are being replaced.
    func withdrawReport() throws(PublishTrouble) {
        guard let report else { return }
        let (folder, path) = (report.folder, report.destination)
        let name = path.lastComponent
        guard let found = try system({ () throws(SystemError) in try folder.status(name) }) else { return }
        guard publication.mayReplace(path, found) else { throw .occupied(path) }
        try refuseFolder(found, path)
        let kept = Self.keptName(newToken())
        // Noted first: what fails may have happened all the same.
        steps.append(.withdrawn(folder: folder, name: name, kept: kept))
        try system { () throws(SystemError) in try rename(path, to: kept, in: folder) }
        changedFolders[path.directory] = folder
    }

    /// Puts all renditions in place.
    func publishRenditions() throws(PublishTrouble) {
        changedFolders = [:]
        for output in publication.outputs {
            try publish(output)
            try system { () throws(SystemError) in try FaultPoint.pass(.betweenRenames) }
        }
        try system { () throws(SystemError) in try FaultPoint.pass(.afterLastRename) }
    }

    /// Puts the new report in place, which says that all renditions are.
    func publishReport() throws(PublishTrouble) {
        changedFolders = [:]
        guard let report else { return }
        try publish(report)
        try system { () throws(SystemError) in try FaultPoint.pass(.afterReportRename) }
    }

    /// Everything is in place: notes how, and removes what was kept of the old files.
    func complete() throws(PublishTrouble) {
        for (output, name) in zip(publication.outputs, publication.names) {
            let stamp = try system { () throws(SystemError) in try output.stamp() }
            files.files.append(Fingerprint.File(name: name.path, stamp))
        }
        for step in steps {
            switch step {
            case .placed: break
            // The old one goes with the file.
            case .exchanged: break
            case .replaced(let file, let kept): Leftovers.remove(kept, in: file.folder)
            case .withdrawn(let folder, _, let kept): Leftovers.remove(kept, in: folder)
            }
        }
        steps = []
    }

    // MARK: - One file

    private func publish(_ file: StagedFile) throws(PublishTrouble) {
        let path = file.destination
        changedFolders[path.directory] = file.folder
        if !keepsReplaced { return try system { () throws(SystemError) in try file.publish() } }
        // A file that has taken any other name meanwhile is never replaced.
        let mayReplace = publication.overwrites || publication.replaceable[path] != nil
        if mayReplace, file.isUnpacked, try exchange(file) { return }
        if mayReplace, try keep(file), !file.isUnpacked {
            return try system { () throws(SystemError) in try file.publish() }
        }
        do throws(SystemError) {
            try file.publishNew()
        } catch {
            throw error.code == EEXIST ? .occupied(path) : .system(error)
        }
        steps.append(.placed(file))
    }

    /// Puts a folder in place of what has its name, at once.
    /// - Returns: false if nothing is there, or the file system cannot do that: then what is there steps aside first.
    private func exchange(_ file: StagedFile) throws(PublishTrouble) -> Bool {
        let path = file.destination
        let found = try system { () throws(SystemError) in try file.folder.status(path.lastComponent) }
        guard let found else { return false }
        guard publication.mayReplace(path, found) else { throw .occupied(path) }
        try refuseForeignFolder(found, for: file)
        steps.append(.exchanged(file))
        if try system({ () throws(SystemError) in try file.exchange() }) { return true }
        steps.removeLast()
        return false
    }

    /// Gives the file that is about to be replaced a second name.
    /// - Returns: false if nothing is there.
    private func keep(_ file: StagedFile) throws(PublishTrouble) -> Bool {
        let (folder, name) = (file.folder, file.destination.lastComponent)
        guard let found = try system({ () throws(SystemError) in try folder.status(name) }) else { return false }
        guard publication.mayReplace(file.destination, found) else { throw .occupied(file.destination) }
        let kept = Self.keptName(file.token)
        try refuseForeignFolder(found, for: file)
        if file.isUnpacked || found.kind == .directory {
            steps.append(.replaced(file, kept: kept))
            try system { () throws(SystemError) in try rename(file.destination, to: kept, in: folder) }
            return true
        }
        steps.append(.replaced(file, kept: kept))
        do throws(SystemError) {
            try folder.link(name, to: folder, as: kept)
        } catch {
            // Not every file system has links, and not every file may be linked.
            try system { () throws(SystemError) in try rename(file.destination, to: kept, in: folder) }
        }
        return true
    }

    /// - Parameter path: from the outbox, for the message: a report does not tell where it was made.
    private func rename(_ path: BytePath, to kept: BytePath, in folder: Directory) throws(SystemError) {
        do throws(SystemError) {
            try folder.rename(path.lastComponent, to: folder, as: kept)
        } catch {
            throw SystemError("replace '\(path.printable)'", code: error.code)
        }
    }

    /// A folder may be replaced only if it is known for a rendition, whatever the policy: others have more in it.
    private func refuseForeignFolder(_ found: FileStatus, for file: StagedFile) throws(PublishTrouble) {
        guard found.kind == .directory else { return }
        let path = file.destination
        if publication.replaceable[path]?.isSame(as: found) == true { return }
        // Another source may have put it there since: then it is known at the next look.
        if file.isUnpacked { throw .occupied(path) }
        try refuseFolder(found, path)
    }

    private func refuseFolder(_ found: FileStatus, _ path: BytePath) throws(PublishTrouble) {
        guard found.kind != .directory else {
            throw .system(
                SystemError(
                    "put '\(path.printable)' in place", code: EISDIR,
                    because: "there is a folder of that name"))
        }
    }

    /// A name like that of a staged file: what a crash leaves behind is removed together with those.
    private static func keptName(_ token: String) -> BytePath { BytePath(".imagemill-\(token).old") }

    // MARK: - Undoing

    /// Undoes what was done, the last first, as far as it goes.
    private func rollBack() {
        var folders: [Directory] = []
        for step in steps.reversed() {
            switch step {
            case .placed(let file):
                if file.isInPlace { try? file.withdraw(restoring: nil) }
                folders.append(file.folder)
            case .exchanged(let file):
                if file.isInPlace { _ = try? file.exchange() }
                folders.append(file.folder)
            case .replaced(let file, let kept):
                restore(file, kept)
                folders.append(file.folder)
            case .withdrawn(let folder, let name, let kept):
                Leftovers.putBack(kept, as: name, in: folder)
                folders.append(folder)
            }
        }
        steps = []
        guard durability == .synced else { return }
        for folder in folders { try? folder.sync() }
    }

    private func restore(_ file: StagedFile, _ kept: BytePath) {
        let (folder, name) = (file.folder, file.destination.lastComponent)
        if file.isInPlace {
            do throws(SystemError) {
                try file.withdraw(restoring: kept)
            } catch {
                Leftovers.putBack(kept, as: name, in: folder)
            }
        } else {
            // If the rename did not happen, the old file has both names.
            Leftovers.putBack(kept, as: name, in: folder)
        }
    }

    func system<Value>(_ work: () throws(SystemError) -> Value) throws(PublishTrouble) -> Value {
        do throws(SystemError) {
            return try work()
        } catch {
            throw .system(error)
        }
    }
}
