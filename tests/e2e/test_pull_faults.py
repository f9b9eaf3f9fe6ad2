"""docs/faults.md, copying files from hosts: whatever a host does or sends, nothing outside of its directory changes here, no half file has a
name, and the other hosts' files arrive. The next pull goes on with what is missing."""

import contextlib
import io
import os
import random
import signal
import subprocess
import tarfile

import pytest

from conftest import private_mounts
from events import Events
from fault_table import DELIVER_EVERYTHING, ROWS, check, plays, said_of_hosts
from homes import ONE_TRY, ViaHomes
from pulls import assert_arrived, paths_in, place_of, pull, pull_events, received, temporary_files
from support import SANITIZED, peak_memory, wait_until, watch_memory
from trees import Link, assert_same, read_tree, write_tree

LOGS = {"a": b"1", "d/b": b"22", "link": Link(b"a"), "z": b"333"}
BIG = 32_000_000  # bytes that take some seconds at RATE
RATE = 4_000_000

# The rows of docs/faults.md that are played here.
MISSING = "it has none of the files (pull)"
NO_TAR = "it has no `tar` (pull)"
VANISHED = "a file vanishes there before it is sent (pull)"
EXCHANGED = "another user exchanges a file there after it was listed (pull)"
SHRUNK = "a file becomes shorter while it is sent (pull)"
TAR_FAILS = "its `tar` fails (pull)"
NO_LIST = "it cannot run what lists its files (pull)"
CUT = "its archive is cut off or damaged (pull)"
GARBAGE = "its list of files makes no sense (pull)"
ESCAPES = "it sends paths that were not asked for (pull)"
ENDLESS = "it sends data without end (pull)"
TOO_LARGE = "it has more than `--max-size` (pull)"
TOO_MANY = "it has more paths than `--max-files` (pull)"
NO_ROOM = "there is no room here for its files (pull)"
DISK_FULL = "the disk gets full here (pull)"
LOST = "its sshd is killed while files are copied (pull)"
SILENT = "it falls silent while files are copied (pull)"
FAULTS = [MISSING, NO_TAR, VANISHED, EXCHANGED, SHRUNK, TAR_FAILS, NO_LIST, CUT, GARBAGE, ESCAPES, ENDLESS, TOO_LARGE, TOO_MANY, NO_ROOM, DISK_FULL, LOST, SILENT]
every_row_is_played = plays(FAULTS)


def held_against(fault, run, rank=1):
    """What is said of the host that has the fault, and of no other one."""
    said = said_of_hosts(run)
    assert said.keys() == {rank}, (said, run.stderr)
    check(ROWS[fault], said[rank], run.returncode, DELIVER_EVERYTHING)


def fails(podrun, homes, fault, *options, words=("logs",)):
    """Pulls, with the fault on host 1: the others' files are here, and nothing half. Returns the paths of host 1."""
    run = pull_events(podrun, homes, *options, *words, "out")
    held_against(fault, run)
    assert_arrived(podrun, homes, "logs", "logs", [rank for rank in homes.ranks if rank != 1])
    assert not temporary_files(podrun)
    place = place_of(podrun, homes, 1)
    return paths_in(place) if place.exists() else set()


# What a host does not have, or cannot send


@pytest.mark.smoke
def test_a_host_has_none_of_the_files(podrun, pair):
    pair.write("logs", LOGS, [0])
    assert fails(podrun, pair, MISSING) == set()


def test_a_host_has_no_tar(podrun, pair):
    pair.write("logs", LOGS)
    pair.without_programs(1, "tar")
    assert fails(podrun, pair, NO_TAR) == set()


def before_files_are_sent(pair, text, others_may_rename):
    """Host 1 runs this sh text then, once. Where others may rename files, Python sends them."""
    pair.write("logs", LOGS)
    if others_may_rename:
        (pair.home(1) / "logs").chmod(0o777)
    program = "python3" if others_may_rename else "tar"
    pair.program(1, program, f'[ -e done ] || {{ : >done; {text}; }}; PATH=${{PATH#*:}}; exec {program} "$@"')


@pytest.mark.parametrize("others_may_rename", [False, True])
def test_a_file_vanishes_before_it_is_sent(podrun, pair, others_may_rename):
    before_files_are_sent(pair, "rm -f logs/d/b", others_may_rename)
    assert fails(podrun, pair, VANISHED) == {"logs/a", "logs/link", "logs/z"}


@pytest.mark.parametrize("text", ["cp -p logs/d/b new; mv new logs/d/b", "mv logs/d/b new; mkfifo logs/d/b", "mv logs/d/b new; ln -s ../a logs/d/b"])
def test_a_file_is_exchanged_where_others_may_do_so(podrun, pair, text):
    before_files_are_sent(pair, text, others_may_rename=True)
    assert fails(podrun, pair, EXCHANGED) == {"logs/a", "logs/link", "logs/z"}


def test_a_file_that_grows_is_sent_where_others_may_exchange_it(podrun, pair):
    before_files_are_sent(pair, "echo more >>logs/d/b", others_may_rename=True)
    pull(podrun, pair, "logs", "out")
    assert (place_of(podrun, pair, 1) / "logs/d/b").read_bytes().startswith(b"22more")


def test_a_file_becomes_shorter_while_it_is_sent(podrun, homes, fault):
    homes.write("logs", {"big": random.Random(1).randbytes(BIG), "z": b"333"})
    proxy = fault("--rate", RATE, "--to", homes.pod.addresses[1], "proxy")
    run = podrun.start("--json", "-H", f"{homes.pod.addresses[0]},{proxy.address}", *ONE_TRY, "pull", "logs", "out")
    place = podrun.directory / "out" / f"1-{proxy.address.partition(':')[0]}"
    wait_for_data(podrun, place)
    os.truncate(homes.home(1) / "logs" / "big", 1000)
    held_against(SHRUNK, Events(run.wait(60)))
    assert (place / "logs" / "z").read_bytes() == b"333"


def test_tar_fails(podrun, pair):
    pair.write("logs", LOGS)
    pair.program(1, "tar", "echo 'tar: no memory' >&2; exit 2")
    assert fails(podrun, pair, TAR_FAILS) == set()


@pytest.mark.parametrize("status", [126, 127])
def test_what_lists_the_files_cannot_run(podrun, pair, status):
    pair.write("logs", LOGS)
    pair.program(1, "xargs", f"echo 'xargs: sh: No such file or directory' >&2; exit {status}")
    assert fails(podrun, pair, NO_LIST) == set()


@pytest.mark.parametrize("size", [0, 700, 1536, 2000])
def test_an_archive_is_cut_off(podrun, pair, size):
    pair.write("logs", LOGS)
    pair.program(1, "tar", f'PATH=${{PATH#*:}}; tar "$@" | head -c {size}')
    assert fails(podrun, pair, CUT) < {"logs/a", "logs/d/b", "logs/link", "logs/z"}


def test_what_did_not_come_comes_with_the_next_pull(podrun, pair):
    pair.write("logs", LOGS)
    pair.program(1, "tar", 'PATH=${PATH#*:}; tar "$@" | head -c 1536')
    here = fails(podrun, pair, CUT)
    (pair.bin(1) / "tar").unlink()
    assert received(pull_events(podrun, pair, "logs", "out")) == {0: (0, 0, 4), 1: (4 - len(here), 6 - (1 if here else 0), len(here))}
    assert_arrived(podrun, pair, "logs", "logs")


@pytest.mark.parametrize("list_of_files", ["garbage", "f 81a4 1 1 ./../../evil", "f 81a4 1 1 ./logs/../../evil", "f 81a4 1 1 /etc/passwd"])
def test_a_list_makes_no_sense(podrun, pair, list_of_files):
    pair.write("logs", LOGS)
    pair.stat(1, f"echo '{list_of_files}//'")
    assert fails(podrun, pair, GARBAGE) == set()


# A host that means harm


def archive(*members):
    """A tar archive of (name, type, link or content)."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, kind, content in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
            else:
                info.linkname = content
                tar.addfile(info)
    return file.getvalue()


def sends(homes, data):
    """What host 1 sends instead of its files."""
    path = homes.bin(1) / "evil"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    homes.program(1, "tar", f"cat '{path}'")


FILE, SYMBOLIC, HARD, DIRECTORY, DEVICE, FIFO = (getattr(tarfile, name) for name in ("REGTYPE", "SYMTYPE", "LNKTYPE", "DIRTYPE", "CHRTYPE", "FIFOTYPE"))


@pytest.mark.parametrize(
    "members",
    [
        [("../evil", FILE, b"x")],
        [("../../../../../../../../tmp/podrun-evil", FILE, b"x")],
        [("/tmp/podrun-evil", FILE, b"x")],
        [("./logs/../../evil", FILE, b"x")],
        [("./logs/other", FILE, b"x")],
        [("./logs/d", SYMBOLIC, "OUTSIDE"), ("./logs/d/evil", FILE, b"x")],
        [("./logs/link", SYMBOLIC, "OUTSIDE"), ("./logs/link/evil", FILE, b"x")],
        [("./logs/a", HARD, "/etc/passwd")],
        [("./logs/a", HARD, "../../../evil")],
        [("evil", DIRECTORY, ""), ("evil/evil", FILE, b"x")],
        [("evil", DEVICE, ""), ("more", FIFO, "")],
    ],
    ids=str,
)
def test_a_host_sends_paths_that_were_not_asked_for(podrun, pair, members):
    outside = write_tree(podrun.directory / "outside", {"kept": b"1"})
    pair.write("logs", LOGS)
    sends(pair, archive(*((name, kind, str(outside) if content == "OUTSIDE" else content) for name, kind, content in members)))
    before = set(os.listdir(podrun.directory)) | {"out"}
    here = fails(podrun, pair, ESCAPES)
    assert here <= {"logs/link"}
    assert_same({b"kept": read_tree(outside)[b"kept"]}, read_tree(outside))
    assert set(os.listdir(podrun.directory)) == before
    assert sorted(entry.name for entry in (podrun.directory / "out").iterdir()) == ["0-a", "1-b"]
    assert not os.path.exists("/tmp/podrun-evil")


def test_a_host_does_not_choose_names_in_a_directory_of_the_users(podrun, pair):
    pair.write("logs", {"a": b"1"})
    pair.stat(1, "printf 'm ./.bashrc//\\nf 81a4 1 1 ./.bashrc//\\n'")
    run = Events(podrun("--json", *pair.on(1), "pull", "--flat", "logs/*", "out"))
    assert run.failures == {0: ("unreachable", "copying", "unexpected_answer")}
    assert os.listdir(podrun.directory / "out") == []


@pytest.mark.parametrize("kind", [DEVICE, FIFO, DIRECTORY, SYMBOLIC], ids=["device", "fifo", "directory", "link"])
def test_a_file_is_sent_as_something_else(podrun, pair, kind):
    pair.write("logs", {"a": b"1", "z": b"333"})
    sends(pair, archive(("./logs/a", kind, "/etc/passwd" if kind == SYMBOLIC else ""), ("./logs/z", FILE, b"333")))
    assert fails(podrun, pair, TAR_FAILS) == {"logs/z"}


def header_of(size):
    info = tarfile.TarInfo("./logs/a")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


MEMBER = header_of(100_352) + b"x" * 100_352  # whole blocks
ENDLESS_DATA = {
    "zeros": (b"", "cat /dev/zero", (), ENDLESS),
    "a file": (header_of(1 << 40), "cat '{evil}' /dev/zero", (), ENDLESS),
    "a file, with a limit": (header_of(1 << 40), "cat '{evil}' /dev/zero", ("--max-size", "1M"), ENDLESS),
    "files": (MEMBER, "while cat '{evil}'; do :; done", ("--max-size", "1M"), ENDLESS),
    "garbage": (MEMBER, "cat '{evil}'; yes", (), CUT),
}


@pytest.mark.parametrize("case", ENDLESS_DATA)
def test_a_host_sends_data_without_end(podrun, pair, case):
    data, script, options, fault = ENDLESS_DATA[case]
    pair.write("logs", {"a": b"1", "z": b"333"})
    sends(pair, data)
    pair.program(1, "tar", script.format(evil=pair.bin(1) / "evil"))
    assert fails(podrun, pair, fault, *options) <= {"logs/a"}
    pair.wait_until_clean()


def test_errors_without_end_are_not_kept(podrun, pair):
    pair.write("logs", LOGS)
    pair.program(1, "tar", "yes 'tar: no memory' | head -c 100000000 >&2; exit 2")
    run = podrun.start("--json", *pair.options, "pull", "logs", "out")
    peak = watch_memory(run, 60)
    held_against(TAR_FAILS, Events(run.wait()))
    assert SANITIZED or peak < 60e6


@pytest.mark.deadline(120)
@pytest.mark.parametrize("path", ["./logs/%.0f", "./logs/%0200.0f"], ids=["short", "long"])
def test_a_list_without_end_is_not_kept(podrun, pair, path):
    pair.write("logs", LOGS)
    pair.stat(1, f"echo 'f 41ed 0 1 ./logs//'; exec seq -f 'f 81a4 1 1 {path}//' 1000000000")
    run = podrun.start("--json", *pair.options, "pull", "logs", "out")
    peak = watch_memory(run, 60)
    held_against(TOO_MANY, Events(run.wait()))
    assert SANITIZED or peak < 130e6
    pair.wait_until_clean()


# Room


def test_a_host_has_more_than_is_allowed(podrun, pair):
    pair.write("logs", LOGS)
    pair.write("logs", {"big": b"x" * 2000}, [1])
    assert fails(podrun, pair, TOO_LARGE, "--max-size", "1k") == set()


def test_a_host_has_more_paths_than_are_allowed(podrun, pair):
    pair.write("logs", LOGS)  # six paths, with the directories
    pair.write("logs", {"one more": b"1"}, [1])
    assert fails(podrun, pair, TOO_MANY, "--max-files", "6") == set()
    assert pull(podrun, pair, "--max-files", "7", "logs", "out")
    assert_arrived(podrun, pair, "logs", "logs")


SMALL = 'small=$1; shift; mkdir -p "$small" && mount -t tmpfs -o size=1m none "$small" || exit 99; "$@"; status=$?; cp -a "$small" "$small.after"; exit $status'


@pytest.mark.parametrize("fault", [NO_ROOM, DISK_FULL])
def test_there_is_no_room_here(podrun, pair, fault):
    pair.write("logs", LOGS)
    pair.write("logs", {"big": b"x" * (5_000_000 if fault == NO_ROOM else 1000)}, [1])
    if fault == DISK_FULL:  # the file has grown when it is sent
        pair.program(1, "tar", 'head -c 5000000 /dev/zero >>logs/big; PATH=${PATH#*:}; exec tar "$@"')
    podrun.wrapper = [*private_mounts(), "sh", "-c", SMALL, "sh", os.fspath(podrun.directory / "out")]
    held_against(fault, pull_events(podrun, pair, "logs", "out"))
    after = podrun.directory / "out.after"
    assert_same(pair.read(0, "logs"), read_tree(after / "0-a" / "logs"))
    assert not (after / "1-b" / "logs" / "big").exists()
    assert not temporary_files(podrun)


# While the data are on their way: host 1 is behind a slow proxy


def wait_for_data(podrun, place):
    def size():
        with contextlib.suppress(FileNotFoundError):  # a small file gets its name meanwhile
            return sum(path.stat().st_size for path in place.glob(".podrun.*"))
        return 0

    wait_until(lambda: size() > RATE // 4, 30, f"some of the data in {podrun.directory}")


class SlowHost:
    """A pull of small files and a large one, which is on its way from host 1, and has come from the others."""

    def __init__(self, podrun, homes, fault, *options):
        self.podrun, self.homes = podrun, homes
        homes.write("logs", {**LOGS, "m/big": random.Random(1).randbytes(BIG)})
        self.proxy = fault("--rate", RATE, "--to", homes.pod.addresses[1], "proxy")
        addresses = [self.proxy.address if rank == 1 else homes.pod.addresses[rank] for rank in homes.ranks]
        self.words = ("--json", "-H", ",".join(addresses), *ONE_TRY, *options, "pull", "logs", "out")
        self.place = podrun.directory / "out" / f"1-{self.proxy.address.partition(':')[0]}"
        self.run = podrun.start(*self.words)
        wait_for_data(podrun, self.place)

    def assert_nothing_half(self, may_leave_temporary=False):
        tree = self.homes.read(1, "logs")
        here = read_tree(self.place / "logs") if (self.place / "logs").exists() else {}
        for path, node in here.items():
            assert node.kind == "directory" or node == tree[path], path
        assert b"m/big" not in here
        assert may_leave_temporary or not temporary_files(self.podrun)


SIGNALS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}


@pytest.mark.deadline(120)
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_podrun_is_ended_and_goes_on_with_what_is_missing(podrun, homes, fault, number):
    slow = SlowHost(podrun, homes, fault)
    slow.run.signal(number)
    assert slow.run.wait().returncode == SIGNALS[number]
    slow.assert_nothing_half(may_leave_temporary=number == signal.SIGKILL)
    homes.wait_until_clean()
    had = paths_in(slow.place) - {path.name for path in temporary_files(podrun)}
    run = pull_events(podrun, homes, "logs", "again")
    assert received(run) == dict.fromkeys(homes.ranks, (5, BIG + 6, 0))
    os.rename(slow.place, podrun.directory / "out" / f"1-{homes.pod.hosts[1]}")
    run = pull_events(podrun, homes, "logs", "out")
    files, size, unchanged = received(run)[1]
    assert (files, unchanged) == (5 - len(had), len(had))
    assert size >= BIG
    assert_arrived(podrun, homes, "logs", "logs")
    assert not temporary_files(podrun)


def test_a_host_is_lost_in_the_middle_of_the_data(podrun, homes, fault):
    slow = SlowHost(podrun, homes, fault)
    homes.lose(1)
    held_against(LOST, Events(slow.run.wait(60)))
    slow.assert_nothing_half()
    assert_arrived(podrun, homes, "logs", "logs", [0, 2, 3])


def test_a_host_falls_silent_in_the_middle_of_the_data(podrun, homes, fault):
    slow = SlowHost(podrun, homes, fault, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2", "--orphan-timeout", "10")
    slow.proxy.tell("stall")
    held_against(SILENT, Events(slow.run.wait(60)))
    slow.assert_nothing_half()
    assert_arrived(podrun, homes, "logs", "logs", [0, 2, 3])


def test_a_lost_host_is_tried_again_and_goes_on(podrun, homes, fault):
    homes.write("logs", {**LOGS, "m/big": random.Random(1).randbytes(BIG)})
    proxy = fault("--rate", RATE, "--to", homes.pod.addresses[1], "proxy")
    run = podrun.start("--json", "-H", proxy.address, "--retries", "3", "pull", "logs", "out")
    place = podrun.directory / "out" / f"0-{proxy.address.partition(':')[0]}"
    wait_for_data(podrun, place)
    homes.lose(1)
    ended = Events(run.wait(60))
    assert ended.returncode == 0, ended.stderr
    assert_same(homes.read(1, "logs"), read_tree(place / "logs"))


@pytest.mark.deadline(120)
def test_a_slow_host_costs_neither_memory_nor_the_time_of_others(podrun, homes, fault):
    slow = SlowHost(podrun, homes, fault)
    for rank in (0, 2, 3):
        wait_until(lambda rank=rank: (place_of(podrun, homes, rank) / "logs" / "m" / "big").exists(), 30, "the others' files")
    assert slow.run.process.poll() is None, "the slow host is still at it"
    assert SANITIZED or peak_memory(slow.run.pid) < 60e6
    assert slow.run.wait(60).returncode == 0


def test_a_pull_from_hosts_with_one_home_is_complete(podrun):
    homes = ViaHomes(podrun, "a", "b")
    homes.share_home(1, 0)
    homes.write("logs", LOGS, [0])
    pull(podrun, homes, "logs", "out")
    assert_arrived(podrun, homes, "logs", "logs")


def test_a_start_up_file_that_prints_is_no_part_of_the_answer(podrun, pair):
    pair.write("logs", LOGS)
    pair.way(1, "echo Welcome; echo 'f 81a4 1 1 ./evil//'; echo warning >&2")
    ended = podrun(*pair.options, "pull", "logs", "out")
    assert ended.returncode == 0, ended
    assert subprocess.run(["find", podrun.directory / "out", "-name", "evil"], capture_output=True, check=True).stdout == b""
    assert_arrived(podrun, pair, "logs", "logs")
