"""Whether all contenders did the same work: as many outputs, as large, and as near to exact arithmetic."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from imagemill_bench.environment import Environment
from imagemill_bench.model import Contender, Role, Workload
from imagemill_bench.place import Place

# The exact arithmetic is slow.
MOST_COMPARED_SOURCES = 3

# Errors above this many dB nobody sees, and they count as equal.
INVISIBLE = 50


@dataclass
class Likeness:
    # Contender to output suffix to dB, the mean over the compared sources.
    psnr: dict[str, dict[str, float]] = field(default_factory=dict)
    # Contender to the mean size of its outputs.
    kibibytes: dict[str, float] = field(default_factory=dict)
    # Peers whose outputs are better than ours by more than the workload tolerates: what is faster at that is not better.
    better_than_ours: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)


def check(workload: Workload, contenders: list[Contender], environment: Environment, here: Place) -> Likeness:
    compared = [each for each in contenders if each.is_compared]
    ours = next(each for each in compared if each.role is Role.OURS)
    names = here.source_names()
    wanted = {Path(name).stem + suffix for name in names for suffix in workload.outputs}
    facts = {each.name: facts_of(here.kept(each), environment) for each in compared}
    likeness = Likeness()
    likeness.kibibytes = {each.name: mean_size(here.kept(each)) for each in compared}
    for contender in compared:
        likeness.remarks += differences(contender.name, facts[contender.name], facts[ours.name], wanted)
    sample = names[: min(MOST_COMPARED_SOURCES, workload.sources.distinct)]
    likeness.psnr = figures(workload, compared, sample, environment, here)
    for peer in compared:
        if peer is not ours:
            compare(peer.name, likeness, likeness.psnr[ours.name], workload.tolerance)
    return likeness


def facts_of(folder: Path, environment: Environment) -> dict[str, list[int]]:
    return json.loads(environment.pixels("facts", str(folder)))


def mean_size(folder: Path) -> float:
    """In KiB. At equal quality, the smaller file is the better work."""
    return mean(entry.stat().st_size for entry in os.scandir(folder) if not entry.name.startswith(".")) / 1024


def differences(name: str, facts: dict[str, list[int]], ours: dict[str, list[int]], wanted: set[str]) -> list[str]:
    remarks = []
    if facts.keys() != wanted:
        made, others = len(facts.keys() & wanted), len(facts.keys() - wanted)
        remarks.append(f"{name} made {made} of {len(wanted)} outputs, and {others} others.")
    other = [output for output in sorted(facts.keys() & ours.keys()) if facts[output] != ours[output]]
    if other:
        first = other[0]
        remarks.append(
            f"{name} made {len(other)} outputs that differ from ours in width, height, frames or duration, "
            f"such as {first}: {facts[first]} and ours {ours[first]}."
        )
    return remarks


def figures(
    workload: Workload, compared: list[Contender], sample: list[str], environment: Environment, here: Place
) -> dict[str, dict[str, float]]:
    # By source and output first: contenders that made the same size share one reference.
    keys = [(name, suffix, each) for name in sample for suffix in workload.outputs for each in compared]
    pairs = [
        {
            "source": str(here.folder / "sources" / name),
            "output": str(here.kept(each) / (Path(name).stem + suffix)),
        }
        for name, suffix, each in keys
    ]
    card = workload.card and {**workload.card, "badge": here.filled(workload.card["badge"])}
    task = {"pairs": [pair for pair in pairs if Path(pair["output"]).exists()], "card": card, "ssim": False}
    answers = iter(json.loads(environment.pixels("compare", task=task)))
    found = {each.name: {suffix: [] for suffix in workload.outputs} for each in compared}
    for (_, suffix, each), pair in zip(keys, pairs):
        # A missing output is remarked on elsewhere, and is as unlike as can be.
        figure = next(answers)["psnr"] if pair in task["pairs"] else 0
        found[each.name][suffix].append(figure)
    return {name: {suffix: mean(values) for suffix, values in of_one.items()} for name, of_one in found.items()}


def compare(peer: str, likeness: Likeness, ours: dict[str, float], tolerance: float) -> None:
    for suffix, theirs in likeness.psnr[peer].items():
        difference = min(theirs, INVISIBLE) - min(ours[suffix], INVISIBLE)
        if difference > tolerance:
            likeness.better_than_ours.add(peer)
        if abs(difference) > tolerance:
            word = "better" if difference > 0 else "worse"
            likeness.remarks.append(
                f"The {suffix} of {peer} is {word} than ours: {theirs:.1f} dB, and ours {ours[suffix]:.1f} dB."
            )
