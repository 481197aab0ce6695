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
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))

PIPELINE = """\
renditions:
  small: { stages: [ { resize: { size: "16x16!" } } ], save: { format: png } }
  large: { stages: [ { resize: { size: "24x24!" } } ], save: { format: png } }
"""


class Failed(Exception):
    """The experiment has shown that something does not hold."""


class Mill:
    """Folders, a mill file and a daemon.

    `settings` are for every inbox, with `_` for `-`; None leaves one out. Where `inboxes` is a dictionary, it has those of one inbox.
    """

    def __init__(self, options, inboxes=("inbox",), pipeline=PIPELINE, folder=None, workers=2, top="", **settings):
        self.imagemill = options.imagemill
        self.folder = folder or tempfile.mkdtemp(prefix="imagemill-chaos-")
        os.chmod(self.folder, 0o755)
        self.names = list(inboxes)
        self.own_settings = inboxes if isinstance(inboxes, dict) else {name: {} for name in inboxes}
        self.workers, self.top = workers, top
        self.settings = dict(settle="300ms", incomplete_after="2s", reports="folder")
        self.settings.update(settings)
        self.dropped = {name: [] for name in self.names}
        self.process = None
        self.write("p.yaml", pipeline)
        for name in self.names:
            os.makedirs(self.inbox(name), exist_ok=True)
            os.makedirs(self.outbox(name), exist_ok=True)
        os.makedirs(self.path("aside"), exist_ok=True)
        self.configure()
        Mill.all.append(self)

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
        return self.path("state", shelf, name or self.names[0])

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

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

    def ask(self, seconds=10, **request):
        """The answer to a request over the socket; None where nobody answers."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
                end.settimeout(seconds)
                end.connect(self.path("state", "status.sock"))
                end.sendall(json.dumps(request).encode() + b"\n")
                answer = b""
                while part := end.recv(1 << 16):
                    answer += part
            return json.loads(answer)
        except (OSError, ValueError):
            return None

    def status(self):
        return self.ask(request="status")

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

    def log_text(self):
        with open(self.path("log.txt"), errors="replace") as file:
            return file.read()

    # Dropping

    def note(self, data, name, inbox=None):
        """Writes down that something was dropped, for the checker."""
        self.dropped[inbox or self.names[0]].append((hashlib.sha256(data).hexdigest(), os.fsencode(name)))

    def target(self, name, inbox=None):
        path = os.path.join(os.fsencode(self.inbox(inbox)), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def drop(self, data, name, inbox=None, pause=0, pieces=1):
        """Writes a file in the inbox, in pieces with pauses between them. FileExistsError where the name is taken."""
        path = self.target(name, inbox)
        with open(path, "xb", buffering=0) as file:
            self.note(data, name, inbox)
            step = max(1, -(-len(data) // pieces))
            for place in range(0, len(data), step):
                if place and pause:
                    time.sleep(pause)
                file.write(data[place:place + step])

    def rename_in(self, data, name, inbox=None, by=None):
        """Writes a file elsewhere and renames it into the inbox; `by` is a name in the inbox that it has before, such as `a.part`."""
        path = self.target(name, inbox)
        first = self.target(by, inbox) if by else os.fsencode(self.path("aside", "%x" % random.getrandbits(64)))
        with open(first, "xb") as file:
            file.write(data)
        try:
            rename_new(first, path)
        except OSError:
            os.unlink(first)
            raise
        self.note(data, name, inbox)

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
        return sum(1 for name in self.names for folder in (self.inbox(name), self.shelf("work", name)) for _ in files(folder))

    def is_idle(self):
        if self.standing():
            return False
        status = self.status()
        return status is not None and not status["in-progress"] and status["queue"]["depth"] == 0

    def wait_idle(self, seconds=60):
        return self.until(self.is_idle, seconds, "not everything that was dropped is through", alive=True)

    def check(self, settled=True):
        """Runs the invariant checker on every inbox."""
        for name in self.names:
            listing = self.path("dropped-%s.txt" % name)
            with open(listing, "w") as file:
                for sum, path in self.dropped[name]:
                    file.write("%s  %s\n" % (sum, urllib.parse.quote(path)))
            places = dict(dropped=listing, inbox=self.inbox(name), outbox=self.outbox(name))
            places.update({shelf: self.shelf(shelf, name) for shelf in ("work", "done", "failed")})
            words = [word for key, value in places.items() for word in ("--" + key, value)]
            found = subprocess.run(
                [sys.executable, os.path.join(HERE, "invariants.py"), *words, *(["--settled"] if settled else [])], capture_output=True, text=True)
            if found.returncode:
                raise Failed("the invariants do not hold for %s:\n%s" % (name, (found.stdout + found.stderr).strip()))

    def failed(self, name=None):
        """What stands in failed/, with its code."""
        found = {}
        for path in files(self.shelf("failed", name)):
            if path.endswith(b".error.json"):
                with open(os.path.join(os.fsencode(self.shelf("failed", name)), path)) as file:
                    found[path[:-len(b".error.json")]] = json.load(file)["code"]
        return found

    def done(self, name=None):
        return set(files(self.shelf("done", name)))

    def report(self, source, name=None):
        """The report of a source; None where there is none yet."""
        try:
            with open(os.path.join(os.fsencode(self.outbox(name)), b"reports", os.fsencode(source) + b".json")) as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def remove(self):
        if self.is_alive:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        Mill.all.remove(self)


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
