"""What was dropped into the inboxes of a world, and what is below its folders."""
import dataclasses
import os
import stat

from worlds import sources


@dataclasses.dataclass
class Sidecar:
    """A file with values for one picture: its digest, the height that it sets, and how it came."""
    digest: str
    tall: int
    habit: str
    # Whether its writer has taken it away again.
    removed: bool = False


@dataclasses.dataclass
class RawFile:
    """The raw file of a photo, which nobody renders if it has a JPEG: its path in the inbox, its digest, and how it came."""
    path: str
    digest: str
    habit: str
    # Its writer has found the disk full.
    removed: bool = False
    time: float = 0


@dataclasses.dataclass
class Source:
    """What was dropped: its path in the inbox, and the colors and digests that it may have; a set has a list of members."""
    who: str
    path: str
    kind: str
    habit: str
    # Of each member, or of the one picture: its name below the path, its digests and its numbers.
    members: list
    is_set: bool
    time: float = 0
    # The originals that its inbox may apply to it.
    policies: set = dataclasses.field(default_factory=set)
    # The paths that it may have besides, if its folder was moved.
    other_paths: tuple = ()
    # Those of the colors, from the first to the last.
    numbers: tuple = ()
    # Its sidecar, if that was written.
    sidecar: object = None
    # Whether its writer has replaced it in the inbox, which keeps its originals.
    replaced: bool = False

    @property
    def is_good(self):
        return self.kind in ("good", "heavy", "big", "below", "wild")

    @property
    def paths(self):
        return (self.path, *self.other_paths)

    @property
    def digests(self):
        return [digest for _, digests, _ in self.members for digest in digests]

    def stem(self):
        return self.path if self.is_set else self.path.rpartition(".")[0]


def found_below(root):
    """Digest and path of each regular file below a folder."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        yield sources.sha(file.read()), path
            except FileNotFoundError:
                pass
