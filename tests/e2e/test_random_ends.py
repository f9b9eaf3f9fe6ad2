"""docs/files.md, jobs.md, faults.md: podrun, a connection or a process of a host is killed at a random moment of a command. Afterwards nothing
is left but what these pages name, and the next command succeeds. Each command once; $PODRUN_ROUNDS times in each way where that is set.
$PODRUN_SEED repeats the moments of a run."""

import itertools
import os
import random
import signal
import subprocess
import time

import pytest

from homes import homes_of_pod
from pods import children_of
from support import SANITIZED, describe, is_server, limit, read_process, send, wait_until
from test_jobs import end_all, states
from trees import File, Link, assert_same, read_tree, remove, write_tree

ROUNDS = int(os.environ.get("PODRUN_ROUNDS", "0"))
SEED = os.environ.get("PODRUN_SEED") or str(random.randrange(1_000_000))
LIMITS = ("--grace", "1", "--orphan-timeout", "18" if SANITIZED else "6")
SETTLED = 20  # seconds until the hosts have noticed, and have ended what was to end
WAYS = ("podrun", "connection", "process")
JOBS = ("start", "stop", "rm")
COMMANDS = ("push", "pull", "shell", *JOBS)


TREES = itertools.count()


def tree_of(rng):
    """Files that are new in each round, and by their size, large enough to be on their way for a while."""
    number_of_tree = next(TREES)
    files = {f"d{number % 7}/{number}": File(rng.randbytes(rng.randrange(20) * 1000 + number_of_tree)) for number in range(60)}
    return files | {"large": rng.randbytes(3_000_000 + number_of_tree), "latest": Link(b"d1/1")}


class Commands:
    """Each is prepared, is run with these words, and is seen to succeed after one was ended."""

    def __init__(self, podrun, homes):
        self.podrun, self.homes = podrun, homes
        self.here = podrun.directory / "app"
        self.temporary = podrun.directory / "temporary"
        self.temporary.mkdir()
        podrun.env["TMPDIR"] = str(self.temporary)

    def run(self, *words, status=(0,), **options):
        """Runs another command to its end."""
        ended = self.podrun(*self.homes.options, *LIMITS, *words, **options)
        assert ended.returncode in status, ended
        return ended

    # push

    def prepare_push(self, rng):
        remove(self.here)
        write_tree(self.here, tree_of(rng))
        return ("push", "--delete", "app", "work"), None

    def succeed_push(self):
        self.homes.wait_until_clean()
        self.run("push", "--delete", "app", "work")
        for rank in self.homes.ranks:
            assert_same(read_tree(self.here), self.homes.read(rank, "work/app"))

    # pull

    def prepare_pull(self, rng):
        for rank in self.homes.ranks:
            remove(self.homes.home(rank) / "logs")
        self.homes.write("logs", tree_of(rng))
        return ("pull", "logs", "out"), None

    def succeed_pull(self):
        self.run("pull", "logs", "out")
        for rank, host in enumerate(self.homes.pod.hosts):
            assert_same(self.homes.read(rank, "logs"), read_tree(self.podrun.directory / "out" / f"{rank}-{host}" / "logs"))

    # Jobs

    JOB = ("start", "train", "--", "setsid sleep 1001 & echo up; sleep 1002")

    def prepare_start(self, _rng):
        return self.JOB, None

    def prepare_stop(self, _rng):
        self.run(*self.JOB)
        return ("stop", "train"), None

    def prepare_rm(self, _rng):
        self.run("start", "train", "--", "true")
        wait_until(lambda: not {"running", "starting"} & set(states(self.podrun, self.homes.options).values()), 30, "the end of the job")
        return ("rm", "train"), None

    def succeed_with_jobs(self):
        """Whatever has become of the job: it can be stopped and removed, where there is one, and started anew."""
        found = self.run("ps", "train", status=(0, 1))
        there = (0,) if found.returncode == 0 else (0, 1)
        self.run("stop", "train", status=there)
        self.run("rm", "train", status=there)
        assert self.run("ps", "train", status=(0, 1)).returncode == 1, found
        self.run(*self.JOB)
        assert states(self.podrun, self.homes.options) == dict.fromkeys(self.homes.ranks, "running")
        self.run("stop", "train")
        self.run("rm", "train")

    succeed_start = succeed_stop = succeed_rm = succeed_with_jobs

    # shell

    def prepare_shell(self, _rng):
        return ("shell",), b"cd /tmp; export A=1; sleep 0.2\nsleep 0.2 & wait; echo $A\npwd\n"

    def succeed_shell(self):
        self.homes.wait_until_clean()
        ended = self.run("shell", input=b"echo $POD_HOST\n")
        assert sorted(ended.stdout.splitlines()) == [b"%d: host%d" % (rank, rank) for rank in self.homes.ranks]

    # What is left

    def left(self):
        """On the hosts and here. A state directory without a job is one."""
        here = [path for place in (self.podrun.directory / "out", self.temporary) for path in place.rglob("*") if "podrun" in path.name or place == self.temporary]
        jobs = [path for rank in self.homes.ranks for path in self.homes.home(rank).glob(".podrun/jobs/*/*")]
        return [*self.homes.left(), *map(str, [*here, *jobs])]


class End:
    """A way to end a command, and whom it meets. False: there is nothing of it yet."""

    def __init__(self, rng, homes, way):
        self.rng, self.homes, self.way = rng, homes, way
        self.rank = rng.choice(homes.ranks)
        self.signal = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
        self.name = f"podrun {self.signal.name}" if way == "podrun" else f"{way} of host {self.rank}"
        self.killed_shell = False

    def __call__(self, run):
        if self.way == "podrun":
            run.signal(self.signal)
            return True
        victims = self.homes.pod.logins(self.rank) if self.way == "connection" else self.processes()
        if self.way == "process" and victims:
            victims = [self.rng.choice(victims)]
        for pid in victims:
            if process := read_process(pid):
                self.name += f", {describe(process)[:100]}"
                self.killed_shell |= self.way == "process" and process.command.split(b"\0")[0] in (b"/bin/sh", b"sh")
        send(signal.SIGKILL, victims)
        return bool(victims)

    def processes(self):
        """Those of the host but its servers, as pids of ours."""
        found, pending = [], children_of(self.homes.pod.first_process(self.rank))
        while pending:
            pid = pending.pop()
            pending += children_of(pid)
            process = read_process(pid)
            if process and not is_server(process.command):
                found.append(pid)
        return found


@pytest.fixture
def homes(pods, podrun):
    with homes_of_pod(pods, podrun) as homes:
        yield homes
        for rank in homes.ranks:
            end_all(homes, rank)


def try_once(commands, name, way, rng, whole):
    """Ends the command after a part of `whole` seconds, which it takes alone."""
    words, lines = getattr(commands, f"prepare_{name}")(rng)
    end = End(rng, commands.homes, way)
    moment = rng.uniform(0, whole)
    run = start(commands, words, lines)
    try:
        run.process.wait(moment)
    except subprocess.TimeoutExpired:
        deadline = time.monotonic() + limit(SETTLED)
        while not end(run) and run.process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)  # until there is something to kill
    print(f"{name} after {moment:.3f} s of {whole:.3f}: {end.name}", flush=True)
    run.wait(SETTLED)
    if end.killed_shell:  # it may have been the supervisor
        remove_directories_of_killed(commands.homes, end.rank, name)
    if name not in JOBS:  # a job goes on
        commands.homes.wait_until_clean(SETTLED)
    getattr(commands, f"succeed_{name}")()
    wait_until_nothing_is_left(commands)


def remove_directories_of_killed(homes, rank, name):
    """docs/faults.md, "Limits": of a supervisor that was killed itself, the directory may stay."""
    own = homes.tmp(rank)
    if name not in JOBS:
        wait_until(lambda: not [each for each in homes.left() if str(own) not in each], SETTLED, "all else gone")
        wait_until(lambda: not homes.running(rank), SETTLED, "its processes gone")
    for path in own.glob("podrun.*"):
        remove(path)


def start(commands, words, lines):
    reader, writer = os.pipe()
    os.write(writer, lines or b"")
    os.close(writer)
    try:
        return commands.podrun.start(*commands.homes.options, *LIMITS, *words, stdin=reader)
    finally:
        os.close(reader)


def wait_until_nothing_is_left(commands):
    try:
        wait_until(lambda: not commands.left(), SETTLED)
    except AssertionError:
        raise AssertionError("left behind: " + "; ".join(commands.left())) from None


def time_alone(commands, name, rng):
    words, lines = getattr(commands, f"prepare_{name}")(rng)
    begin = time.monotonic()
    run = start(commands, words, lines)
    assert run.wait().returncode == 0, run.stderr
    took = time.monotonic() - begin
    getattr(commands, f"succeed_{name}")()
    wait_until_nothing_is_left(commands)
    return took


@pytest.mark.deadline(120 + 60 * ROUNDS)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.smoke if name == "push" else ()) for name in COMMANDS])
def test_nothing_is_left_after_a_random_end(podrun, homes, name):
    print(f"PODRUN_SEED={SEED}")
    rng = random.Random(f"{SEED} {name}")
    commands = Commands(podrun, homes)
    whole = time_alone(commands, name, rng)
    for _ in range(max(1, ROUNDS)):
        for way in WAYS if ROUNDS else [rng.choice(WAYS)]:
            try_once(commands, name, way, rng, whole)
