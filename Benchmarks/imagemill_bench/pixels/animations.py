"""Animations of 60 frames, 320 × 240: a walk over a photo with a disc that moves."""

import math
from pathlib import Path

from PIL import Image, ImageDraw

from imagemill_bench.pixels.photos import picture_of

FRAMES, WIDTH, HEIGHT = 60, 320, 240


def gif(index: int, target: Path, corpus: Path | None) -> None:
    save(frames(index, corpus), target)


def webp(index: int, target: Path, corpus: Path | None) -> None:
    save(frames(index, corpus), target, quality=80)


def save(frames: list[Image.Image], target: Path, **options: int) -> None:
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=40, loop=0, **options)


def frames(index: int, corpus: Path | None) -> list[Image.Image]:
    landscape = picture_of(index, corpus).resize((2 * WIDTH, 2 * HEIGHT), Image.Resampling.LANCZOS)
    return [frame(landscape, number / FRAMES, index) for number in range(FRAMES)]


def frame(landscape: Image.Image, time: float, index: int) -> Image.Image:
    angle = 2 * math.pi * time + index
    left, top = round((1 + math.sin(angle)) * WIDTH / 2), round((1 + math.cos(angle)) * HEIGHT / 2)
    picture = landscape.crop((left, top, left + WIDTH, top + HEIGHT))
    x = time * WIDTH
    ImageDraw.Draw(picture).ellipse((x - 30, 90, x + 30, 150), fill=(250, 200, 40), outline="black", width=2)
    return picture
