// The plan of a batch: what all of its tasks must agree on.
import FoundationEssentials
package import Pipeline
import System

/// Where the renditions of a shard go, so that no two shards want one name.
package enum ShardLayout: String, Codable, CaseIterable, Sendable {
    /// Into the same sub-folders as their sources; all sources of a folder are in one shard.
    case tree
    /// All in one folder, under names that are made of the sources' digests.
    case hash
    /// A folder for each shard.
    case folders
    /// One tar for each shard.
    case tar

    package init(_ pipeline: PipelineFile, keepsTree: Bool, packs: Bool = false) {
        if packs {
            self = .tar
        } else if keepsTree || pipeline.renditions.allSatisfy(\.template.isBelowFolder) {
            self = .tree
        } else {
            self =
                pipeline.renditions.allSatisfy { $0.layout == .freedesktop || $0.template.isDistinctByContent }
                ? .hash : .folders
        }
    }
}

extension NameTemplate {
    /// The source's folder is a part of its own in every name.
    fileprivate var isBelowFolder: Bool {
        guard let place = parts.firstIndex(of: .dir) else { return false }
        func isSlash(_ part: Part?, _ edge: (String) -> Character?) -> Bool {
            if case .literal(let text) = part { edge(text) == "/" } else { false }
        }
        let before = place == 0 || isSlash(parts[place - 1], \.last)
        return before && place + 1 < parts.count && isSlash(parts[place + 1], \.first)
    }

    /// Sources of the same name have different contents only if their names differ too.
    fileprivate var isDistinctByContent: Bool {
        parts.contains { if case .hash(let digits) = $0 { digits >= 16 } else { false } }
    }
}

/// `plan.json`. A plan never changes once it is there.
package struct ShardPlan: Codable, Equatable, Sendable {
    package struct Pipeline: Codable, Equatable, Sendable {
        /// The absolute path of the file when the plan was made; assets are beside it.
        package let path: String
        /// SHA-256 of `pipeline.yaml`.
        package let sha256: String
        /// SHA-256 of each asset, by its path as the pipeline writes it.
        package let assets: [String: String]
    }

    package struct Options: Codable, Equatable, Sendable {
        package let keepTree: Bool
        package let perShard: Int
        /// By name.
        package let limits: [String: Int]
        /// The formats on request that are read; nil if there are none.
        package let allow: [SourceFormat]?
        /// The actions on warnings that differ from the pipeline's; nil if there are none.
        package let policy: WarningPolicy?
        /// The values of the pipeline's parameters that were given; nil if there are none.
        package let set: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case keepTree = "keep-tree"
            case perShard = "per-shard"
            case limits, allow, policy, set
        }

        init(
            keepTree: Bool, perShard: Int, _ limits: Limits, _ policy: WarningPolicy, set: [String: String]
        ) {
            self.keepTree = keepTree
            self.perShard = perShard
            self.limits = Dictionary(
                uniqueKeysWithValues: LimitSetting.all.map { ($0.name, limits[keyPath: $0.value]) })
            self.policy = policy.isEmpty ? nil : policy
            self.set = set.isEmpty ? nil : set
            allow = limits.allowed.isEmpty ? nil : limits.allowed.sorted { $0.rawValue < $1.rawValue }
        }
    }

    package var schema = "imagemill.plan/1"
    /// A digest of everything else but the time: the same sources and options make the same plan.
    package private(set) var id = ""
    package private(set) var created = ""
    /// The versions that the plan is for.
    package let engine: String
    package let pipeline: Pipeline
    package let options: Options
    package let layout: ShardLayout
    /// The folders that the sources are below, and the tars that they are in, percent-encoded.
    package let roots: [String]
    package let sources: Int
    package let bytes: Int
    package let shards: Int
    package let tasks: Int
    /// SHA-256 of `shards.index`, which has that of every shard's list.
    package let index: String

    init(
        engine: String, pipeline: Pipeline, options: Options, layout: ShardLayout, roots: [BytePath], sources: Int,
        bytes: Int, shards: Int,
        tasks: Int, index: String
    ) {
        self.engine = engine
        self.pipeline = pipeline
        self.options = options
        self.layout = layout
        self.roots = roots.map(\.percentEncoded)
        self.sources = sources
        self.bytes = bytes
        self.shards = shards
        self.tasks = tasks
        self.index = index
        id = computedID
        created = timestamp()
    }

    /// The value that `id` must have.
    var computedID: String {
        var plan = self
        plan.id = ""
        plan.created = ""
        return String(Digest.of(json(plan)).prefix(32))
    }

    /// The shards of a task, in the order in which it does them.
    package func shards(of task: Int) -> some Sequence<Int> { stride(from: task, to: shards, by: tasks) }

    /// - Parameter memory: bytes for all workers together, which is a matter of the machine.
    package func limits(memory: Int) -> Limits {
        var limits = Limits()
        for setting in LimitSetting.all {
            if let value = options.limits[setting.name] { limits[keyPath: setting.value] = value }
        }
        limits.maximumMemory = memory
        limits.allowed = Set(options.allow ?? [])
        return limits
    }
}

/// The files of a plan's folder.
enum PlanFile {
    static let plan = BytePath("plan.json")
    static let pipeline = BytePath("pipeline.yaml")
    /// The sources of all shards, one shard's after the other's.
    static let sources = BytePath("sources.list")
    /// Where each shard's sources are in `sources.list`: lines of equal length.
    static let index = BytePath("shards.index")
}

/// A plan that must not be used: it is for another program, or was changed, or the output folder is another plan's.
package struct PlanMismatch: Error, Equatable, CustomStringConvertible {
    package let description: String
}
