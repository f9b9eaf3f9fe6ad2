"""podrun's output in each of its forms, back to what each host printed."""

import base64
import functools
import itertools
import json
import re
from collections import defaultdict

# A view is (its options, the function that reads it); that returns {(number, stream): bytes or list of lines}. Lines have lost
# whether there was a newline at the end. A host that is not in it has printed nothing, unless the view is silent about it.


# A host that hears nothing says so on the command's standard error, which may arrive where only the way there is cut.
# It may follow a line of the command that has no newline.
LAST_WORD = re.compile(rb"podrun: no word from podrun for \d+ s: this host stops the command(?:\n|\Z)")


# With --login a signal may end a program of /etc/profile, which then complains.
PROFILE = re.compile(rb"\A/etc/profile: [^\n]*(?:\n|\Z)")


class Lines(list):
    """What a host printed, as lines."""

    def without_last_word(self):
        return Lines(LAST_WORD.sub(b"", line) for line in self if not LAST_WORD.fullmatch(line))

    def without_profile(self):
        return Lines(self[1:]) if self and PROFILE.match(self[0]) else self

    def equal(self, stream):
        text = b"".join(line + b"\n" for line in self)
        return text in (stream.data, stream.data + b"\n")

    def begin(self, stream):
        return stream.begins_with(b"\n".join(self))


class Bytes(bytes):
    """What a host printed, exactly."""

    def without_last_word(self):
        return Bytes(LAST_WORD.sub(b"", self))

    def without_profile(self):
        return Bytes(PROFILE.sub(b"", self))

    def equal(self, stream):
        return self == stream.data

    def begin(self, stream):
        return stream.begins_with(self)


def folded(text):
    """[0-3,5] or 7 as numbers."""
    numbers = []
    for part in text.strip("[]").split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def whole_lines(output):
    """Of a podrun that was killed, the last line may be a part of one."""
    return output.split(b"\n")[:-1]


def under_labels(pattern, out, err, hosts):
    shown = defaultdict(Lines)
    for stream, output in (("stdout", out), ("stderr", err)):
        for line in whole_lines(output):
            if label := re.match(rb"(%b): " % pattern, line):
                for number in hosts if label[1] == b"all" else folded(label[1].decode()):
                    shown[number, stream].append(line[label.end() :])
            else:
                assert stream == "stderr", f"no label: {line[:100]}"
    return shown


labelled = functools.partial(under_labels, rb"\d+")
deduplicated = functools.partial(under_labels, rb"all|\[[0-9,-]+\]")


def gathered(out, err, hosts):
    shown = defaultdict(Lines)
    for stream, output in (("stdout", out), ("stderr", err)):
        numbers = []
        for line in whole_lines(output):
            if header := re.fullmatch(rb"(all|\[[0-9,-]+\]) \(\d+\)( stderr)?", line):
                numbers = hosts if header[1] == b"all" else folded(header[1].decode())
            elif not line.startswith((b"podrun: ", b"    ")):
                assert numbers, f"no header: {line[:100]}"
                for number in numbers:
                    shown[number, stream].append(line)
    return shown


def raw(out, _err, hosts):
    """Of one host. Its standard error has podrun's own words between."""
    assert len(hosts) == 1
    return {(hosts[0], "stdout"): Bytes(out)}


def events(out, _err, hosts):
    shown = defaultdict(list)
    exits = 0
    for event in map(json.loads, whole_lines(out)):
        exits += event["event"] == "exit"
        assert event["event"] != "summary" or exits == len(hosts), f"{exits} events \"exit\" for {len(hosts)} hosts"
        if event["event"] == "line":
            data = base64.b64decode(event["b64"]) if "b64" in event else event["text"].encode()
            shown[event["worker"], event["stream"]].append(data if "end" in event else data + b"\n")
    return {place: Bytes(b"".join(parts)) for place, parts in shown.items()}


VIEWS = {
    "labels": ((), labelled),
    "rank0": (("-0",), labelled),
    "dedup": (("-d",), deduplicated),
    "gather": (("-b",), gathered),
    "raw": (("-N",), raw),
    "json": (("--json",), events),
}


def outdir(directory, hosts):
    """The files of --outdir."""
    shown = {}
    for stream, suffix in (("stdout", "out"), ("stderr", "err")):
        for number in hosts:
            for file in directory.glob(f"{number}-*.{suffix}"):
                shown[number, stream] = Bytes(file.read_bytes())
    return shown


COUNTS = re.compile(r"podrun: ((\d+ (ok|failed|timed out|lost|unreachable|not ready|stopped by podrun|not started)( · |$))+)$")
FAULT = re.compile(r"podrun: ((?:exit \d|killed by|timed out|lost|not ready|unreachable|stopped by podrun)[^\[]*): (\[[0-9,-]+\])(.*)")
STOPPED = re.compile(r"podrun: .* failed first \(.*\), so podrun stopped (\[[0-9,-]+\])")
CULPRIT = re.compile(r"podrun: \[(\d+)(?:\] \S+|[0-9,-]*\]) failed first \(")  # several timed out together
NOTHING_STARTED = "podrun: nothing was started on any host"


def culprit(said):
    """The host whose failure ended the others, if podrun says so."""
    found = [*filter(None, map(CULPRIT.match, said.decode(errors="replace").splitlines()))]
    return int(found[-1][1]) if found else None


def outcomes(said, status, hosts):
    """What the summary says became of each host, as {number: "ok", "exit 3", "lost: …", …}; None where it does not say."""
    lines = said.decode(errors="replace").splitlines()
    # A host's own last line may have no end (-N).
    counts = next((i for i in reversed(range(len(lines))) if COUNTS.search(lines[i])), None)
    if counts is None:  # one fault of all hosts, or none; the last one, since a lost host is reported at once in the same words
        faults = [*filter(None, map(FAULT.search, lines))][-1:]
        if faults and folded(faults[0][2]) == [*hosts]:
            return faulty(faults)
        return {number: "ok" if status == 0 else None for number in hosts}
    known = faulty(itertools.takewhile(bool, map(FAULT.match, lines[counts + 1 :])))
    for stopped in filter(None, map(STOPPED.match, lines[counts + 1 :])):
        known |= {number: "stopped by podrun" for number in folded(stopped[1])}
    rest = [number for number in hosts if number not in known]
    if status < 0:
        return known | {number: None for number in rest}  # it was killed while it wrote the summary
    parts = dict(reversed(part.split(" ", 1)) for part in COUNTS.search(lines[counts])[1].split(" · "))
    unnamed = {word: int(parts[word]) for word in ("ok", "not started") if word in parts}
    if not known and len(parts) == 1:
        unnamed = {word: int(count) for word, count in parts.items()}
    assert sum(map(int, parts.values())) == len(hosts) and len(rest) == sum(unnamed.values()), f"the numbers do not add up: {lines[counts:]}"
    return known | {number: next(iter(unnamed)) if len(unnamed) == 1 else None for number in rest}


def faulty(faults):
    """The outcomes that these matches of FAULT name; a reason follows the name of a host that was not reached or was lost."""
    named = {}
    for fault in faults:
        reason = fault[3] if fault[1] in ("lost", "not ready", "unreachable") else ""
        named |= {number: fault[1] + (":" + reason if reason else "") for number in folded(fault[2])}
    return named
