"""Jobs: podrun start, ps, logs, stop and rm on isolated hosts, which have processes, a home and a /tmp each."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import jsonschema
import pytest

from conftest import private_mounts
from events import Events, closed, events
from homes import ViaHomes, homes_of_pod
from pods import write_key
from support import by_rank, send, sha256, wait_until, without_options
from trees import remove

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = closed(json.loads((DOCS / "jobs-schema.json").read_text(encoding="utf-8")))
ROWS = re.findall(r"^\| (?!what )(.+?) \| ", (DOCS / "jobs.md").read_text(encoding="utf-8").partition("## When something breaks")[2], re.MULTILINE)
PLAYED = []
FULL = bool(os.environ.get("PODRUN_FULL"))
ROUNDS = int(os.environ.get("PODRUN_ROUNDS", "3"))


def plays(*rows):
    """The test plays these rows of docs/jobs.md."""
    PLAYED.extend(rows)
    return lambda test: test


@pytest.fixture
def hosts(pods, podrun):
    """Three isolated hosts, on which everything is ended that a test leaves."""
    with homes_of_pod(pods, podrun, hosts=3) as homes:
        yield homes
        for rank in homes.ranks:
            end_all(homes, rank)


@pytest.fixture
def many(pods, podrun):
    """32 of them with PODRUN_FULL."""
    with homes_of_pod(pods, podrun, hosts=32 if FULL else 3) as homes:
        yield homes
        for rank in homes.ranks:
            end_all(homes, rank)


def end_all(homes, rank):
    def left():
        return [pid for pid, command in homes.pod.processes(rank).items() if not command.startswith((b"sshd", b"bash\0"))]

    def signal_all():
        if pids := left():
            homes.pod.ssh(rank, f"kill -9 {' '.join(map(str, pids))}")
        return not left()

    wait_until(signal_all, what="the end of all jobs")


@pytest.fixture
def via_hosts(podrun):
    """Two hosts behind --via, on which no job is left."""
    homes = ViaHomes(podrun, "a", "b")
    yield homes
    podrun(*homes.options, "stop", "train", "--grace", "0")


def jobs_of(podrun, options, *args, command="ps", status=0):
    """The jobs of each host by its rank, as --json has them."""
    ended = podrun(*options, command, "--json", *args)
    assert ended.returncode == status, ended
    found = json.loads(ended.stdout)
    jsonschema.validate(found, SCHEMA)
    return {host["worker"]: host.get("jobs") for host in found["hosts"]}


def states(podrun, options, name="train", **more):
    """The state of a job, or its exit status, by rank."""
    found = {}
    for rank, jobs in jobs_of(podrun, options, name, **more).items():
        for job in jobs or []:
            found[rank] = job["exit_status"] if job["state"] == "ended" else job["state"]
    return found


def start(podrun, options, *command, name="train", status=0, before=()):
    ended = podrun(*options, "start", *before, name, "--", *command)
    assert ended.returncode == status, ended
    return ended


def start_short(podrun, options, command, status):
    """Starts a command that ends soon. start tells its status if it has ended within a second, which a busy machine decides."""
    assert podrun(*options, "start", "train", "--", command).returncode in (0, status)


def wait_for_end(podrun, options, name="train"):
    wait_until(lambda: not {"running", "starting"} & set(states(podrun, options, name).values()), 30, "the end of the job")


def of_all(homes, value):
    return dict.fromkeys(homes.ranks, value)


# Start


@pytest.mark.smoke
def test_a_job_runs_ends_and_is_removed(podrun, via_hosts):
    started = start(podrun, via_hosts.options, 'echo out $PODRUN_WORKER $PODRUN_JOB; echo err >&2; until [ -e ~/go ]; do sleep 0.1; done; exit $PODRUN_WORKER')
    assert started.stdout == b""
    assert without_options(started.stderr) == b"podrun: train runs on 2 hosts (podrun logs -f train shows its output, podrun stop train stops it)\n"
    assert states(podrun, via_hosts.options) == of_all(via_hosts, "running")
    for rank in via_hosts.ranks:
        (via_hosts.home(rank) / "go").touch()
    followed = events(podrun, *via_hosts.options, "logs", "-f", "train")
    assert followed.returncode == 1
    assert {rank: event["status"] for rank, event in followed.exits.items()} == {0: 0, 1: 1}
    assert followed.bytes == {(rank, "stdout"): f"out {rank} train\n".encode() for rank in (0, 1)} | {(rank, "stderr"): b"err\n" for rank in (0, 1)}
    assert states(podrun, via_hosts.options) == {0: 0, 1: 1}
    assert podrun.ok(*via_hosts.options, "rm", "train") == b"train  removed [0,1]\n"
    assert states(podrun, via_hosts.options, status=1) == {}
    assert not (via_hosts.home(0) / ".podrun" / "jobs" / "train").exists()


def test_it_works_in_any_shell(podrun_any_shell):
    podrun = podrun_any_shell
    options = ("-H", "local[0-1]")
    start_short(podrun, options, 'printf "a\\nb"; sleep 0.2; exit 3', 3)
    followed = events(podrun, *options, "logs", "-f", "train")
    assert followed.returncode == 3
    assert followed.bytes == {(rank, "stdout"): b"a\nb" for rank in (0, 1)}
    start(podrun, options, "trap '' TERM; while :; do sleep 0.1; done")
    assert podrun.ok(*options, "stop", "--grace", "1", "train").startswith(b"train  stopped [0,1]")
    assert states(podrun, options) == {0: 137, 1: 137}
    podrun.ok(*options, "rm", "train")


def test_words_files_variables_and_directory_arrive(podrun, hosts):
    script = podrun.directory / "status"  # as one of the job's own files is called
    script.write_text('#!/bin/sh\nsleep 0.3\nprintf "%s\\n" "$@" "$SECRET" "$PWD" "$(umask)"\n')
    ended = podrun(*hosts.options, "-s", script, "-e", "SECRET=s3cr'et", "--chdir", "/tmp", "start", "train", "--", "a b", "c'd")
    assert ended.returncode == 0, ended
    shown = events(podrun, *hosts.options, "logs", "-f", "train")
    assert shown.shown == of_all(hosts, [b"a b", b"c'd", b"s3cr'et", b"/tmp", b"0022"])
    for path in (hosts.home(0) / ".podrun").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.is_symlink(), path
        assert not path.is_file() or path.name.startswith("out.") or b"s3cr" not in path.read_bytes(), path


def test_only_the_command_shows_its_words(podrun, hosts):
    start(podrun, hosts.on(0), "sh", "-c", ": w0rds; sleep 1000; exit 3")
    showing = [pid for pid, command in hosts.pod.processes(0).items() if b"w0rds" in command]
    assert len(showing) == 1, hosts.running(0)
    hosts.pod.ssh(0, f"kill -9 {showing[0]}")
    wait_for_end(podrun, hosts.on(0))
    assert states(podrun, hosts.on(0)) == {0: 137}


def test_no_words_are_shown_while_a_job_starts(podrun, hosts):
    hosts.hold(0, "setsid", unless="true")
    run = podrun.start(*hosts.on(0), "-e", "VALUE=s3cret", "start", "train", "--", "sh", "-c", ": w0rds; sleep 1000")
    hosts.wait_until_held(0, "setsid")
    showing = [command for command in hosts.running(0) if "w0rds" in command or "s3cret" in command]
    hosts.let_go()
    assert run.wait().returncode == 0
    assert not showing, showing


def test_a_large_environment_is_not_kept(podrun, hosts):
    """It is too large for the line that starts the command, and goes to the host as a file."""
    values = {f"LARGE{number}": f"s3cret{number}" + "x" * 60000 for number in range(3)}
    options = [word for name in values for word in ("-e", name)]
    ended = podrun(*hosts.on(0), *options, "start", "train", "--", 'printf "%s\\n" "$LARGE0" "$LARGE2"; until [ -e ~/go ]; do sleep 0.1; done', env=values)
    assert ended.returncode == 0, ended
    kept = [path for path in (hosts.home(0) / ".podrun").rglob("*") if path.is_file() and not path.name.startswith("out.") and b"s3cret" in path.read_bytes()]
    (hosts.home(0) / "go").touch()
    assert not kept, kept
    followed = events(podrun, *hosts.on(0), "logs", "-f", "train")
    assert followed.shown == {0: [values["LARGE0"].encode(), values["LARGE2"].encode()]}
    [place] = (hosts.home(0) / ".podrun" / "jobs" / "train").iterdir()
    assert {*values, "PODRUN_JOB"} <= set((place / "1" / "environment").read_text().split())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_of_the_host_gets_nothing_of_a_job(podrun, hosts):
    """Except what any process shows: the words of the command itself."""
    script = podrun.directory / "script"
    script.write_text("#!/bin/sh\necho s3cret output; until [ -e ~/go ]; do sleep 0.1; done\n")
    values = {"SMALL": "s3cret", "LARGE": "s3cret" + "x" * 120000}
    options = ("-s", script, "-e", "SMALL", "-e", "LARGE")
    hosts.home(0).chmod(0o755)
    hosts.pod.ssh(0, "umask 022; mkdir ~/.podrun")  # one that was there before
    ended = podrun(*hosts.on(0), *options, "start", "train", "--", "w0rds", env=values)
    assert ended.returncode == 0, ended
    wait_until(lambda: podrun.ok(*hosts.on(0), "logs", "train") == b"0: s3cret output\n", what="its output")
    other = "setpriv --reuid 65534 --regid 65534 --clear-groups"

    def seen(look):
        return hosts.pod.ssh(0, f"{other} sh -c {shlex.quote(look)}").stdout

    files = seen("ls -d ~/.podrun; ls ~/.podrun/jobs/train ~/.podrun/jobs/train/*/1; find ~/.podrun -type f -readable; find ~/.podrun -writable")
    assert re.fullmatch(rb"/.*/\.podrun\n", files), files  # it may look at all
    arguments = seen("cat /proc/[0-9]*/cmdline")
    assert arguments.count(b"w0rds") == 1 and b"s3cret" not in arguments + seen("cat /proc/[0-9]*/environ"), arguments


@plays("the terminal or the connection is closed", "sshd is killed or restarted")
def test_a_job_outlives_the_terminal_and_the_servers(podrun, hosts):
    run = podrun.terminal(*hosts.options, "start", "train", "--", "sleep 2; echo still there; until [ -e ~/go ]; do sleep 0.1; done; exit 7")
    run.read_until(b"train runs on 3 hosts")
    os.kill(run.pid, signal.SIGHUP)
    run.wait()
    for rank in hosts.ranks:
        send(signal.SIGKILL, hosts.pod.logins(rank))
        hosts.home(rank).joinpath("go").touch()
    followed = events(podrun, *hosts.options, "logs", "-f", "train")
    assert {event["status"] for event in followed.exits.values()} == {7}
    assert followed.shown == of_all(hosts, [b"still there"])


def test_a_hint_can_be_pasted(podrun, hosts):
    said = start(podrun, hosts.options, "echo up; sleep 1000").stderr.decode()
    for verb, answer in (("logs -f", None), ("stop", b"train  stopped")):
        [words] = re.findall(rf"podrun (-(?:(?!podrun ).)*? {verb} train)", said)
        if answer:
            assert podrun.ok(*shlex.split(words), cwd="/").startswith(answer)
        else:
            run = podrun.start(*shlex.split(words), cwd="/")
            run.wait_for_output(b"up\n", 3)
            run.process.kill()


def test_a_host_that_has_left_the_list_is_named(podrun, hosts):
    start(podrun, hosts.options, "sleep 1000")
    left = hosts.pod.hosts[2]
    for words in (["ps"], ["ps", "train"], ["stop", "train"], ["rm", "train"], ["ps"]):
        said = podrun.start(*hosts.on(0, 1), *words).wait().stderr.decode()
        assert re.search(rf"podrun: train was started on {left}\S* too, which is not among these hosts \(podrun -H {left}\S* {words[0]} train\)", said), (words, said)
    podrun.ok(*hosts.on(2), "stop", "train")
    podrun.ok(*hosts.on(2), "rm", "train")
    assert b"train" not in podrun(*hosts.on(0, 1), "ps").stderr


def test_a_running_name_is_refused_and_an_ended_one_is_free(podrun, hosts):
    start(podrun, hosts.on(1), "sleep 1000")
    # The same host by the same place: worker 0 of a list of its own.
    refused = events(podrun, *hosts.on(1), "start", "train", "--", "true")
    assert refused.returncode == 1
    assert refused.failures == {0: ("unreachable", "job_name", "job_exists")}
    told = start(podrun, hosts.on(1), "true", status=1)
    assert without_options(told.stderr) == b"podrun: train runs already on [0] (podrun logs -f train; podrun stop train)\n"
    podrun.ok(*hosts.on(1), "stop", "train")
    for number in range(2, 6):
        start(podrun, hosts.on(1), f"echo {number}")
        wait_for_end(podrun, hosts.on(1))
    assert jobs_of(podrun, hosts.on(1), "train")[0][0]["start"] == 5
    assert podrun.ok(*hosts.on(1), "logs", "train") == b"0: 5\n"
    [place] = (hosts.home(1) / ".podrun" / "jobs" / "train").iterdir()
    wait_until(lambda: sorted(entry.name for entry in place.iterdir()) == ["3", "4", "5"], what="only three are kept")


@plays("a host cannot start it")
def test_starts_everywhere_or_nowhere(podrun, hosts):
    start(podrun, hosts.options, "sleep 1000", name="other")
    for rank in (0, 2):
        podrun.ok(*hosts.options, "--workers", str(rank), "stop", "other")
    refused = events(podrun, *hosts.options, "start", "other", "--", "touch ~/ran")
    assert refused.returncode == 1
    assert refused.failures == {1: ("unreachable", "job_name", "job_exists")}
    assert not any((hosts.home(rank) / "ran").exists() for rank in hosts.ranks)
    # One that fails after the others have started the command is taken back.
    hosts.program(1, "setsid", "exit 9")
    failed = start(podrun, hosts.options, "trap '' TERM; while :; do sleep 0.1; done", before=("--grace", "1"), status=125)
    assert b"podrun: train was not started; what had been started on " in failed.stderr
    assert states(podrun, hosts.options, status=1) == {}
    wait_until(lambda: not hosts.pod.processes(0) and not hosts.pod.processes(2), what="nothing is left")


def test_hosts_that_lack_a_job_are_named(podrun, hosts):
    start(podrun, hosts.on(0), "sleep 1000")
    assert jobs_of(podrun, hosts.options, "train")[1] == []
    assert "\ntrain  running [0] · not on [1,2]  ".encode() in podrun.ok(*hosts.options, "ps")
    refused = events(podrun, *hosts.options, "start", "train", "--", "touch ~/ran")
    assert refused.failures == {0: ("unreachable", "job_name", "job_exists")}
    podrun.ok(*hosts.options, "stop", "train")
    assert not any((hosts.home(rank) / "ran").exists() for rank in hosts.ranks)
    start(podrun, hosts.options, "sleep 1000")
    assert states(podrun, hosts.options) == of_all(hosts, "running")


@plays("podrun is killed by `kill -9` before it has started it everywhere")
@pytest.mark.deadline(240)
def test_what_a_killed_start_has_started_ends(podrun, hosts):
    hosts.hold(1, "setsid", unless="true")
    run = podrun.start(*hosts.options, "start", "train", "--", "trap '' TERM; while :; do sleep 0.1; done")
    hosts.wait_until_held(1, "setsid")
    wait_until(lambda: states(podrun, hosts.on(0)) == {0: "running"}, what="the job on host 0")
    run.signal(signal.SIGKILL)
    run.process.wait()
    wait_until(lambda: states(podrun, hosts.on(0)) == {0: 137}, 120, "its end on host 0")
    assert jobs_of(podrun, hosts.on(0), "train")[0][0]["stopped"]
    hosts.let_go()
    wait_until(lambda: not any(hosts.pod.processes(rank) for rank in hosts.ranks), 120, "nothing is left")


@plays("`podrun stop` while it is being started")
def test_what_is_stopped_while_it_starts_never_runs(podrun, hosts):
    hosts.hold(1, "setsid", unless="true")
    run = podrun.start(*hosts.options, "start", "train", "--", "echo ran; sleep 1000")
    hosts.wait_until_held(1, "setsid")
    wait_until(lambda: states(podrun, hosts.on(0)) == {0: "running"}, what="the job on host 0")
    podrun.ok(*hosts.options, "stop", "--grace", "1", "train")
    assert all(jobs[0]["stopped"] for jobs in jobs_of(podrun, hosts.options, "train").values())
    hosts.let_go()
    ended = run.wait()
    assert ended.returncode == 143, ended
    assert b"podrun: stopped [0-2]" in ended.stderr, ended
    assert podrun.ok(*hosts.options, "--workers", "1", "logs", "train") == b""
    assert states(podrun, hosts.options) == of_all(hosts, 143)


def test_a_claim_that_was_stopped_starts_nothing(podrun, hosts):
    hosts.hold(2, "ln")  # which makes a claim
    run = podrun.start(*hosts.options, "start", "train", "--", "echo ran; sleep 1000")
    wait_until(lambda: b"starting [0]" in podrun(*hosts.on(0), "ps", "train").stdout, what="the claim on host 0")
    podrun(*hosts.on(0), "stop", "train")
    hosts.let_go()
    ended = run.wait()
    assert ended.returncode == 125, ended
    assert b"podrun stop has stopped the job while it was being started" in ended.stderr
    wait_until(lambda: not any(hosts.pod.processes(rank) for rank in hosts.ranks), 30, "nothing is left")


def test_a_command_that_ends_at_once_is_an_error_of_the_start(podrun, hosts):
    for words in (["no-such-command"], ["no-such-command", "x"]):
        ended = start(podrun, hosts.options, *words, status=127)
        assert re.fullmatch(rb"podrun: exit 127 \[0-2\]: .*no-such-command.*not found\npodrun: train has ended .*\n", ended.stderr), ended
        assert states(podrun, hosts.options) == of_all(hosts, 127), "it is there to be looked at"
    one = start(podrun, hosts.options, "[ $PODRUN_RANK = 1 ] && { echo out of luck; exit 3; }; sleep 1000", name="one", status=3)
    assert without_options(one.stderr).startswith(b"podrun: exit 3 [1]: out of luck\npodrun: one runs on 2 hosts (podrun logs -f one "), one


@plays("two people start the same name at the same moment")
def test_of_two_starts_one_wins_everywhere(podrun, hosts):
    for number in range(ROUNDS):
        name = f"race{number}"
        runs = [podrun.start(*hosts.options, "--json", "start", name, "--", f"echo {who}; sleep 1000") for who in "ab"]
        ended = [run.wait() for run in runs]
        winners = [who for who, run in zip("ab", ended, strict=True) if run.returncode == 0]
        assert len(winners) == 1, [run.stderr for run in ended]
        assert states(podrun, hosts.options, name) == of_all(hosts, "running")
        wait_until(lambda name=name: by_rank(podrun.ok(*hosts.options, "logs", name)) == of_all(hosts, [winners[0].encode()]), what="the output of the winner")
        podrun.ok(*hosts.options, "stop", name)


@plays("Ctrl-C before it runs everywhere")
def test_ctrl_c_takes_the_start_back(podrun, hosts):
    hosts.hold(1, "setsid", unless="true")
    run = podrun.terminal(*hosts.options, "start", "train", "--", "sleep 1000")
    hosts.wait_until_held(1, "setsid")
    wait_until(lambda: any(b"sleep\0001000" in command for command in hosts.pod.processes(0).values()), what="the job on host 0")
    run.type(b"\x03")
    assert run.wait().returncode == 130
    hosts.let_go()
    assert states(podrun, hosts.options, status=1) == {}
    wait_until(lambda: not any(hosts.pod.processes(rank) for rank in hosts.ranks), what="nothing is left")


def test_ctrl_c_before_the_start_is_committed_takes_it_back(podrun, hosts):
    hosts.hold(1, "tail")  # which looks for the last line of an early end
    run = podrun.terminal(*hosts.options, "start", "train", "--", "sleep 1000")
    hosts.wait_until_held(1, "tail")
    run.type(b"\x03")
    assert run.wait().returncode == 130
    hosts.let_go()
    assert states(podrun, hosts.options, status=1) == {}
    wait_until(lambda: not any(hosts.pod.processes(rank) for rank in hosts.ranks), what="nothing is left")


@plays("systemd ends processes at logout")
def test_logind_that_ends_processes_at_logout_is_named(podrun, via_hosts):
    via_hosts.program(1, "busctl", "echo b true")
    via_hosts.program(1, "id", "echo 1000")
    refused = events(podrun, *via_hosts.options, "start", "train", "--", "sleep 1000")
    assert refused.failures == {1: ("unreachable", "job_name", "job_exists")}
    assert "KillUserProcesses=no" in refused.exits[1]["message"]
    assert states(podrun, via_hosts.options, status=1) == {}


def test_a_job_is_found_by_another_list(podrun, hosts):
    start(podrun, hosts.options, "sleep 1000")
    fewer = hosts.on(1, 2)
    assert states(podrun, fewer) == {0: "running", 1: "running"}
    refused = start(podrun, fewer, "sleep 1001", status=1)
    assert b"[0] as worker 1 of another list" in refused.stderr
    assert [place.name.partition("-")[0] for place in (hosts.home(1) / ".podrun" / "jobs" / "train").iterdir()] == ["1"], "the refused start left one"
    assert podrun(*fewer, "rm", "train").returncode == 1
    assert {job["place"].partition("-")[0] for [job] in jobs_of(podrun, fewer, "train", "--grace", "0", command="stop").values()} == {"1", "2"}
    assert states(podrun, hosts.options) == {0: "running", 1: 143, 2: 143}


def test_a_removed_job_leaves_nothing_in_the_home(podrun, hosts):
    start(podrun, hosts.on(0), "true")
    wait_until(lambda: states(podrun, hosts.on(0)) == {0: 0})
    podrun.ok(*hosts.on(0), "rm", "train")
    assert list((hosts.home(0) / ".podrun" / "jobs").iterdir()) == []


def test_two_hosts_of_a_list_may_be_one_machine(podrun):
    pair = ("-H", "local[0-1]")
    podrun.ok(*pair, "--workers", "1", "start", "one", "--", "sleep 1000")
    listed = podrun(*pair, "ps")
    assert b"another list" not in listed.stdout + listed.stderr
    podrun.ok(*pair, "--workers", "0", "start", "one", "--", "sleep 1000")
    podrun.ok(*pair, "stop", "--grace", "0", "one")
    podrun.ok(*pair, "rm", "one")


def test_a_local_job_that_runs_podrun_has_the_hosts_of_this_shell(podrun):
    """Whatever says which hosts they are; a job has another directory and a login's environment."""
    (podrun.directory / "list").write_text("file-[0-1]\n")
    for variables, chosen in [({"PODRUN_HOSTS": "a,b"}, ["a", "b"]), ({"PODRUN_HOSTFILE": "list"}, ["file-0", "file-1"]), ({"SLURM_JOB_NODELIST": "n[1-2]"}, ["n1", "n2"])]:
        assert podrun("-H", "local", "start", "inner", "--", "podrun hosts --json | sed s,^,HOSTS,", env=variables).returncode == 0
        answer = json.loads(podrun.ok("-H", "local", "logs", "-f", "inner").partition(b"HOSTS")[2])
        assert [host["host"] for host in answer["hosts"]] == chosen
        podrun.ok("-H", "local", "rm", "inner")


@plays("hosts share a home directory")
def test_hosts_that_share_a_home_stay_apart(podrun, via_hosts):
    via_hosts.share_home(1, owner=0)
    start_short(podrun, via_hosts.options, "echo $PODRUN_WORKER; sleep 0.2; exit $((PODRUN_WORKER + 3))", 4)
    followed = events(podrun, *via_hosts.options, "logs", "-f", "train")
    assert {rank: event["status"] for rank, event in followed.exits.items()} == {0: 3, 1: 4}
    assert followed.shown == {0: [b"0"], 1: [b"1"]}


def test_mistakes_are_answered_at_once(podrun):
    for words, message in {
        ("start",): b"start: which name, and which command? (podrun start NAME -- COMMAND)",
        ("start", "a", "true"): b"start: the command stands after --: podrun -H local start a -- true",
        ("start", "a/b", "--", "true"): b'bad job name "a/b"',
        ("start", "-I", "a", "--", "true"): b"start: a job has no standard input",
        ("start", "--skip-unreachable", "a", "--", "true"): b"--skip-unreachable: start starts a job on all hosts or on none (leave it out)",
        ("start", "-u", "1h", "a", "--", "true"): b"--timeout does not limit a job (podrun start NAME -- timeout 2h COMMAND)",
        ("logs",): b"logs: of which job?",
        ("stop",): b"stop: which job?",
        ("start", "-k", "a", "--", "true"): b"--fail-fast: a job goes on where it has not failed (with --restarts it ends everywhere",
        ("logs", "-f", "a", "b"): b"logs: --follow follows one job (give one name; an ssh_config: --ssh-config FILE)",
        ("logs", "-F", "./cfg", "a"): b'logs: "./cfg" is no name of a job (-F follows, as -f does; an ssh_config: --ssh-config FILE)',
        ("rm",): b"rm: which job? (podrun rm NAME, or --all;",
        ("rm", "a", "--all"): b"rm: both names and --all are given",
    }.items():
        ended = podrun("-H", "local", *words)
        assert ended.returncode == 2, ended
        assert ended.stderr.startswith(b"podrun: " + message), ended


# What a host needs

NEEDS = re.search(r"A host needs `/proc`, `sh`, and (.+?), from GNU or busybox", (DOCS / "jobs.md").read_text(encoding="utf-8"), re.DOTALL)[1]
NEEDED = re.findall(r"`(.+?)`", NEEDS)


def test_a_host_needs_no_other_program_than_the_documentation_lists(podrun, via_hosts):
    for rank in via_hosts.ranks:
        via_hosts.only_programs(rank, {name: shutil.which(name) for name in NEEDED})
    options = via_hosts.options
    start(podrun, options, "echo first; until [ -e ~/go ]; do sleep 0.1; done; exit 3")
    assert states(podrun, options) == of_all(via_hosts, "running")
    for rank in via_hosts.ranks:
        (via_hosts.home(rank) / "go").touch()
    followed = events(podrun, *options, "logs", "-f", "train")
    assert (followed.returncode, followed.shown) == (3, of_all(via_hosts, [b"first"]))
    start(podrun, options, "sleep 1000")
    assert podrun.ok(*options, "stop", "train").startswith(b"train  stopped [0,1]")
    assert podrun.ok(*options, "logs", "-n", "1", "train") == b""
    podrun.ok(*options, "rm", "train")


@plays("a host has no `split`, or another program that a job needs")
@pytest.mark.deadline(120)
def test_start_refuses_where_a_program_is_missing(podrun, via_hosts):
    for missing in set(NEEDED) - {"printf"}:  # most shells have that one built in
        remove(via_hosts.directory / via_hosts.names[1] / "programs")
        via_hosts.only_programs(1, {name: shutil.which(name) for name in NEEDED if name != missing})
        refused = events(podrun, *via_hosts.options, "start", "train", "--", "echo ran >~/ran")
        assert refused.failures == {1: ("unreachable", "supervision", "program_missing")}, (missing, refused.stderr)
        assert f'"{missing}"' in refused.exits[1]["message"]
        assert not (via_hosts.home(0) / "ran").exists() and not (via_hosts.home(1) / "ran").exists()


@plays("a host has no `/proc`")
def test_start_refuses_where_there_is_no_proc(podrun, via_hosts):
    without = shlex.join([*private_mounts(), "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"])
    via_hosts.way(1, f'set -- {without} "$@"')
    refused = events(podrun, *via_hosts.options, "start", "train", "--", "sleep 1000")
    assert refused.failures == {1: ("unreachable", "supervision", "no_process_list")}
    assert states(podrun, via_hosts.on(0), status=1) == {}


@pytest.mark.parametrize("words", [["ps"], ["ps", "train"], ["stop", "train"], ["rm", "train"]])
def test_a_proc_that_has_processes_only(podrun, via_hosts, words):
    only = shlex.join([*private_mounts(), "sh", "-c", 'mount -t proc -o subset=pid proc /proc && exec "$@"', "sh"])
    if subprocess.run(shlex.split(only) + ["true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no /proc can be mounted here")
    via_hosts.way(1, f'set -- {only} "$@"')
    ended = podrun(*via_hosts.on(1), *words)
    assert b"cannot open" not in ended.stderr and b"No such file" not in ended.stderr, ended
    assert b"there is no job" in ended.stderr, ended


@plays("`~/.podrun` is a link that leads nowhere")
@pytest.mark.parametrize("place", [".podrun", ".podrun/jobs"])
def test_a_directory_of_jobs_that_leads_nowhere(podrun, via_hosts, place):
    link = via_hosts.home(1) / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to("/not/mounted")
    said = f"{link} is a link to /not/mounted, where no directory is (make that directory, or remove the link)"
    for words in (["ps"], ["stop", "train"], ["rm", "train"], ["logs", "train"], ["wait", "train"]):
        ended = podrun(*via_hosts.options, *words)
        assert ended.returncode != 0 and said in ended.stderr.decode(), (words, ended)
    refused = podrun(*via_hosts.options, "start", "train", "--", "echo ran >~/ran")
    assert refused.returncode != 0 and said in refused.stderr.decode(), refused
    assert not (via_hosts.home(0) / "ran").exists()
    link.unlink()
    link.symlink_to(via_hosts.tmp(1))
    start(podrun, via_hosts.options, "true")


@pytest.mark.parametrize("shell", ["mksh", "yash"])
def test_no_supervisor_stays_in_other_shells(podrun, shell):
    """A host may have any POSIX shell as /bin/sh."""
    path = shutil.which(shell) or pytest.skip(f"{shell} is not installed")  # Debian 13 has no yash
    podrun.wrapper = [*private_mounts(), "sh", "-c", 'mount --bind "$0" /bin/sh && exec "$@"', os.path.realpath(path)]
    start_short(podrun, ("-H", "local"), "echo x; sleep 0.2; exit 2", 2)
    followed = events(podrun, "-H", "local", "logs", "-f", "train")
    assert followed.returncode == 2 and followed.bytes == {(0, "stdout"): b"x\n"}
    assert not jobs_of(podrun, ("-H", "local"), "train")[0][0]["output_open"]


# States


def test_a_host_that_cannot_be_reached_is_skipped_and_named(podrun, hosts):
    start(podrun, hosts.options, "sleep 1000")
    options = ("-H", ",".join([*hosts.pod.addresses, "127.0.0.1:129"]), "--retries", "0")
    listed = podrun(*options, "ps")
    assert listed.returncode == 255
    assert re.search(rb"\ntrain  running \[0-2\]  \d+ s (to \d+ s )?ago  +sleep 1000\n", listed.stdout), listed
    assert b"unreachable: [3] 127.0.0.1: connecting: connection refused at port 129" in listed.stderr
    assert podrun(*options, "stop", "train").returncode == 255
    assert states(podrun, hosts.options) == of_all(hosts, 143)


@plays("the host is rebooted")
def test_a_rebooted_host_is_noticed(podrun, hosts):
    start(podrun, hosts.on(0), "sleep 1000")
    other = "0a0a0a0a-0b0b-4c4c-8d8d-0e0e0e0e0e0e"
    done = hosts.pod.ssh(0, f"echo {other} >/tmp/boot && mount --bind /tmp/boot /proc/sys/kernel/random/boot_id")
    assert done.returncode == 0, done
    try:
        assert states(podrun, hosts.on(0)) == {0: "rebooted"}
        assert b"lost (rebooted) [0]" in podrun.ok(*hosts.on(0), "ps")
        followed = podrun(*hosts.on(0), "logs", "-f", "train")
        assert followed.returncode == 255 and b"podrun: [0] lost (rebooted): the exit status of train is not known (255 stands for it)\n" in followed.stderr, followed
        start(podrun, hosts.on(0), "sleep 1001")
    finally:
        hosts.pod.ssh(0, "umount /proc/sys/kernel/random/boot_id")


@plays("its supervisor is killed")
def test_a_supervisor_that_was_killed_is_named(podrun, hosts):
    start(podrun, hosts.on(0), "sleep 1000")
    [place] = (hosts.home(0) / ".podrun" / "jobs" / "train").iterdir()
    supervisor = (place / "1" / "supervisor").read_text().split()[0]
    hosts.pod.ssh(0, f"kill -9 {supervisor}")
    assert states(podrun, hosts.on(0)) == {0: "unsupervised"}
    assert events(podrun, *hosts.on(0), "start", "train", "--", "true").failures == {0: ("unreachable", "job_name", "job_exists")}
    podrun(*hosts.on(0), "stop", "train")
    assert states(podrun, hosts.on(0)) == {0: "lost"}
    start(podrun, hosts.on(0), "sleep 1000")


@plays("its pid is used by another process later")
def test_a_reused_pid_is_not_taken_for_the_job(podrun, hosts):
    start(podrun, hosts.on(0), "sleep 1000")
    [place] = (hosts.home(0) / ".podrun" / "jobs" / "train").iterdir()
    ids = {name: (place / "1" / name).read_text().split()[0] for name in ("supervisor", "pid")}
    hosts.pod.ssh(0, f"kill -9 {ids['supervisor']} {ids['pid']}")
    wait_until(lambda: not {int(pid) for pid in ids.values()} & set(hosts.pod.processes(0)), what="their end")
    for pid in ids.values():
        hosts.pod.ssh(0, f"echo {int(pid) - 1} >/proc/sys/kernel/ns_last_pid; setsid sleep 1001 </dev/null >/dev/null 2>&1 &")
    assert {int(pid) for pid in ids.values()} & set(hosts.pod.processes(0)), "no pid was reused"
    assert states(podrun, hosts.on(0)) == {0: "lost"}
    podrun(*hosts.on(0), "stop", "train")
    assert any(b"sleep\0001001" in command for command in hosts.pod.processes(0).values())


@plays("the clock of the host jumps", "it prints nothing")
def test_a_clock_that_jumps_changes_no_age(podrun, hosts):
    start(podrun, hosts.on(0), "true")
    wait_for_end(podrun, hosts.on(0))
    hosts.program(0, "date", 'case $* in +%s) echo $(($(/bin/date +%s) - 1000000)) ;; *) exec /bin/date "$@" ;; esac')
    [job] = jobs_of(podrun, hosts.on(0), "train")[0]
    assert "output_seconds_ago" not in job
    assert 0 <= job["age_seconds"] < 600 and 0 <= job["ended_seconds_ago"] < 600, job


def test_several_jobs_at_once(podrun, hosts):
    for name in "abc":
        start(podrun, hosts.options, f"echo {name}; {'sleep 1000' if name == 'c' else 'true'}", name=name)
    for name in "ab":
        wait_for_end(podrun, hosts.options, name)
    assert [jobs[0]["name"] for jobs in jobs_of(podrun, hosts.on(0), "b").values()] == ["b"]
    assert {job["name"] for job in jobs_of(podrun, hosts.on(0), "a", "c")[0]} == {"a", "c"}
    assert by_rank(podrun.ok(*hosts.options, "logs", "b", "a")) == of_all(hosts, [b"b", b"a"])
    assert podrun.ok(*hosts.options, "rm", "--all") == b"a  removed [0-2]\nb  removed [0-2]\n"
    assert states(podrun, hosts.options, "c") == of_all(hosts, "running")
    stopped = podrun(*hosts.options, "stop", "c", "gone")
    assert stopped.returncode == 1 and stopped.stderr == b"podrun: there is no job gone on these hosts\n"
    assert states(podrun, hosts.options, "c") == of_all(hosts, 143)


def test_the_table_has_columns_and_fits_the_terminal(podrun, hosts):
    start(podrun, hosts.options, "echo x; exec sleep 1000 # " + "y" * 300, name="training")
    start(podrun, hosts.on(0), "true", name="a")
    wait_for_end(podrun, hosts.on(0), "a")
    wait_until(lambda: jobs_of(podrun, hosts.on(0), "training")[0][0].get("output_seconds_ago") is not None, what="its output is noted")
    heading, ended, running = podrun.ok(*hosts.options, "ps").decode().splitlines()
    for column, texts in {"NAME": ("a ", "training "), "STATE": ("exit 0 [0]", "running [0-2]"), "LAST": ("ended ", "output "), "COMMAND": ("true", "echo x;")}.items():
        place = heading.index(column)
        assert (ended[place:].startswith(texts[0]), running[place:].startswith(texts[1])) == (True, True), (heading, ended, running)
    assert running.endswith("y" * 100), "a pipe gets all of it"
    screen = podrun.terminal(*hosts.options, "ps")
    shown = [line for line in screen.wait().stdout.decode().splitlines() if line.startswith("training")]
    assert len(shown) == 1 and len(shown[0]) < 1000


def test_the_first_failure_is_kept(podrun, hosts):
    for number in range(1, 8):
        start_short(podrun, hosts.on(1), f"echo {number}; exit {0 if number == 1 else 5}", 5)
        wait_for_end(podrun, hosts.on(1))
    [place] = (hosts.home(1) / ".podrun" / "jobs" / "train").iterdir()
    wait_until(lambda: sorted(entry.name for entry in place.iterdir()) == ["2", "5", "6", "7"], what="the first that failed, and the last three")


# Logs


def test_a_running_job_is_shown_and_left_running(podrun, hosts):
    start(podrun, hosts.options, "seq 5; sleep 1000")
    wait_until(lambda: by_rank(podrun.ok(*hosts.options, "logs", "train")) == of_all(hosts, [b"1", b"2", b"3", b"4", b"5"]), what="the output")
    assert by_rank(podrun.ok(*hosts.options, "logs", "-n", "2", "train")) == of_all(hosts, [b"4", b"5"])
    assert podrun.ok(*hosts.options, "logs", "--dedup", "--tail", "1", "train") == b"all: 5\n"
    assert podrun.ok(*hosts.options, "--workers", "1", "logs", "-n0", "train") == b""
    out = podrun.directory / "out"
    podrun.ok(*hosts.options, "logs", "--outdir", out, "train")
    assert sorted(path.read_bytes() for path in out.glob("*.out")) == [b"1\n2\n3\n4\n5\n"] * 3
    assert states(podrun, hosts.options) == of_all(hosts, "running")


def test_ctrl_c_ends_only_the_viewer(podrun, hosts):
    start(podrun, hosts.options, "echo begun; sleep 1000")
    run = podrun.terminal(*hosts.options, "logs", "-f", "train")
    run.read_until(b"begun", 3)
    run.type(b"\x03")
    ended = run.wait()
    assert ended.returncode == 130
    assert without_options(ended.stdout).endswith(b"podrun: train goes on (podrun logs -f train follows it, podrun stop train stops it)\n"), ended.stdout
    assert states(podrun, hosts.options) == of_all(hosts, "running")


def test_a_host_that_fails_while_it_is_followed_is_told(podrun, hosts):
    start(podrun, hosts.options, "echo begun; until [ -e ~/go ]; do sleep 0.1; done; [ $PODRUN_RANK = 0 ] || exit $((PODRUN_RANK + 4))")
    run = podrun.terminal(*hosts.options, "logs", "-f", "train")
    run.read_until(b"begun", 3)
    run.read_until(b"3 running")
    (hosts.home(1) / "go").touch()
    run.read_until("2 running · 1 failed [1]".encode())
    run.read_until(b"podrun: [1] exit 5; train still runs on [0,2]")
    run.type(b"\n")
    run.read_until(b"podrun: exit 5: [1]")
    following = run.output.partition(b"3 running")[2]
    assert b"podrun: [0,2] running" in following and b"ready" not in following, run.output
    for rank in (0, 2):
        (hosts.home(rank) / "go").touch()
    assert run.wait().returncode == 6


def test_follows_only_hosts_that_have_the_job(podrun, hosts):
    start(podrun, hosts.options, "echo x; sleep 0.2")
    podrun.ok(*hosts.options, "--workers", "1", "logs", "-f", "train")
    podrun.ok(*hosts.options, "--workers", "1", "rm", "train")
    shown = podrun(*hosts.options, "logs", "-f", "train")
    assert shown.returncode == 1 and by_rank(shown.stdout) == {0: [b"x"], 2: [b"x"]}, shown
    assert shown.stderr == b"podrun: there is no job train on [1]\n"
    missing = podrun(*hosts.options, "logs", "train2")
    assert missing.returncode == 1 and missing.stderr == b"podrun: there is no job train2 on these hosts\n", missing


@plays("connections are cut while it is followed")
@pytest.mark.deadline(300)
def test_a_followed_log_loses_and_doubles_no_byte(podrun, many):
    """Started on a terminal that goes, followed by another process over random cuts and restarts of sshd, stopped by a third."""
    program = 'i=0; while :; do i=$((i+1)); echo "line $i of $PODRUN_WORKER"; echo "error $i" >&2; [ $((i % 50)) != 0 ] || sleep 0.1; done'
    terminal = podrun.terminal(*many.options, "start", "train", "--", program)
    terminal.read_until(f"train runs on {len(many.ranks)} hosts".encode())
    os.kill(terminal.pid, signal.SIGHUP)
    terminal.wait()
    run = podrun.start(*many.options, "--json", "logs", "-f", "train")
    run.wait_for_output(b"line 1 of ", len(many.ranks), 60)  # a host that is cut before is one that cannot be reached
    choice = random.Random(4)
    cuts = 0
    while cuts < (200 if FULL else 20):
        rank = choice.choice(many.ranks)
        if choice.random() < 0.2:
            os.kill(many.pod.server(rank), signal.SIGHUP)  # sshd(8): it starts itself again
        cuts += len(many.pod.connections(rank))
        send(signal.SIGKILL, many.pod.logins(rank))
        time.sleep(choice.uniform(0.01, 0.3))
    podrun.ok(*many.options, "stop", "train")
    followed = Events(run.wait(120))
    assert {event.get("status") for event in followed.exits.values()} == {143}, followed.exits
    for rank in many.ranks:
        [place] = (many.home(rank) / ".podrun" / "jobs" / "train").iterdir()
        for stream, name in (("stdout", "out"), ("stderr", "err")):
            kept = b"".join(path.read_bytes() for path in sorted((place / "1").glob(f"{name}.0*")))
            assert kept.count(b"\n") > 100
            assert sha256(followed.bytes[rank, stream]) == sha256(kept), (rank, stream)


def test_a_signal_after_the_start_is_decided_takes_nothing_back(podrun, hosts):
    """podrun waits with its last line until its standard error is read; HUP comes meanwhile."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"." * 4096)
    os.set_blocking(writer, True)
    process = subprocess.Popen(podrun.arguments((*hosts.options, "start", "train", "--", "sleep 100")), env=podrun.env, stderr=writer, start_new_session=True)
    os.close(writer)

    def writes():
        return any(path.read_text().startswith("1 0x2 ") for path in Path(f"/proc/{process.pid}/task").glob("*/syscall"))

    wait_until(writes, what="its last line")
    os.kill(process.pid, signal.SIGHUP)
    wait_until(lambda: not int(re.search(r"ShdPnd:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())[1], 16), what="the signal is taken")
    with open(reader, "rb") as printed:
        assert f"train runs on {len(hosts.ranks)} hosts".encode() in printed.read()
    assert process.wait(30) == 0
    assert states(podrun, hosts.options) == dict.fromkeys(hosts.ranks, "running")


def readers(hosts, rank):
    """The shells that wait for more of a job's output."""
    return {process.parent for process in hosts.pod.every_process(rank) if re.fullmatch(rb"sleep\x000\.[1248]\0", process.command)}


@plays("the reader of its output on the host is killed while it is followed")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.deadline(120)
def test_a_killed_reader_of_a_followed_log_is_started_again(podrun, hosts, number):
    start(podrun, hosts.on(0), "i=0; until [ -e ~/go ]; do i=$((i+1)); echo line $i; sleep 0.05; done; exit 7")
    run = podrun.start(*hosts.on(0), "--json", "logs", "-f", "train")
    run.wait_for_output(b'"line 1"')
    for _ in range(2):
        killed = wait_until(lambda: readers(hosts, 0), what="a reader")
        hosts.pod.ssh(0, f"kill -{int(number)} {' '.join(map(str, killed))}")
        wait_until(lambda killed=killed: readers(hosts, 0) - killed, what="another reader")
    (hosts.home(0) / "go").touch()
    followed = Events(run.wait())
    assert followed.returncode == 7, followed.stderr
    [place] = (hosts.home(0) / ".podrun" / "jobs" / "train").iterdir()
    assert followed.bytes[0, "stdout"] == b"".join(path.read_bytes() for path in sorted((place / "1").glob("out.0*")))


@pytest.mark.parametrize("program", ["tail", "head"])
def test_a_killed_program_of_a_reader_cuts_no_output(podrun, hosts, program):
    """A signal ends it after a part of what the frame announced, once."""
    part = 'if [ "$3" ]; then exec <"$3"; fi; dd bs=100 count=1 2>/dev/null; kill -9 $$'
    hosts.program(0, program, f'case $* in -c*) if mkdir ~/killed 2>/dev/null; then {part}; fi ;; esac\nexec {shutil.which(program)} "$@"')
    start(podrun, hosts.on(0), "seq 20000; sleep 0.2")
    followed = events(podrun, *hosts.on(0), "logs", "-f", "train")
    assert (hosts.home(0) / "killed").exists()
    assert followed.returncode == 0, followed.stderr
    assert followed.shown == {0: [b"%d" % number for number in range(1, 20001)]}


def test_of_a_followed_host_that_is_refused_is_told_at_once(podrun, hosts):
    start(podrun, hosts.options, "echo first; until [ -e ~/go ]; do sleep 0.1; done")
    key = write_key(podrun.directory / "key")
    allowed = hosts.pod.directory / "authorized_keys"
    before = allowed.read_text()
    hosts.pod.allow(f"{key}.pub")
    run = podrun.start(*hosts.options, "--identity", key, "-o", "IdentitiesOnly=yes", "logs", "-f", "train")
    run.wait_for_output(b"first", 3)
    allowed.write_text(before)
    hosts.lose(1)
    wait_until(lambda: b"; connecting again\n" in run.stderr and b"podrun: unreachable: [1] " in run.stderr, what="told of")
    assert re.search(rb"podrun: lost: \[1\] .*; connecting again\n", run.stderr), run.stderr
    assert run.process.poll() is None
    for rank in (0, 1, 2):
        (hosts.home(rank) / "go").touch()
    assert run.wait().returncode == 255


def test_a_host_that_is_away_for_a_while_is_followed_on(podrun, hosts):
    start(podrun, hosts.options, "echo first; until [ -e ~/go ]; do sleep 0.1; done; echo last")
    run = podrun.start(*hosts.options, "logs", "-f", "train")
    run.wait_for_output(b"first", 3)
    hosts.lose(1)
    (hosts.home(1) / "go").touch()
    run.wait_for_output(b"1: last")
    for rank in (0, 2):
        (hosts.home(rank) / "go").touch()
    ended = run.wait()
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == of_all(hosts, [b"first", b"last"])


@plays("it leaves processes and ends")
def test_a_job_may_leave_processes_with_its_output_open(podrun, hosts):
    start_short(podrun, hosts.on(0), "sleep 1000 & echo x; exit 4", 4)
    followed = podrun(*hosts.on(0), "logs", "-f", "train")
    assert followed.returncode == 4 and followed.stdout == b"0: x\n", followed
    assert b"[0] the job has ended, and processes that it left have its output open: not waiting for them" in followed.stderr
    assert b"exit 4, output open [0]" in podrun.ok(*hosts.on(0), "ps")
    podrun.ok(*hosts.on(0), "stop", "train")
    wait_until(lambda: not hosts.pod.processes(0), what="the end of what the job left")


@plays("it prints more than `--log-size`")
def test_the_size_of_the_output_is_limited(podrun, hosts):
    start(podrun, hosts.on(0), "head -c 300000000 /dev/zero | tr '\\0' a; echo; echo end; until [ -e ~/go ]; do sleep 0.1; done", before=("--log-size", "64MiB"))
    [place] = (hosts.home(0) / ".podrun" / "jobs" / "train").iterdir()
    wait_until(lambda: [path.stat().st_size for path in (place / "1").glob("out.0*")] == [300000005 % 2**26], 30, "one piece is left")
    shown = podrun(*hosts.on(0), "--json", "logs", "train")
    assert shown.returncode == 0
    assert b"[0] some of the output is no longer there" in shown.stderr
    assert podrun.ok(*hosts.on(0), "logs", "-n", "1", "train") == b"0: end\n"


@plays("the disk of its state directory is full")
def test_a_full_disk_costs_output_but_not_the_job(podrun, hosts):
    assert hosts.pod.ssh(0, "mkdir -p ~/.podrun && mount -t tmpfs -o size=1m tmpfs ~/.podrun").returncode == 0
    try:
        start(podrun, hosts.on(0), "head -c 3000000 /dev/zero | tr '\\0' a; touch ~/done; until [ -e ~/go ]; do echo; echo more; sleep 0.3; done; echo end; exit 6")
        wait_until((hosts.home(0) / "done").exists, 60, "the job goes on")
        hosts.pod.ssh(0, "mount -o remount,size=9m ~/.podrun")
        wait_until(lambda: b"0: more\n" in podrun.ok(*hosts.on(0), "logs", "-n", "2", "train"), 30, "output is kept again")
        (hosts.home(0) / "go").touch()
        followed = podrun(*hosts.on(0), "logs", "-f", "train")
        assert followed.returncode == 6, followed.stderr
        assert followed.stdout.endswith(b"0: end\n")
        assert b"[0] some of the output is no longer there" in followed.stderr
    finally:
        end_all(hosts, 0)
        hosts.pod.ssh(0, "umount ~/.podrun")


# Stop


def test_stop_reaches_everything_that_the_job_started(podrun, hosts):
    program = (
        "trap '' TERM; (trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' &) "
        "; env -i setsid sleep 1000 & env -i sleep 1001 & while :; do sleep 0.1; done"
    )
    bystander = hosts.pod.ssh(1, "setsid sleep 1002 </dev/null >/dev/null 2>&1 & echo $!").stdout
    start(podrun, hosts.options, program)
    start(podrun, hosts.options, "sleep 1003", name="other")
    wait_until(lambda: all(sum(b"sleep" in command for command in hosts.pod.processes(rank).values()) >= 4 for rank in hosts.ranks), what="all of it")
    assert re.match(rb"train  stopped \[0-2\]", podrun.ok(*hosts.options, "stop", "--grace", "1", "train"))
    for rank in hosts.ranks:
        commands = hosts.pod.processes(rank)
        left = [command for command in commands.values() if b"1000" in command or b"1001" in command or b"trap" in command]
        assert not left, left
    assert int(bystander) in hosts.pod.processes(1)
    assert states(podrun, hosts.options, "other") == of_all(hosts, "running")


def test_stop_leaves_the_job_of_another_host_on_the_same_machine(podrun, via_hosts):
    start(podrun, via_hosts.options, "sleep 1000")
    assert podrun.ok(*via_hosts.options, "--workers", "0", "stop", "train").startswith(b"train  stopped [0]")
    assert states(podrun, via_hosts.options)[1] == "running"


def test_stop_waits_for_the_supervisor_too(podrun, hosts):
    hosts.program(0, "sort", "sleep 0.5; exec /usr/bin/sort \"$@\"")  # it orders the earlier starts, at the end
    start(podrun, hosts.on(0), "sleep 1000")
    assert any("supervise" in command for command in hosts.running(0))
    podrun.ok(*hosts.on(0), "stop", "train")
    left = [command for command in hosts.running(0) if "supervise" in command]
    assert not left, left


def test_a_job_that_runs_is_not_removed(podrun, hosts):
    start(podrun, hosts.options, "sleep 1000")
    refused = podrun(*hosts.options, "rm", "train")
    assert refused.returncode == 1 and without_options(refused.stderr) == b"podrun: train runs: not removed (podrun stop train stops it)\n", refused
    assert states(podrun, hosts.options) == of_all(hosts, "running")
    start(podrun, hosts.options, "[ $PODRUN_RANK = 1 ] && { echo why; exit 3; }; sleep 1000", name="half", status=3)
    assert podrun(*hosts.options, "rm", "half").returncode == 1
    assert podrun.ok(*hosts.options, "--workers", "1", "logs", "half") == b"1: why\n", "where it has ended its output stays"
    podrun.ok(*hosts.options, "stop", "half")
    assert podrun.ok(*hosts.options, "rm", "half") == b"half  removed [0-2]\n"
    assert podrun(*hosts.options, "stop", "none").returncode == 1


def test_kill_spares_a_job_unless_it_is_named(podrun, hosts):
    start(podrun, hosts.on(0), "exec 5</dev/accel0; exec sleep 1000")
    spared = podrun(*hosts.on(0), "kill", "-y")
    assert b"stays: of the job train (podrun stop train, or --job train, stops it)" in without_options(spared.stdout), spared
    assert states(podrun, hosts.on(0)) == {0: "running"}
    assert podrun.ok(*hosts.on(0), "kill", "-y", "--job", "train").endswith(b"freed 1/1 host\n")
    wait_for_end(podrun, hosts.on(0))


def test_a_task_can_be_detached(podrun, hosts):
    task = podrun.directory / "train.yaml"
    task.write_text("name: llama-3.1\nsetup: echo ready >~/ready\nrun: |\n  cat ~/ready\n  echo $SKYPILOT_NODE_RANK\n  until [ -e ~/go ]; do sleep 0.1; done\n  exit 9\n")
    launched = podrun(*hosts.options, "launch", "--detach", task)
    assert launched.returncode == 0, launched
    assert b"podrun: llama-3.1 runs on 3 hosts" in launched.stderr
    assert podrun.ok(*hosts.options, "ps").endswith(f"  {task}\n".encode()), "its file is shown"
    code = podrun.directory / "code"
    code.mkdir()
    (code / "new").touch()
    task.write_text(task.read_text() + f"workdir: {code}\n")
    again = podrun(*hosts.options, "launch", "--detach", task)
    assert (again.returncode, without_options(again.stderr)) == (1, b"podrun: llama-3.1 runs already on [0-2] (podrun logs -f llama-3.1; podrun stop llama-3.1)\n")
    assert not (hosts.home(0) / "sky_workdir" / "new").exists(), "nothing is copied over its code"
    for rank in hosts.ranks:
        (hosts.home(rank) / "go").touch()
    followed = podrun(*hosts.options, "logs", "-f", "llama-3.1")
    assert followed.returncode == 9
    assert by_rank(followed.stdout) == {rank: [b"ready", str(rank).encode()] for rank in hosts.ranks}


def test_many_logs_are_followed_at_once(podrun):
    """More than --fanout, which limits only those that connect."""
    podrun.env["HOME"] = str(podrun.home)
    options = ("-H", "local[0-11]", "-f", "2")
    start(podrun, options, "until [ -e ~/go ]; do sleep 0.1; done; echo x")
    run = podrun.start(*options, "logs", "--follow", "train")
    timer = threading.Timer(1, (podrun.home / "go").touch)
    timer.start()
    ended = run.wait()
    timer.join()
    assert ended.returncode == 0 and by_rank(ended.stdout) == {rank: [b"x"] for rank in range(12)}, ended


def test_every_row_of_the_documentation_is_played():
    assert sorted(PLAYED) == sorted(ROWS)
