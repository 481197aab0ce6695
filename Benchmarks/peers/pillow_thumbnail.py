"""Each picture of a folder to one size, by Pillow, in several processes."""

import argparse
from functools import partial
from multiprocessing import Pool
from pathlib import Path

from PIL import Image


def thumbnail(source: Path, options: argparse.Namespace) -> None:
    with Image.open(source) as picture:
        scale = min(options.side / picture.width, options.side / picture.height)
        size = (round(picture.width * scale), round(picture.height * scale))
        # A JPEG is decoded at the smallest size that is not below the result's.
        # An odd side at half its size ends with half a pixel: the box says how much of the decoded picture there is.
        _, box = picture.draft(None, size) or (None, None)
        save = {"quality": options.quality} if options.quality else {}
        target = options.output / f"{source.stem}{options.suffix}"
        picture.resize(size, Image.Resampling.LANCZOS, box=box).save(target, **save)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--side", type=int, required=True, help="of the square that the result fits")
    parser.add_argument("--suffix", required=True, help="of the outputs, such as .jpg")
    parser.add_argument("--quality", type=int)
    parser.add_argument("--heif", action="store_true", help="with the plugin that reads HEIC")
    options = parser.parse_args()
    if options.heif:
        # Only if it is needed: importing it takes time.
        import pillow_heif

        pillow_heif.register_heif_opener()
    with Pool(options.processes) as pool:
        for _ in pool.imap_unordered(partial(thumbnail, options=options), sorted(options.sources.iterdir()), chunksize=4):
            pass
