"""Damages a world that is well, each time in another way, and says whether the oracle or the reader sees it: `explore --damage`.

An explorer that finds nothing must have looked.
"""
import argparse
import concurrent.futures
import glob
import json
import multiprocessing
import os
import shutil
import sys
import tempfile

from mill import Skipped
from worlds import life, sources, world as drawn

WORLD = drawn.World(
    seed=0, originals="move", sets=False, inbox="plain", outbox=None, state=None, inside=False, daemons=1, same_name=True, shared_outbox=True, other=False,
    hooks=True, isolate=False, collision="version", limits=False, workers=2, attempts=3, user="root", clock=False, cache=False, http=False, reports="folder",
    attributes=True, noreplace=True)


def drop(number, kind="good"):
    return {"do": "drop", "who": "anna", "name": "n%d.png" % number, "numbers": [number], "kind": kind, "habit": "rename", "wait": 0}


STEPS = [drop(1), drop(2), drop(3, "junk"),
         {"do": "foreign", "who": "anna", "name": "theirs.png", "number": 5, "how": "new", "wait": 0},
         {"do": "thing", "who": "anna", "kind": "link", "name": "link", "wait": 0}]


class Damage:
    """One way to damage a world: which kind of violation it must be seen as."""

    def __init__(self, actors):
        self.household = actors.household
        self.done, self.failed, self.work = (self.household.shelves("anna", shelf)[0] for shelf in ("done", "failed", "work"))
        self.out, self.inbox = self.household.outbox_of("anna"), self.household.inboxes["anna"].backing

    def original_removed(self):
        os.unlink(self.done + "/n1.png")
        return "lost"

    def original_changed(self):
        with open(self.done + "/n1.png", "ab") as file:
            file.write(b"x")
        return "lost"

    def original_twice(self):
        shutil.copy(self.done + "/n1.png", self.inbox + "/n1.png")
        return "extra"

    def unknown_file(self):
        with open(self.work + "/what", "wb") as file:
            file.write(b"what")
        return "extra"

    def good_one_failed(self):
        os.rename(self.done + "/n1.png", self.failed + "/n1.png")
        shutil.copy(self.failed + "/n3.png.error.json", self.failed + "/n1.png.error.json")
        return "blamed"

    def reason_removed(self):
        os.unlink(self.failed + "/n3.png.error.json")
        return "blamed"

    def rendition_removed(self):
        os.unlink(self.out + "/n1-small.png")
        return "report"

    def report_removed(self):
        os.unlink(self.out + "/reports/n1.png.json")
        return "report"

    def renditions_exchanged(self):
        for name in ("small", "large"):
            os.rename(self.out + "/n1-%s.png" % name, self.out + "/x")
            os.rename(self.out + "/n2-%s.png" % name, self.out + "/n1-%s.png" % name)
            os.rename(self.out + "/x", self.out + "/n2-%s.png" % name)
        return "report"

    def one_rendition_of_another(self):
        shutil.copy(self.out + "/n2-small.png", self.out + "/n1-small.png")
        return "half"

    def rendition_cut(self):
        with open(self.out + "/n1-small.png", "r+b") as file:
            file.truncate(60)
        return "half"

    def report_cut(self):
        with open(self.out + "/reports/n1.png.json", "r+b") as file:
            file.truncate(60)
        return "half"

    def rendition_left(self):
        shutil.copy(self.out + "/n1-small.png", self.out + "/n7-small.png")
        return "orphan"

    def second_version(self):
        for name in ("small", "large"):
            os.rename(self.out + "/n1-%s.png" % name, self.out + "/n1-2-%s.png" % name)
        with open(self.out + "/reports/n1.png.json") as file:
            text = file.read()
        with open(self.out + "/reports/n1.png.json", "w") as file:
            file.write(text.replace("n1-", "n1-2-"))
        return "version"

    def foreign_file_replaced(self):
        with open(self.out + "/theirs.png", "wb") as file:
            file.write(sources.png((1, 2, 3)))
        return "foreign"

    def link_removed(self):
        os.unlink(self.inbox + "/link.png")
        return "foreign"

    def event_removed(self):
        os.unlink(next(path for path in self.events() if b"n1.png" in open(path, "rb").read()))
        return "hook"

    def event_under_two_ids(self):
        first = next(path for path in self.events() if b"n1.png" in open(path, "rb").read())
        with open(first) as file:
            event = json.load(file)
        with open(first.replace(".json", "-again.json"), "w") as file:
            json.dump({**event, "id": "another"}, file)
        return "hook"

    def events(self):
        return glob.glob(glob.escape(self.household.told("anna")) + "/*.json")


ALL = [name for name in vars(Damage) if not name.startswith("_") and name != "events"]


def seen(name, imagemill):
    """The kinds of violations of a world that was damaged, and the one that it had to be; a world that is not damaged has none."""
    wanted = None

    def harm(actors):
        nonlocal wanted
        wanted = getattr(Damage(actors), name)() if name != "nothing" else None
    folder = tempfile.mkdtemp(prefix="imagemill-damage-")
    try:
        found = life.live(WORLD, list(enumerate(STEPS)), imagemill, folder, harm)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {kind for kind, _ in found["violations"]}, wanted, found["violations"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--imagemill", required=True)
    options = parser.parse_args()
    names, missed = ["nothing", *ALL], 0
    with concurrent.futures.ProcessPoolExecutor(4, multiprocessing.get_context("fork")) as pool:
        for name, (kinds, wanted, violations) in zip(names, pool.map(seen, names, [os.path.abspath(options.imagemill)] * len(names))):
            holds = wanted in kinds if wanted else not kinds
            missed += not holds
            print("%s: %s" % (name.replace("_", " "), "seen" if holds and wanted else "well" if holds else "MISSED: %s" % violations), flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    try:
        main()
    except Skipped as reason:
        print("damage: skipped: %s" % reason)
        sys.exit(77)
