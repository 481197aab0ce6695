// The supervisor's side of one worker: start it, ask it, kill it.
import CLinux
import Glibc
import Messages
import Pipeline
import System

/// Why a worker gave no answer.
enum WorkerLoss: Error, Equatable {
    /// It died; how, and the last that it wrote to standard error.
    case died(how: String, words: String)
    /// The system killed it (SIGKILL), most likely because memory ran out. That is not its source's fault.
    case killed
    /// The system refused it a thread. That is not its source's fault, unless the source has taken all of the worker's
    /// address space.
    case starved
    /// It took more memory than so many bytes for its source, and was stopped.
    case outgrown(Int)
    case timedOut(TimeBound.Overrun)
    /// A file system that its source needs does not answer. That is not its source's fault.
    case silenced
    /// Somebody has stopped it by a signal (SIGSTOP) meanwhile. That is not its source's fault.
    case stopped
    case cancelled
    /// It answered what no worker answers.
    case confused(String)
}

/// The members of a set, which a worker asks for one after the other while it answers.
struct MemberAccess {
    let count: Int
    /// How many times the worker may ask, in all.
    let mostRequests: Int
    /// Opens a member by its place, which may hang; nil if it cannot be had.
    let open: @Sendable (Int) -> OpenFile?

    /// For a single picture.
    static var none: MemberAccess { MemberAccess(count: 0, mostRequests: 0) { _ in nil } }
}

/// A running worker process. Used from one thread at a time; it dies with this object.
final class WorkerProcess {
    private let channel: Channel
    private let errors: OpenFile
    private let process: pid_t
    /// Its `/proc/PID/statm`, opened while the process lets itself be looked at; nil if the system did not let us.
    private let statm: OpenFile?
    /// The same for `/proc/PID/stat`.
    private let stat: OpenFile?
    /// The same for `/proc/PID/clear_refs`.
    private let clearRefs: OpenFile?
    private var isRunning = true
    /// How many renderings it has done.
    private(set) var renderings = 0

    private init(_ channel: Channel, errors: OpenFile, process: pid_t) {
        self.channel = channel
        self.errors = errors
        self.process = process
        statm = try? OpenFile.reading(BytePath("/proc/\(process)/statm"))
        stat = try? OpenFile.reading(BytePath("/proc/\(process)/stat"))
        let references = open("/proc/\(process)/clear_refs", O_WRONLY | O_CLOEXEC)
        clearRefs = references < 0 ? nil : OpenFile(owning: references)
    }

    /// Starts a process in a group of its own, so that a Ctrl-C in the terminal does not reach it, with nothing open
    /// but its socket.
    convenience init(_ starter: ProcessStarter, _ command: WorkerCommand) throws(SystemError) {
        let (channel, theirs) = try Channel.pair()
        let errors = Self.errorFile()
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw SystemError("open '/dev/null'") }
        let program = try starter.start(
            ProgramLaunch(
                attempt: "start a worker process", paths: [command.executable],
                arguments: ["imagemill"] + command.arguments, environment: WorkerCommand.environment,
                descriptors: [theirs, OpenFile(owning: nothing), errors]))
        try program.waitUntilExecuted()
        self.init(channel, errors: errors, process: program.process)
    }

    /// Copies this process, which must have a single thread, instead of starting a program: that saves loading all of
    /// libvips' libraries. Never returns in the copy, which serves as a worker until its socket is closed.
    /// - Parameter serve: the life of a worker, which is no part of the supervisor; returns its exit code.
    static func forked(_ serve: () -> CInt) throws(SystemError) -> WorkerProcess {
        let (channel, theirs) = try Channel.pair()
        let errors = errorFile()
        let environment = WorkerCommand.environment
        let process = clinux_fork(theirs.descriptor, errors.descriptor)
        guard process >= 0 else { throw SystemError.starting("start a worker process") }
        if process == 0 {
            for (name, value) in environment { _ = clinux_set_environment(name, value) }
            _exit(serve())
        }
        return WorkerProcess(channel, errors: errors, process: process)
    }

    /// A file for a worker's errors. Bytes from the 65,537th on are lost: nothing counts its memory.
    private static func errorFile() -> OpenFile {
        OpenFile(owning: clinux_bounded_memory_file("imagemill-worker-errors", 64 << 10))
    }

    deinit { stop() }

    var identifier: pid_t { process }

    /// Bytes that it had in memory after its last answer; between two questions it does nothing. 0 if the system does
    /// not say.
    private(set) var restingMemory = 0

    private var residentMemory: Int { statm.map(Machine.residentMemory) ?? 0 }

    /// By how many bytes its memory has grown since its last answer.
    var growth: Int { residentMemory - restingMemory }

    /// The last question was to look at the pixels of a picture. Its rendering is the same work, with one peak.
    private var hasLooked = false

    /// Has the system count the peak of its memory anew, if it can.
    private func forgetPeak() {
        if let clearRefs { _ = Glibc.write(clearRefs.descriptor, "5", 1) }
    }

    /// Seconds of processor time that all its threads have taken; 0 if the system does not say.
    var processorSeconds: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How long it may be stopped until it is given up.
    private static let patienceWithStop = Duration.seconds(10)

    /// A signal has stopped it, so that it gets no processor time.
    private var isStopped: Bool {
        guard let line = try? stat?.bytes(at: 0, count: 256), let end = line.lastIndex(of: UInt8(ascii: ")")) else {
            return false
        }
        // `1234 (imagemill) T 1 …`
        return line.dropFirst(end + 2).first == UInt8(ascii: "T")
    }

    /// Limits the process from outside, where it cannot undo it.
    /// - Throws: `SystemError` if the system refuses.
    func limit(_ limits: Limits) throws(SystemError) {
        // The last stop only: admission is by prediction. Below 2 GiB libvips has been seen to succeed with wrong
        // pixels.
        let memory = max(4 << 30, 2 * limits.maximumMemory + (2 << 30))
        guard clinux_limit_process(process, UInt64(clamping: limits.maximumOutputBytes), UInt64(clamping: memory)) == 0
        else {
            throw SystemError("limit a worker process")
        }
    }

    /// Asks and waits for the answer.
    /// - Parameters:
    ///   - time: what the whole conversation may take; then the worker is killed.
    ///   - growth: by how many bytes its resident memory may grow meanwhile; it is killed soon after that.
    ///   - isSilent: whether a file system that the source needs does not answer; the worker, which may wait for it, is
    ///     killed then.
    func ask(
        _ question: WorkerQuestion, within time: TimeBound, growth: Int? = nil, cancellation: Cancellation,
        isSilent: @escaping () -> Bool = { false }
    ) throws(WorkerLoss) -> WorkerReply {
        let (request, members) = (question.request, question.members)
        // Taken at the first check: the milliseconds before do not count, and a small picture takes no longer than that.
        var startSeconds: Double?
        var nextCheck = SuspendingClock.now + Channel.timeBetweenChecks
        var (stoppedSince, wasStopped) = (SuspendingClock.Instant?.none, false)
        // Also while it talks: one that drips its answer may take memory meanwhile.
        func check() throws(ChannelError) {
            guard .now >= nextCheck else { return }
            nextCheck = .now + Channel.timeBetweenChecks
            let seconds = processorSeconds
            if startSeconds == nil { startSeconds = seconds }
            if let startSeconds, seconds - startSeconds > time.processorSeconds { throw .outran }
            if let growth, self.growth > growth { throw .outgrown(growth) }
            if isSilent() { throw .silent }
            guard isStopped else { return stoppedSince = nil }
            wasStopped = true
            if let stoppedSince, .now - stoppedSince > Self.patienceWithStop { throw .stopped }
            stoppedSince = stoppedSince ?? .now
        }
        switch request {
        case .findTransparency: forgetPeak()
        case .measure, .render: if !hasLooked { forgetPeak() }
        case .prepare, .tryReading, .probe, .member: break
        }
        hasLooked =
            switch request {
            case .findTransparency, .measure: true
            case .prepare, .tryReading, .probe, .member, .render: false
            }
        let end = SuspendingClock.now + .seconds(time.seconds)
        func send(_ request: Request, files: [OpenFile]) throws(ChannelError) {
            // An array is let go after its last use; the files must be open until they are sent.
            try withExtendedLifetime(files) { () throws(ChannelError) in
                try channel.send(
                    request, descriptors: files.map(\.descriptor), until: end, cancellation: cancellation, check: check
                )
            }
        }
        func opened(_ member: Int) throws(ChannelError) -> OpenFile? {
            let opening = Background { members.open(member) }
            while true {
                if let file = opening.value(until: .now + Channel.timeBetweenChecks) { return file }
                try check()
                if cancellation.isRaised { throw .cancelled }
                if end <= .now { throw .timedOut }
            }
        }
        do throws(ChannelError) {
            try send(request, files: question.files)
            var requests = 0
            while true {
                let (received, _) = try channel.receive(
                    Reply.self, until: end, cancellation: cancellation, check: check)
                let reply = WorkerReply(received)
                guard let member = try reply.wantedMember(of: members.count) else {
                    if case .render = request { renderings += 1 }
                    forgetWords()
                    restingMemory = residentMemory
                    return reply
                }
                requests += 1
                guard requests <= members.mostRequests else {
                    throw .garbage("it asked for more members than the set has")
                }
                try send(.member, files: try opened(member).map { [$0] } ?? [])
            }
        } catch {
            // The time that it was stopped for may be what it lacked.
            let cause = error == .timedOut && wasStopped ? ChannelError.stopped : error
            throw loss(after: cause, within: time, ending: stop())
        }
    }

    private func loss(after error: ChannelError, within time: TimeBound, ending: Ending) -> WorkerLoss {
        switch error {
        case .closed where ending.isBySystem: .killed
        case .closed where ending.isWithoutThreads: .starved
        case .closed: .died(how: ending.description, words: lastWords)
        case .timedOut: .timedOut(time.overrun)
        case .outran: .timedOut(time.processorOverrun)
        case .silent: .silenced
        case .stopped: .stopped
        case .cancelled: .cancelled
        case .outgrown(let bytes): .outgrown(bytes)
        case .garbage(let what): .confused(what)
        case .system(let code): .died(how: SystemError("talk to a worker", code: code).description, words: lastWords)
        }
    }

    /// How a process ended.
    private struct Ending: CustomStringConvertible {
        /// It was stopped from here, so its status says nothing.
        let isByUs: Bool
        /// The status as waitpid gives it.
        let status: CInt

        /// SIGKILL that did not come from here.
        var isBySystem: Bool { !isByUs && clinux_ending_signal(status) == SIGKILL }

        var isWithoutThreads: Bool {
            !isByUs && clinux_ending_signal(status) == 0 && clinux_exit_code(status) == CLINUX_ENDED_WITHOUT_THREADS
        }

        var description: String {
            if isByUs { return "closed its socket and was stopped" }
            let signal = clinux_ending_signal(status)
            guard signal != 0 else { return "ended with code \(clinux_exit_code(status))" }
            return "ended by signal \(signal) (\(String(cString: strsignal(signal))))"
        }
    }

    /// How long a process that has closed its socket may take to end by itself: one with much memory takes a while.
    private static let secondsToEnd = 1.0

    /// Waits for the end of a process that has hung up, and kills any other.
    @discardableResult
    private func stop() -> Ending {
        guard isRunning else { return Ending(isByUs: true, status: 0) }
        isRunning = false
        var status: CInt = 0
        // One that has closed its socket is about to end by itself, for a reason worth knowing.
        let end = SuspendingClock.now + .seconds(Self.secondsToEnd)
        var waited = waitpid(process, &status, WNOHANG)
        while waited == 0 && channel.isClosedByPeer && .now < end {
            usleep(5_000)
            waited = waitpid(process, &status, WNOHANG)
        }
        if waited != 0 { return Ending(isByUs: false, status: status) }
        Glibc.kill(process, SIGKILL)
        // One that has files of a file system that hangs ends when that goes on.
        collect(process)
        return Ending(isByUs: true, status: 0)
    }

    /// The last that it has written since its last answer. Both sides share the position in the file.
    private var lastWords: String {
        let end = max(0, Int(lseek(errors.descriptor, 0, SEEK_CUR)))
        let start = max(0, end - 2000)
        let bytes = (try? errors.bytes(at: start, count: end - start)) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    private func forgetWords() { lseek(errors.descriptor, 0, SEEK_SET) }
}

/// A request, and what the worker gets for it.
struct WorkerQuestion {
    let request: Request
    let files: [OpenFile]
    /// The members that it may ask for meanwhile. They are opened on threads of their own: the one that talks to it
    /// must be free to give up.
    var members: MemberAccess

    init(_ request: Request, files: [OpenFile] = [], members: MemberAccess = .none) {
        (self.request, self.files, self.members) = (request, files, members)
    }
}
