"""A drop folder of its own for an experiment, and the daemon on it. Each experiment is one file beside this one; README.md lists them."""
import contextlib
import ctypes
import errno
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

from pictures import SIGNATURE, png

HERE = os.path.dirname(os.path.abspath(__file__))

PIPELINE = """\
renditions:
  small: { stages: [ { resize: { size: "16x16!" } } ], save: { format: png } }
  large: { stages: [ { resize: { size: "24x24!" } } ], save: { format: png } }
"""


# What a pipeline begins with that makes one picture of each set: its members beside each other, so that the first pixel is the first member's.
SET_HEAD = "source: set\nstages: [ { stitch: { direction: horizontal } } ]\n"
DONE_MARK = ".done"
# What a set says as `set-member-failed` if it happens to a member.
MEMBER_CODES = ("not-an-image", "truncated")


class Skipped(Exception):
    """It cannot be done here."""


class Failed(Exception):
    """The experiment has shown that something does not hold."""


class Mill:
    """Folders, a mill file and a daemon.

    `settings` are for every inbox, with `_` for `-`; None leaves one out. If `inboxes` is a dictionary, it has those of one inbox.

    The variant comes with the options. `originals` is the policy of every inbox. `sets`: whatever an experiment drops becomes the first member of
    a set, and `a.png` is the set `a`. `two_file_systems`: with `beside`, the state folder is a mount of its own, so that work/, done/ and failed/
    are in `.imagemill/` beside the inbox; with `inside`, every inbox is one, and they are in `.imagemill/` in it.
    """

    def __init__(self, options, inboxes=("inbox",), pipeline=PIPELINE, folder=None, workers=2, top="", **settings):
        self.imagemill = options.imagemill
        self.folder = folder or tempfile.mkdtemp(prefix="imagemill-chaos-")
        os.chmod(self.folder, 0o755)
        self.names = list(inboxes)
        self.own_settings = inboxes if isinstance(inboxes, dict) else {name: {} for name in inboxes}
        self.workers, self.top = workers, top
        self.originals = settings.get("originals", getattr(options, "originals", "move"))
        self.takes_sets = getattr(options, "sets", False) or pipeline.startswith("source: set")
        self.spool = getattr(options, "two_file_systems", None)
        # Where work/, done/ and failed/ of an inbox are, if it is not the same for all.
        self.spools = {}
        self.settings = dict(settle="300ms", incomplete_after="2s", reports="folder", originals=self.originals)
        if self.takes_sets:
            self.settings.update(set_quiet="1s")
        self.settings.update(settings)
        self.dropped = {name: [] for name in self.names}
        # For each inbox, the drops of each set: the members that were there when it was complete.
        self.sets = {name: {} for name in self.names}
        self.set_count = 0
        # A loss of power, or a state that is put down with other inodes, takes back what was rendered: then the original is kept.
        self.loses_power = False
        self.process = None
        self.mounts = []
        Mill.all.append(self)
        self.write("p.yaml", (SET_HEAD if self.takes_sets and not pipeline.startswith("source: set") else "") + pipeline)
        for name in self.names:
            os.makedirs(self.inbox(name), exist_ok=True)
            os.makedirs(self.outbox(name), exist_ok=True)
            if self.spool == "inside":
                self.mount(self.inbox(name))
        if self.spool == "beside":
            os.makedirs(self.path("state"))
            self.mount(self.path("state"))
        os.makedirs(self.path("aside"), exist_ok=True)
        self.configure()

    all = []

    # Places

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def inbox(self, name=None):
        return self.path(name or self.names[0])

    def outbox(self, name=None):
        return self.path("out" if (name or self.names[0]) == self.names[0] else "out-" + name)

    def shelf(self, shelf, name=None):
        """work, done or failed of an inbox."""
        name = name or self.names[0]
        base = {None: self.path("state"), "beside": self.path(".imagemill"), "inside": os.path.join(self.inbox(name), ".imagemill")}[
            self.spools.get(name, self.spool)]
        return os.path.join(base, shelf, name)

    def mount(self, folder, size="512m"):
        """A small file system of its own at a folder, until the mill is removed."""
        mount(folder, size)
        self.mounts.append(folder)

    def write(self, name, text):
        """Writes a file as a whole: a program that starts meanwhile reads the old text or the new one."""
        path = self.path(name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def configure(self, **changes):
        """Writes the mill file. `changes` are for every inbox."""
        self.settings.update(changes)
        lines = ["state: state", "workers: %s" % self.workers, *self.top.splitlines(), "inboxes:"]
        for name in self.names:
            settings = {**self.settings, **self.own_settings[name]}
            lines += ["  - path: " + name, "    outbox: " + os.path.basename(self.outbox(name)), "    pipeline: p.yaml"]
            lines += ["    %s: %s" % (key.replace("_", "-"), value) for key, value in settings.items() if value is not None]
        self.write("mill.yaml", "\n".join(lines) + "\n")

    # The daemon

    def start(self, ready=True, seconds=60, before=(), **environment):
        """Starts the daemon, and waits until it says that it runs. `before` are the words before the program's name."""
        ours = ("STATE_DIRECTORY", "RUNTIME_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM")
        kept = {key: value for key, value in os.environ.items() if key not in ours}
        self.log = open(self.path("log.txt"), "a")
        self.process = subprocess.Popen(
            [*before, self.imagemill, "watch", self.path("mill.yaml")], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**kept, **environment}, cwd=self.folder, start_new_session=True)
        if ready:
            self.until(self.is_running, seconds, "the daemon does not say that it runs", alive=True)

    def is_running(self):
        status = self.status()
        return status is not None and status["state"] == "running"

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_alive:
            self.process.send_signal(number)

    def kill(self):
        """kill -9 of the supervisor alone."""
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self, seconds=60):
        """SIGTERM; the exit code must be 0."""
        self.signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed("the daemon does not end within %d s after SIGTERM" % seconds)
        if code != 0:
            raise Failed("the daemon ends with %d after SIGTERM" % code)

    def children(self):
        """The worker processes of the supervisor."""
        found = []
        with contextlib.suppress(OSError):
            for task in os.listdir("/proc/%d/task" % self.process.pid):
                with open("/proc/%d/task/%s/children" % (self.process.pid, task)) as file:
                    found += [int(word) for word in file.read().split()]
        return found

    def memory(self, key="VmHWM"):
        """Of the supervisor, in KiB; VmHWM is the most it ever had, VmRSS what it has."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))

    def status(self, seconds=10):
        """The answer to a request over the socket; None where nobody answers."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
                end.settimeout(seconds)
                end.connect(self.path("state", "status.sock"))
                end.sendall(b"GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answer = b""
                while part := end.recv(1 << 16):
                    answer += part
            return json.loads(answer.split(b"\r\n\r\n", 1)[1])
        except (OSError, ValueError, IndexError):
            return None

    def status_command(self):
        """The same by the command, as a user asks."""
        found = subprocess.run([self.imagemill, "status", "--json", "--state", self.path("state")], capture_output=True, text=True)
        if found.returncode not in (0, 1):
            raise Failed("`imagemill status` ends with %d: %s" % (found.returncode, found.stderr.strip()))
        return json.loads(found.stdout)

    def inbox_status(self, name=None):
        status = self.status()
        wanted = os.path.realpath(self.inbox(name))
        for inbox in status["inboxes"] if status else []:
            if os.path.realpath(os.path.join(self.folder, inbox["path"]["path"])) == wanted:
                return inbox
        return None

    def pause(self, name=None):
        """The reason for which an inbox is paused; None where it is not."""
        inbox = self.inbox_status(name)
        return inbox["paused"]["reason"] if inbox and inbox["state"] == "paused" else None

    def write_stacks(self):
        """Writes what each thread of the daemon is at beside the log, where there is a debugger. Returns the file's path, or None."""
        if not (self.is_alive and shutil.which("gdb")):
            return None
        with open(self.path("stacks.txt"), "w") as file:
            words = ["gdb", "-p", str(self.process.pid), "-batch", "-ex", "set pagination off", "-ex", "thread apply all backtrace 60"]
            subprocess.run(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        return self.path("stacks.txt")

    def log_text(self):
        with open(self.path("log.txt"), errors="replace") as file:
            return file.read()

    # Dropping

    def note(self, data, name, inbox=None):
        """Writes down that a file was dropped, for the checker."""
        self.dropped[inbox or self.names[0]].append((hashlib.sha256(data).hexdigest(), os.fsencode(name)))

    def declare(self, set, members, inbox=None):
        """Writes down that a set was declared complete with these members."""
        drops = self.sets[inbox or self.names[0]].setdefault(os.fsencode(set), [])
        drops.append([os.fsencode(set) + b"/" + os.fsencode(member) for member in members])

    def source(self, name):
        """What the source is called that an experiment drops as `sub/a.png`: a set has no ending, and is at the top of the inbox."""
        return os.path.splitext(name)[0].replace("/", "-") if self.takes_sets else name

    def target(self, name, inbox=None):
        """The path of what was dropped under a name; of a set, that of its first member."""
        if self.takes_sets:
            name = "%s/1%s" % (self.source(name), os.path.splitext(name)[1])
        path = os.path.join(os.fsencode(self.inbox(inbox)), os.fsencode(name))
        if not self.takes_sets:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def drop(self, data, name, inbox=None, pause=0, pieces=1):
        """Writes a file in the inbox, in pieces with pauses between them. FileExistsError if the name is taken.

        A set is written member by member, the first of them in pieces, and then declared complete.
        """
        if self.takes_sets:
            return self.drop_set(data, name, inbox, lambda path: write_new(path, data, pause, pieces))
        path = self.target(name, inbox)
        with open(path, "xb", buffering=0) as file:
            self.note(data, name, inbox)
            write_pieces(file, data, pause, pieces)

    def rename_in(self, data, name, inbox=None, by=None):
        """Writes a file elsewhere and renames it into the inbox; `by` is a name in the inbox that it has before, such as `a.part`.

        With `by`, the first member of a set is written so. Without, a set is renamed in as a whole, and taken when it has been quiet.
        """
        if self.takes_sets and by:
            return self.drop_set(data, name, inbox, lambda path: write_by_rename(path, path + b".part", data))
        if self.takes_sets:
            return self.rename_set_in(data, name, inbox)
        path = self.target(name, inbox)
        first = self.target(by, inbox) if by else os.fsencode(self.aside(inbox))
        write_by_rename(path, first, data)
        self.note(data, name, inbox)

    def replace(self, data, name, inbox=None):
        """Renames a file over one that the inbox keeps; of a set, over its first member."""
        path, first = self.target(name, inbox), self.aside(inbox)
        write_new(first, data)
        if not os.path.exists(path):
            os.unlink(first)
            raise FileNotFoundError(path)
        os.rename(first, path)
        self.note(data, os.path.relpath(path, os.fsencode(self.inbox(inbox))), inbox)

    def aside(self, inbox=None):
        """A new path from which a rename reaches the inbox, and that is passed over there."""
        inside = self.spools.get(inbox or self.names[0], self.spool) == "inside"
        folder = self.inbox(inbox) if inside else self.path("aside")
        return os.path.join(folder, ".aside-%x" % random.getrandbits(64))

    def members(self, data, name):
        """The members of the set that is dropped instead of a picture: path and bytes. The picture is the first."""
        self.set_count += 1
        width, height = size_of(data)
        more = [png((5, 5, 5 + place), width, height, comment=b"%s %d %d" % (os.fsencode(name), self.set_count, place)) for place in (2, 3)]
        return [("1" + os.path.splitext(name)[1], data), ("2.png", more[0]), ("inner/3.png", more[1])]

    def drop_set(self, data, name, inbox, write_first):
        set, members = self.source(name), self.members(data, name)
        folder = os.path.join(os.fsencode(self.inbox(inbox)), os.fsencode(set))
        os.mkdir(folder)
        self.note_set(set, members, inbox)
        for member, bytes in members:
            path = os.path.join(folder, os.fsencode(member))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_first(path) if bytes is data else write_new(path, bytes)
        write_new(os.path.join(folder, os.fsencode(DONE_MARK)), b"")

    def rename_set_in(self, data, name, inbox):
        self.rename_members_in(self.source(name), self.members(data, name), inbox)

    def rename_members_in(self, set, members, inbox=None):
        """Renames a set into the inbox as a whole: pairs of path and bytes. It is complete when it has been quiet."""
        first = self.aside(inbox)
        for member, bytes in members:
            os.makedirs(os.path.join(first, os.path.dirname(member)), exist_ok=True)
            write_new(os.path.join(first, member), bytes)
        try:
            rename_new(os.fsencode(first), os.path.join(os.fsencode(self.inbox(inbox)), os.fsencode(set)))
        except OSError:
            shutil.rmtree(first)
            raise
        self.note_set(set, members, inbox)

    def note_set(self, set, members, inbox=None):
        for member, bytes in members:
            self.note(bytes, "%s/%s" % (set, member), inbox)
        self.declare(set, [member for member, _ in members], inbox)

    # Waiting and checking

    def until(self, condition, seconds, what, alive=False, step=0.03):
        """Waits for a condition, and says what it was. `alive`: the daemon must not end meanwhile. Returns the seconds that it took."""
        start = time.monotonic()
        while not condition():
            if alive and not self.is_alive:
                raise Failed("%s: the daemon has ended with %s" % (what, self.process.returncode))
            if time.monotonic() - start > seconds:
                raise Failed("%s within %g s" % (what, seconds))
            time.sleep(step)
        return time.monotonic() - start

    def standing(self):
        """How many files are not through yet. The inbox first: what leaves it meanwhile is found in work/."""
        places = [(self.waiting_in(name), [path for path in files(self.shelf("work", name)) if path != b"lock"]) for name in self.names]
        return sum(1 for inbox, work in places for _ in [*inbox, *work])

    def waiting_in(self, name):
        """What is in the inbox and must leave it; of originals that stay, the sources that have neither a report nor a note in failed/."""
        if self.originals != "keep":
            return [path for path in files(self.inbox(name)) if os.path.basename(path) != os.fsencode(DONE_MARK)]
        sources = set(self.sets[name]) if self.takes_sets else {path for _, path in self.dropped[name]}
        return sources - self.through(name) - set(self.failed(name))

    def is_idle(self):
        if self.standing():
            return False
        status = self.status()
        if status is None or status["in-progress"] or status["queue"]["depth"]:
            return False
        # An original that stays may have been replaced, so that its report is an old one.
        return all(not inbox[key] for inbox in status["inboxes"] for key in ("seen", "settling", "ready", "waiting") if self.originals == "keep")

    def wait_idle(self, seconds=60):
        start = time.monotonic()
        while True:
            self.until(self.is_idle, seconds, "not everything that was dropped is through", alive=True)
            # Between two looks of the watcher, nobody knows that an original was replaced.
            if self.originals != "keep" or self.stays_idle(0.5):
                return time.monotonic() - start

    def stays_idle(self, seconds):
        end = time.monotonic() + seconds
        while self.is_idle():
            if time.monotonic() > end:
                return True
            time.sleep(0.05)
        return False

    def check(self, settled=True):
        """Runs the invariant checker on every inbox."""
        for name in self.names:
            listing = self.path("dropped-%s.txt" % name)
            with open(listing, "w") as file:
                for sum, path in self.dropped[name]:
                    file.write("%s  %s\n" % (sum, urllib.parse.quote(path)))
            places = dict(dropped=listing, inbox=self.inbox(name), outbox=self.outbox(name))
            places.update({shelf: self.shelf(shelf, name) for shelf in ("work", "done", "failed")})
            places["originals"] = {**self.settings, **self.own_settings[name]}["originals"]
            if self.takes_sets:
                places["sets"] = self.path("sets-%s.json" % name)
                with open(places["sets"], "w") as file:
                    quote = urllib.parse.quote
                    json.dump({quote(set): [[quote(path) for path in drop] for drop in drops] for set, drops in self.sets[name].items()}, file)
            words = [word for key, value in places.items() for word in ("--" + key, value)]
            found = subprocess.run(
                [sys.executable, os.path.join(HERE, "invariants.py"), *words, *(["--settled"] if settled else []),
                 *(["--power-lost"] if self.loses_power else [])], capture_output=True, text=True)
            if found.returncode:
                lines = (found.stdout + found.stderr).strip().splitlines()
                more = ["and %d more" % (len(lines) - 10)] if len(lines) > 10 else []
                raise Failed("the invariants do not hold for %s:\n%s" % (name, "\n".join(lines[:10] + more)))

    def failed(self, name=None):
        """What is in failed/, with its code."""
        found = {}
        for path in files(self.shelf("failed", name)):
            if path.endswith(b".error.json"):
                with open(os.path.join(os.fsencode(self.shelf("failed", name)), path)) as file:
                    found[path[:-len(b".error.json")]] = json.load(file)["code"]
        return found

    def done(self, name=None):
        """The sources in done/: files, or the folders of sets."""
        return {path.split(b"/")[0] if self.takes_sets else path for path in files(self.shelf("done", name))}

    def through(self, name=None):
        """The sources that have a report, which means that they are done."""
        return {path[:-len(b".json")] for path in files(os.path.join(self.outbox(name), "reports")) if path.endswith(b".json")}

    def expect_done(self, *names):
        """That these drops are done and no others; a name that was dropped twice is there twice. done/ has them only if it is the policy."""
        sources = [os.fsencode(self.source(name)) for name in names]
        if self.through() != set(sources):
            raise Failed("done: %s, and should be %s; in failed/: %s" % (self.through(), set(sources), self.failed()))
        wanted = set()
        for source in sources if self.originals == "move" else []:
            stem, ending = (source, b"") if self.takes_sets else os.path.splitext(source)
            version = next(version for version in range(1, 1000) if (b"%s~%d%s" % (stem, version, ending) if version > 1 else source) not in wanted)
            wanted.add(b"%s~%d%s" % (stem, version, ending) if version > 1 else source)
        found = self.done()
        if self.loses_power and self.originals == "delete":
            found = {name for name in found if name not in sources and not name.startswith(b"recovered-")}
        if found != wanted:
            raise Failed("in done/: %s, and should be %s; in failed/: %s" % (self.done(), wanted, self.failed()))

    def expect_failed(self, **codes):
        """That these sources are in failed/ with these codes, and no others. A member's failure is its set's."""
        wanted = {os.fsencode(self.source(name)): "set-member-failed" if self.takes_sets and code in MEMBER_CODES else code
                  for name, code in codes.items()}
        if self.failed() != wanted:
            raise Failed("in failed/: %s, and should be %s" % (self.failed(), wanted))

    def report(self, source, name=None):
        """The report of a source, by the name under which it was dropped; None if there is none yet."""
        try:
            with open(os.path.join(os.fsencode(self.outbox(name)), b"reports", os.fsencode(self.source(source)) + b".json")) as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def remove(self):
        if self.is_alive:
            self.kill()
        for folder in self.mounts:
            subprocess.run(["umount", "--lazy", folder], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        Mill.all.remove(self)


def mount(folder, size="2m"):
    found = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", folder], capture_output=True, text=True)
    if found.returncode:
        raise Skipped("no file system can be mounted here: " + found.stderr.strip())


def size_of(data):
    """Width and height of a PNG; those of `png` for everything else."""
    return struct.unpack(">II", data[16:24]) if data.startswith(SIGNATURE) else (40, 30)


def write_new(path, data, pause=0, pieces=1):
    with open(path, "xb", buffering=0) as file:
        write_pieces(file, data, pause, pieces)


def write_pieces(file, data, pause, pieces):
    step = max(1, -(-len(data) // pieces))
    for place in range(0, len(data), step):
        if place and pause:
            time.sleep(pause)
        file.write(data[place:place + step])


def write_by_rename(path, first, data):
    """Writes a file under another name, and gives it its own by a rename that replaces nothing."""
    write_new(first, data)
    try:
        rename_new(first, path)
    except OSError:
        os.unlink(first)
        raise


def files(root):
    """Regular files below a folder, as paths from it, but those in a folder .imagemill."""
    root = os.fsencode(root)
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != b".imagemill"]
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.isfile(path):
                yield os.path.relpath(path, root)


def rename_new(old, new):
    """A rename that never replaces anything: what is dropped must not be lost by the one who drops it."""
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, old, -100, new, 1) != 0:
        code = ctypes.get_errno()
        if code != errno.EINVAL:
            raise OSError(code, os.strerror(code), new)
        os.link(old, new)
        os.unlink(old)
