"""The example of a training run, in short, and the tool that draws the picture of it."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from support import by_rank, limit

ROOT = Path(__file__).parents[2]
TRAIN = ROOT / "examples" / "training" / "train.py"
PICTURE = ROOT / "docs" / "picture"

HOSTS = 8
NAN, DEAD, LATE = 1, 3, 7  # which train.py chooses of eight
STEPS = range(5, 101, 5)
OPTIONS = ("--steps", "100", "--log-every", "5", "--seconds", "2", "--stall", "5")


def ranks_of(label):
    if label == "all":
        return set(range(HOSTS))
    ranges = [part.split("-") for part in label.strip("[]").split(",")]
    return {rank for ends in ranges for rank in range(int(ends[0]), int(ends[-1]) + 1)}


def lines_of(output):
    """Lines end with a newline only: bars are full of `\\r`."""
    assert not output or output.endswith(b"\n")
    return output.decode().split("\n")[:-1]


def labelled(output):
    """(label, text) of the hosts' lines."""
    return [match.groups() for line in lines_of(output) if (match := re.fullmatch(r"(all|\[[0-9,-]+\]): (.*)", line, re.DOTALL))]


def without_what_differs(line):
    """A line of train.py as it is on all hosts that do the same."""
    line = line.rstrip("\r").rpartition("\r")[2]
    line = re.sub(r"^I\d{4} [0-9:.]+ +\d+ |^[0-9-]+ [0-9:,]+ ", "", line)
    line = re.sub(r"0x[0-9a-f]+|\[\d\d:\d\d<.*it/s\]", "…", line)
    return re.sub(r"127\.0\.0\.\d+ is connected as rank \d ", "{host} is connected as rank * ", line)


def is_subsequence(shorter, longer):
    rest = iter(longer)
    return all(each in rest for each in shorter)


def test_a_training_run_is_a_log_that_can_be_read(podrun, pod):
    ended = podrun(*pod.options, "--dedup=log", "--window", "2s", "--outdir", "raw", "--", "python3", TRAIN, *OPTIONS)
    assert ended.returncode == 1
    raw = {rank: [lines_of(next(podrun.directory.glob(f"raw/{rank}-*.{stream}")).read_bytes()) for stream in ("out", "err")] for rank in range(HOSTS)}
    out, err = labelled(ended.stdout), labelled(ended.stderr)

    # All say it: it is shown once.
    banner = raw[0][0][:5]
    assert out[:6] == [("all", line) for line in (*banner, raw[0][0][5])]
    start = [(label, without_what_differs(text)) for label, text in err[:3]]
    assert start == [
        ("all", "service.cc:152] XLA service … initialized for TPU"),
        ("all", "client.cc:75] {host} is connected as rank * of 8"),
        ("all", "Loading shards: 100%|██████████| 40/40 …"),
    ]

    # A host that prints something else stands out.
    assert [text for label, text in out if label == f"[{NAN}]" and "nan" in text] == [f"step {step:4} loss nan lr 3.00e-04" for step in STEPS if step >= 35]
    assert [text for label, text in out if "nan" in text and ranks_of(label) != {NAN}] == []
    dead = [text for label, text in err if ranks_of(label) == {DEAD}]
    assert dead == raw[DEAD][1][-len(dead) :]
    assert (dead[0], dead[-1]) == ("Traceback (most recent call last):", "RuntimeError: uncorrectable memory error on chip 2")

    # Late hosts are counted, so every line of every host is accounted for.
    late = re.findall(r"(\[[0-9,-]+\]) (\d+) lines?, up to ([0-9.]+) (m?s) behind", ended.stderr.decode())
    ranks, count, lag, unit = late[0]  # the latest come first
    assert LATE in ranks_of(ranks)
    assert int(count) >= len([step for step in STEPS if step >= 15])
    assert unit == "s" and 1.5 < float(lag) < 10
    shown = sum(len(ranks_of(label)) for label, _text in out + err)
    assert shown + sum(int(lines) for _, lines, _, _ in late) == sum(len(lines) for streams in raw.values() for lines in streams)

    # In the host's own order.
    for rank, streams in raw.items():
        for shown_lines, lines in zip((out, err), streams):
            mine = [without_what_differs(text) for label, text in shown_lines if rank in ranks_of(label)]
            assert is_subsequence(mine, map(without_what_differs, lines)), rank

    # At the end it is said who has failed.
    said = ended.stderr.decode()
    assert f"podrun: {HOSTS - 1} ok · 1 failed\npodrun: exit 1: [{DEAD}] " in said
    assert re.search(rf"^podrun: retry on just these: podrun --workers {DEAD} .* python3 ", said, re.MULTILINE)


@pytest.mark.smoke
def test_the_training_of_one_rank_alone(podrun):
    out = podrun.ok("-H", "local", "--", "python3", TRAIN, *OPTIONS)
    assert [line for line in by_rank(out)[0] if line.startswith(b"step")][-1].startswith(b"step  100 loss 1.9")


def test_the_example_can_be_run(podrun):
    ended = subprocess.run(
        [ROOT / "examples" / "training" / "run", "8", *OPTIONS],
        env={**podrun.env, "PODRUN_BIN": podrun.binary},
        cwd=podrun.directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=limit(60),
        check=True,
    )
    shown = ended.stdout.decode().splitlines()
    assert shown[1].startswith("$ podrun --hostfile hosts ")
    assert shown[-1] == "(exit status 1)"
    assert any(line.startswith("all: step ") for line in shown)
    assert "RuntimeError: uncorrectable memory error on chip 2" in ended.stderr.decode()


def picture(*words):
    pytest.importorskip("pyte")
    drawn = subprocess.run([sys.executable, PICTURE, *words], env={**os.environ, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    texts = ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}text")
    return [(text.text, text.attrib) for text in texts][1:]  # without the title


def test_a_picture_shows_what_a_command_shows(tmp_path):
    script = tmp_path / "script"
    script.write_text("printf 'not this\\n$ command\\n\\033[0;1;36mall:\\033[0m a < b & 日本 \\n'; stty size; seq 30\n")
    texts = picture("--from", "$ ", "--columns", "50", "--rows", "10", "--", "sh", str(script))
    assert [text for text, _ in texts] == ["$ command", "all:", "a < b & 日本", "10 50", *map(str, range(1, 31))]
    label, text = texts[1][1], texts[2][1]
    assert label["font-weight"] == "bold" and label["fill"].startswith("#")
    assert float(text["textLength"]) / len("a < b & 日本日本") == pytest.approx(float(label["textLength"]) / len("all:"))  # two cells each


@pytest.mark.parametrize("name, text", [("training", "all:"), ("top", "GPU % of each host in tenths   ! odd   ? stale   x lost")])
def test_the_pictures(name, text):
    drawn = (ROOT / "docs" / f"{name}.svg").read_text()
    assert len(drawn.encode()) < 100_000
    assert text in map(str.strip, ElementTree.fromstring(drawn).itertext())
    assert f"docs/{name}.svg" in (ROOT / "README.md").read_text()
