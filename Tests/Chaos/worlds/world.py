"""What a world is, and how it is drawn by a seed."""
import dataclasses
import glob
import random

FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "tmpfs", "plain")
# Seconds.
SETTLE, SET_QUIET, INCOMPLETE_AFTER, ZERO_BYTE_AFTER = 0.4, 1.0, 2.0, 2.0
# The height of a small rendition without a sidecar.
TALL = 16
# Pixels of a source where the limits are lower than usual.
MAX_PIXELS = 95_000_000


@dataclasses.dataclass
class World:
    seed: int
    originals: str
    sets: bool
    # File systems: of the inboxes; of the outbox and the state folder, None if these are on the inboxes'.
    inbox: str
    outbox: str
    state: str
    # Each inbox is a file system of its own.
    inside: bool
    daemons: int
    same_name: bool
    shared_outbox: bool
    # Another inbox of the first daemon, on the machine's own disk, which must be served whatever happens to the first.
    other: bool
    hooks: bool
    isolate: bool
    collision: str
    limits: bool
    workers: int
    attempts: int
    user: str
    # The time of day can jump, and originals in done/ may be removed after a day.
    clock: bool
    cache: bool
    http: bool
    reports: str
    attributes: bool
    noreplace: bool
    # The pipeline of singles has a parameter, which sidecars set; folders may have one too, with this value.
    sidecars: bool = False
    of_folder: int = 0
    # The pipeline of singles has a rendition for some names only.
    conditional: bool = False
    duplicates: str = "process"
    # A rendition is a folder of tiles.
    tiled: bool = False
    # The inboxes of singles read raw files, and JPEGs have some beside them.
    photos: bool = False

    @property
    def kinds(self):
        return [kind for kind in (self.inbox, self.outbox, self.state) if kind]

    @property
    def has_fuse(self):
        return "fuse" in self.kinds

    @property
    def has_faults(self):
        """Calls can fail and hang. On the disk of the state folder they cannot: there a full disk is the only trouble."""
        return "fuse" in (self.inbox, self.outbox)

    @property
    def who(self):
        """The drop folders: those of the daemons, and the other one."""
        return ["anna", "ben"][:self.daemons] + (["other"] if self.other else [])

    def daemon_of(self, who):
        return "anna" if who == "other" else who

    def inbox_name(self, who):
        return "other" if who == "other" else "drop" if self.same_name else who

    def lines(self):
        """The world as a list."""
        where = "inboxes on %s%s, outbox %s, state %s" % (
            self.inbox, ", each a mount of its own" if self.inside else "", "on " + self.outbox if self.outbox else "beside them",
            "on " + self.state if self.state else "beside them")
        if self.has_fuse:
            where += "; fuse %s attributes, %s RENAME_NOREPLACE" % ("with" if self.attributes else "without", "with" if self.noreplace else "without")
        daemons = "%d daemon%s" % (self.daemons, "s, %s, %s" % (
            "inboxes of one name" if self.same_name else "inboxes of two names", "one outbox" if self.shared_outbox else "two outboxes")
            if self.daemons == 2 else "")
        more = [word for word, holds in (("another inbox", self.other), ("hooks", self.hooks), ("isolate", self.isolate), ("limits", self.limits),
                                         ("sidecars", self.sidecars), ("a sidecar of its folder", self.of_folder), ("conditions", self.conditional), ("tiles", self.tiled), ("raw files", self.photos),
                                         ("a clock that jumps", self.clock), ("cache", self.cache), ("http", self.http)) if holds]
        return ["originals: %s, %s" % (self.originals, "sets" if self.sets else "singles"), where, daemons,
                "duplicates: %s, collision: %s, reports: %s, %d worker%s, %d attempts, as %s" % (
                    self.duplicates, self.collision, self.reports, self.workers, "s" if self.workers > 1 else "", self.attempts, self.user),
                "with " + (", ".join(more) or "nothing else")]


def faketime():
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    return found[0] if found else None


def draw(seed):
    """The world of a seed."""
    dice = random.Random("world %d" % seed)
    layout = dice.choice(["together", "together", "together", "outbox apart", "outbox apart", "state apart", "all apart", "inside"])
    def kind(fuse):
        return "fuse" if fuse and dice.random() < 0.45 else dice.choice(FILE_SYSTEMS)
    state_apart = layout in ("state apart", "all apart", "inside")
    inbox = kind(fuse=state_apart)
    outbox = kind(fuse=True) if layout in ("outbox apart", "all apart", "inside") else None
    state = kind(fuse=False) if state_apart else None
    has_fuse = "fuse" in (inbox, outbox)
    daemons = 2 if dice.random() < 0.35 else 1
    world = World(
        seed=seed, originals=dice.choice(["move", "move", "keep", "delete"]), sets=dice.random() < 0.3, inbox=inbox, outbox=outbox, state=state,
        inside=layout == "inside", daemons=daemons, same_name=dice.random() < 0.6, shared_outbox=dice.random() < 0.7, other=dice.random() < 0.6,
        hooks=dice.random() < 0.5, isolate=dice.random() < 0.15, collision=dice.choice(["version"] * 8 + ["fail", "overwrite"]),
        limits=dice.random() < 0.3, workers=dice.choice([1, 2, 2, 3]), attempts=dice.choice([3, 3, 20]),
        user="root" if has_fuse or dice.random() < 0.6 else "nobody", clock=dice.random() < 0.1, cache=dice.random() < 0.2,
        http=dice.random() < 0.3, reports=dice.choice(["folder", "beside"]), attributes=dice.random() < 0.75, noreplace=dice.random() < 0.75)
    # Dice of its own, so that all else of a seed stays.
    if state_apart and random.Random("state %d" % seed).random() < 0.35:
        world = dataclasses.replace(world, state="fuse", user="root")
    dice = random.Random("values %d" % seed)
    sidecars = dice.random() < 0.45
    return dataclasses.replace(
        world, sidecars=sidecars, of_folder=18 if sidecars and dice.random() < 0.3 else 0, conditional=dice.random() < 0.3,
        duplicates=dice.choice(["process"] * 6 + ["skip", "fail"]), tiled=random.Random("tiles %d" % seed).random() < 0.3,
        photos=random.Random("photos %d" % seed).random() < 0.4)
