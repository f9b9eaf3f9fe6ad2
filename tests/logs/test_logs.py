"""--dedup on the logs that people have: 61 pieces of logs as eight hosts print them, with the truth of each line.

The forms of the lines (prefixes, fields and their order, names, bars) are those of public logs, which each case names. They are played
into the sink of --dedup with the clock of the log (replay.cpp), and judge.py compares what it shows with the truth.

test_logs.py             the table of all cases
test_logs.py CASE...     what is shown of these, and what is wrong with it
"""

import os
import subprocess
import sys
from functools import cache
from importlib import import_module

import pytest
from judge import judge
from words import CASES

for part in ("jax", "torch", "train", "serve", "sys", "more"):
    import_module("cases_" + part)

REPLAY = os.environ.get("PODRUN_REPLAY", "podrun_dedup_replay")
MODES = ("d", "log", "numbers")
MOST = 8  # what is told of faults of one kind, and of cases
WIDTH = 150  # columns of a line that is told
EXIT = 0.05  # seconds from a host's last write until its end

# The most lines that all cases together may show, in times their ideal.
LOG = 1.15
LOG_FOR_A_READER = 1.3  # to whom measures do not matter either
NUMBERS = 1.15


def replay_input(case, mode):
    events = []
    for host, writes in enumerate(case.writes):
        events += [(write.time, host, write.stream, write.text.encode()) for write in writes]
        events.append((writes[-1].time + EXIT, host, "end", None))
    yield f"{mode}\n".encode()
    for names in case.names:
        yield "host {listed} {host} {ip}\n".format(**names).encode()
    for time, host, what, text in sorted(events, key=lambda event: event[0]):
        yield f"{round(time * 1e6)} {host} {what}".encode()
        yield b"\n" if text is None else b" %d\n%b\n" % (len(text), text)


@cache
def verdict_of(name, mode):
    case = CASES[name]
    played = subprocess.run([REPLAY], input=b"".join(replay_input(case, mode)), capture_output=True, timeout=60)
    output = [line.split(" ", 2) for line in played.stdout.decode().split("\n")[:-1]]
    verdict = judge(case, [(int(time) / 1e6, stream, text) for time, stream, text in output], mode)
    verdict.faults["died"] += [played.stderr.decode()] if played.returncode else []
    return verdict


def details(name, mode):
    """What is shown, in how many lines what should be one, and what is wrong."""
    verdict = verdict_of(name, mode)
    pieces = {id(group): len(groups) for groups in verdict.split for group in groups}
    yield f"--- {name}, {mode}: printed {verdict.printed}, shown {verdict.shown}, ideal {verdict.ideal}, a reader's {verdict.wish}: {verdict.score}"
    for group in sorted(verdict.groups, key=lambda group: group.shown.time):
        shown = group.shown
        mark = f"1 in {pieces[id(group)]}" if id(group) in pieces else ""
        yield f"{shown.time:6.2f} {shown.stream} {mark:7} {shown.label:11} {shown.text[:WIDTH]}"
    yield from verdict.messages
    for kind, texts in verdict.faults.items():
        yield from (f"  {kind}: {text}" for text in texts[:MOST])
        if len(texts) > MOST:
            yield f"  {kind}: and {len(texts) - MOST} more"


def table():
    yield "| excerpt | printed | -d | log: shown / ideal / a reader's | score | numbers: shown / ideal | score |"
    yield "|---|---|---|---|---|---|---|"
    sums = dict.fromkeys(("printed", "d", "log", "log ideal", "wish", "numbers", "numbers ideal"), 0)
    for name in CASES:
        d, log, numbers = (verdict_of(name, mode) for mode in MODES)
        row = (log.printed, d.shown, log.shown, log.ideal, log.wish, numbers.shown, numbers.ideal)
        sums = {key: old + new for (key, old), new in zip(sums.items(), row)}
        yield "| {} | {} | {} | {} / {} / {} | {} | {} / {} | {} |".format(name, *row[:5], log.score, *row[5:], numbers.score)
    yield "| all {} | {} | {} | {} / {} / {} | | {} / {} | |".format(len(CASES), *sums.values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_lost_merged_or_hidden(name, mode):
    if any(verdict_of(name, mode).faults.values()):
        pytest.fail("\n".join(details(name, mode)), pytrace=False)


@pytest.mark.parametrize("mode, ideal, most", [("log", "ideal", LOG), ("log", "wish", LOG_FOR_A_READER), ("numbers", "ideal", NUMBERS)])
def test_equal_lines_are_shown_once(mode, ideal, most):
    verdicts = [verdict_of(name, mode) for name in CASES]
    shown, best = sum(verdict.shown for verdict in verdicts), sum(getattr(verdict, ideal) for verdict in verdicts)
    if shown > most * best:
        worst = sorted(zip(verdicts, CASES), key=lambda each: getattr(each[0], ideal) - each[0].shown)[:MOST]
        rows = [f"{mode}: {shown} lines for {best}: {shown / best:.2f} times, at most {most}; most of them in"]
        for verdict, name in worst:
            rows.append(f"{name}: {verdict.shown - getattr(verdict, ideal)} too many (see test_logs.py {name})")
            rows += [f"    in {len(groups)} lines: {groups[0].shown.text[:WIDTH]}" for groups in verdict.split[:3]]
        pytest.fail("\n".join(rows), pytrace=False)


def test_log_shows_no_more_than_equal_bytes_do():
    more = [name for name in CASES if verdict_of(name, "log").shown > verdict_of(name, "d").shown]
    assert not more


def test_the_judge_sees_faults():
    case = CASES["traceback-plain"]  # in which host 5 prints something else from the fourth line of its block on
    lines = sorted((line.time, line.event, host, line) for host, own in enumerate(case.lines) for line in own)
    output = [(time, line.stream, f"[{host}]: {line.text}") for time, _, host, line in lines]
    place = {(host, event): i for i, (_, event, host, _) in enumerate(lines)}

    def faults(changes):
        """Of the output with other lines at these places."""
        changed = [changes.get(i, line) for i, line in enumerate(output)]
        return {kind for kind, texts in judge(case, filter(None, changed), "log").faults.items() if texts}

    text = {key: output[i][2] for key, i in place.items()}
    assert not faults({})
    assert faults({place[0, 1]: None}) == {"lost"}
    assert "order" in faults({place[0, 1]: (1, "err", text[0, 2]), place[0, 2]: (1, "err", text[0, 1])})
    assert "wrong" in faults({place[0, 4]: (1, "err", text[0, 4].replace("[0]", "[0,5]")), place[5, 4]: None})
    assert faults({place[5, 8]: (lines[place[5, 8]][0] + 2, "err", text[5, 8])}) == {"odd"}


if __name__ == "__main__":
    names = sys.argv[1:]
    lines = (line for name in names for mode in MODES for line in details(name, mode)) if names else table()
    print(*lines, sep="\n")
