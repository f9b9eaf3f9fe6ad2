"""Manual, "Start, failure, end": the barrier, time-outs, exit statuses. Interrupts: test_signals.py."""

import os
import signal
import time

import pytest

from events import events
from support import SOON, by_rank, is_alive, limit, processes, read_process, wait_until

ONE = ("-N", "-H", "local")
FOUR = ("-H", "local[0-3]")


# All or nothing


@pytest.mark.smoke
@pytest.mark.parametrize("bad", ["refused", "silent", "noshell"])
def test_a_host_that_is_not_ready_means_nothing_runs_anywhere(podrun, via, bad):
    started = podrun.directory / "started"
    patience = SOON if bad == "silent" else ()
    failed = events(podrun, *via, "-H", f"a,b,{bad},c", *patience, "--retries", "0", "--", "touch", started)
    assert failed.returncode == 255
    assert failed.outcomes == {0: "not_started", 1: "not_started", 2: "unreachable", 3: "not_started"}
    assert failed.exits[2]["host"] == bad
    assert not failed.shown
    assert not started.exists()


def test_the_end_says_why_a_host_was_not_ready(podrun, via):
    assert "connection refused" in events(podrun, *via, "-H", "a,refused", "--", "true").exits[1]["message"]


@pytest.mark.timed
def test_a_silent_host_times_out_and_the_stage_is_named(podrun, via):
    failed = events(podrun, *via, "-H", "a,silent", "-t", "1", "--retries", "0", "--", "true", timeout=10)
    assert failed.returncode == 255
    assert failed.failures[1] == ("unreachable", "starting_shell", "timed_out")
    assert failed.exits[1]["message"] == "timed out after 1 s"


@pytest.mark.timed
def test_commands_start_together(podrun):
    slow = podrun.directory / "slow"
    up = podrun.directory / "up"
    slow.write_text(f'#!/bin/sh\n[ $1 != n3 ] || {{ sleep 1; touch "{up}"; }}\nshift; exec "$@"\n')
    slow.chmod(0o755)
    shown = by_rank(podrun.ok("--via", f"{slow} {{host}}", "-H", "n[0-3]", "--", f"date +%s.%N; [ -e '{up}' ] && echo all are up"))
    assert [lines[1:] for lines in shown.values()] == [[b"all are up"]] * 4
    began = [float(lines[0]) for lines in shown.values()]
    assert max(began) - min(began) < limit(0.7)


def test_what_rc_files_print_does_no_harm(podrun, via):
    shown = by_rank(podrun.ok(*via, "-H", "a,noisy", "--", "echo", "hi"))
    assert shown[0] == [b"hi"]
    assert shown[1][-1] == b"hi"


def test_skip_unreachable_runs_on_the_rest(podrun, via):
    ended = events(podrun, *via, "-H", "a,refused,b", "--skip-unreachable", "--", "echo $PODRUN_RANK of $PODRUN_NUM_HOSTS as $PODRUN_WORKER")
    assert ended.shown == {0: [b"0 of 2 as 0"], 2: [b"1 of 2 as 2"]}
    assert ended.failures.keys() == {1} and "refused" in ended.exits[1]["message"]


def test_skip_unreachable_needs_a_host_that_is_left(podrun, via):
    assert podrun(*via, "-H", "refused1,refused2", "--skip-unreachable", "--", "true").returncode == 255


def test_fanout_bounds_the_handshakes_not_the_commands(podrun):
    arrived = podrun.directory / "arrived"
    arrived.mkdir()
    command = f"touch '{arrived}'/$PODRUN_RANK; until [ $(ls '{arrived}' | wc -l) = 8 ]; do sleep 0.05; done"
    assert podrun("-H", "local[0-7]", "-f", "2", "-u", "20", "--", command).returncode == 0


# Retries


def test_a_host_that_was_not_ready_in_time_is_tried_again(podrun):
    tried = podrun.directory / "tried"
    silent_once = podrun.directory / "silent-once"
    silent_once.write_text(f"#!/bin/sh\nshift; [ -e '{tried}' ] || {{ touch '{tried}'; exec sleep 1000; }}; exec \"$@\"\n")
    silent_once.chmod(0o755)
    shown = by_rank(podrun.ok("--via", f"{silent_once} {{host}}", "-H", "a,b", "-t", "3", "--", "echo", "hi"))
    assert shown == {0: [b"hi"], 1: [b"hi"]}


def test_retries_are_bounded_and_counted(podrun, via):
    failed = events(podrun, *via, "-H", "a,silent", "-t", "1", "--retries", "1", "--", "true", timeout=10)
    assert (failed.exits[1]["cause"], failed.exits[1]["attempts"]) == ("timed_out", 2)
    assert events(podrun, *via, "-H", "a,refused", "--retries", "9", "--", "true").exits[1]["attempts"] == 1  # its transport has answered


@pytest.mark.parametrize("number", ["-1", "some"])
def test_retries_is_a_number(podrun, number):
    failed = podrun(*ONE, "--retries", number, "--", "true")
    assert failed.returncode == 2
    assert b"--retries" in failed.stderr and number.encode() in failed.stderr


# Rolling runs


def test_serial_runs_so_many_at_a_time(podrun):
    log = podrun.directory / "log"
    assert podrun(*FOUR, "--serial", "2", "--", f"echo + >>'{log}'; sleep 0.3; echo - >>'{log}'").returncode == 0
    running = most = 0
    for event in log.read_text().split():
        running += 1 if event == "+" else -1
        most = max(most, running)
    assert most == 2 and log.read_text().count("+") == 4


def test_serial_stops_at_the_first_batch_that_fails(podrun):
    log = podrun.directory / "log"
    failed = podrun("-H", "local[0-5]", "--serial", "2", "--", f'echo $PODRUN_WORKER >>"{log}"; [ $PODRUN_WORKER != 2 ] || exit 5')
    assert failed.returncode == 5
    assert sorted(log.read_text().split()) == ["0", "1", "2", "3"]


# Exit status


@pytest.mark.parametrize(
    "command, status",
    [("true", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("exit $PODRUN_RANK", 3), ("[ $PODRUN_RANK != 1 ]", 1)],
)
def test_the_largest_of_the_hosts_numbers(podrun, command, status):
    assert podrun(*FOUR, "--", "sh", "-c", command).returncode == status


@pytest.mark.smoke
def test_the_end_names_the_ranks_that_failed(podrun):
    failed = events(podrun, *FOUR, "--", "sh", "-c", "case $PODRUN_RANK in 1 | 3) echo broken >&2; exit 1 ;; esac")
    assert failed.returncode == 1
    assert failed.summary["failed"] == [1, 3]
    assert failed.summary["ok"] == [0, 2]


def test_unreachable_counts_as_255(podrun, via):
    assert podrun(*via, "-H", "a,refused", "--", "exit 3").returncode == 255


# Time-out and fail-fast


@pytest.mark.timed
def test_timeout_of_the_command(podrun):
    assert podrun(*FOUR, "-u", "1", "--grace", "1", "--", "sleep", "100", timeout=10).returncode == 124
    failed = events(podrun, *FOUR, "--timeout", "1s", "--grace", "1", "--", "[ $PODRUN_RANK != 2 ] || sleep 100", timeout=10)
    assert failed.returncode == 124
    assert failed.outcomes == {0: "exited", 1: "exited", 2: "timed_out", 3: "exited"}


def test_timeout_is_for_what_runs_too_long_only(podrun):
    assert podrun.ok(*ONE, "-u", "30", "--", "echo", "hi") == b"hi\n"


@pytest.mark.timed
@pytest.mark.smoke
def test_fail_fast_ends_the_others_and_names_the_culprit(podrun):
    command = "[ $PODRUN_RANK = 2 ] && exit 7; trap 'exit 99' TERM; sleep 100 & wait"
    failed = events(podrun, *FOUR, "-k", "--grace", "1", "--", "sh", "-c", command, timeout=10)
    assert failed.returncode == 7
    assert failed.summary["culprit"] == 2


def test_without_fail_fast_the_others_go_on(podrun):
    ended = podrun(*FOUR, "--", "[ $PODRUN_RANK != 2 ] || exit 7; sleep 0.5; echo done")
    assert ended.returncode == 7
    assert sorted(by_rank(ended.stdout)) == [0, 1, 3]


# A command that ends and leaves something running


@pytest.mark.timed
def test_a_child_in_the_background_does_not_delay_the_end(podrun):
    begin = time.monotonic()
    ended = podrun(*ONE, "--", "sleep 1000 >/dev/null 2>&1 & echo $!")
    elapsed = time.monotonic() - begin
    child = int(ended.stdout)
    assert is_alive(child)
    os.kill(child, signal.SIGKILL)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert elapsed < limit(2)


@pytest.mark.timed
def test_what_a_child_prints_within_that_time_is_shown(podrun):
    assert podrun.ok(*ONE, "--", "{ sleep 0.5; echo late; } & echo early") == b"early\nlate\n"


def test_a_tick_that_is_read_after_the_end_does_not_change_the_status(podrun):
    """The supervisor's watch gets no processor time: a tick of its clock and the end of the command wait in its pipe."""
    main_file, go = podrun.directory / "main", podrun.directory / "go"
    script = f"echo $PPID >{main_file}.new; mv {main_file}.new {main_file}; until [ -e {go} ]; do sleep 0.05; done"
    run = podrun.start(*ONE, "--orphan-timeout", "4", "--", script)  # a tick each second
    wait_until(main_file.exists, 20)
    main = int(main_file.read_text())
    supervisor = read_process(main).parent
    watch = next(process.pid for process in processes() if process.parent == supervisor and process.pid != main)
    os.kill(watch, signal.SIGSTOP)
    time.sleep(2.5)
    go.touch()
    wait_until(lambda: not is_alive(main), 20)
    os.kill(watch, signal.SIGCONT)
    assert run.wait().returncode == 0
