// The keys of the status document that are not the properties' names.

extension ShownPath {
    enum CodingKeys: String, CodingKey {
        case text = "path"
        case bytes = "path-bytes"
    }
}

extension StatusDocument {
    enum CodingKeys: String, CodingKey {
        case schema, version, process, mill, state, started, inboxes, queue, workers, memory, cache, disks, reload,
            hooks
        case uptimeSeconds = "uptime-seconds"
        case inProgress = "in-progress"
        case recentFailures = "recent-failures"
    }
}

extension StatusDocument.Inbox {
    enum CodingKeys: String, CodingKey {
        case name, path, outbox, pipeline, watching, state, paused, seen, settling, ready, blocked, obstacles, waiting,
            ignored, done, failed
        case inProgress = "in-progress"
        case oldestSeconds = "oldest-seconds"
        case pausedByRequest = "paused-by-request"
        case settlingSources = "settling-sources"
        case waitingSources = "waiting-sources"
        case passedOver = "passed-over"
        case passedOverFiles = "passed-over-files"
        case failedNow = "failed-now"
        case failedCodes = "failed-codes"
        case hooksWaiting = "hooks-waiting"
        case oldestHookSeconds = "oldest-hook-seconds"
        case doneFolder = "done-folder"
        case failedFolder = "failed-folder"
    }
}

extension StatusDocument.SettlingEntry {
    enum CodingKeys: String, CodingKey {
        case path, reason
        case secondsLeft = "seconds-left"
    }
}

extension StatusDocument.WaitingEntry {
    enum CodingKeys: String, CodingKey {
        case path, code, message, remedy
        case secondsLeft = "seconds-left"
    }
}

extension StatusDocument.Queue {
    enum CodingKeys: String, CodingKey {
        case depth
        case oldestSeconds = "oldest-seconds"
    }
}

extension StatusDocument.Cache {
    enum CodingKeys: String, CodingKey {
        case path, renditions, bytes, hits, misses, trouble
        case boundBytes = "bound-bytes"
    }
}

extension StatusDocument.Disk {
    enum CodingKeys: String, CodingKey {
        case path
        case freeBytes = "free-bytes"
        case totalBytes = "total-bytes"
        case isLow = "nearly-full"
    }
}

extension StatusDocument.Memory {
    enum CodingKeys: String, CodingKey {
        case residentBytes = "resident-bytes"
        case budgetBytes = "budget-bytes"
        case reservedBytes = "reserved-bytes"
    }
}
