"""Servers that take few channels on a connection, or none, or no command: what needs one more gets it, or the error says why not."""

import re
import shlex
import shutil
import signal
import subprocess

import pytest

from events import Events, events, so_far
from support import Footprint, by_rank, end, read_process, sha256, wait_until

HOSTS = range(4)
LONG = 30  # seconds, for what comes at once where others do not keep the machine busy
ONE_TRY = ("--retries", "0")


@pytest.fixture
def one_channel(pods, podrun):
    """Four hosts that take one channel on a connection."""
    pod = pods("--hosts", "4", "--sshd", "MaxSessions 1")
    pod.move_in(podrun)
    return pod


@pytest.fixture
def one_of_four(pods, podrun):
    """Four hosts of which number 1 takes one channel on a connection."""
    pod = pods("--hosts", "4", "--sshd", "1:MaxSessions 1")
    pod.move_in(podrun)
    return pod


def output_of_all(completed, text):
    assert completed.returncode == 0, completed.stderr
    assert by_rank(completed.stdout) == {rank: [text] for rank in HOSTS}


def end_named(run, ranks):
    """Waits until the process that holds each rank's output open is named, and ends it; returns {rank: number}."""
    wait_until(lambda: so_far(run, "output_open").keys() == set(ranks), LONG, "the processes named")
    named = {rank: event["processes"] for rank, event in so_far(run, "output_open").items()}
    assert all([process["name"] for process in processes] == ["sleep"] for processes in named.values()), named
    pids = {rank: processes[0]["pid"] for rank, processes in named.items()}
    end([process for pid in pids.values() if (process := read_process(pid))])
    return pids


def printed_numbers(ended):
    return {rank: int(number) for rank, [number] in ended.shown.items()}


# Runs that need a second channel


@pytest.mark.smoke
@pytest.mark.parametrize("hosts", ["one_channel", "one_of_four"])
def test_standard_input(request, podrun, hosts):
    pod = request.getfixturevalue(hosts)
    data = bytes(range(256)) * 20_000  # more than a window
    output_of_all(podrun(*pod.options, "-I", "--", "sha256sum", input=data), f"{sha256(data)}  -".encode())
    assert podrun.ok(*pod.on(1), "-N", "-I", "--", "cat", input=data) == data


@pytest.mark.parametrize("hosts", ["one_channel", "one_of_four"])
def test_a_script_with_input(request, podrun, hosts):
    script = podrun.directory / "script"
    script.write_text('#!/bin/sh\necho "$1 $(cat)"\n')
    completed = podrun(*request.getfixturevalue(hosts).options, "-I", "-s", script, "--", "a  b", input=b"from here")
    output_of_all(completed, b"a  b from here")


def test_a_long_text(podrun, one_channel):
    text = b": " + b"x" * 200 * 1024 + b"\necho end\n"
    output_of_all(podrun(*one_channel.options, input=text), b"end")


def test_what_holds_the_output_open_is_named(podrun, one_channel):
    run = podrun.start("--json", *one_channel.options, "--", "sleep 1005 & echo $!; exit 3")
    pids = end_named(run, HOSTS)
    ended = Events(run.wait())
    assert ended.returncode == 3
    assert printed_numbers(ended) == pids


# The connections for it


def test_only_such_a_host_gets_another_connection(podrun, fault, one_of_four):
    proxies = [fault("--to", one_of_four.addresses[rank], "proxy", addresses=[f"127.0.0.{130 + rank}"]) for rank in (0, 1)]
    script = podrun.directory / "script"
    script.write_text("cat >/dev/null; sleep 1006 & echo $!")
    run = podrun.start("--json", "-H", ",".join(proxy.address for proxy in proxies), "-I", "-s", script, stdin=subprocess.DEVNULL)
    pids = end_named(run, (0, 1))
    ended = Events(run.wait())
    assert ended.returncode == 0
    assert printed_numbers(ended) == pids
    assert len(proxies[0].connections) == 1
    assert len(proxies[1].connections) in (2, 3)  # by chance: does sshd count the script's channel still, when the input's is asked for?


@pytest.mark.timed
def test_nothing_is_left(podrun, one_channel):
    run = podrun.start(*one_channel.options, "--grace", "1", "-I", "--", "trap : TERM HUP; echo $PODRUN_RUN_ID; cat; while :; do sleep 1; done")
    run.wait_for_output(b"\n", count=len(HOSTS))
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)


@pytest.mark.parametrize("behaviour", ["runs-one-for-each-connection", "runs-one-and-refuses-exec"])
def test_a_server_that_runs_one_command_on_a_connection(podrun, pod, fault, behaviour):
    server = fault("--authorized-keys", pod.directory / "authorized_keys", behaviour)
    script = podrun.directory / "script"
    script.write_text('#!/bin/sh\necho "$1 $(cat)"\n')
    completed = podrun("-H", server.address, "-N", *ONE_TRY, "-I", "-s", script, "--", "a  b", input=b"from here")
    assert (completed.returncode, completed.stdout) == (0, b"a  b from here\n"), completed.stderr


def lonely_host(pods, podrun, forced):
    """A pod whose host 1 takes one channel on a connection, and runs `forced` in front of its first command."""
    keys = podrun.directory / "keys"
    pod = pods(
        *("--hosts", "2", "--sshd", "1:MaxSessions 1", "--sshd", f'1:AuthorizedKeysFile "{keys}"'),
        *("--sshd", f'1:ForceCommand {forced}; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'),
    )
    pod.move_in(podrun)
    shutil.copy(pod.directory / "authorized_keys", keys)
    return pod


REFUSED = "refused by the server: open failed; on another connection: %s"


def test_a_login_that_fails_the_second_time(podrun, pods):
    pod = lonely_host(pods, podrun, f"rm -f {shlex.quote(str(podrun.directory / 'keys'))}")
    script = podrun.directory / "script"
    script.write_text("echo must not run")
    failed = events(podrun, *pod.on(1), *ONE_TRY, "-s", script)
    assert (failed.returncode, failed.shown) == (255, {})
    assert failed.failures == {0: ("unreachable", "opening_channel", "request_refused")}
    assert re.match(REFUSED % "login: .*publickey", failed.exits[0]["message"]), failed.stderr


@pytest.mark.parametrize("option", ["-I", "-s"])
def test_a_second_connection_that_is_not_answered(podrun, pods, option):
    pid = podrun.directory / "pid"
    pod = lonely_host(pods, podrun, f"kill -STOP $(cat {shlex.quote(str(pid))})")
    pid.write_text((pod.directory / "servers" / "0.pid").read_text())
    script = podrun.directory / "script"
    script.write_text("echo must not run")
    words, outcome, stage = {"-I": (["-I", "--", "cat"], "lost", "standard_input"), "-s": (["-s", script], "unreachable", "opening_channel")}[option]
    failed = events(podrun, *pod.on(1), *ONE_TRY, "-t", "5", *words, input=b"x" if option == "-I" else None)
    assert (failed.returncode, failed.shown) == (255, {})
    assert failed.failures == {0: (outcome, stage, "request_refused")}
    assert re.match(REFUSED % "SSH banner: timed out after 5 s", failed.exits[0]["message"]), failed.stderr


# No channel, no command: a line that says so, and nothing starts anywhere


def started_nowhere(podrun, options):
    """Stage and message of host 1 where it makes the run impossible."""
    started = podrun.directory / "started"
    failed = events(podrun, *options, *ONE_TRY, "-t", "5", "--", "touch", started)
    assert failed.returncode == 255
    assert not started.exists()
    assert failed.summary["failed"] == [1]
    return failed.exits[1]["stage"], failed.exits[1]["message"]


@pytest.mark.parametrize("hosts", [HOSTS, [1]])
def test_no_channel_at_all(podrun, pods, hosts):
    pod = pods("--hosts", "4", "--sshd", "1:MaxSessions 0")
    pod.move_in(podrun)
    failed = events(podrun, *pod.on(*hosts), *ONE_TRY, "--", "true")
    assert failed.returncode == 255
    assert failed.failures == {hosts.index(1): ("unreachable", "opening_channel", "too_many_channels")}


REFUSALS = {
    "refuses-channel": ("opening_channel", "refused by the server(: .*)?"),
    "refuses-exec": ("running_shell", "refused by the server"),
}


@pytest.mark.parametrize("behaviour", REFUSALS)
def test_a_server_that_refuses(podrun, fault, one_channel, behaviour):
    server = fault(behaviour, addresses=["127.0.0.133"])
    stage, message = started_nowhere(podrun, ("-H", f"{one_channel.addresses[0]},{server.address}"))
    expected_stage, pattern = REFUSALS[behaviour]
    assert stage == expected_stage and re.fullmatch(pattern, message)


FORCED = {
    "exec /nonexistent/sh -c \"$SSH_ORIGINAL_COMMAND\"": r".*/nonexistent/sh: .*(not found|No such file).* \(exit 12[67]\)",
    "exec false": r"it ended before the command could start \(exit 1\)",
    "kill -KILL $$": r"it ended before the command could start \(signal 9\)",
    "internal-sftp": r"This service allows sftp connections only\. \(exit 1\)",
}


@pytest.mark.parametrize("forced", FORCED)
def test_a_host_without_a_shell(podrun, pods, forced):
    pod = pods("--hosts", "2", "--sshd", f"1:ForceCommand {forced}")
    pod.move_in(podrun)
    stage, message = started_nowhere(podrun, pod.options)
    assert stage == "starting_shell" and re.fullmatch(FORCED[forced], message)


# podrun as other processes of the host see it


def test_an_error_in_a_script_is_the_same_text_on_all_hosts(podrun, isolated):
    script = podrun.directory / "fails.sh"
    script.write_text("no-such-program\n")
    failed = podrun(*isolated.options, "-N", "-s", script)
    assert failed.returncode == 127
    lines = [line for line in failed.stderr.splitlines() if b"no-such-program" in line]
    assert len(lines) == 2 and lines[0] == lines[1], failed.stderr


@pytest.mark.parametrize("way", ["ssh", "via"])
def test_a_command_that_looks_for_its_own_words_finds_nothing_of_podrun(podrun, isolated, way):
    options = isolated.on(1) if way == "ssh" else ("-H", isolated.addresses[1], *isolated.via)
    assert podrun(*options, "--", "pkill", "-9", "-f", "no-such-train.py").returncode == 1  # nothing matched


@pytest.mark.parametrize("way", ["ssh", "via"])
def test_no_argument_of_a_process_is_long_or_has_the_text_of_the_command(podrun, isolated, way):
    options = isolated.options if way == "ssh" else (*isolated.options, *isolated.via)
    run = podrun.start(*options, "-I", "--", ": the-text; echo up; exec sleep 1000", stdin=subprocess.PIPE)
    wait_until(lambda: run.stdout.count(b"up") == 2, what="both started")
    for rank in (0, 1):
        wait_until(lambda rank=rank: b"sleep\x001000\0" in isolated.processes(rank).values(), what="the command, after its echo")
        shown = list(isolated.processes(rank).values())
        assert not [words for words in shown if len(words) > 200 or b"the-text" in words]
    run.signal(signal.SIGKILL)
    run.wait()


def test_no_argument_of_check_is_long(podrun, isolated):
    run = podrun.start(*isolated.options, "check", "--python", "sleep 1000")
    longest = 0
    while run.process.poll() is None:
        longest = max([longest] + [len(words) for rank in (0, 1) for words in isolated.processes(rank).values() if not words.startswith((b"grep\0", b"ls\0"))])
    assert 0 < longest <= 200
