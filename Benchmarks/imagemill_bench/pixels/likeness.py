"""How alike two arrays of pixels are, from 0 to 255."""

import numpy as np

# Equal arrays have no error and so no finite figure; JSON has no infinity.
BEST_PSNR = 99.0


def psnr(one: np.ndarray, other: np.ndarray) -> float:
    """Peak signal to noise, in dB, over all channels."""
    error = np.mean((one.astype(np.float64) - other) ** 2)
    return BEST_PSNR if error == 0 else min(BEST_PSNR, float(10 * np.log10(255**2 / error)))


def ssim(one: np.ndarray, other: np.ndarray) -> float:
    """Structural similarity of the luma, by Wang et al. 2004: a Gaussian window of 11 pixels, sigma 1.5."""
    one, other = luma(one), luma(other)
    mean_one, mean_other = blur(one), blur(other)
    variance_one = blur(one * one) - mean_one**2
    variance_other = blur(other * other) - mean_other**2
    covariance = blur(one * other) - mean_one * mean_other
    small, smaller = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    likeness = (2 * mean_one * mean_other + small) * (2 * covariance + smaller)
    likeness /= (mean_one**2 + mean_other**2 + small) * (variance_one + variance_other + smaller)
    return float(likeness.mean())


def luma(pixels: np.ndarray) -> np.ndarray:
    pixels = pixels.astype(np.float64)
    return pixels[..., :3] @ [0.299, 0.587, 0.114] if pixels.shape[-1] >= 3 else pixels[..., 0]


def blur(plane: np.ndarray) -> np.ndarray:
    offsets = np.arange(-5, 6)
    weights = np.exp(-(offsets**2) / (2 * 1.5**2))
    weights /= weights.sum()
    for axis in (0, 1):
        parts = np.lib.stride_tricks.sliding_window_view(plane, len(weights), axis=axis)
        plane = parts @ weights
    return plane
