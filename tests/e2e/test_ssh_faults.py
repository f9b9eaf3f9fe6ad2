"""What becomes of a run whose hosts are hard to reach, or lost: beyond what docs/faults.md says of each fault (test_faults.py)."""

import signal
import subprocess
from pathlib import Path

import pytest

from events import events
from support import Footprint, by_rank, marked_processes, wait_until

# Temporary failures are tried again


def test_retries(podrun, pod, fault):
    assert podrun("-H", fault("--to", pod.addresses[0], "--reset-first", "2", "proxy").address, "--", "true").returncode == 0
    again = fault("--to", pod.addresses[0], "--reset-first", "2", "proxy")
    failed = events(podrun, "-H", again.address, "--retries", "1", "--", "true")
    assert failed.returncode == 255
    assert (failed.exits[0]["cause"], failed.exits[0]["attempts"]) == ("reset", 2)


def test_a_failed_login_is_not_tried_again(podrun, pod):
    failed = events(podrun, "-H", f"nobody-once@{pod.addresses[0]}", "--retries", "5", "--", "true")
    assert failed.returncode == 255
    assert failed.exits[0]["attempts"] == 1
    assert pod.log.count("Invalid user nobody-once") == 1


@pytest.mark.parametrize("behaviour", ["turned-away", "turned-away-at-once"])
def test_a_server_that_turns_podrun_away_is_quoted_and_explained(podrun, pod, fault, behaviour):
    failed = events(podrun, "-H", f"{pod.addresses[0]},{fault(behaviour).address}", "--retries", "0", "--", "true")
    assert failed.exits[1]["message"] == 'closed by the server: it says "Not allowed at this time"'
    assert failed.returncode == 255 and b"MaxStartups" in failed.stderr and b"PerSourcePenalties" in failed.stderr


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
    command = f"echo $PODRUN_RUN_ID; until [ -e '{go_on}' ]; do sleep 0.1; done"
    run = podrun.start("-H", ",".join(addresses), "--grace", "1", *options, "--", command)
    run.wait_for_output(b"\n", count=8)
    return run, by_rank(run.stdout)[0][0].decode(), go_on


OTHERS = [0, 1, 2, 3, 5, 6, 7]


def of_rank(run_id, rank):
    return [process for process in marked_processes(run_id) if b"PODRUN_RANK=%d\0" % rank in process.environment]


@pytest.mark.smoke
def test_keep_alives_do_no_harm_to_a_quiet_host(podrun, pod):
    assert podrun(*pod.options, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", "--", "sleep 3.5").returncode == 0


def test_the_command_ends_on_a_host_whose_connection_is_cut(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[4], "proxy")
    run, run_id, go_on = start_behind(podrun, pod, {4: proxy})
    proxy.tell("cut")
    wait_until(lambda: not of_rank(run_id, 4), 6)
    assert all(of_rank(run_id, rank) for rank in OTHERS)
    go_on.touch()
    assert run.wait().returncode == 255


@pytest.mark.timed
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


# Messages of a server that are out of order


@pytest.mark.smoke
@pytest.mark.deadline(300)
def test_messages_that_nobody_asked_for(directory):
    fuzzer = Path(__file__).parents[1] / "fuzz" / "messages"
    ended = subprocess.run([fuzzer, "--seed", "1", "--trials", "12"], cwd=directory, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    print(ended.stdout)


# How often a host is waited for


def test_round_trips(podrun, pod, fault):
    proxies = [fault("--to", pod.addresses[rank], "--delay", "0.2", "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in (0, 1)]

    def count(*hosts):
        """The fewest of some runs: on a busy machine what belongs together may leave a program in two pieces."""
        counts = []
        for _ in range(5):
            podrun.ok("-H", ",".join(proxy.address for proxy in hosts), "--", "true")
            counts.append(hosts[-1].connections[-1]["round_trips"])
        return min(counts)

    # Key exchange 2, login 2, exec 1, what is sent on standard input 1: sshd opens the window for it only with its
    # answer to exec (serverloop.c, server_request_session: a window of 0). Together: go 1.
    assert count(proxies[0]) <= 6
    assert count(*proxies) <= 7
