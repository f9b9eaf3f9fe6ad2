"""Manual, "How output looks": --gather, --outdir and --json, alone and together."""

import json
import os
import random
import re
import shlex
import signal
import socket

import pytest

from events import DOCS, SCHEMA, Events, events
from support import SANITIZED, peak_memory, wait_until

FOUR = ("-H", "local[0-3]")


def python(program):
    return ("/usr/bin/python3", "-c", f"import os, sys\nrank = int(os.environ['PODRUN_RANK'])\nout, err = sys.stdout.buffer, sys.stderr.buffer\n{program}")


# --json


@pytest.mark.smoke
def test_json_of_a_run_that_goes_well(podrun):
    ended = podrun("--json", *FOUR, "--", "echo hi; echo warning >&2")
    assert ended.stderr == b""
    run = Events(ended)
    assert run.start["hosts"] == [{"worker": rank, "host": f"local{rank}"} for rank in range(4)]
    assert run.start["shell"] == "echo hi; echo warning >&2"
    assert run.bytes == {(rank, stream): text for rank in range(4) for stream, text in (("stdout", b"hi\n"), ("stderr", b"warning\n"))}
    assert all(event["outcome"] == "exited" and event["status"] == 0 for event in run.exits.values())
    assert run.summary["ok"] == [0, 1, 2, 3] and run.summary["failed"] == []
    assert run.summary["counts"]["exited"] == 4 and sum(run.summary["counts"].values()) == 4


def test_json_says_where_it_has_started(podrun, via):
    run = events(podrun, *via, "-H", "a,refused,b", "--skip-unreachable", "--", "echo", "hi")
    assert run.started[0]["workers"] == [0, 2]
    assert run.all.index(run.started[0]) < min(run.all.index(event) for event in run.lines if event["text"] == "hi")
    assert events(podrun, *via, "-H", "a,refused,b", "--", "echo", "hi").started == []
    batches = events(podrun, *FOUR, "--serial", "1", "--", "true")
    assert batches.started[0]["workers"] == [0, 1, 2, 3] and batches.all[-3:-1] == [batches.started[0], batches.exits[3]]


def test_json_without_lines(podrun):
    run = Events(podrun("--json=events", *FOUR, "--outdir", "out", "--", "echo hi; echo $PODRUN_RANK >&2"))
    assert run.lines == [] and run.summary["ok"] == [0, 1, 2, 3]
    assert {file.name: file.read_text() for file in (podrun.directory / "out").glob("3-*")} == {"3-local3.out": "hi\n", "3-local3.err": "3\n"}


@pytest.mark.parametrize("options", [("-u", "soon"), ("--no-such",), ("-H", "a-["), ("--json=x",), ("--outdir", "file/x")])
def test_json_of_wrong_usage(podrun, options):
    (podrun.directory / "file").touch()
    ended = podrun("--json", *FOUR, *options, "--", "true")
    [event] = map(json.loads, ended.stdout.splitlines())
    SCHEMA.validate(event)
    assert ended.returncode == event["status"] == 2 and event["event"] == "error"
    assert ended.stderr.decode() == f"podrun: {event['message']}\n"


def test_wrong_usage_prints_no_json_that_was_not_asked_for(podrun):
    assert podrun(*FOUR, "-u", "soon", "--", "echo", "--json").stdout == b""


def test_json_says_whose_output_stays_open(podrun):
    sleeping = podrun.directory / "sleeping"
    run = podrun.start("--json", "-H", "local[0-1]", "--", f"[ $PODRUN_RANK = 0 ] || {{ sleep 1000 & echo $! >'{sleeping}'; }}; echo hi")
    run.wait_for_output(b'"output_open"')
    os.kill(int(sleeping.read_text()), signal.SIGKILL)
    run = Events(run.wait())
    [left] = run.open_outputs
    assert left["worker"] == 1 and left["host"] == "local1" and left["waits"]
    assert "sleep" in [process["name"] for process in left["processes"]] and all(process["pid"] > 0 for process in left["processes"])
    assert run.summary["ok"] == [0, 1]


def test_json_names_what_runs(podrun):
    assert events(podrun, *FOUR, "--", "echo", "a  b").start["command"] == ["echo", "a  b"]
    (podrun.directory / "setup.sh").write_text("echo $1\n")
    start = events(podrun, *FOUR, "-s", "setup.sh", "--", "x").start
    assert start["script"].endswith("setup.sh") and start["arguments"] == ["x"]


def test_json_shows_no_values_of_the_environment(podrun):
    assert b"s3cret" not in podrun("--json", *FOUR, "-e", "TOKEN=s3cret", "--", "A=s3cret", "true", "x").stdout


def test_json_uses_the_labels_of_the_hosts(podrun):
    run = events(podrun, *FOUR, "--workers", "1,3", "--", "echo", "hi")
    assert run.bytes == {(1, "stdout"): b"hi\n", (3, "stdout"): b"hi\n"}
    assert run.summary["ok"] == [1, 3]


def test_json_of_commands_that_fail(podrun):
    run = events(podrun, *FOUR, "--", "[ $PODRUN_RANK != 1 ] || kill -KILL $$; exit $PODRUN_RANK")
    assert {rank: event["status"] for rank, event in run.exits.items()} == {0: 0, 1: 137, 2: 2, 3: 3}
    assert run.summary["ok"] == [0] and run.summary["failed"] == [1, 2, 3]


def test_json_of_a_supervisor_that_is_killed(podrun):
    run = events(podrun, *FOUR, "--", "[ $PODRUN_RANK != 1 ] || kill -KILL $PPID")
    assert run.outcomes == {0: "exited", 1: "signaled", 2: "exited", 3: "exited"}
    assert run.exits[1]["signal"] == signal.SIGKILL and run.summary["status"] == 137


def test_json_of_a_time_out(podrun):
    run = events(podrun, *FOUR, "-u", "4", "--grace", "1", "--", "echo hi; [ $PODRUN_RANK != 2 ] || exec sleep 100")
    assert run.outcomes == {0: "exited", 1: "exited", 2: "timed_out", 3: "exited"}
    assert run.exits[2]["limit_seconds"] == 4 and run.exits[2]["seconds"] >= 4
    assert run.summary["counts"]["timed_out"] == 1
    assert events(podrun, *FOUR, "-u", "200ms", "--grace", "0", "--", "exec sleep 100").exits[0]["limit_seconds"] == 0.2


def test_json_of_hosts_that_are_unreachable(podrun, via):
    run = events(podrun, *via, "-H", "a,refused,b", "--skip-unreachable", "--", "echo", "hi")
    assert run.outcomes == {0: "exited", 1: "unreachable", 2: "exited"}
    assert "connection refused" in run.exits[1]["message"] and run.exits[1]["attempts"] == 1
    assert (run.exits[1]["stage"], run.exits[1]["cause"]) == ("starting_shell", "ended_early")
    assert run.summary["failed"] == [1]
    run = events(podrun, *via, "-H", "a,refused,b", "--", "echo", "hi")
    assert run.outcomes == {0: "not_started", 1: "unreachable", 2: "not_started"}


def test_json_says_how_far_a_host_came_and_what_happened_there(podrun, pod):
    with socket.socket() as bound:  # and nobody listens
        bound.bind(("127.0.0.1", 0))
        refusing = "127.0.0.1:%d" % bound.getsockname()[1]
        options = ("-N", "--skip-unreachable", "--retries", "0", "-o", "StrictHostKeyChecking=yes")
        run = events(podrun, *options, "-H", f"{pod.addresses[0]},{refusing}", "--", "echo", "hi")
    assert run.outcomes == {0: "exited", 1: "unreachable"}
    assert (run.exits[1]["stage"], run.exits[1]["cause"]) == ("connecting", "refused")
    assert run.exits[1]["message"] == f"connection refused at port {refusing.partition(':')[2]}"
    run = events(podrun, *options, "-o", "UserKnownHostsFile=/dev/null", "-H", pod.addresses[0], "--", "echo", "hi")
    assert (run.exits[0]["stage"], run.exits[0]["cause"]) == ("host_key", "host_key_unknown")
    run = events(podrun, *options, "-o", "IdentityFile=none", "-o", "IdentityAgent=none", "-H", pod.addresses[0], "--", "echo", "hi")
    assert (run.exits[0]["stage"], run.exits[0]["cause"]) == ("login", "permission_denied")


def test_json_of_a_run_that_fails_fast(podrun):
    run = events(podrun, *FOUR, "-k", "--grace", "1", "--", "[ $PODRUN_RANK != 2 ] || exit 5; exec sleep 100")
    assert run.outcomes == {0: "stopped", 1: "stopped", 2: "exited", 3: "stopped"}
    assert run.summary["culprit"] == 2 and run.summary["status"] == 5


@pytest.mark.smoke
def test_json_of_an_interrupted_run(podrun):
    run = podrun.start("--json", *FOUR, "--grace", "1", "--", "echo up; exec sleep 100")
    run.wait_for_output(b'"up"', count=4)
    run.signal(signal.SIGINT)
    run = Events(run.wait())
    assert all(event["status"] == 130 for event in run.exits.values())  # they ended by the signal themselves
    assert run.summary["interrupted_by"] == signal.SIGINT and run.summary["status"] == 130


def test_json_of_a_lost_host(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[1], "proxy")
    go_on = podrun.directory / "go-on"
    run = podrun.start("--json", "-H", f"{pod.addresses[0]},{proxy.address}", "--", f"echo up; until [ -e '{go_on}' ]; do sleep 0.1; done")
    run.wait_for_output(b'"up"', count=2)
    proxy.tell("cut")
    run.wait_for_output(b'"lost"')
    go_on.touch()
    run = Events(run.wait())
    assert run.outcomes == {0: "exited", 1: "lost"}
    assert run.exits[1]["message"]
    assert run.exits[1]["stage"] == "connection" and run.exits[1]["cause"] in ("closed", "reset")
    assert [host["port"] for host in run.start["hosts"]] == [pod.port, int(proxy.address.rpartition(":")[2])]


@pytest.mark.smoke
def test_json_gives_the_exact_bytes(podrun):
    program = (
        "import random\n"
        "r = random.Random(rank)\n"
        "hard = [b'\\0', b'\\xff\\xfe', b'\\xc3', 'é€😀'.encode(), b'\"\\\\/', b'\\r', b'\\x1b[K\\x7f', b'\\n', b'\\n\\n', b'text', b'\\xed\\xa0\\x80']\n"
        "for stream in (out, err):\n"
        "    for _ in range(3000): stream.write(r.choice(hard))\n"
    )
    hard = [b"\0", b"\xff\xfe", b"\xc3", "é€😀".encode(), b'"\\/', b"\r", b"\x1b[K\x7f", b"\n", b"\n\n", b"text", b"\xed\xa0\x80"]
    expected = {}
    for rank in range(4):
        r = random.Random(rank)
        for stream in ("stdout", "stderr"):
            expected[rank, stream] = b"".join(r.choice(hard) for _ in range(3000))
    assert events(podrun, *FOUR, "--", *python(program)).bytes == expected


def test_json_of_a_line_without_its_end(podrun):
    run = events(podrun, "-H", "local", "--", "printf 'a\\nb'; printf '\\377' >&2")
    assert [(event.get("text"), event.get("end")) for event in run.lines if event["stream"] == "stdout"] == [("a", None), ("b", "eof")]
    assert [(event.get("b64"), event.get("end")) for event in run.lines if event["stream"] == "stderr"] == [("/w==", "eof")]


def test_json_of_a_line_of_3_mib(podrun):
    run = events(podrun, "-H", "local[0-1]", "--", *python("out.write('é'.encode() * (3 << 19) + b'\\nnext\\n')"))
    assert run.bytes == {(rank, "stdout"): "é".encode() * (3 << 19) + b"\nnext\n" for rank in (0, 1)}
    assert [event["end"] for event in run.lines if event["worker"] == 0 and "end" in event] == ["piece", "piece"]


def test_json_of_random_bytes(podrun):
    run = events(podrun, "-H", "local", "--", *python("import random\nout.write(random.Random(1).randbytes(1_000_000))"))
    assert run.bytes == {(0, "stdout"): random.Random(1).randbytes(1_000_000)}


@pytest.mark.parametrize(
    "view, shown",
    [(("-d", "--window", "20s"), b"all: hi\n"), (("-0",), b"0: hi\n"), (("-b",), b"[0-3] (4)\nhi\n")],
    ids=["dedup", "rank0", "gather"],
)
def test_only_json_is_on_standard_output(podrun, view, shown):
    ended = podrun("--json", *view, *FOUR, "--", "echo hi")
    assert Events(ended).bytes == {(rank, "stdout"): b"hi\n" for rank in range(4)}
    assert ended.stderr == shown


def test_the_documented_way_to_put_lines_together(podrun):
    page = (DOCS / "json.md").read_text()
    for line in re.findall(r'^\{"v":1,"event".*\}$', page, re.M):
        SCHEMA.validate(json.loads(line))
    [program] = re.findall(r"```python\n(.*?)```", page, re.S)
    data = podrun.ok("--json", "-H", "local", "--", "printf 'a\\377\\nb'")
    (podrun.directory / "program.py").write_text(program + "sys.stdout.buffer.write(streams[0, 'stdout'])\n")
    assert podrun.ok("-N", "-H", "local", "-I", "--", "/usr/bin/python3", str(podrun.directory / "program.py"), input=data) == b"a\xff\nb"


# --gather


@pytest.mark.smoke
def test_gather_shows_equal_output_once(podrun):
    ended = podrun("-b", "-H", "local[0-7]", "--", "echo a; [ $PODRUN_RANK != 5 ] || echo b; [ $PODRUN_RANK -lt 6 ] || echo oh >&2")
    assert ended.returncode == 0
    assert ended.stdout == b"[0-4,6,7] (7)\na\n[5] (1)\na\nb\n"
    assert ended.stderr == b"[6,7] (2) stderr\noh\n"


def test_gather_keeps_to_the_label_that_was_asked_for(podrun):
    command = ("--", "[ $PODRUN_RANK = 2 ] && echo two || echo other")
    assert podrun.ok("-b", "--label", "host", *FOUR, *command) == b"[0,1,3] (3)\nother\n[2] local2 (1)\ntwo\n"
    assert podrun.ok("-b", "-N", *FOUR, *command) == b"other\ntwo\n"


def test_gather_shows_nothing_before_the_end(podrun):
    go_on = podrun.directory / "go-on"
    run = podrun.start("-b", *FOUR, "--", f"echo hi; echo >'{podrun.directory}'/up$PODRUN_RANK; until [ -e '{go_on}' ]; do sleep 0.05; done")
    wait_until(lambda: all((podrun.directory / f"up{rank}").exists() for rank in range(4)))
    assert run.stdout == b""
    go_on.touch()
    assert run.wait().stdout == b"[0-3] (4)\nhi\n"


def test_gather_shows_what_there_was_when_it_is_interrupted(podrun):
    run = podrun.start("-b", *FOUR, "--grace", "1", "--", f"echo hi; echo >'{podrun.directory}'/up$PODRUN_RANK; exec sleep 100")
    wait_until(lambda: all((podrun.directory / f"up{rank}").exists() for rank in range(4)))
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert ended.returncode == 130
    assert ended.stdout == b"[0-3] (4)\nhi\n"


def test_gather_on_a_terminal(podrun):
    shown = podrun.terminal("-b", "--progress", "never", *FOUR, "--", "printf '10%%\\r100%%\\n'; printf oh >&2").wait().stdout
    assert b"\x1b[0;1m[0-3] (4)\x1b[0m\n100%\n" in shown
    assert b"\x1b[0;1m[0-3] (4) stderr\x1b[0m\noh\n" in shown


@pytest.mark.deadline(120)
def test_gather_goes_on_on_disk(podrun):
    program = "for i in range(300): out.write(b'%d' % i * (100_000 + (rank == 2)) + b'\\n')"
    tmp = podrun.directory / "tmp"
    tmp.mkdir()
    run = podrun.start("-b", *FOUR, "--", *python(program + f"\nout.flush()\nopen('{podrun.directory}/done%d' % rank, 'w')"), env={"TMPDIR": str(tmp)})
    wait_until(lambda: all((podrun.directory / f"done{rank}").exists() for rank in range(4)), 60)
    if not SANITIZED:
        assert peak_memory(run.pid) < 130e6
    assert not list(tmp.iterdir())  # it has no name
    ended = run.wait(60)

    def text(rank):
        return b"".join(b"%d" % i * (100_000 + (rank == 2)) + b"\n" for i in range(300))

    assert ended.stdout == b"[0,1,3] (3)\n" + text(0) + b"[2] (1)\n" + text(2)


@pytest.mark.deadline(120)
def test_gather_without_room_shows_what_it_has(podrun):
    program = "for _ in range(150): out.write(b'x' * 999_999 + b'\\n')"
    run = podrun.start("-b", *FOUR, "--grace", "1", "--", *python(program), env={"TMPDIR": str(podrun.directory / "missing")})
    ended = run.wait(60)
    assert ended.returncode not in (0, 141)
    assert ended.stderr.count(b"missing: No such file or directory") == 1
    assert re.search(rb"^podrun: \[[0-3,-]+\]: the output shown is cut short$", ended.stderr, re.M)
    assert 10_000_000 < len(ended.stdout) < 70_000_000


def test_json_shows_no_values_of_leading_assignments(podrun):
    start = events(podrun, *FOUR, "--", "export TOKEN=secret; A='s e c' sh -c true").start
    assert start["shell"] == "export TOKEN=…; A=… sh -c true"


# --outdir


def files_in(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != ".gitignore"}


@pytest.mark.smoke
@pytest.mark.parametrize("mode", [(), ("-N",), ("-d",), ("-0",), ("-b",), ("--json",), ("--json", "-b", "-d")], ids=" ".join)
def test_outdir_has_every_byte_in_every_mode(podrun, mode):
    out = podrun.directory / "a" / "b"
    ended = podrun(*mode, "--outdir", out, *FOUR, "--", "printf 'a\\0\\377 %s\\r\\nb' $PODRUN_RANK; printf oh >&2")
    assert ended.returncode == 0 and ended.stdout
    expected = {f"{rank}-local{rank}.out": b"a\0\xff %d\r\nb" % rank for rank in range(4)}
    assert files_in(out) == expected | {f"{rank}-local{rank}.err": b"oh" for rank in range(4)}


def test_outdir_names_files_by_the_label_of_the_host(podrun):
    podrun.ok("--outdir", "logs", *FOUR, "--workers", "1,3", "--", "echo", "hi")
    assert files_in(podrun.directory / "logs") == {"1-local1.out": b"hi\n", "1-local1.err": b"", "3-local3.out": b"hi\n", "3-local3.err": b""}


def test_outdir_of_much_output(podrun):
    podrun.ok("-0", "--outdir", "logs", *FOUR, "--", *python("import random\nout.write(random.Random(rank).randbytes(10_000_000))"))
    for rank in range(4):
        assert (podrun.directory / "logs" / f"{rank}-local{rank}.out").read_bytes() == random.Random(rank).randbytes(10_000_000)


def test_outdir_can_be_followed(podrun):
    go_on = podrun.directory / "go-on"
    run = podrun.start("-b", "--outdir", "logs", *FOUR, "--", f"printf up; until [ -e '{go_on}' ]; do sleep 0.05; done")
    wait_until(lambda: [path for path in podrun.directory.glob("logs/*.out") if path.read_bytes() == b"up"][3:])
    assert run.process.poll() is None
    go_on.touch()
    assert run.wait().returncode == 0


def test_outdir_that_cannot_be_made_means_nothing_runs(podrun):
    started = podrun.directory / "started"
    (podrun.directory / "file").touch()
    failed = podrun("--outdir", "file/logs", *FOUR, "--", "touch", started)
    assert failed.returncode == 2
    assert b"file/logs" in failed.stderr and b"Not a directory" in failed.stderr
    assert not started.exists()


@pytest.fixture
def logs(podrun):
    """What --outdir has of a former run."""
    podrun.ok("--outdir", "logs", *FOUR, "--", "echo former")
    return podrun.directory / "logs"


@pytest.mark.parametrize("option", [[], ["--append"], ["--force"]], ids=" ".join)
def test_a_run_that_does_not_start_leaves_the_files_of_the_former_one(podrun, logs, option):
    before = files_in(logs)
    missing = ["--via", "sh -c 'test {host} != h3 && exec sh'", "-H", "h[0-3]", "--retries", "0"]
    failed = podrun("--outdir", "logs", *option, *missing, "--", "echo now")
    assert failed.returncode == (255 if option else 2)
    assert files_in(logs) == before


def test_a_run_that_does_not_start_can_be_started_again(podrun):
    assert podrun("--outdir", "logs", "--via", "false {host}", "-H", "h0", "--retries", "0", "--", "true").returncode == 255
    podrun.ok("--outdir", "logs", *FOUR, "--", "echo now")


@pytest.mark.parametrize("command", [["nosuch"], ["/etc/passwd"]], ids=" ".join)
def test_a_mistyped_command_does_not_use_up_the_directory(podrun, command):
    assert podrun("--outdir", "logs", *FOUR, "--", *command).returncode in (126, 127)
    podrun.ok("--outdir", "logs", *FOUR, "--", "echo now")
    assert (podrun.directory / "logs" / "1-local1.out").read_bytes() == b"now\n"
    assert podrun("--outdir", "logs", *FOUR, "--", *command).returncode == 2


def test_a_command_that_ran_uses_up_the_directory(podrun):
    assert podrun("--outdir", "logs", *FOUR, "--", "echo ran; exit 127").returncode == 127
    assert podrun("--outdir", "part", *FOUR, "--", "[ $PODRUN_RANK = 0 ] || exit 127").returncode == 127
    assert podrun("--outdir", "part", *FOUR, "--", "echo now").returncode == 2
    assert podrun("--outdir", "logs", *FOUR, "--", "echo now").returncode == 2


def test_outdir_leaves_itself_out_of_a_push(podrun):
    podrun.ok("--outdir", "app/logs", *FOUR, "--", "echo now")
    (podrun.directory / "app" / "train.py").touch()
    shown = podrun("push", "--dry-run", "-H", "local", "app", podrun.directory / "copy")
    assert b"train.py" in shown.stdout + shown.stderr and b"logs" not in shown.stdout + shown.stderr


def test_outdir_refuses_what_holds_output(podrun, logs):
    before = files_in(logs)
    failed = podrun("--outdir", "logs", *FOUR, "--", "touch", podrun.directory / "started")
    assert failed.returncode == 2 and b"--append" in failed.stderr and b"--force" in failed.stderr
    assert not (podrun.directory / "started").exists()
    assert files_in(logs) == before


def test_outdir_appends(podrun, logs):
    podrun.ok("--outdir", "logs", "--append", *FOUR, "--workers", "1,3", "--", "echo now")
    assert [(logs / f"{rank}-local{rank}.out").read_bytes() for rank in range(4)] == [b"former\n", b"former\nnow\n"] * 2


def test_outdir_replaces(podrun, logs):
    podrun.ok("--outdir", "logs", "--force", *FOUR, "--workers", "1,3", "--", "echo now")
    assert files_in(logs) == {"1-local1.out": b"now\n", "1-local1.err": b"", "3-local3.out": b"now\n", "3-local3.err": b""}


@pytest.mark.parametrize("given", [[], ["--append"], ["--force"]], ids=" ".join)
def test_the_repeat_command_adds_to_the_files(podrun, given):
    mended = podrun.directory / "mended"
    ended = podrun("--outdir", "logs", *given, *FOUR, "--", f"echo $PODRUN_WORKER; [ -e '{mended}' ] || [ $PODRUN_WORKER != 2 ]")
    words = shlex.split(ended.stderr.decode().partition("retry on just these: ")[2])
    mended.touch()
    podrun.ok(*words[1:])
    assert (podrun.directory / "logs" / "2-local2.out").read_bytes() == b"2\n2\n"
    assert (podrun.directory / "logs" / "1-local1.out").read_bytes() == b"1\n"


@pytest.mark.parametrize("words", [["--append"], ["--force"], ["--append", "--force", "--outdir", "x"]], ids=" ".join)
def test_what_outdir_is_not_told_together(podrun, words):
    failed = podrun(*words, *FOUR, "--", "true")
    assert failed.returncode == 2 and words[0].encode() in failed.stderr
    assert not (podrun.directory / "x").exists()


def test_outdir_that_goes_away_is_an_error_but_ends_no_command(podrun):
    go_on = podrun.directory / "go on"
    run = podrun.start("--outdir", "logs", *FOUR, "--", f"echo up; while ! [ -e '{go_on}' ]; do sleep 0.1; echo more; done; echo done")
    run.wait_for_output(b"up\n", count=4)
    logs = podrun.directory / "logs"
    wait_until(lambda: [path for path in logs.glob("*.out") if path.read_bytes().startswith(b"up\n")][3:])
    for path in logs.iterdir():
        path.unlink()
    logs.rmdir()
    wait_until(lambda: b"No such file or directory" in run.stderr)
    go_on.touch()
    ended = run.wait(20)
    assert ended.returncode == 1
    assert ended.stderr.count(b"No such file or directory") == 1 and b"logs/" in ended.stderr
    assert ended.stdout.count(b": done\n") == 4
