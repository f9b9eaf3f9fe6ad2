"""Templates of log lines: what each host prints, and which lines mean the same.

A field is <<kind arguments>>. Its class says what a reader of one log of many hosts wants of it:
  N  noise, which always differs: a time, pid, thread, address, own name or rank, port, temporary name
  D  a measure of speed, duration or memory: differs on every host and rarely matters
  V  a value that matters (a loss, a count, a file): hosts that differ in it say different things
  L  the number of a local process: the same on every host
Text outside of fields is literal and counts.
"""

import random
import re
import time
from typing import NamedTuple

HOSTS = 8
GPUS = 8  # of each host
EPOCH = 1795336096  # when a case begins: a moment in November 2026
FIELD = re.compile(r"<<(.*?)>>")
HEX = "0123456789abcdef"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"


class Meaning(NamedTuple):
    """A line's text, and what is left of it without what does not count: noise; also measures; also values and all numbers."""

    text: str
    log: str
    wish: str
    num: str


def spread(rng, base, percent):
    return base * (1 + rng.uniform(-percent, percent) / 100)


def draw_pid(rng):
    return rng.choice([rng.randint(900, 9999), rng.randint(10000, 99999), rng.randint(100000, 3999999)])


def draw_hex(host, digits, key):
    return host.keep("hex " + key, lambda rng: f"{rng.randrange(16**int(digits)):0{int(digits)}x}")


def draw_integer(host, low, high, key=None):
    def draw(rng):
        return rng.randint(int(low), int(high))

    return host.keep("nint " + key, draw) if key else draw(host.rng)


def format_time(when, form):
    fields = time.gmtime(int(when))
    fraction = f"{int((when % 1) * 1e9):09d}"
    for sign, text in ("%3", fraction[:3]), ("%6", fraction[:6]), ("%9", fraction), ("%ms0", fraction[:3] + "000"):
        form = form.replace(sign, text)
    form = form.replace("%-m", str(fields.tm_mon)).replace("%e", f"{fields.tm_mday:2d}")
    return time.strftime(form, fields)


def format_duration(seconds, form):
    if form == "hms" or seconds >= 3600:
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


NOISE = {  # the value by host, arguments, time and local process
    "t": lambda host, form, when, gpu: format_time(when + host.skew, form),
    "epoch": lambda host, digits, when, gpu: f"{when + host.skew:.{int(digits or 6)}f}",
    "mono": lambda host, key, when, gpu: f"{host.boot + when - EPOCH:.6f}",
    "pid": lambda host, key, when, gpu: str(host.keep("pid " + key + (f" {gpu}" if "g" in key.split() else ""), draw_pid)),
    "tid": lambda host, key, when, gpu: str(host.keep("tid " + key, lambda rng: 139000000000000 + rng.randrange(10**12) // 64 * 64)),
    "lwp": lambda host, key, when, gpu: str(host.keep("lwp " + key, lambda rng: rng.randint(900, 99999))),
    "host": lambda host, key, when, gpu: host.names["host"],
    "ip": lambda host, key, when, gpu: host.names["ip"],
    "rank": lambda host, key, when, gpu: str(host.number),
    "rank1": lambda host, key, when, gpu: str(host.number + 1),
    "grank": lambda host, key, when, gpu: str(host.number * GPUS + gpu),
    "addr": lambda host, key, when, gpu: "0x7f" + host.keep(f"addr {key}{gpu}", lambda rng: f"{rng.randrange(16**8):08x}{rng.choice(HEX)}0"),
    "addr0": lambda host, key, when, gpu: "0x00007f" + host.keep("addr0 " + key, lambda rng: f"{rng.randrange(16**9):09x}0"),
    "addr8": lambda host, key, when, gpu: "0x55" + host.keep(f"addr8 {key}{gpu}", lambda rng: f"{rng.randrange(16**8):08x}{rng.choice(HEX[::2])}0"),
    "port": lambda host, key, when, gpu: str(host.keep("port " + key, lambda rng: rng.randint(32768, 60999))),
    "hex": lambda host, digits_key, when, gpu: draw_hex(host, *digits_key.split()),
    "tmp": lambda host, key, when, gpu: host.keep("tmp " + key, lambda rng: "".join(rng.choice(LETTERS) for _ in range(8))),
    "nint": lambda host, low_high_key, when, gpu: str(draw_integer(host, *low_high_key.split())),
}


class Host:
    """Fills the fields of one host's lines. `names`: the host's `host`, `ip` and `listed`."""

    def __init__(self, case, number, names):
        self.case, self.number, self.names = case, number, names
        self.rng = random.Random(f"{case}/{number}")
        self.kept = {}
        self.skew = self.rng.uniform(-0.05, 0.05)
        self.boot = self.rng.uniform(9e4, 9e5)

    def keep(self, key, make):
        """A value that stays the same in this host's log, whichever is used first."""
        if key not in self.kept:
            self.kept[key] = make(random.Random(f"{self.case}/{self.number}/{key}"))
        return self.kept[key]

    def render(self, template, seconds, gpu=0):
        when = EPOCH + seconds
        fields = [self.field(match[1], when, gpu) for match in FIELD.finditer(template)]
        literals = FIELD.split(template)[::2]

        def joined(hidden):
            values = ["\x01" if kind in hidden else value for value, kind in fields]
            return "".join(text for pair in zip(literals, [*values, ""]) for text in pair)

        numbers = re.sub(r"[-+]?\d[\d.,:]*(e[-+]?\d+)?", "#", joined("NDV").replace("\x01", "0"))
        return Meaning(joined(""), joined("N"), joined("ND"), re.sub(r"[ #]+#", "#", numbers))

    def field(self, field, when, gpu):
        """(text, class)"""
        kind, _, argument = field.partition(" ")
        if kind in ("d", "v"):
            base, percent, form = argument.split()
            value = spread(self.rng, float(base), float(percent))
            return format(round(value) if form.endswith("d") else value, form), kind.upper()
        if kind == "dur":  # near so many seconds
            base, percent, form = argument.split()
            return format_duration(int(spread(self.rng, float(base), float(percent))), form), "D"
        if kind == "dpick":
            return self.rng.choice(argument.split("|")), "D"
        if kind == "vrank":  # the rank of a neighbour
            return str((self.number + int(argument)) % HOSTS), "V"
        if kind == "vh":  # a value that belongs to this host: its shard, its file
            return format(self.number, argument or "d"), "V"
        if kind in ("g", "lt"):
            return str(gpu) if kind == "g" else "<", "L"
        return NOISE[kind](self, argument, when, gpu), "N"
