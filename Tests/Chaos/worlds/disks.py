"""File systems of a world, and what can happen to them: each is mounted at one place and shown at another, from which it can go away."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mill import HERE, Skipped

# Sparse, so that they cost what is in them.
MEGABYTES = {"ext4": 256, "xfs": 512, "btrfs": 512, "tmpfs": 256}
MAKE = {"ext4": ["mkfs.ext4", "-q", "-m", "0"], "xfs": ["mkfs.xfs", "-q"], "btrfs": ["mkfs.btrfs", "-q"]}
ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def call(*words):
    found = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    if found.returncode:
        lines = (found.stderr or found.stdout).strip().splitlines() or ["exit code %d" % found.returncode]
        raise Skipped("%s: %s" % (words[0], lines[0]))


class Disk:
    """A file system of a kind: `backing` is where it always is, `view` where the daemons find it unless it is away."""

    def __init__(self, world_folder, name, kind, attributes=True, noreplace=True):
        self.name, self.kind = name, kind
        self.backing = os.path.join(world_folder, "disks", name)
        self.view = os.path.join(world_folder, name)
        self.origin, self.server, self.image = self.backing, None, None
        self.control = os.path.join(world_folder, "faults-" + name)
        self.has_attributes, self.has_noreplace = attributes, noreplace
        self.filler = os.path.join(self.backing, "filler")
        self.is_away = self.is_full = self.hangs = False
        self.fault = self.was_broken = None
        os.makedirs(self.backing)
        os.makedirs(self.view)
        self.make()
        os.makedirs(os.path.join(self.backing, "aside"))

    @property
    def is_whole(self):
        return not (self.is_away or self.is_full or self.hangs or self.fault)

    def make(self):
        if self.kind in MAKE:
            if not shutil.which(MAKE[self.kind][0], path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
                raise Skipped("no %s" % self.kind)
            file, self.image = tempfile.mkstemp(prefix="imagemill-", suffix=".img", dir=ROOM or os.path.dirname(self.view))
            os.truncate(file, MEGABYTES[self.kind] << 20)
            os.close(file)
            try:
                call(*MAKE[self.kind], self.image)
                call("mount", "-o", "loop", self.image, self.backing)
            except Skipped as reason:
                os.unlink(self.image)
                raise Skipped("no %s (%s)" % (self.kind, reason))
            # The loop device holds it until the file system is unmounted.
            os.unlink(self.image)
        elif self.kind == "tmpfs":
            call("mount", "-t", "tmpfs", "-o", "size=%dm" % MEGABYTES["tmpfs"], "tmpfs", self.backing)
        elif self.kind == "fuse":
            self.serve()
        # For the others, the machine's own disk.
        call("mount", "--rbind", self.origin, self.view)

    def serve(self):
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise Skipped("no fuse")
        self.origin = self.backing + "-mounted"
        os.makedirs(self.origin)
        words = ["--undo", self.backing + "-undo", *([] if self.has_attributes else ["--no-attributes"]), *([] if self.has_noreplace else ["--no-noreplace"])]
        self.server = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "passthrough"), *words, self.backing, self.origin, self.control], stdout=subprocess.PIPE,
            stderr=open(os.path.join(os.path.dirname(self.view), "fuse.log"), "a"), text=True)
        if self.server.stdout.readline() != "ready\n":
            raise Skipped("no fuse")

    # What can happen

    def note_broken(self):
        """It may be whole again before anybody looks."""
        self.was_broken = time.monotonic()

    def away(self):
        call("umount", "--lazy", self.view)
        self.is_away = True
        self.note_broken()

    def back(self):
        if self.is_away:
            call("mount", "--rbind", self.origin, self.view)
            self.is_away = False

    def fill(self, room=0):
        """Leaves no room, or some kilobytes."""
        if self.kind == "fuse":
            return self.break_calls("write ENOSPC 3" if room else "change ENOSPC")
        if self.kind == "plain":
            raise Skipped("no full disk: this one is the machine's own")
        self.is_full = True
        self.note_broken()
        with open(self.filler, "wb") as file:
            size, place = 64 << 20, 0
            while size >= 4096:
                try:
                    os.posix_fallocate(file.fileno(), place, size)
                    place += size
                except OSError:
                    size //= 2
            if room:
                file.truncate(max(0, place - (room << 10)))

    def free(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.filler)
        self.is_full = False

    def break_calls(self, lines):
        """Lets calls answer as the file system's control file says."""
        if self.kind != "fuse":
            raise Skipped("no failing calls on %s" % self.kind)
        self.fault = lines
        self.note_broken()
        with open(self.control + ".new", "w") as file:
            file.write(lines + "\n")
        os.rename(self.control + ".new", self.control)

    def hang(self):
        if self.kind != "fuse":
            raise Skipped("no hanging calls on %s" % self.kind)
        self.hangs = True
        self.note_broken()
        self.server.send_signal(signal.SIGSTOP)

    def heal(self):
        """Everything is as it should be again."""
        if self.server:
            self.server.send_signal(signal.SIGCONT)
            self.hangs = False
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.control)
        self.fault = None
        self.free()
        self.back()
        if self.server:
            # The next call makes it see that.
            with contextlib.suppress(OSError):
                os.stat(self.origin)

    def remove(self):
        if self.server:
            self.server.kill()
            self.server.wait()
        for place in (self.view, self.origin, self.backing):
            subprocess.run(["umount", "--lazy", place], capture_output=True)
