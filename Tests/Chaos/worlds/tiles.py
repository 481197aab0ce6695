"""Folders of tiles, as another program reads them."""
import os
import re

from worlds import sources

ENDING = ".tiles"
SIDE = 64


def is_within(path):
    """Whether a path is that of something in a folder of tiles."""
    return any(part.endswith(ENDING) for part in os.fsdecode(path).split(os.sep)[:-1])


def read(path):
    """What is in a folder, by paths from it; read through the folder itself, whatever becomes of its name.

    FileNotFoundError if it is not there, or not any more."""
    root = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        found = {}
        for folder, _, names, descriptor in os.fwalk(".", dir_fd=root):
            for name in names:
                with open(os.open(name, os.O_RDONLY, dir_fd=descriptor), "rb") as file:
                    found[os.path.normpath(os.path.join(folder, name))] = file.read()
        if not os.path.exists(path) or os.stat(path).st_ino != os.fstat(root).st_ino:
            # It is being removed, since another one has its name.
            raise FileNotFoundError(path)
        return found
    finally:
        os.close(root)


def levels(width, height):
    """The sizes of a pyramid, the picture itself last."""
    sizes = [(width, height)]
    while max(sizes[0]) > 1:
        sizes.insert(0, tuple((side + 1) // 2 for side in sizes[0]))
    return sizes


def whole(path):
    """The size of a picture and its tiles; ValueError if one is missing, too many, broken, or of another size."""
    found = read(path)
    description = found.pop("image.dzi", b"").decode()
    size = tuple(int(number) for number in re.findall(r'(?:Width|Height)="([0-9]+)"', description))
    if len(size) != 2:
        raise ValueError("its description is not whole: %r" % description)
    expected = {}
    for number, (width, height) in enumerate(levels(*size)):
        for column in range((width + SIDE - 1) // SIDE):
            for row in range((height + SIDE - 1) // SIDE):
                name = "image_files/%d/%d_%d.png" % (number, column, row)
                expected[name] = min(SIDE, width - column * SIDE), min(SIDE, height - row * SIDE)
    if set(found) != set(expected):
        raise ValueError("tiles are missing or too many: %s" % sorted(set(found) ^ set(expected))[:5])
    for name, (width, height) in expected.items():
        across, rows = sources.pixels(found[name])
        if (across, len(rows)) != (width, height):
            raise ValueError("the tile %s is %d×%d" % (name, across, len(rows)))
    return size, found


def shown(path, parts=1):
    """The sources that the tiles show; ValueError if they are not whole, or are of several pictures."""
    size, found = whole(path)
    number = max(number for number, sides in enumerate(levels(*size)) if max(sides) <= SIDE)
    numbers = sources.shown(found["image_files/%d/0_0.png" % number], parts)
    if parts == 1 and {sources.shown(data) for data in found.values()} != {numbers}:
        raise ValueError("its tiles are of different sources")
    return numbers
