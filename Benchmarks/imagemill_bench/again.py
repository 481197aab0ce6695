"""The second run over sources that have not changed, and the same with a cache, beside copying the sources twice."""

import shutil
import sys
from pathlib import Path
from statistics import median

from imagemill_bench import measure, sources
from imagemill_bench.environment import Environment
from imagemill_bench.model import Again

FIRST, SECOND, FILLING, FROM_CACHE, COPYING = (
    "first run",
    "second run, nothing changed",
    "first run, fills a cache",
    "other folder, all from the cache",
    "`cp -r` of the sources, twice",
)


def result(again: Again, environment: Environment, rounds: int, quick: bool) -> dict:
    count = again.quick_count if quick else again.count
    folder = environment.place / "runs" / "again"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "again.yaml").write_text(again.pipeline)
    sources.fill(folder / "in", sources.distinct(environment, again.kind, again.distinct), count)
    taken: dict[str, list[measure.Measurement]] = {}
    for _ in range(rounds):
        for name, words in steps(environment, folder):
            taken.setdefault(name, []).append(measure.run([str(word) for word in words], {}, folder / "log.txt"))
            print(f"  {name}: {taken[name][-1].wall_seconds:.2f} s", file=sys.stderr)
        for made in ("out", "other", "third", "cache", "copies"):
            shutil.rmtree(folder / made, ignore_errors=True)
    shutil.rmtree(folder)
    runs = [figures(name, each) for name, each in taken.items()]
    return {"title": f"{again.title}: {count:,}", "quick": quick, "runs": runs, "targets": judge(again, runs)}


def steps(environment: Environment, folder: Path) -> list[tuple[str, list]]:
    def run(output: str, *options: object) -> list:
        return [environment.imagemill, "run", folder / "again.yaml", folder / "in", "-o", folder / output, "--quiet", *options]

    copies = folder / "copies"
    copy = f"mkdir '{copies}' && cp -r '{folder / 'in'}' '{copies / 'one'}' && cp -r '{folder / 'in'}' '{copies / 'two'}'"
    cached = ("--cache", folder / "cache")
    return [
        (FIRST, run("out")),
        (SECOND, run("out")),
        (FILLING, run("other", *cached)),
        (FROM_CACHE, run("third", *cached)),
        (COPYING, ["sh", "-c", copy]),
    ]


def figures(name: str, taken: list[measure.Measurement]) -> dict:
    return {
        "run": name,
        "wall": median(each.wall_seconds for each in taken),
        "cpu": median(each.cpu_seconds for each in taken),
        "memory": max(each.peak_mebibytes for each in taken),
    }


def judge(again: Again, runs: list[dict]) -> list[dict]:
    wall = {run["run"]: run["wall"] for run in runs}
    bound = max(again.seconds, wall[COPYING] * again.share_of_copying)
    return [
        {
            "what": "the second run, in seconds",
            "bound": f"≤ {bound:.2f}: {again.seconds}, or {again.share_of_copying:.0%} of copying, whichever is more",
            "value": f"{wall[SECOND]:.2f}",
            "met": wall[SECOND] <= bound,
        }
    ]
