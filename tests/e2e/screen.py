"""A terminal with a program, and what is to be seen there: pyte emulates one behind a pseudo-terminal."""

import copy
import fcntl
import os
import pty
import select
import shlex
import struct
import subprocess
import termios
import time

import pyte

from support import checked, limit


def words(podrun, *args):
    return " ".join(shlex.quote(word) for word in podrun.arguments(args))


class Emulated(pyte.HistoryScreen):
    """With the alternate screen of other terminals, which pyte does not know."""

    ALTERNATE = 1049

    def __init__(self, *words, **options):
        self.kept = None
        super().__init__(*words, **options)

    @property
    def is_alternate(self):
        return self.kept is not None

    def set_mode(self, *modes, **options):
        super().set_mode(*modes, **options)
        if self.ALTERNATE in modes and not self.is_alternate:
            self.kept = copy.deepcopy(self.buffer), copy.copy(self.cursor)
            self.erase_in_display(2)

    def reset_mode(self, *modes, **options):
        super().reset_mode(*modes, **options)
        if self.ALTERNATE in modes and self.is_alternate:
            (buffer, self.cursor), self.kept = self.kept, None
            self.buffer.clear()
            self.buffer.update(buffer)


class Screen:
    """A program on a terminal of its own, and what is to be seen there."""

    def __init__(self, argv, env, cwd, columns=100, rows=24):
        self._screen = Emulated(columns, rows, history=100_000, ratio=0.001)
        self._stream = pyte.ByteStream(self._screen)
        self._master, self.tty = pty.openpty()
        self.bytes = b""
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=self.tty,
            stdout=self.tty,
            stderr=self.tty,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, columns, rows=24):
        self._screen.resize(rows, columns)
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self._master, keys.encode())

    def watch(self, seconds):
        """What is written in this time."""
        before = len(self.bytes)
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)
        return self.bytes[before:]

    def _read(self, seconds):
        if select.select([self._master], [], [], seconds)[0]:
            self.bytes += (data := os.read(self._master, 65536))
            self._stream.feed(data)

    @property
    def lines(self):
        """All lines, with those that have left the screen at its top; blank ones at the end left out."""
        left = ["".join(row[x].data for x in range(max(row, default=-1) + 1)).rstrip() for row in self._screen.history.top]
        return "\n".join(left + [line.rstrip() for line in self._screen.display]).rstrip("\n").split("\n")

    @property
    def shown(self):
        """The lines on the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def is_alternate(self):
        return self._screen.is_alternate

    def cell(self, row, column):
        return self._screen.buffer[row][column]

    @property
    def last(self):
        return self.lines[-1]

    def wait_for(self, shown, seconds=20):
        """Until `shown(self)`, or until the last line is `shown`."""
        condition = shown if callable(shown) else lambda screen: screen.last == shown
        deadline = time.monotonic() + limit(seconds)
        while not condition(self):
            assert time.monotonic() < deadline, "not shown; the screen:\n" + "\n".join(self.lines)
            self._read(0.05)

    def wait(self, seconds=30):
        """Until its end: the status."""
        deadline = time.monotonic() + limit(seconds)
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "still running; the screen:\n" + "\n".join(self.lines)
            self._read(0.05)
        seen = None
        while seen != len(self.bytes):  # the kernel hands on what was written when it comes to it
            seen = len(self.bytes)
            self.watch(0.1)
        return checked(subprocess.CompletedProcess(self.process.args, self.process.returncode, self.bytes, self.bytes)).returncode

    def close(self):
        """Whatever still runs there is hung up."""
        os.close(self.tty)
        os.close(self._master)
        self.process.wait(limit(20))
