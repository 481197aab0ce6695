// Which names a source gets, whatever keeps the record: the rule of versions, and nothing of databases.
import Pipeline

/// What stands at a name that no source owns.
enum Occupant {
    case nothing
    /// A file that Imagemill did not write.
    case file
    /// A source of this run.
    case source
}

/// Looks for names that are free or the source's own.
struct NameOwnership {
    /// The source that owns a name.
    let owner: (BytePath) throws -> BytePath?
    /// What stands at a name that no source owns.
    let occupant: (BytePath) -> Occupant

    /// - Parameter candidates: the names of all renditions at a version, 1 and up.
    /// - Throws: `Failure` with `name-taken` where the policy is `fail`.
    func names(
        for source: BytePath, policy: CollisionPolicy, candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName]
    ) throws -> [RenditionName] {
        for version in 1... {
            let names = try candidates(version)
            guard let obstacle = try obstacle(to: names, source) else { return names }
            switch policy {
            case .version: continue
            // A source is never written over: it would be lost.
            case .overwrite where names.contains { occupant($0.path) == .source }: continue
            case .overwrite: return names
            case .fail: throw Failure(.nameTaken, stage: "publish", obstacle)
            }
        }
        preconditionFailure("there is no largest version")
    }

    /// Why the names cannot all be this source's: the first reason, as a sentence.
    private func obstacle(to names: [RenditionName], _ source: BytePath) throws -> String? {
        for name in names {
            if let owner = try owner(name.path) {
                if owner != source { return "the name '\(name.path.printable)' belongs to '\(owner.printable)'" }
            } else if !name.isThumbnail && occupant(name.path) != .nothing {
                return "a file that Imagemill did not write stands at '\(name.path.printable)'"
            }
        }
        return nil
    }
}
