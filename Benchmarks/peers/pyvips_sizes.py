"""Each picture of a folder to several sizes, by pyvips: decoded once, and each size made of the one before."""

from pathlib import Path

import pyvips
from pyvips_common import arguments, for_each

parser = arguments()
parser.add_argument("--sizes", type=int, nargs="+", required=True, help="boxes, the largest first")
parser.add_argument("--save", required=True, help="such as .jpg[Q=75]")
options = parser.parse_args()


def sizes(source: Path) -> None:
    first, *others = options.sizes
    image = pyvips.Image.thumbnail(str(source), first, height=first).copy_memory()
    save(image, source, first)
    for size in others:
        image = image.thumbnail_image(size, height=size).copy_memory()
        save(image, source, size)


def save(image: pyvips.Image, source: Path, size: int) -> None:
    image.write_to_file(f"{options.output / source.stem}-{size}{options.save}")


for_each(options, sizes)
