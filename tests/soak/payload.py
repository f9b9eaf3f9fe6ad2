"""What the hosts of the soak print, and how to tell whether it arrived: the whole of it, or of a run that was ended a first part."""

import random

VARIANTS = 8  # so that one host's bytes are not another's
STREAMS = ("stdout", "stderr")


def _text(rng, count):
    return "".join(f"step {number} loss {rng.random():.{rng.randrange(1, 12)}f} αβγ\n" for number in range(count)).encode()


def _long_lines(rng, length):
    return b"".join(b"%d " % number + rng.randbytes(rng.randrange(length // 4)).hex().encode() + b"\n" for number in range(5))


# Each gives the bytes of one stream; `share` is less for standard error.
KINDS = {
    "none": lambda _rng, _share: b"",
    "few": lambda rng, share: _text(rng, rng.randrange(0, 6 if share == 1 else 3)),
    "text": lambda rng, share: _text(rng, int(400 * share)),
    "same": lambda _rng, share: _text(random.Random(0), int(100 * share)),
    "no-newline": lambda rng, share: _text(rng, int(40 * share) + 1).rstrip(b"\n"),
    "progress": lambda rng, share: b"".join(b"%d%%\r" % part + b"\n" * (rng.random() < 0.1) for part in range(int(100 * share))) + b"\n",
    "binary": lambda rng, share: rng.randbytes(int(30_000 * share)),
    "long-lines": lambda rng, share: _long_lines(rng, int(100_000 * share)),
    "huge-line": lambda rng, share: rng.randbytes(int(1_200_000 * share)).hex().encode() + b"\nend\n",
    "large": lambda rng, share: _text(rng, int(60_000 * share)),
}
TEXTS = ("few", "text", "same")  # no line of them looks like anything else


class Stream:
    """The bytes of one stream, and the lines that follow forever, `more(number)` each."""

    def __init__(self, data, more=None):
        self.data, self._more = data, more

    @property
    def ends(self):
        return self._more is None

    def begins_with(self, data):
        expected, number = self.data, 0
        while self._more and len(expected) < len(data):
            expected += b"".join(self._more(each) for each in range(number, number + 1000))
            number += 1000
        return expected.startswith(data)


class Payloads:
    """Files for every kind and variant, in a directory that the hosts see."""

    def __init__(self, directory):
        self._directory = directory
        self._data = {}
        directory.mkdir(parents=True, exist_ok=True)
        for kind, make in KINDS.items():
            for variant in range(VARIANTS):
                rng = random.Random(f"{kind} {variant}")
                for suffix, share in (("out", 1), ("err", 0.2)):
                    self._data[kind, variant, suffix] = data = make(rng, share)
                    (directory / f"{kind}.{variant}.{suffix}").write_bytes(data)

    def path(self, kind):
        return self._directory / kind

    def expected(self, plan, number):
        """The two streams of the host with this number."""
        out, err = (self._data[plan.kind, number % VARIANTS, suffix] for suffix in ("out", "err"))
        if plan.action == "input":
            return {"stdout": Stream(plan.input), "stderr": Stream(b"")}
        if number not in plan.statuses and plan.action == "flood":
            return {"stdout": Stream(b"", lambda _tick: b"%d\n" % number), "stderr": Stream(b"")}
        if number not in plan.statuses and plan.action == "ticks":
            return {"stdout": Stream(out, lambda tick: b"tick %d %d\n" % (number, tick)), "stderr": Stream(err)}
        return {"stdout": Stream(out), "stderr": Stream(err)}
