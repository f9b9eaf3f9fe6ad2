"""What is said at the end of a run that went wrong: why, and how to repeat it on just those hosts."""

import shlex
import signal
import subprocess

import pytest

from support import limit, wait_until

FOUR = ["-H", "local[0-3]"]
FAILS_LATER = "for i in $(seq 30); do echo step $i; done; [ $PODRUN_RANK != 2 ] || { echo first >&2; echo 'boom\x1b[31m' >&2; exit 3; }"
# Host 2 says its last words, then the others have so much to say that these are out of sight.
OUT_OF_SIGHT = "[ $PODRUN_RANK = 2 ] && { echo boom >&2; touch %s; exit 3; }; while ! [ -e %s ]; do sleep 0.02; done; seq 20"


def report(ended):
    return ended.stderr.decode().splitlines()


def test_last_lines_of_a_failure_that_is_out_of_sight(podrun):
    mark = podrun.directory / "mark"
    ended = podrun(*FOUR, "--", OUT_OF_SIGHT % (mark, mark))
    lines = report(ended)
    assert lines[:2] == ["2: boom", "podrun: ok 3 · exit 3: [2]"]
    assert lines[2:4] == ["podrun: last lines of [2] (exit 3):", "    boom"]


def test_last_lines_that_are_still_seen_are_not_repeated(podrun):
    ended = podrun(*FOUR, "--", "[ $PODRUN_RANK != 2 ] || { echo boom >&2; exit 3; }")
    assert not any("last lines" in line for line in report(ended))


@pytest.mark.smoke
def test_rank0_shows_the_first_host_and_the_last_lines_of_failures(podrun):
    ended = podrun(*FOUR, "-0", "--", FAILS_LATER)
    assert ended.stdout.decode().splitlines() == [f"0: step {i}" for i in range(1, 31)]
    assert report(ended)[:4] == ["podrun: ok 3 · exit 3: [2]", "podrun: last lines of [2] (exit 3):", "    first", "    boom\\x1b[31m"]
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


FAILS = "test $PODRUN_RANK = 0"


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


def test_the_last_lines_name_all_hosts_that_failed_alike(podrun):
    ended = podrun("-H", "local[0-19]", "--", "echo boom >&2; [ $PODRUN_RANK = 0 ]")
    assert "podrun: last lines of [1-19] (exit 1):" in report(ended)


def test_what_was_interrupted_needs_no_reason(podrun):
    run = podrun.start(*FOUR, "-0v", "--", f"echo up {podrun.directory}; [ $PODRUN_RANK != 2 ] || exit 3; sleep 100")
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
    assert report(ended) == ["podrun: exit 1: [0]"]


def test_the_summary_is_ascii_where_the_locale_is(podrun):
    ended = podrun("-H", "local[0-1]", "--", "exit $PODRUN_RANK", env={"LC_ALL": "C"})
    assert report(ended)[0] == "podrun: ok 1 | exit 1: [1]"


def test_the_locale_alters_no_word_of_the_user_or_a_host(podrun):
    ended = podrun("-H", "local[0-1]", "-0", "--", "echo 'a · b'; exit $PODRUN_RANK", env={"LC_ALL": "C"})
    assert report(ended)[1:3] == ["podrun: last lines of [1] (exit 1):", "    a · b"]
    assert "a · b" in again(ended)
