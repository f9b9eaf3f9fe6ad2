"""Every command in README and docs/ runs as it stands there, in the world that tests/docs/world makes: a block of commands, or a
session, whose lines after `$ ` are commands and whose other lines are what they print (in any order, and `…` is any text)."""

import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import private_mounts
from events import SCHEMA
from support import limit

ROOT = Path(__file__).parents[2]
WORLD = ROOT / "tests" / "docs" / "world"
OWN_NETWORK = ROOT / "tests" / "own_network"  # so that the hosts can have port 22
DOCUMENTS = ["README.md", *(f"docs/{file.name}" for file in sorted((ROOT / "docs").glob("*.md")))]
# A comment in front of a block says why the block is not run, or how many hosts ~/podips.txt has for it.
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
HOSTS = re.compile(r"<!-- hosts: (\d+) -->")


class Command(NamedTuple):
    line: int
    text: str
    prints: list  # None: anything, if it succeeds
    hosts: int = 8  # in ~/podips.txt


def blocks(text):
    """The indented blocks, as (number of the first line, lines without the indent, hosts); those of lists stand deeper."""
    lines = ["", *text.splitlines()]
    number = 0
    while number < len(lines):
        if re.match(r"```", lines[number]):
            number = next(at for at in itertools.count(number + 1) if re.match(r"```", lines[at])) + 1
        elif re.match(r" {4}\S", lines[number]) and not lines[number - 1]:
            end = next((at for at in range(number, len(lines)) if lines[at] and not lines[at].startswith("    ")), len(lines))
            block = [line[4:] for line in lines[number:end]]
            if not NOT_RUN.match(lines[number - 2]):
                hosts = HOSTS.match(lines[number - 2])
                yield number, block, int(hosts[1]) if hosts else 8
            number = end
        else:
            number += 1


def without_explanation(line):
    """Two blanks outside of quotes end a command."""
    quoted = r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|(?! {2})[^'\"\\]"
    return re.match(rf"(?:{quoted})*", line)[0].rstrip()


def commands(text):
    for first, block, hosts in blocks(text):
        if any(line.startswith("$ ") for line in block):
            for number, line in enumerate(block, first):
                if line.startswith("$ "):
                    command = Command(number, line[2:], [], hosts)
                    yield command
                elif line.strip():
                    command.prints.append(line)
        else:
            for number, line in enumerate(block, first):
                if line.strip() and not line.startswith(" "):
                    yield Command(number, without_explanation(line), None, hosts)


def run(directory, podrun, commands_of_document):
    """Runs them one after another in one shell; returns (status, output) of each."""
    program = []
    for command in commands_of_document:
        file = directory / f"{command.line}"
        program.append(f"head -n {command.hosts} ~/hosts >~/podips.txt" if command.hosts else "rm -f ~/podips.txt")
        program.append(f"{{ (exit ${{status-0}}); {command.text}\n}} </dev/null >{file}.out 2>&1; status=$?; echo $status >{file}.status")
    script = directory / "script"
    script.write_text("\n".join(program) + "\n", encoding="utf-8")
    binary = directory / "bin"
    binary.mkdir()
    shutil.copy(podrun, binary / "podrun")
    path = f'PATH={binary}:$PATH exec bash "$0"'
    words = [OWN_NETWORK, *private_mounts(), WORLD, directory, "bash", "-c", path, script]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(300), cwd="/", env={**os.environ, "LANG": "C.UTF-8"}, check=False)
    assert ended.returncode == 0 or (directory / f"{commands_of_document[-1].line}.status").exists(), ended.stderr.decode()
    return [
        (int((directory / f"{command.line}.status").read_text(encoding="ascii")), (directory / f"{command.line}.out").read_text(errors="replace"))
        for command in commands_of_document
    ]


def is_printed(expected, output):
    patterns = sorted(".*".join(map(re.escape, line.split("…"))) for line in expected)
    lines = output.splitlines()
    if len(lines) != len(patterns):
        return False
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


@pytest.mark.deadline(400)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_runs_as_it_stands_there(document, tmp_path):
    of_document = list(commands((ROOT / document).read_text(encoding="utf-8")))
    if not of_document:
        return
    wrong = []
    for command, (status, output) in zip(of_document, run(tmp_path, os.environ["PODRUN_BIN"], of_document)):
        if command.prints is None and status != 0:
            wrong.append(f"{document}:{command.line}: exit status {status}: {command.text}\n{output}")
        elif command.prints and not is_printed(command.prints, output):
            wrong.append(f"{document}:{command.line}: {command.text}\nprinted:\n{output}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.deadline(400)
def test_every_program_of_the_page_for_python_runs(tmp_path):
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    programs = []
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL), 1):
        (tmp_path / f"program{number}.py").write_text(program)
        programs.append(Command(number, f"PYTHONPATH={ROOT}/python PODRUN_PROGRAM=$(command -v podrun) python3 {tmp_path}/program{number}.py", None))
    assert len(programs) > 8
    wrong = [f"program {each.line}: {status}\n{output}" for each, (status, output) in zip(programs, run(tmp_path, os.environ["PODRUN_BIN"], programs)) if status]
    assert not wrong, "\n".join(wrong)


def test_the_quickstart(podrun):
    env = {**podrun.env, "PODRUN_BIN": podrun.binary}
    shown = subprocess.run([ROOT / "examples" / "quickstart"], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(100), check=True).stdout
    assert len(re.findall(rb"^\d: meow$", shown, re.MULTILINE)) == 9
    assert shown.endswith(b"(exit status 3)\n")


@pytest.mark.smoke
def test_commands_are_told_from_explanations_and_outputs():
    text = "Text\n\n    a -- 'b  c'   it says\n                  more\n    d\n\n- list\n\n      not this\n\n```\n    nor this\n```\n\n    $ e\n    one\n\n<!-- not run: why -->\n\n    f\n"
    assert [(each.text, each.prints) for each in commands(text)] == [("a -- 'b  c'", None), ("d", None), ("e", ["one"])]


@pytest.mark.smoke
def test_events_of_the_documentation_are_valid():
    lines = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").splitlines()
    shown = [json.loads(line) for line in lines if re.match(r'\{"v":1,"event":.*\}$', line)]
    for event in shown:
        SCHEMA.validate(event)
    assert {event["event"] for event in shown} == {kind["$ref"].split("/")[-1] for kind in SCHEMA.schema["oneOf"]}


def test_documents_have_commands():
    for document in ("README.md", "docs/via.md", "docs/coming-from.md"):
        assert list(commands((ROOT / document).read_text(encoding="utf-8"))), document
