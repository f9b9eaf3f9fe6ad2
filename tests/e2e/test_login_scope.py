"""Hosts with systemd: the scope of a login, a cgroup, tells which processes a run has started there. The scope is played by a cgroup that
the connection's server and the shell move into, as pam_systemd has it."""

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import end, processes, wait_until

# It has neither the mark nor a parent or session that would tell.
COMMAND = "env -i setsid -f sh -c 'while :; do sleep 1; done' \"$0\" >/dev/null 2>&1; trap 'echo INT' INT; echo ready; while :; do sleep 0.1 & wait $!; done"
ORIGINAL = 'exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
ENTER = 'echo $$ >"$0" && exec "$@"'


def hierarchies():
    """Where this machine has the cgroup of a login, by /proc/self/cgroup."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _number, controllers, path = line.split(":", 2)
        if controllers in ("name=systemd", ""):
            for root in ["/sys/fs/cgroup/systemd"] if controllers else ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]:
                here = Path(root + path)
                if (here / "cgroup.procs").exists() and os.access(here, os.W_OK) and os.geteuid() == 0:
                    yield here


@pytest.fixture
def scope():
    """The file that lists the processes of a new scope; writing a pid there moves that process."""
    hierarchy = next(hierarchies(), None) or pytest.skip("no cgroup can be made here (run as root)")
    parent = Path(tempfile.mkdtemp(prefix="podrun-test-", dir=hierarchy))
    scope = parent / "session-7.scope"
    scope.mkdir()
    yield scope / "cgroup.procs"

    def removed():
        try:
            scope.rmdir()
        except OSError:
            return False
        return True

    try:
        wait_until(removed, what="the scope empty")
    finally:
        for pid in (scope / "cgroup.procs").read_text().split() if scope.exists() else []:
            (hierarchy / "cgroup.procs").write_text(pid)
        removed()
        parent.rmdir()


@pytest.fixture
def host(pods, podrun, scope):
    """A host whose logins are in the scope; returns its pod."""
    pod = pods("--hosts", "1", "--sshd", f"ForceCommand for pid in $PPID $$; do [ ! -e ~/scope ] || echo $pid >~/scope; done; {ORIGINAL}")
    pod.move_in(podrun)
    link = pod.directory / "home" / "0" / "scope"
    link.symlink_to(scope)
    yield pod
    link.unlink()


def daemons_after_two_interrupts(podrun, *options):
    """The daemon of a run that two interrupts have ended, unless it is gone too."""
    word = str(podrun.directory / "daemon")
    run = podrun.start("-N", "--grace", "1", *options, "--", "sh", "-c", COMMAND, word)
    run.wait_for_output(b"ready\n")
    run.signal(signal.SIGINT)
    run.wait_for_output(b"INT\n")
    run.signal(signal.SIGINT)
    assert run.wait().returncode == 130
    return [process for process in processes() if word.encode() in process.command]


@pytest.mark.parametrize("options", [[], ["-I"]], ids=["", "with input"])
def test_a_daemon_without_environment_is_ended_in_the_scope_of_its_login(podrun, host, scope, options):
    assert daemons_after_two_interrupts(podrun, *host.options, *options) == []


def assert_stays(daemons):
    end(daemons)
    assert len(daemons) == 1


def test_a_scope_with_another_process_is_left_alone(podrun, host, scope):
    other = subprocess.Popen(["sh", "-c", ENTER, scope, "sleep", "1000"])
    try:
        wait_until(lambda: str(other.pid) in scope.read_text().split(), what="the other process in the scope")
        assert_stays(daemons_after_two_interrupts(podrun, *host.options))
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_scope_with_the_server_that_listens_is_left_alone(podrun, host, scope):
    listening = (host.directory / "servers" / "0.pid").read_text().strip()
    scope.write_text(listening)
    try:
        assert_stays(daemons_after_two_interrupts(podrun, *host.options))
    finally:
        (scope.parents[2] / "cgroup.procs").write_text(listening)


def test_a_scope_behind_via_is_left_alone(podrun, host, scope):
    # Others may use the connection of that ssh too.
    assert_stays(daemons_after_two_interrupts(podrun, *host.via, *host.on(0)))


def test_the_scope_of_the_user_of_podrun_is_left_alone(podrun, host, scope):
    word = str(podrun.directory / "daemon")
    here = [podrun.binary, "-N", "-H", "local", "--grace", "1", "-u", "2", "--", "sh", "-c", COMMAND, word]
    ended = host.ssh(0, shlex.join(here))
    assert (ended.returncode, ended.stdout) == (124, b"ready\n")
    assert_stays([process for process in processes() if word.encode() in process.command])
