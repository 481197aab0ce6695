"""Folders of pictures to start from."""

import os
import shutil
from pathlib import Path

from imagemill_bench.environment import Environment


def distinct(environment: Environment, kind: str, count: int) -> list[Path]:
    """Different pictures of one kind, made where they are missing."""
    folder = environment.place / "pictures" / kind
    corpus = [str(environment.corpus)] if environment.corpus else []
    environment.pixels("make", kind, str(count), str(folder), *corpus)
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))[:count]


def fill(folder: Path, pictures: list[Path], count: int) -> None:
    """So many files. Links, because they are made at once and all contenders find the same bytes in memory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number in range(count):
        picture = pictures[number % len(pictures)]
        os.link(picture, folder / f"{number:06}{picture.suffix}")


def small(environment: Environment, source: Path, box: int, folder: Path) -> None:
    """The source at the size of a result, for timing an encoder alone."""
    folder.mkdir(parents=True, exist_ok=True)
    environment.pixels("small", str(source), str(box), str(folder / f"{box}.ppm"))
