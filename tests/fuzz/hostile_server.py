"""An SSH server for the fuzzer of messages: after the login it says whatever a seed makes it say, beside its commands or instead of them."""

import asyncio
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fault"))
import ssh_servers as servers  # (asyncssh, without its warnings)

asyncssh = servers.asyncssh
Boolean, String, UInt32 = servers.Boolean, servers.String, servers.UInt32

# RFC 4250 4.1.2
DISCONNECT, IGNORE, UNIMPLEMENTED, DEBUG, SERVICE_ACCEPT, EXT_INFO, KEXINIT, NEWKEYS = 1, 2, 3, 4, 6, 7, 20, 21
GLOBAL_REQUEST, REQUEST_SUCCESS, REQUEST_FAILURE = 80, 81, 82
CHANNEL_OPEN, OPEN_CONFIRMATION, OPEN_FAILURE, WINDOW_ADJUST, DATA, EXTENDED_DATA, EOF, CLOSE, CHANNEL_REQUEST, CHANNEL_SUCCESS, CHANNEL_FAILURE = range(90, 101)

ANSWERS = (UNIMPLEMENTED, REQUEST_SUCCESS, REQUEST_FAILURE, OPEN_CONFIRMATION, OPEN_FAILURE)  # to what it has asked
NUMBERS = (0, 1, 2, 3, 42, 43, 44, 45, 100, 255, 256, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
NAMES = (b"", b"session", b"x11", b"forwarded-tcpip", b"direct-tcpip", b"auth-agent@openssh.com", b"tun@openssh.com", b"\x00", b"\xff\xfe", b"a" * 3000)
REQUESTS = (
    *(b"exit-status", b"exit-signal", b"signal", b"keepalive@openssh.com", b"eow@openssh.com", b"xon-xoff", b"pty-req", b"env", b"exec", b"shell"),
    *(b"subsystem", b"window-change", b"x11-req", b"auth-agent-req@openssh.com", b"break", b"", b"exit-status\x00", b"z" * 300),
)
GLOBAL_REQUESTS = (b"keepalive@openssh.com", b"hostkeys-00@openssh.com", b"tcpip-forward", b"cancel-tcpip-forward", b"no-more-sessions@openssh.com", b"", b"?" * 500)


class Speaker:
    """Makes messages: bytes with the number of the message first."""

    def __init__(self, rng):
        self.rng = rng
        self.channels = []  # the client's numbers

    def number(self):
        return UInt32(self.rng.choice(NUMBERS) if self.rng.random() < 0.8 else self.rng.getrandbits(32))

    def channel(self):
        return UInt32(self.rng.choice(self.channels)) if self.channels and self.rng.random() < 0.8 else self.number()

    def text(self):
        size = self.rng.choice((0, 1, 5, 100, 1000, 30_000, 35_000))
        return self.rng.choice((b"\npodrun1 ", b"line\n", bytes(size), self.rng.randbytes(min(size, 1000)), b"y" * size))

    def flag(self):
        return bytes([self.rng.choice((0, 1, 1, 2, 255))])

    def request_body(self):
        rng = self.rng
        signal = String(rng.choice((b"KILL", b"TERM", b"", b"NOSUCH", b"\x00", b"s" * 400)))
        return rng.choice((b"", self.number(), self.number() + self.number(), signal, signal + self.flag() + String(self.text()) + String(b""), rng.randbytes(3)))

    def request_of_channel(self):
        if self.rng.random() < 0.3:
            return String(b"exit-status") + bytes(1) + self.number()
        return String(self.rng.choice(REQUESTS)) + self.flag() + self.request_body()

    def open_body(self):
        return String(self.rng.choice(NAMES)) + self.number() + self.number() + self.number() + String(self.text()) + self.request_body()

    def message(self):
        rng = self.rng
        kind = rng.choices(*zip(*self.kinds()))[0]
        body = {
            CHANNEL_OPEN: self.open_body,
            OPEN_CONFIRMATION: lambda: self.channel() + self.number() + self.number() + self.number(),
            OPEN_FAILURE: lambda: self.channel() + self.number() + String(self.text()) + String(b""),
            WINDOW_ADJUST: lambda: self.channel() + self.number(),
            DATA: lambda: self.channel() + String(self.text()),
            EXTENDED_DATA: lambda: self.channel() + UInt32(rng.choice((1, 1, 0, 2, 0xFFFFFFFF))) + String(self.text()),
            EOF: self.channel,
            CLOSE: self.channel,
            CHANNEL_REQUEST: lambda: self.channel() + self.request_of_channel(),
            CHANNEL_SUCCESS: self.channel,
            CHANNEL_FAILURE: self.channel,
            GLOBAL_REQUEST: lambda: String(rng.choice(GLOBAL_REQUESTS)) + self.flag() + self.request_body(),
            DISCONNECT: lambda: self.number() + String(self.text()) + String(b""),
            IGNORE: lambda: String(self.text()),
            DEBUG: lambda: self.flag() + String(self.text()) + String(b""),
            EXT_INFO: lambda: self.number() + String(rng.choice((b"server-sig-algs", b"", b"x"))) + String(self.text()),
        }.get(kind, lambda: rng.choice((b"", self.number(), self.number() + String(self.text()))))()
        return bytes([kind]) + (self.mutated(body) if rng.random() < 0.25 else body)

    def kinds(self):
        often = (CHANNEL_OPEN, WINDOW_ADJUST, DATA, EXTENDED_DATA, CHANNEL_REQUEST, GLOBAL_REQUEST)
        seldom = (OPEN_CONFIRMATION, OPEN_FAILURE, EOF, CLOSE, CHANNEL_SUCCESS, CHANNEL_FAILURE, IGNORE, DEBUG, EXT_INFO, REQUEST_SUCCESS, REQUEST_FAILURE)
        deadly = (DISCONNECT, UNIMPLEMENTED, SERVICE_ACCEPT, KEXINIT, NEWKEYS, *range(30, 34), *range(50, 54), 60, 61, 89, 101, 192, 255)
        return [(kind, weight) for kinds, weight in ((often, 6), (seldom, 2), (deadly, 0.05)) for kind in kinds]

    def mutated(self, body):
        rng = self.rng
        at = rng.randrange(len(body) + 1)
        return rng.choice(
            (
                body[:at],
                body + rng.randbytes(rng.randrange(1, 40)),
                body[:at] + rng.randbytes(1) + body[at + 1 :],
                body[:at] + UInt32(rng.choice(NUMBERS)) + body[at + 4 :],
                body[:at] + body[at:][:4] + body[at:],
            )
        )


class Hostile(asyncssh.SSHServer):
    """One connection."""

    def __init__(self, seed, connections):
        connections.append(self)
        self.rng = random.Random(f"{seed}.{len(connections)}")
        self.speaker = Speaker(self.rng)
        self.runs_commands = self.rng.random() < 0.8
        self.begins = self.rng.choice(("login", "exec", "output", "output", "output", "end"))
        self.distorts = self.rng.choice((0, 0, 0.01, 0.2))  # of what a server rightly says
        self.connection = None
        self.speaking = None
        self.said = 0

    def connection_made(self, conn):
        self.connection = conn
        for number in ANSWERS:
            servers.on_message(conn, number, lambda: None)

    def connection_lost(self, _exc):
        if self.speaking:
            self.speaking.cancel()

    def public_key_auth_supported(self):
        return True

    def auth_completed(self):
        self.send = self.connection.send_packet
        self.connection.send_packet = self.send_distorted
        self.at("login")

    def session_requested(self):
        return self.run

    def send_distorted(self, number, *body, **options):
        if number >= CHANNEL_OPEN and self.rng.random() < self.distorts:
            for _ in range(self.rng.choice((0, 1, 2))):
                self.send(number, self.speaker.mutated(b"".join(body)))
            return
        self.send(number, *body, **options)

    def at(self, moment):
        """Begins to speak where this is the moment."""
        if moment == self.begins and not self.speaking:
            self.speaking = asyncio.get_running_loop().create_task(self.speak())

    async def speak(self):
        rng = self.rng
        for _ in range(rng.choice((1, 3, 10, 60))):
            message = self.speaker.message()
            for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 30, 1500))):
                while self.connection._transport and self.connection._transport.get_write_buffer_size() > 1 << 20:
                    await asyncio.sleep(0.001)
                if not self.connection._transport or self.connection._transport.is_closing():
                    return
                self.send(message[0], message[1:])
                self.said += 1
            await asyncio.sleep(rng.choice((0, 0, 0.001, 0.02)))
        if rng.random() < 0.5:
            self.send(CHANNEL_REQUEST, self.speaker.channel() + String(b"exit-status") + bytes(1) + self.speaker.number())
        if rng.random() < 0.5:
            self.send(CLOSE, self.speaker.channel())
        await asyncio.sleep(0.3)
        if rng.random() < 0.3:
            self.connection.abort()

    async def run(self, stdin, stdout, stderr):
        channel = stdout.channel
        self.speaker.channels.append(channel._send_chan)
        for number in (CHANNEL_SUCCESS, CHANNEL_FAILURE):
            servers.on_message(channel, number, lambda: None)
        self.at("exec")
        try:
            if self.runs_commands:
                status = await servers.run(stdin, Watched(stdout, self), stderr)
                self.at("end")
                channel.exit(status)
            else:
                self.begins = "exec"
                self.at("exec")
                await stdin.read()
        except (asyncssh.Error, OSError):
            pass  # the connection has ended


class Watched:
    """Standard output of a command: the server notices the first of it."""

    def __init__(self, writer, server):
        self.writer = writer
        self.channel = writer.channel
        self.server = server

    def write(self, data):
        self.writer.write(data)
        if len(data) > 1000:  # not the supervisor's hello
            self.server.at("output")

    async def drain(self):
        await self.writer.drain()


async def listen(seed, address, authorized_keys, host_key):
    """A server and the list of its connections so far."""
    connections = []
    options = {"encoding": None, "line_editor": False, "gss_host": None, "server_host_keys": [host_key], "authorized_client_keys": authorized_keys}
    server = await asyncssh.create_server(lambda: Hostile(seed, connections), address, 0, **options)
    return server, connections
