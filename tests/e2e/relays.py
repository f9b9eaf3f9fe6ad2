"""Plays podrun, tar and other hosts for lib/podrun/transfer/relay.py, and assembles it."""

import contextlib
import functools
import hashlib
import os
import random
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from pathlib import Path

from support import wait_until

LIBRARY = Path(__file__).resolve().parents[2] / "lib"
BLOCK = 1 << 20
AHEAD = 3  # blocks that it wants before they are checked
PUSH = "0123456789abcdef" * 2
TRAILER = b"the trailer" * 1000
PATIENT = "limits:20"  # for tests in which nothing is to take too long, on a busy machine
HASTY = "limits:0.1 join:20"


@functools.lru_cache(maxsize=None)
def archive(size):
    return random.Random(size).randbytes(size)


@functools.lru_cache(maxsize=None)
def program():
    """Its text, assembled as the build does (cmake/Scripts.cmake)."""
    fragments = re.search(r"^Relay python (.*)", (LIBRARY / "scripts.txt").read_text(), re.MULTILINE)[1].split()
    text = "".join((LIBRARY / "podrun" / f"{fragment}.py").read_text() for fragment in fragments)
    return re.sub(r"^from relay_.*", "", text, flags=re.MULTILINE)


def sums_of(data):
    return [hashlib.sha256(data[begin : begin + BLOCK]).digest() for begin in range(0, len(data), BLOCK)]


def make_certificate(directory, name):
    """A key and a certificate, as podrun makes them for a push."""
    key, certificate = directory / f"{name}.key", directory / f"{name}.crt"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=podrun -days 9999".split()
    subprocess.run(["openssl", *words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key.read_bytes() + certificate.read_bytes()


def start_relay(directory, errors, hooks=PATIENT, text=None, **pipes):
    """Starts it as push.sh does, but its standard error is descriptor 4."""
    script = directory / "podrun.relay"
    if not script.exists():
        script.write_text(text or program())
    words = ["sh", "-c", 'exec "$@" 4>&2 2>"$0"', errors, shutil.which("python3"), "-I", "-S", script]
    environment = {"PODRUN_TEST_RELAY": hooks, "TEST_DIRECTORY": str(directory)}
    return subprocess.Popen(words, stdin=subprocess.PIPE, env=environment, cwd=directory, bufsize=0, **pipes)


class Relay:
    """One host."""

    def __init__(self, directory, pem, host=0, data=b"", hooks=PATIENT, reads=True, text=None):
        self.host, self.data, self.address = host, data, f"127.0.0.{host + 1}"
        self.sent = None
        self._errors = directory / f"errors{host}"
        self.process = start_relay(directory, self._errors, hooks, text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answers, self.output = [], bytearray()
        self._threads = [threading.Thread(target=self._read_answers)]
        self._threads[0].start()
        if reads:
            self.read()
        self.send(f"start {PUSH} {host} {len(data)} blocks")
        if pem:
            self.send(f"key {len(pem)}", pem)

    def _read_answers(self):
        with self.process.stderr as answers:
            for line in answers:
                self.answers.append(line.decode().rstrip("\n"))

    def read(self):
        """Begins to be its tar."""

        def read():
            while data := self.process.stdout.read(1 << 18):
                self.output += data

        self._threads.append(threading.Thread(target=read))
        self._threads[-1].start()

    def send(self, line, data=b""):
        text = line.encode() + b"\n" + data
        while text:
            text = text[self.process.stdin.write(text) :]

    def sums(self, first=0, last=None):
        sums = sums_of(self.data)[first:last]
        self.send(f"sums {first} {len(sums)}", b"".join(sums))

    def answer(self, pattern):
        """Waits for the first answer like this, and returns what the pattern matched."""

        def answered():
            found = [match for line in list(self.answers) if (match := re.fullmatch(pattern, line))]
            assert found or self._threads[0].is_alive() or re.fullmatch(pattern, "\n".join(self.answers[-1:])), self.answers
            return found

        return wait_until(answered, what=pattern)[0]

    def listen(self, *hosts):
        before = sum(line.startswith("port ") for line in self.answers)
        self.send(f"listen {self.address} {','.join(map(str, hosts))}")
        ports = wait_until(lambda: [line for line in list(self.answers) if line.startswith("port ")][before:], what="port")
        return int(ports[0].split()[1])

    def follow(self, parent, port=None):
        """Makes it a child of another host."""
        port = port or parent.listen(self.host)
        self.send(f"parent {parent.address} {port} {parent.host}")

    def wanted(self):
        return [[int(word) for word in line.split()[1:]] for line in list(self.answers) if line.startswith("want ")]

    def feed(self, end=None):
        """Sends what it wants, after "here"."""
        end = len(self.data) if end is None else end
        if self.sent is None:
            self.sent = wait_until(self.wanted, what="want")[0][0]
        while self.sent < end:
            allowed = wait_until(lambda: max(0, self.wanted()[-1][1] - self.sent), what="want more")
            part = self.data[self.sent : min(self.sent + allowed, self.sent + (1 << 18), end)]
            self.send(f"data {self.sent} {len(part)}", part)
            self.sent += len(part)

    def feed_here(self, end=None):
        self.send("here")
        self.feed(end)

    def end(self):
        self.send(f"end {len(TRAILER)}", TRAILER)

    def wait(self, status=0):
        """Waits for its end."""
        wait_until(lambda: self.process.poll() is not None, what="its end")
        for thread in self._threads:
            thread.join()
        errors = self._errors.read_text()
        assert (self.process.returncode, errors) == (status, ""), (self.process.returncode, errors, self.answers)

    def assert_complete(self):
        self.wait()
        assert self.output == self.data + TRAILER, (len(self.output), self.answers)
        assert f"at {len(self.data)}" in self.answers, self.answers

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join()
        for file in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                file.close()


def context(pem, directory, trusted=None, server=False):
    """Of TLS, with this key, that believes only this certificate (or any)."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if trusted:
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(cadata=trusted[trusted.index(b"-----BEGIN CERT") :].decode())
    if pem:
        file = directory / f"peer{time.monotonic_ns()}"
        file.write_bytes(pem)
        made.load_cert_chain(file)
        file.unlink()
    return made


def greeting(host, wanted, first=0, push=PUSH):
    return struct.pack(">16sIIQ", bytes.fromhex(push), host, wanted, first)


def join(parent, port, pem, directory, text):
    """Is a child that says this, and whose kernel stores little: the socket and the answer."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    raw.connect((parent.address, port))
    sock = context(pem, directory).wrap_socket(raw)
    sock.sendall(text)
    return sock, sock.recv(1)


class FalseParent:
    """A host that accepts a child, and then does what `serve(sock)` does."""

    def __init__(self, pem, directory, serve, address="127.0.0.9", host=8):
        self.address, self.host, self._serve = address, host, serve
        self._context = context(pem, directory, server=True)
        self._listener = socket.create_server((address, 0))
        self.port = self._listener.getsockname()[1]
        self.greetings = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        with self._listener, contextlib.suppress(OSError):
            raw, _ = self._listener.accept()
            with self._context.wrap_socket(raw, server_side=True) as sock:
                self.greetings.append(sock.recv(32))
                self._serve(sock)

    def close(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()


def listeners_of(pid):
    """The numbers of the sockets that this process listens with."""
    inodes = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{name}")))
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [words[1] for words in lines if words[3] == "0A" and words[9] in inodes]
