"""Processes that the command has started by sudo, su or env -i, and that have detached: only their parents tell whose they are, and a
signal to the command ends these parents."""

import os
import shlex
import signal

import pytest

from support import end, wait_until
from test_odd_hosts import TWO, podrun_as_nobody, with_word  # pylint: disable=unused-import

DETACHES = 'setsid sh -c "while :; do sleep 1; done" "$0" & sleep 1002; sleep 1003'
ENDINGS = {"timeout": None, "interrupt": signal.SIGINT, "termination": signal.SIGTERM, "kill": signal.SIGKILL}
AS_ROOT = {
    "su": "su -s /bin/sh - nobody -c",
    "runuser": "runuser -s /bin/sh - nobody -c",
    "setpriv": "setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env sh -c",
    "sudo to another": "sudo -u nobody sh -c",
    "env -i": "env -i PATH=/usr/bin:/bin sh -c",
    "env -i setsid": "env -i PATH=/usr/bin:/bin setsid sh -c",
}


def assert_detached_is_ended(podrun, starter, ending):
    word = b"%s.%d" % (podrun.directory.name.encode(), os.getpid())
    detaches = shlex.quote(DETACHES.replace("$0", word.decode()))
    run = podrun.start(*TWO, *(["-u", "3"] if ending == "timeout" else []), "--", "sh", "-c", f"{starter} {detaches}; sleep 1004", env={"SHELL": "/bin/sh"})

    def detached():
        return [process for process in with_word(word) if process.command.startswith(b"sh\0-c\0while")]

    try:
        wait_until(lambda: len(detached()) == 2, what="the detached processes")
        if ENDINGS[ending]:
            run.signal(ENDINGS[ending])
        run.process.wait(60)
        wait_until(lambda: not detached(), 1 + 5, "the detached processes gone")
    finally:
        end(with_word(word))


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_has_detached_below_sudo_is_ended(podrun_as_nobody, ending):
    assert_detached_is_ended(podrun_as_nobody("ALL"), "sudo sh -c", ending)


@pytest.mark.parametrize("ending", ["termination", "kill"])
@pytest.mark.parametrize("starter", AS_ROOT)
def test_what_has_detached_without_its_mark_is_ended(podrun, starter, ending):
    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")
    assert_detached_is_ended(podrun, AS_ROOT[starter], ending)


def test_the_sudo_that_started_the_host_is_not_waited_for(podrun_as_nobody):
    podrun = podrun_as_nobody("ALL")
    command = "trap 'echo got; exit 7' INT; echo up; sleep 1000 & wait"
    run = podrun.start("--via", "env HOST={host} sudo -n -u games", "-H", "a", "-N", "--", "sh", "-c", command)
    run.wait_for_output(b"up\n")
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert ended.stdout == b"up\ngot\n"
    assert b"lost" not in ended.stderr, ended.stderr
