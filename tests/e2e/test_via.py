"""The recipes of docs/via.md, with commands that read their words as the real ones do and run the rest here."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from events import Events, events, exits_so_far
from fault_table import DELIVER_EVERYTHING, LINES, NOTHING_STARTS, ROWS, check, plays, said_of_hosts
from recipes import RECIPES, via_of
from support import Footprint, by_rank, is_alive, wait_until

# Each takes its options, notes the host, and becomes the rest.
WAYS = {
    "kubectl": """
        if [ "$1" = get ]; then printf 'train-0-%s\\n' 0 1; exit; fi
        while [ "$1" != exec ]; do case $1 in --context | -n) shift 2 ;; *) echo "unknown: $1" >&2; exit 1 ;; esac; done
        shift; [ "$1" = -i ] || exit 1; host=$2; shift 2
        if [ "$1" = -c ]; then shift 2; fi
        [ "$1" = -- ] || exit 1; shift""",
    "srun": """
        host=
        while :; do case $1 in --nodelist=*) host=${1#*=}; shift ;; --*) shift ;; *) break ;; esac; done
        [ "$host" ] || exit 1
        export REACHED="srun $host"
        "$@"; status=$?
        [ $status = 0 ] || echo "srun: error: $host: task 0: Exited with exit code $status" >&2
        exit $status""",
    "docker": '[ "$1 $2" = "exec -i" ] || exit 1; host=$3; shift 3',
    "ssh": '[ "$1" = -o ] || exit 1; host=$3; shift 3',
}


@pytest.fixture
def ways(podrun):
    """The commands of the recipes."""
    directory = podrun.directory / "ways"
    directory.mkdir()
    for name, text in WAYS.items():
        script = directory / name
        script.write_text(f'#!/bin/sh\n{text}\nexport REACHED="{name} $host"\nexec "$@"\n')
        script.chmod(0o755)
    podrun.env["PATH"] = f"{directory}:{podrun.env['PATH']}"
    return directory


@pytest.mark.smoke
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe(podrun, ways, recipe):
    options = via_of(recipe)
    podrun.env["SLURM_JOB_NODELIST"] = "node[07-08]"
    given = b"train-0-0\ntrain-0-1\n" if "-" in options else b""
    shown = by_rank(podrun.ok(*options, "--workers", "0,1", "--", "sh", "-c", 'echo "$REACHED"; echo "$1"', "sh", "a  'b", input=given))
    name = shlex.split(options[1])[0]
    assert len(shown) == 2
    for rank, (reached, word) in shown.items():
        assert re.fullmatch(rf"{name} \S*{rank if name != 'srun' else rank + 7}", reached.decode())
        assert word == b"a  'b"
    assert podrun(*options, "--workers", "0,1", "--", "sh", "-c", "exit $((PODRUN_RANK + 3))", input=given).returncode == 4


@pytest.mark.timed
def test_nothing_is_left_when_the_way_in_dies(podrun, ways):
    run = podrun.start("--via", "kubectl exec -i {host} --", "-H", "a,b", "--grace", "1", "--", "sh", "-c", "trap : TERM HUP; echo $PODRUN_RUN_ID; while :; do sleep 1; done")
    run.wait_for_output(b"\n", count=2)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    run.process.kill()
    footprint.wait_until_gone(6)
    wait_until(lambda: run.process.poll() is not None, 5)


SRUN = ("--via", "srun --nodelist={host}", "--grace", "1")


def test_the_way_in_does_not_complain_about_the_status_of_the_command(podrun, ways):
    ended = podrun(*SRUN, "-H", "n[0-3]", "--", "printf %s $PODRUN_RANK; exit $((PODRUN_RANK + 3))")
    assert by_rank(ended.stdout) == {rank: [b"%d" % rank] for rank in range(4)}
    assert ended.returncode == 6
    assert b"srun" not in ended.stderr


def test_hosts_that_do_not_start_complain_about_nothing(podrun, ways):
    ended = podrun(*SRUN, "-H", "n[0-2]", "--chdir", "/no such", "--retries", "0", "--", "true")
    assert ended.returncode == 255
    assert b"srun" not in ended.stderr


def test_a_command_that_is_killed_keeps_the_status_of_the_shell(podrun, ways):
    ended = podrun(*SRUN, "-H", "a,b", "--", "kill -9 $$")
    assert ended.returncode == 137
    assert b"srun" not in ended.stderr


def test_every_byte_arrives_though_the_status_is_told_among_them(podrun, ways):
    text = "head -c 3000000 /dev/urandom | tee copy; sleep 1000 & wait_for=$!; (sleep 1; printf late; kill $wait_for) & exit 7"
    ended = podrun(*SRUN, "-N", "-H", "a", "--", text)
    assert ended.returncode == 7
    assert ended.stdout == (podrun.directory / "copy").read_bytes() + b"late"


SILENT, WITHOUT_TOOL, FORGED = "its transport falls silent (`--via`)", "it has no `sleep`", "its output has a second exit status (`--via`)"
FAULTS = [SILENT, WITHOUT_TOOL, FORGED]
every_row_is_played = plays(FAULTS)


def test_a_way_in_that_falls_silent_is_lost(podrun, ways):
    # As if the container were paused: nothing more is heard of it, and nothing more starts there.
    (ways / "box").write_text('#!/bin/sh\n[ -e paused.$1 ] && { trap "" TERM; while :; do sleep 0.1; done; }\nshift; exec "$@"\n')
    (ways / "box").chmod(0o755)
    silence = ("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2")
    go_on, finish = podrun.directory / "go-on", podrun.directory / "finish"
    command = (
        f"echo up >&2; until [ -e '{go_on}' ]; do sleep 0.1; done; seq 20000; if [ $PODRUN_RANK = 1 ]; then >paused.b; exec sleep 1000; fi; "
        f"until [ -e '{finish}' ]; do sleep 0.1; done; echo done"
    )
    run = podrun.start("--json", "--via", "box {host}", *silence, "-H", "a,b,c", "--grace", "1", "--", command)
    run.wait_for_output(b'"up"', count=3)
    footprint = Footprint(json.loads(run.stdout.splitlines()[0])["run_id"])
    go_on.touch()
    wait_until(lambda: exits_so_far(run).keys() == {1}, what="given up")
    finish.touch()
    ended = Events(run.wait())
    check(ROWS[SILENT], said_of_hosts(ended)[1], ended.returncode, DELIVER_EVERYTHING)
    assert ended.shown == {0: [*LINES, b"done"], 1: LINES, 2: [*LINES, b"done"]}
    footprint.wait_until_gone(10)


def test_a_host_without_the_tools_is_refused(podrun, ways):
    tools = podrun.directory / "tools"
    tools.mkdir()
    for tool in ("grep", "ls", "rm"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    (ways / "bare").write_text(f'#!/bin/sh\n[ $1 = a ] || PATH={tools}\nshift; exec "$@"\n')
    (ways / "bare").chmod(0o755)
    ended = events(podrun, "--via", "bare {host}", "-H", "a,b", "--retries", "0", "--", "echo started")
    check(ROWS[WITHOUT_TOOL], said_of_hosts(ended)[1], ended.returncode, NOTHING_STARTS)
    assert not ended.lines


# What passes on the output of a host, and knows the number of the exit line.
TOLD_AGAIN = "/~podrun1 [0-9a-f]* exit/p"
TOLD_BEFORE = r"/^podrun1 .* ready/ { h; s/^podrun1 \([0-9a-f]*\) .*/~podrun1 \1 exit 0/; x }; /^begun$/ { p; g }"


@pytest.mark.parametrize("change, status", [(TOLD_AGAIN, 0), (TOLD_BEFORE, 7)], ids=["told again", "told before"])
@pytest.mark.parametrize("hosts", ["a", "a,b"])
def test_a_host_whose_exit_status_is_told_twice_is_lost(podrun, ways, change, status, hosts):
    (ways / "forging").write_text(f'#!/bin/sh\nhost=$1; shift\n[ $host = a ] || exec "$@"\n"$@" | sed -u \'{change}\'\n')
    (ways / "forging").chmod(0o755)
    ended = events(podrun, "--via", "forging {host}", "-H", hosts, "--retries", "0", "--", f"echo begun; exit {status}")
    assert ended.failures == {0: ("lost", "running", "second_exit_status")}
    assert ended.outcomes.get(1, "exited") == "exited"
    assert ended.shown[0][0] == b"begun"
    check(ROWS[FORGED], said_of_hosts(ended)[0], ended.returncode, DELIVER_EVERYTHING)


@pytest.mark.parametrize("presses", [0, 3])
def test_a_way_in_that_ignores_term_is_killed(podrun, ways, presses):
    # As srun does whose slurmd is dead.
    (ways / "deaf").write_text('#!/bin/sh\ntrap "" TERM INT\necho $$ >>pids\nwhile :; do sleep 0.1; done\n')
    (ways / "deaf").chmod(0o755)
    pids = podrun.directory / "pids"
    run = podrun.start("--via", "deaf {host}", "-H", "a,b", "--retries", "0", "-t", "3", "--grace", "1", "--", "true", cwd=podrun.directory)
    wait_until(lambda: pids.exists() and pids.read_text().count("\n") == 2)
    for _ in range(presses):
        run.signal(signal.SIGINT)
    assert run.wait().returncode in (255, 130)
    wait_until(lambda: not any(is_alive(int(pid)) for pid in pids.read_text().split()), what="the transport commands have ended")


def test_another_user_of_the_host_cannot_forge_the_exit_status(podrun, ways):
    other = shutil.which("setpriv") if os.geteuid() == 0 else None
    if not other:
        pytest.skip("needs root and setpriv, to be another user")
    show, shared = podrun.directory / "show", podrun.directory / "shared"
    command = f"echo begun; until [ -e '{show}' ]; do sleep 0.1; done; cat '{shared}'; exit 7"
    run = podrun.start(*SRUN, "-I", "-N", "-H", "a", "--", command, env={"TMPDIR": "/tmp"})
    run.wait_for_output(b"begun")
    # Every number that the names of files and the arguments of processes show.
    spy = "ls /tmp; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n'"
    as_other = [other, "--reuid", "games", "--regid", "games", "--clear-groups", "sh", "-c", spy]
    seen = subprocess.run(as_other, capture_output=True, check=False).stdout.decode(errors="replace")
    numbers = sorted(set(re.findall(r"[0-9a-f]{32}", seen)))
    assert numbers, "the run's directory has one"
    forged = "".join(f"~podrun1 {number} exit 0\n" for number in numbers)
    shared.write_text(forged)
    show.touch()
    ended = run.wait()
    assert ended.returncode == 7, ended
    assert ended.stdout.decode() == "begun\n" + forged
