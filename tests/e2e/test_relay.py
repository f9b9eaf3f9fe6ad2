"""The program that hands a push on from host to host (lib/podrun/transfer/spread/relay.py): what it takes from whom, and how it ends."""

import contextlib
import errno
import functools
import os
import signal
import socket
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from relays import (
    AHEAD,
    BLOCK,
    HASTY,
    PATIENT,
    PUSH,
    FalseParent,
    Relay,
    TarArchive,
    archive,
    greeting,
    join,
    listeners_of,
    program,
    start_relay,
    text_of,
)
from support import peak_memory, stand_still, wait_until

SMALL = archive(5 * BLOCK + 12345)
MIDDLE = archive(40_000_000)


@pytest.fixture
def hosts(directory, pem):
    """Starts the relay of a host."""
    with contextlib.ExitStack() as stack:

        def start(host=0, data=SMALL, **options):
            started = Relay(directory, options.pop("pem", pem), host, data, **options)
            stack.callback(started.close)
            return started

        yield start


@pytest.fixture
def false_parent(directory, pem):
    with contextlib.ExitStack() as stack:

        def start(serve, pem=pem):
            started = FalseParent(pem, directory, serve)
            stack.callback(started.close)
            return started

        yield start


def finish(*relays):
    for each in relays:
        each.end()
    for each in relays:
        each.assert_complete()


def send_blocks(data):
    def serve(sock):
        sock.sendall(b"+")
        for begin in range(0, len(data), BLOCK):
            sock.sendall(b"B" + data[begin : begin + BLOCK])
        wait_for_end(sock)

    return serve


def wait_for_end(sock):
    with contextlib.suppress(OSError):
        while sock.recv(1):
            pass


# Whole archives


@pytest.mark.smoke
def test_a_host_alone_gets_the_archive_and_then_the_trailer(hosts):
    seed = hosts()
    seed.end()
    seed.sums()
    seed.feed_here()
    seed.assert_complete()
    assert seed.wanted()[0][0] == 0 and seed.wanted()[-1][1] == len(SMALL)
    assert not any(line.startswith(("lost", "failed")) for line in seed.answers), seed.answers


@pytest.mark.smoke
def test_hosts_get_the_archive_from_each_other(hosts):
    seed, first, second, third = (hosts(host, MIDDLE) for host in range(4))
    for each in (third, second, first, seed):
        each.sums()
    port = seed.listen(1, 2)
    first.follow(seed, port)
    second.follow(seed, port)
    third.follow(first)
    for each, parent in ((first, 0), (second, 0), (third, 1)):
        each.answer(f"joined {parent}")
    wait_until(lambda: not listeners_of(seed.process.pid), what="closed after all have joined")
    seed.feed_here()
    finish(seed, first, second, third)


def test_hosts_with_ipv6_addresses(hosts):
    seed, child = hosts(0), hosts(1)
    seed.address = "::1"
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here()
    finish(seed, child)


@pytest.mark.parametrize("size", [0, 1, BLOCK, 2 * BLOCK, 2 * BLOCK + 1])
def test_an_archive_of_any_size(hosts, size):
    seed, child = hosts(0, archive(size)), hosts(1, archive(size))
    seed.sums()
    child.sums()
    child.follow(seed)
    child.answer("joined 0")
    seed.feed_here()
    finish(seed, child)


def test_a_block_waits_for_its_sum(hosts):
    seed, child = hosts(0), hosts(1)
    child.follow(seed)
    seed.feed_here(AHEAD * BLOCK)
    time.sleep(0.2)
    assert not seed.output and len(seed.wanted()) == 1
    seed.sums(0, 2)
    wait_until(lambda: len(seed.output) == 2 * BLOCK)
    seed.sums(2)
    seed.feed()
    time.sleep(0.2)
    assert not child.output
    child.sums()
    finish(seed, child)


def test_a_relay_takes_little_memory(hosts):
    data = archive(200_000_000)
    seed, child = hosts(0, data), hosts(1, data)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here()
    child.answer("at 200000000")
    peaks = [peak_memory(each.process.pid) for each in (seed, child)]
    finish(seed, child)
    assert max(peaks) < 60_000_000, peaks


def test_a_child_that_is_ahead_takes_only_what_it_lacks(hosts):
    seed, child = (hosts(host, hooks="limits:0.3 join:20") for host in range(2))
    child.sums()
    child.feed_here(4 * BLOCK)
    wait_until(lambda: len(child.output) == 4 * BLOCK)
    child.follow(seed)
    child.answer("joined 0")
    seed.sums()
    time.sleep(3)  # twice as long as a silent parent is given
    seed.feed_here()
    finish(seed, child)
    assert not any(line.startswith("lost") for line in child.answers), child.answers


def test_a_child_that_comes_too_late_is_refused(hosts, directory, pem):
    seed = hosts(0, MIDDLE)
    seed.sums()
    seed.feed_here(36 * BLOCK)
    wait_until(lambda: len(seed.output) == 36 * BLOCK)
    child = hosts(1, MIDDLE)
    child.follow(seed)
    child.answer("lost 0 it no longer has the block")
    sock, answer = join(seed, seed.listen(2), pem, directory, greeting(2, 0, 4))
    with sock:
        assert answer == b"+" and sock.recv(1) == b"B"


# Parents that are lost


@pytest.mark.parametrize("way", ["here", "parent"])
def test_an_altered_block_is_refused_and_the_rest_comes_from_elsewhere(hosts, way):
    seed, liar, child = hosts(0), hosts(1, hooks=f"{PATIENT} alter:2"), hosts(2)
    for each in (seed, liar, child):
        each.sums()
    child.follow(liar)
    child.answer("joined 1")
    liar.feed_here()
    child.answer(f"lost {2 * BLOCK} altered block 2")
    wait_until(lambda: len(child.output) == 2 * BLOCK)
    if way == "parent":
        child.follow(seed)
        child.answer("joined 0")
    seed.feed_here()
    if way == "here":
        child.feed_here()
        assert child.wanted()[0][0] == 2 * BLOCK
    finish(seed, liar, child)


def test_a_parent_that_ends_is_lost(hosts, false_parent):
    child = hosts(1)
    child.sums()
    parent = false_parent(lambda sock: sock.sendall(b"+B" + SMALL[:BLOCK] + b"B" + SMALL[BLOCK : BLOCK + 1000]))
    child.follow(parent, parent.port)
    child.answer("joined 8")
    child.answer(f"lost {BLOCK} the connection ended")
    other = hosts(2)
    other.sums()
    child.follow(other)
    other.feed_here()
    finish(other, child)


def test_a_parent_whose_process_dies_is_lost(hosts):
    seed, child = hosts(0), hosts(1)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here(3 * BLOCK)
    wait_until(lambda: len(child.output) == 3 * BLOCK)
    seed.process.kill()
    child.answer(f"lost {3 * BLOCK} .*")
    child.feed_here()
    finish(child)


def test_a_parent_is_lost_when_it_is_silent_though_the_sum_is_known(hosts):
    seed, child = hosts(0, hooks=f"{PATIENT} stall:2"), hosts(1, hooks=HASTY)
    seed.sums()
    child.sums(0, 2)
    child.follow(seed)
    seed.feed_here()
    wait_until(lambda: len(child.output) == 2 * BLOCK)
    time.sleep(1)
    assert not any(line.startswith("lost") for line in child.answers), child.answers
    child.sums(2)
    child.answer(f"lost {2 * BLOCK} silent for 0.5 s")
    child.feed_here()
    finish(child)


def test_podrun_tells_a_child_to_leave_its_parent(hosts):
    seed, child = hosts(0, hooks=f"{PATIENT} stall:2"), hosts(1)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here()
    wait_until(lambda: len(child.output) == 2 * BLOCK)
    child.send("leave")
    child.answer(f"lost {2 * BLOCK} left")
    child.send("leave")
    child.feed_here()
    finish(child)
    seed.send("drop 1")
    assert sum(line.startswith("lost") for line in child.answers) == 1, child.answers
    finish(seed)


def test_a_child_that_has_everything_does_not_leave(hosts):
    seed, child = hosts(0), hosts(1)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here()
    child.answer(f"at {len(child.data)}")
    child.send("leave")
    finish(child, seed)
    assert not any(line.startswith("lost") for line in child.answers), child.answers


def test_a_suspended_parent_is_lost_and_goes_on_later(hosts):
    seed, child = (hosts(host, hooks=HASTY) for host in range(2))
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here(2 * BLOCK)
    wait_until(lambda: len(child.output) == 2 * BLOCK)
    seed.process.send_signal(signal.SIGSTOP)
    child.answer(f"lost {2 * BLOCK} silent for 0.5 s")
    child.feed_here()
    finish(child)
    seed.process.send_signal(signal.SIGCONT)
    seed.answer("dropped 1 connection lost: .*")
    seed.feed()
    finish(seed)


def test_a_suspended_child_does_not_blame_its_parent(hosts):
    seed, child = (hosts(host, hooks="limits:0.3 join:20") for host in range(2))
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here(2 * BLOCK)
    wait_until(lambda: len(child.output) == 2 * BLOCK)
    child.process.send_signal(signal.SIGSTOP)
    time.sleep(3)  # twice as long as a silent parent is given
    child.process.send_signal(signal.SIGCONT)
    seed.feed()
    finish(seed, child)
    assert not any(line.startswith("lost") for line in child.answers), child.answers


def test_a_parent_that_sends_something_else_is_lost(hosts, false_parent):
    child = hosts(1)
    child.sums()
    parent = false_parent(lambda sock: (sock.sendall(b"+x" + SMALL), wait_for_end(sock)))
    child.follow(parent, parent.port)
    child.answer("lost 0 it sent something else than a block")


def test_a_parent_that_cannot_be_reached_is_lost(hosts):
    child = hosts(1, hooks="limits:0.1")
    refusing, full = hosts(2, hooks=f"{PATIENT} refuse"), hosts(3, hooks=f"{PATIENT} hole")
    child.follow(refusing)
    child.answer("lost 0 Connection refused")
    child.follow(full)
    child.answer("lost 0 timed out")
    child.sums()
    child.feed_here()
    finish(child)


def test_a_new_source_takes_the_place_of_the_old_one(hosts, false_parent):
    child = hosts(1)
    child.sums()
    parent = false_parent(lambda sock: (sock.sendall(b"+B" + SMALL[:BLOCK] + b"B" + SMALL[:1000]), wait_for_end(sock)))
    child.follow(parent, parent.port)
    wait_until(lambda: len(child.output) == BLOCK)
    child.feed_here()
    assert child.wanted()[0][0] == BLOCK
    finish(child)
    assert not any(line.startswith("lost") for line in child.answers), child.answers


# Who may take part


def test_a_child_sends_nothing_to_a_parent_with_another_certificate(hosts, keys, false_parent):
    child = hosts(1)
    parent = false_parent(send_blocks(SMALL), keys[1])
    child.follow(parent, parent.port)
    child.answer("lost 0 wrong certificate")
    assert parent.greetings in ([], [b""])


@pytest.mark.parametrize("key", ["other", "none"])
def test_a_parent_sends_nothing_to_a_child_with_another_certificate(hosts, keys, directory, key):
    seed = hosts(0)
    seed.sums()
    seed.feed_here()
    port = seed.listen(1)
    answer = b""
    with contextlib.suppress(OSError):
        _, answer = join(seed, port, keys[1] if key == "other" else None, directory, greeting(1, 0))
    assert answer == b""
    child = hosts(1)
    child.sums()
    child.follow(seed, port)
    finish(seed, child)


@pytest.mark.parametrize(
    "text, answer",
    [
        (greeting(1, 0, push="f" * 32), b"p"),
        (greeting(1, 4), b"h"),
        (greeting(3, 0), b"u"),
        (greeting(1, 0, 7), b"w"),
        (greeting(1, 0, 1 << 63), b"w"),
    ],
)
def test_a_wrong_greeting_is_refused(hosts, pem, directory, text, answer):
    seed = hosts(0)
    port = seed.listen(1)
    sock, said = join(seed, port, pem, directory, text)
    with sock:
        assert said == answer and sock.recv(1) == b""
    sock, said = join(seed, port, pem, directory, greeting(1, 0))
    with sock:
        assert said == b"+"


def test_a_host_joins_once(hosts, pem, directory):
    seed = hosts(0)
    port = seed.listen(1, 2)
    (first, said), (second, again) = (join(seed, port, pem, directory, greeting(1, 0)) for _ in range(2))
    with first, second:
        assert (said, again) == (b"+", b"u")


def test_a_host_that_reaches_itself_notices(hosts):
    child = hosts(1)
    child.send(f"parent {child.address} {child.listen(2)} 0")
    child.answer("lost 0 another host has this address")


def test_strangers_keep_no_child_out(hosts):
    seed, child = hosts(0), hosts(1)
    seed.sums()
    child.sums()
    port = seed.listen(1)
    strangers = [socket.create_connection((seed.address, port)) for _ in range(100)]
    child.follow(seed, port)
    child.answer("joined 0")
    seed.feed_here()
    finish(seed, child)
    for each in strangers:
        each.close()


def test_a_port_is_closed_when_nobody_joins(hosts):
    seed = hosts(0, hooks="limits:0.1")
    seed.listen(1)
    wait_until(lambda: not listeners_of(seed.process.pid))
    seed.sums()
    seed.feed_here()
    finish(seed)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "::ffff:0.0.0.0", "8.8.8.8", "localhost"])
def test_only_an_own_address_is_listened_on(hosts, address):
    seed = hosts(0)
    seed.send(f"listen {address} 1")
    seed.answer("deaf .+")
    assert not listeners_of(seed.process.pid)
    seed.sums()
    seed.feed_here()
    finish(seed)


# Slow hosts


def test_a_child_that_holds_up_the_others_is_dropped(hosts, pem, directory):
    seed, child = hosts(0, MIDDLE, hooks=HASTY), hosts(1, MIDDLE)
    seed.sums()
    child.sums()
    port = seed.listen(1, 5)
    sock, _ = join(seed, port, pem, directory, greeting(5, 0))
    with sock:
        child.follow(seed, port)
        seed.feed_here()
        seed.answer("dropped 5 held up the others for 0.3 s")
        finish(seed, child)


def test_a_child_is_waited_for_until_podrun_drops_it(hosts, pem, directory):
    data = archive(20 * BLOCK)
    seed = hosts(0, data, hooks=HASTY)
    seed.sums()
    sock, _ = join(seed, seed.listen(5), pem, directory, greeting(5, 0))
    with sock:
        seed.feed_here()
        seed.end()
        seed.answer(f"at {len(data)}")
        time.sleep(1)  # ten times what a child may hold up others
        assert seed.process.poll() is None
        seed.send("drop 5")
        seed.assert_complete()


def test_a_child_that_ends_is_dropped_and_may_come_again(hosts, pem, directory):
    seed = hosts(0)
    seed.sums()
    sock, _ = join(seed, seed.listen(5), pem, directory, greeting(5, 0))
    sock.close()
    seed.feed_here()
    seed.answer("dropped 5 connection lost: .*")
    child = hosts(5)
    child.sums()
    child.follow(seed)
    finish(seed, child)


def test_podrun_drops_a_child(hosts):
    seed, child = hosts(0), hosts(1)
    seed.sums()
    child.sums()
    child.follow(seed)
    child.answer("joined 0")
    seed.send("drop 1")
    child.answer("lost 0 .*")
    seed.feed_here()
    finish(seed)
    assert not any(line.startswith("dropped") for line in seed.answers), seed.answers


def test_a_tar_that_holds_up_the_children_is_reported(hosts):
    seed, child = hosts(0, MIDDLE, hooks=HASTY, reads=False), hosts(1, MIDDLE)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here(32 * BLOCK)
    assert "slow" not in seed.answers
    seed.feed(34 * BLOCK)
    seed.answer("slow")
    seed.read()
    seed.feed()
    finish(seed, child)
    assert seed.answers.count("slow") == 1


def test_a_slow_tar_keeps_podrun_waiting_and_no_command(hosts):
    seed = hosts(0, MIDDLE, reads=False)
    seed.sums()
    seed.feed_here(32 * BLOCK)
    seed.feed(seed.wanted()[-1][1])
    assert seed.sent <= (33 + AHEAD) * BLOCK
    seed.listen(1)
    seed.read()
    seed.send("drop 1")
    seed.feed()
    finish(seed)


# The end

FRAMES = [
    b"key 1000\n" + b"x" * 999,
    b"sums 0 6\n" + bytes(100),
    b"listen 127.0.0.1 1\n",
    b"listen 127.0.0.1 1\nlis",
    b"parent 127.0.0.1 1 5\n",
    b"data 0 1000\n" + bytes(500),
    b"drop 1\n",
    b"end 1000\n" + bytes(500),
    b"end 3\nabc",
    b"",
]


@pytest.mark.parametrize("frames", FRAMES, ids=lambda frames: frames[:20].decode().strip() or "nothing")
def test_an_end_of_input_ends_it(hosts, frames):
    seed = hosts(0)
    seed.send("here")
    seed.answer("want .*")
    seed.process.stdin.write(frames)
    port = int(seed.answer("port (.*)")[1]) if frames.startswith(b"listen") else 0
    seed.process.stdin.close()
    seed.wait(3)
    assert not port or socket.socket().connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def test_an_end_of_input_ends_it_whatever_waits(hosts):
    seed = hosts(0, MIDDLE, reads=False)
    child = hosts(1, MIDDLE, reads=False)
    seed.sums()
    child.sums()
    child.follow(seed)
    seed.feed_here(32 * BLOCK)
    child.listen(2)
    assert len(listeners_of(child.process.pid)) == 1
    for each in (seed, child):
        each.process.stdin.close()
        wait_until(lambda each=each: each.process.poll() is not None)
        assert each.process.returncode == 3


def test_answers_that_nobody_reads_end_it(directory):
    reader, writer = os.pipe()
    with start_relay(directory, directory / "errors", stdout=subprocess.DEVNULL, stderr=writer) as process:
        os.close(writer)
        process.stdin.write(b"start %s 0 1 blocks\nhere\n" % PUSH.encode())
        assert os.read(reader, 100) == b"want 0 1\n"
        os.close(reader)
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 3
    assert (directory / "errors").read_bytes() == b""


def test_a_tar_that_has_ended_is_no_lost_parent(hosts):
    seed, child = hosts(0), hosts(1, reads=False)
    seed.sums()
    child.sums()
    child.process.stdout.close()
    child.follow(seed)
    seed.feed_here()
    child.answer("failed tar has closed its input")
    child.wait(4)
    assert not any(line.startswith("lost") for line in child.answers), child.answers


GARBAGE = [
    b"\n",
    b"what\n",
    b"\xff\xfe\n",
    b"x" * 100_000,
    b"here now\n",
    b"leave 1\n",
    b"start %s 0 1 blocks\n" % PUSH.encode(),
    b"key 99999999\n",
    b"sums 7 1\n",
    b"sums 0 7\n",
    b"sums 0 999999999999999999999\n",
    b"sums -1 1\n",
    b"data 0 10\n",
    b"here\ndata 1 10\n",
    b"listen 127.0.0.1 a\n",
    b"parent 127.0.0.1 65536 1\n",
    b"parent 127.0.0.1 1\n",
    b"end 99999999999\n",
]


@pytest.mark.parametrize("frames", GARBAGE, ids=lambda frames: repr(frames[:20]))
def test_garbage_is_a_protocol_error(hosts, frames):
    seed = hosts(0)
    with contextlib.suppress(BrokenPipeError):
        seed.process.stdin.write(frames)
    seed.answer("failed protocol error: .*")
    seed.wait(4)


@pytest.mark.parametrize("line", [f"start {PUSH} 0 1", f"start {PUSH} 0 1 names", f"start {PUSH[2:]} 0 1 heads", "here"])
def test_a_bad_start_is_a_protocol_error(directory, line):
    with start_relay(directory, directory / "errors", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        process.stdin.write(line.encode() + b"\n")
        wait_until(lambda: process.poll() is not None)
        assert process.stderr.read().startswith(b"failed protocol error: ") and process.returncode == 4


def test_podrun_may_send_no_more_than_what_is_wanted(hosts):
    seed = hosts(0, MIDDLE, reads=False)
    seed.feed_here(AHEAD * BLOCK)
    seed.process.stdin.write(b"data %d 1\nx" % (AHEAD * BLOCK))
    seed.answer("failed protocol error: data .*")
    seed.read()
    seed.wait(4)


def test_podruns_own_bytes_are_checked(hosts):
    seed = hosts(0)
    seed.sums()
    seed.data = bytes(len(SMALL))
    with contextlib.suppress(BrokenPipeError):
        seed.feed_here(AHEAD * BLOCK)
    seed.answer("failed block 0 of podrun differs from its sum")
    seed.wait(4)
    assert not seed.output


# Heads of podrun and contents of another host


@functools.lru_cache(maxsize=None)
def tree():
    tar = TarArchive()
    tar.add("new/dir/", kind=tarfile.DIRTYPE, mode=0o755)
    tar.add("new/run", b"#!/bin/sh\n", mode=0o755)
    tar.add("new/long" + "n" * 300, b"contents")
    tar.add("new/link", kind=tarfile.SYMTYPE, linkname="target" + "t" * 3000)
    tar.add("new/big", archive(2 * BLOCK + 12345))
    for number in range(2000):
        tar.add(f"new/{number}", b"%d" % number)
    tar.add("new/empty")
    tar.add("new/last", archive(BLOCK))
    return tar


@functools.lru_cache(maxsize=None)
def long_names(offset):
    """Names that are too long for a header, so many bytes before the end of a block."""
    tar = TarArchive()
    tar.fill_until(BLOCK - offset)
    tar.add("new/" + "n" * 1500, b"contents", mode=0o755)
    tar.fill_until(2 * BLOCK - offset)
    tar.add("new/" + "l" * 600, kind=tarfile.SYMTYPE, linkname="t" * 1500)
    tar.add("new/last", b"contents")
    return tar


def altered(data, *changes):
    """Each change is a text that is there once, and what another host says instead."""
    for old, new in changes:
        assert data.count(old) == 1 and len(old) == len(new), (old, data.count(old))
        data = data.replace(old, new)
    return data


def head_altered(tar, name, begin, new):
    """The first header with this name is another one."""
    at = tar.data.index(name)
    return tar.data[: at + begin] + new + tar.data[at + begin + len(new) :]


ALTERED_HEADS = {
    "mode": head_altered(tree(), b"new/run\0", 100, b"0004755"),
    "name": altered(tree().data, (b"new/run\0", b"new/ru\0\0")),
    "type": head_altered(tree(), b"new/run\0", 156, b"5"),
    "type of a long name": head_altered(tree(), b"././@LongLink\0", 156, b"0"),
    "size": head_altered(tree(), b"new/run\0", 124, b"00000001000"),
    "long name": altered(tree().data, (b"new/long" + b"n" * 300 + b"\0", b"new/lone" + b"n" * 300 + b"\0")),
    "link target": altered(tree().data, (b"target" + b"t" * 3000, b"target/../" + b"t" * 2996)),
    "directory": altered(tree().data, (b"new/dir/\0", b"run/dir/\0")),
}


@pytest.mark.smoke
def test_heads_of_podrun_and_contents_of_another_host(hosts):
    seed, child = hosts(0, tree()), hosts(1, tree())
    child.follow(seed)
    child.answer("joined 0")
    for each in (seed, child):
        each.sums()
    seed.feed_here()
    finish(seed, child)


@pytest.mark.parametrize("offset", [512, 1024, 1536, 2048, 2560])
def test_heads_on_a_block_border(hosts, offset):
    seed = hosts(0, long_names(offset))
    seed.sums()
    seed.feed_here()
    finish(seed)


def test_contents_are_those_that_the_other_host_says(hosts):
    seed = hosts(0, tree())
    seed.data = altered(seed.data, (b"#!/bin/sh\n" + bytes(502), b"#!/bin/ls\n" + b"x" * 502))
    seed.sums()
    seed.feed_here()
    finish(seed)


@pytest.mark.parametrize("data", ALTERED_HEADS.values(), ids=ALTERED_HEADS)
def test_heads_are_refused_that_another_host_altered_also_in_its_sum(hosts, data):
    seed = hosts(0, tree())
    seed.data = data
    seed.sums()
    with contextlib.suppress(BrokenPipeError):
        seed.feed_here(AHEAD * BLOCK)
    seed.answer("failed block 0 of podrun differs from its sum")
    seed.wait(4)
    assert not seed.output


def test_a_parent_with_altered_heads_is_lost(hosts, false_parent):
    child = hosts(1, tree())
    child.data = ALTERED_HEADS["mode"]
    child.sums()
    for _ in range(2):
        parent = false_parent(send_blocks(child.data))
        child.follow(parent, parent.port)
        child.answer("lost 0 altered block 0")
        child.answers.clear()
    assert not child.output


LAST_HEAD = tree().heads[-2][0]  # in a block with many


@pytest.mark.parametrize(
    "at, new",
    [(124, b"00007777777"), (124, b"\x80" + bytes(3) + b"\xff" * 8), (156, b"L"), (512, b"x"), (0, b"other")],
    ids=["size", "large size", "type", "contents", "name"],
)
def test_the_right_block_follows_an_altered_one(hosts, false_parent, at, new):
    begin, right = LAST_HEAD + at, tree().data
    data = right[:begin] + new + right[begin + len(new) :]
    index = begin // BLOCK
    child, seed = hosts(1, tree()), hosts(2, tree())
    for each in (child, seed):
        each.sums()
    parent = false_parent(send_blocks(data))
    child.follow(parent, parent.port)
    child.answer(f"lost {index * BLOCK} altered block {index}")
    child.follow(seed)
    seed.feed_here()
    finish(seed, child)


@pytest.mark.parametrize("way", ["here", "parent"])
def test_a_block_that_waited_for_tar_comes_again_from_elsewhere(hosts, false_parent, way):
    tar = TarArchive()
    for number in range(150):
        tar.add(f"new/{number}", archive(300_000))
    child = hosts(1, tar, reads=False)
    child.sums()
    parent = false_parent(send_blocks(tar.data[: 33 * BLOCK]))
    child.follow(parent, parent.port)
    child.answer("joined 8")
    wait_until(lambda: stand_still([child.process.pid]))
    if way == "parent":
        seed = hosts(2, tar)
        seed.sums()
        child.follow(seed)
        child.answer("joined 2")
        child.read()
        seed.feed_here()
        finish(seed, child)
    else:
        child.send("here")
        child.read()
        child.feed()
        finish(child)


# What relay_window.py reads of heads


def first_mismatch(tar, data=None):
    """The first block that differs from its sum, where another host says this `data`."""
    names = {}
    exec(text_of("transfer/spread/relay_limits", "transfer/spread/relay_window"), names)
    data = tar.data if data is None else data
    sums = names["Sums"](True)
    for index, expected in enumerate(tar.sums(data)):
        if not sums.match(index, memoryview(data)[index * BLOCK : (index + 1) * BLOCK], expected):
            return index
    return None


@pytest.mark.parametrize("tar", [tree(), *map(long_names, (512, 1024, 1536, 2048, 2560))], ids=["tree", 512, 1024, 1536, 2048, 2560])
def test_no_record_of_a_head_can_be_altered(tar):
    assert first_mismatch(tar) is None
    records = [at for begin, end in tar.heads for at in range(begin, end, 512)]
    for at in records[:: 1 + len(records) // 50]:
        for byte in (at, at + 511):
            data = bytearray(tar.data)
            data[byte] ^= 1
            assert first_mismatch(tar, data) == byte // BLOCK


def test_all_contents_and_their_padding_are_the_other_hosts():
    data = bytearray(tree().data)
    end = 0
    for begin, next_end in [*tree().heads, (len(data), None)]:
        data[end:begin] = b"0" * (begin - end)
        end = next_end
    assert first_mismatch(tree(), data) is None


def test_contents_that_look_like_heads():
    tar = TarArchive()
    for _ in range(3):
        tar.add("new/outer", tree().data[: BLOCK + 1000] + long_names(512).data[BLOCK:])
    assert first_mismatch(tar) is None


@pytest.mark.parametrize("field", [b"\x80" + bytes(9) + b"\x04\x01", b"00000002001\0", b"2001 \0\0\0\0\0\0\0", b"00000002001 ", b"000000002001"])
def test_sizes_of_files(field):
    tar = TarArchive()
    tar.add("new/first", archive(1025))
    tar.add("new/second", b"contents")
    tar.overwrite(124, field)
    assert first_mismatch(tar) is None


@pytest.mark.parametrize("field", [bytes(12), b" " * 12, b"00000000000\0", b"0000000000x\0", b"-0000000001\0", b"00000000008\0"])
def test_members_without_contents(field):
    tar = TarArchive()
    tar.add("new/first")
    tar.add("new/second", b"contents")
    tar.overwrite(124, field)
    assert first_mismatch(tar) is None


def test_a_size_of_many_gigabytes():
    size = (1 << 40) + 5
    tar = TarArchive()
    tar.add("new/first", archive(2 * BLOCK))
    tar.overwrite(124, b"\x80" + bytes(3) + size.to_bytes(8, "big"))
    assert first_mismatch(tar) is None and len(tar.sums()) == 3


# The key


def test_a_key_that_cannot_be_used_keeps_others_away(hosts):
    child = hosts(1, pem=b"abc")
    child.send(f"listen {child.address} 2")
    child.answer("deaf its key cannot be used: .+")
    child.send("parent 127.0.0.1 1 0")
    child.answer("lost 0 its key cannot be used: .+")
    child.sums()
    child.feed_here()
    finish(child)


@pytest.mark.parametrize("memfd", [True, False])
def test_the_key_is_never_in_a_file(hosts, pem, directory, memfd):
    without = "" if memfd else "import os\nif hasattr(os, 'memfd_create'):\n    del os.memfd_create\n"
    before = set(os.listdir("/tmp"))
    seed, child = (hosts(host, text=without + program()) for host in range(2))
    seed.sums()
    child.sums()
    child.follow(seed)
    child.answer("joined 0")
    assert {path.name for path in directory.iterdir()} == {"podrun.relay", "errors0", "errors1"}
    for name in set(os.listdir("/tmp")) - before:  # of any program
        with contextlib.suppress(OSError):
            assert pem not in Path("/tmp", name).read_bytes()
    seed.feed_here()
    finish(seed, child)
