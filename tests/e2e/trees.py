"""Trees of files for the tests of copying: written from a description, and compared byte by byte. Paths are bytes of any length, below a
root; a description has them as text or bytes, without a leading slash."""

import contextlib
import hashlib
import os
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

BEGIN = 1_600_000_000  # the time of the first path of a description; each following one is a second later
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class File(NamedTuple):
    content: bytes = b""
    mode: int = 0o644
    size: int = 0  # longer than the content: a hole follows


class Directory(NamedTuple):
    mode: int = 0o755


class Link(NamedTuple):
    target: bytes


class Node(NamedTuple):
    """What is compared of a path."""

    kind: str
    content: object = None  # of a file its digest, of a link its target
    mode: int = None
    mtime: int = None  # seconds


# Names with which something may go wrong on the way.
NAMES = [
    b"a  b",
    b" in front",
    b"behind ",
    b"\ttab",
    b"two\nlines",
    b"\n",
    b"ends with a newline\n",
    b"-rf",
    b"-",
    b"--",
    b"--help",
    b"@file",
    b"'",
    b'"',
    b"it's",
    b"\\",
    b"\\n",
    b"a\\056b",
    b"$HOME",
    b"$(touch touched)",
    b"`touch touched`",
    b";touch touched",
    b"&",
    b"|",
    b"<>",
    b"(",
    b"*",
    b"?",
    b"[a-z]",
    b"{a,b}",
    b"!x",
    b"#x",
    b"~",
    b"~root",
    b"%s",
    b"a=b",
    b"host:name",
    b"...",
    b"..a",
    b".hidden",
    b".podrun.mine",
    b"end",
    b"\x01\x1b[2J\x7f",
    b"\xff\xfe",
    b"caf\xe9",
    "café".encode(),
    "cafe\u0301".encode(),
    "\N{ZERO WIDTH SPACE}".encode(),
    b"x" * 250,
    b"\xff" * 255,
    b"y" * 99 + b"z",
    b"y" * 100 + b"z",
]


def in_bytes(path):
    return os.fsencode(path)


@contextlib.contextmanager
def opened(root, path=b"", make=False):
    """A descriptor of this directory below the root; with `make` the directory and its parents are made."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in filter(None, path.split(b"/")):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=descriptor)
            below = os.open(name, DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def parent_and_name(path):
    parent, _, name = in_bytes(path).rpartition(b"/")
    return parent, name


def write_node(root, path, node):
    """Makes one path of a description, with its parents, but without its final mode and time."""
    parent, name = parent_and_name(path)
    with opened(root, parent, make=True) as directory:
        if isinstance(node, Link):
            os.symlink(node.target, name, dir_fd=directory)
        elif isinstance(node, Directory):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=directory)
        else:
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644, dir_fd=directory)
            with open(descriptor, "wb") as file:
                file.write(node.content)
                file.truncate(max(node.size, len(node.content)))


def write_tree(root, tree):
    """Makes the root and what the description {path: bytes, File, Directory or Link} says; returns the root."""
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    nodes = {path: File(node) if isinstance(node, bytes) else node for path, node in tree.items()}
    for path, node in nodes.items():
        write_node(root, path, node)
    times = {path: BEGIN + number for number, path in enumerate(nodes)}
    for path in sorted(nodes, key=in_bytes, reverse=True):  # what is in a directory before the directory
        node = nodes[path]
        parent, name = parent_and_name(path)
        with opened(root, parent) as directory:
            if not isinstance(node, Link):
                os.chmod(name, node.mode, dir_fd=directory)
            os.utime(name, (times[path], times[path]), dir_fd=directory, follow_symlinks=False)
    return root


def set_time(path, seconds):
    os.utime(path, (seconds, seconds), follow_symlinks=False)


def node_at(directory, name, status, times_of):
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "something else")
    mtime = status.st_mtime_ns // 10**9 if kind in times_of else None
    if kind == "link":
        return Node(kind, os.readlink(name, dir_fd=directory))
    content = None
    if kind == "file":
        with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=directory), "rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    return Node(kind, content, stat.S_IMODE(status.st_mode), mtime)


def read_directory(descriptor, prefix, nodes, times_of):
    for name in map(os.fsencode, os.listdir(descriptor)):
        status = os.lstat(name, dir_fd=descriptor)
        nodes[prefix + name] = node_at(descriptor, name, status, times_of)
        if stat.S_ISDIR(status.st_mode):
            below = os.open(name, DIRECTORY, dir_fd=descriptor)
            try:
                read_directory(below, prefix + name + b"/", nodes, times_of)
            finally:
                os.close(below)


def read_tree(root, times_of=("file",)):
    """{path: Node} of all that is below the root, without following links, and with the times of these kinds."""
    nodes = {}
    with opened(root) as descriptor:
        read_directory(descriptor, b"", nodes, times_of)
    return nodes


def only_below(nodes, *prefixes):
    """The part of a tree that is at one of these paths or below it."""
    chosen = tuple(map(in_bytes, prefixes))
    return {path: node for path, node in nodes.items() if path in chosen or path.startswith(tuple(prefix + b"/" for prefix in chosen))}


def assert_same(expected, found):
    """That two trees, or parts of them, are equal."""
    paths = sorted(expected.keys() | found.keys())
    differences = [f"{path[:200]}: {found.get(path)}, not {expected.get(path)}" for path in paths if expected.get(path) != found.get(path)]
    assert not differences, f"{len(differences)} differences:\n" + "\n".join(differences[:20])


def deep_path(size):
    """A path of this many bytes, of names as long as they may be."""
    assert size > 600
    path = b"/".join([b"d" * 250] * ((size - 100) // 251))
    rest = size - len(path) - 1
    first = rest // 2
    return path + b"/" + b"e" * first + b"/" + b"f" * (rest - first - 1)


def remove(path):
    """Removes a path whatever its modes and depth are. A link is removed itself."""
    path = Path(path)
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    subprocess.run(["chmod", "-R", "u+rwX", "--", path], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", "--", path], check=True)
