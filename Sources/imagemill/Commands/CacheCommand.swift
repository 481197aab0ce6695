// `imagemill cache`: looking after a cache of renditions.
import ArgumentParser
import Engine
import Pipeline

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Looks after a cache that 'imagemill run --cache' has filled.",
        discussion: "Example: imagemill cache stats cache/",
        subcommands: [CacheStatsCommand.self, CacheVerifyCommand.self, CachePruneCommand.self, CacheClearCommand.self])
}

/// The argument that all of them take.
struct CacheFolder: ParsableArguments {
    @Argument(help: "The folder of the cache.")
    var folder: String

    /// Runs work on the cache; trouble with it is printed, and ends the program.
    func use<Value>(_ work: (CacheStore) throws -> Value) throws -> Value {
        do {
            return try work(try CacheStore(existing: RawArguments.paths([folder])[0]))
        } catch let exit as ExitCode {
            throw exit
        } catch {
            printError("imagemill: \(error)")
            throw error is CacheProblem ? ExitStatus.usage : ExitStatus.someFailed
        }
    }
}

struct CacheStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Says how much is in a cache.",
        discussion: "Example: imagemill cache stats cache/")

    @OptionGroup var cache: CacheFolder

    func run() throws {
        let found = try cache.use { try $0.statistics() }
        printOutput("\(counted(found.renditions, "rendition")), \(found.bytes) bytes\n")
    }
}

struct CacheVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every rendition of a cache and compares it with what was stored.",
        discussion: """
            Example: imagemill cache verify cache/ --repair

            A run never takes what is damaged: it notices, and makes the rendition anew. Exit codes: 0 all is well, 1 something is wrong.
            """)

    @OptionGroup var cache: CacheFolder

    @Flag(help: "Removes what is wrong; it is made anew when it is needed.")
    var repair = false

    func run() throws {
        try cache.use { store in
            let problems = try store.verify(repairs: repair)
            guard !problems.isEmpty else {
                return printOutput("\(counted(try store.statistics().renditions, "rendition")): all is well\n")
            }
            problems.forEach { printOutput("\($0)\n") }
            printError(
                "\(counted(problems.count, "problem")) \(repair ? "repaired" : "found; 'imagemill cache verify --repair' removes what is wrong")"
            )
            throw ExitStatus.someFailed
        }
    }
}

struct CachePruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes the least recently used renditions of a cache until it is small enough.",
        discussion: "Example: imagemill cache prune cache/ --size 500M")

    @OptionGroup var cache: CacheFolder

    @Option(help: "Most bytes that stay, such as 500M.")
    var size: ByteCount

    func run() throws {
        let removed = try cache.use { try $0.prune(to: size.value) }
        printOutput("\(counted(removed, "rendition")) removed\n")
    }
}

struct CacheClearCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Removes all renditions of a cache.",
        discussion: "Example: imagemill cache clear cache/")

    @OptionGroup var cache: CacheFolder

    func run() throws {
        let removed = try cache.use { try $0.prune(to: 0) }
        printOutput("\(counted(removed, "rendition")) removed\n")
    }
}
