"""The recipes of docs/via.md, with commands that read their words as the real ones do and run the rest here."""

import re
import shlex
from pathlib import Path

import pytest

from support import Footprint, by_rank, wait_until

DOCUMENT = Path(__file__).parents[2] / "docs" / "via.md"
RECIPES = [line.strip() for line in DOCUMENT.read_text().splitlines() if re.match(r"    .*podrun --via", line)]

# Each takes its options, notes the host, and becomes the rest.
WAYS = {
    "kubectl": """
        if [ "$1" = get ]; then printf 'train-0-%s\\n' 0 1; exit; fi
        while [ "$1" != exec ]; do case $1 in --context | -n) shift 2 ;; *) echo "unknown: $1" >&2; exit 1 ;; esac; done
        shift; [ "$1" = -i ] || exit 1; host=$2; shift 2
        if [ "$1" = -c ]; then shift 2; fi
        [ "$1" = -- ] || exit 1; shift""",
    "srun": """
        host=
        while :; do case $1 in --nodelist=*) host=${1#*=}; shift ;; --*) shift ;; *) break ;; esac; done
        [ "$host" ] || exit 1""",
    "docker": '[ "$1 $2" = "exec -i" ] || exit 1; host=$3; shift 3',
    "ssh": '[ "$1" = -o ] || exit 1; host=$3; shift 3',
}


@pytest.fixture
def ways(podrun):
    """The commands of the recipes."""
    directory = podrun.directory / "ways"
    directory.mkdir()
    for name, text in WAYS.items():
        script = directory / name
        script.write_text(f'#!/bin/sh\n{text}\nexport REACHED="{name} $host"\nexec "$@"\n')
        script.chmod(0o755)
    podrun.env["PATH"] = f"{directory}:{podrun.env['PATH']}"
    return directory


def via_of(recipe):
    """The words of the recipe that podrun has, without the command."""
    words = shlex.split(recipe[recipe.index("podrun ") :])
    return words[1 : words.index("--", 3)]


@pytest.mark.smoke
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe(podrun, ways, recipe):
    options = via_of(recipe)
    podrun.env["SLURM_JOB_NODELIST"] = "node[07-08]"
    given = b"train-0-0\ntrain-0-1\n" if "-" in options else b""
    shown = by_rank(podrun.ok(*options, "--ranks", "0,1", "--", "sh", "-c", 'echo "$REACHED"; echo "$1"', "sh", "a  'b", input=given))
    name = shlex.split(options[1])[0]
    assert len(shown) == 2
    for rank, (reached, word) in shown.items():
        assert re.fullmatch(rf"{name} \S*{rank if name != 'srun' else rank + 7}", reached.decode())
        assert word == b"a  'b"
    assert podrun(*options, "--ranks", "0,1", "--", "sh", "-c", "exit $((PODRUN_RANK + 3))", input=given).returncode == 4


def test_nothing_is_left_when_the_way_in_dies(podrun, ways):
    run = podrun.start("--via", "kubectl exec -i {host} --", "-H", "a,b", "--grace", "1", "--", "sh", "-c", "trap : TERM HUP; echo $PODRUN_RUN_ID; while :; do sleep 1; done")
    run.wait_for_output(b"\n", count=2)
    footprint = Footprint(by_rank(run.stdout)[0][0].decode())
    run.process.kill()
    footprint.wait_until_gone(6)
    wait_until(lambda: run.process.poll() is not None, 5)
