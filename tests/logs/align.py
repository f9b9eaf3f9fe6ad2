"""Finds what each line that `--dedup` showed stands for. Pure.

The truth of a shown line is found by order, not by its text: each label names hosts, and each host's lines are shown in its order.
The lines of several processes of a host keep the order of each process only; there the text tells which one was shown.
"""

import re
from collections import Counter, defaultdict
from functools import cache
from typing import NamedTuple

from words import ALL

WINDOW = 0.5  # seconds; the default of --window
NUMBER = r"(?:(?<!\w)[-+])?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?"
RANGE = re.compile(rf"({NUMBER})\.\.({NUMBER})")
BAR = re.compile(r"%\|[^|]*\|")
OWN = re.compile(r"\{\w+\}|\*+")  # the names and ranks of a host itself
# Integers that never hide in a line of several hosts.
CODES = re.compile(r"(?:exit|exited|code|status|signal|rank)[\"']?[\s:=(]*(-?\d+)", re.I)
# What names the process at the start of a line, with its number: each such process has an order of its own.
LAUNCHER = r"(?:std(?:out|err): |\S+ \[std(?:out|err)\] )?"
PROCESSES = [
    re.compile(LAUNCHER + name)
    for name in (
        r"(\[[a-z]+(\d+)(?:\|\d+)?\]):",
        r"((?:\(\w+ pid=\d+\) )?\(\w+?(\d*) pid=\d+)",
        r"([\w.-]+:\d+):\d+ \[(\d+)\] (?:\S+ )?NCCL ",
        r"\[[\d:. -]+ ((?:[A-Z]P(\d+) ?)+)\]",
        r"[\d/: ]*\[\w+\|(DP=(\d+)\|)",
        r"\[[\d:, -]+\] (?:\[[^\]]+\] )+(\[RANK:(\d+)\])",
    )
]


class Shown(NamedTuple):
    time: float
    stream: str
    label: str
    hosts: list
    text: str  # its last state, where it has several


class Group(NamedTuple):
    """A shown line and what it stands for: (host, Line) of each host in its label."""

    shown: Shown
    members: list


def hosts_of(label):
    if label == "all":
        return ALL
    hosts = []
    for part in label.strip("[]").split(","):
        first, _, last = part.partition("-")
        hosts += range(int(first), int(last or first) + 1)
    return hosts


def stands_for(shown):
    """Whether a text is what a shown one says: the same, but for ranges of numbers and what is the host's own."""
    if not RANGE.search(shown) and not OWN.search(shown):
        return lambda text: text == shown
    pattern = OWN.sub("\x02", RANGE.sub("\x01", shown))
    pattern = re.compile(re.escape(pattern).replace("\x01", NUMBER).replace("\x02", r"[\w.:*-]+"))
    return lambda text: text == shown or pattern.fullmatch(text)


@cache
def process_in(text):
    """The process that a line names, and its number."""
    return next((match.groups() for pattern in PROCESSES if (match := pattern.match(text))), (None, None))


def named_process(line):
    return process_in(line.text)[0]


# What has an order of its own in the lines of a host: a host's lines keep one order, or those of each process do.
SOURCES = (lambda line: None, named_process, lambda line: (line.process, named_process(line)))


def meaning_of(line, mode):
    """What must be equal in lines that are shown as one."""
    if mode == "d":
        return line.text
    if mode == "log":
        return line.meaning.wish
    return BAR.sub("%||", line.meaning.num), tuple(CODES.findall(line.meaning.wish))


def same(one, other, mode):
    """Whether two lines may be one. The number of a process that its line names does not count, wherever it stands there."""

    def folded(line):
        number = process_in(line.text)[1]
        if not number or mode == "d":
            return meaning_of(line, mode)
        meaning = line.meaning._replace(wish=re.sub(rf"(?<!\d){number}(?!\d)", "\x01", line.meaning.wish))
        return meaning_of(line._replace(meaning=meaning), mode)

    return meaning_of(one, mode) == meaning_of(other, mode) or folded(one) == folded(other)


class Waiting:
    """The lines of one host and stream that are not shown yet, in the order of each source."""

    def __init__(self, lines, times_shown, source_of):
        self.queues = defaultdict(list)
        self.source_of = source_of
        for line in lines:
            self.queues[source_of(line)].append(line)
        self.never_shown = max(0, len(lines) - times_shown)
        self.passed = []  # lines that were not shown before later ones were

    def best(self, cost):
        """Of the lines that may be next the one with the lowest cost(line, number of lines that it passes)."""
        reachable = ((line, passed) for queue in self.queues.values() for passed, line in enumerate(queue[: self.never_shown + 1]))
        return min(reachable, key=lambda each: cost(*each), default=(None, 0))[0]

    def take(self, line):
        queue = self.queues[self.source_of(line)]
        place = queue.index(line)
        self.passed += queue[:place]
        self.never_shown -= place
        del queue[: place + 1]

    def rest(self):
        return self.passed + [line for queue in self.queues.values() for line in queue]


class Alignment:
    """What each shown line of one stream stands for, if the lines of each source of a host keep their order."""

    def __init__(self, lines, shown, mode, source_of):
        self.mode = mode
        times = Counter(host for each in shown for host in each.hosts)
        places = defaultdict(set)
        for each in shown:
            places[each.text].update(each.hosts)
        # The lines that a shown text is taken from: equal lines of other processes must not take their places.
        self.unchanged = {id(line) for host, own in enumerate(lines) for line in own if host in places[line.text]}
        self.waiting = [Waiting(own, times[host], source_of) for host, own in enumerate(lines)]
        self.faults = defaultdict(list)
        self.groups = [Group(each, self.members(each)) for each in shown]

    def members(self, shown):
        fits = stands_for(shown.text)
        first = [self.waiting[host].best(lambda line, passed: (not fits(line.text), passed)) for host in shown.hosts]
        said = next((line for line in first if line and fits(line.text)), None)
        if not said:
            self.faults["order"].append(f"{shown.label}: {shown.text} (none of these hosts prints that next)")

        def cost(line, passed):
            equal = fits(line.text) or said and same(line, said, self.mode)
            is_for_another = id(line) in self.unchanged and line.text != shown.text
            return not equal, is_for_another, passed, said and line.event != said.event

        members = []
        for host in shown.hosts:
            line = self.waiting[host].best(cost)
            if line:
                self.waiting[host].take(line)
                members.append((host, line))
            else:
                self.faults["order"].append(f"[{host}] {shown.text} (it has printed no more lines)")
        return members

    def find_lost(self, may_fold):
        """The lines that are not shown, but for those of one more process of a host, and those that came after the window of equal lines."""
        for host, line in ((host, line) for host, waiting in enumerate(self.waiting) for line in waiting.rest()):
            equal = [each for group in self.groups for each in group.members if same(line, each[1], self.mode)]
            is_folded = may_fold and any(h == host and named_process(other) != named_process(line) for h, other in equal)
            if not is_folded and not any(other.event == line.event and line.time - other.time > WINDOW for _, other in equal):
                yield f"[{host}] {line.time:.2f} {line.text}"


def align(lines, shown, mode, may_fold):
    """By the first order that explains what is shown, else by the one that does so best."""
    alignments = []
    for source_of in SOURCES:
        alignment = Alignment(lines, shown, mode, source_of)
        alignment.faults["lost"] += alignment.find_lost(may_fold)
        if not any(alignment.faults.values()):
            return alignment
        alignments.append(alignment)
    return min(alignments, key=lambda alignment: sum(map(len, alignment.faults.values())))
