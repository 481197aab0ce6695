"""Makes small pictures, and reads PNG files to their last byte, with nothing but Python: experiments make and read thousands of them."""
import functools
import os
import struct
import subprocess
import tempfile
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(colour, width=40, height=30, comment=b""):
    """A picture of one colour, three numbers from 0 to 255. A comment makes it differ from another of that colour."""
    rows = (b"\0" + bytes(colour) * width) * height
    text = chunk(b"tEXt", b"Comment\0" + comment) if comment else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + text + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def noise(width, height, seed=0):
    """A PNG of random numbers, which takes time to read and as many bytes as it has."""
    import random
    row = random.Random(seed).randbytes(3 * width)
    rows = b"".join(b"\0" + row[i % 997:] + row[:i % 997] for i in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def static(width, height, seed=0):
    """A PNG of random numbers that no row shares with another, so that no format makes it smaller without loss."""
    import random
    numbers = random.Random(seed)
    rows = b"".join(b"\0" + numbers.randbytes(3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def chunks(data):
    if data[:8] != SIGNATURE:
        raise ValueError("no PNG")
    place = 8
    while place < len(data):
        if place + 12 > len(data):
            raise ValueError("ends in a chunk's header")
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        body, sum = data[place + 8:place + 8 + size], data[place + 8 + size:place + 12 + size]
        if len(sum) < 4 or struct.unpack(">I", sum)[0] != zlib.crc32(kind + body):
            raise ValueError("the chunk %s is cut or wrong" % kind.decode("latin-1"))
        yield kind, body
        place += 12 + size
        if kind == b"IEND":
            break
    else:
        raise ValueError("has no end")
    if place != len(data):
        raise ValueError("goes on after its end")


def read_png(data):
    """Width, height and first pixel of a PNG that is not interlaced; raises ValueError where it is not whole."""
    found = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", dict(found)[b"IHDR"])
    if interlaced:
        raise ValueError("interlaced")
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    try:
        rows = zlib.decompress(b"".join(body for name, body in found if name == b"IDAT"))
    except zlib.error as error:
        raise ValueError(str(error))
    if len(rows) != height * (1 + (width * bits + 7) // 8):
        raise ValueError("has %d bytes of pixels" % len(rows))
    # Nothing is left of it or above it, so that every filter leaves it as it is.
    first = rows[1:1 + bits // 8]
    return width, height, tuple(dict(found)[b"PLTE"][3 * first[0]:3 * first[0] + 3] if kind == 3 and depth == 8 else first)


def converted(data, ending):
    """A PNG as another format, by libvips: `converted(data, ".jpg[Q=90]")`."""
    with tempfile.TemporaryDirectory(prefix="imagemill-picture-") as folder:
        source = os.path.join(folder, "a.png")
        with open(source, "wb") as file:
            file.write(data)
        target = os.path.join(folder, "b" + ending.split("[")[0])
        subprocess.run(["vips", "copy", source, os.path.join(folder, "b" + ending)], check=True)
        with open(target, "rb") as file:
            return file.read()


def commented(data, comment):
    """The same PNG with a comment, so that its bytes are its own."""
    return data[:33] + chunk(b"tEXt", b"Comment\0" + comment) + data[33:]


def commented_jpeg(data, comment):
    """The same picture with a comment, so that its bytes are its own."""
    return data[:2] + b"\xff\xfe" + struct.pack(">H", 2 + len(comment)) + comment + data[2:]


def with_gain_map(data):
    """A JPEG as phones write them: with a second, small one behind it that makes it HDR, and a segment that says where that is."""
    packet = (b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
              b'<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" hdrgm:GainMapMax="2"/></rdf:RDF></x:xmpmeta>')
    small = gain_map()
    second = small[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(packet)) + packet + small[2:]
    length = 4 + 82 + 4
    size = len(data) + length
    # The version, the number of pictures, and where each of them is, from the order of bytes on.
    fields = struct.pack(">HHI4sHHIIHHII", 0xB000, 7, 4, b"0100", 0xB001, 4, 1, 2, 0xB002, 7, 32, 50)
    entries = struct.pack(">IIIIIIII", 0x30000, size, 0, 0, 0, len(second), size - 10, 0)
    segment = b"MPF\0MM\0*" + struct.pack(">IH", 8, 3) + fields + bytes(4) + entries
    return data[:2] + b"\xff\xe2" + struct.pack(">H", 2 + len(segment)) + segment + data[2:] + second


@functools.lru_cache
def gain_map():
    return converted(png((90, 90, 90)), ".jpg[Q=90]")
