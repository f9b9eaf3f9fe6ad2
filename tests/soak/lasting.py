"""The runs that last as long as the soak. What one of them needs, in descriptors and memory, must not grow with what it meets."""

import os
import signal
import statistics
import subprocess
from pathlib import Path

import views
from field import descriptors, memory
from plan import BEFORE_THE_START
from pods import Fault
from support import wait_until

SETTLED = 60  # seconds after the last run in which all is as at the start again
MANY = 30  # samples, one a second, of which the middle one counts


class Lasting:
    """A podrun of which much is expected."""

    def __init__(self, home, directory, name, *words):
        self.name = name
        self._out = open(directory / f"{name}.out", "w+b")
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        words = [os.environ["PODRUN_BIN"], *map(str, words)]
        self._process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._out, start_new_session=True
        )

    def need(self):
        return {"descriptors": descriptors(self._process.pid), "memory": memory(self._process.pid)}

    def runs(self):
        return self._process.poll() is None

    def said(self):
        self._out.seek(0)
        return self._out.read()

    def wait(self):
        """Its exit status; None if it does not end."""
        try:
            return self._process.wait(SETTLED)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        """It ends, however things are."""
        self._process.kill()


def sleeps(seconds):
    """The processes of `sleep SECONDS`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if Path(f"/proc/{pid}/cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(int(pid))
        except OSError:
            pass  # it has ended
    return found


def wait_for_sleeps(seconds, count):
    wait_until(lambda: len(sleeps(seconds)) == count, SETTLED, f"{count} commands of a lasting run")


class Silent(Lasting):
    """A command that says nothing on all hosts of the pod, and has to survive."""

    SECONDS = "5432100"

    def __init__(self, pod, directory):
        super().__init__(pod.directory / "user", directory, "silent", "--hostfile", pod.list, "--", f"sleep {self.SECONDS}; echo survived")
        self._hosts = len(pod.addresses)
        wait_for_sleeps(self.SECONDS, self._hosts)

    def end(self):
        """Lets its commands end; yields what is wrong."""
        if not self.runs():
            yield f"the silent run ended with {self._process.returncode}"
            return
        for pid in sleeps(self.SECONDS):
            os.kill(pid, signal.SIGTERM)
        status = self.wait()
        survived = self.said().count(b": survived\n")
        if (status, survived) != (0, self._hosts):
            yield f"the silent run: {survived} of {self._hosts} survived, {status} exit status"


def grown(what, before, after):
    """Memory has some room, a descriptor none."""
    return after > before * 1.1 + (2 << 20) if "memory" in what else after > before


class Trying(Lasting):
    """`podrun check --wait`: it tries again and again, at each kind of fault before the start, and behind proxies that break off."""

    BROKEN = (("--cut-by", "rst", "--cut-after"), ("--cut-by", "fin", "--cut-after"), ("--stall-after",), ("--corrupt-at",), ("--lose-at",))
    BYTES = (1000, 1800)  # in the key exchange and the login
    ROOM = 5  # descriptors: how many hosts are just being tried is a matter of luck

    def __init__(self, pod, directory):
        behaviours = [each for each in BEFORE_THE_START if each != "refused"]
        self._faults = [Fault(",".join(behaviours), addresses=[f"127.86.0.{number + 1}" for number in range(len(behaviours))])]
        for event in self.BROKEN:
            for number, (direction, at) in enumerate((direction, at) for direction in ("up", "down") for at in self.BYTES):
                words = [*event, at, "--direction", direction, "--to", pod.addresses[0], "proxy"]
                self._faults.append(Fault(*words, addresses=[f"127.86.{len(self._faults)}.{number + 1}"]))
        addresses = ["127.88.0.1:129", *(address for fault in self._faults for address in fault.addresses)]
        super().__init__(pod.directory / "user", directory, "trying", "check", "--wait", "24h", "-t", "3", "-H", ",".join(addresses))
        self._samples = []
        self.connections = 0  # that reached a proxy

    def tick(self):
        if self.runs():
            self._samples.append(self.need())

    def end(self):
        alive = self.runs()
        if alive:
            self._process.send_signal(signal.SIGTERM)
        status = self.wait()
        for fault in self._faults:
            self.connections += len(fault.connections)
            fault.end()
        if not alive or status != 128 + signal.SIGTERM:
            yield f"the trying run ended with {status}"
        for what, (early, late) in self.middles().items():
            if grown(what, early + (self.ROOM if what == "descriptors" else 0), late):
                yield f"{what} of the trying run: {early} early, {late} late"

    def middles(self):
        """{what: (early, late)}, where the soak is long enough. The first try of each host, which is most at once, does not count."""
        if len(self._samples) < 3 * MANY:
            return {}
        parts = self._samples[MANY : 2 * MANY], self._samples[-MANY:]
        return {what: tuple(statistics.median_low(sample[what] for sample in part) for part in parts) for what in self._samples[0]}


class Losing(Lasting):
    """Its hosts are lost one after the other, while it runs. What it needed for them it has to give back."""

    SECONDS = "5432101"
    HOSTS = 32

    def __init__(self, pod, directory):
        self._proxy = Fault("--to", pod.addresses[1], "proxy", addresses=[f"127.85.0.{number + 1}" for number in range(self.HOSTS)])
        # One that has not spoken might not have begun: then its loss ends the others.
        words = ("--grace", "1", "-H", ",".join(self._proxy.addresses), "--", f"echo up; exec sleep {self.SECONDS}")
        super().__init__(pod.directory / "user", directory, "losing", *words)
        wait_until(lambda: self.said().count(b": up\n") == self.HOSTS, SETTLED, "the losing run up")
        wait_for_sleeps(self.SECONDS, self.HOSTS)
        self._lost = 0
        self._first = self._last = self.need()

    def tick(self, share):
        """`share` of the soak is over: so many of its hosts are lost, but for one."""
        while self._lost < int(share * (self.HOSTS - 1)):
            self._proxy.tell(f"cut {('rst', 'fin')[self._lost % 2]} {self._lost}")
            self._lost += 1

    def end(self):
        wait_for_sleeps(self.SECONDS, self.HOSTS - self._lost)
        self._last = self.need()
        for number in range(self._lost, self.HOSTS):
            self._proxy.tell(f"cut rst {number}")
        status = self.wait()
        self._proxy.end()
        wait_for_sleeps(self.SECONDS, 0)
        outcomes = views.outcomes(self.said(), status, range(self.HOSTS)).values()
        if status != 255 or not all(outcome and outcome.startswith("lost: ") for outcome in outcomes):
            yield f"the losing run: {status} exit status, {self.said()[-300:]}"
        if self._last["descriptors"] > self._first["descriptors"] - self._lost:
            yield f"descriptors of the losing run: {self._first} with all hosts, {self._last} with {self._lost} less"
        if grown("memory", self._first["memory"], self._last["memory"]):
            yield f"memory of the losing run: {self._first} -> {self._last}"

    def middles(self):
        return {what: (self._first[what], self._last[what]) for what in self._first}
