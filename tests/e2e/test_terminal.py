"""The status line and whatever else is on the screen, as a terminal shows it."""

import fcntl
import json
import os
import re
import termios
import time

import pytest

from pods import write_key
from screen import words
from support import SANITIZED, by_rank, processor_time, wait_until

FOUR = ("-H", "local[0-3]", "--color", "never")
COUNTS = r"\d \w+( · \d \w+)*"
STATUS = re.compile(r"\d+ (connecting|ready|running|stopping|waiting)\b")


class Gate:
    """What hosts wait for."""

    def __init__(self, directory, name="gate"):
        self._path = directory / name
        self.closed = f"[ ! -e {self._path} ]"
        self.passed = f"while {self.closed}; do sleep 0.02; done"

    def open(self):
        self._path.touch()


@pytest.fixture
def gate(directory):
    return Gate(directory)


def is_clean(lines):
    return not any(STATUS.search(line) for line in lines)


# Errors


def test_an_error_of_all_hosts_is_shown_once(on_screen):
    command = "echo 'no such thing' >&2; echo step $PODRUN_RANK; echo late $PODRUN_RANK >&2"
    screen = on_screen(*FOUR, "--window", "60s", "--", command)
    assert screen.wait() == 0
    rest = {line for rank in range(4) for line in (f"{rank}: step {rank}", f"{rank}: late {rank}")}
    assert screen.lines[0] == "all: no such thing"
    assert set(screen.lines[1:]) == rest and len(screen.lines) == 1 + len(rest)
    at_once = on_screen(*FOUR, "--window", "0s", "--", command)
    assert at_once.wait() == 0
    assert sum(line.endswith(": no such thing") for line in at_once.lines) == 4


# Contents of the status line


@pytest.mark.smoke
def test_what_runs_is_done_and_has_failed(on_screen, gate):
    screen = on_screen(*FOUR, "--", f"case $PODRUN_RANK in 0) exit 0;; 2) exit 7;; esac; {gate.passed}")
    screen.wait_for("2 running · 1 done · 1 failed [2]")
    gate.open()
    assert screen.wait() == 7
    assert is_clean(screen.lines)
    assert screen.lines[0].startswith("podrun: 3 ok · 1 failed")


def test_hosts_that_connect(on_screen, via, gate):
    silent = on_screen("-H", "silent,h1,h2", *via, "--retries", "0", "-t", "8", "--", "true")
    silent.wait_for("1 connecting [0] · 2 ready")
    silent.wait_for("1 connecting · 2 ready · [0] silent: attempt 1 of 1, 5 s")
    assert silent.wait() == 255
    assert is_clean(silent.lines)


def test_a_silent_host_and_the_rate(on_screen, gate):
    screen = on_screen(*FOUR, "--", f"[ $PODRUN_RANK = 3 ] || while sleep 0.1; {gate.closed}; do echo; done")
    screen.wait_for(lambda s: re.fullmatch(r"4 running · slowest \[3\] silent \d+ s · \d+ B/s|3 running.*", s.last))
    gate.open()
    assert screen.wait() == 0


def test_a_short_run_shows_nothing_of_it(on_screen):
    screen = on_screen(*FOUR, "--", "true")
    assert screen.wait() == 0
    assert screen.lines == [""]


def test_a_terminal_of_20_columns(on_screen, gate):
    screen = on_screen("-H", "local[0-31]", "--", f"case $PODRUN_RANK in 0|1|2) exit 0;; 7) exit 1;; esac; {gate.passed}", columns=20)
    screen.wait_for("28 running · 3 done")
    gate.open()
    assert screen.wait() == 1
    assert is_clean(screen.lines)


def test_wide_characters_in_a_bar(on_screen, gate):
    screen = on_screen("-H", "local", "--", f"printf '\\r学習中 🚀 45%%|████▌     | 900/2000'; {gate.passed}", columns=40)
    screen.wait_for(lambda s: "学" in s.last)
    # pyte keeps an empty cell behind each wide character.
    assert re.fullmatch(r"1 running · \d+ B/s · \[0\] 学 ?習 ?中 ?.*", screen.last)
    gate.open()
    assert screen.wait() == 0
    assert len(screen.lines) == 1


def test_the_c_locale_has_ascii(on_screen, gate):
    screen = on_screen(*FOUR, "--", f"[ $PODRUN_RANK = 0 ] || {{ {gate.passed}; }}", env={"LC_ALL": "C"})
    screen.wait_for("3 running | 1 done")
    gate.open()
    assert screen.wait() == 0
    assert screen.bytes.isascii()


def test_no_color_is_obeyed(on_screen, gate):
    screen = on_screen("-H", "local[0-3]", "--", f"[ $PODRUN_RANK = 0 ] || {{ {gate.passed}; }}", env={"NO_COLOR": "1"})
    screen.wait_for("3 running · 1 done")
    gate.open()
    assert screen.wait() == 0
    assert not re.search(rb"\x1b\[[0-9;]*m", screen.bytes)


# Where it shows nothing


@pytest.mark.parametrize("options, env", [((), {"TERM": "dumb"}), ((), {"TERM": ""}), (("--progress", "never"), {})], ids=["dumb", "none", "never"])
def test_none_of_it(on_screen, gate, options, env):
    screen = on_screen("-H", "local[0-1]", "--color", "never", *options, "--", f"echo one; sleep 1; echo two; {gate.passed}", env=env)
    screen.wait_for(lambda s: s.lines.count("0: two") == s.lines.count("1: two") == 1)
    gate.open()
    assert screen.wait() == 0
    assert sorted(screen.lines) == ["0: one", "0: two", "1: one", "1: two"]
    assert b"\x1b" not in screen.bytes


def test_none_of_it_where_the_reader_of_the_output_may_use_the_terminal(shell, podrun, gate):
    screen = shell()
    screen.type(words(podrun, *FOUR, "--", f"echo one; {gate.passed}; echo two") + " | cat\n")
    screen.wait_for(lambda s: s.lines.count("0: one") == 1)
    screen.watch(0.7)  # it would be there by now
    gate.open()
    screen.wait_for("$")
    screen.type("exit\n")
    screen.wait()
    assert is_clean(line for line in screen.lines if "PODRUN" not in line)
    assert sorted(line for line in screen.lines if re.match(r"\d: ", line)) == [f"{rank}: {text}" for rank in range(4) for text in ("one", "two")]


def test_plain_lines_in_a_pipe_when_asked(podrun, gate):
    run = podrun.start(*FOUR, "--progress", "always", "--", f"[ $PODRUN_RANK = 0 ] || {{ {gate.passed}; }}")
    wait_until(lambda: run.stderr, what="a line of it")
    gate.open()
    assert re.fullmatch(rf"podrun: {COUNTS}\n", run.wait().stderr.decode())
    assert podrun(*FOUR, "--", "sleep 0.8").stderr == b""


def test_plain_lines_on_a_dumb_terminal_when_asked(on_screen, gate):
    screen = on_screen(*FOUR, "--progress", "always", "--", gate.passed, env={"TERM": "dumb"})
    screen.wait_for(lambda s: re.fullmatch(f"podrun: {COUNTS}", s.last))
    gate.open()
    assert screen.wait() == 0
    assert len(screen.lines) == 1
    assert b"\x1b" not in screen.bytes


# Among output


@pytest.mark.smoke
def test_output_is_never_mixed_with_it(on_screen):
    busy = "for i in $(seq 60); do echo line $i of the output; [ $((i % 7)) != 0 ] || echo err $i of $PODRUN_RANK >&2; sleep 0.0$((i * (PODRUN_RANK + 3) % 10)); done"
    screen = on_screen(*FOUR, "--", busy, columns=40)
    screen.wait_for(lambda s: STATUS.search(s.last))
    assert screen.wait() == 0
    expected = [f"{rank}: line {i} of the output" for rank in range(4) for i in range(1, 61)]
    # stderr is told apart behind the rank
    others = [line for line in screen.lines if line not in set(expected)]
    assert sorted(line for line in screen.lines if line in set(expected)) == sorted(expected)
    assert len(others) == 4 * 8
    assert all(re.fullmatch(r"(\d)\D* err \d+ of \1", line) for line in others)


def paintings(screen):
    return screen.bytes.count(b"\x1b[?7l")


def test_a_flood_of_output_repaints_it_ten_times_a_second(on_screen):
    begin = time.monotonic()
    screen = on_screen("-H", "local[0-1]", "--color", "never", "--", "for i in $(seq 80); do seq 100; sleep 0.02; done", columns=40)
    assert screen.wait() == 0
    assert 3 <= paintings(screen) <= 10 * (time.monotonic() - begin)
    output = re.sub(rb"\r\x1b\[\?7l[^\x1b]*\x1b\[J\x1b\[\?7h\r|\r\x1b\[J", b"", screen.bytes).replace(b"\r\n", b"\n")
    assert by_rank(output) == {rank: [b"%d" % number for number in range(1, 101)] * 80 for rank in range(2)}


def test_the_line_of_a_raw_stream_is_not_torn(on_screen, directory):
    first, second = Gate(directory, "first"), Gate(directory, "second")
    screen = on_screen("-H", "local", "-N", "--", f"echo begin; printf Password:; {first.passed}; echo; {second.passed}")
    screen.wait_for("Password:")
    assert screen.watch(1) == b""  # it would be painted several times
    first.open()
    screen.wait_for(lambda s: STATUS.match(s.last))
    assert screen.lines[:2] == ["begin", "Password:"]
    second.open()
    assert screen.wait() == 0
    assert screen.lines == ["begin", "Password:"]


def test_a_message_does_not_stick_to_an_unfinished_line(on_screen):
    screen = on_screen("-H", "local", "-N", "--", "printf 'no end'; exit 3")
    assert screen.wait() == 3
    assert screen.lines[0] == "no end"
    assert screen.lines[1].startswith("podrun: exit 3")


def test_it_is_shown_while_output_goes_to_a_file(open_screen, podrun, directory, gate):
    file = directory / "out"
    command = words(podrun, *FOUR, "--", f"printf 'un'; sleep 0.3; echo finished; {gate.passed}")
    screen = open_screen(["bash", "-c", f"{command} >{file}"])
    screen.wait_for(lambda s: STATUS.match(s.last))
    assert len(screen.lines) == 1
    gate.open()
    assert screen.wait() == 0
    assert screen.lines == [""]
    assert sorted(file.read_text().splitlines()) == [f"{rank}: unfinished" for rank in range(4)]
    assert screen.bytes.count(b"\x1b[J") == paintings(screen) + 1  # erased at the end only


BAR = "import sys, time\nfor i in range(21): sys.stderr.write(f'\\r {i * 5:3}%|{i * \"#\":20}| {i}/20'); sys.stderr.flush(); time.sleep(0.1)\n"


def test_a_progress_bar_is_followed_and_ends_as_one_line(on_screen, podrun):
    program = ("/usr/bin/python3", "-c", BAR + "sys.stderr.write('\\n'); print('trained')")
    screen = on_screen("-H", "local[0-1]", "--window", "60s", "--color", "never", "--", *program)
    screen.wait_for(lambda s: re.fullmatch(r"2 running · \d+ B/s · \[0\] +\d+%\|#+ *\| +\d+/20", s.last))
    assert screen.wait() == 0
    assert "all:  100%|####################| 20/20" in screen.lines
    assert len(screen.lines) == 3
    raw = podrun("-H", "local", "--", *program).stderr
    assert raw.count(b"\r") == 21


# A hostile host

ATTACKS = [
    "\\033[A\\r0: false", "\\033[1F0: false", "\\033[H0: false", "\\0337\\033[1;1H0: false\\0338", "\\033M\\r0: false", "\\033D\\033[T",
    "\\233A0: false", "\\302\\233A0: false", "\\302\\215\\r0: false", "\\b\\b\\b\\b\\b\\b0: false", "\\v0: false", "\\f0: false",
    "\\033[2J", "\\033c", "\\033[2K\\033[1A\\033[2K", "\\033]0;title\\007", "\\033]52;c;ZXZpbA==\\007", "\\033[?1049h", "\\033[10;20r", "\\033P0\\033", "\\033[8mhidden",
]  # fmt: skip
LETS_RANK_1_ATTACK = "if [ $PODRUN_RANK = 0 ]; then echo true; touch said; else while [ ! -e said ]; do sleep 0.02; done; {}; fi"


@pytest.mark.parametrize("view", [(), ("-d",), ("--no-label",), ("--json",)], ids=["lines", "dedup", "no label", "json"])
def test_no_host_alters_the_line_of_another(on_screen, view):
    attack = "; ".join(f"printf '{text}\\n'" for text in ATTACKS)
    options = ("-H", "local[0-1]", "--color", "never", "--progress", "never", *view)
    screen = on_screen(*options, "--", LETS_RANK_1_ATTACK.format(attack), columns=2000, rows=60)
    assert screen.wait() == 0
    assert b"\x1b" not in screen.bytes and b"\a" not in screen.bytes
    lines = [event["text"] for event in map(json.loads, screen.lines) if event["event"] == "line" and "text" in event] if view == ("--json",) else screen.lines
    assert lines.count({(): "0: true", ("-d",): "[0]: true"}.get(view, "true")) == 1
    assert len(screen.lines) == 1 + len(ATTACKS) + (5 if view == ("--json",) else 0), "\n".join(screen.lines)
    if view in ((), ("-d",)):
        assert [line.partition(" ")[0].strip("[]:") for line in lines].count("1") == len(ATTACKS)


def test_a_colour_ends_with_its_line(on_screen):
    screen = on_screen("-H", "local[0-1]", "--color", "never", "--progress", "never", "--", LETS_RANK_1_ATTACK.format("printf '\\033[41;5mred\\nplain\\n'"))
    assert screen.wait() == 0
    assert screen.lines == ["0: true", "1: red", "1: plain"]
    cells = [screen.cell(row, 3) for row in range(3)]
    assert [cell.bg for cell in cells] == ["default", "red", "default"]
    assert screen.cell(2, 0).bg == "default"


def test_no_escape_passes_every_byte_to_a_terminal(on_screen):
    screen = on_screen("-H", "local", "--no-escape", "--color", "never", "--progress", "never", "--", "printf 'a\\033[Ab\\r\\033[1mc\\n'")
    assert screen.wait() == 0
    assert screen.bytes == b"0: a\x1b[Ab\r\x1b[1mc\r\n"


def test_escape_shows_colours_too(on_screen, podrun):
    program = "printf 'a\\033[31mb\\n'"
    screen = on_screen("-H", "local", "--escape", "--color", "never", "--progress", "never", "--", program)
    assert screen.wait() == 0
    assert screen.bytes == b"0: a\\x1b[31mb\r\n"
    assert podrun.ok("-H", "local", "--escape", "--", program) == b"0: a\\x1b[31mb\n"
    assert podrun.ok("-H", "local", "--", program) == b"0: a\x1b[31mb\n"


@pytest.mark.parametrize("mode", [(), ("-d",), ("-b",)], ids=["plain", "dedup", "gather"])
def test_escape_shows_all_of_a_progress_bar(on_screen, mode):
    screen = on_screen("-H", "local[0-1]", *mode, "--escape", "--color", "never", "--progress", "never", "--", "printf '10%%\\r100%%\\r\\n'")
    assert screen.wait() == 0
    shown = [line.partition(": ")[2] or line for line in screen.lines]
    assert {line for line in shown if "%" in line} == {r"10%\x0d100%\x0d"}


# Resizing


def test_a_resize_while_it_is_shown(on_screen, gate, directory):
    talk = Gate(directory, "talk")
    screen = on_screen(*FOUR, "--", f"case $PODRUN_RANK in 0) exit 0;; 2) exit 7;; esac; {talk.passed}; echo talk; {gate.passed}")
    screen.wait_for("2 running · 1 done · 1 failed [2]")
    screen.resize(24)
    screen.wait_for("2 running · 1 done")
    screen.resize(60)
    screen.wait_for("2 running · 1 done · 1 failed [2]")
    screen.resize(20)
    talk.open()
    screen.wait_for(lambda s: s.lines.count("1: talk") == s.lines.count("3: talk") == 1)
    screen.wait_for(lambda s: s.last == "2 running · 1 done")
    assert sorted(screen.lines) == ["1: talk", "2 running · 1 done", "3: talk"]
    gate.open()
    assert screen.wait() == 7


# Keys


def test_enter_lists_what_runs(on_screen, gate):
    screen = on_screen(*FOUR, "--", f"[ $PODRUN_RANK != 2 ] || exit 0; echo talk; {gate.passed}", rows=6)  # which it fills
    screen.wait_for(lambda s: s.last.startswith("3 running · 1 done"))
    screen.type("\n")
    screen.wait_for(lambda s: len(s.lines) == 5 and STATUS.match(s.last))
    assert re.fullmatch(r"podrun: \[0,1,3\] running(, silent for (up to )?\d+ s)?", screen.lines[3])
    screen.type("\n")
    screen.wait_for(lambda s: len(s.lines) == 6 and STATUS.match(s.last))
    gate.open()
    assert screen.wait() == 0
    assert is_clean(line for line in screen.lines if not line.startswith("podrun:"))


def test_enter_says_who_has_failed_and_how(on_screen, gate):
    screen = on_screen(*FOUR, "--", f"[ $PODRUN_RANK = 0 ] || exit $PODRUN_RANK; {gate.passed}")
    screen.wait_for(lambda s: s.last.startswith("1 running [0] · 3 failed [1-3]"))
    screen.type("\n")
    screen.wait_for(lambda s: sum(line.startswith("podrun:") for line in s.lines) == 4)
    assert [line for line in screen.lines if line.startswith("podrun:")][1:] == [f"podrun: exit {rank}: [{rank}] local{rank}" for rank in (1, 2, 3)]
    gate.open()
    assert screen.wait() == 3


def test_ctrl_d_is_the_end_of_listening(on_screen, gate):
    screen = on_screen("-H", "local[0-1]", "--", gate.passed)
    screen.wait_for("2 running")
    screen.type("\x04\n")
    screen.watch(0.5)
    assert not any(line.startswith("podrun:") for line in screen.lines)
    gate.open()
    assert screen.wait() == 0


def test_what_is_typed_ahead_is_for_the_shell(shell, podrun, gate):
    screen = shell()
    screen.type(words(podrun, *FOUR, "--", gate.passed) + "\n")
    screen.wait_for("4 running")
    screen.type("echo ah''ead\n")
    gate.open()
    screen.wait_for(lambda s: "ahead" in s.lines)
    assert not any(line.startswith("podrun:") for line in screen.lines)
    screen.type("exit\n")
    screen.wait()


def test_enter_is_the_commands_with_stdin(on_screen):
    screen = on_screen("-H", "local", "--color", "never", "-I", "--", "read line; echo got $line")
    screen.wait_for(lambda s: STATUS.match(s.last))
    screen.type("text\n")
    assert screen.wait() == 0
    assert screen.lines[-1] == "0: got text"


def test_the_terminal_stays_as_it_was_for_those_who_share_it(on_screen, gate):
    screen = on_screen("-H", "local", "--", gate.passed)
    before = termios.tcgetattr(screen.tty)
    screen.wait_for("1 running")
    screen.type("\n")
    screen.wait_for(lambda s: any(line.startswith("podrun: [0]") for line in s.lines))
    assert not fcntl.fcntl(screen.tty, fcntl.F_GETFL) & os.O_NONBLOCK
    assert termios.tcgetattr(screen.tty) == before
    gate.open()
    assert screen.wait() == 0


def test_the_third_ctrl_c_leaves_nothing_of_it(on_screen):
    screen = on_screen("-H", "local", "--color", "never", "--grace", "4", "--", "trap '' INT TERM; echo $$; while :; do sleep 0.05; done")
    screen.wait_for(lambda s: STATUS.match(s.last))
    for shown in ("interrupted 1 host", "stopping 1 host"):
        screen.type("\x03")
        screen.wait_for(lambda s: any(shown in line for line in s.lines) and STATUS.match(s.last))
    screen.type("\x03")
    assert screen.wait() == 130
    assert is_clean(screen.lines)
    assert len(screen.lines) == 4


# Job control


def test_ctrl_z_and_back(shell, podrun, gate):
    screen = shell()
    screen.type(words(podrun, *FOUR, "--", f"{gate.passed}; echo done") + "\n")
    screen.wait_for("4 running")
    screen.type("\x1a")
    screen.wait_for("$")
    assert any("Stopped" in line for line in screen.lines)
    assert is_clean(screen.lines[1:])
    screen.type("fg\n")
    screen.wait_for("4 running")
    gate.open()
    screen.wait_for("$")
    assert is_clean(screen.lines)
    assert sorted(line for line in screen.lines if re.match(r"\d: ", line)) == [f"{rank}: done" for rank in range(4)]
    screen.type("exit\n")
    screen.wait()


def check_ctrl_z_in_a_question(screen, command, question, answer):
    """The question comes back with `fg`, and the shell has its echo in between and at the end."""
    asked = lambda times: lambda s: "".join(s.lines).count(question) == times  # it may be wider than the screen
    screen.type(command + "\n")
    screen.wait_for(asked(1))
    screen.type("typed so far\x1a")
    screen.wait_for("$")
    assert any("Stopped" in line for line in screen.lines)
    screen.type("echo between\n")
    screen.wait_for(lambda s: s.lines[-3:] == ["$ echo between", "between", "$"])
    screen.type("fg\n")
    screen.wait_for(asked(2))
    screen.type(answer + "\n")
    screen.wait_for(lambda s: s.last == "$" and "0: host0" in s.lines)
    screen.type("echo after\n")
    screen.wait_for(lambda s: s.lines[-3:] == ["$ echo after", "after", "$"])
    screen.type("exit\n")
    screen.wait()


def test_ctrl_z_at_a_new_host_key(shell, podrun, pod):
    (podrun.home / ".ssh" / "known_hosts").unlink()
    command = words(podrun, *pod.options, "--color", "never", "-o", "StrictHostKeyChecking=ask", "--", "echo $POD_HOST")
    check_ctrl_z_in_a_question(shell(), command, "Trust all of them (yes/no)?", "yes")


def test_ctrl_z_at_a_passphrase(shell, podrun, pod):
    key = podrun.home / ".ssh" / "id_ed25519"
    key.unlink()
    pod.allow(f"{write_key(key, passphrase='correct horse')}.pub")
    screen = shell()
    # Not the first of its group, as in a pipeline: the shell sees that the job stops only if all of it does.
    command = words(podrun, *pod.options, "--color", "never", "--", "echo $POD_HOST")
    check_ctrl_z_in_a_question(screen, f"timeout --foreground 60 {command}", "Passphrase for", "correct horse")
    assert not any("correct horse" in line or "typed so far" in line for line in screen.lines)


def test_it_is_not_painted_in_the_background(shell, podrun, gate):
    screen = shell()
    screen.type(words(podrun, *FOUR, "--", gate.passed) + " &\n")
    screen.wait_for("$")
    screen.watch(1)
    screen.type("echo typed\n")  # is the shell's
    screen.wait_for(lambda s: s.lines[-2:] == ["typed", "$"])
    assert is_clean(screen.lines)
    job = int(re.search(r"^\[1\] (\d+)$", "\n".join(screen.lines), re.MULTILINE)[1])
    assert sum(map(int, processor_time(job)[1])) / os.sysconf("SC_CLK_TCK") < (1.5 if SANITIZED else 0.5)  # no busy loop with the terminal's input
    screen.type("fg\n")
    screen.wait_for("4 running")
    screen.type("\n")
    screen.wait_for(lambda s: sum(line.startswith("podrun: [0-3] running") for line in s.lines) == 1 and s.last == "4 running")
    gate.open()
    screen.wait_for("$")
    screen.type("exit\n")
    screen.wait()
