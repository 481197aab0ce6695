"""What the pyvips peers share: a folder's pictures, on threads."""

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyvips


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--threads", type=int, required=True)
    return parser


def for_each(options: argparse.Namespace, work: Callable[[Path], None]) -> None:
    # No picture comes twice, so that remembering operations only costs memory.
    pyvips.cache_set_max(0)
    with ThreadPoolExecutor(options.threads) as pool:
        for _ in pool.map(work, sorted(options.sources.iterdir())):
            pass
