// The JSON Schema of the reports. Beside the code that writes them, so that one is not changed without the other.
package import Pipeline

package enum ReportSchema {
    private static let dialect: [String: JSONValue] = ["$schema": "https://json-schema.org/draft/2020-12/schema"]
    private static let text: JSONValue = ["type": "string"]
    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    private static let side: JSONValue = ["type": "integer", "minimum": 1]
    private static let digest: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
    private static let time: JSONValue = ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z$"]
    private static let pathBytes: JSONValue = [
        "type": "string", "description": "The path's bytes, percent-encoded; only where the path is not UTF-8.",
    ]

    /// An object that has these members and no others.
    package static func object(_ required: [String: JSONValue], optional: [String: JSONValue] = [:]) -> JSONValue {
        let base: JSONValue = ["type": "object", "additionalProperties": false]
        let properties = required.merging(optional) { first, _ in first }
        return base.merging([
            "properties": .object(properties), "required": .array(required.keys.sorted().map { .string($0) }),
        ])
    }

    private static func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> JSONValue {
        ["enum": .array(type.allCases.map { .string($0.rawValue) })]
    }

    package static let gainMap: JSONValue = [
        "type": "string", "description": "The kind of gain map that makes the picture HDR, such as `Ultra HDR`.",
    ]

    package static let color = object(["name": text, "by": text]).merging([
        "description": "The colors that the picture's numbers are in, and the part of the file that says so."
    ])

    private static let facts: [String: JSONValue] = [
        "path-bytes": pathBytes, "bytes": count, "format": words(SourceFormat.self), "width": side, "height": side,
        "orientation": ["type": "integer", "minimum": 1, "maximum": 8], "frames": side, "alpha": ["type": "boolean"],
        "color": color, "gain-map": gainMap,
    ]

    private static let member = object(["path": text], optional: facts)

    private static let source = object(
        ["path": text],
        optional: facts.merging([
            "sha256": digest, "members": ["type": "array", "items": member],
            "location": [
                "type": "string",
                "description":
                    "Of a run: the source's path from the output folder, which tells sources of several folders apart.",
            ],
            "location-bytes": pathBytes,
        ]) { first, _ in first })

    private static let rendition = object(
        [
            "name": text, "scale": side, "path": text, "format": words(OutputFormat.self), "width": side,
            "height": side,
            "cached": ["type": "boolean"],
        ],
        optional: [
            "path-bytes": pathBytes, "frames": side, "bytes": count, "sha256": digest,
            "quality": [
                "type": "integer", "minimum": 1, "maximum": 100,
                "description": "With a target: the quality that was taken.",
            ],
            "ssim": ["type": "number", "description": "With `quality: { ssim: … }`: the similarity that was reached."],
            "trials": ["type": "integer", "description": "With a target: how often the picture was encoded."],
            "color": [
                "type": "string", "pattern": "^#[0-9a-f]{6}$",
                "description": "With `placeholder: color`: the color that most pixels are near to.",
            ],
            "thumbhash": ["type": "string", "description": "With `placeholder: thumbhash`: the hash in base64."],
            "original": [
                "const": true, "description": "With `never-larger`: the file has the source's own bytes.",
            ],
            "preview": [
                "const": true, "description": "With `preview: allow`: it is made of the preview in the source's file.",
            ],
        ])

    private static let document = object(
        ["name": text, "path": text], optional: ["path-bytes": pathBytes, "bytes": count])

    private static let failure = object(
        ["code": words(FailureCode.self), "stage": text, "message": text, "retryable": ["type": "boolean"]],
        optional: ["detail": text, "remedy": remedy])

    private static let remedy: JSONValue = [
        "type": "string", "description": "What to do about it, for people. The words may change within a version.",
    ]

    private static let engine = ["imagemill": text, "libvips": text]

    /// The engine of a whole run; sources that it skipped may have been made by another one. Older documents have none.
    private static let runEngine = [
        "engine": object(
            engine.merging([
                "codecs": [
                    "type": "array", "items": text,
                    "description": "The libraries that read and write formats, by their versions or files.",
                ]
            ]) { first, _ in first })
    ]

    private static let body = object(
        [
            "schema": ["const": "imagemill.report/1"], "status": words(SourceReport.Status.self), "pipeline": text,
            "source": source,
            "renditions": ["type": "array", "items": rendition],
            "warnings": ["type": "array", "items": object(["code": words(WarningCode.self), "message": text])],
            "error": ["anyOf": [["type": "null"], failure]], "attempt": side,
            "started": time,
            "milliseconds": object(["wait": count, "render": count, "publish": count]),
            "engine": object(engine),
        ],
        optional: [
            "peak-memory-bytes": count, "predicted-memory-bytes": count,
            "documents": [
                "type": "array", "items": document, "description": "The files of the pipeline's `documents`.",
            ],
            "inbox": ["type": "string", "description": "Of a drop folder: the name of the inbox."],
            "parameters": [
                "type": "array",
                "items": object(["name": text, "value": text, "origin": words(ParameterSetting.Origin.self)]),
                "description":
                    "The parameters of the pipeline: `pipeline` is its own value, `metadata` one of the picture's, `set` one that was given.",
            ],
            "failed-before": [
                "type": "string",
                "description":
                    "Of a dry run, which looks at no pixels: why the source failed in an earlier run.",
            ],
        ])

    /// One source's document.
    package static var report: JSONValue { body.merging(dialect).merging(["title": "Imagemill report of one source"]) }

    /// The note beside a source that has failed.
    package static var failureNote: JSONValue {
        let place = object(["path": text], optional: ["path-bytes": pathBytes])
        let note = object(
            [
                "schema": ["const": "imagemill.failure/1"], "source": place, "inbox": place,
                "code": words(FailureCode.self), "stage": text,
                "message": text, "retryable": ["type": "boolean"], "attempts": count, "time": time, "replay": text,
            ],
            optional: [
                "job": ["type": "string", "description": "The job that failed."], "detail": text, "remedy": remedy,
            ])
        return note.merging(dialect).merging(["title": "Imagemill: why a source is in failed/"])
    }

    private static let runSummary = object(
        [
            "sources": count, "done": count, "failed": count, "skipped": count, "renditions": count,
            "milliseconds": count,
            "interrupted": ["type": "boolean"],
        ],
        optional: [
            "passed-over": [
                "type": "integer", "minimum": 0, "description": "Files that a search found and that are no pictures.",
            ]
        ])

    /// The last line of `--json-lines`.
    package static var summary: JSONValue {
        object(["schema": ["const": "imagemill.summary/1"], "summary": runSummary], optional: runEngine).merging(
            dialect
        )
        .merging(["title": "Imagemill: the last line of a run's --json-lines"])
    }

    /// A run's document.
    package static var batch: JSONValue {
        let document = object(
            [
                "schema": ["const": "imagemill.batch/1"], "sources": ["type": "array", "items": body],
                "summary": runSummary,
            ], optional: runEngine)
        return document.merging(dialect).merging(["title": "Imagemill report of a run"])
    }
}
