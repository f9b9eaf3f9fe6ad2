"""podrun --restarts when the command fails: what is counted, what is final, and what surrounds a try. A failure costs 10 s at least, so
all runs go on at the same time."""

import json
import re
import signal

import pytest

from events import SCHEMA
from homes import homes_of_pod
from restarts import LOCKED, OPTIONS, Over, Restarted, check_tries, meeting, wait_for_event, without_times
from support import Podrun, limit, marked_processes, wait_until

FAILS_ONCE = '[ "$PODRUN_RESTART" != 0 ] || { sleep 2; exit 1; }'
FAILS_ONCE_ON_1 = '[ "$PODRUN_RESTART" != 0 ] || { sleep 2; [ $PODRUN_RANK = 0 ] || exit 1; sleep 1000; }'
TASK = f"""\
name: train
setup: echo set up
run: |
  echo "up $PODRUN_RESTART $SKYPILOT_TASK_ID"
  {FAILS_ONCE}
"""

# All runs stop their hosts at about the same time: podrun waits for the grace period and 5 s, which are not enough on a busy machine.
PATIENT_OPTIONS = (*OPTIONS, "--grace", "15")
# Each run: its options, its command.
ALWAYS = (["--restarts", "1"], "sleep 2; [ $PODRUN_RANK = 0 ] || exit 1; sleep 1000")
AT_ONCE = (["--restarts", "3", "--short-try", "1m"], "exit 1")
CRASHES = (["--restarts", "9", "--short-try", "10s", ], '[ "$PODRUN_RESTART" != 0 ] || sleep 9; sleep 2; exit 1')
ENDS_PARTLY = "[ $PODRUN_RESTART != 0 ] || [ $PODRUN_RANK = 0 ] || { sleep 2; exit 134; }"
IGNORES_TERM = '[ "$PODRUN_RESTART" != 0 ] || { [ $PODRUN_RANK = 0 ] && sleep 2 && exit 1; trap "" TERM; setsid sleep 1000 & while :; do sleep 0.1; done; }'
ROWS = {
    "always": ALWAYS,
    "at once": AT_ONCE,
    "crashes": CRASHES,
    "ends partly": (["--restarts", "3"], ENDS_PARTLY),
    "exit 93": (["--restarts", "3"], "sleep 2; exit 93"),
    "--final": (["--restarts", "3", "--final", "5,6"], "sleep 2; exit 5"),
    "ignores TERM": (["--restarts", "1", "--grace", "3"], IGNORES_TERM),
    "-u over two tries": (["--restarts", "3", "-u", "40s"], f"{FAILS_ONCE}; sleep 1000"),
    "-u in the back-off": (["--restarts", "3", "-u", "11s"], FAILS_ONCE),
    "--prepare": (
        ["--restarts", "1", "--prepare", 'echo "$PODRUN_RESTART $PODRUN_RESTART_CAUSE $PODRUN_JOB_ID" >>prepared'],
        FAILS_ONCE,
    ),
    "--prepare fails": (["--restarts", "1", "--prepare", "exit 3"], FAILS_ONCE),
    "Ctrl-C in the back-off": (["--restarts", "1"], FAILS_ONCE),
    "Ctrl-C in --prepare": (["--restarts", "1", "--prepare", "touch preparing; IN=$PWD/preparing sleep 1000"], FAILS_ONCE),
    "--outdir": (["--restarts", "1", "--outdir", "raw"], f"echo more >&2; {FAILS_ONCE}"),
}
PLAIN = {"plain": [], "-q": ["-q"]}


@pytest.fixture(scope="module")
def runs(pods, tmp_path_factory):
    """The runs by name, and where they run."""
    directory = tmp_path_factory.mktemp("restarts")
    podrun = Podrun(directory)
    with homes_of_pod(pods, podrun, hosts=2) as homes:
        runs = Runs(podrun, homes)
        yield runs
        runs.end()


class Runs:
    def __init__(self, podrun, homes):
        self.podrun = podrun
        self.homes = homes
        self._running = {}
        meet = meeting(podrun.directory, hosts=2)
        for name, (options, command) in ROWS.items():
            self._running[name] = podrun.start("--json", *homes.options, *PATIENT_OPTIONS, *options, "--", LOCKED + meet + command)
        for name, options in PLAIN.items():
            self._running[name] = podrun.start(*homes.options, *PATIENT_OPTIONS, "--restarts", "1", *options, "--", f"{meet}echo $PODRUN_RESTART\n{FAILS_ONCE_ON_1}")
        task = podrun.directory / "task.yaml"
        task.write_text(TASK)
        self._running["launch"] = podrun.start("--json", *homes.options, *PATIENT_OPTIONS, "--restarts", "1", "--notify", f"cat >{podrun.directory}/told", "launch", task)

    def __getitem__(self, name):
        return self._running[name]

    def ended(self, name):
        return Restarted(self[name].wait(90))

    def end(self):
        for run in self._running.values():
            run.process.kill()
            run.process.wait(limit(10))


# What is counted


def test_ctrl_c_in_the_back_off(runs):
    run = runs["Ctrl-C in the back-off"]
    wait_for_event(run, "restart")
    run.signal(signal.SIGINT)
    assert runs.ended("Ctrl-C in the back-off").over == Over("interrupted", 1, 130)


@pytest.mark.smoke
def test_a_first_try_that_fails_at_once_is_the_last(runs):
    ended = runs.ended("at once")
    assert ended.over == Over("first_try", 1, 1) and ended.restarts == []
    assert "podrun: not started again: it has never run for 1 min (--short-try)\n" in ended.stderr


def test_all_restarts_are_used(runs):
    ended = runs.ended("always")
    assert ended.over == Over("restarts", 2, 1)
    assert ended.causes == [("exit", [1])]
    assert ended.restarts[0]["first"] == {"worker": 1, "outcome": "exited", "status": 1}
    assert ended.restarts[0]["counted"] is True and ended.restarts[0]["left"] == 0
    assert ended.tries[0].shown == {rank: [b"up 0 "] for rank in (0, 1)}
    assert ended.tries[1].shown == {rank: [b"up 1 exit"] for rank in (0, 1)}
    assert [each.summary.get("final") for each in ended.tries] == [False, False]
    assert [each.outcomes for each in ended.tries] == [{0: "stopped", 1: "exited"}] * 2
    assert "podrun: not started again: it failed again after 1 restart without a try of 1 h (--restarts 1)\n" in ended.stderr


@pytest.mark.deadline(120)
def test_three_short_tries_are_a_crash_loop(runs):
    ended = runs.ended("crashes")
    assert ended.over == Over("crash_loop", 4, 1)
    assert "podrun: not started again: 3 tries in a row failed within 10 s\n" in ended.stderr


# What is final


def test_a_host_that_has_ended_with_0_is_done(runs):
    ended = runs.ended("ends partly")
    assert ended.over == Over("partly_finished", 1, 134) and ended.tries[0].summary["final"] is False
    assert "podrun: not started again: [0] ended with exit 0: the command is done there\n" in ended.stderr


@pytest.mark.parametrize("name, status", [("exit 93", 93), ("--final", 5)])
def test_a_final_status(runs, name, status):
    ended = runs.ended(name)
    assert ended.over == Over("final_status", 1, status)
    assert "podrun: not started again: its exit status is final (--final)\n" in ended.stderr


def test_the_time_limit_is_for_all_tries_together(runs):
    ended = runs.ended("-u over two tries")
    assert ended.over == Over("timed_out", 2, 124)
    assert ended.tries[1].outcomes == {0: "timed_out", 1: "timed_out"}
    assert ended.tries[1].exits[0]["limit_seconds"] < 30


def test_no_back_off_goes_beyond_the_time_limit(runs):
    ended = runs.ended("-u in the back-off")
    assert ended.over.reason == "timed_out" and ended.over.tries == 1 and ended.restarts == []
    assert ended.over.status in (124, 1)  # 1 if a busy machine let the time pass before the try had ended
    assert "podrun: not started again: --timeout is over\n" in ended.stderr


# Around a try


def test_a_command_that_ignores_term_is_killed_first(runs):
    ended = runs.ended("ignores TERM")
    assert ended.over == Over("finished", 2, 0)
    # Lost where a busy machine took longer to kill it than podrun waits.
    assert ended.causes == ([("lost", [1])] if ended.tries[0].outcomes[1] == "lost" else [("exit", [0])])


def test_prepare_runs_here_before_each_restart(runs):
    ended = runs.ended("--prepare")
    assert ended.over == Over("finished", 2, 0)
    assert (runs.podrun.directory / "prepared").read_text() == f"1 exit {ended.tries[0].start['job_id']}\n"


def test_prepare_that_fails_gives_up(runs):
    ended = runs.ended("--prepare fails")
    assert ended.over == Over("prepare", 1, 1)
    assert "podrun: --prepare: exit 3\npodrun: not started again: --prepare failed\n" in ended.stderr


def test_ctrl_c_ends_prepare(runs):
    run = runs["Ctrl-C in --prepare"]
    wait_for_event(run, "restart")
    wait_until((runs.podrun.directory / "preparing").exists, 20, "--prepare")
    run.signal(signal.SIGINT)
    assert runs.ended("Ctrl-C in --prepare").over == Over("interrupted", 1, 130)
    assert marked_processes(runs.podrun.directory / "preparing") == []


def test_files_of_outdir_go_on(runs):
    ended = runs.ended("--outdir")
    raw = runs.podrun.directory / "raw"
    for rank, address in enumerate(runs.homes.pod.hosts):
        name = f"{rank}-{address}"
        assert (raw / f"{name}.out").read_bytes() == b"up 0 \nup 1 exit\n"
        assert (raw / f"{name}.err").read_bytes() == b"more\nmore\n"
    first, second = map(json.loads, (raw / "tries.jsonl").read_text().splitlines())
    assert [first["restart"], second["restart"]] == [0, 1]
    assert [each["run_id"] for each in (first, second)] == [each.start["run_id"] for each in ended.tries]
    assert all(size == 0 for size in first["offsets"].values())
    assert second["offsets"] == {
        f"{rank}-{address}.{stream}": size for rank, address in enumerate(runs.homes.pod.hosts) for stream, size in (("out", 6), ("err", 5))
    }


def test_the_run_of_a_task_starts_again(runs):
    ended = runs["launch"].wait(60)
    assert ended.returncode == 0, ended
    assert ended.stderr.startswith(b"podrun: setup\npodrun: run\n")
    all_events = [json.loads(line) for line in ended.stdout.splitlines()]
    for event in all_events:
        SCHEMA.validate(event)
    assert [event.get("restart") for event in all_events if event["event"] == "start"] == [None, 0, 1]
    words = [event["text"].split() for event in all_events if event["event"] == "line" and event["text"].startswith("up")]
    assert sorted(number for _, number, _ in words) == ["0", "0", "1", "1"]
    assert len({task for _, _, task in words}) == 1
    assert all_events[-1]["event"] == "over" and all_events[-1]["reason"] == "finished"
    told = json.loads((runs.podrun.directory / "told").read_text())
    assert (told["event"], told["job"], told["reason"], told["tries"]) == ("done", "train", "finished", 2)


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_said(runs, name):
    ended = runs[name].wait(60)
    assert ended.returncode == 0
    assert sorted(ended.stdout.splitlines()) == [b"0: 0", b"0: 1", b"1: 0", b"1: 1"]
    failed = [
        "podrun: 1 failed · 1 stopped by podrun",
        f"podrun: exit 1: [1] {runs.homes.pod.hosts[1]}",
        f"podrun: [1] {runs.homes.pod.hosts[1]} failed first (exit 1), so podrun stopped [0]",
    ]
    restarted = ["podrun: starting again in 10 s: try 2, 0 of 1 restart left", "podrun: try 2 runs on 2 hosts", "podrun: done with try 2"]
    said = ended.stderr.decode()
    assert len(re.findall(r"\(20\d\d-.*\)$", said, re.MULTILINE)) == (0 if name == "-q" else 2)
    assert without_times(said).splitlines() == failed + ([] if name == "-q" else restarted)


@pytest.mark.deadline(150)
def test_no_host_has_run_two_tries(runs):
    for name in [*ROWS, *PLAIN, "launch"]:
        runs[name].wait(90)
    check_tries(runs.homes)


@pytest.mark.parametrize(
    "options, reason",
    [
        (["--serial", "1"], "--restarts and --serial exclude each other"),
        (["--skip-unreachable"], "--restarts and --skip-unreachable exclude each other"),
        (["-I"], "--restarts and --stdin exclude each other"),
        (["--final", "300"], "--final: "),
    ],
)
def test_what_contradicts_restarts_is_refused(podrun, options, reason):
    refused = podrun("-H", "127.0.0.1:129", "--restarts", "1", *options, "--", "true")
    assert refused.returncode == 2 and refused.stdout == b"" and reason in refused.stderr.decode(), refused


def test_options_without_restarts(podrun):
    refused = podrun("-H", "127.0.0.1:129", "--prepare", "true", "--", "true")
    assert refused.returncode == 2 and re.match(rb"podrun: --prepare: it belongs to --restarts N\n", refused.stderr), refused


def test_a_dry_run_shows_restarts(podrun):
    shown = podrun("-H", "127.0.0.1:129", "--dry-run", "--restarts", "4", "--stall", "20m", "--", "true").stdout.decode().splitlines()
    assert shown[:2] == ["restarts: at most 4 in a row, waiting for hosts for 1 h", "stalled: all hosts are silent for 20 min"]


def test_a_detached_launch_is_refused(podrun):
    task = podrun.directory / "task.yaml"
    task.write_text(TASK)
    refused = podrun("-H", "127.0.0.1:129", "--restarts", "1", "--detach", "launch", task)
    assert refused.returncode == 2 and b"--restarts and --detach exclude each other" in refused.stderr, refused
