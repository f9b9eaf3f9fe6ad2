"""Fixtures of the end-to-end tests. They run the binary named by $PODRUN_BIN; with --no-skips a skipped test is a failed one."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from support import PATIENCE, Podrun, describe, end, marked_processes, wait_until

POD = Path(__file__).parents[1] / "pod" / "pod"


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", default=bool(os.environ.get("CI")), help="a skipped test is a failed one (also with $CI)")


def pytest_configure(config):
    # Started in the background or by nohup these are ignored, and podrun would rightly keep that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.addinivalue_line("markers", "smoke: the few that also run in sanitizer builds")
    config.addinivalue_line("markers", "deadline(seconds): the test's overall deadline, 60 s otherwise")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips does not allow: {report.longrepr}"


@pytest.fixture(autouse=True)
def deadline(request):
    marker = request.node.get_closest_marker("deadline")
    seconds = (marker.args[0] if marker else 60) * PATIENCE

    def expired(_signal, _frame):
        raise TimeoutError(f"the test took more than {seconds} s")

    signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    yield
    signal.alarm(0)


@pytest.fixture
def directory(tmp_path):
    """The test's own directory; podrun and what it started must be gone at the end of the test."""
    yield tmp_path
    try:
        wait_until(lambda: not marked_processes(tmp_path), 8)
    except AssertionError:
        left = marked_processes(tmp_path)
        end(left)
        pytest.fail("left behind by the test: " + "; ".join(describe(process) for process in left))


@pytest.fixture
def podrun(directory):
    return Podrun(directory)


def private_mounts():
    """The command that gives another one its own mounts; it needs root or user namespaces."""
    for command in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    return pytest.skip("no own mount namespace to be had (run as root)")


@pytest.fixture(params=["dash", "bash", "busybox"])
def podrun_any_shell(request, directory):
    """podrun where /bin/sh is another shell."""
    shell = shutil.which(request.param) or pytest.skip(f"{request.param} is not installed")
    instead = 'mount --bind "$0" /bin/sh && exec "$@"'
    return Podrun(directory, [*private_mounts(), "sh", "-c", instead, os.path.realpath(shell)])


@pytest.fixture
def podrun_own_tmp(directory):
    """podrun where /tmp is the test's directory."""
    shutil.copy(os.environ["PODRUN_BIN"], directory / "podrun")  # wherever it is, it can be found in the new /tmp
    instead = 'mount --bind "$0" /tmp && cd /tmp && exec "$@"'
    podrun = Podrun(directory, [*private_mounts(), "sh", "-c", instead, directory])
    podrun.binary = "/tmp/podrun"
    podrun.env["HOME"] = "/tmp/home"
    return podrun


@pytest.fixture
def via(directory):
    """--via with a script by which any name is a host here, and which plays tricks according to the name."""
    script = directory / "via"
    script.write_text(
        "#!/bin/sh\n"
        "host=$1; shift\n"
        "case $host in\n"
        "  refused*) echo 'connect: connection refused' >&2; exit 255 ;;\n"
        "  silent*) exec sleep 1000 ;;\n"
        "  noshell*) exec cat >/dev/null ;;\n"
        "  noisy*) echo 'Welcome to this host' ;;\n"
        "esac\n"
        'exec "$@"\n'
    )
    script.chmod(0o755)
    return ("--via", f"{script} {{host}}")


class Pod(NamedTuple):
    directory: Path
    hosts: list

    @property
    def ssh(self):
        return ["ssh", "-F", str(self.directory / "ssh_config")]

    @property
    def options(self):
        """What podrun needs to run on all of it."""
        return ("--via", f"ssh -F {self.directory}/ssh_config {{host}}", "--hostfile", self.directory / "pod.txt")


@pytest.fixture(scope="session")
def pod(tmp_path_factory):
    """Eight real OpenSSH hosts."""
    directory = tmp_path_factory.mktemp("pod")
    up = subprocess.run([POD, "up", directory], capture_output=True, text=True, check=False)
    if "not installed" in up.stderr:
        pytest.skip(up.stderr.strip())
    assert up.returncode == 0, up.stderr
    yield Pod(directory, (directory / "pod.txt").read_text().split())
    subprocess.run([POD, "down", directory], check=True)
