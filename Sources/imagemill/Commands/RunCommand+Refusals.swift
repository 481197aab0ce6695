// The refusals of `imagemill run` before it renders anything.
import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

extension RunCommand {
    func refuseSeveralToStandardOutput(_ pipeline: LoadedPipeline) throws {
        guard isToStandardOutput else { return }
        let count = pipeline.file.renditions.reduce(0) { $0 + $1.scales.count }
        if count > 1 {
            printError(
                "imagemill: this pipeline makes \(count) renditions of a picture; only one can go to standard output (-o -)"
            )
            throw ExitStatus.usage
        }
        let hasFolder = pipeline.file.renditions.contains { $0.save.encoding.isFolder }
        guard hasFolder || !pipeline.file.documents.isEmpty else { return }
        let what = hasFolder ? "a folder; add 'container: zip'" : "documents beside its rendition"
        printError("imagemill: this pipeline makes \(what); one file can go to standard output (-o -)")
        throw ExitStatus.usage
    }

    /// Refuses more or fewer sources than the one whose rendition goes to standard output.
    func refuseSourcesToStandardOutput(_ found: FoundSources) throws {
        guard isToStandardOutput, found.sources.count != 1 else { return }
        let words = found.sources.isEmpty ? "no picture was" : "\(found.sources.count) pictures were"
        printError(
            "imagemill: \(words) found; standard output (-o -) takes the rendition of one; name one picture, or a folder for the renditions"
        )
        throw ExitStatus.usage
    }

    /// Ends the command if nothing that was named is there, before the output folder is made.
    func refuseMissing(_ found: FoundSources, _ outbox: OutboxLocation) throws {
        let isRecorded = json || jsonLines || report != nil || metrics != nil
        guard !isRecorded, !found.sources.isEmpty, FileSystem.isAbsent(outbox.path),
            found.sources.allSatisfy({ $0.problem?.code == .notFound })
        else { return }
        for source in found.sources {
            guard let failure = source.problem else { continue }
            let code = Paint(2).red(failure.code.rawValue)
            printError("\(source.typed.printable): \(code): \(oneLine(failure.message))")
        }
        printError("  \(FailureCode.notFound.remedy(in: .command))")
        if !quiet { printError("none of \(counted(found.sources.count, "source")) is there; nothing was written") }
        throw ExitStatus.allFailed
    }

    /// Locks the output folder, which is made if it is missing.
    func lockOutput(_ outbox: OutboxLocation, makesThumbnails: Bool) throws -> OutboxLock {
        do {
            // The specification of thumbnails wants the folder to be the user's alone.
            if makesThumbnails { try FileSystem.makeDirectories(outbox.path, mode: 0o700) }
            return try OutboxLock(outbox)
        } catch let error as SystemError where [EACCES, EPERM, EROFS].contains(error.code) {
            let (folder, option) =
                state == nil
                ? ("the output folder '\(outbox.path.printable)'", "-o")
                : ("the folder '\(outbox.state.printable)'", "--state")
            throw SystemError(
                "write to \(folder)", code: error.code,
                because: "\(error.reason); change its permissions, or choose another folder (\(option))")
        }
    }

    /// Refuses output files and folders that cannot be written, before anything is rendered.
    func refuseOutputs(_ outbox: OutboxLocation, _ roots: [BytePath]) throws {
        try refuseAddress(outbox.path)
        try refuseFile(outbox.path)
        try refuseSameFolder(roots, outbox.path)
        try refuseOneFileForTwo(outbox)
        try refuseUnwritable(report, as: isPage ? .page : .report, option: "--report")
        try refuseUnwritable(
            manifest, as: manifest.map(ReportPageFile.isPage) == true ? .manifestPage : .manifest, option: "--manifest")
        try refuseUnwritable(metrics, as: .metrics, option: "--metrics")
    }

    private func refuseOneFileForTwo(_ outbox: OutboxLocation) throws {
        let files = [("--report", report), ("--manifest", manifest), ("--metrics", metrics)].compactMap {
            option, file in
            file.map { (option: option, path: RawArguments.paths([$0])[0]) }
        }
        func place(_ path: BytePath) -> BytePath {
            FileSystem.absolute(DurableFile.folder(of: path))?.appending(path.lastComponent) ?? path
        }
        for (index, file) in files.enumerated() {
            if let other = files[..<index].first(where: { place($0.path) == place(file.path) }) {
                printError(
                    "imagemill: \(other.option) and \(file.option) name one file, '\(file.path.printable)'; choose another for one of them"
                )
                throw ExitStatus.usage
            }
            if file.option == "--manifest", place(file.path) == place(outbox.report) {
                printError(
                    "imagemill: '\(file.path.printable)' is the run's report; choose another file (--manifest)")
                throw ExitStatus.usage
            }
        }
    }

    private func refuseAddress(_ outbox: BytePath) throws {
        guard outbox.printable.contains("://") else { return }
        printError(
            "imagemill: '\(outbox.printable)' is an address; name a folder of this machine for the renditions (-o), and upload it afterwards"
        )
        throw ExitStatus.usage
    }

    private func refuseUnwritable(_ file: String?, as kind: ReplacedFile, option: String) throws {
        guard let path = file.map({ RawArguments.paths([$0])[0] }) else { return }
        if (try? FileSystem.status(path))??.kind == .directory {
            printError(
                "imagemill: the \(kind.title) cannot be written to '\(path.printable)': it is a folder; name a file (\(option))"
            )
            throw ExitStatus.usage
        }
        try kind.refuseOthers(at: path, option: option)
    }

    private func refuseFile(_ outbox: BytePath) throws {
        guard let found = try? FileSystem.status(outbox), found.kind != .directory else { return }
        printError(
            "imagemill: the output folder '\(outbox.printable)' is a file; name a folder for the renditions (-o)")
        throw ExitStatus.usage
    }

    /// Refuses a new folder named like a picture for a single source: the user expects a file of that name.
    func refusePictureName(
        _ outbox: BytePath, _ roots: [BytePath], _ found: FoundSources, _ pipeline: LoadedPipeline
    ) throws {
        let endings = OutputFormat.allCases.flatMap { $0.asSource?.fileExtensions ?? [$0.fileExtension] }
        guard endings.contains(SourceName(outbox).fileExtension), FileSystem.isAbsent(outbox),
            roots.count == 1, found.sources.count == 1, let root = roots.first, let source = found.sources.first,
            source.members != nil || (try? FileSystem.status(root))??.kind != .directory
        else { return }
        let count = pipeline.file.renditions.reduce(0) { $0 + $1.scales.count }
        let remedy =
            count == 1 ? "for one file, write -o - > \(outbox.printable)" : "name a folder for the renditions (-o)"
        printError("imagemill: -o names a folder, and '\(outbox.printable)' is named like a picture; \(remedy)")
        throw ExitStatus.usage
    }

    private func refuseSameFolder(_ roots: [BytePath], _ outbox: BytePath) throws {
        guard let absolute = FileSystem.absolute(outbox) else { return }
        for root in roots where FileSystem.absolute(root) == absolute {
            printError(
                "imagemill: '\(root.printable)' is the output folder too; choose another folder for the renditions (-o)"
            )
            throw ExitStatus.usage
        }
    }

    /// Refuses an output folder among the sources that has pictures which nobody has rendered: they would be left out for
    /// ever.
    func refuseForeignPictures(_ found: FoundSources, in files: OutputFolderFiles, for pipeline: LoadedPipeline) throws
    {
        guard let folder = found.outputFolder else { return }
        let rules = WalkRules(
            outbox: nil, kind: pipeline.file.source, allowed: limitOptions.limits.allowed, raw: pipeline.file.raw)
        let pictures = files.foreignPictures(rules)
        guard let first = pictures.first else { return }
        let others = pictures.count > 1 ? " and \(counted(pictures.count - 1, "other picture"))" : ""
        printError(
            "imagemill: the output folder '\(folder.printable)' is among the sources and has '\(first.printable)'\(others), which Imagemill has not made; they would not be rendered"
        )
        printError(
            "  choose another folder (-o), or leave this one out yourself: --exclude \(folder.lastComponent.printable)")
        throw ExitStatus.usage
    }
}

/// Each worker needs a socket, and an open source, asset and renditions; without them every source would fail with
/// `io-error`.
func refuseTooFewDescriptors(workers: Int, renditions: Int) throws {
    let limit = Machine.raiseDescriptorLimit()
    // Databases, the terminal, folders on the way, and a worker that is replaced: 26 in all were seen with two workers,
    // and once 38.
    let needed = 32 + workers * (6 + renditions)
    guard (1..<needed).contains(limit) else { return }
    printError(
        "imagemill: only \(limit) files may be open at once, and this run needs \(needed); raise the limit (ulimit -n), or use fewer --jobs"
    )
    throw ExitStatus.tryAgain
}
