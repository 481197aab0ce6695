"""What can be seen of every output without comparing pixels. `python -m imagemill_bench.pixels.facts FOLDER` prints JSON:
file name to [width, height, frames, milliseconds of the animation]."""

import json
import os
import sys

from PIL import Image, ImageSequence

# The giant picture is meant to be read.
Image.MAX_IMAGE_PIXELS = None


def facts(path: str) -> list[int]:
    with Image.open(path) as picture:
        frames = getattr(picture, "n_frames", 1)
        time = sum(frame.info.get("duration", 0) for frame in ImageSequence.Iterator(picture)) if frames > 1 else 0
        return [*picture.size, frames, time]


if __name__ == "__main__":
    visible = (entry for entry in os.scandir(sys.argv[1]) if not entry.name.startswith("."))
    json.dump({entry.name: facts(entry.path) for entry in visible}, sys.stdout)
