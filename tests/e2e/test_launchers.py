"""The lines of docs/launchers.md for torchrun, DeepSpeed and accelerate, as they stand there but for ports and numbers of processes. The launchers are
stand-ins (tests/launchers/stand_in). With $PODRUN_TORCHRUN, which .ci/run --full sets, torchrun is the real one of python3-torch. By hand:

PODRUN_TORCHRUN=1 PODRUN_BIN=… tests/alone pytest-3 tests/e2e/test_launchers.py
"""

import os
import re
import shlex
import shutil
import socket

import pytest

from pods import TESTS
from support import by_rank, marked_processes

HOSTS, SLOTS = 3, 2
REAL_TORCHRUN = bool(os.environ.get("PODRUN_TORCHRUN"))
LINES = re.findall(r"^    (podrun .*train\.py.*)", (TESTS.parent / "docs" / "launchers.md").read_text(encoding="utf-8"), re.MULTILINE)

# The rank $FAIL exits with 7, or gets KILL, while the others wait. Each then has a process in a session of its own, as
# a data loader may have, which no launcher stops.
TRAIN = """
import os, signal, subprocess, sys, time
rank, fails = int(os.environ["RANK"]), os.environ.get("FAIL")
if "PODRUN_TORCHRUN" in os.environ:
    import torch.distributed
    torch.distributed.init_process_group("gloo")
    assert rank == torch.distributed.get_rank()
if fails:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "NCCL_SOCKET_IFNAME")
sys.stdout.write(" ".join(os.environ.get(name, "-") for name in names) + "\\n")
sys.stdout.flush()
if fails == str(rank):
    os.kill(os.getpid(), signal.SIGKILL) if "KILLED" in os.environ else sys.exit(7)
if "PODRUN_TORCHRUN" in os.environ:
    torch.distributed.barrier()
elif fails:
    time.sleep(1000)
"""


def lines_of(launcher):
    found = [line for line in LINES if f"'{launcher} " in line]
    assert found, launcher
    return found


class Cluster:
    """Three real OpenSSH hosts with two slots each, their host file, a training program, and launchers."""

    def __init__(self, podrun, pod):
        self.podrun = podrun
        self.pod = pod
        directory = podrun.directory
        (directory / "hf").write_text("".join(f"{address} slots={SLOTS}\n" for address in pod.addresses[:HOSTS]))
        (directory / "train.py").write_text(TRAIN)
        (directory / ".deepspeed_env").write_text("NCCL_SOCKET_IFNAME=lo\n")
        (directory / "bin").mkdir()
        for name in ("deepspeed", "accelerate", "torchrun"):
            if name == "torchrun" and REAL_TORCHRUN:
                assert shutil.which(name), "torchrun is not installed (apt-get install python3-torch)"
                continue
            program = directory / "bin" / name
            program.write_text(f"#!/bin/sh\nexec {TESTS}/launchers/stand_in {name} \"$@\"\n")
            program.chmod(0o755)

    def run(self, line, **variables):
        variables = {"PATH": f"{self.podrun.directory}/bin:{os.environ['PATH']}", **variables}
        if REAL_TORCHRUN and "torchrun" in line:
            # The default of --redirects and --tee stops torch 1.13 with Python 3.11 (Flag no longer lists the value 0).
            variables |= {"PODRUN_TORCHRUN": "1", "OMP_NUM_THREADS": "1", "PET_REDIRECTS": f"{SLOTS}:0", "PET_TEE": f"{SLOTS}:0"}
        with socket.socket() as free:
            free.bind((self.pod.hosts[0], 0))
            line = line.replace("29500", str(free.getsockname()[1]))
        line = line.replace("--nproc_per_node 8", f"--nproc_per_node {SLOTS}").replace("8 * PODRUN", f"{SLOTS} * PODRUN")
        options = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        return self.podrun(*options, *shlex.split(line)[1:], env={"PODRUN_HOSTFILE": "hf"})


@pytest.fixture
def cluster(podrun, pod):
    return Cluster(podrun, pod)


@pytest.mark.parametrize("launcher, line", [(launcher, line) for launcher in ("torchrun", "deepspeed", "accelerate launch") for line in lines_of(launcher)])
def test_every_process_gets_its_rank(cluster, launcher, line):
    ended = cluster.run(line)
    assert ended.returncode == 0, ended
    interface = "lo" if ".deepspeed_env" in line else "-"
    assert {worker: sorted(lines) for worker, lines in by_rank(ended.stdout).items()} == {
        worker: [f"{worker * SLOTS + local} {HOSTS * SLOTS} {local} {cluster.pod.hosts[0]} {interface}".encode() for local in range(SLOTS)] for worker in range(HOSTS)
    }


@pytest.mark.parametrize("launcher, status", [("torchrun", 1), ("deepspeed", 7), ("accelerate launch", 1)])
def test_a_rank_that_fails_ends_the_run_everywhere(cluster, launcher, status):
    ended = cluster.run(lines_of(launcher)[0], FAIL="3")
    assert ended.returncode == status, ended
    assert marked_processes(cluster.podrun.directory) == []
    if launcher == "torchrun" and REAL_TORCHRUN:  # each torchrun fails by itself, since gloo notices a lost peer
        assert re.search(rb"rank +: 3 .*\n.* exitcode +: 7 ", ended.stderr)
    else:
        assert f"[1] {cluster.pod.hosts[1]} failed first (exit {status}), so podrun stopped [0,2]".encode() in ended.stderr


@pytest.mark.smoke
def test_a_rank_that_is_killed_ends_the_run_everywhere(cluster):
    ended = cluster.run(lines_of("deepspeed")[0], FAIL="3", KILLED="1")
    assert ended.returncode == 256 - 9, ended
    assert marked_processes(cluster.podrun.directory) == []
