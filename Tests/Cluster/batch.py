"""Batches for the experiments: icons, plans, reference, and what must hold afterwards."""
import hashlib
import json
import os
import struct
import subprocess
import zlib

PIPELINE = """\
renditions:
  large: { stages: [ { resize: { size: 40x40 } } ], save: { format: png } }
  small: { stages: [ { resize: { size: 16x16 } } ], save: { format: webp } }
"""


def icon(number, side=64):
    """A PNG that differs from all others."""
    tint = hashlib.sha256(str(number).encode()).digest()
    rows = bytearray()
    for y in range(side):
        rows.append(0)
        for x in range(side):
            rows += bytes(((x * 4 + tint[0]) & 255, (y * 4 + tint[1]) & 255, (tint[2] + (x ^ y)) & 255, 255 if x + y > tint[3] & 31 else 90))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 1)) + chunk(b"IEND", b"")


def write_icons(folder, count, in_folder=200, side=64):
    for first in range(0, count, in_folder):
        place = f"{folder}/{first // in_folder:04}"
        os.makedirs(place)
        for number in range(first, min(first + in_folder, count)):
            with open(f"{place}/{number:06}.png", "wb") as file:
                file.write(icon(number, side))


class Batch:
    """A folder with sources, and the program."""

    def __init__(self, imagemill, folder):
        self.imagemill, self.folder = imagemill, folder
        with open(f"{folder}/icons.yaml", "w") as file:
            file.write(PIPELINE)

    def run(self, *words, expect=0):
        result = subprocess.run([self.imagemill, *words], cwd=self.folder, capture_output=True, text=True)
        if expect is not None and result.returncode != expect:
            raise AssertionError(f"{' '.join(words)}: {result.returncode} instead of {expect}\n{result.stderr[-2000:]}")
        return result

    def shard(self, plan, *options, sources="icons"):
        self.run("shard", sources, "--pipeline", "icons.yaml", "--keep-tree", "-o", plan, *options)
        with open(f"{self.folder}/{plan}/plan.json") as file:
            return json.load(file)

    def digests(self, out):
        """The digest of every rendition, by its path."""
        found = {}
        root = f"{self.folder}/{out}"
        for place, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name != ".imagemill"]
            for name in files:
                with open(f"{place}/{name}", "rb") as file:
                    found[os.path.relpath(f"{place}/{name}", root)] = hashlib.sha256(file.read()).hexdigest()
        return found

    def sources(self, folder="icons"):
        return sorted(os.path.relpath(f"{place}/{name}", f"{self.folder}/{folder}")
                      for place, _, files in os.walk(f"{self.folder}/{folder}") for name in files)

    def check(self, plan, out, reference, failures, sources=None):
        """The invariants of a batch that is complete: every source in exactly one shard, every rendition whole, nothing left over."""
        with open(f"{self.folder}/{plan}/plan.json") as file:
            document = json.load(file)
        state = f"{self.folder}/{out}/.imagemill"
        own = f"{state}/plan-{document['id']}"
        results = sorted(os.listdir(f"{own}/shards"))
        expected = [f"{number:06}.json" for number in range(document["shards"])]
        assert results == expected, f"results: {len(results)} of {len(expected)}"
        seen = []
        for name in results:
            with open(f"{own}/reports/{name}") as file:
                seen += [source["source"]["path"] for source in json.load(file)["sources"]]
        wanted = self.sources() if sources is None else sources
        assert sorted(seen) == wanted, f"{len(seen)} sources in the shards' reports, {len(set(seen))} different ones, expected {len(wanted)}"
        self.run("gather", plan, "-o", out)
        with open(f"{state}/report.json") as file:
            gathered = json.load(file)
        found = {failure["path"]: failure["code"] for failure in gathered["failures"]}
        assert found == failures, f"failures: {found}"
        assert gathered["summary"]["done"] + gathered["summary"]["failed"] == len(wanted)
        assert self.run("gather", plan, "-o", out, "--missing").stdout == ""
        digests = self.digests(out)
        different = [name for name in set(digests) | set(reference) if digests.get(name) != reference.get(name)]
        assert not different, f"{len(different)} renditions are not those of one run: {sorted(different)[:3]}"
        assert sorted(os.listdir(state)) == [f"plan-{document['id']}", "report.json"], os.listdir(state)
        assert os.listdir(f"{own}/staging") == [], os.listdir(f"{own}/staging")
        return gathered["summary"]
