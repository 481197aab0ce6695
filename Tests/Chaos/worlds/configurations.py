"""Mill files that change under a daemon."""
import contextlib
import os
import signal
import subprocess
import time

from worlds.dropped import found_below


class Configurations:
    """The steps that change a mill file, and what a source may expect after it."""

    def in_work(self, who):
        """The digests that are in work/ now."""
        return {digest for shelf in self.household.shelves(who, "work") for digest, path in found_below(shelf) if os.path.basename(path) != "lock"}

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
                self.before[who].append((self.now[who], float("inf")))
                self.now[who] = to
        daemon.originals = to
        daemon.configure()
        until = apply()
        with self.lock:
            for who in mine:
                self.before[who][-1] = (self.before[who][-1][0], until)

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
            # Before it runs, the signal ends it as it ends any program; and it may be too busy to say that it runs.
            if not daemon.is_running():
                return float("inf")
            daemon.signal(signal.SIGHUP)
            # Unless a file system hangs, in which case nobody knows when it comes to that.
            return time.monotonic() + 30 if all(disk.is_whole for disk in self.household.disks.values()) else float("inf")
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run([daemon.imagemill, "reload", daemon.path("mill.yaml")], capture_output=True, timeout=40)
            if done.returncode == 0:
                return 0
        return float("inf")
