"""What a command and all the processes it starts cost."""

import ctypes
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

PR_SET_CHILD_SUBREAPER = 36


class Cost(NamedTuple):
    cpu: float  # seconds, user and system
    wall: float  # seconds
    memory: int  # bytes, the most of the biggest process
    failed: bool
    wire: int = 0  # bytes on the loopback interface meanwhile
    servers: float = 0  # seconds of CPU of the hosts, where somebody counts them


def run(command, environment, output):
    """Runs it, with what it prints going to the descriptor, and returns its Cost."""
    read, write = os.pipe()
    before = _on_the_wire()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, json.dumps(_run_here(command, environment, output)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as report:
        cost = Cost(*json.loads(report.read()))
    os.waitpid(pid, 0)
    return cost._replace(wire=_on_the_wire() - before)


def _run_here(command, environment, output):
    # The kernel counts the memory of whoever starts a program as the program's. So that is a shell, which is small and ends at
    # once, and the program becomes our child, as does whatever nobody else has waited for.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start = time.monotonic()
    files = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    shell = os.posix_spawn("/bin/sh", ["sh", "-c", '"$@" &', "sh", *command], environment, file_actions=files)
    cpu, memory, failed = 0.0, 0, False
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return Cost(cpu, time.monotonic() - start, memory, failed)
        if pid != shell:
            cpu += usage.ru_utime + usage.ru_stime
            memory = max(memory, usage.ru_maxrss * 1024)
            failed = failed or status != 0


def _on_the_wire():
    """Bytes that the loopback interface has carried."""
    for line in Path("/proc/net/dev").read_text(encoding="ascii").splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    return 0


def of_ended_sessions(pod):
    """Seconds of CPU of all sessions of a flat pod that have ended, by what its servers have waited for."""
    ticks = 0
    for pid in (pod / "pids").read_text(encoding="ascii").split():
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[13]) + int(fields[14])  # of its children, user and system: cutime and cstime of proc(5)
    return ticks / os.sysconf("SC_CLK_TCK")
