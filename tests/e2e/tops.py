"""What the tests of podrun top share: hosts whose figures a test decides, and the samples so far."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from homes import homes_of_pod
from pods import TESTS
from support import send, wait_until

GPUS = 4
NVIDIA = ("--devices", ",".join(f"nvidia{index}" for index in range(GPUS)))
# It repeats itself as nvidia-smi -l does, and ends when nobody reads; what one round does is the file ~/gpus, which may change.
NVIDIA_SMI = 'echo "$*" >>~/nvidia-smi.log\nwhile . ~/gpus; do sleep 0.5; done'
OLD_DRIVER = """case $* in *clocks_event_reasons*) echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; exit 2 ;; esac
"""


def row(index, busy="98", watts="650.00", celsius=60, mhz=1980, slowed="0x0000000000000004"):
    """As nvidia-smi prints it for the query of top.sh."""
    return f"{index}, {busy}, 71680, 81559, {watts}, {celsius}, {mhz}, 1980, 0, {slowed}"


def rounds(different=None, **figures):
    """sh text that prints a row for each GPU; `different`: {index: figures of that one}."""
    rows = [row(index, **figures, **(different or {}).get(index, {})) for index in range(GPUS)]
    return "cat <<END\n" + "\n".join(rows) + "\nEND\n"


class Hosts:
    """Isolated hosts of a pod. Figures of one are changed by mounts there, which needs root."""

    def __init__(self, homes):
        self.homes = homes
        self.pod = homes.pod
        self.ranks = homes.ranks
        self.options = homes.pod.options
        self._mounted = []
        self._uptime = {}

    def on_host(self, rank, text):
        done = self.pod.ssh(rank, text)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def instead(self, rank, path, text):
        """The file is another one there; changed with the next call."""
        if os.geteuid() != 0:
            pytest.skip("mounts on hosts need root")
        name = "instead" + path.replace("/", ".")
        file = self.homes.home(rank) / name
        if (rank, path) in self._mounted:
            file.write_text(text)
            return
        file.write_text(text)
        self.on_host(rank, f"mount --bind ~/{name} {path}")
        self._mounted.append((rank, path))

    def mount_read_only(self, rank, path):
        if os.geteuid() != 0:
            pytest.skip("mounts on hosts need root")
        self.on_host(rank, f"mount -t tmpfs -o ro tmpfs {path}")
        self._mounted.append((rank, path))

    def later(self, rank, seconds):
        """The host's uptime is so much greater, and stands still from now on."""
        now = self._uptime.get(rank) or float(Path("/proc/uptime").read_text().split()[0])
        self._uptime[rank] = now + seconds
        self.instead(rank, "/proc/uptime", f"{self._uptime[rank]:.2f} {self._uptime[rank]:.2f}\n")

    def gpus(self, rank, text):
        """What the fake nvidia-smi does from its next round on."""
        home = self.homes.home(rank)
        (home / "gpus.new").write_text(text)
        (home / "gpus.new").rename(home / "gpus")
        if not (home / "bin" / "nvidia-smi").exists():
            self.homes.program(rank, "nvidia-smi", NVIDIA_SMI)

    def smi_calls(self, rank):
        log = self.homes.home(rank) / "nvidia-smi.log"
        return log.read_text().splitlines() if log.exists() else []

    def hang(self, rank):
        """Mounts ~/hangs, a file system that answers nothing until it is killed: its pid."""
        if not Path("/dev/fuse").exists():
            pytest.skip("no FUSE on this machine")
        home = self.homes.home(rank)
        (home / "hangs").mkdir()
        shutil.copy(TESTS / "fault" / "hanging_fuse.py", self.pod.directory / "hanging_fuse.py")
        self.on_host(rank, "setsid python3 /dev/pod/hanging_fuse.py ~/hangs ~/fuse.pid fuse.glusterfs </dev/null >/dev/null 2>~/fuse.err &")
        self._mounted.append((rank, "~/hangs"))
        wait_until((home / "fuse.pid").exists, what=home / "fuse.err")

    def stop_hanging(self, rank):
        self.pod.ssh(rank, "kill -9 $(cat ~/fuse.pid); rm ~/fuse.pid")

    def commands(self, rank):
        return [command.replace(b"\0", b" ").decode(errors="replace") for command in self.pod.processes(rank).values()]

    def wait_until_left_alone(self):
        """No process is there any more, on no host."""
        try:
            wait_until(lambda: not any(map(self.commands, self.ranks)))
        except AssertionError:
            raise AssertionError(f"left behind: { {rank: self.commands(rank) for rank in self.ranks} }") from None

    def lose(self, rank):
        """Cuts its connections."""
        send(9, self.pod.logins(rank))

    def restore(self):
        for rank in self.ranks:
            if (self.homes.home(rank) / "fuse.pid").exists():
                self.stop_hanging(rank)
        for rank, path in reversed(self._mounted):
            self.pod.ssh(rank, f"while umount {path}; do :; done")


@contextlib.contextmanager
def hosts_of(pods, podrun, count, more=()):
    with homes_of_pod(pods, podrun, count, more=more) as homes:
        hosts = Hosts(homes)
        try:
            yield hosts
        finally:
            hosts.restore()


class Top:
    """podrun top --json in the background."""

    def __init__(self, podrun, *options):
        self.run = podrun.start("top", "--json", "--interval", "1s", *options)
        self._events = []
        self._read = 0

    @property
    def events(self):
        output = self.run.stdout
        end = output.rfind(b"\n") + 1
        self._events += [json.loads(line) for line in output[self._read : end].splitlines()]
        self._read = end
        return self._events

    def of(self, worker, name="sample"):
        return [event for event in self.events if event["worker"] == worker and event["event"] == name]

    def wait_for(self, worker, condition, what, seconds=30):
        """The first sample of this host from now on that is as wanted."""
        begin = len(self.of(worker))

        def found():
            assert self.run.process.poll() is None, self.run.stderr
            return next((sample for sample in self.of(worker)[begin:] if condition(sample)), None)

        try:
            return wait_until(found, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the last samples: {json.dumps(self.of(worker)[-2:])}") from None

    def wait_for_samples(self, count, *workers):
        """So many more of each."""
        before = {worker: len(self.of(worker)) for worker in workers}
        wait_until(lambda: all(len(self.of(worker)) >= before[worker] + count for worker in workers), 20 + count, f"{count} samples of {workers}")

    def end(self, number=2):
        self.run.signal(number)
        return self.run.wait()


def odd(sample, *whats):
    """The oddities of these names."""
    return [each for each in sample["odd"] if each["what"] in whats]


class TpuServer:
    """tests/e2e/tpu_metrics.py on a free port of those where libtpu has its service."""

    def __init__(self, directory, port, chips):
        self.file = directory / f"chips.{port}"
        self.tell(chips)
        script = Path(__file__).with_name("tpu_metrics.py")
        self._process = subprocess.Popen(["/usr/bin/python3", script, str(port), f"@{self.file}"], stdout=subprocess.PIPE)
        assert self._process.stdout.readline() == b"ready\n"

    def tell(self, chips):
        self.file.write_text(" ".join(f"{duty},{used},{total}" for duty, used, total in chips))

    def end(self):
        self._process.kill()
        self._process.wait()
