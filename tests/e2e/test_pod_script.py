"""tests/pod/pod itself: what the other tests and the quickstart take for granted."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import private_mounts
from pods import POD, Pod
from support import by_rank, marked_processes, wait_until


@pytest.mark.smoke
def test_an_isolated_host_has_its_own_everything(podrun, isolated):
    assert isolated.ssh(0, "hostname; echo $POD_HOST; ls /dev/accel*; cat /proc/1/cmdline | tr '\\0' ' '").stdout.split()[:6] == [
        b"host0",
        b"host0",
        *(b"/dev/accel%d" % number for number in range(4)),
    ]
    assert isolated.ssh(0, "touch ~/mine /tmp/mine /dev/mine").returncode == 0
    assert isolated.ssh(1, "ls -d ~/mine /tmp/mine /dev/mine").stdout == b""
    assert (isolated.directory / "home" / "0" / "mine").exists()
    assert (isolated.directory / "host" / "0" / "tmp" / "mine").exists()
    isolated.ssh(0, "nohup sleep 3001 >/dev/null 2>&1 &")
    wait_until(lambda: b"sleep\x003001\0" in isolated.processes(0).values())
    assert b"sleep\x003001\0" not in isolated.processes(1).values()
    assert isolated.ssh(1, "pgrep -x sleep").stdout == b""
    assert isolated.ssh(0, "exec 5</dev/accel2; readlink /proc/$$/fd/5").stdout == b"/dev/accel2\n"
    assert by_rank(podrun.ok(*isolated.options, "--", "hostname")) == {0: [b"host0"], 1: [b"host1"]}


@pytest.mark.parametrize("options", [(), ("--isolated",), ("--server", "dropbear")], ids=" ".join)
def test_down_ends_everything_and_it_can_come_up_again(tmp_path, options):
    for _round in range(2):
        pod = Pod(tmp_path / "pod", "--hosts", "2", *options)
        command = ["ssh", "-F", pod.directory / "ssh_config", pod.hosts[1], f"echo up; exec env MARK={shlex.quote(str(pod.directory))} tail -f /dev/null"]
        session = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert session.stdout.readline() == b"up\n"
        pod.down()
        pod.down()
        assert session.wait(10) == 255
        session.stdout.close()
        wait_until(lambda: not marked_processes(tmp_path / "pod"))


def test_only_loopback_is_listened_on(pod):
    # In /proc/net: `sl local_address rem_address st …`, with the address as one number of the machine's byte order.
    lines = [line.split() for family in ("tcp", "tcp6") for line in Path("/proc/net", family).read_text().splitlines()]
    listening = [line[1] for line in lines if line[1].endswith(f":{pod.port:04X}") and line[3] == "0A"]
    expected = [f"{int.from_bytes(map(int, host.split('.')), sys.byteorder):08X}:{pod.port:04X}" for host in pod.hosts]
    assert sorted(listening) == sorted(expected)


def test_a_port_that_is_taken_is_said(tmp_path, pod):
    failed = subprocess.run([POD, "up", tmp_path / "second", "--port", str(pod.port)], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr == f"pod: port {pod.port} is taken (leave out --port to have a free one chosen)\n"


@pytest.mark.parametrize("wrong", [["--hosts", "0"], ["--hosts", "x"], ["--server", "telnetd"], ["--host-keys", "dsa"], ["--what"], ["--port"]], ids=" ".join)
def test_wrong_use_is_said(tmp_path, wrong):
    failed = subprocess.run([POD, "up", tmp_path / "pod", *wrong], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert re.fullmatch(r"pod: .*\n", failed.stderr)
    assert not (tmp_path / "pod").exists()


@pytest.fixture
def place_of_somebody():
    """A directory of user 4711 that this user can reach, wherever the tests run."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(place, 4711, 4711)
    yield place
    shutil.rmtree(place)


@pytest.mark.parametrize("options", [(), ("--isolated",), ("--server", "dropbear")][: 3 if os.geteuid() == 0 else 0], ids=str)
def test_without_root(podrun, place_of_somebody, options):
    place = place_of_somebody
    shutil.copy(podrun.binary, place / "podrun")
    shutil.copytree(POD.parent, place / "scripts")
    (place / "passwd").write_text(f"{Path('/etc/passwd').read_text()}somebody:x:4711:4711::{place}/home:/bin/bash\n")
    script = f"""
mount --bind {place}/passwd /etc/passwd || exit
exec setpriv --reuid 4711 --regid 4711 --clear-groups env -i PATH="$PATH" sh -c '
  mkdir home
  scripts/pod up pod --hosts 2 {" ".join(options)} || exit
  HOME=$PWD/pod/user ./podrun --hostfile pod/pod.txt -- "id -un; echo \\$POD_HOST"
  status=$?
  scripts/pod down pod
  exit $status'
"""
    ended = subprocess.run([*private_mounts(), "sh", "-c", script], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert by_rank(ended.stdout) == {rank: [b"somebody", b"host%d" % rank] for rank in (0, 1)}
