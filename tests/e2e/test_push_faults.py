"""docs/faults.md, copying files: whatever breaks before the switch, every host keeps the tree that it has; whatever breaks in it, every file
is the old one or the new one; and no staging directory is left."""

import os
import random
import re
import shutil
import signal
from pathlib import Path

import pytest

from conftest import private_mounts
from events import Events
from fault_table import DELIVER_EVERYTHING, KEEP, ROWS, check, plays, said_of_hosts
from homes import ONE_TRY
from support import SANITIZED, peak_memory, wait_until, watch_memory
from trees import Directory, File, Link, assert_same, read_tree, write_tree

OLD = {"data/one": b"old one", "data/two": File(b"old two", 0o600), "kept": b"k", "only there": b"x", "empty": Directory()}
NEW = {"data/one": b"new one!", "data/two": b"new two!", "data/three": b"3", "kept": b"k", "more/deep/file": b"4"}
BIG = 32_000_000  # bytes that take some seconds at RATE
RATE = 4_000_000

# The rows of docs/faults.md that are played here.
FULL = "its file system gets full (push)"
TOO_LARGE = "a file may not grow there (`ulimit -f`, push)"
READ_ONLY = "its target is on a read-only file system (push)"
FILE_IN_THE_WAY = "a file stands where the target is to be (push)"
NO_TAR = "it has no `tar` (push)"
NO_DIGEST = "it has no `openssl`, `b2sum` or `sha256sum` (push)"
TAR_FAILS = "its `tar` fails (push)"
OTHER_DIGEST = "what arrives there is not what was sent (push)"
GARBAGE = "its list of files makes no sense (push)"
TOO_MANY = "it has more paths to delete than `--max-files` (push)"
EXCHANGED = "its staging directory is renamed or replaced (push)"
LINK_OF_OTHERS = "its target leads through a link that other users can change (push)"
ALL_DELETED = "nothing of what it has would stay (push, `--delete`)"
LOST = "its sshd is killed while files are copied (push)"
SILENT = "it falls silent while files are copied (push)"
SWITCH_LOST = "its sshd is killed in the switch (push)"
SWITCH_FAILS = "a step of its switch fails (push)"
CHANGED = "a local file changes while it is copied (push)"
VANISHED = "a local file vanishes while it is copied (push)"
# The program that computes the digests of small files on this machine, see push.sh.
DIGEST = "sha256sum" if re.search(r"\bsha_ni\b", Path("/proc/cpuinfo").read_text(encoding="ascii")) else "b2sum"
FAULTS = [FULL, TOO_LARGE, READ_ONLY, FILE_IN_THE_WAY, NO_TAR, NO_DIGEST, TAR_FAILS, OTHER_DIGEST, GARBAGE, TOO_MANY, EXCHANGED, LINK_OF_OTHERS, ALL_DELETED, LOST, SILENT, SWITCH_LOST, SWITCH_FAILS, CHANGED, VANISHED]
every_row_is_played = plays(FAULTS)


class Trees:
    """The local tree, the tree that the hosts have in `work`, and what may become of this."""

    def __init__(self, podrun, homes, new=None):
        self.homes = homes
        self.app = write_tree(podrun.directory / "app", NEW if new is None else new)
        homes.write("work", OLD)
        self.new = read_tree(self.app)
        self.before = homes.read_all("work")

    def assert_unchanged(self):
        """And that nothing is left: once this is so, it stays so."""
        self.homes.wait_until_clean()
        for rank, before in enumerate(self.before):
            assert_same(before, self.homes.read(rank, "work"))

    def assert_new(self, *ranks):
        for rank in ranks:
            assert_same({**self.before[rank], **self.new}, self.homes.read(rank, "work"))

    def assert_each_file_is_old_or_new(self, rank):
        found = self.homes.read(rank, "work")
        assert self.before[rank].keys() <= found.keys() <= self.before[rank].keys() | self.new.keys()
        for path, node in found.items():
            assert node.kind == "directory" or node in (self.before[rank].get(path), self.new.get(path)), path


def start(podrun, homes, *options):
    return podrun.start("--json", *homes.options, *options, "push", "app/", "work")


def push(podrun, homes, *words):
    return Events(podrun("--json", *homes.options, "push", *(words or ("app/", "work"))))


def held_against(fault, ended, rank, others=KEEP):
    """What is said of the host that has the fault, and of no other one."""
    if len(ended.exits) > 1:
        assert (b"podrun: nothing was changed on any host\n" in ended.stderr) == (others == KEEP)
    said = said_of_hosts(ended)
    assert said.keys() <= {rank}, said
    check(ROWS[fault], said.get(rank), ended.returncode, others)


# The moments of a push. At each of them a program of the hosts waits.

PROGRAMS = {"scanning": "find", "staging": "tar", "checking": DIGEST}
BEFORE_THE_SWITCH = [*PROGRAMS, "waiting"]


def furnish(homes, moment):
    """Makes the next push stay at this moment."""
    for rank in homes.ranks:
        if moment in PROGRAMS:
            homes.hold(rank, PROGRAMS[moment])
        elif moment == "switching":
            homes.hold(rank, "mv", unless="podrun.switch")  # which is moved before
    if moment == "waiting":
        homes.hold(0, "tar")  # the others are ready


def staged(homes, rank, path):
    """The sizes that this file has in staging directories."""
    return [file.stat().st_size for file in (homes.home(rank) / "work").glob(f".podrun.*/**/{path}")]


def wait_for(homes, moment):
    for rank in homes.ranks if moment != "waiting" else [0]:
        homes.wait_until_held(rank, {**PROGRAMS, "switching": "mv", "waiting": "tar"}[moment])
    if moment == "waiting":
        wait_until(lambda: all(staged(homes, rank, "deep/file") for rank in homes.ranks[1:]), 30, "the others staged")


SIGNALS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 143, signal.SIGINT: 130}


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("moment", BEFORE_THE_SWITCH)
def test_podrun_is_ended_before_the_switch(podrun, homes, moment, number):
    trees = Trees(podrun, homes)
    furnish(homes, moment)
    run = start(podrun, homes)
    wait_for(homes, moment)
    run.signal(number)
    ended = run.wait()
    assert ended.returncode == SIGNALS[number]
    assert number == signal.SIGKILL or b"podrun: nothing was changed on any host\n" in ended.stderr
    trees.assert_unchanged()
    homes.let_go()
    assert push(podrun, homes).returncode == 0
    trees.assert_new(*homes.ranks)


@pytest.mark.smoke
def test_podrun_is_killed_while_hosts_stage(podrun, pair):
    trees = Trees(podrun, pair)
    furnish(pair, "staging")
    run = start(podrun, pair)
    wait_for(pair, "staging")
    run.signal(signal.SIGKILL)
    run.process.wait()
    trees.assert_unchanged()


def test_podrun_is_killed_while_hosts_check_large_files(podrun, pair):
    values = random.Random(1)
    trees = Trees(podrun, pair, {**NEW, "data/large": values.randbytes(150_000_000), "data/next": values.randbytes(150_000_000)})
    pair.program(1, "mkdir", f'case $* in */sums/*) : >"${{0%/*}}/held.mkdir"; exec sleep 1000 ;; esac; exec {shutil.which("mkdir")} "$@"')
    # Files are checked early only while tar still runs.
    pair.program(1, "tar", f'{shutil.which("tar")} "$@" && until [ -e "${{0%/*}}/held.mkdir" ]; do sleep 0.1; done')
    run = start(podrun, pair)
    pair.wait_until_held(1, "mkdir")
    run.signal(signal.SIGKILL)
    run.process.wait()
    trees.assert_unchanged()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_podrun_is_ended_in_the_switch(podrun, homes, number):
    trees = Trees(podrun, homes)
    furnish(homes, "switching")
    run = start(podrun, homes)
    wait_for(homes, "switching")
    run.signal(number)
    assert run.wait().returncode == SIGNALS[number]
    homes.wait_until_clean()
    for rank in homes.ranks:
        trees.assert_each_file_is_old_or_new(rank)
    homes.let_go()
    assert push(podrun, homes).returncode == 0
    trees.assert_new(*homes.ranks)


@pytest.mark.timed
@pytest.mark.parametrize("moment", ["scanning", "staging", "waiting"])
def test_podrun_falls_silent(podrun, homes, moment):
    trees = Trees(podrun, homes)
    furnish(homes, moment)
    run = start(podrun, homes, "--orphan-timeout", "10")
    wait_for(homes, moment)
    run.signal(signal.SIGSTOP)  # unlike Ctrl-Z it cannot tell the hosts to wait
    trees.assert_unchanged()
    run.signal(signal.SIGCONT)
    assert run.wait().returncode != 0
    trees.assert_unchanged()


# A host that is lost


@pytest.mark.parametrize("moment", BEFORE_THE_SWITCH)
def test_a_host_is_lost_before_the_switch(podrun, homes, moment):
    trees = Trees(podrun, homes)
    furnish(homes, moment)
    run = start(podrun, homes)
    wait_for(homes, moment)
    homes.lose(1)
    held_against(LOST, Events(run.wait()), 1)
    trees.assert_unchanged()


def test_a_host_is_lost_in_the_switch(podrun, homes):
    trees = Trees(podrun, homes)
    homes.hold(1, "mv", unless="podrun.switch")
    run = start(podrun, homes)
    homes.wait_until_held(1, "mv")
    homes.lose(1)
    held_against(SWITCH_LOST, Events(run.wait()), 1, DELIVER_EVERYTHING)
    homes.wait_until_clean()
    trees.assert_new(0, 2, 3)
    trees.assert_each_file_is_old_or_new(1)


# While the data are on their way: host 1 is behind a slow proxy


class SlowHost:
    """A push of a large file between small ones, which is on its way to host 1, and to others."""

    def __init__(self, podrun, homes, fault, *options, ranks=(0, 1, 2)):
        self.homes = homes
        self.trees = Trees(podrun, homes, {**NEW, "big": random.Random(1).randbytes(BIG), "zz": b"the last one"})
        self.proxy = fault("--rate", RATE, "--to", homes.pod.addresses[1], "proxy")
        addresses = [self.proxy.address if rank == 1 else homes.pod.addresses[rank] for rank in ranks]
        self.rank = ranks.index(1)
        self.run = podrun.start("--json", "-H", ",".join(addresses), *ONE_TRY, *options, "push", "app/", "work")
        wait_until(lambda: sum(staged(homes, 1, "big")) > RATE // 4, 30, "some of the data")

    def fails(self, fault):
        held_against(fault, Events(self.run.wait(60)), self.rank)
        self.trees.assert_unchanged()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_podrun_is_ended_in_the_middle_of_the_data(podrun, homes, fault, number):
    slow = SlowHost(podrun, homes, fault)
    slow.run.signal(number)
    assert slow.run.wait().returncode == SIGNALS[number]
    slow.trees.assert_unchanged()


def test_a_host_is_lost_in_the_middle_of_the_data(podrun, homes, fault):
    slow = SlowHost(podrun, homes, fault)
    homes.lose(1)
    slow.fails(LOST)


def test_a_host_falls_silent_in_the_middle_of_the_data(podrun, homes, fault):
    slow = SlowHost(podrun, homes, fault, "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2", "--orphan-timeout", "10")
    slow.proxy.tell("stall")
    slow.fails(SILENT)


def change(app):
    with open(app / "zz", "ab") as file:
        file.write(b" is longer now")


def truncate(app):
    os.truncate(app / "big", BIG // 2)


def remove(app):
    (app / "zz").unlink()


HAPPENINGS = [(change, CHANGED), (truncate, CHANGED), (remove, VANISHED)]


@pytest.mark.parametrize("happens, fault_of_file", HAPPENINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_local_file_does_not_stay_as_it_was(podrun, homes, fault, happens, fault_of_file):
    slow = SlowHost(podrun, homes, fault, ranks=(1,))
    happens(slow.trees.app)
    slow.fails(fault_of_file)


@pytest.mark.deadline(120)
def test_a_slow_host_costs_neither_memory_nor_the_time_of_others(podrun, homes):
    trees = Trees(podrun, homes, {"big": File(b"begin", size=96 << 20), "zz": b"the last one"})
    homes.hold(0, "tar")
    run = start(podrun, homes)
    wait_until(lambda: all(staged(homes, rank, "zz") for rank in (1, 2, 3)), 60, "the others staged")
    assert SANITIZED or peak_memory(run.pid) < 60e6
    homes.let_go()
    assert run.wait(60).returncode == 0
    trees.assert_new(*homes.ranks)


# Where there is no room


SMALL = """
small=$1 after=$2 options=$3
shift 3
cp -a "$small" "$after.before" && mount -t tmpfs -o "size=64k" none "$small" && cp -a "$after.before/." "$small" &&
mount -o "remount,$options" none "$small" || exit 99
"$@"
status=$?
count=0
while [ "$(find "$small" -name '.podrun.*')" ] && [ $count -lt 300 ]; do count=$((count + 1)); sleep 0.1; done
cp -a "$small" "$after"
exit $status
"""


@pytest.mark.parametrize(
    "fault, options",
    [(FULL, "size=64k"), (FULL, "nr_inodes=12"), (READ_ONLY, "ro")],
    ids=["full", "out of inodes", "read-only"],
)
def test_a_target_without_room(podrun, pair, fault, options):
    write_tree(podrun.directory / "app", {**NEW, "big": random.Random(1).randbytes(1_000_000 if options == "size=64k" else 1000)})
    pair.write("small/work", OLD)
    before = pair.read_all("small/work")
    small, after = pair.home(1) / "small", podrun.directory / "after"
    podrun.wrapper = [*private_mounts(), "sh", "-c", SMALL, "sh", os.fspath(small), os.fspath(after), options]
    held_against(fault, push(podrun, pair, "app/", "small/work"), 1)
    assert_same(before[1], read_tree(after / "work"))
    assert [entry.name for entry in after.iterdir()] == ["work"]
    assert_same(before[0], pair.read(0, "small/work"))
    pair.wait_until_clean()


def test_a_limit_of_file_size_on_a_host(podrun, pair):
    trees = Trees(podrun, pair, {**NEW, "big": bytes(1_000_000)})
    pair.way(1, "ulimit -f 100")
    held_against(TOO_LARGE, push(podrun, pair), 1)
    trees.assert_unchanged()


def test_a_file_where_the_target_is_to_be(podrun, pair):
    trees = Trees(podrun, pair)
    pair.write("", {"in the way": b"x"}, [1])
    held_against(FILE_IN_THE_WAY, push(podrun, pair, "app/", "in the way/work"), 1)
    trees.assert_unchanged()
    assert not (pair.home(0) / "in the way").exists()


# Places that others can change; see test_other_user.py


@pytest.mark.parametrize("replaced", [False, True], ids=["renamed", "replaced"])
def test_a_staging_directory_is_not_where_it_was(podrun, pair, replaced):
    trees = Trees(podrun, pair)
    pair.hold(1, "tar")
    run = start(podrun, pair)
    pair.wait_until_held(1, "tar")
    [staging] = (pair.home(1) / "work").glob(".podrun.*")
    moved = staging.rename(pair.home(1) / "moved")
    if replaced:
        staging.mkdir()
    pair.let_go()
    held_against(EXCHANGED, Events(run.wait(60)), 1)
    wait_until(lambda: not any(moved.iterdir()), 15, "the files of the staging directory removed")
    trees.assert_unchanged()


def test_a_link_that_others_can_change(podrun, pair):
    trees = Trees(podrun, pair)
    pair.write("", {"open": Directory(), "open/link": Link(b"../work")})
    (pair.home(1) / "open").chmod(0o777)
    held_against(LINK_OF_OTHERS, push(podrun, pair, "app/", "open/link"), 1)
    trees.assert_unchanged()


# Programs of the host that are missing or do not do what they should


@pytest.mark.parametrize("fault, missing", [(NO_TAR, ["tar"]), (NO_DIGEST, ["openssl", "b2sum", "sha256sum"])], ids=["tar", "digest"])
def test_a_program_that_is_missing(podrun, pair, fault, missing):
    trees = Trees(podrun, pair)
    pair.without_programs(1, *missing)
    held_against(fault, push(podrun, pair), 1)
    trees.assert_unchanged()


@pytest.mark.parametrize(
    "fault, name, text",
    [
        (TAR_FAILS, "tar", "head -c 1000 >/dev/null; echo 'tar: no luck today' >&2; exit 2"),
        (TAR_FAILS, "tar", "kill -9 $$"),
        (OTHER_DIGEST, DIGEST, "cat >/dev/null; echo '0123456789abcdef  -'"),
        (OTHER_DIGEST, DIGEST, "cat >/dev/null"),
        (OTHER_DIGEST, "tar", "tr ! % | /bin/tar \"$@\""),
        (GARBAGE, "find", "printf 'no such thing\\0\\0'"),
        (GARBAGE, "find", "printf 'f 644 12 1 /etc/passwd\\0\\0'"),
        (GARBAGE, "gzip", "cat"),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_a_program_that_does_not_do_what_it_should(podrun, pair, fault, name, text):
    trees = Trees(podrun, pair)
    pair.program(1, name, text)
    held_against(fault, push(podrun, pair), 1)
    trees.assert_unchanged()


def test_sort_keeps_nothing_where_others_can_exchange_it(podrun, pair):
    trees = Trees(podrun, pair)
    pair.tmp(0).chmod(0o777)
    for rank in pair.ranks:
        pair.program(rank, "sort", f'echo "$TMPDIR" >>{podrun.directory}/{rank}.tmp; exec {shutil.which("sort")} "$@"')
    assert push(podrun, pair).returncode == 0
    for rank in pair.ranks:
        used = set((podrun.directory / f"{rank}.tmp").read_text().split())
        assert used and all(Path(place).name.startswith("podrun.") for place in used), used
        assert rank == 1 or not any(place.startswith(str(pair.tmp(0))) for place in used), used
    trees.assert_new(0, 1)


@pytest.mark.parametrize("name", ["find", "tar", "gzip", "mkdir", "sort"])
def test_a_program_that_warns_and_succeeds(podrun, pair, name):
    trees = Trees(podrun, pair)
    pair.program(1, name, f"echo \"ERROR: ld.so: object 'x' from LD_PRELOAD cannot be preloaded: ignored.\" >&2; exec {shutil.which(name)} \"$@\"")
    assert push(podrun, pair).returncode == 0
    trees.assert_new(0, 1)
    pair.wait_until_clean()


def test_modes_and_times_arrive_where_hard_links_cannot_be_made(podrun, pair):
    trees = Trees(podrun, pair)
    pair.program(1, "ln", f'case $1 in -s) exec {shutil.which("ln")} "$@" ;; esac; exit 1')
    assert push(podrun, pair).returncode == 0
    (trees.app / "data" / "one").chmod(0o640)
    os.utime(trees.app / "data" / "two", (1, 1))
    assert push(podrun, pair, "--checksum", "app/", "work").returncode == 0
    trees.new = read_tree(trees.app)
    trees.assert_new(0, 1)
    pair.wait_until_clean()


def test_gzip_that_ends_with_the_status_of_a_warning(podrun, pair):
    trees = Trees(podrun, pair)
    pair.program(1, "gzip", f'{shutil.which("gzip")} "$@"; echo "gzip: warning: GZIP is obsolescent" >&2; exit 2')
    assert push(podrun, pair).returncode == 0
    trees.assert_new(0, 1)


def test_a_file_that_vanishes_on_a_host_while_it_is_listed(podrun, pair):
    trees = Trees(podrun, pair)
    real = shutil.which("find")
    pair.program(1, "find", f"{real} \"$@\"; echo \"find: './x': No such file or directory\" >&2; exit 1")
    assert push(podrun, pair).returncode == 0
    trees.assert_new(0, 1)


@pytest.mark.parametrize("text", ["echo \"find: './x': Permission denied\" >&2; exit 1", "exit 1"], ids=["permission", "no word"])
def test_a_list_that_is_not_complete_is_a_failure(podrun, pair, text):
    trees = Trees(podrun, pair)
    pair.program(1, "find", f'{shutil.which("find")} "$@"; case $* in *maxdepth*) exit ;; esac; {text}')
    ended = push(podrun, pair)
    assert ended.returncode == 255
    assert b"Permission denied" in ended.stderr or b"a program failed without a word" in ended.stderr
    trees.assert_unchanged()


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("tar", f"cat >/dev/null; echo 'tar: new/{'x' * 5000}: Cannot open: File name too long' >&2; exit 2", b"Cannot open: File name too long"),
        # As that of Rust, which refuses what POSIX allows: then it is the digest of nothing.
        (
            "sed",
            f"case $* in *a-f*) cat >/dev/null; echo 'sed: bad bracket' >&2; exit 1 ;; esac; exec {shutil.which('sed')} \"$@\"",
            b"the digests there failed: sed: bad bracket",
        ),
    ],
    ids=["tar, after a long path", "digests"],
)
def test_the_reason_of_a_program_is_shown(podrun, pair, name, text, said):
    trees = Trees(podrun, pair)
    pair.program(1, name, text)
    ended = push(podrun, pair)
    assert said in ended.stderr, ended.stderr
    trees.assert_unchanged()


def test_a_host_has_more_to_delete_than_is_allowed(podrun, pair):
    trees = Trees(podrun, pair)  # each host has two paths alone
    pair.write("work", {"one more": b"1"}, [1])
    trees.before = pair.read_all("work")
    held_against(TOO_MANY, push(podrun, pair, "--delete", "--max-files", "2", "app/", "work"), 1)
    trees.assert_unchanged()
    assert push(podrun, pair, "--delete", "--max-files", "3", "app/", "work").returncode == 0
    for rank in pair.ranks:
        assert_same(trees.new, pair.read(rank, "work"))


def test_a_push_that_would_delete_everything(podrun, pair):
    trees = Trees(podrun, pair, {"another": b"name"})
    pair.write("work", {"another": b"x"}, [0])
    trees.before = pair.read_all("work")
    held_against(ALL_DELETED, push(podrun, pair, "--delete", "app/", "work"), 1)
    trees.assert_unchanged()


DIGESTS = ["openssl", "sha256sum", "b2sum"]
DIGEST_OF_FILES = 'case $* in *./*) {} ;; *) exec "/usr/bin/${{0##*/}}" "$@" ;; esac'
PATHS = "seq -f 'f 644 12 1.0 ./{}' 1000000000 | sed G | tr '\\n' '\\0'"
LIST = f'case $* in *-mindepth*) {PATHS} ;; *) exec /usr/bin/find "$@" ;; esac'
FLOODS = {
    "short paths": (TOO_MANY, ["find"], LIST.format("x%.0f")),
    "long paths": (TOO_MANY, ["find"], LIST.format("%0200.0f")),
    "digests": (GARBAGE, DIGESTS, DIGEST_OF_FILES.format("yes '0123456789abcdef  -'")),
    "a digest": (GARBAGE, DIGESTS, DIGEST_OF_FILES.format("yes | tr '\\n' y")),
}


@pytest.mark.deadline(120)
@pytest.mark.parametrize("flood", FLOODS)
def test_an_answer_without_end_is_not_kept(podrun, pair, flood):
    fault, programs, text = FLOODS[flood]
    trees = Trees(podrun, pair)
    pair.write("work", NEW)
    trees.before = pair.read_all("work")
    for program in programs:
        pair.program(1, program, text)
    run = podrun.start("--json", *pair.options, "push", "--delete", "--checksum", "app/", "work")
    peak = watch_memory(run, 60)
    held_against(fault, Events(run.wait()), 1)
    assert SANITIZED or peak < 130e6
    trees.assert_unchanged()


def test_a_step_of_the_switch_that_fails(podrun, pair):
    trees = Trees(podrun, pair)
    pair.program(1, "mv", 'case $* in *podrun.switch*) exec /bin/mv "$@" ;; esac; echo "mv: no luck today" >&2; exit 1')
    ended = push(podrun, pair)
    assert b"no luck today" in ended.bytes[1, "stderr"]
    held_against(SWITCH_FAILS, ended, 1, DELIVER_EVERYTHING)
    pair.wait_until_clean()
    trees.assert_new(0)
    trees.assert_each_file_is_old_or_new(1)


def test_two_pushes_at_a_time_leave_whole_files(podrun, pair):
    trees = Trees(podrun, pair)
    runs = [start(podrun, pair) for _ in range(2)]
    ended = [Events(run.wait()) for run in runs]
    # Where both bring the same new directory, the second one's fails; on another host that may be the other push.
    assert {run.returncode for run in ended} <= {0, 1}
    pair.wait_until_clean()
    assert push(podrun, pair).returncode == 0
    trees.assert_new(0, 1)
