"""Mill files that change under a daemon."""
import os
import signal
import time

from worlds.dropped import found_below

# The exit codes of a reload that is refused. A file that is not YAML does not say where its daemon is.
REFUSED = (1, 65, 75, 78)


class Configurations:
    """The steps that change a mill file, and what a source may expect after it."""

    def settled_digests(self, who):
        """The digests whose policy is settled: what is in work/ or done/ now."""
        return {digest for place in ("work", "done") for shelf in self.household.shelves(who, place) for digest, path in found_below(shelf)
                if os.path.basename(path) != "lock"}

    def change_policy(self, daemon, to, apply):
        """What was already claimed keeps the policy that it was claimed with; what is not claimed yet may have either, and so may what stays in the
        inbox, since it can be found again."""
        mine = [who for who in self.world.who if self.world.daemon_of(who) == daemon.who]
        before = {who: self.settled_digests(who) for who in mine}
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
                return False
            daemon.write("mill.yaml", "inboxes: [ { path: ")
            self.apply(daemon, by, is_broken=True)
            time.sleep(0.2)
        elif what == "pipeline" and not daemon.has_extra:
            self.redone += 1
            daemon.has_extra = True
        elif what == "priority":
            daemon.priority = 1 + daemon.priority % 3
        elif what == "attempts":
            # Never fewer: no good source may run out of them.
            daemon.attempts += 1
        daemon.configure()
        self.apply(daemon, by)

    def do_reconfigure(self, daemon, originals):
        daemon = self.household.daemons[daemon]
        self.change_policy(daemon, originals, lambda: float("inf") if daemon.is_alive else 0)

    def apply(self, daemon, by, is_broken=False):
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
        if self.command(daemon, "reload", daemon.path("mill.yaml"), codes=REFUSED if is_broken else (0,)) == 0:
            return 0
        return float("inf")
