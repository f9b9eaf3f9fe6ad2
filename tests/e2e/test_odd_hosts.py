"""Hosts that are not as one would like them: start-up files that print, wait or never return; no /proc; a full or read-only /tmp; and
commands that are root's by way of sudo."""

import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import private_mounts
from events import events
from homes import ViaHomes
from support import SOON, Footprint, Podrun, by_rank, end, is_alive, limit, processes, sha256, wait_until

TWO = ("-H", "local[0-1]", "--grace", "1")


def podrun_where(directory, first, *words):
    """podrun in a mount namespace of its own, where `first`, sh text with the words as its parameters, has been run, and where the
    directory is /mnt too, with the binary in it, wherever that was."""
    shutil.copy(os.environ["PODRUN_BIN"], directory / "podrun")
    text = f'mount --bind "$0" /mnt; {first}; shift {len(words)}; exec "$@"'
    podrun = Podrun(directory, [*private_mounts(), "sh", "-c", text, directory, *words])
    podrun.binary = "/mnt/podrun"
    return podrun


# Start-up files. (bash reads .bashrc when sshd starts it.)


@pytest.fixture
def bash_hosts(pods, podrun):
    """Three hosts whose login shell is bash; returns the pod and a function that writes the .bashrc of the second one."""
    if os.path.basename(pwd.getpwuid(os.getuid()).pw_shell) != "bash":
        pytest.skip("the login shell here is not bash")
    pod = pods("--hosts", "3")
    pod.move_in(podrun)
    bashrc = pod.directory / "home" / "1" / ".bashrc"
    yield pod, bashrc.write_text
    bashrc.unlink()


def test_a_start_up_file_that_prints_and_is_slow(podrun, bash_hosts):
    pod, write = bash_hosts
    write("echo hello from .bashrc; echo and an error >&2; sleep 1.5; read -t 0 line\n")
    ended = podrun(*pod.options, "-I", "--", "cat; echo err >&2; exit $PODRUN_RANK", input=b"in\n")
    assert by_rank(ended.stdout) == {0: [b"in"], 1: [b"hello from .bashrc", b"in"], 2: [b"in"]}
    assert b"1: and an error\n" in ended.stderr
    assert ended.returncode == 2


@pytest.mark.parametrize("instead", ["cat", "sleep 1000"])
def test_a_start_up_file_that_never_runs_our_command(podrun, bash_hosts, instead):
    pod, write = bash_hosts
    write(f"exec {instead}\n")
    started = podrun.directory / "started"
    failed = events(podrun, *pod.options, *SOON, "--retries", "0", "--", "touch", started)
    assert failed.returncode == 255
    assert failed.failures == {1: ("unreachable", "starting_shell", "timed_out")}
    assert b"the login to 127.0.0.3 worked, but /bin/sh never answered: perhaps a start-up file there (.bashrc) is slow (-t 36s waits longer), waits" in failed.stderr
    assert not started.exists()


def test_a_start_up_file_that_runs_an_interactive_shell(podrun, bash_hosts):
    pod, write = bash_hosts
    write("exec sh -i\n")
    started = podrun.directory / "started"
    failed = events(podrun, *pod.options, "--retries", "0", "--", "touch", started)
    assert failed.returncode == 255
    assert failed.exits[1]["stage"] == "starting_shell"
    assert failed.exits[1]["message"] == "a start-up file runs an interactive shell instead of /bin/sh (exit 125)"
    assert not started.exists()


def test_a_start_up_file_that_runs_zsh(podrun, bash_hosts):
    pod, write = bash_hosts
    write("exec zsh\n")
    ended = podrun(*pod.options, "-e", "V=a  b", "--", 'echo "$V"')
    assert by_rank(ended.stdout) == {rank: [b"a  b"] for rank in range(3)}
    run = podrun.start(*pod.options, "--grace", "1", "--", "setsid sleep 1000 & echo $PODRUN_RUN_ID; wait")
    wait_until(lambda: run.stdout.count(b"\n") == 3, what="all started")
    footprint = Footprint(run.stdout.split()[-1].decode())
    run.signal(signal.SIGTERM)
    footprint.wait_until_gone(60)
    assert run.wait().returncode == 143


# Without /proc


def without_proc(directory, start):
    """Hosts whose name is that of their /bin/sh; the sh text starts this with "$@"."""
    here = 'mount --bind "$(command -v "$1")" /bin/sh && mount -t tmpfs none /proc && shift'
    way = directory / "without-proc"
    way.write_text(f"#!/bin/sh\nexec {shlex.join([*private_mounts(), 'sh', '-c', f'{here} && {start}', 'sh'])} \"$@\"\n")
    way.chmod(0o755)
    return ("--via", f"{way} {{host}}", "-H", "dash,bash,busybox", "--grace", "1")


def end_by_sigkill(run):
    run.signal(signal.SIGKILL)
    assert run.process.wait() == -signal.SIGKILL


def end_by_second_interrupt(run):
    run.signal(signal.SIGINT)
    run.wait_for_output(b": INT\n", count=3)
    run.signal(signal.SIGINT)
    assert run.wait().returncode == 130


def end_by_timeout(run):
    assert run.wait().returncode == 124


@pytest.mark.parametrize("end_it, options", [(end_by_sigkill, []), (end_by_second_interrupt, []), (end_by_timeout, ["-u", "2"])])
def test_without_proc_the_process_group_is_ended(podrun, end_it, options):
    hosts = without_proc(podrun.directory, 'exec "$@"')
    pids = podrun.directory / "pids"
    deaf = f"trap '' TERM HUP; trap 'echo INT' INT; sleep 1001 & echo $$ $! >>'{pids}'; while :; do sleep 1 & wait $!; done"
    run = podrun.start(*hosts, *options, "--", "sh", "-c", deaf)
    wait_until(lambda: pids.exists() and pids.read_text().count("\n") == 3)
    started = [int(pid) for pid in pids.read_text().split()]
    assert all(map(is_alive, started))
    end_it(run)
    wait_until(lambda: not any(map(is_alive, started)), 1 + 5)
    assert run.stderr.count(b": podrun: no /proc here: processes that leave the process group of the command cannot be stopped\n") == 3


@pytest.mark.parametrize("start, status", [('exec "$@"', 2), ('"$@"; exit $?', 255)], ids=["leads its group", "in the group of a server"])
def test_without_proc_a_command_runs_where_it_can_be_ended(podrun, start, status):
    # dropbear starts what it is told to in its own process group.
    ran = events(podrun, *without_proc(podrun.directory, start), "--", "echo ran; exit $PODRUN_RANK")
    assert ran.returncode == status, ran.stderr
    if status == 255:
        assert ran.failures == dict.fromkeys(range(3), ("unreachable", "supervision", "no_process_list"))
        assert not ran.lines
    else:
        assert ran.shown == {0: [b"ran"], 1: [b"ran"], 2: [b"ran"]}


# Where to put files


@pytest.mark.parametrize("limits", ["exec 2>&-", *(f"ulimit -n {number}" for number in range(4, 20, 2))])
@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_no_directory_stays_without_standard_error_or_where_descriptors_are_short(podrun, shell, limits):
    homes = ViaHomes(podrun, "a")
    homes.way(0, f'shift; {limits}; set -- {shell} "$@"')
    ended = events(podrun, *homes.options, "-t", "5", "-I", "--", "cat; exit 3", input=b"in")
    assert ended.returncode == 3 or (ended.returncode and "ulimit" in limits), ended.stderr
    assert ended.returncode != 3 or ended.shown == {0: [b"in"]}
    homes.wait_until_clean()


@pytest.mark.smoke
@pytest.mark.parametrize("tmp", ["size=4k,nr_inodes=2", "size=4k", "ro"])
def test_a_tmp_that_is_full_or_read_only_is_not_needed(directory, tmp):
    podrun = podrun_where(directory, "mount -t tmpfs -o $1 none /tmp; head -c 4096 /dev/zero >/tmp/full", tmp)
    (directory / "script").write_text("#!/bin/sh\nsha256sum\n")
    data = bytes(range(256)) * 1000
    ended = podrun(*TWO, "-I", "-s", "/mnt/script", input=data)
    assert by_rank(ended.stdout) == {rank: [f"{sha256(data)}  -".encode()] for rank in (0, 1)}, ended.stderr
    assert by_rank(podrun.ok(*TWO, input=b"echo long; : " + b"x" * 200_000)) == {0: [b"long"], 1: [b"long"]}


def test_nowhere_to_put_a_file_is_said_before_anything_starts(directory):
    podrun = podrun_where(directory, 'for place in "$1" /dev/shm /tmp; do mount -t tmpfs -o ro none "$place"; done', directory / "home")
    (directory / "script").write_text("true\n")
    failed = events(podrun, "-H", "local[0-1]", "-s", "/mnt/script")
    assert failed.returncode == 255
    assert failed.failures == dict.fromkeys((0, 1), ("unreachable", "run_directory", "no_run_directory"))


# sudo inside the command

NOBODY = 65534
LOOP = "trap '' TERM INT HUP; while :; do sleep 1; done"


@pytest.fixture
def podrun_as_nobody(directory):
    """Makes a podrun that a user runs who may do what is given by sudo, without a password."""

    def make(may):
        sudoers = directory / "sudoers"
        sudoers.write_text(f"Defaults env_reset\nnobody ALL=(ALL) NOPASSWD: {may}\n")
        sudoers.chmod(0o440)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        podrun = podrun_where(directory, 'mount --bind "$1/sudoers" /etc/sudoers; mount --bind "$1" /tmp; cd /tmp', directory)
        podrun.wrapper += user
        podrun.binary = "/tmp/podrun"
        podrun.env["HOME"] = "/tmp/home"
        directory.chmod(0o777)
        return podrun

    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")
    return make


def with_word(word):
    return [process for process in processes() if word in process.command and b"/podrun" not in process.command.partition(b"\0")[0]]


def start_root_loops(podrun, command):
    word = b"%s.%d" % (podrun.directory.name.encode(), os.getpid())
    run = podrun.start(*TWO, "--", *command, "sh", "-c", LOOP, word.decode(), env={"SUDO_ASKPASS": ""})
    wait_until(lambda: len([process for process in with_word(word) if process.command.startswith(b"sh\0-c\0trap")]) == 2, what="root's loops")
    return run, word


@pytest.mark.parametrize("command", [["sudo"], ["sudo", "setsid"], ["sh", "-c", 'sudo "$@" & wait', "sh"]], ids=["sudo", "sudo setsid", "below a shell"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_sudo_has_started_is_ended_too(podrun_as_nobody, command, number):
    run, word = start_root_loops(podrun_as_nobody("ALL"), command)
    run.signal(number)
    run.process.wait(20)
    wait_until(lambda: not with_word(word), 1 + 5)
    assert b"left behind" not in run.stderr


def test_sudo_that_wants_a_password_is_explained(podrun_as_nobody):
    podrun = podrun_as_nobody("/bin/false")
    failed = events(podrun, "-H", "local", "--sudo", "--", "id")
    assert (failed.returncode, failed.shown) == (255, {})
    assert failed.failures == {0: ("unreachable", "starting_shell", "ended_early")}
    assert failed.exits[0]["message"] == "sudo: a password is required (exit 1)"
    assert b"podrun: --sudo cannot give a password (set NOPASSWD in sudoers there" in failed.stderr


@pytest.mark.parametrize("may, sees_all", [("ALL", True), ("/bin/sh", True), ("/bin/false", False)])
def test_kill_sees_processes_of_others_by_sudo(podrun_as_nobody, may, sees_all):
    listed = json.loads(podrun_as_nobody(may).ok("-H", "local", "kill", "--json", "--dry-run"))
    assert [host["sees_all_holders"] for host in listed["hosts"]] == [sees_all]


@pytest.mark.parametrize("by", [["--", "sudo"], ["--sudo", "--"]], ids=["sudo", "--sudo"])
def test_an_interrupt_reaches_what_sudo_has_started(podrun_as_nobody, by):
    podrun = podrun_as_nobody("ALL")
    run = podrun.start(*TWO, *by, "sh", "-c", "trap 'echo INT; exit 3' INT; echo ready; while :; do sleep 0.1; done")
    run.wait_for_output(b": ready\n", count=2)
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert by_rank(ended.stdout) == {0: [b"ready", b"INT"], 1: [b"ready", b"INT"]}
    assert ended.returncode == 130


def test_what_may_not_be_signalled_is_named(podrun_as_nobody):
    run, word = start_root_loops(podrun_as_nobody("/bin/sh, /usr/bin/sh"), ["sudo"])
    try:
        run.signal(signal.SIGTERM)
        ended = run.wait()
        named = {int(pid) for pid in re.findall(r"podrun: left behind: pid (\d+) \((?:sh|sudo)\) of root", ended.stderr.decode())}
        assert {process.pid for process in with_word(word)} <= named, ended.stderr
        assert ended.returncode == 143
    finally:
        end(with_word(word))


# With --sudo the supervisor is root's too. The last of these has no mark, and no parent of ours: its process group tells that it is ours.
DEAF = "while :; do sleep 1; done"
ROOT_TREE = f"trap '' TERM INT HUP; setsid sh -c '{DEAF}' $0 & (env -i sh -c '{DEAF}' $0 &); {DEAF}"


def assert_tree_is_ended(podrun, hosts, number):
    word = os.fsencode(podrun.directory / "tree")
    run = podrun.start(*hosts, "--grace", "1", "--sudo", "--", "sh", "-c", ROOT_TREE, word.decode())
    wait_until(lambda: sum(process.command.startswith(b"sh\0-c\0while") for process in with_word(word)) == 4, what="the trees grown")
    run.signal(number)
    assert run.process.wait(20) == (143 if number == signal.SIGTERM else -number)
    wait_until(lambda: not with_word(word), 1 + 5)
    assert b"left behind" not in run.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_what_runs_by_sudo_as_a_whole_is_ended(podrun_as_nobody, number):
    assert_tree_is_ended(podrun_as_nobody("ALL"), ["-H", "local[0-1]"], number)


@pytest.mark.parametrize("shell_stays", [False, True], ids=["instead of the shell", "below the shell"])
def test_what_runs_by_sudo_as_a_whole_is_ended_over_ssh(podrun, pod, shell_stays):
    if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("sudo asks for a password here")
    below_a_shell = [pod.via[0], pod.via[1] + " !"]  # which is to turn the exit status round, and so waits
    assert_tree_is_ended(podrun, [*pod.on(0, 1), *(below_a_shell if shell_stays else [])], signal.SIGKILL)


# Processes that cannot be killed

# A file system that answers nothing but the first question, INIT: what asks it for a file waits for it, and cannot be killed.
MUTE = """
import os, struct
while True:
    _size, opcode, unique = struct.unpack_from("<IIQ", os.read(0, 1 << 20))
    if opcode == 26:
        os.write(0, struct.pack("<IiQIII52x", 80, 0, unique, 7, 31, 0))
"""


@pytest.mark.full
def test_what_cannot_be_killed_is_named(directory):
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("no /dev/fuse here")
    mute = directory / "mute"
    mute.mkdir()
    mount = 'exec 9<>/dev/fuse; mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none "$1"; "$2" -c "$3" "$1" <&9 & exec 9>&-'
    podrun = podrun_where(directory, mount, mute, sys.executable, MUTE)
    run = podrun.start("-N", "-H", "local", "--grace", "1", "--", "sh", "-c", 'echo $$; exec cat "$0"', mute / "file")
    try:
        run.wait_for_output(b"\n")
        pid = int(run.stdout)
        wait_until(lambda: b"request_wait_answer" in Path(f"/proc/{pid}/wchan").read_bytes(), what="cat in the file system")
        run.signal(signal.SIGTERM)
        ended = run.wait()
        assert ended.returncode == 143
        assert b"podrun: left behind: pid %d (cat) of root\n" % pid in ended.stderr
        assert Path(f"/proc/{pid}/stat").read_text().split()[2] == "D"
    finally:
        end(process for process in with_word(os.fsencode(mute)) if b"unpack_from" in process.command)
    wait_until(lambda: not is_alive(pid))


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_a_container_that_outlives_its_client_is_told(podrun, name):
    # The client passes TERM on to the daemon; when it has to be killed, nobody ends the container.
    client = podrun.directory / name
    client.write_text("#!/bin/sh\ntrap '' TERM\necho up\nwhile :; do sleep 0.1; done\n")
    client.chmod(0o755)
    run = podrun.start(*TWO, "--", client, "run", "image")
    run.wait_for_output(b": up\n", count=2)
    run.signal(signal.SIGTERM)
    ended = run.wait()
    for rank in (0, 1):
        assert re.search(rb"^%d: podrun: a container may be left behind: KILL ended pid \d+ \(%s\)$" % (rank, name.encode()), ended.stderr, re.MULTILINE)


# The time


def test_a_clock_that_jumps_changes_nothing(podrun):
    [library] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
    offset = podrun.directory / "offset"
    faked = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(offset), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    offset.write_text("+0")
    command = f"date +%Y; for jump in +4y -4y +0; do echo $jump >'{offset}'; sleep 0.7; date +%Y; done"
    years = podrun.start("--via", "env HOST={host}", "-H", "a", "--orphan-timeout", "2", "-u", "60", "-N", "--", command, env=faked).wait()
    assert (years.returncode, years.stderr) == (0, b"")
    before, later, earlier, after = map(int, years.stdout.split())
    assert (later - before, earlier - before, after) == (4, -4, before)


# Shows the time since the machine's start, and in the midst of the grace the year before and behind a jump of the clock.
JUMPS_IN_THE_GRACE = r"""
set -- +4y -4y; shift "$PODRUN_RANK"
uptime() { read -r now _ </proc/uptime; echo "$now"; }
trap 'echo TERM; uptime; left=3' TERM
while :; do
  uptime; sleep 0.1 & wait $!
  [ "${left:=0}" != 1 ] || { date +year%Y; echo "$1" >"$FAKETIME_TIMESTAMP_FILE"; date +year%Y; }
  left=$((left - 1))
done
"""


@pytest.mark.timed
def test_a_clock_that_jumps_in_the_grace_changes_nothing(podrun):
    [library] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
    clocks = [podrun.directory / host for host in ("later", "earlier")]  # podrun goes by the first one
    for clock in clocks:
        clock.write_text("+0")
    hosts = ("--via", f"env FAKETIME_TIMESTAMP_FILE={podrun.directory}/{{host}}", "-H", "later,earlier")
    faked = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clocks[0]), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    ended = podrun(*hosts, "-u", "1", "--grace", "6", "--", "sh", "-c", JUMPS_IN_THE_GRACE, env=faked)
    assert ended.returncode == 124
    for rank, lines in by_rank(ended.stdout).items():
        before, behind = [int(line.removeprefix(b"year")) for line in lines if line.startswith(b"year")]
        assert behind - before == (4, -4)[rank]
        told, *_, last = [float(line) for line in lines[lines.index(b"TERM") + 1 :] if not line.startswith(b"year")]
        assert 3 < last - told < limit(6 + 3)  # on a busy machine a command hears later of the end, and lives longer
