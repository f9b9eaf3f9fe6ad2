"""Runs the cells of `podrun python` in __main__ of this interpreter: Python 3.8 or newer, standard library only.

boot.py, the argument of `python -u -c`, reads "SIZE TOKEN joined|apart\\n" and this text from standard input, and makes a module of it, so that
__main__ stays the user's. Then come frames "WORD TOKEN SIZE NAME\\n" and SIZE bytes; the end of the input is the end. WORD, and the reply's KIND:
  cell      runs it under this name          done, value TEXT, error TRACEBACK, exit TEXT (SystemExit, which ends nothing)
  parse     is it a cell?                    open, whole, error TEXT (a syntax error)
  complete  what the end of it may become    names, a line each
A reply is "~podrun1 TOKEN BASE64\\n" …, "~podrun1 TOKEN .\\n" on standard output, with KIND NUL SECONDS NUL TEXT in it, and the last line on standard
error, too. The first one is "ready PID VERSION PATH". Signal 61 writes where the cell is to standard error (faulthandler).
"""

import ast
import binascii
import builtins
import codeop
import faulthandler
import fcntl
import io
import keyword
import linecache
import os
import re
import signal
import sys
import time
import traceback

MOST_TEXT = 256 * 1024  # characters of a value or traceback
PART = 2250  # bytes in a line of a reply: 3,000 in base64, less than PIPE_BUF, so that no write of others comes between
STACK = 61  # a real-time signal: programs have handlers of their own for USR1
WRONG = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)  # what compile() raises


class NoInput(io.TextIOBase):
    """sys.stdin of the cells; the descriptor 0 is /dev/null, for C code and children."""

    encoding, errors, fileno, readable = "utf-8", "strict", lambda self: 0, lambda self: True
    close = lambda self: None  # by exit()

    def readline(self, *_, **__):
        raise io.UnsupportedOperation("a cell has no standard input: no input(), no pdb")

    read = __next__ = readline


class Driver:
    def __init__(self, token, streams):
        self.pid, self.value = os.getpid(), None
        self.namespace = sys.modules["__main__"].__dict__
        self.compile = codeop.Compile()  # remembers `from __future__`
        # Descriptors of its own, far from those that programs close in loops; children do not inherit them.
        frames, self.out, self.err = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 200) for descriptor in range(3))
        self.frames = open(frames, "rb")
        if streams == "joined":  # over SSH two streams lose their order
            os.dup2(1, 2)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        sys.stdin = sys.__stdin__ = NoInput()
        sys.argv[:] = [""]
        sys.breakpointhook = sys.stdin.readline
        sys.displayhook = self.display
        self.renew_streams()
        faulthandler.enable(self.err)
        faulthandler.register(STACK, self.err, all_threads=False)
        signal.signal(signal.SIGINT, self.idle)
        self.reply(token, "ready", 0.0, "%d %s %s" % (self.pid, sys.version.split()[0], sys.executable))

    @staticmethod
    def idle(number, frame):
        """SIGINT between two cells was meant for the one before."""

    def renew_streams(self):
        """Buffered by lines, as -u makes C's own are not, and there again if a cell has closed them."""
        for name, descriptor, kept in (("stdout", 1, self.out), ("stderr", 2, self.err)):
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(kept, descriptor)
            os.set_blocking(descriptor, True)
            stream = getattr(sys, name)
            if stream is None or getattr(stream, "closed", False) or isinstance(getattr(stream, "buffer", None), io.RawIOBase):
                writer = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
                stream = io.TextIOWrapper(writer, "utf-8", "backslashreplace", line_buffering=True)
                setattr(sys, name, stream)
                setattr(sys, "__%s__" % name, stream)

    # Frames

    @staticmethod
    def write(descriptor, data):
        os.set_blocking(descriptor, True)  # a program may have changed it for all who share the pipe
        while data:
            data = data[os.write(descriptor, data) :]

    def reply(self, token, kind, seconds, text):
        if len(text) > MOST_TEXT:
            text = "%s… %d more characters" % (text[:MOST_TEXT], len(text) - MOST_TEXT)
        data = ("%s\0%.6f\0%s" % (kind, seconds, text)).encode("utf-8", "backslashreplace")
        start = b"~podrun1 " + token.encode() + b" "
        for at in range(0, len(data), PART):
            self.write(self.out, start + binascii.b2a_base64(data[at : at + PART]))
        self.write(self.err, start + b".\n")
        self.write(self.out, start + b".\n")

    def serve(self):
        for head in self.frames:
            word, token, size, name = head.decode().rstrip("\n").split(" ", 3)
            data = self.frames.read(int(size))
            if len(data) < int(size):
                return
            text = data.decode("utf-8", "surrogateescape")
            if word == "cell":
                self.run(token, name, text)
            elif word == "parse":
                kind, shown = self.parse(text)
                self.reply(token, kind, 0.0, shown)
            elif word == "complete":
                self.reply(token, "names", 0.0, "\n".join(self.complete(text)))

    # Cells

    def parse(self, text):
        """Whether typed lines are a cell by Python's rules: a blank line ends a block. A cell that cannot be compiled runs nowhere."""
        try:
            if codeop.compile_command(text + "\n", "<cell>", "exec") is None:
                return "open", ""
        except WRONG:
            pass  # perhaps for a statement that only the whole cell may have
        try:
            self.parts(text, "<cell>")
        except WRONG as error:
            return "error", self.describe(error, None)
        body = ast.parse(text).body
        return "open" if body and hasattr(body[-1], "body") and text.rpartition("\n")[2].strip() else "whole", ""

    def parts(self, text, name):
        """Its statements, and the last one for sys.displayhook if it is an expression."""
        tree = ast.parse(text, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        parts = [self.compile(tree, name, "exec")]
        return parts + [self.compile(ast.Interactive([last]), name, "single")] if last else parts

    def display(self, value):
        if value is not None:
            builtins._ = None
            self.value = repr(value)
            builtins._ = value

    def run(self, token, name, text):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # None: checkcache() keeps it
        self.renew_streams()
        self.namespace.pop("__warningregistry__", None)  # else a warning of line 1 comes only once
        self.value = None
        begin = time.monotonic()
        try:
            kind, shown = self.execute(text, name)
        except KeyboardInterrupt:  # a further one, while the first was handled
            kind, shown = "error", "KeyboardInterrupt\n"
        self.ignore_interrupts()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        if os.getpid() != self.pid:  # a child by os.fork() at the end of the cell
            os._exit(1 if kind == "error" else 0)
        self.reply(token, kind, time.monotonic() - begin, shown)

    def execute(self, text, name):
        try:
            parts = self.parts(text, name)
        except WRONG as error:
            return "error", self.describe(error, None)
        try:
            try:
                if signal.getsignal(signal.SIGINT) == self.idle:  # else the handler is the user's
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                for part in parts:
                    exec(part, self.namespace)
            finally:
                self.ignore_interrupts()
        except SystemExit as error:
            return "exit", "SystemExit: %s" % (error.code,)
        except BaseException as error:
            return "error", self.describe(error, error.__traceback__)
        return ("done", "") if self.value is None else ("value", self.value)

    def ignore_interrupts(self):
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            try:
                signal.signal(signal.SIGINT, self.idle)
            except KeyboardInterrupt:
                pass

    def describe(self, error, trace):
        """The traceback without the frames of this file, also those of its causes."""
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.last_type, sys.last_value, sys.last_traceback, sys.last_exc = type(error), error, trace, error
        try:
            if sys.excepthook is not sys.__excepthook__ and trace:  # the user's
                sys.excepthook(type(error), error, trace)
                return type(error).__name__
            shown, seen = traceback.TracebackException(type(error), error, trace), []
            cause = shown
            while cause is not None and id(cause) not in seen:
                seen.append(id(cause))
                cause.stack[:] = [line for line in cause.stack if line.filename != __file__]
                cause = cause.__cause__ or cause.__context__
            return "".join(shown.format())
        except BaseException as second:  # a __str__ that fails
            return "%s (its text cannot be shown: %s)\n" % (type(error).__name__, type(second).__name__)

    def complete(self, text):
        """Names for the end of the text. Runs no property, since code on one host alone may hang."""
        path, begin = re.search(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*|)$", text).groups()
        before = text[: len(text) - len(path) - len(begin)]
        if not path + begin or re.search(r"[\w.]$", before):
            return []
        names = {*self.namespace, *dir(builtins), *keyword.kwlist}
        if path:
            first, *rest = path[:-1].split(".")
            thing = self.namespace.get(first, getattr(builtins, first, None))
            for part in rest:
                thing = None if isinstance(getattr(type(thing), part, None), property) else getattr(thing, part, None)
            names = set() if thing is None else dir(thing)
        found = sorted(name for name in names if name.startswith(begin) and (begin.startswith("_") or not name.startswith("_")))
        return [path + name for name in found[:200]]


def main(words, names):
    for name in names:  # of boot.py
        del sys.modules["__main__"].__dict__[name]
    Driver(*words).serve()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # podrun interrupts what cells have left, which must not kill this interpreter at its end
    sys.exit()
