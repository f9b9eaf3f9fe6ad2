#!/usr/bin/env python3
"""Servers that do not behave, and a proxy that does not: for tests of what can go wrong on the way to a host and on it.

    fault.py [OPTION...] BEHAVIOUR[,BEHAVIOUR...] ADDRESS[:PORT]...

One behaviour for each address, or one for all of them; those of servers.py and ssh_servers.py, `never-accepting`, and `proxy`.
For those of ssh_servers.py that run commands: --authorized-keys FILE, of those who may log in.
For `proxy`: --to HOST:PORT, and
    --delay SECONDS          each way
    --rate BYTES             at most so many a second each way
    --stall-after BYTES      then nothing passes, until told to go on
    --cut-after BYTES        then the connection ends, for both sides; --cut-by rst|fin (rst)
    --corrupt-at BYTE        this byte arrives as another one
    --lose-at BYTE           this byte does not arrive
    --direction up|down      the four above count and alter only what goes to the server, or what comes from it
    --reset-first N          the first N connections are reset

It speaks JSON, one object a line: first {"listening": ["127.0.0.9:4711"]}, and at its end {"connections": [...]} with, for each
connection of a proxy, the bytes that passed `up` and `down` and its `round_trips`: how often the client waited for the server at
least. (That is the longest chain of cause and effect: bytes that were on their way already do not count as an answer, so it is
exact with a --delay longer than either side takes to answer.)
Told on standard input, a line each: for a proxy `stall`, `stall up`, `stall down`, `go`, `slow down BYTES`, `cut`, `cut fin`, `report`; for servers of
ssh_servers.py `deaf`: they read nothing more. It ends when that ends."""

import argparse
import asyncio
import json
import resource
import sys

from proxy import Proxy
from servers import SERVERS, never_accepting


def say(**facts):
    print(json.dumps(facts), flush=True)


def guarded(behaviour):
    """One connection's end is not the others' business."""

    async def serve(reader, writer):
        try:
            await behaviour(reader, writer)
        except OSError:
            pass
        finally:
            writer.close()

    return serve


class Faults:
    """Everything that listens here."""

    def __init__(self, options):
        self.proxy = Proxy(options)
        self.authorized_keys = options.authorized_keys
        self.servers = []
        self._ssh = None

    @property
    def ssh(self):
        if not self._ssh:
            from ssh_servers import SshServers  # takes its time, and needs asyncssh

            self._ssh = SshServers(self.authorized_keys)
        return self._ssh

    async def listen(self, behaviour, address):
        """Returns the address with its port."""
        host, _, port = address.partition(":")
        host_and_port = host, int(port or 0)
        if behaviour == "never-accepting":
            self.servers.append(never_accepting(*host_and_port))
            listener = self.servers[-1][0]
        elif behaviour == "proxy" or behaviour in SERVERS:
            serve = guarded(SERVERS.get(behaviour, self.proxy))
            self.servers.append(await asyncio.start_server(serve, *host_and_port, backlog=1000))
            listener = self.servers[-1].sockets[0]
        else:
            self.servers.append(await self.ssh.listen(behaviour, *host_and_port))
            listener = self.servers[-1].sockets[0]
        return "%s:%d" % listener.getsockname()[:2]

    async def obey(self):
        """Until the end of standard input."""
        stdin = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
        commands = {"stall": self.proxy.stall, "go": self.proxy.go, "slow": self.proxy.slow, "cut": self.proxy.cut, "deaf": lambda: self.ssh.deafen()}
        while line := await stdin.readline():
            word, *words = line.decode().split()
            if word == "report":
                self.report()
            else:
                commands[word](*words)
                say(done=word)

    def report(self):
        say(connections=[connection.report() for connection in self.proxy.connections])


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--authorized-keys")
    parser.add_argument("--to")
    parser.add_argument("--delay", type=float, default=0)
    for name in ("--rate", "--stall-after", "--cut-after", "--corrupt-at", "--lose-at"):
        parser.add_argument(name, type=int)
    parser.add_argument("--cut-by", choices=["rst", "fin"], default="rst")
    parser.add_argument("--direction", choices=["up", "down", "both"], default="both")
    parser.add_argument("--reset-first", type=int, default=0)
    parser.add_argument("behaviours", type=lambda text: text.split(","))
    parser.add_argument("addresses", nargs="+")
    options = parser.parse_args()
    if len(options.behaviours) == 1:
        options.behaviours *= len(options.addresses)
    if len(options.behaviours) != len(options.addresses):
        parser.error("one behaviour for each address, or one for all")
    return options


async def main():
    options = parse_arguments()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    faults = Faults(options)
    say(listening=[await faults.listen(*each) for each in zip(options.behaviours, options.addresses)])
    await faults.obey()
    faults.report()


if __name__ == "__main__":
    asyncio.run(main())
