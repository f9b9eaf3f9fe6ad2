"""docs/python.md: the Python module against eight real hosts. Each call once, exact bytes, and every way in which a Python can go away."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from homes import homes_of_pod
from support import wait_until

PYTHON = Path(__file__).parents[2] / "python"
sys.path.insert(0, str(PYTHON))

import podrun as module  # noqa: E402

EIGHT = range(8)


@pytest.fixture
def hosts(pods, podrun, monkeypatch):
    """Eight isolated hosts, which the module's podrun finds in $PODRUN_HOSTS."""
    with homes_of_pod(pods, podrun, hosts=8) as homes:
        for name in list(os.environ):
            monkeypatch.delenv(name)
        env = {**podrun.env, "PODRUN_PROGRAM": podrun.binary, "PODRUN_HOSTS": ",".join(homes.pod.addresses), "PYTHONPATH": str(PYTHON)}
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(podrun.directory)
        yield homes


@pytest.fixture
def pod(hosts):
    return module.Pod()


# Each call once


def test_hosts(hosts, pod):
    found = pod.hosts()
    assert [str(host) for host in found] == hosts.pod.addresses
    assert [host.worker for host in found] == [*EIGHT] and found[3].address == found[3].name
    assert [host.name for host in module.run("true", hosts=found[2:4], check=True)] == [host.name for host in found[2:4]]


@pytest.mark.smoke
def test_run(pod):
    result = pod.run("echo same; [ $PODRUN_WORKER != 3 ] || { echo odd >&2; exit 5; }")
    assert (result.returncode, result.ok, len(result)) == (5, False, 8)
    assert [host.worker for host in result.failed] == [3] and result.first_failure is result[3]
    assert (result[3].stdout, result[3].stderr) == ("same\n", "odd\n") and result[3].seconds > 0
    assert [([host.worker for host in group], output) for group, output in result.groups()] == [([0, 1, 2, 4, 5, 6, 7], "same\n"), ([3], "same\nodd\n")]
    assert str(result) == "[0-2,4-7] (7)\nsame\n[3] (1) exit 5: odd\nsame\nodd"
    with pytest.raises(module.RunFailed, match=r"\[3\] .*: exit 5: odd") as failed:
        pod.run("[ $PODRUN_WORKER != 3 ] || { echo odd >&2; exit 5; }", check=True)
    assert failed.value.result[0].ok


def test_what_runs(pod, tmp_path):
    exact = ["printf", "%s|", "a b", "$HOME", "*", "A=b"]
    assert {host.stdout for host in pod.run(exact, check=True)} == {"a b|$HOME|*|A=b|"}
    assert pod.run(["/no such; $x"]).returncode == 127
    assert {host.stdout for host in pod.run(["/bin/pwd"], cwd="/usr")} == {"/usr\n"}
    values = {"A": "it's\n $HOME `id` \\", "B": ""}
    assert {host.stdout for host in pod.run(["sh", "-c", 'printf "%s<%s>" "$A" "${B-none}"'], env=values)} == {values["A"] + "<>"}
    assert {host.stdout_bytes for host in pod.run("cat", input=b"\xff\0x")} == {b"\xff\0x"}
    assert {host.stdout for host in pod.run("cat", input="text")} == {"text"}
    (tmp_path / "s.sh").write_text('#!/bin/sh\necho "$1"\n')
    assert {host.stdout for host in pod.run(script=str(tmp_path / "s.sh"), args=["x  y"])} == {"x  y\n"}


def test_ends(hosts, pod):
    late = pod.run("echo a; exec sleep 60", timeout=0.5, options=["--grace", "0"])
    assert late.returncode == 124 and {(host.outcome, host.stdout, host.returncode) for host in late} == {("timed_out", "a\n", 124)}
    first = pod.run("[ $PODRUN_WORKER != 2 ] || exit 9; exec sleep 60", fail_fast=True)
    assert first.culprit == 2 and first.first_failure is first[2] and (first[0].outcome, first[0].returncode) == ("stopped", None)
    some = module.Pod([hosts.pod.addresses[0], "127.0.0.250:1"], options=["--retries", "0"])
    none = some.run("true")
    assert none.returncode == 255 and none[0].outcome == "not_started"
    assert (none[1].outcome, none[1].stage, none[1].cause, none[1].returncode) == ("unreachable", "connecting", "refused", 255)
    assert some.run("true", skip_unreachable=True)[0].ok
    for wrong in ({"options": ["--nonsense"]}, {"timeout": "soon"}):
        with pytest.raises(module.UsageError):
            pod.run("true", **wrong)
    with pytest.raises(module.UsageError, match="a-"):
        module.run("true", hosts="a-[")


def test_stream(pod):
    with pod.stream("for i in 1 2 3; do echo $i; done; echo e >&2") as run:
        lines = list(run)
    assert [line.text for line in lines if (line.worker, line.stream) == (5, "stdout")] == ["1", "2", "3"]
    assert len(lines) == 32 and sum(line.stream == "stderr" for line in lines) == 8
    assert run.result().ok and run.result().events[0]["workers"] == [*EIGHT]


def test_outdir(pod):
    result = pod.run("echo $PODRUN_WORKER", outdir="out", check=True)
    assert {host.stdout for host in result} == {""}
    assert sorted(file.read_text() for file in Path("out").glob("*.out")) == [f"{worker}\n" for worker in EIGHT]


def test_show(pod, capsys):
    result = pod.run("echo same; [ $PODRUN_WORKER != 3 ] || printf 'o\\033dd\\n'", show=True)
    assert result[3].stdout == "same\no\x1bdd\n"
    assert sorted(capsys.readouterr().out.splitlines()) == ["[3]: o\\x1bdd", "all: same"]


def test_files(pod, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "f").write_text("data")
    assert {host.details["files"] for host in pod.push(str(tmp_path / "app"), target="pushed")} == {1}
    assert {host.stdout for host in pod.run("cat pushed/app/f")} == {"data"}
    pulled = pod.pull("pushed", target="got")
    assert all((Path(host.details["directory"]) / "pushed/app/f").read_text() == "data" for host in pulled)
    with pytest.raises(module.RunFailed):
        pod.pull("nothing", target="got")


def test_jobs_and_the_rest(pod):
    assert pod.call("start", "train", "--", "echo said; exit $((4 * (PODRUN_WORKER == 2)))").result().ok
    waited = pod.call("wait", "train").result()
    assert waited.returncode == 4 and [host.worker for host in waited.failed] == [2]
    assert {host.stdout for host in pod.call("logs", "train").result()} == {"said\n"}
    assert {(job["name"], job["state"]) for host in pod.ask("ps")["hosts"] for job in host["jobs"]} == {("train", "ended")}
    pod.ask("rm", "train")
    assert not any(host["jobs"] for host in pod.ask("ps")["hosts"])
    assert len(pod.ask("check")["hosts"]) == len(pod.ask("kill", "--dry-run")["hosts"]) == 8
    assert len([sample for sample in pod.ask("top", "-n", "1") if sample["event"] == "sample"]) == 8
    assert pod.ask("config")["options"]["grace"]["from"] == "default"
    with pytest.raises(module.UsageError):
        pod.ask("start", "bad name!", "--", "true")


def test_asyncio(pod):
    async def main():
        result = await pod.stream("echo hi", check=True)
        assert {host.stdout for host in result} == {"hi\n"}
        async with pod.stream("for i in 1 2 3; do echo $i; done") as run:
            assert len([line async for line in run]) == 24
        one, two = await asyncio.gather(pod.stream("echo a"), pod.call("ps"))
        assert one[7].stdout == "a\n" and len(two.objects[0]["hosts"]) == 8
        async with pod.stream("while :; do echo x; sleep 0.1; done") as run:
            async for _ in run:
                break

    asyncio.run(main())


def test_long_lines_and_any_bytes_arrive_exactly(pod):
    text = r"head -c 10000000 /dev/zero | tr '\0' x; head -c 300000 /dev/urandom >r; cat r >&2; sha256sum <r >s; printf '\n\r\0\"\\é\377'"
    result = pod.run(text, check=True)
    digests = pod.run("cut -c1-64 s")
    for host in result:
        assert host.stdout_bytes == b"x" * 10_000_000 + b'\n\r\0"\\\xc3\xa9\xff'
        assert hashlib.sha256(host.stderr_bytes).hexdigest() == digests[host.worker].stdout.strip()


# Whatever becomes of the Python, nothing is left on the hosts

SLEEP = "setsid sleep {0} & exec sleep {0}"
WAYS = {
    "run, Ctrl-C": ("podrun.run({command!r})", [signal.SIGINT]),
    "stream, Ctrl-C": ("with podrun.Pod().stream('while :; do echo x; sleep 0.2; done & ' + {command!r}) as run:\n  for line in run: pass", [signal.SIGINT]),
    "ignores INT, Ctrl-C twice": ("podrun.run('trap \"\" INT; ' + {command!r}, options=['--grace', '1'])", [signal.SIGINT, signal.SIGINT]),
    "asyncio, Ctrl-C": ("async def main(): await podrun.Pod().stream({command!r})\nasyncio.run(main())", [signal.SIGINT]),
    "TERM": ("podrun.run({command!r})", [signal.SIGTERM]),
    "HUP": ("podrun.run({command!r})", [signal.SIGHUP]),
    "KILL": ("podrun.run({command!r})", [signal.SIGKILL]),
    "the main thread ends": ("threading.Thread(target=podrun.run, args=[{command!r}], daemon=True).start()\nsys.stdin.read(1)", []),
    "KILL, with a forked child that lives on": ("run = podrun.Pod().stream({command!r})\nif os.fork() == 0:\n  time.sleep(300); os._exit(0)\nrun.result()", [signal.SIGKILL]),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left(hosts, way):
    program, signals = WAYS[way]
    seconds = str(770_100 + list(WAYS).index(way))
    text = "import asyncio, os, sys, threading, time, podrun\n" + program.format(command=SLEEP.format(seconds))
    python = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, start_new_session=True, stderr=subprocess.DEVNULL)

    def asleep(rank):
        return [command for command in hosts.pod.processes(rank).values() if command == b"sleep\0%s\0" % seconds.encode()]

    wait_until(lambda: all(len(asleep(rank)) == 2 for rank in hosts.ranks), 20, "the command on all hosts")
    begin = time.monotonic()
    for place, number in enumerate(signals):
        time.sleep(1.5 if place else 0)
        python.send_signal(number)
    python.stdin.close()
    wait_until(lambda: not any(map(asleep, hosts.ranks)), 10, "the end of all commands")
    print(f"empty after {time.monotonic() - begin:.2f} s")
    assert python.wait(60) != 0 or not signals
    os.killpg(python.pid, signal.SIGKILL) if "fork" in way else None
    hosts.wait_until_clean()
