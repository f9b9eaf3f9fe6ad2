"""One run of the soak: podrun is started, things happen to it, and what it did is checked."""

import contextlib
import os
import resource
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

import views
from judge import NOT_REACHED, Judge
from payload import STREAMS
from plan import AT_A_BYTE, AT_A_MOMENT, BEFORE_THE_START, FLOODS, RUNNING, SILENT, SSH_SERVERS
from pods import Fault
from support import describe, end, marked_processes

COMMAND = Path(__file__).with_name("command.sh")
LIMIT = 120  # seconds in which any run is over
PIECE = 65536


class Trial:
    """The run of a plan. After run(), `problems` says what was not as it should be."""

    def __init__(self, plan, field, payloads, ranks, directory):
        self.plan, self.field, self.payloads, self.ranks, self.directory = plan, field, payloads, ranks, directory
        self.numbers = range(plan.hosts)
        self.problems = []
        self.bytes_checked = 0
        self.arguments = []
        self._sshds = []  # descriptors of those that were signalled
        self._process = self._proxy = self.status = None
        self._spoke = False  # whether output of the faulty host was shown

    def run(self):
        self.directory.mkdir(parents=True)
        try:
            with contextlib.ExitStack() as stack:
                self._start(stack)
                self._let_things_happen()
                self._wait()
                self._check_left()
            self._check_status()
            self._check_output()
        except Exception as problem:  # also of output that cannot be read at all
            self.problems.append(f"{type(problem).__name__}: {problem}")
        finally:
            self._clear_up()

    # The run

    def _start(self, stack):
        self.arguments = [os.environ["PODRUN_BIN"], *self._hosts(stack), *self._options(), *self._command()]
        (self.directory / "input").write_bytes(self.plan.input)
        with contextlib.ExitStack() as files:
            out, err = (files.enter_context(open(self.directory / name, "wb")) for name in STREAMS)
            stdin = files.enter_context(open(self.directory / "input", "rb")) if self.plan.action == "input" else subprocess.DEVNULL
            environment = {"PATH": os.environ["PATH"], "HOME": str(self.field.pod.directory / "user"), "LANG": "C.UTF-8"}
            environment |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
            self._begin = time.monotonic()
            self._process = subprocess.Popen(
                self.arguments,
                env=environment,
                cwd=self.directory,
                stdin=stdin,
                stdout=subprocess.PIPE if self.plan.reader else out,
                stderr=err,
                start_new_session=True,
            )
            most = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (most, most))
        if self.plan.reader:
            self._reader = threading.Thread(target=self._read)
            self._reader.start()

    def _hosts(self, stack):
        addresses = [self.field.pod.addresses[rank] for rank in self.ranks]
        fault, number = self.plan.fault, self.plan.faulty
        port = addresses[number].partition(":")[2]
        if fault == "refused":
            addresses[number] = f"127.88.0.1:{port}"
        elif fault and not fault.startswith("sshd"):
            rank = self.ranks[number]
            net = 87 if self._has_own_key else 89
            self._proxy = Fault(*self._fault_words(addresses[number]), addresses=(f"127.{net}.{rank >> 8}.{rank & 255}",))
            stack.callback(self._proxy.end)
            addresses[number] = self._proxy.address
        if self.plan.seed % 2:
            return ["-H", ",".join(addresses)]
        (self.directory / "hosts").write_text("".join(f"{address}\n" for address in addresses), encoding="ascii")
        return ["--hostfile", str(self.directory / "hosts")]

    def _fault_words(self, address):
        fault = self.plan.fault
        if fault in RUNNING:
            return ["--authorized-keys", self.field.pod.directory / "authorized_keys", "runs" if fault == "deaf" else fault]
        if fault in BEFORE_THE_START:
            return [fault]
        words = ["--reset-first", 1] if fault == "reset-first" else []
        if fault in AT_A_BYTE:
            words = [fault, int(self.plan.fault_at), "--direction", self.plan.direction, "--cut-by", self.plan.cut_by]
        return [*words, "--to", address, "proxy"]

    @property
    def _has_own_key(self):
        """The faulty host is no host of the pod, and nobody knows its key."""
        return self.plan.fault in SSH_SERVERS + RUNNING

    @property
    def _mark(self):
        """What processes of this run have in their environment, where the faulty host is this machine."""
        return f"{self.directory}/"

    def _options(self):
        options = [*views.VIEWS[self.plan.view][0], *(["--outdir", str(self.directory / "outdir")] if self.plan.outdir else [])]
        if self._has_own_key:
            (self.directory / "known_hosts").write_text(self.field.known_hosts, encoding="ascii")
            options += ["-o", f"UserKnownHostsFile={self.directory}/known_hosts"]
        if self.plan.fault in RUNNING:
            options += ["-e", f"SOAK_RUN={self._mark}"]
        return [*options, *self.plan.options]

    def _command(self):
        statuses = [f"{number}:{status}" for number, status in self.plan.statuses.items()]
        words = [str(self.payloads.path(self.plan.kind)), self.plan.action, *statuses]
        if self.plan.form == "script":
            return ["-s", str(self.command_file), "--", *words]
        words = ["sh", str(self.command_file), *words]
        return ["--", *words] if self.plan.form == "words" else ["--", shlex.join(words)]

    @property
    def command_file(self):
        """The hosts see the directory of the pod."""
        return self.field.pod.directory / COMMAND.name

    def _read(self):
        """The reader of its output, in a thread of its own."""
        left = self.plan.reader_bytes if self.plan.reader == "closing" else None
        with self._process.stdout as pipe, open(self.directory / "stdout", "ab") as out:
            while left is None or left > 0:
                if not (data := os.read(pipe.fileno(), PIECE if left is None else min(left, PIECE))):
                    break
                out.write(data)
                left = None if left is None else left - len(data)
                if self.plan.reader == "slow":
                    time.sleep(0.02)

    def _let_things_happen(self):
        things = [(when, self._signal, name) for when, name in self.plan.signals]
        if self.plan.fault in AT_A_MOMENT:
            things.append((self.plan.fault_at, self._trouble, self.plan.fault))
        for when, do, what in things:
            if self._ends_within(self._begin + when - time.monotonic()):
                return
            do(what)

    def _ends_within(self, seconds):
        try:
            self._process.wait(max(0, seconds))
            return True
        except subprocess.TimeoutExpired:
            return False

    def _signal(self, name):
        self._process.send_signal(getattr(signal, f"SIG{name}"))

    def _trouble(self, what):
        if not what.startswith("sshd"):
            self._proxy.tell(what.removesuffix(" for a while"))
            if what.endswith(" for a while") and not self._ends_within(2):
                self._proxy.tell("go")
            return
        for pid in self.field.logins_of_run(self.ranks[self.plan.faulty]):
            with contextlib.suppress(ProcessLookupError):
                self._sshds.append(os.pidfd_open(pid))  # a number may be another's soon
        self._signal_sshds(signal.SIGKILL if what == "sshd killed" else signal.SIGSTOP)
        if what.endswith(" for a while"):
            self._ends_within(2)
            self._signal_sshds(signal.SIGCONT)

    def _signal_sshds(self, number):
        for sshd in self._sshds:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(sshd, number)

    def _wait(self):
        if not self._ends_within(LIMIT):
            self._process.kill()
            self._process.wait()
            self.problems.append(f"podrun did not end within {LIMIT} s")
        self._end = time.monotonic()
        if self.plan.reader:
            self._reader.join()
        self.status = self._process.returncode

    # Checks

    def _check_left(self):
        """Hosts that stop at one moment share the processors of this machine. One that can see no end of its connection has longer."""
        due = self._end + self.plan.grace + 5 + self.plan.hosts / 4
        late = due + self.plan.orphan_timeout if self.plan.fault in SILENT else due
        pending = {number: due if number != self.plan.faulty else late for number in self.numbers}
        while pending:
            for number, until in [*pending.items()]:
                left = self._left(number)
                if left and time.monotonic() > until:
                    self.problems.append(f"left behind on {number} {self._how_long(number)}: {'; '.join(left)}")
                    self.field.forgive(self.ranks[number])
                    end(marked_processes(self._mark))
                if not left or time.monotonic() > until:
                    del pending[number]
            time.sleep(0.1 if pending else 0)
        self._signal_sshds(signal.SIGKILL)

    def _how_long(self, number):
        """In words; "for good" if it does not end soon."""
        deadline = time.monotonic() + 30
        while self._left(number):
            if time.monotonic() > deadline:
                return "for good"
            time.sleep(0.1)
        return f"until {time.monotonic() - self._end:.0f} s after the end"

    def _left(self, number):
        if number == self.plan.faulty and self.plan.fault in RUNNING:
            return [describe(process) for process in marked_processes(self._mark)]
        # Where the network falls silent before the supervisor has arrived, the shell waits as long as its sshd (faults.md, Limits).
        cut_off = number == self.plan.faulty and self.plan.fault in SILENT
        return self.field.left(self.ranks[number], waiting_shells=not cut_off)

    def _check_status(self):
        silent = not any((self.directory / name).stat().st_size for name in STREAMS)
        if self.status not in (possible := self.plan.possible_statuses(silent)):
            self.problems.append(f"exit status {self.status}, expected of {sorted(possible)}")
        cores = [str(core) for core in self.directory.glob("core*")]
        assert not cores or self.status == -signal.SIGQUIT, f"core files: {cores}"

    def _check_output(self):
        out, err = ((self.directory / name).read_bytes() for name in STREAMS)
        assert b"Sanitizer" not in err and b"runtime error:" not in err, "a sanitizer's report"
        self._outcomes = views.outcomes(err, self.status, self.numbers)
        cut_off = self.plan.reader == "closing" or "KILL" in self.plan.signal_names
        if self.plan.view == "json" and not cut_off and self.plan.undisturbed:
            assert b'"event":"summary"' in out, "no summary"
        if self.plan.view != "dedup" or not cut_off and b"podrun: late:" not in err:  # else the end says what is not shown
            shown = views.VIEWS[self.plan.view][1](out, err, self.numbers)
            self._check_streams(self.plan.view, shown, self._shown_numbers(), ("stdout",) if self.plan.view == "raw" else STREAMS, cut_off)
        if self.plan.outdir and (self.directory / "outdir").exists():
            self._check_streams("--outdir", views.outdir(self.directory / "outdir", self.numbers), self.numbers, STREAMS)
        nothing_started = views.NOTHING_STARTED.encode() in err
        self.problems += Judge(self.plan, self._outcomes, views.culprit(err), nothing_started, self._spoke).complaints(self.status)

    def _shown_numbers(self):
        return [0] if self.plan.view == "rank0" else self.numbers

    def _check_streams(self, view, shown, numbers, streams, cut_off=False):
        for number in numbers:
            outcome = self._outcomes[number]
            whole = outcome is not None and outcome.startswith(("ok", "exit")) and not self.plan.decisive and not cut_off
            for name, stream in self.payloads.expected(self.plan, number).items():
                floods = name == "stderr" and number == self.plan.faulty and self.plan.fault in FLOODS
                if name in streams and not floods:
                    self._spoke = self._spoke or number == self.plan.faulty and bool(shown.get((number, name)))
                    self._check_stream(f"{view}, host {number}, {name}", shown.get((number, name)), stream, outcome, whole)

    def _check_stream(self, where, shown, stream, outcome, whole):
        shown = views.Bytes() if shown is None else shown.without_last_word()
        if "--login" in self.plan.options and self.plan.signals:
            shown = shown.without_profile()
        size = len(shown) if isinstance(shown, bytes) else sum(map(len, shown))
        if outcome == "not started" or outcome and outcome.startswith(NOT_REACHED):
            good = size == 0
        else:
            good = shown.equal(stream) if whole and stream.ends else shown.begin(stream)
        self.bytes_checked += size
        if not good:
            words = "all that was expected" if whole else "the first part of what was expected"
            end = bytes(shown)[-60:] if isinstance(shown, bytes) else shown[-3:]
            self.problems.append(f"{where}: {size} bytes are not {words} ({outcome}), their end: {end}")

    def _clear_up(self):
        for sshd in self._sshds:
            os.close(sshd)
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def text(self):
        """All about it, for whoever looks for the mistake."""
        said = (self.directory / "stderr").read_bytes()[-2000:].decode(errors="replace").splitlines()[-6:] if self._process else []
        return "\n  ".join([f"exit status {self.status}", *(line[:300] for line in said), shlex.join(self.arguments), str(self.plan)])
