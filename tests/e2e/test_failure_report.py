"""What is said at the end of a run that went wrong: why, and how to repeat it on just those hosts."""

import shlex
import signal
import subprocess

import pytest

from support import limit, wait_until

FOUR = ["-H", "local[0-3]"]
FAILS_LATER = "for i in $(seq 30); do echo step $i; done; [ $PODRUN_WORKER != 2 ] || { echo first >&2; echo 'boom\x1b[31m' >&2; exit 3; }"
# Host 2 says its last words, then the others have so much to say that these are out of sight.
OUT_OF_SIGHT = "[ $PODRUN_WORKER = 2 ] && { echo boom >&2; touch %s; exit 3; }; while ! [ -e %s ]; do sleep 0.02; done; seq 20"


def report(ended):
    return ended.stderr.decode().splitlines()


# The wording of each outcome, to the letter and nowhere else: other tests read `--json` (events.py).

THREE = ("-H", "local[0-2]")
WORDING = {
    "exit status": (THREE, "exit $PODRUN_WORKER", """\
podrun: 1 ok · 2 failed
podrun: exit 1: [1] local1
podrun: exit 2: [2] local2
podrun: retry on just these: podrun --workers 1,2 COMMAND
"""),
    "killed command": (THREE, "kill -KILL $$", """\
podrun: exit 137 (SIGKILL): [0-2]
"""),
    "time-out": ((*THREE, "-u", "4", "--grace", "1"), "[ $PODRUN_WORKER != 1 ] || exec sleep 100", """\
podrun: 2 ok · 1 timed out
podrun: timed out after 4 s: [1] local1
podrun: retry on just these: podrun --workers 1 COMMAND
"""),
    "fail-fast": ((*THREE, "-k", "--grace", "1"), "[ $PODRUN_WORKER != 1 ] || exit 7; exec sleep 100", """\
podrun: 1 failed · 2 stopped by podrun
podrun: exit 7: [1] local1
podrun: [1] local1 failed first (exit 7), so podrun stopped [0,2]
"""),
    "later batches": ((*THREE, "--serial", "2"), "[ $PODRUN_WORKER != 1 ] || exit 5", """\
podrun: 1 ok · 1 failed · 1 not started
podrun: exit 5: [1] local1
podrun: retry on just these: podrun --workers 1,2 COMMAND
"""),
    "unreachable": (("-H", "local,127.0.0.1:129", "--retries", "0"), "true", """\
podrun: 1 unreachable · 1 not started
podrun: unreachable: [1] 127.0.0.1: connecting: connection refused at port 129
podrun: nothing was started on any host (--skip-unreachable runs on the others)
"""),
    "unreachable hosts": (("-H", "127.0.0.1:129,127.0.0.2:129", "--retries", "0"), "true", """\
podrun: unreachable: [0,1] connecting: connection refused at port 129
podrun: nothing was started on any host
"""),
    "skipped": (("-H", "local,127.0.0.1:129", "--retries", "1", "--skip-unreachable"), "true", """\
podrun: 1 ok · 1 unreachable
podrun: unreachable: [1] 127.0.0.1: connecting: connection refused at port 129 (2 attempts)
podrun: retry on just these: podrun --workers 1 COMMAND
"""),
    "not ready": ((*THREE, "--chdir", "/no/such/directory"), "true", """\
podrun: not ready: [0-2] working directory: no such directory "/no/such/directory"
podrun: nothing was started on any host
"""),
    "last lines": ((*THREE, "-0"), "echo out; [ $PODRUN_WORKER = 0 ] || { echo boom >&2; exit 3; }", """\
podrun: 1 ok · 2 failed
podrun: exit 3: [1,2]
podrun: last lines of [1,2] (exit 3):
    boom
podrun: retry on just these: podrun --workers 1,2 COMMAND
"""),
}  # fmt: skip


def wording(ended, command=None):
    """All of standard error but the hosts' own lines, with COMMAND for what was given to podrun."""
    lines = [line for line in ended.stderr.decode().splitlines(keepends=True) if line.startswith(("podrun: ", "    "))]
    return "".join(lines).replace(command or "\0", "COMMAND")


@pytest.mark.parametrize("outcome", WORDING)
def test_the_wording_of_an_outcome(podrun, outcome):
    options, command, expected = WORDING[outcome]
    words = [*options, "--", command]
    assert wording(podrun(*words), shlex.join(words)) == expected


def test_the_wording_of_a_signal_that_the_server_names(podrun, pod, fault):
    server = fault("--authorized-keys", pod.directory / "authorized_keys", "runs-until-a-signal").address
    assert wording(podrun("-q", "-H", server, "--", "true")) == f"podrun: killed by SIGTERM: [0] {server.partition(':')[0]}\n"


def test_the_wording_of_a_host_that_is_lost(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[0], "proxy", addresses=["127.0.0.98", "127.0.0.99"])  # so that they are lost together
    go_on = podrun.directory / "go-on"
    hosts = ",".join([*proxy.addresses, pod.addresses[2]])
    words = ["-q", "-H", hosts, "--", f"echo up; until [ -e {go_on} ]; do sleep 0.1; done"]
    run = podrun.start(*words)
    run.wait_for_output(b": up\n", count=3)
    proxy.tell("cut")
    lost = "podrun: lost: [0,1] connection: connection reset by peer\n"
    wait_until(lambda: run.stderr.decode() == lost, what="told of")
    go_on.touch()
    assert wording(run.wait(), shlex.join(words)) == lost + """\
podrun: 1 ok · 2 lost
podrun: lost: [0,1] connection: connection reset by peer
podrun: retry on just these: podrun --workers 0,1 COMMAND
"""


def test_a_program_that_would_wait_for_a_terminal_is_named_once(podrun):
    warned = podrun("-H", "local[0-3]", "--", "vi() { :; }; vi").stderr
    assert warned == b"podrun: vi needs a terminal: podrun -H 'local[0-3]' ssh 0 (Ctrl-C twice stops it here)\n"


def test_the_wording_of_an_interrupted_run(podrun):
    command = "trap 'echo INT' INT; echo up; while :; do sleep 0.1; done"
    run = podrun.start("-H", "local[0-1]", "--grace", "1", "--", "sh", "-c", command)
    run.wait_for_output(b": up\n", count=2)
    run.signal(signal.SIGINT)
    run.wait_for_output(b": INT\n", count=2)
    run.signal(signal.SIGINT)
    assert wording(run.wait()) == """\
podrun: interrupted 2 hosts (Ctrl-C again: TERM, and KILL after 1 s)
podrun: stopping 2 hosts: TERM, and KILL after 1 s (Ctrl-C again: exit at once)
podrun: 2 stopped by podrun
podrun: interrupted (SIGINT)
"""



def test_last_lines_of_a_failure_that_is_out_of_sight(podrun):
    mark = podrun.directory / "mark"
    ended = podrun(*FOUR, "--", OUT_OF_SIGHT % (mark, mark))
    lines = report(ended)
    assert lines[:2] == ["2: boom", "podrun: 3 ok · 1 failed"]
    assert lines[3:5] == ["podrun: last lines of [2] (exit 3):", "    boom"]


def test_last_lines_that_are_still_seen_are_not_repeated(podrun):
    ended = podrun(*FOUR, "--", "[ $PODRUN_WORKER != 2 ] || { echo boom >&2; exit 3; }")
    assert not any("last lines" in line for line in report(ended))


@pytest.mark.smoke
def test_rank0_shows_the_first_host_and_the_last_lines_of_failures(podrun):
    ended = podrun(*FOUR, "-0", "--", FAILS_LATER)
    assert ended.stdout.decode().splitlines() == [f"0: step {i}" for i in range(1, 31)]
    assert report(ended)[:5] == ["podrun: 3 ok · 1 failed", "podrun: exit 3: [2] local2", "podrun: last lines of [2] (exit 3):", "    first", "    boom\\x1b[31m"]
    assert ended.returncode == 3


def test_rank0_without_a_label_is_what_the_first_host_prints(podrun):
    assert podrun.ok(*FOUR, "-0N", "--", "printf 'a\\0b\\r%s' $PODRUN_RANK") == b"a\0b\r0"
    assert podrun.ok("-H", "local[0-3]", "-x", "local0", "-0", "--", "echo $PODRUN_RANK") == b"1: 0\n"


AGAIN = "podrun: retry on just these: "


def again(ended):
    return ended.stderr.decode().partition(AGAIN)[2].rstrip("\n")


@pytest.mark.parametrize("ranks", [["--ranks=1-3"], ["--workers", "1-3"], ["-Hlocal[0-3]", "--allow-repeats", "-oLogLevel=none", "--worker", "1-3"]])
def test_the_repeat_command_repeats_on_those_hosts(podrun, ranks):
    flag = podrun.directory / "it's mended"
    hosts = FOUR if not ranks[0].startswith("-H") else []
    ended = podrun(*hosts, *ranks, "--", "sh", "-c", '[ -e "$1" ] ||\n [ $PODRUN_WORKER = 1 ] || exit 3; echo fine', "sh", flag)
    words = shlex.split(again(ended))
    assert words[:3] == ["podrun", "--workers", "2,3"]
    flag.touch()
    mended = subprocess.run([podrun.binary, *words[1:]], env=podrun.env, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=limit(60))
    assert sorted(mended.stdout.splitlines()) == [b"2: fine", b"3: fine"]


@pytest.mark.parametrize(
    "options, command, ranks",
    [
        (["--serial", "1"], "test $PODRUN_WORKER = 0", "1-3"),
        (["-k", "--grace", "1"], "case $PODRUN_WORKER in 0) exit 0;; 1) sleep 0.5; exit 3;; esac; sleep 100", "1-3"),
    ],
    ids=["later batches", "stopped by podrun"],
)
def test_the_repeat_command_names_every_host_that_has_not_succeeded(podrun, options, command, ranks):
    ended = podrun(*FOUR, *options, "--", command)
    assert shlex.split(again(ended))[:3] == ["podrun", "--workers", ranks]


FAILS = "test $PODRUN_WORKER = 0"


@pytest.mark.parametrize(
    "words",
    [
        ["-e", "A=secret", "--", FAILS],
        ["-veA=secret", "--", FAILS],
        ["-lme", "--env=A=secret", "--", FAILS],
        ["--", "A=secret", "sh", "-c", FAILS],
        ["--", f" A=secret;{FAILS}"],
        ["--", f"export A=secret; {FAILS}"],
        ["-I", "--", FAILS],
        ["--", f"{FAILS} # \x1b"],
    ],
)
def test_what_the_command_line_does_not_make_is_not_repeated(podrun, words):
    ended = podrun("-H", "local[0-1]", *words)
    assert again(ended) == "the same command with --workers 1"
    assert b"secret" not in ended.stderr


def test_text_from_standard_input_is_not_repeated(podrun):
    assert again(podrun("-H", "local[0-1]", input=FAILS.encode())) == "the same command with --workers 1"


@pytest.mark.parametrize("name", ["PODRUN_RANK", "PODRUN_NUM_HOSTS", "PODRUN_HOST0", "PODRUN_ADDRESSES"])
def test_a_command_that_uses_ranks_is_not_repeated_on_some_hosts(podrun, name):
    """It would be another command there."""
    ended = podrun("-H", "local[0-1]", "--", f'echo "${name}"; test $PODRUN_WORKER = 0')
    assert ended.returncode == 1 and AGAIN not in ended.stderr.decode()


def test_the_last_lines_name_all_hosts_that_failed_alike(podrun):
    ended = podrun("-H", "local[0-19]", "--", "echo boom >&2; [ $PODRUN_WORKER = 0 ]")
    assert "podrun: last lines of [1-19] (exit 1):" in report(ended)


def test_what_was_interrupted_needs_no_reason(podrun):
    run = podrun.start(*FOUR, "-0v", "--", f"echo up {podrun.directory}; [ $PODRUN_WORKER != 2 ] || exit 3; sleep 100")
    run.wait_for_output(b"0: up")
    wait_until(lambda: b": exit 3\n" in run.stderr)
    run.signal(signal.SIGINT)
    lines = report(run.wait())
    assert [line for line in lines if "last lines" in line] == ["podrun: last lines of [2] (exit 3):"]
    assert not any("again on" in line for line in lines)


def test_nothing_to_repeat(podrun):
    for command in ("exit 1", "true"):
        assert b"again on" not in podrun(*FOUR, "--", command).stderr
    ended = podrun("-H", "local0", "--", "exit 1")
    assert report(ended) == ["podrun: exit 1: [0] local0"]


def test_the_summary_is_ascii_where_the_locale_is(podrun):
    ended = podrun("-H", "local[0-1]", "--", "exit $PODRUN_WORKER", env={"LC_ALL": "C"})
    assert report(ended)[0] == "podrun: 1 ok | 1 failed"


def test_the_locale_alters_no_word_of_the_user_or_a_host(podrun):
    ended = podrun("-H", "local[0-1]", "-0", "--", "echo 'a · b'; exit $PODRUN_WORKER", env={"LC_ALL": "C"})
    assert report(ended)[2:4] == ["podrun: last lines of [1] (exit 1):", "    a · b"]
    assert "a · b" in again(ended)
