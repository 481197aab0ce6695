"""Holds the figures to the targets."""

from imagemill_bench.model import BEST_PEER, Role, Target

# What is measured, to the key of a contender's figures.
MEASURES = {"pictures/s": "rate", "CPU": "cpu", "wall": "wall", "memory": "memory", "file size": "kibibytes"}


def judge(targets: tuple[Target, ...], figures: list[dict], better_than_ours: set[str]) -> list[dict]:
    return [judged(target, figures, better_than_ours) for target in targets]


def judged(target: Target, figures: list[dict], better_than_ours: set[str]) -> dict:
    ours = next(each for each in figures if each["role"] == Role.OURS.value)
    theirs = best_peer(figures) if target.against == BEST_PEER else named(target.against, figures)
    key = MEASURES[target.measure]
    ratio = ours[key] / theirs[key]
    return {
        "measure": target.measure,
        "against": theirs["name"],
        "bound": bound(target.at_least, target.at_most),
        "ratio": ratio,
        "reached": is_within(ratio, target.at_least, target.at_most),
        # Being faster than one who does more is not what a target asks for.
        "alike": theirs["name"] not in better_than_ours,
    }


def is_within(value: float, at_least: float | None, at_most: float | None) -> bool:
    return (at_least is None or value >= at_least) and (at_most is None or value <= at_most)


def bound(at_least: float | None, at_most: float | None) -> str:
    return f"≥ {at_least}" if at_least is not None else f"≤ {at_most}"


def best_peer(figures: list[dict]) -> dict:
    return max((each for each in figures if each["role"] == Role.PEER.value), key=lambda each: each["rate"])


def named(name: str, figures: list[dict]) -> dict:
    return next(each for each in figures if each["name"] == name)
