"""The places, daemons and mill files of a world."""
import contextlib
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time

from experiment import Skipped
from mill import Mill
from world import AS_NOBODY
from worlds import world as drawn
from worlds.disks import Disk

PIPELINE = """\
%srenditions:
  small: { stages: [ { resize: { size: "%dx%s!" } } ], save: { format: png } }
  large: { stages: [ { resize: { size: "%dx24!" } } ], save: { format: png } }
"""
PARAMETER = "parameters: { tall: { type: number, default: %d } }\n" % drawn.TALL
NAMED = """  named: { when: { name: "n*" }, stages: [ { resize: { size: "12x12!" } } ], save: { format: png } }\n"""
EXTRA = """  extra: { stages: [ { resize: { size: "%dx20!" } } ], save: { format: png } }\n"""
SET_HEAD = "source: set\nstages: [ { stitch: { direction: horizontal } } ]\n"
TILED = """  tiles: { stages: [ { resize: { size: "%dx30!" } } ], save: { format: tiles, tile-format: png, tile: 64 } }\n"""
# A hook writes what it is told to a file that appears complete, unless it is to fail once.
HOOK = """\
if test -e "$1/.fail"; then rm "$1/.fail"; exit 1; fi
cat > "$1/.$$" && mv "$1/.$$" "$1/$(date +%%s%%N)-$$.json"
"""


class Inbox:
    """An inbox with its outbox: where the daemon finds them, and where they always are."""

    def __init__(self, who, disk, inbox, result, outbox, takes_sets, inside):
        self.who, self.disk, self.result, self.takes_sets, self.inside = who, disk, result, takes_sets, inside
        self.view, self.backing = os.path.join(disk.view, inbox), os.path.join(disk.backing, inbox)
        self.out_view, self.out_backing = os.path.join(result.view, outbox), os.path.join(result.backing, outbox)
        # A place from which a rename reaches the inbox.
        self.aside = os.path.join(disk.backing, "aside") if not inside else self.backing
        for path in (self.backing, self.out_backing):
            os.makedirs(path, exist_ok=True)


class Daemon(Mill):
    """A daemon with its mill file. What starts, stops and asks it is the mill's."""

    def __init__(self, household, who, state_view, state_backing):
        self.household, self.who, self.imagemill = household, who, household.imagemill
        self.folder = os.path.join(household.folder, "of-" + who)
        os.makedirs(self.folder)
        self.state_view, self.state_backing = state_view, state_backing
        self.process, self.mounts, self.names = None, [], []
        self.originals, self.has_extra, self.priority, self.attempts = household.world.originals, False, 1, household.world.attempts
        # Whether it should run, and whether it is stopped.
        self.expected, self.stopped = False, []
        # Whether it has said that it runs, when it began, and whether a disk was full or failed then.
        self.has_run, self.began, self.began_in_trouble = False, 0, False
        self.lock = threading.RLock()
        Mill.all.append(self)

    def kill(self):
        """kill -9. What has files open on a disk that hangs is gone when the disk answers, which it is made to do then."""
        self.signal(signal.SIGKILL)
        if not self.process:
            return
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            for disk in self.household.disks.values():
                if disk.hangs:
                    disk.heal()
            self.process.wait(60)

    def path(self, *names):
        return os.path.join(self.state_view, *names[1:]) if names and names[0] == "state" else os.path.join(self.folder, *names)

    @property
    def inboxes(self):
        return [inbox for who, inbox in self.household.inboxes.items() if self.household.world.daemon_of(who) == self.who]

    def configure(self):
        world = self.household.world
        for name, sets in (("singles.yaml", False), ("sets.yaml", True)):
            width = 96 if sets else 16
            has_values = world.sidecars and not sets
            head, tall = SET_HEAD if sets else PARAMETER if has_values else "", "${tall}" if has_values else drawn.TALL
            text = PIPELINE % (head, width, tall, width * 3 // 2) + (NAMED if world.conditional and not sets else "")
            text += (EXTRA % (width * 5 // 4) if self.has_extra else "") + (TILED % (width * 5) if world.tiled else "")
            self.write(name, text)
        lines = ["state: " + self.state_view, "workers: %d" % world.workers, "drain: 10s"]
        lines += ["cache: { path: %s, size: 2M }" % self.path("cache")] if world.cache else []
        lines += ["http: " + self.path("http.sock")] if world.http else []
        # libfaketime sets the clocks of processors too, which nobody can set.
        lines += ["max-cpu-time: 20000h"] if world.clock else []
        lines += ["inboxes:"]
        for inbox in self.inboxes:
            settings = dict(
                path=inbox.view, outbox=inbox.out_view, pipeline="sets.yaml" if inbox.takes_sets else "singles.yaml", name=world.inbox_name(inbox.who),
                originals=self.originals, settle="%gs" % drawn.SETTLE, incomplete_after="%gs" % drawn.INCOMPLETE_AFTER,
                zero_byte_after="%gs" % drawn.ZERO_BYTE_AFTER, set_quiet="%gs" % drawn.SET_QUIET, attempts=self.attempts, collision=world.collision,
                reports=world.reports, priority=self.priority)
            if world.duplicates != "process":
                settings["duplicates"] = world.duplicates
            if world.photos and not inbox.takes_sets:
                settings["allow"] = "[raw]"
            if world.isolate and inbox.who != "other":
                settings["isolate"] = "true"
            if world.limits:
                settings["limits"] = "{ max-pixels: %d, max-time: 90s }" % drawn.MAX_PIXELS
            if world.clock:
                settings["keep_done"] = settings["keep_failed"] = "1d"
            if world.hooks:
                told = "[sh, %s, %s]" % (os.path.join(self.household.folder, "hook.sh"), self.household.told(inbox.who))
                settings.update(on_success=told, on_failure=told)
            words = ["%s: %s" % (key.replace("_", "-"), value) for key, value in settings.items()]
            lines += ["  - " + words[0]] + ["    " + word for word in words[1:]]
        self.write("mill.yaml", "\n".join(lines) + "\n")

    def begin(self, ready=True, seconds=60):
        """Starts it, as whom and with the clock that the world says."""
        before = list(AS_NOBODY) if self.household.world.user == "nobody" else []
        if self.household.world.clock:
            before += ["env", "LD_PRELOAD=" + drawn.faketime(), "FAKETIME_TIMESTAMP_FILE=" + self.household.clock, "FAKETIME_CACHE_DURATION=1",
                       "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1"]
            # The library sets a variable when it begins, after which Swift does not find the arguments; `env` takes that on.
            before += ["env"]
        self.expected, self.stopped = True, []
        self.has_run = False
        self.began = time.monotonic()
        self.began_in_trouble = not all(disk.is_whole for disk in self.household.disks.values())
        self.start(ready=ready, seconds=seconds, before=before)

    @property
    def had_trouble_at_start(self):
        """Whether a disk was full or failed before it ran."""
        return not self.has_run and (self.began_in_trouble or any((disk.was_broken or 0) > self.began for disk in self.household.disks.values()))

    def is_running(self):
        self.has_run = self.has_run or super().is_running()
        return self.has_run and self.is_alive

    def starter(self):
        """The process that starts workers."""
        for child in self.children():
            try:
                with open("/proc/%d/comm" % child) as file:
                    if file.read().startswith("imagemill-start"):
                        return child
            except OSError:
                pass
        return None

    def workers_running(self):
        starter = self.starter()
        return [child for child in self.children() if child != starter]

    def ask(self, path, request=b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", seconds=15):
        """What the dashboard's socket answers."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.settimeout(seconds)
            end.connect(self.path("http.sock"))
            end.sendall(request % path if b"%s" in request else request)
            answer = b""
            while part := end.recv(1 << 16):
                answer += part
            return answer


class Household:
    """All of a world: its disks, inboxes and daemons, below one folder."""

    def __init__(self, world, folder, imagemill):
        self.world, self.folder, self.imagemill = world, folder, imagemill
        self.disks, self.inboxes, self.daemons = {}, {}, {}
        self.clock = os.path.join(folder, "clock")
        self.write("clock", "+0")
        self.write("hook.sh", HOOK.replace("%%", "%"))
        self.write("secret", "nobody may read this through a link")
        os.chmod(folder, 0o755)
        try:
            self.build()
        except BaseException:
            self.remove()
            raise

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def told(self, who):
        return os.path.join(self.folder, "told-" + who)

    def disk(self, name, kind):
        self.disks[name] = disk = Disk(self.folder, name, kind, self.world.attributes, self.world.noreplace)
        return disk

    def build(self):
        world = self.world
        if world.user == "nobody" and (os.geteuid() != 0 or not shutil.which("setpriv")):
            raise Skipped("no other user: that needs root and setpriv")
        if world.clock and not drawn.faketime():
            raise Skipped("no clock that jumps: libfaketime is missing")
        inboxes = {who: self.disk("drop" if who == "anna" else "drop-" + who, world.inbox) for who in world.who if who != "other"} if world.inside else {}
        drop = inboxes.get("anna") or self.disk("drop", world.inbox)
        result = self.disk("result", world.outbox) if world.outbox else drop
        state = self.disk("state", world.state) if world.state else drop
        plain = self.disk("plain", "plain") if world.other else None
        for who in world.who:
            os.makedirs(self.told(who))
            if who == "other":
                self.inboxes[who] = Inbox(who, plain, "other", plain, "out-other", False, False)
                continue
            name = world.inbox_name(who)
            outbox = "out" if world.shared_outbox else "out-" + who
            disk = inboxes.get(who, drop)
            self.inboxes[who] = Inbox(who, disk, "" if world.inside else os.path.join(who, name), result, outbox, world.sets, world.inside)
            self.daemons[who] = Daemon(self, who, os.path.join(state.view, "state-" + who), os.path.join(state.backing, "state-" + who))
            os.makedirs(self.daemons[who].state_backing)
        if world.user == "nobody":
            subprocess.run(["chown", "-R", "nobody:nogroup", *(disk.backing for disk in self.disks.values()), *(self.told(who) for who in world.who),
                            *(daemon.folder for daemon in self.daemons.values())], check=True)
        for daemon in self.daemons.values():
            daemon.configure()
        if world.isolate:
            # An older program, which the explorer must be able to judge, may not know it.
            checked = subprocess.run([self.imagemill, "check", daemon.path("mill.yaml")], capture_output=True, text=True)
            if "unknown key 'isolate'" in checked.stdout + checked.stderr:
                raise Skipped("no isolate: the program does not know it")

    def shelves(self, who, shelf):
        """Where work/, done/ or failed/ of an inbox can be."""
        inbox, daemon = self.inboxes[who], self.daemons[self.world.daemon_of(who)]
        name = self.world.inbox_name(who)
        found = [os.path.join(daemon.state_backing, shelf, name), os.path.join(inbox.backing, ".imagemill", shelf, name)]
        return found if inbox.inside else [*found, os.path.join(os.path.dirname(inbox.backing), ".imagemill", shelf, name)]

    def own(self, path):
        """A file or folder that another program made for the daemon to take."""
        if self.world.user != "nobody":
            return
        uid, gid = pwd.getpwnam("nobody").pw_uid, grp.getgrnam("nogroup").gr_gid
        below = [os.path.join(folder, name) for folder, folders, names in os.walk(path) for name in folders + names] if os.path.isdir(path) else []
        for one in [path, *below]:
            # What was taken meanwhile is the daemon's already.
            with contextlib.suppress(FileNotFoundError):
                os.chown(one, uid, gid, follow_symlinks=False)

    def outbox_of(self, who):
        return self.inboxes[who].out_backing

    def remove(self):
        for disk in self.disks.values():
            if disk.server:
                disk.server.send_signal(18)
        for daemon in self.daemons.values():
            daemon.kill()
        for disk in self.disks.values():
            disk.remove()
