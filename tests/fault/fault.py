#!/usr/bin/env python3
"""A server that does not behave, or a proxy that does not: for tests of what can go wrong on the way to a host.

    fault.py [OPTION...] BEHAVIOUR ADDRESS[:PORT]...

Behaviours: silent, closing, resetting, garbage, endless-banner, banner-closing, banner-silent, telnet, http, proxy.
For `proxy`: --to HOST:PORT, and
    --delay SECONDS          each way
    --stall-after BYTES      then nothing passes, until told to go on; --direction up|down|both (both; up: to the server)
    --cut-after BYTES        from the server, then the connection ends
    --corrupt-at BYTE        from the server: this byte arrives as another one
    --reset-first N          the first N connections are reset

It speaks JSON, one object a line: first {"listening": ["127.0.0.9:4711"]}, and at its end {"connections": [...]} with, for each
connection, the bytes that passed `up` and `down` and its `round_trips`: how often the client waited for the server at least.
(That is the longest chain of cause and effect: bytes that were on their way already do not count as an answer, so it is exact
with a --delay longer than either side takes to answer.)
Told on standard input, a line each: `stall`, `stall up`, `stall down`, `go`, `cut`, `report`. It ends when that ends."""

import argparse
import asyncio
import json
import random
import socket
import struct
import sys

CHUNK = 16384
BANNER = b"SSH-2.0-OpenSSH_9.2p1 fault\r\n"


def say(**facts):
    print(json.dumps(facts), flush=True)


def reset(writer):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def swallow(reader):
    while await reader.read(CHUNK):
        pass


# Servers


async def silent(reader, _writer):
    await swallow(reader)


async def closing(_reader, _writer):
    pass


async def resetting(_reader, writer):
    reset(writer)


async def garbage(reader, writer):
    writer.write(random.Random(1).randbytes(100_000))
    await swallow(reader)


async def endless_banner(_reader, writer):
    while True:
        writer.write(b"Unauthorised use of this system is prohibited.\r\n" * 200)
        await writer.drain()


async def banner_closing(reader, writer):
    writer.write(BANNER)
    await reader.readline()


async def banner_silent(reader, writer):
    writer.write(BANNER)
    await swallow(reader)


async def telnet(reader, writer):
    writer.write(b"\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\r\nDebian GNU/Linux 12\r\nhost login: ")
    await swallow(reader)


async def http(reader, writer):
    await reader.readline()
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


# The proxy


class Gates:
    """Which directions are open, for all connections."""

    def __init__(self):
        self._open = {"up": asyncio.Event(), "down": asyncio.Event()}
        self.go()

    def stall(self, direction="both"):
        for name, gate in self._open.items():
            if direction in (name, "both"):
                gate.clear()

    def go(self):
        for gate in self._open.values():
            gate.set()

    async def passed(self, direction):
        await self._open[direction].wait()


class Connection:
    def __init__(self):
        self.bytes = {"up": 0, "down": 0}
        # The longest chain of questions and answers that what has been delivered stands for.
        self.delivered = {"up": 0, "down": 0}

    def depth(self, direction):
        return self.delivered["down"] + 1 if direction == "up" else self.delivered["up"]

    def report(self):
        return {**self.bytes, "round_trips": self.delivered["down"]}


class Proxy:
    def __init__(self, options):
        self.options = options
        self.gates = Gates()
        self.connections = []
        self.writers = []

    async def __call__(self, reader, writer):
        if self.options.reset_first > 0:
            self.options.reset_first -= 1
            reset(writer)
            return
        connection = Connection()
        self.connections.append(connection)
        host, _, port = self.options.to.rpartition(":")
        server_reader, server_writer = await asyncio.open_connection(host, int(port))
        both = [writer, server_writer]
        for end in both:
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.writers += both
        try:
            await asyncio.gather(
                self.carry(connection, "up", reader, server_writer),
                self.carry(connection, "down", server_reader, writer),
            )
        finally:
            server_writer.close()

    async def carry(self, connection, direction, reader, writer):
        """Everything from one side to the other, in order, each piece after the delay."""
        under_way = asyncio.Queue(64)
        delivering = asyncio.create_task(self.deliver(connection, direction, under_way, writer))
        loop = asyncio.get_running_loop()
        passed = 0
        while data := await self.read(reader, direction, passed):
            data = self.altered(direction, data, passed)
            passed += len(data)
            connection.bytes[direction] = passed
            await under_way.put((loop.time() + self.options.delay, connection.depth(direction), data))
            if direction == "down" and passed == self.options.cut_after:
                break
            if passed == self.options.stall_after and self.options.direction in (direction, "both"):
                self.gates.stall(direction)
            await self.gates.passed(direction)
        await under_way.put(None)
        await delivering

    async def read(self, reader, direction, passed):
        """The next piece; pieces end where something is to happen."""
        limit = CHUNK
        here = self.options.direction in (direction, "both")
        for end in (self.options.stall_after if here else None, self.options.cut_after if direction == "down" else None):
            if end is not None and passed < end:
                limit = min(limit, end - passed)
        try:
            return await reader.read(limit)
        except OSError:
            return b""

    def altered(self, direction, data, passed):
        at = self.options.corrupt_at
        if direction == "up" or at is None or not passed <= at < passed + len(data):
            return data
        return data[: at - passed] + bytes([data[at - passed] ^ 1]) + data[at - passed + 1 :]

    async def deliver(self, connection, direction, under_way, writer):
        loop = asyncio.get_running_loop()
        while piece := await under_way.get():
            when, depth, data = piece
            await asyncio.sleep(when - loop.time())
            await self.gates.passed(direction)
            connection.delivered[direction] = max(connection.delivered[direction], depth)
            try:
                writer.write(data)
                await writer.drain()
            except OSError:
                pass
        try:
            writer.write_eof()
        except OSError:
            pass
        if self.options.cut_after is not None:
            self.cut()

    def cut(self):
        for writer in self.writers:
            writer.transport.abort()


# Running


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


async def obey(proxy):
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    while line := await stdin.readline():
        word, *words = line.decode().split()
        if word == "report":
            say(connections=[connection.report() for connection in proxy.connections])
        else:
            {"stall": proxy.gates.stall, "go": proxy.gates.go, "cut": proxy.cut}[word](*words)
            say(done=word)


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--to")
    parser.add_argument("--delay", type=float, default=0)
    for name in ("--stall-after", "--cut-after", "--corrupt-at"):
        parser.add_argument(name, type=int)
    parser.add_argument("--direction", choices=["up", "down", "both"], default="both")
    parser.add_argument("--reset-first", type=int, default=0)
    parser.add_argument("behaviour")
    parser.add_argument("addresses", nargs="+")
    return parser.parse_args()


async def main():
    options = parse_arguments()
    proxy = Proxy(options)
    servers = [silent, closing, resetting, garbage, endless_banner, banner_closing, banner_silent, telnet, http]
    behaviour = {"proxy": proxy, **{server.__name__.replace("_", "-"): server for server in servers}}[options.behaviour]
    listening = []
    for address in options.addresses:
        host, _, port = address.partition(":")
        server = await asyncio.start_server(guarded(behaviour), host, int(port or 0), backlog=1000)
        listening.append("%s:%d" % server.sockets[0].getsockname()[:2])
    say(listening=listening)
    await obey(proxy)
    say(connections=[connection.report() for connection in proxy.connections])
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
