"""The programs that are compared, and how each is told to do the same thing."""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

FANOUT = "128"
KEX = "curve25519-sha256"
CAPTION = f"""\
Everybody: KexAlgorithms {KEX}, the same ed25519 key and known_hosts, StrictHostKeyChecking yes, BatchMode, no
agent, at most {FANOUT} hosts at a time (podrun, pdsh, clush and ansible -f, parallel-ssh -p, xargs -P), standard input empty, output to a file.
`ssh` is started by `xargs -P`; for one host it is `ssh HOST`, beside `podrun -N -H HOST`. Client CPU is user and system time of
the tool and all its children, ssh too. Peak memory is that of the biggest process alone: all but podrun have one ssh process for
each host besides. kB are those on the wire with the headers of TCP and IP, both ways. CPU of a host is that of its server's
session and all that runs in it. Round trips are those of `true` after TCP connect, for one host or one of three. (N×): so many times podrun's."""

OUTPUT_CAPTION = """\
Everybody: as without --output; `cat` of a log with {lines} lines (`step 17 loss 2.4344 lr 0.00031`) on every host, the output to a reader that
counts lines. The slow reader takes {slow:g} MB/s for {seconds} s, then what is left, and checks the bytes of each host (of -d the count).
`parallel-ssh -P` prints what it reads, not lines."""


def _podrun(where, count, command):
    hosts = where.first(count, "pod.txt")
    options = ["--identity", where.key, "-o", f"UserKnownHostsFile={where.known_hosts}", "-o", "GlobalKnownHostsFile=/dev/null"]
    options += ["-o", "StrictHostKeyChecking=yes", "-o", f"KexAlgorithms={KEX}", "-o", "IdentityAgent=none", "-f", FANOUT]
    one = ["-N", "-H", hosts.read_text().strip()] if count == 1 else ["--hostfile", hosts]
    return [PODRUN, *one, *options, "--", *command.split()]


def _podrun_dedup(where, count, command):
    podrun, *options = _podrun(where, count, command)
    return [podrun, "-d", *options]


def _pdsh(where, count, command):
    return ["pdsh", "-R", "ssh", "-S", "-f", FANOUT, "-w", f"^{where.first(count)}", command]  # and PDSH_SSH_ARGS_APPEND


def _clush(where, count, command):
    return ["clush", "-n", "-S", "-f", FANOUT, "-o", f"-F {where.config}", "--hostfile", where.first(count), command]


def _parallel_ssh(where, count, command, shown="-i"):
    return ["parallel-ssh", shown, "-t", "0", "-p", FANOUT, "-x", f"-F {where.config}", "-h", where.first(count), command]


def _ssh(where, count, command):
    if count == 1:
        return ["ssh", "-F", where.config, where.first(1).read_text().strip(), command]
    return ["xargs", "-a", where.first(count), "-P", FANOUT, "-I{}", "ssh", "-F", where.config, "{}", command]


def _ansible(where, count, command):
    return ["ansible", "all", "-f", FANOUT, "-i", where.first(count), "-m", "raw", "-a", command]  # and ANSIBLE_SSH_ARGS


PODRUN = os.path.abspath(os.environ.get("PODRUN_BIN", Path(__file__).parents[2] / "build/release/apps/podrun/podrun"))
TOOLS = {"podrun": _podrun, "pdsh": _pdsh, "clush": _clush, "parallel-ssh": _parallel_ssh, "ssh": _ssh}
if shutil.which("ansible"):  # nothing installs it: it takes minutes for 256 hosts
    TOOLS["ansible"] = _ansible

OUTPUT_TOOLS = {"podrun": _podrun, "podrun -d": _podrun_dedup, "pdsh": _pdsh, "clush": _clush, "parallel-ssh -i": _parallel_ssh}
OUTPUT_TOOLS["parallel-ssh -P"] = functools.partial(_parallel_ssh, shown="-P")


@functools.cache
def output_tools():
    """Those whose output is compared; `-d` only where there is one."""
    knows_dedup = "--dedup" in subprocess.run([PODRUN, "--help"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return [tool for tool in OUTPUT_TOOLS if knows_dedup or tool != "podrun -d"]


def missing():
    return [program for program in (PODRUN, "pdsh", "clush", "parallel-ssh", "ssh") if not shutil.which(program)]


def versions():
    questions = {"podrun": [PODRUN, "--version"], "pdsh": ["pdsh", "-V"], "clush": ["clush", "--version"]}
    questions |= {"parallel-ssh": ["parallel-ssh", "--version"], "ssh": ["ssh", "-V"]}
    questions |= {"ansible": ["ansible", "--version"]} if "ansible" in TOOLS else {}
    said = []
    for name, command in questions.items():
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
        said.append(f"{name} {re.search(r'[0-9]+[.][0-9a-z.]+', text)[0]}")
    return ", ".join(said)


class Where:
    """Hosts, `address:port` each, and the files with which every tool reaches them, all in `directory`."""

    def __init__(self, directory, pod, addresses):
        self.directory = directory
        self.pod = pod
        self.key = pod / "user/.ssh/id_ed25519"
        self.known_hosts = pod / "user/.ssh/known_hosts"
        self.config = directory / "ssh_config"
        self._addresses = addresses
        directory.mkdir()
        self.config.write_text(f"KexAlgorithms {KEX}\nInclude {pod}/ssh_config\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(pod / "user")}
        self.environment |= dict.fromkeys(("PDSH_SSH_ARGS_APPEND", "ANSIBLE_SSH_ARGS"), f"-F {self.config}")

    def first(self, count, name="hosts"):
        """The file of the first `count` hosts: `pod.txt` with their ports, `hosts` without."""
        path = self.directory / f"{count}-{name}"
        if not path.exists():
            chosen = self._addresses[:count]
            path.write_text("".join(f"{line if name == 'pod.txt' else line.partition(':')[0]}\n" for line in chosen))
        return path

    def command(self, tool, count, command):
        return [str(word) for word in (TOOLS | OUTPUT_TOOLS)[tool](self, count, command)]
