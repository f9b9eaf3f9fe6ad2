"""The events of `podrun --json`. Tests read outcomes from these; only test_failure_report.py and tests of terminals look at the wording."""

import base64
import json
from collections import defaultdict
from pathlib import Path

from jsonschema import Draft202012Validator

DOCS = Path(__file__).parents[2] / "docs"


def closed(schema):
    """The schema with no room for fields that it does not name, which is for users: podrun prints none."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    extra = {"additionalProperties": False} if schema.get("type") == "object" and "properties" in schema else {}
    return {key: closed(value) for key, value in schema.items()} | extra


SCHEMA = Draft202012Validator(closed(json.loads((DOCS / "json-schema.json").read_text())))
VALIDATED_LINES = 1000  # of each run, since it takes a while


class Events:
    """The events of a run, each valid, in an order that the documentation promises."""

    def __init__(self, ended):
        lines = ended.stdout.split(b"\n")
        assert lines.pop() == b""
        self.all = [json.loads(line) for line in lines]
        self.returncode, self.stderr = ended.returncode, ended.stderr
        self.start, self.summary = self.all[0], self.all[-1]
        assert [place for place, event in enumerate(self.all) if event["event"] == "start"] == [0]
        assert self.summary["event"] == "summary" and self.summary["status"] == ended.returncode
        self.lines = [event for event in self.all if event["event"] == "line"]
        self.exits = {event["worker"]: event for event in self.all if event["event"] == "exit"}
        self.started = [event for event in self.all if event["event"] == "started"]
        assert len(self.started) <= 1
        self.open_outputs = [event for event in self.all if event["event"] == "output_open"]
        self.sent = {event["worker"]: event for event in self.all if event["event"] == "sent"}
        self.received = {event["worker"]: event for event in self.all if event["event"] == "received"}
        others = [*self.exits.values(), *self.started, *self.open_outputs, *self.sent.values(), *self.received.values()]
        for event in [self.start, self.summary, *self.lines[:VALIDATED_LINES], *others]:
            SCHEMA.validate(event)
        assert len(self.all) == 2 + len(self.lines) + len(others)
        assert sorted(self.exits) == sorted(host["worker"] for host in self.start["hosts"])
        last = {event["worker"]: place for place, event in enumerate(self.all) if "worker" in event}
        assert all(self.all[place]["event"] == "exit" for place in last.values())

    @property
    def outcomes(self):
        return {rank: event["outcome"] for rank, event in self.exits.items()}

    @property
    def failures(self):
        """(outcome, stage, cause) of each host that was lost or unreachable."""
        failed = {rank: event for rank, event in self.exits.items() if event["outcome"] in ("lost", "unreachable")}
        return {rank: (event["outcome"], event.get("stage"), event["cause"]) for rank, event in failed.items()}

    @property
    def bytes(self):
        """What the hosts printed, by rank and stream."""
        streams = defaultdict(bytearray)
        for event in self.lines:
            data = base64.b64decode(event["b64"], validate=True) if "b64" in event else event["text"].encode()
            streams[event["worker"], event["stream"]] += data + (b"" if "end" in event else b"\n")
        return {key: bytes(data) for key, data in streams.items()}

    @property
    def shown(self):
        """The lines that the hosts printed on standard output, as by_rank() has them."""
        return {rank: data.splitlines() for (rank, stream), data in self.bytes.items() if stream == "stdout"}


def events(podrun, *args, **options):
    return Events(podrun("--json", *args, **options))


def so_far(run, event):
    """The events of this name of a run that goes on, by worker number."""
    lines = run.stdout.rpartition(b"\n")[0].split(b"\n")
    of_name = [json.loads(line) for line in lines if b'"event":"%s"' % event.encode() in line]
    return {event["worker"]: event for event in of_name}


def exits_so_far(run):
    return so_far(run, "exit")
