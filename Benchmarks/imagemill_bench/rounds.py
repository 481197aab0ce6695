"""One workload: a first pass that finds how each contender is used best and checks what it makes, then the counted rounds."""

import shutil
import sys
from dataclasses import asdict
from statistics import median

from imagemill_bench import equivalence, measure, place, targets
from imagemill_bench.environment import Environment
from imagemill_bench.measure import MOST_FOREIGN_LOAD, Measurement
from imagemill_bench.model import Command, Contender, Role, Workload
from imagemill_bench.place import Place

MOST_ATTEMPTS = 3

Trials = dict[str, list[tuple[Command, Measurement]]]


def result(workload: Workload, environment: Environment, rounds: int, quick: bool) -> dict:
    here = place.prepare(workload, environment, quick)
    contenders = [each for each in workload.contenders if not (quick and each.role is Role.ASIDE)]
    trials = first_pass(contenders, here, quick)
    likeness = equivalence.check(workload, contenders, environment, here)
    rounds = rounds if quick else max(rounds, workload.rounds)
    counted = counted_rounds(contenders, trials, here, rounds)
    shutil.rmtree(here.folder)
    figures = [figures_of(each, trials[each.name], counted[each.name], here) for each in contenders]
    for entry in figures:
        entry["psnr"] = likeness.psnr.get(entry["name"])
        entry["kibibytes"] = likeness.kibibytes.get(entry["name"])
    return {
        "title": workload.title,
        "pictures": here.count,
        "rounds": rounds,
        "quick": quick,
        "contenders": figures,
        "targets": targets.judge(workload.targets, figures, likeness.better_than_ours),
        "remarks": likeness.remarks,
    }


def first_pass(contenders: list[Contender], here: Place, quick: bool) -> Trials:
    """Times every way of every contender once. The outputs of the first ways stay to be compared."""
    trials: Trials = {}
    for contender in contenders:
        ways = contender.ways[:1] if quick else contender.ways
        trials[contender.name] = []
        for way in ways:
            trials[contender.name].append((way, run(contender, way, here)))
            if way is ways[0] and contender.is_compared:
                here.output.rename(here.kept(contender))
    return trials


def counted_rounds(contenders: list[Contender], trials: Trials, here: Place, rounds: int) -> dict[str, list[Measurement]]:
    """Interleaved, and each round with another one first, so that a slow moment of the machine meets all."""
    counted: dict[str, list[Measurement]] = {}
    for contender in contenders:
        # Those for orientation are slow; one run says enough.
        counted[contender.name] = [fastest(trials[contender.name])[1]] if contender.role is Role.ASIDE else []
    running = [each for each in contenders if each.role is not Role.ASIDE]
    for number in range(rounds):
        first = number % len(running)
        for contender in running[first:] + running[:first]:
            counted[contender.name].append(quiet_run(contender, fastest(trials[contender.name])[0], here))
    return counted


def quiet_run(contender: Contender, way: Command, here: Place) -> Measurement:
    """Repeats a run that others on this machine disturbed. When they do not stop, the least disturbed one counts."""
    attempts: list[Measurement] = []
    while len(attempts) < MOST_ATTEMPTS:
        attempts.append(run(contender, way, here))
        if attempts[-1].foreign_load <= MOST_FOREIGN_LOAD:
            break
    return min(attempts, key=lambda attempt: attempt.foreign_load)


def fastest(trials: list[tuple[Command, Measurement]]) -> tuple[Command, Measurement]:
    return min(trials, key=lambda trial: trial[1].wall_seconds)


def run(contender: Contender, way: Command, here: Place) -> Measurement:
    # Put aside, and removed after the last round: for seconds after files were removed, ext4 searches for each new one among their places.
    if here.output.exists():
        here.output.rename(here.aside())
    here.output.mkdir()
    measurement = measure.run(here.words(way, contender.role), here.variables(way), here.folder / "log.txt")
    used = f" ({here.filled(way.label)})" if way.label else ""
    print(f"  {contender.name}{used}: {measurement.wall_seconds:.2f} s", file=sys.stderr)
    return measurement


def figures_of(
    contender: Contender, trials: list[tuple[Command, Measurement]], counted: list[Measurement], here: Place
) -> dict:
    wall = median(each.wall_seconds for each in counted)
    pictures = here.pictures(contender.role)
    return {
        "name": contender.name,
        "role": contender.role.value,
        "way": here.filled(fastest(trials)[0].label),
        "pictures": pictures,
        "wall": wall,
        "cpu": median(each.cpu_seconds for each in counted),
        "memory": max(each.peak_mebibytes for each in counted),
        "rate": pictures / wall,
        "foreign-load": median(each.foreign_load for each in counted),
        "runs": [asdict(each) for each in counted],
        "first-pass": {here.filled(way.label): trial.wall_seconds for way, trial in trials},
    }
