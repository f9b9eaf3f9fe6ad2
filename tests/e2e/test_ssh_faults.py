"""What goes wrong on the way to a host: each such host gets its own line, in time, and nobody else suffers."""

import os
import re
import signal
import time

import pytest

from support import PATIENCE, Footprint, by_rank, marked_processes, wait_until

ONE_TRY = ("-t", "2", "--retries", "0")


def lines_by_rank(said):
    """The summary's part for each host, as {rank: "unreachable: [6] 127.0.0.8: connecting: connection refused"}."""
    parts = [part for line in said.decode().splitlines() if line.startswith("podrun: ") for part in line[8:].split(" · ")]
    return {int(found[1]): part for part in parts if (found := re.search(r": \[(\d+)\] ", part))}


# What listens there, as words for fault.py, and what its line must say.
BROKEN = {
    "silent": "timed out after 2 s",
    "closing": "closed",
    "resetting": "reset",
    "garbage": ".",
    "endless-banner": ".",
    "banner-closing": "closed",
    "banner-silent": "timed out after 2 s",
    "telnet": ".",
    "http": ".",
}


def test_every_broken_host_has_its_own_line_and_nothing_starts_elsewhere(podrun, pod, fault):
    servers = [fault(behaviour, addresses=[f"127.0.0.{100 + number}"]) for number, behaviour in enumerate(BROKEN)]
    addresses = [pod.addresses[0], *(server.address for server in servers), f"{pod.hosts[1]}:1", pod.addresses[2]]
    started = podrun.directory / "started"
    begin = time.monotonic()
    failed = podrun("-H", ",".join(addresses), *ONE_TRY, "--", "touch", started)
    assert time.monotonic() - begin < 4 * PATIENCE  # they fail side by side
    assert failed.returncode == 255
    assert failed.stdout == b""
    assert not started.exists()
    lines = lines_by_rank(failed.stderr)
    assert sorted(lines) == list(range(1, len(BROKEN) + 2)), failed.stderr
    for rank, (behaviour, expected) in enumerate(BROKEN.items(), 1):
        name = addresses[rank].partition(":")[0]
        assert re.fullmatch(rf"unreachable: \[{rank}\] {name}: [a-zA-Z ]+: .*{expected}.*", lines[rank]), (behaviour, lines[rank])
    assert lines[len(BROKEN) + 1].endswith("connecting: connection refused")


@pytest.mark.smoke
@pytest.mark.parametrize("behaviour", ["silent", "garbage", "closing"])
def test_the_others_run_with_skip_unreachable(podrun, pod, fault, behaviour):
    addresses = [pod.addresses[0], fault(behaviour).address, pod.addresses[2]]
    ended = podrun("-H", ",".join(addresses), *ONE_TRY, "--skip-unreachable", "--", "echo $POD_HOST")
    assert ended.returncode == 255
    assert by_rank(ended.stdout) == {0: [b"host0"], 2: [b"host2"]}
    assert list(lines_by_rank(ended.stderr)) == [1]


@pytest.mark.parametrize("after", [10, 60, 900, 1300, 1700])
def test_a_host_that_stalls_on_the_way_in(podrun, pod, fault, after):
    # Three times, so that nobody waits for the others; the bytes are from the middle of the key exchange to the login.
    stalling = [fault("--to", pod.addresses[rank], "--stall-after", after, "proxy", addresses=[f"127.0.0.{110 + rank}"]) for rank in range(3)]
    addresses = [*(each.address for each in stalling), f"nobody-here@{pod.addresses[3]}", *pod.addresses[4:]]
    begin = time.monotonic()
    failed = podrun("-H", ",".join(addresses), "-t", "1", "--retries", "0", "--", "true")
    assert time.monotonic() - begin < 2.5 * PATIENCE
    assert failed.returncode == 255
    assert b"timed out after 1 s" in failed.stderr and b"[0-2]" in failed.stderr
    assert "nobody-here" in lines_by_rank(failed.stderr)[3]


@pytest.mark.parametrize("at", [10, 500, 1150, 1500, 2200, 2500])
def test_a_byte_that_arrives_changed_is_no_login(podrun, pod, fault, at):
    proxy = fault("--to", pod.addresses[0], "--corrupt-at", at, "proxy")
    failed = podrun("-H", f"{proxy.address},{pod.addresses[1]}", *ONE_TRY, "--", "true")
    assert failed.returncode == 255
    assert list(lines_by_rank(failed.stderr)) == [0]


@pytest.mark.parametrize("after", [30, 1000, 1500, 2000])
def test_a_connection_that_is_cut_on_the_way_in(podrun, pod, fault, after):
    proxy = fault("--to", pod.addresses[0], "--cut-after", after, "proxy")
    begin = time.monotonic()
    failed = podrun("-H", f"{proxy.address},{pod.addresses[1]}", "-t", "10", "--retries", "0", "--", "true")
    assert time.monotonic() - begin < 2 * PATIENCE
    assert failed.returncode == 255
    assert list(lines_by_rank(failed.stderr)) == [0]


# What may pass is tried again


def test_retries(podrun, pod, fault):
    assert podrun("-H", fault("--to", pod.addresses[0], "--reset-first", "2", "proxy").address, "--", "true").returncode == 0
    again = fault("--to", pod.addresses[0], "--reset-first", "2", "proxy")
    failed = podrun("-H", again.address, "--retries", "1", "--", "true")
    assert failed.returncode == 255
    assert b"reset" in failed.stderr and b"2 attempts" in failed.stderr


def test_a_failed_login_is_not_tried_again(podrun, pod):
    failed = podrun("-H", f"nobody-once@{pod.addresses[0]}", "--retries", "5", "--", "true")
    assert failed.returncode == 255
    assert b"attempts" not in failed.stderr
    assert pod.log.count("Invalid user nobody-once") == 1


def test_a_server_that_takes_few_at_a_time(podrun, pods):
    pod = pods("--hosts", "16", "--sshd", "MaxStartups 2:30:10")  # all sixteen are one sshd
    pod.move_in(podrun)
    assert by_rank(podrun.ok(*pod.options, "--retries", "5", "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in range(16)}


def test_fanout_of_one(podrun, pod):
    assert by_rank(podrun.ok(*pod.options, "-f", "1", "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in range(8)}


# While the command runs


def start_behind(podrun, pod, proxy, *options):
    """A command on eight hosts that ends when it is told to; rank 4 is behind the proxy. Returns the run, its id, and the file."""
    go_on = podrun.directory / "go-on"
    addresses = [*pod.addresses[:4], proxy.address, *pod.addresses[5:]]
    command = f"echo $PODRUN_RUN_ID; until [ -e '{go_on}' ]; do sleep 0.1; done; echo done"
    run = podrun.start("-H", ",".join(addresses), "--grace", "1", *options, "--", command)
    run.wait_for_output(b"\n", count=8)
    return run, by_rank(run.stdout)[0][0].decode(), go_on


def done(ended):
    return sorted(rank for rank, lines in by_rank(ended.stdout).items() if lines[-1] == b"done")


OTHERS = [0, 1, 2, 3, 5, 6, 7]


def sockets(pid):
    """How many connections the process has."""
    links = []
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        except FileNotFoundError:
            pass  # closed meanwhile
    return sum(link.startswith("socket:") for link in links)


@pytest.mark.smoke
def test_a_host_that_falls_silent_is_lost_and_the_others_go_on(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, _run_id, go_on = start_behind(podrun, pod, proxy, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    before = sockets(run.pid)
    proxy.tell("stall")
    begin = time.monotonic()
    wait_until(lambda: sockets(run.pid) < before, 6, "the connection given up")
    assert 1.5 < time.monotonic() - begin < 4 * PATIENCE
    go_on.touch()
    ended = run.wait()
    assert ended.returncode == 255
    assert done(ended) == OTHERS
    assert lines_by_rank(ended.stderr)[4].startswith("lost: [4] 127.0.0.99: ")


def test_fail_fast_ends_the_others_when_a_host_falls_silent(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, _run_id, _go_on = start_behind(podrun, pod, proxy, "-k", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    proxy.tell("stall")
    ended = run.wait(seconds=6)
    assert ended.returncode == 255
    assert b"[4]" in ended.stderr


def test_keep_alives_do_no_harm_to_a_quiet_host(podrun, pod):
    assert podrun(*pod.options, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", "--", "sleep 3.5").returncode == 0


@pytest.mark.parametrize("how", ["stall up", "stall down"])
def test_one_direction_that_stalls_is_noticed(podrun, pod, fault, how):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, _run_id, go_on = start_behind(podrun, pod, proxy, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1")
    proxy.tell(how)
    go_on.touch()
    ended = run.wait(seconds=8)
    assert ended.returncode == 255
    assert done(ended) == OTHERS


def test_a_stall_that_passes_does_no_harm(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, _run_id, go_on = start_behind(podrun, pod, proxy, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=10")
    proxy.tell("stall")
    go_on.touch()
    time.sleep(2.5)  # two keep-alives without an answer
    proxy.tell("go")
    ended = run.wait()
    assert ended.returncode == 0
    assert done(ended) == list(range(8))


def of_rank(run_id, rank):
    return [process for process in marked_processes(run_id) if b"PODRUN_RANK=%d\0" % rank in process.environment]


def test_a_connection_that_is_cut_while_the_command_runs(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, run_id, go_on = start_behind(podrun, pod, proxy)
    proxy.tell("cut")
    wait_until(lambda: not of_rank(run_id, 4), 6)
    go_on.touch()
    ended = run.wait()
    assert ended.returncode == 255
    assert done(ended) == OTHERS
    assert lines_by_rank(ended.stderr)[4].startswith("lost: [4] 127.0.0.99: ")


def test_a_byte_of_output_that_arrives_changed_is_noticed(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[1], "--corrupt-at", 30_000, "proxy")
    ended = podrun("-H", f"{pod.addresses[0]},{proxy.address}", "--grace", "1", "--", "seq 100000")
    assert ended.returncode == 255
    lines = by_rank(ended.stdout)
    assert len(lines[0]) == 100_000
    assert lines[1][:-1] == lines[0][: len(lines[1]) - 1]  # what was shown of it was right
    assert lines_by_rank(ended.stderr)[1].startswith("lost: [1] 127.0.0.99: ")


def test_the_command_ends_on_a_host_that_hears_nothing_more(podrun, pod, fault):
    # The network is cut, and neither side is told.
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, run_id, _go_on = start_behind(podrun, pod, proxy, "--orphan-timeout", "2")
    assert of_rank(run_id, 4)
    proxy.tell("stall")
    wait_until(lambda: not of_rank(run_id, 4), 2 + 1 + 5)
    assert all(of_rank(run_id, rank) for rank in OTHERS)
    footprint = Footprint(run_id)
    run.signal(signal.SIGTERM)
    run.signal(signal.SIGINT)
    run.wait(10)
    footprint.wait_until_gone(6)


# How often a host is waited for


def test_round_trips(podrun, pod, fault):
    proxies = [fault("--to", pod.addresses[rank], "--delay", "0.02", "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in (0, 1)]
    podrun.ok("-H", proxies[0].address, "--", "true")
    [alone] = proxies[0].connections
    podrun.ok("-H", f"{proxies[0].address},{proxies[1].address}", "--", "true")
    together = proxies[1].connections[0]
    assert alone["round_trips"] <= 5
    assert together["round_trips"] <= 6
