// `imagemill run --plan`: one task of a batch.
import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

/// The shards of one task, one after the other.
struct PlannedTask: Rendering {
    let planPath: String
    let task: Int?
    let output: String
    let jobs: Int?
    let memory: ByteCount?
    let isQuiet: Bool
    /// The file for metrics; nil if none are wanted.
    let metrics: BytePath?
    let showsProgress: Bool

    struct Preparation {
        let plan: OpenedPlan
        let task: Int
        let output: ShardOutput
        let shards: [Int]
        let finished: Int
        /// Nil if there is nothing to do.
        let pipeline: LoadedPipeline?
    }

    func prepare() throws -> Preparation {
        if let metrics { try ReplacedFile.metrics.refuseOthers(at: metrics, option: "--metrics") }
        do {
            let task = try number()
            let plan = try OpenedPlan(RawArguments.paths([planPath])[0])
            guard (0..<plan.plan.tasks).contains(task) else {
                printError(
                    "imagemill: there is no task \(task): the plan has \(plan.plan.tasks), 0 to \(plan.plan.tasks - 1)")
                throw ExitStatus.usage
            }
            try plan.checkEngine()
            let output = try ShardOutput(RawArguments.paths([self.output])[0], plan.plan)
            let all = Array(plan.plan.shards(of: task))
            let shards = try all.filter { try !output.isDone($0) }
            let pipeline = shards.isEmpty ? nil : try plan.pipeline()
            if let pipeline {
                try refuseTooFewDescriptors(workers: jobs ?? Machine.cores, renditions: pipeline.file.renditions.count)
            }
            return Preparation(
                plan: plan, task: task, output: output, shards: shards, finished: all.count - shards.count,
                pipeline: pipeline)
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: planPath)
        }
    }

    /// The variables in which schedulers give the number of a task.
    static let variables = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"]

    private func number() throws -> Int {
        if let task { return task }
        let found = Self.variables.lazy.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }.first
        guard let (name, text) = found else {
            printError(
                "imagemill: which task? Name it with --task, or start it where one of \(Self.variables.joined(separator: ", ")) is set"
            )
            throw ExitStatus.usage
        }
        guard let number = Int(text) else {
            printError("imagemill: \(name) is '\(text)', which is no number")
            throw ExitStatus.usage
        }
        return number
    }

    func workerCount(for preparation: Preparation) -> Int { preparation.shards.isEmpty ? 0 : jobs ?? Machine.cores }

    func run(_ preparation: Preparation, _ workers: WorkerPool) async throws {
        guard let pipeline = preparation.pipeline else {
            return say("\(counted(preparation.finished, "shard")) done already; nothing to do")
        }
        let cancellation = TaskCancellation()
        do {
            try SignalWatcher.watch { number in
                if cancellation.signal != nil { _exit(128 + number) }
                cancellation.raise(signal: number)
            }
            let progress = Progress(showsLine: showsProgress)
            let recorder = metrics.map { path in
                RunMetrics(
                    progress, writing: path,
                    labels: [("pipeline", pipeline.file.name), ("task", String(preparation.task))])
            }
            let runner = ShardRunner(
                preparation.plan, pipeline: pipeline, output: preparation.output, workers: workers,
                lanes: jobs ?? Machine.cores,
                memory: memory?.value ?? Machine.memory / 2, cancellation: cancellation, observer: recorder ?? progress)
            do {
                try await run(preparation, with: runner, cancellation: cancellation)
            } catch {
                try recorder?.write(isComplete: false)
                throw error
            }
            try recorder?.write(isComplete: true)
        } catch let exit as ExitCode {
            throw exit
        } catch {
            throw ExitStatus.explaining(error, pipeline: planPath)
        }
    }

    private func run(_ preparation: Preparation, with runner: ShardRunner, cancellation: TaskCancellation) async throws
    {
        var hasTrouble = false
        for shard in preparation.shards {
            if let signal = cancellation.signal { throw ExitStatus.stopped(by: signal) }
            // Another attempt may have done it since.
            if try preparation.output.isDone(shard) { continue }
            switch try await onNewThread({ try runner.run(shard) }) {
            case .done(let result): say(sentence(result))
            case .doneElsewhere: say("shard \(shard): another attempt has done it")
            case .stopped: throw ExitStatus.stopped(by: cancellation.signal ?? SIGTERM)
            case .trouble(let why):
                printError("imagemill: shard \(shard) is not done: \(why)")
                hasTrouble = true
            }
        }
        let skipped = preparation.finished > 0 ? "; \(counted(preparation.finished, "shard")) done already" : ""
        say("task \(preparation.task): \(counted(preparation.shards.count, "shard"))\(skipped)")
        if hasTrouble { throw ExitStatus.tryAgain }
    }

    private func sentence(_ result: ShardResult) -> String {
        let failed = result.failed > 0 ? ", \(result.failed) failed" : ""
        let rate = Double(result.sources) * 1000 / Double(max(1, result.milliseconds))
        return "shard \(result.shard): \(result.done) of \(result.sources) sources done\(failed) in "
            + "\(oneDecimal(Double(result.milliseconds) / 1000)) s (\(oneDecimal(rate))/s)"
    }

    private func say(_ line: String) { if !isQuiet { printError(line) } }
}
