"""Cut-out pictures of 2000 × 2000, as shops have them: a photo inside a soft shape, nothing around it."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from imagemill_bench.pixels.photos import picture_of

SIDE = 2000


def cutout(index: int, target: Path, corpus: Path | None) -> None:
    random = np.random.default_rng(index)
    photo = picture_of(index, corpus)
    left, top = (int(random.integers(0, length - SIDE + 1)) for length in photo.size)
    photo = photo.crop((left, top, left + SIDE, top + SIDE))
    mask = shape(random)
    # What cannot be seen is black in such files, as programs that cut out leave it.
    picture = Image.composite(photo, Image.new("RGB", photo.size), mask.point(lambda alpha: 255 if alpha else 0))
    picture.putalpha(mask)
    picture.save(target)


def shape(random: np.random.Generator) -> Image.Image:
    mask = Image.new("L", (SIDE, SIDE), 0)
    draw = ImageDraw.Draw(mask)
    for _ in range(6):
        x, y = random.uniform(0.35, 0.65, 2) * SIDE
        wide, high = random.uniform(0.18, 0.33, 2) * SIDE
        draw.ellipse((x - wide, y - high, x + wide, y + high), fill=255)
    return mask.filter(ImageFilter.GaussianBlur(8))
