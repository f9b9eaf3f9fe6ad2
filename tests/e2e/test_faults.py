"""docs/faults.md, row by row: what podrun says of a host with a fault before the start, and that nothing starts elsewhere."""

import os
import shutil
import signal
import sys
import time
from typing import NamedTuple

import pytest

import test_faults_running as running
import test_jump as jump
import test_passwords as passwords
import test_pull_faults as pull
import test_push_faults as push
import test_push_from_host as push_from_host
import test_spread as spread
import test_ssh_host_keys as host_keys
import test_ssh_login as login
import test_via as via
from conftest import private_mounts
from events import Events, events
from fault_table import ARE_ENDED, DELIVER_EVERYTHING, LINES, NOTHING_STARTS, ONE_TRY, ROWS, check, plays, said_by_podrun, said_of_hosts, servers
from pods import Fault
from support import SOON, Podrun, by_rank, limit, wait_until

SECONDS = 5  # -t

# Before the start. The servers of tests/fault that stand for a host:
SERVERS = {
    "what is sent there gets lost": "never-accepting",
    "it says nothing": "silent",
    "it closes the connection at once": "closing",
    "it resets the connection at once": "resetting",
    "too many logins are under way there (MaxStartups)": "max-startups",
    "the same in OpenSSH 10, or it turns this address away (PerSourcePenalties)": "turned-away",
    "a telnet server answers": "telnet",
    "a web server answers": "http",
    "it sends garbage": "garbage",
    "its text before the banner never ends": "endless-banner",
    "its banner comes byte by byte and never ends": "dribbling-banner",
    "it closes after its banner": "banner-closing",
    "it says nothing after its banner": "banner-silent",
    "it sends garbage after its banner": "banner-garbage",
    "it has no algorithm in common with podrun": "kex-of-tomorrow",
    "it closes after the key exchange": "closes-at-service-request",
    "it closes when the user logs in": "closes-at-login",
    "it never answers the login": "never-answers-login",
    "it refuses the login": "refuses-login",
    "it closes after the login": "closes-at-channel",
    "it reads nothing after the login": "reads-nothing",
    "it refuses a channel": "refuses-channel",
    "it closes after opening a channel": "closes-at-exec",
    "it refuses to run commands": "refuses-exec",
    "it never answers the request to run a command": "never-answers-exec",
    "it closes after accepting a command": "closes-after-exec",
    "it accepts a command and runs nothing": "says-nothing",
    "what it runs ends at once, without an exit status": "ends-without-status",
    "what it runs is killed at once": "ends-by-signal",
    "what it runs complains on standard error and never starts": "floods-stderr",
}
# The direction, and options of a proxy before a real one; after how many bytes: in the banner, the key exchange, the login, the start.
BYTES = (10, 500, 1500, 1700)
WAYS_IN = {
    "it falls silent during the start": ("down", "--stall-after"),
    "it hears nothing more during the start": ("up", "--stall-after"),
    "the connection is reset during the start": ("down up", "--cut-by", "rst", "--cut-after"),
    "the connection is closed during the start": ("down up", "--cut-by", "fin", "--cut-after"),
    "a byte arrives changed during the start": ("down", "--corrupt-at"),
    "a byte is lost during the start": ("down", "--lose-at"),
    "a byte arrives changed there during the start": ("up", "--corrupt-at"),
    "a byte for it is lost during the start": ("up", "--lose-at"),
}
OTHERS_BEFORE = ["its name is unknown", "nothing listens there", "its sshd is stopped before the login", "its sshd allows no sessions (MaxSessions 0)"]


def broken_hosts(pod, pods, fault):
    """A host or more for each fault, as {fault: [address]}."""
    hosts = {name: [address] for name, address in zip(SERVERS, fault(",".join(SERVERS.values()), addresses=numbered(100, len(SERVERS))).addresses)}
    for row, (name, (directions, *options)) in enumerate(WAYS_IN.items()):
        points = [(direction, at) for direction in directions.split() for at in BYTES]
        for (direction, at), to, address in zip(points, pod.addresses, numbered(150 + 10 * row, len(points))):
            proxy = fault("--direction", direction, "--to", to, *options, at, "proxy", addresses=[address])
            hosts.setdefault(name, []).append(proxy.address)
    stopped = pods("--hosts", "1")
    for pid in servers(stopped):
        os.kill(pid, signal.SIGSTOP)
    hosts["its name is unknown"] = ["no-such-host.invalid"]
    hosts["nothing listens there"] = [f"{pod.hosts[4]}:1"]
    hosts["its sshd is stopped before the login"] = stopped.addresses
    without_sessions = pods("--hosts", "2", "--sshd", "1:MaxSessions 0")
    without_sessions.allow(pod.directory / "user" / ".ssh" / "id_ed25519.pub")
    hosts["its sshd allows no sessions (MaxSessions 0)"] = [without_sessions.addresses[1]]
    hosts["it refuses the login"].append(f"nobody-here@{pod.addresses[5]}")
    return hosts


def numbered(first, count):
    return [f"127.0.0.{number}" for number in range(first, first + count)]


class Before(NamedTuple):
    """All of them and two hosts that are well, once as they are and once with --skip-unreachable; what was said each time."""

    ranks: dict
    well: list
    failed: Events
    skipped: Events
    said: list
    seconds: float
    started: bool


@pytest.fixture(scope="module")
def before(pods, tmp_path_factory):
    podrun = Podrun(tmp_path_factory.mktemp("before"))
    pod = pods()
    pod.move_in(podrun)
    faults = []

    def fault(*words, **options):
        faults.append(Fault(*words, **options))
        return faults[-1]

    try:
        broken = broken_hosts(pod, pods, fault)
        addresses = [pod.addresses[6], *(address for each in broken.values() for address in each), pod.addresses[7]]
        ranks = {name: [addresses.index(address) for address in each] for name, each in broken.items()}
        command = f"touch '{podrun.directory}/started'; seq 20000"
        run = ("-H", ",".join(addresses), "-t", str(SECONDS), *ONE_TRY)
        begin = time.monotonic()
        failed = events(podrun, *run, "--", command)
        seconds = time.monotonic() - begin
        started = (podrun.directory / "started").exists()
        skipped = events(podrun, *run, "--skip-unreachable", "--", command)
        said = [said_of_hosts(ended) for ended in (failed, skipped)]
        yield Before(ranks, [0, len(addresses) - 1], failed, skipped, said, seconds, started)
    finally:
        for pid in servers(pods("--hosts", "1")):
            os.kill(pid, signal.SIGCONT)
        for each in faults:
            each.end()


@pytest.mark.parametrize("name", [*SERVERS, *WAYS_IN, *OTHERS_BEFORE])
def test_before_the_start(before, name):
    for ended, said in zip((before.failed, before.skipped), before.said):
        for rank in before.ranks[name]:
            check(ROWS[name], said.get(rank), ended.returncode, NOTHING_STARTS)


@pytest.mark.timed
def test_they_fail_side_by_side(before):
    assert before.seconds < limit(3 * SECONDS)


def test_nothing_starts_where_one_is_not_ready(before):
    assert before.failed.shown == {}
    assert not before.started
    assert not set(before.well) & before.said[0].keys()


def test_the_others_run_with_skip_unreachable(before):
    assert before.skipped.shown == dict.fromkeys(before.well, LINES)


@pytest.mark.smoke
@pytest.mark.parametrize("behaviour", ["garbage", "refuses-exec"])
def test_one_is_not_ready(podrun, pod, fault, behaviour):
    [name] = [name for name, each in SERVERS.items() if each == behaviour]
    run = ("-H", f"{pod.addresses[0]},{fault(behaviour).address},{pod.addresses[2]}", *SOON, *ONE_TRY)
    failed = events(podrun, *run, "--", "echo $POD_HOST")
    check(ROWS[name], said_of_hosts(failed)[1], failed.returncode, NOTHING_STARTS)
    assert not failed.lines
    ended = events(podrun, *run, "--skip-unreachable", "--", "echo $POD_HOST")
    assert ended.shown == {0: [b"host0"], 2: [b"host2"]}
    assert ended.summary["failed"] == [1] and ended.returncode == 255


# On this machine


def own_outdir(podrun, pod, wrapper):
    """What podrun says when its files have no room, and its exit status. All hosts deliver everything elsewhere."""
    podrun.wrapper = wrapper
    (podrun.directory / "logs").mkdir()
    ended = podrun(*pod.on(0, 1, 2), "--outdir", "logs", "--", "seq 20000")
    assert by_rank(ended.stdout) == dict.fromkeys(range(3), LINES)
    [line] = said_by_podrun(ended.stderr)
    return line, ended.returncode, DELIVER_EVERYTHING


def test_a_full_disk(podrun, pod):
    small = 'mount -t tmpfs -o size=64k none "$0/logs" && exec "$@"'
    check(ROWS["the disk under `--outdir` is full"], *own_outdir(podrun, pod, [*private_mounts(), "sh", "-c", small, podrun.directory]))


def test_a_limit_of_file_size(podrun, pod):
    wrapper = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"]
    check(ROWS["a file under `--outdir` may not grow (`ulimit -f`)"], *own_outdir(podrun, pod, wrapper))


def test_a_reader_that_has_gone(podrun, pod):
    runs = [podrun.directory / f"runs-{rank}" for rank in (0, 1)]
    reader, writer = os.pipe()
    run = podrun.start(*pod.on(0, 1), "--grace", "1", "--", f"touch {podrun.directory}/runs-$PODRUN_RANK; exec sleep 1000", stdout=writer)
    os.close(writer)
    wait_until(lambda: all(each.exists() for each in runs), what="it runs")
    os.close(reader)
    ended = run.wait()  # that nothing is left is seen at the end of every test
    assert said_by_podrun(ended.stderr) == []
    check(ROWS["nobody reads podrun's output any more"], None, ended.returncode, ARE_ENDED)


def test_an_agent_that_never_answers(podrun, pod, hanging_agent):
    shutil.rmtree(podrun.home / ".ssh")
    failed = events(podrun, *pod.on(0, 1), "-t", "5", *ONE_TRY, "--", "touch", podrun.directory / "started")
    assert not (podrun.directory / "started").exists()
    said = said_of_hosts(failed)
    assert said[0] == said[1] and str(hanging_agent) in said[0]
    check(ROWS["the agent never answers, and there is no key file"], said[0], failed.returncode, NOTHING_STARTS)


def too_few_descriptors(podrun, pod, wrapper):
    podrun.wrapper = wrapper
    failed = podrun(*pod.options, "--", "touch", podrun.directory / "started")
    assert not (podrun.directory / "started").exists()
    [line] = said_by_podrun(failed.stderr)
    return line, failed.returncode, NOTHING_STARTS


def test_too_few_descriptors(podrun, pod):
    check(ROWS["podrun may open too few files (`ulimit -Hn`)"], *too_few_descriptors(podrun, pod, ["sh", "-c", 'ulimit -n 30; exec "$@"', "sh"]))


INHERIT = """
import os, resource, sys
for _ in range(30):
    os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
resource.setrlimit(resource.RLIMIT_NOFILE, (36, 36))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_descriptors_of_others(podrun, pod):
    wrapper = [sys.executable, "-c", INHERIT]
    check(ROWS["other open files leave podrun too few of them"], *too_few_descriptors(podrun, pod, wrapper))


ON_THIS_MACHINE = [
    "nobody reads podrun's output any more",
    "the disk under `--outdir` is full",
    "a file under `--outdir` may not grow (`ulimit -f`)",
    "the agent never answers, and there is no key file",
    "podrun may open too few files (`ulimit -Hn`)",
    "other open files leave podrun too few of them",
]


every_row_is_played = plays([*SERVERS, *WAYS_IN, *OTHERS_BEFORE, *ON_THIS_MACHINE])


def test_the_table_has_a_row_for_every_case_and_a_case_for_every_row():
    assert {*SERVERS, *WAYS_IN, *OTHERS_BEFORE, *running.STRUCK, *running.ALONE, *running.HARMLESS, *jump.FAULTS, *host_keys.FAULTS, *login.FAULTS, *passwords.FAULTS, *via.FAULTS, *push.FAULTS, *push_from_host.FAULTS, *spread.FAULTS, *pull.FAULTS, *ON_THIS_MACHINE} == ROWS.keys()
