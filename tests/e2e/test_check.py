"""podrun check: can every host be reached, and do they agree with each other?"""

import getpass
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest

from pods import Pod
from support import limit, wait_until

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "check-schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def pod(pods, podrun):
    """Four hosts, of which a test may furnish the homes."""
    pod = pods("--hosts", "4")
    pod.move_in(podrun)
    yield pod
    for rank in range(4):
        for entry in home(pod, rank).iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def home(pod, rank):
    return pod.directory / "home" / str(rank)


def program(pod, rank, name, text):
    """Puts a program of that name before all others of a host."""
    path = home(pod, rank) / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    (home(pod, rank) / ".bashrc").write_text('echo noise of the rc file; PATH="$HOME/bin:$PATH"\nexport PYTHONPATH="$HOME/site"\n')


def install(pod, rank, name, version):
    """Leaves behind what pip does, for a python without the packages of this machine."""
    program(pod, rank, "python3", 'exec /usr/bin/python3 -S "$@"\n')
    directory = home(pod, rank) / "site" / f"{name}-{version}.dist-info"
    directory.mkdir(parents=True)
    (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def configure(podrun, text):
    """Writes the configuration of the test's own $HOME."""
    file = podrun.home / ".config" / "podrun" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)


def lines_of(completed, status):
    """What it printed, with nothing on stderr."""
    assert completed.returncode == status, completed
    assert completed.stderr == b"", completed
    return completed.stdout.decode().splitlines()


@pytest.mark.smoke
def test_says_little_when_all_is_well(podrun, pod):
    lines = lines_of(podrun(*pod.options, "check"), 0)
    assert lines[0] == "4 hosts agree on:"
    assert lines[-1] == "all 4 hosts are fine, and alike"
    text = "\n".join(lines)
    assert f"  kernel {os.uname().release}" in text
    assert "  clock within " in text
    assert len(lines) < 10


def test_names_who_differs(podrun, pod):
    for rank in range(4):
        install(pod, rank, "jax", "0.4.33" if rank == 3 else "0.4.35")
    install(pod, 3, "jaxlib", "0.4.33")
    install(pod, 1, "libtpu_nightly", "0.1.dev20240613")
    lines = lines_of(podrun(*pod.options, "check"), 1)
    assert "  [0-2] jax 0.4.35, no jaxlib · [3] jax 0.4.33, jaxlib 0.4.33" in lines
    assert "  [0,2,3] no libtpu · [1] libtpu 0.1.dev20240613" in lines
    assert lines[-1] == "the hosts differ: jax, jaxlib, libtpu"
    assert lines_of(podrun(*pod.options, "--workers", "0,2", "check"), 0)[-1] == "all 2 hosts are fine, and alike"


def test_compares_the_commit(podrun, pod, directory):
    def git(*words):
        subprocess.run(["git", "-C", directory / "app", "-c", "user.name=n", "-c", "user.email=e", *words], check=True)

    (directory / "app").mkdir()
    git("init", "-q", "-b", "trunk")
    (directory / "app" / "train.py").write_text("1\n")
    git("add", "train.py")
    git("commit", "-q", "-m", "first")
    for rank in range(4):
        shutil.copytree(directory / "app", home(pod, rank) / "app")
    lines = lines_of(podrun(*pod.options, "check", "--dir", "~/app"), 0)
    assert any(re.fullmatch(r"  commit [0-9a-f]{12} · branch trunk · no changes", line) for line in lines), lines

    (home(pod, 2) / "app" / "train.py").write_text("2\n")
    shutil.rmtree(home(pod, 3) / "app")
    lines = lines_of(podrun(*pod.options, "check", "--dir", "~/app"), 1)
    assert any(re.fullmatch(r"  \[0,1\] no changes · \[2\] 1 file changed \([0-9a-f]{12}\)", line) for line in lines), lines
    assert f"  [3] {pod.hosts[3]}: git in ~/app: no such directory" in lines


def test_takes_the_python_that_is_named(podrun, pod):
    for rank in range(3):
        program(pod, rank, "mine", "echo python 3.99.1\n")
    program(pod, 3, "none", "")
    lines = lines_of(podrun(*pod.options, "check", "--python", "~/bin/mine"), 1)
    assert "  [0-2] python 3.99.1 · [3] no python" in lines
    assert f"  [3] {pod.hosts[3]}: no python at ~/bin/mine" in lines


def test_names_a_clock_that_is_off(podrun, pod):
    program(pod, 1, "date", 'PATH=${PATH#*:}; exec faketime -f +100s date "$@"\n')
    lines = lines_of(podrun(*pod.options, "check"), 1)
    [line] = [line for line in lines if "clock" in line and "within" not in line]
    found = re.fullmatch(rf"  \[1\] {pod.hosts[1]}: clock ([0-9.]+) s ahead", line)
    assert found and 90 < float(found[1]) < 110, line
    assert lines[-1] == "1 of 4 hosts has a problem; to go on without it: --workers 0,2,3"


def test_goes_on_without_hosts_that_are_not_reached(podrun, pod):
    hosts = f"{pod.addresses[0]},127.0.0.9:129,nobody-of-that-name@{pod.addresses[1]}"
    lines = lines_of(podrun("-H", hosts, "--retries", "0", "check"), 1)
    assert lines[0] == "1 of 3 hosts has answered:"
    assert "  [1] 127.0.0.9: unreachable: connecting: connection refused at port 129" in lines
    assert any(line.startswith(f"  [2] {pod.hosts[1]}: unreachable: login: ") for line in lines), lines
    assert lines[-1] == "2 of 3 hosts have a problem; to go on without them: --workers 0"


def test_names_who_holds_an_accelerator(podrun, isolated):
    lines = lines_of(podrun(*isolated.options, "check"), 0)
    assert "  4 TPU" in lines
    isolated.ssh(1, "setsid sh -c 'exec 5</dev/accel2; exec sleep 1000' </dev/null >/dev/null 2>&1 &")
    wait_until(lambda: b"busy" in podrun(*isolated.on(1), "check").stdout, what="the holder")
    lines = lines_of(podrun(*isolated.options, "check"), 1)
    [line] = [line for line in lines if "busy" in line]
    who = rf"accelerators busy: 1 of 4 held by sleep of {getpass.getuser()} \(pid \d+\)"
    assert re.fullmatch(rf"  \[1\] {isolated.hosts[1]}: {who}", line), line
    [free] = [line for line in lines if line.startswith("to free the accelerators: podrun ")]
    podrun.ok(*shlex.split(free.partition(": podrun ")[2]), "-y")
    lines_of(podrun(*isolated.options, "check"), 0)


def test_a_monitor_does_not_make_an_accelerator_busy(podrun, isolated):
    def names():
        [host] = json.loads(podrun(*isolated.on(0), "check", "--json").stdout)["hosts"]
        return [(holder["device"], holder["command"], host["usable"]) for holder in host["facts"]["holders"]]

    isolated.ssh(0, "cp /bin/sleep /tmp/nvidia-smi; setsid /tmp/nvidia-smi 1000 5</dev/accel1 >/dev/null 2>&1 </dev/null & echo $! >/tmp/pid")
    wait_until(lambda: names() == [("/dev/accel1", "nvidia-smi", True)], what="the monitor, and a host that is usable")
    lines_of(podrun(*isolated.on(0), "check"), 0)
    listed = podrun.ok(*isolated.on(0), "kill", "--dry-run")
    assert b"stays: named like a service (--pid" in listed or b"stays: a service of this host" in listed
    isolated.ssh(0, "kill $(cat /tmp/pid); rm /tmp/pid /tmp/nvidia-smi")
    wait_until(lambda: not names(), what="its end")


@pytest.mark.parametrize("name", ["nvidia-cuda-mps-server", "nvtop", "gpustat"])
def test_check_and_kill_agree_about_monitors(podrun, isolated, name):
    isolated.ssh(0, f"cp /bin/sleep /tmp/{name}; setsid /tmp/{name} 1000 5</dev/accel1 >/dev/null 2>&1 </dev/null & echo $! >/tmp/pid")
    try:
        wait_until(lambda: json.loads(podrun(*isolated.on(0), "check", "--json").stdout)["hosts"][0]["facts"]["holders"], what="the monitor")
        lines_of(podrun(*isolated.on(0), "check"), 0)
        assert b"busy" not in podrun.ok(*isolated.on(0), "kill", "-y")
        assert isolated.ssh(0, "kill -0 $(cat /tmp/pid)").returncode == 0
    finally:
        isolated.ssh(0, f"kill $(cat /tmp/pid); rm /tmp/pid /tmp/{name}")


@pytest.fixture
def gpus(pods, podrun):
    """Two hosts with two GPUs each."""
    pod = pods("--isolated", "--hosts", "2", "--devices", "nvidia0,nvidia1")
    pod.move_in(podrun)
    yield pod
    for rank in range(2):
        shutil.rmtree(home(pod, rank) / "bin", ignore_errors=True)


def test_gpus_of_amd_are_busy_and_are_freed(podrun, pods):
    pod = pods("--isolated", "--hosts", "2", "--devices", "kfd")
    pod.move_in(podrun)
    assert "  1 AMD" in lines_of(podrun(*pod.options, "check"), 0)
    pod.ssh(0, "setsid sleep 1003 </dev/kfd >/dev/null 2>&1 &")
    wait_until(lambda: podrun(*pod.options, "check").returncode == 1, what="the holder")
    answer = answer_of(podrun(*pod.options, "check", "--json"), 1)
    [problem] = answer["problems"]
    assert problem["what"].startswith("accelerators busy: 1 of 1 held by sleep of ") and problem["workers"] == [0]
    assert [holder["device"] for holder in answer["hosts"][0]["facts"]["holders"]] == ["/dev/kfd"]
    podrun.ok(*pod.options, "kill", "-y")
    lines_of(podrun(*pod.options, "check"), 0)


def answer_of(completed, status):
    [line] = lines_of(completed, status)
    answer = json.loads(line)
    jsonschema.validate(answer, SCHEMA)
    return answer


@pytest.mark.parametrize(
    "text, problem",
    [
        ("echo 'NVIDIA-SMI has failed, reinstall the driver'; exit 9", "nvidia-smi ends with status 9: NVIDIA-SMI has failed, reinstall the driver"),
        ("echo 'No devices were found'", "nvidia-smi: No devices were found"),
        ("echo 'NVIDIA H100, 570.124'", "nvidia-smi: 1 of 2 GPUs"),
        ("echo 'NVIDIA H100, 570.124'; echo '[GPU is lost], 570.124'", "nvidia-smi: 1 of 2 GPUs: [GPU is lost]"),
    ],
    ids=["fails", "says", "fewer", "lost"],
)
def test_gpus_that_do_not_work_are_a_problem_also_where_no_host_has_better_ones(podrun, gpus, text, problem):
    for rank in range(2):
        program(gpus, rank, "nvidia-smi", text + "\n")
    answer = answer_of(podrun(*gpus.options, "check", "--json"), 1)
    assert answer["problems"] == [{"what": problem, "workers": [0, 1]}]
    assert not any(host["usable"] for host in answer["hosts"])
    assert all(gpu == "NVIDIA H100, 570.124" for host in answer["hosts"] for gpu in host["facts"]["gpus"])


def test_gpus_that_work_are_fine_also_with_a_warning(podrun, gpus):
    for rank in range(2):
        program(gpus, rank, "nvidia-smi", "echo 'WARNING: infoROM is corrupted at gpu 0000:3B:00.0'\nyes 'NVIDIA H100, 570.124' | head -2\n")
    assert answer_of(podrun(*gpus.options, "check", "--json"), 0)["well"]
    assert "  2 NVIDIA H100 · driver 570.124" in lines_of(podrun(*gpus.options, "check"), 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts on hosts need root")
def test_the_memory_limit_of_a_container_is_its_memory(podrun, isolated):
    files = {"memory.max": 1 << 30, "memory.current": 1000 << 20, "memory.stat": "inactive_file 0\nactive_file 0", "memory.events": "oom_kill 0"}
    writes = "".join(f" && printf '{text}\\n' >{name}" for name, text in files.items())
    assert isolated.ssh(0, f"mount -t tmpfs tmpfs /sys/fs/cgroup && cd /sys/fs/cgroup{writes}").returncode == 0
    try:
        answer = answer_of(podrun(*isolated.options, "check", "--json"), 1)
        assert answer["hosts"][0]["facts"]["memory"] == {"total": 1 << 30, "available": 24 << 20}
        assert answer["hosts"][1]["facts"]["memory"]["total"] > 1 << 30
        assert [(problem["what"], problem["workers"]) for problem in answer["problems"]] == [("memory", [0])]
        samples = [json.loads(line) for line in podrun.ok(*isolated.options, "top", "--once", "--json").splitlines()]
        memory = samples[0]["memory"]
        assert (memory["total"], memory["available"]) == (1 << 30, 24 << 20) and "swap_used" not in memory
    finally:
        isolated.ssh(0, "umount /sys/fs/cgroup")


def test_tells_of_a_host_that_hangs_as_far_as_it_came(podrun, pod):
    program(pod, 2, "python3", 'trap "" TERM; sleep 1000\n')
    lines = lines_of(podrun(*pod.options, "check", "-u", "10s"), 1)
    assert lines[0] == "3 of 4 hosts have answered, and agree on:"
    assert f"  [2] {pod.hosts[2]}: timed out after 10 s, at python3" in lines


@pytest.mark.parametrize("way", ["local", "via"])
def test_checks_hosts_on_other_ways(podrun, pod, via, way):
    hosts = ("-H", "local[0-1]") if way == "local" else (*via, "-H", "a,b")
    assert lines_of(podrun(*hosts, "check"), 0)[-1] == "all 2 hosts are fine, and alike"


def test_works_where_sh_is_another_shell(podrun_any_shell):
    lines = lines_of(podrun_any_shell("-H", "local[0-1]", "check"), 0)
    assert any(line.startswith("  open files ") for line in lines), lines


def test_json_has_every_fact_and_the_verdict(podrun, pod):
    install(pod, 3, "jax", "0.4.33")
    completed = podrun("-H", ",".join(pod.addresses) + ",127.0.0.9:129", "--retries", "0", "check", "--json")
    [line] = lines_of(completed, 1)
    answer = json.loads(line)
    jsonschema.validate(answer, SCHEMA)
    assert answer["well"] is False
    assert [host["usable"] for host in answer["hosts"]] == [True] * 4 + [False]
    assert answer["hosts"][3]["facts"]["jax"] == "0.4.33"
    [jax] = [item for item in answer["items"] if item["name"] == "jax"]
    assert [group["workers"] for group in jax["groups"]] == [[0, 1, 2], [3]]
    assert answer["problems"] == [{"what": "unreachable: connecting: connection refused at port 129", "workers": [4]}]
    [line] = lines_of(podrun(*pod.on(0), "check", "--json"), 0)
    jsonschema.validate(json.loads(line), SCHEMA)
    assert json.loads(line)["well"] is True


def test_the_documented_json_is_right():
    [example] = re.findall(r'^{"v":1,"event":"check".*?^```', (DOCS / "json.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    jsonschema.validate(json.loads(example.removesuffix("```")), SCHEMA)


def test_waits_for_a_host_that_comes_up_later(podrun, directory):
    pod = Pod(directory / "pod", "--hosts", "2")
    pod.move_in(podrun)
    pod.down()
    waiting = podrun.start(*pod.options, "-v", "check", "--wait", "120s")
    wait_until(lambda: b": attempt 3 in " in waiting.stderr, 20)
    try:
        Pod(directory / "pod", "--hosts", "2", "--port", str(pod.port))
        completed = waiting.wait(40)
        assert completed.stdout.decode().splitlines()[-1] == "all 2 hosts are fine, and alike"
        assert completed.returncode == 0
    finally:
        pod.down()


@pytest.mark.timed
def test_ends_the_wait_in_time(podrun, pod):
    began = time.monotonic()
    lines = lines_of(podrun("-H", f"{pod.addresses[0]},127.0.0.9:129", "check", "--wait", "3s"), 1)
    assert 3 <= time.monotonic() - began < limit(13)
    assert lines[0] == "1 of 2 hosts has answered:"
    assert "  [1] 127.0.0.9: unreachable: connecting: connection refused at port 129" in lines


@pytest.mark.timed
def test_shows_whom_it_waits_for_until_interrupted(podrun, pod):
    waiting = podrun.terminal("-H", f"{pod.addresses[0]},{pod.addresses[1]},127.0.0.9:129", "check", "--wait", "10m")
    waiting.read_until("2 ready · 1 waiting · [2] 127.0.0.9: attempt ".encode())
    interrupted = time.monotonic()
    waiting.type(b"\x03")
    assert waiting.wait(10).returncode == 130
    assert time.monotonic() - interrupted < limit(5)


@pytest.mark.timed
def test_ctrl_c_ends_it_at_once_though_a_host_hangs(podrun, pod):
    marker = home(pod, 1) / "hangs"
    program(pod, 1, "python3", f'trap "" INT TERM; touch {marker}; while :; do sleep 1; done\n')
    running = podrun.start(*pod.options, "check", "-v")
    wait_until(lambda: marker.exists() and running.stderr.count(b": ok\n") == 3, 20)
    interrupted = time.monotonic()
    running.signal(signal.SIGINT)
    completed = running.wait(10)
    assert completed.returncode == 130
    assert time.monotonic() - interrupted < limit(5)
    lines = completed.stdout.decode().splitlines()
    assert lines[0] == "3 of 4 hosts have answered, and agree on:", "what is known so far is shown"
    assert any(line.startswith(f"  [1] {pod.hosts[1]}: stopped by podrun") for line in lines), lines


def test_a_closed_reader_ends_it(podrun, pod):
    program(pod, 1, "python3", "sleep 1000\n")
    reader, writer = os.pipe()
    running = podrun.start(*pod.options, "check", "-u", "2s", stdout=writer)
    os.close(writer)
    os.close(reader)
    assert running.wait().returncode == 141


@pytest.mark.parametrize(
    "words, error",
    [
        (["check", "--dedup"], "check: --dedup has no meaning here (leave it out)"),
        (["check", "-I"], "check: --stdin has no meaning here (leave it out)"),
        (["-c", "check"], "check: --clean-up has no meaning here (leave it out)"),
        (["check", "--", "echo"], 'check: takes no command (leave out "--" and everything after it)'),
        (["check", "--dir", "a", "--dir", "b"], "--dir: given twice (one directory only)"),
        (["check", "here"], 'check: unexpected "here" (see podrun check --help)'),
        (["--wait", "5m", "--", "echo"], "--wait is an option of podrun check (podrun check --wait ...)"),
        (["check", "--wait", "soon"], '--wait: bad duration "soon" (expected a whole number such as 10, 10s, 5m or 2h)'),
    ],
)
def test_refuses_what_makes_no_sense(podrun, words, error):
    completed = podrun("-H", "local", *words)
    assert completed.returncode == 2
    assert completed.stderr.decode() == f"podrun: {error}\n"


def test_a_configuration_of_commands_does_not_matter(podrun, directory):
    slow = directory / "slow"
    slow.write_text("#!/bin/sh\nsleep 2; echo python 3.99.1\n")
    slow.chmod(0o755)
    configure(podrun, "defaults:\n  timeout: 1s\n  chdir: /is/not/there\n  env: {IS_NOT_SET_HERE: }\n  env-file: none\n")
    check = ("-H", "local", "check", "--python", str(slow))
    assert lines_of(podrun(*check), 0)[-1] == "the host is fine"
    assert any("timed out after 1 s, at " in line for line in lines_of(podrun(*check, "--timeout", "1s"), 1))
    configure(podrun, "defaults: {cwd: true}\n")
    assert b"\ndirectory: " not in podrun.ok("-H", "local", "check", "--dry-run")


def test_dry_run_shows_what_would_run(podrun):
    text = podrun.ok("-H", "local", "check", "--dry-run").decode()
    assert text.startswith("hosts (1):\n")
    assert "words: /bin/sh -c " in text
