"""Over SSH to what one meets: other login shells, forced commands, dropbear; nothing is left there."""

import re
import shutil
import signal

import pytest

from events import events
from support import SOON, Footprint, by_rank, sha256, wait_until

WORDS = ["a  b", "$HOME", "*", "~", "`id`", "'", '"', "\\", "\\n", "", "two\nlines", "é", "!x", "!!", "{1,2}", "#", "%d", "-n"]
SHOWN = "".join(f"<{word}>\n" for word in WORDS)

# The login shell of a host cannot be chosen here, but it is all the same who gives it the text to run.
SHELLS = {"tcsh": "-c", "fish": "-c", "zsh": "-c", "bash": "-c", "dash": "-c", "busybox": "sh -c"}


@pytest.fixture
def shells(pods, podrun):
    """A pod where each host has another login shell."""
    options = ["--hosts", str(len(SHELLS))]
    for rank, (shell, words) in enumerate(SHELLS.items()):
        path = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
        options += ["--sshd", f'{rank}:ForceCommand exec {path} {words} "$SSH_ORIGINAL_COMMAND"']
    pod = pods(*options)
    pod.move_in(podrun)
    return pod


RANKS = range(len(SHELLS))


def test_words_pass_through_any_login_shell(podrun, shells):
    ended = podrun.start(*shells.options, "--", "printf", "<%s>\\n", *WORDS).wait()
    assert ended.returncode == 0, ended.stderr
    assert by_rank(ended.stdout) == {rank: SHOWN.encode().splitlines() for rank in RANKS}


@pytest.mark.smoke
def test_any_login_shell_has_input_environment_and_statuses(podrun, shells):
    data = b"some input\n" * 1000
    command = 'echo "$GIVEN"; sha256sum; exit $PODRUN_RANK'
    ended = podrun(*shells.options, "-I", "-e", "GIVEN=it's $x", "--", "sh", "-c", command, input=data)
    assert by_rank(ended.stdout) == {rank: [b"it's $x", f"{sha256(data)}  -".encode()] for rank in RANKS}
    assert ended.returncode == len(SHELLS) - 1


@pytest.mark.timed
def test_nothing_is_left_by_any_login_shell(podrun, shells):
    run = podrun.start(*shells.options, "--grace", "1", "--", "sh", "-c", "trap : TERM HUP; echo $PODRUN_RUN_ID; while :; do sleep 1; done")
    run.wait_for_output(b"\n", count=len(SHELLS))
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)


def test_a_forced_command_that_is_no_shell(podrun, pods):
    pod = pods("--hosts", "4", "--sshd", "1:ForceCommand /bin/echo no login here", "--sshd", "2:ForceCommand exec cat")
    pod.move_in(podrun)
    started = podrun.directory / "started"
    failed = events(podrun, *pod.options, *SOON, "--retries", "0", "--", "touch", started)
    assert failed.returncode == 255
    assert not started.exists()
    assert failed.failures == {1: ("unreachable", "starting_shell", "ended_early"), 2: ("unreachable", "starting_shell", "timed_out")}
    assert b"no login here" in failed.stderr or "no login here" in failed.exits[1]["message"] or b"no login here" in failed.bytes[1, "stdout"]


# dropbear


@pytest.fixture
def dropbear(pods, podrun):
    pod = pods("--server", "dropbear", "--hosts", "4", "--host-keys", "ed25519,ecdsa,rsa")
    pod.move_in(podrun)
    return pod


FOUR = range(4)


def test_dropbear_runs_commands(podrun, dropbear):
    assert by_rank(podrun.ok(*dropbear.options, "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in FOUR}
    assert podrun.ok(*dropbear.on(1), "-N", "--", "printf", "<%s>\\n", *WORDS).decode() == SHOWN
    assert podrun(*dropbear.options, "--", "exit $PODRUN_RANK").returncode == 3


def test_dropbear_passes_bytes(podrun, dropbear):
    data = bytes(range(256)) * 8000
    assert by_rank(podrun.ok(*dropbear.options, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in FOUR}
    ended = podrun(*dropbear.on(2), "-N", "-I", "--", "tee /dev/stderr", input=data)
    assert sha256(ended.stdout) == sha256(ended.stderr) == sha256(data)


def test_dropbear_keeps_alive(podrun, dropbear):
    assert podrun(*dropbear.options, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=1", "--", "sleep 3.5").returncode == 0


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_other_host_keys_of_dropbear(podrun, dropbear, kind):
    known_hosts = podrun.home / ".ssh" / "known_hosts"
    known_hosts.write_text("".join(line + "\n" for line in known_hosts.read_text().splitlines() if kind in line.split()[1]))
    assert podrun(*dropbear.options, "-o", "StrictHostKeyChecking=yes", "--", "true").returncode == 0


# Nothing is left on hosts that have their own processes, and nothing else is touched


def lasting(pod, rank):
    """The processes of a host, without the short sleeps of supervisors."""
    return {pid: command for pid, command in pod.processes(rank).items() if not re.fullmatch(rb"sleep\0[0-9.]{1,3}\0", command)}


def settled(pod, rank):
    """Those that are there twice in a row: a shell that is about to become a sleep still looks like a shell."""
    seen = [lasting(pod, rank)]

    def again():
        seen.append(lasting(pod, rank))
        return seen[-1] == seen[-2]

    wait_until(again)
    return seen[-1]


TREE = "trap : TERM HUP INT; setsid sleep 1001 & nohup sleep 1002 >/dev/null 2>&1 & echo up; while :; do sleep 1 & wait $!; done"


@pytest.mark.parametrize("server", ["isolated", "dropbear"])
@pytest.mark.parametrize("how", ["SIGKILL", "second Ctrl-C", "cut"])
def test_nothing_is_left_and_nothing_else_is_touched(request, podrun, fault, server, how):
    pod = request.getfixturevalue(server)
    both = (0, 1)
    for rank in both:
        assert pod.ssh(rank, "nohup sleep 2001 >/dev/null 2>&1 & setsid sleep 2002 >/dev/null 2>&1 &").returncode == 0
    other = podrun.start(*pod.on(*both), "--", "sleep", "2003")
    bystanders = {b"sleep\x00%d\0" % seconds for seconds in (2001, 2002, 2003)}
    for rank in both:
        wait_until(lambda: bystanders <= set(pod.processes(rank).values()))
    before = [settled(pod, rank) for rank in both]

    proxies = [fault("--to", pod.addresses[rank], "proxy", addresses=[f"127.0.0.{120 + rank}"]) for rank in both]
    run = podrun.start("-H", ",".join(proxy.address for proxy in proxies), "--grace", "1", "--orphan-timeout", "2", "--", "sh", "-c", TREE)
    run.wait_for_output(b"up", count=2)
    assert all(len(lasting(pod, rank)) >= len(before[rank]) + 3 for rank in both)
    # On a busy machine a shell that was about to become a sleep may have looked settled. By now it is one.
    for rank in both:
        there = lasting(pod, rank).items()
        before[rank] = {pid: command for pid, command in before[rank].items() if (pid, command) in there}
    if how == "SIGKILL":
        run.signal(signal.SIGKILL)
    elif how == "second Ctrl-C":
        run.signal(signal.SIGINT)
        run.signal(signal.SIGTERM)
    else:
        for proxy in proxies:
            proxy.tell("stall")
    for rank in both:
        try:
            wait_until(lambda: lasting(pod, rank) == before[rank], 2 + 1 + 5, "all as before")
        except AssertionError:
            now = lasting(pod, rank).items()
            raise AssertionError(f"gone: {before[rank].items() - now}, left: {now - before[rank].items()}") from None
    for each in (run, other):
        each.signal(signal.SIGKILL)
        each.process.wait()
