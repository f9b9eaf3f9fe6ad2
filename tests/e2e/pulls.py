"""What the tests of podrun pull share: trees on the hosts, pulling, and looking at what has arrived here."""

import re

from events import Events
from fault_table import said_by_podrun
from trees import Directory, File, Link, assert_same, read_tree

LOGS = {
    "train.log": b"step 1\n",
    "deep/er/events": b"\0\1\2",
    "run.sh": File(b"#!/bin/sh\n", 0o755),
    "secret": File(b"key\n", 0o600),
    "zero": b"",
    "empty": Directory(),
    "latest": Link(b"deep/er"),
}
LOGS_FILES, LOGS_BYTES = 6, 24  # links are files


def host_name(homes, rank):
    return homes.names[rank] if hasattr(homes, "names") else homes.pod.hosts[rank]


def place_of(podrun, homes, rank, out="out"):
    """The directory of a host here, where all hosts take part."""
    return podrun.directory / out / f"{rank}-{host_name(homes, rank)}"


def pull(podrun, homes, *words, **options):
    """Pulls from all of the hosts, which must succeed; returns what was said at the end."""
    ended = podrun(*homes.options, "pull", *words, **options)
    assert (ended.returncode, ended.stdout) == (0, b""), ended
    return said_by_podrun(ended.stderr)[-1]


def pull_events(podrun, homes, *words):
    """The same with --json, and any end."""
    return Events(podrun("--json", *homes.options, "pull", *words))


def received(run):
    """{worker: (files, bytes, unchanged)}"""
    return {worker: (event["files"], event["bytes"], event["unchanged"]) for worker, event in run.received.items()}


def assert_arrived(podrun, homes, there, here, ranks=None, **options):
    """That this place of every home is what lies at `here` in its directory."""
    for rank in homes.ranks if ranks is None else ranks:
        place = place_of(podrun, homes, rank)
        assert_same(homes.read(rank, there, **options), read_tree(place / here, **options))


def paths_in(place):
    """The paths of files and links below a directory."""
    return {path.decode(errors="surrogateescape") for path, node in read_tree(place).items() if node.kind != "directory"}


def temporary_files(podrun):
    """What of an unfinished pull is left here."""
    return [path for path in podrun.directory.rglob(".podrun.*") if re.fullmatch(r"\.podrun\.[0-9a-f]{32}", path.name)]
