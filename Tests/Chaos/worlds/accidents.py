"""What happens to disks, mounts, clocks and ledgers, and files that nobody may move."""
import contextlib
import fcntl
import os
import shutil
import signal
import sqlite3
import stat
import struct
import time

from experiment import Skipped
from worlds import sources
from worlds.disks import call
from worlds.dropped import Source


IMMUTABLE, GET_FLAGS, SET_FLAGS = 0x10, 0x80086601, 0x40086602


class Accidents:
    """The steps that break the world, and the end of what cannot be moved."""

    def disk(self, name):
        if name not in self.household.disks:
            raise Skipped("no disk of its own for %s" % name)
        return self.household.disks[name]

    def do_full(self, disk, room=0):
        self.disk(disk).fill(room)

    def do_away(self, disk):
        disk = self.disk(disk)
        if any(daemon.state_view.startswith(disk.view + "/") for daemon in self.household.daemons.values()):
            raise Skipped("no mount that goes away: the state folder is on it")
        if not all(daemon.is_alive and daemon.is_running() for daemon in self.household.daemons.values()):
            # Nobody knows that it was a mount.
            return False
        disk.away()

    def do_faults(self, disk, lines):
        disk = self.disk(disk)
        disk.hang() if lines == "hang" else disk.break_calls(lines)
        self.undone += "lose" in lines

    def do_heal(self, disk):
        disk = self.disk(disk)
        was_whole = disk.is_whole
        disk.heal()
        return not was_whole

    def do_fail_hook(self, who):
        """Lets the next hook fail, which must be tried again."""
        with open(os.path.join(self.household.told(who), ".fail"), "w"):
            pass

    def ledgers(self, daemon):
        return [os.path.join(daemon.state_backing, "ledger.sqlite" + more) for more in ("", "-wal", "-shm")]

    def do_save_ledger(self, daemon):
        daemon = self.household.daemons[daemon]
        ledger, log, _ = self.ledgers(daemon)
        backup = daemon.path("ledger.backup")
        try:
            with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % ledger, uri=True, timeout=1)) as source:
                # `backup` itself waits for as long as it is locked.
                source.execute("SELECT 1 FROM sqlite_master").fetchone()
                with contextlib.closing(sqlite3.connect(backup)) as copy:
                    source.backup(copy)
        except sqlite3.Error as error:
            with contextlib.suppress(OSError):
                os.unlink(backup)
            if "locked" in str(error) and daemon.is_alive and not daemon.stopped:
                self.snapshot(daemon, ledger, log, backup)

    def snapshot(self, daemon, ledger, log, backup):
        """As a snapshot of a file system has a ledger that is locked: as it is at one moment."""
        os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            # All of its threads have stopped when it is seen to have. One that waits for a hanging disk never does.
            end = time.monotonic() + 2
            while not os.waitid(os.P_PID, daemon.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG):
                if time.monotonic() > end:
                    raise TimeoutError
                time.sleep(0.001)
            shutil.copy(ledger, backup)
            shutil.copy(log, backup + "-wal")
        except OSError:
            for file in (backup, backup + "-wal"):
                with contextlib.suppress(OSError):
                    os.unlink(file)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(daemon.process.pid, signal.SIGCONT)
        if os.path.exists(backup):
            with contextlib.closing(sqlite3.connect(backup)) as copy:
                copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def do_ledger(self, daemon, what, by):
        who, daemon = daemon, self.household.daemons[daemon]
        (self.do_kill if by == "kill" else self.do_terminate)(who)
        ledger, *logs = self.ledgers(daemon)
        backup = daemon.path("ledger.backup")
        if what == "older" and not os.path.exists(backup):
            what = "lost"
        self.ledger_lost.add(who)
        self.losses += 1
        if what == "damaged" and os.path.exists(ledger):
            with open(ledger, "r+b") as file:
                size = os.path.getsize(ledger)
                for _ in range(4):
                    file.seek(self.dice.randrange(0, max(1, size - 300)))
                    file.write(self.dice.randbytes(200))
            daemon.begin(ready=False)
            # It says by its pauses what is wrong.
            daemon.expected = False
            end = time.monotonic() + 10
            while time.monotonic() < end and daemon.is_alive and not daemon.is_running():
                time.sleep(0.1)
            time.sleep(1)
            code = daemon.process.poll()
            if code is not None and code < 0:
                self.violated("ended", "the daemon of %s has ended with %d on a damaged ledger" % (who, code))
            # As the documentation says: the program is stopped, and the ledger is moved away.
            daemon.kill()
        for path in (ledger, *logs):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        if what == "older":
            shutil.copy(backup, ledger)
            self.household.own(ledger)
        self.do_start(who, ready=True)

    def do_clock(self, to, restart):
        if not self.world.clock:
            raise Skipped("no clock that jumps")
        with open(self.household.clock + ".new", "w") as file:
            file.write(to)
        os.rename(self.household.clock + ".new", self.household.clock)
        if restart:
            self.do_terminate("anna")
            self.do_start("anna", ready=True)

    def do_mount_below(self, who, name, numbers):
        inbox = self.inbox(who)
        if inbox.disk.kind == "fuse":
            raise Skipped("no mount below an inbox on fuse")
        # At both places at which the inbox is shown.
        folder = os.path.join(inbox.backing, name)
        os.mkdir(folder)
        shared = os.path.join(self.household.folder, "below-%s" % name)
        os.mkdir(shared)
        call("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", shared)
        for place in (folder, os.path.join(inbox.view, name)):
            call("mount", "--bind", shared, place)
            self.below.append(place)
        self.below.append(shared)
        self.household.own(shared)
        for number in numbers:
            data = self.data(number, "p%d.png" % number, "good", who)
            path = "%s/p%d.png" % (name, number)
            source = Source(who, path, "good", "mounted", [("", [sources.sha(data)], [number])], False, numbers=(number,))
            self.create(source, os.path.join(shared, "p%d.png" % number), lambda file: file.write(data))

    def do_obstacle(self, who, name, numbers):
        """A picture, or a folder of a set, that cannot be moved or removed for a time."""
        inbox = self.inbox(who)
        if inbox.takes_sets:
            members = [("1.png", self.data(numbers[0], name + "/1.png", "good", who)), ("inner/2.png", self.data(numbers[1], name + "/2.png", "good", who))]
            source = Source(who, name, "good", "mark", [(member, [sources.sha(data)], [number]) for (member, data), number in zip(members, numbers)],
                            True, numbers=tuple(numbers))
            first = os.path.join(inbox.aside, ".aside-%d" % numbers[0])
            for member, data in members:
                os.makedirs(os.path.join(first, os.path.dirname(member)), exist_ok=True)
                self.write_pieces(os.path.join(first, member), data, 1, 0)
            self.household.own(first)
            inner = os.path.join(first, "inner")
            if self.world.user == "nobody":
                # A folder of another user, in which the daemon may not write.
                os.chown(inner, 0, 0)
                os.chmod(inner, 0o755)
                self.held.append((os.path.join(inbox.backing, name, "inner"), "owner"))
            else:
                self.hold(inner)
            with self.lock:
                os.rename(first, os.path.join(inbox.backing, name))
                self.register(source)
            return
        data = self.data(numbers[0], name + ".png", "good", who)
        path = os.path.join(inbox.backing, name + ".png")
        source = Source(who, name + ".png", "good", "write", [("", [sources.sha(data)], [numbers[0]])], False, numbers=(numbers[0],))
        first = os.path.join(inbox.aside, ".held-%d" % numbers[0])
        self.write_pieces(first, data, 1, 0)
        file = os.open(first, os.O_RDONLY)
        try:
            set_flag(file, False)
            with self.lock:
                os.rename(first, path)
                self.register(source)
            set_flag(file, True)
        except OSError as error:
            raise Skipped("no immutable file on %s: %s" % (inbox.disk.kind, os.strerror(error.errno)))
        finally:
            self.held_file(file)

    def hold(self, folder):
        file = os.open(folder, os.O_RDONLY)
        try:
            set_flag(file, True)
        except OSError as error:
            raise Skipped("no immutable folder on %s: %s" % (self.world.inbox, os.strerror(error.errno)))
        finally:
            self.held_file(file)

    def held_file(self, file):
        self.held.append((file, "descriptor"))

    def let_go(self):
        """Everything that could not be moved can be moved again, as its permissions say."""
        for what, how in self.held:
            if how == "descriptor":
                with contextlib.suppress(OSError):
                    set_flag(what, False)
                    os.fchmod(what, 0o755 if stat.S_ISDIR(os.fstat(what).st_mode) else 0o664)
                os.close(what)
        for what, how in self.held:
            if how == "owner":
                for who in self.world.who:
                    for root in (self.inbox(who).backing, *self.household.shelves(who, "work")):
                        for folder, folders, _ in os.walk(root):
                            if "inner" in folders:
                                self.household.own(os.path.join(folder, "inner"))
        self.held = []


def set_flag(file, holds):
    """Whether a file or folder may be changed or moved by nobody, root included."""
    flags = struct.unpack("l", fcntl.ioctl(file, GET_FLAGS, struct.pack("l", 0)))[0]
    fcntl.ioctl(file, SET_FLAGS, struct.pack("l", flags | IMMUTABLE if holds else flags & ~IMMUTABLE))
