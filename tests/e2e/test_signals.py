"""Manual, "Start, failure, end": every signal at every moment of a run, and what becomes of the hosts, the output and the exit status."""

import os
import pty
import re
import signal
import subprocess
import threading
import time
from typing import NamedTuple

import pytest

from events import exits_so_far
from pods import children_of
from support import Footprint, Terminal, by_rank, limit, stand_still, wait_until

GRACE = 1
ORPHAN_TIMEOUT = 4
OPTIONS = ("--grace", str(GRACE), "--color", "never")
LONG = 30  # seconds, for what comes at once where others do not keep the machine busy

# Notes down what it gets, and ends by the file `go`, or by KILL only.
COMMAND = r"""
for name in INT QUIT TERM HUP; do trap "echo $name >>'DIRECTORY/got.$PODRUN_RANK'" $name; done
echo "$PODRUN_RUN_ID" >'DIRECTORY/id.'$PODRUN_RANK
until [ -e 'DIRECTORY/go' ]; do echo tick; sleep 0.1 & wait; done
echo done
"""
# The same, and writes as much as it can. (A shell would take notice of a signal after its echo only.)
FLOOD = r"""
import os, signal
rank = os.environ["PODRUN_RANK"]
def note(number, _frame):
    with open(f"DIRECTORY/got.{rank}", "a") as file:
        print(signal.Signals(number).name[3:], file=file)
for name in ("INT", "QUIT", "TERM", "HUP"):
    signal.signal(getattr(signal, "SIG" + name), note)
with open(f"DIRECTORY/id.{rank}", "w") as file:
    print(os.environ["PODRUN_RUN_ID"], file=file)
while not os.path.exists("DIRECTORY/go"):
    os.write(1, b"x" * 4095 + b"\n")
print("done")
"""


# How podrun is started: what it writes to, and who its parent is.

ON_A_TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
IN_A_JOB = """
import os, subprocess, sys
job = subprocess.Popen(sys.argv[2:], process_group=0)
with open(sys.argv[1] + ".new", "w") as file:
    print(job.pid, file=file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
sys.exit(job.wait())
"""


def footprint_of(directory):
    """That of the run whose command writes its id there."""
    file = directory / "id.0"
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"), LONG, "the command started")
    return Footprint(file.read_text().strip())


class Scene:
    """A run on its way to some moment, where it stays until go()."""

    def __init__(self, podrun, pods, fault):
        self.podrun, self.pods, self.fault = podrun, pods, fault
        self.directory = podrun.directory
        self.open_gate = lambda: None
        self.unread = False  # its output is a pipe that is not read before go()
        self.on_terminal = False  # or its own terminal
        self.reader = None  # their other end
        self.in_job = False  # of a shell that is its parent
        self.short_orphan_timeout = False
        self.grace = GRACE

    def start(self, *args, program=("sh", "-c", COMMAND)):
        stdin, stdout = subprocess.DEVNULL, None
        if self.on_terminal:
            self.reader, stdin = pty.openpty()
            stdout = stdin
            self.podrun.wrapper = ["/usr/bin/python3", "-c", ON_A_TERMINAL]
        elif self.unread:
            self.reader, stdout = os.pipe()
        if self.in_job:
            self.podrun.wrapper = ["/usr/bin/python3", "-c", IN_A_JOB, self.directory / "pid"]
        if self.short_orphan_timeout:
            args = ("--orphan-timeout", str(ORPHAN_TIMEOUT), *args)
        words = [word.replace("DIRECTORY", str(self.directory)) for word in program]
        self.run = self.podrun.start("--grace", str(self.grace), *args, "--", *words, stdin=stdin, stdout=stdout)
        self.pid = self.run.pid
        if stdout is not None:
            os.close(stdout)
        if self.in_job:
            file = self.directory / "pid"
            wait_until(file.exists, LONG)
            self.pid = int(file.read_text())

    def via(self, waits):
        """--via by which any name is a host here; a name that begins with `waits` waits before anything else."""
        script = self.directory / "via"
        gate = self.directory / "gate"
        script.write_text(
            f"#!/bin/sh\nhost=$1; shift\necho >'{self.directory}/at.'$host\n"
            f'case $host in {waits}*) until [ -e \'{gate}\' ]; do sleep 0.05; done ;; esac\nexec "$@"\n'
        )
        script.chmod(0o755)
        self.open_gate = gate.touch
        return ("--via", f"{script} {{host}}", "-t", "60")

    def wait_for_files(self, *names):
        wait_until(lambda: all((self.directory / name).exists() for name in names), LONG, f"{names} there")

    def got(self):
        """What the commands have got, as {rank: [signals]}."""
        return {int(file.suffix[1:]): file.read_text().split() for file in self.directory.glob("got.*")}

    def wait_until_got(self, signals, ranks=(0, 1)):
        def have_got():
            got = self.got()
            return all(got.get(rank, [])[: len(signals)] == signals for rank in ranks)

        wait_until(have_got, LONG, f"{signals} there")

    def has_started(self):
        return any(self.directory.glob("id.*"))

    def footprint(self):
        return footprint_of(self.directory)

    def state(self):
        """`S`, `T`, ... as ps says it; `Z` when it is over."""
        try:
            with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
                return stat.read().rpartition(")")[2].split()[0]
        except OSError:
            return "Z"

    def over(self):
        return self.state() == "Z"

    def press(self, number):
        """The signal, and until it shows."""
        before = (self.run.stderr, self.got())
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return  # the one before was enough
        wait_until(lambda: self.over() or (self.run.stderr, self.got()) != before, LONG, "an effect")

    def go(self):
        """Whatever is waited for comes: the run can go on to its end."""
        (self.directory / "go").touch()
        self.open_gate()
        if self.reader is not None:
            self.shown = bytearray()
            self.taking = threading.Thread(target=self._take)
            self.taking.start()

    def _take(self):
        while data := os.read(self.reader, 1 << 16):
            self.shown += data

    def output(self):
        """All of it, once it is over."""
        if self.reader is None:
            return self.run.stdout
        self.taking.join(limit(20))
        return bytes(self.shown)


@pytest.fixture
def scene(podrun, pods, fault):
    scene = Scene(podrun, pods, fault)
    yield scene
    if scene.reader is not None:
        os.close(scene.reader)


# The moments


def connecting(scene):
    pod = scene.pods()
    pod.move_in(scene.podrun)
    proxy = scene.fault("--to", pod.addresses[0], "proxy", addresses=["127.0.0.98", "127.0.0.99"])
    proxy.tell("stall")
    scene.open_gate = lambda: proxy.tell("go")
    scene.start("-H", ",".join(proxy.addresses), "-t", "60")
    proxy.wait_for_connections(2)


def preparing(scene):
    scene.start(*scene.via("slow"), "-H", "slow0,slow1")
    scene.wait_for_files("at.slow0", "at.slow1")


def preparing_alone(scene):
    """With the supervisor travels the command: nobody knows whether it has started."""
    scene.start(*scene.via("slow"), "-H", "slow0")
    scene.wait_for_files("at.slow0")


def barrier(scene):
    scene.short_orphan_timeout = True
    scene.start(*scene.via("slow"), "-v", "-H", "quick,slow1")
    wait_until(lambda: b"quick: ready" in scene.run.stderr, LONG)
    scene.wait_for_files("at.slow1")


def running(scene):
    scene.short_orphan_timeout = True
    scene.start("-H", "local[0-1]")
    scene.wait_for_files("id.0", "id.1")


def running_over_ssh(scene):
    pod = scene.pods()
    pod.move_in(scene.podrun)
    scene.short_orphan_timeout = True
    scene.start(*pod.on(0, 1))
    scene.wait_for_files("id.0", "id.1")


def ending(scene):
    scene.short_orphan_timeout = True
    scene.grace = max(scene.grace, 3)  # time enough for what happens meanwhile
    scene.start("-H", "local[0-1]", "-u", "10")  # a busy machine needs that until both commands note signals
    scene.wait_until_got(["TERM"])


def held_back(scene):
    scene.unread = True
    scene.short_orphan_timeout = True
    scene.start("-H", "local[0-1]", program=("/usr/bin/python3", "-c", FLOOD))
    scene.wait_for_files("id.0", "id.1")
    footprint = scene.footprint()
    wait_until(lambda: stand_still([*(process.pid for process in footprint.remaining()), scene.pid]), LONG, "the hosts paused")


# The signals: how podrun is started for it, and what happens then.


class Signals(NamedTuple):
    numbers: list = []
    act: object = None
    setting: dict = {}

    def happen(self, scene, got):
        for count, number in enumerate(self.numbers, 1):
            scene.press(number)
            scene.wait_until_got(got[:count])
        if self.act:
            self.act(scene)


def stop_and_continue(scene):
    os.kill(scene.pid, signal.SIGTSTP)
    wait_until(lambda: scene.state() == "T", LONG, "podrun stopped")
    if scene.short_orphan_timeout:
        time.sleep(ORPHAN_TIMEOUT + 1.5)  # hosts that were not told to wait for us would not
    os.kill(scene.pid, signal.SIGCONT)


def close_other_end(scene):
    os.close(scene.reader)
    scene.reader = None


def kill_parent(scene):
    scene.run.process.kill()
    scene.run.process.wait()


SIGNALS = {
    "INT": Signals([signal.SIGINT]),
    "INT INT": Signals([signal.SIGINT] * 2),
    "INT INT INT": Signals([signal.SIGINT] * 3, setting={"grace": 8}),  # time enough for the third on a busy machine
    "TERM": Signals([signal.SIGTERM]),
    "HUP": Signals([signal.SIGHUP]),
    "QUIT": Signals([signal.SIGQUIT]),
    "TSTP CONT": Signals(act=stop_and_continue, setting={"in_job": True}),
    "terminal closed": Signals(act=close_other_end, setting={"on_terminal": True}),
    "reader gone": Signals(act=close_other_end, setting={"unread": True}),
    "parent gone": Signals(act=kill_parent, setting={"in_job": True}),
}


# Expected results


class Expected(NamedTuple):
    status: int
    got: list = []  # by every command; more may follow
    says: bytes = b""
    goes_on: bool = False  # as if nothing was, when what it waits for comes


# podrun's messages: no other place in this file has these words.
NOTHING = b"podrun: nothing was started on any host\n"
INTERRUPTED = b"podrun: interrupted 2 hosts"
TOLD_TO_END = b"podrun: stopping 2 hosts"
PASSED_ON = b"podrun: sent QUIT to 2 hosts"
LEFT_THERE = b"podrun: exited; these hosts are still stopping the command: [%s] (KILL "
LEFT = LEFT_THERE % b"0,1"
LEFT_DUE = LEFT + b"due)\n"
BEFORE_THE_START = {
    "INT": Expected(130, says=NOTHING),
    "INT INT": Expected(130),
    "INT INT INT": Expected(130),
    "TERM": Expected(143, says=NOTHING),
    "HUP": Expected(129, says=NOTHING),
    "QUIT": Expected(131, says=NOTHING),
    "TSTP CONT": Expected(0, goes_on=True),
    "terminal closed": Expected(129, says=NOTHING),
    "reader gone": Expected(141, goes_on=True),  # there was nothing to write yet
    "parent gone": Expected(0, goes_on=True),
}
# For a single host the outcome is printed: its command may have started.
ALONE = {name: expected._replace(says=b"podrun: 1 stopped by podrun\n" if expected.says else b"") for name, expected in BEFORE_THE_START.items()}
RUNNING = {
    "INT": Expected(130, ["INT"], INTERRUPTED, goes_on=True),
    "INT INT": Expected(130, ["INT", "TERM"], TOLD_TO_END),
    "INT INT INT": Expected(130, ["INT", "TERM"], LEFT),
    "TERM": Expected(143, ["TERM"], TOLD_TO_END),
    "HUP": Expected(129, ["TERM"], TOLD_TO_END),
    "QUIT": Expected(0, ["QUIT"], PASSED_ON + b"\n", goes_on=True),
    "TSTP CONT": Expected(0, goes_on=True),
    "terminal closed": Expected(129, ["TERM"]),
    "reader gone": Expected(141, ["TERM"]),
    "parent gone": Expected(0, goes_on=True),
}
ENDING = {
    "INT": Expected(130, ["TERM"], TOLD_TO_END),
    "INT INT": Expected(130, ["TERM"], LEFT),
    "INT INT INT": Expected(130, ["TERM"], LEFT),
    "TERM": Expected(143, ["TERM"]),
    "HUP": Expected(129, ["TERM"]),
    "QUIT": Expected(124, ["TERM"]),
    "TSTP CONT": Expected(124, ["TERM"]),
    "terminal closed": Expected(129, ["TERM"]),
    "reader gone": Expected(141, ["TERM"]),
    "parent gone": Expected(124, ["TERM"]),
}
HELD_BACK = RUNNING | {  # nothing can be said before the reader reads, but for the last words
    "INT INT": Expected(130, ["INT", "TERM"], goes_on=True),
    "TERM": Expected(143, ["TERM"], LEFT_DUE),
    "HUP": Expected(129, ["TERM"], LEFT_DUE),
}
MOMENTS = {
    connecting: BEFORE_THE_START,
    preparing: BEFORE_THE_START,
    preparing_alone: ALONE,
    barrier: BEFORE_THE_START,
    running: RUNNING,
    running_over_ssh: RUNNING,
    ending: ENDING,
    held_back: HELD_BACK,
}
SMOKE = [(barrier, "TERM"), (running, "INT INT"), (running_over_ssh, "QUIT"), (held_back, "INT INT INT")]
# These take the same paths through podrun as other cases here, and take seconds.
FULL = [
    *((connecting, name) for name in BEFORE_THE_START if name not in ("INT", "QUIT", "TSTP CONT", "terminal closed")),
    *((preparing, name) for name in BEFORE_THE_START if name not in ("INT INT", "TERM", "TSTP CONT")),
    *((barrier, name) for name in BEFORE_THE_START if name not in ("INT", "TERM", "HUP", "reader gone")),
    *((running_over_ssh, name) for name in RUNNING if name not in ("INT INT", "TERM", "QUIT")),
    *((ending, name) for name in ("INT INT INT", "HUP", "terminal closed", "parent gone")),
    *((held_back, name) for name in ("HUP", "TSTP CONT")),
]


def cases():
    for moment, expectations in MOMENTS.items():
        for name, expected in expectations.items():
            case = (moment, name)
            marks = [pytest.mark.smoke] * (case in SMOKE) + [pytest.mark.full] * (case in FULL)
            yield pytest.param(moment, name, expected, marks=marks, id=f"{moment.__name__}-{name}")


@pytest.mark.parametrize("moment, name, expected", cases())
def test_a_signal_at_a_moment(scene, moment, name, expected):
    signals = SIGNALS[name]
    for attribute, value in signals.setting.items():
        setattr(scene, attribute, value)
    moment(scene)
    was_running = scene.has_started()
    footprint = scene.footprint() if was_running else None
    signals.happen(scene, expected.got)
    scene.wait_until_got(expected.got)
    if expected.goes_on:
        scene.go()
    wait_until(scene.over, LONG, "podrun's end")
    if name != "parent gone":
        assert scene.run.wait().returncode == expected.status
    assert expected.says in scene.run.stderr
    assert (NOTHING in scene.run.stderr) <= (not scene.has_started())
    if footprint:
        footprint.wait_until_gone(scene.grace + 5)
    if not expected.goes_on:
        return
    assert not expected.got or all(got == expected.got for got in scene.got().values())
    if expected.status == 0 or name == "INT":
        shown = by_rank(scene.output())
        assert shown.keys() == ({0} if moment is preparing_alone else {0, 1})
        assert all(lines[-1] == b"done" for lines in shown.values())


# All at one moment

NOTES_THE_TIME = r"""
for name in INT TERM; do trap "date +%s.%N >'DIRECTORY/$name.$PODRUN_RANK.new'; mv 'DIRECTORY/$name.$PODRUN_RANK.new' 'DIRECTORY/$name.$PODRUN_RANK'" $name; done
echo "$PODRUN_RUN_ID" >'DIRECTORY/id.'$PODRUN_RANK
until [ -e 'DIRECTORY/go' ]; do sleep 0.1 & wait; done
"""


@pytest.mark.timed
def test_every_host_gets_a_signal_at_one_moment(scene):
    pod = scene.pods()
    pod.move_in(scene.podrun)
    ranks = range(8)
    scene.start(*pod.on(*ranks), program=("sh", "-c", NOTES_THE_TIME))
    scene.wait_for_files(*(f"id.{rank}" for rank in ranks))
    for name in ("INT", "TERM"):  # the first Ctrl-C and the second
        os.kill(scene.pid, signal.SIGINT)
        scene.wait_for_files(*(f"{name}.{rank}" for rank in ranks))
        times = [float((scene.directory / f"{name}.{rank}").read_text()) for rank in ranks]
        assert max(times) - min(times) < limit(1), times
    scene.go()
    assert scene.run.wait().returncode == 130


# One host that hears nothing is not waited for


@pytest.mark.timed
def test_a_host_that_is_cut_off_delays_no_signal_to_the_others(scene):
    pod = scene.pods()
    pod.move_in(scene.podrun)
    proxy = scene.fault("--to", pod.addresses[0], "proxy")
    scene.short_orphan_timeout = True
    scene.start("--json", "-H", ",".join([proxy.address, *pod.addresses[1:4]]))
    scene.wait_for_files(*(f"id.{rank}" for rank in range(4)))
    footprint = scene.footprint()
    proxy.tell("stall")
    scene.press(signal.SIGQUIT)
    scene.wait_until_got(["QUIT"], range(1, 4))
    scene.press(signal.SIGINT)
    scene.wait_until_got(["QUIT", "INT"], range(1, 4))
    scene.press(signal.SIGINT)
    scene.wait_until_got(["QUIT", "INT", "TERM"], range(1, 4))
    wait_until(lambda: exits_so_far(scene.run).keys() == {1, 2, 3}, LONG, "the others ended")
    scene.press(signal.SIGINT)
    assert scene.run.wait().returncode == 130
    assert LEFT_THERE % b"0" + b"due)\n" in scene.run.stderr
    footprint.wait_until_gone(ORPHAN_TIMEOUT + GRACE + 5)


# Ctrl-C where nothing but our reader is waited for


def pipes_to_read(pid):
    """How many it has: two for each host whose output may go on, and one of its own."""
    pipes = 0
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") as info:
                reads = int(re.search(r"flags:\s+(\d+)", info.read())[1], 8) & os.O_ACCMODE == os.O_RDONLY
            pipes += reads and os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith("pipe:")
        except OSError:
            pass  # closed meanwhile
    return pipes


@pytest.mark.timed
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
def test_a_run_of_which_only_the_output_is_left_is_left_at_once(scene, number):
    scene.unread = True
    scene.start("-H", "local[0-1]", program=("sh", "-c", "echo $$ >'DIRECTORY/id.'$PODRUN_RANK; seq 30000"))  # more than a pipe holds
    scene.wait_for_files("id.0", "id.1")
    wait_until(lambda: not children_of(scene.pid) and pipes_to_read(scene.pid) == 1, LONG, "the commands ended")
    os.kill(scene.pid, number)
    ended = scene.run.wait(10)
    assert ended.returncode == 128 + number
    assert ended.stderr == b"podrun: exited before all output had arrived\n"


@pytest.mark.timed
def test_the_last_words_do_not_wait_for_their_own_reader(podrun, directory):
    reader, writer = os.pipe()
    program = FLOOD.replace("DIRECTORY", str(directory))
    words = podrun.arguments([*OPTIONS, "-H", "local", "--", "/usr/bin/python3", "-c", program])
    with subprocess.Popen(words, env=podrun.env, cwd=directory, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer) as process:
        footprint = footprint_of(directory)
        for count in (1, 2):
            process.send_signal(signal.SIGINT)
            wait_until(lambda: (directory / "got.0").exists() and len((directory / "got.0").read_text().split()) == count, LONG)
        process.send_signal(signal.SIGINT)
        assert process.wait(limit(10)) == 130
    os.close(writer)
    os.close(reader)
    footprint.wait_until_gone(GRACE + 5)


def test_one_thread_takes_all_signals(scene):
    """Two threads could take a Ctrl-C and a TERM at the same time, and the one that came last could be seen first."""
    scene.start("-H", "local[0-1]")
    scene.wait_for_files("id.0", "id.1")
    blocked = {}
    for thread in os.listdir(f"/proc/{scene.pid}/task"):
        with open(f"/proc/{scene.pid}/task/{thread}/status", encoding="ascii") as status:
            blocked[int(thread)] = int(re.search(r"SigBlk:\t(\w+)", status.read())[1], 16)
    assert len(blocked) > 1
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        assert [thread for thread, signals in blocked.items() if not signals >> (number - 1) & 1] == [scene.pid], number
    os.kill(scene.pid, signal.SIGTERM)
    assert scene.run.wait(LONG).returncode == 143


# On a terminal


@pytest.mark.timed
@pytest.mark.smoke
def test_the_status_line_tells_what_is_waited_for_and_what_comes_next(podrun, directory):
    program = COMMAND.replace("DIRECTORY", str(directory))
    terminal = podrun.terminal("--grace", "3", "--color", "never", "-H", "local[0-1]", "--", "sh", "-c", program)
    terminal.read_until(b"\r\x1b[?7l2 running")
    footprint = footprint_of(directory)
    terminal.type(b"\x03")
    terminal.read_until("\r\x1b[?7l2 running [0,1] · interrupted (Ctrl-C again: TERM, and KILL after 3 s)".encode())
    terminal.type(b"\x03")
    terminal.read_until("\r\x1b[?7l2 stopping [0,1] · KILL in ".encode())
    terminal.read_until(b" s (Ctrl-C: exit at once)")
    terminal.type(b"\x03")
    ended = terminal.wait()
    assert ended.returncode == 130
    *_before, last, nothing = ended.stdout.split(b"\n")
    assert re.fullmatch(rb"(\r\x1b\[J)?" + re.escape(LEFT) + rb"(in [123] s|sent)\)", last.rpartition(b"\x1b[?7h\r")[2])
    assert nothing == b""
    footprint.wait_until_gone(3 + 5)


def test_ctrl_backslash_shows_the_stacks_of_programs_that_can(podrun, directory):
    go = directory / "go"
    program = f"import faulthandler, os, signal, time; faulthandler.register(signal.SIGQUIT); print('ready', flush=True)\nwhile not os.path.exists('{go}'): time.sleep(0.1)"
    terminal = podrun.terminal("-H", "local[0-1]", "--color", "never", "--", "/usr/bin/python3", "-c", program)
    terminal.read_until(b": ready", count=2)
    for times in (1, 2):
        terminal.type(b"\x1c")
        terminal.read_until(PASSED_ON, count=times)
        terminal.read_until(b"(most recent call first)", count=2 * times)
    go.touch()
    assert terminal.wait().returncode == 0


def test_programs_that_die_of_it_say_so_by_their_status(podrun):
    terminal = podrun.terminal("-H", "local[0-1]", "--color", "never", "--", "sh", "-c", "ulimit -c 0; echo ready; exec sleep 1000")
    terminal.read_until(b": ready", count=2)
    terminal.type(b"\x1c")
    ended = terminal.wait()
    assert ended.returncode == 131
    assert b"podrun: exit 131 (SIGQUIT): [0,1]" in ended.stdout
    assert b"interrupted" not in ended.stdout


@pytest.mark.timed
def test_a_terminal_of_which_nothing_is_left(podrun, directory):
    program = COMMAND.replace("DIRECTORY", str(directory))
    terminal = podrun.terminal(*OPTIONS, "-H", "local[0-1]", "--", "sh", "-c", program)
    terminal.read_until(b"\r\x1b[?7l2 running")
    footprint = footprint_of(directory)
    os.close(terminal._master)
    assert terminal.process.wait(limit(20)) == 129
    footprint.wait_until_gone(GRACE + 5)


def test_ctrl_z_lets_the_hosts_wait_and_fg_goes_on(podrun, directory):
    words = f"-H local[0-1] --color never --grace 1 --orphan-timeout 2 -- 'echo ready; until [ -e {directory}/go ]; do sleep 0.1; done; echo done'"
    shell = Terminal(["bash", "--norc", "--noediting", "-i"], {**podrun.env, "TERM": "dumb"}, directory)
    shell.type(f"{podrun.binary} {words}\n".encode())
    shell.read_until(b": ready", count=2)
    shell.type(b"\x1a")
    shell.read_until(b"Stopped")
    time.sleep(3.5)  # longer than the orphan time-out: without word from us the hosts would have ended it
    (directory / "go").touch()
    shell.type(b"fg; echo status $?\n")
    shell.read_until(b": done", count=2)
    shell.read_until(b"status 0")
    shell.type(b"exit\n")
    shell.wait()


def test_ctrl_z_does_not_stop_what_nobody_could_continue(podrun, directory):
    # As the only program of a terminal window, or of `ssh -t`: its process group is an orphaned one.
    terminal = podrun.terminal("-H", "local", "--color", "never", "--", f"echo ready; until [ -e {directory}/go ]; do sleep 0.1; done; echo done")
    terminal.read_until(b": ready")
    terminal.type(b"\x1a")
    time.sleep(0.5)
    (directory / "go").touch()
    terminal.read_until(b": done")
    assert terminal.wait().returncode == 0
