"""podrun push 2:ckpt DEST: one host has the files, and the others get them from it; names and modes stay podrun's, and all hosts change or none."""

import os
import pwd
import random
import signal

import pytest

from events import Events
from fault_table import DELIVER_EVERYTHING, KEEP, ROWS, check, plays, said_by_podrun, said_of_hosts
from homes import homes_of_pod
from relays import altered
from support import SOON, wait_until
from test_spread import BLOCK, PYTHON, ROUNDS, TREE, kill_at_random_times
from trees import Directory, File, Link, assert_same, remove, set_time, write_tree

# The rows of docs/faults.md that are played here.
UNREACHABLE = "no other host can reach the one that has the files (push `3:ckpt`)"
NO_PYTHON = "it has the files, but not `python3` (push `3:ckpt`)"
CHANGES = "a file changes there while it is copied (push `3:ckpt`)"
LIES = "it sends other names or modes than it has listed (push `3:ckpt`)"
LOST = "it is lost while it serves its files (push `3:ckpt`)"
SILENT = "it has the files, and falls silent (push `3:ckpt`)"
AHEAD = "it has the files, and says sums far ahead of the data (push `3:ckpt`)"
NO_ROOM = "it has no room for what another host says it has (push `3:ckpt`)"
FAULTS = [UNREACHABLE, NO_PYTHON, CHANGES, LIES, LOST, SILENT, AHEAD, NO_ROOM]
every_row_is_played = plays(FAULTS)

OLD = {"kept": b"k"}


class FromHost:
    """Host 2 has `ckpt`, which the others get in `work`, where something is already."""

    def __init__(self, podrun, homes, tree=None, seed=2):
        self.podrun, self.homes, self.seed = podrun, homes, seed
        homes.write("ckpt", TREE if tree is None else tree, [seed])
        self.tree = homes.read(seed, "ckpt")
        self.others = [rank for rank in homes.ranks if rank != seed]
        homes.write("work", OLD)
        self.before = homes.read_all("work")

    def start(self, *words, source=None, target="work", options=None):
        return self.podrun.start("--json", *(options or self.homes.options), "push", *words, source or f"{self.seed}:ckpt", target)

    def push(self, *words, **places):
        """Pushes, which must succeed; where each host got the files from."""
        ended = Events(self.start(*words, **places).wait(120))
        assert ended.returncode == 0, ended.stderr
        self.homes.wait_until_clean()
        self.said = ended.stderr.decode().splitlines()
        assert self.seed not in ended.sent
        return {rank: event.get("from_here", event.get("from")) for rank, event in ended.sent.items()}

    def fail(self, fault=None, words=(), **places):
        ended = Events(self.start(*words, **places).wait(120))
        assert ended.returncode not in (0, 2), ended.stderr
        if fault:
            self.check(fault, ended)
        self.assert_unchanged()
        return ended

    @staticmethod
    def check(fault, ended):
        [said] = [text for text in said_of_hosts(ended).values() if text and not text.startswith("not started")]
        check(ROWS[fault], said, ended.returncode, KEEP)

    def assert_arrived(self, place="work/ckpt", tree=None):
        for rank in self.others:
            assert_same(self.tree if tree is None else tree, self.homes.read(rank, place))
        assert_same(self.before[self.seed], self.homes.read(self.seed, "work"))

    def assert_unchanged(self):
        self.homes.wait_until_clean()
        for rank, before in enumerate(self.before):
            assert_same(before, self.homes.read(rank, "work"))

    def python(self, rank, text):
        """sh text in the place of python3 on this host."""
        self.homes.program(rank, "python3", text)

    def hooks(self, rank, hooks):
        self.python(rank, f'export PODRUN_TEST_RELAY="{hooks}"; exec {PYTHON} "$@"')

    def alter(self, rank, old, new):
        """The program in Python on this host has `new` in the place of `old`."""
        self.python(rank, f'{altered(self.homes.home(rank), old, new)}; exec {PYTHON} "$@"')


@pytest.fixture
def pushing(podrun, homes):
    return FromHost(podrun, homes)


@pytest.mark.smoke
def test_all_other_hosts_get_the_files_from_it(pushing):
    assert pushing.push() == {0: 2, 1: 2, 3: 2}
    pushing.assert_arrived()
    pushing.push()
    assert pushing.said[-1] == "podrun: 3 hosts are up to date"


def test_the_last_line_counts_the_hosts_that_got_them(pushing):
    pushing.push()
    assert pushing.said[-1].startswith("podrun: 5 files (6.3 MB) to 3 hosts"), pushing.said


# What is copied


def test_the_contents_of_a_directory(pushing):
    pushing.push(source="2:ckpt/")
    for rank in pushing.others:
        expected = {**pushing.before[rank], **pushing.tree}
        assert_same(expected, pushing.homes.read(rank, "work"))


def test_a_file_under_another_name(pushing):
    pushing.push(source="2:ckpt/data", target="work/renamed")
    for rank in pushing.others:
        assert (pushing.homes.home(rank) / "work/renamed").read_bytes() == TREE["data"]


def test_several_words_patterns_and_absolute_paths(podrun, pushing):
    place = pushing.homes.home(2)
    ended = podrun(*pushing.homes.options, "push", "2:ckpt/b*", f"2:{place}/ckpt/secret", "2:~/ckpt/empty", "work/")
    assert ended.returncode == 0, ended.stderr
    for rank in pushing.others:
        assert {b"bin/run", b"secret", b"empty", b"kept"} <= set(pushing.homes.read(rank, "work"))


def test_links_are_copied_as_they_are(podrun, homes):
    links = {"absolute": Link("/etc/passwd"), "newline": Link("a\nb\n"), "long": Link("t" * 300), "dir": Directory(0o700), "dir/up": Link("..")}
    pushing = FromHost(podrun, homes, links)
    pushing.push()
    pushing.assert_arrived()


def test_files_of_any_size_mode_and_time(podrun, homes):
    sizes = [0, 1, 511, 512, 513, BLOCK - 512, BLOCK, BLOCK + 1, 3 * BLOCK]
    tree = {f"{number:02} {size}": File(random.Random(size).randbytes(size), 0o400 + number) for number, size in enumerate(sizes)}
    tree |= {f"many/{number}": f"{number}".encode() for number in range(3000)}
    tree |= {"large": random.Random(3).randbytes((16 << 20) + 5), "names\n/\xff": b"x"}
    pushing = FromHost(podrun, homes, tree)
    set_time(homes.home(2) / "ckpt/large", -5)
    pushing.tree = homes.read(2, "ckpt")
    assert pushing.push() == {0: 2, 1: 2, 3: 2}
    pushing.assert_arrived()


def test_delete_deletes_only_in_the_directory(pushing):
    pushing.homes.write("work/ckpt", {"old": b"1"}, pushing.others)
    pushing.push("--delete", "--force")
    pushing.assert_arrived()
    assert all((pushing.homes.home(rank) / "work/kept").exists() for rank in pushing.others)


def test_dry_run_changes_nothing(podrun, pushing):
    ended = podrun(*pushing.homes.options, "push", "--dry-run", "2:ckpt", "work")
    assert ended.returncode == 0 and b"send ckpt/secret" in ended.stdout, ended
    assert b"[0,1,3]:" in ended.stdout
    pushing.assert_unchanged()


def test_set_user_id_bits_are_left_out(podrun, homes):
    pushing = FromHost(podrun, homes, {"run": File(b"#!/bin/sh\n", 0o6755)})
    pushing.push()
    assert (homes.home(0) / "work/ckpt/run").stat().st_mode & 0o7777 == 0o755


def test_delete_needs_a_single_directory(pushing):
    pushing.homes.write("ckpt2", {"a": b"1"}, [2])
    for source in ("2:ckpt*", "2:ckpt/data"):
        ended = pushing.fail(source=source, words=["--delete", "--force"])
        assert b"is not a single directory, as --delete needs" in ended.stderr


# Which hosts


def test_the_host_need_not_be_chosen(pushing):
    homes = pushing.homes
    assert pushing.push(options=(*homes.options, "--workers", "0,3")) == {0: 2, 3: 2}
    assert not (homes.home(1) / "work/ckpt").exists()


@pytest.mark.parametrize("fanout", ["1", "2"])
def test_few_hosts_at_a_time(pushing, fanout):
    pushing.push("--fanout", fanout)
    pushing.assert_arrived()


def test_a_host_is_named(podrun, homes):
    pushing = FromHost(podrun, homes)
    name = homes.pod.addresses[2].partition(":")[0]
    pushing.push(source=f"{name}:ckpt")
    pushing.assert_arrived()


@pytest.mark.parametrize(
    "words, said",
    [
        (["9:ckpt", "work"], b'no host has this worker number or name: "9"'),
        (["tpu:ckpt", "work"], b'no host has this worker number or name: "tpu"'),
        (["0:a", "1:b", "work"], b"not on the same machine"),
        (["0:a", "here", "work"], b"not on the same machine"),
        (["--checksum", "0:a", "work"], b"--checksum: only for files that are here"),
        (["--exclude", "x", "0:a", "work"], b"--exclude: only for files that are here"),
        (["--no-ignore", "0:a", "work"], b"--no-ignore: only for files that are here"),
        (["--delete", "0:", "~"], b"--delete refuses"),
        (["0:a", "1:work"], b"a destination is a path on all hosts"),
    ],
    ids=lambda value: value if isinstance(value, bytes) else None,
)
def test_what_is_refused_at_once(podrun, pair, words, said):
    ended = podrun(*pair.options, "push", *words)
    assert ended.returncode == 2 and said in ended.stderr, ended.stderr


def test_there_must_be_another_host(podrun, pair):
    ended = podrun(*pair.on(0), "push", "0:a", "work")
    assert ended.returncode == 2 and b"no host besides" in ended.stderr, ended.stderr


def test_a_local_file_with_a_colon_comes_first(podrun, pair):
    write_tree(podrun.directory, {"0:a": b"here"})
    assert podrun(*pair.options, "push", "0:a", "work/").returncode == 0
    assert (pair.home(1) / "work/0:a").read_bytes() == b"here"


@pytest.mark.parametrize("source, said", [("2:ckpt", b"ckpt/.ssh"), ("2:ckpt/", b".ssh"), ("2:.", b"the home directory"), ("2:~/", b"the home directory"), ("2:{home}", b"the home directory"), ("2:{home}/ckpt/..", b"the home directory")])
def test_keys_of_the_host_are_not_sent_unasked(podrun, homes, source, said):
    pushing = FromHost(podrun, homes, {".ssh/id": b"key", "code": b"c"})
    ended = pushing.fail(source=source.format(home=pwd.getpwuid(os.getuid()).pw_dir))
    assert b"%b would go to all other hosts" % said in ended.stderr and b"--force" in ended.stderr
    if source == "2:ckpt":
        pushing.push("--force", source=source)
    pushing.push(source="2:ckpt/.ssh")


def test_keys_are_found_by_the_directory_they_are_in(podrun, homes):
    pushing = FromHost(podrun, homes, {"x/.ssh/id": b"not at the top", ".config/gcloud/token": b"t"})
    homes.write(".config", {"gcloud/token": b"t"}, [2])
    for source, said in ("2:.config", b".config/gcloud"), ("2:.config/", b"gcloud"), ("2:ckpt", b"ckpt/.config/gcloud"):
        assert b"%b would go" % said in pushing.fail(source=source).stderr
    homes.write("free", {"x/.ssh/id": b"not at the top"}, [2])
    pushing.push(source="2:free/")


def test_a_missing_path(pushing):
    ended = pushing.fail(source="2:none")
    assert ended.failures[2][2] == "file_missing"
    assert b"none: no such file or directory there" in ended.stderr


def test_the_host_cannot_be_reached(podrun, homes):
    pushing = FromHost(podrun, homes)
    hosts = f"{','.join(homes.pod.addresses)},127.0.0.1:1"
    ended = Events(podrun("--json", "-H", hosts, "--retries", "0", "push", "4:ckpt", "work"))
    assert ended.failures[4][2] == "refused" and ended.returncode == 255, ended.stderr
    pushing.assert_unchanged()


# By way of podrun


def test_hosts_without_a_network_between_them(podrun, pair):
    pushing = FromHost(podrun, pair, seed=0)
    assert pushing.push() == {1: None}
    pushing.assert_arrived()


def test_small_files_go_by_way_of_podrun(podrun, homes):
    pushing = FromHost(podrun, homes, {"a": b"1"})
    assert pushing.push() == {0: None, 1: None, 3: None}
    pushing.assert_arrived()


def test_no_other_host_can_reach_it(pushing):
    pushing.hooks(2, "refuse")
    sources = pushing.push()
    check(ROWS[UNREACHABLE], said_by_podrun("\n".join(pushing.said).encode())[-1], 0, DELIVER_EVERYTHING)
    pushing.assert_arrived()
    assert set(sources.values()) - {"did not try, since no host could reach another"} == {"could reach no other host: connection refused"}


def test_a_host_without_python_gets_them_by_way_of_podrun(pushing):
    pushing.python(0, "exit 127")
    assert pushing.push() == {0: "cannot hand on: python3 does not start there, has no module ssl, or is older than 3.6", 1: 2, 3: 2}
    pushing.assert_arrived()


def test_it_has_no_python_itself(pushing):
    pushing.python(2, "exit 127")
    ended = pushing.fail(NO_PYTHON)
    assert b"cannot serve its files: python3 does not start there" in ended.stderr, ended.stderr
    assert b"podrun pull, then podrun push" in ended.stderr


# Hosts that need different files


def test_hosts_that_have_a_part(pushing):
    homes = pushing.homes
    for rank in (0, 1):
        write_tree(homes.home(rank) / "work/ckpt", {"data": TREE["data"]})
        time = (homes.home(2) / "ckpt/data").stat().st_mtime_ns
        os.utime(homes.home(rank) / "work/ckpt/data", ns=(time, time))
    assert pushing.push() == {0: None, 1: None, 3: 2}
    pushing.assert_arrived()


def test_hosts_with_a_part_when_the_last_of_a_group_is_done(podrun, homes):
    """The digest is asked for late, and another group waits meanwhile."""
    pushing = FromHost(podrun, homes, {"data": random.Random(5).randbytes(40 * BLOCK), "more": random.Random(6).randbytes(BLOCK)})
    for rank in (0, 1):
        write_tree(homes.home(rank) / "work/ckpt", {"data": (homes.home(2) / "ckpt/data").read_bytes()})
        time_of_data = (homes.home(2) / "ckpt/data").stat().st_mtime_ns
        os.utime(homes.home(rank) / "work/ckpt/data", ns=(time_of_data, time_of_data))
    pushing.alter(2, "            part = block[contents", "            time.sleep(0.03); part = block[contents")
    pushing.push()
    pushing.assert_arrived()


def test_hosts_with_another_digest(pushing):
    pushing.homes.program(1, "grep", 'case $* in *sha_ni*) ! /bin/grep "$@"; exit ;; esac; exec /bin/grep "$@"')
    assert pushing.push() == {0: 2, 1: 2, 3: 2}
    pushing.assert_arrived()


# Trust


@pytest.mark.parametrize(
    "old, new",
    [
        ("            view, offset = view[len(part) :]", "            view[: len(part)] = bytes(part).replace(b'0000644', b'0004755'); view, offset = view[len(part) :]"),
        ("texts = plan.read(head + path)", "texts = plan.read(head + path).replace(b'new/', b'run/')"),
    ],
    ids=["modes", "names"],
)
def test_the_host_cannot_choose_names_or_modes(pushing, old, new):
    pushing.alter(2, old, new)
    pushing.fail(LIES)


def test_a_host_between_cannot_alter_contents(podrun, pods):
    with homes_of_pod(pods, podrun, hosts=4) as homes:
        pushing = FromHost(podrun, homes)
        pushing.alter(2, "LARGE = 16", "HOOKS['alter'] = 3; LARGE = 16")
        sources = pushing.push()
        pushing.assert_arrived()
        assert all("altered block 3" in str(source) or isinstance(source, int) for source in sources.values()), sources


def test_sizes_that_cannot_be(pushing):
    pushing.homes.stat(2, "exec /usr/bin/stat \"$@\" | sed 's/^f 81\\(..\\) [0-9]*/f 81\\1 18446744073709550592/'")
    ended = pushing.fail()
    assert ended.failures[2][2] == "too_large", ended.stderr


def test_room_is_asked_for_first(pushing):
    """The host says of a file that it has a petabyte."""
    pushing.homes.stat(2, "exec /usr/bin/stat \"$@\" | sed 's/^f 81\\(..\\) [0-9][0-9]*/f 81\\1 1000000000000/'")
    ended = Events(pushing.start().wait(120))
    for said in said_of_hosts(ended).values():
        if said and not said.startswith("not started"):
            check(ROWS[NO_ROOM], said, ended.returncode, KEEP)
    assert b"there is room for" in ended.stderr
    pushing.assert_unchanged()


def test_sums_that_are_far_ahead_of_the_data_are_refused(pushing):
    """Of a file that has 1 TB, in the host's words; the others say that they have room for it."""
    os.truncate(pushing.homes.home(2) / "ckpt/data", 1 << 40)
    for rank in pushing.others:
        pushing.homes.program(rank, "stat", 'case $* in "-f "*) echo 9999999999*9999999999*4096 ;; *) exec /usr/bin/stat "$@" ;; esac')
    lies = "            say('sums %d ' % index + 64 * '0'); continue\n"
    pushing.alter(2, "            with self.changed:\n                self.changed.wait_for(lambda index=index: index < self.wanted)\n", lies)
    pushing.fail(AHEAD)


# In the place of the reading of frames, of digests, and of the end.
RUN = "            line = self._input"
HANGS = {
    "after its first line": (RUN, "            time.sleep(9999)\n" + RUN),
    "at the sums": ("            say(\"sums", "            time.sleep(9999)\n            say(\"sums"),
    "at the digest": ("        total.update(small)\n", "        time.sleep(9999)\n"),
    "at the data": ("            offset, size = self._given.get()", "            time.sleep(9999)"),
}


@pytest.mark.deadline(150)
@pytest.mark.parametrize("old, new", [pytest.param(*each, marks=[] if "digest" in name else pytest.mark.full, id=name) for name, each in HANGS.items()])
def test_a_host_that_has_the_files_and_falls_silent(pushing, old, new):
    if "_given" in old:
        for rank in pushing.others:
            pushing.python(rank, "exit 127")
    pushing.alter(2, old, new)
    pushing.fail(SILENT, options=(*pushing.homes.options, *SOON))


@pytest.mark.full
@pytest.mark.deadline(150)
def test_a_host_that_does_not_leave_when_it_has_served_all(pushing):
    pushing.alter(2, "os._exit(GONE)\n                if self", "time.sleep(9999)\n                if self")
    pushing.push(options=(*pushing.homes.options, *SOON))
    pushing.assert_arrived()


# Ends


def test_a_file_that_changes_meanwhile(pushing):
    pushing.hooks(0, "slow:500")
    pushing.alter(2, "    def sum(self):", "    def sum(self):\n        os.truncate('ckpt/data', 5)")
    ended = pushing.fail(CHANGES)
    assert ended.failures[2][2] == "not_copied"
    assert b"data: changed while it was being copied" in ended.stderr


@pytest.mark.parametrize("name", ["ckpt", "ckpt/sub"])
@pytest.mark.parametrize("source", ["2:ckpt", "2:ckpt/", "2:ckpt/sub/a"])
def test_a_directory_that_another_user_exchanges_for_a_link(podrun, homes, source, name):
    pushing = FromHost(podrun, homes, {"sub/a": b"theirs"})
    homes.write("private", {"sub/a": b"secret"}, [2])
    for place in ("ckpt", "private"):
        set_time(homes.home(2) / place / "sub/a", 1)
    other = "private" if name == "ckpt" else "../private/sub"
    pushing.python(2, f'[ -L {name} ] || {{ mv {name} moved; ln -s {other} {name}; }}; exec {PYTHON} "$@"')
    ended = pushing.fail(CHANGES, source=source)
    assert b"ckpt/sub/a: changed while it was being copied" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_podrun_is_ended_meanwhile(pushing, number):
    for rank in pushing.others:
        pushing.hooks(rank, "slow:2000")
    run = pushing.start()
    wait_until(lambda: any(pushing.homes.home(1).glob("work/.podrun.*/new/ckpt/data")), 30, "a part of the data arrived")
    run.signal(number)
    assert run.wait().returncode != 0
    pushing.assert_unchanged()


def test_the_host_is_lost_meanwhile(pushing):
    for rank in pushing.others:
        pushing.hooks(rank, "slow:2000")
    run = pushing.start()
    wait_until(lambda: any(pushing.homes.home(1).glob("work/.podrun.*/new/ckpt/data")), 30, "a part of the data arrived")
    pushing.homes.lose(2)
    ended = Events(run.wait())
    pushing.check(LOST, ended)
    pushing.assert_unchanged()


def test_the_host_is_tried_again(pushing):
    homes = pushing.homes
    for rank in pushing.others:
        pushing.hooks(rank, "slow:1000 until:3")
    run = pushing.start("--retries", "5")
    wait_until(lambda: any(homes.home(1).glob("work/.podrun.*/new/ckpt/data")), 30, "a part of the data arrived")
    homes.lose(2)
    ended = Events(run.wait(60))
    assert ended.returncode == 0, ended.stderr
    pushing.assert_arrived()
    homes.wait_until_clean()


@pytest.mark.deadline(60 + 30 * ROUNDS)
def test_whatever_is_killed_at_any_time_leaves_nothing(pushing):
    homes = pushing.homes
    for rank in pushing.others:
        pushing.hooks(rank, f"slow:{rank * 60}")

    def begin_again():
        for rank in pushing.others:
            remove(homes.home(rank) / "work")
        homes.write("work", OLD)

    kill_at_random_times(homes, pushing.start, begin_again)
