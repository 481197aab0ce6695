"""Each picture of a folder to one size, by pyvips."""

from pathlib import Path

import pyvips
from pyvips_common import arguments, for_each

parser = arguments()
parser.add_argument("--size", required=True, help="such as 1024x1024")
parser.add_argument("--save", required=True, help="such as .jpg[Q=75]")
parser.add_argument("--load", default="", help="such as [n=-1]")
options = parser.parse_args()
width, height = map(int, options.size.split("x"))


def thumbnail(source: Path) -> None:
    image = pyvips.Image.thumbnail(f"{source}{options.load}", width, height=height)
    image.write_to_file(f"{options.output / source.stem}{options.save}")


for_each(options, thumbnail)
