"""Manual, "SSH": what `ssh host` does by ~/.ssh/config, podrun does."""

import getpass
import socket
import subprocess
import time

import pytest

from events import events
from support import Podrun, by_rank, limit

ME = getpass.getuser()


@pytest.fixture
def alias(podrun, pod):
    """Hosts tpu-0 to tpu-7, known to ~/.ssh/config alone: addresses, port, user and key."""
    ssh = podrun.home / ".ssh"
    ssh.joinpath("id_ed25519").rename(ssh / "pod_key")
    ssh.joinpath("id_ed25519.pub").unlink()
    blocks = [f"Host tpu-{rank}\n  HostName {host}\n\n" for rank, host in enumerate(pod.hosts)]
    config = ssh / "config"
    config.write_text("".join(blocks) + f"Host tpu-*\n  User {ME}\n  Port={pod.port}\n  IdentityFile ~/.ssh/pod_key\n")
    return config


def prepend(config, text):
    config.write_text(text + config.read_text())


def hosts_of(podrun, *args):
    return by_rank(podrun.ok(*args, "--", "echo $POD_HOST"))


def refused(podrun, *args):
    """Runs a command that must end with wrong usage and one line, before anything is started; returns the line."""
    started = podrun.directory / "started"
    failed = podrun(*args, "--", "touch", started)
    assert failed.returncode == 2 and failed.stdout == b"", failed
    assert not started.exists()
    assert failed.stderr.startswith(b"podrun: ") and failed.stderr.count(b"\n") == 1, failed
    return failed.stderr.decode()[len("podrun: ") : -1]


@pytest.mark.smoke
def test_a_pod_of_aliases_needs_no_option(podrun, alias):
    (podrun.home / "podips.txt").write_text("".join(f"tpu-{rank}\n" for rank in range(8)))
    assert hosts_of(podrun) == {rank + 1: [b"host%d" % rank] for rank in range(8)}


def test_ssh_says_the_same(podrun, alias):
    said = subprocess.run(["ssh", "-G", "-F", alias, "tpu-3"], capture_output=True, text=True, check=True).stdout
    assert "hostname 127.0.0.5\n" in said and "identityfile ~/.ssh/pod_key\n" in said
    assert hosts_of(podrun, "-H", "tpu-[3,0]") == {0: [b"host3"], 1: [b"host0"]}


def test_the_command_line_and_the_list_are_nearer(podrun, alias, pod):
    prepend(alias, f"Host wrong-*\n  HostName {pod.hosts[2]}\n  User nobody-here\n  Port 1\n  IdentityFile ~/.ssh/pod_key\n")
    by_list = ("-H", f"{ME}@wrong-a:{pod.port}")
    by_options = ("-H", "wrong-a", "-l", ME, "--port", str(pod.port))
    by_keywords = ("-H", "nobody-here@wrong-a:2002", "-o", f"User={ME}", "-o", f"Port={pod.port}")
    for options in (by_list, by_options, by_keywords):
        assert hosts_of(podrun, *options) == {0: [b"host2"]}


def test_a_key_that_is_not_there_is_passed_over(podrun, alias):
    prepend(alias, "IdentityFile ~/.ssh/of_another_machine\nCertificateFile ~/.ssh/nor_this\n")
    assert hosts_of(podrun, "-H", "tpu-1") == {0: [b"host1"]}
    failed = podrun("-H", "tpu-1", "-o", "IdentityFile=~/.ssh/named_here", "--", "true")
    assert failed.returncode == 2 and b".ssh/named_here" in failed.stderr


def test_no_key_of_the_configuration_is_there(podrun, alias):
    (podrun.home / ".ssh" / "pod_key").unlink()
    failed = podrun("-H", "tpu-1", "--", "true")
    assert failed.returncode == 255
    assert b"there is no key to offer" in failed.stderr and b"/.ssh/pod_key" in failed.stderr, failed


def test_host_keys_go_by_their_alias(podrun, alias, pod):
    known_hosts = podrun.home / ".ssh" / "known_hosts"
    key = " ".join(known_hosts.read_text().split()[1:3])
    pod_hosts = podrun.home / ".ssh" / "pod_hosts"
    pod_hosts.write_text(f"compute.4 {key}\n")
    prepend(alias, "Host tpu-4\n  HostKeyAlias compute.4\nHost *\n  UserKnownHostsFile ~/.ssh/pod_hosts\n  StrictHostKeyChecking yes\n")
    assert hosts_of(podrun, "-H", "tpu-4") == {0: [b"host4"]}
    failed = events(podrun, "-H", "tpu-4,tpu-5", "--", "true")
    assert failed.returncode == 255 and failed.failures == {1: ("unreachable", "host_key", "host_key_unknown")}
    assert podrun.ok("hosts", "-H", "tpu-4", "--forget-keys").decode() == f"forgot 1 key in {pod_hosts}\n"


def test_includes_tokens_and_match(podrun, alias, pod):
    ssh = podrun.home / ".ssh"
    ssh.joinpath("pod_key").rename(ssh / f"key-{ME}-{pod.port}")
    config_d = ssh / "config.d"
    config_d.mkdir()
    config_d.joinpath("keys").write_text('Match host 127.* exec "test %n = tpu-6"\n  IdentityFile ~/.ssh/key-%r-%p\n')
    alias.write_text(alias.read_text() + "Include config.d/*\n")
    assert hosts_of(podrun, "-H", "tpu-6") == {0: [b"host6"]}
    assert podrun("-H", "tpu-7", "--", "true").returncode == 255


def test_another_configuration(podrun, alias):
    elsewhere = podrun.directory / "elsewhere"
    alias.rename(elsewhere)
    assert hosts_of(podrun, "-F", elsewhere, "-H", "tpu-2") == {0: [b"host2"]}
    alias.write_text("Nonsense yes\n")
    assert hosts_of(podrun, "-F", elsewhere, "-H", "tpu-2") == {0: [b"host2"]}
    assert refused(podrun, "-F", podrun.directory / "missing", "-H", "tpu-2").startswith("-F: there is no file ")


@pytest.mark.parametrize(
    "text, said",
    [
        ("\nHsot tpu-*\n", '~/.ssh/config:2: unknown keyword "Hsot" (did you mean Host?)'),
        ("Host others\n  Port 22x\n", '~/.ssh/config:2: bad Port "22x" (expected 1-65535)'),
        ("BindInterface eth1\n", '~/.ssh/config:1: "BindInterface eth1" is not supported (BindAddress takes the address of the interface)'),
        ("IdentityFile ~/.ssh/%z\n", '~/.ssh/config:1: bad token "%z" in "~/.ssh/%z" (expected %C %L %d %h %i %j %k %l %n %p %r %u or %%)'),
        ('User "me\n', '~/.ssh/config:1: a quote is not closed: "me (add the second one)'),
    ],
)
def test_an_error_names_its_line(podrun, alias, text, said):
    prepend(alias, text)
    assert refused(podrun, "-H", "tpu-0") == said
    assert podrun("-H", "local", "--", "true").returncode == 0  # which nobody needs SSH for
    assert podrun("-H", "x", "--via", "env HOST={host}", "--", "true").returncode == 0


def test_what_is_not_supported_matters_only_where_it_applies(podrun, alias):
    prepend(alias, "Host gate\n  BindInterface eth1\n")
    assert hosts_of(podrun, "-H", "tpu-0") == {0: [b"host0"]}
    assert "config:2: " in refused(podrun, "-H", "tpu-0,gate")


def test_nobody_else_may_write_to_it(podrun, alias):
    alias.chmod(0o666)
    assert "bad owner or permissions" in refused(podrun, "-H", "tpu-0")


def test_verbose_tells_what_changes_nothing(podrun, alias):
    prepend(alias, "ForwardAgent yes\nForwardAgent no\n")
    said = podrun("-v", "-H", "tpu-0,tpu-1", "--", "true").stderr
    assert said.count(b"podrun: ~/.ssh/config:1: ForwardAgent has no effect here: ignored\n") == 1
    assert b"ForwardAgent" not in podrun("-H", "tpu-0", "--", "true").stderr


@pytest.mark.timed
def test_the_configured_time_to_connect(podrun, alias):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        prepend(alias, f"Host silent\n  HostName 127.0.0.1\n  Port {silent.getsockname()[1]}\n  ConnectTimeout 1\n  ConnectionAttempts 1\n")
        start = time.monotonic()
        failed = events(podrun, "-H", "silent", "--", "true")
        assert failed.returncode == 255 and failed.exits[0]["message"] == "timed out after 1 s"
        assert time.monotonic() - start < limit(8)


def test_compression(tmp_path, pods, fault):
    """Of what is sent both ways; a server that knows none goes on without."""
    carried = []
    for compression, server in (("no", "yes"), ("yes", "yes"), ("yes", "no")):
        pod = pods("--hosts", "1", "--sshd", f"Compression {server}")
        directory = tmp_path / str(len(carried))
        directory.mkdir()
        podrun = Podrun(directory)
        pod.move_in(podrun)
        proxy = fault("--to", pod.addresses[0], "proxy", addresses=[f"127.0.0.{100 + len(carried)}"])
        output = podrun.ok("-o", f"Compression={compression}", "-H", proxy.address, "-N", "--", "seq 100000")
        assert output.split() == [b"%d" % number for number in range(1, 100001)]
        carried.append(proxy.connections[0])
    plain, compressed, refused = carried
    assert compressed["down"] < plain["down"] / 2 and compressed["up"] < plain["up"] * 0.7, carried
    assert refused["down"] > plain["down"] * 0.9
