"""The recipes of docs/via.md: the document is what is tested."""

import re
import shlex
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "via.md").read_text()
RECIPES = [line.strip() for line in DOCUMENT.splitlines() if re.match(r"    .*podrun --via", line)]


def via_of(recipe):
    """The words of the recipe that podrun has, without the command."""
    words = shlex.split(recipe[recipe.index("podrun ") :])
    return words[1 : words.index("--", 3)]
