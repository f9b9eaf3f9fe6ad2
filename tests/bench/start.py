"""How much later a command starts under podrun's supervisor than by plain ssh, on a connection that is there already."""

import os
import shlex
import shutil
import subprocess
import time
from statistics import median

ROUNDS = 60
SHELLS = {"dash": "dash", "bash": "bash", "busybox": "busybox sh"}  # that may be /bin/sh there
SELF = "cat /proc/$PPID/cmdline"
COMMAND, STARTED = "echo started", b"started\n"


def _supervised(where):
    """The text that podrun sends for COMMAND, but for the shell: told by a command about the supervisor above it."""
    podrun = [*where.command("podrun", 1, "true")[:-1], SELF]
    said = subprocess.run(podrun, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    words = said.decode().split("\0")[:-1]
    assert words[0] == "/bin/sh" and SELF in words[-1], words
    words[-1] = words[-1].replace(SELF, COMMAND)
    return shlex.join(words[1:])


def _seconds(ssh, text, environment):
    """Until the command's first word has arrived."""
    begin = time.monotonic()
    with subprocess.Popen([*ssh, text], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        said = b""
        while not said.endswith(STARTED):
            data = os.read(process.stdout.fileno(), 4096)
            assert data, f"ended early: {said}"
            said += data
        took = time.monotonic() - begin
        process.stdin.close()  # the end of the supervisor's input, which would end the command
    return took


def measure(where):
    """How many seconds later, by the shell that is /bin/sh: medians less the median of ssh, all in turns on one connection."""
    host = where.first(1).read_text().strip()
    supervised = _supervised(where)
    shells = {name: shell for name, shell in SHELLS.items() if shutil.which(name)}
    texts = {"ssh": COMMAND} | {name: f"exec {shell} {supervised}" for name, shell in shells.items()}
    ssh = ["ssh", "-F", where.config, "-S", where.directory / "control", host]
    master = subprocess.Popen([*ssh[:-1], "-M", "-N", host], env=where.environment, stdin=subprocess.DEVNULL)
    try:
        while not (where.directory / "control").exists():
            assert master.poll() is None, "ssh does not connect"
            time.sleep(0.05)
        took = {name: [] for name in texts}
        for _round in range(ROUNDS):
            for name, text in texts.items():
                took[name].append(_seconds(ssh, text, where.environment))
    finally:
        master.terminate()
        master.wait()
    return {name: median(took[name]) - median(took["ssh"]) for name in shells}
