"""Look all the time: a reader that opens everything, a clock for the other inbox, and an ear for the pauses that are said."""
import json
import os
import threading
import time

from invariants import said
from mill import files
from worlds import sources, tiles
from worlds.dropped import found_below

# Seconds for which a picture in the other inbox may wait while its daemon runs. The machine has other work.
BOUND = 30
# How long a source waits whose worker the system has killed, as if memory had run out.
WANT_OF_MEMORY = 30
# Seconds from a repair until no pause may be said any more, and from an accident until one may be.
GRACE = 12


class Observer(threading.Thread):
    """A thread that looks until it is told to stop."""

    def __init__(self, actors, pause):
        super().__init__(daemon=True)
        self.actors, self.household, self.pause = actors, actors.household, pause
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set():
            try:
                self.look()
            except Exception as error:  # A mistake of the explorer must be seen, and is none of the program.
                self.actors.violated("explorer", "%s: %r" % (type(self).__name__, error))
                raise
            self.over.wait(self.pause)

    def stop(self):
        self.over.set()
        self.join()


class Reader(Observer):
    """Opens everything in the outboxes: each picture must be whole and of one source, each report whole with all of its renditions."""

    def __init__(self, actors):
        super().__init__(actors, 0.05)
        self.known, self.seen = {}, 0
        # The report that lists a rendition: it is looked at again when the rendition changes.
        self.listed = {}

    def look(self):
        for outbox in {inbox.out_backing for inbox in self.household.inboxes.values()}:
            for path in list(files(outbox)):
                if self.over.is_set():
                    return
                self.one(os.path.join(os.fsencode(outbox), path), os.fsencode(outbox))

    def one(self, path, outbox):
        # A folder of tiles is looked at with its report.
        if os.path.basename(path).startswith(b".") or b"/.imagemill-" in path or tiles.is_within(os.path.relpath(path, outbox)):
            return
        try:
            with open(path, "rb") as file:
                key = stamp(file)
                if self.known.get(path) == key:
                    return
                data = file.read()
                if stamp(file) != key:
                    # Another program saves into it.
                    return
        except (FileNotFoundError, IsADirectoryError):
            return
        self.known[path] = key
        self.known.pop(self.listed.get(path), None)
        self.seen += 1
        if b"FOREIGN" in data:
            return
        try:
            if path.endswith(b".json"):
                self.report(path, key, json.loads(data), outbox)
            else:
                sources.pixels(data)
        except (ValueError, KeyError) as error:
            if not self.was_touched(path):
                self.actors.violated("half", "a reader saw %r: %s" % (os.path.relpath(path, outbox), error))

    def was_touched(self, path):
        with self.actors.lock:
            return os.fsdecode(path) in self.actors.touched

    def report(self, path, key, report, outbox):
        """While the report is there, its renditions are, all of them of one source and of one drop of it."""
        shown, parts = {}, len(report["source"].get("members", [])) or 1
        for rendition in report["renditions"]:
            name = os.path.join(outbox, said(rendition))
            self.listed[name] = path
            try:
                if os.fsdecode(name).endswith(tiles.ENDING):
                    shown[said(rendition)] = tiles.shown(os.fsdecode(name), parts)
                    continue
                with open(name, "rb") as file:
                    data = file.read()
            except (FileNotFoundError, NotADirectoryError):
                data = None
            except ValueError as error:
                if self.still(path, key) and not self.was_touched(name):
                    raise ValueError("its tiles %r: %s" % (said(rendition), error))
                return
            if data is None or b"FOREIGN" in data:
                if not self.was_touched(name) and self.still(path, key):
                    raise ValueError("its rendition %r is %s" % (said(rendition), "not there" if data is None else "another program's"))
                continue
            try:
                shown[said(rendition)] = sources.shown(data, parts)
            except ValueError as error:
                if self.still(path, key) and not self.was_touched(name):
                    raise ValueError("its rendition %r: %s" % (said(rendition), error))
                return
        if len(set(shown.values())) > 1 and self.still(path, key) and not any(self.was_touched(os.path.join(outbox, name)) for name in shown):
            raise ValueError("its renditions are of different sources: %s" % shown)

    def still(self, path, key):
        """Whether the report is still the one that was read: a new drop takes the old one away before anything else."""
        try:
            with open(path, "rb") as file:
                return stamp(file) == key
        except FileNotFoundError:
            return False


def stamp(file):
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Bound(Observer):
    """How long pictures in the other inbox wait while its daemon runs and the machine's own disk, on which they are, is well."""

    def __init__(self, actors):
        super().__init__(actors, 0.5)
        self.waited, self.before, self.longest = {}, time.monotonic(), 0

    def look(self):
        now = time.monotonic()
        passed, self.before = now - self.before, now
        if not self.counts(now):
            return
        with self.actors.lock:
            waiting = [source for source in self.actors.sources if source.who == "other" and source.is_good and source.habit != "mounted"]
            may_stay = self.actors.now["other"] == "keep" or any(
                policy == "keep" and now < until for policy, until in self.actors.before["other"])
        inbox = self.household.inboxes["other"]
        for source in waiting:
            if os.path.lexists(os.path.join(inbox.backing, source.path)) or any(
                    source.digests[0] == digest for shelf in self.household.shelves("other", "work") for digest, _ in found_below(shelf)):
                if may_stay or source.other_paths:
                    continue
                self.waited[id(source)] = self.waited.get(id(source), 0) + min(passed, 1)
                self.longest = max(self.longest, self.waited[id(source)])
                bound = BOUND + WANT_OF_MEMORY * self.actors.worker_kills
                if self.waited[id(source)] > bound:
                    self.actors.violated("bound", "%r of the other inbox waits for more than %d s" % (source.path, bound))

    def counts(self, now):
        daemon = self.household.daemons["anna"]
        if not daemon.is_alive or daemon.stopped or not daemon.expected:
            return False
        # The ledger is on the disk of the state folder: without it, nothing goes on.
        return all(disk.is_whole or disk.name == "result" or disk.name == "drop" and self.household.world.state for disk in self.household.disks.values())


class Ear(Observer):
    """The pauses that are said: each must have a reason that the world has given, and end soon after the repair."""

    def __init__(self, actors):
        super().__init__(actors, 0.6)
        self.broken, self.pauses, self.silent = {}, 0, {}

    def look(self):
        now = time.monotonic()
        for disk in self.household.disks.values():
            if not disk.is_whole:
                self.broken[disk.name] = now
            elif disk.was_broken:
                self.broken[disk.name] = max(disk.was_broken, self.broken.get(disk.name, 0))
        for who, daemon in self.household.daemons.items():
            if not daemon.is_alive or daemon.stopped or not daemon.expected:
                continue
            # All disks but the machine's own count: a daemon has its ledger, inboxes and outboxes on them.
            recently = any(now - moment < GRACE for moment in self.broken.values())
            status = daemon.status(seconds=10)
            if status is None:
                continue
            for inbox in status["inboxes"]:
                if inbox["state"] != "paused" or inbox["paused"]["reason"] == "by-request" and inbox["name"] in self.actors.paused:
                    continue
                self.pauses += 1
                # A file system of ours may be slow where the machine has much to do.
                is_slow = self.household.world.has_fuse and "does not answer" in inbox["paused"]["message"]
                # One may have been broken while the daemon was asked.
                recently = recently or not all(disk.is_whole for disk in self.household.disks.values())
                if not recently and not is_slow and daemon.is_alive and not daemon.stopped:
                    self.actors.violated("pause", "%s's inbox %s is paused (%s: %s), and nothing is broken" % (
                        who, inbox["name"], inbox["paused"]["reason"], inbox["paused"]["message"]))
