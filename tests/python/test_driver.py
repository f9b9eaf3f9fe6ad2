"""The driver of `podrun python` on this machine: cells by frames, as podrun sends them, to an interpreter."""

import base64
import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "lib/podrun/python"
DRIVER = (SOURCES / "driver.py").read_bytes()
PYTHON = os.environ.get("PODRUN_PYTHON", sys.executable)


class Reply:
    def __init__(self):
        self.out, self.err, self.kind, self.seconds, self.text = b"", b"", None, None, ""

    def __eq__(self, other):  # (kind, text)
        return (self.kind, self.text) == other

    def __repr__(self):
        return repr((self.kind, self.text[:2000], self.out[:2000], self.err[:2000]))


class Interpreter:
    def __init__(self, streams="apart", **environment):
        self.process = subprocess.Popen(
            [PYTHON, "-u", "-c", (SOURCES / "boot.py").read_text()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **environment),
        )
        self.kept = {"out": b"", "err": b""}
        self.came = threading.Condition()
        self.open = 2
        for name, pipe in (("out", self.process.stdout), ("err", self.process.stderr)):
            threading.Thread(target=self._read, args=(name, pipe), daemon=True).start()
        self.cells = 0
        token = secrets.token_hex(16)
        self.ready = self.answer(token, b"%d %s %s\n" % (len(DRIVER), token.encode(), streams.encode()) + DRIVER)

    def _read(self, name, pipe):
        while data := os.read(pipe.fileno(), 1 << 16):
            with self.came:
                self.kept[name] += data
                self.came.notify_all()
        with self.came:
            self.open -= 1
            self.came.notify_all()

    def answer(self, token, data, during=None):
        """Sends this; the reply, with the output before its marks. A reply without a kind: the interpreter has ended."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)
            self.process.stdin.flush()
        if during:
            during()
        reply, start = Reply(), b"~podrun1 %s " % token.encode()
        with self.came:
            for name in ("out", "err"):
                found = self.came.wait_for(lambda: start + b".\n" in self.kept[name] or self.open == 0, 60)
                assert found, self.kept
                output, mark, self.kept[name] = self.kept[name].partition(start + b".\n")
                if name == "out" and mark:
                    parts = re.findall(re.escape(start) + rb"(.*)\n", output)
                    reply.kind, reply.seconds, reply.text = b"".join(map(base64.b64decode, parts)).decode("utf-8", "surrogateescape").split("\0", 2)
                    output = re.sub(re.escape(start) + rb".*\n", b"", output)
                setattr(reply, name, output)
        return reply

    def frame(self, word, text, name="-", during=None):
        token, data = secrets.token_hex(16), text.encode("utf-8", "surrogateescape")
        return self.answer(token, b"%s %s %d %s\n" % (word.encode(), token.encode(), len(data), name.encode()) + data, during)

    def cell(self, text, during=None):
        self.cells += 1
        return self.frame("cell", text, f"<cell {self.cells}>", during)

    def interrupt_when(self, text):
        """Ctrl-C once this has been printed."""

        def interrupt():
            with self.came:
                assert self.came.wait_for(lambda: text.encode() in self.kept["out"], 60), self.kept
            os.killpg(self.process.pid, signal.SIGINT)

        return interrupt

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


@pytest.fixture
def python():
    python = Interpreter()
    yield python
    with contextlib.suppress(ProcessLookupError):
        os.killpg(python.process.pid, signal.SIGKILL)
    python.process.wait()


def values(python, *texts):
    return [python.cell(text).text for text in texts]


def test_ready(python):
    pid, version, path = python.ready.text.split(" ", 2)
    assert (python.ready.kind, int(pid), os.path.basename(path)[:6]) == ("ready", python.process.pid, "python")
    assert python.cell("import sys; '%d.%d.%d' % sys.version_info[:3]").text == repr(version)
    assert python.end() == 0


def test_main_is_the_users(python):
    assert python.cell("sorted(n for n in globals() if not n.startswith('__')), __name__") == ("value", "([], '__main__')")
    assert python.cell("__file__").text.splitlines()[-1].startswith("NameError: name '__file__' is not defined")
    assert values(python, "import sys; sys.argv, sys.path[0]", "hasattr(sys, 'ps1')") == ["([''], '')", "False"]


def test_values(python):
    assert values(python, "1", "_ + 1", "None", "_", "x = 5", "x; y = 2", "x;", "print('p') or 3") == ["1", "2", "", "2", "", "", "5", "3"]
    assert python.cell("if x:\n    y = 7\ny") == ("value", "7")
    long = python.cell("'x' * 10_000_000")
    assert len(long.text) < 263_000 and long.text.endswith("… 9737858 more characters")
    assert python.cell("sys = __import__('sys'); sys.displayhook = lambda value: print('mine', value)") == ("done", "")
    reply = python.cell("5")
    assert (reply.kind, reply.out) == ("done", b"mine 5\n")


def test_tracebacks_have_the_lines_of_their_cells(python):
    python.cell("def f(n):\n    return 1 / n\n")
    error = python.cell("for i in range(1, -1, -1):\n    f(i)")
    assert error.kind == "error"
    lines = [line for line in error.text.splitlines() if "^" not in line and "~" not in line]
    assert lines[:5] == ["Traceback (most recent call last):", '  File "<cell 2>", line 2, in <module>', "    f(i)", '  File "<cell 1>", line 2, in f', "    return 1 / n"]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    chained = python.cell("try:\n    f(0)\nexcept Exception as error:\n    raise ValueError('v') from error").text
    assert "direct cause" in chained and "podrun" not in chained
    assert values(python, "import inspect; inspect.getsource(f)") == [repr("def f(n):\n    return 1 / n\n")]


def test_what_cannot_be_shown(python):
    python.cell("class A:\n    def __repr__(self): raise ValueError('r')\nclass E(Exception):\n    def __str__(self): raise ValueError('s')")
    shown = python.cell("A()").text
    assert shown.endswith("ValueError: r\n") and "podrun" not in shown
    assert python.cell("raise E()").kind == "error"
    assert python.cell("def g(): return g()\ng()").text.splitlines()[-1].startswith("RecursionError")
    python.cell("import sys\nsys.excepthook = lambda kind, error, trace: print('HOOK', kind.__name__)")
    reply = python.cell("1/0")
    assert (reply, reply.out) == (("error", "ZeroDivisionError"), b"HOOK ZeroDivisionError\n")


@pytest.mark.parametrize("text", ["f(", "x = = 2", "  a = 1", "return 5", "\0", "await x"])
def test_a_syntax_error(python, text):
    reply = python.cell("print('runs')\n" + text)
    assert (reply.kind, reply.out) == ("error", b"")
    assert "Error" in reply.text and "podrun" not in reply.text
    if text != "f(":
        assert python.frame("parse", text).kind == "error"


def test_future_is_remembered(python):
    python.cell("from __future__ import annotations")
    assert python.cell("def f(x: undefined): pass\nf.__annotations__").text == "{'x': 'undefined'}"


WHOLE = ["1", "for i in x:\n    f()\n", "class A:\n    x = 1\n\n    def f(self): pass\n", "a\nb", "", "# c", "x = '''a\nb'''", "x = [\n1]", "with a: b\n"]
OPEN = ["f(", "for i in x:", "for i in x:\n    f()", "def f(): pass", "'''a", "x = 1 \\", "if x:\n  a\nelse:", "@d", "try:\n    a\n", "with a: b"]


def test_when_typed_lines_are_a_cell(python):
    assert [(text, python.frame("parse", text).kind) for text in WHOLE] == [(text, "whole") for text in WHOLE]
    assert [(text, python.frame("parse", text).kind) for text in OPEN] == [(text, "open") for text in OPEN]


def test_names_without_running_a_property(python):
    python.cell("import os\nclass A:\n    @property\n    def p(self): print('RAN')\n    def q(self): pass\na = A(); abcd = 1; a.b = A()")

    def names(text):
        reply = python.frame("complete", text)
        assert reply.out == b""
        return reply.text.split("\n")

    assert names("abc") == ["abcd"]
    assert names("x = os.path.jo") == ["os.path.join"]
    assert names("f(a.") == ["a.b", "a.p", "a.q"]
    assert names("a.b.q") == ["a.b.q"]
    assert [names(text) for text in ("a.p.", "1.", "nosuch.", "f(1)", "f().re", "")] == [[""]] * 6
    assert names("__im") == ["__import__"]


# Output

def test_streams(python):
    reply = python.cell("import sys\nprint('a', 'b', end='')\nprint('err', file=sys.stderr)\n7")
    assert (reply, reply.out, reply.err) == (("value", "7"), b"a b", b"err\n")
    reply = python.cell("print('~podrun1 ' + '0' * 32 + ' .'); print('~podrun1 ', end='')")
    assert reply.out == b"~podrun1 " + b"0" * 32 + b" .\n~podrun1 "
    reply = python.cell(
        "import ctypes, os, subprocess\nc = ctypes.CDLL(None)\nprint('py1'); c.printf(b'c1\\n'); print('py2'); c.puts(b'c2')\n"
        "subprocess.run(['echo', 'child']); os.system('echo sys'); os.write(1, b'raw\\n'); print('py3')"
    )
    assert reply.out.split() == b"py1 c1 py2 c2 child sys raw py3".split()


def test_joined_streams_keep_their_order():
    python = Interpreter("joined")
    reply = python.cell("import sys\nfor i in range(200):\n    print(i); print(i, file=sys.stderr)")
    assert (reply.out, reply.err) == (b"".join(b"%d\n%d\n" % (i, i) for i in range(200)), b"")
    assert python.end() == 0


def test_text_of_every_kind(python):
    reply = python.cell("s = 'h\u00e4\u00dflich \u65e5\u672c \U0001f600'\nprint(s, '\\udc80')\n\u00e4 = 1\ns")
    assert (reply.text, reply.out.decode()) == ("'h\u00e4\u00dflich \u65e5\u672c \U0001f600'", "h\u00e4\u00dflich \u65e5\u672c \U0001f600 \\udc80\n")
    plain = Interpreter(LC_ALL="C", PYTHONIOENCODING="ascii")
    assert plain.cell("print('\u00fc'); '\u00fc'").out == "\u00fc\n".encode()
    assert plain.end() == 0


def test_large_cells_and_output(python):
    assert python.cell("x = [\n" + "".join("    %d,\n" % number for number in range(120_000)) + "]\nlen(x)").text == "120000"
    assert len(python.cell("for i in range(60_000): print('x' * 100)").out) == 60_000 * 101


def test_output_comes_while_the_cell_runs(python):
    reply = python.cell("print('before')\nimport time\nwhile True: time.sleep(0.01)", python.interrupt_when("before\n"))
    assert (reply.out, reply.text.splitlines()[-1]) == (b"before\n", "KeyboardInterrupt")


def test_a_warning_comes_each_time(python):
    for _ in range(2):
        assert b"careful" in python.cell("import warnings; warnings.warn('careful')").err


def test_streams_that_a_cell_closes_are_there_again(python):
    for text in ("import os, sys; os.close(1)", "sys.stdout.close()", "sys.stdout = None", "os.closerange(3, 100)", "os.set_blocking(1, False)"):
        python.cell(text)
        reply = python.cell("print('y' * 300_000); 1")
        assert (reply.text, len(reply.out)) == ("1", 300_001), text


@pytest.mark.parametrize("text", ["input('name? ')", "breakpoint()", "import pdb; pdb.set_trace()", "import sys; sys.stdin.read()", "import sys\nfor l in sys.stdin: pass"])
def test_no_input(python, text):
    assert python.cell(text).text.splitlines()[-1].endswith("a cell has no standard input: no input(), no pdb")
    assert python.cell("import subprocess; subprocess.run('cat', stdout=-1).stdout, open(0).read()") == ("value", "(b'', '')")


# Interrupts and ends

def test_an_interrupt_keeps_the_state(python):
    error = python.cell("import time\nn = 0\nprint('go')\nwhile True: time.sleep(0.01); n += 1", python.interrupt_when("go\n"))
    assert error.text.splitlines()[-1] == "KeyboardInterrupt" and re.search('"<cell 1>", line [34]', error.text)
    assert python.cell("n >= 0").text == "True"
    os.killpg(python.process.pid, signal.SIGINT)  # at the prompt it is nothing
    assert python.cell("1").text == "1"


def test_an_interrupt_that_the_cell_takes(python):
    reply = python.cell("import time\ntry:\n    print('go'); time.sleep(60)\nexcept KeyboardInterrupt:\n    print('caught')\n5", python.interrupt_when("go\n"))
    assert (reply.text, reply.out) == ("5", b"go\ncaught\n")
    reply = python.cell(
        "import asyncio\nasync def m():\n    try:\n        print('go'); await asyncio.sleep(60)\n    finally:\n        print('cleaned')\nasyncio.run(m())",
        python.interrupt_when("go\n"),
    )
    assert (reply.text.splitlines()[-1], reply.out) == ("KeyboardInterrupt", b"go\ncleaned\n")
    python.cell("import signal\nhits = []\nsignal.signal(signal.SIGINT, lambda number, frame: hits.append(1))")
    python.cell("print('go')\nwhile not hits: time.sleep(0.01)", python.interrupt_when("go\n"))
    assert python.cell("hits").text == "[1]"


def test_a_storm_of_interrupts(python):
    stop = threading.Event()

    def storm():
        while not stop.is_set():
            os.killpg(python.process.pid, signal.SIGINT)
            time.sleep(0.002)

    thread = threading.Thread(target=storm)
    thread.start()
    replies = [python.cell("sum(range(1000))") for _ in range(40)]
    stop.set()
    thread.join()
    assert all(reply == ("value", "499500") or reply.text.splitlines()[-1] == "KeyboardInterrupt" for reply in replies), replies


def test_where_a_cell_hangs_in_c(python):
    def ask():
        with python.came:
            assert python.came.wait_for(lambda: b"go\n" in python.kept["out"], 60)
        for _ in range(600):  # it is asked again until the call has begun
            os.kill(python.process.pid, 61)
            with python.came:
                if python.came.wait_for(lambda: b"line 3 in collective" in python.kept["err"], 0.1):
                    break

    reply = python.cell("import ctypes\ndef collective():\n    ctypes.PyDLL(None).usleep(3_000_000)\nprint('go')\ncollective()", ask)
    assert b'File "<cell 1>", line 3 in collective' in reply.err and b'line 5 in <module>' in reply.err


def test_an_exit_ends_nothing(python):
    assert python.cell("import sys; sys.exit(3)") == ("exit", "SystemExit: 3")
    assert python.cell("exit()") == ("exit", "SystemExit: None")
    reply = python.cell("import argparse; argparse.ArgumentParser().parse_args(['--no'])")
    assert (reply.kind, b"unrecognized arguments" in reply.err) == ("exit", True)
    assert python.cell("1") == ("value", "1")


def test_a_fork_ends_with_its_cell(python):
    reply = python.cell("import os\np = os.fork()\nif p: os.waitpid(p, 0)\nprint('child' if p == 0 else 'parent')\n5")
    assert (reply.text, reply.out) == ("5", b"child\nparent\n")
    pool = "import multiprocessing as m\ndef f(x): return x * x\nwith m.get_context('fork').Pool(2) as p: r = p.map(f, [1, 2, 3])\nr"
    assert python.cell(pool).text == "[1, 4, 9]"
    assert python.cell("import math\nwith m.get_context('spawn').Pool(2) as p: r = p.map(math.sqrt, [1, 4])\nr").text == "[1.0, 2.0]"


def test_output_after_a_cell_belongs_to_the_next(python):
    python.cell("import threading, time\nt = threading.Thread(target=lambda: (time.sleep(0.3), print('late')))\nt.start()")
    assert python.cell("t.join()").out == b"late\n"


def test_ends(python):
    assert python.cell("import os; os._exit(7)").kind is None
    assert python.process.wait(60) == 7


def test_the_end_of_the_input_runs_exit_handlers(python):
    python.cell("import atexit, os, sys; atexit.register(lambda: (os.write(1, b'atexit ran'), os.kill(os.getpid(), 2)))")
    assert python.end() == 0
    with python.came:
        python.came.wait_for(lambda: python.open == 0, 60)
    assert python.kept["out"] == b"atexit ran"
