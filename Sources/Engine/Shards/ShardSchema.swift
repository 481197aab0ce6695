// The JSON Schemas of plans, of shards' results, and of what gather makes of them.
package import Pipeline

package enum ShardSchema {
    private static let text: JSONValue = ["type": "string"]
    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    private static let positive: JSONValue = ["type": "integer", "minimum": 1]
    private static let digest: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
    private static let id: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{32}$"]
    private static let counts: JSONValue = ["type": "object", "additionalProperties": count]
    private static let failure: [String: JSONValue] = [
        "path": text, "code": ["enum": .array(FailureCode.allCases.map { .string($0.rawValue) })], "stage": text,
        "message": text,
    ]

    /// `plan.json`.
    package static var plan: JSONValue {
        document(
            "Imagemill plan of a batch in shards", schema: "imagemill.plan/1",
            members: [
                "id": id, "created": text, "engine": text,
                "pipeline": ReportSchema.object([
                    "path": text, "sha256": digest, "assets": ["type": "object", "additionalProperties": digest],
                ]),
                "options": ReportSchema.object(
                    [
                        "keep-tree": ["type": "boolean"], "per-shard": positive,
                        "limits": ReportSchema.object(
                            Dictionary(uniqueKeysWithValues: LimitSetting.all.map { ($0.name, positive) })),
                    ],
                    optional: [
                        "allow": AllowedFormats.schema,
                        "set": ["type": "object", "additionalProperties": ["type": "string"]],
                        "policy": ["type": "object", "additionalProperties": WarningAction.schema],
                    ]),
                "layout": ["enum": .array(ShardLayout.allCases.map { .string($0.rawValue) })],
                "roots": ["type": "array", "items": text], "sources": count, "bytes": count, "shards": count,
                "tasks": positive, "index": digest,
            ])
    }

    /// The result of a shard.
    package static var shard: JSONValue {
        document(
            "Imagemill result of a shard", schema: "imagemill.shard/1",
            members: [
                "plan": id, "shard": count, "list": digest, "folder": text, "node": text, "started": text,
                "milliseconds": count, "engine": text,
                "sources": count, "done": count, "failed": count, "renditions": count, "bytes": count,
                "warnings": counts,
                "failures": ["type": "array", "items": ReportSchema.object(failure, optional: ["path-bytes": text])],
            ])
    }

    /// The document that `gather` writes.
    package static var gather: JSONValue {
        let node = ReportSchema.object([
            "node": text, "shards": count, "sources": count, "milliseconds": count, "rate": ["type": "number"],
        ])
        let slow = ReportSchema.object(["shard": count, "node": text, "sources": count, "milliseconds": count])
        let summary = ReportSchema.object([
            "sources": count, "shards": count, "tasks": positive, "shards-done": count, "done": count, "failed": count,
            "renditions": count,
            "bytes": count, "warnings": counts, "codes": counts, "missing": text,
            "nodes": ["type": "array", "items": node],
            "slowest": ["type": "array", "items": slow],
        ])
        let failed = ReportSchema.object(
            failure.merging(["shard": count]) { first, _ in first }, optional: ["path-bytes": text])
        return document(
            "Imagemill results of a plan", schema: "imagemill.gather/1",
            members: ["plan": id, "failures": ["type": "array", "items": failed], "summary": summary])
    }

    private static func document(_ title: String, schema: String, members: [String: JSONValue]) -> JSONValue {
        ReportSchema.object(members.merging(["schema": ["const": .string(schema)]]) { first, _ in first })
            .merging(["$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title)])
    }
}
