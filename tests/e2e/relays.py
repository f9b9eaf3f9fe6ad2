"""Plays podrun, tar and other hosts for lib/podrun/transfer/spread/relay.py and relay_files.py, and assembles them."""

import contextlib
import functools
import gzip
import hashlib
import io
import os
import random
import re
import shutil
import socket
import ssl
import struct
import subprocess
import tarfile
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
def program(name="Relay"):
    """Its text, assembled as the build does (cmake/Scripts.cmake)."""
    return text_of(*re.search(rf"^{name} python (.*)", (LIBRARY / "scripts.txt").read_text(), re.MULTILINE)[1].split())


def text_of(*fragments):
    text = "".join((LIBRARY / "podrun" / f"{fragment}.py").read_text() for fragment in fragments)
    return re.sub(r"^from relay_.*", "", text, flags=re.MULTILINE)


def altered(home, old, new):
    """sh text in front of a host's python3, whose program then has `new` in the place of `old`."""
    assert old in program("Relay") + program("RelayFiles")
    unpack = "zlib.decompress(b.read(int(b.readline())))"
    changed = f"{unpack}.replace({old.encode()!r}, {new.encode()!r})"
    (home / "alter").write_text(f"import sys\nprint(sys.argv[1].replace({unpack!r}, {changed!r}))\n")
    return 'code=$(/usr/bin/python3 "$HOME/alter" "$4"); set -- -I -S -c "$code" "$5"'


def sums_of(data):
    return [hashlib.sha256(data[begin : begin + BLOCK]).digest() for begin in range(0, len(data), BLOCK)]


class TarArchive:
    """What tarfile makes of members, in GNU's format and without the end of the archive; and where the heads in it are."""

    def __init__(self):
        self.heads = []  # begin and end of each
        self._file = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._file, mode="w", format=tarfile.GNU_FORMAT)  # never closed

    @property
    def data(self):
        return self._file.getvalue()

    def add(self, name, contents=b"", kind=tarfile.REGTYPE, **fields):
        """Returns the head."""
        member = tarfile.TarInfo(name)
        member.size, member.type = len(contents), kind
        for field, value in fields.items():
            setattr(member, field, value)
        begin = self._tar.offset
        self._tar.addfile(member, io.BytesIO(contents))
        self.heads.append((begin, self._tar.offset - -(-len(contents) // 512) * 512))
        return self.data_of(*self.heads[-1])

    def fill_until(self, offset, name="new/filler"):
        """Adds a file, so that the next head begins there."""
        self.add(name, archive(offset - self._tar.offset - 512))

    def overwrite(self, offset, text):
        self._file.getbuffer()[offset : offset + len(text)] = text

    def data_of(self, begin, end):
        return bytes(self._file.getbuffer()[begin:end])

    def sums(self, data=None):
        """Of podrun, for hosts that get "heads": the heads are right, also if another host says this `data`."""
        sums = sums_of(self.data if data is None else data)
        return [hashlib.sha256(each + self._sum_of_heads(index * BLOCK)).digest() for index, each in enumerate(sums)]

    def _sum_of_heads(self, block):
        parts = ((max(begin, block), min(end, block + BLOCK)) for begin, end in self.heads)
        return hashlib.sha256(b"".join(self.data_of(*part) for part in parts if part[0] < part[1])).digest()


def pack_plan(members):
    """For relay_files.py: of the head, size, time, COUNTS and path of each member; also the bytes of the path that are below the word of the
    user, and what identity_of() tells of the file."""
    lines = []
    for head, size, mtime, counts, path, *more in members:
        below, *identity = more or (0, 0, 0, 0)
        lines.append(b"%d %d %d %d %d %d %d %d %d\n" % (len(head), size, mtime, counts, len(path), below, *identity) + head + path)
    return gzip.compress(b"".join(lines), 1)


def identity_of(path):
    """How podrun tells a file from another one with its name."""
    status = os.lstat(path)
    return status.st_dev, status.st_ino, status.st_uid


def make_certificate(directory, name):
    """A key and a certificate, as podrun makes them for a push."""
    key, certificate = directory / f"{name}.key", directory / f"{name}.crt"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=podrun -days 9999".split()
    subprocess.run(["openssl", *words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key.read_bytes() + certificate.read_bytes()


def start_relay(directory, errors, hooks=PATIENT, text=None, name="Relay", **pipes):
    """Starts it as push.sh does, but its standard error is descriptor 4."""
    script = directory / f"podrun.{name.lower()}"
    if not script.exists():
        script.write_text(text or program(name))
    words = ["sh", "-c", 'exec "$@" 4>&2 2>"$0"', errors, shutil.which("python3"), "-I", "-S", script]
    environment = {"PODRUN_TEST_RELAY": hooks, "TEST_DIRECTORY": str(directory)}
    return subprocess.Popen(words, stdin=subprocess.PIPE, env=environment, cwd=directory, bufsize=0, **pipes)


class RelayProcess:
    """One host, on which relay.py or relay_files.py runs."""

    NAME = "Relay"  # in scripts.txt

    def __init__(self, directory, host, hooks, text=None):
        self.host, self.address = host, f"127.0.0.{host + 1}"
        self._errors = directory / f"errors{host}"
        self.process = start_relay(directory, self._errors, hooks, text, self.NAME, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.answers, self._threads = [], []

    def read_answers(self):
        def read():
            with io.BufferedReader(self.process.stderr) as answers:
                for line in answers:
                    self._take_data(line, answers)
                    self.answers.append(line.decode().rstrip("\n"))

        self._start(read)

    def _start(self, function):
        self._threads.append(threading.Thread(target=function))
        self._threads[-1].start()

    def _take_data(self, line, answers):
        """Reads the bytes that belong to the answer."""

    def _send_key(self, pem):
        if pem:
            self.send(f"key {len(pem)}", pem)

    def send(self, line, data=b""):
        text = line.encode() + b"\n" + data
        while text:
            text = text[self.process.stdin.write(text) :]

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

    def wait(self, status=0):
        """Waits for its end."""
        wait_until(lambda: self.process.poll() is not None, what="its end")
        for thread in self._threads:
            thread.join()
        errors = self._errors.read_text()
        assert (self.process.returncode, errors) == (status, ""), (self.process.returncode, errors, self.answers)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join()
        for file in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                file.close()


class Relay(RelayProcess):
    """A host that gets an archive: bytes, or a TarArchive of whose heads podrun has its own sums."""

    def __init__(self, directory, pem, host=0, data=b"", hooks=PATIENT, reads=True, text=None):
        super().__init__(directory, host, hooks, text)
        self.archive = data if isinstance(data, TarArchive) else None
        self.data = self.archive.data if self.archive else data
        self.sent, self.output = None, bytearray()
        self.read_answers()
        if reads:
            self.read()
        self.send(f"start {PUSH} {host} {len(self.data)} {'heads' if self.archive else 'blocks'}")
        self._send_key(pem)

    def read(self):
        """Begins to be its tar."""

        def read():
            while data := self.process.stdout.read(1 << 18):
                self.output += data

        self._start(read)

    def sums(self, first=0, last=None):
        sums = (self.archive.sums(self.data) if self.archive else sums_of(self.data))[first:last]
        self.send(f"sums {first} {len(sums)}", b"".join(sums))

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

    def assert_complete(self):
        self.wait()
        assert self.output == self.data + TRAILER, (len(self.output), self.answers)
        assert f"at {len(self.data)}" in self.answers, self.answers


class FilesRelay(RelayProcess):
    """A host that has files: the members of an archive with so many bytes, as for pack_plan()."""

    NAME = "RelayFiles"

    def __init__(self, directory, pem, size, members, host=0, hooks=PATIENT, reads=True, text=None, sums=None):
        super().__init__(directory, host, hooks, text)
        self.given = {}  # bytes by offset
        if reads:
            self.read_answers()
        self.send(f"start {PUSH} {host} {size}")
        self._send_key(pem)
        self.send(f"sums {-(-size // BLOCK) if sums is None else sums}")
        if members is not None:
            self.send_plan(pack_plan(members))

    def _take_data(self, line, answers):
        if line.startswith(b"data "):
            offset, size = map(int, line.split()[1:])
            self.given[offset] = answers.read(size)

    def send_plan(self, packed):
        self.send(f"plan {len(packed)}", packed)

    def sums(self):
        """What it has said, in order; each is the next one."""
        lines = [line.split() for line in list(self.answers) if line.startswith("sums ")]
        assert [int(index) for _, index, _ in lines] == list(range(len(lines)))
        return [bytes.fromhex(text) for _, _, text in lines]

    def give(self, offset, size):
        self.send(f"give {offset} {size}")
        self.answer(f"data {offset} {size}")
        return self.given[offset]

    def digest(self, kind):
        self.send(f"digest {kind}")
        return self.answer(f"digest {kind} (.*)")[1]


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
