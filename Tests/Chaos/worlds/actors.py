"""Does what a history says, step by step, and knows afterwards what was dropped, put and told."""
import contextlib
import dataclasses
import errno
import fcntl
import os
import random
import shutil
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import threading
import time

from experiment import Skipped
from mill import rename_new
from worlds import sources, world as drawn
from worlds.disks import call
from worlds.history import BAD

IMMUTABLE, GET_FLAGS, SET_FLAGS = 0x10, 0x80086601, 0x40086602
SUPERVISOR = "supervisor"
# The exit code of a daemon that may succeed another time.
TRY_AGAIN = 75


@dataclasses.dataclass
class Source:
    """What was dropped: its path in the inbox, and the colors and digests that it may have; a set has a list of members."""
    who: str
    path: str
    kind: str
    habit: str
    # Of each member, or of the one picture: its name below the path, its digests and its numbers.
    members: list
    is_set: bool
    time: float = 0
    # The originals that its inbox may apply to it.
    policies: set = dataclasses.field(default_factory=set)
    # The paths that it may have besides, if its folder was moved.
    other_paths: tuple = ()
    # Those of the colors, from the first to the last.
    numbers: tuple = ()
    # Whether its writer has replaced it in the inbox, which keeps its originals.
    replaced: bool = False

    @property
    def is_good(self):
        return self.kind in ("good", "heavy", "big", "wild")

    @property
    def paths(self):
        return (self.path, *self.other_paths)

    @property
    def digests(self):
        return [digest for _, digests, _ in self.members for digest in digests]

    def stem(self):
        return self.path if self.is_set else self.path.rpartition(".")[0]


class Actors:
    def __init__(self, household, seed):
        self.household, self.world = household, household.world
        self.dice = random.Random("actors %d" % seed)
        self.lock = threading.RLock()
        self.sources, self.threads, self.said, self.violations = [], [], [], []
        # Files of other programs: path in the outbox and bytes, None if removed. And all bytes that such a file ever had.
        self.foreign, self.foreign_digests = {}, set()
        # Names in outboxes that somebody has put, changed or removed, and renditions that are gone on purpose.
        self.touched = set()
        self.things, self.held, self.below = [], [], []
        self.kills = self.worker_kills = self.bytes = self.steps = 0
        # What could not be done here, and how often.
        self.impossible = {}
        # What makes a source be done more than once.
        self.redone, self.ledger_lost, self.retried, self.undone = 0, set(), 0, 0
        # Clients of the dashboard that never end their request.
        self.clients = []
        self.policies = {who: {self.world.originals} for who in self.world.who}
        self.now = {who: self.world.originals for who in self.world.who}
        # The policy before the last change, and until when a daemon may still go by it.
        self.before = {who: (self.world.originals, 0) for who in self.world.who}

    @property
    def again(self):
        """How often everything may have been done again: by a changed pipeline, a retry, a lost ledger, or a disk that went back to an earlier state."""
        return self.redone + self.retried + len(self.ledger_lost) + self.undone

    # The way through a history

    def run(self, steps):
        for number, step in steps:
            time.sleep(step["wait"])
            self.say("%d %s" % (number, step["do"]))
            try:
                getattr(self, "do_" + step["do"])(**{key: value for key, value in step.items() if key not in ("do", "wait")})
                self.steps += 1
            except Skipped as reason:
                self.impossible[str(reason)] = self.impossible.get(str(reason), 0) + 1
            self.look_after()
        for thread in self.threads:
            thread.join()

    def say(self, sentence):
        self.said.append("%.2f %s" % (time.monotonic(), sentence))

    def violated(self, kind, sentence):
        with self.lock:
            if (kind, sentence) not in self.violations:
                self.violations.append((kind, sentence))

    def look_after(self):
        """A daemon that ended by itself."""
        for who, daemon in self.household.daemons.items():
            with daemon.lock:
                if daemon.expected and daemon.process and not daemon.is_alive:
                    daemon.expected = False
                    if daemon.process.returncode == TRY_AGAIN and not daemon.has_run and daemon.began_in_trouble:
                        # It cannot begin on a disk that is full or fails; a service manager would start it again.
                        continue
                    self.violated("ended", "the daemon of %s has ended with %s" % (who, daemon.process.returncode))

    def inbox(self, who):
        return self.household.inboxes[who]

    def daemon(self, who):
        return self.household.daemons[self.world.daemon_of(who)]

    def background(self, work, *arguments):
        def guarded():
            try:
                work(*arguments)
            except Skipped:
                pass
        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()

    # Dropping

    def register(self, source):
        with self.lock:
            source.time = time.monotonic()
            before, until = self.before[source.who]
            source.policies = {self.now[source.who]} | ({before} if source.time < until else set())
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
        if kind == "big":
            return sources.picture(number, ".png", comment, padding=12 << 20)
        data = sources.picture(number, ending, comment)
        return data[:-30] if kind == "cut" else data

    def do_drop(self, who, name, numbers, kind, habit):
        if self.inbox(who).takes_sets:
            return self.drop_set(who, name, numbers, kind, habit)
        if kind == "wild":
            return self.drop_wild(who, name, numbers, float(habit))
        data = self.data(numbers[0], name, kind, who)
        target = self.target(who, name)
        source = Source(who, name, kind, habit, [("", [sources.sha(data)], numbers)], False, numbers=tuple(numbers))
        self.bytes += len(data)
        if habit in ("slow", "reopened", "sparse", "rsync"):
            self.background(self.write, source, target, data, habit)
        else:
            self.write(source, target, data, habit)

    def target(self, who, name):
        path = os.path.join(self.inbox(who).backing, name)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)
            self.household.own(folder)
        return path

    def write(self, source, target, data, habit):
        """Writes a picture as its writer is used to. A name that is taken is replaced where originals stay, as an editor does."""
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
                self.create(source, target, lambda file: file.write(data[:half]))
                time.sleep(drawn.SETTLE / 3)
                self.append(target, data[half:], data[:half])
            else:
                self.create(source, target, lambda file: self.pieces(file, data, 5 if habit == "slow" else 1, drawn.SETTLE / 4))
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.ENOENT):
                raise
            # A disk that is full for everybody: what was begun is taken away again.
            self.give_up(source, target, locals().get("first"))

    def give_up(self, source, *paths):
        for path in paths:
            with contextlib.suppress(OSError, TypeError):
                os.unlink(path)
        with self.lock:
            if source in self.sources:
                source.kind = "given up"

    def append(self, target, data, before):
        with open(target, "r+b", buffering=0) as file:
            file.seek(len(before))
            file.write(data)

    def create(self, source, target, write):
        with open(target, "xb", buffering=0) as file:
            self.household.own(target)
            self.register(source)
            write(file)

    def pieces(self, file, data, count, pause):
        step = max(1, -(-len(data) // count))
        for place in range(0, len(data), step):
            if place:
                time.sleep(pause)
            file.write(data[place:place + step])

    def write_from_the_end(self, file, data):
        """As a download in parts does: the size is there first, the end before the beginning."""
        file.truncate(len(data))
        half = len(data) // 2
        file.seek(half)
        file.write(data[half:])
        # On a file system of another machine nobody can see that the file is open.
        time.sleep(drawn.SETTLE / 4)
        file.seek(0)
        file.write(data[:half])

    def write_pieces(self, path, data, count, pause):
        with open(path, "xb", buffering=0) as file:
            self.pieces(file, data, count, pause)
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
            with contextlib.suppress(FileExistsError):
                with open(target, "xb", buffering=0) as file:
                    self.household.own(target)
                    file.write(one)
                    self.register(source)
                    time.sleep(pause)
                    os.pwrite(file.fileno(), two, 0)
        self.background(work)

    def drop_set(self, who, name, numbers, kind, habit):
        names = ["%d.png" % (place + 1) for place in range(len(numbers))]
        if habit == "renamed" and len(names) > 2:
            names[-1] = "inner/%s" % names[-1]
        members = [(member, self.member(number, name, place, kind, who)) for place, (member, number) in enumerate(zip(names, numbers))]
        source = Source(who, name, kind, habit, [(member, [sources.sha(data)], [number]) for (member, data), number in zip(members, numbers)],
                        True, numbers=tuple(numbers))
        self.bytes += sum(len(data) for _, data in members)
        if habit in ("quiet", "dotted", "rsync"):
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
        except FileExistsError:
            return
        self.household.own(target)
        self.register(source)
        try:
            for place, (member, data) in enumerate(members):
                self.write_member(target, member, data, habit, last=place == len(members) - 1)
            if habit == "mark":
                self.write_pieces(os.path.join(target, ".done"), b"", 1, 0)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.ENOENT):
                raise
            source.kind = "given up"

    def write_member(self, folder, member, data, habit, last):
        path = os.path.join(folder, member)
        if habit == "mark":
            self.write_pieces(path, data, 1, 0)
        elif habit == "quiet":
            self.write_pieces(path, data, 2, drawn.SET_QUIET / 4)
        else:
            # An upload that takes longer than `set-quiet`, its file open all the time.
            first = os.path.join(folder, {"dotted": ".%s", "rsync": ".%s.Xa1b2C"}[habit] % member)
            self.write_pieces(first, data, 4, drawn.SET_QUIET * 0.45)
            os.rename(first, path)

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

    # Other programs in the outbox

    def do_foreign(self, who, name, number, how):
        path = os.path.join(self.household.outbox_of(who), name)
        data = b"FOREIGN %d" % number if number % 2 else sources.png((250, 251, 252), comment=b"FOREIGN %d" % number)
        self.put_foreign(path, data, how)

    def put_foreign(self, path, data, how):
        with self.lock:
            self.foreign_digests.add(sources.sha(data))
            first = os.path.join(os.path.dirname(path), ".foreign")
            try:
                if how == "in place":
                    # Only what nobody works on any more: a program that saves into a file at the moment at which another one replaces it loses.
                    if not os.path.isfile(path):
                        return
                    with open(path, "r+b", buffering=0) as file:
                        self.touched.add(path)
                        file.truncate(0)
                        file.write(data)
                        if os.fstat(file.fileno()).st_nlink == 0:
                            return
                else:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    self.household.own(os.path.dirname(path))
                    with open(first, "wb") as file:
                        file.write(data)
                    self.household.own(first)
                    if how == "new":
                        rename_new(os.fsencode(first), os.fsencode(path))
                    else:
                        os.rename(first, path)
                    self.touched.add(path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(first)
                return
            self.foreign[path] = data

    def do_change_foreign(self, number, chance, how):
        with self.lock:
            paths = sorted(path for path, data in self.foreign.items() if data is not None)
            if not paths:
                return
            path = paths[int(chance * len(paths))]
            if how == "remove":
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                self.foreign[path] = None
            else:
                self.put_foreign(path, b"FOREIGN %d, again" % number, how)

    def do_remove_output(self, who, name):
        path = os.path.join(self.household.outbox_of(who), name)
        with self.lock:
            if os.path.isfile(path):
                self.touched.add(path)
                os.unlink(path)
                self.foreign.pop(path, None)

    # Processes

    def do_kill(self, daemon):
        daemon = self.household.daemons[daemon]
        with daemon.lock:
            if daemon.is_alive:
                self.kills += 1
            daemon.expected = False
            daemon.kill()

    def do_start(self, daemon, ready):
        daemon = self.household.daemons[daemon]
        with daemon.lock:
            if daemon.is_alive:
                return
            # What was not mounted when it started cannot be known to be a mount.
            for disk in self.household.disks.values():
                disk.back()
            daemon.begin(ready=False)
        if ready and all(disk.is_whole for disk in self.household.disks.values()):
            self.wait_running(daemon)

    def wait_running(self, daemon, seconds=60):
        end = time.monotonic() + seconds
        while not daemon.is_running():
            if not daemon.is_alive:
                return
            if time.monotonic() > end:
                return self.violated("start", "the daemon of %s does not say that it runs within %d s" % (daemon.who, seconds))
            time.sleep(0.05)

    def do_kills(self, daemon, count, interval):
        for _ in range(count):
            self.do_start(daemon, ready=True)
            time.sleep(interval)
            self.do_kill(daemon)
        self.do_start(daemon, ready=True)

    def do_kill_worker(self, daemon, which, chance):
        daemon = self.household.daemons[daemon]
        found = [daemon.starter()] if which == "starter" else daemon.workers_running()
        if daemon.is_alive and any(found):
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[int(chance * len(found))], signal.SIGKILL)
                self.worker_kills += 1

    def do_stop(self, daemon, which, chance):
        daemon = self.household.daemons[daemon]
        found = [daemon.process.pid] if which == SUPERVISOR and daemon.is_alive else daemon.workers_running() if daemon.is_alive else []
        if found:
            process = found[int(chance * len(found))]
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
                daemon.stopped.append(process)

    def do_go_on(self, daemon):
        daemon = self.household.daemons[daemon]
        for process in daemon.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        daemon.stopped = []

    def do_terminate(self, daemon):
        who, daemon = daemon, self.household.daemons[daemon]
        self.do_go_on(who)
        with daemon.lock:
            if not daemon.is_alive:
                return
            ran = daemon.is_running()
            daemon.expected = False
            daemon.signal(signal.SIGTERM)
            hung = any(disk.hangs for disk in self.household.disks.values())
            try:
                code = daemon.process.wait(3 if hung else 60)
            except subprocess.TimeoutExpired:
                if not hung:
                    self.violated("stop", "the daemon of %s does not end within 60 s after SIGTERM" % who)
                daemon.kill()
                self.kills += 1
                return
            # Before it runs, it may end as any program does.
            if code not in (0, -signal.SIGKILL) and not (code == -signal.SIGTERM and not ran):
                self.violated("stop", "the daemon of %s ends with %d after SIGTERM" % (who, code))

    # Configurations

    def in_work(self, who):
        """The digests that are in work/ now."""
        return {digest for shelf in self.household.shelves(who, "work") for digest, _ in found_below(shelf)}

    def change_policy(self, daemon, to, apply):
        """What was already claimed keeps the policy that it was claimed with; what is not claimed yet may have either, and so may what stays in the
        inbox, since it can be found again."""
        mine = [who for who in self.world.who if self.world.daemon_of(who) == daemon.who]
        before = {who: self.in_work(who) for who in mine}
        with self.lock:
            for source in self.sources:
                if source.who in mine:
                    if self.now[source.who] == "keep" or not before[source.who] & set(source.digests):
                        source.policies.add(to)
            for who in mine:
                self.policies[who].add(to)
                self.before[who] = (self.now[who], float("inf"))
                self.now[who] = to
        daemon.originals = to
        daemon.configure()
        until = apply()
        with self.lock:
            for who in mine:
                self.before[who] = (self.before[who][0], until)

    def do_reload(self, daemon, what, by, to=None):
        daemon = self.household.daemons[daemon]
        if what == "originals":
            return self.change_policy(daemon, to, lambda: self.apply(daemon, by))
        if what == "broken":
            if not (daemon.is_alive and daemon.is_running()):
                # It is not to start with a broken file.
                return
            daemon.write("mill.yaml", "inboxes: [ { path: ")
            self.apply(daemon, by)
            time.sleep(0.2)
        elif what == "pipeline" and not daemon.has_extra:
            self.redone += 1
            daemon.has_extra = True
        elif what == "priority":
            daemon.priority = 1 + daemon.priority % 3
        daemon.configure()
        self.apply(daemon, by)

    def do_reconfigure(self, daemon, originals):
        daemon = self.household.daemons[daemon]
        self.change_policy(daemon, originals, lambda: float("inf") if daemon.is_alive else 0)

    def apply(self, daemon, by):
        """Lets a daemon read its mill file again. Returns until when it may still go by the one before."""
        if not daemon.is_alive:
            return 0
        if by == "signal":
            # Before it runs, the signal ends it as it ends any program.
            if daemon.is_running():
                daemon.signal(signal.SIGHUP)
            return time.monotonic() + 30
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run([daemon.imagemill, "reload", daemon.path("mill.yaml")], capture_output=True, timeout=40)
            if done.returncode == 0:
                return 0
        return float("inf")

    # Disks, clocks and ledgers

    def disk(self, name):
        if name not in self.household.disks:
            raise Skipped("no disk of its own for %s" % name)
        return self.household.disks[name]

    def do_full(self, disk):
        self.disk(disk).fill()

    def do_away(self, disk):
        disk = self.disk(disk)
        if any(daemon.state_view.startswith(disk.view + "/") for daemon in self.household.daemons.values()):
            raise Skipped("no mount that goes away: the state folder is on it")
        if not all(daemon.is_alive and daemon.is_running() for daemon in self.household.daemons.values()):
            # Nobody knows that it was a mount.
            return
        disk.away()

    def do_faults(self, disk, lines):
        disk = self.disk(disk)
        disk.hang() if lines == "hang" else disk.break_calls(lines)
        self.undone += "lose" in lines

    def do_heal(self, disk):
        self.disk(disk).heal()

    def ledgers(self, daemon):
        return [os.path.join(daemon.state_backing, "ledger.sqlite" + more) for more in ("", "-wal", "-shm")]

    def do_save_ledger(self, daemon):
        daemon = self.household.daemons[daemon]
        try:
            with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % self.ledgers(daemon)[0], uri=True, timeout=5)) as ledger:
                with contextlib.closing(sqlite3.connect(daemon.path("ledger.backup"))) as copy:
                    ledger.backup(copy)
        except sqlite3.Error:
            with contextlib.suppress(OSError):
                os.unlink(daemon.path("ledger.backup"))

    def do_ledger(self, daemon, what, by):
        who, daemon = daemon, self.household.daemons[daemon]
        (self.do_kill if by == "kill" else self.do_terminate)(who)
        ledger, *logs = self.ledgers(daemon)
        backup = daemon.path("ledger.backup")
        if what == "older" and not os.path.exists(backup):
            what = "lost"
        self.ledger_lost.add(who)
        if what == "damaged" and os.path.exists(ledger):
            with open(ledger, "r+b") as file:
                size = os.path.getsize(ledger)
                for _ in range(4):
                    file.seek(self.dice.randrange(0, max(1, size - 300)))
                    file.write(self.dice.randbytes(200))
            daemon.begin(ready=False)
            end = time.monotonic() + 10
            while time.monotonic() < end and daemon.is_alive and not daemon.is_running():
                time.sleep(0.1)
            time.sleep(1)
            # As the documentation says: the program is stopped, and the ledger is moved away.
            daemon.expected = False
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
            os.rename(first, path)
            set_flag(file, True)
        except OSError as error:
            raise Skipped("no immutable file on %s: %s" % (inbox.disk.kind, os.strerror(error.errno)))
        finally:
            self.register(source)
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

    # What is done with a running daemon

    def do_retry(self, daemon, kill):
        who, daemon = daemon, self.household.daemons[daemon]
        if not daemon.is_alive:
            return
        self.retried += 1
        words = [daemon.imagemill, "retry", daemon.path("mill.yaml"), "--all"]
        if kill:
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.dice.uniform(0.02, 0.15))
            self.do_kill(who)
            process.wait()
            return self.do_start(who, ready=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(words, capture_output=True, timeout=40)

    def do_ask(self, daemon, what):
        daemon = self.household.daemons[daemon]
        if not (daemon.is_alive and not daemon.stopped and daemon.is_running()):
            return
        if what == "command":
            found = subprocess.run([daemon.imagemill, "status", daemon.path("mill.yaml"), "--json"], capture_output=True, text=True)
            if found.returncode not in (0, 1) and daemon.is_running():
                self.violated("status", "`imagemill status` ends with %d: %s" % (found.returncode, found.stderr.strip()))
            return
        if not self.world.http:
            raise Skipped("no dashboard in this world")
        path = {"status": b"/api/status", "metrics": b"/metrics"}.get(what, b"/")
        try:
            if what == "half a request":
                return self.ask_half(daemon)
            answer = daemon.ask(path)
        except OSError as error:
            if daemon.is_alive and not daemon.stopped:
                self.violated("status", "%s is not answered: %s" % (path.decode(), error))
            return
        if not answer.startswith(b"HTTP/1.1 200"):
            self.violated("status", "%s is answered with %r" % (path.decode(), answer[:40]))

    def ask_half(self, daemon):
        """A client that never ends its request."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.settimeout(2)
        with contextlib.suppress(OSError):
            end.connect(daemon.path("http.sock"))
            end.sendall(b"GET / HTTP/1.1\r\nHost: ")
        self.clients.append(end)

    # The end of a history

    def heal_all(self):
        for disk in self.household.disks.values():
            disk.heal()
        for who, daemon in self.household.daemons.items():
            self.do_go_on(who)
        self.let_go()
        for who in self.household.daemons:
            self.do_start(who, ready=True)


def set_flag(file, holds):
    """Whether a file or folder may be changed or moved by nobody, root included."""
    flags = struct.unpack("l", fcntl.ioctl(file, GET_FLAGS, struct.pack("l", 0)))[0]
    fcntl.ioctl(file, SET_FLAGS, struct.pack("l", flags | IMMUTABLE if holds else flags & ~IMMUTABLE))


def found_below(root):
    """Digest and path of each regular file below a folder."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        yield sources.sha(file.read()), path
            except FileNotFoundError:
                pass
