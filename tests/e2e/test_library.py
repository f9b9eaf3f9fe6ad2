"""examples/embed, built against the installed library: podrun as a part of another program."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from support import marked_processes, wait_until

TREE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["PODRUN_BIN"]).parents[2]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    quietly("cmake", "--install", BUILD, "--prefix", prefix, "--component", "library")
    return prefix


def quietly(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=["static", "shared"])
def embed(request, prefix, tmp_path_factory):
    build = tmp_path_factory.mktemp(request.param)
    quietly("cmake", "-G", "Ninja", "-S", TREE / "examples/embed", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEMBED_LIBRARY={request.param}")
    quietly("cmake", "--build", build)
    return build / "embed"


def test_output_and_outcomes_are_values(embed):
    done = subprocess.run([embed, "local[0-1],no-such-host.invalid", "echo rank $PODRUN_RANK; echo oops >&2"], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1].startswith("no-such-host.invalid: unreachable: name look-up: ")
    assert done.returncode == 255


def test_a_command_on_every_host(embed):
    done = subprocess.run([embed, "local[0-1]", "echo rank $PODRUN_RANK; echo oops >&2; exit $PODRUN_RANK"], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["local0: ok", "rank 0", "local1: exit 1", "rank 1"]
    assert done.stderr.splitlines() == ["oops", "oops"]
    assert done.returncode == 1


def test_signals_stay_the_programs_own(embed, directory):
    program = subprocess.Popen([embed, "local", f"touch '{directory}/up'; sleep 1000"])
    wait_until(lambda: (directory / "up").exists())
    caught = int(re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{program.pid}/status").read_text())[1], 16)
    assert not caught & 0x3FFFFFFF  # no signal but those of the C library's own
    program.send_signal(signal.SIGINT)
    assert program.wait(10) == -signal.SIGINT
    wait_until(lambda: not marked_processes(directory))


def test_it_links_to_one_version(embed):
    linked = subprocess.run(["ldd", embed], capture_output=True, text=True).stdout
    assert ("libpodrun.so.0.1" in linked) == (embed.parent.name.startswith("shared"))
