"""Lanczos-3 in floating point: the measure of all resizers. Slow, exact and short."""

import numpy as np

LOBES = 3


def resize(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """Resizes rows × columns × channels. The result is not clipped."""
    tall = shrink_rows(pixels, height)
    return shrink_rows(tall.transpose(1, 0, 2), width).transpose(1, 0, 2)


def shrink_rows(pixels: np.ndarray, rows: int) -> np.ndarray:
    result = np.empty((rows, *pixels.shape[1:]), np.float32)
    for row in range(rows):
        first, weights = window(row, pixels.shape[0], rows)
        # Row by row, so that a picture of 280 megapixels is never in memory as floats.
        part = pixels[first : first + len(weights)].astype(np.float32)
        result[row] = np.tensordot(weights, part, axes=1)
    return result


def window(row: int, source_rows: int, target_rows: int) -> tuple[int, np.ndarray]:
    """The source rows that make one target row: the first, and a weight for each. Windows are cut at the edges."""
    scale = source_rows / target_rows
    stretch = max(scale, 1)
    centre = (row + 0.5) * scale
    first = max(0, int(np.floor(centre - LOBES * stretch)))
    last = min(source_rows, int(np.ceil(centre + LOBES * stretch)))
    distance = (np.arange(first, last) + 0.5 - centre) / stretch
    weights = np.where(np.abs(distance) < LOBES, np.sinc(distance) * np.sinc(distance / LOBES), 0)
    return first, (weights / weights.sum()).astype(np.float32)
