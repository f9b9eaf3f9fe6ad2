"""Many hosts at once over SSH, few descriptors, and both kinds of addresses."""

import os
import re
import subprocess
import sys

import pytest

from conftest import private_mounts
from pods import write_key
from support import PATIENT, SANITIZED, by_rank, peak_memory


def all_of(count):
    return {rank: [b"host%d" % rank] for rank in range(count)}


@pytest.mark.skipif(SANITIZED, reason="sanitizers have their own idea of memory")
@pytest.mark.deadline(120)
def test_256_hosts_in_little_memory(podrun, pods):
    pod = pods("--hosts", "256")
    pod.move_in(podrun)
    go_on = podrun.directory / "go-on"

    def run_on(count, *hosts):
        """The run on so many hosts, all at once, and the memory it took."""
        run = podrun.start(*hosts, *PATIENT, "--", f"echo $POD_HOST; until [ -e '{go_on}' ]; do sleep 1; done")
        run.wait_for_output(b"\n", count=count)
        memory = peak_memory(run.pid)
        go_on.touch()
        ended = run.wait()
        go_on.unlink()
        return ended, memory

    _ended, base = run_on(1, *pod.on(0))
    ended, memory = run_on(256, *pod.options)
    assert ended.returncode == 0 and ended.stderr == b""
    assert by_rank(ended.stdout) == all_of(256)
    assert (memory - base) / 255 < 100_000


MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


@pytest.mark.skipif(SANITIZED, reason="sanitizers have their own idea of memory")
@pytest.mark.deadline(600)
@pytest.mark.parametrize("count", [256, pytest.param(1000, marks=pytest.mark.full), pytest.param(2304, marks=pytest.mark.full)])
def test_memory_of_a_host_does_not_grow_with_the_number_of_hosts(podrun, fault, count):
    write_key(podrun.home / ".ssh" / "id_ed25519")
    server = fault("plays-a-host", addresses=[f"127.1.{number // 250}.{number % 250 + 1}" for number in range(count)])

    def peak(*hosts):
        podrun.wrapper = [sys.executable, "-c", MEASURE, podrun.directory / "peak"]
        assert podrun("--retries", "5", "-t", "60", "-H", ",".join(hosts), "--", "true", timeout=300).returncode == 0
        return int((podrun.directory / "peak").read_text()) << 10

    base = peak(*server.addresses[:2])
    per_host = (peak(*server.addresses) - base) / (count - 2)
    print(f"{count} hosts: {per_host:.0f} bytes each")
    assert per_host < 45_000


@pytest.mark.full
@pytest.mark.deadline(300)
def test_1000_hosts_from_a_shell_with_few_descriptors(podrun, pods):
    pod = pods("--hosts", "1000")
    pod.move_in(podrun)
    podrun.wrapper = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"]
    assert by_rank(podrun.ok(*pod.options, "--retries", "5", *PATIENT, "--", "echo $POD_HOST", timeout=120)) == all_of(1000)
    few = podrun(*pod.options, "--", "ulimit -n")
    assert {lines[0] for lines in by_rank(few.stdout).values()} != {b"1024"}


def test_too_few_descriptors_are_said_before_anything_starts(podrun, pods):
    pod = pods("--hosts", "64")
    pod.move_in(podrun)
    podrun.wrapper = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"]
    started = podrun.directory / "started"
    failed = podrun(*pod.options, "--", "touch", started)
    assert failed.returncode == 2
    assert re.fullmatch(rb"podrun: 64 hosts need \d+ open files, .*ulimit.*\n", failed.stderr)
    assert not started.exists()


@pytest.mark.smoke
def test_a_soft_limit_of_descriptors_is_raised_for_podrun_only(podrun, pods):
    pod = pods("--hosts", "64")
    pod.move_in(podrun)
    podrun.wrapper = ["sh", "-c", 'ulimit -Sn 40; exec "$@"', "sh"]
    assert by_rank(podrun.ok(*pod.options, *PATIENT, "--", "echo $POD_HOST")) == all_of(64)
    assert podrun.ok("-N", "-H", "local", "--", "ulimit -Sn") == b"40\n"


# Addresses. In /etc/hosts of these runs `both` is ::1 and 127.0.0.1.

LOOPBACKS = ["127.0.0.1", *(["::1"] if os.path.exists("/proc/net/if_inet6") else [])]


@pytest.fixture
def name_with_two_addresses(podrun):
    hosts = podrun.directory / "hosts"
    hosts.write_text("127.0.0.1 localhost\n::1 both\n127.0.0.1 both\n")
    podrun.wrapper = [*private_mounts(), "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)]
    return "both"


@pytest.fixture(params=LOOPBACKS)
def loopback(request, pods, podrun):
    """The one loopback address on which there is a server, and its port."""
    pod = pods("--hosts", "1", "--sshd", f"ListenAddress {request.param}")
    pod.move_in(podrun)
    return request.param, pod.port


def server_address(podrun, *args):
    return podrun.ok("-N", *args, "--", "echo $SSH_CONNECTION").split()[2].decode()


def test_either_kind_of_address(podrun, loopback):
    address, port = loopback
    written = f"[{address}]" if ":" in address else address
    assert server_address(podrun, "-H", f"{written}:{port}") == address
    assert server_address(podrun, "-H", address, "--port", str(port)) == address
    known_hosts = podrun.home / ".ssh" / "known_hosts"  # hashed, if the system's ssh_config says so
    found = subprocess.run(["ssh-keygen", "-F", f"[{address}]:{port}", "-f", known_hosts], capture_output=True, check=False)
    assert found.stdout.count(b"\n") == 2  # a comment and the key


def test_a_name_with_two_addresses_of_which_one_answers(podrun, loopback, name_with_two_addresses):
    address, port = loopback
    assert server_address(podrun, "-H", f"{name_with_two_addresses}:{port}") == address


def test_the_family_of_addresses_can_be_chosen(podrun, loopback, name_with_two_addresses):
    address, port = loopback
    right, wrong = ("inet6", "inet") if ":" in address else ("inet", "inet6")
    host = ("-H", f"{name_with_two_addresses}:{port}", "--retries", "0")
    assert server_address(podrun, *host, "-o", f"AddressFamily={right}") == address
    assert b"refused" in podrun(*host, "-o", f"AddressFamily={wrong}", "--", "true").stderr


def test_host0_is_an_address_of_its_own(podrun, pod):
    shown = by_rank(podrun.ok(*pod.options, "--", "echo $PODRUN_HOST0"))
    assert {lines[0].decode() for lines in shown.values()} == {pod.hosts[0]}


@pytest.mark.parametrize("claim", ["--evil=x", "192.0.2.1"])
def test_host0_on_this_machine_is_no_word_of_a_host(podrun, pods, claim):
    pod = pods("--hosts", "2", "--sshd", f'1:ForceCommand SSH_CONNECTION="{claim} 1 {claim} 22" exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    pod.move_in(podrun)
    shown = by_rank(podrun.ok("-H", f"local,{pod.addresses[1]}", "--", "echo $PODRUN_HOST0"))
    assert shown == {0: [b"127.0.0.1"], 1: [b"127.0.0.1"]}
