"""What a benchmark is made of. Only data: who runs it, times it and judges it is elsewhere."""

from dataclasses import dataclass, field
from enum import Enum

BEST_PEER = "the best peer"


class Role(Enum):
    OURS = "ours"
    PEER = "peer"
    # The work that nobody can avoid: decoding and encoding alone.
    LIMIT = "limit"
    # For orientation only: timed once on a few of the pictures, and no target speaks of it.
    ASIDE = "aside"


@dataclass(frozen=True)
class Command:
    """Words and environment, with fields in braces that `Place` knows, such as {sources} and {output}."""

    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    # How it is used, where a contender can be used in several ways.
    label: str = ""


@dataclass(frozen=True)
class Contender:
    name: str
    role: Role
    # The ways to use it; a first pass finds the fastest.
    ways: tuple[Command, ...]
    # Boxes of the small pictures that an encoder alone is timed with.
    small_boxes: tuple[int, ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether its outputs must be as good as all others."""
        return self.role in (Role.OURS, Role.PEER)


@dataclass(frozen=True)
class Target:
    """What one figure of ours, divided by the same figure of another, has to be."""

    measure: str  # a key of targets.MEASURES
    against: str  # a contender's name, or BEST_PEER
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Sources:
    kind: str  # a key of pixels.make.KINDS
    count: int
    quick: int
    # Different pictures among them; the others are links to these.
    distinct: int = 1


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    sources: Sources
    pipeline: str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...]
    # What follows the source's stem in each output's name.
    outputs: tuple[str, ...] = (".jpg",)
    # Pictures that the pipeline or a peer refers to as {pictures}/KIND/000.png, from pipelines as ../pictures/KIND/000.png.
    assets: tuple[str, ...] = ()
    # The card that outputs are composited on, for the comparison.
    card: dict | None = None
    # How many dB two outputs may differ and still count as the same work.
    tolerance: float = 0.5
    # The least number of rounds, where single runs are too short to be trusted.
    rounds: int = 1


@dataclass(frozen=True)
class Growth:
    """The same small work over more and more files."""

    title: str
    kind: str
    distinct: int
    pipeline: str
    counts: tuple[int, ...]
    quick_counts: tuple[int, ...]
    # Only when everything is asked for.
    full_count: int
    # Time for a file with most files, divided by that with fewest.
    most_growth: float
    supervisor_mebibytes: int


@dataclass(frozen=True)
class Again:
    """The same work a second time, when there is nothing to do."""

    title: str
    kind: str
    distinct: int
    pipeline: str
    count: int
    quick_count: int
    # The second run takes no longer than this, or than a share of copying the sources twice, whichever is more.
    seconds: float
    share_of_copying: float
