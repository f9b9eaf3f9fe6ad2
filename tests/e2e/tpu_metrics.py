#!/usr/bin/env python3
"""The metrics service that libtpu starts in a process that uses TPUs: a real gRPC server with its messages, on 127.0.0.1.

tpu_metrics.py PORT CHIP...   each CHIP is DUTY,USED,TOTAL: percent and bytes; a file @PATH has them in words, and may change

The messages are those of github.com/AI-Hypercomputer/cloud-accelerator-diagnostics, tpu_metric_service.proto.
"""

import struct
import sys
from concurrent import futures
from pathlib import Path

import grpc


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A field with bytes, a whole number, or a double."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3) + varint(value)


def metric(device, value):
    attribute = field(1, b"device-id") + field(2, field(3, device))
    gauge = field(1, value) if isinstance(value, float) else field(2, value)
    return field(1, attribute) + field(2, field(1, 1700000000)) + field(3, gauge)


def response(name, values):
    metrics = b"".join(field(3, metric(device, value)) for device, value in enumerate(values))
    return field(1, field(1, name) + field(2, b"a description") + metrics)


class Service(grpc.GenericRpcHandler):
    def __init__(self, chips):
        self.chips = chips

    def service(self, call):
        if call.method != "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric":
            return None
        return grpc.unary_unary_rpc_method_handler(self.answer)

    def read_chips(self):
        words = self.chips
        if words[0].startswith("@"):
            words = Path(words[0][1:]).read_text().split()
        return [tuple(map(int, word.split(","))) for word in words]

    def answer(self, request, context):
        name = request[2 : 2 + request[1]]
        chips = self.read_chips()
        columns = {b"dutycycle.percent": [float(chip[0]) for chip in chips], b"usage.bytes": [chip[1] for chip in chips], b"total.bytes": [chip[2] for chip in chips]}
        for end, values in columns.items():
            if name.endswith(end):
                return response(name, values)
        context.abort(grpc.StatusCode.NOT_FOUND, "no such metric")


def main(port, *chips):
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Service(chips),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
