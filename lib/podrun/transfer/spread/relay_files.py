"""Serves the archive of a push whose files this host has, to other hosts and to podrun.

serve.sh runs it as push.sh runs relay.py; standard output is not used. podrun makes the heads of the archive, since names and modes are not
this host's to choose: relay.py checks them against podrun's. A file that is not what podrun knows of it ends this program.

Frames besides those of relay_frames.py:
  start PUSH HOST SIZE       as in relay.py
  plan N                     the archive, compressed by gzip: for each member a line HEAD SIZE MTIME COUNTS PATH BELOW DEVICE INODE
                             OWNER, then the head and the path. HEAD, SIZE and PATH: bytes of the head, the contents and the path; COUNTS: 1 if
                             the file is in the digest; BELOW: bytes at the end of the path that are below the word of the user
  sums END                   say the sums of the blocks before this one
  digest KIND                sha256 or blake2b        answer: digest KIND HEX, as push.sh prints it after "staged"
  give OFFSET N              at most 1 MiB            answer: data OFFSET N, and the bytes
Further answers: sums INDEX HEX, the SHA-256 of each block.
"""

import bisect
import errno
import gzip
import hashlib
import io
import os
import queue
import stat
import time
from array import array

from relay_frames import Frames, run
from relay_limits import BLOCK, HOLD_UP, JOIN, TICK, fail, plain, say, start
from relay_peers import nameless_file
from relay_window import Reader, Window

KEPT = 16  # blocks in the window; each child that is served has a copy of one besides
LARGE = 16 << 20  # push.sh takes the digests of files with so many bytes before those of the others
CHANGED = "changed while it was being copied"


def open_below(path, below):
    """Opens a file. Links are followed up to the word of the user: below it other users may put one in the place of a directory."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    if not below:
        return os.open(path, flags)
    *directories, name = path[-below:].split(b"/")
    above = os.open(path[:-below], os.O_PATH | os.O_DIRECTORY)
    try:
        for each in directories:
            inner = os.open(each, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
            above = inner
        return os.open(name, flags, dir_fd=above)
    finally:
        os.close(above)


def is_fuse(device):
    """Such a file system may give a file another inode when the kernel has forgotten it."""
    number = b"%d:%d" % (os.major(device), os.minor(device))
    with open("/proc/self/mountinfo", "rb") as mounts:
        return any(line.split()[2] == number and b" - fuse" in line for line in mounts)


class Files(Window):
    """The archive, and the last blocks that were summed. Readers that fall behind read the files again."""

    def __init__(self, size):
        super().__init__(size, KEPT, 1)
        self.waits_until = time.monotonic() + JOIN  # for the first reader
        self.wanted = 0  # podrun takes the sums of so many blocks
        self._numbers = [array(kind) for kind in "QQQqQQQQQQ"]
        self._begins, self._heads, self._sizes, self._times, self._texts, self._paths, self._belows, *self._identities = self._numbers
        self._counts = bytearray()
        self._text = nameless_file()

    def take(self, packed):
        end = text = 0
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as plan, os.fdopen(os.dup(self._text), "wb") as store:
            for line in plan:
                head, size, mtime, counts, path, below, device, inode, owner = map(int, line.split())
                for numbers, number in zip(self._numbers, (end, head, size, mtime, text, path, below, device, inode, owner)):
                    numbers.append(number)
                self._counts.append(counts)
                texts = plan.read(head + path)
                if len(texts) < head + path:
                    raise EOFError("the plan ends too early")
                store.write(texts)
                end += head + -(-size // 512) * 512
                text += head + path
        if end != self.size:
            raise ValueError("the plan has %d bytes" % end)

    def oldest(self):
        return 0

    def block_for(self, reader):
        with self.changed:
            behind = self.head - reader.next
            if reader.is_late and behind < KEPT // 2:
                reader.is_late = False
            elif behind > KEPT and not reader.is_late:
                reader.is_late = True
                self.changed.notify_all()
            if not reader.is_late:
                return memoryview(bytes(self.block(reader.next)))  # it may become late while it uses this
        return self.read(reader.next * BLOCK, min(BLOCK, self.size - reader.next * BLOCK))

    def read(self, begin, size):
        part = memoryview(bytearray(size))
        self._read_into(part, begin)
        return part

    def _read_into(self, view, begin):
        member = bisect.bisect_right(self._begins, begin) - 1
        offset = begin - self._begins[member]
        while view:
            head, contents = self._heads[member], self._sizes[member]
            end = head + -(-contents // 512) * 512
            if offset < head:
                part = os.pread(self._text, min(len(view), head - offset), self._texts[member] + offset)
                view[: len(part)] = part
            elif offset < head + contents:
                part = view[: head + contents - offset]
                self._read_contents(part, member, offset - head)
            elif offset < end:
                part = bytes(min(len(view), end - offset))
                view[: len(part)] = part
            else:
                member, offset = member + 1, 0
                continue
            view, offset = view[len(part) :], offset + len(part)

    def _read_contents(self, view, member, offset):
        path = os.pread(self._text, self._paths[member], self._texts[member] + self._heads[member])
        try:
            file = open_below(path, self._belows[member])
            try:
                self._check(member, path, file)
                os.lseek(file, offset, os.SEEK_SET)
                while view:
                    got = os.readv(file, [view])
                    if not got:
                        self._fail(path, CHANGED)
                    view = view[got:]
                self._check(member, path, file)
            finally:
                os.close(file)
        except OSError as error:
            self._fail(path, CHANGED if error.errno in (errno.ELOOP, errno.ENOTDIR) else "cannot be read: " + plain(error))

    def _check(self, member, path, file):
        status = os.fstat(file)
        device, inode, owner = (numbers[member] for numbers in self._identities)
        known = (self._sizes[member], self._times[member], device, owner)
        is_same = stat.S_ISREG(status.st_mode) and known == (status.st_size, status.st_mtime_ns // 10**9, status.st_dev, status.st_uid)
        if not is_same or (inode != status.st_ino and not is_fuse(device)):
            self._fail(path, CHANGED)

    @staticmethod
    def _fail(path, why):
        fail("%s: %s" % (path.decode("ascii", "replace"), why))

    def sum(self):
        for index in range(self.count):
            with self.changed:
                self.changed.wait_for(lambda index=index: index < self.wanted)
            block = self.block(index)
            self._read_into(block, index * BLOCK)
            say("sums %d %s" % (index, hashlib.sha256(block).hexdigest()))
            with self.changed:
                while index >= KEPT and time.monotonic() < self.waits_until:
                    self.changed.wait(TICK)
            self.publish(lambda: True)

    def watch(self):
        """Finds readers that hold up others, or do not move at all: podrun may wait too, which is no reader."""
        still = {}
        while True:
            time.sleep(TICK)
            with self.changed:
                self.blame(TICK)
                before, still = still, {}
                for each in self.readers:
                    place, since = before.get(each, (None, 0.0))
                    still[each] = (each.next, since + TICK if self.is_full and place == each.next else 0.0)
                    if max(each.held, still[each][1]) > HOLD_UP:
                        each.is_late, each.held = True, 0.0
                        self.changed.notify_all()

    def digest(self, kind):
        """The digest of the digests, see push.sh."""
        large, small, unfinished = bytearray(), bytearray(), hashlib.new(kind)
        member = 0
        offset = 0  # in its contents
        reader = Reader(self)
        reader.is_patient = True
        with self.changed:
            self.readers.append(reader)
        for index in range(self.count):
            with self.changed:
                reader.next = index
                self.changed.notify_all()
                self.changed.wait_for(lambda index=index: index < self.head)
            block, at = self.block_for(reader), index * BLOCK
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
        with self.changed:
            self.readers.remove(reader)
            self.changed.notify_all()
        total = hashlib.new(kind, large)
        total.update(small)
        say("digest %s %s" % (kind, total.hexdigest()))


class RelayFiles(Frames):
    FRAMES = dict(Frames.FRAMES, start=3, plan=1, sums=1, digest=1, give=2)

    def __init__(self):
        super().__init__()
        self._given = queue.Queue()
        self._has_plan = False

    def _start(self, push, host, size):
        self._be(push, host)
        self.window = Files(self._number(size, 1 << 50))

    def _plan(self, size):
        packed = self._read(size, 1 << 30)
        if self._has_plan:
            raise ValueError("not expected")
        self._has_plan = True
        try:
            self.window.take(packed)
        except (OSError, EOFError) as error:
            raise ValueError(plain(error))
        start(self.window.sum)
        start(self.window.watch)
        start(self._give_all)

    def _sums(self, end):
        end = self._number(end, self.window.count)
        with self.window.changed:
            self.window.wanted = max(self.window.wanted, end)
            self.window.changed.notify_all()

    def _digest(self, kind):
        if kind not in ("sha256", "blake2b"):
            raise ValueError("no such digest")
        start(self.window.digest, kind)

    def _listen(self, address, hosts):
        super()._listen(address, hosts)
        self._stop_waiting()

    def _give(self, offset, size):
        offset, size = self._number(offset, self.window.size), self._number(size, BLOCK)
        if offset + size > self.window.size:
            raise ValueError("not in the archive")
        self._given.put((offset, size))
        self._stop_waiting()

    def _stop_waiting(self):
        with self.window.changed:
            self.window.waits_until = 0
            self.window.changed.notify_all()

    def _give_all(self):
        while True:
            offset, size = self._given.get()
            say("data %d %d" % (offset, size), self.window.read(offset, size))


run(RelayFiles)
