"""Fixtures of the end-to-end tests. They run the binary named by $PODRUN_BIN; with --no-skips a skipped test is a failed one."""

import os
import shutil
import signal
import socket
import subprocess

import pytest

from homes import ViaHomes, homes_of_pod
from pods import Fault, Pod
from relays import make_certificate
from screen import Screen
from support import STRICT, Podrun, describe, end, limit, marked_processes, wait_until


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", default=bool(os.environ.get("CI")), help="a skipped test is a failed one (also with $CI)")


def pytest_configure(config):
    # Started in the background or by nohup these are ignored, and podrun would rightly keep that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.addinivalue_line("markers", "smoke: the few that also run in sanitizer builds")
    config.addinivalue_line("markers", "full: only with $PODRUN_FULL, which .ci/run --full sets")
    config.addinivalue_line("markers", "timed: what it says of seconds is looked at with $PODRUN_STRICT only, which .ci/run --full sets")
    config.addinivalue_line("markers", "deadline(seconds): the test's overall deadline, 60 s otherwise")


def pytest_collection_modifyitems(config, items):
    if os.environ.get("PODRUN_FULL"):
        return
    full = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=full)
    items[:] = [item for item in items if item not in full]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips does not allow: {report.longrepr}"


@pytest.fixture(autouse=True)
def deadline(request):
    marker = request.node.get_closest_marker("deadline")
    seconds = limit(marker.args[0] if marker else 60) * (1 if STRICT else 2)  # of several waits

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


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Two keys with certificates, as podrun makes them for a push."""
    place = tmp_path_factory.mktemp("keys")
    return [make_certificate(place, name) for name in ("right", "other")]


@pytest.fixture
def pem(keys):
    return keys[0]


@pytest.fixture
def podrun(directory):
    return Podrun(directory)


@pytest.fixture
def homes(pods, podrun):
    """Four real hosts with homes of their own."""
    with homes_of_pod(pods, podrun) as homes:
        yield homes


@pytest.fixture
def pair(podrun):
    """Two hosts behind --via, which take less time."""
    return ViaHomes(podrun, "a", "b")


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


@pytest.fixture
def hanging_agent(podrun):
    """What takes questions and answers none."""
    path = podrun.directory / "hanging"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(100)
        podrun.env["SSH_AUTH_SOCK"] = str(path)
        yield path


@pytest.fixture(scope="session")
def pods(tmp_path_factory):
    """A pod with these options of tests/pod/pod; the same for all tests that ask for the same."""
    running = {}

    def get(*options):
        if options not in running:
            running[options] = Pod(tmp_path_factory.mktemp("pod"), *options)
        return running[options]

    yield get
    for pod in running.values():
        pod.down()


@pytest.fixture
def pod(pods, podrun):
    """Eight real OpenSSH hosts, which `podrun` can log in to."""
    pod = pods()
    pod.move_in(podrun)
    return pod


@pytest.fixture
def isolated(pods, podrun):
    """Two of them that share nothing but the network, as far as one machine can show it."""
    pod = pods("--isolated", "--hosts", "2")
    pod.move_in(podrun)
    return pod


@pytest.fixture
def fault():
    """Starts tests/fault/fault.py with these words."""
    running = []

    def start(*words, **options):
        running.append(Fault(*words, **options))
        return running[-1]

    yield start
    for each in running:
        each.end()


@pytest.fixture
def agent(podrun):
    """An empty agent; podrun knows it by $SSH_AUTH_SOCK. Calls `ssh-add` with the words."""
    socket = podrun.directory / "agent"
    environment = {**os.environ, "SSH_AUTH_SOCK": str(socket)}
    running = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    no_keys = 1  # ssh-add(1), EXIT STATUS; its socket is there before it listens
    wait_until(lambda: subprocess.run(["ssh-add", "-l"], env=environment, capture_output=True, check=False).returncode == no_keys)
    podrun.env["SSH_AUTH_SOCK"] = str(socket)

    def add(*words):
        subprocess.run(["ssh-add", "-q", *words], env=environment, stdin=subprocess.DEVNULL, check=True)

    yield add
    running.terminate()
    running.wait()


@pytest.fixture
def open_screen(podrun):
    """Starts a program on a screen."""
    screens = []

    def start(argv, env=None, **size):
        environment = {**podrun.env, "TERM": "xterm", **(env or {})}
        screens.append(Screen(argv, environment, podrun.directory, **size))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


@pytest.fixture
def on_screen(open_screen, podrun):
    """Starts podrun on a screen."""
    return lambda *args, **options: open_screen(podrun.arguments(args), **options)


@pytest.fixture
def shell(open_screen):
    """Starts an interactive bash on a screen."""

    def start():
        screen = open_screen(["bash", "--noprofile", "--norc", "-i"], {"PS1": "$ ", "INPUTRC": "/dev/null", "HISTFILE": ""})
        screen.wait_for("$")
        return screen

    return start
