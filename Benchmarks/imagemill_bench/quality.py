"""How near the renditions of photos are to exact arithmetic, beside those of vipsthumbnail; encoded, and before that."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from imagemill_bench import measure, sources
from imagemill_bench.environment import Environment

WIDTHS = (1024, 512, 256, 100)
# Painted, where there is no corpus.
PAINTED = 2


@dataclass(frozen=True)
class Form:
    """A way to store the result."""

    name: str
    suffix: str
    save: str
    peer_options: str


# PNG keeps the pixels that an encoder would be given. Imagemill's own plan differs with the format: it decodes more
# pixels where no encoder hides the difference.
FORMS = (Form("JPEG 75", ".jpg", "format: jpeg, quality: 75", "[Q=75]"), Form("pixels", ".png", "format: png", ""))

LOWEST_PSNR_DIFFERENCE = -0.1
LOWEST_SSIM_DIFFERENCE = -0.0005
GOOD_PSNR_OF_PIXELS = 50

RULES = [
    f"As JPEG 75: no more than {-LOWEST_PSNR_DIFFERENCE} dB and {-LOWEST_SSIM_DIFFERENCE} SSIM below vipsthumbnail.",
    f"As pixels: {GOOD_PSNR_OF_PIXELS} dB or more, or no more than {-LOWEST_PSNR_DIFFERENCE} dB below vipsthumbnail.",
]


def result(environment: Environment, quick: bool) -> dict:
    photos, remarks = readable(find_photos(environment))
    rows = []
    for width in WIDTHS[-2:] if quick else WIDTHS:
        larger = [path for path, photo_width in photos.items() if photo_width > width]
        for form in FORMS if larger else ():
            print(f"  {len(larger)} photos at {width}, {form.name}", file=sys.stderr)
            rows += compared(larger, width, form, environment)
    rows.sort(key=lambda row: (row["as"], row["photo"], -row["width"]))
    return {"rules": RULES, "remarks": remarks, "rows": rows}


def find_photos(environment: Environment) -> list[Path]:
    corpus = environment.corpus
    if not corpus:
        return sources.distinct(environment, "photo", PAINTED)
    return sorted((corpus / "photos").iterdir()) + [corpus / f"orientation/{name}_1.jpg" for name in ("Landscape", "Portrait")]


def readable(photos: list[Path]) -> tuple[dict[Path, int], list[str]]:
    """The photos with their widths, and a sentence about each that vipsthumbnail cannot read."""
    widths, remarks = {}, []
    for photo in photos:
        header = subprocess.run(["vipsheader", "-f", "width", photo], capture_output=True, text=True)
        if header.returncode == 0:
            widths[photo] = int(header.stdout)
        else:
            remarks.append(f"{photo.name} is left out: libvips of vipsthumbnail does not read it.")
    return widths, remarks


def compared(photos: list[Path], width: int, form: Form, environment: Environment) -> list[dict]:
    """One row for each photo. Each width is a run of its own, so that Imagemill may decode as few pixels as it dares."""
    folder = environment.place / "runs" / "quality"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("sources", "ours", "theirs"):
        (folder / name).mkdir(parents=True)
    for photo in photos:
        shutil.copyfile(photo, folder / "sources" / photo.name)
    render(width, form, folder, environment)
    pairs = [
        {"source": str(photo), "output": str(folder / side / (photo.stem + form.suffix))}
        for photo in photos
        for side in ("ours", "theirs")
    ]
    figures = json.loads(environment.pixels("compare", task={"pairs": pairs, "card": None, "ssim": True}))
    shutil.rmtree(folder)
    return [row(photo, width, form, *figures[2 * index : 2 * index + 2]) for index, photo in enumerate(photos)]


def render(width: int, form: Form, folder: Path, environment: Environment) -> None:
    pipeline = folder / "pipeline.yaml"
    pipeline.write_text(
        f'renditions:\n  fit:\n    stages:\n      - resize: {{ size: "{width}x" }}\n    save: {{ {form.save} }}\n'
    )
    ours = [environment.imagemill, "run", pipeline, folder / "sources", "-o", folder / "ours", "--quiet"]
    measure.run([str(word) for word in ours], {}, folder / "log.txt")
    for photo in sorted((folder / "sources").iterdir()):
        # To sRGB, as Imagemill does it, so that both encoders are given the same numbers. A photo without a profile is in
        # sRGB already, and must not be converted: vipsthumbnail would change its colours.
        export = ["--export-profile", "srgb"] if has_profile(photo) else []
        output = folder / "theirs" / f"%s{form.suffix}{form.peer_options}"
        theirs = ["vipsthumbnail", *export, "--size", f"{width}x", "--output", output, photo]
        measure.run([str(word) for word in theirs], {}, folder / "log.txt")


def has_profile(photo: Path) -> bool:
    return subprocess.run(["vipsheader", "-f", "icc-profile-data", photo], capture_output=True).returncode == 0


def row(photo: Path, width: int, form: Form, ours: dict, theirs: dict) -> dict:
    psnr = ours["psnr"] - theirs["psnr"]
    ssim = ours["ssim"] - theirs["ssim"]
    if form.suffix == ".jpg":
        met = psnr >= LOWEST_PSNR_DIFFERENCE and ssim >= LOWEST_SSIM_DIFFERENCE
    else:
        met = ours["psnr"] >= GOOD_PSNR_OF_PIXELS or psnr >= LOWEST_PSNR_DIFFERENCE
    return {"photo": photo.name, "width": width, "as": form.name, "ours": ours, "theirs": theirs, "met": met}
