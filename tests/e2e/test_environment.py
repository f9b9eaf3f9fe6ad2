"""A host's environment steers shells, coreutils, grep, gzip, tar, git and ld.so. No command of podrun comes to another result there than on
a host without such variables, and the user's own command sees every one of them."""

import json
import shlex

import pytest

from events import Events, events
from homes import ViaHomes, homes_of_pod
from pulls import place_of
from support import by_rank, wait_until
from trees import read_tree, write_tree

# From the manuals of the programs that the scripts for hosts start. None needs a locale that is not installed.
ODD = {
    "POSIXLY_CORRECT": "1",
    "_POSIX2_VERSION": "199209",
    "LC_ALL": "de_DE.UTF-8",
    "LC_NUMERIC": "de_DE.UTF-8",
    "LANGUAGE": "de",
    "TMOUT": "1",
    "ENV": "/nonexistent/env",
    "BASH_ENV": "/nonexistent/env",
    "CDPATH": "/:/tmp",
    "GLOBIGNORE": "*",
    "PS4": "$(exit 3)",
    "SHELLOPTS": "noclobber:noglob:nounset",
    "BLOCK_SIZE": "1M",
    "BLOCKSIZE": "1M",
    "DF_BLOCK_SIZE": "human-readable",
    "LS_BLOCK_SIZE": "human-readable",
    "LS_COLORS": "di=01;34",
    "QUOTING_STYLE": "c",
    "TIME_STYLE": "+%s",
    "TABSIZE": "3",
    "COLUMNS": "10",
    "TZ": "Asia/Kathmandu",
    "SIMPLE_BACKUP_SUFFIX": ".old",
    "VERSION_CONTROL": "numbered",
    "GREP_OPTIONS": "-v",
    "GREP_COLORS": "mt=01;31",
    "GZIP": "-9v",
    "TAR_OPTIONS": "--verbose --totals --exclude=*",
    "TAPE": "/nonexistent/tape",
    "LD_PRELOAD": "/nonexistent/libtcmalloc.so.4",
    "LD_LIBRARY_PATH": "/nonexistent",
    "OPENSSL_CONF": "/nonexistent/openssl.cnf",
    "GIT_DIR": "/nonexistent/git",
    "GIT_TRACE": "1",
    "GIT_EXTERNAL_DIFF": "/nonexistent/diff",
    "PYTHONWARNINGS": "error",
    "VAR_THAT_LOOKS_ODD": "a b 'c' \"d\" $e",
}
CLEAN, SET = 0, 1
TREE = {"a.py": b"1\n", "deep/er/b": b"2\n" * 1000, "with blank": b"3", "zero": b""}


FUNCTIONS = ("grep", "ls", "sleep", "rm", "tar", "find", "cat", "tee", "mkdir", "sort")


@pytest.fixture
def servers(pods, podrun):
    """Two real servers, of which one sets these variables for every login."""
    with homes_of_pod(pods, podrun, hosts=2, variables={SET: ODD}) as homes:
        yield homes


@pytest.fixture
def pair(podrun):
    """Two hosts behind --via, whose /bin/sh is bash. One sets the variables, and has functions for bash in its environment."""
    homes = ViaHomes(podrun, "clean", "set")
    functions = [f"BASH_FUNC_{name}%%=() {{ echo {name} of the user; }}" for name in FUNCTIONS]
    # With POSIXLY_CORRECT bash takes no SHELLOPTS.
    variables = [f"{name}={value}" for name, value in ODD.items() if name != "POSIXLY_CORRECT"]
    for rank in homes.ranks:
        words = shlex.join([*functions, *variables]) if rank == SET else ""
        homes.way(rank, f"exec env {words} bash -c 'exec -a sh bash'")
    return homes


@pytest.fixture(params=["servers", "pair"])
def homes(request):
    return request.getfixturevalue(request.param)


def alike(values):
    """What both hosts have."""
    assert sorted(values) == [CLEAN, SET]
    assert values[SET] == values[CLEAN]
    return values[CLEAN]


def ends(run):
    """How each host ended."""
    return {rank: {key: event[key] for key in ("outcome", "status", "signal", "stage", "cause") if key in event} for rank, event in run.exits.items()}


def printed(run, stream="stdout"):
    lines = {CLEAN: [], SET: []}
    for line in run.lines:
        if line["stream"] == stream:
            lines[line["worker"]].append(line["text"])
    return lines


def from_all(podrun, homes, *args, **options):
    """The events of a podrun command that succeeds on both hosts."""
    run = events(podrun, *homes.options, *args, **options)
    assert alike(ends(run)) == {"outcome": "exited", "status": 0}, run.exits
    return run


@pytest.mark.smoke
def test_the_command_sees_every_variable(podrun, homes):
    seen = printed(from_all(podrun, homes, "--", "/usr/bin/env"))
    # bash changes three of them itself.
    missing = {f"{name}={value}" for name, value in ODD.items() if name not in ("POSIXLY_CORRECT", "SHELLOPTS", "PS4")} - set(seen[SET])
    assert not missing
    assert not [line for line in seen[CLEAN] if line.startswith("TMOUT=")]


def test_the_command_has_the_options_that_the_variables_give_bash(podrun, pair):
    seen = printed(from_all(podrun, pair, "--", "bash", "-c", 'echo "$-"; type ls | head -n 1'))
    assert set("Cfu") <= set(seen[SET][0]) and not set("Cfu") & set(seen[CLEAN][0])
    assert seen[SET][1] == "ls is a function"


def test_a_run(podrun, homes):
    run = events(podrun, *homes.options, "-w", "--", "sh", "-c", "echo out; exit 3", cwd="/tmp")
    assert alike(ends(run)) == {"outcome": "exited", "status": 3}
    assert alike(printed(run)) == ["out"]
    assert alike(printed(from_all(podrun, homes, "-I", "--", "sh", "-c", "cat; echo done", input=b"in\n"))) == ["in", "done"]
    script = podrun.directory / "mine.sh"
    script.write_text("#!/bin/sh\necho of the script $#\n")
    assert alike(printed(from_all(podrun, homes, "-s", script, "--", "a", "b c"))) == ["of the script 2"]


def test_the_end_of_a_run(podrun, homes):
    tree = "trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & while :; do sleep 1; done"
    run = events(podrun, *homes.options, "-u", "2s", "--grace", "1", "--", "sh", "-c", tree)
    assert alike(ends(run))["outcome"] == "timed_out"
    homes.wait_until_clean()


def test_a_run_that_waits_longer_than_TMOUT(podrun, homes):
    """The supervisor reads lines from podrun, and bash's `read` would give up after $TMOUT."""
    assert alike(printed(from_all(podrun, homes, "--", "sh", "-c", "sleep 3; echo slept"))) == ["slept"]


def test_push(podrun, homes):
    write_tree(podrun.directory / "app", TREE)

    def push(*options):
        return alike({rank: (sent["files"], sent["bytes"]) for rank, sent in from_all(podrun, homes, "push", *options, "app/", "w").sent.items()})

    assert push()[0] == len(TREE)
    assert alike({rank: homes.read(rank, "w") for rank in homes.ranks}) == read_tree(podrun.directory / "app")
    assert push() == (0, 0)
    assert push("--checksum") == (0, 0)
    (podrun.directory / "app" / "deep" / "er" / "b").unlink()
    (podrun.directory / "app" / "zero").chmod(0o600)
    assert push("--delete") == (0, 0)
    assert alike({rank: homes.read(rank, "w") for rank in homes.ranks}) == read_tree(podrun.directory / "app")
    homes.wait_until_clean()


def test_pull(podrun, homes):
    for rank in homes.ranks:
        write_tree(homes.home(rank) / "logs", TREE)
    run = from_all(podrun, homes, "pull", "logs/*", "out")
    assert alike({rank: (got["files"], got["bytes"]) for rank, got in run.received.items()})[0] == len(TREE)
    assert alike({rank: read_tree(place_of(podrun, homes, rank)) for rank in homes.ranks})


def test_jobs(podrun, homes):
    def jobs(command, *args):
        ended = podrun(*homes.options, command, "--json", *args)
        assert ended.returncode == 0, ended
        keys = ("name", "state", "stopped", "exit_status", "command", "bytes")
        return alike({host["worker"]: [{key: job.get(key) for key in keys} for job in host["jobs"]] for host in json.loads(ended.stdout)["hosts"]})

    podrun.ok(*homes.options, "start", "train", "--", "sh", "-c", "echo out; until [ -e ~/go ]; do sleep 0.1; done; echo end; exit 3")
    assert [job["state"] for job in jobs("ps")] == ["running"]
    for rank in homes.ranks:
        (homes.home(rank) / "go").touch()
    run = Events(podrun("--json", *homes.options, "logs", "-f", "train"))
    assert alike(ends(run)) == {"outcome": "exited", "status": 3}
    assert alike(printed(run)) == ["out", "end"]
    podrun.ok(*homes.options, "start", "other", "--", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
    assert [job["stopped"] for job in jobs("stop", "--grace", "1", "other")] == [True]
    podrun.ok(*homes.options, "rm", "train")
    assert [job["name"] for job in jobs("ps")] == ["other"]
    podrun.ok(*homes.options, "rm", "other")
    homes.wait_until_clean()


def test_the_environment_of_a_job_is_the_users(podrun, homes):
    podrun.ok(*homes.options, "start", "train", "--", "/usr/bin/env")
    run = Events(podrun("--json", *homes.options, "logs", "-f", "train"))
    assert f"TAR_OPTIONS={ODD['TAR_OPTIONS']}" in printed(run)[SET] and "TMOUT=1" in printed(run)[SET]
    podrun.ok(*homes.options, "rm", "train")


def test_shell(podrun, homes):
    lines = "cd deep && export STEP=1\npwd\necho $STEP ${TMOUT-none}\n"
    for rank in homes.ranks:
        (homes.home(rank) / "deep").mkdir()
    ended = podrun(*homes.options, "shell", input=lines.encode())
    assert ended.returncode == 0, ended
    [[place, clean], [other, odd]] = (by_rank(ended.stdout)[rank] for rank in homes.ranks)
    assert (place.endswith(b"/deep"), other.endswith(b"/deep"), clean, odd) == (True, True, b"1 none", b"1 1")


def test_launch_and_exec(podrun, homes):
    write_tree(podrun.directory / "code", {"main.txt": b"new\n"})
    task = podrun.directory / "task.yaml"
    task.write_text("workdir: code\nsetup: touch ~/set_up\nrun: command cat main.txt; command ls ~/set_up >/dev/null && echo $SKYPILOT_NUM_NODES\n")
    for command in ("launch", "exec"):
        ended = podrun(*homes.options, command, task)
        assert ended.returncode == 0, ended
        assert alike(by_rank(ended.stdout)) == [b"new", b"2"]


@pytest.mark.parametrize("command", ["run", "restarts", "login", "launch", "exec", "launch --restarts", "launch --detach", "dry run"])
def test_a_command_of_local_has_what_podrun_reads(podrun, command):
    """What this shell says of the hosts, each variable once, and podrun's own directory, also when a try is made of the run."""
    found = "" if command == "login" else "podrun --version >/dev/null && "  # a profile sets PATH anew
    text = found + 'echo "$TPU_WORKER_HOSTNAMES $PODRUN_HOSTS $SSH_AUTH_SOCK"'
    task = podrun.directory / "task.yaml"
    task.write_text(f"name: inner\nrun: {text}\n")
    words = {
        "run": ["--", text],
        "restarts": ["--restarts", "1", "--", text],
        "login": ["--login", "--", text],
        "launch": ["launch", task],
        "exec": ["exec", task],
        "launch --restarts": ["launch", "--restarts", "1", task],
        "launch --detach": ["launch", "--detach", task],
        "dry run": ["launch", "--dry-run", task],
    }[command]
    env = {"TPU_WORKER_HOSTNAMES": "localhost", "PODRUN_HOSTS": "a", "SSH_AUTH_SOCK": "/tmp/socket"}
    ended = podrun("-H", "local", "-N", "-e", "PODRUN_HOSTS=b", *words, env=env)
    assert ended.returncode == 0, ended
    if command == "dry run":
        assert b"environment: SSH_AUTH_SOCK=(not shown)" in ended.stdout, ended
        return
    printed_there = podrun.ok("-H", "local", "logs", "-N", "-f", "inner") if command == "launch --detach" else ended.stdout
    assert printed_there == b"localhost b /tmp/socket\n", ended
    if command == "launch --detach":
        podrun.ok("-H", "local", "rm", "inner")


def test_check(podrun, homes):
    ended = podrun(*homes.options, "check", "--json")
    hosts = {host["worker"]: host for host in json.loads(ended.stdout)["hosts"]}
    facts = {rank: host["facts"] for rank, host in hosts.items()}
    for each in facts.values():
        each["disks"] = [(disk["role"], disk["mount"], disk["size"]) for disk in each["disks"]]
        each.pop("memory", None)
    assert alike(facts)
    assert alike({rank: (host["answered"], host["usable"]) for rank, host in hosts.items()}) == (True, True)


def test_accelerators_that_are_held(podrun, servers):
    held = {}
    for rank in servers.ranks:
        servers.pod.ssh(rank, "touch /tmp/libtpu_lockfile; exec 5</dev/accel0; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!")
        wait_until(lambda rank=rank: servers.running(rank), what="the holder")
    run = events(podrun, *servers.options, "-c", "--", "true")
    assert alike(ends(run)) == {"outcome": "unreachable", "stage": "clean_up", "cause": "clean_up_failed"}
    listed = json.loads(podrun(*servers.options, "kill", "--dry-run", "--json").stdout)
    held = {host["worker"]: [(each["name"], each["command"], each["devices"]) for each in host["holders"]] for host in listed["hosts"]}
    assert alike(held) == [("sleep", "sleep 1000 ", ["/dev/accel0"])]
    podrun.ok(*servers.options, "kill", "-y")
    assert alike(ends(events(podrun, *servers.options, "-c", "--", "true"))) == {"outcome": "exited", "status": 0}
