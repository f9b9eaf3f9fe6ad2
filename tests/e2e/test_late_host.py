"""Commands that show what the hosts answer do not wait for one that hangs: ps, check, kill --dry-run and their like."""

import json
import signal

import pytest

from homes import homes_of_pod
from support import send, wait_until

LATE = b"podrun: [1] does not answer yet"
FOREVER = ("-t", "300")  # so that the host hangs until the test has seen what it looks for


@pytest.fixture
def hosts(pods, podrun):
    """Three isolated hosts with a job that has an accelerator open; the sshd of worker 1 is stopped."""
    with homes_of_pod(pods, podrun, hosts=3) as homes:
        podrun.ok(*homes.options, "start", "train", "--", "exec 5</dev/accel0; exec sleep 1000")
        servers = [homes.pod.server(1)]
        send(signal.SIGSTOP, servers)
        yield homes
        send(signal.SIGCONT, servers)
        podrun.ok(*homes.options, "stop", "train", "--grace", "0")


@pytest.mark.parametrize(
    "command, answer, status, reason",
    [
        (["ps"], b"train  running [0,2]", 255, b"podrun: unreachable: [1] "),
        (["kill", "--dry-run"], b"[0,2] 2 processes of ", 255, b"podrun: unreachable: [1] "),
        (["check"], b"2 of 3 hosts have answered", 1, b": unreachable: "),
    ],
    ids=["ps", "kill", "check"],
)
def test_a_terminal_has_the_other_answers_and_goes_on_without_it(podrun, hosts, command, answer, status, reason):
    run = podrun.terminal(*hosts.pod.options, *FOREVER, *command)
    run.read_until(answer)
    run.read_until(LATE)
    assert reason not in run.output
    run.type(b"\x03")
    ended = run.wait()
    assert ended.returncode == status, ended
    assert reason in ended.stdout.partition(LATE)[2], ended
    if command != ["check"]:  # its report has the missing host
        assert ended.stdout.count(answer) == 1, ended


def test_a_late_answer_is_shown_when_it_comes(podrun, hosts):
    run = podrun.terminal(*hosts.pod.options, *FOREVER, "ps")
    run.read_until(LATE)
    send(signal.SIGCONT, [hosts.pod.server(1)])
    run.read_until(b"train  running [0-2]")
    assert run.wait().returncode == 0


@pytest.mark.parametrize("command", [["ps"], ["kill", "--dry-run"], ["check"]], ids=["ps", "kill", "check"])
def test_a_program_gets_one_complete_answer(podrun, hosts, command):
    run = podrun.start(*hosts.pod.options, *FOREVER, *command, "--json")
    wait_until(lambda: LATE in run.stderr, what="the late host's name")
    assert run.stdout == b""
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert ended.returncode == (1 if command == ["check"] else 255), ended
    assert {host["worker"]: host["answered"] for host in json.loads(ended.stdout)["hosts"]} == {0: True, 1: False, 2: True}


def test_a_pipe_gets_one_complete_answer(podrun, hosts):
    run = podrun.start(*hosts.pod.options, *FOREVER, "ps")
    wait_until(lambda: LATE in run.stderr, what="the late host's name")
    assert run.stdout == b""
    send(signal.SIGCONT, [hosts.pod.server(1)])
    ended = run.wait()
    assert ended.returncode == 0 and b"\ntrain  running [0-2]  " in ended.stdout, ended


def test_logs_go_on_without_it(podrun, hosts):
    run = podrun.start(*hosts.pod.options, *FOREVER, "logs", "-n", "1", "train")
    wait_until(lambda: LATE in run.stderr, what="the late host's name")
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert ended.returncode == 255 and b"unreachable: [1] " in ended.stderr, ended


def test_a_silent_host_has_one_attempt(podrun, hosts):
    def message(*options):
        ended = podrun(*hosts.pod.options, "-o", "ConnectTimeout=5", *options, "ps", "--json")
        assert ended.returncode == 255, ended
        return json.loads(ended.stdout)["hosts"][1]["message"]

    assert message().endswith("timed out after 5 s")
    assert message("--retries", "1").endswith("timed out after 5 s (2 attempts)")
