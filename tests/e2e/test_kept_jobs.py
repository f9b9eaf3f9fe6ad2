"""docs/restarts.md, "A training that goes on without this terminal": jobs that this machine keeps."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from support import wait_until

FAST = ("--short-try", "1s", "--grace", "1")
FOREVER = "echo up $PODRUN_WORKER $PODRUN_RESTART; exec sleep 1000"
FAILS_ONCE = 'echo "up $PODRUN_RESTART"; [ "$PODRUN_RESTART" != 0 ] || { sleep 1.2; exit 3; }; until [ -e ~/go ]; do sleep 0.1; done; exit 5'


@pytest.fixture
def keeper(podrun, pair):
    """Two hosts, and the end of all that this machine keeps for them."""
    yield pair
    for name in kept(podrun):
        podrun("stop", name)
        podrun("rm", name)


def kept(podrun):
    """The state of each job that this machine keeps, by name."""
    listed = podrun("-H", "local", "ps", "--json")
    return {job["name"]: job["exit_status"] if job["state"] == "ended" else job["state"] for job in json.loads(listed.stdout)["hosts"][0]["jobs"]}


def start(podrun, keeper, *words, name="train", status=0, **options):
    ended = podrun(*keeper.options, "start", name, "--restarts", "2", *FAST, *words, **options)
    assert ended.returncode == status, ended
    return ended.stderr.decode()


@pytest.mark.smoke
def test_a_job_is_kept_from_its_start_to_its_end(podrun, keeper):
    said = start(podrun, keeper, "--", FAILS_ONCE)
    assert said == "podrun: train runs on 2 hosts, kept by this machine (podrun logs -f train shows its output, podrun stop train stops it)\n"
    following = podrun.start("logs", "-f", "train")
    following.wait_for_output(b"up 1\n", count=2)
    line = wait_until(lambda: next((each for each in podrun.ok("ps", "train").decode().splitlines() if each.startswith("train  2 running")), None))
    assert "2 running, try 2, kept here" in line
    late = podrun("wait", "-u", "1", "train")
    assert (late.returncode, late.stderr) == (124, b"podrun: train has not ended within 1 s\n")
    for rank in keeper.ranks:
        (keeper.home(rank) / "go").touch()
    assert following.wait().returncode == 5
    assert following.stdout.count(b"up 0\n") == 2
    assert kept(podrun) == {"train": 5}
    waited = podrun("wait", "train")
    assert (waited.returncode, waited.stderr) == (5, b"podrun: train: exit 5 (podrun logs -n 20 train shows its end)\n")
    assert podrun.ok("rm", "train") == b"train  removed\n"
    assert kept(podrun) == {}


def test_it_needs_no_option_and_no_list_to_be_stopped(podrun, keeper):
    """The list of hosts may be gone, or have another line."""
    hosts = podrun.directory / "list"
    at = keeper.options.index("-H")
    hosts.write_text("\n".join(keeper.options[at + 1].split(",")))
    via = keeper.options[:at]
    ended = podrun(*via, "--hostfile", "list", "start", "train", "--restarts", "2", *FAST, "--", FOREVER)
    assert ended.returncode == 0, ended
    hosts.unlink()
    assert b"train" in podrun.ok("ps", "train", cwd="/")
    assert podrun.ok("stop", "train", cwd="/").startswith(b"train  stopped")
    keeper.wait_until_clean()


def test_ps_is_one_list(podrun, keeper):
    start(podrun, keeper, "--", FOREVER, name="night")
    podrun.ok(*keeper.options, "start", "day", "--", "sleep 1000")
    listed = podrun.ok(*keeper.options, "ps").decode().splitlines()
    assert [line.split()[0] for line in listed] == ["NAME", "night", "day"]
    both = json.loads(podrun.ok(*keeper.options, "ps", "--json"))
    assert [job["name"] for job in both["kept_here"]] == ["night"]
    assert [[job["name"] for job in host["jobs"]] for host in both["hosts"]] == [["day"]] * 2
    podrun.ok(*keeper.options, "stop", "night", "day")
    podrun.ok(*keeper.options, "rm", "--all")
    assert b"there is no job" in podrun(*keeper.options, "ps").stderr


def test_a_name_is_taken_once(podrun, keeper):
    start(podrun, keeper, "--", FOREVER)
    assert "train runs already, kept by this machine" in start(podrun, keeper, "--", FOREVER, status=1)
    plain = podrun(*keeper.options, "start", "train", "--", "true")
    assert plain.returncode == 1 and b"train runs already, kept by this machine" in plain.stderr
    podrun.ok("stop", "train")
    plain = podrun(*keeper.options, "start", "train", "--", "true")
    assert plain.returncode == 1 and b"podrun rm train" in plain.stderr
    start(podrun, keeper, "--", FOREVER)
    podrun.ok("stop", "train")
    podrun.ok("rm", "train")
    podrun.ok(*keeper.options, "start", "train", "--", "sleep 1000")
    try:
        assert "train runs already on [0,1]" in start(podrun, keeper, "--", FOREVER, status=1)
    finally:
        podrun.ok(*keeper.options, "stop", "train")


def test_a_command_that_cannot_start_is_told(podrun, keeper):
    """At once, where it has ended within a second; which a busy machine decides."""
    ended = podrun(*keeper.options, "start", "train", "--restarts", "2", *FAST, "--", "nosuch")
    assert ended.returncode in (0, 127), ended
    wait_until(lambda: kept(podrun) == {"train": 127})
    shown = podrun("logs", "train")
    for stderr in [shown.stderr, *[ended.stderr] * (ended.returncode == 127)]:
        assert b"nosuch: " in stderr and b"not started again" in stderr


def test_it_has_the_directory_and_the_variables_of_this_shell(podrun, keeper):
    (podrun.directory / "app").mkdir()
    (podrun.directory / "app" / "train.sh").write_text("echo from a file; exec sleep 1000")
    words = ("--prepare", "true", "-s", "train.sh")
    start(podrun, keeper, *words, cwd=podrun.directory / "app", env={"GREETING": "hello\nworld", "UID": "1"})
    wait_until(lambda: b"from a file" in podrun.ok("logs", "train"))
    [inner] = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_keeper(pid)]
    assert os.readlink(f"/proc/{inner}/cwd") == str(podrun.directory / "app")
    assert b"GREETING=hello\nworld" in Path(f"/proc/{inner}/environ").read_bytes().split(b"\0")


def is_keeper(pid):
    try:
        return b"\0--kept\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_no_word_of_it_is_in_the_arguments_of_a_process(podrun, keeper):
    start(podrun, keeper, "-e", "TOKEN=secret-value", "--", "echo $TOKEN; exec sleep 1000")
    wait_until(lambda: b"secret-value" in podrun.ok("logs", "train"))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert b"secret-value" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            pass


def test_its_words_are_in_no_file_once_it_runs(podrun, keeper):
    start(podrun, keeper, "-e", "TOKEN=secret-value", "--", "echo up; exec sleep 1000")
    place = podrun.home / ".podrun" / "jobs" / "train" / "0-local" / "1"
    for path in place.rglob("*"):
        assert not path.is_file() or b"secret-value" not in path.read_bytes(), path
        assert not path.is_file() or path.stat().st_mode & 0o077 == 0, path


def test_output_of_a_command_that_fails_at_once_is_shown_and_stays_in_outdir(podrun, keeper):
    ended = podrun(*keeper.options, "start", "train", "--restarts", "2", *FAST, "--short-try", "5m", "--outdir", "raw", "--", "echo oops; exit 7")
    wait_until(lambda: kept(podrun) == {"train": 7})
    assert ended.returncode in (0, 7) and (ended.returncode == 0 or b"oops" in ended.stdout)
    assert sorted(path.read_bytes() for path in (podrun.directory / "raw").glob("*.out")) == [b"oops\n"] * 2


def test_config_decides_nothing_about_who_keeps_a_job(podrun, keeper):
    config = podrun.home / ".config" / "podrun"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text("defaults:\n  restarts: 3\n  outdir: logs\n")
    podrun.ok(*keeper.options, "start", "day", "--", "sleep 1000")
    assert kept(podrun) == {} and not (podrun.directory / "logs").exists()
    podrun.ok(*keeper.options, "stop", "day")


def test_stop_waits_for_the_grace_period_of_the_start(podrun, keeper):
    podrun.ok(*keeper.options, "start", "train", "--restarts", "2", "--grace", "25", "--", "trap 'sleep 12; echo saved >~/saved; exit 0' TERM; echo up; while :; do sleep 0.1; done")
    stopped = podrun("stop", "--grace", "2", "train")
    assert b"train gives its hosts 25 s: the --grace of its start" in stopped.stderr
    assert all((keeper.home(rank) / "saved").exists() for rank in keeper.ranks)


def test_text_on_standard_input_is_the_command(podrun, keeper):
    ended = podrun(*keeper.options, "start", "train", "--restarts", "1", *FAST, input=b"echo from stdin; exec sleep 1000")
    assert ended.returncode == 0, ended
    wait_until(lambda: b"from stdin" in podrun.ok("logs", "train"))


def test_ctrl_c_while_it_is_started_leaves_nothing(podrun, keeper):
    silent = podrun.directory / "silent"
    silent.write_text('#!/bin/sh\nshift\n[ ! -e asked ] || exec sleep 1000\n>asked\nexec "$@"\n')  # it answers the first question
    silent.chmod(0o755)
    run = podrun.start("--via", f"{silent} {{host}}", "-H", "a", "-t", "300", "start", "train", "--restarts", "1", "--grace", "1", "--", "true")
    wait_until(lambda: kept(podrun).get("train") == "running", what="kept")
    run.signal(signal.SIGINT)
    assert run.wait().returncode in (130, 255)  # 255: before the job was known to have started
    assert kept(podrun).get("train") not in ("running", "starting")


@pytest.mark.parametrize("words", [["--fail-fast"], ["--outdir", "x"], ["-d"], ["-u", "1h"], ["--notify", "true"], ["--serial", "1"]], ids=" ".join)
def test_what_only_podrun_itself_can_do_needs_restarts(podrun, keeper, words):
    refused = podrun(*keeper.options, "start", "train", *words, "--", "true")
    assert refused.returncode == 2 and b"start" in refused.stderr or words[0].encode() in refused.stderr
    assert not (podrun.directory / "x").exists()


def test_reports_of_stalls_are_in_the_directory_of_the_job(podrun, keeper):
    start(podrun, keeper, "--stall", "3s:0s", "--", 'echo up; [ "$PODRUN_RESTART" != 0 ] || exec sleep 1000; exec sleep 1000')
    place = podrun.home / ".podrun" / "jobs" / "train" / "0-local" / "1"
    wait_until(lambda: list(place.glob("stall-1/*")), 60, "a report")


def test_words_typed_ahead_are_left_to_the_shell(podrun, keeper):
    """They are on the screen once; nothing above them is erased."""
    run = podrun.terminal(*keeper.options, "start", "train", "--restarts", "2", *FAST, "--", FOREVER)
    run.echo()
    run.type(b"podrun ps\r")
    ended = run.wait()
    assert ended.returncode == 0 and b"kept by this machine" in ended.stdout
    assert ended.stdout.count(b"\x1b[1A") <= 1, ended.stdout


# Its output


def restarted(podrun, keeper, *words):
    """A job that has failed once, with its second try running."""
    command = 'echo up $PODRUN_RESTART; echo "[$PODRUN_RESTART] warns" >&2; [ $PODRUN_RESTART != 0 ] || { sleep 1.2; exit 3; }; exec sleep 1000'
    start(podrun, keeper, *words, "--", command)
    wait_until(lambda: podrun.ok("logs", "train").count(b"up 1\n") == 2, 60, "the second try")


def test_logs_are_the_output_of_its_hosts(podrun, keeper):
    restarted(podrun, keeper, "-d", "--label", "host")
    shown = podrun("logs", "train")
    assert sorted(shown.stdout.splitlines()) == [b"0: up 0", b"0: up 1", b"1: up 0", b"1: up 1"]
    assert sorted(line for line in shown.stderr.splitlines() if not line.startswith(b"podrun:")) == [b"0: [0] warns", b"0: [1] warns", b"1: [0] warns", b"1: [1] warns"]
    assert podrun.ok("logs", "-d", "train") == b"all: up 0\nall: up 1\n"
    lines = [json.loads(line) for line in podrun.ok("logs", "--json", "train").splitlines()]
    assert {(line["worker"], line["stream"], line["text"]) for line in lines if line["event"] == "line"} == {
        (rank, stream, text.format(restart)) for rank in keeper.ranks for restart in (0, 1) for stream, text in (("stdout", "up {}"), ("stderr", "[{}] warns"))
    }
    stamped = podrun.ok("logs", "--timestamps", "-N", "train").splitlines()
    assert len(stamped) == 4 and all(re.fullmatch(rb"20\d\d-\S+Z up [01]", line) for line in stamped)
    last = podrun("logs", "-n", "2", "train")
    assert (last.stdout + last.stderr).count(b"\n") == 2, last
    of_one = podrun("logs", "train", "--workers", "1")
    assert (of_one.stdout, of_one.stderr) == (b"1: up 0\n1: up 1\n", b"1: [0] warns\n1: [1] warns\n")
    last = podrun("logs", "-n", "1", "train", "--workers", "1")
    assert last.stdout + last.stderr in (b"1: up 1\n", b"1: [1] warns\n")
    refused = podrun("logs", "train", "--workers", "7")
    assert (refused.returncode, refused.stderr) == (2, b'podrun: --workers: no host has worker number "7" (there are 0,1)\n')


def test_restarts_have_their_place_in_the_log(podrun, keeper):
    restarted(podrun, keeper)
    shown = podrun.terminal("logs", "train").wait().stdout.decode()
    places = [shown.index(text) for text in ("up 0", "failed first" if "failed first" in shown else "exit 3", "starting again in", "try 2 runs on 2 hosts", "up 1")]
    assert places == sorted(places), shown


def test_on_a_terminal_it_is_the_view_of_the_run(podrun, keeper):
    start(podrun, keeper, "--", 'for i in $(seq 100); do echo line $i; done; exec sleep 1000')
    wait_until(lambda: podrun.ok("logs", "train").count(b"\n") == 200, what="its lines")
    shown = podrun.terminal("logs", "-f", "train")
    shown.read_until_match(rb"2 running.*silent \d+ s")
    assert b"line 100" in shown.output and b"line 50\r" not in shown.output and b"line 50\n" not in shown.output
    at = len(shown.output)
    shown.type(b"\r")
    assert rb"[0,1]" in shown.read_until_match(rb"silent for .*\n", at)
    shown.type(b"\x03")
    assert shown.wait().returncode == 130
    assert kept(podrun) == {"train": "running"}
