"""Servers that never reach a key exchange: coroutines of one connection's reader and writer."""

import asyncio
import contextlib
import random
import socket
import struct

CHUNK = 16384
BANNER = b"SSH-2.0-OpenSSH_9.2p1 fault\r\n"


def reset(writer):
    with contextlib.suppress(OSError):  # it has gone already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def swallow(reader):
    while await reader.read(CHUNK):
        pass


async def silent(reader, _writer):
    await swallow(reader)


async def closing(_reader, _writer):
    pass


async def resetting(_reader, writer):
    reset(writer)


async def turned_away(reader, writer):
    """What sshd does from OpenSSH 10 on with a connection beyond MaxStartups, and from 9.8 on after failed logins (PerSourcePenalties)."""
    writer.write(b"Not allowed at this time\r\n")
    await reader.readline()


async def turned_away_at_once(_reader, writer):
    """It does not read the client's version, so that a reset follows its words."""
    writer.write(b"Not allowed at this time\r\n")
    await writer.drain()
    await asyncio.sleep(0.2)


async def max_startups(reader, writer):
    """What sshd does before that with a connection beyond MaxStartups."""
    writer.write(b"Exceeded MaxStartups\r\n")
    await reader.readline()


async def garbage(reader, writer):
    writer.write(random.Random(1).randbytes(100_000))
    await swallow(reader)


async def endless_banner(_reader, writer):
    while True:
        writer.write(b"Unauthorised use of this system is prohibited.\r\n" * 200)
        await writer.drain()


async def dribbling_banner(_reader, writer):
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def banner_closing(reader, writer):
    writer.write(BANNER)
    await reader.readline()


async def banner_silent(reader, writer):
    writer.write(BANNER)
    await swallow(reader)


async def banner_garbage(reader, writer):
    writer.write(BANNER + random.Random(2).randbytes(100_000))
    await swallow(reader)


async def kex_of_tomorrow(reader, writer):
    """An sshd with which podrun has no key exchange in common (RFC 4253 7.1)."""
    lists = [b"kex-of-tomorrow@example.org", b"ssh-ed25519", *[b"aes128-ctr"] * 2, *[b"hmac-sha2-256"] * 2, *[b"none"] * 2, b"", b""]
    payload = b"\x14" + bytes(16) + b"".join(struct.pack(">I", len(each)) + each for each in lists) + bytes(5)
    padding = 16 - (len(payload) + 5) % 8
    writer.write(BANNER + struct.pack(">IB", len(payload) + padding + 1, padding) + payload + bytes(padding))
    await reader.readline()


async def telnet(reader, writer):
    writer.write(b"\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\r\nDebian GNU/Linux 12\r\nhost login: ")
    await swallow(reader)


async def http(reader, writer):
    await reader.readline()
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


BANNERLESS = (silent, closing, resetting, turned_away, turned_away_at_once, max_startups, garbage, endless_banner, dribbling_banner, telnet, http)
SERVERS = {server.__name__.replace("_", "-"): server for server in (*BANNERLESS, banner_closing, banner_silent, banner_garbage, kex_of_tomorrow)}


def never_accepting(host, port):
    """A socket whose queue is full forever, so that the first packet of a connection is dropped; what holds it full comes along."""
    listener = socket.create_server((host, port), backlog=0)
    waiting = [socket.socket() for _ in range(3)]
    for each in waiting:
        each.setblocking(False)
        each.connect_ex(listener.getsockname())
    return listener, waiting
