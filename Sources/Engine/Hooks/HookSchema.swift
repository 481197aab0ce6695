// The JSON Schema of what hooks get. Beside the code that writes it, so that one is not changed without the other.
package import Pipeline

package enum HookSchema {
    private static let text: JSONValue = ["type": "string"]

    package static var hook: JSONValue {
        let place = ReportSchema.object(
            ["path": text],
            optional: [
                "path-bytes": [
                    "type": "string",
                    "description": "The path's bytes, percent-encoded; only where the path is not UTF-8.",
                ]
            ])
        let document = ReportSchema.object(
            [
                "schema": ["const": "imagemill.hook/1"],
                "event": ["enum": .array(HookEvent.allCases.map { .string($0.rawValue) })],
                "id": ["type": "string", "description": "Tells events apart. One that comes twice has the same."],
                "inbox": text,
                "time": ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z$"],
            ],
            optional: [
                "source": place,
                "error": ReportSchema.object([
                    "code": ["type": "string", "description": "The code of a failure, or the reason of a pause."],
                    "message": text,
                ]),
                // It has a schema of its own.
                "report": [
                    "type": "object",
                    "description":
                        "The source's report, as in report.schema.json. Missing for a pause, and if the program was killed at the wrong moment.",
                ],
            ])
        return document.merging([
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Imagemill: what a hook gets",
        ])
    }
}
