# SPDX-License-Identifier: Apache-2.0
"""Where the program podrun is, a process of it, and the events that it prints."""
from __future__ import annotations

import base64
import collections
import contextlib
import fcntl
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
import weakref
from typing import IO, Any, AsyncContextManager, AsyncIterator, ContextManager, Deque, Dict, Generator, Iterator, List, Optional, Sequence, Tuple, Union

from ._results import HostResult, Incomplete, Line, PodrunError, RunFailed, RunResult, UsageError, as_text

Input = Union[None, str, bytes, IO[bytes]]
Path = Union[str, "os.PathLike[str]"]
# A line without escapes, as nearly all are: three times as fast as JSON. Anything else falls back to JSON.
_plain = re.compile(rb'\{"v":1,"event":"line","time":"([^"]*)","worker":(\d+),"host":"[^"]*","stream":"(stdout|stderr)","text":"([^"\\]*)"\}').fullmatch
_STATUS = {"timed_out": 124, "stalled": 124, "lost": 255, "unreachable": 255}


class Run(ContextManager["Run"], AsyncContextManager["Run"]):
    """A run that goes on. `for line in run` or `async for line in run` gives its lines as they come; `run.result()` or `await run` waits for
    the end, and has the output that was not iterated (asyncio.ensure_future(run) makes a task). Use it in `with` or `async with`: when the block
    is left early, the command is stopped on all hosts, as it is when the run is forgotten, or this Python dies."""

    def __init__(self, args: Sequence[str], *, program: Optional[Path] = None, input: Input = None, environment: str = "",
                 check: bool = False, show: bool = False) -> None:
        self._check, self._show, self._captures, self._is_whole, self._status = check, show, False, False, 0
        self._error: Optional[Exception] = None
        self._lines: Deque[Line] = collections.deque()
        self._output: Dict[Tuple[int, str], List[bytes]] = {}
        self._hosts: Dict[int, HostResult] = {}
        with contextlib.ExitStack() as files, _starting:
            stdin: Any = input if input is None or hasattr(input, "fileno") else files.enter_context(_unnamed_file(input))
            words, passed = list(args), []
            if environment:  # its values are in no list of processes
                variables = files.enter_context(_unnamed_file(environment))
                words, passed = ["--env-file=/dev/fd/{}".format(variables.fileno()), *words], [variables.fileno()]
            # A session of its own: the terminal's Ctrl-C reaches Python only, which passes on what is meant for the hosts. When this Python
            # dies, however it dies, podrun sees that nobody reads its events, and ends the command everywhere.
            self._process = subprocess.Popen([program or find_program(), *words], bufsize=0, stdin=subprocess.DEVNULL if stdin is None else stdin,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=passed, start_new_session=True)
            self._selector, self._lock, self._reader = selectors.DefaultSelector(), threading.Lock(), 0  # what reads has the lock; its thread
            _alive.add(self)
        self._result = RunResult(words, -1, [])
        self._rest: Dict[Any, bytes] = {self._process.stdout: b"", self._process.stderr: b""}
        for pipe in self._rest:
            self._selector.register(pipe, selectors.EVENT_READ)

    def _read(self, wait: bool) -> bool:
        """Takes what has come; false when there is nothing more, and no line that nobody took."""
        with self._lock:
            self._reader = threading.get_ident()
            for key, _ in self._selector.select(None if wait else 0) if self._selector.get_map() else ():
                data = os.read(key.fd, 1 << 16)  # what a pipe has; the pages for a larger buffer would take half of the time
                is_event = key.fileobj is self._process.stdout
                lines = (self._rest[key.fileobj] + data).split(b"\n")
                self._rest[key.fileobj] = lines.pop() if data or is_event else b""
                for line in filter(None, lines):  # the last message may have no newline
                    try:
                        self._take(line) if is_event else self._take_message(line)
                    except Exception as error:  # raised when podrun has ended
                        strange = PodrunError("podrun printed what is no event: " + as_text(line))
                        self._error = self._error or (strange if is_event and not isinstance(error, PodrunError) else error)
                        self._process.terminate()
                if not data:
                    self._selector.unregister(key.fileobj)
            return bool(self._selector.get_map() or self._lines)

    def _take_message(self, message: bytes) -> None:
        self._result.messages.append(as_text(message))
        if self._show:
            print(self._result.messages[-1], flush=True)

    def _take(self, text: bytes) -> None:
        plain = _plain(text)
        if plain:
            time, worker, stream, data = plain.groups()
            return self._take_line(int(worker), stream.decode(), data, time.decode())
        event = json.loads(text)
        kind = event.get("event")
        if event["v"] != 1:
            raise PodrunError("this module reads version 1 of podrun's events, not {}".format(event["v"]))
        if kind == "line":
            data = base64.b64decode(event["b64"]) if "b64" in event else event["text"].encode()
            self._take_line(event["worker"], event["stream"], data, event["time"], event.get("end", "newline"))
        elif kind in ("exit", "sent", "received"):
            host = self._hosts[event["worker"]]
            for name in ("outcome", "message", "stage", "cause", "seconds"):
                setattr(host, name, event.pop(name, getattr(host, name)))
            host.details.update(event)
            if kind == "exit":
                host.returncode = event.get("status", _STATUS.get(host.outcome, 128 + event["signal"] if "signal" in event else None))
        elif kind == "start":  # with restarts, that of the last try counts
            self._hosts = {host["worker"]: HostResult(host["worker"], host["host"]) for host in event["hosts"]}
            self._output.clear()
            self._result.run_id, self._result.hosts, self._is_whole = event["run_id"], list(self._hosts.values()), False
        elif kind == "error":
            raise UsageError(event["message"])
        elif self._hosts:
            self._result.events.append(event)
            if kind == "summary":
                for name in ("seconds", "culprit", "interrupted_by"):
                    setattr(self._result, name, event.get(name))
            if kind in ("summary", "over"):
                self._is_whole, self._status = event.get("final", True), event["status"]
        else:
            self._result.objects.append(event)
            self._is_whole = True

    def _take_line(self, worker: int, stream: str, data: bytes, time: str, end: str = "newline") -> None:
        if self._captures and worker in self._hosts:
            self._output.setdefault((worker, stream), []).append(data + b"\n" if end == "newline" else data)
        else:
            self._lines.append(Line(worker, self._hosts[worker].name, stream, data, time, end))

    def __iter__(self) -> Iterator[Line]:
        try:
            while self._lines or self._read(wait=True):
                while self._lines:
                    yield self._lines.popleft()
        except KeyboardInterrupt:
            self.__exit__(KeyboardInterrupt)
            raise
        self._finish()

    def _finish(self) -> RunResult:
        self._result.returncode = self._process.wait() or self._status  # 0 too where something else has waited for it
        self._close_pipes()
        if self._error:
            raise self._error
        if self._result.returncode < 0 or not self._is_whole and (self._hosts or self._result.returncode):
            error = Incomplete if self._hosts or self._result.returncode < 0 else PodrunError
            raise error("\n".join(self._result.messages) or "podrun ended with {} amid its events".format(self._result.returncode))
        for (worker, stream), data in self._output.items():
            setattr(self._hosts[worker], stream + "_bytes", b"".join(data))
        if self._check and not self._result.ok:
            raise RunFailed(self._result)
        return self._result

    def result(self) -> RunResult:
        """Waits for the end. Raises RunFailed with check=True, UsageError, Incomplete. Ctrl-C goes to the hosts, as podrun's own does, and a
        second one stops them; then KeyboardInterrupt is raised."""
        self._captures = True
        with self:
            for line in self:  # that had come before
                self._take_line(line.worker, line.stream, line.data, line.time, line.end)
        return self._finish()

    def close(self) -> None:
        """Stops the command on all hosts unless it has ended, and waits until it has; not where it interrupts what reads the run in this thread
        (in a signal handler, in the event loop)."""
        self._process.terminate()
        if self._lock.locked():  # what reads sees the end
            if self._reader != threading.get_ident():
                self._process.wait()
            return
        self._drop()
        self._process.wait()
        self._close_pipes()

    def _drop(self) -> None:
        while self._read(wait=True):
            self._lines.clear()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdout, self._process.stderr, self._selector):
            pipe.close()  # type: ignore[union-attr]

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        while kind is not None and issubclass(kind, KeyboardInterrupt) and self._selector.get_map():
            with contextlib.suppress(KeyboardInterrupt):
                self._process.send_signal(signal.SIGINT)
                self._drop()
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_selector"):  # podrun could be started
            self._process.terminate()
            self._close_pipes()

    async def __aiter__(self) -> AsyncIterator[Line]:
        while self._lines or await self._read_later():
            while self._lines:
                yield self._lines.popleft()
        self._finish()

    async def _read_later(self) -> bool:
        import asyncio
        if not self._selector.get_map():
            return False
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("another task or thread reads this run")
        self._reader, loop = threading.get_ident(), asyncio.get_running_loop()
        ready = loop.create_future()
        descriptor: int = getattr(self._selector, "fileno")()  # epoll: readable when a pipe is
        loop.add_reader(descriptor, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
            self._lock.release()
        return self._read(wait=False)

    async def _wait(self) -> RunResult:
        self._captures = True
        async with self:
            async for line in self:  # that had come before
                self._take_line(line.worker, line.stream, line.data, line.time, line.end)
        return self._finish()

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self._wait().__await__()

    async def aclose(self, *_: object) -> None:
        """As close()."""
        import asyncio
        if self._selector.get_map():
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self.close))
        self.close()
    __aexit__ = aclose


def find_program() -> str:
    """The path of the program podrun: $PODRUN_PROGRAM, or the one of this package, or the first in $PATH. Raises FileNotFoundError."""
    if os.environ.get("PODRUN_PROGRAM"):
        return os.environ["PODRUN_PROGRAM"]
    library = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # pip install --target; --prefix, --user, uv run --with, a virtual environment; Debian's local/lib/pythonX.Y/dist-packages; conda, a system.
    for place in (*(os.path.join(library, *[os.pardir] * up, "bin") for up in (0, 3, 4)), sysconfig.get_path("scripts")):
        path = os.path.normpath(os.path.join(place, "podrun"))
        # Of whom this package is, or of root: above it may be a directory of everybody.
        if os.path.isfile(path) and os.access(path, os.X_OK) and os.stat(path).st_uid in (0, os.stat(__file__).st_uid):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":  # not a script of this name, which may start Python again
                    return path
    found = shutil.which("podrun")
    if not found:
        raise FileNotFoundError("the program is neither beside this Python package nor in $PATH (is it on a file system mounted with noexec, or in a zip file?)")
    return found


def _unnamed_file(content: Union[str, bytes]) -> IO[bytes]:
    with tempfile.TemporaryFile() as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.seek(0)
        return os.fdopen(fcntl.fcntl(file.fileno(), fcntl.F_DUPFD_CLOEXEC, 3), "rb")  # where 0 to 2 are closed, it has none of them


def _let_go() -> None:
    """A forked child (multiprocessing) keeps no run of its parent alive."""
    for run in _alive:
        run._process.returncode = 0  # so that nothing ends it from here
        run._close_pipes()
    _starting.release()


_alive: "weakref.WeakSet[Run]" = weakref.WeakSet()
_starting = threading.RLock()  # no fork between a start and its place in _alive
os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_let_go)
