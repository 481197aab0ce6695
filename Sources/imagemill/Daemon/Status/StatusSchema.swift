// The JSON Schema of the status document. Beside the code that writes it, so that one is not changed without the other.
import Engine
import Pipeline

enum StatusSchema {
    private static let text: JSONValue = ["type": "string"]
    private static let count: JSONValue = ["type": "integer", "minimum": 0]
    private static let time: JSONValue = ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z$"]

    private static func object(_ required: [String: JSONValue], optional: [String: JSONValue] = [:]) -> JSONValue {
        ReportSchema.object(required, optional: optional)
    }

    private static func words<Word: CaseIterable & RawRepresentable<String>>(_ type: Word.Type) -> JSONValue {
        ["enum": .array(type.allCases.map { .string($0.rawValue) })]
    }

    private static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

    private static let path = object(
        ["path": text],
        optional: [
            "path-bytes": [
                "type": "string", "description": "The bytes, percent-encoded; only where the path is not UTF-8.",
            ]
        ])

    private static let inbox = object(
        [
            "name": text, "path": path, "outbox": path, "pipeline": text,
            "watching": words(StatusDocument.Inbox.Watching.self),
            "state": words(StatusDocument.Inbox.State.self), "seen": count, "settling": count, "ready": count,
            "blocked": count, "in-progress": count,
            "settling-sources": list(
                object(["path": path, "reason": words(SettlingReason.self), "seconds-left": count])),
            "obstacles": list(object(["path": path, "message": text])), "waiting": count,
            "waiting-sources": list(
                object([
                    "path": path, "code": words(FailureCode.self), "message": text, "remedy": text,
                    "seconds-left": count,
                ])), "ignored": count,
            "done": count, "failed": count, "passed-over": count,
            "passed-over-files": list(object(["path": path, "message": text])),
            "hooks-waiting": [
                "type": "integer", "minimum": 0, "description": "Events that its hooks have not received yet.",
            ],
        ],
        optional: [
            "oldest-seconds": count, "oldest-hook-seconds": count, "done-folder": path, "failed-folder": path,
            "failed-now": [
                "type": "integer", "minimum": 0,
                "description": "Sources in the failed folder; only if `imagemill status` may read it.",
            ], "paused": object(["reason": words(PauseReason.self), "message": text, "since": time]),
            "paused-by-request": time,
            "failed-codes": [
                "type": "object", "additionalProperties": count,
                "description":
                    "How many sources in the failed folder have which code, as the daemon has last seen; only of those that it has read.",
            ],
        ])

    private static let running = object([
        "job": text, "inbox": path, "path": path, "stage": text, "attempt": count, "seconds": count,
    ])

    private static let failure = object([
        "inbox": path, "path": path, "code": words(FailureCode.self), "message": text, "remedy": text,
        "attempts": count,
        "time": time,
    ])

    private static let hooks = object([
        "lost": [
            "type": "integer", "minimum": 0,
            "description": "Events of the last 24 hours that hooks did not hear of, and never will.",
        ],
        "latest": list(
            object(
                ["time": time, "inbox": text, "message": text, "remedy": text],
                optional: ["event": words(HookEvent.self), "source": path])),
    ])

    private static let cache = object(
        ["path": path, "renditions": count, "bytes": count, "bound-bytes": count, "hits": count, "misses": count],
        optional: ["trouble": text])

    private static let disk = object([
        "path": path, "free-bytes": count, "total-bytes": count, "nearly-full": ["type": "boolean"],
    ])

    static var status: JSONValue {
        let document = object(
            [
                "schema": ["const": "imagemill.status/1"], "version": text, "process": count,
                "state": words(StatusDocument.State.self),
                "started": time, "uptime-seconds": count, "inboxes": list(inbox),
                "queue": object(["depth": count], optional: ["oldest-seconds": count]), "in-progress": list(running),
                "recent-failures": list(failure), "hooks": hooks,
                "workers": object(["total": count, "busy": count, "replaced": count]),
                "memory": object(["resident-bytes": count, "budget-bytes": count, "reserved-bytes": count]),
                "reload": object(
                    ["state": words(StatusDocument.Reload.State.self), "diagnostics": list(text)],
                    optional: ["time": time]),
            ], optional: ["cache": cache, "mill": path, "disks": list(disk)])
        return document.merging([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Imagemill: what the drop folder is doing",
        ])
    }
}
