"""What output costs: every host prints the same made-up training log."""

import fcntl
import hashlib
import os
import random
import re
import threading
import time
from collections import Counter, defaultdict
from statistics import median

import cost
from tools import OUTPUT_CAPTION, output_tools

SLOW = 1e6  # bytes a second
SLOW_SECONDS = 20  # then the reader takes what is left as fast as it can
MEMORY = 150e6
PIPE = 1 << 20


def write_log(path, lines):
    values = random.Random(4)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"step {step} loss {2.3 + values.random():.4f} lr 0.00031\n" for step in range(1, lines + 1))
    return path


# Receivers of the output of a run.


class Lines:
    """Counts them, and their bytes."""

    def __init__(self):
        self.lines = self.bytes = 0

    def take(self, data):
        self.lines += data.count(b"\n")
        self.bytes += len(data)

    def complaint(self, log, hosts, exact):
        """What is wrong, or None. Other tools may print some lines of their own, or cut some in two."""
        expected = hosts * log.lines
        if not expected <= self.lines <= expected * (1 if exact else 1.01):
            return f"{self.lines} lines, not {expected}"
        labels = sum(len(f"{rank}: ") for rank in range(hosts)) * log.lines
        if exact and self.bytes != hosts * log.bytes + labels:
            return f"{self.bytes} bytes, not {hosts * log.bytes + labels}"
        return None


class EveryHost:
    """Checks the bytes of every host."""

    def __init__(self):
        self.rest = b""
        self.digests = defaultdict(hashlib.sha256)

    def take(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            label, _, text = line.partition(b": ")
            self.digests[label].update(text + b"\n")

    def complaint(self, log, hosts, _exact):
        wrong = [rank for rank in range(hosts) if self.digests[b"%d" % rank].digest() != log.digest]
        return f"other bytes of the hosts {wrong}" if wrong or len(self.digests) != hosts or self.rest else None


class Folded:
    """Checks that `-d` shows or counts every line of every host."""

    def __init__(self):
        self.data = bytearray()

    def take(self, data):
        self.data += data

    def complaint(self, log, hosts, _exact):
        late = b"".join(re.findall(rb"^podrun: late: .*", self.data, re.MULTILINE))
        counted = sum(map(int, re.findall(rb"(?:all|\[[0-9,-]+\]) ([0-9]+) line", late)))
        labels = Counter(re.findall(rb"^(all|\[[0-9,-]+\]): ", self.data, re.MULTILINE))
        counted += sum(self.size(label, hosts) * times for label, times in labels.items())
        return None if counted == hosts * log.lines else f"{counted} lines shown or counted, not {hosts * log.lines}"

    @staticmethod
    def size(label, hosts):
        if label == b"all":
            return hosts
        ranges = (part.partition(b"-") for part in label.strip(b"[]").split(b","))
        return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


class Log:
    def __init__(self, path, lines):
        self.path, self.lines = write_log(path, lines), lines
        content = path.read_bytes()
        self.bytes, self.digest = len(content), hashlib.sha256(content).digest()


def read(descriptor, checker, slow):
    begin, taken = time.monotonic(), 0
    while data := os.read(descriptor, PIPE):
        checker.take(data)
        taken += len(data)
        while slow and time.monotonic() - begin < min(SLOW_SECONDS, taken / SLOW):
            time.sleep(0.01)


def run(where, tool, hosts, log, slow=False):
    """The Cost, and what is wrong with the output or None."""
    podrun = tool.startswith("podrun")
    checker = Folded() if tool == "podrun -d" else EveryHost() if slow else Lines()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    thread = threading.Thread(target=read, args=(reader, checker, slow))
    thread.start()
    one = cost.run(where.command(tool, hosts, f"cat {log.path}"), where.environment, writer)
    os.close(writer)
    thread.join()
    os.close(reader)
    return one, "it failed" if one.failed else checker.complaint(log, hosts, podrun)


class Measurements:
    """All costs so far by (tool, hosts, slow), and what went wrong."""

    def __init__(self, where, log, say):
        self.where, self.log, self.say = where, log, say
        self.costs = defaultdict(list)
        self.complaints = []

    def take(self, tool, hosts, slow=False):
        one, complaint = run(self.where, tool, hosts, self.log, slow)
        name = f"{tool}{' with a slow reader' if slow else ''}, {hosts} hosts"
        self.say(f"{name}: {complaint or f'{one.cpu:.2f} s of CPU, {one.wall:.1f} s, {one.memory / 1e6:.0f} MB'}")
        if complaint:
            self.complaints.append(f"{name}: {complaint}")
        else:
            self.costs[tool, hosts, slow].append(one)

    def middle(self, what, tool, hosts, slow=False):
        costs = self.costs[tool, hosts, slow]
        return median(getattr(one, what) for one in costs) if costs else None

    def speed(self, tool, hosts):
        """Lines a second of client CPU, in millions."""
        cpu = self.middle("cpu", tool, hosts)
        return hosts * self.log.lines / cpu / 1e6 if cpu else None

    def best_other(self, hosts):
        return max((self.speed(tool, hosts) or 0 for tool in output_tools() if not tool.startswith("podrun")), default=0)


def cell(figure, shown):
    return "-" if figure is None else shown % figure


def table(measured, counts):
    yield "| hosts | tool | lines a second of client CPU, millions | client CPU, s | wall, s | peak memory, MB | with a slow reader, MB |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for hosts in counts:
        for tool in output_tools():
            figures = [measured.speed(tool, hosts), measured.middle("cpu", tool, hosts), measured.middle("wall", tool, hosts)]
            figures += [(measured.middle("memory", tool, hosts, slow) or 0) / 1e6 or None for slow in (False, True)]
            yield f"| {hosts} | {tool} | " + " | ".join(map(cell, figures, ("%.2f", "%.2f", "%.1f", "%.0f", "%.0f"))) + " |"


def goals(measured, counts):
    """(what, whether it is so)"""
    for hosts in counts:
        plain, folded = (measured.speed(tool, hosts) or 0 for tool in ("podrun", "podrun -d"))
        best = measured.best_other(hosts)
        yield f"{hosts} hosts: {plain / best if best else 0:.1f} times the lines of the best other, at least 3", plain >= 3 * best > 0
        for tool in output_tools():
            if tool == "podrun -d":
                yield f"{hosts} hosts: {tool} {folded / plain if plain else 0:.2f} of plain, at least 0.5", folded >= plain / 2 > 0
            if tool.startswith("podrun"):
                memory = measured.middle("memory", tool, hosts, True)
                what = f"{hosts} hosts: {tool} with a slow reader {cell(memory and memory / 1e6, '%.0f')} MB, at most {MEMORY / 1e6:.0f}"
                yield what, memory is not None and memory <= MEMORY


def measure(where, directory, options, circumstances, say):
    """The lines of the report, and whether all is as it should be."""
    measured = Measurements(where, Log(directory / "training.log", options.lines), say)
    for number in range(options.runs):
        tools = output_tools()
        for hosts in options.counts:
            for tool in tools[number % len(tools) :] + tools[: number % len(tools)]:
                measured.take(tool, hosts)
    for hosts in options.counts:
        for tool in output_tools():
            if tool.startswith("podrun"):
                measured.take(tool, hosts, slow=True)
    met = list(goals(measured, options.counts))
    caption = OUTPUT_CAPTION.format(lines=options.lines, slow=SLOW / 1e6, seconds=SLOW_SECONDS)
    lines = [*table(measured, options.counts), "", caption, circumstances, ""]
    lines += [f"- {what}: {'met' if good else 'not met'}" for what, good in met] + [f"- {text}" for text in measured.complaints]
    return lines, all(good for _, good in met) and not any(text.startswith("podrun") for text in measured.complaints)
