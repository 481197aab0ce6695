// Starts programs without copying this process's descriptors.
package import CLinux
import Glibc
import Synchronization

/// A process of few descriptors that starts the workers and the programs of the user's. For any thread.
///
/// A new process begins with copies of all descriptors of the one that starts it, and closing one of a file system that
/// hangs hangs too. The supervisor has such descriptors; the starter, which is made before it has any, has none.
package final class ProcessStarter: Sendable {
    /// Nil before it is needed.
    private let connection = Mutex<Connection?>(nil)

    private final class Connection: Sendable {
        let socket: OpenFile
        let process: pid_t

        init(_ socket: OpenFile, _ process: pid_t) { (self.socket, self.process) = (socket, process) }

        deinit {
            // It may still have a request, and must not start that program later.
            kill(process, SIGKILL)
            collect(process)
        }
    }

    /// The starter's answer.
    private struct Answer {
        /// The new process; negative if there is none.
        var process: CInt = 0
        var error: CInt = 0
    }

    /// To make a process is a matter of milliseconds.
    private static let patience: CInt = 10_000

    package init() {}

    /// Makes the starter now, before files are open.
    package func prepare() throws(SystemError) {
        try connection.withLock { connection throws(SystemError) in _ = try connect(&connection) }
    }

    /// The starter's process; nil if there is none.
    package var identifier: pid_t? { connection.withLock { $0?.process } }

    /// Starts a program. Waits for the new process, but not until it is the program.
    package func start(_ launch: ProgramLaunch) throws(SystemError) -> LaunchedProgram {
        let text = try OpenFile.inMemory("imagemill-program", launch.text)
        let (answer, theirs) = try OpenFile.socketPair()
        let files = [text, theirs] + launch.descriptors
        let process = try withExtendedLifetime(files) { () throws(SystemError) in
            try newProcess(launch.counts, files.map(\.descriptor), launch.attempt)
        }
        return LaunchedProgram(process: process, answer: answer, attempt: launch.attempt)
    }

    private func newProcess(_ program: clinux_program, _ descriptors: [CInt], _ attempt: String) throws(SystemError)
        -> pid_t
    {
        try connection.withLock { connection throws(SystemError) in
            var answer: Answer
            do throws(SystemError) {
                answer = try ask(&connection, program, descriptors, attempt)
            } catch {
                // Somebody may have killed it.
                guard [EPIPE, ECONNRESET].contains(error.code) else { throw error }
                answer = try ask(&connection, program, descriptors, attempt)
            }
            if answer.error == EINVAL {
                // Emulators of another processor cannot make the new process a child of this one.
                return try onLastingThread(attempt) { clinux_start([program], descriptors, CInt(descriptors.count)) }
            }
            guard answer.error == 0 else { throw SystemError.starting(attempt, code: answer.error) }
            return answer.process
        }
    }

    /// Asks the starter. One that gives no answer is let go.
    private func ask(
        _ connection: inout Connection?, _ program: clinux_program, _ descriptors: [CInt], _ attempt: String
    ) throws(SystemError) -> Answer {
        do throws(SystemError) {
            let socket = try connect(&connection).socket.descriptor
            let size = MemoryLayout<clinux_program>.size
            guard clinux_send(socket, [program], size, nil, 0, descriptors, CInt(descriptors.count), 0) == size
            else { throw SystemError(attempt) }
            var answer = Answer()
            guard isReadable(socket, withinMilliseconds: Self.patience) else {
                throw SystemError(attempt, code: ETIMEDOUT)
            }
            let received = withUnsafeMutableBytes(of: &answer) {
                recv(socket, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT))
            }
            switch received {
            case MemoryLayout.size(ofValue: answer): return answer
            case 0: throw SystemError(attempt, code: EPIPE)
            case 1...: throw SystemError(attempt, code: EIO)
            default: throw SystemError(attempt)
            }
        } catch {
            connection = nil
            throw error
        }
    }

    private func connect(_ connection: inout Connection?) throws(SystemError) -> Connection {
        if let connection { return connection }
        let (ours, theirs) = try OpenFile.socketPair()
        let socket = theirs.descriptor
        let process = try onLastingThread("start a process that starts others") { clinux_fork_starter(socket) }
        withExtendedLifetime(theirs) {}
        let made = Connection(ours, process)
        connection = made
        return made
    }

    /// Makes a process from a thread that never ends: workers and guards die with the thread that is their parent,
    /// which is not to be one that has asked for something.
    private func onLastingThread(_ attempt: String, _ make: @escaping @Sendable () -> pid_t) throws(SystemError)
        -> pid_t
    {
        let made = Monitor<(process: pid_t, error: CInt)?>(nil)
        let isStarted = startThread {
            let process = make()
            let error = errno
            made.change { $0 = (process, error) }
            while true { pause() }
        }
        guard isStarted else { throw .noThread }
        let (process, error) = made.wait { $0 }
        guard process > 0 else { throw SystemError.starting(attempt, code: error) }
        return process
    }
}

/// A program to start, with all that it gets.
package struct ProgramLaunch {
    /// For the message if it fails: `start a worker process`.
    package let attempt: String
    /// Paths of the program; the first one that can be executed is used.
    package let paths: [String]
    /// The first is the program's name.
    package let arguments: [String]
    package let environment: [(name: String, value: String)]
    /// Its descriptors, from the standard input on; `CLINUX_MOST_PASSED` at most.
    package let descriptors: [OpenFile]
    /// The process that is made is a guard, which ends all that the program has started so many milliseconds after
    /// SIGTERM, or when the program has ended. Nil: there is no guard.
    package let patienceOfGuard: CInt?

    package init(
        attempt: String, paths: [String], arguments: [String], environment: [(name: String, value: String)],
        descriptors: [OpenFile], patienceOfGuard: CInt? = nil
    ) {
        self.attempt = attempt
        self.paths = paths
        self.arguments = arguments
        self.environment = environment
        self.descriptors = descriptors
        self.patienceOfGuard = patienceOfGuard
    }

    fileprivate var counts: clinux_program {
        clinux_program(
            paths: CInt(paths.count), arguments: CInt(arguments.count), environment: CInt(environment.count),
            patience: patienceOfGuard ?? -1)
    }

    fileprivate var text: [UInt8] {
        let strings = paths + arguments + environment.map { "\($0.name)=\($0.value)" }
        return Array(strings.map { $0.utf8.prefix { $0 != 0 } + [0] }.joined())
    }
}

/// A process that was made for a program. Whoever has it collects it when it has ended.
package struct LaunchedProgram {
    package let process: pid_t
    /// Closed when the program is executed.
    fileprivate let answer: OpenFile
    fileprivate let attempt: String

    private static let patience: CInt = 10_000

    /// Why the program could not be executed, once that is known; nil if nothing is known.
    package var refusal: SystemError? {
        var code: CInt = 0
        let size = MemoryLayout.size(ofValue: code)
        guard recv(answer.descriptor, &code, size, CInt(MSG_DONTWAIT)) == size else { return nil }
        return .starting(attempt, code: code)
    }

    /// Waits until the process is the program. One that it does not become is ended.
    package func waitUntilExecuted() throws(SystemError) {
        let isAnswered = isReadable(answer.descriptor, withinMilliseconds: Self.patience)
        guard let error = isAnswered ? refusal : SystemError(attempt, code: ETIMEDOUT) else { return }
        end()
        throw error
    }

    /// Kills the process, and collects it when the system lets it go.
    package func end() {
        kill(process, SIGKILL)
        collect(process)
    }
}

/// Waits until something, also the end, can be read from a descriptor.
/// - Returns: false if the time is over.
private func isReadable(_ descriptor: CInt, withinMilliseconds time: CInt) -> Bool {
    let end = Moment.now + .milliseconds(Int64(time))
    while true {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let found = poll(&waiting, 1, CInt(clamping: max(0, Moment.now.milliseconds(until: end))))
        if found > 0 { return true }
        if .now >= end { return false }
    }
}

/// Collects a process that was killed; in the background if the system takes its time to let it go.
package func collect(_ process: pid_t) {
    for _ in 0..<100 {
        if waitpid(process, nil, WNOHANG) != 0 { return }
        usleep(1_000)
    }
    _ = startThread { waitpid(process, nil, 0) }
}
