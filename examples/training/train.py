#!/usr/bin/env python3
"""A made-up training run, which computes nothing and logs as a real one does: on every host the same but for clocks, process
ids and addresses. On four hosts or more, one is held up and stays behind from then on, one gets a NaN, and one dies."""

import argparse
import logging
import math
import os
import random
import socket
import sys
import time
import zlib

RANK = int(os.environ.get("PODRUN_RANK", "0"))
HOSTS = int(os.environ.get("PODRUN_NUM_HOSTS", "1"))
HOST = os.environ.get("PODRUN_HOST", "localhost")
SHARDS = 40

NAN, DEAD, SLOW = (HOSTS // 8, HOSTS // 2 - 1, HOSTS - 1) if HOSTS >= 4 else (None, None, None)

log = logging.getLogger("train")


def meet_the_others():
    """Returns on all hosts at the same time, as jax.distributed.initialize() does: rank 0 waits for all and lets them go."""
    if HOSTS == 1:
        return
    address = os.environ["PODRUN_HOST0"]
    coordinator = (address, 10000 + zlib.crc32(os.environ["PODRUN_RUN_ID"].encode()) % 10000)
    if RANK == 0:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.create_server(coordinator, family=family, backlog=HOSTS) as server:
            others = [server.accept()[0] for _ in range(HOSTS - 1)]
        for other in others:
            other.sendall(b"go")
            other.close()
        return
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(coordinator) as connection:
                connection.recv(2)
            return
        except ConnectionRefusedError:  # rank 0 is not there yet
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def print_banner():
    print(r" _ _")
    print(r"| | | __ _ _ __ ___   __ _")
    print(r"| | |/ _` | '_ ` _ \ / _` |   7.2 B parameters, bf16")
    print(rf"| | | (_| | | | | | | (_| |   {4 * HOSTS} chips on {HOSTS} hosts")
    print(r"|_|_|\__,_|_| |_| |_|\__,_|   global batch 1024 x 4096 tokens", flush=True)


def log_like_xla(place, message):
    """The format of absl and glog."""
    now = time.time()
    print(f"I{time.strftime('%m%d %H:%M:%S', time.localtime(now))}.{int(now % 1 * 1e6):06} {os.getpid():7} {place}] {message}", file=sys.stderr, flush=True)


def start_xla():
    log_like_xla("service.cc:152", f"XLA service {id(log):#x} initialized for TPU")
    log_like_xla("client.cc:75", f"{HOST} is connected as rank {RANK} of {HOSTS}")


def clock(seconds):
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


def load_shards(seconds):
    """A bar as tqdm draws it: again when a tenth of a second has passed, so that no two hosts draw the same."""
    begin = drawn = time.monotonic()
    for done in range(SHARDS + 1):
        now = time.monotonic()
        if done in (0, SHARDS) or now - drawn >= 0.1:
            drawn, elapsed = now, now - begin
            left, rate = (clock(elapsed * (SHARDS - done) / done), f"{done / elapsed:5.2f}") if done else ("?", "?")
            bar = "█" * (10 * done // SHARDS)
            measured = f"{done}/{SHARDS} [{clock(elapsed)}<{left}, {rate}it/s]"
            print(f"\rLoading shards: {100 * done // SHARDS:3}%|{bar:10}| {measured}", end="", file=sys.stderr, flush=True)
        if done < SHARDS:
            time.sleep(random.uniform(0.9, 1.1) * seconds / SHARDS)
    print(file=sys.stderr, flush=True)


def loss_at(step, steps):
    return 1.9 + 8.9 * math.exp(-6 * step / steps) + random.Random(step).gauss(0, 0.02)


def train(options, begin):
    steps = options.steps
    stall, nan, checkpoint, death = (round(steps * part) for part in (0.15, 0.35, 0.5, 0.75))
    for step in range(1, steps + 1):
        logged = step == 1 or step % options.log_every == 0
        if logged or step in (stall, nan, checkpoint, death):
            time.sleep(max(0.0, begin + options.seconds * step / steps - time.monotonic()))
        if RANK == SLOW and step == stall:
            time.sleep(options.stall)
            begin += options.stall
            log.warning("the input pipeline held up step %d for %.1f s", step, options.stall)
        if RANK == DEAD and step == death:
            raise RuntimeError("uncorrectable memory error on chip 2")
        loss = loss_at(step, steps)
        if RANK == NAN and step >= nan:
            loss = math.nan
        if RANK == NAN and step == nan:
            log.warning("the loss of step %d is no number", step)
        if logged:
            print(f"step {step:4} loss {loss:.4f} lr {3e-4 * min(1, 10 * step / steps):.2e}", flush=True)
        if step == checkpoint:
            log.info("checkpoint of step %d written to gs://llama/run-7", step)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--log-every", type=int, default=200, metavar="STEPS")
    parser.add_argument("--seconds", type=float, default=12, help="that the steps take")
    parser.add_argument("--stall", type=float, default=3, metavar="SECONDS", help="that one host is behind")
    options = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    meet_the_others()
    begin = time.monotonic() + options.seconds / 5  # the first step is one of all hosts together
    print_banner()
    start_xla()
    load_shards(options.seconds / 6)
    train(options, begin)
    log.info("done after %d steps", options.steps)


main()
