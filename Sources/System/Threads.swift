// Threads for work that waits: on files, on a worker, on a database. The cooperative pool never does.
import Glibc

extension SystemError {
    /// The system gives no thread, to this process or to a worker.
    package static var noThread: SystemError { starting("start a thread", code: EAGAIN) }

    /// A thread or a process that cannot be started. If there are too many, it says what to raise.
    package static func starting(_ attempt: String, code: CInt = errno) -> SystemError {
        let advice =
            "the system allows no more; raise the limit of processes, which is `ulimit -u` in a shell and TasksMax= of a service"
        return SystemError(attempt, code: code, because: code == EAGAIN ? advice : nil)
    }
}

/// Finds out whether the system gives so many threads at the moment, at one time.
/// - Throws: `noThread`.
package func checkThreads(_ count: Int) throws(SystemError) {
    let end = Monitor(false)
    let started = (0..<count).prefix { _ in startThread { end.wait { $0 ? () : nil } } }.count
    end.change { $0 = true }
    if started < count { throw .noThread }
}

/// Runs work on a thread of its own, until it returns. Waits if the system gives no thread at the moment, and ends the
/// process if that does not pass: nothing goes on then, and whoever started the process is to try again later.
package func runOnNewThread(_ work: @escaping @Sendable () -> Void) {
    let end = Moment.now + .seconds(60)
    while !startThread(work) {
        if .now >= end {
            let words = "imagemill: \(SystemError.noThread)\n"
            _ = write(2, words, words.utf8.count)
            _exit(75)
        }
        usleep(20_000)
    }
}

/// Runs work on a thread of its own, until it returns.
/// - Returns: whether the system gives a thread.
package func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().work()
        return nil
    }
    let box = Unmanaged.passRetained(Box(work))
    var thread = pthread_t()
    guard pthread_create(&thread, nil, start, box.toOpaque()) == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// Runs work on a thread of its own, and waits for its result without holding a thread of the cooperative pool.
package func onNewThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        runOnNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// Does something that may hang on a thread of its own.
/// - Returns: nil if it has not ended in time. It goes on then, and nobody learns what it finds.
package func onNewThread<Value: Sendable>(withinSeconds seconds: Int, _ work: @escaping @Sendable () -> Value) -> Value?
{
    Background(work).value(until: .now + .seconds(seconds))
}

/// Work that may hang, on a thread of its own.
package final class Background<Value: Sendable>: Sendable {
    private let result = Monitor<Value?>(nil)

    /// Begins the work.
    package init(_ work: @escaping @Sendable () -> Value) {
        runOnNewThread { [result] in
            let value = work()
            result.change { $0 = value }
        }
    }

    /// Waits for what it finds. Blocks the calling thread.
    /// - Returns: nil if it has not ended by then. It goes on, and can be waited for again.
    package func value(until end: Moment) -> Value? {
        result.look { value in value.map { .ready($0) } ?? (.now >= end ? .ready(nil) : .wait(until: end)) }
    }
}
