"""Compares what `--dedup` showed of a case with the truth. Pure."""

import re
from collections import defaultdict
from typing import NamedTuple

from align import NUMBER, RANGE, WINDOW, Shown, align, hosts_of, meaning_of, same
from words import last_state

LABEL = re.compile(r"(all|\[[0-9,-]+\]):(?: (.*))?", re.S)
FAR = 1.5  # a value is so many times as large or small as that of other hosts: it must not hide behind a range

# What a shown line should stand for, by mode and for a reader; of a bar, the measures are noise.
IDEAL = {
    "d": lambda line: line.text,
    "log": lambda line: line.meaning.wish if line.is_bar else line.meaning.log,
    "numbers": lambda line: line.meaning.num,
}
WISH = lambda line: line.meaning.wish  # noqa: E731


class Verdict(NamedTuple):
    groups: list
    messages: list  # of podrun itself
    printed: int
    ideal: int  # lines that differ only in noise are one; in numbers, also those that differ in measures, values and numbers
    wish: int  # lines that differ only in noise and measures are one, as a reader wants it
    faults: dict  # of died, lost, order, wrong, torn, odd: texts
    split: list  # groups that should be one

    @property
    def shown(self):
        return len(self.groups)

    @property
    def score(self):
        for name, kind in (("DIED", "died"), ("LOST", "lost"), ("ORDER", "order"), ("WRONG", "wrong"), ("TORN", "torn"), ("HIDES ODD", "odd")):
            if self.faults[kind]:
                return name
        extra = self.shown - self.ideal
        return "one log" if extra <= max(1, 0.05 * self.ideal) else "nearly" if extra <= 0.5 * self.ideal else "a mess"


def parse(output):
    """The shown lines, and podrun's own, of (time, stream, text)."""
    shown, messages = [], []
    for time, stream, text in output:
        if match := LABEL.fullmatch(text):
            shown.append(Shown(time, stream, match[1], hosts_of(match[1]), last_state(match[2] or "")))
        else:
            messages.append(text)
    return shown, messages


def find_wrong(group, mode):
    (_, first), *others = group.members
    differing = [(host, line) for host, line in others if not same(line, first, mode)]
    if differing:
        yield f"{group.shown.label}: {group.shown.text}" + "".join(f"\n        [{host}] {line.text}" for host, line in [group.members[0], *differing[:4]])


def find_odd(group, mode):
    """Odd lines that came late, or that a reader cannot see behind the shown one."""
    for host, line in group.members:
        if not line.odd:
            continue
        if (delay := group.shown.time - line.time) > WINDOW + 1:
            yield f"[{host}] {delay:.2f} s late: {line.text}"
        others = [other for _, other in group.members if other.meaning.wish != line.meaning.wish]
        if mode == "numbers" and others and not shows_range(group.shown.text, line, others):
            yield f"[{host}] hidden in {group.shown.label}: {group.shown.text}\n        {line.text}"


def shows_range(text, line, others):
    """Whether each number that makes the line odd lies within a range of the text, and no decimal is far from the others."""
    ranges = [(value_of(low), value_of(high)) for low, high in RANGE.findall(text)]
    for number, *column in zip(*(re.findall(NUMBER + "|\x01", each.meaning.wish) for each in (line, *others))):
        values = sorted(value_of(each) for each in column if each != "\x01")
        if number == "\x01" or not values or value_of(number) in values:
            continue
        value, median = value_of(number), values[len(values) // 2]
        if number.count(".") == 1 and ":" not in number and not median / FAR <= value <= median * FAR:
            return False
        if not any(low <= value <= high for low, high in ranges):
            return False
    return True


def value_of(number):
    """The number of `1,024` and `2.3e-05`; of `12:13` and `1.26.4` one that has their order."""
    parts = re.split(r"[:.]", number.replace(",", ""))
    if ":" in number or len(parts) > 2:
        return sum(float(part) / 1000**i for i, part in enumerate(parts))
    return float(number.replace(",", ""))


def find_torn(groups):
    """Of the lines of a block with the same host: those that are not in their order, and lines of others between them."""
    blocks = defaultdict(list)
    for place, group in enumerate(groups):
        for host, line in group.members:
            if line.block:
                blocks[host, line.block].append((place, line))
    for (host, block), lines in blocks.items():
        for (place, line), (next_place, next_line) in zip(lines, lines[1:]):
            if next_line.event < line.event:
                yield f"[{host}] {next_line.text} (after what it printed later)"
            for group in groups[place + 1 : next_place]:
                if all(line.block != block for _, line in group.members):
                    yield f"[{host}] by {group.shown.label}: {group.shown.text}"


def find_split(groups, mode):
    places = defaultdict(list)
    for group in groups:
        for meaning in {(line.event, meaning_of(line, mode)) for _, line in group.members}:
            places[meaning].append(group)
    return [each for each in places.values() if len(each) > 1]


def count_meanings(case, meaning):
    return len({(line.stream, line.event, meaning(line)) for lines in case.lines for line in lines})


def judge(case, output, mode):
    """`output`: (time, stream, text) of each line that was shown in this mode: `d`, `log` or `numbers`."""
    shown, messages = parse(output)
    may_fold = not any(re.search(r"\b(late|behind)\b", message) for message in messages)
    groups, faults, split = [], defaultdict(list), []
    for stream in ("out", "err"):
        of_stream = [[line for line in own if line.stream == stream] for own in case.lines]
        alignment = align(of_stream, [each for each in shown if each.stream == stream], mode, may_fold)
        for kind, texts in alignment.faults.items():
            faults[kind] += texts
        for group in filter(lambda group: group.members, alignment.groups):
            faults["wrong"] += find_wrong(group, mode)
            faults["odd"] += find_odd(group, mode)
        if mode != "d":  # there most lines of a block differ, and those that do not stand where the last host had them
            faults["torn"] += find_torn(alignment.groups)
        split += find_split(alignment.groups, mode)
        groups += alignment.groups
    printed = sum(map(len, case.lines))
    return Verdict(groups, messages, printed, count_meanings(case, IDEAL[mode]), count_meanings(case, WISH), faults, split)
