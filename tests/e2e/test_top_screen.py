"""The full screen of podrun top, as a terminal shows it."""

import os
import re
import signal
import termios

import pytest

from screen import words
from support import SANITIZED, wait_until
from tops import NVIDIA, hosts_of, rounds

NOBODY = "127.0.0.99:9"  # where nothing listens
ROW = re.compile(r" +(\d) 127\.0\.0\.\d")


@pytest.fixture
def hosts(pods, podrun):
    """Five hosts with GPUs, one of which is idle."""
    with hosts_of(pods, podrun, 5, NVIDIA) as hosts:
        for rank in hosts.ranks:
            hosts.gpus(rank, rounds(busy="10" if rank == 2 else "98"))
        yield hosts


def rows(screen):
    """The worker numbers of the list."""
    return [int(row[1]) for line in screen.shown if (row := ROW.match(line))]


def has(*texts):
    """Each is in a line of the screen."""
    return lambda screen: all(any(text in line for line in screen.shown) for text in texts)


def is_complete(screen):
    """All hosts are shown, with figures of their GPUs."""
    return sorted(rows(screen)) == [0, 1, 2, 3, 4] and any(re.match(r" +0 127\.0\.0\.2 +98 ", line) for line in screen.shown)


@pytest.mark.smoke
@pytest.mark.deadline(120)
def test_its_pages_and_keys(on_screen, hosts):
    screen = on_screen("top", *hosts.options, "--interval", "1s", columns=80)
    before = termios.tcgetattr(screen.tty)
    screen.wait_for(is_complete)
    assert screen.is_alternate and termios.tcgetattr(screen.tty) != before
    assert screen.shown[0].startswith("podrun top   5 hosts, 20 × GPU")
    screen.wait_for(has("up 5", "20 busy"))

    screen.wait_for(lambda s: rows(s)[0] == 2)  # the odd one
    screen.type("/[1-4] odd\r")
    screen.wait_for(lambda s: rows(s) == [2] and has("filter [1-4] odd")(s))
    screen.type("\x1b")
    screen.wait_for(is_complete)
    screen.type("s")  # by number
    screen.wait_for(lambda s: rows(s) == [0, 1, 2, 3, 4])
    screen.type("ss")
    screen.wait_for(lambda s: rows(s)[0] == 2)
    screen.type("f")
    screen.wait_for(lambda s: rows(s) == [2] and has("alike: [0-1,3-4]")(s) or has("alike: [0,1,3,4]")(s))
    screen.type("f")
    screen.wait_for(is_complete)
    screen.type("m ")
    screen.wait_for(lambda s: " hold " in s.shown[0])
    screen.type(" +")
    screen.wait_for(lambda s: " hold " not in s.shown[0])
    screen.type("-")
    screen.wait_for(lambda s: " 2 s " in s.shown[0])
    screen.type("+")
    screen.wait_for(lambda s: " 1 s " in s.shown[0])
    screen.type("K")
    screen.wait_for(has("kill --workers 2"))
    screen.type("?")
    screen.wait_for(has("podrun top: keys"))
    screen.type("?")
    screen.wait_for(is_complete)

    screen.type("n\r")
    screen.wait_for(has("worker 2", "RAM", "ssh 2 -t top"))
    assert not rows(screen)
    for columns, lines in ((40, 12), (200, 50), (80, 24)):
        screen.resize(columns, lines)
        screen.wait_for(lambda s, lines=lines: len(s.shown) == lines and s.shown[0].startswith("podrun top   worker 2") and s.shown[-1].startswith("Esc back"))
    screen.type("\x1b")
    screen.wait_for(is_complete)
    for columns, lines in ((40, 12), (200, 50), (80, 24)):
        screen.resize(columns, lines)
        screen.wait_for(lambda s, lines=lines: len(s.shown) == lines and s.shown[0].startswith("podrun top") and s.shown[-1].startswith("j k move") and has("up 5")(s))
    screen.wait_for(is_complete)

    screen.type("q")
    assert screen.wait() == 0
    assert not screen.is_alternate and not any(screen.shown)
    assert termios.tcgetattr(screen.tty) == before
    hosts.wait_until_left_alone()


def test_keys_that_are_typed_before_the_screen_is_there(open_screen, podrun):
    typed = podrun.directory / "typed"
    waiting = ["sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done; exec "$@"', typed]
    screen = open_screen(list(map(str, [*waiting, *podrun.arguments(["top", "-H", "local"])])))
    screen.type("?")
    typed.touch()
    screen.wait_for(has("podrun top: keys"))
    screen.type("q")
    assert screen.wait() == 0


def test_ctrl_z_and_back(shell, podrun, hosts):
    screen = shell()
    screen.type(words(podrun, "top", *hosts.options) + "\n")
    screen.wait_for(is_complete)
    screen.type("\x1a")
    screen.wait_for(lambda s: not s.is_alternate and any("Stopped" in line for line in s.shown) and s.last == "$")
    screen.type("echo sa''ne\n")
    screen.wait_for(lambda s: "sane" in s.shown and s.last == "$")
    screen.type("fg\n")
    screen.wait_for(lambda s: s.is_alternate and is_complete(s))
    screen.type("q")
    screen.wait_for(lambda s: not s.is_alternate and s.last == "$")
    screen.type("echo $? aft''er\n")
    screen.wait_for(lambda s: "0 after" in s.shown)
    screen.type("exit\n")
    screen.wait()


# A sanitizer takes SIGSEGV for a finding.
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP] + ([] if SANITIZED else [signal.SIGSEGV])


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_that_ends_it_gives_the_terminal_back(on_screen, number):
    screen = on_screen("top", "-H", "local", columns=80)
    before = termios.tcgetattr(screen.tty)
    screen.wait_for(has("up 1"))
    os.kill(screen.process.pid, number)
    screen.wait_for(lambda s: not s.is_alternate)
    assert abs(screen.wait()) in (number, 128 + number)
    wait_until(lambda: termios.tcgetattr(screen.tty) == before, what="the terminal as it was")
    assert screen.bytes.endswith((b"\x1b[?1049l", b"\n")), screen.bytes[-100:]


def test_hostile_names_and_a_host_that_was_never_there(on_screen, hosts):
    name = "e\\033[1;1Hvil\\033[7m"
    hosts.on_host(1, f"name=$(printf '{name}'); cp /bin/sleep \"$HOME/$name\"; setsid \"$HOME/$name\" 1000 5</dev/nvidia1 </dev/null >/dev/null 2>&1 &")
    addresses = ",".join([*hosts.pod.addresses, NOBODY])
    screen = on_screen("top", "-H", addresses, "--interval", "1s", columns=80)
    screen.wait_for(has("up 5", "lost 1"))
    assert any(re.match(r" +5 127\.0\.0\.99 .* x connecting: connection refu", line) for line in screen.shown), screen.shown
    screen.type("/[1]\r")
    screen.wait_for(lambda s: rows(s) == [1])
    screen.type("\r")
    screen.wait_for(has("worker 1", "vil"))
    assert b"\x1b[1;1Hvil" not in screen.bytes and b"vil\x1b[7m" not in screen.bytes
    assert screen.shown[0].startswith("podrun top   worker 1")
    screen.type("\x03")
    assert screen.wait() == 130
    assert not screen.is_alternate
    hosts.on_host(1, 'for p in /proc/[0-9]*; do case $(readlink $p/exe) in "$HOME"/*) kill -9 ${p#/proc/} ;; esac; done')
    hosts.wait_until_left_alone()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_show_it(on_screen, term):
    screen = on_screen("top", "-H", "local", env={"TERM": term})
    assert screen.wait() == 2
    assert b"--once" in screen.bytes and b"\x1b" not in screen.bytes
