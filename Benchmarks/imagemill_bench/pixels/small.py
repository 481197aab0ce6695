"""The small picture that an encoder alone is timed with: `python -m imagemill_bench.pixels.small SOURCE BOX TARGET.ppm`."""

import sys

from PIL import Image

if __name__ == "__main__":
    source, box, target = sys.argv[1:]
    with Image.open(source) as picture:
        picture.thumbnail((int(box), int(box)), Image.Resampling.LANCZOS, reducing_gap=None)
        picture.convert("RGB").save(target)
