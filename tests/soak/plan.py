"""What one run of the soak is: drawn from its seed, and which exit statuses are right for it. Pure."""

import random
import signal
from dataclasses import dataclass, field

from payload import TEXTS

FOR_EVER = ("ticks", "tree", "flood")
STAYS = 100  # the number of hosts above which a run does nothing that needs much of the machine

# Faults of one host from the start, as options of tests/fault/fault.py. No command can start there.
SERVERS = ("refused", "never-accepting", "silent", "closing", "resetting", "max-startups", "garbage", "endless-banner", "dribbling-banner")
SERVERS += ("banner-closing", "banner-silent", "banner-garbage", "telnet", "http")
SSH_SERVERS = ("closes-at-service-request", "closes-at-login", "never-answers-login", "refuses-login", "closes-at-channel", "reads-nothing")
SSH_SERVERS += ("refuses-channel", "closes-at-exec", "refuses-exec", "never-answers-exec", "closes-after-exec", "says-nothing")
SSH_SERVERS += ("ends-without-status", "ends-by-signal", "floods-stderr")
BEFORE_THE_START = SERVERS + SSH_SERVERS
# Servers that run the command on this machine and not on a host of the pod; the last one is told to be deaf at a moment.
RUNNING = ("runs-without-status", "runs-after-a-flood", "runs-and-floods-stderr", "deaf")
FLOODS = ("floods-stderr", "runs-after-a-flood", "runs-and-floods-stderr")
# Faults of a proxy at a byte of one direction, which may never come; faults of the connection or its sshd at a moment.
AT_A_BYTE = ("--stall-after", "--cut-after", "--corrupt-at", "--lose-at")
AT_A_MOMENT = ("stall", "stall up", "stall down", "stall for a while", "cut rst", "cut fin")
AT_A_MOMENT += ("sshd killed", "sshd stopped", "sshd stopped for a while", "deaf")
# With these the host never sees the connection end.
SILENT = ("--stall-after", "stall", "stall up", "stall down", "stall for a while", "sshd stopped", "sshd stopped for a while", "deaf")
HARMLESS_FAULTS = ("reset-first", "runs-after-a-flood", "runs-and-floods-stderr")

# Signals to podrun; the exit status tells the first one. A single QUIT goes to the commands only, and podrun goes on.
SIGNALS = (
    ("INT",),
    ("INT", "INT"),
    ("INT", "INT", "INT"),
    ("TERM",),
    ("HUP",),
    ("KILL",),
    ("INT", "KILL"),
    ("INT", "TERM"),
    ("STOP", "CONT"),
    ("TSTP", "CONT"),
    ("TSTP", "CONT", "INT"),
    ("QUIT",),
    ("QUIT", "QUIT"),
    ("QUIT", "INT"),
    ("INT", "QUIT"),
    ("QUIT", "KILL"),
)
HARMLESS = ("STOP", "TSTP", "CONT")


@dataclass
class Plan:
    seed: int
    hosts: int
    kind: str = "none"  # of payload
    action: str = "end"  # see command.sh
    statuses: dict = field(default_factory=dict)  # of the hosts that end otherwise than with 0
    view: str = "labels"
    outdir: bool = False
    form: str = "words"  # or text, script: how the command is given
    options: tuple = ()
    input: bytes = field(default=b"", repr=False)
    timeout: int = 0
    serial: int = 0
    fail_fast: bool = False
    skip: bool = False  # --skip-unreachable
    fault: str = ""
    fault_at: float = 0  # the byte, or the seconds after the start
    direction: str = "down"  # in which the byte goes
    cut_by: str = "rst"
    faulty: int = -1  # the host
    signals: tuple = ()  # (seconds after the start, name)
    reader: str = ""  # closing, slow, or none: a file
    reader_bytes: int = 0

    @property
    def signal_names(self):
        return tuple(name for _when, name in self.signals)

    @property
    def decisive(self):
        """The names of the signals that end it."""
        return [name for name in self.signal_names if name not in HARMLESS]

    @property
    def undisturbed(self):
        """Nobody ends it, so that it ends by itself or its --timeout."""
        return not self.decisive and self.reader != "closing"

    @property
    def breaks(self):
        """The host that may be lost."""
        return self.faulty if self.fault not in HARMLESS_FAULTS else -1

    @property
    def grace(self):
        """Seconds, for which podrun waits for the slowest host, and 5 more. All hosts share the processors of this machine; and a
        supervisor that runs on this machine itself looks at the processes of all hosts, again and again (2 s of a processor)."""
        return 3 + self.hosts // 3 + (6 if self.fault in RUNNING else 0)

    @property
    def orphan_timeout(self):
        """Seconds that a host whose connection is silent goes on, at most: longer than podrun waits, so that podrun is the first."""
        return self.grace + 9 if self.fault in SILENT else 120

    def statuses_of_hosts(self):
        """Podrun's exit statuses that the commands alone may lead to."""
        for_ever = self.action in FOR_EVER
        numbers = [self.statuses.get(number, 124 if for_ever else 0) for number in range(self.hosts)]
        if for_ever and self.serial and not self.fail_fast:
            return {124} | set(numbers[: self.serial])
        if self.fail_fast:
            return {number for number in numbers if number} or {0}
        if self.serial:
            batches = [max(numbers[first : first + self.serial]) for first in range(0, self.hosts, self.serial)]
            return {next((status for status in batches if status), 0)}
        return {max(numbers)}

    def possible_statuses(self, silent):
        """Of a podrun that was silent a signal may have come before it had begun."""
        possible = self.statuses_of_hosts() | ({124} if self.timeout else set())  # the command may not get that far in time
        if self.fault in BEFORE_THE_START and self.undisturbed and not self.serial:
            possible = {255}
        elif self.breaks >= 0:
            possible |= {255, 124} if self.timeout else {255}
        if self.reader == "closing":
            possible |= {141}
        if self.decisive:
            numbers = {"INT": 130, "TERM": 143, "HUP": 129, "QUIT": 131, "KILL": -signal.SIGKILL}
            possible.add(numbers[self.decisive[0]])
            if self.decisive[0] == "QUIT" or "KILL" in self.decisive:
                possible.add(numbers[self.decisive[-1]])
            if silent:  # of several that wait the lowest comes first
                possible |= {-getattr(signal, f"SIG{name}") for name in self.decisive}
        return possible

    def facts(self):
        """What is counted in the figures."""
        signals = ["signals " + " ".join(self.signal_names)] if self.signals else []
        readers = [f"{self.reader} reader"] if self.reader else []
        where = f" {self.direction}" * (self.fault in AT_A_BYTE) + f" {self.cut_by}" * (self.fault == "--cut-after")
        return [f"view {self.view}", f"command {self.action}", *signals, *readers, *([f"fault {self.fault}{where}"] if self.fault else [])]


def draw(seed, most_hosts):
    """The run with this seed."""
    rng = random.Random(seed)
    size = rng.choices([(1, 1), (2, 8), (9, 32), (33, 100), (101, 200)], [30, 45, 18, 5, 2])[0]
    plan = Plan(seed, min(rng.randint(*size), most_hosts))
    _draw_command(plan, rng)
    _draw_options(plan, rng)
    _draw_trouble(plan, rng)
    _draw_form(plan, rng)
    return plan


def _draw_command(plan, rng):
    small = plan.hosts <= STAYS
    plan.action = rng.choices(["end", "slow", "input", "hold", "leave", "ticks", "tree", "flood"], [30, 15, 10, 5, 5, 15, 15 * small, 5])[0]
    if plan.action == "flood":
        plan.hosts = min(plan.hosts, 8)
    kinds = ["none", "few", "text", "same", "no-newline", "progress", "binary", "long-lines"]
    plan.kind = rng.choice(kinds + ["huge-line", "large"] * (plan.hosts <= 4) if small else ["few", "text", "same"])
    if plan.action == "input":
        plan.input = rng.randbytes(rng.choice([0, 1, 1000, 100_000 if small else 1000, 1_000_000 if plan.hosts <= 8 else 1000]))
    elif rng.random() < 0.3:
        plan.statuses = {rng.randrange(plan.hosts): rng.randint(1, 5) for _each in range(rng.randint(1, 3))}
    if plan.action in FOR_EVER:
        plan.timeout = rng.randint(2, 5)


def _draw_options(plan, rng):
    plan.view = rng.choice(["labels", "labels", "rank0", "dedup", "gather", "raw", "json"])
    if plan.action == "input" or plan.kind in ("huge-line", "long-lines"):
        plan.view = "json" if plan.hosts > 1 or rng.random() < 0.5 else "raw"
    if plan.view == "raw" and plan.hosts > 1 or plan.view == "gather" and (plan.kind not in TEXTS or plan.action == "flood"):
        plan.view = "labels"
    plan.outdir = rng.random() < 0.4 and plan.action != "flood"
    plan.fail_fast = rng.random() < 0.2
    options = []
    if plan.hosts > 1 and plan.action != "input" and rng.random() < 0.15:
        plan.serial = rng.randint(max(1, plan.hosts // 3), plan.hosts)
        options += ["--serial", str(plan.serial)]
    if rng.random() < 0.2:
        options += ["-f", str(rng.randint(1, max(1, plan.hosts)))]
    if rng.random() < 0.1:
        options += ["--chdir", rng.choice(["/", "~", "/tmp"])]
    if rng.random() < 0.1:
        options += ["-e", "SOAK=it's \"a\" $value\n"]
    if rng.random() < 0.1:
        options += ["--login"]
    plan.options = tuple(options)


def _draw_trouble(plan, rng):
    trouble = rng.random()
    if plan.action == "flood":
        plan.reader, plan.reader_bytes = "closing", rng.randrange(1, 3_000_000)
    elif trouble < 0.3 and plan.hosts <= 32:
        plan.faulty = rng.randrange(plan.hosts)
        kinds = (BEFORE_THE_START, AT_A_BYTE, AT_A_MOMENT, RUNNING, ("reset-first",))
        plan.fault = rng.choice(rng.choices(kinds, (3, 4, 4, 2, 1))[0])
        plan.direction, plan.cut_by = rng.choice(("down", "up")), rng.choice(("rst", "fin"))
        plan.fault_at = rng.choice([rng.randrange(3000), rng.randrange(20_000)]) if plan.fault in AT_A_BYTE else rng.uniform(0, 3)
        plan.skip = plan.hosts > 1 and rng.random() < 0.4
        limits = ("-t", "6", "--retries", str(rng.randint(0, 2)), "--orphan-timeout", str(plan.orphan_timeout))
        if plan.fault in HARMLESS_FAULTS:
            limits = ("--retries", "3")
        plan.options += limits + ("-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3")
    elif trouble < 0.65:
        when, signals = rng.choice([rng.uniform(0, 0.5), rng.uniform(0, 3)]), []
        for name in rng.choice(SIGNALS):
            signals.append((when, name))
            when += rng.choice([0.001, rng.uniform(0, 0.3), rng.uniform(0, 2)])
        plan.signals = tuple(signals)
    elif trouble < 0.72:
        plan.reader, plan.reader_bytes = "closing", rng.randrange(0, 2000)
    elif trouble < 0.78 and plan.hosts <= 32:
        plan.reader = "slow"


def _draw_form(plan, rng):
    plan.form = rng.choice(["words", "text", "script"])
    if plan.timeout:
        plan.options += ("-u", str(plan.timeout))
    if plan.fail_fast:
        plan.options += ("-k",)
    if plan.skip:
        plan.options += ("--skip-unreachable",)
    if plan.action == "input":
        plan.options += ("-I",)
    plan.options += ("--grace", str(plan.grace))
