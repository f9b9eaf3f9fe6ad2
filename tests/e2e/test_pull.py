"""Manual, "Files": podrun pull copies files from every host to a directory for each, and only what is not here."""

import os
import shutil
import socket
import subprocess

import pytest

from fault_table import said_by_podrun
from homes import ViaHomes
from pulls import LOGS, LOGS_BYTES, LOGS_FILES, assert_arrived, paths_in, place_of, pull, pull_events, received, temporary_files
from support import wait_until
from trees import NAMES, Directory, File, Link, assert_same, deep_path, read_tree, remove, set_time, write_tree

NOWHERE = ("-H", "127.0.0.1:129", "--retries", "0")  # for what must be refused before podrun connects


# A tree


@pytest.mark.smoke
def test_a_tree_arrives_from_every_host(podrun, homes):
    for rank in homes.ranks:
        homes.write("logs", {**LOGS, "of": b"host %d\n" % rank}, [rank])
    size = 4 * (LOGS_BYTES + 7)
    said = pull(podrun, homes, "logs", "out")
    assert said == f"podrun: {4 * (LOGS_FILES + 1)} files ({size} B) from 4 hosts to out"
    assert_arrived(podrun, homes, "logs", "logs", times_of=("file", "directory", "link"))
    assert sorted(entry.name for entry in (podrun.directory / "out").iterdir()) == [place_of(podrun, homes, rank).name for rank in homes.ranks]
    assert not temporary_files(podrun)
    homes.wait_until_clean()


def test_other_ways_to_a_host(podrun, pods):
    pod = pods("--server", "dropbear", "--hosts", "2")
    pod.move_in(podrun)
    for rank in range(2):
        write_tree(pod.directory / "home" / str(rank) / "logs", {f"many/{number}": b"x" * 2000 for number in range(500)})
    podrun.ok(*pod.options, "--retries", "0", "pull", "logs/", "out")
    for rank in range(2):
        assert_same(read_tree(pod.directory / "home" / str(rank) / "logs"), read_tree(podrun.directory / "out" / f"{rank}-{pod.hosts[rank]}"))
        remove(pod.directory / "home" / str(rank) / "logs")


def test_this_machine_is_a_host(podrun):
    write_tree(podrun.home / "logs", LOGS)
    podrun.ok("-H", "local", "pull", "logs", "out")
    assert_same(read_tree(podrun.home / "logs"), read_tree(podrun.directory / "out" / "0-local" / "logs"))


def test_works_where_sh_is_another_shell(podrun_any_shell):
    podrun = podrun_any_shell
    write_tree(podrun.home / "logs", LOGS)
    podrun.ok("-H", "local[0-1]", "pull", "logs/d*", "logs/z???", "logs/../logs/run.sh", "out")
    places = list((podrun.directory / "out").iterdir())
    assert len(places) == 2
    for place in places:
        assert paths_in(place) == {"deep/er/events", "zero", "run.sh"}


def test_works_with_busybox_alone(podrun, pair):
    programs = ("sh", "cat", "find", "grep", "ls", "mkdir", "mkfifo", "rm", "sleep", "stat", "tar", "tee", "xargs")
    pair.only_programs(0, dict.fromkeys(programs, "/bin/busybox"))
    pair.way(0, 'PATH="$base/bin:$base/programs"; set -- "$base/programs/sh"')
    pair.write("logs", {**LOGS, "two\nlines": b"1", "x" * 250: b"2"})
    pull(podrun, pair, "logs", "logs/t*", "out")
    assert_arrived(podrun, pair, "logs", "logs")
    assert paths_in(place_of(podrun, pair, 0)) >= {"train.log", "two\nlines"}
    assert pull(podrun, pair, "logs", "logs/t*", "out").endswith("20 are here already")


# What is meant


def test_patterns_are_expanded_on_each_host(podrun, pair):
    pair.write("runs", {"r1/log": b"1", "r2/log": b"2", "other": b"3"}, [0])
    pair.write("runs", {"r7/log": b"7", "r7/deep/log": b"8"}, [1])
    pull(podrun, pair, "runs/r*", "out")
    assert paths_in(place_of(podrun, pair, 0)) == {"r1/log", "r2/log"}
    assert paths_in(place_of(podrun, pair, 1)) == {"r7/log", "r7/deep/log"}


@pytest.mark.parametrize(
    "words, expected",
    [
        (["logs"], {"logs/a", "logs/d/b"}),
        (["logs/"], {"a", "d/b"}),
        (["logs/."], {"a", "d/b"}),
        (["logs//d/"], {"b"}),
        (["~/logs/a"], {"a"}),
        (["logs/a", "logs/d"], {"a", "d/b"}),
        (["logs/*"], {"a", "d/b"}),
        (["logs/d/../a"], {"a"}),
        (["logs/d/.."], {"a", "d/b"}),
        (["logs", "logs/a", "logs/a"], {"logs/a", "logs/d/b", "a"}),
        (["logs", "logs"], {"logs/a", "logs/d/b"}),
        (["logs", "log*"], {"logs/a", "logs/d/b"}),
        (["logs", "logs/d", "logs/d"], {"logs/a", "logs/d/b", "d/b"}),
        (["logs/d", "logs/d/"], {"d/b", "b"}),
        (["HOME/logs/d"], {"d/b"}),
        (["HOME/../home/logs/d", "logs/a"], {"d/b", "a"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_where_a_path_goes(podrun, pair, words, expected):
    pair.write("logs", {"a": b"1", "d/b": b"2"})
    for rank in pair.ranks:  # one after another, since each has a home of its own
        here = [word.replace("HOME", str(pair.home(rank))) for word in words]
        podrun.ok(*pair.on(rank), "pull", *here, "out")
        assert paths_in(podrun.directory / "out" / f"0-{pair.names[rank]}") == expected


def test_two_dashes_end_the_options(podrun, pair):
    pair.write("-v", {"--help": b"1"})
    pull(podrun, pair, "--", "-v", "-out")
    assert paths_in(place_of(podrun, pair, 0, "-out")) == {"-v/--help"}


def test_a_path_is_no_shell_text(podrun, pair):
    names = {"$(touch touched)/`touch touched`": b"1", "; touch touched": b"2", "a'b\"c": b"3", "back\\slash": b"4"}
    pair.write("odd", names)
    pull(podrun, pair, *(f"odd/{name.partition('/')[0]}" for name in names), "out")
    assert paths_in(place_of(podrun, pair, 1)) == set(names)
    assert [entry.name for entry in pair.home(1).iterdir()] == ["odd"]


def test_a_name_that_exists_is_no_pattern(podrun, pair):
    pair.write("", {"a[1]": b"1", "a1": b"2", "*": b"3"})
    pull(podrun, pair, "a[1]", "out")
    pull(podrun, pair, "*", "star")
    assert paths_in(place_of(podrun, pair, 0)) == {"a[1]"}
    assert paths_in(place_of(podrun, pair, 0, "star")) == {"*"}


def test_two_paths_of_one_name_are_refused(podrun, pair):
    pair.write("runs", {"r1/log": b"1", "r2/log": b"2"}, [0])
    pair.write("runs", {"r1/log": b"1"}, [1])
    run = pull_events(podrun, pair, "runs/*/log", "out")
    assert run.returncode == 1
    assert run.failures.keys() == {0}
    assert '"runs/r1/log" and "runs/r2/log" would both become "log"' in run.exits[0]["message"]
    assert paths_in(place_of(podrun, pair, 1)) == {"log"}


# Every name and kind


def test_every_name_arrives(podrun, homes):
    homes.write("all", {b"%s/%s" % (name, NAMES[number - 1]): b"%d" % number for number, name in enumerate(NAMES)})
    pull(podrun, homes, "all/", "out")
    assert_arrived(podrun, homes, "all", ".")


def test_long_paths_arrive(podrun, pair):
    pair.write("all", {deep_path(3900): b"deep", b"x/" * 300 + b"y": b"many"})
    pull(podrun, pair, "all/", "out")
    assert_arrived(podrun, pair, "all", ".")
    remove(podrun.directory / "out")


def test_links_are_kept_and_not_followed(podrun, pair):
    pair.write("outside", {"file": b"not asked for"})
    links = {"absolute": Link(b"/etc/passwd"), "dangling": Link(b"nowhere"), "directory": Link(b"../outside"), "up": Link(b"../../../../..")}
    pair.write("all", {**links, "file": b"1"})
    pull(podrun, pair, "all", "out")
    assert_arrived(podrun, pair, "all", "all")
    pull(podrun, pair, "all/directory/", "contents")
    assert paths_in(place_of(podrun, pair, 0, "contents")) == {"file"}


def test_nothing_is_written_through_a_link(podrun, pair):
    outside = write_tree(podrun.directory / "outside", {"file": b"of this machine"})
    pair.write("all", {"d": Link(os.fsencode(outside)), "f": Link(os.fsencode(outside / "file"))})
    pull(podrun, pair, "all", "out")
    for rank in pair.ranks:
        remove(pair.home(rank) / "all")
    pair.write("all", {"d/file": b"of the host", "d/new": b"of the host", "f": b"of the host"})
    pull(podrun, pair, "all", "out")
    assert_same({b"file": read_tree(outside)[b"file"]}, read_tree(outside))
    assert (outside / "file").read_bytes() == b"of this machine"
    assert_arrived(podrun, pair, "all", "all")


def test_hard_links_arrive(podrun, pair):
    pair.write("all", {"a": b"1" * 1000, "z/b": b"other"})
    for rank in pair.ranks:
        os.link(pair.home(rank) / "all" / "a", pair.home(rank) / "all" / "z" / "same")
    pull(podrun, pair, "all", "out")
    assert_arrived(podrun, pair, "all", "all")


def test_what_is_no_file_is_counted(podrun, pair):
    pair.write("all", {"file": b"1"})
    for rank in pair.ranks:
        os.mkfifo(pair.home(rank) / "all" / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        place = os.open(pair.home(0) / "all", os.O_PATH)
        listening.bind(f"/proc/self/fd/{place}/socket")  # the path itself may be too long
        os.close(place)
        said = pull(podrun, pair, "all", "out")
    assert said.endswith("3 not copied (sockets, devices or FIFOs)"), said
    assert paths_in(place_of(podrun, pair, 0)) == {"all/file"}


def test_a_read_only_tree_arrives_twice(podrun, pair):
    pair.write("all", {"d/file": File(b"1", 0o444), "d": Directory(0o555)})
    pull(podrun, pair, "all", "out")
    for rank in pair.ranks:
        (pair.home(rank) / "all" / "d").chmod(0o755)
        remove(pair.home(rank) / "all" / "d" / "file")
        pair.write("all", {"d/file": File(b"22", 0o444)}, [rank])
    pull(podrun, pair, "all", "out")
    assert [(place_of(podrun, pair, rank) / "all" / "d" / "file").read_bytes() for rank in pair.ranks] == [b"22", b"22"]


def test_a_directory_becomes_a_file_and_the_other_way_round(podrun, pair):
    pair.write("all", {"a": b"1", "b/c": b"2", "e": Directory()})
    pull(podrun, pair, "all/", "out")
    for rank in pair.ranks:
        remove(pair.home(rank) / "all")
    pair.write("all", {"a/x": b"1", "e": b"a file"})
    pull(podrun, pair, "all/", "out")
    assert paths_in(place_of(podrun, pair, 0)) == {"a/x", "b/c", "e"}
    pair.write("all", {"b": b"2"})
    run = pull_events(podrun, pair, "all/", "out")
    assert run.returncode == 1
    assert run.exits[0]["cause"] == "local_file_failed"
    assert run.exits[0]["message"].endswith("0-a/b: Directory not empty")
    assert (place_of(podrun, pair, 0) / "b" / "c").read_bytes() == b"2"


def test_many_files_arrive(podrun, homes):
    homes.write("all", {f"{number % 50}/{number}": b"%d" % number for number in range(3000)})
    pull(podrun, homes, "all", "out")
    assert_arrived(podrun, homes, "all", "all")
    assert pull(podrun, homes, "all/*/1*", "parts").startswith("podrun: ")


def test_modes_are_those_of_the_host_minus_the_umask(podrun, pair):
    pair.write("all", {"a": File(b"1", 0o777), "b": File(b"1", 0o600), "c": File(b"1", 0o4755)})
    podrun.wrapper = ["sh", "-c", 'umask 027; exec "$@"', "sh"]
    pull(podrun, pair, "all/", "out")
    modes = [os.stat(place_of(podrun, pair, 0) / name).st_mode & 0o7777 for name in "abc"]
    assert modes == [0o750, 0o600, 0o750]


# Only what is not here


def test_a_second_pull_copies_only_what_has_changed(podrun, homes):
    homes.write("logs", {f"{number:03}": b"%d\n" % number * 500 for number in range(200)})
    first = pull_events(podrun, homes, "logs", "out")
    assert {files for files, _bytes, _unchanged in received(first).values()} == {200}
    assert pull(podrun, homes, "logs", "out").endswith("800 are here already")
    homes.write("logs", {"007": b"another", "new": b"1"}, [2])
    set_time(homes.home(2) / "logs" / "008", 1234567890)
    second = received(pull_events(podrun, homes, "logs", "out"))
    assert second == {**dict.fromkeys((0, 1, 3), (0, 0, 200)), 2: (3, 7 + 1 + 1000, 198)}
    assert_arrived(podrun, homes, "logs", "logs")


def test_what_only_is_here_stays(podrun, pair):
    pair.write("logs", {"a": b"1", "b": b"2"})
    pull(podrun, pair, "logs", "out")
    (pair.home(0) / "logs" / "b").unlink()
    write_tree(place_of(podrun, pair, 0), {"mine": b"3"})
    pull(podrun, pair, "logs", "out")
    assert paths_in(place_of(podrun, pair, 0)) == {"logs/a", "logs/b", "mine"}


def test_a_file_that_grows_meanwhile_arrives(podrun, pair):
    pair.write("log", {"of training": b"step 1\n", "whole": b"x"})
    pair.hold(0, "tar")
    run = podrun.start(*pair.options, "pull", "log", "out")
    pair.wait_until_held(0, "tar")
    with open(pair.home(0) / "log" / "of training", "ab") as file:
        file.write(b"step 2\n")
    pair.let_go()
    assert run.wait().returncode == 0, run.stderr
    assert (place_of(podrun, pair, 0) / "log" / "of training").read_bytes() == b"step 1\nstep 2\n"
    pull(podrun, pair, "log", "out")
    assert_arrived(podrun, pair, "log", "log")


def test_round_trips(podrun, homes, fault):
    proxies = [fault("--to", homes.pod.addresses[rank], "--delay", "0.2", "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in (0, 1)]
    homes.write("logs", LOGS)

    def count(place):
        podrun.ok("-H", ",".join(proxy.address for proxy in proxies), "pull", "logs", place)
        return proxies[1].connections[-1]["round_trips"]

    # A command has 7, see test_ssh_faults.py. Each of two programs has a channel, a request and an answer; the second one's comes before it is told
    # the names. A busy machine may need more; one pull must not.
    assert any(count(f"out{number}") <= 14 for number in range(8))
    assert any(count("out0") <= 10 for _ in range(8))


# Hosts that do not take part


def test_what_a_host_does_not_have_is_its_failure(podrun, homes):
    homes.write("logs", LOGS)
    remove(homes.home(1) / "logs" / "train.log")
    remove(homes.home(2) / "logs")
    run = pull_events(podrun, homes, "logs/train.log", "logs/deep", "*.none", "out")
    assert run.returncode == 1
    assert {rank: event.get("cause") for rank, event in run.exits.items()} == dict.fromkeys(homes.ranks, "file_missing")
    run = pull_events(podrun, homes, "logs/train.log", "logs/deep", "out2")
    assert run.returncode == 1
    assert run.failures == {rank: ("unreachable", "copying", "file_missing") for rank in (1, 2)}
    assert run.exits[1]["message"] == "logs/train.log: no such file or directory there"
    assert run.exits[2]["message"] == "logs/train.log, logs/deep: no such file or directory there"
    assert paths_in(place_of(podrun, homes, 1, "out2")) == {"deep/er/events"}, "the rest has come"
    assert paths_in(place_of(podrun, homes, 0, "out2")) == {"deep/er/events", "train.log"}
    assert not place_of(podrun, homes, 2, "out2").exists(), "a host of which nothing has come leaves no empty directory"


def test_hosts_that_cannot_be_reached_are_skipped_and_named(podrun, homes):
    homes.write("logs", LOGS)
    hosts = f"{homes.pod.addresses[0]},127.0.0.9:129,{homes.pod.addresses[2]}"
    ended = podrun("-H", hosts, "--retries", "0", "pull", "logs", "out")
    assert ended.returncode == 255
    assert b"[1] 127.0.0.9: connecting: connection refused at port 129" in ended.stderr
    assert f"podrun: {2 * LOGS_FILES} files ({2 * LOGS_BYTES} B) from 2 hosts to out".encode() in ended.stderr
    assert b" --workers 1\n" in ended.stderr, "the command for those alone"
    assert_same(homes.read(0, "logs"), read_tree(podrun.directory / "out" / f"0-{homes.pod.hosts[0]}" / "logs"))
    assert_same(homes.read(2, "logs"), read_tree(podrun.directory / "out" / f"2-{homes.pod.hosts[2]}" / "logs"))


def test_worker_numbers_name_the_directories(podrun, homes):
    homes.write("logs", LOGS)
    podrun.ok(*homes.pod.options, "--workers", "1,3", "pull", "logs", "out")
    assert sorted(entry.name[0] for entry in (podrun.directory / "out").iterdir()) == ["1", "3"]


def test_one_hosts_file_gets_its_own_name(podrun, pair):
    pair.write("logs", {"a.log": b"1", "b.log": b"2"})
    ended = podrun(*pair.options, "--workers", "1", "pull", "--flat", "logs/*.log", "out")
    assert (ended.returncode, said_by_podrun(ended.stderr)) == (0, ["podrun: 2 files (2 B) from 1 host to out"])
    assert paths_in(podrun.directory / "out") == {"a.log", "b.log"}
    (podrun.directory / "link").symlink_to("out")
    assert pull_events(podrun, pair, "--flat", "logs/a.log", "link").returncode == 0, "a directory of the user's own may be a link"
    assert pull(podrun, pair, "logs", "out") == "podrun: 4 files (4 B) from 2 hosts to out"


def test_the_names_of_several_hosts_have_the_host_in_front(podrun, pair):
    pair.write("logs", {"a": b"1", "d/b": b"2"})
    assert pull(podrun, pair, "--flat", "logs/a", "logs/d", "out") == "podrun: 4 files (4 B) from 2 hosts to out"
    expected = {f"{place_of(podrun, pair, rank).name}-{path}" for rank in pair.ranks for path in ("a", "d/b")}
    assert paths_in(podrun.directory / "out") == expected
    assert pull(podrun, pair, "--flat", "logs/a", "logs/d", "out").endswith("4 are here already")
    listed = podrun(*pair.options, "pull", "--flat", "--dry-run", "logs/a", "new").stdout.decode().split()
    assert listed == [f"new/{place_of(podrun, pair, rank).name}-a" for rank in pair.ranks]


def test_one_host_alone_is_told_where_its_files_are(podrun, pair):
    pair.write("logs", {"a": b"1"})
    ended = podrun(*pair.on(0), "pull", "logs/a", "out")
    assert said_by_podrun(ended.stderr) == [f"podrun: 1 file (1 B) from 1 host to out/0-{pair.names[0]} (--flat: to out)"]


# What is said


def test_dry_run_says_what_would_come(podrun, pair):
    pair.write("logs", {"a": b"123", "b\x1b": b"4"})
    pull(podrun, pair, "logs/a", "out")
    before = read_tree(podrun.directory / "out")
    ended = podrun(*pair.options, "pull", "--dry-run", "logs", "logs/a", "out")
    assert ended.returncode == 0
    assert ended.stdout.splitlines() == [line for rank in ("0-a", "1-b") for line in (f"out/{rank}/logs/a".encode(), rf"out/{rank}/logs/b\x1b".encode())]
    assert b"podrun: 4 files (8 B) would come from 2 hosts to out" in ended.stderr
    assert_same(before, read_tree(podrun.directory / "out"))
    podrun.ok(*pair.options, "pull", "--dry-run", "logs", "never")
    assert not (podrun.directory / "never").exists()


def test_events_say_what_came(podrun, pair):
    pair.write("logs", LOGS)
    run = pull_events(podrun, pair, "logs", "out")
    assert run.returncode == 0
    assert run.start["files"] == {"sources": ["logs"], "target": "out"}
    assert received(run) == dict.fromkeys((0, 1), (LOGS_FILES, LOGS_BYTES, 0))
    assert run.received[1]["directory"] == "out/1-b"
    assert received(pull_events(podrun, pair, "logs", "out")) == dict.fromkeys((0, 1), (0, 0, LOGS_FILES))


def test_progress_is_shown_on_a_terminal(podrun, pair):
    pair.write("logs", {"a": os.urandom(3_000_000)})
    pair.hold(1, "tar")
    run = podrun.terminal(*pair.options, "pull", "logs", "out")
    pair.wait_until_held(1, "tar")
    run.read_until(b"copying")
    pair.let_go()
    run.read_until(b"podrun: 2 files (6.0 MB) from 2 hosts to out")
    assert run.wait().returncode == 0


def test_too_much_is_not_begun(podrun, pair):
    pair.write("logs", {"a": b"x" * 2000}, [0])
    pair.write("logs", {"a": b"x"}, [1])
    run = pull_events(podrun, pair, "--max-size", "1.5k", "logs", "out")
    assert run.returncode == 1
    assert run.failures == {0: ("unreachable", "copying", "too_large")}
    assert run.exits[0]["message"] == "2.0 kB to copy: more than --max-size 1.5 kB"
    assert not place_of(podrun, pair, 0).exists()
    assert paths_in(place_of(podrun, pair, 1)) == {"logs/a"}
    look = pull_events(podrun, pair, "--dry-run", "--max-size", "1.5k", "logs", "out")
    assert look.failures == {0: ("unreachable", "copying", "too_large")}
    pull(podrun, pair, "--max-size", "2KiB", "logs", "out")


@pytest.mark.parametrize(
    "words, error",
    [
        (["pull"], "pull: which files on the hosts, and where to? (podrun pull SRC... DEST)"),
        (["pull", "logs"], "pull: which files on the hosts, and where to? (podrun pull SRC... DEST)"),
        (["pull", "", "out"], "pull: an empty path (expected one on the hosts)"),
        (["pull", "logs", ""], "pull: an empty destination (expected a local directory)"),
        (["pull", "logs", "file"], 'pull: cannot make the directory "file": Not a directory'),
        (["pull", "logs", "file/out"], 'pull: cannot make the directory "file/out": Not a directory'),
        (["pull", "--max-size", "many", "logs", "out"], '--max-size: bad size "many" (expected bytes, or a number such as 500M, 1.5G or 2GiB)'),
        (["pull", "--gather", "logs", "out"], "pull: --gather has no meaning here (leave it out)"),
        (["--max-size", "5", "--", "true"], "--max-size is an option of podrun pull (podrun pull --max-size ...)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refuses_what_makes_no_sense(podrun, words, error):
    (podrun.directory / "file").write_bytes(b"")
    refused = podrun(*NOWHERE, *words)
    assert (refused.returncode, refused.stderr.decode()) == (2, f"podrun: {error}\n")


def test_leftovers_of_a_killed_pull_go_with_the_next_one(podrun, pair):
    pair.write("logs", {"a": b"1"})
    left = place_of(podrun, pair, 0) / ".podrun.0123456789abcdef0123456789abcdef"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    pull(podrun, pair, "logs", "out")
    assert not left.exists()


def test_nothing_is_written_through_a_link_in_the_place_of_a_host(podrun, pair):
    pair.write("logs", {"a": b"1"})
    outside = podrun.directory / "outside"
    outside.mkdir()
    place = place_of(podrun, pair, 0)
    place.parent.mkdir()
    place.symlink_to(outside)
    run = pull_events(podrun, pair, "logs", "out")
    assert run.returncode == 1
    assert run.exits[0]["cause"] == "local_file_failed"
    assert "is a symbolic link" in run.exits[0]["message"]
    assert list(outside.iterdir()) == []
    assert_arrived(podrun, pair, "logs", "logs", [1])


def test_two_pulls_into_one_directory_do_not_disturb_each_other(podrun, pair):
    pair.write("logs", {f"{number}": os.urandom(200_000) for number in range(20)})
    runs = [podrun.start(*pair.options, "pull", "logs", "out") for _ in range(3)]
    for run in runs:
        assert run.wait().returncode == 0, run.stderr
    assert_arrived(podrun, pair, "logs", "logs")
    assert not temporary_files(podrun)


def test_a_pushed_tree_comes_back(podrun, pair):
    app = write_tree(podrun.directory / "app", LOGS)
    podrun.ok(*pair.options, "push", "app", "work")
    pull(podrun, pair, "work/app", "out")
    for rank in pair.ranks:
        assert_same(read_tree(app), read_tree(place_of(podrun, pair, rank) / "app"))


def test_a_destination_may_be_a_link_to_elsewhere(podrun, pair):
    pair.write("logs", {"a": b"1"})
    (podrun.directory / "disk").mkdir()
    (podrun.directory / "out").symlink_to("disk")
    pull(podrun, pair, "logs", "out")
    assert paths_in(podrun.directory / "disk" / "0-a") == {"logs/a"}


def test_nothing_is_left_running(podrun, homes):
    homes.write("logs", LOGS)
    pull(podrun, homes, "logs", "out")
    wait_until(lambda: not any(homes.running(rank) for rank in homes.ranks), 15, "all programs ended")
    assert subprocess.run(["find", podrun.directory / "out", "-name", ".podrun.*"], capture_output=True, check=True).stdout == b""


def test_a_host_without_sh_in_its_path_copies_everything(podrun):
    homes = ViaHomes(podrun, "a")
    homes.without_programs(0, "sh", "dash", "bash")
    homes.write("logs", {"log": b"1"})
    podrun.ok(*homes.options, "pull", "logs", "out")
    assert_arrived(podrun, homes, "logs", "logs")


def test_a_host_that_gave_nothing_is_not_counted(podrun):
    homes = ViaHomes(podrun, "a", "b")
    homes.write("logs", {"log": b"1"}, ranks=[0])
    ended = podrun(*homes.options, "pull", "logs", "out")
    assert ended.returncode == 1 and b"podrun: 1 file (1 B) from 1 host to out" in ended.stderr, ended


def test_names_that_the_stat_of_a_host_cannot_print_arrive(podrun, pair):
    names = [b"x\xef\xbf\xbd", b"x\xff", b"x\xfe", b"two\nlines"]
    replace = f"""{shutil.which("stat")} "$@" | LC_ALL=C sed 's/[\\xfe\\xff]/\\xef\\xbf\\xbd/g'"""
    for rank in pair.ranks:
        (pair.home(rank) / "coll").mkdir()
        for name in names:
            (pair.home(rank) / "coll" / os.fsdecode(name)).write_bytes(name)
        pair.program(rank, "stat", replace)
    pull(podrun, pair, "coll", podrun.directory / "out")
    assert_arrived(podrun, pair, "coll", "coll")


def test_a_find_that_changes_names_is_named(podrun, pair):
    """As that of Rust does."""
    (pair.home(1) / "coll").mkdir()
    (pair.home(1) / "coll" / os.fsdecode(b"x\xff")).write_bytes(b"x")
    pair.program(1, "find", f"""{shutil.which("find")} "$@" | LC_ALL=C sed 's/\\xff/\\xef\\xbf\\xbd/g'""")
    for words in (("pull", "coll", "out"), ("push", "app", "there")):
        write_tree(podrun.directory / "app", {b"x\xff": b"x"})
        ended = podrun(*pair.on(1), *words)
        assert ended.returncode and b"perhaps find there prints other names than these files have" in ended.stderr, ended


def test_files_that_a_host_lists_with_one_name_are_refused(podrun, pair):
    """A host with such a stat whose find has no -printf."""
    replace = f"""{shutil.which("stat")} "$@" | LC_ALL=C sed 's/[\\xfe\\xff]/\\xef\\xbf\\xbd/g'"""
    for rank in pair.ranks:
        (pair.home(rank) / "coll").mkdir()
        for name in (b"x\xff", b"x\xfe"):
            (pair.home(rank) / "coll" / os.fsdecode(name)).write_bytes(name)
        pair.stat(rank, replace)
    ended = podrun(*pair.options, "pull", "coll", "out")
    assert ended.returncode == 1 and b"is listed twice: the host's find or stat cannot print the names" in ended.stderr, ended
