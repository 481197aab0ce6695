// A state that several threads share, and wait for.
import Glibc

/// A state behind a lock, with a way to wait until it has changed as wished. Waiting blocks the thread: for threads of
/// one's own only.
package final class Monitor<State>: @unchecked Sendable {
    // `state` is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    /// The result of a look at the state, for one who waits.
    package enum Look<Value> {
        case ready(Value)
        /// Look again when the state has changed, or at this time.
        case wait(until: Moment)
    }

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // The clock of `Moment`.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Changes the state, and lets everybody who waits look at it again.
    package func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Changes the state without waking waiting threads.
    package func note<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits until the body has a value to give, and then lets everybody else look again.
    package func wait<Value>(until body: (inout State) throws -> Value?) rethrows -> Value {
        try look { try body(&$0).map { .ready($0) } ?? .wait(until: .never) }
    }

    /// Waits until the body has a value to give, which looks again after every change and at the times that it names.
    package func look<Value>(_ body: (inout State) throws -> Look<Value>) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            switch try body(&state) {
            case .ready(let value): return value
            case .wait(let time) where time == .never: pthread_cond_wait(condition, mutex)
            case .wait(let time):
                var end = timespec(
                    tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(condition, mutex, &end)
            }
        }
    }
}
