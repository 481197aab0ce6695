// The pipeline among the arguments of a command: commands take it and the pictures in either order.
import ArgumentParser
import Engine
import Pipeline
import System

/// A pipeline file or the name of a shipped pipeline, told apart from the pictures beside it.
struct PipelineArgument {
    /// The pipeline file.
    let path: String
    /// All other arguments, in their order.
    let others: [String]

    /// - Throws: `ValidationError` if no argument is a pipeline.
    init(among arguments: [String]) throws {
        guard let index = Self.place(in: arguments) else {
            let first = arguments.first.map { "'\($0)' is no pipeline; " } ?? ""
            let shipped = ShippedPipelines.names
            let names = shipped.isEmpty ? "" : ", or a shipped one (\(shipped.joined(separator: ", ")))"
            throw ValidationError(first + "name a pipeline file such as my.yaml\(names)")
        }
        path = Self.file(arguments[index])
        others = Array(arguments[..<index]) + Array(arguments[(index + 1)...])
    }

    /// The file that an argument means: a path, or the name of a shipped pipeline if there is no file of that name.
    static func file(_ argument: String) -> String {
        let isThere = (try? FileSystem.status(BytePath(argument)))??.kind == .regular
        return isThere ? argument : ShippedPipelines.file(named: argument) ?? argument
    }

    /// Ends the command if a pipeline is not there and its name is almost that of a shipped one.
    static func refuseMistyped(_ path: String) throws {
        guard !path.contains("/"), FileSystem.isAbsent(BytePath(path)) else { return }
        let near = suggestion(for: path, among: ShippedPipelines.names)
        guard !near.isEmpty else { return }
        printError(
            "imagemill: there is no file '\(BytePath(path).printable)', and no shipped pipeline of that name\(near)")
        throw ExitStatus.configuration
    }

    /// - Throws: `ValidationError` if one of the sources is the name of a shipped pipeline, and nothing of that name is
    ///   there.
    static func refuseShippedName(_ sources: [String]) throws {
        let isShipped = { (source: String) in
            ShippedPipelines.file(named: source) != nil && FileSystem.isAbsent(RawArguments.paths([source])[0])
        }
        guard let name = sources.first(where: isShipped) else { return }
        throw ValidationError("options such as --resize replace the pipeline; leave out '\(name)' or the options")
    }

    private static func place(in arguments: [String]) -> Int? {
        arguments.firstIndex { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }
            ?? arguments.firstIndex { ShippedPipelines.file(named: $0) != nil }
            ?? arguments.firstIndex { !isSource($0) }
    }

    /// A folder, a picture, or `-`.
    private static func isSource(_ argument: String) -> Bool {
        let path = RawArguments.paths([argument])[0]
        guard argument != "-", let status = try? FileSystem.status(path) else {
            return argument == "-" || isNamedLikeAPicture(path, allowed: Set(SourceFormat.onRequest))
        }
        switch status.kind {
        case .directory: return true
        case .regular:
            guard let beginning = try? OpenFile.reading(path).bytes(at: 0, count: 4096) else {
                return isNamedLikeAPicture(path, allowed: Set(SourceFormat.onRequest))
            }
            if case .unknown = guessFormat(beginning) {
                return isNamedLikeAPicture(path, allowed: Set(SourceFormat.onRequest))
            }
            return true
        case .link, .other: return false
        }
    }
}
