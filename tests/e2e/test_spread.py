"""podrun push --spread: podrun sends one copy, and the hosts hand it on; whatever breaks between them, every host gets the right bytes or none."""

import os
import random
import signal
import socket
import time

import pytest

from events import Events
from fault_table import DELIVER_EVERYTHING, KEEP, ROWS, check, plays, said_by_podrun, said_of_hosts
from homes import ONE_TRY, homes_of_pod
from relays import altered, make_certificate
from support import SOON, wait_until
from test_jump import CONNECT
from trees import Directory, File, Link, assert_same, read_tree, write_tree

# The rows of docs/faults.md that are played here.
REFUSES = "no other host can reach it (push `--spread`)"
DROPS = "a firewall drops what hosts send each other (push `--spread`)"
ALTERS = "it alters contents that it hands on (push `--spread`)"
ALTERS_NAMES = "it alters names or modes that it hands on (push `--spread`)"
STALLS = "it stops handing on (push `--spread`)"
CERTIFICATE = "it shows another certificate (push `--spread`)"
SLOW = "its disk is slow (push `--spread`)"
NO_PYTHON = "its `python3` is missing, has no `ssl` or is older than 3.6 (push `--spread`)"
OTHER_ADDRESS = "it is behind an address that it does not have itself (push `--spread`)"
SAME_MACHINE = "it is the same machine as another one (push `--spread`)"
KILLED = "the program that hands on is killed (push `--spread`)"
KEEPS = "it has everything, and keeps those waiting that it serves (push `--spread`)"
SILENT = "the program that hands on falls silent (push `--spread`)"
NO_DIGEST = "it never says that it has everything (push `--spread`)"
FAULTS = [REFUSES, DROPS, ALTERS, ALTERS_NAMES, STALLS, CERTIFICATE, SLOW, NO_PYTHON, OTHER_ADDRESS, SAME_MACHINE, KILLED, KEEPS, SILENT, NO_DIGEST]
every_row_is_played = plays(FAULTS)

SLOW_AT_FIRST = "slow:1000 until:8"  # long after a busy machine has the rest of the data everywhere
ROUNDS = int(os.environ.get("PODRUN_ROUNDS", "1"))
BLOCK = 1 << 20
PYTHON = "/usr/bin/python3"
DATA = random.Random(7).randbytes(6 * BLOCK + 12345)
TREE = {
    "data": DATA,
    "bin/run": File(b"#!/bin/sh\n", 0o755),
    "secret": File(b"key\n", 0o600),
    "empty": Directory(0o750),
    "link": Link("bin/run"),
    "n" * 200 + "/" + "m" * 180: b"a long name",
}
OLD = {"data": b"old", "kept": b"k"}


class Spreading:
    """Hosts that get `app/` in `work`, where something is already."""

    def __init__(self, podrun, homes, tree=None):
        self.podrun, self.homes, self.hosts = podrun, homes, ",".join(homes.pod.addresses)
        self.new = read_tree(write_tree(podrun.directory / "app", TREE if tree is None else tree))
        homes.write("work", OLD)
        self.before = homes.read_all("work")

    def python(self, rank, text):
        """sh text in front of the relay of this host."""
        self.homes.program(rank, "python3", text)

    def seed(self, rank, hooks=""):
        """This host is the first to be ready."""
        self.python(rank, f'export PODRUN_TEST_RELAY="{hooks}"; exec {PYTHON} "$@"')
        for other in self.homes.ranks:
            if other != rank:
                self.python(other, f'exec {PYTHON} "$@"')
                self.after(other, rank)

    def after(self, rank, earlier):
        """The relay of this host starts when podrun talks with that of the earlier one."""
        begun = f"/dev/pod/home/{earlier}/begun"
        talks = f'until [ "$(ls /proc/$$/task | wc -l)" -gt 2 ]; do sleep 0.05; done; touch {begun}'
        if begun not in (self.homes.bin(earlier) / "python3").read_text():
            self.first(earlier, f"({talks}) >/dev/null 2>&1 4>&1 &")
        self.first(rank, f"until [ -e {begun} ]; do sleep 0.05; done")

    def hooks(self, rank, hooks):
        """Those of the relay on a host that is not the seed."""
        self.first(rank, f'export PODRUN_TEST_RELAY="{hooks}"')

    def first(self, rank, text):
        """sh text in front of the relay of this host; comes after seed()."""
        path = self.homes.bin(rank) / "python3"
        self.python(rank, text + "\n" + path.read_text().split("\n", 1)[1].strip())

    def reach(self, rank, proxy):
        """podrun reaches this host through a proxy."""
        hosts = self.hosts.split(",")
        hosts[rank] = proxy.address
        self.hosts = ",".join(hosts)

    def connection(self, rank, address):
        """What the host takes for its own address."""
        self.first(rank, f'export SSH_CONNECTION="192.0.2.1 1 {address} 22"')

    def alter(self, rank, old, new):
        """The relay of this host has `new` in the place of `old`."""
        self.first(rank, altered(self.homes.home(rank), old, new))

    def start(self, *options):
        return self.podrun.start("--json", "-H", self.hosts, *ONE_TRY, *options, "push", "--spread", "app/", "work")

    def push(self, fault=None, options=()):
        """Pushes, which must succeed, and looks at all trees; the sources of the hosts."""
        ended = Events(self.start(*options).wait(120))
        assert ended.returncode == 0, ended.stderr
        self.said = said_by_podrun(ended.stderr)[-1]
        if fault:
            check(ROWS[fault], self.said, 0, DELIVER_EVERYTHING)
        for rank in self.homes.ranks:
            assert_same({**self.before[rank], **self.new}, self.homes.read(rank, "work"))
        self.homes.wait_until_clean()
        return {rank: event.get("from_here", event.get("from")) for rank, event in ended.sent.items()}

    def assert_unchanged(self):
        self.homes.wait_until_clean()
        for rank, before in enumerate(self.before):
            assert_same(before, self.homes.read(rank, "work"))


@pytest.fixture
def spreading(podrun, homes):
    return Spreading(podrun, homes)


@pytest.mark.smoke
def test_one_copy_is_sent(spreading):
    spreading.seed(2)
    assert spreading.push() == {0: 2, 1: 2, 2: None, 3: 2}


def test_the_last_line_says_how_many_got_it_from_each_other(podrun, spreading):
    said = podrun(*spreading.homes.options, "push", "--spread", "app/", "work").stderr
    assert b"to 4 hosts \xc2\xb7 3 from each other\n" in said or b"to 4 hosts, 3 from each other\n" in said


# Faults between hosts


def test_a_seed_that_nobody_can_reach(spreading):
    spreading.seed(0, "refuse")
    sources = spreading.push(REFUSES)
    assert sources.pop(0) is None
    assert set(sources.values()) - {"did not try, since no host could reach another"} == {"could reach no other host: connection refused"}


def test_a_firewall_that_drops(spreading):
    spreading.seed(0, "hole")
    sources = spreading.push()
    assert sources.pop(0) is None
    why = {source for source in sources.values() if isinstance(source, str)}
    if all(isinstance(source, str) for source in sources.values()):
        check(ROWS[DROPS], spreading.said, 0, DELIVER_EVERYTHING)
        assert why - {"did not try, since no host could reach another"} == {"could reach no other host: timed out"}
    else:  # on a busy machine one of them has been served from here before the others have given up, and serves them
        assert why <= {"could reach no other host: timed out", "found no host that could serve it"}


@pytest.mark.parametrize("fault, block", [(ALTERS, 3), (ALTERS_NAMES, 0)], ids=["contents", "names"])
def test_a_host_that_alters_a_block(spreading, fault, block):
    spreading.seed(0, f"alter:{block}")
    sources = spreading.push(fault)
    assert sources.pop(0) is None
    instead = [host for host, source in sources.items() if source == f"lost [0]: altered block {block}"]
    assert instead and 0 not in sources.values()


def test_a_host_that_stops_handing_on(spreading):
    spreading.seed(0, "stall:3")
    for rank in (1, 2, 3):
        spreading.hooks(rank, "limits:0.2 join:20")
    sources = spreading.push(STALLS)
    assert sources.pop(0) is None
    assert any(source == "lost [0]: silent for 1 s" for source in sources.values()), sources


# In the place of what a parent does before it sends a block on.
STALL = 'self.next == HOOKS.get("stall") and not self._is_gone:\n            time.sleep(TICK)'
ALIVE = 'self.next == HOOKS.get("stall") and not self._is_gone:\n            time.sleep(TICK)\n            self._send(ALIVE)'
# In the place of what a host waits for that has everything.
WAIT = "        os._exit(0)\n"
STAY = """        with window.changed:  # until the threads of its children are in the stall: a fork amid a write would spoil it
            window.changed.wait_for(lambda: not window.listeners and all(child.next == 3 for child in window.readers[1:]))
        if os.fork(): os._exit(0)
        while window.readers[1:]:  # on a busy machine they may have left it already
            for child in window.readers[1:]: child._send(b".")
            time.sleep(1)
"""


def assert_left(sources, why):
    """The hosts that host 0 was to serve got everything, and the report names that one."""
    assert sources.pop(0) is None
    instead = [host for host, source in sources.items() if isinstance(source, str)]
    assert instead and {sources[host] for host in instead} == {f"lost [0]: {why}"}, sources
    assert {source for host, source in sources.items() if host not in instead} <= set(instead), sources


def test_a_host_that_says_forever_that_it_is_alive(spreading):
    spreading.seed(0, "stall:3")
    spreading.alter(0, STALL, ALIVE)
    assert_left(spreading.push(options=SOON), "it did not send the rest")


def test_a_host_that_is_done_and_keeps_its_children_alive(spreading):
    spreading.seed(0, "stall:3")
    spreading.alter(0, f"        with window.changed:\n            window.changed.wait_for(lambda: window.readers == [self] and not window.listeners)\n{WAIT}", STAY)
    assert_left(spreading.push(KEEPS, SOON), "it did not send the rest")


@pytest.mark.deadline(120)
def test_a_relay_that_is_silent_after_its_first_line(spreading):
    spreading.seed(0)
    spreading.alter(1, "    def run(self):\n        while True:\n            line", "    def run(self):\n        while True:\n            time.sleep(9999)\n            line")
    assert spreading.push(SILENT, (*SOON, "--retries", "1")) == {0: None, 1: "cannot hand on: its program was silent", 2: 0, 3: 0}


@pytest.mark.deadline(120)
def test_a_host_that_hangs_at_its_digest(spreading):
    spreading.seed(0)
    for program in ("sha256sum", "b2sum", "openssl"):
        real = f"/usr/bin/{program}"
        spreading.homes.program(2, program, f'case $(ls) in *data*) exec sleep 9999 ;; esac; exec {real} "$@"')
    ended = Events(spreading.start(*SOON).wait(120))
    check(ROWS[NO_DIGEST], said_of_hosts(ended)[2], ended.returncode, KEEP)
    spreading.assert_unchanged()


def test_a_host_that_names_another_machine_is_not_believed(spreading):
    """No host connects there, whatever the port."""
    with socket.create_server(("127.77.0.1", 0)) as other:
        spreading.seed(0)
        spreading.connection(0, "127.77.0.1")
        spreading.alter(0, 'say("port %d" % listener.port)', f'say("port {other.getsockname()[1]}")')
        sources = spreading.push()
        other.settimeout(0.1)
        with pytest.raises(TimeoutError):
            other.accept()
    assert sources.pop(0) is None
    assert 0 not in sources.values(), sources


def test_a_port_of_the_system_is_refused(spreading):
    spreading.seed(0)
    spreading.alter(0, 'say("port %d" % listener.port)', 'say("port 22")')
    ended = Events(spreading.start().wait(120))
    assert ended.returncode == 255 and b'unexpected answer "port 22"' in ended.stderr, ended.stderr
    spreading.assert_unchanged()


def test_a_host_with_another_certificate(spreading):
    other = make_certificate(spreading.podrun.directory, "other")
    spreading.homes.write(".", {"other.pem": other}, ranks=(0,))
    spreading.seed(0)
    spreading.alter(0, "self.tls = Tls(pem)", 'self.tls = Tls(open(os.environ["HOME"] + "/other.pem", "rb").read())')
    sources = spreading.push(CERTIFICATE)
    assert sources.pop(0) is None
    assert any("certificate" in source for source in sources.values()), sources
    assert not any(isinstance(source, int) for source in sources.values())


@pytest.mark.parametrize("slow", [pytest.param(0, marks=pytest.mark.full), 1])
def test_a_slow_disk_holds_up_nobody_for_long(podrun, homes, slow):
    spreading = Spreading(podrun, homes, {"data": random.Random(1).randbytes(100 * BLOCK)})
    spreading.seed(0, "limits:0.3 join:20 " + SLOW_AT_FIRST * (slow == 0))
    if slow == 1:
        spreading.hooks(1, SLOW_AT_FIRST)
        assert spreading.push(SLOW) == {0: None, 1: "held up others", 2: 0, 3: 0}
        return
    sources = spreading.push()
    assert sources.pop(0) is None
    [instead] = [host for host, source in sources.items() if isinstance(source, str)]
    assert [source for source in sources.values() if source != sources[instead]] == [instead, instead]


# Hosts with strange addresses


BIND = "self._sock.bind((address, 0))"
ELSEWHERE = 'self._sock.bind(("192.0.2.7", 0))'  # as with NAT: no address of this host


def test_a_host_behind_another_address(spreading):
    spreading.seed(1)
    spreading.alter(0, BIND, ELSEWHERE)  # it cannot listen, but it can join others
    assert spreading.push(OTHER_ADDRESS) == {0: 1, 1: None, 2: 1, 3: 1}


def test_the_first_host_is_behind_another_address(spreading):
    spreading.seed(0)
    spreading.alter(0, BIND, ELSEWHERE)
    sources = spreading.push()
    instead = next(host for host, source in sources.items() if isinstance(source, str))
    assert sources.pop(0) is None
    assert all(source == instead for host, source in sources.items() if host != instead), sources


def test_two_hosts_that_are_one_machine(spreading, fault):
    first, second = spreading.homes.pod.addresses[:2]
    spreading.seed(0)
    spreading.reach(1, fault("--to", second, "proxy", addresses=[first.partition(":")[0]]))
    spreading.after(1, 2)  # else nobody is there that it could get the files from
    sources = spreading.push(SAME_MACHINE)
    assert sources[0] is None and sources[1] in (2, 3), sources


@pytest.mark.parametrize("address", ["fe80::1%eth0", "127.0.0.1", "169.254.169.254", "10.1.2.3", "nonsense"])
def test_the_address_that_podrun_reaches_comes_first(spreading, address):
    spreading.seed(0)
    spreading.connection(0, address)
    assert spreading.push() == {0: None, 1: 0, 2: 0, 3: 0}


def test_a_loopback_address_that_only_the_host_knows_is_not_used(spreading):
    connect = spreading.podrun.directory / "connect"
    connect.write_text(f"#!/bin/sh\nexec {CONNECT} \"$@\"\n")
    connect.chmod(0o755)
    sources = spreading.push(options=("-o", f"ProxyCommand={connect} %h %p"))
    assert set(sources.values()) == {"cannot hand on: its own address is not known"}


# Hosts that cannot take part


@pytest.mark.parametrize(
    "text",
    [
        "exit 127",
        "exit 1",
        "kill -11 $$",
        f"code=$4; shift 4; exec {PYTHON} -I -S -c \"import sys; sys.modules['ssl'] = None; $code\" \"$@\"",
        f'code=$4; shift 4; exec {PYTHON} -I -S -c "import sys; sys.version_info = (3, 5, 9); $code" "$@"',
    ],
    ids=["absent", "broken", "crashes", "ssl", "old"],
)
def test_a_host_without_a_python_that_can(spreading, text):
    spreading.seed(0)
    spreading.python(1, text)
    sources = spreading.push(NO_PYTHON)
    assert sources == {0: None, 1: "cannot hand on: python3 does not start there, has no module ssl, or is older than 3.6", 2: 0, 3: 0}


def test_a_python_that_was_killed_is_not_called_too_old(spreading):
    spreading.seed(0)
    spreading.python(1, "kill -9 $$")
    assert spreading.push()[1] == "cannot hand on: python3 was killed there (signal 9)"


def test_a_python_that_hangs_is_ended(spreading):
    spreading.seed(0)
    spreading.python(1, "for child in $(seq 50); do sleep 987 & done; wait")
    assert spreading.push()[1] == "cannot hand on: python3 did not start within 20 s there"
    assert not any(b"987" in command for command in spreading.homes.pod.processes(1).values())


def test_what_a_python_prints_first_is_no_data(spreading):
    spreading.seed(0)
    spreading.first(1, "echo a version manager says hello")
    assert spreading.push() == {0: None, 1: 0, 2: 0, 3: 0}


def test_python_3_6(spreading):
    spreading.seed(0)
    old = "import os, ssl, sys; sys.version_info = (3, 6, 0); del os.memfd_create, ssl.SSLContext.minimum_version; $code"
    spreading.python(1, f'until [ -e /dev/pod/home/0/begun ]; do sleep 0.05; done; code=$4; shift 4; exec {PYTHON} -I -S -c "{old}" "$@"')
    assert spreading.push() == {0: None, 1: 0, 2: 0, 3: 0}


def test_modules_in_the_target_are_not_imported(spreading):
    spreading.homes.write("work", {"ssl.py": b"raise SystemExit('mine')", "zlib.py": b"import os; os.abort()"})
    spreading.before = spreading.homes.read_all("work")
    spreading.seed(0)
    assert spreading.push() == {0: None, 1: 0, 2: 0, 3: 0}


# Different hosts


def test_hosts_that_need_different_files_form_groups(spreading):
    spreading.homes.write("work", {"bin/run": File(b"#!/bin/sh\n", 0o755)}, ranks=(2, 3))
    for rank in (2, 3):  # as old as the local file
        source = spreading.podrun.directory / "app/bin/run"
        path = spreading.homes.home(rank) / "work/bin/run"
        time = source.stat().st_mtime_ns
        os.utime(path, ns=(time, time))
    sources = spreading.push()
    assert sorted(source is None for source in sources.values()) == [False, False, True, True]
    assert {sources[0], sources[1]} in ({None, 0}, {None, 1}) and {sources[2], sources[3]} in ({None, 2}, {None, 3})


def test_hosts_with_another_digest_are_served_by_each_other(spreading):
    spreading.homes.program(1, "grep", 'case $* in *sha_ni*) ! /bin/grep "$@"; exit ;; esac; exec /bin/grep "$@"')
    spreading.seed(0)
    assert spreading.push() == {0: None, 1: 0, 2: 0, 3: 0}


def test_a_small_push_goes_directly(podrun, homes):
    spreading = Spreading(podrun, homes, {"a": b"1"})
    assert spreading.push() == dict.fromkeys(range(4))


# Ends


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_podrun_is_ended_while_hosts_hand_on(podrun, homes, number):
    spreading = Spreading(podrun, homes)
    spreading.seed(0)
    for rank in (1, 2, 3):
        spreading.hooks(rank, "slow:2000")
    run = spreading.start()
    wait_until(lambda: any(homes.home(1).glob("work/.podrun.*/new/data")), 30, "a part of the data arrived")
    run.signal(number)
    assert run.wait().returncode != 0
    spreading.assert_unchanged()


def kill_relay(homes, rank):
    relays = [pid for pid, command in homes.pod.processes(rank).items() if command.startswith(PYTHON.encode())]
    return relays and homes.pod.ssh(rank, f"kill -9 {relays[0]}").returncode == 0


def test_a_relay_is_killed(podrun, homes):
    spreading = Spreading(podrun, homes)
    spreading.seed(0)
    spreading.hooks(2, "slow:2000")
    run = spreading.start()
    wait_until(lambda: any(homes.home(2).glob("work/.podrun.*/new/data")), 30, "a part of the data arrived")
    assert kill_relay(homes, 2)
    ended = Events(run.wait())
    check(ROWS[KILLED], said_of_hosts(ended)[2], ended.returncode, KEEP)
    assert b"nothing was changed on any host" in ended.stderr
    spreading.assert_unchanged()


def kill_at_random_times(homes, start, begin_again):
    """Kills podrun, or a relay, at any time of a push; nothing may be left. `begin_again()`: for the next one."""
    random_time = random.Random()
    for _ in range(ROUNDS):
        for kills_podrun in (True, False):
            run = start()
            time.sleep(random_time.uniform(0.1, 1.2))
            if kills_podrun:
                run.signal(signal.SIGKILL)
            else:
                kill_relay(homes, random_time.choice(homes.ranks))
            run.wait()
            homes.wait_until_clean()
            begin_again()


@pytest.mark.deadline(60 + 30 * ROUNDS)
def test_whatever_is_killed_at_any_time_leaves_nothing(podrun, homes):
    spreading = Spreading(podrun, homes)
    for rank in homes.ranks:
        spreading.python(rank, f'PODRUN_TEST_RELAY="slow:{rank * 60}" exec {PYTHON} "$@"')
    kill_at_random_times(homes, spreading.start, lambda: homes.write("work", OLD))


# Where it is off


@pytest.mark.parametrize("words", [["--sudo"], ["--via", "ssh {host}"]], ids=["sudo", "via"])
def test_where_it_is_refused(podrun, words):
    write_tree(podrun.directory / "app", {"a": b"1"})
    ended = podrun("-H", "127.0.0.1:129", *words, "push", "--spread", "app/", "work")
    assert ended.returncode == 2
    assert b"--spread" in ended.stderr


def test_sixteen_hosts(pods, podrun):
    with homes_of_pod(pods, podrun, hosts=16) as homes:
        sources = Spreading(podrun, homes).push()
    assert sorted(source is None for source in sources.values()) == [False] * 15 + [True], sources
