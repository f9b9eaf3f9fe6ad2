"""Hosts for the end-to-end tests: real SSH servers on loopback, and servers and proxies that misbehave."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import is_server, limit, read_process, wait_until

TESTS = Path(__file__).parents[1]
POD = TESTS / "pod" / "pod"
FAULT = TESTS / "fault" / "fault.py"


class Pod:
    """What `tests/pod/pod up` has started, by the command `prefix`, if there is one."""

    def __init__(self, directory, *options, prefix=()):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        up = subprocess.run([*prefix, POD, "up", directory, *options], capture_output=True, text=True, check=False)
        if "not installed" in up.stderr or "namespaces" in up.stderr:
            pytest.skip(up.stderr.strip())
        assert up.returncode == 0, up.stderr
        self.list = directory / "pod.txt"
        self.addresses = self.list.read_text().split()
        self.hosts = [address.partition(":")[0] for address in self.addresses]
        self.port = int(self.addresses[0].partition(":")[2])
        self.options = ("--hostfile", self.list)  # what podrun needs to run on all of it, with $HOME prepared by move_in()

    @property
    def via(self):
        """The same through the ssh command instead of our own."""
        return ("--via", f"ssh -F {self.directory}/ssh_config -p {{port}} {{host}}")

    @property
    def log(self):
        return (self.directory / "log").read_text()

    def on(self, *ranks):
        """The option that chooses these hosts, as a list of their own."""
        return ("-H", ",".join(self.addresses[rank] for rank in ranks))

    def move_in(self, podrun):
        """Gives the test the key and the known hosts, in its own $HOME."""
        shutil.copytree(self.directory / "user" / ".ssh", podrun.home / ".ssh")

    def allow(self, public_key):
        """One more key with which one can log in."""
        with open(self.directory / "authorized_keys", "a", encoding="ascii") as file:
            file.write(Path(public_key).read_text(encoding="ascii"))

    def ssh(self, rank, command):
        """Runs it with ssh: a CompletedProcess."""
        words = ["ssh", "-F", self.directory / "ssh_config", "-o", "KexAlgorithms=curve25519-sha256", self.hosts[rank], command]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def processes(self, rank):
        """The processes of an isolated host, as {pid there: command line}, without its servers."""
        return {
            process.pid: process.command
            for process in self.every_process(rank)
            if process.pid != 1 and not is_server(process.command)  # the first one is the pod's
        }

    def every_process(self, rank):
        """Those of an isolated host by its own /proc, which costs the same however many hosts there are."""
        proc = f"/proc/{self._first_processes[rank]}/root/proc"
        return [process for pid in os.listdir(proc) if pid.isdigit() and (process := read_process(int(pid), proc))]

    @functools.cached_property
    def _first_processes(self):
        outer = (self.directory / "pids").read_text().split()
        return [first for pid in outer for first in children_of(pid)]

    def connections(self, rank):
        """A process of sshd for each of an isolated host's present connections, as pids of ours."""
        return children_of(self.server(rank))

    def logins(self, rank):
        """All of these: two for each connection from OpenSSH 9.8 on."""
        connections = self.connections(rank)
        children = [child for pid in connections for child in children_of(pid) if (found := read_process(child)) and is_server(found.command)]
        return connections + children

    def first_process(self, rank):
        """Of an isolated host, as a pid of ours: the parent of all others there."""
        return self._first_processes[rank]

    def programs(self, rank):
        """All other processes than servers on an isolated host, as pids of ours."""
        found, open_ones = [], [self.first_process(rank)]
        while open_ones:
            children = children_of(open_ones.pop())
            open_ones += children
            found += [pid for pid in children if (process := read_process(pid)) and not is_server(process.command)]
        return found

    def server(self, rank):
        """The sshd of an isolated host that listens, as a pid of ours."""
        return children_of(self._first_processes[rank])[0]

    def down(self):
        subprocess.run([POD, "down", self.directory], check=True)


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []  # it has ended


def write_key(path, kind="ed25519", passphrase=""):
    """Makes a key pair; returns the path."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", path], check=True)
    return path


class Fault:
    """A running tests/fault/fault.py."""

    def __init__(self, *words, addresses=("127.0.0.99",)):
        self._process = subprocess.Popen(
            [sys.executable, FAULT, *map(str, words), *addresses], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addresses = self._answer()["listening"]
        self.address = self.addresses[0]

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, "fault.py has ended"
        return json.loads(line)

    def tell(self, command):
        """`stall`, `stall up`, `stall down`, `go`, `cut rst`, `cut fin`, `deaf`, `report`; returns the answer."""
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    @property
    def connections(self):
        """The facts of each connection so far: bytes `up` and `down`, `round_trips`."""
        return self.tell("report")["connections"]

    def wait_for_connections(self, count=1):
        wait_until(lambda: len(self.connections) >= count, what=f"{count} connections")

    def end(self):
        self._process.communicate(timeout=limit(5))
