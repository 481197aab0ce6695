"""Runs one command and says what it took."""

import ctypes
import os
import resource
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path


# Above this share of the machine, what others did has changed the figures.
MOST_FOREIGN_LOAD = 0.1

# How long what a command leaves behind may take to end.
SECONDS_TO_END = 10

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Measurement:
    wall_seconds: float
    # User and system, of the process and all of its descendants.
    cpu_seconds: float
    # Of the largest process among these.
    peak_mebibytes: float
    # The share of the machine that others used meanwhile, from 0 to 1.
    foreign_load: float
    # Of the process itself without descendants; sampled, and only where asked for.
    own_peak_mebibytes: float | None = None


class CommandFailed(Exception):
    pass


def run(words: list[str], environment: dict[str, str], log: Path, sample_own_memory: bool = False) -> Measurement:
    adopt_orphans()
    with log.open("wb") as output:
        busy = busy_seconds()
        start = time.perf_counter()
        process = subprocess.Popen(
            words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        sampler = PeakSampler(process.pid) if sample_own_memory else None
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        usages = [usage, *usages_of_orphans(words)]
        busy = busy_seconds() - busy
    own_peak = sampler.finish() if sampler else None
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        tail = log.read_text(errors="replace")[-2000:]
        raise CommandFailed(f"exit status {process.returncode} from: {' '.join(words)}\n{tail}")
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    foreign = max(0.0, busy - cpu) / (wall * len(os.sched_getaffinity(0)))
    return Measurement(wall, cpu, max(usage.ru_maxrss for usage in usages) / 1024, foreign, own_peak)


def adopt_orphans() -> None:
    """Makes this process the parent of what a command leaves behind. A supervisor may end before its workers, which the
    kernel stops then, and nobody else would count what they have used."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


def usages_of_orphans(words: list[str]) -> list[resource.struct_rusage]:
    """Waits for all that the command has left behind."""
    usages = []
    end = time.monotonic() + SECONDS_TO_END
    while time.monotonic() < end:
        try:
            process, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return usages
        if process:
            usages.append(usage)
        else:
            time.sleep(0.002)
    raise CommandFailed(f"processes still ran {SECONDS_TO_END} seconds after the end of: {' '.join(words)}")


def busy_seconds() -> float:
    """Processor time that all processes, the system and other virtual machines have taken since the start."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class PeakSampler:
    """Reads the peak of one process until it ends, since the kernel reports that of the whole family only."""

    def __init__(self, pid: int):
        self.status = Path(f"/proc/{pid}/status")
        self.peak = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def sample(self) -> None:
        while not self.ended.wait(0.02):
            try:
                lines = self.status.read_text().splitlines()
            except OSError:
                return
            self.peak = max([self.peak] + [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")])

    def finish(self) -> float:
        self.ended.set()
        self.thread.join()
        return self.peak
