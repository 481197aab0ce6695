// The JSON Schema of `imagemill plan --json`. Beside the code that writes it, so that one is not changed without the
// other.
import Engine
import Pipeline

enum PlanSchema {
    static let name = "imagemill.picture-plan/1"

    private static let text: JSONValue = ["type": "string"]
    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    private static let side: JSONValue = ["type": "integer", "minimum": 1]
    private static let flag: JSONValue = ["type": "boolean"]

    private static func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> JSONValue {
        ["enum": .array(type.allCases.map { .string($0.rawValue) })]
    }

    private static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

    private static let picture: [String: JSONValue] = [
        "width": side, "height": side, "frames": side, "alpha": flag, "color": text,
        "exact": [
            "type": "boolean",
            "description": "False if the size depends on the content, and the one here is a bound or a guess.",
        ],
    ]

    private static let stage = ReportSchema.object(
        picture.merging(["stage": text]) { first, _ in first }, optional: ["note": text])

    static var schema: JSONValue {
        let source = ReportSchema.object(
            [
                "format": words(SourceFormat.self), "width": side, "height": side, "orientation": side, "frames": side,
                "alpha": flag,
            ], optional: ["color": ReportSchema.color, "gain-map": ReportSchema.gainMap])
        let more: [String: JSONValue] = [
            "name": text, "scale": side, "stages": list(stage), "format": words(OutputFormat.self), "path": text,
        ]
        let rendition = ReportSchema.object(
            picture.merging(more) { first, _ in first },
            optional: [
                "preview": ReportSchema.object(["width": side, "height": side]).merging([
                    "description": "With `preview: allow`: it is made of this preview in the file, if that is sound."
                ])
            ])
        let warning = ReportSchema.object(["code": words(WarningCode.self), "message": text])
        let omitted = ReportSchema.object(["reason": text], optional: ["rendition": text, "stage": text])
        let parameter = ReportSchema.object([
            "name": text, "value": text, "origin": words(ParameterSetting.Origin.self),
        ])
        let document = ReportSchema.object([
            "schema": ["const": .string(name)], "source": source, "members": count, "shrink": side,
            "held-in-memory": flag, "stages": list(stage),
            "renditions": list(rendition), "memory-bytes": count, "deadline-seconds": ["type": "number", "minimum": 0],
            "warnings": list(warning), "omitted": list(omitted), "parameters": list(parameter),
        ])
        return document.merging([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Imagemill: what a pipeline does with one picture",
        ])
    }
}
