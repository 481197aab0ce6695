"""Damages a world that is well, each time in another way, and says whether the oracle or the reader sees it: `explore --damage`.

An explorer that finds nothing must have looked.
"""
import argparse
import concurrent.futures
import dataclasses
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
    seed=1, originals="move", sets=False, inbox="plain", outbox=None, state=None, inside=False, daemons=1, same_name=True, shared_outbox=True, other=False,
    hooks=True, isolate=False, collision="version", limits=False, workers=2, attempts=3, user="root", clock=False, cache=False, http=False, reports="folder",
    attributes=True, noreplace=True)


def drop(number, kind="good"):
    return {"do": "drop", "who": "anna", "name": "n%d.png" % number, "numbers": [number], "kind": kind, "habit": "rename", "wait": 0}


# The same with originals that are not in done/ afterwards, and with sets.
WORLDS = {"move": WORLD, "delete": dataclasses.replace(WORLD, originals="delete"), "keep": dataclasses.replace(WORLD, originals="keep"),
          "sets": dataclasses.replace(WORLD, sets=True), "tiles": dataclasses.replace(WORLD, tiled=True)}
STEPS = [drop(1), drop(2), drop(3, "junk"),
         {"do": "foreign", "who": "anna", "name": "theirs.png", "number": 5, "how": "new", "wait": 0},
         {"do": "thing", "who": "anna", "kind": "link", "name": "link", "wait": 0}]
SETS = [{"do": "drop", "who": "anna", "name": "n1", "numbers": [1, 2, 4], "kind": "good", "habit": "mark", "wait": 0}, *STEPS[3:]]


class Damage:
    """One way to damage a world: which kind of violation it must be seen as."""

    def __init__(self, actors):
        self.actors, self.household = actors, actors.household
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

    def sizes_exchanged(self):
        os.rename(self.out + "/n1-small.png", self.out + "/x")
        os.rename(self.out + "/n1-large.png", self.out + "/n1-small.png")
        os.rename(self.out + "/x", self.out + "/n1-large.png")
        return "report"

    def rendition_not_listed(self):
        self.change_report(lambda report: report["renditions"].pop())
        return "report"

    def another_digest_listed(self):
        self.change_report(lambda report: report["renditions"][0].update(sha256="0" * 64))
        return "report"

    def temporary_file_left(self):
        with open(self.inbox + "/.imagemill-x", "wb") as file:
            file.write(b"x")
        return "extra"

    def note_left(self):
        os.unlink(self.failed + "/n3.png")
        return "lost"

    def note_of_nothing(self):
        shutil.copy(self.failed + "/n3.png.error.json", self.failed + "/n7.png.error.json")
        return "extra"

    def report_removed_under_delete(self):
        """The original is gone too. That somebody has changed one of its renditions excuses nothing."""
        self.actors.touched.add(self.out + "/n1-small.png")
        os.unlink(self.out + "/reports/n1.png.json")
        return "report"

    def original_removed_under_keep(self):
        os.unlink(self.inbox + "/n1.png")
        return "lost"

    def original_in_done_under_delete(self):
        os.makedirs(self.done, exist_ok=True)
        with open(self.done + "/n1.png", "wb") as file:
            file.write(self.actors.data(1, "n1.png", "good", "anna"))
        return "extra"

    def member_removed_of_sets(self):
        os.unlink(self.done + "/n1/2.png")
        return "lost"

    def member_left_out_of_sets(self):
        """Renditions and report of fewer members."""
        self.change_report(lambda report: report["source"]["members"].pop(), "n1.json")
        return "report"

    def one_event_too_few(self):
        """A second drop of a name was never told of."""
        earlier = next(source for source in self.actors.sources if source.path == "n1.png")
        self.actors.sources.insert(0, dataclasses.replace(earlier))
        return "hook"

    def failure_told_of_a_good_one(self):
        first = next(path for path in self.events() if b"n1.png" in open(path, "rb").read())
        with open(first) as file:
            event = json.load(file)
        with open(first.replace(".json", "-again.json"), "w") as file:
            json.dump({**event, "event": "failure"}, file)
        return "blamed"

    def change_report(self, change, name="n1.png.json"):
        path = self.out + "/reports/" + name
        with open(path) as file:
            report = json.load(file)
        change(report)
        with open(path + ".new", "w") as file:
            json.dump(report, file)
        os.rename(path + ".new", path)

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

    def tile_of_another_in_tiles(self):
        shutil.copy(self.out + "/n2-tiles.tiles/image_files/7/1_0.png", self.out + "/n1-tiles.tiles/image_files/7/1_0.png")
        return "report"

    def tile_removed_of_tiles(self):
        os.unlink(self.out + "/n1-tiles.tiles/image_files/3/0_0.png")
        return "report"

    def folder_left_of_tiles(self):
        shutil.copytree(self.out + "/n1-tiles.tiles", self.out + "/n7-tiles.tiles")
        return "orphan"

    def half_a_folder_left_of_tiles(self):
        shutil.copytree(self.out + "/n1-tiles.tiles", self.out + "/.imagemill-x.folder")
        return "orphan"

    def events(self):
        return glob.glob(glob.escape(self.household.told("anna")) + "/*.json")


ALL = [name for name in vars(Damage) if not name.startswith("_") and name not in ("events", "change_report")]


def world_of(name):
    """Which of the worlds is damaged."""
    word = name.rpartition("_")[2]
    return word if word in WORLDS else "move"


def seen(name, imagemill):
    """The kinds of violations of a world that was damaged, and the one that it had to be; a world that is not damaged has none."""
    wanted = None

    def harm(actors):
        nonlocal wanted
        wanted = getattr(Damage(actors), name)() if not name.startswith("nothing") else None
    folder = tempfile.mkdtemp(prefix="imagemill-damage-")
    try:
        of = world_of(name)
        found = life.live(WORLDS[of], list(enumerate(SETS if of == "sets" else STEPS)), imagemill, folder, harm)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {kind for kind, _ in found["violations"]}, wanted, found["violations"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--imagemill", required=True)
    options = parser.parse_args()
    names, missed = [*("nothing_" + of for of in WORLDS), *ALL], 0
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
