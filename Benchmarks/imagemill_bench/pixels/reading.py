"""Fully decoded pixels of a file, as the comparison wants them: all frames, in sRGB, colours multiplied by alpha."""

import io

import numpy as np
import pillow_heif
import pyvips
from PIL import Image, ImageCms, ImageSequence

# The giant picture is meant to be read.
Image.MAX_IMAGE_PIXELS = None
pillow_heif.register_heif_opener()


def read(path: str) -> list[np.ndarray]:
    """One array of rows × columns × channels for each frame; 1, 3 or 4 channels."""
    if path.endswith(".tif"):
        # Pillow would drop half of each value's 16 bits.
        return [pyvips.Image.new_from_file(path).numpy().astype(np.float32) / 257]
    with Image.open(path) as picture:
        return [pixels(frame) for frame in ImageSequence.Iterator(picture)]


def pixels(frame: Image.Image) -> np.ndarray:
    if frame.mode == "L" and "icc_profile" not in frame.info:
        return np.asarray(frame)[..., np.newaxis]
    frame = in_srgb(frame)
    if not frame.has_transparency_data:
        return np.asarray(frame.convert("RGB"))
    straight = np.asarray(frame.convert("RGBA"))
    alpha = straight[..., 3:].astype(np.float32)
    return np.concatenate([straight[..., :3] * (alpha / 255), alpha], axis=2)


def in_srgb(frame: Image.Image) -> Image.Image:
    if not frame.info.get("icc_profile"):
        return frame
    profile = ImageCms.ImageCmsProfile(io.BytesIO(frame.info["icc_profile"]))
    relative = ImageCms.Intent.RELATIVE_COLORIMETRIC
    return ImageCms.profileToProfile(frame, profile, ImageCms.createProfile("sRGB"), relative, outputMode="RGB")
