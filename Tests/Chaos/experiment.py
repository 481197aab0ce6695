"""What every experiment begins and ends with: its options, its one line of result, its exit code."""
import argparse
import contextlib
import os
import random
import sys
import threading
import time

from mill import HERE, Failed, Mill

SKIPPED = 77


class Skipped(Exception):
    """It cannot be done here."""


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


def main(experiment, **numbers):
    """Runs an experiment: prints its one line, and ends with 0, with 1 where something does not hold, with 77 where it cannot be done here.

    `numbers` are its options and their defaults, as `rounds=300`; a default of False makes a flag.
    """
    name = os.path.basename(sys.argv[0])
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__.strip().splitlines()[0])
    parser.add_argument("--imagemill", default=os.path.join(HERE, "../../.build/debug/imagemill"), help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="leaves the folders there")
    for key, value in numbers.items():
        flag = dict(action="store_true") if value is False else dict(type=type(value), default=value)
        parser.add_argument("--" + key.replace("_", "-"), **flag)
    options = parser.parse_args()
    options.imagemill = os.path.abspath(options.imagemill)
    random.seed(options.seed)
    start, code = time.monotonic(), 1
    try:
        print("%s: %s (%.0f s)" % (name, experiment(options), time.monotonic() - start))
        code = 0
    except Skipped as reason:
        print("%s: skipped: %s" % (name, reason))
        code = SKIPPED
    except Failed as reason:
        print("%s: FAILED: %s" % (name, reason))
        for mill in Mill.all:
            print("  in %s; the end of its log:" % mill.folder)
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
