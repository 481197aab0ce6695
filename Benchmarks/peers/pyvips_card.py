"""Each picture of a folder on a square of one colour with a badge in the corner, by pyvips."""

from pathlib import Path

import pyvips
from pyvips_common import arguments, for_each

parser = arguments()
parser.add_argument("--side", type=int, required=True)
parser.add_argument("--background", type=int, nargs=3, required=True)
parser.add_argument("--badge", required=True)
parser.add_argument("--badge-width", type=int, required=True)
parser.add_argument("--offset", type=int, required=True)
parser.add_argument("--save", required=True, help="such as .jpg[Q=82]")
options = parser.parse_args()
badge = pyvips.Image.thumbnail(options.badge, options.badge_width).copy_memory()
left = options.side - options.offset - badge.width
top = options.side - options.offset - badge.height


def card(source: Path) -> None:
    side = options.side
    picture = pyvips.Image.thumbnail(str(source), side, height=side).flatten(background=options.background)
    picture = picture.gravity("centre", side, side, extend="background", background=options.background)
    # In memory, because the badge's corner is read a second time. Only this corner is composited: it is faster than all of it.
    picture = picture.copy_memory()
    corner = picture.crop(left, top, badge.width, badge.height).composite(badge, "over").flatten()
    picture.insert(corner, left, top).write_to_file(f"{options.output / source.stem}{options.save}")


for_each(options, card)
