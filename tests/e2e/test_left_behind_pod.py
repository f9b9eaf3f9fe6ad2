"""Manual, "No process is left behind", on real hosts with processes of their own: whatever ends a run, nothing of it is alive there
in time, however hard to end, and what else runs there is not touched. 8 hosts, 64 with $PODRUN_FULL; $PODRUN_ROUNDS (1) repeats it."""

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from events import Events
from support import describe, is_server, limit, send, wait_until
from test_left_behind import TREE

FULL = bool(os.environ.get("PODRUN_FULL"))
HOSTS = 64 if FULL else 8
ROUNDS = int(os.environ.get("PODRUN_ROUNDS", "1"))
GRACE = 1
ORPHAN_TIMEOUT = 10 if FULL else 6
TIMEOUT = 20 if FULL else 8  # of the command: the trees have grown by then
SETTLED = 60  # seconds in which everything is where it is to be, on a busy machine
STALLED = range(4)  # hosts behind a proxy
KEEPALIVE = ("-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=2")


def short_sleep(process):
    """Of a supervisor or a loop; there is another one in a moment."""
    return re.fullmatch(rb"sleep\0[0-9.]{1,3}\0", process.command)


class Hosts:
    """The pod with what others run on it, which is never to be touched. On the host behind the last tree nothing grows."""

    def __init__(self, pod, podrun):
        self.pod, self.podrun = pod, podrun
        self.ranks = range(HOSTS + 1)
        self.directory = pod.directory / "tree"  # the hosts see it too
        self.directory.mkdir(exist_ok=True)
        self._second_run = podrun.start(*pod.options, "--", "sleep", "2003")
        others = "nohup sleep 2001 >/dev/null 2>&1 & setsid sleep 2002 >/dev/null 2>&1 &"
        with ThreadPoolExecutor(8) as threads:
            assert all(done.returncode == 0 for done in threads.map(lambda rank: pod.ssh(rank, others), self.ranks))
        wait_until(lambda: all(self.count(rank, 2001, 2002, 2003) == 3 for rank in self.ranks), SETTLED, "the other runs")
        wait_until(lambda: all(len(pod.connections(rank)) == 1 for rank in self.ranks), SETTLED, "only the second run logged in")
        self._logins = [pod.logins(rank) for rank in self.ranks]
        self._others = wait_until(self.settled, SETTLED, "the other runs settled")
        self._sessions = [{process.session for process in others} for others in self._others]

    def count(self, rank, *seconds):
        commands = {b"sleep\0%d\0" % each for each in seconds}
        return sum(process.command in commands for process in self.pod.every_process(rank))

    def logins_of_run(self, rank):
        return set(self.pod.logins(rank)) - set(self._logins[rank])

    def lasting(self):
        return [{process for process in self.pod.every_process(rank) if not short_sleep(process) and not server(process)} for rank in self.ranks]

    def settled(self):
        """Those that are there twice in a row: a shell that is about to become a sleep still looks like a shell."""
        first = self.lasting()
        return first if first == self.lasting() else None

    def left(self, rank):
        """The processes of the run that is tried: what is of no other run is of this one, marked or not."""
        there = self.pod.every_process(rank)
        return {process for process in there if process.session not in self._sessions[rank] and not server(process)}

    def assert_others_untouched(self):
        for rank, others in enumerate(self._others):
            missing = others - set(self.pod.every_process(rank))
            assert not missing, f"ended on host {rank}: {'; '.join(map(describe, missing))}"

    def clear(self):
        self._second_run.signal(signal.SIGTERM)
        self._second_run.wait()
        stop = "kill $(pgrep -x sleep)"
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda rank: self.pod.ssh(rank, stop), self.ranks))


def server(process):
    return is_server(process.command)


# The run that is tried


class Trial(NamedTuple):
    hosts: Hosts
    run: object


def start_tree(hosts, *options, addresses=None):
    for file in hosts.directory.iterdir():
        file.unlink()
    chosen = hosts.pod.options if addresses is None else ("-H", ",".join(addresses))
    limits = ("--grace", str(GRACE), "--orphan-timeout", str(ORPHAN_TIMEOUT), "-e", f"DIRECTORY={hosts.directory}")
    run = hosts.podrun.start(*chosen, *limits, *options, "--", "sh", "-c", "echo up\n" + TREE)  # a silent host that is lost ends the others

    def grown():
        assert run.process.poll() is None, run.stderr
        ready = len([*hosts.directory.glob("ready.?"), *hosts.directory.glob("ready.??")])
        return ready == HOSTS and all(hosts.count(rank, 1001, 1002, 1003) == 3 for rank in range(HOSTS))

    wait_until(grown, SETTLED, "the trees grown")
    return Trial(hosts, run)


# Ways to end it: each returns when it was


def end_by_sigkill(trial):
    trial.run.signal(signal.SIGKILL)
    return time.monotonic()


def end_by_second_interrupt(trial):
    trial.run.signal(signal.SIGINT)
    wait_until(lambda: len([*trial.hosts.directory.glob("interrupted.*")]) == HOSTS + 1, SETTLED, "every rank interrupted")
    trial.run.signal(signal.SIGINT)
    return time.monotonic()


def end_by_timeout(trial):
    """It may be a little earlier than told here, never later."""
    started = min(file.stat().st_mtime for file in trial.hosts.directory.glob("ready.*"))
    return time.monotonic() - time.time() + started + TIMEOUT


def end_by_fail_fast(trial):
    (trial.hosts.directory / "fail").touch()
    return time.monotonic()


def end_by_killed_sshd(trial):
    logins = [pid for rank in trial.hosts.ranks for pid in trial.hosts.logins_of_run(rank)]
    assert len(logins) >= HOSTS + 1
    send(signal.SIGKILL, logins)
    return time.monotonic()


def end_by_silence(trial):
    trial.run.signal(signal.SIGSTOP)  # unlike Ctrl-Z it cannot tell the hosts to wait
    return time.monotonic()


class Ending(NamedTuple):
    options: tuple
    end: object
    seconds: int  # until nothing may be left
    status: int  # of podrun


ENDINGS = {
    "SIGKILL": Ending((), end_by_sigkill, GRACE + 5, -signal.SIGKILL),
    "second Ctrl-C": Ending((), end_by_second_interrupt, GRACE + 5, 130),
    "timeout": Ending(("-u", str(TIMEOUT)), end_by_timeout, GRACE + 5, 124),
    "fail-fast": Ending(("-k",), end_by_fail_fast, GRACE + 5, 3),
    "killed sshd": Ending((), end_by_killed_sshd, GRACE + 5, 255),
    "silence": Ending((), end_by_silence, ORPHAN_TIMEOUT + GRACE + 5, 137),
}


# test_left_behind.py plays the others too, on one host.
MARKS = {"SIGKILL": pytest.mark.smoke, "timeout": pytest.mark.full, "fail-fast": pytest.mark.full, "second Ctrl-C": pytest.mark.full}


def wait_until_gone(hosts, since, seconds, ranks=None):
    """Returns after how many seconds nothing was left."""
    ranks = list(ranks or hosts.ranks)
    while left := [(rank, process) for rank in ranks for process in hosts.left(rank)]:
        shown = "; ".join(f"host {rank}: {describe(process)}" for rank, process in left)
        assert time.monotonic() < since + limit(seconds), f"left behind after {limit(seconds)} s: {shown}"
        ranks = sorted({rank for rank, _ in left})  # where nothing is, nothing comes: to look there takes the hosts' time
        time.sleep(0.05)
    return time.monotonic() - since


@pytest.fixture
def hosts(pods, podrun):
    """Of the file, but for the run that others have there, which is of the test."""
    pod = pods("--isolated", "--hosts", str(HOSTS + 1))
    pod.move_in(podrun)
    hosts = Hosts(pod, podrun)
    yield hosts
    hosts.clear()


@pytest.mark.deadline(120 + 60 * ROUNDS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in ENDINGS])
def test_nothing_is_left_and_nobody_else_is_touched(hosts, name):
    ending = ENDINGS[name]
    slowest = 0
    for number in range(ROUNDS):
        trial = start_tree(hosts, *ending.options)
        since = ending.end(trial)
        took = wait_until_gone(hosts, since, ending.seconds)
        slowest = max(slowest, took)
        trial.run.signal(signal.SIGCONT)
        assert trial.run.wait(SETTLED).returncode == ending.status
        hosts.assert_others_untouched()
        print(f"{name}: {number + 1} of {ROUNDS}, gone after {took:.1f} s, at most {slowest:.1f} s", flush=True)


@pytest.mark.deadline(120 + 60 * ROUNDS)
def test_where_the_network_stalls_nothing_is_left_and_the_others_go_on(hosts, fault):
    proxies = [fault("--to", hosts.pod.addresses[rank], "proxy", addresses=[f"127.0.1.{100 + rank}"]) for rank in STALLED]
    addresses = [proxy.address for proxy in proxies] + hosts.pod.addresses[len(proxies) :]
    slowest = 0
    for number in range(ROUNDS):
        trial = start_tree(hosts, "--json", *KEEPALIVE, addresses=addresses)
        seen = [{rank: hosts.left(rank) for rank in hosts.ranks if rank not in STALLED} for _ in range(2)]
        others = {rank: seen[0][rank] & seen[1][rank] for rank in seen[0]}  # a shell about to become a sleep is in one of them
        for proxy in proxies:
            proxy.tell("stall")
        took = wait_until_gone(hosts, time.monotonic(), ORPHAN_TIMEOUT + GRACE + 5, STALLED)
        slowest = max(slowest, took)
        for rank, there in others.items():
            assert not {process for process in there - hosts.left(rank) if not short_sleep(process)}, f"ended on host {rank}"
        trial.run.signal(signal.SIGTERM)
        ended = trial.run.wait(SETTLED)
        assert ended.returncode == 143
        assert {rank for rank, outcome in Events(ended).outcomes.items() if outcome == "lost"} == {*STALLED}
        wait_until_gone(hosts, time.monotonic(), GRACE + 5)
        for proxy in proxies:
            proxy.tell("go")
        hosts.assert_others_untouched()
        print(f"stall: {number + 1} of {ROUNDS}, gone after {took:.1f} s, at most {slowest:.1f} s", flush=True)
