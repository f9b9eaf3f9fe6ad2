"""The words in which the cases are written, and what eight hosts print of each: their writes with times, and the truth of each line."""

import random
from typing import NamedTuple

from template import HOSTS, Host, Meaning

ALL = list(range(HOSTS))
CASES = {}


class Write(NamedTuple):
    time: float
    stream: str
    text: str


class Line(NamedTuple):
    """The truth of one line of a host. Lines of one event are the same to a reader as far as their meanings are equal."""

    event: int
    meaning: Meaning
    stream: str
    time: float
    text: str = None  # its bytes, or its last state, where it has several
    odd: bool = False  # what the reader looks for
    block: int = None  # lines with this number were written at once
    process: int = None  # the local process that wrote it, if the host has several
    is_bar: bool = False


class Case:
    """One case, as it is written: `names` is `tpu` where the list has addresses, else `gpu`."""

    def __init__(self, name, source, names, stream, gap):
        self.name, self.source, self.stream = name, source, stream
        own = "t1v-n-5c0ffee1-w-{}" if names == "tpu" else "gpu-node-{}"
        listed = "10.130.0.1{}" if names == "tpu" else own
        self.names = [{"listed": listed.format(h), "ip": f"10.130.0.1{h}", "host": own.format(h)} for h in ALL]
        self.writes = [[] for _ in ALL]
        self.lines = [[] for _ in ALL]
        self.gap = gap
        self.now = 0.0
        self.event = 0
        self.rng = random.Random(name + "/arrival")
        self.lag = [self.rng.uniform(0, 0.05) for _ in ALL]
        self.last = [0.0 for _ in ALL]
        self.open = [set() for _ in ALL]  # streams that end within a line
        self.hosts = [Host(name, h, self.names[h]) for h in ALL]

    def stream_of_text(self):
        return "out" if self.stream == "both" else self.stream

    def stream_of_bars(self):
        return "err" if self.stream == "both" else self.stream

    def arrival(self, host):
        self.last[host] = max(self.last[host], self.now + self.lag[host] + self.rng.uniform(0, 0.1))
        return self.last[host]

    def render(self, host, time, template, gpu=0):
        return self.hosts[host].render(template, 30 * time, gpu)  # a case is played 30 times as fast as it happened

    def print(self, host, time, template, event, stream=None, process=None, **truth):
        stream = stream or self.stream_of_text()
        meaning = self.render(host, time, template, process or 0)
        time = round(time, 4)
        self.writes[host].append(Write(time, stream, meaning.text + "\n"))
        self.lines[host].append(Line(event, meaning, stream, time, process=process, **truth))

    def write_states(self, host, stream, states, end):
        """A line in states, of which the last one stays. Returns how long that took."""
        time = self.arrival(host)
        meanings = [self.render(host, time, state) for state in states]
        for i, meaning in enumerate(meanings):
            moment = round(time + 0.05 * i * (1 + 0.4 * self.hosts[host].rng.random()), 4)
            self.writes[host].append(Write(moment, stream, ("\r" if i else "") + meaning.text))
        took = moment - time
        self.last[host] = moment
        if end:
            self.writes[host][-1] = self.writes[host][-1]._replace(text=self.writes[host][-1].text + "\n")
            self.lines[host].append(Line(self.event, meanings[-1], stream, moment, is_bar=True))
        return took

    def add_texts(self):
        """From the bytes, since a line may begin within one that was open."""
        for writes, lines in zip(self.writes, self.lines):
            for stream in ("out", "err"):
                texts = "".join(write.text for write in writes if write.stream == stream).split("\n")[:-1]
                places = [i for i, line in enumerate(lines) if line.stream == stream]
                assert len(texts) == len(places), self.name
                for i, text in zip(places, texts):
                    lines[i] = lines[i]._replace(text=last_state(text))


def last_state(text):
    return text.rstrip("\r").rpartition("\r")[2]


def case(name, source, names, stream, items, gap=0.06):
    """`source`: where the form was seen; the sentences are worded here and the values made up. `stream`: out, err, or both."""
    assert name not in CASES
    CASES[name] = made = Case(name, source, names, stream, gap)
    for item in items:
        (line(item) if isinstance(item, str) else item)(made)
        made.now += gap
    made.add_texts()


def word(play):
    """A word of the cases: what it plays comes later, on a Case."""
    return lambda *arguments, **named: lambda made: play(made, *arguments, **named)


@word
def line(made, text, hosts=ALL, stream=None):
    made.event += 1
    for host in hosts:
        made.print(host, made.arrival(host), text, made.event, stream)


def notby(host, text):
    return line(text, [h for h in ALL if h != host])


def err(text):
    return line(text, stream="err")


def out(text):
    return line(text, stream="out")


@word
def odd(made, odd_host, normal, other):
    """All print `normal` (None: nothing), the host prints `other` instead."""
    made.event += 1
    for host in ALL:
        text = other if host == odd_host else normal
        if text is not None:
            made.print(host, made.arrival(host), text, made.event, odd=host == odd_host)


def only(host, text):
    return odd(host, None, text)


@word
def gpu(made, n, text, hosts=ALL, odd={}):
    """n processes of each host print it, in any order. odd: {(host, process): text}"""
    for host in hosts:
        order = list(range(n))
        made.rng.shuffle(order)
        for g in order:
            made.print(host, made.arrival(host), odd.get((host, g), text), made.event + 1 + g, odd=(host, g) in odd, process=g)
    made.event += n


@word
def gpublock(made, n, lines, hosts=ALL):
    """The lines of each of n local processes at once, mixed line by line, a few milliseconds apart."""
    for host in hosts:
        printed = dict.fromkeys(range(n), 0)
        while printed:
            g = made.rng.choice(list(printed))
            i = printed[g]
            made.last[host] = max(made.last[host], made.now + made.lag[host]) + made.rng.uniform(0, 0.008)
            made.print(host, made.last[host], lines[i], made.event + 1 + g * len(lines) + i, process=g)
            printed[g] += 1
            if printed[g] == len(lines):
                del printed[g]
    made.event += n * len(lines)


@word
def block(made, hosts, lines, odd={}):
    """Lines written at once. odd: {host: {index: text}}"""
    for host in hosts:
        time = made.arrival(host)
        others = odd.get(host, {})
        for i, text in enumerate(lines):
            is_odd = i in others or len(hosts) == 1
            made.print(host, time, others.get(i, text), made.event + 1 + i, odd=is_odd, block=made.event + 1)
        written = made.writes[host][-len(lines) :]
        made.writes[host][-len(lines) :] = [written[0]._replace(text="".join(each.text for each in written))]
    made.event += len(lines)


@word
def raw(made, text):
    """Bytes without a newline of their own."""
    for host in ALL:
        stream = made.stream_of_bars()
        made.writes[host].append(Write(round(made.arrival(host), 4), stream, text))
        made.open[host].add(stream)


@word
def cr(made, states, end=True, stream=None):
    """Any states of one line, each after the first with `\\r` before it. It goes on in a line that is open."""
    stream = stream or made.stream_of_bars()
    made.event += 1
    for host in ALL:
        made.write_states(host, stream, [""] + states if stream in made.open[host] else states, end)
        made.open[host] -= {stream}
        made.open[host] |= set() if end else {stream}
    made.now += 0.05 * len(states)


@word
def bar(made, name, total, states, rate, percent, unit="it"):
    """tqdm's bar, with `\\r` before each state, which is (number, postfix)."""
    made.event += 1
    shown = [bar_state(name, total, *state, rate, percent, unit) for state in states]
    made.now += max(made.write_states(host, made.stream_of_bars(), ["", *shown], end=True) for host in ALL)


def bar_state(name, total, n, postfix, rate, percent, unit):
    cells = ("█" * (10 * n // total)).ljust(10)
    speed = f"<<d {rate} {percent} .2f>>{unit}/s" if rate >= 1 else f"<<d {1 / rate:.2f} {percent} .2f>>s/{unit}"
    times = f"<<dur {n / rate:.0f} {percent} ms>><<lt>><<dur {(total - n) / rate:.0f} {percent} ms>>, {speed}" if n else f"00:00<?, ?{unit}/s"
    return f"{name}: {100 * n // total:3d}%|{cells}| {n}/{total} [{times}{', ' + postfix if postfix else ''}]"


@word
def pause(made, seconds):
    made.now += seconds
