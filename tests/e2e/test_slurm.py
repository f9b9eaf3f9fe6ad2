"""The recipe of docs/via.md for Slurm, in jobs of a real Slurm. It needs $PODRUN_SLURM, which .ci/run --full sets. By hand:

PODRUN_SLURM=1 PODRUN_BIN=… tests/alone tests/own_network pytest-3 tests/e2e/test_slurm.py
"""

import os
import shlex
import signal
import subprocess

import pytest

from events import events
from pods import TESTS
from recipes import DOCUMENT, RECIPES, via_of
from support import Footprint, by_rank, limit, sha256, wait_until

SLURM = TESTS / "slurm" / "slurm"
pytestmark = pytest.mark.skipif(not os.environ.get("PODRUN_SLURM") or os.geteuid() != 0, reason="needs $PODRUN_SLURM and root")

(RECIPE,) = (recipe for recipe in RECIPES if "srun" in recipe)
_via, SRUN = via_of(RECIPE)


class Slurm:
    """What tests/slurm/slurm has started."""

    def __init__(self, directory):
        self.directory = directory
        self.variables = {"SLURM_CONF": str(directory / "slurm.conf")}
        up = subprocess.run([SLURM, "up", directory], capture_output=True, text=True, check=False)
        assert up.returncode == 0, up.stderr

    def down(self):
        subprocess.run([SLURM, "down", self.directory], check=True)


class Job:
    """An allocation that lasts until end(), and the variables that salloc gives to its command."""

    def __init__(self, slurm, file, *options):
        shell = f"env -0 >'{file}.new' && mv '{file}.new' '{file}' && exec cat"
        words = ["salloc", "--quiet", *options, "sh", "-c", shell]
        self._salloc = subprocess.Popen(words, env={**os.environ, **slurm.variables}, stdin=subprocess.PIPE)
        wait_until(lambda: file.exists() or self._salloc.poll() is not None, what=f"salloc {options}")
        variables = dict(variable.split("=", 1) for variable in file.read_text().rstrip("\0").split("\0"))
        self.variables = {name: value for name, value in variables.items() if name.startswith("SLURM")}

    def end(self):
        self._salloc.communicate(timeout=limit(20))


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    slurm = Slurm(tmp_path_factory.mktemp("slurm"))
    yield slurm
    slurm.down()


@pytest.fixture
def in_job(slurm, podrun):
    """podrun in a job with these options of salloc."""
    jobs = []

    def enter(*options):
        jobs.append(Job(slurm, podrun.directory / "variables", *options))
        podrun.env.update(jobs[-1].variables)
        return podrun

    yield enter
    for job in jobs:
        job.end()


@pytest.fixture
def job(in_job):
    return in_job("-N3")


def test_finds_the_nodes_of_the_job(job):
    assert by_rank(job.ok("--via", SRUN, "--", "echo $SLURMD_NODENAME $PODRUN_HOST")) == {rank: [b"n%d n%d" % (rank + 1, rank + 1)] for rank in range(3)}


def test_finds_the_nodes_in_a_batch_job(slurm, podrun):
    output, ended = podrun.directory / "output", podrun.directory / "ended"
    script = podrun.directory / "script"
    words = shlex.join([podrun.binary, "--via", SRUN, "--", "echo $SLURMD_NODENAME; exit 3"])
    script.write_text(f"#!/bin/sh\n{words} 2>/dev/null\necho $? >'{ended}'\n")
    subprocess.run(["sbatch", "--quiet", "-N3", "-o", output, script], env={**podrun.env, **slurm.variables}, check=True)
    wait_until(lambda: ended.exists() and ended.read_text() == "3\n", what="the batch job has ended")
    assert by_rank(output.read_bytes()) == {rank: [b"n%d" % (rank + 1)] for rank in range(3)}


def test_every_line_and_status_of_every_host(job):
    ended = events(job, "--via", SRUN, "--", "seq 20000; echo $PODRUN_RANK >&2; exit $((PODRUN_RANK + 3))")
    assert ended.shown == {rank: [b"%d" % number for number in range(1, 20001)] for rank in range(3)}
    assert [ended.bytes[rank, "stderr"] for rank in range(3)] == [b"0\n", b"1\n", b"2\n"]
    assert [ended.exits[rank]["status"] for rank in range(3)] == [3, 4, 5]
    assert ended.returncode == 5


def test_every_byte(job):
    # With --unbuffered a terminal is between the command and srun.
    ended = job("--via", SRUN, "-N", "--workers", "0", "--", "head -c 3000000 /dev/urandom | tee copy")
    assert ended.returncode == 0
    assert ended.stdout == (job.directory / "copy").read_bytes()


def test_input_goes_to_every_host(job):
    data = os.urandom(3_000_000)
    assert by_rank(job.ok("--via", SRUN, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in range(3)}


@pytest.mark.parametrize("stream", [1, 2])
def test_a_progress_bar_is_shown_before_its_line_ends(job, stream):
    go_on = job.directory / "go-on"
    bar = f"printf '\\r 50%%|##' >&{stream}; until [ -e '{go_on}' ]; do sleep 0.1; done; printf '\\r100%%|####\\n' >&{stream}"
    terminal = job.terminal("--via", SRUN, "--color", "never", "--window", "0s", "--", bar)
    terminal.read_until(b" 50%|##")
    go_on.touch()
    assert terminal.wait().returncode == 0
    assert terminal.output.count(b"100%|####") >= 3


STUBBORN = """
trap 'echo interrupted' INT; trap '' TERM
setsid sleep 1000 &
echo "$PODRUN_RUN_ID"
while :; do sleep 1; done
"""


def end_by_second_interrupt(run):
    run.signal(signal.SIGINT)
    run.wait_for_output(b"interrupted", count=3)
    run.signal(signal.SIGINT)
    assert run.wait().returncode == 130


@pytest.mark.parametrize("end", [end_by_second_interrupt, lambda run: run.process.kill()], ids=["second Ctrl-C", "SIGKILL"])
def test_no_process_is_left(job, end):
    run = job.start("--via", SRUN, "--grace", "1", "--", STUBBORN)
    run.wait_for_output(b"\n", count=3)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    end(run)
    footprint.wait_until_gone(10)
    wait_until(lambda: run.process.poll() is not None)


# Jobs that srun is particular about


class Step:
    """A step with all that the job has, until end()."""

    def __init__(self, podrun):
        command = "echo up; exec sleep 1000"
        self._srun = subprocess.Popen(["srun", "sh", "-c", command], env=podrun.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        for _node in range(3):
            assert self._srun.stdout.readline() == b"up\n"

    def end(self):
        self._srun.terminate()
        self._srun.communicate(timeout=limit(20))


@pytest.fixture
def step(in_job):
    """podrun in a job, beside a step that has all its processors and memory."""
    podrun = in_job("-N3", "--cpus-per-task=8", "--mem-per-cpu=100")
    step = Step(podrun)
    yield podrun
    step.end()


def test_beside_a_step_that_has_everything(step):
    another = subprocess.run(["srun", "--immediate=1", "-N1", "-n1", "true"], env=step.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert another.returncode != 0, "the step leaves something"
    assert step.ok("--via", SRUN, "-N", "--", "sleep 2; echo up") == b"up\n" * 3


GPUS = [
    (("-N3", "--gpus-per-node=2"), "", b"0,1"),
    (("-N3", "--ntasks-per-node=4", "--gpus-per-task=1"), "", b"0"),
    (("-N3", "--ntasks-per-node=4", "--gpus-per-task=1"), "--gres=gpu:4", b"0,1,2,3"),
    (("-N3", "--gpus=3"), "--gpus=1", b"0"),
]


@pytest.mark.parametrize("options, more, gpus", GPUS, ids=[" ".join([*options, more]) for options, more, _gpus in GPUS])
def test_gpus(in_job, options, more, gpus):
    assert not more or f"`{more}`" in DOCUMENT
    shown = in_job(*options).ok("--via", f"{SRUN} {more}", "-N", "--", "echo $CUDA_VISIBLE_DEVICES")
    assert shown == (gpus + b"\n") * 3


def test_in_a_heterogeneous_job(in_job):
    assert "`--het-group=1`" in DOCUMENT
    podrun = in_job("-N1", ":", "-N2")
    groups = [podrun.env[f"SLURM_JOB_NODELIST_HET_GROUP_{group}"] for group in (0, 1)]
    for group, nodes in enumerate(groups):
        shown = by_rank(podrun.ok("--via", f"{SRUN} --het-group={group}", "-H", nodes, "--", "test $SLURMD_NODENAME = $PODRUN_HOST && echo yes"))
        assert shown == {rank: [b"yes"] for rank in range(group + 1)}
