"""What the tests of podrun push share: a small local tree, pushing, and looking at what has arrived."""

import re

from events import events
from fault_table import said_by_podrun
from trees import Directory, File, assert_same, read_tree, remove, write_tree

APP = {
    "train.py": b"print('step')\n",
    "lib/util.py": b"x = 1\n",
    "bin/run": File(b"#!/bin/sh\n", 0o755),
    "secret": File(b"key\n", 0o600),
    "zero": b"",
    "empty": Directory(0o750),
}
APP_FILES, APP_BYTES = 5, 34
NOWHERE = ("-H", "127.0.0.1:129", "--retries", "0")  # for what must be refused before podrun connects
UP_TO_DATE = r"podrun: (\d+) hosts? (?:is|are) up to date"


def write_app(podrun, tree=None, name="app"):
    """Writes the local tree anew."""
    remove(podrun.directory / name)
    return write_tree(podrun.directory / name, APP if tree is None else tree)


def push(podrun, homes, *words, **options):
    """Pushes to all of the hosts, which must succeed; returns what was said at the end."""
    ended = podrun(*homes.options, "push", *words, **options)
    assert (ended.returncode, ended.stdout) == (0, b""), ended
    return said_by_podrun(ended.stderr)[-1]


def push_events(podrun, homes, *words):
    """The same with --json: the events."""
    run = events(podrun, *homes.options, "push", *words)
    assert run.returncode == 0, run.stderr
    return run


def assert_up_to_date(podrun, homes, *words):
    """That another push finds nothing to do."""
    said = push(podrun, homes, *words)
    assert re.match(UP_TO_DATE, said), said


def assert_arrived(homes, source, place, **options):
    """That this place of every home is equal to the local directory."""
    expected = read_tree(source, **options)
    for rank in homes.ranks:
        assert_same(expected, homes.read(rank, place, **options))
