"""The static file for aarch64 ($PODRUN_AARCH64_BIN), emulated on this machine. `.ci/run --full` builds it."""

import os
import subprocess

import pytest

from homes import homes_of_pod
from pushes import assert_arrived, push, write_app
from support import Podrun, by_rank

BINARY = os.environ.get("PODRUN_AARCH64_BIN")
pytestmark = pytest.mark.skipif(not BINARY, reason="needs $PODRUN_AARCH64_BIN")


@pytest.fixture
def podrun(directory, monkeypatch):
    monkeypatch.setenv("PODRUN_BIN", BINARY)
    return Podrun(directory, ["qemu-aarch64-static"])


def test_is_for_aarch64_and_needs_no_library():
    kind = subprocess.run(["file", "-L", BINARY], capture_output=True, check=True).stdout
    assert b"aarch64" in kind and b"statically linked" in kind


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_says_what_it_is(podrun, option):
    assert b"podrun" in podrun.ok(option)


def test_runs_a_command_here(podrun):
    ended = podrun("-H", "local", "--", "echo hi; exit 3")
    assert (ended.returncode, ended.stdout) == (3, b"0: hi\n"), ended


def test_runs_a_command_over_ssh(podrun, pod):
    assert by_rank(podrun.ok(*pod.on(0, 1, 2, 3), "--", "echo", "hi")) == {rank: [b"hi"] for rank in range(4)}


def test_pushes_a_tree(podrun, pods):
    with homes_of_pod(pods, podrun) as homes:
        source = write_app(podrun)
        push(podrun, homes, "app/", "work")
        assert_arrived(homes, source, "work")
