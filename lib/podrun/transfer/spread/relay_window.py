"""The blocks that a host keeps for others, their check, and the host's own tar."""

import errno
import hashlib
import mmap
import os
import threading
import time

from relay_limits import BLOCK, HOOKS, fail, say

RECORD = 512
WINDOW, AHEAD = 32, 3  # blocks for children; blocks that podrun may send before they are checked


class Window:
    """The last blocks in a ring, for readers that may be up to `kept` blocks behind. The `ahead` slots after `head` are being filled."""

    def __init__(self, size, kept=WINDOW, ahead=AHEAD):
        self.size, self.kept = size, kept
        self.count = -(-size // BLOCK)
        self.head = 0  # blocks that were checked
        self.readers = []
        self.listeners = []
        self.is_full = False  # a checked block waits for the slowest reader
        self.changed = threading.Condition()
        self._sums = bytearray()
        self._ring_bytes = max(1, min(self.count, kept + ahead)) * BLOCK
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

    def block_for(self, reader):
        return self.block(reader.next)

    def oldest(self):
        return max(0, self.head - self.kept)

    def publish(self, is_current):
        """Readers get the block at `head`, once nobody needs the oldest one; False if the source changed meanwhile."""
        with self.changed:
            while is_current() and self.head >= self.kept and (self._is_held() or any(each.expected for each in self.listeners)):
                self.is_full = True
                self.changed.wait()
            self.is_full = False
            if not is_current():
                return False
            self.head += 1
            self.changed.notify_all()
            return True

    def _is_held(self):
        return any(each.next <= self.head - self.kept and not each.is_late for each in self.readers)

    def blame(self, seconds):
        """Adds the time to those that hold up at least half of the others."""
        readers = [each for each in self.readers if not each.is_late]
        holders = [each for each in readers if each.next <= self.head - self.kept]
        others = [each for each in readers if each not in holders and not each.is_patient]
        waiting = sum(each.next == self.head for each in others)
        if self.is_full and waiting and 2 * waiting >= len(others):
            for each in holders:
                each.held += seconds


class Reader:
    """Reads the window. `next`: the block that it wants; `held`: seconds that it made others wait."""

    host = None
    is_patient = False  # nobody is to blame for its waiting
    is_late = False  # nobody waits for it, see Files

    def __init__(self, window, first=0):
        self.window, self.next, self.held = window, first, 0.0


class Sums:
    """Checks the blocks in order. With heads it follows the members of the archive, in GNU's format (tar(5))."""

    def __init__(self, has_heads):
        self._has_heads = has_heads
        self._before = {0: (0, False)}  # of a block: bytes that belong to the member before, and whether these are contents

    def match(self, index, block, expected):
        """A block that matched may come again: it waits for tar, and its source may change meanwhile."""
        found = hashlib.sha256(block).digest()
        if not self._has_heads:
            return found == expected
        self._left, self._is_contents = before = self._before[index]
        if hashlib.sha256(found + self._sum_of_heads(block)).digest() != expected:
            return False
        self._before = {index: before, index + 1: (self._left, self._is_contents)}
        return True

    def _sum_of_heads(self, block):
        sums, at = hashlib.sha256(), 0
        while at < len(block):
            if not self._left:
                head = bytes(block[at : at + RECORD])
                sums.update(head)
                at += len(head)
                self._is_contents = head[156:157] == b"0"  # else a long name
                self._left = -(-self._size(head[124:136]) // RECORD) * RECORD
            part = block[at : at + self._left]
            if not self._is_contents:
                sums.update(part)
            at += len(part)
            self._left -= len(part)
        return sums.digest()

    @staticmethod
    def _size(field):
        if field[:1] == b"\x80":  # base-256
            return int.from_bytes(field[4:], "big")
        digits = field.rstrip(b" \0")
        return int(digits, 8) if digits.isdigit() and not digits.strip(b"01234567") else 0


class Tar(Reader):
    """Reads the window for this host's own tar."""

    trailer = None
    at = 0  # bytes of the archive that tar has taken

    def run(self):
        window = self.window
        try:
            while self.next < window.count:
                with window.changed:
                    window.changed.wait_for(lambda: self.next < window.head)
                self._write(window.block(self.next))
                if self.next < HOOKS.get("until", window.count):
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

    def _write(self, data):
        while data:
            written = os.write(1, data[: 1 << 16])
            data = data[written:]
            self.at += written
