"""Manual, "Files": podrun push copies local files to every host, only what has changed, and leaves out what is ignored."""

import os
import re
import shutil
import subprocess

import pytest

from events import Events, events
from homes import ONE_TRY, PodHomes, ViaHomes
from pushes import APP, APP_BYTES, APP_FILES, NOWHERE, UP_TO_DATE, assert_arrived, assert_up_to_date, push, push_events, write_app
from support import by_rank, wait_until
from trees import BEGIN, Directory, File, Link, assert_same, only_below, read_tree, remove, set_time, write_tree


# A tree


@pytest.mark.smoke
def test_a_tree_arrives_on_every_host(podrun, homes):
    write_app(podrun)
    said = push(podrun, homes, "app", "work")
    assert re.fullmatch(rf"podrun: {APP_FILES} files \({APP_BYTES} B\) to 4 hosts", said), said
    expected = only_below(read_tree(podrun.directory), "app")
    for rank in homes.ranks:
        assert_same(expected, homes.read(rank, "work"))
    homes.wait_until_clean()
    assert re.fullmatch(UP_TO_DATE, push(podrun, homes, "app", "work"))[1] == "4"


def test_a_single_host_and_many_workers_are_told_apart_in_the_report(podrun, homes):
    write_app(podrun, {"one": b"1"})
    ended = podrun(*homes.on(2), "push", "app", "work")
    assert re.search(rb"^podrun: 1 file \(1 B\) to 1 host$", ended.stderr, re.MULTILINE), ended
    assert [homes.home(rank).joinpath("work").exists() for rank in homes.ranks] == [False, False, True, False]


def test_nothing_is_printed_on_standard_output(podrun, pair):
    write_app(podrun)
    assert podrun.ok(*pair.options, "push", "app", "work") == b""


@pytest.mark.parametrize("server", ["dropbear", "ssh command"])
def test_other_ways_to_a_host(podrun, pods, server):
    way = ()
    pod = pods("--server", "dropbear", "--hosts", "2") if server == "dropbear" else pods("--isolated", "--hosts", "2")
    pod.move_in(podrun)
    if server == "ssh command":
        way = pod.via
    homes = PodHomes(pod)
    try:
        app = write_app(podrun, {**APP, **{f"many/{number}": b"x" * 2000 for number in range(500)}})
        podrun.ok(*way, *homes.options, "push", "app/", "work")
        assert_arrived(homes, app, "work")
        homes.wait_until_clean()
    finally:
        homes.clear()


# Where it goes

SOURCES = {"dir/sub/inside": b"1", "dir/file": b"2", "other/it": b"3", "file": b"4", "file2": b"5"}
INSIDE = ["file", "sub/inside"]
RULES = [
    (["dir", "to"], {f"to/dir/{path}" for path in INSIDE}),
    (["./dir", "to"], {f"to/dir/{path}" for path in INSIDE}),
    (["dir", "to/"], {f"to/dir/{path}" for path in INSIDE}),
    (["dir/", "to"], {f"to/{path}" for path in INSIDE}),
    (["dir//", "to"], {f"to/{path}" for path in INSIDE}),
    (["dir/.", "to/"], {f"to/{path}" for path in INSIDE}),
    (["dir/sub", "to"], {"to/sub/inside"}),
    (["dir/sub/", "a/b/c"], {"a/b/c/inside"}),
    (["dir", "other", "to"], {*(f"to/dir/{path}" for path in INSIDE), "to/other/it"}),
    (["dir", "."], {f"dir/{path}" for path in INSIDE}),
    (["dir", "~"], {f"dir/{path}" for path in INSIDE}),
    (["dir", "~/"], {f"dir/{path}" for path in INSIDE}),
    (["dir", "~/to"], {f"to/dir/{path}" for path in INSIDE}),
    (["file", "to"], {"to"}),
    (["file", "to/"], {"to/file"}),
    (["file", "a/b/c"], {"a/b/c"}),
    (["file", "~/a/b/c"], {"a/b/c"}),
    (["file", "a/b/c/"], {"a/b/c/file"}),
    (["file", "here"], {"here/file"}),
    (["file", "~"], {"file"}),
    (["file", "file2", "to"], {"to/file", "to/file2"}),
    (["file", "here/new"], {"here/new"}),
]


def files_in(homes, rank):
    return {os.fsdecode(path) for path, node in homes.read(rank).items() if node.kind != "directory"}


@pytest.mark.parametrize("words, expected", RULES, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_the_rule_of_the_trailing_slash(podrun, pair, words, expected):
    write_tree(podrun.directory, SOURCES)
    for rank in pair.ranks:
        (pair.home(rank) / "here").mkdir()
    push(podrun, pair, *words)
    assert [files_in(pair, rank) for rank in pair.ranks] == [expected] * 2
    assert_up_to_date(podrun, pair, *words)


def test_two_sources_that_would_have_one_name_are_refused(podrun):
    write_tree(podrun.directory, SOURCES)
    refused = podrun(*NOWHERE, "push", "dir/", "file", "to")
    assert refused.returncode == 2
    assert refused.stderr == b'podrun: push: "dir/file" and "file" would both become "file" on the hosts\n'


def test_directories_of_several_sources_are_merged(podrun, pair):
    write_tree(podrun.directory, {"one/lib/a": b"1", "two/lib/b": b"2"})
    push(podrun, pair, "one/", "two/", "to")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"to/lib/a", "to/lib/b"}] * 2


def test_an_absolute_source_and_destination(podrun, pair):
    app = write_app(podrun)
    place = podrun.directory / "absolute" / "place"
    podrun.ok(*pair.on(0), "push", f"{app}/", place)
    assert_same(read_tree(app), read_tree(place))


def test_the_current_directory_can_be_pushed(podrun, pair):
    app = write_app(podrun)
    push(podrun, pair, ".", "work", cwd=app)
    assert_arrived(pair, app, "work")


DESTINATIONS = [
    b"two  blanks",
    b"it's",
    b'"quoted"',
    b"$(touch touched)",
    b"`touch touched`",
    b";touch touched",
    b"*",
    b"$HOME",
    b"two\nlines",
    b"caf\xe9",
    b"./-rf",
    b"a/~/b",
    b"~/in the home",
    b"back\\slash\\n",
    b"~nobody",
]


@pytest.mark.parametrize("destination", DESTINATIONS, ids=repr)
def test_a_destination_is_no_shell_text(podrun, pair, destination):
    app = write_app(podrun)
    push(podrun, pair, "app/", destination)
    place = os.fsdecode(destination.removeprefix(b"./").removeprefix(b"~/"))
    assert_arrived(pair, app, place)
    for rank in pair.ranks:
        assert [entry.name for entry in pair.home(rank).iterdir()] == [place.partition("/")[0]]


def test_two_dashes_end_the_options(podrun, pair):
    write_tree(podrun.directory, {"-v/--help": b"1"})
    push(podrun, pair, "--", "-v", "-rf")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"-rf/-v/--help"}] * 2


def test_a_file_needs_a_slash_where_only_some_hosts_have_that_directory(podrun, pair):
    write_tree(podrun.directory, SOURCES)
    (pair.home(1) / "to").mkdir()
    refused = podrun(*pair.options, "push", "file", "to")
    assert refused.returncode != 0
    assert b"to/" in refused.stderr or b'"/"' in refused.stderr
    assert [pair.read(rank).keys() for rank in pair.ranks] == [set(), {b"to"}]
    push(podrun, pair, "file", "to/")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"to/file"}] * 2


# Only what has changed


def test_a_second_push_sends_only_what_has_changed(podrun, homes):
    many = {f"lib/{number:03}/{name}": b"%d\n" % number * 500 for number in range(100) for name in "abc"}
    app = write_app(podrun, many)
    first = push_events(podrun, homes, "app", "work")
    assert first.start["files"]["count"] == 300
    size = first.start["files"]["bytes"]
    assert {rank: (event["files"], event["bytes"], event["deleted"]) for rank, event in first.sent.items()} == dict.fromkeys(homes.ranks, (300, size, 0))

    (app / "lib" / "007" / "a").write_bytes(b"shorter")
    (app / "lib" / "042" / "b").write_bytes(many["lib/042/b"][::-1])  # the same size, another time
    (app / "lib" / "new").write_bytes(b"a new one")
    changed = sum(len(part) for part in (b"shorter", many["lib/042/b"], b"a new one"))
    second = push_events(podrun, homes, "app", "work")
    assert {rank: (event["files"], event["bytes"]) for rank, event in second.sent.items()} == dict.fromkeys(homes.ranks, (3, changed))
    assert_arrived(homes, app, "work/app")


def test_each_host_gets_what_it_lacks(podrun, homes):
    app = write_app(podrun)
    push(podrun, homes, "app", "work")
    remove(homes.home(1) / "work" / "app" / "lib")
    (homes.home(2) / "work" / "app" / "train.py").unlink()
    (homes.home(2) / "work" / "app" / "zero").write_bytes(b"no longer")
    remove(homes.home(3) / "work")
    sent = push_events(podrun, homes, "app", "work").sent
    assert [sent[rank]["files"] if rank in sent else 0 for rank in homes.ranks] == [0, 1, 2, APP_FILES]
    assert_arrived(homes, app, "work/app")


def test_hosts_that_a_killed_push_left_different_are_counted_and_mended(podrun, pair):
    app = write_app(podrun)
    push(podrun, pair, "app", "work")
    (app / "train.py").write_bytes(b"print('a later step')\n")
    podrun.ok(*pair.on(0), "push", "app", "work")  # as if podrun had been killed after its word to this host
    assert re.fullmatch(r"podrun: 1 file \(.+\) to 1 host · 1 host is up to date", push(podrun, pair, "app", "work"))
    assert_arrived(pair, app, "work/app")


@pytest.mark.parametrize("kind", ["modes", "times"])
def test_changed_modes_and_times_arrive(podrun, pair, kind):
    app = write_app(podrun)
    push(podrun, pair, "app", "work")
    if kind == "modes":
        (app / "train.py").chmod(0o700)
        (app / "empty").chmod(0o711)
    else:
        set_time(app / "train.py", BEGIN + 12345)
    push(podrun, pair, "app", "work")
    assert_arrived(pair, app, "work/app")
    assert_up_to_date(podrun, pair, "app", "work")


def test_checksum_finds_what_size_and_time_do_not_show(podrun, pair):
    app = write_app(podrun)
    push(podrun, pair, "app", "work")
    there = pair.home(1) / "work" / "app" / "train.py"
    time = int(there.stat().st_mtime)
    there.write_bytes(b"x" * len(APP["train.py"]))
    set_time(there, time)
    assert_up_to_date(podrun, pair, "app", "work")
    assert there.read_bytes() == b"x" * len(APP["train.py"])
    sent = push_events(podrun, pair, "--checksum", "app", "work").sent
    assert [sent[rank]["files"] if rank in sent else 0 for rank in pair.ranks] == [0, 1]
    assert_arrived(pair, app, "work/app")
    assert_up_to_date(podrun, pair, "--checksum", "app", "work")


def test_checksum_reads_the_digests_of_many_files_while_it_sends_their_names(podrun, pair):
    write_app(podrun, {f"{number:05}{'x' * 245}": b"%d" % number for number in range(2000)})
    push(podrun, pair, "app/", "work")
    assert_up_to_date(podrun, pair, "--checksum", "app/", "work")


def test_round_trips(podrun, homes, fault):
    proxies = [fault("--to", homes.pod.addresses[rank], "--delay", "0.2", "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in (0, 1)]
    write_app(podrun)

    def count(place):
        podrun.ok("-H", ",".join(proxy.address for proxy in proxies), "push", "app", place)
        return proxies[1].connections[-1]["round_trips"]

    # A command has 7, see test_ssh_faults.py. A channel 1, exec 1, the list 1; the files and their digest 1, or that there are none. A busy machine may need more; one push must not.
    assert any(count(f"work{number}") <= 11 for number in range(8))
    assert any(count("work0") <= 11 for _ in range(8))


def test_what_only_the_host_has_stays_there(podrun, pair):
    app = write_app(podrun)
    pair.write("work", {"checkpoint": b"of the host", "lib/of the host": b"too"})
    push(podrun, pair, "app/", "work")
    kept = pair.read(0, "work")
    assert kept.keys() - read_tree(app).keys() == {b"checkpoint", b"lib/of the host"}


def test_hosts_that_share_a_home_are_written_once(podrun):
    homes = ViaHomes(podrun, "a", "b", "c", "d")
    homes.share_home(1, 0)
    homes.share_home(3, 2)
    app = write_app(podrun)
    for content in (APP["train.py"], b"print('another step')\n"):
        (app / "train.py").write_bytes(content)
        writer = {rank: event.get("shared_with", rank) for rank, event in push_events(podrun, homes, "app", "work").sent.items()}
        assert writer[0] == writer[1] in (0, 1) and writer[2] == writer[3] in (2, 3), writer
        assert_arrived(homes, app, "work/app")
    homes.wait_until_clean()


@pytest.mark.smoke
def test_a_host_that_comes_when_its_home_is_written(podrun, pair):
    pair.share_home(1, 0)
    app = write_app(podrun)
    pair.hold(1, "find")
    run = podrun.start("--json", *pair.options, "push", "app", "work")
    pair.wait_until_held(1, "find")
    # push.sh empties this file when it leaves.
    wait_until(lambda: any(file.stat().st_size == 0 for file in pair.tmp(0).glob("podrun.*/podrun.push")), 30, "host 0 staged")
    pair.let_go()
    ended = Events(run.wait())
    assert ended.returncode == 0, ended.stderr
    assert {rank: event.get("shared_with") for rank, event in ended.sent.items()} == {0: None, 1: 0}
    assert_arrived(pair, app, "work/app")
    pair.wait_until_clean()


# --delete


def test_delete_removes_what_is_not_here(podrun, homes):
    app = write_app(podrun, {**APP, ".gitignore": b"*.log\n/cache/\n"})
    homes.write(
        "work",
        {
            "stale": b"1",
            "lib/stale": b"2",
            "old/deep/file": b"3",
            "old/empty": Directory(),
            "two\nlines": b"4",
            "read-only/file": File(b"5", 0o444),
            "read-only": Directory(0o555),
            "outside": Link(b"../outside"),
            "run.log": b"spared",
            "lib/run.log": b"spared",
            "cache/model": b"spared",
            "model.ckpt": b"spared",
        },
    )
    homes.write("outside", {"file": b"of the host"})
    homes.write("", {"beside": b"of the host"})
    run = push_events(podrun, homes, "--delete", "--exclude", "*.ckpt", "app/", "work")
    spared = {b"run.log", b"lib/run.log", b"cache", b"cache/model", b"model.ckpt"}
    for rank in homes.ranks:
        found = homes.read(rank, "work")
        assert_same(read_tree(app), {path: node for path, node in found.items() if path not in spared})
        assert spared <= found.keys()
        assert (homes.home(rank) / "outside" / "file").exists() and (homes.home(rank) / "beside").exists()
        assert run.sent[rank]["deleted"] > 0
    assert_up_to_date(podrun, homes, "--delete", "--exclude", "*.ckpt", "app/", "work")


def test_delete_of_a_directory_without_a_slash_stays_in_it(podrun, pair):
    app = write_app(podrun)
    pair.write("work", {"app/stale": b"1", "app/zero": b"", "app2/kept": b"2", "kept": b"3"})
    push(podrun, pair, "--delete", "app", "work")
    assert_arrived(pair, app, "work/app")
    assert all({b"app2/kept", b"kept"} <= pair.read(rank, "work").keys() for rank in pair.ranks)


@pytest.mark.parametrize("destination", ["/", "//", "/.", "~", "~/", "~/.", ".", "./", ""], ids=repr)
def test_delete_refuses_the_root_and_the_home(podrun, destination):
    write_app(podrun)
    refused = podrun(*NOWHERE, "push", "--delete", "app/", destination)
    assert refused.returncode == 2, refused
    assert b"--delete" in refused.stderr


@pytest.mark.parametrize("sources", [["app", "other"], ["app/", "other/"], ["app/train.py"], ["app/train.py", "app/zero"]], ids=" ".join)
def test_delete_takes_a_single_directory(podrun, sources):
    write_app(podrun)
    write_app(podrun, {"x": b"1"}, "other")
    refused = podrun(*NOWHERE, "push", "--delete", *sources, "work")
    assert refused.returncode == 2
    assert b"--delete" in refused.stderr


DELETED = {"stale": b"1", "old/file": b"2"}


@pytest.mark.parametrize("source, tree", [("app/", {}), ("app/", {"new": b"3"}), ("app", {})], ids=repr)
def test_delete_of_everything_needs_force(podrun, pair, source, tree):
    write_app(podrun, tree)
    place = "work" if source.endswith("/") else "work/app"
    pair.write(place, DELETED, ranks=[1])
    before = pair.read_all()
    run = events(podrun, *pair.options, "push", "--delete", source, "work")
    assert run.returncode == 255 and run.failures == {1: ("unreachable", "copying", "deletes_all")}, run.stderr
    assert pair.read_all() == before
    pair.wait_until_clean()
    look = podrun(*pair.options, "push", "--delete", "--dry-run", source, "work")
    assert look.returncode == 0 and b"stale" in look.stdout, look
    push(podrun, pair, "--delete", "--force", source, "work")
    assert pair.read(1, place).keys() == {name.encode() for name in tree}


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_delete_of_everything_asks_on_a_terminal(podrun, pair, answer):
    write_app(podrun, {})
    pair.write("work", DELETED)
    run = podrun.terminal(*pair.options, "push", "--delete", "app/", "work")
    run.read_until(b"(yes/no)? ")
    run.type(answer.encode() + b"\n")
    ended = run.wait()
    assert ended.returncode == (0 if answer == "yes" else 255), ended
    for rank in pair.ranks:
        assert bool(pair.read(rank, "work")) == (answer == "no")


# The home directory, and keys


def write_home(podrun):
    return write_tree(podrun.home, {"code.py": b"1", ".ssh/id_ed25519": b"key", ".config/gcloud/token": b"t"})


@pytest.mark.parametrize("source", [".", "../home", "../home/", "..", "../link/", "{home}/.", "../app/../home"])
def test_the_home_directory_is_not_sent_unasked(podrun, source):
    write_home(podrun)
    write_app(podrun)
    (podrun.directory / "link").symlink_to("home")
    refused = podrun(*NOWHERE, "push", source.format(home=podrun.home), "work", cwd=podrun.home)
    assert refused.returncode == 2 and b"your home directory" in refused.stderr and b"--force" in refused.stderr, refused
    assert source == ".." or b", with .ssh and .config/gcloud" in refused.stderr


def test_keys_are_not_sent_unasked(podrun, pair):
    write_app(podrun, {".aws/credentials": b"key", "a": b"1"})
    for source in ("app", "app/"):
        refused = podrun(*NOWHERE, "push", source, "work")
        assert refused.returncode == 2 and b'"app/" has .aws (' in refused.stderr, refused
    look = podrun(*pair.options, "push", "--dry-run", "app", "work")
    assert look.returncode == 0 and b".aws" in look.stderr and b".aws/credentials" in look.stdout, look
    push(podrun, pair, "--exclude", ".aws", "app/", "work")
    assert b".aws" not in pair.read(0, "work")
    forced = podrun(*pair.options, "push", "--delete", "--force", "app/", "work")
    assert forced.returncode == 0 and b'podrun: push: "app/" has .aws (goes to every host)\n' in forced.stderr, forced
    push(podrun, pair, "app/.aws", "named")
    assert pair.read(1, "work/.aws") == pair.read(1, "named/.aws")


def test_keys_are_found_by_the_directory_they_are_in(podrun):
    write_home(podrun)
    (podrun.home / "cfg").symlink_to(".config")
    for source, directory in (".", podrun.home / ".config"), (podrun.home / ".config", podrun.home), ("cfg/", podrun.home):
        refused = podrun(*NOWHERE, "push", source, "work", cwd=directory)
        assert refused.returncode == 2 and b" has gcloud (" in refused.stderr, refused


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_push_of_the_home_directory_asks_on_a_terminal(podrun, pair, answer):
    write_home(podrun)
    run = podrun.terminal(*pair.options, "push", ".", "work", cwd=podrun.home)
    run.read_until(b"with .ssh and .config/gcloud. Send it to every host (yes/no)? ")
    run.type(answer.encode() + b"\n")
    assert run.wait().returncode == (0 if answer == "yes" else 1)
    for rank in pair.ranks:
        assert pair.home(rank).joinpath("work").exists() == (answer == "yes")


# What is left out

IGNORED = {
    ".gitignore": b"*.log\n/build/\n!kept.log\n",
    ".podrunignore": b"secret\n",
    "a.py": b"1",
    "a.log": b"2",
    "kept.log": b"3",
    "tracked.log": b"4",
    "secret": b"5",
    "build/x": b"6",
    "build/y/z": b"7",
    "data/.gitignore": b"*\n!.gitignore\n!keep\n",
    "data/big": b"8",
    "data/keep": b"9",
}
SENT = {".gitignore", ".podrunignore", "a.py", "kept.log", "data/.gitignore", "data/keep"}


def git(directory, *words):
    subprocess.run(["git", "-C", directory, "-c", "user.name=n", "-c", "user.email=e", *words], capture_output=True, check=True)


def make_work_tree(app, *tracked):
    git(app, "init", "-q")
    git(app, "add", "-f", "--", *tracked)
    git(app, "commit", "-q", "-m", "first")


def test_ignored_files_stay_here_and_are_counted(podrun, pair):
    write_app(podrun, IGNORED)
    said = push(podrun, pair, "app/", "work")
    assert re.fullmatch(r"podrun: 6 files \(\d+ B\) to 2 hosts · 5 paths ignored", said), said
    assert [files_in(pair, rank) for rank in pair.ranks] == [{f"work/{name}" for name in SENT}] * 2
    listed = podrun(*pair.options, "push", "-v", "--dry-run", "app/", "work")
    assert len(re.findall(rb"^podrun: ignored: \S+$", listed.stderr, re.M)) == 5, listed


def test_in_a_work_tree_of_git_what_is_tracked_is_sent(podrun, pair):
    app = write_app(podrun, IGNORED)
    make_work_tree(app, "a.py", "tracked.log", "secret")
    run = push_events(podrun, pair, "app/", "work")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{f"work/{name}" for name in {*SENT, "tracked.log"}}] * 2
    assert run.start["files"]["ignored"] == 4


def test_a_part_of_a_work_tree_obeys_its_rules(podrun, pair):
    app = write_app(podrun, {".gitignore": b"*.log\n/sub/skipped\n", "sub/skipped": b"1", "sub/a.log": b"2", "sub/a.py": b"3"})
    make_work_tree(app, ".gitignore")
    push(podrun, pair, "app/sub", "work")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"work/sub/a.py"}] * 2


def test_no_ignore_sends_everything(podrun, pair):
    app = write_app(podrun, IGNORED)
    make_work_tree(app, "a.py")
    push(podrun, pair, "--no-ignore", "app/", "work")
    assert_arrived(pair, app, "work")


def test_what_is_named_is_sent_though_it_is_ignored(podrun, pair):
    write_app(podrun, IGNORED)
    push(podrun, pair, "app/a.log", "app/build", "work")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"work/a.log", "work/build/x", "work/build/y/z"}] * 2


def test_exclude_takes_patterns_of_gitignore(podrun, pair):
    tree = {"a.pyc": b"1", "lib/b.pyc": b"2", "top": b"3", "lib/top": b"4", "cache/x": b"5", "lib/cache/y": b"6", "a.py": b"7"}
    write_app(podrun, tree)
    push(podrun, pair, "--exclude", "*.pyc", "--exclude", "/top", "--exclude", "cache/", "app/", "work")
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"work/a.py", "work/lib/top"}] * 2


def test_without_git_there_must_be_nothing_to_obey(podrun, pair):
    programs = podrun.directory / "programs"
    programs.mkdir()
    for name in ("sh", "sleep"):
        (programs / name).symlink_to(shutil.which(name))
    write_app(podrun)
    without = {"PATH": str(programs)}
    for rank in pair.ranks:
        pair.way(rank, f'PATH="$base/bin:{os.environ["PATH"]}"')
    push(podrun, pair, "app", "work", env=without)
    write_app(podrun, IGNORED)
    refused = podrun(*pair.options, "push", "app", "work", env=without)
    assert refused.returncode == 2
    assert refused.stderr == b"podrun: push: git is needed to obey .gitignore (install git)\n"
    push(podrun, pair, "--no-ignore", "app", "work", env=without)


def test_a_repository_of_another_user_is_named_with_gits_own_remedy(podrun, pair):
    app = write_app(podrun, {"a.py": b"1", ".gitignore": b"*.log\n", "a.log": b"2"})
    make_work_tree(app, "a.py")
    shutil.chown(app, 65534)
    refused = podrun(*pair.options, "push", "app", "work")
    assert refused.returncode == 2
    said = refused.stderr.decode()
    assert f"git config --global --add safe.directory {app}" in said and "--no-ignore" not in said, said


def test_what_version_control_keeps_stays_here(podrun, pair):
    write_app(podrun, {f"{name}/x": b"1" for name in (".git", ".hg", ".jj", ".svn", "sub/.hg", ".github")})
    push(podrun, pair, "app/", "work")
    assert files_in(pair, 0) == {"work/.github/x"}


def test_a_destination_is_not_one_hosts(podrun, pair):
    write_app(podrun)
    refused = podrun(*pair.options, "push", "app", "a:dir")
    assert refused.returncode == 2
    assert refused.stderr.decode() == "podrun: push: \"a:dir\": a destination is a path on all hosts (write dir; for one host: --workers N, or -H a)\n"
    push(podrun, pair, "app/", "./a:dir")
    assert "a:dir/.gitignore" in files_in(pair, 0) or files_in(pair, 0)


def test_a_repository_cannot_run_programs_here(podrun, pair):
    app = write_app(podrun, {"a.py": b"1", ".gitignore": b"*.log\n", "a.log": b"2"})
    make_work_tree(app, "a.py")
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "alias.ls-files"):
        git(app, "config", key, f"touch '{podrun.directory}/touched'; false")
    push(podrun, pair, "app/", "work")
    assert not (podrun.directory / "touched").exists()
    assert [files_in(pair, rank) for rank in pair.ranks] == [{"work/a.py", "work/.gitignore"}] * 2


# --dry-run, --json


def test_dry_run_tells_and_changes_nothing(podrun, homes):
    app = write_app(podrun)
    push(podrun, homes, "app/", "work")
    (app / "train.py").write_bytes(b"print('another step')\n")
    homes.write("work", {"stale": b"x"})
    (homes.home(3) / "work" / "zero").unlink()
    before = homes.read_all(times_of=("file", "directory"))
    told = podrun(*homes.options, "push", "--dry-run", "--delete", "app/", "work")
    assert told.returncode == 0, told
    text = told.stdout.decode()
    assert "train.py" in text and "stale" in text and "zero" in text and "util.py" not in text, text
    assert before == homes.read_all(times_of=("file", "directory"))
    homes.wait_until_clean()


def test_json_has_what_was_sent_to_each_host(podrun, homes):
    write_app(podrun, {**APP, ".gitignore": b"*.log\n", "a.log": b"x"})
    run = push_events(podrun, homes, "app", "work")
    assert run.start["files"] == {"sources": ["app"], "target": "work", "count": APP_FILES + 1, "bytes": APP_BYTES + 6, "ignored": 1}
    assert run.outcomes == dict.fromkeys(homes.ranks, "exited")
    for rank in homes.ranks:
        event = run.sent[rank]
        assert (event["host"], event["files"], event["bytes"], event["deleted"]) == (homes.pod.hosts[rank], APP_FILES + 1, APP_BYTES + 6, 0)
    again = push_events(podrun, homes, "app", "work")
    assert {event["files"] for event in again.sent.values()} <= {0}


# Wrong use


@pytest.mark.parametrize(
    "words, said",
    [
        (["push"], "push: "),
        (["push", "app"], "push: "),
        (["push", "none", "work"], "push: none: no such file or directory"),
        (["push", "app/none", "app", "work"], "push: app/none: no such file or directory"),
        (["push", "app/train.py/", "work"], "push: app/train.py/: "),
        (["push", "--skip-unreachable", "app", "work"], "push: --skip-unreachable has no meaning here (leave it out)"),
        (["push", "-k", "app", "work"], "push: --fail-fast has no meaning here (leave it out)"),
        (["push", "--serial", "2", "app", "work"], "push: --serial has no meaning here (leave it out)"),
        (["push", "-I", "app", "work"], "push: --stdin has no meaning here (leave it out)"),
        (["--checksum", "--", "true"], "--checksum is an option of podrun push (podrun push --checksum)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_told(podrun, words, said):
    write_app(podrun)
    refused = podrun(*NOWHERE, *words)
    assert refused.returncode == 2, refused
    line = refused.stderr.decode()
    assert line.startswith(f"podrun: {said}") and line.count("\n") == 1, line


def test_unreachable_hosts_are_named_and_no_host_changes(podrun, homes):
    write_app(podrun)
    ended = events(podrun, "-H", f"{homes.pod.addresses[0]},127.0.0.1:129,{homes.pod.addresses[1]}", *ONE_TRY, "push", "app", "work")
    assert ended.returncode == 255
    assert ended.failures == {1: ("unreachable", "connecting", "refused")}
    assert not any((homes.home(rank) / "work").exists() for rank in homes.ranks)
    homes.wait_until_clean()


# With other commands


def test_what_was_pushed_can_be_run_at_once(podrun, homes):
    write_app(podrun, {"run": File(b"#!/bin/sh\necho $POD_HOST\n", 0o755)})
    push(podrun, homes, "app", "work")
    assert by_rank(podrun.ok(*homes.options, "--", "work/app/run")) == {rank: [b"host%d" % rank] for rank in homes.ranks}
