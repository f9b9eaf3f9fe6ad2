"""Manual, "How output looks": labels, streams, exact bytes, slow and closed readers, colour."""

import os
import re
import subprocess
import time

import pytest

from support import SANITIZED, by_rank, limit, peak_memory, read_slowly, sha256, stand_still, wait_until

ONE = ("-N", "-H", "local")
FOUR = ("-H", "local[0-3]")


# Labels


@pytest.mark.smoke
def test_every_line_carries_its_rank(podrun):
    assert sorted(podrun.ok(*FOUR, "--", "echo a; echo b").splitlines()) == [b"%d: %s" % (rank, text) for rank in range(4) for text in (b"a", b"b")]


def test_label_kinds(podrun):
    options = ["--via", "env REACHED={host}", "-H", "tpu-7"]
    assert podrun.ok(*options, "--label", "worker", "--", "echo", "hi") == b"0: hi\n"
    assert podrun.ok(*options, "--label", "host", "--", "echo", "hi") == b"tpu-7: hi\n"
    assert podrun.ok(*options, "--label", "none", "--", "echo", "hi") == b"hi\n"
    assert podrun.ok(*options, "-N", "--", "echo", "hi") == b"hi\n"
    both = podrun.ok(*options, "--label", "both", "--", "echo", "hi")
    assert both.endswith(b": hi\n") and b"0" in both.partition(b": ")[0] and b"tpu-7" in both


def test_streams_stay_apart(podrun):
    ended = podrun("-H", "local[0-1]", "--", "echo out; echo err >&2")
    assert sorted(ended.stdout.splitlines()) == [b"0: out", b"1: out"]
    assert sorted(ended.stderr.splitlines()) == [b"0: err", b"1: err"]


def test_nothing_is_said_when_all_is_well(podrun):
    assert podrun(*FOUR, "--", "true").stderr == b""


def test_blank_lines_and_the_order_of_a_host_are_kept(podrun):
    shown = by_rank(podrun.ok(*FOUR, "--", 'echo; seq 20000 | sed "s/$/ of $PODRUN_RANK/"; echo'))
    for rank in range(4):
        assert shown[rank] == [b"", *(b"%d of %d" % (number, rank) for number in range(1, 20001)), b""]


def test_lines_of_many_hosts_never_mix(podrun):
    command = "i=0; while [ $i -lt 500 ]; do printf '<'; printf '%s' $PODRUN_RANK $PODRUN_RANK; printf '>\\n'; i=$((i+1)); done"
    assert by_rank(podrun.ok(*FOUR, "--", command)) == {rank: [b"<%d%d>" % (rank, rank)] * 500 for rank in range(4)}


def test_a_last_line_without_its_end_stays_a_line(podrun):
    shown = podrun.ok(*FOUR, "--", "printf x")
    assert sorted(shown.splitlines()) == [b"0: x", b"1: x", b"2: x", b"3: x"]


def test_a_line_is_shown_as_soon_as_it_is_complete(podrun):
    go_on = podrun.directory / "go-on"
    run = podrun.start(*FOUR, "--", f"echo first; until [ -e '{go_on}' ]; do sleep 0.05; done")
    run.wait_for_output(b": first\n", count=4)
    go_on.touch()
    assert run.wait().returncode == 0


def test_output_without_its_line_end_reaches_an_unlabelled_reader_at_once(podrun):
    go_on = podrun.directory / "go-on"
    run = podrun.start(*ONE, "--", f"printf 'Password: '; until [ -e '{go_on}' ]; do sleep 0.05; done")
    run.wait_for_output(b"Password: ")
    go_on.touch()
    assert run.wait().stdout == b"Password: "


# Bytes: what `podrun -N -H local -- command` prints is what the command prints


def same_as_directly(podrun, *command):
    """Runs the command with podrun and directly, and compares both streams."""
    run = podrun.start(*ONE, "--", *command)
    ended = run.wait(seconds=60)
    directly = subprocess.run(command, capture_output=True, check=False)
    assert ended.returncode == directly.returncode
    assert len(ended.stdout) == len(directly.stdout)
    assert sha256(ended.stdout) == sha256(directly.stdout)
    assert sha256(ended.stderr) == sha256(directly.stderr)
    return ended


def python(program):
    return ("/usr/bin/python3", "-c", f"import random, sys\nout, err = sys.stdout.buffer, sys.stderr.buffer\n{program}")


def test_random_bytes_are_exact(podrun):
    ended = same_as_directly(podrun, *python("out.write(random.Random(1).randbytes(20_000_000))"))
    assert len(ended.stdout) == 20_000_000


def test_64_mb_without_a_line_end_are_exact(podrun):
    ended = same_as_directly(podrun, *python("out.write(b'x' * 64_000_000)"))
    assert len(ended.stdout) == 64_000_000


@pytest.mark.smoke
def test_both_streams_are_exact(podrun):
    program = "r = random.Random(2)\nfor _ in range(300): out.write(r.randbytes(r.randrange(9000))); err.write(r.randbytes(r.randrange(9000)))"
    same_as_directly(podrun, *python(program))


@pytest.mark.parametrize(
    "data",
    [b"ab\0cd\0\n\0", b"a\rb\rc\n", b"10%\r50%\r100%\r\n\r\r", "é€😀\n".encode() * 3, b"\xff\xfe\xc3\n\xc3", b"no end", b"\n\n\n", b"\x1b[31mred\x1b[0m\n", b""],
    ids=repr,
)
def test_pieces_of_one_byte_are_exact(podrun, data):
    program = f"import os, time\nfor byte in {data!r}: os.write(1, bytes([byte])); time.sleep(0.002)"
    assert same_as_directly(podrun, *python(program)).stdout == data
    if b"\r" not in data and data.endswith(b"\n"):
        labelled = podrun.ok("-H", "local", "--", *python(program))
        assert labelled == b"".join(b"0: " + line + b"\n" for line in data[:-1].split(b"\n"))


def test_what_is_printed_right_before_the_end_arrives(podrun):
    assert len(podrun(*ONE, "--", "head -c 300000 /dev/zero; kill -KILL $$").stdout) == 300_000


def test_a_line_of_400_kb_stays_one_line(podrun):
    assert by_rank(podrun.ok(*FOUR, "--", *python("out.write(b'x' * 421_083 + b'\\n')"))) == {rank: [b"x" * 421_083] for rank in range(4)}


def test_a_line_over_1_mib_is_shown_in_labelled_pieces_and_that_is_said(podrun):
    ended = podrun("-H", "local", "--", *python("out.write(b'Z' * 3_000_000 + b'\\n')"))
    assert ended.returncode == 0
    pieces = by_rank(ended.stdout)[0]
    assert len(pieces) >= 3
    assert sum(piece.count(b"Z") for piece in pieces) == 3_000_000
    assert all(piece.count(b"Z") <= 1 << 20 for piece in pieces)
    assert b"1 MiB" in ended.stdout + ended.stderr


# Readers


@pytest.mark.skipif(SANITIZED, reason="sanitizers have their own idea of memory")
def test_a_slow_reader_slows_the_hosts_down_and_memory_stays_bounded(podrun):
    line = "x" * 99
    reader, writer = os.pipe()
    run = podrun.start("-H", "local[0-19]", "--grace", "1", "--", f"yes $PODRUN_RANK{line}", stdout=writer)
    os.close(writer)
    read_slowly(reader, 5_000_000)
    assert peak_memory(run.pid) < 100e6
    os.close(reader)
    assert run.wait().returncode == 141


def test_a_slow_reader_loses_nothing(podrun):
    run = podrun.start(*FOUR, "--", "seq 100000", stdout=subprocess.PIPE)
    wait_until(lambda: stand_still([run.pid]), what="the pipe full, the hosts paused")
    shown = by_rank(run.process.stdout.read())
    assert run.wait().returncode == 0
    assert shown == {rank: [b"%d" % number for number in range(1, 100001)] for rank in range(4)}


@pytest.mark.smoke
def test_a_closed_reader_ends_the_run(podrun):
    run = podrun.start(*FOUR, "--grace", "1", "--", f"echo {podrun.directory}; exec yes", stdout=subprocess.PIPE)
    assert run.process.stdout.readline().endswith(os.fsencode(podrun.directory) + b"\n")
    run.process.stdout.close()
    assert run.wait(seconds=10).returncode == 141  # that nothing is left is seen at the end of every test


def test_a_reader_that_goes_between_two_tries_ends_them(podrun):
    reader, writer = os.pipe()
    run = podrun.start(*ONE, "--restarts", "3", "--short-try", "1s", "--", "sleep 1.2; exit 3", stdout=writer)
    os.close(writer)
    wait_until(lambda: b"podrun: starting again in " in run.stderr, what="the pause")
    os.close(reader)
    assert run.wait(seconds=10).returncode == 141


@pytest.mark.parametrize("words", [("-H", "local", "hosts"), ("help",), ("version",)])
def test_an_answer_that_nobody_reads_is_told_by_the_status(podrun, words):
    reader, writer = os.pipe()
    os.close(reader)
    run = podrun.start(*words, stdout=writer)
    os.close(writer)
    ended = run.wait()
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("errors_too", ["", "2>&1"])
def test_head_ends_the_run(podrun, errors_too):
    pipeline = f'"$@" {errors_too} | head -n 1; exit ${{PIPESTATUS[0]}}'
    words = podrun.arguments([*FOUR, "--grace", "1", "--", "yes", str(podrun.directory)])
    ended = subprocess.run(["bash", "-c", pipeline, "bash", *words], env=podrun.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(30), check=False)
    assert ended.returncode == 141
    assert ended.stdout.count(b"\n") == 1 and b"podrun:" not in ended.stdout
    assert b"podrun" not in ended.stderr  # as with any other command that is cut short


def test_a_full_disk_is_an_error_and_ends_the_run(podrun):
    with open("/dev/full", "wb") as full:
        run = podrun.start(*FOUR, "--grace", "1", "--", "yes", stdout=full)
        ended = run.wait(seconds=10)
    assert ended.returncode not in (0, 141)
    assert b"No space left on device" in ended.stderr
    assert ended.stderr.count(b"No space left") == 1


@pytest.mark.smoke
@pytest.mark.parametrize("words", [("--version",), ("hosts", "--json"), ("--", "echo", "hi"), ("--gather", "--", "echo", "hi"), ("--json", "--", "true")], ids=" ".join)
def test_closed_standard_output_is_an_error_if_there_is_output(podrun, words):
    script = 'exec "$@" >&-'
    ended = subprocess.run(["sh", "-c", script, "sh", *podrun.arguments(["-H", "local", *words])], env=podrun.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(30), check=False)
    assert ended.returncode == 1, ended
    assert ended.stderr.decode().count("podrun: cannot write standard output: Bad file descriptor\n") == 1


def test_closed_standard_output_does_not_matter_without_output(podrun):
    ended = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *podrun.arguments(["-H", "local", "--", "true"])], env=podrun.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(30), check=False)
    assert (ended.returncode, ended.stderr) == (0, b""), ended


# Colour

COLOUR = b"\x1b["


def shown_on_a_terminal(podrun, *options, env=None):
    return podrun.terminal("--progress", "never", "-H", "local[0-1]", *options, "--", "echo", "hi", env=env).wait().stdout


def test_colour_on_a_terminal_only(podrun):
    shown = shown_on_a_terminal(podrun)
    assert COLOUR in shown
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", shown).replace(b"\r\n", b"\n").splitlines().count(b"0: hi") == 1
    assert COLOUR not in podrun.ok(*FOUR, "--", "echo", "hi")


def test_no_colour_when_asked(podrun):
    assert COLOUR not in shown_on_a_terminal(podrun, env={"NO_COLOR": "1"})
    assert COLOUR in shown_on_a_terminal(podrun, env={"NO_COLOR": ""})
    assert COLOUR not in shown_on_a_terminal(podrun, "--color", "never")
    assert COLOUR not in shown_on_a_terminal(podrun, env={"TERM": "dumb"})
    assert COLOUR not in shown_on_a_terminal(podrun, env={"TERM": ""})


def test_colour_in_a_pipe_when_asked(podrun):
    assert COLOUR in podrun.ok(*FOUR, "--color", "always", "--", "echo", "hi")
