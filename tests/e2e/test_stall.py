"""podrun --stall: hosts that print nothing are looked at, and stopped."""

import fcntl
import json
import os
import re
import signal

import pytest

from homes import homes_of_pod
from restarts import LOCKED, Machines, Over, wait_for_event
from support import wait_until

# The first try prints one line, and then nothing for a long time.
STUCK_AT_FIRST = LOCKED + '[ "$PODRUN_RESTART" != 0 ] || exec sleep 1000'
STALL = ("--restarts", "1", "--stall", "2s:1s")


@pytest.fixture
def machines(pods, podrun):
    with homes_of_pod(pods, podrun, hosts=2) as homes:
        machines = Machines(homes)
        yield machines
        machines.restore()


def captured(podrun, event):
    return {path.name: path.read_text() for path in (podrun.directory / event["capture"]).iterdir()}


@pytest.mark.smoke
def test_silent_hosts_are_looked_at_stopped_and_started_again(podrun, machines):
    run = machines.start(podrun, *STALL, "--outdir", "logs", "--", STUCK_AT_FIRST)
    ended = machines.ended(run)
    assert ended.over == Over("finished", 2, 0)
    assert ended.tries[0].outcomes == {0: "stalled", 1: "stalled"} and ended.tries[0].summary["status"] == 124
    assert ended.causes == [("stalled", [0, 1])] and ended.restarts[0]["counted"] is True
    [stall] = ended.stalls
    assert stall["workers"] == [0, 1] and 2 <= stall["silent_seconds"] < 10 and stall["over"] is False
    shown = captured(podrun, stall)
    assert len(shown) == 2 and all("sleep 1000" in text and "== kernel" in text for text in shown.values()), shown
    assert "podrun: [0,1] silent for 2 s: looking at what they do\n" in ended.stderr
    assert ended.tries[1].shown[0] == [b"up 1 stalled"]


def test_a_command_that_prints_is_not_stuck_while_nobody_reads_podruns_output(podrun, machines):
    """Of a paused pager, Ctrl-S or a window that is gone podrun knows nothing but that it cannot write."""
    command = "echo up; for i in $(seq 80); do printf '%0800d\\n' $i; sleep 0.1; done; touch ~/done"
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    run = machines.start(podrun, "--restarts", "0", "--stall", "2s:0", "--", command, stdout=writing)
    os.close(writing)
    wait_until(lambda: all((machines.homes.home(rank) / "done").exists() for rank in (0, 1)), 60, what="the end of the command")
    with open(reading, "rb") as output:
        events = [json.loads(line) for line in output]
    assert run.wait().returncode == 0
    assert [event for event in events if event["event"] == "stall"] == []
    assert sum(event["event"] == "line" for event in events) == 2 * 81


def test_progress_whose_pieces_come_one_by_one(podrun, machines):
    command = "for i in $(seq 10); do printf 'step '; sleep 0.4; printf '%s\\r' $i; sleep 0.4; done"
    words = ("--restarts", "0", "--stall", "3s:0", "--stall-progress", "step [0-9]+", "--", command)
    ended = machines.ended(machines.start(podrun, *words))
    assert ended.over == Over("finished", 1, 0) and ended.stalls == []


def test_without_restarts_the_run_ends(podrun, machines):
    ended = machines.ended(machines.start(podrun, "--stall", "1s:0", "--", "echo up; exec sleep 1000"))
    assert ended.over == Over("restarts", 1, 124)
    assert "not started again" not in ended.stderr


def test_without_restarts_a_lost_host_ends_the_run(podrun, machines):
    run = machines.start(podrun, "--stall", "100s", "--", "echo up 0 -; exec sleep 1000")
    machines.has_started(run)
    machines.end_logins(1)
    ended = machines.ended(run)
    assert ended.over == Over("restarts", 1, 255) and ended.restarts == ended.waits == []
    refused = podrun("-H", "local", "--stall", "1s", "--final", "3", "--", "true")
    assert refused.returncode == 2 and refused.stderr == b"podrun: --final: it belongs to --restarts N\n"


def test_a_host_that_prints_meanwhile_was_slow(podrun, machines):
    script = podrun.directory / "look.sh"
    script.write_text("#!/bin/bash\ntouch ~/looking; sleep 1.5; echo looked at $# from $PODRUN_WORKER\n")
    command = "echo up; until [ -e ~/looking ]; do sleep 0.1; done; sleep 0.5; echo again; sleep 3"
    ended = machines.ended(machines.start(podrun, "--stall", "2s:1s", "--on-stall", script, "--", command))
    assert ended.over == Over("finished", 1, 0)
    assert [event["over"] for event in ended.stalls] == [True]
    texts = list(captured(podrun, ended.stalls[0]).values())
    assert sorted(re.sub("at [1-9]", "at N", text) for text in texts) == [f"looked at N from {worker}\n" for worker in range(len(texts))]
    assert "printed again meanwhile: slow, not stuck\n" in ended.stderr


def test_a_script_is_not_kept_where_others_can_exchange_it(podrun, pair):
    script = podrun.directory / "look.sh"
    script.write_text("readlink /proc/$$/fd/7\n")
    pair.tmp(0).chmod(0o777)
    pair.tmp(1).chmod(0o1777)
    run = podrun.start(*pair.options, "--json", "--restarts", "0", "--stall", "1s:0", "--on-stall", script, "--", "echo up; exec sleep 1000")
    texts = captured(podrun, wait_for_event(run, "stall"))
    run.wait()
    places = [text for _name, text in sorted(texts.items())]
    assert all(place.endswith("/on-stall (deleted)\n") for place in places), places
    assert not places[0].startswith(f"{pair.tmp(0)}/") and places[1].startswith(f"{pair.tmp(1)}/"), places


def test_no_verdict_without_an_answer_of_all_hosts(podrun, machines):
    script = podrun.directory / "look.sh"
    script.write_text("sleep 3\n")
    run = machines.start(podrun, *STALL, "--on-stall", script, "--orphan-timeout", "5", "--", STUCK_AT_FIRST)
    machines.has_started(run)
    wait_until(lambda: b"looking at what they do" in run.stderr, what="the look")
    machines.end_logins(1)
    ended = machines.ended(run)
    assert ended.over == Over("finished", 2, 0) and ended.causes == [("lost", [1])]
    assert not ended.stalls


def test_a_first_try_may_be_silent_at_its_beginning(podrun, machines):
    ended = machines.ended(machines.start(podrun, "--stall", "1s", "--", "sleep 4; echo up"))
    assert ended.over == Over("finished", 1, 0) and not ended.stalls


def test_a_bar_is_output_and_a_heartbeat_is_no_progress(podrun, machines):
    bar = "i=0; until [ $((i += 1)) = 40 ]; do printf '\\r%s%%' $i; sleep 0.1; done"
    ended = machines.ended(machines.start(podrun, "--stall", "1s:0", "--", bar))
    assert ended.over == Over("finished", 1, 0) and not ended.stalls
    beat = "echo step 1; while :; do echo heartbeat; sleep 0.1; done"
    ended = machines.ended(machines.start(podrun, "--stall", "2s:0", "--stall-progress", "step [0-9]", "--", beat))
    assert ended.over == Over("restarts", 1, 124) and len(ended.stalls) == 1


@pytest.mark.full
@pytest.mark.deadline(200)
def test_a_capture_that_hangs_has_a_limit(podrun, machines):
    script = podrun.directory / "look.sh"
    script.write_text("trap '' TERM INT; echo begun; while :; do sleep 1; done\n")
    run = machines.start(podrun, "--stall", "1s:0", "--on-stall", script, "--", "echo up; exec sleep 1000")
    stall = wait_for_event(run, "stall", 110)
    assert all(text.startswith("begun\n(no end within 90 s)") for text in captured(podrun, stall).values()), captured(podrun, stall)
    assert machines.ended(run).over == Over("restarts", 1, 124)


def test_ctrl_c_during_the_look(podrun, machines):
    script = podrun.directory / "look.sh"
    script.write_text("touch ~/looking; sleep 60\n")
    run = machines.start(podrun, *STALL, "--on-stall", script, "--", STUCK_AT_FIRST)
    wait_until((machines.homes.home(0) / "looking").exists, what="the look")
    run.signal(signal.SIGINT)
    assert machines.ended(run).over == Over("interrupted", 1, 130)
