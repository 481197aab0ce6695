#!/usr/bin/env python3
"""Checks what must hold after every experiment on a drop folder: nothing lost, nothing half done, nothing left over.

    invariants.py --dropped dropped.txt --inbox in --work work --done done --failed failed --outbox out
                  [--originals move|keep|delete] [--sets sets.json] [--settled]

`dropped.txt` has a line for each file that was dropped, in the order of the drops: its SHA-256, two spaces, its path in the inbox. `sets.json` has, for
each set by its name, a list of drops, each of which is the list of the members that were complete when the set was declared complete. Paths are
percent-encoded in both. Prints one line for each violation. Ends with 1 if there is any; else prints a sentence and ends with 0.

What each policy promises:
move    each file is in exactly one of inbox, work/, done/ and failed/, byte for byte
keep    the last file of each path is in the inbox, byte for byte; nothing is in done/
delete  a file is gone only if a complete report lists it (of a set: as a member); all others are in inbox, work/, done/ or failed/
"""
import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

import pictures
from worlds import tiles

OWN = b".imagemill"
LOCK = b"lock"
# The file that declares a set complete.
DONE_MARK = b".done"


def codes():
    schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/schema/failure.schema.json")
    with open(schema) as file:
        return set(json.load(file)["properties"]["code"]["enum"])


def files(root):
    """Regular files below a folder, as paths from it; bytes, since names are."""
    root = os.fsencode(root)
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, root)


def plain(path):
    """A path as it is, of a percent-encoded one."""
    return urllib.parse.unquote_to_bytes(path)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


def said(entry):
    """A path as a document says it."""
    return urllib.parse.unquote_to_bytes(entry["path-bytes"]) if "path-bytes" in entry else entry["path"].encode()


def note_of(name):
    """The file name of the note beside a failed source; where it would be too long, it is shortened and has a digest (FNV-1a) of the name."""
    suffix = b".error.json"
    if len(name) + len(suffix) <= 255:
        return name + suffix
    sum = 0xCBF29CE484222325
    for byte in name:
        sum = (sum ^ byte) * 0x100000001B3 % (1 << 64)
    ending = b"~%x" % sum + suffix
    return name[:255 - len(ending)] + ending


def note_path(path):
    return os.path.join(os.path.dirname(path), note_of(os.path.basename(path)))


def size_of(path):
    """Width and height of a picture, decoded to its last pixel; raises where that fails."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(pictures.SIGNATURE):
        # Without a process for each: there may be a hundred thousand.
        return pictures.read_png(data)[:2]
    header = subprocess.run([b"vipsheader", b"-f", b"width", path], capture_output=True, text=True)
    if header.returncode:
        raise ValueError(header.stderr.strip())
    height = subprocess.run([b"vipsheader", b"-f", b"height", path], capture_output=True, text=True, check=True)
    whole = subprocess.run([b"vips", b"avg", path], capture_output=True, text=True)
    if whole.returncode:
        raise ValueError(whole.stderr.strip())
    return int(header.stdout), int(height.stdout)


class Checker:
    def __init__(self, options):
        self.options = options
        self.takes_sets = options.sets is not None
        self.sets = {}
        if self.takes_sets:
            with open(options.sets) as file:
                self.sets = {plain(name): [sorted(map(plain, drop)) for drop in drops] for name, drops in json.load(file).items()}
        self.violations = []
        self.pictures = 0

    def violated(self, sentence):
        self.violations.append(sentence)

    def at(self, place, path):
        return os.path.join(os.fsencode(getattr(self.options, place)), path)

    def paths(self, place):
        """What is dropped or was: without the service's own folder and the files that declare a set complete."""
        return [
            path for path in files(getattr(self.options, place))
            if not self.is_own(place, path) and not (self.takes_sets and os.path.basename(path) == DONE_MARK)]

    def failed_sources(self):
        """The sources in failed/, their files, and the notes that have no source beside them."""
        found = set(self.paths("failed"))
        if self.takes_sets:
            members = {path for path in found if b"/" in path}
            sources = {path.split(b"/")[0] for path in members}
            return sources, members, found - members - {note_path(path) for path in sources}
        notes = {note_path(path) for path in found} & found
        # One that was dropped under such a name has a note of its own.
        orphans = {path for path in found - notes if path.endswith(b".error.json") and note_path(path) not in notes}
        return found - notes - orphans, found - notes - orphans, orphans

    def dropped(self):
        """Digest and path of each file that was dropped, in order."""
        with open(self.options.dropped, "rb") as lines:
            for line in lines:
                sum, path = line.rstrip(b"\n").split(b"  ", 1)
                yield sum.decode(), urllib.parse.unquote_to_bytes(path)

    def found(self, *places):
        """How often each digest is found in these places."""
        return collections.Counter(digest(self.at(place, path)) for place in places for path in self.paths(place))

    def nothing_lost(self, reports):
        {"move": self.all_moved, "keep": self.all_kept, "delete": lambda: self.only_rendered_deleted(reports)}[self.options.originals]()

    def all_moved(self):
        dropped = collections.Counter(sum for sum, _ in self.dropped())
        found = self.found("inbox", "work", "done")
        found.update(digest(self.at("failed", path)) for path in self.failed_sources()[1])
        for missing, count in (dropped - found).items():
            self.violated("lost: %d of the drops with SHA-256 %s" % (count, missing))
        for extra, count in (found - dropped).items():
            self.violated("more than was dropped: %d with SHA-256 %s" % (count, extra))

    def all_kept(self):
        last = {path: sum for sum, path in self.dropped()}
        sums = {sum for sum, _ in self.dropped()}
        inbox = {path: digest(self.at("inbox", path)) for path in self.paths("inbox")}
        for path in sorted(last.keys() - inbox.keys()):
            self.violated("lost: %r is not in the inbox, which keeps its originals" % path)
        for path in sorted(inbox.keys() - last.keys()):
            self.violated("more than was dropped: %r in the inbox" % path)
        for path in sorted(last.keys() & inbox.keys()):
            if last[path] != inbox[path]:
                self.violated("%r in the inbox is not what was dropped" % path)
        for path in self.paths("done"):
            self.violated("%r is in done/, but the inbox keeps its originals" % path)
        for path in self.failed_sources()[1]:
            if digest(self.at("failed", path)) not in sums:
                self.violated("%r in failed/ is not a copy of what was dropped" % path)

    def only_rendered_deleted(self, reports):
        rendered = set()
        for report in reports.values():
            if report["status"] == "done":
                source = report["source"]
                rendered |= {said(member) for member in source["members"]} if self.takes_sets else {said(source)}
        found = self.found("inbox", "work", "done")
        found.update(digest(self.at("failed", path)) for path in self.failed_sources()[1])
        # A drop of the same path that came later replaced the report of the earlier one.
        for sum, path in self.dropped():
            if found[sum] > 0:
                found[sum] -= 1
            elif path not in rendered:
                self.violated("lost: %r is gone and no report lists it" % path)
        for extra, count in (+found).items():
            self.violated("more than was dropped: %d with SHA-256 %s" % (count, extra))
        for path in [] if self.options.power_lost else self.paths("done"):
            if not self.takes_sets or re.sub(rb"^([^/]*)~\d+/", rb"\1/", path) in rendered:
                self.violated("%r is in done/, but the inbox deletes its originals" % path)

    @staticmethod
    def is_own(place, path):
        # Where the inbox is a mount of its own, work/ and the others are in it, and what others may reach too has a lock.
        return place == "inbox" and path.split(b"/")[0] == OWN or place == "work" and path == LOCK

    def reports(self):
        """All of them, in reports/ or beside the renditions, of which none is JSON."""
        found = {}
        for path in files(self.options.outbox):
            if path.split(b"/")[0] == OWN or not path.endswith(b".json"):
                continue
            try:
                with open(self.at("outbox", path)) as file:
                    found[path] = json.load(file)
            except ValueError as error:
                self.violated("the report %r is not whole: %s" % (path, error))
        return found

    def members(self, path, source):
        """The report of a set lists the members that were there when the set was declared complete, all of them and no others."""
        drops = self.sets.get(said(source))
        if drops is None:
            return self.violated("the report %r is of a set that was not dropped" % path)
        listed = sorted(said(member) for member in source.get("members", []))
        # While work is under way, the report may be the one of an earlier drop.
        if listed not in (drops[-1:] if self.options.settled else drops):
            self.violated("the report %r lists %d members, and %d were dropped: %r are missing, %r are too many" % (
                path, len(listed), len(drops[-1]), sorted(set(drops[-1]) - set(listed))[:5], sorted(set(listed) - set(drops[-1]))[:5]))

    def published(self, reports):
        owners = {}
        sources = set()
        for path, report in reports.items():
            if report["status"] != "done":
                continue
            sources.add(said(report["source"]))
            if self.takes_sets:
                self.members(path, report["source"])
            for rendition in report["renditions"]:
                name = said(rendition)
                if name in owners:
                    self.violated("%r is listed by two reports: %r and %r" % (name, owners[name], path))
                owners[name] = path
                self.rendition(name, rendition, path)
        for path in files(self.options.outbox):
            # Everything in a folder of tiles is of one rendition.
            within = path.partition(b".tiles/")[0] + b".tiles" if tiles.is_within(path) else path
            if path.split(b"/")[0] != OWN and not path.endswith(b".json") and within not in owners:
                self.violated("the rendition %r is in no report" % path)
        for path in self.paths("done"):
            if self.takes_sets:
                path = path.split(b"/")[0]
            # A second one of the same name is there with ~2 after its stem.
            plain = re.sub(rb"~\d+(\.[^./]*)?$", rb"\1", path)
            if self.options.power_lost and plain.startswith(b"recovered-"):
                continue
            if path not in sources and plain not in sources and self.options.originals != "keep":
                self.violated("%r is done and has no report" % path)

    def rendition(self, name, entry, report):
        path = self.at("outbox", name)
        if name.endswith(b".tiles"):
            return self.tiles(path, name, entry, report)
        if not os.path.isfile(path):
            return self.violated("%r, of the report %r, is missing" % (name, report))
        if "bytes" in entry and os.path.getsize(path) != entry["bytes"]:
            self.violated("%r has %d bytes, its report says %d" % (name, os.path.getsize(path), entry["bytes"]))
        if "sha256" in entry and digest(path) != entry["sha256"]:
            self.violated("%r is not what its report says: SHA-256" % name)
        self.pictures += 1
        try:
            size = size_of(path)
        except ValueError as error:
            return self.violated("%r cannot be decoded: %s" % (name, error))
        if size != (entry["width"], entry["height"]):
            self.violated("%r has %d x %d pixels, its report says %d x %d" % ((name,) + size + (entry["width"], entry["height"])))

    def tiles(self, path, name, entry, report):
        self.pictures += 1
        try:
            size, _ = tiles.whole(os.fsdecode(path))
        except (FileNotFoundError, NotADirectoryError):
            return self.violated("%r, of the report %r, is missing" % (name, report))
        except ValueError as error:
            return self.violated("%r is not whole: %s" % (name, error))
        if size != (entry["width"], entry["height"]):
            self.violated("%r has %d x %d pixels, its report says %d x %d" % ((name,) + size + (entry["width"], entry["height"])))

    def nothing_left(self):
        for place in ("inbox", "work", "done", "failed", "outbox"):
            for path in files(getattr(self.options, place)):
                name = os.path.basename(path)
                if any(part.startswith(b".imagemill-") for part in path.split(b"/")) or (place == "outbox" and name.endswith(b".part")):
                    self.violated("a temporary file is left in %s: %r" % (place, path))
        if self.options.settled:
            for path in self.paths("work"):
                self.violated("work/ still has %r" % path)
            for path in self.paths("inbox") if self.options.originals != "keep" else []:
                self.violated("the inbox still has %r" % path)

    def failures(self):
        known = codes()
        sources, _, orphans = self.failed_sources()
        for note in orphans:
            self.violated("the note %r has no source beside it" % note)
        for path in sources:
            try:
                with open(self.at("failed", note_path(path))) as file:
                    note = json.load(file)
            except FileNotFoundError:
                self.violated("%r has failed without a reason" % path)
                continue
            except ValueError as error:
                self.violated("the note of %r is not whole: %s" % (path, error))
                continue
            if note.get("code") not in known:
                self.violated("%r has failed for an unknown reason: %r" % (path, note.get("code")))
            if not note.get("replay"):
                self.violated("the note of %r has no command to replay it" % path)

    def run(self):
        reports = self.reports()
        self.nothing_lost(reports)
        self.published(reports)
        self.nothing_left()
        self.failures()
        for sentence in self.violations:
            print(sentence)
        if not self.violations:
            print("all holds: %d pictures decoded" % self.pictures)
        return 1 if self.violations else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("dropped", "inbox", "work", "done", "failed", "outbox"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--originals", choices=["move", "keep", "delete"], default="move", help="the policy of the inbox")
    parser.add_argument("--sets", metavar="FILE", help="the sets that were dropped; without it, each file is a source")
    parser.add_argument("--power-lost", action="store_true", help="what was rendered may be unknown: then it is in done/ whatever the policy")
    parser.add_argument("--settled", action="store_true", help="all work is over: nothing may be in inbox or work/")
    options = parser.parse_args()
    for program in ("vips", "vipsheader"):
        if not shutil.which(program):
            sys.exit(program + " is missing: install libvips-tools")
    sys.exit(Checker(options).run())


if __name__ == "__main__":
    main()
