// Tells renditions from sources if the output folder and the sources are in one tree.
package import Pipeline
import System

/// Tells renditions in an output folder from other files: by what a file says of itself, and by the record.
package struct OutputFolderFiles: Sendable {
    private let outbox: OutboxLocation
    /// Closed, but kept: when a database's queue is released, Dispatch starts a thread, and workers are copied from a
    /// process that has none.
    private var reader: ResultReader?

    package init(_ outbox: OutboxLocation) { self.outbox = outbox }

    /// The pictures in an output folder that no run has written, as long as there is no record of an earlier run.
    /// - Parameter rules: how the sources are searched for.
    package func foreignPictures(_ rules: WalkRules) -> [BytePath] {
        guard FileSystem.isAbsent(outbox.record) else { return [] }
        return SourceWalk.find([outbox.path], rules).sources.flatMap { $0.members ?? [$0] }
            .filter { $0.problem == nil && origin($0) == nil }.map(\.typed)
    }

    /// Takes renditions of earlier runs out of what was found, if the output folder is above the sources: they are among
    /// them. A file that the user has named stays.
    package mutating func leaveOutRenditions(in found: inout FoundSources, named roots: [BytePath]) {
        guard found.sources.contains(where: { $0.identity.isAtOrBelow(outbox.realPath) }) else { return }
        reader = ResultReader(outbox, isDryRun: true)
        defer { reader?.close() }
        let named = Set(roots)
        var count = 0
        let sources = found.sources.compactMap { source -> SourceFile? in
            guard let members = source.members else {
                guard named.contains(source.typed) || !isRendition(source) else {
                    count += 1
                    return nil
                }
                return source
            }
            let left = members.filter { !isRendition($0) }
            count += members.count - left.count
            return left.isEmpty ? nil : source.having(left)
        }
        guard count > 0 else { return }
        found.sources = sources
        found.notes.append(
            "left out \(counted(count, "rendition")) of earlier runs among the sources: the output folder '\(outbox.path.printable)' is above them"
        )
    }

    private func isRendition(_ source: SourceFile) -> Bool {
        guard source.problem == nil, source.identity.isAtOrBelow(outbox.realPath) else { return false }
        if places(of: source).contains(where: { reader?.owner(of: outbox.identity(of: $0)) != nil }) { return true }
        // A source may be the rendition of another output folder, moved here.
        guard let origin = origin(source), origin.writer == Outbox.runWriter else { return false }
        return !outbox.isGone(origin.source)
    }

    /// A file, and the folders in the output folder that it is in: one of them may be the rendition.
    private func places(of source: SourceFile) -> [BytePath] {
        var places = [source.identity]
        while let last = places.last, last.directory != outbox.realPath, last.directory.isAtOrBelow(outbox.realPath) {
            places.append(last.directory)
        }
        return places
    }

    private func origin(_ file: SourceFile) -> FileOrigin? {
        places(of: file).firstFound { place in
            (try? Directory(place.directory))?.attribute(FileOrigin.attribute, of: place.lastComponent)
                .flatMap(FileOrigin.init(encoded:))
        }
    }
}
