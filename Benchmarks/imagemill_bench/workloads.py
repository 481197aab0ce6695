"""All workloads. One entry says everything about one: sources, pipeline, contenders, targets."""

from imagemill_bench.contenders import imagemill, jpeg_codec, mogrify, pillow, pyvips, vipsthumbnail, vipsthumbnail_alone
from imagemill_bench.model import BEST_PEER, Again, Growth, Sources, Target, Workload


def one_rendition(size: str, save: str) -> str:
    return f'renditions:\n  fit:\n    stages:\n      - resize: {{ size: "{size}" }}\n    save: {{ {save} }}\n'


def web_format(name: str, suffix: str, save: str, peer_options: str, pyvips_options: str = "") -> Workload:
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
        targets=(Target("pictures/s", BEST_PEER, at_least=1.0),),
    )


def animation(name: str, suffix: str, save: str, peer_options: str) -> Workload:
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
        targets=(Target("pictures/s", BEST_PEER, at_least=1.0),),
        # The dithering of palettes is noise that differs with every version of the encoder.
        tolerance=1.5,
    )


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
            pyvips("pyvips_thumbnail.py", "--size", "1024x1024", "--save", ".jpg[Q=75]"),
            pillow(1024, "--quality", "75"),
            mogrify("1024x1024", 75),
            jpeg_codec("1/2", 1024),
        ),
        targets=(
            Target("pictures/s", "vipsthumbnail", at_least=2.3),
            Target("pictures/s", "pyvips", at_least=1.5),
            Target("pictures/s", "Pillow", at_least=1.6),
            Target("CPU", "djpeg 1/2 + cjpeg", at_most=1.5),
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
            Target("pictures/s", BEST_PEER, at_least=2.5),
            Target("pictures/s", "vipsthumbnail, a call for each size", at_least=4.0),
            Target("CPU", "djpeg 1/1 + 4 × cjpeg", at_most=1.5),
        ),
    ),
    Workload(
        name="W3",
        title="icons of 128×128 with transparency to 64×64, PNG",
        sources=Sources("icon", count=5000, quick=200, distinct=100),
        pipeline=one_rendition("64x64", "format: png, compression: 6"),
        outputs=(".png",),
        contenders=(imagemill(), pillow(64), vipsthumbnail(("64x64", "%s.png[compression=6]"))),
        targets=(
            Target("pictures/s", "Pillow", at_least=1.2),
            Target("pictures/s", "vipsthumbnail", at_least=4.0),
        ),
        # Pixels near the invisible end of an edge are all rounding.
        tolerance=1.0,
    ),
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
            Target("wall", "vipsthumbnail", at_most=1.0),
            Target("memory", "vipsthumbnail", at_most=1.3),
        ),
    ),
    web_format("webp", ".webp", "format: webp, quality: 80", "Q=80,effort=4"),
    # What its libvips does by default makes files of another size; this is what the older one does.
    web_format("avif", ".avif", "format: avif, quality: 50", "Q=50,effort=4,bitdepth=8", pyvips_options=",tune=ssim"),
    web_format("png", ".png", "format: png", "compression=6"),
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
    animation("gif", ".gif", "format: gif", "effort=7,bitdepth=8,dither=1"),
    animation("webp", ".webp", "format: webp", "Q=78,effort=4,alpha_q=100"),
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
    Workload(
        name="one-photo",
        title="photo of 6 megapixels to fit 1024×1024, JPEG 75: the whole command for a single picture",
        sources=Sources("photo", count=1, quick=1),
        pipeline=one_rendition("1024x1024>", "format: jpeg, quality: 75"),
        contenders=(imagemill(), vipsthumbnail_alone("1024x1024", "%s.jpg[Q=75]")),
        targets=(Target("wall", "vipsthumbnail", at_most=1.2),),
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
