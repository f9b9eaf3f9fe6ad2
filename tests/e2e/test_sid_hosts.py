"""Hosts with the userlands of coming distributions: OpenSSH of Debian sid, with GNU's programs, with uutils and sudo-rs (Ubuntu has them
from 25.10 on), with all that is written in Rust, and with busybox. They run in $PODRUN_SID_ROOT, which `.ci/run --full` makes (.ci/sid-userlands)."""

import json
import os
import random
import signal
import time

import pytest

from events import events
from homes import homes_of_pod
from pulls import assert_arrived as assert_pulled
from pulls import pull
from pushes import assert_arrived, assert_up_to_date, push
from support import by_rank, limit, wait_until
from trees import NAMES, Directory, File, Link, remove, write_tree

ROOT = os.environ.get("PODRUN_SID_ROOT")
pytestmark = pytest.mark.skipif(not ROOT or os.geteuid() != 0, reason="needs $PODRUN_SID_ROOT and root")
USERLANDS = ("gnu", "uutils", "rust", "busybox")
RANKS = range(3)
TREE = {
    **{name: b"%d" % number for number, name in enumerate(NAMES)},
    b"sub \xff/of\xfe": b"below a name that is not UTF-8",
    "run": File(b"#!/bin/sh\n", 0o755),
    "zero": b"",
    "empty": Directory(0o750),
    "hole": File(b"x", size=3 << 20),
    "link": Link(b"sub \xff"),
}
# The command's own processes, one in a session of its own, and one that ignores TERM.
STUBBORN = "setsid sleep 3001 & nohup sleep 3002 >/dev/null 2>&1 & trap '' TERM; while :; do sleep 3003; done"


@pytest.fixture
def tree(request):
    """Without the names that Rust's find changes: podrun says so (test_pull.py)."""
    if request.node.callspec.params["homes"] != "rust":
        return TREE
    return {**{name: node for name, node in TREE.items() if os.fsdecode(name).isprintable()}, "link": Link("run")}


@pytest.fixture(params=USERLANDS)
def homes(request, pods, podrun):
    with homes_of_pod(pods, podrun, hosts=len(RANKS), more=("--root", ROOT, "--userland", request.param)) as homes:
        homes.pod.directory.chmod(0o755)  # so that the user u finds the key
        yield homes
        for rank in RANKS:
            end_all(homes.pod, rank)


def sleepers(pod, rank):
    return [pid for pid, command in pod.processes(rank).items() if b"sleep" in command]


def end_all(pod, rank):
    def ended():
        if left := sleepers(pod, rank):
            pod.ssh(rank, f"kill -9 {' '.join(map(str, left))}")
        return not left

    wait_until(ended, what="the end of what a test left")


def as_user(homes):
    """Options for the hosts, with the user u, who may do all by sudo."""
    return ("-H", ",".join(f"u@{address}" for address in homes.pod.addresses))


def on_all(*lines):
    return {rank: [*lines] for rank in RANKS}


# Running


def test_the_userland_is_the_one_that_is_meant(podrun, homes, request):
    versions = {rank: b" ".join(lines) for rank, lines in by_rank(podrun.ok(*homes.options, "--", "ls --version; sudo --version; sed --version")).items()}
    name = request.node.callspec.params["homes"]
    for said in versions.values():
        assert (b"uutils coreutils" in said, b"sudo-rs" in said) == (name in ("uutils", "rust"),) * 2, said
        assert (b"Packaged by Debian" in said) == (name in ("gnu", "uutils")), said


def test_a_command_its_input_its_script_and_its_environment(podrun, homes):
    data = bytes(range(256)) * 1000
    assert podrun.ok(*homes.on(0), "-N", "-I", "--", "cat", input=data) == data
    assert by_rank(podrun.ok(*homes.options, "-e", "V=a  b", "--", 'echo "$V $PODRUN_RANK"')) == {rank: [b"a  b %d" % rank] for rank in RANKS}
    script = podrun.directory / "script"
    script.write_text("#!/bin/sh\necho script; exit 3\n")
    ended = podrun(*homes.options, "-s", script)
    assert (by_rank(ended.stdout), ended.returncode) == (on_all(b"script"), 3)


def test_sudo_runs_it_as_root(podrun, homes):
    assert by_rank(podrun.ok(*as_user(homes), "-e", "V=1", "--sudo", "--", "id -un; echo $V")) == on_all(b"root", b"1")
    assert by_rank(podrun.ok(*as_user(homes), "--", "id -un; sudo id -un")) == on_all(b"u", b"root")


@pytest.mark.parametrize("end_it", ["timeout", "TERM", "KILL"])
@pytest.mark.parametrize("options", [(), ("--sudo",)], ids=["", "--sudo"])
def test_nothing_is_left_of_a_command(podrun, homes, options, end_it):
    run = podrun.start(*as_user(homes), *options, *(("-u", "1") if end_it == "timeout" else ()), "--grace", "1", "--", f"echo up; {STUBBORN}")
    run.wait_for_output(b": up\n", count=len(RANKS))
    if end_it == "timeout":
        assert run.wait().returncode == 124
    else:
        run.signal(signal.Signals["SIG" + end_it])
        run.process.wait(limit(20))
    wait_until(lambda: not any(sleepers(homes.pod, rank) for rank in RANKS), what="the processes gone")


@pytest.mark.parametrize("end_it", ["timeout", "INT", "KILL"])
def test_nothing_is_left_of_what_the_commands_own_sudo_has_started(podrun, homes, end_it):
    detached = 'sudo sh -c "setsid sleep 3001 & echo up; sleep 3002; sleep 3003"; sleep 3004'
    run = podrun.start(*as_user(homes), *(("-u", "1") if end_it == "timeout" else ()), "--grace", "2", "--", detached)
    run.wait_for_output(b": up\n", count=len(RANKS))
    if end_it != "timeout":
        run.signal(signal.Signals["SIG" + end_it])
    run.process.wait(limit(20))
    wait_until(lambda: not any(sleepers(homes.pod, rank) for rank in RANKS), what="root's processes gone")


# Files


def test_push(podrun, homes, tree):
    write_tree(podrun.directory / "app", tree)
    push(podrun, homes, "app/", "app/")
    assert_arrived(homes, podrun.directory / "app/", "app/")
    assert_up_to_date(podrun, homes, "app/", "app/")
    (podrun.directory / "app" / "new").write_bytes(b"new")
    (podrun.directory / "app" / "zero").unlink()
    push(podrun, homes, "--delete", "app/", "app/")
    assert_arrived(homes, podrun.directory / "app", "app")
    push(podrun, homes, "--checksum", "app/", "app/")


def test_a_spread_push(podrun, homes, tree):
    write_tree(podrun.directory / "app", {**tree, "data": random.Random(1).randbytes(5 << 20)})
    said = push(podrun, homes, "--spread", "app/", "app/")
    assert "from each other" in said
    assert_arrived(homes, podrun.directory / "app", "app")


def test_pull(podrun, homes, tree):
    homes.write("logs", tree)
    pull(podrun, homes, "logs", "out")
    assert_pulled(podrun, homes, "logs", "logs")
    assert "here already" in pull(podrun, homes, "logs", "out")
    remove(podrun.directory / "out")


# Jobs, and what holds accelerators


def test_jobs(podrun, homes):
    podrun.ok(*homes.options, "start", "train", "--", "echo step 1; echo err >&2; echo step 2; exec 7</dev/accel0; sleep 3001")
    try:
        wait_until(lambda: podrun.ok(*homes.options, "logs", "train").count(b"step 2") == len(RANKS), what="the job's output")
        assert by_rank(podrun.ok(*homes.options, "logs", "--grep", "step 2", "train")) == on_all(b"step 2")
        jobs = json.loads(podrun.ok(*homes.options, "ps", "--json"))
        assert [[job["state"] for job in host["jobs"]] for host in jobs["hosts"]] == [["running"]] * len(RANKS)
        busy = podrun(*homes.options, "-c", "--", "true")
        assert busy.returncode == 255 and b"for the job train" in busy.stderr
        assert all(len(host["holders"]) == 1 for host in json.loads(podrun.ok(*homes.options, "kill", "--json", "--dry-run"))["hosts"])
        podrun.ok(*homes.options, "kill", "-y", "--grace", "1", "--job", "train")
        wait_until(lambda: not any(sleepers(homes.pod, rank) for rank in RANKS), what="the holders gone")
    finally:
        podrun(*homes.options, "stop", "--grace", "0", "train")
        podrun(*homes.options, "rm", "train")
    podrun.ok(*homes.options, "start", "quiet", "--", "setsid sleep 3002 & sleep 3003")
    podrun.ok(*homes.options, "stop", "--grace", "1", "quiet")
    wait_until(lambda: not any(sleepers(homes.pod, rank) for rank in RANKS), what="the processes gone")
    podrun.ok(*homes.options, "rm", "quiet")


# Looking


def test_check_and_top(podrun, homes):
    checked = podrun(*homes.options, "check", "--json")
    assert checked.returncode in (0, 1), checked
    assert len(json.loads(checked.stdout)["hosts"]) == len(RANKS)
    sampled = [json.loads(line) for line in podrun.ok(*homes.options, "top", "--once", "--json").splitlines()]
    assert {event["worker"] for event in sampled if event["event"] == "sample"} == set(RANKS)


def test_shell(podrun, homes):
    ended = podrun(*homes.options, "shell", input=b"cd /tmp\nexport A=1\necho $PWD $A\n")
    assert (ended.returncode, by_rank(ended.stdout)) == (0, on_all(b"/tmp 1"))


def test_restarts(podrun, homes):
    # The first try fails on one host and leaves processes on the others.
    command = "[ -e again ] && exit 0; : >again; setsid sleep 3001 & [ $PODRUN_RANK = 0 ] && exit 1; sleep 3002"
    ended = podrun(*homes.options, "--restarts", "1", "--grace", "1", "--short-try", "1s", "--", command)
    assert ended.returncode == 0, ended.stderr
    wait_until(lambda: not any(sleepers(homes.pod, rank) for rank in RANKS), what="the processes gone")


# sshd


@pytest.fixture
def strict(pods, podrun):
    """A host whose sshd turns an address away after failed logins, as it does by default."""
    pod = pods("--hosts", "1", "--root", ROOT, "--sshd", "PerSourcePenalties yes")
    pod.move_in(podrun)
    return pod


@pytest.mark.deadline(120)
def test_an_address_that_sshd_turns_away_is_tried_again_until_it_does_not(podrun, strict):
    def fails():
        failed = events(podrun, "-H", f"nosuch@{strict.addresses[0]}", "--retries", "0", "--", "true")
        return failed if "Not allowed at this time" in failed.exits[0]["message"] else None

    failed = wait_until(fails, what="sshd turning this address away")
    assert failed.exits[0]["cause"] == "closed" and failed.exits[0]["stage"] == "ssh_banner"
    assert b"PerSourcePenalties" in failed.stderr and b"MaxStartups" in failed.stderr
    begin = time.monotonic()
    assert podrun.ok(*strict.on(0), "-N", "--", "echo up") == b"up\n"
    assert time.monotonic() - begin > 1
