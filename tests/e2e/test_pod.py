"""The main job on real hosts: eight OpenSSH servers on loopback, reached over SSH and, the same, through `--via ssh`."""

import getpass
import json
import os
import random
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from events import Events, events
from support import Footprint, by_rank, is_server, marked_processes, sha256, wait_until

EIGHT = range(8)


@pytest.fixture(params=["ssh", "via"])
def way(request, pod):
    """What podrun needs to get there, without the hosts."""
    return () if request.param == "ssh" else pod.via


@pytest.fixture
def options(pod, way):
    return (*way, *pod.options)


@pytest.mark.smoke
def test_a_command_on_every_host(podrun, options):
    assert by_rank(podrun.ok(*options, "--", "hostname")) == {rank: [socket.gethostname().encode()] for rank in EIGHT}


def test_every_host_has_its_own_environment(podrun, pod, options):
    shown = by_rank(podrun.ok(*options, "--", 'echo "$POD_HOST $HOME $PODRUN_HOST"'))
    for rank in EIGHT:
        assert shown[rank] == [f"host{rank} {pod.directory}/home/{rank} {pod.hosts[rank]}".encode()]


def test_words_arrive_exactly(podrun, options):
    words = ["a  b", "$HOME", "*", "`id`", "'", '"', "\\", "", "two\nlines", "é"]
    shown = podrun.ok(*options, "--workers", "3", "-N", "--", "printf", "<%s>\\n", *words)
    assert shown.decode() == "".join(f"<{word}>\n" for word in words)


def test_exit_statuses(podrun, options):
    ended = podrun(*options, "--", "exit $PODRUN_RANK")
    assert ended.returncode == 7
    killed = podrun(*options, "--", "sh", "-c", "[ $PODRUN_RANK != 2 ] || kill -TERM $$")
    assert killed.returncode == 143


@pytest.mark.smoke
def test_bytes_are_exact(podrun, options):
    data = random.Random(3).randbytes(3_000_000)
    file = podrun.directory / "data"
    file.write_bytes(data)
    ended = podrun(*options, "--workers", "5", "-N", "--", f"cat '{file}'; cat '{file}' >&2")
    assert ended.returncode == 0
    assert sha256(ended.stdout) == sha256(ended.stderr) == sha256(data)


def test_standard_input_reaches_every_host(podrun, options):
    data = random.Random(4).randbytes(1_000_000)
    assert by_rank(podrun.ok(*options, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in EIGHT}


def test_long_text_and_scripts(podrun, options):
    padding = b"# a line of some length that does nothing\n" * 10_000
    assert by_rank(podrun.ok(*options, input=padding + b"echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in EIGHT}
    script = podrun.directory / "script"
    script.write_bytes(b"#!/bin/bash\n" + padding + b'echo "$1 $POD_HOST"')
    assert by_rank(podrun.ok(*options, "-s", script, "--", "x")) == {rank: [b"x host%d" % rank] for rank in EIGHT}


def test_sudo(podrun, options):
    if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("sudo asks for a password here")
    assert by_rank(podrun.ok(*options, "--sudo", "-e", "KEPT=a  b", "--", 'id -u; echo "$KEPT ${SUDO_USER:?}"')) == {
        rank: [b"0", f"a  b {getpass.getuser()}".encode()] for rank in EIGHT
    }


@pytest.mark.timed
def start_stubborn(podrun, options):
    """A command on every host that does not end by INT or TERM, and its footprint."""
    command = "trap 'echo INT' INT; trap 'echo TERM' TERM; echo $PODRUN_RUN_ID; while :; do sleep 1 & wait; done"
    run = podrun.start(*options, "--grace", "1", "--", command)
    run.wait_for_output(b"\n", count=8)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    assert len(footprint.sessions) >= 8
    return run, footprint


@pytest.mark.timed
def test_interrupted_twice_it_leaves_nothing(podrun, options):
    run, footprint = start_stubborn(podrun, options)
    run.signal(signal.SIGINT)
    run.wait_for_output(b": INT\n", count=8)
    run.signal(signal.SIGINT)
    assert run.wait(seconds=6).returncode == 130
    footprint.wait_until_gone(6)


@pytest.mark.timed
@pytest.mark.smoke
def test_killed_it_leaves_nothing(podrun, options):
    run, footprint = start_stubborn(podrun, options)
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)


def sshd_of(process):
    """The pid of the server that a process of a host hangs on."""
    pid = process.pid
    while not is_server(Path(f"/proc/{pid}/cmdline").read_bytes()):
        pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return pid


def test_a_lost_connection_is_reported_and_the_others_go_on(podrun, way, options):
    go_on = podrun.directory / "go-on"
    command = f"echo $PODRUN_RUN_ID; until [ -e '{go_on}' ]; do sleep 0.1; done; echo done"
    run = podrun.start("--json", *options, "--grace", "1", "--", command)
    run.wait_for_output(b'"line"', count=8)
    run_id = json.loads(run.stdout.splitlines()[0])["run_id"]

    def of_rank_4():
        return [process for process in marked_processes(run_id) if b"PODRUN_RANK=4\0" in process.environment]

    os.kill(sshd_of(of_rank_4()[0]), signal.SIGKILL)
    wait_until(lambda: not of_rank_4(), 6)
    go_on.touch()
    ended = Events(run.wait())
    assert ended.returncode == 255
    assert [rank for rank, lines in sorted(ended.shown.items()) if lines[-1] == b"done"] == [0, 1, 2, 3, 5, 6, 7]
    assert ended.outcomes[4] == ("exited" if way else "lost")  # `--via ssh` has the status of ssh
    assert ended.exits[4].get("status", 255) == 255


def test_one_unreachable_host_means_nothing_runs_anywhere(podrun, pod, way):
    addresses = pod.addresses[:6] + [f"{pod.hosts[6]}:1", pod.addresses[7]]
    started = podrun.directory / "started"
    failed = events(podrun, *way, "-H", ",".join(addresses), "--retries", "0", "--", "touch", started)
    assert failed.returncode == 255
    assert failed.failures.keys() == {6} and "onnection refused" in failed.exits[6]["message"]
    assert not started.exists()
