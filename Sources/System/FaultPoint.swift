// Named places at which a test breaks the program on purpose, to prove that nothing is lost there. Release builds have
// none of it.
import Glibc
import Synchronization

/// A step of claiming, rendering, publishing or recovering; a crash right after it must do no harm.
package enum FaultPoint: CaseIterable, Sendable {
    case afterClaimRecord, afterClaimRename, afterAttemptRecord, afterSnapshot
    case afterWorkerStart, afterDecode, afterTargetWrite, afterUnpack, afterTargetSync
    case afterNamesRecord, afterReportWrite, afterContentsRecord, betweenRenames, afterLastRename, afterReportRename
    case afterOutcomeRecord, afterFailureNote, beforeSourceCommit, afterSourceCommit, afterFolderSync, afterFinishRecord
    case betweenSourceAndSidecar, afterJournalLine
    case duringRecovery

    #if DEBUG
        /// Does what `IMAGEMILL_FAULT` asks for at this place: `name:n:action`, at the n-th pass in this process.
        ///
        /// Actions: `kill`, `stop`, `sleep:MILLISECONDS`, `error:ENOSPC` (or another of `FaultPlan.errors`). If
        /// `IMAGEMILL_FAULT_LOG` names a file, every pass adds its name to it, one a line.
        package static func pass(_ point: FaultPoint) throws(SystemError) {
            try plan.withLock { plan throws(SystemError) in plan.pass(point) }?.perform(at: point)
        }

        // A hook that every layer passes through cannot come in through initialisers. The lock protects it.
        private static let plan = Mutex(FaultPlan.fromEnvironment)
    #else
        @inline(__always) package static func pass(_ point: FaultPoint) throws(SystemError) {}
    #endif
}

#if DEBUG
    extension FaultPoint {
        /// `after-claim-rename` for `afterClaimRename`.
        package var name: String {
            "\(self)".map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
        }
    }

    /// The fault that is to happen at a point, and how often the point was passed.
    struct FaultPlan {
        enum Action: Equatable {
            case kill, stop
            case sleep(milliseconds: Int)
            case error(CInt)
        }

        static let errors = [
            "ENOSPC": ENOSPC, "EIO": EIO, "EROFS": EROFS, "EACCES": EACCES, "EMFILE": EMFILE, "EDQUOT": EDQUOT,
        ]

        let point: FaultPoint?
        /// At which pass, from 1.
        let count: Int
        let action: Action
        var passed = 0
        var log: String?

        /// - Returns: nil if the text is no fault.
        init?(_ text: String) {
            let words = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard words.count == 3, let point = FaultPoint.allCases.first(where: { $0.name == words[0] }),
                let count = Int(words[1]), count > 0, let action = Self.action(words[2])
            else { return nil }
            (self.point, self.count, self.action) = (point, count, action)
        }

        private init(log: String?) { (point, count, action, self.log) = (nil, 0, .stop, log) }

        private static func action(_ text: String) -> Action? {
            let words = text.split(separator: ":").map(String.init)
            switch (words.first, words.count) {
            case ("kill", 1): return .kill
            case ("stop", 1): return .stop
            case ("sleep", 2): return Int(words[1]).map { .sleep(milliseconds: $0) }
            case ("error", 2): return errors[words[1]].map { .error($0) }
            default: return nil
            }
        }

        static var fromEnvironment: FaultPlan {
            let log = getenv("IMAGEMILL_FAULT_LOG").map { String(cString: $0) }
            guard let text = getenv("IMAGEMILL_FAULT").map({ String(cString: $0) }), !text.isEmpty else {
                return FaultPlan(log: log)
            }
            guard var plan = FaultPlan(text) else {
                // An experiment that breaks nothing would prove nothing.
                let words = "imagemill: IMAGEMILL_FAULT is no fault: \(text)\n"
                _ = write(2, words, words.utf8.count)
                _exit(64)
            }
            plan.log = log
            return plan
        }

        /// Counts a pass, and gives what is to happen at it.
        mutating func pass(_ point: FaultPoint) -> Action? {
            if let log { Self.add(point.name, to: log) }
            guard point == self.point else { return nil }
            passed += 1
            return passed == count ? action : nil
        }

        private static func add(_ name: String, to log: String) {
            guard let file = fopen(log, "ae") else { return }
            fputs(name + "\n", file)
            fclose(file)
        }
    }

    extension FaultPlan.Action {
        func perform(at point: FaultPoint) throws(SystemError) {
            switch self {
            case .kill: Glibc.kill(getpid(), SIGKILL)
            case .stop: Glibc.kill(getpid(), SIGSTOP)
            case .sleep(let milliseconds): usleep(UInt32(clamping: milliseconds * 1000))
            case .error(let code): throw SystemError("go on after \(point.name)", code: code)
            }
        }
    }
#endif
