"""Malformed pictures: small sound ones in each format, cut, with changed bytes and lengths, glued together; and bombs. The same for each seed."""
import gzip
import os
import random
import struct
import subprocess
import zlib

FORMATS = {"jpg": "a.jpg[Q=70]", "progressive.jpg": "b.jpg[interlace]", "png": "a.png", "interlaced.png": "b.png[interlace]", "webp": "a.webp",
           "lossless.webp": "b.webp[lossless]", "gif": "a.gif", "tif": "a.tif", "tiled.tif": "b.tif[tile,compression=deflate]", "avif": "a.avif",
           "jxl": "a.jxl", "jp2": "a.jp2"}


def sound(folder):
    """Small pictures by their extension, as libvips' own program writes them."""
    noise, picture = os.path.join(folder, "noise.v"), os.path.join(folder, "picture.v")
    subprocess.run(["vips", "gaussnoise", noise, "40", "30", "--mean", "128", "--sigma", "60"], check=True)
    subprocess.run(["vips", "cast", noise, picture, "uchar"], check=True)
    made = {}
    for extension, target in FORMATS.items():
        path = os.path.join(folder, target)
        if subprocess.run(["vips", "copy", picture, path], stderr=subprocess.DEVNULL).returncode == 0:
            with open(path.split("[")[0], "rb") as file:
                made[extension] = file.read()
    return made | {"svg": SVG, "pdf": pdf()}


SVG = (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'><defs><linearGradient id='g'><stop offset='0' "
       b"stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient><filter id='f'><feGaussianBlur stdDeviation='2'/></filter></defs>"
       b"<rect width='40' height='30' fill='url(#g)'/><path d='M1 2C3 4 5 6 7 8Z' filter='url(#f)'/><text x='2' y='20'>a</text></svg>")


def pdf():
    """A page with a drawing, and the table of its objects."""
    drawing = b"1 0 0 rg 5 5 20 20 re f 0 0 1 RG 2 w 1 1 m 30 25 l S"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 40 30] /Contents 4 0 R >>",
               b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing)]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)


def cut(rng, data, _):
    return data[:rng.randrange(len(data))]


def flip(rng, data, _):
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def lying_length(rng, data, _):
    """Extreme values where a length may be: most of them are in the first bytes."""
    size = rng.choice([2, 4])
    at = rng.randrange(max(1, min(len(data) - size, rng.choice([64, 512, len(data)]))))
    value = rng.choice([b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), b"\0" * size, b"\x80" + b"\0" * (size - 1), b"\0" * (size - 1) + b"\x01"])
    return data[:at] + value + data[at + size:]


def moved(rng, data, _):
    """A piece somewhere else."""
    start, end = sorted(rng.randrange(len(data)) for _ in range(2))
    piece, rest = data[start:end], data[:start] + data[end:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + piece + rest[at:]


def polyglot(rng, data, others):
    other = rng.choice(others)
    return rng.choice([data + other, data[:rng.randrange(len(data))] + other, other[:32] + data])


def zipped(rng, data, _):
    packed = gzip.compress(data, mtime=0)
    return packed[:rng.randrange(1, len(packed) + 1)]


KINDS = [cut, flip, flip, lying_length, lying_length, moved, polyglot, zipped]


def malformed(folder, count, seed=1):
    """Names and contents."""
    rng = random.Random(seed)
    pictures = sound(folder)
    contents = list(pictures.values())
    for number in range(count):
        extension = rng.choice(list(pictures))
        kind = rng.choice(KINDS)
        yield f"{number:05}-{kind.__name__}.{extension}", kind(rng, pictures[extension], contents)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, extra=b"", data=b"\0" * 100):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def scans(width, height, count):
    """A progressive JPEG without content, drawn in many passes."""
    def table(kind, symbol):
        return b"\xff\xc4\0\x14" + bytes([kind, 1] + [0] * 15 + [symbol])

    def bits(text):
        text += "1" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")

    head = b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64 + b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\1\x11\0"
    blocks = ((width + 7) // 8) * ((height + 7) // 8)
    runs = blocks // 32767 + (blocks % 32767 > 0)
    first = b"\xff\xda\0\x08\1\1\0\0\0\0" + bits("0" * blocks)
    again = b"\xff\xda\0\x08\1\1\0\1\x3f\0" + bits(("0" + "1" * 14) * runs)
    return head + table(0, 0) + table(0x10, 0xE0) + first + again * count + b"\xff\xd9"


def gif(width, height, frames):
    frame = b"\x2c" + struct.pack("<HHHH", 0, 0, 1, 1) + b"\0\2\2\x4c\1\0"
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\0\0\0\0\0\xff\xff\xff" + frame * frames + b";"


def pages(count, loops):
    """A TIFF of many directories with a pixel each; the last leads back to the first if it loops."""
    size = 2 + 9 * 12 + 4
    out = b"II*\0" + struct.pack("<I", 16) + b"\x80" + b"\0" * 7
    for page in range(count):
        after = 16 + (page + 1) * size if page + 1 < count else 16 if loops else 0
        tags = [(256, 4, 1, 1), (257, 4, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 1),
                (279, 4, 1, 1)]
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", after)
    return out


def tagged(tag, kind, content):
    """A TIFF of one pixel that has `content` under a tag."""
    tags = [(256, 4, 1, 1), (257, 4, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 1),
            (279, 4, 1, 1), (tag, kind, len(content), 16 + 2 + 10 * 12 + 4)]
    directory = b"".join(struct.pack("<HHII", *each) for each in sorted(tags))
    return b"II*\0" + struct.pack("<I", 16) + b"\x80" + b"\0" * 7 + struct.pack("<H", len(tags)) + directory + bytes(4) + content


def box(kind, content, full=None):
    content = (b"" if full is None else bytes([full, 0, 0, 0])) + content
    return struct.pack(">I", len(content) + 8) + kind + content


def avif(width, height, coded):
    """An AVIF of one size by its boxes, and of `coded` squared by its codec's sequence header."""
    bits = "000" + "1" + "1" + "01000" + f"{15:04b}" * 2 + f"{coded - 1:016b}" * 2 + "0" * 20 + "1"
    bits += "0" * (-len(bits) % 8)
    sequence = int(bits, 2).to_bytes(len(bits) // 8, "big")
    sequence = b"\x0a" + bytes([len(sequence)]) + sequence
    data = b"\x12\0" + sequence + b"\x32\x10" + b"\x10" * 16
    properties = box(b"ispe", struct.pack(">II", width, height), 0) + box(b"pixi", b"\3\x08\x08\x08", 0) + box(b"av1C", b"\x81\x08\x0c\0" + sequence)

    def meta(offset):
        return box(b"meta", box(b"hdlr", b"\0\0\0\0pict" + bytes(13), 0) + box(b"pitm", b"\0\1", 0)
                   + box(b"iloc", b"\x44\0\0\1\0\1\0\0\0\1" + struct.pack(">II", offset, len(data)), 0)
                   + box(b"iinf", b"\0\1" + box(b"infe", b"\0\1\0\0av01\0", 2), 0)
                   + box(b"iprp", box(b"ipco", properties) + box(b"ipma", b"\0\0\0\1\0\1\3\x81\2\x83", 0)), 0)

    head = box(b"ftyp", b"avif\0\0\0\0avifmif1miaf")
    return head + meta(len(head) + len(meta(0)) + 8) + box(b"mdat", data)


def bombs():
    """Names, contents, and the codes that each may end with; None is a success, `passed over` no picture.

    libspng, by which libvips 8.15 to 8.17 read PNG, has a limit of its own for texts, and libtiff 4.7 for tags: they take what is over it for damage.
    """
    text = zlib.compress(b"A" * 49_000_000, 9)
    texts = b"".join(chunk(b"zTXt", b"C%d\0\0" % number + text) for number in range(20))
    profile = b"".join(b"\xff\xe2" + struct.pack(">H", 65_533) + b"ICC_PROFILE\0" + bytes([part, 255]) + bytes(65_517) for part in range(1, 256))
    small = scans(64, 64, 1)
    yield "65535.png", png(65_535, 65_535), {"too-many-pixels"}
    yield "texts.png", png(100, 100, texts, b"\0" * 30_100), {"too-much-memory", "corrupt"}
    yield "one-text.png", png(100, 100, chunk(b"zTXt", b"C\0\0" + text), b"\0" * 30_100), {"too-much-metadata", "too-much-memory", "corrupt"}
    yield "16448.gif", gif(16_448, 16_448, 1), {None, "too-many-pixels"}
    yield "5000-frames.gif", gif(10, 10, 5_000), {None, "too-many-frames"}
    yield "5000-scans.jpg", scans(10_000, 10_000, 5_000), {"too-many-scans"}
    yield "profile.jpg", small[:2] + profile + small[2:], {"too-much-metadata"}
    yield "profile.tif", tagged(34675, 7, struct.pack(">I", 40 << 20) + bytes((40 << 20) - 4)), {"too-much-metadata", "corrupt"}
    yield "16-says-65536.avif", avif(16, 16, 65_536), {"too-many-pixels"}
    yield "10000-pages.tif", pages(10_000, False), {None}
    yield "loop.tif", pages(10, True), {None, "corrupt"}
    entities = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};">' for n in range(1, 100))
    yield "entities.svg", f'<!DOCTYPE svg [<!ENTITY e0 "x">{entities}]><svg xmlns="http://www.w3.org/2000/svg"><text>&e99;</text></svg>'.encode(), {
        "passed over", "corrupt"}
    yield "wide.svg", b"<svg xmlns='http://www.w3.org/2000/svg' width='4000000' height='4000000'/>", {"passed over", "too-many-pixels", "too-long-side"}
    yield "wide.pdf", pdf().replace(b"[0 0 40 30]", b"[0 0 9000000 9000000]"), {"passed over", "too-many-pixels", "too-long-side", "corrupt"}
    yield "spins.gz", gzip.compress(b"<svg", mtime=0)[:18], {"passed over"}
