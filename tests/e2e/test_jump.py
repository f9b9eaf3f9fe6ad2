"""Manual, "SSH": hosts behind jump hosts (ProxyJump) and proxy commands, with real servers."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from events import Events, events, exits_so_far
from fault_table import DELIVER_EVERYTHING, LINES, NOTHING_STARTS, ROWS, check, plays, said_of_hosts
from pods import write_key
from support import Footprint, by_rank, sha256, wait_until

# The rows of docs/faults.md that are played here.
FAULTS = [
    "its jump host refuses the connection",
    "its jump host says nothing",
    "its jump host's key is not known (`-o StrictHostKeyChecking=yes`)",
    "its jump host does not reach it",
    "its jump host forwards nothing (AllowTcpForwarding)",
    "its jump host is lost",
    "its proxy command fails",
    "its proxy command is missing",
    "its proxy command hangs",
    "its proxy command is killed",
]

every_row_is_played = plays(FAULTS)

STUBBORN = "trap : TERM HUP; echo $PODRUN_RUN_ID; while :; do sleep 1; done"


def configure(podrun, *blocks):
    """Writes ~/.ssh/config: (host pattern, keyword=value...)."""
    text = "".join(f"Host {name}\n" + "".join(f"  {keyword} {value}\n" for keyword, value in keywords.items()) for name, keywords in blocks)
    config = podrun.home / ".ssh" / "config"
    config.write_text(text)
    config.chmod(0o600)


def check_nothing_starts(fault, ended, ranks):
    assert fault in FAULTS and not ended.lines
    said = said_of_hosts(ended)
    assert set(said) == set(ranks)
    for text in said.values():
        check(ROWS[fault], text, ended.returncode, NOTHING_STARTS)


def stages_of_bastion(ended):
    """Where the way to it failed, for the hosts that could not be reached."""
    assert all(event["jump_host"] == "bastion" for event in ended.exits.values())
    return {event["stage"] for event in ended.exits.values()}


def target(pod, rank, **keywords):
    return f"t{rank}", {"HostName": pod.hosts[rank], "Port": pod.port, **keywords}


def jump(address, name="bastion", **keywords):
    host, _, port = address.partition(":")
    return name, {"HostName": host, "Port": port, **keywords}


@pytest.fixture
def behind(podrun, pod, fault):
    """Seven hosts behind the eighth, which is behind a proxy of ours that counts: (options of podrun, the proxy)."""
    proxy = fault("--to", pod.addresses[7], "proxy")
    configure(podrun, jump(proxy.address, HostKeyAlias=f"[{pod.hosts[7]}]:{pod.port}"), *(target(pod, rank, ProxyJump="bastion") for rank in range(7)))
    return ("-H", "t[0-6]"), proxy


@pytest.mark.smoke
def test_all_hosts_share_one_connection_to_the_jump_host(podrun, behind):
    options, proxy = behind
    assert by_rank(podrun.ok(*options, "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in range(7)}
    assert len(proxy.connections) == 1


def test_a_single_host_behind_it(podrun, behind):
    _, proxy = behind
    assert podrun.ok("-H", "t3", "-N", "--", "echo $POD_HOST") == b"host3\n"
    assert len(proxy.connections) == 1


def test_the_jump_host_may_take_part(podrun, behind):
    _, proxy = behind
    assert by_rank(podrun.ok("-H", "t0,bastion", "--", "echo $POD_HOST")) == {0: [b"host0"], 1: [b"host7"]}
    assert len(proxy.connections) == 2


def test_bytes_pass_both_ways(podrun, behind):
    options, _ = behind
    data = os.urandom(300_000) * 20
    assert by_rank(podrun.ok(*options, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in range(7)}
    ended = podrun("-H", "t3", "-N", "-I", "--", "tee /dev/stderr", input=data)
    assert sha256(ended.stdout) == sha256(ended.stderr) == sha256(data)


@pytest.mark.timed
def test_nothing_is_left_behind_a_jump_host(podrun, behind):
    options, _ = behind
    run = podrun.start(*options, "--grace", "1", "--", "sh", "-c", STUBBORN)
    run.wait_for_output(b"\n", count=7)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)


@pytest.mark.timed
def test_hosts_whose_jump_host_is_lost(podrun, pod, behind):
    _, proxy = behind
    go_on = podrun.directory / "go-on"
    other = f"echo $PODRUN_RUN_ID; until [ -e '{go_on}' ]; do sleep 0.1; done; exec seq 20000"
    run = podrun.start("--json", "-H", f"t[0-6],{pod.addresses[7]}", "--grace", "1", "--", "sh", "-c", f"[ $PODRUN_RANK != 7 ] || {{ {other}; }}; {STUBBORN}")
    run.wait_for_output(b'"line"', count=8)
    proxy.tell("cut rst")
    wait_until(lambda: exits_so_far(run).keys() == {*range(7)}, what="told of")
    go_on.touch()
    ended = Events(run.wait())
    run_id = ended.start["run_id"]
    assert ended.shown[7] == [run_id.encode(), *LINES]
    for rank in range(7):
        check(ROWS["its jump host is lost"], said_of_hosts(ended)[rank], ended.returncode, DELIVER_EVERYTHING)
        assert ended.exits[rank]["jump_host"] == "bastion"
    Footprint(run_id).wait_until_gone(6)


def test_a_jump_host_that_refuses(podrun, pod):
    configure(podrun, jump("127.0.0.98:129"), *(target(pod, rank, ProxyJump="bastion") for rank in range(3)))
    ended = events(podrun, "-H", "t[0-2]", "--retries", "0", "--", "echo up")
    check_nothing_starts("its jump host refuses the connection", ended, range(3))


def test_a_jump_host_that_is_silent(podrun, pod, fault):
    silent = fault("silent")
    configure(podrun, jump(silent.address), *(target(pod, rank, ProxyJump="bastion") for rank in range(3)))
    ended = events(podrun, "-H", "t[0-2]", "--retries", "0", "-t", "5", "--", "echo up")
    check_nothing_starts("its jump host says nothing", ended, range(3))


def test_a_host_that_the_jump_host_does_not_reach(podrun, pod):
    refusing = ("t1", {"HostName": "127.0.0.98", "Port": 1, "ProxyJump": "bastion"})
    configure(podrun, jump(pod.addresses[7]), target(pod, 0, ProxyJump="bastion"), refusing)
    ended = events(podrun, "-H", "t[0-1]", "--retries", "0", "--skip-unreachable", "--", "echo up")
    assert ended.shown == {0: [b"up"]}
    assert ended.failures == {1: ("unreachable", "forwarding", "not_forwarded")}
    check_nothing_starts("its jump host does not reach it", events(podrun, "-H", "t[0-1]", "--retries", "0", "--", "echo up"), [1])


def test_hosts_that_fail_together_have_each_their_own_reason(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[7], "--delay", "0.3", "proxy")  # so that the answers come together
    refusing = [(f"r{i}", {"HostName": "127.0.0.98", "Port": 1, "ProxyJump": "bastion"}) for i in range(3)]
    elsewhere = [(f"u{i}", {"HostName": "255.255.255.255", "Port": 1, "ProxyJump": "bastion"}) for i in range(3)]
    configure(podrun, jump(proxy.address, HostKeyAlias=f"[{pod.hosts[7]}]:{pod.port}"), *refusing, *elsewhere)
    ended = events(podrun, "-H", "r0,u0,r1,u1,r2,u2", "--retries", "0", "--skip-unreachable", "--", "true")
    assert ended.failures.keys() == {*range(6)}
    for rank, event in ended.exits.items():
        if "could not connect" not in event["message"]:  # libssh knows the last one's only
            assert ("connection refused" in event["message"]) == (rank % 2 == 0), event


def test_a_forward_that_is_given_up_is_closed_when_it_comes(podrun, pod):
    """It would be a login under way on the target until the end of the run."""
    with socket.create_server(("127.0.1.9", 0), backlog=0) as listener:
        address, port = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:  # the queue is full: who connects now must try again
            filler.setblocking(False)
            filler.connect_ex((address, port))
        late = ("late", {"HostName": address, "Port": port, "ProxyJump": "bastion"})
        configure(podrun, jump(pod.addresses[7]), target(pod, 1, ProxyJump="bastion"), late)
        run = podrun.start("-H", "t1,late", "--skip-unreachable", "--retries", "0", "-t", "5", "--", "echo up; sleep 1000")
        run.wait_for_output(b"up\n")
        ours = {filler.getsockname() for filler in fillers}
        for filler in fillers:
            filler.close()
        listener.settimeout(30)
        while True:
            connection, peer = listener.accept()
            if peer not in ours:
                break
            connection.close()
        with connection:
            connection.settimeout(10)
            assert connection.recv(1) == b""
        run.signal(signal.SIGTERM)
        run.wait()


def test_a_jump_host_that_forwards_nothing(podrun, pods):
    pod = pods("--hosts", "3", "--sshd", "2:AllowTcpForwarding no")
    pod.move_in(podrun)
    configure(podrun, jump(pod.addresses[2]), *(target(pod, rank, ProxyJump="bastion") for rank in range(2)))
    ended = events(podrun, "-H", "t[0-1]", "--", "echo up")
    check_nothing_starts("its jump host forwards nothing (AllowTcpForwarding)", ended, range(2))
    assert all("AllowTcpForwarding" in event["message"] for event in ended.exits.values())


def test_an_unknown_jump_host_is_remembered(podrun, behind, pod):
    options, _ = behind
    known_hosts = podrun.home / ".ssh" / "known_hosts"
    others = [line for line in known_hosts.read_text().splitlines() if not line.startswith(f"[{pod.hosts[7]}]")]
    known_hosts.write_text("\n".join(others) + "\n")
    podrun.ok(*options, "--", "true")
    found = subprocess.run(["ssh-keygen", "-F", f"[{pod.hosts[7]}]:{pod.port}", "-f", known_hosts], capture_output=True, check=False)
    assert found.returncode == 0  # as plain text or hashed


def test_options_about_trust_hold_for_a_jump_host(podrun, behind, pod):
    options, proxy = behind
    known_hosts = podrun.home / ".ssh" / "known_hosts"
    elsewhere = known_hosts.rename(podrun.directory / "known")
    others = "".join(line for line in elsewhere.read_text().splitlines(keepends=True) if not line.startswith(f"[{pod.hosts[7]}]"))
    known_hosts.write_text(others)
    ended = events(podrun, *options, "-o", "StrictHostKeyChecking=yes", "--", "true")
    check_nothing_starts("its jump host's key is not known (`-o StrictHostKeyChecking=yes`)", ended, range(7))
    assert known_hosts.read_text() == others
    strict = ("-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={elsewhere}")
    assert by_rank(podrun.ok(*options, *strict, "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in range(7)}
    ended = events(podrun, *options, *strict, "-o", "HostKeyAlgorithms=rsa-sha2-512", "--retries", "0", "--", "true")
    assert stages_of_bastion(ended) == {"key_exchange"} and ended.returncode == 255


def test_no_check_of_the_target_is_no_reason_to_trust_a_changed_jump_host(podrun, behind, pod):
    options, _ = behind
    known_hosts = podrun.home / ".ssh" / "known_hosts"
    other = write_key(podrun.directory / "other").with_suffix(".pub").read_text()
    others = [line for line in known_hosts.read_text().splitlines(keepends=True) if not line.startswith(f"[{pod.hosts[7]}]")]
    known_hosts.write_text("".join(others) + f"[{pod.hosts[7]}]:{pod.port} {other}")
    ended = events(podrun, *options, "-o", "StrictHostKeyChecking=no", "--", "true")
    assert stages_of_bastion(ended) == {"host_key"} and ended.returncode == 255


def test_two_hops(podrun, pod, fault):
    first = fault("--to", pod.addresses[7], "proxy", addresses=["127.0.1.1"])
    second = fault("--to", pod.addresses[6], "proxy", addresses=["127.0.1.2"])
    configure(
        podrun,
        jump(first.address, "b1", HostKeyAlias=f"[{pod.hosts[7]}]:{pod.port}"),
        jump(second.address, "b2", HostKeyAlias=f"[{pod.hosts[6]}]:{pod.port}", ProxyJump="b1"),
        *(target(pod, rank, ProxyJump="b2") for rank in range(3)),
        *(target(pod, rank, ProxyJump="b1,b2") for rank in range(3, 6)),
    )
    assert by_rank(podrun.ok("-H", "t[0-5]", "--", "echo $POD_HOST")) == {rank: [b"host%d" % rank] for rank in range(6)}
    assert len(first.connections) in (1, 2)  # `b2` and `b1,b2` are two ways
    assert len(second.connections) == 2


def test_proxy_jump_on_the_command_line(podrun, pod, fault):
    proxy = fault("--to", pod.addresses[7], "proxy")
    configure(podrun, jump(proxy.address, "127.0.0.99", HostKeyAlias=f"[{pod.hosts[7]}]:{pod.port}"))
    assert by_rank(podrun.ok(*pod.on(0, 1), "-o", f"ProxyJump={proxy.address}", "--", "echo $POD_HOST")) == {0: [b"host0"], 1: [b"host1"]}
    assert len(proxy.connections) == 1


def test_a_circle_of_jump_hosts(podrun, pod):
    configure(podrun, target(pod, 0), ("*", {"ProxyJump": "bastion"}))
    ended = podrun("-H", "t0", "--", "true")
    assert ended.returncode == 2
    assert b'"bastion" loops back to itself' in ended.stderr


@pytest.mark.deadline(180)
def test_many_targets_and_few_startups(podrun, pods, fault):
    bastion = pods("--hosts", "1", "--sshd", "MaxStartups 10:30:100")
    targets = pods("--hosts", "128")
    targets.move_in(podrun)
    # A jump host of another pod has a key of its own.
    configure(podrun, jump(bastion.addresses[0], IdentityFile=bastion.directory / "user" / ".ssh" / "id_ed25519", StrictHostKeyChecking="accept-new", UserKnownHostsFile=podrun.home / ".ssh" / "known_bastion"),
              *(target(targets, rank, ProxyJump="bastion") for rank in range(128)))  # fmt: skip
    ended = podrun.ok("-H", "t[0-127]", "-t", "60", "--retries", "0", "--", "echo $POD_HOST")
    assert by_rank(ended) == {rank: [b"host%d" % rank] for rank in range(128)}


# ProxyCommand

CONNECT = f"""{sys.executable} -c '
import os, socket, sys, threading
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := peer.recv(65536):
    os.write(1, data)
'"""


@pytest.fixture
def connect(podrun):
    """A proxy command, as config text."""
    script = podrun.directory / "connect"
    script.write_text("#!/bin/sh\necho $$ >>\"$0.pids\"\necho 'WARNING: slow tunnel' >&2\nexec " + CONNECT + ' "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.smoke
def test_a_proxy_command(podrun, pod, connect):
    configure(podrun, *(target(pod, rank, ProxyCommand=f"{connect} %h %p") for rank in range(3)))
    ended = podrun("-H", "t[0-2]", "--", "echo $POD_HOST")
    assert ended.returncode == 0, ended.stderr
    assert by_rank(ended.stdout) == {rank: [b"host%d" % rank] for rank in range(3)}
    assert not ended.stderr
    pids = [int(pid) for pid in (podrun.directory / "connect.pids").read_text().split()]
    assert len(pids) == 3
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), 10, "the proxy commands gone")


def test_a_proxy_command_passes_bytes(podrun, pod, connect):
    configure(podrun, target(pod, 0, ProxyCommand=f"{connect} %h %p"))
    data = os.urandom(300_000) * 20
    ended = podrun("-H", "t0", "-N", "-I", "--", "tee /dev/stderr", input=data)
    assert sha256(ended.stdout) == sha256(ended.stderr) == sha256(data)


def test_words_of_a_server_that_turns_podrun_away_come_through_a_tunnel(podrun, pod, fault, connect):
    host, _, port = fault("turned-away").address.partition(":")
    away = {"HostName": host, "Port": port}
    configure(podrun, jump(pod.addresses[7]), ("t0", {**away, "ProxyJump": "bastion"}), ("t1", {**away, "ProxyCommand": f"{connect} %h %p"}),
              ("t2", {**away, "ProxyCommand": f"sh -c '{connect} %h %p; echo gone >&2; exit 1'"}), jump(f"{host}:{port}", "strict"), target(pod, 3, ProxyJump="strict"))  # fmt: skip
    said = 'closed by the server: it says "Not allowed at this time"'
    ended = events(podrun, "-H", "t[0-3]", "--retries", "0", "--", "true")
    assert [ended.exits[rank]["message"] for rank in range(4)] == [said, said, f"{said} (ProxyCommand: exit 1: gone)", said]
    assert {event["stage"] for event in ended.exits.values()} == {"ssh_banner"}
    assert ended.exits[3]["jump_host"] == "strict"


def test_a_proxy_command_that_fails(podrun, pod):
    failing = "sh -c 'echo starting >&2; echo \"ERROR: (gcloud.compute.start-iap-tunnel) 4003: failed to connect to backend\" >&2; exit 1'"
    configure(podrun, *(target(pod, rank, ProxyCommand=failing) for rank in range(2)))
    ended = events(podrun, "-H", "t[0-1]", "--retries", "0", "--", "echo up")
    check_nothing_starts("its proxy command fails", ended, range(2))
    assert all("exit 1: ERROR: (gcloud.compute.start-iap-tunnel) 4003: failed to connect to backend" in event["message"] for event in ended.exits.values())


def test_a_proxy_command_that_is_missing(podrun, pod):
    configure(podrun, target(pod, 0, ProxyCommand="/nonexistent/proxy %h"))
    ended = events(podrun, "-H", "t0", "--retries", "0", "--", "echo up")
    check_nothing_starts("its proxy command is missing", ended, [0])
    assert "/nonexistent/proxy" in ended.exits[0]["message"]


def test_a_proxy_command_that_hangs_is_quoted(podrun, pod):
    configure(podrun, target(pod, 0, ProxyCommand="sh -c 'echo WARNING: waiting for a token >&2; exec sleep 100'"))
    ended = events(podrun, "-H", "t0", "--retries", "0", "-t", "2", "--", "echo up")
    check_nothing_starts("its proxy command hangs", ended, [0])
    assert "WARNING: waiting for a token" in ended.exits[0]["message"]


def test_a_proxy_command_that_is_killed(podrun, pod, connect):
    configure(podrun, *(target(pod, rank, **({"ProxyCommand": f"{connect} %h %p"} if rank == 0 else {})) for rank in range(2)))
    go_on = podrun.directory / "go-on"
    run = podrun.start("--json", "-H", "t[0-1]", "--", f"echo up; until [ -e '{go_on}' ]; do sleep 0.1; done; seq 20000")
    run.wait_for_output(b'"up"', count=2)
    os.kill(int((podrun.directory / "connect.pids").read_text()), signal.SIGKILL)
    wait_until(lambda: exits_so_far(run).keys() == {0}, what="told of")
    go_on.touch()
    ended = Events(run.wait())
    assert ended.shown[1] == [b"up", *LINES]
    check(ROWS["its proxy command is killed"], said_of_hosts(ended)[0], ended.returncode, DELIVER_EVERYTHING)


@pytest.mark.timed
def test_a_proxy_command_is_ended_with_the_run(podrun, pod, connect):
    configure(podrun, *(target(pod, rank, ProxyCommand=f"{connect} %h %p") for rank in range(2)))
    run = podrun.start("-H", "t[0-1]", "--grace", "1", "--", "sh", "-c", STUBBORN)
    run.wait_for_output(b"\n", count=2)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    pids = [int(pid) for pid in (podrun.directory / "connect.pids").read_text().split()]
    run.signal(signal.SIGKILL)
    footprint.wait_until_gone(6)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), 10, "the proxy commands gone")
