# SPDX-License-Identifier: Apache-2.0
"""The hosts of a pod, and what can be done with them."""
from __future__ import annotations

import shlex
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._results import Host, PodrunError, RunResult, UsageError
from ._run import Input, Path, Run

Command = Union[str, Sequence[str]]  # text for the login shell of the hosts, or the exact words of a program and its arguments
Hosts = Union[str, Sequence[Union[str, Host]]]  # what -H takes ("tpu-[0-15]", "ada@a:2222,b"), or the hosts one by one
Seconds = Union[int, float, str]  # or what podrun takes: "5m"


class Pod:
    """The hosts that commands run on, and how they are reached; without arguments those that `podrun hosts` finds. `hosts` is "tpu-[0-15]" or
    a sequence, `name` a pod of config.yaml, `workers` chooses some ("0,3-7"); `options` are further words for all commands (["-o", "Port=2222"]),
    `program` is podrun's path."""
    def __init__(self, hosts: Optional[Hosts] = None, *, hostfile: Optional[Path] = None, name: Optional[str] = None, workers: Optional[str] = None,
                 user: Optional[str] = None, identity: Optional[Path] = None, jump: Optional[str] = None, via: Optional[str] = None,
                 options: Sequence[str] = (), program: Optional[Path] = None) -> None:
        listed = hosts if isinstance(hosts, str) or hosts is None else ",".join(map(str, hosts))
        self._reach = _words(options, hosts=listed, hostfile=hostfile, pod=name, workers=workers, user=user, identity=identity, jump=jump, via=via)
        self._program = program

    def run(self, command: Optional[Command] = None, *, script: Optional[Path] = None, args: Sequence[str] = (),
            env: Optional[Mapping[str, str]] = None, cwd: Optional[Path] = None, input: Input = None, timeout: Optional[Seconds] = None,
            fail_fast: bool = False, skip_unreachable: bool = False, sudo: bool = False, outdir: Optional[Path] = None,
            options: Sequence[str] = (), check: bool = False, show: bool = False) -> RunResult:
        """Runs a command on all hosts or on none, and waits for its end; the arguments are those of stream(). Hosts that failed or were not
        reached are in the result; with check=True RunFailed is raised unless the command succeeded on every host."""
        return self.stream(command, script=script, args=args, env=env, cwd=cwd, input=input, timeout=timeout, fail_fast=fail_fast,
                           skip_unreachable=skip_unreachable, sudo=sudo, outdir=outdir, options=options, check=check, show=show).result()

    def stream(self, command: Optional[Command] = None, *, script: Optional[Path] = None, args: Sequence[str] = (),
               env: Optional[Mapping[str, str]] = None, cwd: Optional[Path] = None, input: Input = None, timeout: Optional[Seconds] = None,
               fail_fast: bool = False, skip_unreachable: bool = False, sudo: bool = False, outdir: Optional[Path] = None,
               options: Sequence[str] = (), check: bool = False, show: bool = False) -> Run:
        """Starts `command` on all hosts or on none: text for their login shell, or a list of exact words; or a local `script` with `args`. It has `env`
        beside $PODRUN_WORKER, $PODRUN_RANK, …, the directory `cwd`, and `input` (text, bytes or an open file). `timeout` (seconds) stops it,
        `fail_fast` stops all when one fails, `skip_unreachable` runs on the others. Output goes to `outdir`/WORKER-HOST.out and .err instead of to Python,
        or is printed live, equal lines once (`show`). `options` are further words for podrun: ["--restarts", "20"]."""
        if (command is None) == (script is None) or not (command or script) or args and command:
            raise UsageError("expected a command, or a script with its args")
        shown = ["--dedup", "--escape"] if show else ["--no-dedup"]  # whatever config.yaml has
        words = ["--json=events" if outdir else "--json", "--no-gather", "--no-rank0", *shown]
        words += _words(script=script, chdir=cwd, stdin=input is not None, timeout=timeout, fail_fast=fail_fast, skip_unreachable=skip_unreachable,
                        sudo=sudo, outdir=outdir, exec=command is not None and not isinstance(command, str))
        words += [*self._reach, *_words(options), "--", *([command] if isinstance(command, str) else command or args)]
        if any(not name.isidentifier() or "\0" in value for name, value in (env or {}).items()):
            raise UsageError("env: bad name or value (expected letters, digits and _ in names, no NUL in values)")
        variables = "".join("{}={}\n".format(name, shlex.quote(value)) for name, value in (env or {}).items())
        return Run(words, program=self._program, input=input, environment=variables, check=check, show=show)

    def push(self, *sources: Path, target: Path, options: Sequence[str] = (), check: bool = True) -> RunResult:
        """Copies local files to `target` ("app/": into that directory) on every host, or to none, as `podrun push` does; details["files"] of a host
        says how many. RunFailed is raised unless all have them."""
        return self.call("push", *_words(options), "--", *map(str, (*sources, target)), check=check).result()

    def pull(self, *sources: Path, target: Path, options: Sequence[str] = (), check: bool = True) -> RunResult:
        """Copies files of every host to target/WORKER-HOST, as `podrun pull` does; details["directory"] of a host says where they are."""
        return self.call("pull", *_words(options), "--", *map(str, (*sources, target)), check=check).result()

    def hosts(self) -> List[Host]:
        """The hosts in the order of their worker numbers, with their addresses; connects to none."""
        return [Host(host["worker"], host["host"], host.get("user"), host.get("port"), host.get("address")) for host in self.ask("hosts")["hosts"]]

    def ask(self, command: str, *words: str) -> Any:
        """What a command of podrun answers with --json (podrun help json): the object of ps, stop, rm, check, kill ("--dry-run" or "--yes"), hosts
        and config; of top ("-n", "1") the list of its events. Raises PodrunError where it has no answer."""
        result = self.call(command, *words).result()
        if not result.objects:
            raise PodrunError("\n".join(result.messages) or "podrun {} gave no answer".format(command))
        return result.objects if command == "top" else result.objects[0]

    def call(self, command: str, *words: str, check: bool = False) -> Run:
        """Starts any command of podrun: call("start", "train", "--", "python train.py").result(), call("wait", "train").result(), for line in
        call("logs", "-f", "train") (the job goes on when that is left), await call("push", "app/", "work")."""
        return Run([command, "--json", *self._reach, *words], program=self._program, check=check)


def run(command: Optional[Command] = None, *, hosts: Optional[Hosts] = None, user: Optional[str] = None, **options: Any) -> RunResult:
    """Pod(hosts, user=user).run(command, **options): on `hosts` ("tpu-[0-15]"), or on those that podrun finds. Pod has other ways to name them."""
    return Pod(hosts, user=user).run(command, **options)


def _words(options: Sequence[str] = (), **values: Any) -> List[str]:
    if isinstance(options, str):
        raise UsageError("options: expected a list of words, such as {}".format(options.split()))
    words = []
    for name, value in values.items():
        if value is not None and value is not False:
            given = "{:.0f}ms".format(value * 1000) if isinstance(value, float) else value
            words.append("--" + name.replace("_", "-") + ("" if value is True else "={}".format(given)))
    return [*words, *options]
