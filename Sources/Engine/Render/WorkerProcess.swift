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

/// How workers are started.
package struct WorkerCommand: Sendable {
    /// The program that has the worker subcommand: this one.
    package let executable: String
    package let arguments: [String]

    package init(executable: String = "/proc/self/exe", arguments: [String] = ["__worker"]) {
        self.executable = executable
        self.arguments = arguments
    }
}

/// A running worker process. Used from one thread at a time; it dies with this object.
final class WorkerProcess {
    private let channel: Channel
    private let errors: OpenFile
    private let process: pid_t
    private var isRunning = true
    /// How many renderings it has done.
    private(set) var renderings = 0

    /// Starts a process in a group of its own, so that a Ctrl-C in the terminal does not reach it, with nothing open but its socket.
    init(_ command: WorkerCommand) throws(SystemError) {
        let (channel, theirs) = try Channel.pair()
        self.channel = channel
        errors = OpenFile(owning: clinux_memory_file("imagemill-worker-errors"))
        process = try Self.spawn(command, socket: theirs.descriptor, errors: errors.descriptor)
    }

    deinit { _ = kill() }

    var identifier: pid_t { process }

    /// Asks and waits for the answer.
    /// - Parameter seconds: the deadline, after which the worker is killed.
    func ask(_ request: Request, descriptors: [CInt], withinSeconds seconds: Double, cancellation: Cancellation) throws(WorkerLoss) -> Reply {
        do throws(ChannelError) {
            try channel.send(request, descriptors: descriptors)
            let (reply, _) = try channel.receive(Reply.self, withinSeconds: seconds, cancellation: cancellation)
            if case .render = request { renderings += 1 }
            return reply
        } catch {
            let how = kill()
            throw loss(error, how)
        }
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
        // Files in memory only: libvips would else write large pictures to a temporary file.
        return passed + ["LC_ALL=C.UTF-8", "MALLOC_ARENA_MAX=2", "VIPS_DISC_THRESHOLD=1000g", "VIPS_BLOCK_UNTRUSTED=1"]
    }
}
