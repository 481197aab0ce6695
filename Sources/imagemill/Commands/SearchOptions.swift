import ArgumentParser
import Engine
import Pipeline
import System

extension PathPattern: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

/// The options that select the sources: patterns, and lists of paths.
struct SearchOptions: ParsableArguments {
    @Option(help: "Takes only files that match this pattern, such as '*.jpg' or 'people/**'. May be repeated.")
    var include: [PathPattern] = []

    @Option(help: "Leaves out files and folders that match this pattern, such as node_modules. May be repeated.")
    var exclude: [PathPattern] = []

    @Option(help: "Reads the paths of more sources from this file, one per line (LF or CR LF); - for standard input.")
    var filesFrom: String?

    @Flag(help: "The paths of --files-from end with NULs instead of lines, as find -print0 writes them.")
    var from0 = false

    func validate() throws {
        guard filesFrom != nil || !from0 else { throw ValidationError("--from0 needs --files-from") }
    }

    var given: [RunCommand.GivenOption] {
        [("--include", !include.isEmpty), ("--exclude", !exclude.isEmpty), ("--files-from", filesFrom != nil)]
    }

    var filter: PathFilter { PathFilter(include: include, exclude: exclude) }

    /// Warns of patterns of `--exclude` that begin with the folder's own name and have matched nothing. Others may be
    /// for what is there on another day.
    /// - Parameter roots: what was searched.
    static func warn(ofUnused patterns: [PathPattern], below roots: [BytePath]) {
        for pattern in patterns {
            guard let root = roots.map(\.withoutTrailingSlashes).first(where: { pattern.text.hasPrefix($0.text + "/") })
            else { continue }
            printError(
                "warning: --exclude '\(oneLine(pattern.text))' matched nothing; patterns are for paths below the folder that is searched: leave out '\(root.printable)/'"
            )
        }
    }

    /// The list of `--files-from`; nil if there is none.
    func list() throws -> PathLines? {
        guard let filesFrom else { return nil }
        do throws(SystemError) {
            return try PathLines(RawArguments.paths([filesFrom])[0], endWithNUL: from0)
        } catch {
            printError("imagemill: \(error); --files-from takes a list of paths, or - for standard input")
            throw error.mayPass ? ExitStatus.tryAgain : ExitStatus.usage
        }
    }

    /// All paths of the list.
    func listed() throws -> [BytePath] {
        guard let list = try list() else { return [] }
        var paths: [BytePath] = []
        while let path = try list.next() { paths.append(path) }
        return paths
    }
}
