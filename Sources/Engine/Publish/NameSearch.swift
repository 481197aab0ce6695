// The search for a version whose names a source may have.
import Pipeline
import System

/// Looks for a version: the one that the source has already, else one after the other, then ever larger steps, then
/// halves.
///
/// If the record is lost, a file itself says whose it is, and is found only if it is asked: the first versions all are.
/// Ten thousand sources that want one name ask some forty-five times each, not some thousand times. Versions may be left
/// out if others in between were freed.
struct NameSearch {
    let owner: BytePath
    private let allocator: NameAllocator
    private let extra: (_ version: Int) -> [BytePath]
    private let candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName]
    /// The largest version that is known to be taken.
    private var taken = 0
    private var hasLooked = false

    init(
        owner: BytePath, allocator: NameAllocator, extra: @escaping (_ version: Int) -> [BytePath],
        candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]
    ) {
        self.owner = owner
        self.allocator = allocator
        self.extra = extra
        self.candidates = candidates
    }

    /// The next version that the source may have. Whoever asks again was not given the last one.
    mutating func next() throws -> CheckedNames {
        defer { hasLooked = true }
        if allocator.takesFirstVersion { return try firstVersion() }
        if !hasLooked, let own = try ownVersion() { return own }
        return try freeVersion()
    }

    /// For policies that know no versions.
    private func firstVersion() throws -> CheckedNames {
        for version in 1... {
            let checked = try check(version)
            // A source is never written over: it would be lost.
            if allocator.overwrites, checked.hasSource { continue }
            if let obstacle = allocator.overwrites ? checked.foreignFolder : checked.obstacles.first {
                throw Failure(.nameTaken, stage: "publish", obstacle.description)
            }
            return checked
        }
        preconditionFailure("there is no largest version")
    }

    /// The version that the source has had before.
    private func ownVersion() throws -> CheckedNames? {
        let own = try allocator.ownNames(of: owner)
        guard !own.isEmpty else { return nil }
        for version in Self.versions(in: own) where try names(version).contains(where: { own.contains($0.path) }) {
            let checked = try check(version)
            if checked.isFree { return checked }
        }
        return nil
    }

    /// Every number that could be the version of one of these names, and 1, in order.
    private static func versions(in names: Set<BytePath>) -> [Int] {
        var versions: Set<Int> = [1]
        for name in names {
            for part in name.lastComponent.bytes.split(separator: UInt8(ascii: "-")).dropFirst() {
                let digits = part.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                if let number = Int(String(decoding: digits, as: UTF8.self)), number > 1 { versions.insert(number) }
            }
        }
        return versions.sorted()
    }

    /// So many versions are asked one by one.
    private static let eachAsked = 16

    private mutating func freeVersion() throws -> CheckedNames {
        var step = 1
        var free = try check(taken + step)
        while !free.isFree {
            taken = free.version
            step = taken < Self.eachAsked ? 1 : step * 2
            free = try check(taken + step)
        }
        while free.version - taken > 1 {
            let middle = try check((taken + free.version) / 2)
            if middle.isFree { free = middle } else { taken = middle.version }
        }
        return free
    }

    private func check(_ version: Int) throws -> CheckedNames {
        var checked = try allocator.check(names(version) + extra(version).map { RenditionName(path: $0) }, for: owner)
        checked.version = version
        return checked
    }

    private func names(_ version: Int) throws(Failure) -> [RenditionName] {
        do throws(PlanFailure) {
            return try candidates(version)
        } catch {
            throw error.failure
        }
    }

    /// The names that the source gets.
    func allocation(_ found: CheckedNames) throws -> Allocation {
        let names = try names(found.version)
        let losers = found.obstacles.compactMap { obstacle in
            if case .owner(let owner) = obstacle.kind { owner } else { nil }
        }
        return Allocation(
            names: names, version: found.version, replaceable: found.replaceable, losers: Array(Set(losers)),
            claimed: found.claimed,
            warning: found.version == 1
                ? found.obstacles.firstFound(overwriting)
                : try warning(names + extra(found.version).map { RenditionName(path: $0) }))
    }

    /// Another source that is still there loses its rendition.
    private func overwriting(_ obstacle: Obstacle) -> Warning? {
        guard case .owner(let loser) = obstacle.kind else { return nil }
        return Warning(
            .nameOverwritten,
            "'\(obstacle.name.printable)' belonged to '\(loser.printable)', whose rendition was replaced")
    }

    /// Why the source has no plain names.
    private func warning(_ names: [RenditionName]) throws -> Warning {
        guard let obstacle = try check(1).obstacles.first else {
            let plain = try self.names(1).first?.path ?? owner
            return Warning(
                .nameVersioned,
                "'\(plain.printable)' belonged to another source before; this source is '\(shown(names, at: 0))'")
        }
        let reason =
            switch obstacle.kind {
            case .owner(let owner): "'\(obstacle.name.printable)' belongs to '\(owner.printable)'"
            case .foreignFile: "'\(obstacle.name.printable)' is a file that Imagemill did not write"
            case .foreignFolder: "'\(obstacle.name.printable)' is a folder with more than Imagemill has written"
            case .changedFile: "'\(obstacle.name.printable)' was changed by another program"
            case .otherWriter: "'\(obstacle.name.printable)' is a file of another drop folder, or of imagemill run"
            case .source: "'\(obstacle.name.printable)' is a source of this run"
            }
        var warning = Warning(.nameVersioned, "\(reason); this source is '\(shown(names, at: obstacle.index))'")
        warning.isOfForeignFile = obstacle.kind.isForeignFile
        return warning
    }

    private func shown(_ names: [RenditionName], at index: Int) -> String {
        (names.indices.contains(index) ? names[index].path : owner).printable
    }
}
