# SPDX-License-Identifier: Apache-2.0
"""%load_ext podrun: a cell of a notebook on every host."""
import shlex
from typing import Any

from ._pod import Pod


def load_ipython_extension(ipython: Any) -> None:
    def pod(line: str, cell: str) -> None:
        """%%pod [OPTIONS of podrun] [>NAME]: the cell is text for the login shell of every host, or (%%pod python3 [OPTIONS] [>NAME]) a
        program for python3 there. Equal lines are shown once, live. NAME, else _pod, has the RunResult. Interrupt stops it everywhere."""
        words = shlex.split(line)
        name = words.pop()[1:] if words and words[-1].startswith(">") else "_pod"
        interpreter = words.pop(0) if words and not words[0].startswith("-") else None
        ipython.push({name: Pod(options=words).run([interpreter, "-c", cell] if interpreter else cell, show=True)})

    ipython.register_magic_function(pod, "cell", "pod")
