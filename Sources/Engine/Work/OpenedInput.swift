// The input of a job: one picture, or a set of them.
import Messages
import Pipeline
import System

/// A picture or a set that is open for reading.
enum OpenedInput: Sendable {
    case picture(OpenedSource)
    case set(OpenedSet)

    init(_ source: SourceFile, limits: Limits) throws(Failure) {
        if let problem = source.problem { throw problem }
        if let members = source.members {
            self = .set(try OpenedSet(members, limits: limits))
        } else {
            self = .picture(try OpenedSource(source, limits: limits))
        }
    }

    var bytes: Int {
        switch self {
        case .picture(let picture): picture.bytes
        case .set(let set): set.bytes
        }
    }

    /// As EXIF writes dates, in UTC.
    var modificationDate: String {
        switch self {
        case .picture(let picture): picture.modificationDate
        case .set(let set): set.modificationDate
        }
    }

    /// The formats of its file, or of the members of a set.
    var formats: [SourceFormat] {
        switch self {
        case .picture(let picture): [picture.format]
        case .set(let set): set.formats
        }
    }

    /// The fingerprint for the next run to compare with; nil if another write need not have moved a file's time.
    var fingerprint: Fingerprint? {
        switch self {
        case .picture(let picture): picture.fingerprint
        case .set(let set): set.fingerprint
        }
    }

    var isUnchanged: Bool {
        switch self {
        case .picture(let picture): picture.isUnchanged
        case .set(let set): set.isUnchanged
        }
    }

    func sha256() throws(Failure) -> String {
        switch self {
        case .picture(let picture): try picture.sha256()
        case .set(let set): try set.sha256()
        }
    }

    /// Makes sure that damage is the source's own, and not that of a disk or of a writer who is not done.
    /// - Throws: `Failure` with the code `io-error` or `changed-while-read`.
    func confirmDamage() throws(Failure) {
        switch self {
        case .picture(let picture): try picture.confirmDamage()
        case .set(let set): try set.confirmDamage()
        }
    }

    /// Names that promise another format than the content has.
    func warnings(_ name: SourceName) -> [Warning] {
        switch self {
        case .picture(let picture): [picture.extensionWarning(name)].compactMap { $0 }
        case .set(let set): set.warnings
        }
    }

    /// The failure, told more exactly by what our own code sees in the file.
    func refined(_ failure: Failure) -> Failure {
        switch self {
        case .picture(let picture): return picture.refined(failure)
        case .set(let set):
            guard failure.code == .setMemberFailed || failure.code == .corrupt else { return failure }
            do throws(Failure) {
                try set.confirmDamage()
                return failure
            } catch {
                return error
            }
        }
    }
}

extension SourceReport.Source {
    /// Notes what the headers say.
    mutating func describe(_ input: ProbedInput, _ opened: OpenedInput) {
        switch (input, opened) {
        case (.picture(let facts, _), _): self.facts = SourceReport.Facts(facts)
        case (.set(let members), .set(let set)):
            self.members = members.enumerated().map {
                SourceReport.Member(
                    path: set.sources[$0].relative, bytes: set.bytes(of: $0), facts: SourceReport.Facts($1.facts))
            }
        case (.set, .picture): break
        }
    }
}

extension SourceReport.Facts {
    fileprivate init(_ facts: SourceFacts) {
        self.init(
            format: facts.format, size: facts.size, orientation: facts.orientation, frames: facts.frames,
            hasAlpha: facts.hasAlpha,
            color: facts.color.map { SourceReport.Color(name: $0.name, by: $0.origin) },
            gainMap: facts.gainMap?.kind.rawValue)
    }
}
