"""Hosts that have a home directory each, for tests of copying: real SSH servers, or shells behind --via, which can be furnished as a test
needs them. A host is known by its rank."""

import contextlib
import os
import pwd
import re
import shlex
import shutil
import signal
from pathlib import Path

from support import send, wait_until
from trees import read_tree, remove, write_tree

# What podrun makes on a host while it copies: beside the target, and where temporary files are.
STAGING = re.compile(r"\.?podrun\.[0-9a-f]{8,}")
STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ONE_TRY = ("--retries", "0")


class Homes:
    """What all such hosts have in common. A program in bin() comes before all others of that name."""

    ranks = range(0)

    def on(self, *ranks):
        """The options of podrun that choose these hosts."""
        raise NotImplementedError

    def home(self, rank):
        raise NotImplementedError

    def tmp(self, rank):
        raise NotImplementedError

    def bin(self, rank):
        raise NotImplementedError

    @property
    def options(self):
        return self.on(*self.ranks)

    def write(self, place, tree, ranks=None):
        """Writes a tree to this place in the homes of all hosts, or of some."""
        for rank in self.ranks if ranks is None else ranks:
            write_tree(self.home(rank) / place, tree)

    def read(self, rank, place=".", **options):
        return read_tree(self.home(rank) / place, **options)

    def read_all(self, place=".", **options):
        return [self.read(rank, place, **options) for rank in self.ranks]

    # Stand-ins for programs

    def program(self, rank, name, text):
        path = self.bin(rank) / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def stat(self, rank, text):
        """The host lists files with this stat: its find has no -printf, as that of busybox."""
        self.program(rank, "find", f"""case " $* " in *" -printf "*) exit 1 ;; esac; exec {shutil.which("find")} "$@" """)
        self.program(rank, "stat", text)

    def hold(self, rank, name, unless=None):
        """This program waits for let_go() before it does anything, unless one of its words contains `unless`."""
        waiting = f': >"$own/held.{name}"; until [ -e "$own/go" ]; do sleep 0.1; done'
        if unless:
            waiting = f"case $* in *{unless}*) ;; *) {waiting} ;; esac"
        self.program(rank, name, f'own=${{0%/*}}\n{waiting}\nexec {shutil.which(name)} "$@"')

    def wait_until_held(self, rank, name):
        wait_until((self.bin(rank) / f"held.{name}").exists, 30, f"{name} started on host {rank}")

    def let_go(self):
        for rank in self.ranks:
            if self.bin(rank).exists():
                (self.bin(rank) / "go").touch()

    # What is left

    def staging(self, rank):
        """The staging directories and temporary files of podrun on the host."""
        found = []
        for place in (self.home(rank), self.tmp(rank)):
            for directory, names, files in os.walk(place):
                found += [Path(directory, name) for name in [*names, *files] if STAGING.match(name)]
        return found

    def running(self, _rank):
        """Command lines of processes on the host."""
        return []

    def left(self):
        return [f"host {rank}: {each}" for rank in self.ranks for each in [*self.staging(rank), *self.running(rank)]]

    def wait_until_clean(self, seconds=15):
        """That nothing of podrun is left on any host."""
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not self.left(), seconds)
        left = self.left()
        assert not left, "left behind: " + "; ".join(left)


class PodHomes(Homes):
    """Real servers with processes, a home and a /tmp each."""

    def __init__(self, pod):
        self.pod = pod
        self.ranks = range(len(pod.addresses))

    def on(self, *ranks):
        return (*self.pod.on(*ranks), *ONE_TRY)

    def home(self, rank):
        return self.pod.directory / "home" / str(rank)

    def tmp(self, rank):
        return self.pod.directory / "host" / str(rank) / "tmp"

    def bin(self, rank):
        return self.home(rank) / "bin"

    def running(self, rank):
        return [command.replace(b"\0", b" ").decode(errors="replace") for command in self.pod.processes(rank).values()]

    def lose(self, rank):
        """Ends the connections of the host, as far as its servers know of them."""
        logins = self.pod.logins(rank)
        assert logins, f"nobody is logged in on host {rank}"
        send(signal.SIGKILL, logins)

    def clear(self):
        """What a test has left, for the next one, which it must not fail."""
        self.let_go()
        for rank in self.ranks:
            send(signal.SIGKILL, self.pod.programs(rank))
            for entry in [*self.home(rank).iterdir(), *self.tmp(rank).iterdir()]:
                if entry.name != ".ssh":
                    remove(entry)


@contextlib.contextmanager
def homes_of_pod(pods, podrun, hosts=4, variables=None, more=()):
    """Such hosts, to which `podrun` can log in; always the same servers, with empty homes. `variables`: more of these for a rank; `more`:
    options of tests/pod/pod."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    options = ["--isolated", "--hosts", str(hosts), *more]
    for rank in range(hosts):
        of_host = {"POD_HOST": f"host{rank}", "PATH": f"{home}/bin:{STANDARD_PATH}", **(variables or {}).get(rank, {})}
        words = " ".join('"%s=%s"' % (name, re.sub(r'(["\\])', r"\\\1", value)) for name, value in of_host.items())
        options += ["--sshd", f"{rank}:SetEnv {words}"]
    homes = PodHomes(pods(*options))
    homes.pod.move_in(podrun)
    try:
        yield homes
    finally:
        homes.clear()


VIA = """#!/bin/sh
# Runs a shell as the host of this name.
base=$BASE/$1
shift
export HOME="$base/home" TMPDIR="$base/tmp" PATH="$base/bin:$PATH"
cd "$HOME" || exit
[ ! -e "$base/way" ] || . "$base/way"
exec "$@"
"""


class ViaHomes(Homes):
    """Shells of this machine with a home each, below podrun's directory."""

    def __init__(self, podrun, *names):
        self.names = names
        self.ranks = range(len(names))
        self.directory = podrun.directory / "hosts"
        for name in names:
            for place in ("home", "tmp", "bin"):
                (self.directory / name / place).mkdir(parents=True)
        self._script = podrun.directory / "via"
        self._script.write_text(VIA.replace("$BASE", shlex.quote(str(self.directory)), 1))
        self._script.chmod(0o755)

    def on(self, *ranks):
        return ("--via", f"{shlex.quote(str(self._script))} {{host}}", "-H", ",".join(self.names[rank] for rank in ranks), *ONE_TRY)

    def home(self, rank):
        return self.directory / self.names[rank] / "home"

    def tmp(self, rank):
        return self.directory / self.names[rank] / "tmp"

    def bin(self, rank):
        return self.directory / self.names[rank] / "bin"

    def way(self, rank, text):
        """sh text that runs in front of the host's shell, which is "$@"; $base is the host's directory."""
        (self.directory / self.names[rank] / "way").write_text(text + "\n")

    def share_home(self, rank, owner):
        """Makes the home of `owner` that of this host too."""
        remove(self.home(rank))
        self.home(rank).symlink_to(self.home(owner))

    def only_programs(self, rank, programs):
        """The host has these programs and no others, as {name: where it is}."""
        place = self.directory / self.names[rank] / "programs"
        place.mkdir()
        for name, path in programs.items():
            (place / name).symlink_to(path)
        self.way(rank, 'PATH="$base/bin:$base/programs"')

    def without_programs(self, rank, *names):
        """The host has all programs of this machine but these."""
        found = {}
        for directory in reversed(STANDARD_PATH.split(":")):
            with contextlib.suppress(FileNotFoundError):
                found |= {entry.name: entry.path for entry in os.scandir(directory)}
        self.only_programs(rank, {name: path for name, path in found.items() if name not in names})
