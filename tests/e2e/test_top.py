"""podrun top without a screen: --once and --json, on hosts whose figures the tests decide."""

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import socket
import time

import pytest

from conftest import private_mounts
from events import SCHEMA
from pods import POD
from support import Podrun, marked_processes, wait_until
from tops import NVIDIA, OLD_DRIVER, Top, TpuServer, hosts_of, odd, rounds

NOBODY = "127.0.0.99:9"  # where nothing listens
PORTS = range(8431, 8448)  # where libtpu has its service
OF_GPUS = ("gpu", "watts", "hbm", "celsius", "mhz", "slowed", "ecc", "nvidia_smi", "accelerator_missing")


@pytest.fixture
def gpus(pods, podrun):
    """Eight hosts with four GPUs each."""
    with hosts_of(pods, podrun, 8, NVIDIA) as hosts:
        yield hosts


@pytest.fixture
def tpus(pods, podrun):
    """Five hosts with four TPU chips each."""
    with hosts_of(pods, podrun, 5) as hosts:
        yield hosts


@pytest.fixture
def tpu_servers(directory):
    """Starts metrics services that all hosts see, since they share the network."""
    running = []

    def start(*chips):
        running.append(TpuServer(directory, free_port(), chips))
        return running[-1]

    yield start
    for server in running:
        server.end()


def free_port():
    for port in PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    return pytest.skip("every port of libtpu's service is taken")


@contextlib.contextmanager
def silent_service():
    """One that takes connections and answers nothing; whether there has been one."""
    taken = []
    with contextlib.ExitStack() as open_ones:
        listening = open_ones.enter_context(socket.create_server(("127.0.0.1", free_port())))
        listening.setblocking(False)

        def is_asked():
            with contextlib.suppress(BlockingIOError):
                taken.append(open_ones.enter_context(listening.accept()[0]))
            return taken

        yield is_asked


def samples(output):
    """{worker: its samples}, all events valid."""
    found = {}
    for event in map(json.loads, output.splitlines()):
        if "sample" in json.dumps(SCHEMA.schema):
            SCHEMA.validate(event)
        if event["event"] == "sample":
            found.setdefault(event["worker"], []).append(event)
    return found


# Once


@pytest.mark.smoke
def test_once_prints_a_table_and_the_hosts_that_are_lost(podrun, gpus):
    for rank in gpus.ranks:
        gpus.gpus(rank, rounds())
    shown = podrun("top", "--once", *gpus.options)
    assert shown.returncode == 0 and shown.stderr == b"", shown
    lines = shown.stdout.decode().splitlines()
    assert lines[0].startswith("8 hosts: 8 up · 32 × GPU: 32 busy")
    assert re.match(r"GPU % +98 +98 +98$", lines[2]), lines
    assert b"\x1b" not in shown.stdout
    gpus.wait_until_left_alone()

    addresses = ",".join([*gpus.pod.addresses[:2], NOBODY])
    lost = podrun("top", "--once", "-H", addresses, "--retries", "0", env={"LC_ALL": "C"})
    assert lost.returncode == 255
    assert lost.stdout.isascii() and b"\x1b" not in lost.stdout, lost
    lines = lost.stdout.decode().splitlines()
    assert lines[0].startswith("3 hosts: 2 up, 1 lost | 8 x GPU: 8 busy")
    assert any(line.startswith("2 ") and "refused" in line for line in lines), lines
    assert any(line.startswith("GPU W") for line in lines), lines

    events = podrun("top", "--once", "--json", "-H", addresses, "--retries", "0")
    assert events.returncode == 255
    assert {worker: len(each) for worker, each in samples(events.stdout).items()} == {0: 1, 1: 1}
    [state] = [event for event in map(json.loads, events.stdout.splitlines()) if event["event"] == "state"]
    assert (state["worker"], state["state"], state["cause"]) == (2, "lost", "refused")


def test_the_samples_of_json_are_counted(podrun, tpus):
    ended = podrun("top", "--json", "-n", "2", "--interval", "1s", *tpus.options)
    assert ended.returncode == 0 and ended.stderr == b"", ended
    found = samples(ended.stdout)
    assert {worker: len(each) for worker, each in found.items()} == dict.fromkeys(tpus.ranks, 2)
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    for rank in tpus.ranks:
        first, *others = [event for event in events if event["worker"] == rank]
        assert (first["event"], first["state"]) == ("state", "up")
        for sample in others:
            assert sample["event"] == "sample" and 0 < sample["interval"] < 30
            assert 0 <= sample["cpu"]["busy"] <= 100 and sample["memory"]["total"] > sample["memory"]["available"] > 0
            assert [chip["index"] for chip in sample["tpus"]] == [0, 1, 2, 3]
            assert all("busy" not in chip and "memory_used" not in chip for chip in sample["tpus"])  # nobody tells
    tpus.wait_until_left_alone()


@pytest.mark.parametrize("words, why", [(["-n", "2"], "--json"), (["--once", "--json", "-n", "2"], "--once"), ([], "--once")], ids=["n", "once n", "pipe"])
def test_what_is_refused(podrun, words, why):
    refused = podrun("top", "-H", "local", *words)
    assert refused.returncode == 2
    assert [json.loads(line)["event"] for line in refused.stdout.splitlines()] == ["error"] * ("--json" in words)
    assert refused.stderr.count(b"\n") == 1 and why.encode() in refused.stderr


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_any_shell(directory, shell):
    """With an old driver, and an nvidia-smi that hangs after its first round."""
    instead = '. "$1" && own_dev nvidia{0..3} && mount --bind "$2" /usr/local/sbin && mount --bind "$0" /bin/sh && shift 2 && exec "$@"'
    path = os.path.realpath(shutil.which(shell) or pytest.skip(f"{shell} is not installed"))
    program = directory / "bin" / "nvidia-smi"
    podrun = Podrun(directory, [*private_mounts(), "bash", "-c", instead, path, POD.with_name("own_dev"), program.parent])
    program.parent.mkdir()
    program.write_text(f"#!/bin/bash\n{OLD_DRIVER}{rounds()}exec sleep 1000\n")
    program.chmod(0o755)
    ended = podrun("top", "--json", "-n", "2", "--interval", "1s", "-H", "local[0-1]")
    assert ended.returncode == 0 and ended.stderr == b"", ended
    found = samples(ended.stdout)
    assert sorted(found) == [0, 1]
    for _first, sample in found.values():
        assert sample["cpu"]["cores"] > 0 and sample["memory"]["total"] > 0 and "net" in sample
        assert sample["gpus"][0]["busy"] == 98 and sample["gpus"][0]["slowed_by"] == ["power_cap"]
    wait_until(lambda: not marked_processes(directory), what="the end of what it has started")


def test_a_kernel_that_tells_less(directory):
    hidden = "mount -t tmpfs none /sys/class && { [ ! -e /proc/pressure ] || mount -t tmpfs none /proc/pressure; }"
    shell = shutil.which("busybox") or pytest.skip("busybox is not installed")
    podrun = Podrun(directory, [*private_mounts(), "sh", "-c", f'{hidden} && mount --bind "$0" /bin/sh && exec "$@"', shell])
    ended = podrun("top", "--json", "--once", "-H", "local")
    assert ended.returncode == 0 and ended.stderr == b"", ended
    [[sample]] = samples(ended.stdout).values()
    assert "net" not in sample and "pressure" not in sample["cpu"] and "pressure" not in sample["memory"]
    assert sample["cpu"]["busy"] >= 0 and sample["memory"]["total"] > 0


# GPUs


@pytest.mark.deadline(120)
def test_gpus_that_are_not_like_the_others(podrun, gpus):
    idle, slow, old, hangs_later, hangs, broken, mig = range(1, 8)
    text = {rank: rounds() for rank in gpus.ranks} | {
        idle: rounds({3: {"busy": "0", "watts": "71.00"}}),
        slow: rounds({1: {"celsius": 64, "slowed": "0x0000000000000044"}}),
        old: OLD_DRIVER + rounds(),
        hangs: "exec sleep 1000",
        broken: "echo 'Unable to determine the device handle for GPU0000:3B:00.0: \033[31mUnknown Error'; exit 255",
        mig: rounds({0: {"busy": "[N/A]"}}),
    }
    for rank in gpus.ranks:
        gpus.gpus(rank, text[rank])
    begin = time.monotonic()
    top = Top(podrun, *gpus.options)
    [why] = odd(top.wait_for(idle, lambda s: odd(s, "gpu"), "the idle GPU"), "gpu")
    assert why["device"] == 3 and "GPU 3: 0 %" in why["text"], why
    sample = top.wait_for(idle, lambda s: odd(s, "watts"), "its power")
    assert odd(sample, "watts")[0]["device"] == 3
    assert sample["gpus"][3] | {"busy": 0, "watts": 71} == sample["gpus"][3] and sample["gpus"][0]["busy"] == 98
    sample = top.wait_for(slow, lambda s: odd(s, "slowed"), "the hot GPU")
    assert odd(sample, "slowed")[0]["device"] == 1
    assert sample["gpus"][1]["slowed_by"] == ["power_cap", "hw_thermal"] and sample["gpus"][0]["slowed_by"] == ["power_cap"]
    sample = top.wait_for(old, lambda s: True, "a sample")
    assert [gpu["busy"] for gpu in sample["gpus"]] == [98] * 4 and not odd(sample, *OF_GPUS)
    sample = top.wait_for(mig, lambda s: True, "a sample")
    assert "busy" not in sample["gpus"][0] and sample["gpus"][0]["watts"] == 650 and sample["gpus"][1]["busy"] == 98
    [why] = odd(top.wait_for(broken, lambda s: odd(s, "nvidia_smi"), "what nvidia-smi says"), "nvidia_smi")
    assert why["severity"] == 3 and "Unable to determine the device handle" in why["text"], why
    top.wait_for_samples(2, broken)
    assert "Unable to determine the device handle" in odd(top.of(broken)[-1], "nvidia_smi")[0]["text"]

    gpus.gpus(hangs_later, "exec sleep 1000")
    wait_until(lambda: any("sleep 1000" in command for command in gpus.commands(hangs_later)), what="an nvidia-smi that hangs")
    for rank in (hangs, hangs_later):
        gpus.later(rank, 40)
        sample = top.wait_for(rank, lambda s: odd(s, "nvidia_smi"), "an nvidia-smi that says nothing")
        assert "no answer" in odd(sample, "nvidia_smi")[0]["text"]
        assert len(sample["gpus"]) == 4 and all("busy" not in gpu for gpu in sample["gpus"])
    top.wait_for_samples(2, *gpus.ranks)
    assert not any(odd(sample, *OF_GPUS) for rank in (0, old) for sample in top.of(rank))

    calls = {rank: len(gpus.smi_calls(rank)) for rank in gpus.ranks}
    assert 1 <= calls.pop(broken) <= 1 + (time.monotonic() - begin) // 60  # podrun tries one that has ended again after a minute
    assert calls == {rank: 1 for rank in calls} | {old: 2}
    assert top.end(signal.SIGKILL).returncode == -signal.SIGKILL
    gpus.wait_until_left_alone()


def test_a_read_only_file_system_and_another_top(podrun, gpus):
    """The nvidia-smi of the other one is in no run."""
    for rank in gpus.ranks:
        gpus.gpus(rank, rounds())
    gpus.mount_read_only(3, "/dev/shm")
    other = Top(podrun, *gpus.options)
    other.wait_for(3, lambda s: odd(s, "read_only"), "the read-only file system")
    assert not any(odd(each, "read_only") for rank in gpus.ranks if rank != 3 for each in other.of(rank))
    found = samples(podrun.ok("top", "--once", "--json", *gpus.options))
    assert not any("runs" in each for events in found.values() for each in events)
    assert odd(found[3][0], "read_only")[0]["text"] == "/dev/shm is read-only"
    other.end()


def test_no_gpu_asks_no_nvidia_smi(podrun, gpus):
    gpus.gpus(0, rounds())
    ended = podrun("top", "--once", "--json", "--no-gpu", *gpus.pod.on(0))
    [[sample]] = samples(ended.stdout).values()
    assert len(sample["gpus"]) == 4 and not odd(sample, *OF_GPUS)
    assert gpus.smi_calls(0) == []


# TPUs

BUSY = [(97, 29 << 30, 32 << 30), (96, 28 << 30, 32 << 30), (95, 27 << 30, 32 << 30), (0, 1 << 30, 32 << 30)]


def told(sample):
    return [(chip.get("busy"), chip.get("memory_used"), chip.get("memory_total")) for chip in sample["tpus"]]


@pytest.mark.deadline(120)
def test_figures_of_a_metrics_service_that_comes_and_goes(podrun, tpus, tpu_servers):
    top = Top(podrun, *tpus.pod.on(0, 1))
    top.wait_for(0, lambda s: "holders" in s and told(s) == [(None, None, None)] * 4, "chips of which nothing is known")
    server = tpu_servers(*BUSY)
    tpus.later(0, 60)  # it looks for a service now and then
    top.wait_for(0, lambda s: told(s) == BUSY, "the figures")
    server.tell([(50, 1, 2)] * 4)
    top.wait_for(0, lambda s: told(s) == [(50, 1, 2)] * 4, "new figures")
    server.end()
    tpus.later(0, 60)
    top.wait_for(0, lambda s: told(s) == [(None, None, None)] * 4, "nothing known of them any more")

    with silent_service() as is_asked:
        tpus.later(1, 60)
        wait_until(is_asked, what="a question to the service that answers nothing")
        top.wait_for_samples(3, 0, 1)
    assert all(each["state"] == "up" for worker in (0, 1) for each in top.of(worker, "state"))
    assert top.end(signal.SIGINT).returncode == 130
    tpus.wait_until_left_alone()


def wait_until_busy(podrun, *options):
    """On a busy machine, the service may answer later than podrun waits."""

    def figures():
        return [told(sample) for [sample] in samples(podrun.ok("top", "--once", "--json", *options)).values()]

    wait_until(lambda: figures() == [BUSY, BUSY], 30, "the figures of both hosts")


def test_a_metrics_service_of_this_machine(directory, tpu_servers):
    tpu_servers(*BUSY)
    devices = '. "$0" && own_dev accel0 accel1 accel2 accel3 && exec "$@"'
    podrun = Podrun(directory, [*private_mounts(), "bash", "-c", devices, POD.with_name("own_dev")])
    wait_until_busy(podrun, "-H", "local[0-1]")


@pytest.mark.parametrize("way", ["forwarded", "not forwarded", "via"])
def test_ways_to_a_metrics_service(pods, podrun, tpus, tpu_servers, way):
    tpu_servers(*BUSY)
    if way == "not forwarded":
        pod = pods("--isolated", "--hosts", "2", "--sshd", "AllowTcpForwarding no")
        shutil.rmtree(podrun.home / ".ssh")
        pod.move_in(podrun)
        options = pod.options
    else:
        options = tpus.pod.on(0, 1)
    wait_until_busy(podrun, *options, *(tpus.pod.via if way == "via" else ()))


def test_nothing_stays_of_a_question_to_a_service_that_hangs(podrun, tpus):
    with silent_service() as is_asked:
        top = Top(podrun, *tpus.options, *tpus.pod.via)
        wait_until(is_asked, what="a question to it")  # the other hosts are about to ask
        top.end()
        tpus.wait_until_left_alone()


@pytest.mark.parametrize("way", ["forwarded", "via"])
def test_a_service_that_takes_no_connection_does_not_hold_up_the_figures(podrun, tpus, way):
    with contextlib.ExitStack() as open_ones:
        listening = open_ones.enter_context(socket.create_server(("127.0.0.1", free_port()), backlog=0))
        for _ in range(4):  # no room is left for others
            waiting = open_ones.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        top = Top(podrun, *tpus.pod.on(0), *(tpus.pod.via if way == "via" else ()))
        top.wait_for_samples(8, 0)
        top.end()
    tpus.wait_until_left_alone()


# Holders


@pytest.mark.deadline(120)
def test_a_job_on_all_hosts_but_one(podrun, tpus):
    top = Top(podrun, *tpus.options)
    top.wait_for_samples(1, *tpus.ranks)
    podrun.ok("start", *tpus.options, "train", "--", "echo $$ >~/pid; exec 5</dev/accel0; exec sleep 1000")
    for rank in tpus.ranks:
        tpus.later(rank, 60)
    for rank in tpus.ranks:
        sample = top.wait_for(rank, lambda s: s.get("holders"), "the job as a holder")
        [holder] = sample["holders"]
        assert (holder["device"], holder["user"], holder["name"], holder["job"]) == ("/dev/accel0", getpass.getuser(), "sleep", "train")
        assert sample["runs"] == ["job train"]
    begin = time.monotonic()
    tpus.on_host(2, "kill -9 $(cat ~/pid)")
    while time.monotonic() < begin + 5.5:  # a list counts that is younger than the run
        top.wait_for_samples(1, 0)
    assert not any(odd(sample, "no_process") for rank in tpus.ranks if rank != 2 for sample in top.of(rank))
    tpus.later(2, 60)
    sample = top.wait_for(2, lambda s: odd(s, "no_process"), "the host without the job")
    assert sample["holders"] == [] and "no process of job train (4 others have one)" in odd(sample, "no_process")[0]["text"]
    assert not any(odd(sample, "no_process") for rank in tpus.ranks if rank != 2 for sample in top.of(rank))
    top.end()

    found = samples(podrun("top", "--once", "--json", *tpus.options).stdout)
    assert [rank for rank, [sample] in found.items() if odd(sample, "no_process")] == [2]
    podrun.ok("stop", *tpus.options, "train")
    podrun.ok("rm", *tpus.options, "train")


# Memory, disks


@pytest.mark.deadline(120)
def test_memory_and_a_disk_that_hangs(podrun, tpus):
    tpus.hang(0)
    tpus.later(0, 0)
    tpus.instead(1, "/proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: 30000 kB\nSwapTotal: 4096000 kB\nSwapFree: 4096000 kB\n")
    if os.path.exists("/proc/pressure/memory"):
        tpus.instead(1, "/proc/pressure/memory", "some avg10=34.00 avg60=0.00 avg300=0.00 total=0\n")
    top = Top(podrun, *tpus.pod.on(0, 1))
    sample = top.wait_for(1, lambda s: True, "a sample")
    assert (sample["memory"]["total"], sample["memory"]["available"], sample["memory"]["swap_used"]) == (1024000000, 30720000, 0)
    if os.path.exists("/proc/pressure/memory"):
        assert sample["memory"]["pressure"] == 34 and odd(sample, "memory_pressure")
    tpus.instead(1, "/proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: 30000 kB\nSwapTotal: 4096000 kB\nSwapFree: 4000000 kB\n")
    top.wait_for(1, lambda s: odd(s, "swap"), "that it swaps")

    hangs = "/".join([tpus.on_host(0, "echo ~").strip(), "hangs"])
    assert not any(odd(sample, "disk_silent") for sample in top.of(0))
    for _ in range(3):
        tpus.later(0, 40)
        sample = top.wait_for(0, lambda s: odd(s, "disk_silent"), "the disk that says nothing")
        top.wait_for_samples(1, 0)
    assert [disk["path"] for disk in sample["disks"] if disk.get("silent")] == [hangs]
    assert len([command for command in tpus.commands(0) if command.startswith(f"df -Pk -- {hangs}")]) == 1
    root = next(disk for disk in sample["disks"] if disk["path"] == "/")
    assert root["size"] > root["free"] > 0
    top.end()
    tpus.stop_hanging(0)
    tpus.wait_until_left_alone()


# Lost and back


@pytest.mark.deadline(120)
def test_lost_and_back_and_rebooted(podrun, tpus):
    top = Top(podrun, *tpus.pod.on(0, 1))
    top.wait_for_samples(1, 0, 1)
    tpus.lose(0)
    wait_until(lambda: [event["state"] for event in top.of(0, "state")] == ["up", "lost", "up"], 30, "lost and back")
    lost = top.of(0, "state")[1]
    assert lost["stage"] and lost["cause"] and lost["message"]
    sample = top.wait_for(0, lambda s: odd(s, "back"), "that it is back")
    assert not odd(sample, "rebooted")
    top.wait_for_samples(1, 0, 1)
    assert len([command for command in tpus.commands(0) if "podrun" in command]) < 6  # of one connection
    assert all(sample["interval"] < 30 for sample in top.of(0))

    tpus.instead(1, "/proc/uptime", "100.00 100.00\n")
    tpus.lose(1)
    sample = top.wait_for(1, lambda s: odd(s, "rebooted"), "that it was rebooted", 30)
    assert [event["state"] for event in top.of(1, "state")] == ["up", "lost", "up"]
    assert not any(odd(sample, "rebooted") for sample in top.of(0))
    assert top.end(signal.SIGTERM).returncode == 143
    tpus.wait_until_left_alone()


# Hosts that send anything


def test_a_host_that_floods_is_given_up(podrun, via, directory):
    script = directory / "via"  # the second program on that host is the sampler
    script.write_text(script.read_text().replace("  refused*)", f"  flood) [ -e {directory}/first ] && {{ sleep 0.5; yes; }} & : >{directory}/first ;;\n  refused*)"))
    top = Top(podrun, "-H", "good,flood", *via)
    wait_until(lambda: top.of(1, "state") and top.of(1, "state")[-1]["state"] == "lost", what="the end of that host")
    assert top.of(1, "state")[-1]["cause"] == "flood"
    top.wait_for_samples(2, 0)
    assert [event["state"] for event in top.of(0, "state")] == ["up"]
    top.end()
