"""podrun push of every kind of file and of every name, to every kind of host: what arrives is equal to what is here."""

import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from homes import ONE_TRY, ViaHomes
from pushes import APP, NOWHERE, assert_arrived, assert_up_to_date, push, push_events, write_app
from test_odd_hosts import podrun_as_nobody  # pylint: disable=unused-import
from trees import BEGIN, NAMES, Directory, File, Link, assert_same, deep_path, read_tree, remove, set_time, write_tree


# Every name


def tree_of_names(number):
    """All of them as files, directories and links; a generation differs from the one before."""
    tree = {}
    for place, name in enumerate(NAMES):
        tree[b"files/" + name] = b"%d" % (1000**number + place)
        tree[b"directories/" + name + b"/inside " + name[:200]] = b"%d" % (1000**number + place)
        tree[b"links/" + name] = Link(name if number == 1 else b"../files/" + name)
    return tree


def assert_names_arrive(podrun, homes):
    for generation in (1, 2):
        names = write_app(podrun, tree_of_names(generation), "names")
        push(podrun, homes, "names/", "work")
        assert_arrived(homes, names, "work")
        assert_up_to_date(podrun, homes, "names/", "work")
    for rank in homes.ranks:
        assert {path.name for path in homes.home(rank).iterdir()} <= {"work", "bin", ".ssh"}


def test_any_name_arrives(podrun, homes):
    assert_names_arrive(podrun, homes)
    homes.wait_until_clean()


@pytest.mark.parametrize("name", [name for name in NAMES if name != b"--help"][:30], ids=repr)
def test_any_name_can_be_a_source(podrun, pair, name):
    write_tree(podrun.directory / "sources", {name: b"content"})
    push(podrun, pair, b"./" + name, "work/", cwd=podrun.directory / "sources")
    assert_arrived(pair, podrun.directory / "sources", "work")


@pytest.mark.parametrize("size", [1000, 3000, 4000])
def test_long_paths_arrive(podrun, homes, size):
    # The local path is longer than a path may be, since the test's directory comes in front.
    path = deep_path(size - len(b"deep/"))
    deep = write_app(podrun, {path: b"deep", path + b".link": Link(b"x" * 1000)} if size < 4000 else {path: b"deep"}, "deep")
    push(podrun, homes, "deep", "work")
    assert_arrived(homes, deep, "work/deep")
    assert_up_to_date(podrun, homes, "deep", "work")


# Every kind of file


def test_links_arrive_as_they_are(podrun, pair):
    app = write_app(
        podrun,
        {
            "file": b"x",
            "directory/inside": b"y",
            "to a file": Link(b"file"),
            "to a directory": Link(b"directory"),
            "with a slash": Link(b"directory/"),
            "dangling": Link(b"not there"),
            "absolute": Link(b"/etc/hostname"),
            "outside": Link(b"../../.."),
            "to itself": Link(b"to itself"),
            "long": Link(b"l" * 4000),
            "two\nlines": Link(b"two\nlines\n"),
        },
    )
    push(podrun, pair, "app", "work")
    assert_arrived(pair, app, "work/app")
    assert_up_to_date(podrun, pair, "app", "work")


def test_a_source_that_is_a_link(podrun, pair):
    app = write_app(podrun)
    (podrun.directory / "latest").symlink_to("app")
    push(podrun, pair, "latest", "work/")
    assert [os.readlink(pair.home(rank) / "work" / "latest") for rank in pair.ranks] == ["app"] * 2
    push(podrun, pair, "latest/", "contents")
    assert_arrived(pair, app, "contents")


@pytest.mark.parametrize("umask", ["022", "077"])
def test_modes_arrive(podrun, homes, umask):
    for rank in homes.ranks:
        (homes.home(rank) / ".bashrc").write_text(f"umask {umask}\n")
    modes = [0o400, 0o444, 0o600, 0o644, 0o664, 0o666, 0o700, 0o755, 0o777, 0o4755, 0o1644]
    directories = [0o500, 0o555, 0o700, 0o750, 0o755, 0o775, 0o777, 0o1777]
    tree = {f"file {mode:o}": File(b"x", mode) for mode in modes} | {f"directory {mode:o}": Directory(mode) for mode in directories}
    app = write_app(podrun, tree)
    app.chmod(0o750)
    push(podrun, homes, "app/", "work")
    assert_arrived(homes, app, "work")
    assert [(homes.home(rank) / "work").stat().st_mode & 0o7777 for rank in homes.ranks] == [0o750] * 4


def test_times_of_files_and_directories_arrive(podrun, pair):
    times = {"old": 1, "before 1970": -86400, "after 2038": 1 << 33, "now": BEGIN}
    app = write_app(podrun, {**{f"{name}/file": b"x" for name in times}, **{name: Directory() for name in times}})
    for name, seconds in times.items():
        set_time(app / name / "file", seconds)
        set_time(app / name, seconds)
    push(podrun, pair, "app", "work")
    assert_arrived(pair, app, "work/app", times_of=("file", "directory"))
    assert_up_to_date(podrun, pair, "app", "work")


def test_a_read_only_tree_arrives_again_and_again(podrun, homes):
    for content in (b"first", b"second one"):
        tree = {"a/b/file": File(content, 0o444), "a/other": File(b"same", 0o400), "a/b": Directory(0o555), "a": Directory(0o555)}
        app = write_app(podrun, tree)
        push(podrun, homes, "app", "work")
        assert_arrived(homes, app, "work/app")


def test_files_of_one_content_with_several_names_arrive(podrun, pair):
    app = write_app(podrun)
    os.link(app / "train.py", app / "lib" / "train.py")
    push(podrun, pair, "app", "work")
    assert_arrived(pair, app, "work/app")


def test_a_file_with_holes_arrives(podrun, pair):
    app = write_app(podrun, {"holes": File(b"begin", size=48 << 20), "after": b"x"})
    push(podrun, pair, "app", "work")
    assert_arrived(pair, app, "work/app")


def test_sockets_and_pipes_are_named_and_left_out(podrun, pair):
    app = write_app(podrun)
    os.mkfifo(app / "a pipe")
    ended = podrun(*pair.options, "push", "app", "work")
    assert ended.returncode == 0 and b"app/a pipe" in ended.stderr
    (app / "a pipe").unlink()
    assert_arrived(pair, app, "work/app")


# What becomes something else

TURNS = {
    "a file becomes a directory": ({"x": b"old"}, {"x/inside": b"new"}),
    "a directory becomes a file": ({"x/deep/inside": b"old", "x/empty": Directory()}, {"x": b"new"}),
    "a link becomes a directory": ({"x": Link(b"other"), "other/kept": b"k"}, {"x/kept": b"new", "other/kept": b"k"}),
    "a directory becomes a link": ({"x/kept": b"old", "other/kept": b"k"}, {"x": Link(b"other"), "other/kept": b"k"}),
    "a link becomes a file": ({"x": Link(b"kept"), "kept": b"k"}, {"x": b"new", "kept": b"k"}),
    "a file becomes a link": ({"x": b"old", "kept": b"k"}, {"x": Link(b"kept"), "kept": b"k"}),
    "a link gets another target": ({"x": Link(b"one")}, {"x": Link(b"another")}),
    "a file gets shorter": ({"x": b"long " * 1000}, {"x": b"short"}),
    "an empty file gets content": ({"x": b""}, {"x": b"content"}),
}


def test_what_becomes_something_else(podrun, homes):
    for generation in (0, 1, 0):
        app = write_app(podrun, {f"{name}/{path}": node for name, turn in TURNS.items() for path, node in turn[generation].items()})
        push(podrun, homes, "app/", "work")
        assert_arrived(homes, app, "work")


def test_nothing_is_written_through_a_link_on_the_host(podrun, pair):
    app = write_app(podrun, {"data/file": b"new", "plain": b"new"})
    for rank in pair.ranks:
        pair.write("outside", {"file": b"of the host"}, [rank])
        pair.write("work", {"data": Link(b"../outside"), "plain": Link(b"../outside/file")}, [rank])
    push(podrun, pair, "app/", "work")
    assert_arrived(pair, app, "work")
    assert [(pair.home(rank) / "outside" / "file").read_bytes() for rank in pair.ranks] == [b"of the host"] * 2


LINKED = {"data/file": b"new", "data/sub/inside": b"newer", "data/new/deep/file": b"newest", "plain": b"p"}


def linked(podrun, homes, link, ranks=None):
    """The hosts have a link in the place of a directory that is pushed."""
    app = write_app(podrun, LINKED)
    homes.write("disk", {"file": b"of the host", "only there": b"x", "sub": Link(b"../other")}, ranks)
    homes.write("other", {"inside": b"of the host"}, ranks)
    homes.write("work", {"plain": b"old", "stale": b"s"})
    homes.write("work", {"data": Link(link)}, ranks)
    return app


@pytest.mark.parametrize("options", [(), ("--keep-dir-links",)], ids=["", "keep"])
def test_a_link_that_a_directory_replaces_is_told(podrun, pair, options):
    app = linked(podrun, pair, b"../nowhere" if options else b"../disk", [1])
    told = podrun(*pair.options, "push", *options, "--dry-run", "app/", "work")
    assert told.stdout.count(b"  replace link data\n") == 1, told
    assert b"1 link would be replaced by a directory" in told.stderr, told
    assert (pair.home(1) / "work" / "data").is_symlink()
    run = push_events(podrun, pair, *options, "app/", "work")
    assert [run.sent[rank]["links_replaced"] for rank in pair.ranks] == [0, 1]
    assert b"1 link replaced by a directory" in run.stderr, run.stderr
    assert not (pair.home(1) / "work" / "data").is_symlink()
    assert (pair.home(1) / "disk" / "file").read_bytes() == b"of the host"
    for rank in pair.ranks:
        assert_same(read_tree(app), {path: node for path, node in pair.read(rank, "work").items() if path != b"stale"})
    assert_up_to_date(podrun, pair, *options, "app/", "work")


def assert_links_are_kept(podrun, homes, link, *options):
    app = linked(podrun, homes, link)
    words = ["--keep-dir-links", *options, "app/", "work"]
    before = homes.read_all()
    assert podrun(*homes.options, "push", "--dry-run", *words).returncode == 0
    assert homes.read_all() == before
    run = push_events(podrun, homes, *words)
    (app / "data" / "file").chmod(0o640)
    set_time(app / "data" / "sub" / "inside", BEGIN + 12345)
    push(podrun, homes, *words)
    expected = {path: node for path, node in read_tree(app / "data").items() if not path.startswith(b"sub")}
    for rank in homes.ranks:
        assert run.sent[rank]["links_replaced"] == 0
        assert os.readlink(homes.home(rank) / "work" / "data") == os.fsdecode(link)
        assert os.readlink(homes.home(rank) / "disk" / "sub") == "../other"
        found = homes.read(rank, "disk")
        assert found.keys() == {b"only there", b"sub", *expected}
        assert_same(expected, {path: node for path, node in found.items() if path in expected})
        assert_same(read_tree(app / "data" / "sub"), homes.read(rank, "other"))
        assert (homes.home(rank) / "work" / "stale").exists() == ("--delete" not in options)
    assert_up_to_date(podrun, homes, *words)
    homes.wait_until_clean()


@pytest.mark.parametrize("options", [(), ("--delete",), ("--checksum",)], ids=" ".join)
def test_a_link_to_a_directory_is_kept(podrun, pair, options):
    assert_links_are_kept(podrun, pair, b"../disk", *options)


def test_any_sh_keeps_a_link_to_a_directory(podrun_any_shell):
    homes = ViaHomes(podrun_any_shell, "a", "busybox", "no-gzip")
    only_busybox(homes, 1)
    homes.without_programs(2, "gzip")
    assert_links_are_kept(podrun_any_shell, homes, b"../disk")


@pytest.fixture
def memory():
    """A directory on another file system than that of the test's own directory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield Path(directory)


def test_a_link_to_another_file_system_is_kept(podrun, pair, memory):
    app = linked(podrun, pair, os.fsencode(memory) + b"/x", [1])
    write_tree(memory / "x", {"file": b"of the host", "sub/only there": b"x"})
    for _ in range(2):
        push(podrun, pair, "--keep-dir-links", "app/", "work")
        assert_same(read_tree(app / "data"), {path: node for path, node in read_tree(memory / "x").items() if path != b"sub/only there"})
        (app / "data" / "file").chmod(0o600)
        (app / "data" / "sub").chmod(0o700)
        set_time(app / "data" / "file", BEGIN + 54321)
    assert os.readlink(pair.home(1) / "work" / "data") == f"{memory}/x"
    assert (pair.home(0) / "work" / "data").is_dir()
    pair.wait_until_clean()


def test_a_kept_link_to_another_file_system_than_the_shared_one_is_refused(podrun, memory):
    homes = ViaHomes(podrun, "a", "b")
    homes.share_home(1, 0)
    linked(podrun, homes, os.fsencode(memory), [0])
    ended = podrun(*homes.options, "push", "--keep-dir-links", "app/", "work")
    assert ended.returncode == 255 and b"data: a link to another file system" in ended.stderr, ended
    assert not list(memory.iterdir())
    homes.wait_until_clean()
    for rank in homes.ranks:
        podrun.ok(*homes.on(rank), "push", "--keep-dir-links", "app/", "work")
    assert (memory / "file").read_bytes() == LINKED["data/file"]


@pytest.mark.parametrize("link", [b"data", b"../work/stale", b"../work/data/x"], ids=repr)
def test_a_link_that_leads_nowhere_is_replaced(podrun, pair, link):
    app = linked(podrun, pair, link)
    push(podrun, pair, "--keep-dir-links", "--delete", "app/", "work")
    assert_arrived(pair, app, "work")
    assert_up_to_date(podrun, pair, "--keep-dir-links", "--delete", "app/", "work")


@pytest.mark.parametrize("link", [b".", b"..", b"real", b"/"], ids=repr)
def test_a_kept_link_into_what_delete_works_in_is_refused(podrun, pair, link):
    linked(podrun, pair, link)
    pair.write("work", {"real/file": b"r"})
    before = pair.read_all()
    ended = podrun(*pair.options, "push", "--keep-dir-links", "--delete", "app/", "work")
    assert ended.returncode == 255 and b"destination, where --delete may delete" in ended.stderr, ended
    assert pair.read_all() == before
    if link == b"/":
        return
    push(podrun, pair, "--keep-dir-links", "app/", "work")
    assert [(pair.home(rank) / "work" / os.fsdecode(link) / "sub" / "inside").read_bytes() for rank in pair.ranks] == [b"newer"] * 2
    assert_up_to_date(podrun, pair, "--keep-dir-links", "app/", "work")


def test_a_destination_that_is_a_link_to_a_directory_stays_one(podrun, pair):
    app = write_app(podrun)
    for rank in pair.ranks:
        (pair.home(rank) / "disk").mkdir()
        (pair.home(rank) / "work").symlink_to("disk")
    push(podrun, pair, "app/", "work")
    assert_arrived(pair, app, "disk")
    assert all((pair.home(rank) / "work").is_symlink() for rank in pair.ranks)


def test_who_reads_the_old_file_goes_on_reading_it(podrun, pair):
    app = write_app(podrun)
    push(podrun, pair, "app", "work")
    there = [pair.home(rank) / "work" / "app" / "train.py" for rank in pair.ranks]
    for path in there:
        os.link(path, path.with_name("another name"))
    (app / "train.py").write_bytes(b"print('another step')\n")
    with open(there[0], "rb") as first, open(there[1], "rb") as second:
        push(podrun, pair, "app", "work")
        assert [file.read() for file in (first, second)] == [APP["train.py"]] * 2
    assert [path.with_name("another name").read_bytes() for path in there] == [APP["train.py"]] * 2
    assert [path.read_bytes() for path in there] == [b"print('another step')\n"] * 2


# Other hosts


def test_any_sh_stages_and_switches(podrun_any_shell):
    assert_names_arrive(podrun_any_shell, ViaHomes(podrun_any_shell, "a", "b"))


def only_busybox(homes, rank):
    busybox = shutil.which("busybox") or pytest.skip("busybox is not installed")
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    homes.only_programs(rank, dict.fromkeys(applets, busybox))
    homes.way(rank, 'PATH="$base/bin:$base/programs"; set -- "$base/programs/sh"')


@pytest.mark.smoke
def test_hosts_with_other_programs_get_the_same(podrun):
    homes = ViaHomes(podrun, "all", "busybox", "no-gzip", "no-openssl", "least")
    only_busybox(homes, 1)
    homes.without_programs(2, "gzip")
    homes.without_programs(3, "openssl")
    homes.without_programs(4, "gzip", "openssl", "b2sum", "python3", "perl", "rsync")
    assert_names_arrive(podrun, homes)
    app = write_app(podrun, {**APP, "latest": Link(b"lib/util.py"), "read-only/file": File(b"x", 0o444), "read-only": Directory(0o555)})
    push(podrun, homes, "--delete", "--force", "app/", "work")
    assert_arrived(homes, app, "work")
    homes.wait_until_clean()


def test_a_host_whose_openssl_does_not_work_uses_another_program(podrun, pair):
    pair.program(1, "openssl", "echo 'openssl: error while loading shared libraries' >&2; exit 127")
    app = write_app(podrun, {"large": random.Random(1).randbytes(5_000_000)})
    push(podrun, pair, "app/", "work")
    assert_arrived(pair, app, "work")
    assert_up_to_date(podrun, pair, "--checksum", "app/", "work")


def test_large_files_are_checked_while_others_come(podrun):
    homes = ViaHomes(podrun, "all", "busybox")
    only_busybox(homes, 1)
    values = random.Random(1)
    app = write_app(podrun, {f"shards/{name}": File(values.randbytes(100_000_000), 0o440) for name in ("a", "b", "new\nline")})
    write_tree(app, {"shards/later": values.randbytes(20_000_000), "small": b"s"})
    set_time(app / "shards/later", 2**31)  # later than the push
    push(podrun, homes, "app/", "work")
    assert_arrived(homes, app, "work")
    homes.wait_until_clean()


def test_a_busybox_host_takes_changes_and_what_becomes_something_else(podrun, pair):
    for rank in pair.ranks:
        only_busybox(pair, rank)
    for generation in (0, 1, 0):
        app = write_app(podrun, {f"{name}/{path}": node for name, turn in TURNS.items() for path, node in turn[generation].items()})
        push(podrun, pair, "app/", "work")
        assert_arrived(pair, app, "work")
    times = {"before 1970": -86400, "after 2038": 1 << 33}
    app = write_app(podrun, dict.fromkeys(times, b"x"))
    for name, seconds in times.items():
        set_time(app / name, seconds)
    push(podrun, pair, "--delete", "--force", "app/", "work")
    assert_arrived(pair, app, "work")


def test_start_up_files_that_print_do_no_harm(podrun, homes):
    (homes.home(1) / ".bashrc").write_text("echo hello from .bashrc; echo error and an error >&2\n")
    app = write_app(podrun)
    ended = podrun(*homes.options, "push", "app/", "work")
    assert ended.returncode == 0
    assert_arrived(homes, app, "work")


def test_sudo_writes_where_only_root_may(podrun_as_nobody):
    podrun = podrun_as_nobody("ALL")
    hosts = ("-H", "local[0-1]", *ONE_TRY)
    app = write_app(podrun, {name: node for name, node in APP.items() if name not in ("secret", "empty")})
    app.chmod(0o755)
    target = podrun.directory / "target"
    target.mkdir(mode=0o755)
    refused = podrun(*hosts, "push", "/tmp/app", "/tmp/target/")
    assert refused.returncode == 255
    assert not list(target.iterdir())
    podrun.ok(*hosts, "--sudo", "push", "/tmp/app", "/tmp/target/")
    assert_same(read_tree(app), read_tree(target / "app"))
    assert {path.lstat().st_uid for path in target.rglob("*")} == {0}


def test_a_busybox_host_sets_modes_without_root_too(podrun_as_nobody):
    podrun = podrun_as_nobody("ALL")
    (podrun.directory / "target").mkdir()
    (podrun.directory / "target").chmod(0o777)
    tree = {"run": File(b"1", 0o755), "open": File(b"2", 0o666), "shared": Directory(0o775), "shared/x": File(b"3", 0o644)}
    app = write_tree(podrun.directory / "app", tree)
    app.chmod(0o755)
    programs = podrun.directory / "programs"
    programs.mkdir()
    programs.chmod(0o755)
    busybox = shutil.which("busybox")
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        (programs / applet).symlink_to(busybox)
    podrun.ok("--via", "env PATH=/tmp/programs NAME={host}", "-H", "a", *ONE_TRY, "push", "/tmp/app", "/tmp/target/")
    assert_same(read_tree(app), read_tree(podrun.directory / "target" / "app"))


def test_delete_removes_directories_that_their_owner_may_not_write_to(podrun_as_nobody):
    podrun = podrun_as_nobody("ALL")
    target = podrun.directory / "target"
    target.mkdir()
    target.chmod(0o777)
    app = write_tree(podrun.directory / "app", {"kept": b"1", "old/read-only/closed/file": b"2"})
    words = ("-H", "local", "push", "--delete", "/tmp/app", "/tmp/target")
    podrun.ok(*words)
    remove(app / "old")
    (target / "app" / "old" / "read-only" / "closed").chmod(0o555)
    (target / "app" / "old" / "read-only").chmod(0o555)
    podrun.ok(*words)
    assert_same(read_tree(app), read_tree(target / "app"))


def test_a_file_that_cannot_be_read_is_named_before_anything_starts(podrun_as_nobody):
    podrun = podrun_as_nobody("ALL")
    write_app(podrun)
    refused = podrun(*NOWHERE, "push", "/tmp/app", "/tmp/target/")
    assert refused.returncode == 2
    assert b"/tmp/app/secret" in refused.stderr and b"permission denied" in refused.stderr
