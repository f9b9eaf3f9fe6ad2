"""What the end-to-end tests share: running podrun in three ways, waiting, and finding processes."""

import contextlib
import fcntl
import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path
from typing import NamedTuple

SANITIZED = bool(os.environ.get("PODRUN_SANITIZE"))
STRICT = bool(os.environ.get("PODRUN_STRICT"))  # alone on the machine, every limit counts to the second: .ci/run --full
SOON = ("-t", "12")  # a host that hangs is given up soon; the others start in this time, on a busy machine too
PATIENT = ("-t", "120")  # many hosts start at once
SANITIZER_STATUS = 86  # exit status of a sanitizer's finding, see tests/CMakeLists.txt


def limit(seconds):
    """How long to wait for what takes at most `seconds` on an idle machine: at least a minute, since other programs may keep it busy."""
    seconds *= 3 if SANITIZED else 1  # sanitizers slow everything down
    return seconds if STRICT else max(60, 3 * seconds)


def wait_until(condition, seconds=10, what="the condition"):
    """Waits until `condition()` is true and returns its value; fails the test after limit(seconds)."""
    deadline = time.monotonic() + limit(seconds)
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what}: not so within {limit(seconds)} s"
        time.sleep(0.02)
    return value


def read_slowly(reader, size):
    """Reads that many bytes of a descriptor, at most 1 MB a second."""
    begin, received = time.monotonic(), 0
    while received < size:
        if received < (time.monotonic() - begin) * 1e6:
            data = os.read(reader, 65536)
            assert data, f"ended after {received} bytes"
            received += len(data)
        else:
            time.sleep(0.01)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def without_options(said):
    """Hints name the hosts as they were chosen, so that they can be pasted."""
    return re.sub(rb"podrun -(?:(?!podrun |\n).)*? (logs|stop|ps|kill|hosts|ssh) ", rb"podrun \1 ", said)


def by_rank(output):
    """Labelled output as {rank: [lines without label]}."""
    lines = {}
    for line in output.splitlines():
        rank, separator, text = line.partition(b": ")
        assert separator and rank.isdigit(), f"no label: {line[:200]}"
        lines.setdefault(int(rank), []).append(text)
    return lines


# Processes are found by what they carry or where they live, never by their name.


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    command: bytes
    environment: bytes


def read_process(pid, where="/proc"):
    """The process, or None where it is gone, a zombie or not ours to look at. All its numbers are those of this /proc."""
    try:
        proc = Path(where) / str(pid)
        words = proc.joinpath("stat").read_bytes().rpartition(b")")[2].split()
        state, parent, _group, session = words[:4]
        if state in b"ZX":
            if int(words[17]) < 2:
                return None
            proc = next(thread for thread in proc.glob("task/*") if thread.name != str(pid))  # the main thread alone has ended
        return Process(pid, int(parent), int(session), proc.joinpath("cmdline").read_bytes(), proc.joinpath("environ").read_bytes())
    except (OSError, StopIteration):
        return None


def processes():
    """Every living process but the one that asks."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [process for pid in pids if pid != os.getpid() and (process := read_process(pid))]


def marked_processes(token):
    """The processes whose command line or environment contains `token`."""
    token = os.fsencode(token)
    return [process for process in processes() if token in process.command or token in process.environment]


def is_server(command):
    """Whether this is the command line of a server of a pod, or of one of its connections (sshd-session from OpenSSH 9.8 on)."""
    return re.match(rb"sshd(-session|-auth)?: |/usr/sbin/|/usr/lib/openssh/sshd-", command) is not None


def is_alive(pid):
    return read_process(pid) is not None


def processor_time(pid):
    """The state of the process, and what it has used of the processors, in ticks: user and system."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    return fields[0], fields[11:13]


def stand_still(pids):
    """Whether these processes wait for something else than a processor, for a while."""
    try:
        before = list(map(processor_time, pids))
        time.sleep(0.3)
        return before == list(map(processor_time, pids)) and all(state != b"R" for state, _used in before)
    except OSError:
        return False  # one of them has ended


def watch_memory(run, seconds):
    """Waits until it ends; the most that it has had in memory, in bytes."""
    peak = 0

    def has_ended():
        nonlocal peak
        with contextlib.suppress(OSError, TypeError):
            peak = max(peak, peak_memory(run.pid))
        return run.process.poll() is not None

    wait_until(has_ended, seconds, "its end")
    return peak


def peak_memory(pid):
    """The most that it has had in memory, in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) << 10


class Footprint:
    """Everything that one run started on its hosts: what carries the run's id, and the sessions that this lives in."""

    def __init__(self, run_id):
        self.run_id = run_id
        here = {os.getsid(0)}
        self.sessions = {process.session for process in marked_processes(run_id)} - here

    def remaining(self):
        return [
            process
            for process in processes()
            if process.session in self.sessions
            or os.fsencode(self.run_id) in process.command + b"\0" + process.environment
        ]

    def wait_until_gone(self, seconds):
        try:
            wait_until(lambda: not self.remaining(), seconds)
        except AssertionError:
            left = self.remaining()
            end(left)
            raise AssertionError("left behind: " + "; ".join(describe(process) for process in left)) from None


def describe(process):
    return f"{process.pid} {process.command.replace(bytes(1), b' ').decode(errors='replace').strip()}"


def send(number, pids):
    """Those that have ended are left out: they may end with each other."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def end(processes_to_end):
    send(signal.SIGKILL, (process.pid for process in processes_to_end))


# Three ways to run podrun: to its end, in the background, on a terminal.


class Podrun:
    """Runs the binary under test with an own $HOME and nothing of the caller's environment."""

    def __init__(self, directory, wrapper=()):
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir()
        self.wrapper = [os.fspath(word) for word in wrapper]
        passed_on = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
        # On a TPU VM the metadata server would name hosts, and no test means these.
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TPU_SKIP_MDS_QUERY": "1", **passed_on}
        self.binary = os.environ["PODRUN_BIN"]
        self._runs = 0

    def arguments(self, args):
        return [*self.wrapper, self.binary, *(os.fspath(arg) if isinstance(arg, Path) else arg for arg in args)]

    def __call__(self, *args, input=None, env=None, cwd=None, timeout=60):
        """Runs it to its end: a CompletedProcess with the bytes of stdout and stderr. Standard input is empty or `input`."""
        completed = subprocess.run(
            self.arguments(args),
            env={**self.env, **(env or {})},
            cwd=cwd or self.directory,
            capture_output=True,
            timeout=limit(timeout),
            **({"stdin": subprocess.DEVNULL} if input is None else {"input": input}),
        )
        return checked(completed)

    def ok(self, *args, **options):
        """Runs it to its end, which must be status 0: what it printed on stdout."""
        completed = self(*args, **options)
        assert completed.returncode == 0, completed
        return completed.stdout

    def start(self, *args, env=None, cwd=None, stdin=subprocess.DEVNULL, stdout=None):
        """Starts it in the background. What it prints goes to files, so that it never waits for the test."""
        self._runs += 1
        prefix = self.directory / f"run{self._runs}"
        return Running(self.arguments(args), {**self.env, **(env or {})}, cwd or self.directory, prefix, stdin, stdout)

    def terminal(self, *args, env=None, cwd=None):
        """Starts it on a pseudo-terminal of its own."""
        return Terminal(self.arguments(args), {**self.env, "TERM": "xterm", **(env or {})}, cwd or self.directory)


def checked(completed):
    assert completed.returncode != SANITIZER_STATUS, completed.stderr.decode(errors="replace")
    return completed


class Running:
    def __init__(self, argv, env, cwd, prefix, stdin, stdout):
        self._files = [Path(f"{prefix}.out"), Path(f"{prefix}.err")]
        with open(self._files[0], "wb") as out, open(self._files[1], "wb") as err:
            self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=stdin, stdout=stdout or out, stderr=err, start_new_session=True)
        self.pid = self.process.pid

    @property
    def stdout(self):
        """What it has printed so far."""
        return self._files[0].read_bytes()

    @property
    def stderr(self):
        return self._files[1].read_bytes()

    def wait_for_output(self, text, count=1, seconds=20):
        def printed():
            assert self.process.poll() is None or self.stdout.count(text) >= count, self.stdout + self.stderr
            return self.stdout.count(text) >= count

        wait_until(printed, seconds, f"{text} printed")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=30):
        """Waits for its end: a CompletedProcess."""
        status = self.process.wait(limit(seconds))
        return checked(subprocess.CompletedProcess(self.process.args, status, self.stdout, self.stderr))


class Terminal:
    def __init__(self, argv, env, cwd):
        self._master, slave = pty.openpty()
        settings = termios.tcgetattr(slave)
        settings[1] &= ~termios.OPOST  # bytes as they were written
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        termios.tcsetwinsize(slave, (24, 1000))  # no message is wrapped
        self.settings_at_start = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.pid = self.process.pid
        self.output = b""

    def echo(self):
        """From now on what is typed is on the screen, as for a user."""
        settings = termios.tcgetattr(self._master)
        settings[3] |= termios.ECHO
        termios.tcsetattr(self._master, termios.TCSANOW, settings)

    def type(self, keys):
        os.write(self._master, keys)

    @property
    def settings(self):
        return termios.tcgetattr(self._master)

    def _read(self, seconds):
        """Takes what is there to read, after at most `seconds`; False at the end."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            self.output += (data := os.read(self._master, 65536))
            return bool(data)
        except OSError:  # EIO: nobody has the other end open any more
            return False

    def read_until(self, text, count=1, seconds=20):
        deadline = time.monotonic() + limit(seconds)
        while self.output.count(text) < count:
            assert time.monotonic() < deadline, f"{text} not shown: {self.output}"
            assert self._read(0.1) or self.output.count(text) >= count, f"{text} not shown before the end: {self.output}"
        return self.output

    def read_until_match(self, pattern, begin=0, seconds=20):
        """Reads until what was shown from `begin` on has the pattern; returns it."""
        deadline = time.monotonic() + limit(seconds)
        while not re.search(pattern, self.output[begin:]):
            assert time.monotonic() < deadline, f"{pattern} not shown: {self.output[begin:]}"
            assert self._read(0.1) or re.search(pattern, self.output[begin:]), f"{pattern} not shown before the end: {self.output}"
        return self.output[begin:]

    def wait(self, seconds=30):
        """Waits for its end: a CompletedProcess whose stdout is all that was shown."""
        deadline = time.monotonic() + limit(seconds)
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.output}"
            self._read(0.05)
        while select.select([self._master], [], [], 0)[0] and self._read(0):
            pass
        self.settings_at_end = self.settings
        os.close(self._master)
        return checked(subprocess.CompletedProcess(self.process.args, self.process.returncode, self.output, b""))
