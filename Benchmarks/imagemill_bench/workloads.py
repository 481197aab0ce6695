"""All workloads. One entry says everything about one: sources, pipeline, contenders, targets."""

from imagemill_bench.contenders import imagemill, jpeg_codec, mogrify, pillow, pyvips, vipsthumbnail, vipsthumbnail_alone
from imagemill_bench.model import BEST_PEER, Again, Contender, Growth, Sources, Target, Workload


def one_rendition(size: str, save: str) -> str:
    return f'renditions:\n  fit:\n    stages:\n      - resize: {{ size: "{size}" }}\n    save: {{ {save} }}\n'


def icons(name: str, kind: str, what: str, tolerance: float = 0.5) -> Workload:
    """So many small pictures that the work around each counts most."""
    return Workload(
        name=f"W3-{name}",
        title=f"{what} of 128×128 to 64×64, PNG",
        sources=Sources(kind, count=5000, quick=200, distinct=100),
        pipeline=one_rendition("64x64", "format: png, compression: 6"),
        outputs=(".png",),
        contenders=(imagemill(), pillow(64, ".png"), vipsthumbnail(("64x64", "%s.png[compression=6]"))),
        targets=(
            Target("pictures/s", "Pillow", at_least=2.0),
            Target("pictures/s", "vipsthumbnail", at_least=4.0),
        ),
        tolerance=tolerance,
    )


def web_format(
    name: str, suffix: str, save: str, peer_options: str, targets: tuple[Target, ...], pyvips_options: str = ""
) -> Workload:
    """Photos in one format of web pages, with the same settings of the encoder for all."""
    return Workload(
        name=f"W5-{name}",
        title=f"photos of 6 megapixels to fit 1024×1024, {save}",
        sources=Sources("photo", count=12, quick=2),
        pipeline=one_rendition("1024x1024>", save),
        outputs=(suffix,),
        contenders=(
            imagemill(),
            vipsthumbnail(("1024x1024", f"%s{suffix}[{peer_options},strip]")),
            pyvips("pyvips_thumbnail.py", "--size", "1024x1024", "--save", f"{suffix}[{peer_options},keep=none{pyvips_options}]"),
        ),
        targets=targets,
    )


def animation(name: str, suffix: str, save: str, peer_options: str, at_least: float) -> Workload:
    """Animations at half their size, with the same settings of the encoder for all."""
    return Workload(
        name=f"W7-{name}",
        title=f"animations of 60 frames, 320×240 to 160×120, {save}",
        sources=Sources(name, count=8, quick=2, distinct=8),
        pipeline=one_rendition("160x120", save),
        outputs=(suffix,),
        contenders=(
            imagemill(),
            vipsthumbnail(("160x120", f"%s{suffix}[{peer_options}]"), load="[n=-1]"),
            pyvips("pyvips_thumbnail.py", "--size", "160x120", "--load", "[n=-1]", "--save", f"{suffix}[{peer_options}]"),
        ),
        targets=(Target("pictures/s", BEST_PEER, at_least=at_least),),
        # The dithering of palettes is noise that differs with every version of the encoder.
        tolerance=1.5,
    )


def photo_format(name: str, what: str, *others: Contender, targets: tuple[Target, ...]) -> Workload:
    """Photos in another format than the usual JPEG, to a JPEG."""
    return Workload(
        name=f"W9-{name}",
        title=f"{what} of 6 megapixels to fit 1024×1024, JPEG 75",
        sources=Sources(f"{name}-photo", count=20, quick=2),
        pipeline=one_rendition("1024x1024>", "format: jpeg, quality: 75"),
        contenders=(imagemill(), vipsthumbnail(("1024x1024", "%s.jpg[Q=75]")), *others),
        targets=targets,
    )


def screenshots(suffix: str, width: int, save: str, peer_options: str, *pillow_options: str, at_least: float) -> Workload:
    height = width * 9 // 16
    return Workload(
        name=f"W10-{suffix.removeprefix('.')}",
        title=f"screenshots of 3840×2160 to {width}×{height}, {save}",
        sources=Sources("screenshot", count=24, quick=2, distinct=4),
        pipeline=one_rendition(f"{width}x{height}", save),
        outputs=(suffix,),
        contenders=(
            imagemill(),
            vipsthumbnail((f"{width}x{height}", f"%s{suffix}[{peer_options}]")),
            pyvips("pyvips_thumbnail.py", "--size", f"{width}x{height}", "--save", f"{suffix}[{peer_options}]"),
            pillow(width, suffix, *pillow_options),
        ),
        targets=(Target("pictures/s", "vipsthumbnail", at_least=at_least),),
    )


AHEAD_OF_BEST_PEER = (Target("pictures/s", BEST_PEER, at_least=1.0),)
PYVIPS_TO_JPEG = pyvips("pyvips_thumbnail.py", "--size", "1024x1024", "--save", ".jpg[Q=75]")
PILLOW_TO_JPEG = pillow(1024, ".jpg", "--quality", "75")

CARD = {"background": [47, 111, 143], "badge": "{pictures}/badge/000.png", "width": 120, "offset": 24}

WORKLOADS = (
    Workload(
        name="W1",
        title="photos of 6 megapixels to fit 1024×1024, JPEG 75",
        sources=Sources("photo", count=60, quick=6),
        pipeline=one_rendition("1024x1024>", "format: jpeg, quality: 75"),
        contenders=(
            imagemill(),
            vipsthumbnail(("1024x1024", "%s.jpg[Q=75]")),
            PYVIPS_TO_JPEG,
            PILLOW_TO_JPEG,
            mogrify("1024x1024", 75),
            jpeg_codec("1/2", 1024),
        ),
        targets=(
            Target("pictures/s", "vipsthumbnail", at_least=2.3),
            Target("pictures/s", "pyvips", at_least=1.7),
            Target("pictures/s", "Pillow", at_least=1.6),
            Target("CPU", "djpeg 1/2 + cjpeg", at_most=1.25),
        ),
    ),
    Workload(
        name="W2",
        title="photos of 6 megapixels to 2048, 1024, 512 and 256, JPEG 75",
        sources=Sources("photo", count=60, quick=4),
        pipeline="renditions:\n"
        + "".join(
            f'  "{side}":\n    stages:\n      - resize: {{ size: "{side}x{side}>" }}\n'
            "    save: { format: jpeg, quality: 75 }\n"
            for side in (2048, 1024, 512, 256)
        ),
        outputs=("-2048.jpg", "-1024.jpg", "-512.jpg", "-256.jpg"),
        contenders=(
            imagemill(),
            pyvips("pyvips_sizes.py", "--sizes", "2048", "1024", "512", "256", "--save", ".jpg[Q=75]"),
            vipsthumbnail(
                *((f"{side}x{side}", f"%s-{side}.jpg[Q=75]") for side in (2048, 1024, 512, 256)),
                name="vipsthumbnail, a call for each size",
            ),
            jpeg_codec("1/1", 2048, 1024, 512, 256),
        ),
        targets=(
            Target("pictures/s", "pyvips", at_least=1.7),
            Target("pictures/s", "vipsthumbnail, a call for each size", at_least=4.0),
            Target("CPU", "djpeg 1/1 + 4 × cjpeg", at_most=1.5),
        ),
    ),
    # Pixels near the invisible end of an edge are all rounding.
    icons("transparent", "icon", "icons with transparency", tolerance=1.0),
    icons("photo", "photo-icon", "photos without transparency"),
    icons("flat", "flat-icon", "icons in plain colors without transparency"),
    Workload(
        name="W4",
        title="JPEG of 280 megapixels to fit 1024×1024, JPEG 75",
        sources=Sources("giant", count=1, quick=1),
        pipeline=one_rendition("1024x1024>", "format: jpeg, quality: 75"),
        contenders=(
            imagemill("--max-pixels", "300M"),
            vipsthumbnail_alone("1024x1024", "%s.jpg[Q=75]"),
            jpeg_codec("1/8"),
        ),
        targets=(
            Target("wall", "vipsthumbnail", at_most=0.95),
            Target("memory", "vipsthumbnail", at_most=1.3),
        ),
    ),
    web_format("webp", ".webp", "format: webp, quality: 80", "Q=80,effort=4", AHEAD_OF_BEST_PEER),
    web_format(
        *("avif", ".avif", "format: avif, quality: 50", "Q=50,effort=4,bitdepth=8", AHEAD_OF_BEST_PEER),
        # What its libvips does by default makes files of another size; this is what the older one does.
        pyvips_options=",tune=ssim",
    ),
    web_format(
        *("png", ".png", "format: png", "compression=6"),
        targets=(
            Target("pictures/s", "pyvips", at_least=1.5),
            Target("file size", "pyvips", at_most=1.0),
            Target("file size", "vipsthumbnail", at_most=1.0),
        ),
    ),
    Workload(
        name="W6",
        title="cut-out PNG of 2000×2000 on a card of 800×800 with a badge, JPEG 82",
        sources=Sources("cutout", count=200, quick=6, distinct=20),
        pipeline="""\
renditions:
  card:
    stages:
      - frame: { width: 800, height: 800, mode: aspect-fit, background: "#2f6f8f", opaque: true }
      - overlay:
          image: ../pictures/badge/000.png
          anchor: bottom-trailing
          offset: { x: 24, y: 24 }
          width: 120
    save: { format: jpeg, quality: 82 }
""",
        assets=("badge",),
        card=CARD,
        contenders=(
            imagemill(),
            pyvips(
                *("pyvips_card.py", "--side", "800", "--background", *map(str, CARD["background"]), "--badge", CARD["badge"]),
                *("--badge-width", str(CARD["width"]), "--offset", str(CARD["offset"]), "--save", ".jpg[Q=82]"),
            ),
        ),
        targets=(Target("pictures/s", "pyvips", at_least=1.5),),
    ),
    animation("gif", ".gif", "format: gif", "effort=7,bitdepth=8,dither=1", at_least=1.0),
    animation("webp", ".webp", "format: webp", "Q=78,effort=4,alpha_q=100", at_least=1.1),
    Workload(
        name="W8",
        title="photos of 24 megapixels to fit 256×256, JPEG 75",
        sources=Sources("large-photo", count=20, quick=4),
        pipeline=one_rendition("256x256>", "format: jpeg, quality: 75"),
        # A decode at 1/8 leaves a factor of 2.7 for the resizer: as much as it needs to hide how coarsely decoders shrink.
        contenders=(imagemill(), vipsthumbnail(("256x256", "%s.jpg[Q=75]")), jpeg_codec("1/8")),
        targets=(
            Target("pictures/s", "vipsthumbnail", at_least=1.0),
            Target("CPU", "djpeg 1/8", at_most=1.25),
        ),
    ),
    photo_format(
        *("webp", "WebP photos", PYVIPS_TO_JPEG, PILLOW_TO_JPEG),
        targets=(Target("pictures/s", "vipsthumbnail", at_least=1.2),),
    ),
    photo_format("tiff", "TIFF photos of 16 bits", PYVIPS_TO_JPEG, PILLOW_TO_JPEG, targets=AHEAD_OF_BEST_PEER),
    # The libvips of pyvips-binary does not decode HEIC.
    photo_format("heic", "HEIC photos", pillow(1024, ".jpg", "--quality", "75", "--heif"), targets=AHEAD_OF_BEST_PEER),
    photo_format(
        *("progressive", "progressive JPEG photos", PYVIPS_TO_JPEG, PILLOW_TO_JPEG, jpeg_codec("1/2", 1024)),
        targets=AHEAD_OF_BEST_PEER,
    ),
    screenshots(".webp", 1280, "format: webp, quality: 80", "Q=80,effort=4", "--quality", "80", at_least=1.5),
    screenshots(".png", 1920, "format: png", "compression=6", at_least=2.5),
    Workload(
        name="one-photo",
        title="photo of 6 megapixels to fit 1024×1024, JPEG 75: the whole command for a single picture",
        sources=Sources("photo", count=1, quick=1),
        pipeline=one_rendition("1024x1024>", "format: jpeg, quality: 75"),
        contenders=(imagemill(), vipsthumbnail_alone("1024x1024", "%s.jpg[Q=75]")),
        targets=(Target("wall", "vipsthumbnail", at_most=0.8),),
        rounds=15,
    ),
)

GROWTH = Growth(
    title="PNG of 8×8 to 4×4, more and more of them",
    kind="tiny",
    # File systems limit how many names a file may have.
    distinct=16,
    pipeline=one_rendition("4x4", "format: png"),
    counts=(1_000, 10_000),
    quick_counts=(100, 400),
    full_count=100_000,
    most_growth=1.2,
    supervisor_mebibytes=200,
)

AGAIN = Again(
    title="PNG of 8×8 to 4×4, run a second time",
    kind="tiny",
    # A cache knows equal pictures, so most of them must differ.
    distinct=5_000,
    pipeline=one_rendition("4x4", "format: png"),
    count=10_000,
    quick_count=200,
    seconds=0.5,
    share_of_copying=0.05,
)
