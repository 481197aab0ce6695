"""Compares outputs with what exact arithmetic makes of their sources.

Reads a JSON task from standard input and writes a list of figures to standard output, one for each pair:
{"pairs": [{"source": path, "output": path}], "card": null or {"background", "badge", "width", "offset"}, "ssim": true or false}
"""

import functools
import json
import sys

import numpy as np

from imagemill_bench.pixels import lanczos, likeness, reading


def main() -> None:
    task = json.load(sys.stdin)
    json.dump([figures(pair, task["card"], task["ssim"]) for pair in task["pairs"]], sys.stdout)


def figures(pair: dict, card: dict | None, with_ssim: bool) -> dict:
    output = np.stack(reading.read(pair["output"])).astype(np.float32)
    height, width = output.shape[1:3]
    wanted = reference(pair["source"], width, height, json.dumps(card))
    if len(wanted) != len(output):
        return {"psnr": 0, "remark": f"{len(output)} frames instead of {len(wanted)}"}
    wanted, output = same_channels(wanted, output)
    result = {"psnr": likeness.psnr(wanted, output)}
    if with_ssim:
        result["ssim"] = likeness.ssim(wanted[0], output[0])
    return result


# Contenders' outputs of one source come one after the other; the reference is the slow part.
@functools.lru_cache(maxsize=8)
def reference(source: str, width: int, height: int, card: str) -> np.ndarray:
    """All frames of the source at that size, composited on a card where one is asked for."""
    frames = [clipped(lanczos.resize(frame, width, height)) for frame in decoded(source)]
    card = json.loads(card)
    return np.stack([on_card(frame, card) if card else frame for frame in frames])


@functools.lru_cache(maxsize=1)
def decoded(source: str) -> list[np.ndarray]:
    return reading.read(source)


def clipped(pixels: np.ndarray) -> np.ndarray:
    """Lanczos overshoots at edges. No colour is above its alpha."""
    if pixels.shape[2] < 4:
        return np.clip(pixels, 0, 255)
    alpha = np.clip(pixels[..., 3:], 0, 255)
    return np.concatenate([np.clip(pixels[..., :3], 0, alpha), alpha], axis=2)


def on_card(picture: np.ndarray, card: dict) -> np.ndarray:
    """The picture over a colour, and a badge in the corner at the bottom right."""
    result = over(picture, np.array(card["background"], np.float32))
    badge = reading.read(card["badge"])[0]
    height = round(badge.shape[0] * card["width"] / badge.shape[1])
    badge = clipped(lanczos.resize(badge, card["width"], height))
    bottom, right = result.shape[0] - card["offset"], result.shape[1] - card["offset"]
    corner = np.s_[bottom - height : bottom, right - card["width"] : right]
    result[corner] = over(badge, result[corner])
    return result


def over(top: np.ndarray, below: np.ndarray) -> np.ndarray:
    return top[..., :3] + below * (1 - top[..., 3:] / 255)


def same_channels(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Grey is compared with colour as colour, and a picture without alpha as an opaque one."""
    most = max(one.shape[-1], other.shape[-1])
    return widened(one, most), widened(other, most)


def widened(pixels: np.ndarray, channels: int) -> np.ndarray:
    if channels >= 3 and pixels.shape[-1] == 1:
        pixels = np.repeat(pixels, 3, axis=-1)
    if channels == 4 and pixels.shape[-1] == 3:
        pixels = np.concatenate([pixels, np.full_like(pixels[..., :1], 255)], axis=-1)
    return pixels


if __name__ == "__main__":
    main()
