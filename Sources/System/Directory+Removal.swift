// The removal of folders with all that is in them, and of many files.
import CLinux
import Glibc
package import Pipeline

extension Directory {
    /// Removes a folder with all that is in it. No link is followed, and two descriptors are enough for any depth.
    /// - Returns: false if NFS keeps files in it (`.nfs…`) that are still open somewhere; the folder can be removed
    ///   once they are closed.
    @discardableResult
    package func removeTree(_ name: BytePath) throws(SystemError) -> Bool {
        guard let found = try status(name) else { return true }
        guard found.kind == .directory else { return try removeUnlessBusy(name) }
        var current = try folder(name)
        var levels = [try Level(name, of: current, in: self)]
        while var level = levels.popLast() {
            if level.pending.isEmpty, level.hasMore { try level.goOn(in: current) }
            if let next = level.next() {
                let entry = BytePath(next)
                guard try current.status(entry)?.kind == .directory else {
                    if try !current.removeUnlessBusy(entry) { level.isEmpty = false }
                    levels.append(level)
                    continue
                }
                levels.append(level)
                let parent = current
                current = try parent.folder(entry)
                levels.append(try Level(entry, of: current, in: parent))
            } else {
                current = levels.isEmpty ? self : try current.parent(level.parent)
                let isGone = level.isEmpty ? try current.removeFolderUnlessBusy(level.name) : false
                if levels.isEmpty { return isGone }
                if !isGone { levels[levels.count - 1].isEmpty = false }
            }
        }
        return true
    }

    /// A folder whose content is being removed.
    private struct Level {
        let name: BytePath
        let parent: FileIdentity
        /// Some of the names: a folder may have millions.
        private(set) var pending: [[UInt8]]
        private(set) var hasMore: Bool
        var isEmpty = true

        private static let most = 10_000

        init(_ name: BytePath, of folder: Directory, in parent: Directory) throws(SystemError) {
            self.name = name
            self.parent = try parent.identity
            pending = try folder.names(atMost: Self.most)
            hasMore = pending.count == Self.most
        }

        mutating func next() -> [UInt8]? { pending.popLast() }

        /// Looks for names that are left. Those that cannot be removed would come again and again, so that all are taken
        /// then.
        mutating func goOn(in folder: Directory) throws(SystemError) {
            pending = try folder.names(atMost: isEmpty ? Self.most : .max)
            hasMore = isEmpty && pending.count == Self.most
        }
    }

    /// The folder above. It must be the one through which this one was reached: somebody may have moved this one
    /// elsewhere.
    private func parent(_ expected: FileIdentity) throws(SystemError) -> Directory {
        let descriptor = clinux_openat(file.descriptor, "..", Self.flags | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { throw SystemError("open the folder above") }
        let parent = Directory(owning: descriptor)
        guard try parent.identity == expected else {
            throw SystemError("remove a folder that was moved meanwhile", code: ESTALE)
        }
        return parent
    }

    /// - Returns: false for a file that NFS keeps because it is open.
    private func removeUnlessBusy(_ name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try remove(name)
            return true
        } catch  where error.code == EBUSY && name.isKeptByNFS {
            return false
        }
    }

    /// Removes an empty folder.
    /// - Returns: false if nothing but files that NFS keeps is in it.
    func removeFolderUnlessBusy(_ name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try remove(name, isFolder: true)
            return true
        } catch  where error.code == ENOTEMPTY || error.code == EEXIST || error.code == EBUSY {
            let left = try folder(name).names()
            guard !left.isEmpty, left.allSatisfy({ BytePath($0).isKeptByNFS }) else { throw error }
            return false
        }
    }

    /// Removes the files whose names begin in one way, but not in another. What cannot be removed stays.
    package func removeFiles(beginningWith prefix: String, butNot exception: String) throws(SystemError) {
        let names = try DirectoryStream(self)
        var failure: SystemError?
        while let name = try names.next() {
            guard name.starts(with: prefix.utf8), !name.starts(with: exception.utf8) else { continue }
            do throws(SystemError) {
                try removeWhatever(BytePath(name))
            } catch {
                // Some file systems say for a moment that nothing is there.
                if !error.isAbsence || exists(BytePath(name)) { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }

    private func exists(_ name: BytePath) -> Bool { (try? status(name)) != nil }

    /// Removes a file, or a folder with all that is in it.
    func removeWhatever(_ name: BytePath) throws(SystemError) {
        do throws(SystemError) {
            try remove(name)
        } catch {
            guard error.code == EISDIR else { throw error }
            try removeTree(name)
        }
    }

    /// Removes what ended processes of this machine have left here: `.imagemill-PID-…`.
    package func removeLeftoversOfEndedProcesses() throws(SystemError) {
        let beginning = ".imagemill-"
        for name in try names() where name.starts(with: beginning.utf8) {
            let digits = name.dropFirst(beginning.utf8.count).prefix { $0 != UInt8(ascii: "-") }
            guard let process = pid_t(String(decoding: digits, as: UTF8.self)), process > 0 else { continue }
            if kill(process, 0) != 0 && errno == ESRCH { try removeWhatever(BytePath(name)) }
        }
    }
}
