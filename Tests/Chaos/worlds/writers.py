"""Programs that write into inboxes, each as it is used to."""
import contextlib
import errno
import os
import shutil
import socket
import stat
import time

from experiment import Skipped
from mill import rename_new
from worlds import sources, world as drawn
from worlds.dropped import RawFile, Sidecar, Source
from worlds.history import BAD


def whole(file, data):
    """Writes all of it. A file without a buffer takes only what a full disk has room for, and says so by a number alone."""
    while data:
        data = data[file.write(data):]


class Writers:
    """The steps that drop something."""

    def register(self, source):
        with self.lock:
            source.time = time.monotonic()
            source.policies = {self.now[source.who]} | {policy for policy, until in self.before[source.who] if source.time < until}
            self.sources.append(source)

    def data(self, number, name, kind, who):
        comment = ("%s %s" % (who, name)).encode()
        ending = "." + name.rpartition(".")[2] if "." in name else ".png"
        if kind == "junk":
            return b"no picture %d %s" % (number, comment)
        if kind == "empty":
            return b""
        if kind == "heavy":
            return sources.heavy(number, comment)
        if kind == "giant":
            return sources.heavy(number, comment, 12000, 12000)
        if kind in ("above", "below"):
            # Above the limit of a world that has one, and below the usual one.
            return sources.heavy(number, comment, 9900, 9800)
        if kind == "big":
            return sources.picture(number, ".png", comment, padding=12 << 20)
        data = sources.picture(number, ending, comment)
        if kind == "cut":
            return data[:len(data) // 3] if ending == ".jpg" else data[:-30]
        return data

    def do_drop(self, who, name, numbers, kind, habit, sidecar="", raw=""):
        if self.inbox(who).takes_sets:
            return self.drop_set(who, name, numbers, kind, habit)
        if kind == "wild":
            return self.drop_wild(who, name, numbers, float(habit))
        how, _, tall = sidecar.partition(" ")
        data = self.data(numbers[0], name, kind, who)
        target = self.target(who, name)
        source = Source(who, name, kind, habit, [("", [sources.sha(data)], numbers)], False, numbers=tuple(numbers))
        self.bytes += len(data)
        if how in ("before", "slow", "removed"):
            self.write_sidecar(source, target, how, int(tall))
        if raw in ("before", "slow"):
            self.write_raw(source, target, raw)

        def work():
            self.write(source, target, data, habit)
            if raw == "after":
                time.sleep(self.dice.choice([0, 0.1, 0.3, 0.6]))
                self.write_raw(source, target, raw)
            if how == "after":
                time.sleep(self.dice.choice([0, 0.1, 0.3, 0.6]))
                self.write_sidecar(source, target, how, int(tall))
            if how == "removed" and source.sidecar:
                with self.lock, contextlib.suppress(FileNotFoundError):
                    os.unlink(target + ".yaml")
                    source.sidecar.removed = True

        if habit in ("slow", "reopened", "sparse", "rsync"):
            self.background(work)
        else:
            work()

    def write_sidecar(self, source, target, habit, tall):
        """Writes a sidecar, unless its name is taken. One that is wrong or too large sets no height."""
        number = source.numbers[0]
        bad = [b"tall: wide # %d\n", b"# %d\n" + b"#" * 70_000, b"\ttall: 5 # %d\n", b"tall: &a 5 # %d\nb: *a\n", b"# %d\ntale: 5\n"]
        data = b"tall: %d # %d\n" % (tall, number) if tall else bad[number % len(bad)] % number

        def note(beside):
            source.sidecar = beside
            self.sidecars.append((source, beside))
        self.write_beside(source, target + ".yaml", data, Sidecar(sources.sha(data), tall, habit), note)

    def write_raw(self, source, target, habit):
        """Writes the raw file of a photo, unless its name is taken."""
        data = b"raw %d" % source.numbers[0]
        path = source.path.rpartition(".")[0] + ".dng"

        def note(beside):
            beside.time = time.monotonic()
            self.raws.append((source, beside))
        self.write_beside(source, target.rpartition(".")[0] + ".dng", data, RawFile(path, sources.sha(data), habit), note)

    def write_beside(self, source, path, data, beside, note):
        first = os.path.join(self.inbox(source.who).aside, ".aside-%s" % sources.sha(data)[:12])
        try:
            if beside.habit == "slow":
                with open(path, "xb", buffering=0) as file:
                    self.household.own(path)
                    with self.lock:
                        note(beside)
                    self.pieces(file, data, 2, drawn.SETTLE / 4)
            else:
                self.write_pieces(first, data, 1, 0)
                with self.lock:
                    rename_new(os.fsencode(first), os.fsencode(path))
                    note(beside)
        except FileExistsError:
            os.path.lexists(first) and os.unlink(first)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.ENOENT):
                raise
            # It was begun under its own name, if it was noted.
            beside.removed = True
            for begun in (first, path):
                with contextlib.suppress(OSError):
                    os.unlink(begun)

    def target(self, who, name):
        path = os.path.join(self.inbox(who).backing, name)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)
            self.household.own(folder)
        return path

    def write(self, source, target, data, habit):
        """Writes a picture as its writer is used to. A name that is taken is replaced where originals stay, as an editor does."""
        first = None
        try:
            if os.path.lexists(target) and habit != "rename":
                habit = "part"
            folder, name = os.path.split(target)
            first = {"rename": os.path.join(self.inbox(source.who).aside, ".aside-%s" % sources.sha(data)[:12]),
                     "part": target + ".part", "rsync": os.path.join(folder, ".%s.Xa1b2C" % name)}.get(habit)
            if first:
                self.write_pieces(first, data, 4 if habit == "rsync" else 1, 0.05)
                self.rename(source, first, target)
            elif habit == "sparse":
                self.create(source, target, lambda file: self.write_from_the_end(file, data))
            elif habit == "reopened":
                half = len(data) // 2
                begun = self.create(source, target, lambda file: whole(file, data[:half]))
                time.sleep(drawn.SETTLE / 3)
                if not self.append(target, data[half:], half, begun):
                    # Another writer has put its own in that place meanwhile.
                    source.kind = "given up"
            else:
                self.create(source, target, lambda file: self.pieces(file, data, 5 if habit == "slow" else 1, drawn.SETTLE / 4))
        except FileExistsError:
            self.vain += 1
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.ENOENT):
                raise
            # A disk that is full for everybody: what was begun is taken away again.
            self.give_up(source, target, first)

    def give_up(self, source, target, first):
        with self.lock:
            # Under its own name there may be an earlier one, which is there to stay.
            begun = [path for path, is_own in ((first, first is not None), (target, source in self.sources)) if is_own]
            if source in self.sources:
                source.kind = "given up"
        for path in begun:
            with contextlib.suppress(OSError):
                os.unlink(path)

    def append(self, target, data, place, begun):
        """Goes on with what was begun, unless that has been replaced."""
        with open(target, "r+b", buffering=0) as file:
            if os.fstat(file.fileno()).st_ino != begun:
                return False
            file.seek(place)
            whole(file, data)
            return True

    def create(self, source, target, write):
        with open(target, "xb", buffering=0) as file:
            self.household.own(target)
            self.register(source)
            write(file)
            return os.fstat(file.fileno()).st_ino

    def pieces(self, file, data, count, pause, progress=None):
        step = max(1, -(-len(data) // count))
        for place in range(0, len(data), step):
            if place:
                time.sleep(pause)
            whole(file, data[place:place + step])
            if progress:
                progress()

    def write_from_the_end(self, file, data):
        """As a download in parts does: the size is there first, the end before the beginning."""
        file.truncate(len(data))
        half = len(data) // 2
        file.seek(half)
        whole(file, data[half:])
        # On a file system of another machine nobody can see that the file is open.
        time.sleep(drawn.SETTLE / 4)
        file.seek(0)
        whole(file, data[:half])

    def write_pieces(self, path, data, count, pause, progress=None):
        with open(path, "xb", buffering=0) as file:
            self.pieces(file, data, count, pause, progress)
        self.household.own(path)

    def rename(self, source, first, target):
        """Renames a complete file into the inbox; over one of that name only if it is there to stay."""
        with self.lock:
            stays = self.now[source.who] == "keep" and self.policies[source.who] == {"keep"}
            try:
                if stays and os.path.lexists(target):
                    os.rename(first, target)
                    for earlier in self.sources:
                        earlier.replaced |= (earlier.who, earlier.path) == (source.who, source.path)
                else:
                    rename_new(os.fsencode(first), os.fsencode(target))
            except OSError:
                os.unlink(first)
                raise FileExistsError(target)
            self.register(source)

    def drop_wild(self, who, name, numbers, pause):
        """A picture whose writer changes it in its place a moment later."""
        one, two = (sources.heavy(number, b"wild") for number in numbers)
        two = two[:len(one)]
        target = self.target(who, name)
        source = Source(who, name, "wild", "wild", [("", [sources.sha(one), sources.sha(two)], numbers)], False, numbers=tuple(numbers))

        def work():
            try:
                with open(target, "xb", buffering=0) as file:
                    self.household.own(target)
                    whole(file, one)
                    self.register(source)
                    time.sleep(pause)
                    os.pwrite(file.fileno(), two, 0)
            except FileExistsError:
                self.vain += 1
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                self.give_up(source, target, None)
        self.background(work)

    def drop_set(self, who, name, numbers, kind, habit):
        inbox = self.inbox(who)
        names = ["%d.png" % (place + 1) for place in range(len(numbers))]
        if habit == "renamed" and len(names) > 2:
            names[-1] = "inner/%s" % names[-1]
        members = [(member, self.member(number, name, place, kind, who)) for place, (member, number) in enumerate(zip(names, numbers))]
        source = Source(who, name, kind, habit, [(member, [sources.sha(data)], [number]) for (member, data), number in zip(members, numbers)],
                        True, numbers=tuple(numbers))
        self.bytes += sum(len(data) for _, data in members)
        if habit == "early" and inbox.disk.kind == "fuse":
            # It writes behind that file system, which cannot know that a file is open.
            habit = "mark"
        if habit in ("early", "quiet", "dotted", "rsync"):
            self.background(self.write_set, source, members, habit)
        else:
            self.write_set(source, members, habit)

    def member(self, number, name, place, kind, who):
        if kind == "heavy":
            # The members of a set are decoded together: of 4.5 MP each, they are within the limits.
            return sources.heavy(number, b"%d" % place, 3000, 1500)
        return self.data(number, "%s/%d.png" % (name, place), kind if kind in BAD and place == 0 else "good", who)

    def write_set(self, source, members, habit):
        """Writes a set: renamed in as a whole, or member by member, and declared complete or left alone."""
        inbox = self.inbox(source.who)
        target = os.path.join(inbox.backing, source.path)
        if habit == "renamed":
            first = os.path.join(inbox.aside, ".aside-%d" % source.numbers[0])
            try:
                for member, data in members:
                    os.makedirs(os.path.join(first, os.path.dirname(member)), exist_ok=True)
                    self.write_pieces(os.path.join(first, member), data, 1, 0)
                self.household.own(first)
                with self.lock:
                    rename_new(os.fsencode(first), os.fsencode(target))
                    self.register(source)
            except OSError:
                shutil.rmtree(first, ignore_errors=True)
            return
        try:
            os.mkdir(target)
        except OSError as error:
            # There is one, or a disk is full.
            if error.errno not in (errno.EEXIST, errno.ENOSPC):
                raise
            self.vain += 1
            return
        self.household.own(target)
        self.register(source)
        self.progress[target] = [time.monotonic(), 0]
        try:
            if habit == "early":
                return self.write_early(target, members)
            for place, (member, data) in enumerate(members):
                self.write_member(target, member, data, habit, last=place == len(members) - 1)
            if habit == "mark":
                self.write_pieces(os.path.join(target, ".done"), b"", 1, 0)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.ENOENT):
                raise
            source.kind = "given up"
            if error.errno == errno.ENOENT:
                self.taken_early(source, target)

    def progress_in(self, folder):
        """Remembers the longest time for which a set's writer has written nothing."""
        last, longest = self.progress[folder]
        now = time.monotonic()
        self.progress[folder] = [now, max(longest, now - last)]

    def taken_early(self, source, target):
        """A set that was taken while it was written, which may happen only if its writer was slower than it meant to be."""
        self.progress_in(target)
        _, longest = self.progress[target]
        if longest < drawn.SET_QUIET * 0.9:
            self.violated("early", "the set %r of %s was taken while it was written, at most %.2f s after the last change" % (
                source.path, source.who, longest))

    def write_member(self, folder, member, data, habit, last):
        path = os.path.join(folder, member)
        self.progress_in(folder)
        if habit == "mark":
            self.write_pieces(path, data, 1, 0)
        elif habit == "quiet":
            self.write_pieces(path, data, 2, drawn.SET_QUIET / 4)
        else:
            # An upload that takes longer than `set-quiet`, its file open all the time.
            first = os.path.join(folder, {"dotted": ".%s", "rsync": ".%s.Xa1b2C"}[habit] % member)
            self.write_pieces(first, data, 4, drawn.SET_QUIET * 0.45, lambda: self.progress_in(folder))
            self.progress_in(folder)
            os.rename(first, path)

    def write_early(self, folder, members):
        """Declares it complete while the last member is still written, in its own place."""
        *others, (last, data) = members
        for member, bytes in others:
            self.write_pieces(os.path.join(folder, member), bytes, 1, 0)
        path = os.path.join(folder, last)
        with open(path, "xb", buffering=0) as file:
            self.household.own(path)
            whole(file, data[:len(data) // 3])
            self.write_pieces(os.path.join(folder, ".done"), b"", 1, 0)
            for place in (1, 2):
                time.sleep(drawn.INCOMPLETE_AFTER / 4)
                whole(file, data[place * len(data) // 3:(place + 1) * len(data) // 3])

    def do_folder(self, who, name, numbers):
        inbox = self.inbox(who)
        first = os.path.join(inbox.aside, ".aside-%d" % numbers[0])
        os.mkdir(first)
        found = []
        for number in numbers:
            data = self.data(number, "p%d.png" % number, "good", who)
            self.write_pieces(os.path.join(first, "p%d.png" % number), data, 1, 0)
            path = "%s/p%d.png" % (name, number)
            found.append(Source(who, path, "good", "folder", [("", [sources.sha(data)], [number])], False, numbers=(number,)))
        self.household.own(first)
        with self.lock:
            os.rename(first, os.path.join(inbox.backing, name))
            for source in found:
                self.register(source)

    def do_move_folder(self, who, name, to):
        inbox = self.inbox(who)
        with self.lock:
            for source in self.sources:
                if source.who == who and source.path.startswith(name + "/"):
                    source.other_paths = (to + source.path[len(name):],)
        with contextlib.suppress(FileNotFoundError):
            os.rename(os.path.join(inbox.backing, name), os.path.join(inbox.backing, to))

    def do_thing(self, who, kind, name):
        path = os.path.join(self.inbox(who).backing, name + (".part" if kind == "leftover" else ".png"))
        secret = os.path.join(self.household.folder, "secret")
        if kind == "link":
            os.symlink(secret, path)
        elif kind == "folder-link":
            os.symlink(self.household.folder, path)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            if len(path) > 100:
                raise Skipped("no socket: the path is too long")
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(path)
        elif kind == "device":
            try:
                os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            except OSError:
                raise Skipped("no device: mknod is refused")
        else:
            with open(path, "wb") as file:
                file.write(b"an upload that was broken off")
        self.things.append((path, stat.S_IFMT(os.lstat(path).st_mode)))
