"""podrun kill: real processes that have devices of isolated hosts open are stopped, and no other."""

import json
import os
import random
import re
import time
from pathlib import Path

import jsonschema
import pytest

from homes import ViaHomes
from support import limit, wait_until, without_options

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "kill-schema.json").read_text(encoding="utf-8"))
NOBODY = 65534
DEAF = 'trap "" TERM INT HUP; while :; do sleep 1 5<&-; done'
ANOTHER_USER = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"


@pytest.fixture
def host(isolated):
    """Two isolated hosts, on which everything is ended that a test leaves."""
    hosts = Hosts(isolated)
    yield hosts
    hosts.end_all()


class Hosts:
    def __init__(self, pod):
        self.pod = pod
        self.options = pod.options
        self.on = pod.on
        self.end_all()

    def processes(self, rank):
        return {pid: command for pid, command in self.pod.processes(rank).items() if b"sleep" in command or b"HOLDER" in command}

    def end_all(self):
        for rank in range(2):
            if pids := self.processes(rank):
                self.pod.ssh(rank, f"kill -9 {' '.join(map(str, pids))}")
                wait_until(lambda rank=rank: not self.processes(rank), what="the holders' end")
            self.pod.ssh(rank, "rm -rf /tmp/libtpu* ~/.libtpu_lockfile")

    def hold(self, rank, then="exec sleep 1000", device="/dev/accel0", prefix=""):
        """Starts a process that has the device open, in a session of its own; returns its pid on the host."""
        before = self.processes(rank)
        text = f"exec 5<{device}; : >/tmp/holds; {then}"
        started = self.pod.ssh(rank, f"rm -f /tmp/holds; chmod 1777 /tmp; {prefix} setsid sh -c '{text}' HOLDER </dev/null >/dev/null 2>&1 &")
        assert started.returncode == 0, started
        wait_until(lambda: self.pod.ssh(rank, "ls /tmp/holds").returncode == 0, what="the holder")
        return min(pid for pid in self.holding(rank, device) & set(self.processes(rank)) if pid not in before)

    def holding(self, rank, device):
        """The pids of the processes with this device open, by what the host's own /proc says."""
        found = self.pod.ssh(rank, f"ls -l /proc/[0-9]*/fd 2>/dev/null | awk -F/ '/^.proc/ {{ pid = $3 }} / -> {device.replace('/', '.')}$/ {{ print pid }}'").stdout
        return {int(pid) for pid in found.split()}

    def lives(self, rank, pid):
        return pid in self.pod.processes(rank)


def lines_of(completed, status=0):
    assert completed.returncode == status, completed
    assert completed.stderr == b"", completed
    return completed.stdout.decode().splitlines()


@pytest.mark.smoke
def test_frees_the_accelerators(podrun, host):
    for rank in range(2):
        host.hold(rank)
    bystander = host.hold(0, device="/dev/null")
    listed, result = lines_of(podrun(*host.options, "kill", "-y"))
    assert re.fullmatch(r"\[0,1\] 2 processes of \S+ · \d+ s( to \d+ s)? · sleep 1000", listed), listed
    assert result == "freed 2/2 hosts"
    assert list(host.processes(0)) == [bystander]
    assert not host.processes(1)
    assert lines_of(podrun(*host.options, "kill", "-y")) == ["no process to stop on 2 hosts"]


def test_a_dry_run_only_lists(podrun, host):
    pid = host.hold(1, device="/dev/accel3")
    host.pod.ssh(1, "touch /tmp/libtpu_lockfile")
    [line] = lines_of(podrun(*host.options, "kill", "--dry-run"))
    assert re.fullmatch(rf"\[1\] pid {pid} of \S+ · \d+ s · sleep 1000", line), line
    assert host.lives(1, pid)
    assert host.pod.ssh(1, "ls /tmp/libtpu_lockfile").returncode == 0


def test_asks_on_a_terminal(podrun, host):
    pid = host.hold(0)
    for answer, status in ((b"no\n", 1), (b"\x03", 130)):
        run = podrun.terminal(*host.options, "kill")
        run.read_until(b"Stop 1 process on 1 host (yes/no)? ")
        run.type(answer)
        assert run.wait().returncode == status
        assert host.lives(0, pid)
    run = podrun.terminal(*host.options, "kill")
    run.read_until(b"(yes/no)? ")
    run.type(b"yes\n")
    run.read_until(b"freed 1/1 host")
    assert run.wait().returncode == 0
    assert not host.lives(0, pid)


def test_stops_nothing_unasked(podrun, host):
    pid = host.hold(0)
    refused = podrun(*host.options, "kill")
    assert refused.returncode == 2
    assert refused.stderr == b"podrun: kill: there is no terminal to ask on (-y stops the processes without a question)\n"
    assert host.lives(0, pid)


def test_sends_kill_to_what_ignores_term(podrun, host):
    deaf = host.hold(0, then=DEAF)
    slow = host.hold(1, then="trap \"sleep 1; exit\" TERM; while :; do sleep 0.1; done")
    began = time.monotonic()
    assert lines_of(podrun(*host.options, "kill", "-y", "--grace", "3s"))[-1] == f"freed 2/2 hosts · needed KILL: [0] pid {deaf} (sh)"
    assert time.monotonic() - began >= 3
    assert not host.lives(0, deaf)
    assert not host.lives(1, slow)


def test_names_what_it_waits_for_and_what_needed_kill(podrun, host):
    deaf = host.hold(1, then=DEAF)
    host.hold(0)
    run = podrun.terminal(*host.options, "kill", "-y", "--grace", "4s")
    run.read_until(f"waiting for pid {deaf} (sh) on [1] to close /dev/accel0 · KILL in ".encode())
    run.type(b"\n")
    run.read_until(f"podrun: waiting for pid {deaf} (sh) on [1] to close /dev/accel0 · KILL in ".encode())
    run.read_until(f"freed 2/2 hosts · needed KILL: [1] pid {deaf} (sh)".encode())
    assert run.wait().returncode == 0
    deaf = host.hold(1, then=DEAF)
    told = json.loads(podrun(*host.options, "kill", "--json", "-y", "--grace", "1s").stdout)
    jsonschema.validate(told, SCHEMA)
    assert [each["killed"] for each in told["hosts"]] == [[], [{"pid": deaf, "name": "sh"}]]


def test_an_interrupted_wait_names_the_process(podrun, host):
    deaf = host.hold(1, then=DEAF)
    host.hold(0)
    run = podrun.terminal(*host.options, "kill", "-y")
    run.read_until(f"waiting for pid {deaf} (sh) on [1] to close".encode())  # the other one has ended
    run.type(b"\x03")
    run.read_until(f"podrun: interrupted: no KILL for pid {deaf} (sh) on [1]".encode())
    run.read_until(b"podrun: interrupted (SIGINT)")
    run.read_until(f"freed 1/2 hosts · not seen to end: [1] pid {deaf} (sh)".encode())
    ended = run.wait()
    assert ended.returncode == 130
    assert b"stopped by podrun" not in run.output, "it is podrun's own script that podrun has stopped"
    assert host.lives(1, deaf)


def test_names_the_job_that_it_spares_once(podrun, host):
    podrun.ok(*host.options, "start", "kept", "--", "exec 5</dev/accel0; exec sleep 1000")
    for rank in range(2):
        wait_until(lambda rank=rank: host.holding(rank, "/dev/accel0"), what="the job's hold")
    lines = without_options("\n".join(lines_of(podrun(*host.options, "kill", "-y"), 1)).encode()).decode().splitlines()
    assert lines[-1] == "busy: [0,1] 2 processes of the job kept (podrun stop kept, or --job kept, stops it)"
    refused = podrun(*host.options, "-c", "--", "true")
    assert re.search(rb"podrun: not ready: \[0,1\] clean-up: sleep \(pid \d+ on \[0\]\) holds /dev/accel0 for the job kept\n", refused.stderr), refused
    assert b"podrun: podrun stop kept frees the accelerators of that job\n" in without_options(refused.stderr)
    checked = without_options(podrun(*host.options, "check").stdout).decode()
    assert "your job kept (podrun stop kept) has 1 of 4 accelerators open, on 2 hosts" in checked
    assert "accelerators busy" not in checked and "to free the accelerators" not in checked
    podrun.ok(*host.options, "stop", "kept")


def test_kill_is_for_what_keeps_an_accelerator_open(podrun, host):
    # (Not /dev/null: the devices of the pod are that, under other names.)
    closes = host.hold(0, then='trap "exec 5</etc/passwd" TERM; while :; do sleep 0.1 5<&-; done')
    moves = host.hold(1, then='trap "exec 7<&5 5</etc/passwd" TERM; while :; do sleep 0.1 5<&- 7<&-; done')
    assert lines_of(podrun(*host.options, "kill", "-y", "--grace", "2s"))[-1] == f"freed 2/2 hosts · needed KILL: [1] pid {moves} (sh)"
    assert host.lives(0, closes)
    assert not host.lives(1, moves)


def test_a_suspended_process_gets_term_too(podrun, host):
    pid = host.hold(0, then='trap "touch /tmp/libtpu-ended; exit" TERM; while :; do sleep 0.1; done')
    host.pod.ssh(0, f"kill -STOP {pid}")
    assert lines_of(podrun(*host.on(0), "kill", "-y"))[-1] == "freed 1/1 host"
    assert host.pod.ssh(0, "ls /tmp/libtpu-ended").returncode == 0


def test_leaves_a_process_that_has_the_pid_by_now(podrun, host):
    pid = host.hold(0)
    run = podrun.terminal(*host.on(0), "kill")
    run.read_until(b"(yes/no)? ")
    host.pod.ssh(0, f"kill -9 {pid}")
    wait_until(lambda: not host.lives(0, pid), what="its end")
    for _ in range(50):
        text = "exec 5</dev/accel0; exec sleep 1001"
        host.pod.ssh(0, f"echo {pid - 1} >/proc/sys/kernel/ns_last_pid; sh -c '{text}' HOLDER </dev/null >/dev/null 2>&1 &")
        wait_until(lambda: any(b"sleep 1001" in command.replace(b"\0", b" ") for command in host.processes(0).values()), what="another holder")
        if host.lives(0, pid):
            break
        host.end_all()
    else:
        pytest.skip("the pid could not be had again")
    run.type(b"yes\n")
    run.read_until(f"busy: [0] pid {pid} (still there: sleep 1001)".encode())
    assert run.wait().returncode == 1
    assert host.lives(0, pid)


def test_spares_other_users_unless_told(podrun, host):
    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")
    pid = host.hold(0, prefix=ANOTHER_USER)
    mine = host.hold(0, device="/dev/accel1")
    lines = lines_of(podrun(*host.on(0), "kill", "-y"), 1)
    assert lines[1].endswith("stays: of another user (--all-users stops it)"), lines
    assert lines[-1] == f"stopped on 1/1 host, freed 0 · busy: [0] pid {pid} of another user (--all-users stops it)"
    assert not host.lives(0, mine)
    assert host.lives(0, pid)
    assert lines_of(podrun(*host.on(0), "kill", "-y", "--all-users"))[-1] == "freed 1/1 host"
    assert not host.lives(0, pid)


def test_is_narrowed_by_options(podrun, host):
    first, second = host.hold(0), host.hold(0, then="exec sleep 1002")
    for options in (["--pid", "1"], ["--match", "sleep 77"], ["--older-than", "1h"], ["--of-user", "x"]):
        assert b"no process" not in podrun(*host.on(0), "kill", "-y", *options).stdout
        assert host.lives(0, first) and host.lives(0, second)
    podrun(*host.on(0), "kill", "-y", "--match", "sleep 1002")
    assert host.lives(0, first) and not host.lives(0, second)
    assert lines_of(podrun(*host.on(0), "kill", "-y", "--pid", str(first)))[-1] == "freed 1/1 host"


def test_spares_a_podrun_run_that_goes_on(podrun, host):
    running = podrun.start(*host.on(1), "--", "exec 5</dev/accel2; echo held; exec sleep 1000")
    running.wait_for_output(b"held")
    lines = lines_of(podrun(*host.options, "kill", "-y"), 1)
    run = re.search(r"stays: of a podrun run that goes on \(--run (\w+) stops it\)", lines[0])
    assert run, lines
    assert running.process.poll() is None
    assert lines_of(podrun(*host.options, "kill", "-y", "--run", run[1]))[-1] == "freed 1/1 host"
    assert running.wait().returncode == 128 + 15


def test_stops_what_an_ended_podrun_run_has_left(podrun, host):
    left = podrun.ok(*host.on(0), "--", "setsid sh -c 'exec 5</dev/accel0; exec sleep 1000' >/dev/null 2>&1 </dev/null & echo $!")
    assert lines_of(podrun(*host.on(0), "kill", "-y"))[-1] == "freed 1/1 host"
    assert not host.lives(0, int(left.split(b": ")[-1]))


def test_stops_a_process_whose_name_has_several_lines(podrun, host):
    pid = host.hold(0, "echo train >/proc/self/comm; sleep 1000 5<&- & wait")
    wait_until(lambda: host.pod.ssh(0, f"cat /proc/{pid}/comm").stdout == b"train\n\n", what="its name")
    assert lines_of(podrun(*host.on(0), "kill", "-y"))[-1] == "freed 1/1 host"
    assert not host.lives(0, pid)


def test_stops_what_has_a_pid_namespace_of_its_own(podrun, host):
    host.pod.ssh(0, "unshare --pid --fork --mount-proc sh -c 'exec 5</dev/accel0; sleep 1000 & wait' HOLDER </dev/null >/dev/null 2>&1 &")
    wait_until(lambda: any(b"sleep" in command for command in host.processes(0).values()), what="the holder")
    assert lines_of(podrun(*host.on(0), "kill", "-y"))[-1] == "freed 1/1 host"
    wait_until(lambda: not host.processes(0), what="its end")


def test_knows_a_device_node_that_was_just_made(podrun, host):
    if host.pod.ssh(0, "mknod /dev/accel9 c 1 3").returncode != 0:
        pytest.skip("no device can be made here")
    host.hold(0, device="/dev/accel9")
    assert lines_of(podrun(*host.on(0), "kill", "-y"))[-1] == "freed 1/1 host"
    host.pod.ssh(0, "rm /dev/accel9")


def test_removes_lock_files_where_nothing_holds_them(podrun, host):
    lock = "mkdir -p /tmp/libtpu_lock_7; touch /tmp/libtpu_lockfile /tmp/libtpu_lock_7/libtpu_lockfile"
    for rank in range(2):
        host.pod.ssh(rank, lock)
    pid = host.hold(1, device="/tmp/libtpu_lockfile")
    result = f"no process to stop on 2 hosts · [1] pid {pid} (sleep) holds /tmp/libtpu_lockfile · 2 lock files removed"
    assert lines_of(podrun(*host.options, "kill", "-y"))[-1] == result
    assert host.pod.ssh(0, "find /tmp -name libtpu_lockfile").stdout == b""
    assert host.pod.ssh(1, "find /tmp -name libtpu_lockfile").stdout.count(b"\n") == 2
    assert host.lives(1, pid)


def test_another_user_gets_nothing_by_lock_files(podrun, host):
    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")
    host.pod.ssh(0, "touch ~/precious ~/libtpu_lockfile; chmod 1777 /tmp")
    planted = 'ln -s "$0/precious" libtpu_lockfile; ln -s "$0" libtpu_lock_link; d="libtpu_lock_\nremoved x"; mkdir "$d"; : >"$d/libtpu_lockfile"'
    host.pod.ssh(0, f"cd /tmp && {ANOTHER_USER} sh -c '{planted}' ~")
    [told] = json.loads(podrun(*host.on(0), "kill", "--json", "-y").stdout)["hosts"]
    kept = host.pod.ssh(0, "ls ~/precious ~/libtpu_lockfile && rm ~/precious ~/libtpu_lockfile")
    assert kept.returncode == 0, kept
    assert (told["removed_locks"], told.get("kept_lock")) == (["/tmp/libtpu_lockfile"], None)


def test_a_process_with_the_name_of_a_service_is_busy_and_can_be_named(podrun, host):
    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")

    def hold_as(name, device):
        pid = host.hold(0, f"printf {name} >/proc/self/comm; sleep 1000 5<&- & wait", device, ANOTHER_USER)
        wait_until(lambda: host.pod.ssh(0, f"cat /proc/{pid}/comm").stdout.strip() == name.encode(), what="its name")
        return pid

    pids = {name: hold_as(name, f"/dev/accel{number}") for number, name in enumerate(("raylet", "sshd"))}
    ended = podrun(*host.on(0), "kill", "--json", "-y", "--all-users")
    [told] = json.loads(ended.stdout)["hosts"]
    assert (ended.returncode, told["free"]) == (1, False), ended
    [left] = told["left"]
    assert (left["pid"], left["service"]) == (pids["raylet"], False)
    assert f"--pid {pids['raylet']} " in left["kept"]
    assert not host.lives(0, pids["sshd"])
    assert lines_of(podrun(*host.on(0), "kill", "-y", "--all-users", "--pid", str(pids["raylet"])))[-1] == "freed 1/1 host"


@pytest.mark.parametrize("mark, run", [("0123456789abcdef.job-0-$(touch x).", "0123456789abcdef"), ("$(touch x)0123.0.", None), ("0123456789abcdef;x.0.", None)])
def test_suggests_no_command_with_words_of_a_host(podrun, mark, run):
    homes = ViaHomes(podrun, "a")
    facts = [f"process 77 1 {os.getuid()} 5 S python", "holds 77 /dev/accel0", "command 77 python", f"mark 77 {mark}", "run_lives 77", "end"]
    homes.way(0, '"$@" | sed -u \'s:^end$:' + "\\n".join(facts) + ":'; exit")
    [told] = json.loads(podrun.ok(*homes.options, "kill", "--json", "--dry-run"))["hosts"]
    [holder] = told["holders"]
    assert (holder["pid"], holder.get("run"), holder.get("job")) == (77, run, None)
    shown = podrun(*homes.options, "kill", "--dry-run")
    assert shown.returncode == 0 and b"pid 77" in shown.stdout
    assert b"touch" not in shown.stdout + shown.stderr and b";x" not in shown.stdout + shown.stderr


def test_json_tells_everything(podrun, host):
    pid = host.hold(1, device="/dev/accel3")
    hosts = ("-H", ",".join(host.pod.addresses) + ",127.0.0.9:129", "--retries", "0")
    [line] = podrun(*hosts, "kill", "--json", "--dry-run").stdout.splitlines()
    look = json.loads(line)
    jsonschema.validate(look, SCHEMA)
    assert [each["answered"] for each in look["hosts"]] == [True, True, False]
    assert look["hosts"][2]["cause"] == "refused"
    assert [holder["pid"] for holder in look["hosts"][1]["holders"]] == [pid]
    assert "free" not in look["hosts"][1]
    ended = podrun(*hosts, "kill", "--json", "-y")
    assert ended.returncode == 255
    done = json.loads(ended.stdout)
    jsonschema.validate(done, SCHEMA)
    assert done["hosts"][1]["holders"][0]["devices"] == ["/dev/accel3"]
    assert done["hosts"][1]["free"] is True
    assert done["hosts"][1]["left"] == []


def test_the_documented_json_is_right():
    [example] = re.findall(r'^{"v":1,"event":"kill".*?^```', (DOCS / "json.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    jsonschema.validate(json.loads(example.removesuffix("```")), SCHEMA)


def test_goes_on_without_hosts_that_are_not_reached(podrun, host):
    host.hold(0)
    ended = podrun("-H", f"{host.pod.addresses[0]},127.0.0.9:129", "--retries", "0", "kill", "-y")
    assert ended.returncode == 255
    assert ended.stdout.decode().splitlines()[-1] == "freed 1/1 host"
    assert b"podrun: unreachable: [1] 127.0.0.9: connecting: connection refused at port 129" in ended.stderr


def test_a_refused_clean_up_names_it(podrun, host):
    host.hold(1)
    refused = podrun(*host.options, "-c", "--", "true")
    assert refused.returncode == 255
    assert b"podrun: podrun kill lists what holds the accelerators, and asks before it stops it\n" in without_options(refused.stderr)


def test_works_where_sh_is_another_shell(podrun_any_shell):
    listed = json.loads(podrun_any_shell.ok("-H", "local[0-1]", "kill", "--json", "--dry-run"))
    jsonschema.validate(listed, SCHEMA)
    assert [host["answered"] for host in listed["hosts"]] == [True, True]


@pytest.mark.timed
def test_ends_in_time_though_a_process_ignores_term(podrun, host):
    for rank in range(2):
        host.hold(rank, then=DEAF)
    began = time.monotonic()
    assert lines_of(podrun(*host.options, "kill", "-y", "--grace", "4s"))[-1] == "freed 2/2 hosts · needed KILL: [0,1] 2 processes (sh)"
    assert time.monotonic() - began < limit(4 + 2)


LOOP = "while :; do sleep 0.1; done"
# What is ended, and what is not: (what the process does, its device, what starts it).
ENDED = [
    ("exec sleep 1000", "/dev/accel0", ""),
    ("exec sleep 1000", "/dev/accel2", "env -i"),
    (f'trap "" TERM INT HUP; {LOOP}', "/dev/accel1", ""),
    (f'trap "sleep 0.5; exit" TERM; {LOOP}', "/dev/accel3", ""),
    ("sleep 1000 & wait", "/dev/accel0", "unshare --pid --fork --mount-proc"),
]
SPARED = [
    ("exec sleep 1000", "/dev/null", ""),
    (f'trap "" TERM INT HUP; {LOOP}', "/dev/zero", ""),
    ("exec sleep 1000", "/dev/accel0", ANOTHER_USER),
]


@pytest.mark.deadline(1500)
def test_touches_nothing_else(podrun, host):
    if os.getuid() != 0:
        pytest.skip("needs root, to be another user")
    for number in range(int(os.environ.get("PODRUN_ROUNDS", "1"))):
        random.seed(number)
        host.end_all()
        before = [set(host.pod.processes(rank)) for rank in range(2)]
        spared = [[host.hold(rank, *each) for each in random.sample(SPARED, 2)] for rank in range(2)]
        ended = [[host.hold(rank, *each) for each in random.sample(ENDED, 2)] for rank in range(2)]
        result = podrun(*host.options, "kill", "-y", "--grace", "1s").stdout.decode()
        assert re.search(r"^(freed|stopped on|busy)", result, re.MULTILINE), (number, result)
        for rank in range(2):
            assert not [pid for pid in ended[rank] if host.lives(rank, pid)], (number, rank, result)
            assert all(host.lives(rank, pid) for pid in spared[rank]), (number, rank, result)
            assert before[rank] <= set(host.pod.processes(rank)), (number, rank, result)


@pytest.mark.parametrize(
    "words, error",
    [
        (["kill", "1234"], 'kill: unexpected "1234" (see podrun kill --help)'),
        (["kill", "--pid", "x"], '--pid: bad number "x" (expected 1 or more)'),
        (["kill", "--run", ""], '--run: bad id "" (expected at least 8 of its digits, 0-9 and a-f)'),
        (["kill", "--json"], "kill: with --json no question is asked (add -y, or --dry-run)"),
        (["kill", "-d"], "kill: --dedup has no meaning here (leave it out)"),
        (["--pid", "5", "--", "true"], "--pid is an option of podrun kill (podrun kill --pid ...)"),
    ],
)
def test_refuses_what_makes_no_sense(podrun, words, error):
    refused = podrun("-H", "local", *words)
    assert (refused.returncode, refused.stderr.decode()) == (2, f"podrun: {error}\n")
