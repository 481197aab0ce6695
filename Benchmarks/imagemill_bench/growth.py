"""The same small work over more and more files: time for a file must stay, and so must the supervisor's memory."""

import os
import shutil
import sys
from pathlib import Path
from statistics import median

from imagemill_bench import measure, sources
from imagemill_bench.environment import Environment
from imagemill_bench.model import Growth

MOST_ROUNDS = 3


def result(growth: Growth, environment: Environment, rounds: int, quick: bool, full: bool) -> dict:
    counts = growth.quick_counts if quick else growth.counts + ((growth.full_count,) if full else ())
    folder = environment.place / "runs" / "growth"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pipeline = folder / "growth.yaml"
    pipeline.write_text(growth.pipeline)
    pictures = sources.distinct(environment, growth.kind, growth.distinct)
    for count in counts:
        sources.fill(folder / str(count), pictures, count)
    taken: dict[int, list[measure.Measurement]] = {count: [] for count in counts}
    for _ in range(min(rounds, MOST_ROUNDS)):
        for count in counts:
            taken[count].append(run(environment, pipeline, folder / str(count), count))
            print(f"  {count} files: {taken[count][-1].wall_seconds:.2f} s", file=sys.stderr)
    shutil.rmtree(folder)
    runs = [figures(count, taken[count]) for count in counts]
    return {"title": growth.title, "quick": quick, "runs": runs, "targets": judge(growth, runs)}


def run(environment: Environment, pipeline: Path, sources: Path, count: int) -> measure.Measurement:
    output = pipeline.parent / "output"
    words = [environment.imagemill, "run", pipeline, sources, "-o", output, "--quiet"]
    measurement = measure.run([str(word) for word in words], {}, pipeline.parent / "log.txt", sample_own_memory=True)
    made = sum(not entry.name.startswith(".") for entry in os.scandir(output))
    if made != count:
        raise measure.CommandFailed(f"{made} outputs of {count} sources from: {' '.join(map(str, words))}")
    shutil.rmtree(output)
    return measurement


def figures(count: int, taken: list[measure.Measurement]) -> dict:
    wall = median(each.wall_seconds for each in taken)
    return {
        "files": count,
        "wall": wall,
        "cpu": median(each.cpu_seconds for each in taken),
        "milliseconds-per-file": wall / count * 1000,
        "supervisor-memory": max(each.own_peak_mebibytes for each in taken),
        "largest-memory": max(each.peak_mebibytes for each in taken),
    }


def judge(growth: Growth, runs: list[dict]) -> list[dict]:
    fewest, most = runs[0], runs[-1]
    ratio = most["milliseconds-per-file"] / fewest["milliseconds-per-file"]
    memory = max(run["supervisor-memory"] for run in runs)
    return [
        {
            "what": f"time for a file with {most['files']:,} files, divided by that with {fewest['files']:,}",
            "bound": f"≤ {growth.most_growth}",
            "value": f"{ratio:.2f}",
            "met": ratio <= growth.most_growth,
        },
        {
            "what": "peak memory of the supervisor, in MiB",
            "bound": f"< {growth.supervisor_mebibytes}",
            "value": f"{memory:.0f}",
            "met": memory < growth.supervisor_mebibytes,
        },
    ]
