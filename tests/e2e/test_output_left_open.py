"""Manual, "Start, failure, end": what a command leaves in the background and that writes where the command wrote."""

import os
import re
import signal

import pytest

from events import Events
from support import Footprint, by_rank, is_alive, wait_until

LONG = 30  # seconds, for what comes at once where others do not keep the machine busy
GRACE = 1

# Writes once podrun has given its notice, and ends when it is told to. (A background job of sh ignores INT.)
LATER = r"""
nohup sh -c 'until [ -e "DIRECTORY/go" ]; do sleep 0.1; done; echo late; echo "late error" >&2; echo >"DIRECTORY/done.$PODRUN_RANK"' &
echo $PODRUN_RUN_ID
exit 3
"""
STUBBORN = "sh -c 'trap \"\" INT TERM; while :; do sleep 0.2; done' & sleep 1010 >/dev/null 2>&1 & echo $PODRUN_RUN_ID; exit 3"


def start(podrun, *options, command=LATER):
    run = podrun.start(*options, "--grace", str(GRACE), "--", command.replace("DIRECTORY", str(podrun.directory)))
    wait_until(lambda: b"[0,1] command ended" in run.stderr or b"[0] command ended" in run.stderr, LONG, "the notice")
    return run, Footprint(re.search(rb"[0-9a-f]{32}", run.stdout)[0].decode())


def start_on_both(podrun, *options, command=LATER):
    run, footprint = start(podrun, *options, command=command)
    wait_until(lambda: re.search(rb"\[(?:0,)?1\] command ended", run.stderr), LONG, "the notice of the other host")
    return run, footprint


# A transport with a terminal as the command's standard output, as srun --unbuffered has one.
TERMINAL = """#!/usr/bin/python3
import os, pty, subprocess, sys, tty
controller, terminal = pty.openpty()
tty.setraw(terminal)
child = subprocess.Popen(sys.argv[2:], stdout=terminal)
os.close(terminal)
try:
    while data := os.read(controller, 65536):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
except OSError:  # EIO: nobody has the other end open any more
    sys.exit(child.wait())
"""


@pytest.fixture(params=["local", "ssh", "via"])
def two_hosts(request, podrun, pods):
    if request.param == "ssh":
        pod = pods("--hosts", "2")
        pod.move_in(podrun)
        return pod.options
    return ("-H", "local[0-1]") if request.param == "local" else ("--via", "sh -c 'exec \"$@\"' {host}", "-H", "n[0-1]")


def test_a_background_child_goes_on_and_is_heard(podrun, two_hosts):
    run, _footprint = start_on_both(podrun, *two_hosts)
    (podrun.directory / "go").touch()
    ended = run.wait()
    assert ended.returncode == 3
    assert {rank: lines[1:] for rank, lines in by_rank(ended.stdout).items()} == {0: [b"late"], 1: [b"late"]}
    assert all((podrun.directory / f"done.{rank}").exists() for rank in (0, 1)), "nothing killed it"
    # One line for both where both ended within a second.
    notices = re.findall(
        rb"^podrun: \[([0-9,]+)\] command ended; .*\bsh\b.* still ha(?:s|ve) (?:its|their) output open\. "
        rb"Ctrl-C stops (?:it|them); to leave (?:it|them) running, redirect (?:its|their) output \(> log 2>&1\)$",
        ended.stderr,
        re.MULTILINE,
    )
    assert sorted(b",".join(notices).split(b",")) == [b"0", b"1"], ended.stderr


def test_an_interrupt_ends_what_holds_a_terminal(podrun):
    program = podrun.directory / "terminal"
    program.write_text(TERMINAL, encoding="ascii")
    program.chmod(0o755)
    run, footprint = start(podrun, "--via", f"{program} {{host}}", "-H", "n[0-1]", command="sleep 1010 2>/dev/null & echo $PODRUN_RUN_ID; exit 3")
    assert re.search(rb"command ended; (sleep \(pid \d+ on \[0\]\)|pid \d+ \(sleep\)) still", run.stderr), run.stderr
    run.signal(signal.SIGINT)
    wait_until(lambda: b"podrun: interrupted 2 hosts" in run.stderr, LONG, "the reply")
    run.signal(signal.SIGINT)  # a background job of sh ignores the first
    assert run.wait(LONG).returncode == 130
    footprint.wait_until_gone(LONG)


@pytest.mark.smoke
def test_a_first_interrupt_ends_it(podrun, two_hosts):
    run, footprint = start_on_both(podrun, *two_hosts)
    run.signal(signal.SIGINT)
    assert run.wait(LONG).returncode == 130
    footprint.wait_until_gone(LONG)


def test_a_terminated_run_adds_nothing_to_the_output(podrun):
    run = podrun.start("--json", "-H", "local[0-7]", "--grace", str(GRACE), "--", "sleep 1012 & echo up")
    wait_until(lambda: run.stdout.count(b'"output_open"') == 8, LONG, "the notices")
    run.signal(signal.SIGTERM)
    ended = Events(run.wait(LONG))
    assert ended.returncode == 143
    assert ended.bytes == {(rank, "stdout"): b"up\n" for rank in range(8)}, "no shell says that it was killed"


def test_a_second_interrupt_ends_what_is_deaf(podrun, two_hosts):
    run, footprint = start_on_both(podrun, *two_hosts, command=STUBBORN)
    run.signal(signal.SIGINT)
    wait_until(lambda: b"interrupted 2 hosts" in run.stderr, LONG)
    assert run.process.poll() is None
    run.signal(signal.SIGINT)
    assert run.wait(LONG).returncode == 130
    assert not footprint.remaining(), "what writes elsewhere has ended too"


def test_a_timeout_ends_it(podrun):
    run, footprint = start(podrun, "--json", "-u", "4", "-H", "local[0-1]", command=STUBBORN.replace("exit 3", "exit $((PODRUN_RANK * 3))"))
    ended = Events(run.wait(LONG))
    assert ended.returncode == 124
    assert ended.outcomes == {0: "timed_out", 1: "exited"}
    assert not footprint.remaining()


def test_fail_fast_ends_it(podrun):
    command = f"[ $PODRUN_RANK = 0 ] || {{ until [ -e 'DIRECTORY/go' ]; do sleep 0.1; done; exit 7; }}; {STUBBORN.replace('exit 3', 'exit 0')}"
    run, footprint = start(podrun, "-k", "-H", "local[0-1]", command=command)
    (podrun.directory / "go").touch()
    assert run.wait(LONG).returncode == 7
    assert not footprint.remaining()


def test_it_stays_when_podrun_is_killed(podrun):
    run, footprint = start(podrun, "-H", "local[0-1]", command="sleep 1011 & echo $PODRUN_RUN_ID")
    run.signal(signal.SIGKILL)
    run.process.wait()
    left = [process for process in footprint.remaining() if process.command.startswith(b"sleep\0001011")]
    assert len(left) == 2 and all(is_alive(process.pid) for process in left), "as with ssh"
    for process in left:
        os.kill(process.pid, signal.SIGKILL)
