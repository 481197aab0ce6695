"""Experiments that break the world around the daemon: it pauses and says why, loses nothing, and goes on soon after the repair."""
import contextlib
import os
import subprocess
import sys

from experiment import Skipped, expect
from mill import HERE, mount
from pictures import png

AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
# Seconds from a repair until the inbox takes files again.
BOUND = 10


def need_root(why):
    if os.geteuid() != 0:
        raise Skipped(why + " needs root")


@contextlib.contextmanager
def mounted(folder, size="2m"):
    """A small file system at a folder, for as long as the body runs."""
    mount(folder, size)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], capture_output=True)


@contextlib.contextmanager
def passthrough(folder, mountpoint, failing=None):
    """The process of a file system that shows a folder at a mount point. Reads fail for as long as the file `failing` exists."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise Skipped("/dev/fuse cannot be opened")
    server = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "passthrough"), folder, mountpoint, *([failing] if failing else [])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if server.stdout.readline() != "ready\n":
            raise Skipped("no FUSE here: " + server.stderr.read().strip())
        yield server
    finally:
        # All that waits for it gets an error now, so that the daemon can end.
        server.kill()
        server.wait()
        subprocess.run(["umount", "--lazy", mountpoint], capture_output=True)


def own(mill):
    """Gives the mill's folders to nobody, where root runs the experiment: root may write everywhere."""
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "nobody:nogroup", mill.folder], check=True)
        return AS_NOBODY
    return ()


def pictures(mill, count, prefix):
    """Drops pictures. The names begin with the prefix."""
    for number in range(count):
        mill.drop(png((number * 40 % 256, 80, 120), comment=prefix.encode()), "%s%d.png" % (prefix, number))


def trouble(mill, reasons, repair, what):
    """With the world broken and something dropped: waits for the pause, repairs, and returns the seconds until the inbox takes files again."""
    mill.until(lambda: mill.pause() in reasons, 20, "%s: no pause with the reason %s" % (what, " or ".join(reasons)), alive=True)
    paused = next(inbox["paused"] for inbox in mill.status_command()["inboxes"] if inbox["state"] == "paused")
    expect(paused["message"], "%s: the pause has no sentence" % what)
    expect(not mill.failed(), "%s: sources went to failed/: %s" % (what, mill.failed()))
    repair()
    return mill.until(lambda: mill.pause() is None, BOUND, "%s: it is repaired, and the inbox still paused" % what, alive=True)


def all_is_well(mill, seconds=60):
    mill.wait_idle(seconds)
    mill.stop()
    mill.check()
    expect(not mill.failed(), "sources went to failed/: %s" % mill.failed())
