# SPDX-License-Identifier: Apache-2.0
"""Runs one command on every host of a TPU pod or GPU cluster, and returns what each host did.

    import podrun

    result = podrun.run("nvidia-smi -L", hosts="gpu-[0-15]", check=True)
    for host in result:
        print(host.name, host.returncode, host.stdout)

    with podrun.Pod("gpu-[0-15]", user="ubuntu").stream(["python", "train.py"]) as run:
        for line in run:
            print(line.worker, line.text)

It starts the program podrun and reads the events of --json; whatever that promises holds here too. When the block, the
process or the machine of this Python ends, the command ends on every host. In asyncio, `await` a Run: `await pod.stream("hostname")`.
"""
from ._magic import load_ipython_extension
from ._pod import Pod, run
from ._results import Host, HostResult, Incomplete, Line, PodrunError, RunFailed, RunResult, UsageError
from ._run import Run, find_program

__all__ = ["Host", "HostResult", "Incomplete", "Line", "Pod", "PodrunError", "Run", "RunFailed", "RunResult", "UsageError",
           "find_program", "load_ipython_extension", "run"]
