"""A virtual machine for experiments that need another kernel: QEMU, a kernel and programs of Debian, and the program under test.

Nothing is installed. The packages are fetched with apt and unpacked below ~/.cache/imagemill-chaos; remove that folder to fetch them anew.
The machine has one disk and two serial ports, and no network device.
"""
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

from experiment import Failed, Skipped
from mill import HERE

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "imagemill-chaos")
KERNEL = "linux-image-cloud-amd64"
PACKAGES = ["qemu-system-x86", "nfs-kernel-server", "nftables", "busybox-static"]
PROGRAMS = ["usr/sbin/nft", "usr/sbin/rpc.nfsd", "usr/sbin/rpc.mountd", "usr/sbin/exportfs", "usr/sbin/nfsdcld"]
# Parts of the Python library that no experiment uses.
UNUSED = ("test", "site-packages", "dist-packages", "config-*", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "distutils")
LIBRARIES = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"]

INIT = """\
#!/bin/busybox sh
export PATH=/usr/bin:/usr/sbin:/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
hostname chaos
exec </dev/null >/dev/ttyS1 2>&1
# If whoever started the machine is gone, it ends as well.
timeout -s KILL %d %s
echo "exit $?"
sync
poweroff -f
"""


def run(*words, reason=None, **more):
    """The output of a command. If it fails: skips the experiment for this reason, or fails."""
    found = subprocess.run(words, capture_output=True, text=True, **more)
    if found.returncode:
        last = (found.stderr.strip() or found.stdout.strip() or "exit code %d" % found.returncode).splitlines()[-1]
        raise Skipped("%s: %s" % (reason, last)) if reason else Failed("%s: %s" % (" ".join(words[:2]), last))
    return found.stdout


def administrator(name):
    """The path of a program for administrators, which is not on everybody's PATH."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if not found:
        raise Skipped(name + " is missing")
    return found


# What is fetched

def tools():
    """The folder with the unpacked packages. Fetches them if they are not there."""
    if platform.machine() != "x86_64":
        raise Skipped("the machine is for x86-64 only")
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        if not shutil.which(program):
            raise Skipped(program + " is missing: the kernel and QEMU are fetched from Debian")
    folder = os.path.join(CACHE, "tools")
    if not os.path.isdir(folder):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=CACHE) as scratch:
            fetch(scratch)
            os.rename(os.path.join(scratch, "tools"), folder)
    return folder


def fetch(scratch):
    debs, unpacked = os.path.join(scratch, "debs"), os.path.join(scratch, "tools")
    os.mkdir(debs)
    os.mkdir(unpacked)
    try:
        download(debs)
    except Skipped:
        # The system's lists are missing or old, so take lists of our own.
        for name in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(scratch, name))
        own = ["-o", "Dir::State::Lists=%s/lists" % scratch, "-o", "Dir::Cache=" + scratch, "-o", "APT::Sandbox::User="]
        run("apt-get", *own, "update", reason="apt has no lists of packages")
        download(debs, *own)
    for deb in os.listdir(debs):
        run("dpkg-deb", "-x", os.path.join(debs, deb), unpacked)


def download(folder, *options):
    """The packages, and of those that they need what is not installed here."""
    depends = run("apt-cache", *options, "depends", KERNEL, reason="apt does not know " + KERNEL)
    kernel = re.search(r"Depends: (linux-image-\S+)", depends)
    if not kernel:
        raise Skipped(KERNEL + " names no kernel")
    plan = run("apt-get", *options, "install", "--simulate", "--no-install-recommends", *PACKAGES, reason="apt cannot have what the machine needs")
    needed = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
    run("apt-get", *options, "download", *sorted({kernel.group(1), *PACKAGES, *needed}), cwd=folder, reason="apt cannot fetch what the machine needs")


# The disk

class Disk:
    """The files of the machine, collected in a folder and then written to an image of a file system."""

    def __init__(self, folder, tools):
        self.folder, self.tools = folder, tools
        self.libraries = {**os.environ, "LD_LIBRARY_PATH": library_path(tools)}
        for name in ("bin", "dev", "etc", "proc", "run", "sys", "tmp", "root", "usr/bin", "usr/sbin", "usr/lib", "var/lib", "sbin"):
            os.makedirs(self.path(name))
        os.symlink("usr/lib", self.path("lib"))
        for name, text in {
            "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
            "etc/group": "root:x:0:\nnogroup:x:65534:\n",
            "etc/hosts": "127.0.0.1 localhost chaos\n",
            "etc/services": "nfs 2049/tcp\nsunrpc 111/tcp\n",
            "etc/protocols": "tcp 6 TCP\nudp 17 UDP\n",
            "etc/netconfig": "tcp tpi_cots_ord v inet tcp - -\n",
        }.items():
            self.write(name, text)

    def path(self, name):
        return os.path.join(self.folder, name.lstrip("/"))

    def write(self, name, text, executable=False):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)
        if executable:
            os.chmod(self.path(name), 0o755)

    def copy(self, source, name):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        shutil.copy(source, self.path(name))

    def copy_program(self, source, name):
        self.copy(source, name)
        self.copy_libraries(source)

    def copy_libraries(self, *programs):
        """What programs are linked to, flat in /usr/lib, and the loader where they look for it."""
        for line in subprocess.run(["ldd", *programs], capture_output=True, text=True, env=self.libraries).stdout.splitlines():
            if "not found" in line:
                raise Skipped("a library is missing for %s: %s" % (os.path.basename(programs[0]), line.strip()))
            found = re.search(r"(/\S+) \(0x", line)
            if found:
                path = found.group(1)
                name = path if "/ld-linux" in path else "usr/lib/" + os.path.basename(path)
                if not os.path.exists(self.path(name)):
                    self.copy(path, name)

    def copy_python(self):
        """Python with its library, at the paths that it has here."""
        program, library = os.path.realpath(sys.executable), sysconfig.get_path("stdlib")
        self.copy_program(program, program)
        os.symlink(program, self.path("usr/bin/python3"))
        shutil.copytree(library, self.path(library), ignore=shutil.ignore_patterns(*UNUSED))
        self.copy_libraries(*glob.glob(os.path.join(glob.escape(library), "lib-dynload", "*.so")))

    def copy_tools(self):
        """The kernel's modules, busybox and the programs of the file server."""
        self.copy(os.path.join(self.tools, "bin/busybox"), "bin/busybox")
        for program in PROGRAMS:
            self.copy_program(os.path.join(self.tools, program), program)
        for module in glob.glob(os.path.join(self.tools, "lib/modules/*/kernel/**/*.ko"), recursive=True):
            if re.search(r"/kernel/(crypto|fs|lib|net)/", module):
                self.copy(module, os.path.relpath(module, self.tools))
        for listing in glob.glob(os.path.join(self.tools, "lib/modules/*/modules.*")):
            self.copy(listing, os.path.relpath(listing, self.tools))
        version = os.path.basename(glob.glob(os.path.join(self.tools, "lib/modules/*"))[0])
        run(os.path.join(self.tools, "bin/busybox"), "depmod", "-b", self.folder, version)

    def copy_project(self, imagemill):
        """The program under test, the experiments' own files, and what checks the results."""
        self.copy_program(imagemill, "usr/bin/imagemill")
        for name in ("vips", "vipsheader"):
            if not shutil.which(name):
                raise Skipped(name + " is missing: install libvips-tools")
            self.copy_program(shutil.which(name), "usr/bin/" + name)
        for path in glob.glob(os.path.join(glob.escape(HERE), "*")):
            if os.path.isfile(path):
                self.copy(path, "imagemill/Tests/Chaos/" + os.path.basename(path))
        for path in glob.glob(os.path.join(glob.escape(HERE), "../../docs/schema/*.json")):
            self.copy(path, "imagemill/docs/schema/" + os.path.basename(path))

    def make(self, image, room=400):
        """Writes the image, with so many MB of room."""
        used = int(run("du", "-sm", self.folder).split()[0])
        run(administrator("mke2fs"), "-q", "-t", "ext4", "-E", "root_owner=0:0", "-d", self.folder, image, "%dM" % (used * 1.1 + room))


def library_path(tools):
    return ":".join(os.path.join(tools, folder) for folder in LIBRARIES)


# The machine

def boot(folder, image, tools, seconds, kvm=False, memory=1500):
    """Boots a machine with this disk. Returns the exit code of what its init runs, and what that said."""
    said, console = os.path.join(folder, "said.txt"), os.path.join(folder, "console.txt")
    share = os.path.join(tools, "usr/share")
    words = [
        os.path.join(tools, "usr/bin/qemu-system-x86_64"), "-L", share + "/qemu", "-L", share + "/seabios", "-nodefaults", "-no-user-config",
        "-display", "none", "-monitor", "none", "-no-reboot", "-nic", "none", "-m", str(memory), "-smp", "2",
        *(["-accel", "kvm", "-cpu", "host"] if kvm else ["-accel", "tcg,thread=multi", "-cpu", "max"]),
        "-serial", "file:" + console, "-serial", "file:" + said,
        "-drive", "if=none,id=disk,format=raw,cache=unsafe,file=" + image, "-device", "nvme,drive=disk,serial=disk",
        "-kernel", glob.glob(os.path.join(tools, "boot/vmlinuz-*"))[0],
        "-append", "console=ttyS0 root=/dev/nvme0n1 rootfstype=ext4 rw rootwait panic=-1 mitigations=off init=/sbin/init"]
    machine = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "LD_LIBRARY_PATH": library_path(tools)})
    try:
        _, error = machine.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failed("the machine does not end within %d s\n%s" % (seconds, ends(said, console)))
    finally:
        machine.kill()
        machine.wait()
    if machine.returncode:
        raise Skipped("QEMU does not run here: " + (error.strip().splitlines() or ["exit code %d" % machine.returncode])[-1])
    text = read(said)
    code = re.search(r"^exit (\d+)\s*\Z", text, re.MULTILINE)
    if not code:
        raise Failed("the machine has stopped early\n" + ends(said, console))
    return int(code.group(1)), text[:code.start()].strip()


def read(path):
    with open(path, errors="replace") as file:
        return file.read().replace("\r", "")


def ends(*paths):
    """The last lines of files, indented."""
    return "\n".join("  | " + line for path in paths if os.path.exists(path) for line in read(path).splitlines()[-15:])
