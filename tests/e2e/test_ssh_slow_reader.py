"""A reader of podrun's output that is slower than the hosts, over SSH: their reading is paused, and nothing else happens to them."""

import os
import signal
import time

import pytest

from events import Events
from support import SANITIZED, by_rank, marked_processes, peak_memory, read_slowly, sha256, stand_still, wait_until

EIGHT = range(8)
REKEY = ("--sshd", "RekeyLimit 300K", "--sshd", "LogLevel DEBUG1")


def read_all(reader):
    shown = bytearray()
    while data := os.read(reader, 1 << 20):
        shown += data
    return bytes(shown)


def start_unread(podrun, *args, **options):
    """Starts it with a reader of its output that does not read yet; returns both."""
    reader, writer = os.pipe()
    run = podrun.start(*args, stdout=writer, **options)
    os.close(writer)
    return run, reader


def events_of(run, reader):
    """Reads all that is left, and waits for the end."""
    output = read_all(reader)
    ended = run.wait()
    ended.stdout = output
    return Events(ended)


def wait_until_held_back(command, count=1):
    """Until the processes that run this on the hosts, as it stands in /proc/PID/cmdline, cannot go on."""

    def running():  # podrun has the words in its own command line too
        return [process.pid for process in marked_processes(command) if process.command.startswith(command)]

    wait_until(lambda: len(running()) >= count, what=f"{command} started")
    wait_until(lambda: stand_still(running()), what=f"{command} paused")


@pytest.mark.skipif(SANITIZED, reason="sanitizers have their own idea of memory")
@pytest.mark.deadline(120)
@pytest.mark.parametrize("hosts, limit", [(8, 40e6), (64, 80e6), pytest.param(256, 200e6, marks=pytest.mark.full)])
def test_a_slow_reader_slows_the_hosts_down_and_memory_stays_bounded(podrun, pods, hosts, limit):
    pod = pods("--hosts", str(hosts)) if hosts > 8 else pods()
    pod.move_in(podrun)
    run, reader = start_unread(podrun, *pod.options, "--grace", "1", "--", f"yes $PODRUN_RANK{'x' * 99}")
    read_slowly(reader, 5_000_000)  # longer than the time until podrun contacts a paused host
    assert peak_memory(run.pid) < limit
    os.close(reader)
    assert run.wait(60).returncode == 141


@pytest.mark.parametrize("sshd", [(), REKEY, ("--sshd", "RekeyLimit default 1")], ids=["", "rekey", "rekey often"])
def test_a_host_that_is_held_back_still_answers_and_loses_nothing(podrun, pods, sshd):
    # Longer than three keep-alives, and than the supervisor waits for us, while nothing is read from it.
    pod = pods(*sshd)
    pod.move_in(podrun)
    keep_alive = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    run, reader = start_unread(podrun, *pod.on(0, 1), *keep_alive, "--orphan-timeout", "2", "--", "seq 600000")
    time.sleep(4)  # the reader is busy elsewhere
    assert by_rank(read_all(reader)) == {rank: [b"%d" % number for number in range(1, 600001)] for rank in (0, 1)}
    assert run.wait().returncode == 0, run.stderr


def test_a_server_that_asks_whether_we_are_alive_finds_us_so_while_it_is_held_back(podrun, pods):
    pod = pods("--sshd", "ClientAliveInterval 1", "--sshd", "ClientAliveCountMax 3")
    pod.move_in(podrun)
    run, reader = start_unread(podrun, *pod.on(0), "-N", "--", "seq 1000000")
    time.sleep(10)
    assert sha256(read_all(reader)) == sha256(b"".join(b"%d\n" % number for number in range(1, 1000001)))
    assert run.wait().returncode == 0, run.stderr
    assert "not responding" not in pod.log


def test_a_reader_that_stops_and_goes_through_rekeys_misses_nothing(podrun, pods):
    pod = pods(*REKEY)
    pod.move_in(podrun)
    before = pod.log.count("rekeying out")
    run, reader = start_unread(podrun, *pod.options, "--", "seq 400000")
    shown = bytearray()
    while data := os.read(reader, 1 << 16):
        shown += data
        if len(shown) >> 20 != len(shown) - len(data) >> 20:
            time.sleep(0.1)  # after every megabyte
    assert run.wait().returncode == 0, run.stderr
    expected = sha256(b"\n".join(b"%d" % number for number in range(1, 400001)))
    assert {rank: sha256(b"\n".join(lines)) for rank, lines in by_rank(bytes(shown)).items()} == dict.fromkeys(EIGHT, expected)
    assert pod.log.count("rekeying out") - before >= 8 * 8


@pytest.mark.timed
@pytest.mark.parametrize("end", ["interrupt", "terminate", "fail fast", "time out"])
def test_hosts_that_are_held_back_are_ended_within_the_grace(podrun, pods, end):
    pod = pods(*REKEY)
    pod.move_in(podrun)
    go_on = podrun.directory / "go-on"
    stubborn = "" if end == "interrupt" else "trap '' TERM; "  # so that it takes a KILL
    quiet = f"until [ -e '{go_on}' ]; do sleep 0.1; done; exit 3"
    command = f'if [ $PODRUN_RANK = 0 ]; then {quiet}; fi; {stubborn}exec yes {podrun.directory}'
    options = {"time out": ("-k", "-u", "4"), "fail fast": ("-k",)}.get(end, ())
    run, reader = start_unread(podrun, *pod.on(0, 1, 2), *options, "--grace", "1", "--", command)
    wait_until_held_back(b"yes\0" + os.fsencode(podrun.directory), count=2)
    if end == "fail fast":
        go_on.touch()
    elif end != "time out":
        run.signal(signal.SIGINT if end == "interrupt" else signal.SIGTERM)
    wait_until(lambda: not marked_processes(b"yes\0" + os.fsencode(podrun.directory)), 4 + 1 + 4, "the hosts ended")
    assert run.process.poll() is None  # it still has what they printed
    go_on.touch()
    read_all(reader)
    assert run.wait().returncode == {"interrupt": 130, "terminate": 143, "fail fast": 3, "time out": 124}[end]


@pytest.mark.smoke
def test_input_reaches_a_host_that_is_held_back(podrun, pods):
    pod = pods(*REKEY)
    pod.move_in(podrun)
    size = podrun.directory / "size"
    source, sink = os.pipe()
    run, reader = start_unread(podrun, *pod.on(0), "-I", "--", f"seq 1000000 & wc -c >'{size}'; wait", stdin=source)
    os.close(source)
    wait_until_held_back(b"seq\0001000000")
    for _ in range(50):  # sshd takes 2 MiB before it asks for more, behind its output
        os.write(sink, b"x" * 100_000)
    os.close(sink)
    wait_until(lambda: size.exists() and size.read_text() == "5000000\n", what="all input there")
    assert by_rank(read_all(reader)) == {0: [b"%d" % number for number in range(1, 1000001)]}
    assert run.wait().returncode == 0, run.stderr


CLOSED = ("closed", "reset")


@pytest.mark.parametrize(
    "how, seconds, causes",
    [("cut", 0, CLOSED), ("cut", 7, CLOSED), ("stall", 0, ("no_answer",))],
    ids=["closed", "closed before we speak", "silent"],
)
def test_a_connection_that_is_lost_while_the_host_is_held_back(podrun, pod, fault, how, seconds, causes):
    proxy = fault("--to", pod.addresses[0], "proxy")
    keep_alive = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    run, reader = start_unread(podrun, "--json", "-H", proxy.address, *keep_alive, "--", "yes", str(podrun.directory))
    wait_until_held_back(b"yes\0" + os.fsencode(podrun.directory))
    proxy.tell(how)
    time.sleep(seconds)
    assert run.process.poll() is None
    ended = events_of(run, reader)
    assert ended.returncode == 255
    assert ended.outcomes == {0: "lost"} and ended.exits[0]["stage"] == "connection" and ended.exits[0]["cause"] in causes
    assert {*ended.shown[0][:-1]} == {os.fsencode(podrun.directory)}


def test_what_arrived_before_the_connection_was_lost_is_shown_also_where_input_was_under_way(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[0], "proxy")
    begun, begin, done = (podrun.directory / name for name in ("begun", "begin", "done"))
    size = 57 * 8192  # whole writes of tr: the last one is larger than all that SSH adds
    wait = f"touch '{begun}'; until [ -e '{begin}' ]; do sleep 0.05; done"
    command = f"{wait}; head -c {size} /dev/zero | tr '\\0' '\\n'; touch '{done}'; sleep 40"
    source, sink = os.pipe()
    run, reader = start_unread(podrun, "-H", proxy.address, "-N", "-I", "--grace", "1", "--", command, stdin=source)
    os.close(source)
    os.set_blocking(sink, False)
    os.write(sink, b"x" * 60_000)
    wait_until(begun.exists)
    before = proxy.connections[0]["down"]
    begin.touch()
    wait_until(lambda: done.exists() and proxy.connections[0]["down"] >= before + size)
    proxy.tell("cut fin")
    time.sleep(1)
    assert len(read_all(reader)) == size
    os.close(sink)
    assert run.wait().returncode == 255


def test_a_time_out_counts_where_podrun_itself_is_the_slow_one(podrun, pod):
    with open(os.devnull, "wb") as nowhere:
        run = podrun.start(*pod.options, "-u", "2", "--grace", "1", "--", "yes", stdout=nowhere)
        assert run.wait(30).returncode == 124


def test_output_that_is_lost_with_the_connection_is_no_success(podrun, pod, fault):
    # The command has ended well, but not all it printed has arrived when the connection dies.
    proxy = fault("--to", pod.addresses[0], "--stall-after", 600_000, "--direction", "down", "proxy")
    done = podrun.directory / "done"
    run, reader = start_unread(podrun, "--json", "-H", proxy.address, "--", f"head -c 1000000 /dev/zero; touch '{done}'")
    wait_until(lambda: done.exists() and proxy.connections[0]["down"] == 600_000)
    proxy.tell("cut")
    ended = events_of(run, reader)
    assert len(ended.bytes.get((0, "stdout"), b"")) < 1_000_000
    assert ended.returncode == 255
    assert ended.outcomes == {0: "lost"}
