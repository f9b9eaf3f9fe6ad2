"""Reads the frames of podrun, for relay.py and relay_files.py.

Both have these frames, each a line and its bytes:
  key N                      PEM: private key and certificate
  listen ADDRESS HOST,...    until these hosts have joined, or 2.5 s      answer: port N, or deaf WHY
  drop HOST                  stop serving it                              no answer
and these answers: dropped HOST WHY, failed WHY.

After the handshake a child sends GREETING: id of the push, own number, number of the host that it wants, first missing block. The answer
is ACCEPTED or a reason. Then the parent sends BLOCK_FOLLOWS and a block, or ALIVE once a second while it does not have the next block.
"""

import os
import select
import sys
import threading

from relay_limits import GONE, fail, plain, say, start
from relay_peers import Listener, Tls


class Frames:
    """This thread waits for nothing else."""

    FRAMES = {"key": 1, "listen": 2, "drop": 1}

    def __init__(self):
        self.push = self.host = self.tls = self.window = None
        self.why_no_tls = "it has no key"
        self._input = sys.stdin.buffer  # which may have more than this program

    def run(self):
        while True:
            line = self._input.readline(1 << 14)
            try:
                word, *args = line.decode("ascii").split() or [""]
                if not line.endswith(b"\n") and len(line) < 1 << 14:
                    os._exit(GONE)
                if self.FRAMES.get(word) != len(args) or (word == "start") != (self.window is None):
                    raise ValueError("not expected")
                getattr(self, "_" + word)(*args)
            except ValueError as error:
                fail("protocol error: %s (%s)" % (line[:60].decode("ascii", "replace").strip(), error))

    @staticmethod
    def _number(text, most):
        if not text.isdigit() or len(text) > 18 or int(text) > most:
            raise ValueError("bad number " + text[:20])
        return int(text)

    def _read(self, size, most):
        data = self._input.read(self._number(size, most))
        if len(data) < int(size):
            os._exit(GONE)
        return data

    def _be(self, push, host):
        self.push, self.host = bytes.fromhex(push), self._number(host, 1 << 31)
        if len(self.push) != 16:
            raise ValueError("bad id")

    def _key(self, size):
        pem = self._read(size, 1 << 16)
        try:
            self.tls = Tls(pem)
        except (OSError, ValueError) as error:
            self.why_no_tls = "its key cannot be used: " + plain(error)  # by the settings of its OpenSSL

    def _listen(self, address, hosts):
        hosts = [self._number(each, 1 << 31) for each in hosts.split(",")]
        if not self.tls:
            return say("deaf " + self.why_no_tls)
        try:
            listener = Listener(self, address, hosts)
        except OSError as error:
            return say("deaf " + plain(error))
        with self.window.changed:
            self.window.listeners.append(listener)
        say("port %d" % listener.port)
        start(listener.run)

    def _drop(self, host):
        host = self._number(host, 1 << 31)
        with self.window.changed:
            for each in self.window.listeners:
                each.expected.discard(host)
            children = [each for each in self.window.readers if each.host == host]
            self.window.changed.notify_all()
        for each in children:
            each.leave()


def watch_answers():
    """Nobody reads them: podrun has gone."""
    closed = select.poll()
    closed.register(4, 0)
    closed.poll()
    os._exit(GONE)


def run(frames):
    try:
        threading.stack_size(1 << 19)
        start(watch_answers)
        frames().run()
    except BaseException as problem:
        fail("%s: %s" % (type(problem).__name__, problem))
