// A thread of its own for an actor whose work waits: on files, on a worker, on a database. The cooperative pool never does.
import Glibc
import Synchronization

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

/// Runs an actor's jobs one after the other on one thread.
package final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    // `jobs` and `isStopped` are only touched while `mutex` is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    package init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        runOnNewThread { [self] in run() }
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Lets the thread end once it has nothing left to do. The actor must not be used after that.
    package func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func run() {
        while let batch = next() {
            for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    private func next() -> [UnownedJob]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty {
            if isStopped { return nil }
            pthread_cond_wait(condition, mutex)
        }
        defer { jobs = [] }
        return jobs
    }
}
