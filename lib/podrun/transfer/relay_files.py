"""Serves the archive of a push whose files this host has, to other hosts and to podrun.

serve.sh runs it as push.sh runs relay.py; standard output is not used. podrun makes the heads of the archive, since names and modes are not
this host's to choose: relay.py checks them against podrun's. A file that is not what podrun knows of it ends this program.

Frames besides those of relay_frames.py:
  start PUSH HOST SIZE       as in relay.py
  plan N                     the archive, compressed by gzip: for each member a line HEAD SIZE MTIME COUNTS PATH, then the head and the path.
                             HEAD, SIZE and PATH: bytes of the head, the contents and the path; COUNTS: 1 if the file is in the digest
  digest KIND                sha256 or blake2b        answer: digest KIND HEX, as push.sh prints it after "staged"
  give OFFSET N              part of a block          answer: data OFFSET N, and the bytes
Answers without a frame: sums INDEX HEX, the SHA-256 of each block.
"""

import bisect
import collections
import gzip
import hashlib
import io
import os
import queue
import stat
import threading
from array import array

from relay_frames import Frames, run
from relay_limits import BLOCK, fail, plain, say, start
from relay_peers import nameless_file

KEPT = 32  # blocks
LARGE = 16 << 20  # push.sh takes the digests of files with so many bytes before those of the others


class Files:
    """The blocks of the archive. Children find here what they find in a Window."""

    def __init__(self, size):
        self.size = size
        self.count = -(-size // BLOCK)
        self.head = 0  # blocks with a known sum
        self.readers = []
        self.listeners = []
        self.changed = threading.Condition()
        self._begins, self._heads, self._sizes, self._times, self._texts, self._paths = (array(kind) for kind in "QQQqQQ")
        self._counts = bytearray()
        self._text = nameless_file()
        self._blocks = collections.OrderedDict()
        self._loading = set()

    def take(self, packed):
        end = text = 0
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as plan, os.fdopen(os.dup(self._text), "wb") as store:
            for line in plan:
                head, size, mtime, counts, path = map(int, line.split())
                for numbers, number in zip((self._begins, self._heads, self._sizes, self._times, self._texts, self._paths), (end, head, size, mtime, text, path)):
                    numbers.append(number)
                self._counts.append(counts)
                store.write(plan.read(head + path))
                end += head + -(-size // 512) * 512
                text += head + path
        if end != self.size:
            raise ValueError("the plan has %d bytes" % end)

    def oldest(self):
        return 0

    def block(self, index):
        """Keeps the last ones: hosts that are served at the same time want the same."""
        with self.changed:
            self.changed.wait_for(lambda: index not in self._loading)
            if index in self._blocks:
                self._blocks.move_to_end(index)
                return self._blocks[index]
            self._loading.add(index)
        block = self._read(index * BLOCK, min(BLOCK, self.size - index * BLOCK))
        with self.changed:
            self._loading.discard(index)
            self._blocks[index] = block
            while len(self._blocks) > KEPT:
                self._blocks.popitem(last=False)
            self.changed.notify_all()
        return block

    def _read(self, begin, size):
        parts, member = [], bisect.bisect_right(self._begins, begin) - 1
        offset = begin - self._begins[member]
        while size:
            head, contents = self._heads[member], self._sizes[member]
            end = head + -(-contents // 512) * 512
            while size and offset < end:
                if offset < head:
                    part = os.pread(self._text, min(size, head - offset), self._texts[member] + offset)
                elif offset < head + contents:
                    part = self._contents(member, offset - head, min(size, head + contents - offset))
                else:
                    part = bytes(min(size, end - offset))
                parts.append(part)
                offset, size = offset + len(part), size - len(part)
            member, offset = member + 1, 0
        return b"".join(parts)

    def _contents(self, member, offset, size):
        path = os.pread(self._text, self._paths[member], self._texts[member] + self._heads[member])
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                self._check(member, path, file)
                data = b""
                while len(data) < size:
                    more = os.pread(file, size - len(data), offset + len(data))
                    if not more:
                        break
                    data += more
                self._check(member, path, file)
            finally:
                os.close(file)
        except OSError as error:
            self._fail(path, "cannot be read: " + plain(error))
        if len(data) < size:
            self._fail(path, "changed while it was being copied")
        return data

    def _check(self, member, path, file):
        status = os.fstat(file)
        known = (self._sizes[member], self._times[member])
        if not stat.S_ISREG(status.st_mode) or (status.st_size, status.st_mtime_ns // 10**9) != known:
            self._fail(path, "changed while it was being copied")

    @staticmethod
    def _fail(path, why):
        fail("%s: %s" % (path.decode("ascii", "replace"), why))

    def sum(self):
        for index in range(self.count):
            digest = hashlib.sha256(self.block(index)).hexdigest()
            say("sums %d %s" % (index, digest))
            with self.changed:
                self.head = index + 1
                self.changed.notify_all()

    def digest(self, kind):
        """The digest of the digests, see push.sh."""
        large, small, unfinished = bytearray(), bytearray(), hashlib.new(kind)
        member = 0
        offset = 0  # in its contents
        for index in range(self.count):
            with self.changed:
                self.changed.wait_for(lambda index=index: index < self.head)
            block, at = memoryview(self.block(index)), index * BLOCK
            end = at + len(block)
            while member < len(self._begins):
                contents = self._begins[member] + self._heads[member]
                size = self._sizes[member]
                if contents + offset > end or (size and contents + offset == end):
                    break
                part = block[contents + offset - at : min(end, contents + size) - at]
                unfinished.update(part)
                offset += len(part)
                if offset < size:
                    break
                if self._counts[member]:
                    digests = large if size >= LARGE else small
                    digests += unfinished.hexdigest().encode() + b"\n"
                unfinished, member, offset = hashlib.new(kind), member + 1, 0
        say("digest %s %s" % (kind, hashlib.new(kind, bytes(large + small)).hexdigest()))


class RelayFiles(Frames):
    FRAMES = dict(Frames.FRAMES, start=3, plan=1, digest=1, give=2)

    def __init__(self):
        super().__init__()
        self._given = queue.Queue()

    def _start(self, push, host, size):
        self._be(push, host)
        self.window = Files(self._number(size, 1 << 50))

    def _plan(self, size):
        packed = self._read(size, 1 << 30)
        try:
            self.window.take(packed)
        except (OSError, EOFError) as error:
            raise ValueError(plain(error))
        start(self.window.sum)
        start(self._give_all)

    def _digest(self, kind):
        if kind not in ("sha256", "blake2b"):
            raise ValueError("no such digest")
        start(self.window.digest, kind)

    def _give(self, offset, size):
        offset, size = self._number(offset, self.window.size), self._number(size, BLOCK)
        if offset % BLOCK + size > BLOCK or offset + size > self.window.size:
            raise ValueError("not in one block")
        self._given.put((offset, size))

    def _give_all(self):
        while True:
            offset, size = self._given.get()
            begin = offset % BLOCK
            say("data %d %d" % (offset, size), self.window.block(offset // BLOCK)[begin : begin + size])


run(RelayFiles)
