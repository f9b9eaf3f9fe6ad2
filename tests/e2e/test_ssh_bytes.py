"""Over SSH too the bytes are the command's own: `podrun -N -H one -- cmd` prints what `ssh one cmd` prints. And how much there is."""

import random

import pytest

from support import by_rank, sha256

EIGHT = range(8)


def same_as_ssh(podrun, pod, command):
    """Runs it both ways on one host, and compares streams and exit status."""
    ended = podrun.start("-N", *pod.on(2), "--", command).wait()
    by_ssh = pod.ssh(2, command)
    assert ended.returncode == by_ssh.returncode
    assert (len(ended.stdout), sha256(ended.stdout)) == (len(by_ssh.stdout), sha256(by_ssh.stdout))
    own = ended.stderr.rfind(b"podrun: ") if by_ssh.returncode else len(ended.stderr)  # the summary stands at the end
    assert sha256(ended.stderr[:own]) == sha256(by_ssh.stderr)
    return ended


def test_random_bytes_on_both_streams(podrun, pod):
    file = podrun.directory / "data"
    file.write_bytes(random.Random(5).randbytes(6_000_000))
    ended = same_as_ssh(podrun, pod, f"cat '{file}'; tac '{file}' >&2")
    assert len(ended.stdout) == len(ended.stderr) == 6_000_000


@pytest.mark.parametrize(
    "data",
    [b"ab\0cd\0\n\0", b"a\rb\rc\n", b"10%\r50%\r100%\r\n\r\r", b"\xff\xfe\xc3\n\xc3", b"no end", b"\n\n\n", b"\x1b[31mred\x1b[0m\n", b""],
    ids=repr,
)
def test_special_bytes(podrun, pod, data):
    octal = "".join(f"\\0{byte:03o}" for byte in data)
    assert same_as_ssh(podrun, pod, f"printf %b '{octal}'").stdout == data


def test_utf8_that_arrives_in_pieces(podrun, pod):
    program = "import os, time\nfor byte in 'é€😀'.encode() * 3: os.write(1, bytes([byte])); time.sleep(0.002)"
    assert same_as_ssh(podrun, pod, f'/usr/bin/python3 -c "{program}"').stdout.decode() == "é€😀" * 3


@pytest.mark.parametrize("command", ["exit 3", "exit 255", "echo out; echo err >&2; false", "echo ${BASH_VERSION:+bash}", "tty; wc -c"])
def test_ends_and_surroundings(podrun, pod, command):
    same_as_ssh(podrun, pod, command)


# Printed in an order that mixes the streams: lines of any length, with their number.
MIXED = """
import random, sys
r = random.Random(int(sys.argv[1]))
streams, number = (sys.stdout.buffer, sys.stderr.buffer), [0, 0]
while min(number) < 5_000_000:
    which = r.randrange(2)
    number[which] += streams[which].write(b"%d %s\\n" % (number[which], b"x" * r.choice([5, 50, 5000])))
"""


def mixed(seed):
    """What MIXED prints on each stream."""
    chosen = random.Random(seed)
    number, pieces = [0, 0], ([], [])
    while min(number) < 5_000_000:
        which = chosen.randrange(2)
        pieces[which].append(b"%d %s" % (number[which], b"x" * chosen.choice([5, 50, 5000])))
        number[which] += len(pieces[which][-1]) + 1
    return pieces


@pytest.mark.smoke
def test_ten_megabytes_from_each_of_eight_hosts_through_thirty_rekeys(podrun, pods):
    pod = pods("--sshd", "RekeyLimit 300K", "--sshd", "LogLevel DEBUG1")
    pod.move_in(podrun)
    program = podrun.directory / "mixed.py"
    program.write_text(MIXED)
    ended = podrun.start(*pod.options, "--", f"exec /usr/bin/python3 '{program}' $PODRUN_RANK").wait(60)
    assert ended.returncode == 0, ended.stderr[-500:]
    out, err = by_rank(ended.stdout), by_rank(ended.stderr)
    for rank in EIGHT:
        assert [sha256(b"\n".join(lines[rank])) for lines in (out, err)] == [sha256(b"\n".join(lines)) for lines in mixed(rank)]
    assert pod.log.count("rekeying out") >= 8 * 30


def test_input_through_rekeys(podrun, pods):
    pod = pods("--sshd", "RekeyLimit 300K", "--sshd", "LogLevel DEBUG1")
    pod.move_in(podrun)
    data = random.Random(6).randbytes(4_000_000)
    assert by_rank(podrun.ok(*pod.options, "-I", "--", "sha256sum", input=data)) == {rank: [f"{sha256(data)}  -".encode()] for rank in EIGHT}
