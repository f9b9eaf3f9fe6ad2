"""The static binary ($PODRUN_STATIC_BIN) in a root directory with nothing but keys, /etc/passwd and /etc/resolv.conf, and in one with
an older distribution ($PODRUN_OLD_ROOT). `.ci/run --full` makes both."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from metadata import Metadata
from support import by_rank, limit

BINARY = os.environ.get("PODRUN_STATIC_BIN")
pytestmark = pytest.mark.skipif(not BINARY or os.geteuid() != 0, reason="needs $PODRUN_STATIC_BIN and root")


class Root:
    def __init__(self, directory, pod):
        """In this directory, which is empty or has a distribution."""
        self.directory = directory
        (directory / "etc").mkdir(parents=True, exist_ok=True)
        shutil.copy(BINARY, directory / "podrun")
        shutil.rmtree(directory / "home", ignore_errors=True)
        shutil.copytree(pod.directory / "user" / ".ssh", directory / "home" / ".ssh")
        if not (directory / "etc/passwd").exists():
            (directory / "etc/passwd").write_text("root:x:0:0::/home:/bin/sh\n")
        (directory / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
        (directory / "etc/hosts").write_text(f"{pod.hosts[1]} by-name\n")

    def run(self, *args, env=None):
        words = ["/usr/sbin/chroot", self.directory, "/podrun", *map(str, args)]
        return subprocess.run(words, env={"HOME": "/home", "PATH": "/bin", **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(30), check=False)

    def ok(self, *args, **options):
        ended = self.run(*args, **options)
        assert ended.returncode == 0, ended
        return ended.stdout


@pytest.fixture(params=["empty", "older"])
def root(request, tmp_path, pod):
    if request.param == "empty":
        return Root(tmp_path / "root", pod)
    if "PODRUN_OLD_ROOT" not in os.environ:
        pytest.skip("needs $PODRUN_OLD_ROOT")
    return Root(Path(os.environ["PODRUN_OLD_ROOT"]), pod)


def test_needs_no_library():
    assert b"statically linked" in subprocess.run(["file", "-L", BINARY], capture_output=True, check=True).stdout


def test_runs_a_command_on_four_hosts(root, pod):
    host = socket.gethostname().encode()
    assert by_rank(root.ok(*pod.on(0, 1, 2, 3), "--", "hostname")) == {rank: [host] for rank in range(4)}


def test_finds_a_host_by_its_name(root, pod):
    assert root.ok("-N", "-H", f"by-name:{pod.port}", "-o", "StrictHostKeyChecking=no", "--", "echo", "hi") == b"hi\n"
    unknown = root.run("-H", "no-such-host.invalid", "--retries", "0", "--", "true")
    assert unknown.returncode == 255 and b"name look-up" in unknown.stderr


def test_reads_a_configuration(root, pod):
    (root.directory / "home/.config/podrun").mkdir(parents=True)
    (root.directory / "home/.config/podrun/config.yaml").write_text(f"pods:\n  two: {{hosts: ['{pod.addresses[0]}', '{pod.addresses[1]}']}}\n")
    assert by_rank(root.ok("-p", "two", "--", "echo", "hi")) == {0: [b"hi"], 1: [b"hi"]}


def test_asks_the_metadata_server(root):
    server = Metadata({"worker-network-endpoints": "unknown:8470:10.0.0.1,unknown:8470:10.0.0.2", "agent-worker-number": "0"})
    try:
        hosts = json.loads(root.ok("hosts", "--json", "-i", env={"GCE_METADATA_IP": server.address}))["hosts"]
    finally:
        server.end()
    assert [host["worker"] for host in hosts] == [0, 1]


def test_asks_an_agent(root, pod, agent, podrun):
    agent(root.directory / "home/.ssh/id_ed25519")
    (root.directory / "home/.ssh/id_ed25519").unlink()
    inside = root.directory / "agent"
    inside.touch()
    subprocess.run(["mount", "--bind", podrun.env["SSH_AUTH_SOCK"], inside], check=True)
    try:
        assert root.ok("-N", *pod.on(0), "--", "echo", "hi", env={"SSH_AUTH_SOCK": "/agent"}) == b"hi\n"
    finally:
        subprocess.run(["umount", inside], check=True)


@pytest.mark.parametrize("command", ["hosts", "check", "config"])
def test_has_the_commands_for_hosts(root, pod, command):
    assert root.ok(*pod.on(0, 1), command)


@pytest.mark.parametrize("command", ["help", "help all", "version", "completion bash"])
def test_has_the_other_commands(root, command):
    assert root.ok(*command.split())
