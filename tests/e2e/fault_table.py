"""The table of docs/faults.md, and the events of hosts in its words."""

import re
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

TABLE = Path(__file__).parents[2] / "docs" / "faults.md"
NOTHING_STARTS = "nothing starts"
DELIVER_EVERYTHING = "deliver everything"
ARE_ENDED = "are ended"
KEEP = "keep what they have"

# The values of "when", alone or as "… to …", and the stages that podrun names for them.
STAGES = {
    "connecting": ("name look-up", "connecting", "SSH banner", "jump host", "ProxyCommand"),
    "key exchange": ("key exchange",),
    "host key": ("host key",),
    "login": ("login",),
    "starting the command": ("connection", "opening a channel", "running a command", "starting /bin/sh"),
    "while files are copied": ("copying", "connection"),
    "while the command runs": (),
}

ONE_TRY = ("--retries", "0", "--grace", "1")
LINES = [b"%d" % number for number in range(1, 20001)]  # what `seq 20000` prints


class Row(NamedTuple):
    fault: str
    when: str
    said: str
    status: int
    others: str

    def allows(self, text):
        """Whether this is what podrun is to say; None where it is to say nothing."""
        texts = re.findall(r"`(.+?)`", self.said)
        if not texts:
            assert self.said == "nothing", self
            return text is None
        patterns = (".+".join(re.escape(part) for part in each.split("…")) for each in texts)
        return text is not None and any(re.fullmatch(pattern, text) for pattern in patterns)

    def happens_at(self, text):
        """Whether the moment that podrun names, if it names one, is this row's."""
        kind, _, reason = (text or "").partition(": ")
        if kind == "lost":
            return "while the command runs" in self.when
        if kind != "unreachable":
            return True
        first, _, last = self.when.partition(" to ")
        moments = [*STAGES][[*STAGES].index(first) : [*STAGES].index(last or first) + 1]
        return any(reason.startswith(STAGES[moment]) for moment in moments)


def read_table():
    """The rows by their faults."""
    rows = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "fault":
            fault, when, said, status, others = cells
            assert fault not in rows and others in (NOTHING_STARTS, DELIVER_EVERYTHING, ARE_ENDED, KEEP), line
            rows[fault] = Row(fault, when, said, int(status), others)
    return rows


# The words that the table has for a stage, where they are not the identifier itself with spaces.
STAGE_WORDS = {
    "name_lookup": "name look-up",
    "proxy_command": "ProxyCommand",
    "ssh_banner": "SSH banner",
    "opening_channel": "opening a channel",
    "running_shell": "running a command",
    "starting_shell": "starting /bin/sh",
}


def in_words(event):
    """An exit event as the table has it: "unreachable: connecting: connection refused"; None where the host did not fail."""
    outcome = event["outcome"]
    if outcome == "exited":
        return f"exit {event['status']}" if event["status"] else None
    if outcome == "signaled":
        return f"killed by {signal.Signals(event['signal']).name}"
    if outcome == "timed_out":
        return f"timed out after {event['limit_seconds']} s"
    if outcome not in ("lost", "unreachable"):
        return None
    stage, jump_host = event.get("stage"), event.get("jump_host")
    way = [f"connecting from jump host {jump_host}"] if stage == "forwarding" else [f"jump host {jump_host}"] * bool(jump_host) + [STAGE_WORDS.get(stage, stage.replace("_", " "))]
    has_answered = stage in ("supervision", "copying") or (stage, event["cause"]) == ("starting_shell", "ended_early")
    kind = "not ready" if has_answered else outcome
    return ": ".join([kind, *way, event["message"]])


def said_of_hosts(run):
    """What the events say of each host that failed, as {rank: "unreachable: connecting: connection refused"}."""
    return {rank: text for rank, event in run.exits.items() if (text := in_words(event))}


ROWS = read_table()


PLAYED = set()  # the faults that were held against their rows


def check(row, text, status, others):
    """That it went as the row says."""
    assert row.allows(text), f"podrun said: {text}"
    assert row.happens_at(text), f"the table has it {row.when}, podrun said: {text}"
    assert (status, others) == (row.status, row.others)
    PLAYED.add(row.fault)


def plays(faults):
    """A fixture for the module that plays these rows: none is forgotten. It knows when all of the file was run, and well."""

    @pytest.fixture(scope="module", autouse=True)
    def every_row_is_played(request):
        yield
        options = request.config.option
        chosen = options.keyword or options.markexpr or request.config.getoption("lf", False) or any("::" in each for each in request.config.args)
        assert chosen or request.session.testsfailed or not (forgotten := set(faults) - PLAYED), f"no test plays: {forgotten}"

    return every_row_is_played


def said_by_podrun(stderr):
    """All other lines of its own."""
    return [line for line in stderr.decode().splitlines() if line.startswith("podrun: ")]


def servers(pod):
    """The process ids of its sshds that listen."""
    return [int(pid) for pid in (pod.directory / "pids").read_text().split()]
