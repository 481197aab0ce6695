"""What every experiment begins and ends with: its options, its one line of result, its exit code."""
import argparse
import contextlib
import os
import random
import subprocess
import sys
import threading
import time

from mill import HERE, Failed, Mill, Skipped

SKIPPED = 77
IN_NAMESPACE = "IMAGEMILL_CHAOS_NAMESPACE"


def expect(holds, sentence):
    """What does not hold ends the experiment."""
    if not holds:
        raise Failed(sentence)


def in_background(work, *arguments, **more):
    thread = threading.Thread(target=work, args=arguments, kwargs=more, daemon=True)
    thread.start()
    return thread


def median(numbers):
    numbers = sorted(numbers)
    middle = len(numbers) // 2
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


def enter_namespace(name):
    """Starts again with mounts of its own, so that none is left behind however the experiment ends. Does nothing in the second life."""
    if os.environ.get(IN_NAMESPACE):
        return
    # Without root, being root in a namespace of users is enough to mount.
    for words in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        with contextlib.suppress(OSError):
            if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
                os.execvpe(words[0], [*words, sys.executable, *sys.argv], {**os.environ, IN_NAMESPACE: "1"})
    print("%s: skipped: no file system can be mounted here: unshare --mount is refused" % name)
    sys.exit(SKIPPED)


def variant(options):
    """What distinguishes this run from the plain one, for its line."""
    words = [options.originals] if options.originals != "move" else []
    words += ["sets"] if options.sets else []
    return words + (["two file systems, %s the inbox" % options.two_file_systems] if options.two_file_systems else [])


def main(experiment, variants=False, mounts=False, **numbers):
    """Runs an experiment: prints its one line, and ends with 0, with 1 if something does not hold, with 77 if it cannot be done here.

    `numbers` are its options and their defaults, as `rounds=300`; a default of False makes a flag. `variants`: the experiment can be done with
    every policy, with sets, and on two file systems. `mounts`: it mounts file systems.
    """
    name = os.path.basename(sys.argv[0])
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__.strip().splitlines()[0])
    parser.add_argument("--imagemill", default=os.path.join(HERE, "../../.build/debug/imagemill"), help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leaves the folders there")
    for key, value in numbers.items():
        flag = dict(action="store_true") if value is False else dict(type=type(value), default=value)
        parser.add_argument("--" + key.replace("_", "-"), **flag)
    if variants:
        parser.add_argument("--originals", choices=["move", "keep", "delete"], default="move", help="the policy of the inboxes")
        parser.add_argument("--sets", action="store_true", help="drops folders of pictures for a pipeline with `source: set`")
        parser.add_argument(
            "--two-file-systems", nargs="?", choices=["beside", "inside"], const="beside",
            help="beside: the state folder is on another file system than the inbox; inside: each inbox is a file system of its own")
    options = parser.parse_args()
    words = variant(options) if variants else []
    if mounts or variants and options.two_file_systems:
        enter_namespace(name)
    title = "%s (%s)" % (name, ", ".join(words)) if words else name
    options.imagemill = os.path.abspath(options.imagemill)
    random.seed(options.seed)
    start, code = time.monotonic(), 1
    try:
        print("%s: %s (%.0f s)" % (title, experiment(options), time.monotonic() - start))
        code = 0
    except Skipped as reason:
        print("%s: skipped: %s" % (title, reason))
        code = SKIPPED
    except Failed as reason:
        print("%s: FAILED: %s" % (title, reason))
        for mill in Mill.all:
            stacks = mill.write_stacks()
            print("  in %s%s; the end of its log:" % (mill.folder, ", with %s of the program that still runs" % stacks if stacks else ""))
            with contextlib.suppress(OSError):
                print("".join("  | %s\n" % line for line in mill.log_text().splitlines()[-15:]), end="")
        code = 1
    finally:
        # Also where the experiment itself has a mistake, no daemon is left behind.
        for mill in list(Mill.all):
            mill.kill()
            if code != 1 and not options.keep:
                mill.remove()
    sys.exit(code)
