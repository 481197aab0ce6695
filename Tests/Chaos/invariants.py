#!/usr/bin/env python3
"""Checks what must hold after every experiment on a drop folder: nothing lost, nothing half done, nothing left over.

    invariants.py --dropped dropped.txt --inbox in --work work --done done --failed failed --outbox out [--settled]

`dropped.txt` has a line for each drop, in its own time: the SHA-256 of what was dropped, two spaces, the path in the inbox. Prints one line for each violation, and ends with 1 where there is any, with 0 and a sentence where there is none.
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

OWN = b".imagemill"


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
        self.violations = []
        self.pictures = 0

    def violated(self, sentence):
        self.violations.append(sentence)

    def at(self, place, path):
        return os.path.join(os.fsencode(getattr(self.options, place)), path)

    def failed_sources(self):
        found = set(files(self.options.failed))
        notes = {note_path(path) for path in found} & found
        # One that was dropped under such a name has a note of its own.
        orphans = {path for path in found - notes if path.endswith(b".error.json") and note_path(path) not in notes}
        return found - notes - orphans, orphans

    def nothing_lost(self):
        dropped = collections.Counter()
        with open(self.options.dropped, "rb") as lines:
            for line in lines:
                dropped[line.split(b" ", 1)[0].decode()] += 1
        found = collections.Counter()
        for place in ("inbox", "work", "done"):
            found.update(digest(self.at(place, path)) for path in files(getattr(self.options, place)) if not self.is_own(place, path))
        found.update(digest(self.at("failed", path)) for path in self.failed_sources()[0])
        for missing, count in (dropped - found).items():
            self.violated("lost: %d of the drops with SHA-256 %s" % (count, missing))
        for extra, count in (found - dropped).items():
            self.violated("more than was dropped: %d with SHA-256 %s" % (count, extra))

    @staticmethod
    def is_own(place, path):
        # Where the inbox is a mount of its own, work/ and the others stand in it.
        return place == "inbox" and path.split(b"/")[0] == OWN

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

    def published(self):
        owners = {}
        sources = set()
        for path, report in self.reports().items():
            if report["status"] != "done":
                continue
            sources.add(said(report["source"]))
            for rendition in report["renditions"]:
                name = said(rendition)
                if name in owners:
                    self.violated("%r is listed by two reports: %r and %r" % (name, owners[name], path))
                owners[name] = path
                self.rendition(name, rendition, path)
        for path in files(self.options.outbox):
            if path.split(b"/")[0] != OWN and not path.endswith(b".json") and path not in owners:
                self.violated("the rendition %r stands in no report" % path)
        for path in files(self.options.done):
            # A second one of the same name stands there with ~2 behind its stem.
            plain = re.sub(rb"~\d+(\.[^./]*)?$", rb"\1", path)
            if path not in sources and plain not in sources:
                self.violated("%r is done and has no report" % path)

    def rendition(self, name, entry, report):
        path = self.at("outbox", name)
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

    def nothing_left(self):
        for place in ("inbox", "work", "done", "failed", "outbox"):
            for path in files(getattr(self.options, place)):
                name = os.path.basename(path)
                if name.startswith(b".imagemill-") or (place == "outbox" and name.endswith(b".part")):
                    self.violated("a temporary file is left in %s: %r" % (place, path))
        if self.options.settled:
            for path in files(self.options.work):
                self.violated("work/ still has %r" % path)
            for path in files(self.options.inbox):
                if not self.is_own("inbox", path):
                    self.violated("the inbox still has %r" % path)

    def failures(self):
        known = codes()
        sources, orphans = self.failed_sources()
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
        self.nothing_lost()
        self.published()
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
    parser.add_argument("--settled", action="store_true", help="all work is over: nothing may be in inbox or work/")
    options = parser.parse_args()
    for program in ("vips", "vipsheader"):
        if not shutil.which(program):
            sys.exit(program + " is missing: install libvips-tools")
    sys.exit(Checker(options).run())


if __name__ == "__main__":
    main()
