"""Runs of podrun --restarts: what they print, commands that prove that no host runs two tries, and hosts that are lost and come back."""

import json
import re
import shutil
import signal
import subprocess
from collections import namedtuple
from pathlib import Path

import pytest

from events import SCHEMA, Events
from pods import TESTS, write_key
from support import send, wait_until

BOOT_ID = "/proc/sys/kernel/random/boot_id"
MACHINE_ID = "/etc/machine-id"
HANGING_FUSE = TESTS / "fault" / "hanging_fuse.py"

# Each process of a try inherits the lock, so the next try gets it only if the last process of this one has ended.
LOCKED = """exec 9>>~/lock.$PODRUN_JOB_ID
flock -n 9 || echo "restart $PODRUN_RESTART of $PODRUN_JOB_ID" >>~/two-tries
echo "up $PODRUN_RESTART $PODRUN_RESTART_CAUSE"
"""
FIRST_TRY_HANGS = LOCKED + '[ "$PODRUN_RESTART" != 0 ] || exec sleep 1000'
OF_ONE_TRY = ("-t", "20", "--grace", "1")
OPTIONS = (*OF_ONE_TRY, "--short-try", "1s")

Over = namedtuple("Over", "reason tries status")


def without_times(text):
    """Nor does it say how much of the pause of 10 s was left."""
    return re.sub(r"again in \d+ s", "again in 10 s", re.sub(r" \(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\)$", "", text, flags=re.MULTILINE))


def meeting(directory, hosts):
    """A piece of a command in which the hosts wait for each other, since one may begin seconds after another: once in a try."""
    name = f"{directory}/met.$PODRUN_JOB_ID.$PODRUN_RESTART"
    return f': >"{name}.$PODRUN_RANK"; until [ "$(set -- "{name}".*; echo $#)" = {hosts} ]; do sleep 0.1; done\n'


class Restarted:
    """The events of all tries, in an order that the documentation promises. `tries` are the Events of each. `stderr` is without times."""

    def __init__(self, ended):
        self.returncode, self.stderr = ended.returncode, without_times(ended.stderr.decode())
        self.tries, self.between, self.stalls, of_try = [], [], [], []
        for line in ended.stdout.splitlines(keepends=True):
            event = json.loads(line)
            if event["event"] == "stall":
                SCHEMA.validate(event)
                self.stalls.append(event)
            elif event["event"] == "start" or of_try:
                of_try.append(line)
                if event["event"] == "summary":
                    one = subprocess.CompletedProcess(ended.args, event["status"], b"".join(of_try), ended.stderr)
                    self.tries.append(Events(one))
                    of_try = []
            else:
                SCHEMA.validate(event)
                self.between.append(event)
        assert not of_try
        assert len({each.start["job_id"] for each in self.tries}) == 1
        last = self.between.pop()
        assert last["event"] == "over"
        self.over = Over(last["reason"], last["tries"], last["status"])
        assert self.over.status == self.returncode
        self.waits = [event for event in self.between if event["event"] == "waiting"]
        self.restarts = [event for event in self.between if event["event"] == "restart"]
        assert [event["restart"] for event in self.restarts] == [*range(1, len(self.restarts) + 1)]

    @property
    def causes(self):
        """Of each restart, and the workers that it is about."""
        return [(event["cause"], event["workers"]) for event in self.restarts]


def between_so_far(run, name):
    """The events of this name of a run that goes on."""
    lines = run.stdout.rpartition(b"\n")[0].split(b"\n")
    return [json.loads(line) for line in lines if b'"event":"%s"' % name.encode() in line]


def wait_for_event(run, name, seconds=30):
    """The first one of this name."""

    def printed():
        assert run.process.poll() is None or between_so_far(run, name), run.stdout + run.stderr
        return between_so_far(run, name)

    return wait_until(printed, seconds, f'the event "{name}"')[0]


def check_tries(homes):
    """No host has run two tries at a time, and nothing of podrun is left there."""
    homes.wait_until_clean()
    for rank in homes.ranks:
        two = homes.home(rank) / "two-tries"
        assert not two.exists(), two.read_text()


class Machines:
    """Isolated hosts that can be switched off, reset and exchanged."""

    def __init__(self, homes):
        self.homes = homes
        self.pod = homes.pod
        self._mounted = set()
        self._configured = {}
        self._frozen = []
        self._restored = []

    def start(self, podrun, *words, hosts=None, **options):
        """Starts a run on the first two hosts, or those of these options."""
        of_tries = OPTIONS if "--restarts" in words else OF_ONE_TRY
        return podrun.start("--json", *(hosts or self.homes.on(0, 1)), *of_tries, *words, **options)

    def has_started(self, run, hosts=2):
        run.wait_for_output(b'"text":"up 0 ', count=hosts)

    def ended(self, run, seconds=60):
        """Waits for the end of a run; returns what it was."""
        ended = Restarted(run.wait(seconds))
        check_tries(self.homes)
        return ended

    def on_host(self, rank, command):
        done = self.pod.ssh(rank, command)
        assert done.returncode == 0, done
        return done.stdout

    # What befalls them

    def freeze_logins(self, rank):
        """podrun hears nothing more of what runs there; new connections work."""
        logins = self.pod.logins(rank)
        self._frozen += logins
        send(signal.SIGSTOP, logins)

    def end_logins(self, rank):
        self.homes.lose(rank)

    def reset(self, rank, machine=False):
        """The host is switched off and on: all processes are gone, the boot id is another one, and podrun has not seen their end.
        `machine`: another machine has its place."""
        self.freeze_logins(rank)
        self.change_identity(rank, machine)
        self.on_host(rank, "kill -9 " + " ".join(map(str, self.pod.processes(rank))))
        self.end_logins(rank)

    def change_identity(self, rank, machine=False):
        """As after a boot, but that its processes go on."""
        for place in [BOOT_ID, MACHINE_ID] if machine else [BOOT_ID]:
            self._mounted.add((rank, place))
            self.on_host(rank, f"id=/tmp/${{$}}.id; tr '0123456789' '1234567890' <{place} >$id && mount --bind $id {place}")

    def switch_off(self, rank):
        """Its sshd no longer listens, and its connections end, unless they are frozen."""
        self.configure(rank, f"ListenAddress {self.pod.hosts[rank]}", "ListenAddress 127.9.9.9")
        send(signal.SIGKILL, set(self.pod.logins(rank)) - set(self._frozen))

    def switch_on(self, rank):
        self.configure(rank, "ListenAddress 127.9.9.9", f"ListenAddress {self.pod.hosts[rank]}")

    def new_host_key(self, rank):
        key = self.pod.directory / "host_keys" / "other"
        if not key.exists():
            write_key(key)
        known = self.pod.directory / "user" / ".ssh" / "known_hosts"  # for ssh, not for podrun's copy
        self._restored.append((known, known.read_text()))
        with open(known, "a", encoding="ascii") as file:
            file.write(f"[{self.pod.hosts[rank]}]:{self.pod.port} {key.with_suffix('.pub').read_text()}")
        self.configure(rank, "/host_keys/ed25519", "/host_keys/other")

    def mount_that_hangs(self, rank):
        """Mounts ~/hangs, where whoever opens a file waits until the process whose pid this returns is gone."""
        if not Path("/dev/fuse").exists():
            pytest.skip("no FUSE on this machine")
        place = self.homes.home(rank) / "hangs"
        place.mkdir()
        self._mounted.add((rank, "~/hangs"))
        server = self.pod.directory / "hanging_fuse.py"
        shutil.copy(HANGING_FUSE, server)
        self.on_host(rank, "setsid python3 /dev/pod/hanging_fuse.py ~/hangs ~/fuse.pid </dev/null >/dev/null 2>~/fuse.err &")
        pid = self.homes.home(rank) / "fuse.pid"
        wait_until(pid.exists, what=self.homes.home(rank) / "fuse.err")
        return int(pid.read_text())

    def configure(self, rank, line, other):
        """Changes a line of its sshd's configuration."""
        file = self.pod.directory / "servers" / str(rank)
        text = file.read_text()
        self._configured.setdefault(file, (rank, text))
        assert line in text
        self._configure(rank, file, text.replace(line, other))

    def _configure(self, rank, file, text):
        file.write_text(text)
        listens = self.pod.log.count("Server listening on")
        send(signal.SIGHUP, [self.pod.server(rank)])
        wait_until(lambda: self.pod.log.count("Server listening on") > listens, what="sshd with its new configuration")

    def restore(self):
        send(signal.SIGCONT, self._frozen)
        for file, text in self._restored:
            file.write_text(text)
        for file, (rank, text) in self._configured.items():
            if file.read_text() != text:
                self._configure(rank, file, text)
        for rank, place in self._mounted:
            self.pod.ssh(rank, f"while umount {place}; do :; done")
