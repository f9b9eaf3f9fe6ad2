"""The hosts of the soak: an isolated pod, who uses which of them at the moment, and what is to be found on them."""

import contextlib
import os
import shutil
import threading
from pathlib import Path

from pods import Pod, children_of


class Field:
    """Runs at the same time have hosts of their own, so that whatever is found on a host and not the lasting run's is of its run."""

    def __init__(self, directory, count):
        self.pod = Pod(directory, "--isolated", "--hosts", str(count))
        self._firsts = [pid for outer in (directory / "pids").read_text().split() for pid in children_of(outer)]
        self._sessions, self._lasting_logins = [{b"0"} for _rank in range(count)], [set()] * count
        self._free = list(range(count))
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        with open(directory / "user/.ssh/known_hosts", "r+", encoding="ascii") as known_hosts:
            self.known_hosts = known_hosts.read()
            key = self.known_hosts.partition("\n")[0].partition(" ")[2] + "\n"
            known_hosts.write(f"* {key}")  # of proxies, wherever they are

    @contextlib.contextmanager
    def hosts(self, count):
        """So many for nobody else, as ranks of the pod. Whoever comes first is served first."""
        with self._turn, self._changed:
            self._changed.wait_for(lambda: len(self._free) >= count)
            taken, self._free = self._free[:count], self._free[count:]
        try:
            yield taken
        finally:
            with self._changed:
                self._free += taken
                self._changed.notify_all()

    def remember_lasting(self):
        """What runs on the hosts now is no run's that is still to come."""
        ranks = range(len(self._firsts))
        self._sessions = [{session for _pid, session in self._processes(rank)} | {b"0"} for rank in ranks]
        self._lasting_logins = [set(self.pod.logins(rank)) for rank in ranks]

    def _processes(self, rank, *, waiting_shells=True):
        """(pid there, session) of those that live, but the servers; and but a shell that waits for its text, if not wanted."""
        proc = f"/proc/{self._firsts[rank]}/root/proc"
        found, servers, parents = [], set(), set()
        for pid in filter(str.isdigit, os.listdir(proc)):
            with contextlib.suppress(OSError):
                name, _, rest = Path(f"{proc}/{pid}/stat").read_bytes().rpartition(b")")
                state, parent, _group, session = rest.split()[:4]
                parents.add(parent)
                if name.endswith((b"(sshd", b"(sshd-session", b"(sshd-auth")):
                    servers.add(pid.encode())
                elif state not in b"ZX":
                    found.append((pid, parent, session))
        for pid, parent, session in found:
            # A supervisor that runs has children.
            if waiting_shells or parent not in servers or pid.encode() in parents:
                yield pid, session

    def left(self, rank, *, waiting_shells=True):
        """What a run has left there: processes and files, in words."""
        processes = self._processes(rank, waiting_shells=waiting_shells)
        left = [f"process {pid}: {self._command(rank, pid)}" for pid, session in processes if session not in self._sessions[rank]]
        return left + [f"file {path}" for path in self._files(rank)]

    def forgive(self, rank):
        """What is left there now is not held against the runs to come."""
        self._sessions[rank] |= {session for _pid, session in self._processes(rank)}
        for path in self._files(rank):
            shutil.rmtree(path)

    def _files(self, rank):
        return (self.pod.directory / "host" / str(rank) / "tmp").glob("podrun.*")

    def _command(self, rank, pid):
        try:
            words = Path(f"/proc/{self._firsts[rank]}/root/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return b" ".join(word if len(word) < 200 else word[:30] + b"[...]" + word[-30:] for word in words).decode(errors="replace")
        except OSError:
            return "has ended"

    def logins_of_run(self, rank):
        """The sshds of its connections, as pids of ours."""
        return set(self.pod.logins(rank)) - self._lasting_logins[rank]

    def footprint(self):
        """What the hosts need as long as nothing happens on them."""
        servers = [children_of(first)[0] for first in self._firsts]
        processes = sum(len([*self._processes(rank)]) + len(self.pod.logins(rank)) for rank in range(len(self._firsts)))
        return {"processes": processes, "descriptors of the sshds": sum(map(descriptors, servers)), "memory of the sshds": sum(map(memory, servers))}

    def down(self):
        self.pod.down()


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def memory(pid):
    """Resident, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
