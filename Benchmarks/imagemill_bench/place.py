"""Where one workload runs: its sources, its pipeline file, and what the fields in commands stand for."""

import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from imagemill_bench import sources
from imagemill_bench.environment import HERE, Environment
from imagemill_bench.model import Command, Contender, Role, Workload

# Of the pictures, for a contender that is there for orientation only.
ASIDE_SHARE = 0.1


@dataclass(frozen=True)
class Place:
    folder: Path
    # Pictures in the sources folder, and in that of contenders that are there for orientation only.
    count: int
    few: int
    fields: dict[str, str]

    @property
    def output(self) -> Path:
        return self.folder / "output"

    def kept(self, contender: Contender) -> Path:
        """Where the outputs that are compared stay."""
        return self.folder / "kept" / contender.name

    def aside(self) -> Path:
        """A new place for outputs that nobody compares."""
        folder = self.folder / "aside"
        folder.mkdir(exist_ok=True)
        return folder / str(len(os.listdir(folder)))

    def source_names(self) -> list[str]:
        return sorted(os.listdir(self.folder / "sources"))

    def pictures(self, role: Role) -> int:
        return self.few if role is Role.ASIDE else self.count

    def words(self, way: Command, role: Role) -> list[str]:
        folder = self.folder / ("few-sources" if role is Role.ASIDE else "sources")
        return [word.format_map({**self.fields, "sources": str(folder)}) for word in way.words]

    def variables(self, way: Command) -> dict[str, str]:
        return {name: value.format_map(self.fields) for name, value in way.environment.items()}

    def filled(self, text: str) -> str:
        return text.format_map(self.fields)


def prepare(workload: Workload, environment: Environment, quick: bool) -> Place:
    root, kind = environment.place, workload.sources.kind
    count = workload.sources.quick if quick else workload.sources.count
    pictures = sources.distinct(environment, kind, min(workload.sources.distinct, count))
    for asset in workload.assets:
        sources.distinct(environment, asset, 1)
    for box in {box for contender in workload.contenders for box in contender.small_boxes}:
        sources.small(environment, pictures[0], box, root / "small" / kind)
    folder = root / "runs" / workload.name
    shutil.rmtree(folder, ignore_errors=True)
    few = math.ceil(count * ASIDE_SHARE)
    sources.fill(folder / "sources", pictures, count)
    sources.fill(folder / "few-sources", pictures, few)
    (folder / "kept").mkdir()
    fields = {
        "imagemill": environment.imagemill,
        "python": environment.python,
        "peers": HERE / "peers",
        "pipeline": write_pipeline(workload, root),
        "pictures": root / "pictures",
        "small": root / "small" / kind,
        "output": folder / "output",
        "first-source": min((folder / "sources").iterdir()),
        "cores": environment.cores,
        # Few starts, so that they cost little, and yet enough calls to keep all cores busy to the end.
        "files-per-call": min(64, max(1, count // (2 * environment.cores))),
    }
    return Place(folder, count, few, {name: str(value) for name, value in fields.items()})


def write_pipeline(workload: Workload, root: Path) -> Path:
    pipeline = root / "pipelines" / f"{workload.name}.yaml"
    pipeline.parent.mkdir(exist_ok=True)
    pipeline.write_text(workload.pipeline)
    return pipeline
