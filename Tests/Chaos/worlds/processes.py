"""What happens to daemons, their starters and their workers, and what they are asked."""
import contextlib
import os
import signal
import socket
import subprocess
import time

from experiment import Skipped


SUPERVISOR = "supervisor"
# Seconds within which a command ends, and after which a daemon has got over a broken disk.
COMMAND, RECOVERY = 75, 15


class Processes:
    """The steps that start, stop, kill or ask a daemon."""

    def do_kill(self, daemon):
        # One that has ended by itself is no kill.
        self.look_after()
        daemon = self.household.daemons[daemon]
        with daemon.lock:
            was_alive = daemon.is_alive
            self.kills += was_alive
            daemon.expected = False
            daemon.kill()
        return was_alive

    def do_start(self, daemon, ready):
        daemon = self.household.daemons[daemon]
        with daemon.lock:
            if daemon.is_alive:
                return False
            # What was not mounted when it started cannot be known to be a mount.
            for disk in self.household.disks.values():
                disk.back()
            daemon.begin(ready=False)
        if ready and all(disk.is_whole for disk in self.household.disks.values()):
            self.wait_running(daemon)

    def wait_running(self, daemon, seconds=60):
        end = time.monotonic() + seconds
        while not daemon.is_running():
            if not daemon.is_alive:
                return
            if time.monotonic() > end:
                return self.violated("start", "the daemon of %s does not say that it runs within %d s" % (daemon.who, seconds))
            time.sleep(0.05)

    def do_kills(self, daemon, count, interval):
        for _ in range(count):
            self.do_start(daemon, ready=True)
            time.sleep(interval)
            self.do_kill(daemon)
        self.do_start(daemon, ready=True)

    def do_kill_worker(self, daemon, which, chance):
        daemon = self.household.daemons[daemon]
        found = [daemon.starter()] if which == "starter" else daemon.workers_running()
        if not (daemon.is_alive and any(found)):
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(found[int(chance * len(found))], signal.SIGKILL)
            self.worker_kills += 1

    def do_stop(self, daemon, which, chance):
        daemon = self.household.daemons[daemon]
        found = [daemon.process.pid] if which == SUPERVISOR and daemon.is_alive else daemon.workers_running() if daemon.is_alive else []
        if not found:
            return False
        process = found[int(chance * len(found))]
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)
            daemon.stopped.append(process)

    def do_go_on(self, daemon):
        daemon = self.household.daemons[daemon]
        for process in daemon.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        daemon.stopped = []

    def do_terminate(self, daemon):
        who, daemon = daemon, self.household.daemons[daemon]
        self.look_after()
        self.do_go_on(who)
        with daemon.lock:
            if not daemon.is_alive:
                return False
            ran = daemon.is_running()
            daemon.expected = False
            daemon.signal(signal.SIGTERM)
            hung = any(disk.hangs for disk in self.household.disks.values())
            try:
                code = daemon.process.wait(3 if hung else 60)
            except subprocess.TimeoutExpired:
                if not hung:
                    self.violated("stop", "the daemon of %s does not end within 60 s after SIGTERM" % who)
                daemon.kill()
                self.kills += 1
                return
            # Before it runs, it may end as any program does.
            if code != 0 and not (code == -signal.SIGTERM and not ran):
                self.violated("stop", "the daemon of %s ends with %d after SIGTERM" % (who, code))

    # What is done with a running daemon

    def do_retry(self, daemon, kill):
        who, daemon = daemon, self.household.daemons[daemon]
        if not daemon.is_alive:
            return False
        self.retried += 1
        words = [daemon.imagemill, "retry", daemon.path("mill.yaml"), "--all"]
        if kill:
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.dice.uniform(0.02, 0.15))
            self.do_kill(who)
            process.wait()
            return self.do_start(who, ready=True)
        # Another raw file may have the name of one that would go back.
        self.command(daemon, *words[1:], codes=(0, 1) if self.household.world.photos else (0,))

    def command(self, daemon, *words, codes=(0,)):
        """Gives a command as a user does, and returns its exit code, None if it does not end. It must be one of some where nothing is broken."""
        is_well = self.is_well(daemon)
        try:
            done = subprocess.run([daemon.imagemill, *words], capture_output=True, text=True, timeout=COMMAND)
        except subprocess.TimeoutExpired:
            if is_well and self.is_well(daemon):
                self.violated("command", "`imagemill %s` does not end within %d s" % (words[0], COMMAND))
            return None
        if done.returncode not in codes and is_well and self.is_well(daemon):
            self.violated("command", "`imagemill %s` ends with %d: %s" % (words[0], done.returncode, (done.stdout + done.stderr).strip()[-300:]))
        return done.returncode

    def is_well(self, daemon):
        """Whether a daemon runs, and every disk has been well for a while."""
        now = time.monotonic()
        disks = self.household.disks.values()
        return daemon.is_running() and not daemon.stopped and all(disk.is_whole and now - (disk.was_broken or 0) > RECOVERY for disk in disks)

    def tell(self, who, word):
        """Has an inbox paused or going on. Returns whether the daemon says that it has."""
        daemon = self.daemon(who)
        return self.command(daemon, word, daemon.path("mill.yaml"), self.world.inbox_name(who)) == 0

    def do_pause(self, who):
        name = self.world.inbox_name(who)
        self.paused.add(name)
        if self.tell(who, "pause"):
            status = self.daemon(who).status()
            states = [inbox["state"] for inbox in status["inboxes"] if inbox["name"] == name] if status else []
            if "running" in states and self.is_well(self.daemon(who)):
                self.violated("command", "the inbox %s was paused by a command, and is %s" % (name, states))

    def do_resume(self, who):
        self.tell(who, "resume")

    def do_ask(self, daemon, what):
        daemon = self.household.daemons[daemon]
        if not (daemon.is_alive and not daemon.stopped and daemon.is_running()):
            return False
        if what == "command":
            # 1 says that something is paused or blocked.
            self.command(daemon, "status", daemon.path("mill.yaml"), "--json", codes=(0, 1))
            return
        if not self.world.http:
            raise Skipped("no dashboard in this world")
        path = {"status": b"/api/status", "metrics": b"/metrics"}.get(what, b"/")
        try:
            if what == "half a request":
                return self.ask_half(daemon)
            answer = daemon.ask(path)
        except OSError as error:
            if daemon.is_alive and not daemon.stopped:
                self.violated("status", "%s is not answered: %s" % (path.decode(), error))
            return
        if not answer.startswith(b"HTTP/1.1 200"):
            self.violated("status", "%s is answered with %r" % (path.decode(), answer[:40]))

    def ask_half(self, daemon):
        """A client that never ends its request."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        end.settimeout(2)
        with contextlib.suppress(OSError):
            end.connect(daemon.path("http.sock"))
            end.sendall(b"GET / HTTP/1.1\r\nHost: ")
        self.clients.append(end)
