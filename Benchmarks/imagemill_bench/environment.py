"""What must be there before anything is timed: programs, the virtual environment, and their versions."""

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent

# Program to Debian package.
PROGRAMS = {
    "vipsthumbnail": "libvips-tools",
    "djpeg": "libjpeg-turbo-progs",
    "cjpeg": "libjpeg-turbo-progs",
    "mogrify": "imagemagick",
}

PEER_LIBVIPS = "8.18."

VERSIONS = """
import json, pyvips, PIL, pillow_heif, numpy
from PIL import features
libvips = ".".join(str(pyvips.version(part)) for part in range(3))
print(json.dumps({
    "libvips of pyvips": libvips, "pyvips": pyvips.__version__, "Pillow": PIL.__version__,
    "libjpeg-turbo of Pillow": features.version("libjpeg_turbo"), "pillow-heif": pillow_heif.__version__,
    "numpy": numpy.__version__,
}))
"""


@dataclass(frozen=True)
class Environment:
    imagemill: Path
    work: Path
    python: Path
    # Real pictures to start from; without them, pictures are painted.
    corpus: Path | None

    @property
    def place(self) -> Path:
        """Where all files of a run go. Painted pictures and those of the corpus never mix."""
        return self.work / ("with-corpus" if self.corpus else "painted")

    @property
    def cores(self) -> int:
        return len(os.sched_getaffinity(0))

    def pixels(self, module: str, *arguments: str, task: object = None) -> str:
        """Runs a module of `pixels` and returns what it printed."""
        command = [str(self.python), "-m", f"imagemill_bench.pixels.{module}", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        result = subprocess.run(command, env=environment, input=json.dumps(task), capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{result.stderr}")
        return result.stdout


def prepare(imagemill: Path, work: Path) -> Environment:
    if not os.access(imagemill, os.X_OK):
        sys.exit(f"{imagemill} is not there. Build it with: make build")
    missing = {package for program, package in PROGRAMS.items() if not shutil.which(program)}
    # Debian has it in a package of its own, and no virtual environment gets pip without it.
    if not importlib.util.find_spec("ensurepip"):
        missing.add("python3-venv")
    if missing:
        sys.exit(f"Missing packages. Install them with: sudo apt-get install {' '.join(sorted(missing))}")
    # Absolute, because vipsthumbnail takes a relative output as relative to each source.
    work = work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    return Environment(snapshot(imagemill, work), work, install_peers(work / "venv"), find_corpus(imagemill.absolute()))


def snapshot(imagemill: Path, work: Path) -> Path:
    """A copy, so that a build meanwhile neither breaks the run nor puts two programs into one table."""
    copy = work / "imagemill"
    # Removed first: a copy that still runs elsewhere cannot be written to, but its name can be taken.
    copy.unlink(missing_ok=True)
    return Path(shutil.copy2(imagemill, copy))


def find_corpus(imagemill: Path) -> Path | None:
    """It lies beside a repository, never in one."""
    candidates = (folder.parent / "shared/corpus" for folder in (HERE.parent, *imagemill.parents))
    return next((folder for folder in candidates if folder.is_dir()), None)


def install_peers(folder: Path) -> Path:
    python = folder / "bin/python"
    wanted = (HERE / "requirements.txt").read_text()
    installed = folder / "installed-requirements.txt"
    if not installed.exists() or installed.read_text() != wanted:
        print("Installing the peers that are libraries.", file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        nothing = folder / "no-packages"
        nothing.mkdir()
        # pyvips binds to the system's libvips where it finds one. Here it must find none, so that it uses the newer one of
        # pyvips-binary; and no wheel from an earlier build, which may be bound already.
        environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(nothing), "PKG_CONFIG_PATH": ""}
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-cache-dir"]
        if subprocess.run([*pip, "-r", HERE / "requirements.txt"], env=environment).returncode != 0:
            sys.exit("The peers cannot be installed; see above.")
        installed.write_text(wanted)
    libvips = peer_versions(python)["libvips of pyvips"]
    if not libvips.startswith(PEER_LIBVIPS):
        sys.exit(f"pyvips uses libvips {libvips} instead of {PEER_LIBVIPS}x from pyvips-binary. Remove {folder} and try again.")
    return python


def peer_versions(python: Path) -> dict[str, str]:
    return json.loads(subprocess.run([python, "-c", VERSIONS], check=True, capture_output=True, text=True).stdout)


def versions(environment: Environment) -> dict[str, str]:
    return {
        "imagemill": first_line([environment.imagemill, "--version"]),
        "libvips of vipsthumbnail": first_line(["vipsthumbnail", "--vips-version"]).removeprefix("libvips "),
        "libjpeg-turbo of djpeg and cjpeg": first_line(["djpeg", "-version"]).removeprefix("libjpeg-turbo version "),
        "mogrify": first_line(["mogrify", "-version"]).removeprefix("Version: ").split(" https:")[0],
        **peer_versions(environment.python),
        "Python": platform.python_version(),
    }


def first_line(command: list) -> str:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.stdout.strip().split("\n")[0]


def machine() -> dict[str, str]:
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    processor = next((value.strip() for key, value in facts.items() if key.strip() == "model name"), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": processor,
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory:.0f} GiB",
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "kernel": platform.release(),
    }
