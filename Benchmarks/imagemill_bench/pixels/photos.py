"""Photos: from the corpus where there is one, else painted so that they cost a decoder and a resizer what photos do."""

import shutil
from pathlib import Path

import numpy as np
import pillow_heif
import pyvips
from PIL import Image, ImageDraw

SIZE = (2725, 2225)


def photo(index: int, target: Path, corpus: Path | None) -> None:
    """Six megapixels."""
    if corpus and index == 0:
        shutil.copyfile(corpus / "photos/garden-2725x2225.jpg", target)
    else:
        painted(index, *SIZE).save(target, quality=85)


def large_photo(index: int, target: Path, corpus: Path | None) -> None:
    """Twenty-four megapixels: a photo at twice its size."""
    picture = picture_of(index, corpus)
    width, height = picture.size
    picture.resize((2 * width, 2 * height), Image.Resampling.BICUBIC).save(target, quality=90)


def webp(index: int, target: Path, corpus: Path | None) -> None:
    picture_of(index, corpus).save(target, quality=85)


def progressive(index: int, target: Path, corpus: Path | None) -> None:
    picture_of(index, corpus).save(target, quality=85, progressive=True)


def heic(index: int, target: Path, corpus: Path | None) -> None:
    pillow_heif.register_heif_opener()
    picture_of(index, corpus).save(target, quality=80)


def tiff(index: int, target: Path, corpus: Path | None) -> None:
    """16 bits, and not compressed, as cameras' raw converters export them. Random numbers fill the lower bits."""
    pixels = np.asarray(picture_of(index, corpus), np.uint16) * 257
    noise = np.random.default_rng(index).integers(-128, 129, pixels.shape)
    pixels = np.clip(pixels + noise, 0, 65535).astype(np.uint16)
    pyvips.Image.new_from_array(pixels, interpretation="rgb16").tiffsave(str(target), compression="none")


def giant(index: int, target: Path, corpus: Path | None) -> None:
    """280 megapixels of grey."""
    if corpus:
        shutil.copyfile(corpus / "hostile/giant-image.jpg", target)
    else:
        Image.new("L", (20000, 14000), 192).save(target)


def picture_of(index: int, corpus: Path | None) -> Image.Image:
    if corpus:
        return Image.open(corpus / "photos/garden-2725x2225.jpg").convert("RGB")
    return painted(index, *SIZE)


def piece_of(index: int, side: int, corpus: Path | None) -> Image.Image:
    """A square of a photo, another one for each index."""
    if not corpus:
        return painted(index, side, side)
    photo = picture_of(index, corpus)
    random = np.random.default_rng(index)
    left, top = (int(random.integers(0, length - side + 1)) for length in photo.size)
    return photo.crop((left, top, left + side, top + side))


def painted(seed: int, width: int, height: int) -> Image.Image:
    """Octaves of noise with less power in the finer ones, as in nature, below shapes with sharp edges, and a little grain."""
    random = np.random.default_rng(seed)
    canvas = np.zeros((height, width, 3), np.float32)
    for octave in range(2, 11):
        cells = 2**octave
        noise = random.normal(0, 1, (cells, cells, 1)) + 0.4 * random.normal(0, 1, (cells, cells, 3))
        canvas += enlarged(noise.astype(np.float32), width, height) * 90 / 1.7**octave
    canvas = canvas * 1.6 + 118
    shapes = Image.fromarray(np.clip(canvas, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(shapes)
    for _ in range(60):
        corners = random.uniform((0, 0), (width, height)) + random.normal(0, width / 20, (4, 2))
        draw.polygon([tuple(corner) for corner in corners], fill=tuple(random.integers(0, 256, 3).tolist()))
    grain = random.normal(0, 2.5, (height, width, 1)).astype(np.float32)
    mixed = 0.35 * np.asarray(shapes, np.float32) + 0.65 * canvas + grain
    return Image.fromarray(np.clip(mixed, 0, 255).astype(np.uint8))


def enlarged(noise: np.ndarray, width: int, height: int) -> np.ndarray:
    planes = [Image.fromarray(noise[..., channel]) for channel in range(noise.shape[2])]
    return np.stack([np.asarray(plane.resize((width, height), Image.Resampling.BICUBIC)) for plane in planes], axis=2)
