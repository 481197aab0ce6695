"""The stored results as tables: rows and sentences, for a terminal as for Markdown."""

from statistics import mean

from imagemill_bench.measure import MOST_FOREIGN_LOAD
from imagemill_bench.model import Role
from imagemill_bench.table import Rows, figure, verdict
from imagemill_bench.targets import best_peer

WORKLOADS_HEADER = [
    *("workload", "contender", "wall s", "CPU s", "peak MiB", "pictures/s", "dB", "KiB"),
    *("of best peer", "CPU of limit", "target: ours / this one's", "result"),
]

AGAIN_HEADER = ["run", "wall s", "CPU s", "largest process MiB"]
GROWTH_HEADER = ["files", "wall s", "ms per file", "CPU s", "supervisor MiB", "largest process MiB"]

QUALITY_HEADER = [
    *("photo", "width", "as", "dB", "vipsthumbnail's dB", "difference", "SSIM", "vipsthumbnail's SSIM", "difference", "result"),
]


def workload_rows(workloads: dict[str, dict]) -> Rows:
    return [row for name, workload in workloads.items() for row in rows_of(name, workload)]


def rows_of(name: str, workload: dict) -> Rows:
    contenders = workload["contenders"]
    best = best_peer(contenders)["rate"]
    limit = next((each["cpu"] for each in contenders if each["role"] == Role.LIMIT.value), None)
    rows = []
    for number, each in enumerate(contenders):
        targets = [target for target in workload["targets"] if target["against"] == each["name"]]
        rows.append(
            [
                name if number == 0 else "",
                each["name"],
                *(figure(each[key]) for key in ("wall", "cpu", "memory", "rate")),
                figure(each["psnr"] and mean(each["psnr"].values())),
                figure(each["kibibytes"]),
                "" if each["role"] == Role.LIMIT.value else figure(each["rate"] / best, "×"),
                figure(limit and each["cpu"] / each["pictures"] * workload["pictures"] / limit, "×" if limit else ""),
                "; ".join(f"{target['measure']} {target['bound']}: {target['ratio']:.2f}" for target in targets),
                "; ".join(outcome(target) for target in targets),
            ]
        )
    return rows


def outcome(target: dict) -> str:
    if target["reached"] and not target["alike"]:
        return "missed: our outputs are worse"
    return verdict(target["reached"])


def workload_notes(workloads: dict[str, dict]) -> list[str]:
    notes = []
    for name, workload in workloads.items():
        kind = "quick run" if workload["quick"] else f"rounds: {workload['rounds']}"
        notes.append(f"{name}: {workload['pictures']:,} {workload['title']} ({kind}).")
        ways = [f"{each['name']}: {each['way']}" for each in workload["contenders"] if len(each["first-pass"]) > 1]
        if ways:
            notes.append(f"{name}, fastest way of {'; '.join(ways)}.")
        notes += [f"{name}: {remark}" for remark in workload["remarks"]]
        load = max(each["foreign-load"] for each in workload["contenders"])
        if load > MOST_FOREIGN_LOAD:
            notes.append(f"{name}: other programs used up to {load:.0%} of the machine; measure this one again.")
    return notes


def failure_notes(failed: dict[str, dict]) -> list[str]:
    return [f"{name} failed on {failure['date']}: {' '.join(failure['reason'].split())}" for name, failure in failed.items()]


def growth_rows(growth: dict) -> Rows:
    keys = ("wall", "milliseconds-per-file", "cpu", "supervisor-memory", "largest-memory")
    return [[f"{run['files']:,}", *(figure(run[key]) for key in keys)] for run in growth["runs"]]


def again_rows(again: dict) -> Rows:
    return [[run["run"], *(figure(run[key]) for key in ("wall", "cpu", "memory"))] for run in again["runs"]]


def growth_notes(growth: dict) -> list[str]:
    return [
        f"{growth['title']}.",
        *(f"{target['what']}: {target['value']} ({target['bound']}): {verdict(target['met'])}." for target in growth["targets"]),
    ]


def quality_rows(quality: dict) -> Rows:
    return [
        [
            row["photo"],
            str(row["width"]),
            row["as"],
            f"{row['ours']['psnr']:.2f}",
            f"{row['theirs']['psnr']:.2f}",
            f"{row['ours']['psnr'] - row['theirs']['psnr']:+.2f}",
            f"{row['ours']['ssim']:.4f}",
            f"{row['theirs']['ssim']:.4f}",
            f"{row['ours']['ssim'] - row['theirs']['ssim']:+.4f}",
            verdict(row["met"]),
        ]
        for row in quality["rows"]
    ]


def quality_notes(quality: dict) -> list[str]:
    met = sum(row["met"] for row in quality["rows"])
    return [f"{met} of {len(quality['rows'])} met.", *quality["rules"], *quality["remarks"]]
