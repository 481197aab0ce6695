// A state that several threads share, and wait for.
import Glibc

/// A state behind a lock, with a way to wait until it has changed as wished. Waiting blocks the thread: for threads of one's own only.
final class Monitor<State>: @unchecked Sendable {
    // `state` is only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Changes the state, and lets everybody who waits look at it again.
    func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Waits until the body has a value to give, and then lets everybody else look again.
    func wait<Value>(until body: (inout State) throws -> Value?) rethrows -> Value {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            if let value = try body(&state) { return value }
            pthread_cond_wait(condition, mutex)
        }
    }
}
