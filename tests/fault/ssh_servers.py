"""SSH servers that misbehave after the key exchange. Those that run commands do so as the user who started them, for the authorized keys;
the others let anybody in."""

import asyncio
import time
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about algorithms that nobody asks for here
    import asyncssh
    from asyncssh.packet import Boolean, String, UInt32

# Numbers of messages, RFC 4250 4.1.2.
DISCONNECT = 1
SERVICE_REQUEST = 5
USERAUTH_REQUEST = 50
USERAUTH_FAILURE = 51
USERAUTH_SUCCESS = 52
USERAUTH_BANNER = 53
USERAUTH_PK_OK = 60
CHANNEL_OPEN = 90
CHANNEL_OPEN_FAILURE = 92
CHANNEL_DATA = 94
CHANNEL_REQUEST = 98

CHUNK = 32768
COMPLAINT = b"something is wrong with this host, and it says so without end\n" * 500


# No terminal should receive these: a title, a colour (also as one C1 byte), and the start of a new line.
ESCAPES = b"\x1b]0;owned\x07\x1b[31mred\x9b1m\x00\r\npodrun: all is well\n"


def failure(methods, partial=False):
    return USERAUTH_FAILURE, String(methods), Boolean(partial)


# The request that is answered, and the message that is the answer, RFC 4252.
LOGIN_REPLIES = {
    "succeeds-before-the-service": (SERVICE_REQUEST, USERAUTH_SUCCESS),
    "succeeds-at-an-offer": (USERAUTH_REQUEST, USERAUTH_SUCCESS),
    "takes-another-key": (USERAUTH_REQUEST, USERAUTH_PK_OK, String(b"ssh-ed25519"), String(String(b"ssh-ed25519") + String(bytes(32)))),
    "lists-no-methods": (USERAUTH_REQUEST, *failure(b"")),
    "lists-odd-methods": (USERAUTH_REQUEST, *failure(b",,publickey," + 1000 * (ESCAPES + b","))),
    "lists-nothing": (USERAUTH_REQUEST, USERAUTH_FAILURE),
    "wants-more-than-a-key": (USERAUTH_REQUEST, *failure(b"publickey,keyboard-interactive", partial=True)),
    "says-too-much": (USERAUTH_REQUEST, USERAUTH_BANNER, String(b"x" * (1 << 20)), String(b"")),
    "leaves-with-escapes": (USERAUTH_REQUEST, DISCONNECT, UInt32(2), String(ESCAPES), String(b"")),
}


def on_message(receiver, number, act):
    """Instead of what asyncssh does with a message to a connection or a channel, for which it has no hook."""
    receiver._packet_handlers = {**receiver._packet_handlers, number: lambda *_message: act()}


class Server(asyncssh.SSHServer):
    """One connection."""

    def __init__(self, behaviour, connections):
        self.behaviour = behaviour
        self.connections = connections
        self.connection = None
        self.is_first = False  # of all connections
        self.channels = 0

    def connection_made(self, conn):
        self.connection = conn
        self.is_first = not self.connections
        self.connections.append(conn)
        message = {"closes-at-service-request": SERVICE_REQUEST, "closes-at-login": USERAUTH_REQUEST, "closes-at-channel": CHANNEL_OPEN}
        if self.behaviour in message:
            on_message(conn, message[self.behaviour], conn.abort)
        if self.behaviour == "never-answers-login":
            on_message(conn, USERAUTH_REQUEST, lambda: None)
        if self.behaviour == "floods-with-banners":
            on_message(conn, USERAUTH_REQUEST, lambda: conn.create_task(flood_with_banners(conn)))
        if self.behaviour == "shows-an-address":
            text = ESCAPES.replace(b"\0", b"") + b"Open https://login.example/1\n"
            on_message(conn, USERAUTH_REQUEST, lambda: conn.send_packet(USERAUTH_BANNER, String(text), String(b"")))
        if self.behaviour.startswith("runs-and-opens-channels"):
            on_message(conn, CHANNEL_OPEN_FAILURE, lambda: None)
        if self.behaviour in LOGIN_REPLIES:
            request, *reply = LOGIN_REPLIES[self.behaviour]
            on_message(conn, request, lambda: conn.send_packet(*reply))

    def begin_auth(self, username):
        if self.behaviour == "runs-behind-a-banner":
            self.connection.send_packet(USERAUTH_BANNER, String(ESCAPES), String(b""))
        return True

    def public_key_auth_supported(self):
        return True

    def validate_public_key(self, username, key):
        return self.behaviour not in ("refuses-login", "asks-for-a-code", "waits-after-no-question") and self.behaviour not in RUNNING

    def kbdint_auth_supported(self):
        return self.behaviour in ("asks-for-a-code", "runs-after-no-question", "waits-after-no-question")

    def get_kbdint_challenge(self, username, lang, submethods):
        if self.behaviour == "asks-for-a-code":
            return "", "", "", [("Verification code: ", True)]
        return "", "Pushed a login request to your phone\x1b[1m...", "", []

    def validate_kbdint_response(self, username, responses):
        if self.behaviour == "waits-after-no-question":
            return asyncio.Event().wait()
        return not responses and self.behaviour == "runs-after-no-question"

    def auth_completed(self):
        if self.behaviour == "reads-nothing":
            deafen(self.connection)

    def session_requested(self):
        self.channels += 1
        if self.behaviour == "refuses-channel":
            return False
        if self.behaviour == "runs-one-for-each-connection" and self.channels > 1:
            if not self.is_first:  # which is ended with its command, while the client asks for the next
                self.connection.abort()
            return False
        if self.behaviour == "runs-one-and-refuses-exec" and self.channels > 1:
            return Session("refuses-exec")
        return self.run if self.behaviour in COMMANDS else Session(self.behaviour)

    async def run(self, stdin, stdout, stderr):
        try:
            await COMMANDS[self.behaviour](stdin, stdout, stderr)
        except (asyncssh.Error, OSError):
            pass  # the connection has ended


class Session(asyncssh.SSHServerSession):
    """One channel on which no process is to run."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.channel = None

    def connection_made(self, chan):
        self.channel = chan
        if self.behaviour == "closes-at-exec":
            on_message(chan, CHANNEL_REQUEST, chan.get_connection().abort)
        if self.behaviour == "never-answers-exec":
            on_message(chan, CHANNEL_REQUEST, lambda: None)

    def exec_requested(self, command):
        return self.behaviour != "refuses-exec"

    def session_started(self):
        if self.behaviour == "closes-after-exec":
            self.channel.get_connection().abort()


async def flood_with_banners(connection):
    while connection._transport and not connection._transport.is_closing():
        if connection._transport.get_write_buffer_size() < 1 << 20:
            connection.send_packet(USERAUTH_BANNER, String(2000 * ESCAPES), String(b""))
        await asyncio.sleep(0)


async def open_channels(connection, count, size):
    """Asks the client for channels as fast as it takes the questions, each of some `size`."""
    channel = UInt32(0) + UInt32(1 << 20) + UInt32(1 << 15)
    question = String(b"forwarded-tcpip") + channel + String(size * b"x") + UInt32(0) + String(b"") + UInt32(0)
    for _ in range(count):
        while connection._transport.get_write_buffer_size() > 1 << 20:
            await asyncio.sleep(0.001)
        connection.send_packet(CHANNEL_OPEN, question)


async def exceed_window(channel, size):
    """Sends so many bytes as output of the command, whatever the client has room for."""
    connection = channel.get_connection()
    data = UInt32(channel._send_chan) + String(CHUNK * b"x")
    for _ in range(size // CHUNK):
        while connection._transport.get_write_buffer_size() > 1 << 20:
            await asyncio.sleep(0.001)
        connection.send_packet(CHANNEL_DATA, data)


def deafen(connection):
    if connection._transport:  # it has not ended
        connection._transport.pause_reading()


# Behaviours after the exec of a command was accepted


async def copy(reader, writer):
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()


async def flood(writer):
    while True:
        writer.write(COMPLAINT)
        await writer.drain()
        await asyncio.sleep(0.02)  # others want to use this processor


async def feed(reader, writer):
    """Ends standard input when the channel's ends, however that happens."""
    try:
        await copy(reader, writer)
    except (asyncssh.Error, OSError):
        pass
    writer.close()


async def run(stdin, stdout, stderr):
    """Runs the command; returns its exit status when all it printed is on its way."""
    pipes = {name: asyncio.subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    child = await asyncio.create_subprocess_exec("/bin/sh", "-c", stdout.channel.get_command(), start_new_session=True, **pipes)
    feeding = asyncio.create_task(feed(stdin, child.stdin))
    try:
        await asyncio.gather(copy(child.stdout, stdout), copy(child.stderr, stderr))
        return await child.wait()
    finally:
        feeding.cancel()
        child.stdin.close()


async def says_nothing(stdin, _stdout, _stderr):
    await stdin.read()


async def ends_without_status(_stdin, stdout, _stderr):
    stdout.channel.close()


async def ends_by_signal(_stdin, stdout, _stderr):
    stdout.channel.exit_with_signal("KILL")


async def floods_stderr(_stdin, _stdout, stderr):
    await flood(stderr)


async def plays_a_host(stdin, stdout, _stderr):
    """Says what the supervisor would and runs nothing: thousands of these fit on one machine."""
    await stdin.readline()  # sets the options of the shell aside
    text = await stdin.readline()
    nonce = text.partition(b"set -- ")[2].split()[0]
    stdout.write(b"\npodrun1 %s ready - - - - \n" % nonce)
    if b"s cores=" in text:
        await plays_top(stdin, stdout)
    while (line := await stdin.readline()) and not line.startswith(b"go "):
        pass
    stdout.channel.exit(0)


async def plays_top(stdin, stdout):
    """Answers ticks as top.sh does, for a host with 8 GPUs that train. Of 1000 hosts from 127.1.0.1 on, 17 is idle, 38 has
    a full disk, 77 a clock that is wrong."""
    parts = stdout.channel.get_extra_info("sockname")[0].split(".")
    number = (int(parts[2]) * 250 + int(parts[3]) - 1) % 1000
    begun, idle, received = time.monotonic(), 0.0, 0
    busy, watts = (0, 71) if number == 17 else (98, 655)
    stdout.write(b"s cores=224 user=1000 tpus=0 nvidia=8 gpu=0x2330\nn NVIDIA H100 80GB HBM3\nm 0 ext4 /\n")
    while line := await stdin.readline():
        letters, mounts = (line.split() + [b"-", b"-"])[:2]
        up = 1000 + time.monotonic() - begun
        idle = 224 * up * 0.78
        received = int(41e9 * up)
        frame = f"f u{up:.2f} i{idle:.2f} l51.2 t2000 M2112761300 A{1180000000 + number * 1000} S0 F0 pc0.40 pm0.00 pi0.00 n{received},{received} d1000,1000\n"
        frame += "".join(f"g {up:.2f} {gpu}, {busy}, 71680, 81559, {watts + gpu}.31, 61, 1980, 1980, 0, 0x0000000000000004\n" for gpu in range(8))
        if b"c" in letters:
            frame += f"c {up:.2f} {time.time() + (3 if number == 77 else 0):.6f}\n"
        if b"h" in letters:
            holders = "".join(f"process {4000 + gpu} 100 1000 9000 R python\nuser {4000 + gpu} ubuntu\nholds {4000 + gpu} /dev/nvidia{gpu}\n" for gpu in range(8))
            frame += "".join(f"h {up:.2f} {each}\n" for each in ["begin", "uid 1000", *holders.split("\n")[:-1], "end"])
        if mounts != b"-":
            frame += f"d {up:.2f} 0 rw /dev/sda1 1000000 {995000 if number == 38 else 340000} {5000 if number == 38 else 660000} 99% /\n"
        stdout.write(frame.encode())


async def runs(stdin, stdout, stderr):
    stdout.channel.exit(await run(stdin, stdout, stderr))


async def runs_after_a_flood(stdin, stdout, stderr):
    for _ in range(100):
        stderr.write(COMPLAINT)
        await stderr.drain()
    await runs(stdin, stdout, stderr)


async def runs_and_tells_a_large_status(stdin, stdout, stderr):
    await run(stdin, stdout, stderr)
    stdout.channel._send_request(b"exit-status", UInt32(256))  # a shell's exit status has one byte
    stdout.channel.close()


async def runs_without_status(stdin, stdout, stderr):
    await run(stdin, stdout, stderr)
    stdout.channel.close()


async def runs_until_a_signal(stdin, stdout, stderr):
    await run(stdin, stdout, stderr)
    stdout.channel.exit_with_signal("TERM")


class Slow:
    """Writes so many bytes at once, and the rest when it is told to."""

    def __init__(self, writer, at_once):
        self.channel = writer.channel
        self._writer = writer
        self._at_once = at_once
        self._rest = b""

    def write(self, data):
        self._writer.write(data[: self._at_once])
        self._rest += data[self._at_once :]
        self._at_once = max(0, self._at_once - len(data))

    async def drain(self):
        await self._writer.drain()

    async def write_rest(self):
        for begin in range(0, len(self._rest), 20_000):
            await asyncio.sleep(0.8)
            self._writer.write(self._rest[begin : begin + 20_000])
            await self.drain()


async def runs_and_tells_the_end_first(stdin, stdout, stderr):
    """And then the rest of the output, for seconds: no order is set, RFC 4254 6.10."""
    slow = Slow(stdout, 110_000)
    status = await run(stdin, slow, stderr)
    stdout.channel._send_request(b"exit-status", status.to_bytes(4, "big"))
    await slow.write_rest()
    stdout.channel.close()


async def runs_and_opens_channels(stdin, stdout, stderr):
    async def flood_later():
        await asyncio.sleep(3)  # by then the command has begun
        await open_channels(stdout.channel.get_connection(), 5_000, 20_000)

    await run_beside(flood_later(), stdin, stdout, stderr)


async def runs_and_exceeds_its_window(stdin, stdout, stderr):
    async def flood_later():
        await asyncio.sleep(2)
        await exceed_window(stdout.channel, 300_000_000)

    is_first = not stdout.channel.get_connection().get_extra_info("floods")
    stdout.channel.get_connection().set_extra_info(floods=True)
    await (run_beside(flood_later(), stdin, stdout, stderr) if is_first else runs(stdin, stdout, stderr))


async def runs_and_opens_channels_unread(stdin, stdout, stderr):
    """The answers stay with the client, once its command has begun."""
    connection = stdout.channel.get_connection()

    async def flood_unread():
        await asyncio.sleep(3)
        deafen(connection)
        await open_channels(connection, 200_000, 0)

    await run_beside(flood_unread(), stdin, stdout, stderr)


async def runs_and_floods_stderr(stdin, stdout, stderr):
    await run_beside(flood(stderr), stdin, stdout, stderr)


async def run_beside(nuisance, stdin, stdout, stderr):
    playing = asyncio.create_task(nuisance)
    try:
        await runs(stdin, stdout, stderr)
    finally:
        playing.cancel()


def named(*functions):
    return {function.__name__.replace("_", "-"): function for function in functions}


RUNNING = dict.fromkeys(("runs-behind-a-banner", "runs-after-no-question", "runs-one-for-each-connection", "runs-one-and-refuses-exec"), runs) | named(
    *(runs, runs_after_a_flood, runs_without_status, runs_until_a_signal, runs_and_floods_stderr, runs_and_tells_the_end_first),
    *(runs_and_tells_a_large_status, runs_and_opens_channels, runs_and_opens_channels_unread, runs_and_exceeds_its_window),
)
COMMANDS = {**RUNNING, **named(plays_a_host, says_nothing, ends_without_status, ends_by_signal, floods_stderr)}
BEHAVIOURS = {
    *("closes-at-service-request", "closes-at-login", "closes-at-channel", "closes-at-exec", "closes-after-exec"),
    *("refuses-login", "asks-for-a-code", "refuses-channel", "refuses-exec", "never-answers-login", "never-answers-exec", "reads-nothing"),
    *("floods-with-banners", "shows-an-address", "waits-after-no-question", "takes-ed25519-only", *LOGIN_REPLIES),
    *COMMANDS,
}


class SshServers:
    def __init__(self, authorized_keys):
        self._authorized_keys = authorized_keys
        self._key = asyncssh.generate_private_key("ssh-ed25519")
        self._connections = []

    async def listen(self, behaviour, host, port):
        if behaviour not in BEHAVIOURS:
            raise SystemExit(f'fault.py: unknown behaviour "{behaviour}"')
        keys = self._authorized_keys if behaviour in RUNNING else None
        as_it_comes = {"encoding": None, "line_editor": False, "gss_host": None}
        if behaviour == "takes-ed25519-only":
            as_it_comes["signature_algs"] = ["ssh-ed25519"]
        return await asyncssh.create_server(
            lambda: Server(behaviour, self._connections), host, port, server_host_keys=[self._key], authorized_client_keys=keys, backlog=1000, **as_it_comes
        )

    def deafen(self):
        """Nothing more is read on any connection."""
        for connection in self._connections:
            deafen(connection)
