"""A process whose main thread has ended, while others run: the kernel shows it as a zombie without files, words and environment. It counts
as any other process."""

import json
import shlex
import signal
import sys
from pathlib import Path

import pytest

from support import Footprint, end, marked_processes, wait_until

WORD = "without_main_thread"
# Opens its words as files.
PROGRAM = (
    "import ctypes, sys, threading, time; files = [open(name) for name in sys.argv[2:]]; "
    "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); ctypes.CDLL(None).pthread_exit(None)"
)


def command(*files):
    return shlex.join([sys.executable, "-c", PROGRAM, WORD, *files])


def is_program(words):
    return words.startswith(sys.executable.encode()) and WORD.encode() in words


def is_shown_as_zombie(pid):
    try:
        return b") Z " in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def wait_for_zombie(token):
    """The only such process with this in its environment, after its main thread has ended."""
    found = []

    def is_there():
        found[:] = [process for process in marked_processes(token) if is_program(process.command)]
        return len(found) == 1 and is_shown_as_zombie(found[0].pid)

    wait_until(is_there, 10, "the end of the main thread")
    return found[0]


@pytest.fixture
def host(isolated):
    """Two isolated hosts, on which such processes are killed at the end."""
    yield Hosts(isolated)
    for rank in range(2):
        for pid in Hosts(isolated).pids(rank):
            isolated.ssh(rank, f"kill -9 {pid}")
        isolated.ssh(rank, "rm -rf /tmp/libtpu*")
    wait_until(lambda: not any(Hosts(isolated).pids(rank) for rank in range(2)), what="their end")


class Hosts:
    def __init__(self, pod):
        self.pod = pod
        self.on = pod.on

    def pids(self, rank):
        return [pid for pid, words in self.pod.processes(rank).items() if is_program(words)]

    def wait_for_zombie(self, rank):
        """The pid of the only such process of the host, after its main thread has ended."""

        def is_there():
            found = self.pids(rank)
            return len(found) == 1 and b"Z" in self.pod.ssh(rank, f"grep -o '[)] Z' /proc/{found[0]}/stat").stdout

        wait_until(is_there, 10, "the end of the main thread")
        return self.pids(rank)[0]

    def hold(self, rank, *files):
        self.pod.ssh(rank, f"touch /tmp/libtpu_lockfile; setsid {command(*files)} </dev/null >/dev/null 2>&1 &")
        return self.wait_for_zombie(rank)


def test_it_keeps_a_host_from_being_cleaned_up(podrun, host):
    for device in ("/dev/accel1", "/tmp/libtpu_lockfile"):
        pid = host.hold(1, device)
        refused = podrun(*host.on(1), "-c", "--", "true")
        assert refused.returncode == 255, refused
        assert f"pid {pid} (".encode() in refused.stderr and f") holds {device}".encode() in refused.stderr, refused
        assert host.pod.ssh(1, "ls /tmp/libtpu_lockfile").returncode == 0
        host.pod.ssh(1, f"kill -9 {pid}")
        wait_until(lambda: not host.pids(1), what="its end")


def test_a_check_sees_what_it_holds(podrun, host):
    pid = host.hold(0, "/dev/accel1", "/dev/accel1")
    report = json.loads(podrun(*host.on(0), "check", "--json").stdout)
    assert [(each["pid"], each["device"]) for each in report["hosts"][0]["facts"]["holders"]] == [(pid, "/dev/accel1")], report["hosts"][0]


@pytest.mark.smoke
def test_it_is_killed(podrun, host):
    pid = host.hold(0, "/dev/accel0", "/tmp/libtpu_lockfile")
    looked = json.loads(podrun(*host.on(0), "kill", "--json", "--dry-run").stdout)
    [holder] = looked["hosts"][0]["holders"]
    assert (holder["pid"], holder["devices"], holder["state"]) == (pid, ["/dev/accel0"], "S"), holder
    assert WORD in holder["command"], holder
    killed = podrun(*host.on(0), "kill", "-y", "--json")
    assert killed.returncode == 0, killed
    assert json.loads(killed.stdout)["hosts"][0]["left"] == []
    assert not host.pids(0)


def test_kill_spares_it_as_a_part_of_a_run(podrun, host):
    run = podrun.start(*host.on(0), "--", f"{command('/dev/accel0')} & wait")
    pid = host.wait_for_zombie(0)
    kept = podrun(*host.on(0), "kill", "-y", "--json")
    assert kept.returncode == 1, kept
    [holder] = json.loads(kept.stdout)["hosts"][0]["left"]
    assert holder["pid"] == pid and holder["kept"].startswith("of a podrun run that goes on ("), holder
    run.signal(signal.SIGTERM)
    run.wait()
    wait_until(lambda: not host.pids(0), 30, "its end")


# Its parents end, and its session is its own; it is a child of the command; it is the command.
@pytest.mark.parametrize("start", ["(setsid PROGRAM &); sleep 1000", "PROGRAM & wait", "exec PROGRAM"], ids=["detached", "child", "command"])
def test_it_is_stopped_with_the_command(podrun, start):
    run = podrun.start("-H", "local", "--grace", "1", "--", f"echo $PODRUN_RUN_ID; {start.replace('PROGRAM', command())}")
    run.wait_for_output(b"\n")
    run_id = run.stdout.split()[-1].decode()
    process = wait_for_zombie(run_id)
    try:
        footprint = Footprint(run_id)
        run.signal(signal.SIGTERM)
        run.wait()
        footprint.wait_until_gone(10)
    finally:
        end([process])


def test_it_holds_the_output_of_its_command_open(podrun):
    run = podrun.start("-H", "local", "--grace", "1", "--", f"echo $PODRUN_RUN_ID; {command()} & exit 3")
    run.wait_for_output(b"\n")
    process = wait_for_zombie(run.stdout.split()[-1].decode())
    try:
        wait_until(lambda: f"command ended; pid {process.pid} (".encode() in run.stderr, 30, "the notice")
        run.signal(signal.SIGINT)
        run.wait()
        wait_until(lambda: not is_shown_as_zombie(process.pid), what="its end")
    finally:
        end([process])


@pytest.mark.parametrize("start", ["exec PROGRAM", "PROGRAM & wait"], ids=["command", "child"])
def test_it_is_stopped_with_its_job(podrun, start):
    podrun.env["HOME"] = str(podrun.home)
    podrun.ok("-H", "local", "start", "train", "--", start.replace("PROGRAM", command()))
    process = wait_for_zombie("job-0-train.")
    try:
        listed = json.loads(podrun.ok("-H", "local", "ps", "--json", "train"))
        assert listed["hosts"][0]["jobs"][0]["state"] == "running", listed
        podrun.ok("-H", "local", "stop", "train", "--grace", "5")
        assert not is_shown_as_zombie(process.pid)
    finally:
        end([process])
        podrun("-H", "local", "stop", "train", "--grace", "0")
        podrun("-H", "local", "rm", "train")
