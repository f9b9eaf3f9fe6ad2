"""Sends files as a tar archive, for pull_send.sh: only those that are still the listed ones when they are open. Its messages are those of tar."""

import errno
import os
import stat
import sys
import tarfile

STEP = 1 << 20
first = {}  # names of files with hard links


def opened(known, name):
    info, file = tarfile.TarInfo(os.fsdecode(name)), None
    if os.path.islink(name):
        status = os.lstat(name)
        info.type, info.linkname = tarfile.SYMTYPE, os.fsdecode(os.readlink(name))
    else:
        file = os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY), "rb", 0)
        status = os.fstat(file.fileno())
        info.size = status.st_size
    key = b"%d:%d:%d" % (status.st_dev, status.st_ino, status.st_uid)
    if key != known or not (file is None or stat.S_ISREG(status.st_mode)):
        raise ValueError("changed while it was being copied (run the command again)")
    info.mode = status.st_mode & 0o7777
    if file and status.st_nlink > 1 and first.setdefault(key, info.name) != info.name:
        info.type, info.linkname, info.size = tarfile.LNKTYPE, first[key], 0
    return info, file


def say(name, why):
    sys.stderr.buffer.write(b"tar: " + name + b": " + why.encode() + b"\n")


def send(out, name, info, file):
    out.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
    left = info.size
    while left:
        part = file.read(min(left, STEP))
        if not part:
            say(name, "File shrank by %d bytes; padding with zeros" % left)
            while left > STEP:
                left -= out.write(bytes(STEP))
            part = bytes(left)
        left -= out.write(part)
    out.write(bytes(-info.size % 512))


with os.fdopen(1, "wb", STEP) as archive:
    for line in sys.stdin.buffer.read().split(b"\0")[:-1]:
        identity, path = line.split(b" ", 1)
        try:
            member = opened(identity, path)
        except ValueError as error:
            say(path, str(error))
        except OSError as error:
            say(path, "Cannot %s: %s" % ("stat" if error.errno == errno.ENOENT else "open", error.strerror))
        else:
            send(archive, path, *member)
    archive.write(bytes(1024))
