"""Small pictures: icons with transparency, icons that are photos, flat icons, a badge, and files so small that only the
work around a picture counts."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from imagemill_bench.pixels.photos import piece_of

# Drawn larger and reduced, which is what makes the edges soft.
FINER = 4


def icon(index: int, target: Path, corpus: Path | None) -> None:
    """An app icon of 128 × 128: a rounded square with a gradient, a few shapes, and a soft light from above."""
    random = np.random.default_rng(index)
    size = 128 * FINER
    face = gradient(random.integers(40, 256, (2, 3)), size)
    light = Image.new("L", (size, size), 0)
    ImageDraw.Draw(light).ellipse((-size // 4, -size * 3 // 4, size * 5 // 4, size // 2), fill=70)
    face.paste(Image.new("RGB", (size, size), "white"), mask=light)
    draw = ImageDraw.Draw(face, "RGBA")
    for _ in range(int(random.integers(3, 7))):
        draw_shape(draw, random, size)
    outline = Image.new("L", (size, size), 0)
    ImageDraw.Draw(outline).rounded_rectangle((0, 0, size - 1, size - 1), radius=size * 0.22, fill=255)
    face.putalpha(outline)
    face.resize((128, 128), Image.Resampling.BOX).save(target)


def photo_icon(index: int, target: Path, corpus: Path | None) -> None:
    """A photo of 128 × 128 without transparency, as shops and phones show them in lists."""
    piece_of(index, 128 * FINER, corpus).resize((128, 128), Image.Resampling.BOX).save(target)


def flat_icon(index: int, target: Path, corpus: Path | None) -> None:
    """A symbol of 128 × 128 in a few plain colours, without transparency."""
    random = np.random.default_rng(index)
    size = 128 * FINER
    paper, ink, accent = (tuple(colour) for colour in random.integers(0, 256, (3, 3)).tolist())
    face = Image.new("RGB", (size, size), paper)
    draw = ImageDraw.Draw(face)
    draw.rounded_rectangle((size * 0.15, size * 0.15, size * 0.85, size * 0.85), radius=size * 0.1, fill=ink)
    for colour in (paper, accent, paper):
        left, top = random.uniform(0.2, 0.5, 2) * size
        width, height = random.uniform(0.1, 0.3, 2) * size
        box = (left, top, left + width, top + height)
        if random.integers(0, 2):
            draw.ellipse(box, fill=colour)
        else:
            draw.rectangle(box, fill=colour)
    face.resize((128, 128), Image.Resampling.BOX).save(target)


def gradient(ends: np.ndarray, size: int) -> Image.Image:
    down = np.linspace(0, 1, size)[:, np.newaxis, np.newaxis]
    across = np.linspace(0, 0.3, size)[np.newaxis, :, np.newaxis]
    share = np.clip((down + across) / 1.3, 0, 1)
    return Image.fromarray((ends[0] * (1 - share) + ends[1] * share).astype(np.uint8))


def draw_shape(draw: ImageDraw.ImageDraw, random: np.random.Generator, size: int) -> None:
    colour = (*random.integers(0, 256, 3).tolist(), int(random.integers(120, 256)))
    left, top = random.uniform(0.1, 0.6, 2) * size
    width, height = random.uniform(0.15, 0.4, 2) * size
    box = (left, top, left + width, top + height)
    match int(random.integers(0, 4)):
        case 0:
            draw.ellipse(box, fill=colour)
        case 1:
            draw.rounded_rectangle(box, radius=width / 6, fill=colour)
        case 2:
            draw.polygon([(left, top + height), (left + width / 2, top), (left + width, top + height)], fill=colour)
        case _:
            draw.arc(box, 20, 300, fill=colour, width=size // 20)


def badge(index: int, target: Path, corpus: Path | None) -> None:
    """A label of 360 × 240 with soft edges."""
    label = Image.new("RGBA", (360 * FINER, 240 * FINER), (255, 255, 255, 0))
    draw = ImageDraw.Draw(label)
    draw.rounded_rectangle((0, 0, 360 * FINER - 1, 240 * FINER - 1), radius=60 * FINER, fill=(220, 40, 60, 230))
    draw.ellipse((60 * FINER, 40 * FINER, 220 * FINER, 200 * FINER), fill=(255, 255, 255, 255))
    draw.polygon([(220 * FINER, 200 * FINER), (320 * FINER, 200 * FINER), (270 * FINER, 60 * FINER)], fill=(255, 210, 0, 200))
    label.resize((360, 240), Image.Resampling.BOX).save(target)


def tiny(index: int, target: Path, corpus: Path | None) -> None:
    """8 × 8 pixels."""
    random = np.random.default_rng(index)
    Image.fromarray(random.integers(0, 256, (8, 8, 3), np.uint8)).save(target)
