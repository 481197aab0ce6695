"""Pictures for a world: each has one color, which no other has, and bytes of its own."""
import functools
import hashlib
import struct
import zlib

from pictures import SIGNATURE, chunk, chunks, commented_jpeg, converted, png, with_gain_map

# The endings of good pictures.
ENDINGS = (".png", ".png", ".png", ".gif", ".tif", ".jpg")
# A JPEG is not exactly of its color.
TOLERANCE = 4


def color(number):
    """The color of a source: those of two sources differ by 16 in at least one of their numbers."""
    place = number * 1999 % 3375
    return tuple(8 + 16 * (place // 15**k % 15) for k in range(3))


def number_of(pixel):
    """The source that has this color, or nothing close to it."""
    steps = [round((value - 8) / 16) for value in pixel[:3]]
    if any(not 0 <= step < 15 for step in steps) or any(abs(8 + 16 * step - value) > TOLERANCE for step, value in zip(steps, pixel)):
        return None
    place = steps[0] + 15 * steps[1] + 225 * steps[2]
    return place * pow(1999, -1, 3375) % 3375


def sha(data):
    return hashlib.sha256(data).hexdigest()


def picture(number, ending=".png", comment=b"", padding=0):
    """A small picture. The padding is in a chunk that decoders pass over."""
    words = b"%d %s" % (number, comment)
    if ending == ".gif":
        return gif(color(number), words)
    if ending == ".tif":
        return tiff(color(number), words)
    if ending == ".jpg":
        photo = commented_jpeg(converted(png(color(number)), ".jpg[Q=95]"), words)
        # Every other one is a phone's: with a gain map for HDR.
        return with_gain_map(photo) if number % 2 else photo
    data = png(color(number), comment=words)
    return data[:-12] + chunk(b"juNk", b"\x55" * padding) + data[-12:] if padding else data


def heavy(number, comment=b"", width=5200, height=5200):
    """A PNG with many pixels and few bytes: it takes about as long to render as a photo. All pixels are the first color of its palette."""
    header = struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)
    text = chunk(b"tEXt", b"Comment\0%d %s" % (number, comment))
    palette = chunk(b"PLTE", bytes(color(number)) + b"\0\0\0")
    return SIGNATURE + chunk(b"IHDR", header) + palette + text + chunk(b"IDAT", rows_of_zeros(width, height)) + chunk(b"IEND", b"")


@functools.lru_cache
def rows_of_zeros(width, height):
    return zlib.compress(bytes((1 + (width + 7) // 8) * height), 9)


def gif(pixel, comment, width=40, height=30):
    """A GIF of one color, its codes as long as they begin."""
    bits, length = [], 3
    for place in range(width * height):
        if place % 2 == 0:
            # The table never grows, so the codes stay short.
            bits.append(4)
        bits.append(0)
    bits.append(5)
    number = sum(code << length * place for place, code in enumerate(bits))
    data = number.to_bytes((length * len(bits) + 7) // 8, "little")
    blocks = b"".join(bytes([len(part)]) + part for part in (data[place:place + 255] for place in range(0, len(data), 255)))
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81, 0, 0) + bytes(pixel) + bytes(9)
            + b"\x21\xfe" + bytes([len(comment)]) + comment + b"\0"
            + b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\2" + blocks + b"\0" + b"\x3b")


def tiff(pixel, comment, width=40, height=30):
    """An uncompressed TIFF of one color."""
    pixels = bytes(pixel) * width * height
    text = comment.ljust((len(comment) + 8) // 4 * 4 - 1) + b"\0"
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, None), (259, 3, 1, 1), (262, 3, 1, 2), (270, 2, len(text), None),
               (273, 4, 1, None), (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, len(pixels))]
    end = 8 + 2 + 12 * len(entries) + 4
    places = {258: end, 270: end + 8, 273: end + 8 + len(text)}
    table = b"".join(struct.pack("<HHII", tag, kind, count, places.get(tag, value)) for tag, kind, count, value in entries)
    return struct.pack("<2sHIH", b"II", 42, 8, len(entries)) + table + bytes(4) + struct.pack("<4H", 8, 8, 8, 0) + text + pixels


# Reading renditions

def pixels(data):
    """Width, and the pixels of each row, of a PNG of 8 bits that is whole to its last byte; raises ValueError if it is not."""
    found = list(chunks(data))
    if not found or found[0][0] != b"IHDR":
        raise ValueError("no header")
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", found[0][1])
    if interlaced or depth > 8:
        raise ValueError("a PNG that nobody asked for")
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    step, length = max(1, channels * depth // 8), (width * channels * depth + 7) // 8
    try:
        raw = zlib.decompress(b"".join(body for name, body in found if name == b"IDAT"))
    except zlib.error as error:
        raise ValueError(str(error))
    if len(raw) != height * (1 + length):
        raise ValueError("has %d bytes of pixels" % len(raw))
    rows, above = [], bytes(length)
    for start in range(0, len(raw), 1 + length):
        above = unfiltered(raw[start], raw[start + 1:start + 1 + length], above, step)
        rows.append(above)
    palette = dict(found).get(b"PLTE", b"")
    return width, [[seen(row, place, kind, depth, channels, palette) for place in range(width)] for row in rows]


def seen(row, place, kind, depth, channels, palette):
    if depth < 8:
        value = row[place * depth // 8] >> (8 - depth - place * depth % 8) & (1 << depth) - 1
    else:
        value = row[place * channels]
    if kind == 3:
        return tuple(palette[3 * value:3 * value + 3])
    if kind in (0, 4):
        return (value * 255 // ((1 << depth) - 1),) * 3
    return tuple(row[place * channels:place * channels + 3])


def unfiltered(method, row, above, step):
    out = bytearray(row)
    for place in range(len(out)):
        left = out[place - step] if place >= step else 0
        corner = above[place - step] if place >= step else 0
        if method == 1:
            out[place] = out[place] + left & 255
        elif method == 2:
            out[place] = out[place] + above[place] & 255
        elif method == 3:
            out[place] = out[place] + (left + above[place]) // 2 & 255
        elif method == 4:
            distances = [abs(above[place] - corner), abs(left - corner), abs(left + above[place] - 2 * corner)]
            out[place] = out[place] + (left, above[place], corner)[distances.index(min(distances))] & 255
        elif method:
            raise ValueError("the filter %d" % method)
    return bytes(out)


def shown(data, parts=1):
    """The sources that a rendition shows, from left to right: one for each part. None for a part of no source's color."""
    width, rows = pixels(data)
    if parts == 1:
        found = {number_of(pixel) for row in rows for pixel in set(row)}
        if len(found) != 1:
            raise ValueError("shows %d colors" % len(found))
        return tuple(found)
    places = [int((part + 0.5) * width / parts) for part in range(parts)]
    found = {tuple(number_of(row[place]) for place in places) for row in rows}
    if len(found) != 1:
        raise ValueError("its rows differ")
    return found.pop()
