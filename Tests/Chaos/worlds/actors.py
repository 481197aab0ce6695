"""Does what a history says, step by step, and knows afterwards what was dropped, put and told."""
import errno
import os
import random
import stat
import threading
import time
import traceback

from experiment import Skipped
from worlds.accidents import Accidents
from worlds.configurations import Configurations
from worlds.neighbors import Neighbors
from worlds.processes import Processes
from worlds.writers import Writers


# The exit code of a daemon that may succeed another time.
TRY_AGAIN = 75


class Actors(Writers, Neighbors, Processes, Configurations, Accidents):
    """All that a history can say, and what is known of it afterwards."""

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
        # Each sidecar that was written, and the source that it was written for, which may have found its name taken.
        self.sidecars = []
        # The same of raw files.
        self.raws = []
        for inbox in household.inboxes.values():
            if self.world.of_folder and not inbox.takes_sets:
                path = os.path.join(inbox.backing, "_imagemill.yaml")
                with open(path, "w") as file:
                    file.write("tall: %d\n" % self.world.of_folder)
                household.own(path)
                self.things.append((path, stat.S_IFREG))
        self.kills = self.worker_kills = self.bytes = self.steps = 0
        # Steps that found nothing to do, such as the kill of a worker where none works.
        self.vain = 0
        # When the writer of each set has written last, and the longest time between two of its changes.
        self.progress = {}
        self.seed = seed
        # What could not be done here, and how often.
        self.impossible = {}
        # What makes a source be done more than once.
        self.redone, self.ledger_lost, self.losses, self.retried, self.undone = 0, set(), 0, 0, 0
        # Inboxes that somebody has ever paused.
        self.paused = set()
        # Clients of the dashboard that never end their request.
        self.clients = []
        self.policies = {who: {self.world.originals} for who in self.world.who}
        self.now = {who: self.world.originals for who in self.world.who}
        # The policies before the last changes, and until when a daemon may still go by each.
        self.before = {who: [] for who in self.world.who}

    @property
    def again(self):
        """How often everything may have been done again: by a changed pipeline, a retry, a lost ledger, or a disk that went back to an earlier state."""
        return self.redone + self.retried + self.losses + self.undone

    # The way through a history

    def run(self, steps):
        for number, step in steps:
            time.sleep(step["wait"])
            self.say("%d %s" % (number, step["do"]))
            # The same bytes and moments whichever other steps are left out.
            self.dice = random.Random("actors %d %d" % (self.seed, number))
            try:
                done = getattr(self, "do_" + step["do"])(**{key: value for key, value in step.items() if key not in ("do", "wait")})
                self.steps += 1
                self.vain += done is False
            except Skipped as reason:
                self.cannot(str(reason))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                self.cannot("no room for a step on a full disk")
            self.look_after()
        for thread in self.threads:
            thread.join()

    def cannot(self, reason):
        """Counts a step that could not be done here."""
        self.impossible[reason] = self.impossible.get(reason, 0) + 1

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
                    if daemon.process.returncode == TRY_AGAIN and daemon.had_trouble_at_start:
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
            except Skipped as reason:
                self.cannot(str(reason))
            except Exception:  # A mistake of the explorer must be seen.
                self.violated("explorer", traceback.format_exc())
        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()

    # The end of a history

    def heal_all(self):
        for disk in self.household.disks.values():
            disk.heal()
        for who, daemon in self.household.daemons.items():
            self.do_go_on(who)
        self.let_go()
        for who in self.household.daemons:
            self.do_start(who, ready=True)
            # Somebody may have paused it, and no more.
            self.do_resume(who)
