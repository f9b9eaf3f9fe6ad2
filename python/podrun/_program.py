# SPDX-License-Identifier: Apache-2.0
"""Where the program podrun is that this package brought."""
import os
import shutil
import sysconfig


class ProgramNotFound(FileNotFoundError):
    """There is no program podrun: neither where this package was installed nor in $PATH."""


def find_program() -> str:
    """The path of the program podrun: $PODRUN_PROGRAM, or the one of this package, or the first in $PATH. Raises ProgramNotFound."""
    if os.environ.get("PODRUN_PROGRAM"):
        return os.environ["PODRUN_PROGRAM"]
    library = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # A virtual environment, conda, a system; pip install --target; --prefix, --user and uv run --with; Debian's local/lib/pythonX.Y/dist-packages.
    for place in (sysconfig.get_path("scripts"), *(os.path.join(library, *[os.pardir] * up, "bin") for up in (0, 3, 4))):
        path = os.path.normpath(os.path.join(place, "podrun"))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":  # not a script of this name, which may start Python again
                    return path
    found = shutil.which("podrun")
    if not found:
        raise ProgramNotFound("the program is neither beside this Python package nor in $PATH (is it on a file system mounted with noexec, or in a zip file?)")
    return found
