"""Takes the archive of a push from another host, or from podrun, and hands it to tar and to other hosts.

Runs on a host as `python3 -I -S relay.py`, Python 3.6 or newer. Standard input has frames, descriptor 4 takes answers, standard output is
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

import errno
import hashlib
import mmap
import os
import select
import socket
import struct
import sys
import threading
import time

BLOCK, WINDOW, AHEAD = 1 << 20, 32, 4  # bytes; blocks for children; blocks that podrun may send before they are checked
GREETING = struct.Struct(">16sIIQ")
ACCEPTED, ALIVE, BLOCK_FOLLOWS = b"+", b".", b"B"
REASONS = {
    b"p": "it belongs to another push",
    b"h": "another host has this address",
    b"u": "it did not expect this host",
    b"w": "it no longer has the block",
}


def read_hooks(text):
    """The tests' hooks: words such as stall:3. They can delay or spoil what this host sends, and skip no check."""
    hooks = {}
    for word in text.split():
        name, _, value = word.partition(":")
        try:
            hooks[name] = float(value or 1)
        except ValueError:
            pass
    return hooks


HOOKS = read_hooks(os.environ.get("PODRUN_TEST_RELAY", ""))
SCALE = HOOKS.get("limits", 1.0)
JOIN = HOOKS.get("join", 2.5 * SCALE)  # seconds in which children connect and join
HANDSHAKE, STRANGERS = 0.8 * JOIN, 8  # for one handshake; unfinished ones beside those of expected children
SILENCE = 5.0 * SCALE  # without a byte of the parent, or a block taken by a child when this host has all
HOLD_UP = 3.0 * SCALE  # in all, that one reader may make the others wait
SIGN = 1.0 * min(SCALE, 1)
TICK = 0.2 * min(SCALE, 1)

saying = threading.Lock()


def say(text):
    data = (text + "\n").encode("ascii", "replace")
    try:
        with saying:
            while data:
                data = data[os.write(4, data) :]
    except OSError:
        os._exit(3)


def plain(error):
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return "".join(c if " " <= c <= "~" else "?" for c in text[:200])


def fail(why):
    say("failed " + plain(why))
    os._exit(1)


def start(function, *args):
    def run():
        try:
            function(*args)
        except BaseException as error:
            fail("%s: %s" % (type(error).__name__, error))

    threading.Thread(target=run, daemon=True).start()


class Lost(Exception):
    """Why the parent cannot be used any more."""


class Tls:
    """Both sides must show the certificate of the push."""

    def __init__(self, pem):
        begin, end = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
        certificate = (pem[pem.index(begin) : pem.index(end)] + end + b"\n").decode("ascii")
        self._der = ssl.PEM_cert_to_DER_cert(certificate)
        file = self._nameless_file()
        os.write(file, pem)
        self._server, self._client = (
            self._context(protocol, "/proc/self/fd/%d" % file, certificate) for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)
        )
        os.close(file)

    @staticmethod
    def _nameless_file():
        if hasattr(os, "memfd_create"):
            return os.memfd_create("podrun")
        import tempfile

        file, path = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(__file__)))
        os.unlink(path)
        return file

    @staticmethod
    def _context(protocol, key, certificate):
        context = ssl.SSLContext(protocol)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        if hasattr(context, "minimum_version"):
            context.minimum_version = ssl.TLSVersion.TLSv1_2
        else:
            context.options |= ssl.OP_NO_SSLv2 | ssl.OP_NO_SSLv3 | ssl.OP_NO_TLSv1 | ssl.OP_NO_TLSv1_1
        context.options |= ssl.OP_NO_TICKET | getattr(ssl, "OP_NO_RENEGOTIATION", 0)
        context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
        context.load_cert_chain(key)
        context.load_verify_locations(cadata=certificate)
        return context

    def wrap(self, raw, server_side):
        context = self._server if server_side else self._client
        return context.wrap_socket(raw, server_side=server_side, do_handshake_on_connect=False)

    def handshake(self, sock):
        sock.do_handshake()
        if sock.getpeercert(binary_form=True) != self._der:
            raise Lost("wrong certificate")


def receive(sock, size, deadline):
    data = b""
    while len(data) < size:
        sock.settimeout(max(deadline - time.monotonic(), 0.001))
        more = sock.recv(size - len(data))
        if not more:
            raise Lost("the connection ended")
        data += more
    return data


class Window:
    """The last blocks in a ring, for readers that may be up to WINDOW blocks behind. The AHEAD slots after `head` are being filled."""

    def __init__(self, size):
        self.size = size
        self.count = -(-size // BLOCK)
        self.head = 0  # blocks that were checked
        self.readers = []  # each has `next`, the block that it wants
        self.listeners = []
        self.is_full = False  # a checked block waits for the slowest reader
        self.changed = threading.Condition()
        self._sums = bytearray()
        self._ring_bytes = max(1, min(self.count, WINDOW + AHEAD)) * BLOCK
        self._ring = memoryview(mmap.mmap(-1, self._ring_bytes))

    def block(self, index):
        begin = index * BLOCK
        return next(self.pieces(begin, min(self.size - begin, BLOCK)))

    def pieces(self, offset, size):
        """The places for these bytes of the archive."""
        while size:
            begin = offset % self._ring_bytes
            piece = self._ring[begin : min(begin + size, self._ring_bytes)]
            yield piece
            offset, size = offset + len(piece), size - len(piece)

    def add_sums(self, first, sums):
        with self.changed:
            self._sums.extend(bytes(max(0, first * 32 + len(sums) - len(self._sums))))
            self._sums[first * 32 : first * 32 + len(sums)] = sums
            self.changed.notify_all()

    def sum_of(self, index):
        """Or None, if it is not known yet."""
        found = bytes(self._sums[index * 32 : index * 32 + 32])
        return found if any(found) else None

    def oldest(self):
        return max(0, self.head - WINDOW)

    def publish(self, is_current):
        """Readers get the block at `head`, once nobody needs the oldest one; False if the source changed meanwhile."""
        with self.changed:
            while is_current() and self.head >= WINDOW and (self._is_held() or any(each.expected for each in self.listeners)):
                self.is_full = True
                self.changed.wait()
            self.is_full = False
            if not is_current():
                return False
            self.head += 1
            self.changed.notify_all()
            return True

    def _is_held(self):
        return any(each.next <= self.head - WINDOW for each in self.readers)

    def blame(self, seconds):
        """Adds the time to those that hold up at least half of the others."""
        holders = [each for each in self.readers if each.next <= self.head - WINDOW]
        waiting = sum(each.next == self.head for each in self.readers)
        if self.is_full and waiting and 2 * waiting >= len(self.readers) - len(holders):
            for each in holders:
                each.held += seconds


class Tar:
    """Reads the window for this host's own tar."""

    def __init__(self, window):
        self.window, self.next, self.held, self.trailer = window, 0, 0.0, None

    def run(self):
        window = self.window
        try:
            while self.next < window.count:
                with window.changed:
                    window.changed.wait_for(lambda: self.next < window.head)
                self._write(window.block(self.next))
                time.sleep(HOOKS.get("slow", 0) / 1000)
                with window.changed:
                    self.next += 1
                    window.changed.notify_all()
            say("at %d" % window.size)
            with window.changed:
                window.changed.wait_for(lambda: self.trailer is not None)
            self._write(memoryview(self.trailer))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except OSError as error:
            fail("tar has closed its input" if error.errno == errno.EPIPE else error)
        with window.changed:
            window.changed.wait_for(lambda: window.readers == [self] and not window.listeners)
        os._exit(0)

    @staticmethod
    def _write(data):
        while data:
            data = data[os.write(1, data[: 1 << 18]) :]


class Child:
    """Reads the window for another host. Only its own thread may use the socket: SSLSocket.close() lets others send plain text."""

    def __init__(self, window, sock, host, first):
        self.window, self._sock, self.host, self.next = window, sock, host, first
        self.held = self.idle = 0.0
        self._is_gone = False

    def leave(self, why=None):
        with self.window.changed:
            if self._is_gone:
                return
            self._is_gone = True
            self.window.readers.remove(self)
            self.window.changed.notify_all()
        if why:
            say("dropped %d %s" % (self.host, why))

    def serve(self):
        try:
            self._sock.settimeout(TICK)
            self._send(ACCEPTED)
            while self.next < self.window.count and not self._is_gone:
                self._serve_next()
            self.leave()
        except OSError as error:
            self.leave("connection lost: " + plain(error))
        self._sock.close()

    def _serve_next(self):
        window = self.window
        with window.changed:
            window.changed.wait_for(lambda: self._is_gone or self.next < window.head, SIGN)
            is_there = self.next < window.head
        while is_there and self.next == HOOKS.get("stall") and not self._is_gone:
            time.sleep(TICK)
        if not is_there or self._is_gone:
            return self._send(ALIVE)
        block = window.block(self.next)
        if self.next == HOOKS.get("alter"):
            block = memoryview(bytes([block[0] ^ 1]) + bytes(block[1:]))
        self._send(BLOCK_FOLLOWS)
        self._send(block)
        with window.changed:
            self.next += 1
            self.idle = 0.0
            window.changed.notify_all()

    def _send(self, data):
        data = memoryview(data)
        while data and not self._is_gone:
            try:
                data = data[self._sock.send(data[: 1 << 16]) :]
            except socket.timeout:
                pass  # OpenSSL wants the same bytes again


class Listener:
    """Lets the expected children join, on one address and for a short time."""

    def __init__(self, relay, address, hosts):
        self.relay, self.expected, self._unfinished = relay, set(hosts), []
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if not any(socket.inet_pton(family, address)):
            raise OSError("not an address of one host")
        self._sock = socket.socket(family)
        if family == socket.AF_INET6:
            self._sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        self._sock.bind((address, 0))
        if "refuse" not in HOOKS:
            self._sock.listen(0 if "hole" in HOOKS else 128)
        self.port = self._sock.getsockname()[1]

    def run(self):
        window = self.relay.window
        deadline = time.monotonic() + JOIN
        filling = [socket.socket(self._sock.family) for _ in range(4 if "hole" in HOOKS else 0)]
        for each in filling:
            each.setblocking(False)
            each.connect_ex(self._sock.getsockname())
        readable = select.poll()
        readable.register(self._sock, select.POLLIN)
        while self.expected and time.monotonic() < deadline:
            if filling or "refuse" in HOOKS or not readable.poll(TICK * 1000):
                time.sleep(TICK / 10)
            else:
                self._accept()
        self._sock.close()
        with window.changed:
            window.listeners.remove(self)
            for each in self._unfinished:
                self._cut(each)
            window.changed.notify_all()

    def _accept(self):
        try:
            raw, _ = self._sock.accept()
            raw.settimeout(HANDSHAKE)
            sock = self.relay.tls.wrap(raw, server_side=True)
        except (OSError, ValueError):
            return time.sleep(TICK / 10)
        with self.relay.window.changed:
            if len(self._unfinished) >= STRANGERS + len(self.expected):
                self._cut(self._unfinished.pop(0))
            self._unfinished.append(sock)
        start(self._greet, sock)

    @staticmethod
    def _cut(sock):
        try:
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket.shutdown() would let its thread send plain text
        except OSError:
            pass

    def _greet(self, sock):
        child = None
        try:
            deadline = time.monotonic() + HANDSHAKE
            self.relay.tls.handshake(sock)
            child, reason = self._judge(sock, *GREETING.unpack(receive(sock, GREETING.size, deadline)))
            if not child:
                sock.send(reason)
        except (OSError, ValueError, Lost):
            pass
        with self.relay.window.changed:
            if sock in self._unfinished:
                self._unfinished.remove(sock)
        if child:
            child.serve()
        else:
            sock.close()

    def _judge(self, sock, push, host, wanted, first):
        window = self.relay.window
        if push != self.relay.push:
            return None, b"p"
        if wanted != self.relay.host:
            return None, b"h"
        with window.changed:
            if host not in self.expected or self not in window.listeners:
                return None, b"u"
            if not window.oldest() <= first <= window.count:
                return None, b"w"
            child = Child(window, sock, host, first)
            window.readers.append(child)
            self.expected.remove(host)
            window.changed.notify_all()
            return child, ACCEPTED


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
        self._input = open(0, "rb", buffering=1 << 16, closefd=False)

    def run(self):
        while True:
            line = self._input.readline(1 << 14)
            try:
                word, *args = line.decode("ascii").split() or [""]
                if not line.endswith(b"\n") and len(line) < 1 << 14:
                    os._exit(3)
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
            os._exit(3)
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
                os._exit(3)
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
                for each in children:
                    each.idle += step if window.head == window.count else 0.0
                if self.tar.next not in (told, window.count) and now - told_at >= 1.0:
                    told, told_at = self.tar.next, now
                    say("at %d" % (told * BLOCK))
            for each in children:
                if each.held > HOLD_UP:
                    each.leave("held up the others for %g s" % HOLD_UP)
                elif each.idle > SILENCE:
                    each.leave("took no block for %g s" % SILENCE)
            if self.tar.held > HOLD_UP and not is_slow:
                is_slow = True
                say("slow")


def watch_answers():
    """Nobody reads them: podrun has gone."""
    closed = select.poll()
    closed.register(4, 0)
    closed.poll()
    os._exit(3)


try:
    import ssl

    threading.stack_size(1 << 19)
    start(watch_answers)
    Relay().run()
except BaseException as problem:
    fail("%s: %s" % (type(problem).__name__, problem))
