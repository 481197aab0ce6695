"""The whole life of one world, in a process with mounts and processes of its own: `python3 -m worlds.life SEED …`; explore starts it."""
import argparse
import dataclasses
import json
import os
import shutil
import time
import traceback

from experiment import Failed, Skipped
from mill import Mill
from worlds import history, world as drawn
from worlds.actors import Actors
from worlds.disks import call
from worlds.household import Household
from worlds.observers import Bound, Ear, Reader
from worlds.oracle import Oracle

# From its start, the daemon looks into done/ and failed/ for what is too old after a minute.
FIRST_LOOK = 70
# Seconds after which a daemon has listed its inboxes again. One world in ten waits for what it makes of that.
RESCAN = 65


def chosen(steps, words):
    """Some of the steps, by their numbers: `0-4,7`."""
    wanted = set()
    for word in filter(None, words.split(",")):
        first, _, last = word.partition("-")
        wanted |= set(range(int(first), int(last or first) + 1))
    return [(number, step) for number, step in enumerate(steps) if number in wanted]


def substitute(world, kind):
    """The same world on the machine's own disk instead of a file system that there is none of."""
    changes = {field: "plain" for field in ("inbox", "outbox", "state") if getattr(world, field) == kind}
    return dataclasses.replace(world, **changes)


def household(world, folder, imagemill, impossible):
    """The world as far as it can be built here; what cannot is counted with its reason."""
    while True:
        try:
            return world, Household(world, folder, imagemill)
        except Skipped as reason:
            impossible[str(reason)] = impossible.get(str(reason), 0) + 1
            words = str(reason).split()
            if words[:1] == ["no"] and words[1] in world.kinds and words[1] != "plain":
                world = substitute(world, words[1])
            elif "user" in str(reason):
                world = dataclasses.replace(world, user="root")
            elif "isolate" in str(reason):
                world = dataclasses.replace(world, isolate=False)
            elif "clock" in str(reason):
                world = dataclasses.replace(world, clock=False)
            else:
                raise
            Mill.all.clear()
            shutil.rmtree(folder)
            os.mkdir(folder)


def live(world, steps, imagemill, folder, harm=None):
    """Lets a world live, and returns what it was and what does not hold. `harm` is done when all is through, before the reader looks for the last time."""
    impossible, start = {}, time.monotonic()
    world, places = household(world, folder, imagemill, impossible)
    # The reasons for which the world is other than drawn.
    substituted = set(impossible)
    actors = Actors(places, world.seed)
    observers = [Reader(actors), Ear(actors), *([Bound(actors)] if world.other else [])]
    try:
        for who in places.daemons:
            actors.do_start(who, ready=True)
        for observer in observers:
            observer.start()
        actors.run(steps)
        actors.say("everything is repaired")
        actors.heal_all()
        begun = time.monotonic()
        oracle = Oracle(actors)
        oracle.wait()
        if world.clock and world.originals == "move":
            time.sleep(max(0, begun + FIRST_LOOK - time.monotonic()))
        oracle.look_on()
        if world.seed % 10 == 0:
            time.sleep(RESCAN)
        if harm:
            harm(actors)
            # The reader has looked at everything once more.
            time.sleep(0.3)
        for observer in observers:
            observer.stop()
        for who in places.daemons:
            actors.do_terminate(who)
        oracle.judge()
        oracle.tell()
    except Failed as reason:
        actors.violated("failed", str(reason))
    finally:
        for observer in observers:
            observer.over.set()
        places_of_mounts = list(actors.below)
        places.remove()
        for place in places_of_mounts:
            os.system("umount --lazy '%s' 2>/dev/null" % place)
    actors.impossible.update({key: actors.impossible.get(key, 0) + count for key, count in impossible.items()})
    reader = observers[0]
    return dict(
        seed=world.seed, world=world.lines(), substituted=len(substituted), violations=actors.violations, impossible=actors.impossible,
        steps=actors.steps, vain=actors.vain, kills=actors.kills, worker_kills=actors.worker_kills, drops=len(actors.sources), bytes=actors.bytes,
        seen=reader.seen, pauses=observers[1].pauses, longest=max([observer.longest for observer in observers[2:]], default=0),
        seconds=time.monotonic() - start, said=actors.said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--imagemill", required=True)
    parser.add_argument("--steps", help="only these steps, by their numbers: 0-4,7")
    parser.add_argument("--result", required=True, help="the file for what is found")
    parser.add_argument("--folder", required=True, help="an empty folder for the world")
    options = parser.parse_args()
    world = drawn.draw(options.seed)
    steps = history.Drawing(world).draw()
    steps = list(enumerate(steps)) if options.steps is None else chosen(steps, options.steps)
    try:
        # Of its own: what libfaketime has there goes by numbers of processes, which each world has for itself.
        call("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")
        found = live(world, steps, options.imagemill, options.folder)
    except Skipped as reason:
        found = dict(seed=options.seed, skipped=str(reason), violations=[])
    except Exception:
        found = dict(seed=options.seed, violations=[("explorer", traceback.format_exc())])
    with open(options.result + ".new", "w") as file:
        json.dump(found, file)
    os.rename(options.result + ".new", options.result)


if __name__ == "__main__":
    main()
