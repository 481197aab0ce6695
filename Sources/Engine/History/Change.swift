// The reasons to process a source again, as `imagemill run --why` prints them.
package import Pipeline
import System

/// One reason to process a source that might have been skipped.
package enum Change: Equatable, Sendable {
    /// `--force`.
    case forced
    case neverDone
    case failedBefore(String)
    /// The record holds something about the source that cannot be read.
    case recordUnreadable
    case engine(before: String, now: String)
    case pipeline
    case asset(String)
    case fonts
    case option(String, before: String, now: String)
    /// The source has another path below the folder that was named.
    case place(before: BytePath)
    /// Thumbnails for file managers count for one address of the source, and it was done under another.
    case address(String)
    case sourceUnreadable
    /// The member of a set, a sidecar by its path from the source's folder, or an asset by its whole path; an empty name
    /// means a picture.
    case size(BytePath, before: Int, now: Int)
    case time(BytePath)
    case memberAdded(BytePath)
    case memberRemoved(BytePath)
    case outputMissing(BytePath)
    case outputAltered(BytePath)

    /// The reason as a clause without a full stop.
    package var sentence: String {
        switch self {
        case .forced: "--force does every source"
        case .neverDone: "it was never done into this output folder"
        case .failedBefore(let failure): "it failed the last time: \(failure)"
        case .recordUnreadable: "the record of how it was done cannot be read"
        case .engine(let before, let now): "the engine is \(now); it was \(before)"
        case .pipeline: "the pipeline has changed"
        case .asset(let name): "the asset '\(name)' has changed"
        case .fonts: "the installed fonts have changed"
        case .option(let name, let before, let now): "\(name) is \(now); it was \(before)"
        case .place(let before): "it was '\(before.printable)' below the folder of sources"
        case .address(let now): "it has no thumbnails of the address \(now)"
        case .sourceUnreadable: "the source cannot be examined"
        case .size(let member, let before, let now): "\(Self.title(member)) has \(now) bytes; it had \(before)"
        case .time(let member): "\(Self.title(member)) was written to"
        case .memberAdded(let member): "\(Self.title(member)) is new"
        case .memberRemoved(let member): "\(Self.title(member)) is gone"
        case .outputMissing(let name): "the rendition '\(name.printable)' is missing"
        case .outputAltered(let name): "the rendition '\(name.printable)' is not as it was written"
        }
    }

    private static func title(_ member: BytePath) -> String {
        if member.bytes.isEmpty { return "the source" }
        if member.isAbsolute { return "the asset '\(member.printable)'" }
        let isSidecar = Sidecar.picture(of: member) != nil
        return "the \(isSidecar ? "sidecar" : "member") '\(member.printable)'"
    }
}

extension Fingerprint {
    /// The differences from an earlier fingerprint.
    func changes(since old: Fingerprint) -> [Change] {
        let before = Dictionary(old.files.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(files.map(\.name))
        var changes = old.files.filter { !names.contains($0.name) }.map { Change.memberRemoved($0.name) }
        for file in files {
            guard let known = before[file.name] else {
                changes.append(.memberAdded(file.name))
                continue
            }
            if file.stamp.bytes != known.stamp.bytes {
                changes.append(.size(file.name, before: known.stamp.bytes, now: file.stamp.bytes))
            } else if file.stamp != known.stamp {
                changes.append(.time(file.name))
            }
        }
        return changes
    }
}
