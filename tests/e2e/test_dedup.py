"""-d: what many hosts print is shown once, live."""

import json
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "logs"))
from judge import judge  # noqa: E402
from words import CASES  # noqa: E402

for part in ("more", "torch", "train"):
    import_module("cases_" + part)

EIGHT = ["-H", "local[0-7]"]


def expand(label):
    """The ranks of `[0-2,7]`, of 8 for `all`."""
    if label == "all":
        return set(range(8))
    ranks = set()
    for part in label.strip("[]").split(","):
        first, _, last = part.partition("-")
        ranks |= set(range(int(first), int(last or first) + 1))
    return ranks


def shown(output):
    """(ranks, text) of each line."""
    lines = []
    for line in output.decode().splitlines():
        label, text = re.fullmatch(r"(all|\[[0-9,-]+\]): (.*)", line).groups()
        lines.append((expand(label), text))
    return lines


def test_equal_lines_are_shown_once(podrun):
    out = podrun.ok(*EIGHT, "-d", "--window", "20s", "--", "for i in 1 2 3; do echo step $i; done")
    assert out == b"all: step 1\nall: step 2\nall: step 3\n"


def test_a_differing_host_is_told_apart(podrun):
    out = podrun.ok(*EIGHT, "-d", "--window", "1s", "--", "[ $PODRUN_RANK = 5 ] && loss=nan; echo loss ${loss-2.31}")
    assert sorted(out.splitlines()) == [b"[0-4,6,7]: loss 2.31", b"[5]: loss nan"]


def test_a_line_of_all_is_shown_while_they_run(podrun):
    run = podrun.start(*EIGHT, "-d", "--window", "60s", "--", f"echo up; echo {podrun.directory} >/dev/null; while ! [ -e go ]; do sleep 0.05; done")
    run.wait_for_output(b"all: up\n")
    (podrun.home / "go").touch()
    (podrun.directory / "go").touch()
    assert run.wait().returncode == 0


def test_a_silent_host_holds_nobody_up_longer_than_the_window(podrun):
    run = podrun.start(*EIGHT, "-d", "--window", "2s", "--", "[ $PODRUN_RANK = 3 ] || echo up; while ! [ -e go ]; do sleep 0.05; done")
    run.wait_for_output(b"[0-2,4-7]: up\n")
    (podrun.home / "go").touch()
    (podrun.directory / "go").touch()
    assert run.wait().returncode == 0


def test_a_late_host_is_counted(podrun):
    script = "[ $PODRUN_RANK = 6 ] && while ! [ -e go ]; do sleep 0.05; done; seq 100"
    run = podrun.start(*EIGHT, "-d", "--window", "3s", "--late", "60s", "--", script)  # 3 s for the seven, on a busy machine
    run.wait_for_output(b"[0-5,7]: 100\n")
    (podrun.home / "go").touch()
    (podrun.directory / "go").touch()
    ended = run.wait()
    assert [line for line in ended.stdout.decode().splitlines()] == [f"[0-5,7]: {i}" for i in range(1, 101)]
    assert re.search(rb"^podrun: late: \[6\] 100 lines, up to [0-9.]+ m?s behind \(others had printed them, so they are not shown again\)$", ended.stderr, re.M)


@pytest.mark.smoke
def test_every_line_of_every_host_is_shown_or_counted(podrun):
    script = "for i in $(seq 200); do [ $((i % (PODRUN_RANK + 2))) = 0 ] || echo $i; [ $((i % 50)) != $PODRUN_RANK ] || echo extra $PODRUN_RANK; done"
    ended = podrun(*EIGHT, "-d", "--", script)
    expected = Counter()
    for rank in range(8):
        for i in range(1, 201):
            expected[rank] += (i % (rank + 2) != 0) + (i % 50 == rank)
    counted = Counter()
    for ranks, _ in shown(ended.stdout):
        counted.update(ranks)
    late = re.search(rb"late: \[[0-9,-]+\] ([0-9]+) line", ended.stderr)
    assert sum(expected.values()) == sum(counted.values()) + (int(late[1]) if late else 0)
    for rank in range(8):  # and in its own order
        mine = [int(text) for ranks, text in shown(ended.stdout) if rank in ranks and text.isdigit()]
        assert mine == sorted(mine)


def test_a_log_with_clocks_of_its_own(podrun):
    command = 'echo "2026-11-21 13:00:0$PODRUN_RANK,123 - train - INFO - step 1 loss 2.5"; echo "2026-11-21 13:00:0$PODRUN_RANK,999 - train - INFO - loss $((PODRUN_RANK / 7))"'
    out = podrun.ok(*EIGHT, "--dedup=log", "--window", "2s", "--", command)
    lines = shown(out)
    assert [ranks for ranks, text in lines if "step 1" in text] == [set(range(8))]
    assert sorted(sorted(ranks) for ranks, text in lines if "step" not in text) == [[0, 1, 2, 3, 4, 5, 6], [7]]


def test_numbers_and_patterns_need_not_agree(podrun):
    bar = r"""printf '\r 7%%|#%s   | 7/100 [00:1%s<00:12,  4.5%sit/s]\n' $PODRUN_RANK $PODRUN_RANK $PODRUN_RANK"""
    out = podrun.ok(*EIGHT, "--dedup=numbers", "--window", "9s", "--", f'echo "step 7 loss $PODRUN_RANK.5e-3 ($((PODRUN_RANK * 9)) it/s)"; echo "loss $((PODRUN_RANK / 7)) $([ $PODRUN_RANK != 7 ] || echo nan)"; {bar}')
    lines = shown(out)
    assert [ranks for ranks, text in lines if "step" in text] == [set(range(8))]
    assert [ranks for ranks, text in lines if "nan" in text] == [{7}]
    assert [ranks for ranks, text in lines if "it/s]" in text] == [set(range(8))]
    command = 'echo "loss 2.$PODRUN_RANK on node n$PODRUN_RANK of 8"'
    out = podrun.ok(*EIGHT, "--dedup-ignore", "loss [0-9.]+", "--dedup-ignore", "node [a-z][0-9]", "--window", "9s", "--", command)
    assert [ranks for ranks, _ in shown(out)] == [set(range(8))]
    for wrong, why in ((r"\d", "write [0-9] for"), ("(", "Unmatched"), ("x*", "every line")):
        ended = podrun(*EIGHT, "--dedup-ignore", wrong, "--", "true")
        assert ended.returncode == 2 and why.encode() in ended.stderr


def test_streams_are_told_apart(podrun):
    ended = podrun("-H", "local[0-7]", "-d", "--window", "20s", "--", "echo same; echo same >&2")
    assert (ended.stdout, ended.stderr) == (b"all: same\n", b"all: same\n")


def test_wrong_values(podrun):
    for words, says in ((["--dedup=words"], b'--dedup: bad value "words"'), (["-d", "--window", "x"], b'--window: bad duration "x"')):
        ended = podrun(*EIGHT, *words, "--", "true")
        assert ended.returncode == 2 and says in ended.stderr and ended.stderr.count(b"\n") == 1


# Prints what the file of this rank says, as in the case.
PLAYER = """
import json, os, sys, time
begin = time.monotonic()
for due, stream, text in json.load(open(sys.argv[1] + os.environ["PODRUN_RANK"])):
    time.sleep(max(0, due - (time.monotonic() - begin)))
    os.write({"out": 1, "err": 2}[stream], text.encode())
"""


@pytest.mark.parametrize("mode", ["log", "numbers"])
@pytest.mark.parametrize("name", ["traceback-8gpu-mixed", "deepspeed", "repeat-extra"])
def test_logs_of_a_pod_are_one_log(podrun, pod, name, mode):
    """The judge of tests/logs, which plays all cases without hosts; their delays are not judged here."""
    for rank, writes in enumerate(CASES[name].writes):
        (podrun.directory / f"{name}.{rank}").write_text(json.dumps(writes))
    run = podrun(*pod.options, f"--dedup={mode}", "--window", "10s", "--", "python3", "-c", PLAYER, podrun.directory / f"{name}.")
    shown = [(0, stream, line) for stream, text in (("out", run.stdout), ("err", run.stderr)) for line in text.decode().split("\n")[:-1]]
    verdict = judge(CASES[name], shown, mode)
    assert not any(verdict.faults.values()), dict(verdict.faults)
    assert verdict.shown <= 1.15 * verdict.ideal, run.stdout.decode() + run.stderr.decode()
