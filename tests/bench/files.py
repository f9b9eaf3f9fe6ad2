"""What copying files costs: every tool brings the same tree to hosts that have nothing, and again after three files have changed.

Two trees: many small files, and few large ones. Every host has a home of its own."""

import hashlib
import os
import pwd
import random
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

import cost
from tools import FANOUT, KEX, TOOLS

LARGE_FILES = 5
CHANGED_FILES = 3
MEMORY, MEMORY_A_FILE = 60e6, 300
FIRST, SECOND = "first push", "3 files changed"
PUSHES = (FIRST, SECOND)
CAPTION = f"""\
Everybody: KexAlgorithms {KEX}, the same ed25519 key, at most {FANOUT} hosts at a time. `rsync` is `rsync -a`, started by `xargs -P` for
each host; `clush` copies with `--copy -p`, `pdcp` with `-r -p`, `parallel-rsync` with `-a`. `ssh cat` is the floor for large files: one ssh for
each host that takes all bytes and writes none. Client CPU is user and system time of the tool and all its children, ssh and the local
rsync too. Peak memory is that of the biggest process alone. On the wire: all bytes on the loopback interface, in both directions.
pdcp and clush copy everything each time. (N×): so many times podrun's."""


# The tools: the words of each to copy the directory `source` into the directory `target` on the hosts.


def _podrun(where, count, source, target):
    words = TOOLS["podrun"](where, count, "true")
    return [*words[: words.index("--")], "push", source, target]


def _rsync(where, count, source, target):
    return ["xargs", "-a", where.first(count), "-P", FANOUT, "-I{}", "rsync", "-a", "-e", f"ssh -F {where.config}", source, f"{{}}:{target}"]


def _pdcp(where, count, source, target):
    return ["pdcp", "-R", "ssh", "-r", "-p", "-f", FANOUT, "-w", f"^{where.first(count)}", source, target]


def _clush(where, count, source, target):
    hosts = ["-o", f"-F {where.config}", "--hostfile", where.first(count)]
    return ["clush", "-n", "-S", "-f", FANOUT, *hosts, "-p", "--copy", source, "--dest", f"{target}/"]


def _parallel_rsync(where, count, source, target):
    return ["parallel-rsync", "-a", "-t", "0", "-p", FANOUT, "-S", f"-F {where.config}", "-h", where.first(count), source, target]


def _ssh_cat(where, count, source, _target):
    text = f'cat "$1"/* | ssh -F {where.config} "$2" "cat >/dev/null"'
    return ["xargs", "-a", where.first(count), "-P", FANOUT, "-I{}", "sh", "-c", text, "sh", source, "{}"]


COPIES = {"podrun": _podrun, "rsync": _rsync, "pdcp": _pdcp, "clush": _clush, "parallel-rsync": _parallel_rsync}
FLOOR = "ssh cat"
NEEDS = {"rsync": ["rsync", "xargs"], "pdcp": ["pdcp"], "clush": ["clush"], "parallel-rsync": ["parallel-rsync", "rsync"]}


def missing():
    """The tools that cannot be compared here."""
    return [tool for tool, programs in NEEDS.items() if not all(map(shutil.which, programs))]


# The trees


class Tree:
    """A local directory. Each change is of three files: other bytes, and more bytes in two; beside large files, in small ones that are new."""

    def __init__(self, name, directory):
        self.name, self.path = name, directory / "tree"
        self.files = []
        self._values = random.Random(7)
        self._changes = 0

    @property
    def is_small(self):
        return len(self.files) > LARGE_FILES

    @property
    def bytes(self):
        return sum(path.stat().st_size for path in self.files)

    def add(self, relative, size):
        path = self.path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            for begin in range(0, size, 1 << 20):
                file.write(self._values.randbytes(min(1 << 20, size - begin)))
        self.files.append(path)

    def change(self):
        self._changes += 1
        if not self.is_small:
            for number in range(CHANGED_FILES):
                (self.path / f"notes{number}").write_bytes(b"notes %d\n" % self._changes)
            return
        first, *longer = self._values.sample(self.files, CHANGED_FILES)
        first.write_bytes(self._values.randbytes(first.stat().st_size))
        for path in longer:
            with open(path, "ab") as file:
                file.write(b"changed\n")


def make_small(directory, count):
    tree = Tree(f"{count} small files", directory)
    sizes = random.Random(8)
    for number in range(count):
        tree.add(f"{number // 100:04}/{number:06}.py", int(sizes.expovariate(1 / 4000)))
    return tree


def make_large(directory, size):
    tree = Tree(f"{size / 1e9:g} GB in {LARGE_FILES} files", directory)
    for number in range(LARGE_FILES):
        tree.add(f"shard{number}", size // LARGE_FILES)
    return tree


def contents(root, with_digests):
    """{path: size, or digest} of all files."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            with open(path, "rb") as file:
                value = hashlib.file_digest(file, "sha256").digest() if with_digests else os.fstat(file.fileno()).st_size
            found[path.relative_to(root)] = value
    return found


# Measurements


class Measurements:
    """All figures so far, by (tree, push, hosts, tool), and what went wrong."""

    def __init__(self, where, homes, say):
        self.where, self.homes, self.say = where, homes, say
        self.target = f"{pwd.getpwuid(os.getuid()).pw_dir}/bench"
        self.copied = defaultdict(list)
        self.complaints = []
        self.emptied = 0

    def places(self, hosts):
        return [self.homes / str(rank) / "bench" for rank in range(hosts)]

    def empty(self, hosts, keep):
        """With `keep`, what is there is only put aside: ext4 does not use an inode again in the minute after its file was removed, and
        the tool that comes after many removals would have to look for others."""
        self.emptied += 1
        for place in self.places(hosts):
            if keep and place.exists():
                place.rename(place.with_name(f"before{self.emptied}"))
            subprocess.run(["rm", "-rf", place], check=True)
            place.mkdir()
        os.sync()

    def take(self, tool, tree, push, hosts):
        contents(tree.path, False)
        os.sync()  # what the one before has written is not this one's
        words = list(map(str, (COPIES | {FLOOR: _ssh_cat})[tool](self.where, hosts, tree.path, self.target)))
        with open(self.where.directory / "output", "w+b") as output:
            one = cost.run(words, self.where.environment, output.fileno())
            output.seek(0)
            said = (output.read().splitlines() or [b"no output"])[-1].decode(errors="replace")
        complaint = f"it failed: {said}" if one.failed else self.complaint(tool, tree, hosts)
        name = f"{tree.name}, {push}, {hosts} hosts, {tool}"
        self.say(f"{name}: {complaint or f'{one.wall:.1f} s, {one.cpu:.1f} s of CPU, {one.memory / 1e6:.0f} MB, {one.wire / 1e6:.1f} MB on the wire'}")
        if complaint:
            self.complaints.append(f"{name}: {complaint}")
        else:
            self.copied[tree.name, push, hosts, tool].append(one)

    def complaint(self, tool, tree, hosts):
        """What is wrong with what arrived, or None: the digests for podrun, for the others the sizes."""
        if tool == FLOOR:
            return None
        expected = contents(tree.path, tool == "podrun")
        wrong = [rank for rank, place in enumerate(self.places(hosts)) if contents(place / tree.path.name, tool == "podrun") != expected]
        return f"other files on the hosts {wrong}" if wrong else None

    def middle(self, what, *key):
        values = [getattr(copied, what) for copied in self.copied[key]]
        return median(values) if values else None

    def best_other(self, what, *key):
        values = [self.middle(what, *key, tool) for tool in COPIES if tool != "podrun"]
        return min((value for value in values if value is not None), default=None)


def copy_tree(tree, source, target):
    """Large files are not changed, so they need not be copied."""
    shutil.copytree(source, target, copy_function=shutil.copy2 if tree.is_small else os.link)


def round_of(measured, tree, hosts, order):
    """Every tool copies the tree to empty hosts, and again after changes. The next one begins with the same tree."""
    original = tree.path.with_name("original")
    copy_tree(tree, tree.path, original)
    for tool in order:
        measured.empty(hosts, tree.is_small)
        measured.take(tool, tree, FIRST, hosts)
        if tool == FLOOR:
            continue
        tree.change()
        measured.take(tool, tree, SECOND, hosts)
        tree.path.rename(tree.path.with_name(f"changed{measured.emptied}"))
        copy_tree(tree, original, tree.path)
    measured.empty(hosts, tree.is_small)
    original.rename(original.with_name(f"original{measured.emptied}"))


# The report


def cell(figure, shown, compared_to=None):
    if figure is None:
        return "-"
    return shown % figure + (f" ({figure / compared_to:.1f}×)" if compared_to else "")


FIGURES = {"wall": ("%.2f", 1), "cpu": ("%.2f", 1), "memory": ("%.0f", 1e6), "wire": ("%.2f", 1e6)}


def table(measured, trees, counts):
    yield "| tree | push | hosts | tool | wall, s | client CPU, s | peak memory, MB | on the wire, MB |"
    yield "|---|---|--:|---|--:|--:|--:|--:|"
    for key in ((tree.name, push, hosts) for tree in trees for push in PUSHES for hosts in counts):
        for tool in (*COPIES, FLOOR):
            if not measured.copied[(*key, tool)]:
                continue
            cells = []
            for what, (shown, unit) in FIGURES.items():
                figure, podruns = (measured.middle(what, *key, each) for each in (tool, "podrun"))
                cells.append(cell(figure / unit, shown, podruns / unit if podruns and tool != "podrun" else None))
            yield f"| {' | '.join(map(str, key))} | {tool} | {' | '.join(cells)} |"


def part(figure, whole):
    return figure / whole if figure is not None and whole else None


def goals_of(measured, tree, hosts):
    """(what, the figure or None, at most, whether it depends on how busy the machine is)"""
    first, second = (tree.name, FIRST, hosts), (tree.name, SECOND, hosts)
    small = tree.is_small
    podrun = "podrun"
    wall = part(measured.middle("wall", *first, podrun), measured.best_other("wall", *first))
    yield "wall, first push, as a part of the best other's", wall, 1, True
    cpu = part(measured.middle("cpu", *first, podrun), measured.best_other("cpu", *first))
    yield "client CPU, first push, as a part of the best other's", cpu, 0.5 if small else 1, False
    if not small:
        floor = part(measured.middle("cpu", *first, podrun), measured.middle("cpu", *first, FLOOR))
        yield f"client CPU, first push, as a part of that of `{FLOOR}`", floor, 1.5, False
    if small:
        again = part(measured.middle("wall", *second, podrun), measured.middle("wall", *second, "rsync"))
        yield "wall, three files changed, as a part of rsync's", again, 0.2, True
    wire = part(measured.middle("wire", *second, podrun), measured.middle("wire", *first, podrun))
    yield "on the wire, three files changed, as a part of the first push", wire, 0.01, False
    memory = measured.middle("memory", *first, podrun)
    yield "peak memory, MB", memory and memory / 1e6, (MEMORY + MEMORY_A_FILE * len(tree.files)) / 1e6, False


def report(measured, trees, counts):
    good = not any(", podrun: " in text for text in measured.complaints)
    lines = []
    for tree in trees:
        for hosts in counts:
            for what, figure, most, busy in goals_of(measured, tree, hosts):
                shown = f"- {tree.name}, {hosts} hosts: {what}: {cell(figure, '%.3g')}, at most {most:.3g}: "
                lines.append(shown + ("not measured" if figure is None else "met" if figure <= most else "not met"))
                good = good and (figure is None or figure <= most * (3 if busy else 1))
    lines += [f"- {text}" for text in measured.complaints]
    if missing():
        lines.append(f"- not installed, and so left out: {', '.join(missing())}")
    return lines, good


def needed_bytes(options):
    """On the disk: the large tree and each host's, and of the small one all copies of all tools (4 KiB a file are 6 with its metadata)."""
    return (max(options.counts) + 2) * options.large + (sum(options.counts) + 2) * len(COPIES) * options.runs * 6000 * options.small


def measure(where, directory, options, circumstances, say):
    """The lines of the report, and whether all is as it should be."""
    assert shutil.disk_usage(directory).free > needed_bytes(options), f"{directory}: not enough room (choose fewer --hosts or less --large)"
    measured = Measurements(where, directory / "pod" / "home", say)
    trees = []
    for make, size, name in ((make_small, options.small, "small"), (make_large, options.large, "large")):
        if size:
            (directory / name).mkdir()
            trees.append(make(directory / name, size))
            say(f"{trees[-1].name}: {trees[-1].bytes / 1e6:.0f} MB")
    tools = [tool for tool in COPIES if tool not in missing()]
    for number in range(options.runs):
        order = tools[number % len(tools) :] + tools[: number % len(tools)]
        for tree in trees:
            for hosts in options.counts:
                round_of(measured, tree, hosts, order + ([] if tree.is_small else [FLOOR]))
    lines, good = report(measured, trees, options.counts)
    return [*table(measured, trees, options.counts), "", CAPTION, circumstances, "", *lines], good
