// Threads for work that waits: on files, on a worker, on a database. The cooperative pool never does.
import Glibc

/// Runs work on a thread of its own, until it returns.
package func runOnNewThread(_ work: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().work()
        return nil
    }
    var thread = pthread_t()
    let result = pthread_create(&thread, nil, start, Unmanaged.passRetained(Box(work)).toOpaque())
    precondition(result == 0, "the system gives no thread")
    pthread_detach(thread)
}

/// Runs work on a thread of its own, and waits for its result without holding a thread of the cooperative pool.
package func onNewThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        runOnNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// Does something that may hang on a thread of its own.
/// - Returns: nil if it has not ended in time. It goes on then, and nobody learns what it finds.
package func onNewThread<Value: Sendable>(withinSeconds seconds: Int, _ work: @escaping @Sendable () -> Value) -> Value? {
    let result = Monitor<Value?>(nil)
    runOnNewThread {
        let value = work()
        result.change { $0 = value }
    }
    let end = Moment.now + .seconds(seconds)
    return result.look { value in value.map { .ready($0) } ?? (.now >= end ? .ready(nil) : .wait(until: end)) }
}
