# SPDX-License-Identifier: Apache-2.0
"""What a run brings: hosts, lines, results, and the errors."""
from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")  # never fails


_acting = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _shown(text: str) -> str:
    """What hosts print, without the characters that act on a terminal."""
    return _acting.sub(lambda match: ascii(match[0])[1:-1], text)


class PodrunError(Exception):
    """Anything that podrun found wrong."""


class UsageError(PodrunError, ValueError):
    """Options, configuration or host list are wrong (exit status 2, the event "error"); nothing was started."""

    def _render_traceback_(self) -> List[str]:  # what IPython and Jupyter show
        return ["podrun: " + _shown(str(self))]


class Incomplete(PodrunError):
    """podrun was killed, or failed, before it said how the run ended (the event "summary"). Its hosts stop the command by themselves."""


class RunFailed(PodrunError):
    """A run with check=True did not succeed on every host; `result` has everything."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        failed = [host.describe() for host in self.result.failed]
        return "; ".join(failed[:5] + ["and {} more".format(len(failed) - 5)] * (len(failed) > 5)) or "podrun exited with {}".format(self.result.returncode)


@dataclass(frozen=True)
class Host:
    """A host of the list. `worker` is its fixed place there, from 0: what `workers=` and the labels of the output count. `address` is the first one
    of its name; None: none was found within 2 s."""
    worker: int
    name: str
    user: Optional[str] = None
    port: Optional[int] = None
    address: Optional[str] = None

    def __str__(self) -> str:
        name = "[{}]".format(self.name) if ":" in self.name and self.port else self.name
        return (self.user + "@" if self.user else "") + name + (":{}".format(self.port) if self.port else "")


class Line(NamedTuple):
    """A line that a host printed (the event "line"). `stream` is "stdout" or "stderr", `data` its bytes without the newline, `time` when podrun took
    it up ("2026-11-30T21:41:28.573Z"). `end` is "newline", "eof" (the last line has none) or "piece" (of a line above 1 MiB; the next goes on)."""
    worker: int
    host: str
    stream: str
    data: bytes
    time: str
    end: str = "newline"

    @property
    def text(self) -> str:
        """Its bytes as text; one that is no UTF-8 as four characters, such as \\xff."""
        return as_text(self.data)


@dataclass
class HostResult:
    """What one host did. `outcome`: "exited", "signaled", "timed_out", "stalled", "lost", "unreachable" (or not ready; `message`, and for programs
    `stage` and `cause`, say why), "not_started", "stopped" (for another host). `returncode`: of the command, 128+N after signal N, 124 after a time
    limit, 255 lost or unreachable, None otherwise. `seconds`: from the start of the run; `details`: all else of its events (docs/json.md)."""
    worker: int
    name: str
    outcome: str = "not_started"
    returncode: Optional[int] = None
    stdout_bytes: bytes = field(default=b"", repr=False)
    stderr_bytes: bytes = field(default=b"", repr=False)
    message: Optional[str] = None
    stage: Optional[str] = None
    cause: Optional[str] = None
    seconds: Optional[float] = None
    details: Dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def stdout(self) -> str:
        """Its standard output as text; a byte that is no UTF-8 as four characters, such as \\xff."""
        return as_text(self.stdout_bytes)

    @property
    def stderr(self) -> str:
        return as_text(self.stderr_bytes)

    def describe(self) -> str:
        """In one line: "[3] tpu-3: exit 1: No such file", "[4] tpu-4: connecting: connection refused"."""
        what = "exit {}".format(self.returncode) if self.outcome == "exited" else self.outcome == "unreachable" and self.stage or self.outcome
        last = (self.message or (self.stderr.strip().splitlines() or [""])[-1]) * (not self.ok)
        return _shown("[{}] {}: {}{}".format(self.worker, self.name, what.replace("_", " "), ": " + last if last else ""))


@dataclass
class RunResult:
    """What all hosts did: `for host in result`, result[3] (worker 3), result["tpu-3"]; print(result) shows equal output once, as `podrun -b` does.
    `returncode` is podrun's, `culprit` the worker whose failure stopped the others, `interrupted_by` a signal; `messages` are podrun's own, `events`
    all but lines and ends of hosts, and `objects` what is no event of a run: the answer of `podrun ps --json`, the samples of top."""
    args: List[str]
    returncode: int
    hosts: List[HostResult]
    run_id: str = ""
    seconds: float = 0.0
    culprit: Optional[int] = None
    interrupted_by: Optional[int] = None
    messages: List[str] = field(default_factory=list)
    events: List[Dict[str, Any]] = field(default_factory=list, repr=False)
    objects: List[Dict[str, Any]] = field(default_factory=list, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the command succeeded on every host."""
        return self.returncode == 0

    @property
    def failed(self) -> List[HostResult]:
        """The hosts that failed themselves: not those that were stopped, or not started, because of them."""
        return [host for host in self.hosts if host.returncode not in (0, None)]

    @property
    def first_failure(self) -> Optional[HostResult]:
        """The host that stopped the others; else the one that failed first."""
        failed = [self[self.culprit]] if self.culprit is not None else sorted(self.failed, key=lambda host: host.seconds or 0.0)
        return failed[0] if failed else None

    def groups(self) -> List[Tuple[List[HostResult], str]]:
        """The hosts that printed the same and ended alike, the largest group first, each with its output."""
        groups: Dict[Tuple[Any, ...], List[HostResult]] = {}
        for host in self.hosts:
            groups.setdefault((host.stdout_bytes, host.stderr_bytes, host.outcome, host.returncode), []).append(host)
        return [(group, group[0].stdout + group[0].stderr) for group in sorted(groups.values(), key=len, reverse=True)]

    def __getitem__(self, key: Union[int, str]) -> HostResult:
        for host in self.hosts:
            if key in (host.worker, host.name):
                return host
        raise KeyError(key)

    def __iter__(self) -> Iterator[HostResult]:
        return iter(self.hosts)

    def __len__(self) -> int:
        return len(self.hosts)

    def __str__(self) -> str:
        texts = []
        for group, output in self.groups():
            state = "" if group[0].ok else " " + group[0].describe().split(": ", 1)[1]
            runs = (list(run) for _, run in itertools.groupby(enumerate(sorted(host.worker for host in group)), lambda pair: pair[1] - pair[0]))
            workers = ",".join("-".join(sorted({str(run[0][1]), str(run[-1][1])}, key=int)) for run in runs)
            texts.append("[{}] ({}){}\n{}".format(workers, len(group), state, _shown(output)).rstrip("\n"))
        return "\n".join(texts)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # what IPython and Jupyter show
        printer.text(str(self))
