"""A real Slurm on this machine: munge, one controller and several node daemons, without systemd. Needs root, slurm-wlm and munge."""
import os
import shutil
import signal
import socket
import subprocess
import time

CONFIGURATION = """\
ClusterName=imagemill
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/log/slurmd.%n.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
# Several daemons on one host, each with more cores than the host may have.
SlurmdParameters=config_overrides
ReturnToService=2
MaxArraySize=10001
MaxJobCount=20000
# A node is given up after ten seconds instead of five minutes.
SlurmdTimeout=10
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Why there can be no cluster here; None if there can."""
    if os.geteuid() != 0:
        return "needs root"
    programs = [name for name in ["slurmctld", "slurmd", "munged", "sbatch", "setpriv"] if not shutil.which(name)]
    return "needs " + ", ".join(programs) if programs else None


class Slurm:
    def __init__(self, folder, nodes=4, port=17817):
        self.folder, self.nodes, self.port = folder, nodes, port
        self.daemons = []
        self.environment = dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf")

    def start(self):
        munge = f"{self.folder}/munge"
        for name in ["state", "spool", "log", "munge"]:
            os.makedirs(f"{self.folder}/{name}", exist_ok=True)
        with open(f"{munge}/key", "wb") as key:
            key.write(os.urandom(128))
        os.chmod(f"{munge}/key", 0o400)
        for path in [munge, f"{munge}/key"]:
            shutil.chown(path, "munge", "munge")
        host = socket.gethostname().split(".")[0]
        first = self.port + 1
        with open(f"{self.folder}/slurm.conf", "w") as file:
            file.write(CONFIGURATION.format(
                host=host, folder=self.folder, port=self.port, nodes=self.nodes, first=first, last=first + self.nodes - 1))
        try:
            as_munge = ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups"]
            self._start(as_munge + ["munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                        f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"])
            self._until(lambda: os.path.exists(f"{munge}/socket"), "munge does not answer")
            configuration = f"{self.folder}/slurm.conf"
            self._start(["slurmctld", "-D", "-f", configuration])
            self.node = {f"n{i}": self._start(["slurmd", "-D", "-f", configuration, "-N", f"n{i}"]) for i in range(1, self.nodes + 1)}
            self._until(lambda: self._idle() == self.nodes, "the nodes do not come up")
        except BaseException:
            self.close()
            raise
        return self

    def _start(self, command):
        log = open(f"{self.folder}/log/daemons.log", "ab")
        # Its own session: what a terminal sends to the test is not for the cluster.
        daemon = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.daemons.append(daemon)
        return daemon

    @staticmethod
    def _until(condition, complaint, seconds=90):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(complaint)
            time.sleep(0.05)

    def _idle(self):
        answer = self.command("sinfo", "-h", "-t", "idle", "-o", "%D", check=False).stdout.strip()
        return int(answer) if answer.isdigit() else 0

    def command(self, *words, check=True, **variables):
        return subprocess.run(words, env=dict(self.environment, **variables), check=check, capture_output=True, text=True, timeout=60)

    def submit(self, script, *options, **variables):
        """Submits a job. Returns its number."""
        answer = self.command("sbatch", "--parsable", *options, script, **variables)
        return answer.stdout.strip().split(";")[0]

    def tasks(self, job):
        """Task number: (state, node, exit code, restarts) of every task that Slurm knows by itself."""
        found = {}
        text = self.command("scontrol", "-o", "show", "job", job, check=False).stdout
        for line in text.splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            task = fields.get("ArrayTaskId", "")
            if task.isdigit():
                found[int(task)] = (fields["JobState"], fields.get("NodeList", ""), int(fields["ExitCode"].split(":")[0]), int(fields["Restarts"]))
        return found

    def waiting(self, job):
        return bool(self.command("squeue", "-h", "-j", job, check=False).stdout.strip())

    def finish(self, job, seconds=600):
        self._until(lambda: not self.waiting(job), f"job {job} does not end", seconds)

    def steps(self, node):
        """The processes that a node's daemon has started, and those below them."""
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat") as file:
                        parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError):
                    pass
        found = []
        for process in parents:
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    if f"SLURMD_NODENAME={node}\0".encode() in file.read():
                        found.append(process)
            except OSError:
                pass
        return found

    def close(self):
        for daemon in reversed(self.daemons):
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGCONT)
                daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
