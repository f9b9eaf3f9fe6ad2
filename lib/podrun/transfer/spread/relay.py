"""Takes the archive of a push from another host, or from podrun, and hands it to tar and to other hosts.

push.sh runs it with `python3 -I -S`, Python 3.6 or newer. Standard input has frames, descriptor 4 takes answers, standard output is
tar's input. The archive has SIZE bytes in blocks of 1 MiB. Each block is checked against podrun's SHA-256 before tar or a host gets it.
Hosts connect by TLS with one certificate that only the hosts of this push have. An end of standard input ends this program at once.

Frames besides those of relay_frames.py:
  start PUSH HOST SIZE SUMS  id of the push (32 hex digits), own number, bytes of the archive, what its sums are of
  sums FIRST N               32 bytes for each block: silence of the parent counts once the sum of the wanted block is known
  parent ADDRESS PORT HOST   go on from the first missing block                      answer: joined HOST, or lost OFFSET WHY (also later)
  leave                      go on without the parent, unless the delay is this host's own       answer: lost OFFSET left
  here                       podrun sends the rest                                   answer: want FROM TO (again with a higher TO)
  data OFFSET N              from the FROM of the first `want` on, never above the TO of the last one
  end N                      the trailer
Other answers: at OFFSET, slow.

SUMS is "blocks" for the SHA-256 of each block; "heads" where another host has the files, and names and modes must be podrun's: the SHA-256 of
that one and the SHA-256 of all that is not contents of a file in the block (relay_window.py).
"""

import os
import socket
import ssl
import time

from relay_frames import Frames, run
from relay_limits import BLOCK, GONE, HOLD_UP, JOIN, SILENCE, TICK, Lost, fail, plain, say, start
from relay_peers import ACCEPTED, ALIVE, BLOCK_FOLLOWS, GREETING, REASONS, receive
from relay_window import AHEAD, Sums, Tar, Window


class Source:
    """Fills the window, from one source at a time."""

    def __init__(self, relay):
        self.relay, self.window, self.arrived, self.allowed = relay, relay.window, 0, 0
        self.sums = Sums(relay.has_heads)
        self._order = None

    def set(self, *order):
        with self.window.changed:
            self._order = [*order]
            self.allowed = 0  # until this thread has left the old source
            self.window.changed.notify_all()

    def leave(self):
        """A parent that it still has. Where tar or a child holds up this host, or nothing is missing, that is not at fault."""
        window = self.window
        with window.changed:
            if self._order and self._order[0] == "parent" and not window.is_full and window.head < window.count:
                self.set("left")

    def run(self):
        order = None
        while True:
            with self.window.changed:
                self.window.changed.wait_for(lambda: self._order is not order)
                order = self._order
            is_current = lambda order=order: self._order is order
            try:
                if order[0] == "here":
                    self._take_from_podrun(is_current)
                elif order[0] == "parent":
                    self._take_from_host(is_current, *order[1:])
                elif order[0] == "left":
                    raise Lost("left")
            except (OSError, ValueError, Lost) as error:
                with self.window.changed:
                    is_lost = is_current()
                    if is_lost:
                        self._order = order = ["none"]
                if is_lost:
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
        return not is_current() or self.sums.match(window.head, window.block(window.head), window.sum_of(window.head))

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
        if not self.relay.tls:
            raise Lost(self.relay.why_no_tls)
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


class Relay(Frames):
    FRAMES = dict(Frames.FRAMES, start=4, sums=2, parent=3, leave=0, here=0, data=2, end=1)

    def __init__(self):
        super().__init__()
        self.tar = self.source = self.has_heads = None

    def _start(self, push, host, size, sums):
        self._be(push, host)
        if sums not in ("blocks", "heads"):
            raise ValueError("bad sums")
        self.has_heads = sums == "heads"
        self.window = Window(self._number(size, 1 << 50))
        self.tar, self.source = Tar(self.window), Source(self)
        self.window.readers.append(self.tar)
        start(self.tar.run)
        start(self.source.run)
        start(self._watch)

    def _sums(self, first, number):
        first, number = self._number(first, self.window.count), self._number(number, 1 << 16)
        if first + number > self.window.count:
            raise ValueError("no such block")
        self.window.add_sums(first, self._read(str(32 * number), 1 << 21))

    def _parent(self, address, port, host):
        self.source.set("parent", address, self._number(port, 65535), self._number(host, 1 << 31))

    def _leave(self):
        self.source.leave()

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
                if told < self.tar.at < window.size and now - told_at >= 1.0:
                    told, told_at = self.tar.at, now
                    say("at %d" % told)
            for each in children:
                if each.held > HOLD_UP:
                    each.leave("held up the others for %g s" % HOLD_UP)
            if self.tar.held > HOLD_UP and not is_slow:
                is_slow = True
                say("slow")


run(Relay)
