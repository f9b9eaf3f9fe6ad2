"""What goes wrong on the way to a host: each such host gets its own line, in time, and nobody else suffers."""

import os
import re
import signal
import time

import pytest

from support import PATIENCE, Footprint, by_rank, marked_processes, wait_until

ONE_TRY = ("-t", "1", "--retries", "0")


def lines_by_rank(said):
    """What the summary says of each host, as {rank: "unreachable: 127.0.0.8: connecting: connection refused"}; names are of single hosts only."""
    lines = {}
    for part in re.findall(r"(?:^podrun: | · )(\w+: \[[0-9,-]+\] .*?)(?= · |$)", said.decode(), re.MULTILINE):
        kind, ranks, text = re.fullmatch(r"(\w+: )\[(.*)\] (.*)", part).groups()
        for first, _, last in (piece.partition("-") for piece in ranks.split(",")):
            lines |= {rank: kind + text for rank in range(int(first), int(last or first) + 1)}
    return lines


# What listens there, as words for fault.py, and what is said of such a host.
BROKEN = {
    "silent": "SSH banner: timed out after 1 s",
    "closing": "SSH banner: .*(closed|reset).*",  # by chance: has it read our banner?
    "resetting": "(connecting|SSH banner): .*reset.*",
    "garbage": "SSH banner: .*",
    "endless-banner": "SSH banner: .*",
    "banner-closing": "key exchange: .*(closed|reset).*",
    "banner-silent": "key exchange: timed out after 1 s",
    "telnet": "SSH banner: .*",
    "http": "SSH banner: .*",
}


def test_every_broken_host_is_reported_and_nothing_starts_elsewhere(podrun, pod, fault):
    servers = [fault(behaviour, addresses=[f"127.0.0.{100 + number}"]) for number, behaviour in enumerate(BROKEN)]
    addresses = [*(server.address for server in servers), pod.addresses[0], f"{pod.hosts[1]}:1"]
    started = podrun.directory / "started"
    begin = time.monotonic()
    failed = podrun("-H", ",".join(addresses), *ONE_TRY, "--", "touch", started)
    assert time.monotonic() - begin < 3 * PATIENCE  # they fail side by side
    assert failed.returncode == 255
    assert failed.stdout == b""
    assert not started.exists()
    lines = lines_by_rank(failed.stderr)
    for rank, (behaviour, expected) in enumerate(BROKEN.items()):
        assert re.fullmatch(rf"unreachable: (127[0-9.]+: )?{expected}", lines[rank]), (behaviour, lines[rank])
    assert lines[len(BROKEN) + 1] == f"unreachable: {pod.hosts[1]}: connecting: connection refused"
    assert len(lines) == len(BROKEN) + 1


@pytest.mark.smoke
@pytest.mark.parametrize("behaviour", ["silent", "garbage", "closing"])
def test_the_others_run_with_skip_unreachable(podrun, pod, fault, behaviour):
    addresses = [pod.addresses[0], fault(behaviour).address, pod.addresses[2]]
    ended = podrun("-H", ",".join(addresses), *ONE_TRY, "--skip-unreachable", "--", "echo $POD_HOST")
    assert ended.returncode == 255
    assert by_rank(ended.stdout) == {0: [b"host0"], 2: [b"host2"]}
    assert list(lines_by_rank(ended.stderr)) == [1]


# Bytes from the server: they are in the banner, the key exchange, the login and the start of the supervisor.
ON_THE_WAY_IN = [10, 500, 1150, 1500, 2000, 2200]


def behind_proxies(pod, fault, option):
    """The hosts 0 to 5, each behind a proxy with this option at another place of the way in; and hosts 6 and 7."""
    proxies = [
        fault(option, at, "--direction", "down", "--to", pod.addresses[rank], "proxy", addresses=[f"127.0.0.{110 + rank}"])
        for rank, at in enumerate(ON_THE_WAY_IN)
    ]
    return ("-H", ",".join([*(proxy.address for proxy in proxies), f"nobody-here@{pod.addresses[6]}", pod.addresses[7]]))


def test_hosts_that_stall_on_the_way_in_delay_nobody(podrun, pod, fault):
    hosts = behind_proxies(pod, fault, "--stall-after")
    begin = time.monotonic()
    failed = podrun(*hosts, *ONE_TRY, "--", "true")
    assert time.monotonic() - begin < 2.5 * PATIENCE
    assert failed.returncode == 255
    lines = lines_by_rank(failed.stderr)
    assert list(lines) == list(range(7))
    assert all(lines[rank].endswith("timed out after 1 s") for rank in range(6)), lines
    assert "nobody-here" in lines[6]


@pytest.mark.parametrize("option", ["--cut-after", "--corrupt-at"])
def test_connections_that_break_on_the_way_in(podrun, pod, fault, option):
    started = podrun.directory / "started"
    failed = podrun(*behind_proxies(pod, fault, option), *ONE_TRY, "--", "touch", started)
    assert failed.returncode == 255
    assert sorted(lines_by_rank(failed.stderr)) == list(range(7)), failed.stderr
    assert not started.exists()


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


def start_behind(podrun, pod, proxies, *options):
    """A command on eight hosts that ends when it is told to, some behind proxies. Returns the run, its id, and the file."""
    go_on = podrun.directory / "go-on"
    addresses = [proxies[rank].address if rank in proxies else pod.addresses[rank] for rank in range(8)]
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
def test_hosts_that_fall_silent_are_lost_and_the_others_go_on(podrun, pod, fault):
    silences = {2: "stall", 4: "stall up", 6: "stall down"}
    proxies = {rank: fault("--to", pod.addresses[rank], "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in silences}
    run, _run_id, go_on = start_behind(podrun, pod, proxies, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    before = sockets(run.pid)
    for rank, how in silences.items():
        proxies[rank].tell(how)
    begin = time.monotonic()
    wait_until(lambda: sockets(run.pid) == before - 3, 6, "the connections given up")
    assert 1.5 < time.monotonic() - begin < 4 * PATIENCE
    go_on.touch()
    ended = run.wait()
    assert ended.returncode == 255
    assert done(ended) == [0, 1, 3, 5, 7]
    lines = lines_by_rank(ended.stderr)
    assert sorted(lines) == [2, 4, 6]
    assert all(line.startswith("lost: ") for line in lines.values())


@pytest.mark.smoke
def test_keep_alives_do_no_harm_to_a_quiet_host(podrun, pod):
    assert podrun(*pod.options, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", "--", "sleep 3.5").returncode == 0


def test_a_stall_that_passes_does_no_harm(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, _run_id, go_on = start_behind(podrun, pod, {4: proxy}, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=10")
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
    run, run_id, go_on = start_behind(podrun, pod, {4: proxy})
    proxy.tell("cut")
    wait_until(lambda: not of_rank(run_id, 4), 6)
    go_on.touch()
    ended = run.wait()
    assert ended.returncode == 255
    assert done(ended) == OTHERS
    assert lines_by_rank(ended.stderr)[4].startswith("lost: 127.0.0.99: ")


def test_a_byte_of_output_that_arrives_changed_is_noticed(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[1], "--corrupt-at", 200_000, "proxy")
    ended = podrun("-H", f"{pod.addresses[0]},{proxy.address}", "--grace", "1", "--", "seq 100000")
    assert ended.returncode == 255
    lines = by_rank(ended.stdout)
    assert len(lines[0]) == 100_000
    assert lines[1][:-1] == lines[0][: len(lines[1]) - 1]  # what was shown of it was right
    assert lines_by_rank(ended.stderr)[1].startswith("lost: 127.0.0.99: ")


def test_the_command_ends_on_a_host_that_hears_nothing_more(podrun, pod, fault):
    # The network is cut, and neither side is told.
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, run_id, _go_on = start_behind(podrun, pod, {4: proxy}, "--orphan-timeout", "2")
    assert of_rank(run_id, 4)
    proxy.tell("stall")
    wait_until(lambda: not of_rank(run_id, 4), 2 + 1 + 5)
    assert all(of_rank(run_id, rank) for rank in OTHERS)
    footprint = Footprint(run_id)
    run.signal(signal.SIGKILL)
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
