"""The connections between hosts: TLS, children, and the port that they join at."""

import os
import resource
import select
import socket
import struct
import time

from relay_limits import HANDSHAKE, HOOKS, JOIN, SIGN, STRANGERS, TICK, Lost, fail, plain, say, start
from relay_window import Reader

try:
    import ssl
except ImportError:
    fail("python3 has no module ssl")

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would have the key

GREETING = struct.Struct(">16sIIQ")
ACCEPTED, ALIVE, BLOCK_FOLLOWS = b"+", b".", b"B"
REASONS = {
    b"p": "it belongs to another push",
    b"h": "another host has this address",
    b"u": "it did not expect this host",
    b"w": "it no longer has the block",
}


def nameless_file():
    try:
        return os.memfd_create("podrun")
    except (AttributeError, OSError):  # before Python 3.8 or Linux 3.17, or not allowed
        pass
    for directory in (os.path.dirname(os.path.abspath(__file__)), "/dev/shm", "/tmp"):
        try:
            return os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)
        except OSError:  # not every file system can do that
            pass
    fail("no file system there has files without a name")


class Tls:
    """Both sides must show the certificate of the push."""

    def __init__(self, pem):
        begin, end = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
        certificate = (pem[pem.index(begin) : pem.index(end)] + end + b"\n").decode("ascii")
        self._der = ssl.PEM_cert_to_DER_cert(certificate)
        file = nameless_file()
        os.write(file, pem)
        self._server, self._client = (
            self._context(protocol, "/proc/self/fd/%d" % file, certificate) for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)
        )
        os.close(file)

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


class Child(Reader):
    """Reads the window for another host. Only its own thread may use the socket: SSLSocket.close() lets others send plain text."""

    def __init__(self, window, sock, host, first):
        super().__init__(window, first)
        self._sock, self.host, self._is_gone = sock, host, False

    def leave(self, why=None):
        with self.window.changed:
            if self._is_gone:
                return
            self._is_gone = True
            if why:
                say("dropped %d %s" % (self.host, why))  # first, since without readers the process may end
            self.window.readers.remove(self)
            self.window.changed.notify_all()

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
        block = window.block_for(self)
        if self.next == HOOKS.get("alter"):
            block = memoryview(bytes([block[0] ^ 1]) + bytes(block[1:]))
        self._send(BLOCK_FOLLOWS)
        self._send(block)
        with window.changed:
            self.next += 1
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
        self._filling = [socket.socket(family) for _ in range(4 if "hole" in HOOKS else 0)]
        for each in self._filling:
            each.setblocking(False)
            each.connect_ex(self._sock.getsockname())

    def run(self):
        window = self.relay.window
        deadline = time.monotonic() + JOIN
        readable = select.poll()
        readable.register(self._sock, select.POLLIN)
        while self.expected and time.monotonic() < deadline:
            if self._filling or "refuse" in HOOKS or not readable.poll(TICK * 1000):
                time.sleep(TICK / 10)
            else:
                self._accept()
        self._sock.close()
        with window.changed:
            window.listeners.remove(self)
            while self._unfinished:
                self._cut(self._unfinished.pop())
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
            if host not in self.expected or sock not in self._unfinished:
                return None, b"u"
            if not window.oldest() <= first <= window.count:
                return None, b"w"
            child = Child(window, sock, host, first)
            window.readers.append(child)
            self.expected.remove(host)
            self._unfinished.remove(sock)
            window.changed.notify_all()
            return child, ACCEPTED
