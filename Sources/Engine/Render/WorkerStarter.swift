// Where workers come from: a few that were made ready while the program started, and after them new processes.
import CLinux
import Synchronization

/// How a new worker process is started.
package struct WorkerCommand: Sendable {
    /// The program that has the worker subcommand: this one.
    package let executable: String
    package let arguments: [String]

    package init(executable: String = "/proc/self/exe", arguments: [String] = ["__worker"]) {
        self.executable = executable
        self.arguments = arguments
    }
}

/// Gives out worker processes.
package final class WorkerStarter: Sendable {
    private let command: WorkerCommand
    /// What protects the processes in here: each is taken out by one thread and is that thread's from then on.
    private let ready: Mutex<[Handle]>

    /// - Parameter ready: how many workers to make ready now, by copying this process. None where it has several threads already, of
    ///   which a copy would have one alone, with locks that nobody opens.
    package init(_ command: WorkerCommand = WorkerCommand(), ready count: Int = 0) {
        self.command = command
        var ready: [Handle] = []
        while ready.count < count, clinux_thread_count() == 1, let process = try? WorkerProcess.forked() {
            ready.append(Handle(process: process))
        }
        self.ready = Mutex(ready)
    }

    /// A worker that nobody else has.
    func start() throws(SystemError) -> WorkerProcess {
        if let handle = ready.withLock({ $0.popLast() }) { return handle.process }
        return try WorkerProcess(command)
    }

    /// Lets a process go from one thread to another: only its handle's single owner ever uses it.
    private struct Handle: @unchecked Sendable {
        let process: WorkerProcess
    }
}
