"""Screenshots of 3840 × 2160: windows with text, with flat areas and with a photo, on a plain desktop."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from imagemill_bench.pixels.photos import piece_of

SIZE = (3840, 2160)
BAR = 64
TITLE = 56

LETTERS = list("abcdefghijklmnopqrstuvwxyz")
# How often English uses each letter, in per cent.
FREQUENCY = np.array(
    [8.2, 1.5, 2.8, 4.3, 12.7, 2.2, 2.0, 6.1, 7.0, 0.2, 0.8, 4.0, 2.4, 6.7, 7.5, 1.9, 0.1, 6.0, 6.3, 9.1, 2.8, 1.0, 2.4, 0.2, 2.0, 0.1]
)

DESKTOPS = ("#2d4a63", "#3b5249", "#5b4a63", "#40474f")
DARK = {"page": "#1e1f22", "side": "#2b2d30", "title": "#3c3f41", "text": ("#bcbec4", "#cf8e6d", "#6aab73", "#56a8f5")}
LIGHT = {"page": "#ffffff", "side": "#f0f1f3", "title": "#dfe1e5", "text": ("#202124", "#202124", "#202124", "#1a5fb4")}

Box = tuple[int, int, int, int]


def screenshot(index: int, target: Path, corpus: Path | None) -> None:
    random = np.random.default_rng(index)
    screen = Image.new("RGB", SIZE, DESKTOPS[index % len(DESKTOPS)])
    draw = ImageDraw.Draw(screen)
    draw_bar(draw, random)
    draw_editor(draw, random, (60, 140, 2360, 2080))
    draw_page(draw, random, (1500, 240, 3560, 1500))
    draw_photo(screen, index, corpus, (2300, 1000, 3760, 2040))
    screen.save(target)


def draw_bar(draw: ImageDraw.ImageDraw, random: np.random.Generator) -> None:
    """The desktop's bar at the top: names of menus, symbols, a clock."""
    draw.rectangle((0, 0, SIZE[0], BAR), fill="#1b1d21")
    draw.text((40, 14), "     ".join(words(random, 6)), fill="#e8e8e8", font=ImageFont.load_default(30))
    for number in range(6):
        left = SIZE[0] - 560 + 56 * number
        draw.ellipse((left, 18, left + 28, 46), outline="#e8e8e8", width=4)
    draw.text((SIZE[0] - 190, 14), "Tue 09:41", fill="#e8e8e8", font=ImageFont.load_default(30))


def draw_editor(draw: ImageDraw.ImageDraw, random: np.random.Generator, box: Box) -> None:
    """A dark window: a list at the side, and lines of code that are indented and have several colours."""
    left, top, right, bottom = draw_window(draw, random, box, DARK)
    side = left + 420
    draw.rectangle((left, top, side, bottom), fill=DARK["side"])
    small, font = ImageFont.load_default(26), ImageFont.load_default(30)
    for y in range(top + 24, bottom - 40, 44):
        draw.text((left + 40 + 30 * int(random.integers(0, 3)), y), words(random, 1)[0], fill=DARK["text"][0], font=small)
    for number, y in enumerate(range(top + 24, bottom - 44, 46)):
        draw.text((side + 24, y), str(number + 1), fill="#6f737a", font=font)
        x = side + 120 + 60 * int(random.integers(0, 5))
        for word in words(random, int(random.integers(0, 10))):
            draw.text((x, y), word, fill=DARK["text"][int(random.integers(0, 4))], font=font)
            x += draw.textlength(word + " ", font=font)


def draw_page(draw: ImageDraw.ImageDraw, random: np.random.Generator, box: Box) -> None:
    """A light window: a heading, paragraphs, and a chart of plain bars."""
    left, top, right, bottom = draw_window(draw, random, box, LIGHT)
    draw.text((left + 80, top + 60), " ".join(words(random, 4)).capitalize(), fill=LIGHT["text"][0], font=ImageFont.load_default(72))
    font = ImageFont.load_default(34)
    for y in range(top + 200, top + 740, 54):
        line = " ".join(words(random, 30))
        draw.text((left + 80, y), fitting(draw, line, right - left - 160, font), fill=LIGHT["text"][int(random.integers(0, 4))], font=font)
    for number, height in enumerate(random.integers(40, 340, 10).tolist()):
        x = left + 80 + 180 * number
        draw.rectangle((x, bottom - 60 - height, x + 120, bottom - 60), fill="#1a5fb4" if number % 3 else "#e5a50a")


def draw_photo(screen: Image.Image, index: int, corpus: Path | None, box: Box) -> None:
    """A window with a photo and a border around it."""
    draw = ImageDraw.Draw(screen)
    left, top, right, bottom = draw_window(draw, np.random.default_rng(index), box, DARK)
    size = (right - left - 80, bottom - top - 80)
    photo = piece_of(index, max(size), corpus)
    screen.paste(photo.crop((0, 0, *size)), (left + 40, top + 40))


def draw_window(draw: ImageDraw.ImageDraw, random: np.random.Generator, box: Box, theme: dict) -> Box:
    """A frame and a title bar with three buttons. Returns the box of what is inside."""
    left, top, right, bottom = box
    draw.rounded_rectangle((left - 2, top - 2, right + 2, bottom + 2), radius=18, fill="#101114")
    draw.rounded_rectangle(box, radius=16, fill=theme["page"])
    draw.rounded_rectangle((left, top, right, top + TITLE + 16), radius=16, fill=theme["title"])
    draw.rectangle((left, top + TITLE, right, bottom - 16), fill=theme["page"])
    for number, colour in enumerate(("#e0443e", "#dea123", "#1aab29")):
        draw.ellipse((left + 24 + 40 * number, top + 16, left + 48 + 40 * number, top + 40), fill=colour)
    draw.text((left + 200, top + 12), " ".join(words(random, 3)), fill=theme["text"][0], font=ImageFont.load_default(28))
    return left, top + TITLE, right, bottom - 16


def words(random: np.random.Generator, count: int) -> list[str]:
    """Not words of any language, but letters as often as in English: text that is drawn is different everywhere."""
    chances = FREQUENCY / FREQUENCY.sum()
    return ["".join(random.choice(LETTERS, int(random.integers(2, 10)), p=chances)) for _ in range(count)]


def fitting(draw: ImageDraw.ImageDraw, line: str, width: int, font: ImageFont.FreeTypeFont) -> str:
    while draw.textlength(line, font=font) > width:
        line = line.rsplit(" ", 1)[0]
    return line
