"""Imagemill and its peers as commands. A peer gets every sensible setting of processes and threads, and the fastest counts."""

from imagemill_bench.model import Command, Contender, Role


def imagemill(*options: str) -> Contender:
    words = ("{imagemill}", "run", "{pipeline}", "{sources}", "-o", "{output}", "--quiet", *options)
    return Contender("imagemill", Role.OURS, (Command(words),))


def vipsthumbnail(*renditions: tuple[str, str], load: str = "", name: str = "vipsthumbnail") -> Contender:
    """Renditions are pairs of a size and a name, such as ("1024x1024", "%s.jpg[Q=75]")."""

    def way(threads: str) -> Command:
        # With one file per call it takes twice as long for photos and ten times for icons: starting it is much of its work.
        script = ("sh", "{peers}/vipsthumbnail.sh", "{sources}", "{output}", "{cores}", "{files-per-call}", load)
        label = f"processes {{cores}}, files per call {{files-per-call}}, threads {threads}"
        return Command((*script, *(word for pair in renditions for word in pair)), {"VIPS_CONCURRENCY": threads}, label)

    return Contender(name, Role.PEER, (way("1"), way("{cores}")))


def vipsthumbnail_alone(size: str, name: str) -> Contender:
    """Without a script around it: for a single picture."""

    def way(threads: str) -> Command:
        words = ("vipsthumbnail", "--size", size, "--output", "{output}/" + name, "{first-source}")
        return Command(words, {"VIPS_CONCURRENCY": threads}, f"threads {threads}")

    return Contender("vipsthumbnail", Role.PEER, (way("1"), way("{cores}")))


def pyvips(script: str, *options: str) -> Contender:
    def way(threads: str, inner: str) -> Command:
        words = ("{python}", "{peers}/" + script, "{sources}", "{output}", "--threads", threads, *options)
        return Command(words, {"VIPS_CONCURRENCY": inner}, f"pictures at once {threads}, threads for each {inner}")

    return Contender("pyvips", Role.PEER, (way("{cores}", "1"), way("{cores}", "{cores}"), way("1", "{cores}")))


def pillow(side: int, suffix: str, *options: str) -> Contender:
    script = ("{python}", "{peers}/pillow_thumbnail.py", "{sources}", "{output}", "--processes", "{cores}")
    words = (*script, "--side", str(side), "--suffix", suffix, *options)
    return Contender("Pillow", Role.PEER, (Command(words, label="processes {cores}"),))


def mogrify(size: str, quality: int) -> Contender:
    words = ("sh", "{peers}/mogrify.sh", "{sources}", "{output}", size, str(quality))
    return Contender("mogrify", Role.ASIDE, (Command(words),))


def jpeg_codec(scale: str, *small_boxes: int) -> Contender:
    """Decoding at a scale, and encoding at the sizes of the boxes."""
    small = tuple(f"{{small}}/{box}.ppm" for box in small_boxes)
    encoders = {0: "", 1: " + cjpeg"}.get(len(small), f" + {len(small)} × cjpeg")
    command = Command(("sh", "{peers}/jpeg_codec.sh", "{sources}", scale, *small))
    return Contender(f"djpeg {scale}{encoders}", Role.LIMIT, (command,), small_boxes)
