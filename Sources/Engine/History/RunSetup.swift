// The setup of a run: everything besides the sources that decides its results.
package import Pipeline
import Stages
import System

/// The pipeline, its assets, the engine and the options of a run. They are kept apart, so that a changed one can be
/// named.
package struct RunSetup: Codable, Equatable, Sendable {
    /// The digest of what the pipeline says, and of its name, which reports repeat.
    let pipeline: String
    /// The digest of each asset, by its path as the pipeline writes it.
    let assets: [String: String]
    let engine: String
    /// The digest of the fonts that are installed, if texts are drawn.
    let fonts: String?
    /// Options of the command that decide what is written, and where.
    let options: [String: String]

    /// - Parameter policy: the actions on warnings that the run or the inbox gives.
    package init(
        _ pipeline: LoadedPipeline, keepsTree: Bool, collision: CollisionPolicy, policy: WarningPolicy
    ) {
        self.pipeline = Digest.of(pipeline.file.name + "\n" + pipeline.file.canonical)
        assets = pipeline.assetDigests
        engine = engineName
        fonts = pipeline.installedFonts
        var options = ["--keep-tree": keepsTree ? "on" : "off", "--collision": collision.rawValue]
        if !policy.isEmpty { options["--policy"] = policy.written }
        for (name, value) in pipeline.file.given { options["--set \(name)"] = value }
        self.options = options
    }

    init(
        pipeline: String, assets: [String: String], engine: String, fonts: String? = nil, options: [String: String]
    ) {
        self.pipeline = pipeline
        self.assets = assets
        self.engine = engine
        self.fonts = fonts
        self.options = options
    }

    /// The differences from an earlier setup.
    func changes(since old: RunSetup) -> [Change] {
        var changes: [Change] = []
        if engine != old.engine { changes.append(.engine(before: old.engine, now: engine)) }
        if pipeline != old.pipeline { changes.append(.pipeline) }
        // Only pipelines without texts do not ask for them.
        if let fonts, let before = old.fonts, fonts != before { changes.append(.fonts) }
        // An asset that only one of them has is a change of the pipeline.
        for (name, digest) in assets.sorted(by: { $0.key < $1.key })
        where old.assets[name] != nil && old.assets[name] != digest {
            changes.append(.asset(name))
        }
        for name in Set(options.keys).union(old.options.keys).sorted() where options[name] != old.options[name] {
            changes.append(.option(name, before: old.options[name] ?? "none", now: options[name] ?? "none"))
        }
        return changes.isEmpty && self != old ? [.pipeline] : changes
    }
}

/// The versions that decide what pixels and files come out.
let engineName = "imagemill \(imagemillVersion), libvips \(LibraryVersions.libvips)"
