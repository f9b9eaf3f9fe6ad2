"""The program that serves a host's files in a push (lib/podrun/transfer/spread/relay_files.py): its sums, digests and bytes, and how it ends."""

import contextlib
import gzip
import hashlib
import os
import signal
import subprocess
import tarfile
import time

import pytest

from relays import BLOCK, PATIENT, PUSH, FilesRelay, Relay, TarArchive, archive, greeting, identity_of, join, pack_plan, start_relay, sums_of
from support import peak_memory, wait_until

KEPT = 16  # blocks that are ready for other hosts
LARGE = 16 << 20  # push.sh takes the digests of files with so many bytes before those of the others
BIG = 40_000_000  # more blocks than those
NOBODY = "limits:20 join:0"  # waits for no other host
HASTY = "limits:0.1 join:20"
TIME = 1_700_000_000


class Files:
    """Files of a host, and the archive of them."""

    def __init__(self, directory):
        self._directory = directory
        self.tar, self.members, self._counting = TarArchive(), [], []

    def add(self, name, contents=b"", counts=True, **fields):
        """Writes a file; its path."""
        path = self._directory / f"file{len(self.members)}"
        path.write_bytes(contents)
        os.utime(path, (TIME, TIME))
        head = self.tar.add("new/" + name, contents, mtime=TIME, **fields)
        self.members.append((head, len(contents), TIME, counts, os.fsencode(path), len(path.name), *identity_of(path)))
        if counts:
            self._counting.append(contents)
        return path

    def add_head(self, name, kind, **fields):
        """Of a directory or a link."""
        self.members.append((self.tar.add("new/" + name, kind=kind, **fields), 0, TIME, 0, b""))

    @property
    def data(self):
        return self.tar.data

    def digest(self, kind):
        """What push.sh prints after "staged"."""
        large = [each for each in self._counting if len(each) >= LARGE]
        small = [each for each in self._counting if len(each) < LARGE]
        lines = "".join(hashlib.new(kind, each).hexdigest() + "\n" for each in large + small)
        return hashlib.new(kind, lines.encode()).hexdigest()


@pytest.fixture
def files(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    return Files(place)


@pytest.fixture
def started(directory):
    """Starts the program that serves files, or the relay of a host that gets them."""
    with contextlib.ExitStack() as stack:

        def start(kind, *words, **options):
            host = kind(directory, *words, **options)
            stack.callback(host.close)
            return host

        yield start


@pytest.fixture
def serve(started, files, pem):
    """Serves `files`."""

    def start(**options):
        size, members = options.pop("size", len(files.data)), options.pop("members", files.members)
        return started(FilesRelay, pem, size, members, **options)

    return start


@pytest.fixture
def child(started, files, pem):
    """A host that has podrun's sums of all, and gets the files from others."""

    def start(host, **options):
        relay = started(Relay, pem, host, files.tar, **options)
        relay.sums()
        relay.end()
        return relay

    return start


def all_sums(server, files):
    expected = sums_of(files.data)
    wait_until(lambda: len(server.sums()) == len(expected), what="all sums")
    assert server.sums() == expected


def add_everything(files):
    files.add_head("dir/", tarfile.DIRTYPE, mode=0o750)
    files.add("dir/empty")
    files.add("dir/byte", b"x", mode=0o600)
    files.add("unreadable", b"by its owner, on the hosts that get it", counts=False, mode=0o044)
    files.add_head("link", tarfile.SYMTYPE, linkname="dir/byte")
    files.add("first large", archive(LARGE))
    for size in (511, 512, 513, BLOCK - 513, BLOCK - 512, BLOCK - 511, BLOCK, BLOCK + 1):
        files.add(f"size {size}", archive(size))
    files.add("n" * 60 + "/" + "m" * 60, b"a name that is too long for a header")
    files.add_head("long/" + "d" * 3000 + "/", tarfile.DIRTYPE)
    files.add_head("k" * 300, tarfile.SYMTYPE, linkname="t" * 1000)
    files.add("second large", archive(LARGE + 1))
    files.add("not large", archive(LARGE - 1))
    for number in range(2000):
        files.add(f"many/{number}", b"%d" % number)
    files.add("last and empty")


def read_blocks(sock, count):
    """What a host gets whose connection this is."""
    blocks = bytearray()
    data = sock.makefile("rb")
    for _ in range(count):
        while (mark := data.read(1)) == b".":
            pass
        assert mark == b"B", mark
        blocks += data.read(BLOCK)
    return bytes(blocks)


# The archive


@pytest.mark.smoke
def test_its_archive_is_the_one_that_tar_makes(serve, files):
    add_everything(files)
    server = serve(hooks=NOBODY)
    for kind in ("sha256", "blake2b"):
        assert server.digest(kind) == files.digest(kind)
    all_sums(server, files)
    for begin in range(0, len(files.data), 5 * BLOCK + 333):
        size = min(BLOCK, len(files.data) - begin)
        assert server.give(begin, size) == files.data[begin : begin + size]


@pytest.mark.parametrize("size", [0, 1, 512, BLOCK - 1024, BLOCK - 1023, BLOCK - 513, BLOCK - 512, BLOCK - 511, BLOCK, 2 * BLOCK - 512])
def test_contents_that_end_near_a_block_border(serve, files, size):
    files.add("first", archive(size))
    files.add("empty")
    files.add("last", b"contents")
    server = serve()
    assert server.digest("sha256") == files.digest("sha256")
    all_sums(server, files)
    for offset in range(0, len(files.data), BLOCK):
        part = files.data[offset : offset + BLOCK]
        assert server.give(offset, len(part)) == part


def test_long_names_on_a_block_border(serve, files):
    for number in range(1, 7):
        files.add("filler", archive(number * BLOCK - 512 * number - len(files.data) - 512))
        files.add_head("long/" + "d" * 2000 + "/", tarfile.DIRTYPE)
        files.add(f"after {number}", b"contents")
    server = serve()
    assert server.digest("blake2b") == files.digest("blake2b")
    all_sums(server, files)


def test_an_archive_without_files(serve, files):
    files.add_head("dir/", tarfile.DIRTYPE)
    server = serve()
    assert server.digest("sha256") == files.digest("sha256")
    all_sums(server, files)


def test_an_archive_without_members(serve, files):
    server = serve()
    assert server.digest("sha256") == files.digest("sha256")
    assert server.sums() == []


def test_it_gives_bytes_whose_sums_are_not_known(serve, files):
    files.add("big", archive(BIG))
    server = serve()
    server.listen(5)  # which does not join
    wait_until(lambda: len(server.sums()) == KEPT + 1)
    end = len(files.data)
    for offset, size in ((0, 0), (0, 1), (511, 2), (BLOCK - 1, 2), (3 * BLOCK, BLOCK), (35 * BLOCK + 7, BLOCK), (end - 1000, 1000), (end, 0)):
        assert server.give(offset, size) == files.data[offset : offset + size]
    assert len(server.sums()) == KEPT + 1


def test_it_answers_in_the_order_in_which_it_was_asked(serve, files):
    files.add("big", archive(4 * BLOCK))
    server = serve()
    asked = [(number * 77777, 100_000 + number) for number in range(30)]
    for offset, size in asked:
        server.send(f"give {offset} {size}")
    server.answer("data %d %d" % asked[-1])
    assert [line for line in server.answers if line.startswith("data")] == ["data %d %d" % each for each in asked]
    assert all(server.given[offset] == files.data[offset : offset + size] for offset, size in asked)


@pytest.mark.parametrize("who", ["listen 127.0.0.1 1", "give 0 1"])
def test_sums_wait_for_the_first_reader(serve, files, who):
    files.add("big", archive(BIG))
    server = serve()
    wait_until(lambda: len(server.sums()) == KEPT + 1)
    time.sleep(0.2)
    assert len(server.sums()) == KEPT + 1
    server.send(who)
    if who.startswith("listen"):
        server.send("drop 1")
    all_sums(server, files)


def test_it_says_no_more_sums_than_podrun_wants(serve, files):
    files.add("big", archive(6 * BLOCK))
    server = serve(sums=2, hooks=NOBODY)
    server.answer("sums 1 .*")
    assert server.give(5 * BLOCK, 10) == files.data[5 * BLOCK : 5 * BLOCK + 10]
    assert len(server.sums()) == 2
    server.send("sums 7")
    all_sums(server, files)


def test_digests_that_are_asked_for_late(serve, files):
    files.add("large", archive(LARGE))
    files.add("big", archive(BIG))
    server = serve(hooks=NOBODY)
    all_sums(server, files)
    for kind in ("blake2b", "sha256"):
        server.send(f"digest {kind}")
    for kind in ("blake2b", "sha256"):
        assert server.answer(f"digest {kind} (.*)")[1] == files.digest(kind)


def test_it_takes_little_memory(serve, files, pem, directory):
    path = files.add("big")
    size, count = 200_000_000, 191
    os.truncate(path, size)
    os.utime(path, (TIME, TIME))
    server = serve(size=512 + -(-size // 512) * 512, members=[(bytes(512), size, TIME, 1, *files.members[0][4:])], hooks=HASTY)
    server.send("digest sha256")
    port = server.listen(4, 5)
    (slow, _), (fast, _) = (join(server, port, pem, directory, greeting(host, 0)) for host in (4, 5))
    with slow, fast:
        read_blocks(fast, count)
        for offset in range(0, size - BLOCK, 10 * BLOCK):
            assert server.give(offset, BLOCK)[512:] == bytes(BLOCK - 512)
        read_blocks(slow, count)
    server.answer("digest .*")
    assert peak_memory(server.process.pid) < 60_000_000, peak_memory(server.process.pid)


# Other hosts


def test_a_host_gets_everything_from_it(serve, child, files):
    add_everything(files)
    server = serve()
    relay = child(1)
    relay.follow(server)
    relay.answer("joined 0")
    relay.assert_complete()
    all_sums(server, files)


def test_a_host_that_joins_when_the_first_one_has_everything(serve, child, files):
    files.add("big", archive(BIG))
    server = serve()
    for host in (1, 2):
        relay = child(host)
        relay.follow(server)
        relay.assert_complete()
    assert server.process.poll() is None
    assert not any(line.startswith(("dropped", "failed")) for line in server.answers), server.answers


def test_two_hosts_at_once_and_one_behind_them(serve, child, files):
    files.add("big", archive(BIG))
    server = serve()
    first, second, third = (child(host) for host in (1, 2, 3))
    port = server.listen(1, 2)
    third.follow(second)
    third.answer("joined 2")
    for each in (first, second):
        each.follow(server, port)
    for each in (first, second, third):
        each.assert_complete()
    all_sums(server, files)


@pytest.mark.parametrize("first", [3, 38, 39])
def test_a_host_goes_on_from_any_block(serve, files, pem, directory, first):
    files.add("big", archive(BIG))
    count = len(sums_of(files.data))
    server = serve(hooks=HASTY)
    sock, answer = join(server, server.listen(5), pem, directory, greeting(5, 0, first))
    with sock:
        assert answer == b"+" and count == 39
        assert read_blocks(sock, count - first) == files.data[first * BLOCK :]
        assert sock.recv(1) == b""


def test_a_host_that_has_a_part_already(serve, child, files):
    for number in range(9):
        files.add(f"number {number}", archive(700_000))
    relay = child(1)
    relay.feed_here(5 * BLOCK)
    wait_until(lambda: len(relay.output) == 5 * BLOCK)
    server = serve()
    relay.follow(server)
    relay.assert_complete()


def test_a_host_gets_the_right_bytes_when_others_no_longer_wait_for_it(serve, child, files, pem, directory):
    files.add("big", archive(50 * BLOCK))
    count = len(sums_of(files.data))
    server = serve(hooks=HASTY)
    port = server.listen(1, 5)
    sock, _ = join(server, port, pem, directory, greeting(5, 0))
    with sock:
        relay = child(1)
        relay.follow(server, port)
        relay.assert_complete()
        all_sums(server, files)
        assert read_blocks(sock, count) == files.data


def test_a_digest_is_right_when_a_host_is_slow(serve, files, pem, directory):
    files.add("big", archive(BIG))
    server = serve(hooks=HASTY)
    sock, _ = join(server, server.listen(5), pem, directory, greeting(5, 0))
    with sock:
        assert server.digest("sha256") == files.digest("sha256")


def test_podrun_gets_the_rest_while_a_host_reads_nothing(serve, files, pem, directory):
    files.add("big", archive(BIG))
    server = serve(hooks=HASTY)
    sock, _ = join(server, server.listen(5), pem, directory, greeting(5, 0))
    with sock:
        for offset in range(0, len(files.data), BLOCK):
            wait_until(lambda offset=offset: len(server.sums()) > offset // BLOCK, what="the next sum")
            part = files.data[offset : offset + BLOCK]
            assert server.give(offset, len(part)) == part


def test_podrun_drops_a_host(serve, child, files):
    files.add("big", archive(BIG))
    server = serve(hooks=f"{PATIENT} stall:2")
    relay = child(1)
    relay.follow(server)
    relay.answer("joined 0")
    wait_until(lambda: len(relay.output) == 2 * BLOCK)
    server.send("drop 1")
    relay.answer(f"lost {2 * BLOCK} .*")
    all_sums(server, files)


def test_a_host_whose_connection_is_lost_comes_again(serve, child, files, pem, directory):
    files.add("big", archive(BIG))
    server = serve()
    sock, _ = join(server, server.listen(1), pem, directory, greeting(1, 0))
    sock.close()
    server.answer("dropped 1 connection lost: .*")
    relay = child(1)
    relay.follow(server)
    relay.assert_complete()


def test_hosts_of_another_push_get_nothing(serve, keys, files, directory):
    files.add("file", b"contents")
    server = serve()
    port = server.listen(1)
    answer = b""
    with contextlib.suppress(OSError):
        _, answer = join(server, port, keys[1], directory, greeting(1, 0))
    assert answer == b""
    for text, reason in ((greeting(1, 0, push="f" * 32), b"p"), (greeting(1, 4), b"h"), (greeting(3, 0), b"u"), (greeting(1, 0, 7), b"w")):
        sock, answer = join(server, port, keys[0], directory, text)
        with sock:
            assert answer == reason and sock.recv(1) == b""


def test_it_serves_podrun_without_a_key(started, files):
    files.add("file", archive(BLOCK))
    server = started(FilesRelay, None, len(files.data), files.members)
    server.send("listen 127.0.0.1 1")
    server.answer("deaf it has no key")
    assert server.give(0, BLOCK) == files.data[:BLOCK]


# Files that are not as podrun knows them


def grow(path):
    path.write_bytes(path.read_bytes() + b"x")
    os.utime(path, (TIME, TIME))


def shrink(path):
    os.truncate(path, 1000)
    os.utime(path, (TIME, TIME))


def empty(path):
    os.truncate(path, 0)
    os.utime(path, (TIME, TIME))


def become_link(path):
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def become_another(path):
    path.rename(path.with_name("moved"))
    path.write_bytes(path.with_name("moved").read_bytes())
    os.utime(path, (TIME, TIME))


def become_fifo(path):
    path.unlink()
    os.mkfifo(path)
    os.utime(path, (TIME, TIME))


def become_directory(path):
    path.unlink()
    path.mkdir()


CHANGED = "changed while it was being copied"
CHANGES = [
    (grow, CHANGED),
    (shrink, CHANGED),
    (empty, CHANGED),
    (lambda path: os.utime(path, (TIME, TIME + 1)), CHANGED),
    (os.unlink, "cannot be read: No such file or directory"),
    (become_link, CHANGED),
    (become_another, CHANGED),
    (become_fifo, CHANGED),
    (become_directory, CHANGED),
]
NAMES = ["grew", "shrank", "was emptied", "was written to", "vanished", "became a link", "became another file", "became a FIFO", "became a directory"]
if os.geteuid() != 0:
    CHANGES.append((lambda path: path.chmod(0), "cannot be read: Permission denied"))
    NAMES.append("became unreadable")


@pytest.mark.parametrize("change, why", CHANGES, ids=NAMES)
def test_a_file_that_changed_ends_it(serve, files, change, why):
    files.add("first", b"contents")
    path = files.add("second", archive(2 * BLOCK))
    change(path)
    server = serve()
    server.answer(f"failed {path}: {why}")
    server.wait(4)


@pytest.mark.parametrize("word, is_served", [("", True), ("files/", False), ("files/a/", False)])
def test_no_link_below_the_word_of_the_user_is_followed(serve, files, tmp_path, word, is_served):
    """Nor is one that leads to the same file."""
    inner = tmp_path / "files/a/b"
    inner.mkdir(parents=True)
    path = inner / "x"
    path.write_bytes(b"contents")
    os.utime(path, (TIME, TIME))
    below = len(os.fsencode(path.relative_to(tmp_path / word))) if word else 0
    files.members.append((files.tar.add("new/x", b"contents"), 8, TIME, 1, os.fsencode(path), below, *identity_of(path)))
    inner.rename(tmp_path / "moved")
    inner.symlink_to(tmp_path / "moved")
    server = serve()
    if is_served:
        all_sums(server, files)
    else:
        server.answer(f"failed {path}: {CHANGED}")
        server.wait(4)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for another owner")
def test_a_file_of_another_owner_ends_it(serve, files):
    path = files.add("file", b"contents")
    os.chown(path, 12345, -1)
    server = serve()
    server.answer(f"failed {path}: {CHANGED}")
    server.wait(4)


@pytest.mark.parametrize("change, why", CHANGES[1:7:2], ids=NAMES[1:7:2])
def test_a_file_that_changes_after_its_sums_ends_it(serve, files, change, why):
    path = files.add("file", archive(2 * BLOCK))
    server = serve()
    all_sums(server, files)
    change(path)
    server.send(f"give {BLOCK} 1")
    server.answer(f"failed {path}: {why}")
    server.wait(4)


def test_a_file_that_changes_while_a_host_gets_it(serve, child, files):
    path = files.add("big", archive(BIG))
    server = serve(hooks=f"{PATIENT} stall:2")
    relay = child(1)
    relay.follow(server)
    wait_until(lambda: len(server.sums()) == KEPT + 3)
    grow(path)
    server.send("drop 1")
    server.answer(f"failed {path}: {CHANGED}")
    server.wait(4)
    relay.answer("lost .*")
    assert relay.output == files.data[: len(relay.output)]


def test_a_path_with_odd_bytes_is_named(serve, files, tmp_path):
    path = os.fsencode(tmp_path) + b"/a\nb\xff"
    files.members.append((files.tar.add("new/file", b"x"), 1, TIME, 1, path))
    server = serve()
    server.answer(r"failed .*/a\?b\?: cannot be read: No such file or directory")
    server.wait(4)


def test_files_that_are_named_by_relative_paths(serve, files, directory):
    (directory / "relative").write_bytes(b"contents")
    os.utime(directory / "relative", (TIME, TIME))
    files.members.append((files.tar.add("new/file", b"contents"), 8, TIME, 1, b"relative", 0, *identity_of(directory / "relative")))
    all_sums(serve(), files)


@pytest.mark.parametrize("seconds, stored", [(-1.5, -2), (1.9, 1), (2**33 + 0.5, 2**33)])
def test_times_are_whole_seconds(serve, files, tmp_path, seconds, stored):
    path = files.add("file", b"contents")
    os.utime(path, ns=(0, int(seconds * 10**9)))
    files.members[0] = files.members[0][:2] + (stored,) + files.members[0][3:]
    all_sums(serve(), files)


# Protocol errors

SMALL_PLAN = [(TarArchive().add("new/dir/", kind=tarfile.DIRTYPE), 0, TIME, 0, b"")] * 4  # 2048 bytes
PACKED = pack_plan(SMALL_PLAN)


def plan_frame(packed):
    return b"plan %d\n" % len(packed) + packed


GARBAGE = {
    "a word": b"what\n",
    "no text": b"\xff\xfe\n",
    "a long line": b"x" * 100_000,
    "a frame of relay.py": b"here\n",
    "listen to no number": b"listen 127.0.0.1 a\n",
    "a digest of another kind": b"digest md5\n",
    "give no number": b"give x 1\n",
    "sums after the end": b"sums 2\n",
    "give a number with a sign": b"give +0 1\n",
    "give after the end": b"give 2048 1\n",
    "give over the end": b"give 2000 49\n",
    "give without a size": b"give 0\n",
}
PLANS = {
    "too long": b"plan 9999999999\n",
    "not gzip": plan_frame(b"x" * 100),
    "empty": plan_frame(b""),
    "truncated": plan_frame(PACKED[:-1]),
    "altered": plan_frame(PACKED[:-8] + bytes(8)),
    "no deflate": plan_frame(PACKED[:10] + b"\xff" * 50),
    "of a smaller archive": plan_frame(pack_plan(SMALL_PLAN[:3])),
    "of a larger archive": plan_frame(pack_plan(SMALL_PLAN + SMALL_PLAN[:1])),
    "a line without numbers": plan_frame(gzip.compress(b"a b c d e\n")),
    "negative": plan_frame(gzip.compress(b"512 -1 0 0 0\n" + bytes(512))),
    "a head that is cut short": plan_frame(gzip.compress(b"2048 0 0 0 0\n" + bytes(512))),
    "a second one": plan_frame(PACKED) + plan_frame(PACKED),
}


@pytest.mark.parametrize("frames", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_a_protocol_error(serve, frames):
    server = serve(size=2048, members=SMALL_PLAN)
    with contextlib.suppress(BrokenPipeError):
        server.process.stdin.write(frames)
    server.answer("failed protocol error: .*")
    server.wait(4)


def test_more_than_a_block_at_a_time_is_a_protocol_error(serve, files):
    files.add("file", archive(2 * BLOCK))
    server = serve()
    server.send(f"give 0 {BLOCK + 1}")
    server.answer("failed protocol error: give .*")
    server.wait(4)


@pytest.mark.parametrize("frames", PLANS.values(), ids=PLANS)
def test_a_bad_plan_ends_it(serve, frames):
    server = serve(size=2048, members=None)
    with contextlib.suppress(BrokenPipeError):
        server.process.stdin.write(frames)
    server.answer("failed .*")
    server.wait(4)


@pytest.mark.parametrize("line", [f"start {PUSH} 0", "start ff 0 1", f"start {PUSH} 0 9999999999999999", f"plan {len(PACKED)}"])
def test_a_bad_start_is_a_protocol_error(directory, line):
    with start_relay(directory, directory / "errors", name="RelayFiles", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        process.stdin.write(line.encode() + b"\n")
        wait_until(lambda: process.poll() is not None)
        assert process.stderr.read().startswith(b"failed protocol error: ") and process.returncode == 4


# The end

ENDS = {
    "nothing": b"",
    "a line": b"give 0",
    "a plan": b"plan 1000\n" + bytes(999),
    "digests": b"digest sha256\ndigest blake2b\n",
    "a port": b"listen 127.0.0.1 1\n",
    "bytes that are asked for": b"give 0 1048576\n" * 100,
}


@pytest.mark.parametrize("frames", ENDS.values(), ids=ENDS)
def test_an_end_of_input_ends_it(serve, files, frames):
    files.add("big", archive(BIG))
    server = serve()
    server.answer("sums 0 .*")
    server.process.stdin.write(frames)
    server.process.stdin.close()
    server.wait(3)


def test_an_end_of_input_ends_it_while_a_host_reads_nothing(serve, files, pem, directory):
    files.add("big", archive(BIG))
    server = serve()
    sock, _ = join(server, server.listen(5), pem, directory, greeting(5, 0))
    with sock:
        wait_until(lambda: len(server.sums()) > KEPT)
        server.process.stdin.close()
        server.wait(3)


def test_an_end_of_input_ends_it_while_nobody_reads_its_answers(serve, files):
    files.add("big", archive(BIG))
    server = serve(reads=False)
    server.process.stdin.write(b"give 0 1048576\n" * 100)
    server.process.stdin.close()
    wait_until(lambda: server.process.poll() is not None)
    assert server.process.returncode == 3
    server.process.stderr.close()


def test_an_end_of_input_ends_it_while_it_waits_for_a_plan(serve):
    server = serve(size=1000, members=None)
    server.process.stdin.close()
    server.wait(3)


def test_answers_that_nobody_reads_end_it(directory):
    reader, writer = os.pipe()
    with start_relay(directory, directory / "errors", name="RelayFiles", stdout=subprocess.DEVNULL, stderr=writer) as process:
        os.close(writer)
        process.stdin.write(b"start %s 0 2048\n" % PUSH.encode() + plan_frame(PACKED) + b"sums 1\n")
        assert os.read(reader, 7) == b"sums 0 "
        os.close(reader)
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 3
    assert (directory / "errors").read_bytes() == b""


def test_a_suspended_host_goes_on_later(serve, child, files):
    files.add("big", archive(BIG))
    server = serve()
    relay = child(1)
    relay.follow(server)
    wait_until(lambda: len(relay.output) > BLOCK)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    server.process.send_signal(signal.SIGCONT)
    relay.assert_complete()
