// The supervisor's side of one worker: start it, ask it, kill it.
import CLinux
import Glibc
import Pipeline

/// Why a worker gave no answer.
enum WorkerLoss: Error, Equatable {
    /// It died; how, and the last that it wrote to standard error.
    case died(how: String, words: String)
    case timedOut
    case cancelled
    /// It answered what no worker answers.
    case confused(String)
}

/// A running worker process. Used from one thread at a time; it dies with this object.
final class WorkerProcess {
    private let channel: Channel
    private let errors: OpenFile
    private let process: pid_t
    private var isRunning = true
    /// How many renderings it has done.
    private(set) var renderings = 0

    private init(_ channel: Channel, _ errors: OpenFile, _ process: pid_t) {
        self.channel = channel
        self.errors = errors
        self.process = process
    }

    /// Starts a process in a group of its own, so that a Ctrl-C in the terminal does not reach it, with nothing open but its socket.
    convenience init(_ command: WorkerCommand) throws(SystemError) {
        let (channel, theirs) = try Channel.pair()
        let errors = Self.errorFile()
        self.init(channel, errors, try Self.spawn(command, socket: theirs.descriptor, errors: errors.descriptor))
    }

    /// Copies this process, which must have a single thread, instead of starting a program: that saves loading all of libvips' libraries.
    /// Never returns in the copy, which serves as a worker until its socket is closed.
    static func forked() throws(SystemError) -> WorkerProcess {
        let (channel, theirs) = try Channel.pair()
        let errors = errorFile()
        let process = clinux_fork(theirs.descriptor, errors.descriptor)
        guard process >= 0 else { throw SystemError("start a worker process") }
        if process == 0 { _exit(Worker.run()) }
        return WorkerProcess(channel, errors, process)
    }

    private static func errorFile() -> OpenFile { OpenFile(owning: clinux_memory_file("imagemill-worker-errors")) }

    deinit { _ = kill() }

    var identifier: pid_t { process }

    /// Asks and waits for the answer.
    /// - Parameters:
    ///   - seconds: the deadline, after which the worker is killed.
    ///   - member: opens a member of a set; nil where it cannot be had.
    func ask(
        _ request: Request, files: [OpenFile], withinSeconds seconds: Double, cancellation: Cancellation, member: (Int) -> OpenFile? = { _ in nil }
    ) throws(WorkerLoss) -> Reply {
        let end = ContinuousClock.now + .seconds(seconds)
        do throws(ChannelError) {
            try send(request, files)
            while true {
                let (reply, _) = try channel.receive(Reply.self, until: end, cancellation: cancellation)
                guard case .needsMember(let index) = reply else {
                    if case .render = request { renderings += 1 }
                    return reply
                }
                try send(.member, member(index).map { [$0] } ?? [])
            }
        } catch {
            let how = kill()
            throw loss(error, how)
        }
    }

    private func send(_ request: Request, _ files: [OpenFile]) throws(ChannelError) {
        // An array is let go after its last use; the files must be open until they are sent.
        try withExtendedLifetime(files) { () throws(ChannelError) in try channel.send(request, descriptors: files.map(\.descriptor)) }
    }

    private func loss(_ error: ChannelError, _ how: String) -> WorkerLoss {
        switch error {
        case .closed: .died(how: how, words: lastWords)
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .garbage(let what): .confused(what)
        case .system(let code): .died(how: SystemError("talk to a worker", code: code).description, words: lastWords)
        }
    }

    /// Kills the process if it still runs, and says how it ended.
    @discardableResult
    private func kill() -> String {
        guard isRunning else { return "ended" }
        isRunning = false
        // One that has closed its socket is about to end by itself, for a reason worth knowing; any other is stopped.
        var status: CInt = 0
        var waited = waitpid(process, &status, WNOHANG)
        for _ in 0..<20 where waited == 0 && hasHungUp {
            usleep(5_000)
            waited = waitpid(process, &status, WNOHANG)
        }
        if waited == 0 {
            Glibc.kill(process, SIGKILL)
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        }
        let signal = clinux_ending_signal(status)
        return signal != 0 ? "ended by signal \(signal) (\(String(cString: strsignal(signal))))" : "ended with code \(clinux_exit_code(status))"
    }

    private var hasHungUp: Bool { channel.isClosedByPeer }

    private var lastWords: String {
        let size = (try? errors.status().bytes) ?? 0
        return String(decoding: errors.bytes(at: max(0, size - 2000), count: 2000), as: UTF8.self)
    }

    private static func spawn(_ command: WorkerCommand, socket: CInt, errors: CInt) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        _ = clinux_spawn_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigfillset(&defaults)
        posix_spawnattr_setsigdefault(&attributes, &defaults)

        var process = pid_t()
        let arguments = (["imagemill"] + command.arguments).map { strdup($0) } + [nil]
        let environment = Self.environment.map { strdup($0) } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        let result = posix_spawn(&process, command.executable, &actions, &attributes, arguments, environment)
        guard result == 0 else { throw SystemError("start a worker process", code: result) }
        return process
    }

    /// The few variables that a worker needs; none of the user's secrets.
    private static var environment: [String] {
        let kept = ["PATH", "LD_LIBRARY_PATH", "VIPSHOME", "LSAN_OPTIONS", "TSAN_OPTIONS", "ASAN_OPTIONS"]
        let passed = kept.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
        // A crash is to be over at once: Swift's helper for backtraces would hold the socket open for as long as it works.
        return passed + ["LC_ALL=C.UTF-8", "SWIFT_BACKTRACE=enable=no"]
    }
}
