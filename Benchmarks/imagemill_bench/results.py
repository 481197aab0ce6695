"""The store of results, and the page that is written from it. What is not measured again stays as it was."""

import json
from datetime import date

from imagemill_bench import environment, report, table
from imagemill_bench.environment import HERE, Environment

STORE = HERE / "results.json"
PAGE = HERE / "RESULTS.md"

REPEAT = """\
## To repeat it

```sh
make bench                                      # all workloads, five rounds
Benchmarks/bench --workloads W1,W5 --rounds 3   # some of them
Benchmarks/bench --full                         # with the growth to 100,000 files
Benchmarks/quality                              # the likeness to exact arithmetic
```

[README.md](README.md) says how to read the tables.
"""


def new(surroundings: Environment) -> dict:
    return {
        "machine": environment.machine(),
        "versions": environment.versions(surroundings),
        "workloads": {},
        "failed": {},
        "growth": None,
        "again": None,
        "quality": None,
    }


def dated(result: dict) -> dict:
    return {"date": date.today().isoformat(), **result}


def merged(latest: dict, order: list[str]) -> dict:
    """Earlier results with the latest in their place. Those of another machine or other versions do not mix, and go,
    and so do the earlier figures of what fails now."""
    earlier = json.loads(STORE.read_text()) if STORE.exists() else latest
    if any(earlier[key] != latest[key] for key in ("machine", "versions")):
        return latest
    workloads = {**earlier["workloads"], **latest["workloads"]}
    done = {*latest["workloads"], *(name for name in ("growth", "again") if latest[name])}
    failed = {**{name: each for name, each in earlier["failed"].items() if name not in done}, **latest["failed"]}
    return {
        **latest,
        "workloads": {name: workloads[name] for name in order if name in workloads and name not in failed},
        "failed": failed,
        "growth": None if "growth" in failed else latest["growth"] or earlier["growth"],
        "again": None if "again" in failed else latest["again"] or earlier.get("again"),
        "quality": latest["quality"] or earlier["quality"],
    }


def save(results: dict) -> None:
    STORE.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page(results))


def page(results: dict) -> str:
    parts = ["# Results", "Written by `Benchmarks/bench` and `Benchmarks/quality`. Do not edit.", about(results)]
    if results["failed"]:
        parts += ["## Failed", bullets(report.failure_notes(results["failed"]))]
    if results["workloads"]:
        dates = sorted({workload["date"] for workload in results["workloads"].values()})
        rows = table.markdown(report.WORKLOADS_HEADER, report.workload_rows(results["workloads"]))
        parts += ["## Throughput", measured(dates), rows, bullets(report.workload_notes(results["workloads"]))]
    if results["growth"]:
        rows = table.markdown(report.GROWTH_HEADER, report.growth_rows(results["growth"]))
        parts += ["## Growth", measured([results["growth"]["date"]]), rows, bullets(report.growth_notes(results["growth"]))]
    if results.get("again"):
        rows = table.markdown(report.AGAIN_HEADER, report.again_rows(results["again"]))
        parts += ["## A second time", measured([results["again"]["date"]]), rows, bullets(report.growth_notes(results["again"]))]
    if results["quality"]:
        rows = table.markdown(report.QUALITY_HEADER, report.quality_rows(results["quality"]))
        parts += ["## Likeness to exact arithmetic", measured([results["quality"]["date"]])]
        parts += [bullets(report.quality_notes(results["quality"])), rows]
    return "\n\n".join([*parts, REPEAT])


def about(results: dict) -> str:
    facts = {**results["machine"], **results["versions"]}
    return table.markdown(["", ""], [[name, value] for name, value in facts.items()])


def measured(dates: list[str]) -> str:
    return f"Measured on {' and '.join(dates)}."


def bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
