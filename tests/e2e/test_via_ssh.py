"""The main job on real hosts: eight OpenSSH servers on loopback, reached through `--via ssh`."""

import os
import random
import signal
import socket

import pytest

from support import Footprint, by_rank, marked_processes, sha256, wait_until

EIGHT = range(8)


@pytest.mark.smoke
def test_a_command_on_every_host(podrun, pod):
    assert by_rank(podrun.ok(*pod.options, "--", "hostname")) == {rank: [socket.gethostname().encode()] for rank in EIGHT}


def test_every_host_has_its_own_environment(podrun, pod):
    shown = by_rank(podrun.ok(*pod.options, "--", 'echo "$POD_HOST $HOME $PODRUN_HOST"'))
    for rank in EIGHT:
        assert shown[rank] == [f"host{rank} {pod.directory}/home/{rank} {pod.hosts[rank]}".encode()]


def test_words_arrive_exactly_through_ssh(podrun, pod):
    words = ["a  b", "$HOME", "*", "`id`", "'", '"', "\\", "", "two\nlines", "é"]
    shown = podrun.ok(*pod.options, "--ranks", "3", "-N", "--", "printf", "<%s>\\n", *words)
    assert shown.decode() == "".join(f"<{word}>\n" for word in words)


def test_exit_statuses(podrun, pod):
    ended = podrun(*pod.options, "--", "exit $PODRUN_RANK")
    assert ended.returncode == 7
    killed = podrun(*pod.options, "--", "sh", "-c", "[ $PODRUN_RANK != 2 ] || kill -TERM $$")
    assert killed.returncode == 143


def test_bytes_are_exact(podrun, pod):
    data = random.Random(3).randbytes(3_000_000)
    file = podrun.directory / "data"
    file.write_bytes(data)
    ended = podrun(*pod.options, "--ranks", "5", "-N", "--", f"cat '{file}'; cat '{file}' >&2")
    assert ended.returncode == 0
    assert sha256(ended.stdout) == sha256(ended.stderr) == sha256(data)


def test_standard_input_reaches_every_host(podrun, pod):
    data = random.Random(4).randbytes(1_000_000)
    assert by_rank(podrun.ok(*pod.options, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in EIGHT}


def test_long_text_and_scripts(podrun, pod):
    padding = b"# a line of some length that does nothing\n" * 10_000
    assert by_rank(podrun.ok(*pod.options, input=padding + b"echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in EIGHT}
    script = podrun.directory / "script"
    script.write_bytes(b"#!/bin/bash\n" + padding + b'echo "$1 $POD_HOST"')
    assert by_rank(podrun.ok(*pod.options, "-s", script, "--", "x")) == {rank: [b"x host%d" % rank] for rank in EIGHT}


def start_stubborn(podrun, pod):
    """A command on every host that does not end by INT or TERM, and its footprint."""
    command = "trap 'echo INT' INT; trap 'echo TERM' TERM; echo $PODRUN_RUN_ID; while :; do sleep 1 & wait; done"
    run = podrun.start(*pod.options, "--grace", "1", "--", command)
    run.wait_for_output(b"\n", count=8)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    assert len(footprint.sessions) >= 8
    return run, footprint


def test_interrupted_twice_it_leaves_nothing(podrun, pod):
    run, footprint = start_stubborn(podrun, pod)
    run.signal(signal.SIGINT)
    run.wait_for_output(b": INT\n", count=8)
    run.signal(signal.SIGINT)
    assert run.wait(seconds=6).returncode == 130
    footprint.wait_until_gone(6)


def test_killed_it_leaves_nothing(podrun, pod):
    run, footprint = start_stubborn(podrun, pod)
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)


def test_a_lost_connection_is_reported_and_the_others_go_on(podrun, pod):
    go_on = podrun.directory / "go-on"
    command = f"echo $PODRUN_RUN_ID; until [ -e '{go_on}' ]; do sleep 0.1; done; echo done"
    run = podrun.start(*pod.options, "--grace", "1", "--", command)
    run.wait_for_output(b"\n", count=8)
    run_id = by_rank(run.stdout)[0][0].decode()
    [client] = [process for process in marked_processes(podrun.directory) if f"\0{pod.hosts[4]}\0".encode() in process.command]
    os.kill(client.pid, signal.SIGKILL)
    wait_until(lambda: not [process for process in marked_processes(run_id) if b"PODRUN_RANK=4\0" in process.environment], 6)
    go_on.touch()
    ended = run.wait()
    assert ended.returncode == 255
    assert [rank for rank, lines in sorted(by_rank(ended.stdout).items()) if lines[-1] == b"done"] == [0, 1, 2, 3, 5, 6, 7]
    assert b"lost" in ended.stderr and b"[4]" in ended.stderr


def test_one_unreachable_host_means_nothing_runs_anywhere(podrun, pod):
    wrong = podrun.directory / "ssh_config"
    wrong.write_text(f"Host {pod.hosts[6]}\n  Port 1\nInclude {pod.directory}/ssh_config\n")
    started = podrun.directory / "started"
    failed = podrun("--via", f"ssh -F {wrong} {{host}}", "--hostfile", pod.directory / "pod.txt", "--", "touch", started)
    assert failed.returncode == 255
    assert b"[6]" in failed.stderr and b"onnection refused" in failed.stderr
    assert not started.exists()
