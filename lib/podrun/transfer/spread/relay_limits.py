"""Limits, hooks of the tests, answers to podrun and threads, for all parts of relay.py and relay_files.py."""

import os
import threading

BLOCK = 1 << 20
GONE, FAILED = 3, 4  # exit statuses; push.sh takes others for those of a python3 that does not start


def read_hooks(text):
    """The tests' hooks: words such as stall:3. They can delay or spoil what this host sends, and skip no check."""
    hooks = {}
    for word in text.split():
        name, _, value = word.partition(":")
        try:
            hooks[name] = float(value or 1)
        except ValueError:
            pass
    return hooks


HOOKS = read_hooks(os.environ.get("PODRUN_TEST_RELAY", ""))
SCALE = HOOKS.get("limits", 1.0)
JOIN = min(HOOKS.get("join", 2.5 * SCALE), 60.0)  # seconds in which children connect and join
HANDSHAKE, STRANGERS = 0.8 * JOIN, 8  # for one handshake; unfinished ones beside those of expected children
SILENCE = 5.0 * SCALE  # without a byte of the parent
HOLD_UP = 3.0 * SCALE  # in all, that one reader may make the others wait
SIGN = 1.0 * min(SCALE, 1)
TICK = 0.2 * min(SCALE, 1)

saying = threading.Lock()


def say(text, more=b""):
    try:
        with saying:
            for part in ((text + "\n").encode("ascii", "replace"), more):
                data = memoryview(part)
                while data:
                    data = data[os.write(4, data) :]
    except OSError:
        os._exit(GONE)


def plain(error):
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return "".join(c if " " <= c <= "~" else "?" for c in text[:200])


def fail(why):
    say("failed " + plain(why))
    os._exit(FAILED)


def start(function, *args):
    def run():
        try:
            function(*args)
        except BaseException as error:
            fail("%s: %s" % (type(error).__name__, error))

    threading.Thread(target=run, daemon=True).start()


class Lost(Exception):
    """Why the parent cannot be used any more."""
