// The same files come out of every door.
import TestSupport

extension Exploration {
    func compareShard(_ outputs: [Output]) async throws -> [Finding] {
        let planned = try await runner.run(
            ["shard", "in/s", "--pipeline", "p.yaml", "-o", "plan", "--tasks", "1", "-q"] + allowed)
        let done = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "shards", "-q")
        guard planned.exit == 0, done.exit == 0 else {
            return [
                Finding(property: .shard, detail: "exit \(planned.exit), \(done.exit): \(planned.errors)\(done.errors)")
            ]
        }
        return try different(outputs, in: runner, "shards/000000", .shard)
    }

    /// The files that are not those in a folder.
    func different(_ outputs: [Output], in other: CommandRunner, _ folder: String, _ property: Property) throws
        -> [Finding]
    {
        try outputs.compactMap { output in
            let path = "\(folder)/\(output.path)"
            guard other.exists(path) else { return Finding(property: property, detail: "\(output.path) is missing") }
            let isSame = try runner.bytes("out/s/" + output.path) == other.bytes(path)
            return isSame ? nil : Finding(property: property, detail: "\(output.path) has other bytes")
        }
    }
}
