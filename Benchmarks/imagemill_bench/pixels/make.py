"""Makes the distinct pictures of one kind: `python -m imagemill_bench.pixels.make KIND COUNT FOLDER [CORPUS]`.

The same index gives the same picture on every machine. What is there already is kept.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from imagemill_bench.pixels import animations, cutouts, icons, photos, screenshots


class Kind(NamedTuple):
    suffix: str
    make: Callable[[int, Path, Path | None], None]


KINDS = {
    "photo": Kind(".jpg", photos.photo),
    "large-photo": Kind(".jpg", photos.large_photo),
    "webp-photo": Kind(".webp", photos.webp),
    "tiff-photo": Kind(".tif", photos.tiff),
    "heic-photo": Kind(".heic", photos.heic),
    "progressive-photo": Kind(".jpg", photos.progressive),
    "giant": Kind(".jpg", photos.giant),
    "icon": Kind(".png", icons.icon),
    "photo-icon": Kind(".png", icons.photo_icon),
    "flat-icon": Kind(".png", icons.flat_icon),
    "screenshot": Kind(".png", screenshots.screenshot),
    "tiny": Kind(".png", icons.tiny),
    "badge": Kind(".png", icons.badge),
    "cutout": Kind(".png", cutouts.cutout),
    "gif": Kind(".gif", animations.gif),
    "webp": Kind(".webp", animations.webp),
}


def make(kind: Kind, count: int, folder: Path, corpus: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        target = folder / f"{index:03}{kind.suffix}"
        if not target.exists():
            half_done = folder / f".half-done{kind.suffix}"
            kind.make(index, half_done, corpus)
            os.replace(half_done, target)


if __name__ == "__main__":
    corpus = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    make(KINDS[sys.argv[1]], int(sys.argv[2]), Path(sys.argv[3]), corpus)
