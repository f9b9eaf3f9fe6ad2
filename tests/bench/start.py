"""How much later a command starts under podrun's supervisor than by plain ssh, on a connection that is there already."""

import os
import shlex
import shutil
import subprocess
import time
from statistics import median

ROUNDS = 60
SHELLS = {"dash": "dash", "bash": "bash", "busybox": "busybox sh"}  # that may be /bin/sh there
CAPTURE = "#!/bin/sh\nexec sed 2q >\"$1\"\n"
COMMAND, STARTED = "echo started", b"started\n"


def _supervisor(where):
    """The line that podrun sends to a shell for COMMAND: taken by a --via that runs no shell."""
    capture, line = where.directory / "capture", where.directory / "line"
    capture.write_text(CAPTURE, encoding="ascii")
    capture.chmod(0o755)
    podrun = [where.command("podrun", 1, "true")[0], "--via", shlex.join([str(capture), str(line), "{host}"]), "-H", "a", "--", COMMAND]
    subprocess.run(podrun, env=where.environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    text = line.read_bytes()
    assert COMMAND.encode() in text and text.endswith(b"\n"), text
    return text


def _seconds(ssh, command, text, environment):
    """Until the output of COMMAND has arrived, from a command that reads this text."""
    begin = time.monotonic()
    with subprocess.Popen([*ssh, command], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(text)
        process.stdin.flush()
        said = b""
        while STARTED not in said:
            data = os.read(process.stdout.fileno(), 4096)
            assert data, f"ended early: {said}"
            said += data
        took = time.monotonic() - begin
        process.stdin.close()  # the end of the supervisor's input, which would end the command
    return took


def measure(where):
    """How many seconds later, by the shell that is /bin/sh: medians less the median of ssh, all in turns on one connection."""
    host = where.first(1).read_text().strip()
    supervisor = _supervisor(where)
    shells = {name: shell for name, shell in SHELLS.items() if shutil.which(name)}
    commands = {"ssh": (COMMAND, b"")} | {name: (f"exec {shell}", supervisor) for name, shell in shells.items()}
    ssh = ["ssh", "-F", where.config, "-S", where.directory / "control", host]
    master = subprocess.Popen([*ssh[:-1], "-M", "-N", host], env=where.environment, stdin=subprocess.DEVNULL)
    try:
        while not (where.directory / "control").exists():
            assert master.poll() is None, "ssh does not connect"
            time.sleep(0.05)
        took = {name: [] for name in commands}
        for _round in range(ROUNDS):
            for name, (command, text) in commands.items():
                took[name].append(_seconds(ssh, command, text, where.environment))
    finally:
        master.terminate()
        master.wait()
    return {name: median(took[name]) - median(took["ssh"]) for name in shells}
