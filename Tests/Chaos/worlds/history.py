"""What happens in a world, and how that is drawn: a list of steps, each of which can be left out."""
import random

from worlds.sources import ENDINGS

# How a picture can be written.
HABITS = ("rename", "rename", "write", "slow", "reopened", "rsync", "part", "sparse")
SET_HABITS = ("mark", "mark", "early", "renamed", "quiet", "dotted", "rsync")
BAD = ("junk", "cut", "giant", "empty")
# How a raw file comes: before its JPEG, or after that; in one piece or in two. A sidecar may be taken away again, too.
RAW_HABITS = ("before", "before", "slow", "after")
SIDECAR_HABITS = ("before", "before", "slow", "after", "after", "removed")


def text(step):
    """A step as a line."""
    more = " ".join("%s=%s" % (key, ",".join(map(str, value)) if isinstance(value, list) else value)
                    for key, value in step.items() if key not in ("do", "wait"))
    return "%s %s%s" % (step["do"], more, " after %g s" % step["wait"] if step.get("wait") else "")


class Drawing:
    """Draws the history of a world."""

    def __init__(self, world):
        self.world, self.dice = world, random.Random("history %d" % world.seed)
        self.steps, self.number, self.named = [], 0, []
        # What may still cost a source an attempt: no good source may run out of them.
        self.blows = world.attempts - 1
        self.mounts = ["drop"] + (["result"] if world.outbox else []) + (["state"] if world.state else [])

    def add(self, do, wait=None, **more):
        if wait is None:
            wait = self.dice.choice([0, 0, 0.05, 0.1, 0.3, 0.7])
        self.steps.append({"do": do, **more, "wait": wait})

    def numbers(self, count=1):
        first = self.number
        self.number += count
        return list(range(first, first + count))

    def who(self, others=True):
        return self.dice.choice(self.world.who if others else self.world.who[:self.world.daemons])

    def draw(self):
        kinds = {
            self.drop: 12, self.heavy: 2, self.bad: 1.6, self.wild: 0.8, self.folder: 1, self.thing: 1, self.drop_again: 2.5,
            self.foreign: 1.5, self.change_foreign: 0.5, self.remove_output: 0.6, self.kill: 2, self.kills: 1, self.hit_worker: 1,
            self.stop: 1, self.terminate: 0.8, self.reload: 1.2, self.full: 0.6, self.away: 0.8, self.faults: 3 if self.world.has_faults else 0,
            self.ledger: 0.7, self.retry: 0.6, self.ask: 1, self.clock: 2.5 if self.world.clock else 0, self.mount_below: 0.5,
            self.obstacle: 0.6, self.policy_while_busy: 0.8, self.foreign_while_down: 0.8, self.copy_and_lose: 0.8, self.save_over: 0.8,
            self.hang_at_start: 1 if self.world.has_faults else 0, self.pause: 0.6}
        self.drop()
        for _ in range(self.dice.randrange(12, 26)):
            self.dice.choices(list(kinds), list(kinds.values()))[0]()
        if self.world.other:
            self.drop(who="other")
        self.put_in()
        return self.steps

    def put_in(self):
        """Steps at any place. They have dice of their own, so that a seed keeps the others."""
        self.dice = random.Random("more history %d" % self.world.seed)
        steps = self.steps
        if self.world.hooks and self.dice.random() < 0.5:
            self.put(steps, {"do": "fail_hook", "who": self.who()})
        if self.world.photos:
            self.put_photos(steps)
        if self.dice.random() < (0.7 if self.world.limits else 0.15):
            who = self.who()
            if who == "other" or not self.world.sets:
                self.put(steps, {"do": "drop", "who": who, "name": "wide%d.png" % self.number, "numbers": self.numbers(),
                                 "kind": "above" if self.world.limits else "below", "habit": "rename"})

    def put_photos(self, steps):
        dice = random.Random("photos of %d" % self.world.seed)
        singles = [who for who in self.world.who if who == "other" or not self.world.sets]
        for _ in range(dice.randrange(2, 6) if singles else 0):
            name = "s%d" % dice.randrange(4) if dice.random() < 0.3 else "photo%d" % self.number
            place = dice.randrange(1, len(steps) + 1)
            steps.insert(place, {"do": "drop", "who": dice.choice(singles), "name": name + ".jpg", "numbers": self.numbers(), "kind": dice.choice(["good", "good", "cut", "junk"]),
                                 "habit": dice.choice(["rename", "write", "slow"]), "raw": dice.choice(RAW_HABITS), "wait": dice.choice([0, 0.3])})

    def put(self, steps, step):
        steps.insert(self.dice.randrange(1, len(steps) + 1), {**step, "wait": 0})

    # Writers

    def name(self, who, ending):
        """A name that nobody else has, or one of a few that many have."""
        if self.dice.random() < 0.35:
            stem = "s%d" % self.dice.randrange(4)
        else:
            stem = "n%d" % self.number
        if not self.world.sets and self.dice.random() < 0.15:
            stem = "sub/" + stem
        return stem if self.world.sets and who != "other" else stem + ending

    def drop(self, who=None, kind="good", habit=None, name=None):
        who = who or self.who()
        if self.world.sets and who != "other":
            return self.drop_set(who, name, habit)
        ending = self.dice.choice(ENDINGS) if kind == "good" else ".png"
        name = name or self.name(who, ending)
        if kind == "good":
            ending = "." + name.rpartition(".")[2]
        habit = habit or self.dice.choice(HABITS)
        self.named.append((who, name))
        self.add("drop", who=who, name=name, numbers=self.numbers(), kind=kind, habit=habit, **self.sidecar())

    def sidecar(self):
        """Perhaps a sidecar for what is dropped. It has dice of its own, so that a seed keeps all else."""
        dice = random.Random("sidecar %d %d" % (self.world.seed, self.number))
        if not self.world.sidecars or dice.random() < 0.4:
            return {}
        return {"sidecar": "%s %d" % (dice.choice(SIDECAR_HABITS), dice.choice([8, 12, 20, 24, 28, 32, 36]))}

    def drop_set(self, who, name=None, habit=None, kind="good"):
        name = name or self.name(who, "")
        self.named.append((who, name))
        self.add("drop", who=who, name=name, numbers=self.numbers(self.dice.randrange(2, 6)), kind=kind, habit=habit or self.dice.choice(SET_HABITS))

    def heavy(self):
        who = self.who(others=False)
        if self.world.sets:
            return self.drop_set(who, kind="heavy")
        for _ in range(self.dice.randrange(1, 4)):
            self.drop(who, "heavy", self.dice.choice(["rename", "write", "rsync"]), "n%d.png" % self.number)

    def bad(self):
        kind = self.dice.choice(BAD)
        who = self.who()
        name = "bad%d" % self.number
        is_set = self.world.sets and who != "other"
        if is_set and kind in ("empty", "cut"):
            kind = "junk"
        self.named.append((who, name if is_set else name + ".png"))
        if self.world.sidecars and not is_set and random.Random("misled %d %d" % (self.world.seed, self.number)).random() < 0.4:
            return self.add("drop", who=who, name=name + ".png", numbers=self.numbers(), kind="misled", habit="rename", sidecar="before 0")
        self.add("drop", who=who, name=name if is_set else name + ".png", numbers=self.numbers(2 if is_set else 1), kind=kind,
                 habit="mark" if is_set else self.dice.choice(["rename", "write"]))

    def wild(self):
        if not self.world.sets:
            self.add("drop", who=self.who(others=False), name="wild%d.png" % self.number, numbers=self.numbers(2), kind="wild",
                     habit=self.dice.choice(["0.1", "0.4", "0.9"]))

    def folder(self):
        """A sub-folder with pictures, which is moved soon after it came."""
        if self.world.sets:
            return self.drop_set(self.who(others=False), habit="renamed")
        who, number = self.who(), self.number
        self.add("folder", who=who, name="d%d" % number, numbers=self.numbers(self.dice.randrange(2, 5)))
        self.add("move_folder", who=who, name="d%d" % number, to="moved%d" % number, wait=self.dice.choice([0, 0.02, 0.1, 0.4]))

    def thing(self):
        """What is no picture and must be left alone."""
        kind = self.dice.choice(["link", "folder-link", "pipe", "socket", "device", "leftover", "leftover"])
        self.add("thing", who=self.who(), kind=kind, name="thing%d" % self.numbers()[0])

    def drop_again(self):
        if self.named:
            who, name = self.dice.choice(self.named)
            if not name.startswith("bad"):
                self.drop(who, name=name, habit="renamed" if self.world.sets and who != "other" else "rename")

    # Other programs in the outbox

    def rendition(self):
        """A name that a rendition has, or may have."""
        if not self.named:
            return self.who(), "nobody.png"
        who, name = self.dice.choice(self.named)
        stem = name.rpartition(".")[0] or name
        return who, stem + self.dice.choice(["-small", "-large", "-small", "-2-small"]) + ".png"

    def foreign(self, wait=None):
        who, name = self.rendition()
        self.add("foreign", who=who, name=name, number=self.numbers()[0], how=self.dice.choice(["new", "new", "rename", "in place"]), wait=wait)

    def change_foreign(self):
        self.add("change_foreign", number=self.numbers()[0], chance=self.dice.random(), how=self.dice.choice(["rename", "in place", "remove"]))

    def remove_output(self):
        who, name = self.rendition()
        self.add("remove_output", who=who, name=name)

    # Processes

    def daemon(self):
        return self.dice.choice(["anna", "ben"][:self.world.daemons])

    def kill(self):
        who = self.daemon()
        self.add("kill", daemon=who)
        if self.dice.random() < 0.5:
            self.drop()
        self.add("start", daemon=who, ready=self.dice.random() < 0.6)

    def kills(self):
        """Again and again, at intervals of about the time that a source takes."""
        self.heavy()
        self.add("kills", daemon=self.daemon(), count=self.dice.randrange(3, 7), interval=round(self.dice.uniform(0.1, 1.2), 2))

    def hit_worker(self):
        if self.blows > 0:
            self.blows -= 1
            self.add("kill_worker", daemon=self.daemon(), which=self.dice.choice(["worker", "worker", "starter"]), chance=self.dice.random())

    def stop(self):
        who = self.daemon()
        which = "supervisor" if self.blows < 1 else self.dice.choice(["supervisor", "worker"])
        self.blows -= which == "worker"
        self.add("stop", daemon=who, which=which, chance=self.dice.random())
        for _ in range(self.dice.randrange(3)):
            self.drop()
        self.add("go_on", daemon=who, wait=self.dice.choice([0.3, 1, 3]))

    def terminate(self):
        who = self.daemon()
        self.add("terminate", daemon=who)
        self.add("start", daemon=who, ready=self.dice.random() < 0.6)

    def reload(self, wait=None):
        what = self.dice.choice(["originals", "originals", "pipeline", "broken", "priority", "attempts"])
        more = {"to": self.dice.choice(["move", "keep", "delete"])} if what == "originals" else {}
        self.add("reload", daemon=self.daemon(), what=what, by=self.dice.choice(["signal", "command"]), wait=wait, **more)

    # Disks, clocks and ledgers

    def trouble(self, do, disk, **more):
        self.add(do, disk=disk, **more)
        for _ in range(self.dice.randrange(1, 4)):
            self.dice.choice([self.drop, self.drop, self.kill, self.ask])()
        self.add("heal", disk=disk, wait=self.dice.choice([0.5, 1.5, 4]))

    def full(self):
        self.trouble("full", self.dice.choice(self.mounts), room=self.dice.choice([0, 0, 8, 100, 1000]))

    def away(self):
        # The state folder is not expected to go away.
        self.trouble("away", self.dice.choice([mount for mount in self.mounts if mount != "state"]))

    def faults(self):
        disk = self.dice.choice([name for name, kind in (("drop", self.world.inbox), ("result", self.world.outbox)) if kind == "fuse"])
        lines = self.dice.choice([
            "read EIO", "read EIO", "read EIO 2", "change EIO", "change EROFS", "sync EIO", "write ENOSPC", "change ENOSPC",
            "list EIO", "list EIO 2", "list ENOENT 2", "list ENOENT 3", "list EACCES 2", "look EIO 3", "usage EIO",
            "open EACCES", "names EACCES", "read short", "read short", "all slow 0.01", "all slow 0.05", "hang",
            # A journal takes back claims too, and whoever mounts an inbox again has stopped the daemon before.
            *(["folders lose", "folders lose 2", "folders lose 3"] if disk == "result" else [])])
        self.trouble("faults", disk, lines=lines)

    def hang_at_start(self):
        disk = self.dice.choice([name for name, kind in (("drop", self.world.inbox), ("result", self.world.outbox)) if kind == "fuse"])
        self.add("kill", daemon="anna")
        self.add("faults", disk=disk, lines="hang")
        self.add("start", daemon="anna", ready=False)
        for _ in range(2):
            self.drop(who="other" if self.world.other else None)
        if self.dice.random() < 0.5:
            self.reload()
        # For longer than a picture in the other inbox may wait.
        self.add("heal", disk=disk, wait=self.dice.choice([4, 15, 45]))

    def ledger(self):
        who = self.daemon()
        what = self.dice.choice(["lost", "older", "damaged"])
        if what == "older":
            self.add("save_ledger", daemon=who)
            for _ in range(self.dice.randrange(1, 4)):
                self.dice.choice([self.drop, self.drop_again, self.kill])()
        self.add("ledger", daemon=who, what=what, by=self.dice.choice(["kill", "terminate"]))

    def clock(self):
        self.add("clock", to=self.dice.choice(["+2d", "+40d", "-1d", "+400d", "+0"]), restart=self.dice.random() < 0.4)

    def mount_below(self):
        """A file system below the inbox, and pictures beside it."""
        if self.world.sets:
            return
        who = self.who(others=False)
        self.add("mount_below", who=who, name="mounted%d" % self.number, numbers=self.numbers(3))
        for _ in range(3):
            self.drop(who)

    def obstacle(self):
        """A file or a folder that the daemon may not move."""
        who = self.who(others=False)
        self.add("obstacle", who=who, name="held%d" % self.number, numbers=self.numbers(2))
        for _ in range(2):
            self.drop(who)

    # What is done with a running daemon

    def retry(self):
        self.add("retry", daemon=self.daemon(), kill=self.dice.random() < 0.3)

    def ask(self):
        self.add("ask", daemon=self.daemon(), what=self.dice.choice(["status", "command", "metrics", "half a request"]))

    def pause(self):
        """Somebody pauses an inbox, and lets it go on after a while."""
        who = self.who(others=False)
        self.add("pause", who=who)
        for _ in range(self.dice.randrange(1, 4)):
            self.dice.choice([self.drop, self.drop, self.kill, self.terminate, self.reload, self.retry])()
        self.add("resume", who=who, wait=self.dice.choice([0.5, 1.5]))

    # Accidents that come one after the other

    def policy_while_busy(self):
        self.heavy()
        who = self.daemon()
        if self.blows > 0:
            self.blows -= 1
            self.add("stop", daemon=who, which="worker", chance=self.dice.random(), wait=self.dice.choice([0.3, 0.6, 1]))
        self.add("reload", daemon=who, what="originals", to=self.dice.choice(["move", "keep", "delete", "delete"]), by=self.dice.choice(["signal", "command"]))
        self.add("go_on", daemon=who, wait=0.5)

    def foreign_while_down(self):
        self.heavy()
        who = self.steps[-1]["who"]
        stem = self.steps[-1]["name"].rpartition(".")[0] or self.steps[-1]["name"]
        daemon = self.world.daemon_of(who)
        self.add("kill", daemon=daemon, wait=self.dice.uniform(0.2, 1.6))
        self.add("foreign", who=who, name=stem + self.dice.choice(["-small", "-large"]) + ".png", number=self.numbers()[0], how="new", wait=0)
        self.add("start", daemon=daemon, ready=True)

    def copy_and_lose(self):
        """A kill during a copy, another policy, a kill, and the ledger is gone."""
        who = self.daemon()
        if self.world.inbox == "fuse":
            self.add("faults", disk="drop", lines="write slow 0.05")
        if not self.world.sets:
            self.add("drop", who=who, name="n%d.png" % self.number, numbers=self.numbers(), kind="big", habit="rename")
        else:
            self.drop_set(who, kind="heavy")
        self.add("kill", daemon=who, wait=round(self.dice.uniform(0.02, 0.6), 2))
        self.add("reconfigure", daemon=who, originals=self.dice.choice(["move", "keep"]))
        if self.world.inbox == "fuse":
            self.add("heal", disk="drop")
        self.add("start", daemon=who, ready=True, wait=0)
        self.add("ledger", daemon=who, what="lost", by="kill", wait=round(self.dice.uniform(0, 0.5), 2))

    def save_over(self):
        """Somebody removes a rendition and saves a file of their own under its name; then the source comes again."""
        if not self.named:
            return
        who, name = self.dice.choice(self.named)
        stem = name.rpartition(".")[0] or name
        self.add("foreign", who=who, name=stem + self.dice.choice(["-small", "-large"]) + ".png", number=self.numbers()[0],
                 how=self.dice.choice(["rename", "in place"]), wait=1.5)
        if not name.startswith("bad"):
            self.drop(who, name=name, habit="renamed" if self.world.sets and who != "other" else "rename")
