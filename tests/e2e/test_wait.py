"""podrun wait, --notify and --timestamps; and a training that goes on without a terminal: podrun --restarts as a job of this machine."""

import json
import os
import re
import shlex
import signal

import pytest

from events import events
from homes import homes_of_pod
from support import wait_until

GO = "until [ -e ~/go ]; do sleep 0.1; done; exit $((PODRUN_RANK + 4))"


@pytest.fixture
def hosts(pods, podrun):
    """Two isolated hosts, on which no job is left."""
    with homes_of_pod(pods, podrun, hosts=2) as homes:
        yield homes
        podrun(*homes.options, "stop", "train", "--grace", "0")
        podrun("-H", "local", "stop", "train", "--grace", "10")


def go(hosts):
    for rank in hosts.ranks:
        (hosts.home(rank) / "go").touch()


def follows(hosts, rank):
    """Whether a shell waits there for more of a job's output, or its end."""
    return any(re.fullmatch(rb"sleep\x000\.8\0", process.command) for process in hosts.pod.every_process(rank))


def told(path):
    return json.loads(path.read_text(encoding="utf-8").splitlines()[0])


# wait


@pytest.mark.smoke
def test_wait_outlives_connections_and_exits_as_the_job(podrun, hosts):
    podrun.ok(*hosts.options, "start", "train", "--", "echo said; " + GO)
    run = podrun.start(*hosts.options, "wait", "train")
    wait_until(lambda: all(follows(hosts, rank) for rank in hosts.ranks), what="the programs that follow the job")
    for rank in hosts.ranks:
        hosts.lose(rank)
    go(hosts)
    ended = run.wait()
    assert ended.returncode == 5 and ended.stdout == b"", ended
    assert b"podrun: exit 5: [1]" in ended.stderr


def test_wait_for_at_most_a_time(podrun, hosts):
    podrun.ok(*hosts.options, "start", "train", "--", GO)
    path = podrun.directory / "told"
    late = podrun(*hosts.options, "wait", "-u", "1", "--notify", f"cat >{path}", "train")
    assert late.returncode == 124 and late.stderr == b"podrun: train has not ended within 1 s on [0,1]\n", late
    event = told(path)
    assert (event["event"], event["status"], event["failed"], event["summary"]) == ("running", 124, [], "train: it has not ended, and goes on")
    assert b"train  running [0,1]" in podrun.ok(*hosts.options, "ps")
    wait_until(lambda: not any(hosts.pod.logins(rank) for rank in hosts.ranks), what="the end of the connections so far")
    stopped = podrun.start(*hosts.options, "wait", "train")
    wait_until(lambda: all(hosts.pod.logins(rank) for rank in hosts.ranks), what="the connections")
    stopped.signal(signal.SIGINT)
    assert stopped.wait().returncode == 130
    assert b"train  running [0,1]" in podrun.ok(*hosts.options, "ps")


def test_json_names_the_job(podrun, hosts):
    go(hosts)
    assert events(podrun, *hosts.options, "start", "train", "--", GO).start["job"] == "train"
    for words in (["wait"], ["logs", "-f"]):
        start = events(podrun, *hosts.options, *words, "train").start
        assert start["job"] == "train" and not start.keys() & {"command", "shell", "script"}


@pytest.mark.parametrize("words", [("wait",), ("logs", "-f")])
def test_a_reader_that_has_gone_ends_podrun_and_not_the_job(podrun, hosts, words):
    podrun.ok(*hosts.options, "start", "train", "--", GO)
    reader, writer = os.pipe()
    run = podrun.start(*hosts.options, *words, "train", stdout=writer)
    os.close(writer)
    wait_until(lambda: all(follows(hosts, rank) for rank in hosts.ranks), what="the programs that follow the job")
    os.close(reader)
    assert run.wait().returncode == 141
    assert b"train  running [0,1]" in podrun.ok(*hosts.options, "ps")


def test_wait_for_several_jobs_and_for_none(podrun, hosts):
    for name, status in (("one", 0), ("two", 3)):
        assert podrun(*hosts.options, "start", name, "--", f"exit {status}").returncode in (0, status)
    assert podrun(*hosts.options, "wait", "one").returncode == 0
    assert podrun(*hosts.options, "wait", "one", "two").returncode == 3
    missing = podrun(*hosts.options, "wait", "three")
    assert missing.returncode == 1 and missing.stderr == b"podrun: there is no job three on these hosts\n"
    assert podrun("-H", "127.0.0.1:129", "--retries", "0", "wait", "one").returncode == 255


# --notify


def test_a_command_is_told_of_the_end(podrun, hosts):
    path = podrun.directory / "told"
    tell = f"cat >{path}; env | grep ^PODRUN_ >>{path}; echo x >>{path}.times"
    ended = podrun(*hosts.options, "--notify", tell, "--", "[ $PODRUN_RANK = 0 ] || { printf '$(touch %s)\\033[2J' >&2; exit 7; }" % (podrun.directory / "run"))
    assert ended.returncode == 7
    event = told(path)
    assert (event["v"], event["event"], event["status"], event["hosts"], event["failed"]) == (1, "failed", 7, 2, [1])
    assert event["summary"] == f"exit 7: [1] {hosts.pod.hosts[1]}"
    assert f"PODRUN_SUMMARY={event['summary']}\n" in path.read_text() and "PODRUN_STATUS=7\n" in path.read_text()
    assert (podrun.directory / "told.times").read_text() == "x\n"
    assert not (podrun.directory / "run").exists() and "\x1b" not in path.read_text()
    assert podrun(*hosts.options, "--notify", tell, "--", "true").returncode == 0
    assert told(path)["event"] == "done" and told(path)["summary"] == "ok on 2 hosts"


def test_a_command_that_fails_changes_nothing(podrun):
    ended = podrun("-H", "local", "--notify", "echo no route >&2; exit 3", "--notify", "kill -9 $$", "--", "exit 5")
    assert ended.returncode == 5
    assert ended.stderr.splitlines()[-2:] == [b"podrun: --notify: exit 3: no route", b"podrun: --notify: it did not end by itself"]


def test_a_command_is_told_of_an_interrupt_and_of_a_job(podrun, hosts):
    path = podrun.directory / "told"
    run = podrun.start(*hosts.options, "--notify", f"cat >{path}", "--", "echo up; sleep 1000")
    run.wait_for_output(b"up", 2)
    run.signal(signal.SIGINT)
    assert run.wait().returncode == 130 and told(path)["event"] == "stopped"
    assert podrun(*hosts.options, "start", "train", "--", "exit 3").returncode in (0, 3)
    assert podrun(*hosts.options, "wait", "--notify", f"cat >{path}", "train").returncode == 3
    assert (told(path)["job"], told(path)["status"], told(path)["summary"]) == ("train", 3, "train: exit 3: [0,1]")


# --timestamps

TIME = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test_times_of_lines_and_of_files(podrun, directory):
    ended = podrun("-H", "local[0-1]", "--timestamps", "--outdir", directory / "out", "--", "echo a; echo b >&2")
    assert re.fullmatch(rb"(" + TIME + rb" [01]: a\n){2}", ended.stdout), ended.stdout
    assert re.fullmatch(rb"(" + TIME + rb" [01]: b\n){2}", ended.stderr), ended.stderr
    assert (directory / "out" / "0-local0.out").read_bytes() == b"a\n"
    assert re.fullmatch(TIME + rb" 2\n", (directory / "out" / "0-local0.out.times").read_bytes())
    alone = podrun("-H", "local", "-N", "--timestamps", "--", "echo a")
    assert re.fullmatch(TIME + rb" a\n", alone.stdout)
    refused = podrun("-H", "local", "-b", "--timestamps", "--", "true")
    assert refused.returncode == 2 and b"--timestamps and --gather exclude each other" in refused.stderr


# A training that goes on without a terminal


TRAINING = 'echo "try $PODRUN_RESTART"; sleep 2; [ $PODRUN_RESTART != 0 ] || [ $PODRUN_RANK != 1 ] || exit 9; until [ -e ~/go ]; do sleep 0.1; done; exit 6'


def start_training(podrun, hosts, *options):
    command = [os.environ["PODRUN_BIN"], *map(str, hosts.options), "--restarts", "1", "--short-try", "1s", "--grace", "1", *options, "--", TRAINING]
    return podrun.ok("-H", "local", "start", "train", "--", shlex.join(command))


def test_a_training_in_a_local_job_is_waited_for_over_restarts(podrun, hosts):
    start_training(podrun, hosts, "--final", "6")
    followed = podrun.start("-H", "local", "-N", "logs", "-f", "train")
    waiting = podrun.start("-H", "local", "wait", "train")
    followed.wait_for_output(b"try 1", 2, 60)
    go(hosts)
    assert waiting.wait(60).returncode == 6
    ended = followed.wait()
    assert ended.returncode == 6 and re.search(rb"podrun: starting again in \d+ s: try 2, 0 of 1 restart left", ended.stderr), ended
    assert b"not started again: its exit status is final" in ended.stderr


def test_the_stop_of_a_local_job_stops_the_training_on_the_pod(podrun, hosts):
    start_training(podrun, hosts)
    followed = podrun.start("-H", "local", "logs", "-f", "train")
    followed.wait_for_output(b"try 0", 2)
    podrun.ok("-H", "local", "stop", "train")
    followed.wait()
    hosts.wait_until_clean()
