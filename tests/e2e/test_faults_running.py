"""docs/faults.md, row by row: what podrun says of a host that has a fault while its command runs, and that the others do not suffer."""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from events import Events, events, exits_so_far
from fault_table import ARE_ENDED, DELIVER_EVERYTHING, LINES, ONE_TRY, ROWS, check, plays, said_by_podrun, said_of_hosts, servers
from support import SANITIZED, end, is_server, marked_processes, peak_memory, send, sha256, wait_until

QUICK_KEEP_ALIVES = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
PATIENT_KEEP_ALIVES = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=10")

# The command prints, waits until it is told to go on, and prints again.
LAST_LINE = b'"text":"20000"'


class Hosts:
    """Hosts with a fault each, and two that are well, as one list."""

    def __init__(self, pod):
        self.addresses = [pod.addresses[7], pod.addresses[6]]
        self.faults = {}

    def add(self, name, address):
        self.faults[name] = len(self.addresses)
        self.addresses.append(address)

    def start(self, podrun, *options, also=":"):
        go_on = podrun.directory / "go-on"
        command = f"echo $$ >'{podrun.directory}/pid.'$PODRUN_RANK; seq 20000; until [ -e '{go_on}' ]; do sleep 0.1; done; {also}\nseq 20000"
        return podrun.start("--json", "-H", ",".join(self.addresses), "-t", "5", *ONE_TRY, *options, "--", command), go_on

    def check(self, ended, complete=()):
        """Of each fault what is said, of the others all that was printed."""
        run = Events(ended)
        said, shown = said_of_hosts(run), run.shown
        for name, rank in self.faults.items():
            check(ROWS[name], said.get(rank), ended.returncode, DELIVER_EVERYTHING)
            if name not in complete:
                assert (LINES * 2)[: len(shown[rank]) - 1] == shown[rank][:-1], name  # what there is of it is right
        for rank in (0, 1, *(self.faults[name] for name in complete)):
            assert shown[rank] == LINES * 2


def keys(pod):
    """For servers of tests/fault that let in those whom the pod lets in."""
    return ("--authorized-keys", pod.directory / "authorized_keys")


def ssh_sessions(podrun, pod, rank):
    """The processes of sshd that serve this rank: the ancestors of its command, up to the one that listens."""
    pid = int((podrun.directory / f"pid.{rank}").read_text())
    found = []
    while (pid := int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])) not in servers(pod):
        if is_server(Path(f"/proc/{pid}/cmdline").read_bytes()):
            found.append(pid)
    return found


# Options of a proxy, and what it is told while the command runs.
PROXIES = {
    "the connection is reset": ((), "cut rst"),
    "the connection is closed": ((), "cut fin"),
    "the connection ends in the middle of the output": (("--cut-by", "fin", "--cut-after", 60_000), None),
    "a byte of the output arrives changed": (("--corrupt-at", 60_000), None),
    "a byte of the output is lost": (("--lose-at", 60_000), None),
    "it falls silent": ((), "stall"),
    "it hears nothing more": ((), "stall up"),
    "nothing more is heard of it": ((), "stall down"),
    "its answers arrive byte by byte and never whole": ((), "slow down 2"),
}
STRUCK = [*PROXIES, "it tells no exit status", "it reads nothing more", "its sshd is killed", "its sshd is stopped"]
# The same on the way to the host, where there are enough bytes when there is input.
INPUT_PROXIES = {
    "a byte of the input arrives changed (`-I`)": ("--corrupt-at",),
    "a byte of the input is lost (`-I`)": ("--lose-at",),
    "the connection is reset in the middle of the input (`-I`)": ("--cut-by", "rst", "--cut-after"),
    "the connection is closed in the middle of the input (`-I`)": ("--cut-by", "fin", "--cut-after"),
}


@pytest.mark.smoke
def test_while_the_command_runs(podrun, pod, fault):
    hosts = Hosts(pod)
    proxies = {}
    for number, (name, (options, _)) in enumerate(PROXIES.items()):
        proxies[name] = fault("--direction", "down", *options, "--to", pod.addresses[2 + number % 4], "proxy", addresses=[f"127.0.0.{100 + number}"])
        hosts.add(name, proxies[name].address)
    hosts.add("it tells no exit status", fault(*keys(pod), "runs-without-status", addresses=["127.0.0.120"]).address)
    deaf = fault(*keys(pod), "runs", addresses=["127.0.0.121"])
    hosts.add("it reads nothing more", deaf.address)
    hosts.add("its sshd is killed", pod.addresses[0])
    hosts.add("its sshd is stopped", pod.addresses[1])
    assert [*hosts.faults] == STRUCK

    run, go_on = hosts.start(podrun, *QUICK_KEEP_ALIVES)
    run.wait_for_output(LAST_LINE, count=len(hosts.addresses) - 3)  # three of them break before
    stopped = ssh_sessions(podrun, pod, hosts.faults["its sshd is stopped"])
    try:
        for name, (_, command) in PROXIES.items():
            if command:
                proxies[name].tell(command)
        deaf.tell("deaf")
        send(signal.SIGKILL, ssh_sessions(podrun, pod, hosts.faults["its sshd is killed"]))
        send(signal.SIGSTOP, stopped)
        given_up = {rank for name, rank in hosts.faults.items() if name != "it tells no exit status"}
        wait_until(lambda: given_up <= exits_so_far(run).keys(), what=f"{given_up} given up")
        go_on.touch()
        ended = run.wait()
    finally:
        send(signal.SIGCONT, stopped)
    hosts.check(ended)


ALONE = [
    *INPUT_PROXIES,
    "the connection is reset in the very start",
    "it takes nothing more of the input (`-I`)",
    "it says that a signal ended the command",
    "it floods standard error until `-u` stops it",
    "a background child holds the output open",
    "the exit status that it tells is none of a process",
    "it asks for channels without end",
    "it asks for channels without end and reads no answer",
    "it sends more than its window allows",
]


@pytest.mark.smoke
def test_the_very_start(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[0], "proxy")
    command = f"touch '{podrun.directory}/pid.'$PODRUN_RANK; until [ -e '{podrun.directory}/go-on' ]; do sleep 0.1; done"
    run = podrun.start("--json", "-H", f"{pod.addresses[1]},{proxy.address},{pod.addresses[2]}", "-t", "60", "--retries", "0", "--", command)
    wait_until(lambda: all((podrun.directory / f"pid.{rank}").exists() for rank in range(3)))
    proxy.tell("cut")
    ended = Events(run.wait())
    check(ROWS["the connection is reset in the very start"], said_of_hosts(ended)[1], ended.returncode, ARE_ENDED)
    assert ended.outcomes == {0: "stopped", 1: "lost", 2: "stopped"}
    assert ended.summary["culprit"] == 1


def test_input_that_a_host_does_not_take(podrun, pod, fault):
    deaf = fault(*keys(pod), "runs")
    data = random.Random(1).randbytes(8_000_000)
    source, sink = os.pipe()
    hosts = Hosts(pod)
    hosts.add("it takes nothing more of the input (`-I`)", deaf.address)
    for number, (name, options) in enumerate(INPUT_PROXIES.items()):
        proxy = fault("--direction", "up", *options, 60_000, "--to", pod.addresses[number], "proxy", addresses=[f"127.0.0.{100 + number}"])
        hosts.add(name, proxy.address)
    run = podrun.start("--json", "-H", ",".join(hosts.addresses), *ONE_TRY, *QUICK_KEEP_ALIVES, "-I", "--", "echo up; sha256sum", stdin=source)
    os.close(source)
    run.wait_for_output(b'"up"', count=len(hosts.addresses))
    deaf.tell("deaf")
    with open(sink, "wb") as pipe:
        pipe.write(data)
    ended = Events(run.wait())
    for name, rank in hosts.faults.items():
        check(ROWS[name], said_of_hosts(ended).get(rank), ended.returncode, DELIVER_EVERYTHING)
    took_all = [b"up", f"{sha256(data)}  -".encode()]
    assert ended.shown == dict.fromkeys((0, 1), took_all) | dict.fromkeys(hosts.faults.values(), [b"up"])


def test_a_command_that_a_signal_ended(podrun, pod, fault):
    hosts = Hosts(pod)
    hosts.add("it says that a signal ended the command", fault(*keys(pod), "runs-until-a-signal").address)
    run, go_on = hosts.start(podrun)
    go_on.touch()
    hosts.check(run.wait(), complete=hosts.faults)


def test_a_flood_on_standard_error_until_the_time_is_up(podrun, pod, fault):
    flooding = fault(*keys(pod), "runs-and-floods-stderr").address
    run = podrun.start("--json", "-H", f"{pod.addresses[0]},{flooding}", *ONE_TRY, "-u", "5", "--", "seq 20000; [ $PODRUN_RANK = 0 ] || sleep 1000")
    run.wait_for_output(LAST_LINE, count=2)
    wait_until(lambda: run.stdout.count(b'"stderr"') > 10_000, what="a flood")
    assert SANITIZED or peak_memory(run.pid) < 60e6
    ended = Events(run.wait())
    assert ended.shown == {0: LINES, 1: LINES}
    check(ROWS["it floods standard error until `-u` stops it"], said_of_hosts(ended)[1], ended.returncode, DELIVER_EVERYTHING)


def test_an_exit_status_beyond_255(podrun, pod, fault):
    name = "the exit status that it tells is none of a process"
    server = fault(*keys(pod), "runs-and-tells-a-large-status").address
    ended = events(podrun, "-H", f"{pod.addresses[0]},{server}", *ONE_TRY, "--", "seq 20000")
    assert ended.shown == {0: LINES, 1: LINES}
    check(ROWS[name], said_of_hosts(ended)[1], ended.returncode, DELIVER_EVERYTHING)


@pytest.mark.smoke
@pytest.mark.deadline(120)
@pytest.mark.parametrize("behaviour", ["runs-and-opens-channels", "runs-and-opens-channels-unread"])
def test_channels_that_a_server_asks_for(podrun, pod, fault, behaviour):
    reads_answers = not behaviour.endswith("unread")
    hosts = Hosts(pod)
    name = "it asks for channels without end" + ("" if reads_answers else " and reads no answer")
    hosts.add(name, fault(*keys(pod), behaviour).address)
    run, go_on = hosts.start(podrun)
    run.wait_for_output(LAST_LINE, count=3)
    if not reads_answers:
        wait_until(lambda: 2 in exits_so_far(run), 60, what="given up")
    else:
        time.sleep(6)  # it asks meanwhile
    assert SANITIZED or peak_memory(run.pid) < 60e6
    go_on.touch()
    hosts.check(run.wait(), complete=[name] if reads_answers else [])


def test_output_beyond_the_window(podrun, pod, fault):
    # Input that the command does not read keeps podrun waiting for that host, and so reading from it; nobody reads podrun's output.
    server = fault(*keys(pod), "runs-and-exceeds-its-window").address
    (input_source, input_sink), (output_source, output_sink) = os.pipe(), os.pipe()
    run = podrun.start("--json", "-H", f"{pod.addresses[0]},{server}", *ONE_TRY, "-I", "--", "seq 20000; [ $PODRUN_RANK = 0 ] || sleep 1000", stdin=input_source, stdout=output_sink)
    for end_of_podrun in (input_source, output_sink):
        os.close(end_of_podrun)
    feeding = threading.Thread(target=lambda: feed(input_sink, bytes(20_000_000)), daemon=True)
    feeding.start()
    time.sleep(6)
    assert SANITIZED or peak_memory(run.pid) < 60e6
    with open(output_source, "rb") as pipe:
        output = pipe.read()
    feeding.join()
    ended = run.wait()
    ended.stdout = output
    ended = Events(ended)
    assert ended.shown[0] == LINES
    check(ROWS["it sends more than its window allows"], said_of_hosts(ended)[1], ended.returncode, DELIVER_EVERYTHING)


def feed(sink, data):
    with contextlib.suppress(BrokenPipeError), open(sink, "wb") as pipe:
        pipe.write(data)


def test_of_lost_hosts_is_told_at_once_while_others_go_on(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[0], "proxy", addresses=["127.0.0.98", "127.0.0.99"])  # so that they are lost together
    go_on = podrun.directory / "go-on"
    hosts = ",".join([*proxy.addresses, pod.addresses[2]])
    run = podrun.start("--json", "-H", hosts, "--", f"echo up; until [ -e '{go_on}' ]; do sleep 0.1; done")
    run.wait_for_output(b'"up"', count=3)
    proxy.tell("cut")
    wait_until(lambda: exits_so_far(run).keys() == {0, 1}, what="told of")
    assert run.process.poll() is None
    go_on.touch()
    ended = Events(run.wait())
    assert ended.failures == dict.fromkeys((0, 1), ("lost", "connection", "reset"))
    assert ended.returncode == 255


def test_a_child_that_holds_the_output_is_waited_for(podrun, pod):
    name = "a background child holds the output open"
    hosts = Hosts(pod)
    run, go_on = hosts.start(podrun, also=f"[ $PODRUN_RANK = 0 ] || HOLDS='{podrun.directory}/holds' sleep 1000 &")
    go_on.touch()
    wait_until(lambda: b"command ended" in run.stderr, what="told of")
    end(process for process in marked_processes(f"{podrun.directory}/holds") if process.pid != run.pid)
    ended = run.wait()
    [line] = said_by_podrun(ended.stderr)
    check(ROWS[name], line, ended.returncode, DELIVER_EVERYTHING)
    hosts.check(ended)


# Harmless faults

HARMLESS = [
    "it floods standard error before the start",
    "it falls silent for a while",
    "its sshd is stopped for a while",
    "its network is slow",
    "its answers come late",
    "the end of the command is told seconds before the last of its output",
]


def test_what_does_no_harm(podrun, pod, fault):
    hosts = Hosts(pod)
    silent = fault("--to", pod.addresses[2], "proxy", addresses=["127.0.0.100"])
    hosts.add("it floods standard error before the start", fault(*keys(pod), "runs-after-a-flood", addresses=["127.0.0.101"]).address)
    hosts.add("it falls silent for a while", silent.address)
    hosts.add("its sshd is stopped for a while", pod.addresses[0])
    hosts.add("its network is slow", fault("--rate", 100_000, "--to", pod.addresses[3], "proxy", addresses=["127.0.0.102"]).address)
    hosts.add("its answers come late", fault("--delay", "0.1", "--to", pod.addresses[4], "proxy", addresses=["127.0.0.103"]).address)
    hosts.add(HARMLESS[-1], fault(*keys(pod), "runs-and-tells-the-end-first", addresses=["127.0.0.104"]).address)
    assert [*hosts.faults] == HARMLESS

    run, go_on = hosts.start(podrun, *PATIENT_KEEP_ALIVES)
    run.wait_for_output(LAST_LINE, count=len(hosts.addresses))
    stopped = ssh_sessions(podrun, pod, hosts.faults["its sshd is stopped for a while"])
    try:
        silent.tell("stall")
        send(signal.SIGSTOP, stopped)
        go_on.touch()
        time.sleep(2.5)  # two keep-alives without an answer
        assert run.process.poll() is None
    finally:
        send(signal.SIGCONT, stopped)
    silent.tell("go")
    ended = run.wait()
    hosts.check(ended, complete=hosts.faults)
    assert [line for line in said_by_podrun(ended.stderr) if "new host key" not in line] == []


@pytest.mark.full
def test_twenty_seconds_of_silence(podrun, pod, fault):
    hosts = Hosts(pod)
    silences = {}
    for number, silence in enumerate(("stall", "stall up", "stall down")):
        silences[silence] = fault("--to", pod.addresses[2 + number], "proxy", addresses=[f"127.0.0.{100 + number}"])
        hosts.addresses.append(silences[silence].address)
    run, go_on = hosts.start(podrun)
    run.wait_for_output(LAST_LINE, count=len(hosts.addresses))
    for silence, proxy in silences.items():
        proxy.tell(silence)
    go_on.touch()
    time.sleep(20)  # less than the three keep-alives, 15 s each, that podrun waits for by itself
    assert run.process.poll() is None
    for proxy in silences.values():
        proxy.tell("go")
    ended = run.wait()
    assert Events(ended).shown == dict.fromkeys(range(len(hosts.addresses)), LINES * 2)
    assert [line for line in said_by_podrun(ended.stderr) if "new host key" not in line] == []
    check(ROWS["it falls silent for a while"], None, ended.returncode, DELIVER_EVERYTHING)


every_row_is_played = plays([*STRUCK, *ALONE, *HARMLESS])
