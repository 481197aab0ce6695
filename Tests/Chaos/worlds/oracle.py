"""The verdict on a world, when everything is repaired and has had its time. It shares nothing with the program: each source has its color and digest.

What it holds to is what README.md, docs/operations.md and docs/decisions promise:

lost        each dropped file is in exactly one place, byte for byte, or was deleted after it was done, as the policy says
extra       nothing is anywhere that nobody dropped
early       no set is taken while it is written
blamed      no good picture is in failed/ or ever said to have failed, and every bad one is, with its reason
report      what is done has one report with all renditions, each as the pipeline says and of its source, of the last drop of its name
orphan      no rendition without a report, no temporary file
version     no second version of a name without a second source
foreign     no file of another program is changed or replaced; links, pipes and devices are as they were
hook        what is done or has failed is told, each drop under one id
command     what a command says to a daemon that is well is done
waiting     when all is repaired, everything is through before long
ended       no worker ends by a signal that nobody has sent
"""
import json
import os
import re
import signal
import stat
import struct
import time

from invariants import codes, note_path, said
from mill import files
from worlds import sources, tiles
from worlds.dropped import found_below
from worlds.world import SETTLE, TALL

CODES = {"misled": {"bad-parameters"}, "junk": {"not-an-image"}, "cut": {"truncated", "corrupt"}, "giant": {"too-many-pixels"}, "above": {"too-many-pixels"}, "empty": {"empty"}}
# Seconds without any progress until everything should be through; more if sources wait for their next attempt, as they do for up to five minutes.
PATIENCE, MORE = 90, 330
# Seconds until a change is noticed whose event was lost.
NOTICED = 120
# Width and height of the renditions of a single and of a set, as the pipelines say.
SIZES = {False: {"small": (16, TALL), "large": (24, 24), "named": (12, 12), "extra": (20, 20), "tiles": (80, 30)}, True: {"small": (96, 16), "large": (144, 24), "extra": (120, 20), "tiles": (480, 30)}}
RENDITION = re.compile(r"(.*)-((?:small|large|named|extra)(?=\.png$)|tiles(?=\.tiles$))\.(?:png|tiles)", re.DOTALL)
# Seconds after which progress is too slow to be any.
LONGEST = 600


class Oracle:
    def __init__(self, actors):
        self.actors, self.household, self.world = actors, actors.household, actors.world
        self.violations, self.settled = [], True

    # Waiting

    def wait(self):
        """Until everything is through. Returns whether it is."""
        start, quiet, before = time.monotonic(), 0, None
        begun = start
        while quiet < 4:
            self.actors.look_after()
            why = self.busy()
            quiet = quiet + 1 if why is None else 0
            state = self.state()
            if state != before:
                before, start = state, time.monotonic()
            passed = time.monotonic() - start
            if why and (passed > PATIENCE and not (why.startswith("waits") and passed < MORE) or time.monotonic() - begun > LONGEST):
                self.settled = False
                return self.actors.violated("waiting", "nothing for %d s: %s" % (passed, why))
            time.sleep(0.25)

    def state(self):
        """What changes when a source goes on: how many files are where."""
        places = [place for who, inbox in self.household.inboxes.items() for place in [
            inbox.backing, inbox.out_backing, *[shelf for name in ("work", "done", "failed") for shelf in self.household.shelves(who, name)]]]
        return [sum(1 for _ in files(place)) for place in places]

    def busy(self):
        """Why it is not through; None if it is."""
        for who, daemon in self.household.daemons.items():
            status = daemon.status()
            if status is None:
                return "the daemon of %s does not answer" % who
            for inbox in status["inboxes"]:
                if inbox["state"] != "running":
                    return "the inbox %s is %s: %s" % (inbox["name"], inbox["state"], inbox.get("paused"))
                if inbox["waiting"]:
                    return "waits: %d in %s" % (inbox["waiting"], inbox["name"])
                for key in ("seen", "settling", "ready", "in-progress", "blocked"):
                    if inbox[key]:
                        return "%d %s in %s: %s" % (inbox[key], key, inbox["name"], inbox.get("settling-sources") or inbox.get("obstacles"))
            if status["in-progress"] or status["queue"]["depth"]:
                return "%d in progress, %d queued" % (len(status["in-progress"]), status["queue"]["depth"])
        stays = {(source.who, source.path) for source in self.actors.sources if "keep" in source.policies or source.kind == "given up"}
        for source in self.actors.sources:
            if (source.who, source.path) not in stays and self.in_inbox(source):
                return "%r is still in the inbox" % source.path
        return None

    def in_inbox(self, source):
        inbox = self.household.inboxes[source.who]
        return any(os.path.lexists(os.path.join(inbox.backing, path)) for path in source.paths)

    def violated(self, kind, sentence):
        if (kind, sentence) not in self.violations:
            self.violations.append((kind, sentence))

    # The verdict

    def look_on(self, seconds=NOTICED):
        """Until all holds, or a minute has passed: so long it may take until a change is noticed whose event was lost. Hooks are told later, too."""
        end = time.monotonic() + seconds
        while self.settled and time.monotonic() < end:
            self.violations = []
            self.judge()
            if not self.violations:
                return
            time.sleep(1)
        self.violations = []

    def tell(self):
        """Passes on what does not hold."""
        for kind, sentence in self.violations:
            self.actors.violated(kind, sentence)

    def judge(self):
        self.last = {}
        for source in self.actors.sources:
            self.last[(source.who, source.path)] = source
        self.find()
        self.places()
        self.failures()
        self.outboxes()
        self.others()
        self.crashes()
        if self.world.hooks:
            self.hooks()

    def find(self):
        """Where each digest is: a list of pairs of place and path."""
        self.found, self.notes = {}, {}
        for who, inbox in self.household.inboxes.items():
            own = {os.path.join(inbox.backing, ".imagemill")}
            for digest, path in found_below(inbox.backing):
                if not any(path.startswith(folder + "/") for folder in own):
                    self.found.setdefault((who, digest), []).append(("inbox", path))
            for place in ("work", "done", "failed"):
                for shelf in self.household.shelves(who, place):
                    for digest, path in found_below(shelf):
                        if place == "work" and os.path.basename(path) == "lock":
                            continue
                        self.found.setdefault((who, digest), []).append((place, path))

    def places(self):
        """Each dropped file is in exactly one place, as its policy says."""
        expected = set()
        for source in self.actors.sources:
            for member, digests, numbers in source.members:
                expected |= {(source.who, digest) for digest in digests}
                if source.kind != "given up":
                    self.place(source, member, digests)
        for source, sidecar in self.actors.sidecars:
            expected.add((source.who, sidecar.digest))
            self.sidecar(source, sidecar)
        for source, raw in self.actors.raws:
            expected.add((source.who, raw.digest))
            self.raw(source, raw)
        empty = sources.sha(b"")
        leftovers = {path for path, _ in self.actors.things}
        # What its writer had begun when the disk was full.
        cut = {source.path for source in self.actors.sources if source.is_set and source.kind == "given up"}
        for (who, digest), places in self.found.items():
            if (who, digest) in expected or digest == empty:
                continue
            for place, path in places:
                name = os.path.basename(path)
                if place == "failed" and name.endswith(".error.json") and os.path.lexists(path[:-len(".error.json")]) or path in leftovers:
                    continue
                if place == "inbox" and name.startswith(".") and not name.startswith(".imagemill"):
                    continue
                # A second set of its name has a number there.
                if cut & {part.partition("~")[0] for part in path.split("/")}:
                    continue
                self.violated("extra", "%s of %s has %r, which nobody dropped" % (place, who, self.short(path)))

    def place(self, source, member, digests):
        where = [place for digest in digests for place, _ in self.found.get((source.who, digest), [])]
        counts = {place: where.count(place) for place in ("inbox", "work", "done", "failed")}
        policies = source.policies
        name = source.path + ("/" + member if member else "")
        total = len(where)
        replaced = self.last[(source.who, source.path)] is not source
        if total == 0:
            if source.replaced:
                return
            if "delete" in policies and source.is_good:
                # The report is looked for below.
                return
            return self.violated("lost", "%r of %s, dropped by %s under %s, is nowhere" % (name, source.who, source.habit, sorted(policies)))
        # What stays in the inbox has a copy in failed/, and another one each time that it is done again and fails.
        most = 2 + self.actors.again if "keep" in policies else 1
        # Empty files are all the same: how many there are of one is not known.
        is_alone = source.kind != "empty"
        if total > most and is_alone:
            self.violated("extra", "%r of %s is at %d places: %s" % (name, source.who, total, counts))
        if not self.settled:
            return
        if counts["work"]:
            self.violated("waiting", "%r of %s is still in work/" % (name, source.who))
        if policies == {"keep"} and not replaced and (counts["inbox"] != 1 if is_alone else not counts["inbox"]):
            self.violated("lost", "%r of %s is not in the inbox, which keeps its originals: %s" % (name, source.who, counts))
        if policies == {"keep"} and counts["done"] or policies == {"delete"} and counts["done"] and source.kind != "wild" and not self.has_lost_ledger(source.who):
            self.violated("extra", "%r of %s is in done/, under %s" % (name, source.who, sorted(policies)))

    def sidecar(self, source, sidecar):
        """A sidecar is in one place, and goes where its picture goes if it came first."""
        found = self.found.get((source.who, sidecar.digest), [])
        where = [place for place, _ in found]
        name, habit = source.path + ".yaml", sidecar.habit
        # Its own picture, or one before that had its name still.
        mine = [other for other in self.actors.sources if other.who == source.who and source.path in other.paths]
        policies = set().union(*(other.policies for other in mine))
        if not where and not sidecar.removed and not ("delete" in policies and any(other.is_good for other in mine)):
            return self.violated("lost", "the sidecar %r of %s, which came %s, is nowhere" % (name, source.who, habit))
        if len(where) > (2 + self.actors.again if "keep" in policies else 1):
            self.violated("extra", "the sidecar %r of %s is at %d places: %s" % (name, source.who, len(where), where))
        if not self.settled:
            return
        if "work" in where:
            self.violated("waiting", "the sidecar %r of %s is still in work/" % (name, source.who))
        if policies == {"keep"} and not sidecar.removed and "inbox" not in where:
            self.violated("lost", "the sidecar %r of %s is not in the inbox, which keeps its originals: %s" % (name, source.who, where))
        pictures = [(place, path) for digest in source.digests for place, path in self.found.get((source.who, digest), [])]
        if policies == {"move"} and habit == "before" and mine == [source] and source.kind != "given up" and not self.has_lost_ledger(source.who):
            expected = {(place, path + ".yaml") for place, path in pictures if place in ("done", "failed")}
            if expected and not expected & set(found):
                self.violated("lost", "the sidecar %r of %s is not beside its picture: %s and %s" % (
                    name, source.who, [self.short(path) for _, path in pictures], [self.short(path) for _, path in found]))

    def raw(self, source, raw):
        """A raw file goes where its JPEG goes if it came first. By itself it is none, and is in failed/ then. It is never deleted."""
        found = self.found.get((source.who, raw.digest), [])
        where = [place for place, _ in found]
        mine = [other for other in self.actors.sources if other.who == source.who and source.path in other.paths]
        policies = set().union(*(other.policies for other in mine))
        if not where and not raw.removed:
            return self.violated("lost", "the raw file %r of %s, which came %s, is nowhere" % (raw.path, source.who, raw.habit))
        if len(where) > (2 + self.actors.again if "keep" in policies else 1):
            self.violated("extra", "the raw file %r of %s is at %d places: %s" % (raw.path, source.who, len(where), where))
        if not self.settled:
            return
        if "work" in where:
            self.violated("waiting", "the raw file %r of %s is still in work/" % (raw.path, source.who))
        if policies == {"keep"} and not raw.removed and "inbox" not in where:
            self.violated("lost", "the raw file %r of %s is not in the inbox, which keeps its originals: %s" % (raw.path, source.who, where))
        came_late = source.time - raw.time > SETTLE / 2
        if raw.habit != "before" or came_late or mine != [source] or source.kind == "given up" or self.has_lost_ledger(source.who):
            return
        pictures = [(place, path) for digest in source.digests for place, path in self.found.get((source.who, digest), [])]
        expected = {(place, path.rpartition(".")[0] + ".dng") for place, path in pictures if place in ("done", "failed")}
        if policies == {"delete"} and not expected and where != ["done"]:
            self.violated("lost", "the raw file %r of %s, whose JPEG is deleted, is in %s" % (raw.path, source.who, where))
        if "keep" not in policies and expected and not expected & set(found):
            self.violated("lost", "the raw file %r of %s is not beside its JPEG: %s and %s" % (
                raw.path, source.who, [self.short(path) for _, path in pictures], [self.short(path) for _, path in found]))

    def has_lost_ledger(self, who):
        return self.world.daemon_of(who) in self.actors.ledger_lost

    def short(self, path):
        return os.path.relpath(path, self.household.folder)

    # failed/

    def failed(self, source):
        """Whether a source is in failed/."""
        return any(place == "failed" for digest in source.digests for place, _ in self.found.get((source.who, digest), []))

    def failures(self):
        known = codes()
        for source in self.actors.sources:
            if source.kind == "given up":
                continue
            is_failed = self.failed(source)
            note = self.note(source) if is_failed else None
            if is_failed and note is None:
                self.violated("blamed", "%r of %s is in failed/ without a reason" % (source.path, source.who))
            elif is_failed and (note.get("code") not in known or not note.get("replay")):
                self.violated("blamed", "the reason of %r is none: %s" % (source.path, note))
            elif source.is_good and is_failed and not self.may_fail(source, note):
                self.violated("blamed", "%r of %s, which is good, is in failed/: %s: %s" % (
                    source.path, source.who, note.get("code"), (note.get("message") or "")[:150]))
            elif not source.is_good and self.settled and not is_failed and self.last[(source.who, source.path)] is source:
                self.violated("blamed", "%r of %s, which is %s, is not in failed/" % (source.path, source.who, source.kind))
            # A name that is taken is found before the pixels are read.
            elif not source.is_good and is_failed and not (self.fits(source, note) or self.may_fail(source, note)):
                self.violated("blamed", "%r of %s, which is %s, is in failed/ as %s" % (source.path, source.who, source.kind, note.get("code")))

    def fits(self, source, note):
        codes = CODES[source.kind]
        return note.get("code") in codes or source.is_set and note.get("code") in ("set-member-failed", "unequal-sizes", *codes)

    def may_fail(self, source, note):
        # Of one name, the second source fails if that is the policy, and so does one whose name another program has.
        # So does one that is rendered again when nothing says any more that its renditions are its own.
        may_be_taken = not self.is_alone(source) or self.lost_names()
        return note.get("code") == "name-taken" and self.world.collision == "fail" and may_be_taken

    def note(self, source):
        for digest in source.digests:
            for place, path in self.found.get((source.who, digest), []):
                if place != "failed":
                    continue
                for shelf in self.household.shelves(source.who, "failed"):
                    if path.startswith(shelf + "/"):
                        top = os.path.join(shelf, os.path.relpath(path, shelf).split("/")[0]) if source.is_set else path
                        try:
                            with open(note_path(os.fsencode(top))) as file:
                                return json.load(file)
                        except (FileNotFoundError, ValueError):
                            pass
        return None

    # The outboxes

    def neighbors(self, who):
        """The inboxes that share an outbox with this one."""
        return [other for other in self.household.inboxes if self.household.outbox_of(other) == self.household.outbox_of(who)]

    def is_alone(self, source):
        """Whether nobody else can want its names: no other source of its stem, and no other program."""
        stem, outbox = source.stem(), self.household.outbox_of(source.who)
        for other in self.actors.sources:
            if other.who in self.neighbors(source.who) and (other.who, other.path) != (source.who, source.path) and (
                    other.stem() == stem or stem.startswith(other.stem() + "-") or any(path.rpartition(".")[0] == stem for path in other.other_paths)):
                return False
        return not any(path.startswith(os.path.join(outbox, stem + "-")) for path in self.actors.touched)

    def outboxes(self):
        self.reports = {}
        for outbox in {inbox.out_backing for inbox in self.household.inboxes.values()}:
            self.outbox(outbox)
        for source in self.last.values():
            if source.is_good and source.kind != "given up" and self.settled and not self.failed(source):
                self.has_report(source)

    @staticmethod
    def published(outbox):
        """Paths of files, and of folders of tiles."""
        found = {os.fsdecode(path) for path in files(outbox)}
        return sorted({path.partition(tiles.ENDING + "/")[0] + tiles.ENDING if tiles.is_within(path) else path for path in found})

    def outbox(self, outbox):
        listed = {}
        for path in self.published(outbox):
            full = os.path.join(outbox, path)
            if self.is_foreign(full):
                continue
            # Which jobs were under way, and so where they may have left something, is in the ledger. A journal that is aborted brings back what was removed.
            if (any(part.startswith(".imagemill-") for part in path.split("/")) or path.endswith(".part")) and not self.actors.ledger_lost and not self.actors.undone:
                self.violated("orphan", "a temporary file is left in the outbox: %r" % path)
            if path.endswith(".json") and not os.path.basename(path).startswith("."):
                self.report(outbox, path, listed)
        for path in self.published(outbox):
            full = os.path.join(outbox, path)
            if path.endswith((".png", tiles.ENDING)) and not os.path.basename(path).startswith(".") and path not in listed and not self.is_foreign(full):
                if not self.may_be_orphan(outbox, path):
                    self.violated("orphan", "the rendition %r is in no report" % path)

    def may_be_orphan(self, outbox, path):
        # A source whose names another program has taken gets others, and leaves what it had. So may one whose record is lost.
        stem = path.rpartition("-")[0]
        touched = any(os.path.relpath(name, outbox).startswith(re.sub(r"-[0-9]+$", "", stem) + "-") for name in self.actors.touched)
        # An incomplete attempt of the last drop: its inbox is not through yet, or the drop failed after an earlier one was done.
        return touched or not self.settled or path in self.actors.touched or self.world.collision == "overwrite" or self.lost_names()

    def lost_names(self):
        """Without a ledger and without attributes nobody knows whose a rendition is."""
        kind = self.world.outbox or self.world.inbox
        return bool(self.actors.ledger_lost) and kind == "fuse" and not self.world.attributes

    def is_foreign(self, path):
        try:
            with open(path, "rb") as file:
                return sources.sha(file.read()) in self.actors.foreign_digests
        except OSError:
            return False

    def report(self, outbox, path, listed):
        try:
            with open(os.path.join(outbox, path), "rb") as file:
                report = json.load(file)
            name, names = os.fsdecode(said(report["source"])), [os.fsdecode(said(rendition)) for rendition in report["renditions"]]
        except (ValueError, KeyError) as error:
            return self.violated("report", "the report %r is not whole: %r" % (path, error))
        if report["status"] != "done":
            return
        members = len(report["source"].get("members", []))
        try:
            self.renditions(outbox, path, report)
        except KeyError as error:
            self.violated("report", "the report %r is not whole: %r" % (path, error))
        shown = set()
        for rendition in names:
            if rendition in listed and not self.was_touched(outbox, rendition) and self.world.collision != "overwrite":
                self.violated("report", "%r is listed by two reports: %r and %r" % (rendition, listed[rendition], path))
            listed[rendition] = path
            shown |= self.rendition(outbox, path, rendition, members or 1)
        if len(shown) > 1 and not any(self.was_touched(outbox, rendition) for rendition in names) and self.world.collision != "overwrite":
            self.violated("report", "the renditions of %r are of different sources: %s" % (path, sorted(shown)))
        for numbers in shown:
            self.reports.setdefault((outbox, numbers), []).append((path, name, names))
            if not self.is_of(outbox, name, numbers) and self.world.collision != "overwrite":
                self.violated("report", "the report %r of %r has a rendition of %s" % (path, name, self.whose(numbers)))
        if not shown:
            # All of it was taken away by others: the name is what is left.
            self.reports.setdefault((outbox, name), []).append((path, name, names))

    def renditions(self, outbox, path, report):
        """A report lists what the pipeline makes, all of it under one version of the name, as it is in the files."""
        has_extra = any(daemon.has_extra for daemon in self.household.daemons.values())
        is_set, found, stems = "members" in report["source"], {}, set()
        for rendition in report["renditions"]:
            name = os.fsdecode(said(rendition))
            match = RENDITION.fullmatch(name)
            if not match or match[2] in found:
                return self.violated("report", "%r of %r is no rendition of its pipeline" % (name, path))
            stems.add(match[1])
            found[match[2]] = rendition
            size = rendition["width"], rendition["height"]
            if match[2] == "small" and self.world.sidecars and not is_set:
                self.tall(outbox, path, report, size)
            elif size != SIZES[is_set][match[2]]:
                self.violated("report", "%r of %r has a size of %d×%d" % (name, path, *size))
            if match[2] != "tiles" and not self.was_touched(outbox, name) and self.world.collision != "overwrite":
                self.same_as_said(os.path.join(outbox, name), rendition)
        is_named = self.world.conditional and not is_set and os.path.basename(os.fsdecode(said(report["source"]))).startswith("n")
        if not {"small", "large"} <= set(found) or "extra" in found and not has_extra or ("named" in found) != is_named or ("tiles" in found) != self.world.tiled or len(stems) > 1:
            self.violated("report", "the report %r has the renditions %s" % (path, [os.fsdecode(said(rendition)) for rendition in report["renditions"]]))

    def tall(self, outbox, path, report, size):
        """The height is that of the folder, or of a sidecar of this name; of one that came before its picture for sure."""
        name = os.fsdecode(said(report["source"]))
        mine = [source for source in self.actors.sources if name in source.paths and self.household.outbox_of(source.who) == outbox]
        usual = self.world.of_folder or TALL
        sidecars = [(source, sidecar) for source, sidecar in self.actors.sidecars
                    if name in source.paths and self.household.outbox_of(source.who) == outbox and sidecar.tall]
        heights = {sidecar.tall for _, sidecar in sidecars}
        came_first = len(sidecars) == 1 and mine == [sidecars[0][0]] and sidecars[0][1].habit == "before" and not mine[0].other_paths
        said_tall = [parameter["value"] for parameter in report.get("parameters", []) if parameter["name"] == "tall"]
        if size[0] != 16 or size[1] not in (heights if came_first else heights | {usual}) or said_tall != [str(size[1])]:
            self.violated("report", "the small rendition of %r in %r is %d×%d, by %s; its sidecars say %s" % (name, path, *size, said_tall, heights))

    def same_as_said(self, path, rendition):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return
        size = struct.unpack(">II", data[16:24]) if len(data) >= 24 else None
        said = rendition["bytes"], rendition.get("sha256", sources.sha(data)), (rendition["width"], rendition["height"])
        if said != (len(data), sources.sha(data), size):
            self.violated("report", "%r is another file than its report says" % self.short(path))

    def was_touched(self, outbox, name):
        return os.path.join(outbox, name) in self.actors.touched

    def rendition(self, outbox, report, name, parts):
        path = os.path.join(outbox, name)
        try:
            if name.endswith(tiles.ENDING):
                return {tiles.shown(path, parts)}
            with open(path, "rb") as file:
                data = file.read()
        except ValueError as error:
            self.violated("report", "%r is not whole: %s" % (name, error))
            return set()
        except (FileNotFoundError, NotADirectoryError):
            if not self.was_touched(outbox, name):
                self.violated("report", "%r, of the report %r, is missing" % (name, report))
            return set()
        if sources.sha(data) in self.actors.foreign_digests:
            if not self.was_touched(outbox, name):
                self.violated("report", "%r, of the report %r, is another program's" % (name, report))
            return set()
        try:
            return {sources.shown(data, parts)}
        except ValueError as error:
            self.violated("report", "%r cannot be decoded: %s" % (name, error))
            return set()

    def is_of(self, outbox, name, numbers):
        for source in self.actors.sources:
            if self.household.outbox_of(source.who) == outbox and name in source.paths:
                # An upload that broke off, as on a full disk, is as good as one that was complete.
                if source.is_set and (numbers == source.numbers or source.kind == "given up" and set(numbers) <= set(source.numbers)) or not source.is_set and numbers[0] in source.numbers:
                    return True
        return False

    def whose(self, numbers):
        found = ["%s of %s" % (source.path, source.who) for source in self.actors.sources if set(numbers) & set(source.numbers)]
        return "%s (%s)" % (", ".join(found) or "nobody", numbers)

    def has_report(self, source):
        """What is done has one report, with all renditions, of the last drop of its name."""
        outbox = self.household.outbox_of(source.who)
        found = [entry for numbers in ([source.numbers] if source.is_set else [(number,) for number in source.numbers])
                 for entry in self.reports.get((outbox, numbers), [])]
        found = [entry for entry in found if entry[1] in source.paths]
        if self.world.collision == "overwrite" and not self.is_alone(source):
            return
        if not found:
            # Others take renditions away, and no reports.
            touched = any(name in self.actors.touched for name in self.names_of(source, outbox))
            named = any(entry[1] in source.paths for (place, _), entries in self.reports.items() if place == outbox for entry in entries)
            if not (touched and named):
                where = [place for digest in source.digests for place, _ in self.found.get((source.who, digest), [])]
                self.violated("report", "%r of %s (%s, %s, numbers %s) is %s and has no report of its own" % (
                    source.path, source.who, source.kind, source.habit, source.numbers, "in " + where[0] + "/" if where else "gone"))
            return
        # An original that stays is known again under another path by the ledger alone, and by that when it was done before its folder moved.
        has_moved = "keep" in source.policies and source.habit == "folder"
        if (has_moved or self.has_lost_ledger(source.who)) and len({entry[1] for entry in found}) == len(found):
            return
        # Renditions whose siblings' names another program has taken stay, as does their report.
        if len(found) > 1 and not self.lost_names() and not any(self.was_touched(outbox, name) for entry in found for name in entry[2]):
            self.violated("version", "%r of %s has %d reports: %s" % (source.path, source.who, len(found), [entry[0] for entry in found]))
        path, name, names = found[0]
        stem = source.stem() if name == source.path else name.rpartition(".")[0]
        kinds = [rendition[len(stem):] for rendition in names]
        plain = ["-small.png", "-large.png"]
        if self.is_alone(source) and not self.lost_names() and not source.other_paths and kinds[:2] != plain:
            self.violated("version", "%r of %s, which has its name for itself, has the renditions %s" % (source.path, source.who, names))

    def names_of(self, source, outbox):
        return [os.path.join(outbox, "%s%s-%s.png" % (source.stem(), version, name)) for version in ("", "-2", "-3", "-4") for name in ("small", "large", "named", "extra")] + [
            os.path.join(outbox, "%s%s-tiles.tiles" % (source.stem(), version)) for version in ("", "-2", "-3", "-4")]

    # Everything else that must be as it was

    def others(self):
        for path, data in self.actors.foreign.items():
            if self.world.collision == "overwrite" and self.is_wanted(path):
                continue
            try:
                with open(path, "rb") as file:
                    found = file.read()
            except FileNotFoundError:
                found = None
            if found != data and data is not None:
                self.violated("foreign", "%r of another program is %s" % (self.short(path), "gone" if found is None else "replaced"))
        for path, kind in self.actors.things:
            try:
                if stat.S_IFMT(os.lstat(path).st_mode) != kind:
                    self.violated("foreign", "%r is something else now" % self.short(path))
            except FileNotFoundError:
                self.violated("foreign", "%r, which is no picture, is gone" % self.short(path))

    def is_wanted(self, path):
        """Whether a rendition can have this name."""
        return any(path.startswith(os.path.join(self.household.outbox_of(source.who), os.path.splitext(name)[0] + "-"))
                   for source in self.actors.sources for name in source.paths)

    def crashes(self):
        """A worker that nobody has killed."""
        for who, daemon in self.household.daemons.items():
            for number in set(re.findall(r"(?<!was )ended by signal (\d+)", daemon.log_text())) - {str(int(signal.SIGKILL))}:
                self.violated("ended", "a worker of %s was ended by signal %s" % (who, number))

    # Hooks

    def hooks(self):
        told = {}
        for who in self.world.who:
            for path in files(self.household.told(who)):
                if not path.endswith(b".json"):
                    continue
                with open(os.path.join(os.fsencode(self.household.told(who)), path), "rb") as file:
                    data = file.read()
                try:
                    event = json.loads(data)
                except ValueError:
                    self.violated("hook", "%s was told what is no document: %r" % (who, data[:300]))
                    continue
                key = (who, os.fsdecode(said(event["source"])) if "source" in event else None, event["event"])
                told.setdefault(key, set()).add(event["id"])
        for (who, path, event), ids in told.items():
            raws = sum(source.who == who and raw.path == path for source, raw in self.actors.raws)
            if raws:
                # One that came late is a source of its own, and none that can be read.
                if len(ids) > raws * (1 + self.actors.again) and not self.has_lost_ledger(who):
                    self.violated("hook", "the raw file %r of %s came %d times and was told under %d ids" % (path, who, raws, len(ids)))
                continue
            dropped = [source for source in self.actors.sources if source.who == who and path in source.paths]
            drops = len(dropped)
            # What is dropped again, and what a changed pipeline, a retry or a lost ledger lets be done again, is told again.
            several = len(set().union(*(source.policies for source in dropped))) > 1
            if len(ids) > drops * (1 + self.actors.again) and not several and not self.was_redone(who, path):
                self.violated("hook", "%r of %s was dropped %d times and told under %d ids as %s" % (path, who, drops, len(ids), event))
            may_fail = self.world.collision == "fail" or any(not source.is_good or source.kind == "wild" for source in dropped)
            if event == "failure" and not may_fail:
                self.violated("blamed", "%r of %s, which is good, was told to have failed" % (path, who))
        if not self.settled:
            return
        for (who, path) in self.last:
            dropped = [source for source in self.actors.sources if source.who == who and path in source.paths]
            if self.has_lost_ledger(who) or any(source.kind in ("given up", "wild") or source.other_paths or source.habit == "mounted" for source in dropped):
                continue
            ids = set().union(*(found for (other, name, _), found in told.items() if (other, name) == (who, path)))
            drops = sum(not source.replaced for source in dropped)
            if len(ids) < drops:
                self.violated("hook", "%r of %s was dropped %d times and told under %d ids" % (path, who, drops, len(ids)))
        for source in self.last.values():
            if self.has_lost_ledger(source.who) or source.kind in ("given up", "wild") or len(source.other_paths) or source.habit == "mounted":
                continue
            event = "failure" if self.failed(source) else "success"
            if (source.who, source.path, event) not in told:
                self.violated("hook", "%r of %s is through, and no hook was told of its %s" % (source.path, source.who, event))

    def was_redone(self, who, path):
        """A picture that was changed while it was read may be done twice."""
        return any(source.kind == "wild" for source in self.actors.sources if source.who == who and source.path == path)
