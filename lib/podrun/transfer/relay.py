"""Takes the archive of a push from another host, or from podrun, and hands it to tar and to other hosts.

push.sh runs it with `python3 -I -S`, Python 3.6 or newer. Standard input has frames, descriptor 4 takes answers, standard output is
tar's input. The archive has SIZE bytes in blocks of 1 MiB. Each block is checked against podrun's SHA-256 before tar or a host gets it.
Hosts connect by TLS with one certificate that only the hosts of this push have. An end of standard input ends this program at once.

Frames, each a line and its bytes:
  start PUSH HOST SIZE       id of the push (32 hex digits), own number, bytes of the archive
  key N                      PEM: private key and certificate
  sums FIRST N               32 bytes for each block: silence of the parent counts once the sum of the wanted block is known
  listen ADDRESS HOST,...    until these hosts have joined, or 2.5 s                  answer: port N, or deaf WHY
  parent ADDRESS PORT HOST   go on from the first missing block                      answer: joined HOST, or lost OFFSET WHY (also later)
  here                       podrun sends the rest                                   answer: want FROM TO (again with a higher TO)
  data OFFSET N              from the FROM of the first `want` on, never above the TO of the last one
  drop HOST                  stop serving it                                         no answer
  end N                      the trailer
Other answers: at OFFSET, dropped HOST WHY, slow, failed WHY.

After the handshake a child sends GREETING: id of the push, own number, number of the host that it wants, first missing block. The answer
is ACCEPTED or a reason. Then the parent sends BLOCK_FOLLOWS and a block, or ALIVE once a second while it does not have the next block.
"""

import hashlib
import os
import select
import socket
import ssl
import sys
import threading
import time

from relay_limits import BLOCK, GONE, HOLD_UP, JOIN, SILENCE, TICK, Lost, fail, plain, say, start
from relay_peers import ACCEPTED, ALIVE, BLOCK_FOLLOWS, GREETING, REASONS, Listener, Tls, receive
from relay_window import AHEAD, Tar, Window


class Source:
    """Fills the window, from one source at a time."""

    def __init__(self, relay):
        self.relay, self.window, self.arrived, self.allowed = relay, relay.window, 0, 0
        self._order = None

    def set(self, *order):
        with self.window.changed:
            self._order = [*order]
            self.allowed = 0  # until this thread has left the old source
            self.window.changed.notify_all()

    def run(self):
        order = None
        while True:
            with self.window.changed:
                self.window.changed.wait_for(lambda: self._order is not order)
                order = self._order
            is_current = lambda order=order: self._order is order
            if order[0] == "here":
                self._take_from_podrun(is_current)
                continue
            try:
                self._take_from_host(is_current, *order[1:])
            except (OSError, ValueError, Lost) as error:
                if is_current():
                    say("lost %d %s" % (self.window.head * BLOCK, self._reason(error)))

    @staticmethod
    def _reason(error):
        if getattr(error, "reason", None) == "CERTIFICATE_VERIFY_FAILED":
            return "wrong certificate"
        if isinstance(error, ssl.SSLError) and "eof" in str(error).lower():
            return "the connection ended"
        return "timed out" if isinstance(error, socket.timeout) else plain(error)

    def _take_from_podrun(self, is_current):
        window = self.window
        self.arrived = window.head * BLOCK
        while self._allow_more(is_current) and window.head < window.count:
            end = min(window.size, (window.head + 1) * BLOCK)
            with window.changed:
                window.changed.wait_for(lambda: not is_current() or self.arrived >= end)
            if is_current() and not self._check(is_current):
                fail("block %d of podrun differs from its sum" % window.head)
            if not window.publish(is_current):
                return

    def _allow_more(self, is_current):
        with self.window.changed:
            if not is_current():
                return False
            self.allowed = min(self.window.size, (self.window.head + AHEAD) * BLOCK)
            answer = "want %d %d" % (self.arrived, self.allowed)
        say(answer)
        return True

    def _check(self, is_current):
        """Whether the block at `head` is the right one, or does not matter any more."""
        window = self.window
        with window.changed:
            window.changed.wait_for(lambda: not is_current() or window.sum_of(window.head))
        return not is_current() or hashlib.sha256(window.block(window.head)).digest() == window.sum_of(window.head)

    def _take_from_host(self, is_current, address, port, host):
        window = self.window
        sock = self._join(address, port, host)
        try:
            say("joined %d" % host)
            sock.settimeout(TICK)
            mark = memoryview(bytearray(1))
            while window.head < window.count and self._fill(sock, mark, is_current):
                if mark == ALIVE:
                    continue
                if mark != BLOCK_FOLLOWS:
                    raise Lost("it sent something else than a block")
                if not self._fill(sock, window.block(window.head), is_current):
                    return
                if not self._check(is_current):
                    raise Lost("altered block %d" % window.head)
                window.publish(is_current)
        finally:
            sock.close()

    def _join(self, address, port, host):
        raw = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        try:
            raw.settimeout(JOIN)
            raw.connect((address, port))
            sock = raw = self.relay.tls.wrap(raw, server_side=False)
            deadline = time.monotonic() + JOIN
            self.relay.tls.handshake(sock)
            sock.sendall(GREETING.pack(self.relay.push, self.relay.host, host, self.window.head))
            answer = receive(sock, 1, deadline)
            if answer != ACCEPTED:
                raise Lost(REASONS.get(answer, "it refused"))
            return sock
        except BaseException:
            raw.close()
            raise

    def _fill(self, sock, view, is_current):
        """False if the source changed. Silence does not count while this process is suspended, or the sum of the block is not known."""
        quiet, last = 0.0, time.monotonic()
        while view:
            if not is_current():
                return False
            try:
                got = sock.recv_into(view)
                if not got:
                    raise Lost("the connection ended")
                view, quiet = view[got:], 0.0
            except socket.timeout:
                quiet = quiet + min(time.monotonic() - last, 2 * TICK) if self.window.sum_of(self.window.head) else 0.0
                if quiet > SILENCE:
                    raise Lost("silent for %g s" % SILENCE)
            last = time.monotonic()
        return True


class Relay:
    """Reads the frames. This thread waits for nothing else."""

    FRAMES = {"start": 3, "key": 1, "sums": 2, "listen": 2, "parent": 3, "here": 0, "data": 2, "drop": 1, "end": 1}

    def __init__(self):
        self.push = self.host = self.tls = self.window = self.tar = self.source = None
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

    def _start(self, push, host, size):
        self.push, self.host = bytes.fromhex(push), self._number(host, 1 << 31)
        if len(self.push) != 16:
            raise ValueError("bad id")
        self.window = Window(self._number(size, 1 << 50))
        self.tar, self.source = Tar(self.window), Source(self)
        self.window.readers.append(self.tar)
        start(self.tar.run)
        start(self.source.run)
        start(self._watch)

    def _key(self, size):
        pem = self._read(size, 1 << 16)
        try:
            self.tls = Tls(pem)
        except (OSError, ValueError) as error:
            fail("the key cannot be used: " + plain(error))

    def _sums(self, first, number):
        first, number = self._number(first, self.window.count), self._number(number, 1 << 16)
        if first + number > self.window.count:
            raise ValueError("no such block")
        self.window.add_sums(first, self._read(str(32 * number), 1 << 21))

    def _listen(self, address, hosts):
        hosts = [self._number(each, 1 << 31) for each in hosts.split(",")]
        if not self.tls:
            raise ValueError("no key")
        try:
            listener = Listener(self, address, hosts)
        except OSError as error:
            return say("deaf " + plain(error))
        with self.window.changed:
            self.window.listeners.append(listener)
        say("port %d" % listener.port)
        start(listener.run)

    def _parent(self, address, port, host):
        if not self.tls:
            raise ValueError("no key")
        self.source.set("parent", address, self._number(port, 65535), self._number(host, 1 << 31))

    def _here(self):
        self.source.set("here")

    def _data(self, offset, size):
        offset, size = self._number(offset, self.window.size), self._number(size, 1 << 18)
        if offset != self.source.arrived or offset + size > self.source.allowed:
            raise ValueError("not wanted")
        for piece in self.window.pieces(offset, size):
            if self._input.readinto(piece) < len(piece):
                os._exit(GONE)
        with self.window.changed:
            self.source.arrived += size
            self.window.changed.notify_all()

    def _drop(self, host):
        host = self._number(host, 1 << 31)
        with self.window.changed:
            for each in self.window.listeners:
                each.expected.discard(host)
            children = [each for each in self.window.readers if each is not self.tar and each.host == host]
            self.window.changed.notify_all()
        for each in children:
            each.leave()

    def _end(self, size):
        trailer = self._read(size, 1 << 26)
        with self.window.changed:
            self.tar.trailer = trailer
            self.window.changed.notify_all()

    def _watch(self):
        """Counts what takes too long, and reports progress."""
        window, last, told, told_at, is_slow = self.window, time.monotonic(), 0, 0.0, False
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            step, last = min(now - last, 2 * TICK), now  # of a longer time this process was suspended
            with window.changed:
                window.blame(step)
                children = [each for each in window.readers if each is not self.tar]
                if self.tar.next not in (told, window.count) and now - told_at >= 1.0:
                    told, told_at = self.tar.next, now
                    say("at %d" % (told * BLOCK))
            for each in children:
                if each.held > HOLD_UP:
                    each.leave("held up the others for %g s" % HOLD_UP)
            if self.tar.held > HOLD_UP and not is_slow:
                is_slow = True
                say("slow")


def watch_answers():
    """Nobody reads them: podrun has gone."""
    closed = select.poll()
    closed.register(4, 0)
    closed.poll()
    os._exit(GONE)


try:
    threading.stack_size(1 << 19)
    start(watch_answers)
    Relay().run()
except BaseException as problem:
    fail("%s: %s" % (type(problem).__name__, problem))
