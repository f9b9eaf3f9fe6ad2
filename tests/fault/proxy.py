"""A proxy that does with the bytes of a connection what its options say (see fault.py)."""

import asyncio
import socket

from servers import CHUNK, reset


class Gates:
    """Which directions are open."""

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
    def __init__(self, *writers):
        self.bytes = {"up": 0, "down": 0}
        # The longest chain of questions and answers that what has been delivered stands for.
        self.delivered = {"up": 0, "down": 0}
        self.writers = writers
        self.gates = Gates()
        self.is_cut = False

    def depth(self, direction):
        return self.delivered["down"] + 1 if direction == "up" else self.delivered["up"]

    def report(self):
        return {**self.bytes, "round_trips": self.delivered["down"]}

    def cut(self, how):
        """Both ends see it: a reset, or the end of what the other one says."""
        self.is_cut = True
        for writer in self.writers:
            reset(writer) if how == "rst" else end_of_file(writer)


def end_of_file(writer):
    try:
        writer.write_eof()
    except OSError:
        pass  # that side has gone


class Proxy:
    def __init__(self, options):
        self.options = options
        self.gates = Gates()
        self.rates = dict.fromkeys(("up", "down"), options.rate)
        self.connections = []

    async def __call__(self, reader, writer):
        if self.options.reset_first > 0:
            self.options.reset_first -= 1
            reset(writer)
            return
        host, _, port = self.options.to.rpartition(":")
        server_reader, server_writer = await asyncio.open_connection(host, int(port))
        connection = Connection(writer, server_writer)
        self.connections.append(connection)
        for end in connection.writers:
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.gather(
                self.carry(connection, "up", reader, server_writer),
                self.carry(connection, "down", server_reader, writer),
            )
        finally:
            server_writer.close()

    def stall(self, direction="both"):
        """For every connection, also for new ones."""
        self.gates.stall(direction)

    def go(self):
        for gates in (self.gates, *(connection.gates for connection in self.connections)):
            gates.go()

    def slow(self, direction, rate):
        """In bytes a second."""
        self.rates[direction] = int(rate)

    def cut(self, how="rst", number=None):
        """All connections, or the one with this number: 0 is the oldest."""
        for connection in self.connections if number is None else [self.connections[int(number)]]:
            connection.cut(how)

    def at(self, event, direction):
        """Where in this direction something is to happen, in bytes; None: nowhere."""
        return getattr(self.options, event) if self.options.direction in (direction, "both") else None

    async def carry(self, connection, direction, reader, writer):
        """Everything from one side to the other, in order, each piece after the delay."""
        under_way = asyncio.Queue(64)
        delivering = asyncio.create_task(self.deliver(connection, direction, under_way, writer))
        loop = asyncio.get_running_loop()
        passed = 0
        while data := await self.read(reader, direction, passed):
            await under_way.put((loop.time() + self.options.delay, connection.depth(direction), self.altered(direction, data, passed)))
            passed += len(data)
        await under_way.put(None)
        await delivering

    async def read(self, reader, direction, passed):
        """The next piece; pieces end where something is to happen."""
        limit = self.most_at_a_time(direction)
        for event in ("stall_after", "cut_after"):
            at = self.at(event, direction)
            if at is not None and passed < at:
                limit = min(limit, at - passed)
        try:
            return await reader.read(limit)
        except OSError:
            return b""

    def altered(self, direction, data, passed):
        for event, change in (("corrupt_at", lambda byte: bytes([byte ^ 1])), ("lose_at", lambda byte: b"")):
            at = self.at(event, direction)
            if at is not None and passed <= at < passed + len(data):
                data = data[: at - passed] + change(data[at - passed]) + data[at - passed + 1 :]
        return data

    def most_at_a_time(self, direction):
        return CHUNK if self.rates[direction] is None else max(1, min(CHUNK, self.rates[direction] // 20))

    def parts(self, direction, data):
        size = self.most_at_a_time(direction)
        return [data[at : at + size] for at in range(0, len(data), size)]

    async def deliver(self, connection, direction, under_way, writer):
        loop = asyncio.get_running_loop()
        while piece := await under_way.get():
            when, depth, data = piece
            await asyncio.sleep(when - loop.time())
            await connection.gates.passed(direction)
            await self.gates.passed(direction)
            for part in self.parts(direction, data):
                if self.rates[direction] is not None:
                    await asyncio.sleep(len(part) / self.rates[direction])
                if connection.is_cut or writer.is_closing():
                    break  # what is still under way goes nowhere
                connection.delivered[direction] = max(connection.delivered[direction], depth)
                connection.bytes[direction] += len(part)
                try:
                    writer.write(part)
                    await writer.drain()
                except OSError:
                    pass
            if connection.bytes[direction] == self.at("stall_after", direction):
                connection.gates.stall(direction)
            if connection.bytes[direction] == self.at("cut_after", direction):
                connection.cut(self.options.cut_by)
        if not connection.is_cut:
            end_of_file(writer)
