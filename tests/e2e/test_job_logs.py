"""Which part of a job's output podrun logs shows: --try, --since, --grep, --timestamps."""

import calendar
import contextlib
import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from events import Events, events
from support import by_rank, send, wait_until
from test_jobs import hosts, readers, start, start_short, wait_for_end  # pylint: disable=unused-import


def job_of(hosts, rank, number=1):
    """The directory of a start of the job on a host."""
    [place] = (hosts.home(rank) / ".podrun" / "jobs" / "train").iterdir()
    return place / str(number)


def note_times(hosts, rank, *entries):
    """Writes when the job has printed: (seconds ago, bytes of stdout, bytes of stderr)."""
    up = float(Path("/proc/uptime").read_text().split()[0])
    (job_of(hosts, rank) / "times").write_text("".join(f"{up - ago:.2f} {out} {err}\n" for ago, out, err in entries))


def ended_job(podrun, hosts, command):
    start(podrun, hosts.on(0), command)
    wait_until((job_of(hosts, 0) / "complete").exists, what="all of its output is there")


@contextlib.contextmanager
def other_boot(hosts, rank):
    """As if the host had been rebooted."""
    done = hosts.pod.ssh(rank, "echo 0a0a0a0a-0b0b-4c4c-8d8d-0e0e0e0e0e0e >/tmp/boot && mount --bind /tmp/boot /proc/sys/kernel/random/boot_id")
    assert done.returncode == 0, done
    try:
        yield
    finally:
        hosts.pod.ssh(rank, "umount /proc/sys/kernel/random/boot_id")


# -f


def test_no_line_waits_for_a_host_where_the_job_has_ended(podrun):
    pod = ["-H", "local[0-2]"]
    podrun.ok(*pod, "start", "train", "--", "[ $PODRUN_RANK != 1 ] || exit 0; until [ -e go ]; do sleep 0.05; done; echo up; until [ -e end ]; do sleep 0.05; done")
    wait_until(lambda: podrun.ok("-H", "local1", "ps", "train", "--json").count(b'"ended"'), what="the job has ended on one host")
    (podrun.home / "go").touch()
    run = podrun.start(*pod, "logs", "-f", "-d", "--window", "10m", "train")
    run.wait_for_output(b"[0,2]: up\n")
    (podrun.home / "end").touch()
    assert run.wait().returncode == 0


# --try


def test_a_start_is_shown_by_its_number(podrun, hosts):
    for number in (1, 2):
        start(podrun, hosts.on(0, 1), f"echo try {number} of $PODRUN_WORKER")
        wait_for_end(podrun, hosts.on(0, 1))
    start(podrun, hosts.on(0), "echo try 3; exec sleep 1000")
    assert by_rank(podrun.ok(*hosts.on(0, 1), "logs", "--try", "1", "train")) == {0: [b"try 1 of 0"], 1: [b"try 1 of 1"]}
    assert podrun.ok(*hosts.on(0), "logs", "-f", "--try", "2", "train") == b"0: try 2 of 0\n", "it has ended, though the next one runs"

    partly = podrun(*hosts.on(0, 1), "logs", "--try", "3", "train")
    assert partly.returncode == 1 and partly.stdout == b"0: try 3\n"
    assert partly.stderr == b"podrun: there is no start 3 of train on [1] (--try 1, --try 2, --try 3)\n"
    missing = podrun(*hosts.on(0), "logs", "--try", "4", "train")
    assert missing.returncode == 1 and missing.stdout == b""
    assert missing.stderr == b"podrun: there is no start 4 of train on these hosts (--try 1, --try 2, --try 3)\n"
    none = podrun(*hosts.on(0), "logs", "--try", "1", "other")
    assert none.returncode == 1 and none.stderr == b"podrun: there is no job other on these hosts\n"


def test_all_starts_are_shown_in_order(podrun, hosts):
    start_short(podrun, hosts.options, "echo first; exit 3", 3)
    wait_for_end(podrun, hosts.options)
    start(podrun, hosts.on(0, 1), "echo second")
    wait_for_end(podrun, hosts.on(0, 1))
    shown = podrun(*hosts.options, "logs", "--dedup", "--try", "all", "train")
    assert shown.returncode == 0, shown
    assert shown.stdout == b"all: first\nall: second\n"
    assert shown.stderr == b"podrun: train, start 1\npodrun: train, start 2\n"
    assert podrun.ok(*hosts.on(0), "logs", "-n", "0", "--try", "all", "train") == b""
    several = podrun.ok(*hosts.on(0), "--json", "logs", "--try", "all", "train").splitlines()
    runs = {event["run_id"] for line in several if (event := json.loads(line))["event"] == "start"}
    assert len(runs) == 2, several
    none = podrun(*hosts.options, "logs", "--try", "all", "other")
    assert none.returncode == 1 and none.stderr == b"podrun: there is no job other on these hosts\n"


# --since


def test_only_output_since_a_time_is_shown(podrun, hosts):
    ended_job(podrun, hosts, "seq 6; echo error >&2")
    # 1, then 2 and the error, then the rest.
    note_times(hosts, 0, (10000, 2, 0), (5000, 4, 6), (1000, 12, 6))

    def shown(*options):
        return podrun.ok(*hosts.on(0), "logs", *options, "train").replace(b"0: ", b"").split()

    assert shown("--since", "5h") == b"1 2 3 4 5 6".split()
    assert podrun(*hosts.on(0), "logs", "--since", "2h", "train").stderr == b"0: error\n"
    assert podrun(*hosts.on(0), "logs", "--since", "30m", "train").stderr == b""
    assert shown("--since", "6000") == b"2 3 4 5 6".split()
    assert shown("--since", "30m") == b"3 4 5 6".split()
    assert shown("--since", "1m") == []
    assert shown("--since", "30m", "-n", "2") == b"5 6".split()
    assert shown("--since", "30m", "-n", "5") == b"3 4 5 6".split()
    assert shown("-f", "--since", "30m") == b"3 4 5 6".split()
    then = time.localtime(time.time() - 2000)
    assert shown("--since", time.strftime("%H:%M:%S", then)) == b"3 4 5 6".split()
    assert shown("--since", "30m", "--try", "all") == b"3 4 5 6".split()


def test_what_came_before_a_reboot_is_older_than_it(podrun, hosts):
    ended_job(podrun, hosts, "echo x")
    with other_boot(hosts, 0):
        assert podrun.ok(*hosts.on(0), "logs", "--since", "1m", "train") == b""
        assert podrun.ok(*hosts.on(0), "logs", "--since", "3000d", "train") == b"0: x\n"


def test_a_job_is_followed_since_a_time(podrun, hosts):
    start(podrun, hosts.on(0), "echo old; until [ -e ~/go ]; do sleep 0.3; done; echo new")
    wait_until((job_of(hosts, 0) / "times").exists, what="its output was noted")
    note_times(hosts, 0, (1000, 4, 0))
    run = podrun.start(*hosts.on(0), "--json", "logs", "-f", "--since", "10m", "train")
    wait_until(lambda: readers(hosts, 0), what="it is followed")
    hosts.lose(0)
    (hosts.home(0) / "go").touch()
    assert Events(run.wait()).shown == {0: [b"new"]}


# --grep


def kept(hosts, rank, stream="out"):
    """All lines of a stream that the host keeps."""
    return b"".join(path.read_bytes() for path in sorted(job_of(hosts, rank).glob(f"{stream}.0*"))).splitlines()


@pytest.mark.smoke
def test_only_matching_lines_are_shown(podrun, hosts):
    ended_job(podrun, hosts, "seq 100; echo 'it\\s \"5\" $HOME'; echo warning 5 >&2; printf 'a\\000\\2005'")

    def shown(*options):
        ended = podrun(*hosts.on(0), "logs", *options, "train")
        assert ended.returncode == 0, ended
        return [line.removeprefix(b"0: ") for line in [*ended.stdout.splitlines(), *ended.stderr.splitlines()]]

    assert shown("--grep", "^5.$") == [b"%d" % number for number in range(50, 60)]
    assert shown("--grep", "5$")[:10] == [b"%d" % number for number in range(5, 100, 10)]
    assert len(shown("--grep", "5$")) == 12, "on stderr, and the line that has not ended"
    assert shown("--grep", "^(7|8)0$|warning") == [b"70", b"80", b"warning 5"]
    assert shown("--grep", '\\\\s "5" [$]HOME$') == [b'it\\s "5" $HOME']
    assert shown("--grep", "nothing") == shown("-f", "--grep", "nothing") == []
    assert shown("--grep", "0$", "-n", "2") == [b"90", b"100"], "the last ones that match"
    assert shown("--grep", "^7", "-n", "100") == [b"7", *(b"%d" % number for number in range(70, 80))]
    assert shown("--grep", "^7", "-n", "0") == []
    position = sum(len(b"%d\n" % number) for number in range(1, 76))
    note_times(hosts, 0, (5000, position, 0), (10, len(b"\n".join(kept(hosts, 0))), 10))
    assert shown("--grep", "^7", "--since", "1h") == [b"76", b"77", b"78", b"79"]


def test_matching_lines_are_found_in_any_shell(podrun_any_shell):
    podrun = podrun_any_shell
    start_short(podrun, ("-H", "local[0-1]"), "seq 20; printf 'x 1'; sleep 0.5; printf 1; exit 3", 3)
    followed = events(podrun, "-H", "local[0-1]", "logs", "-f", "--grep", "1{2}|0$", "train")
    assert followed.returncode == 3
    assert followed.shown == dict.fromkeys((0, 1), [b"10", b"11", b"20", b"x 11"])
    assert podrun.ok("-H", "local[0-1]", "--workers", "0", "logs", "-n", "1", "--grep", "^1", "train") == b"0: 19\n"


@pytest.mark.deadline(120)
def test_matching_lines_are_followed_without_loss_or_double(podrun, hosts):
    program = 'i=0; until [ -e ~/go ]; do i=$((i+1)); echo "line $i of $PODRUN_WORKER"; echo "error $i" >&2; [ $((i % 50)) != 0 ] || sleep 0.03; done'
    start(podrun, hosts.options, program)
    run = podrun.start(*hosts.options, "--json", "logs", "-f", "--grep", "[37]( |$)", "train")
    run.wait_for_output(b"line 3 of ", len(hosts.ranks), 60)
    choice = random.Random(5)
    cuts = 0
    while cuts < 10:
        rank = choice.choice(hosts.ranks)
        cuts += len(hosts.pod.connections(rank))
        send(signal.SIGKILL, hosts.pod.logins(rank))
        time.sleep(choice.uniform(0.01, 0.3))
    for rank in hosts.ranks:
        (hosts.home(rank) / "go").touch()
    followed = Events(run.wait(60))
    assert followed.returncode == 0 and b"no longer there" not in followed.stderr, followed.stderr
    for rank in hosts.ranks:
        for stream, name in (("stdout", "out"), ("stderr", "err")):
            expected = [line for line in kept(hosts, rank, name) if re.search(rb"[37]( |$)", line)]
            assert len(expected) > 20
            assert followed.bytes[rank, stream].splitlines() == expected, (rank, stream)


def test_a_line_is_matched_as_a_whole(podrun, hosts):
    """Over two files, but not over a gap. Its end is waited for."""
    ended_job(podrun, hosts, "true")
    job, size = job_of(hosts, 0), 64 * 1024 * 1024
    (job / "out.000000000000000.aaaa").unlink(missing_ok=True)
    with open(job / "out.000000000000000.aaaa", "wb") as file:
        file.truncate(size)
        for place, text in ((0, b"first one\n"), (size - 4, b"\none")):
            file.seek(place)
            file.write(text)
    (job / "out.000000000000000.aaab").write_bytes(b" half\nx one")
    (job / f"out.{size + 13:015}.aaaa").write_bytes(b"y half\n")
    assert podrun.ok(*hosts.on(0), "logs", "--grep", "^first|one half|x one|^y half", "train").endswith(b"0: first one\n0: one half\n0: x one\n0: y half\n")
    assert podrun.ok(*hosts.on(0), "logs", "--grep", "x.*half", "train") == b""

    start(podrun, hosts.on(0), "printf 'loss '; until [ -e ~/go ]; do sleep 0.3; done; echo 1")
    wait_until((job_of(hosts, 0, 2) / "times").exists, what="its output was noted")
    assert podrun.ok(*hosts.on(0), "logs", "--grep", "loss", "train") == b"0: loss \n"
    run = podrun.start(*hosts.on(0), "logs", "-f", "--grep", "loss", "train")
    wait_until(lambda: readers(hosts, 0), what="it is followed")
    (hosts.home(0) / "go").touch()
    assert run.wait().stdout == b"0: loss 1\n"


def test_a_search_that_fails_is_not_an_empty_one(podrun, hosts):
    ended_job(podrun, hosts, "seq 1000")
    hosts.program(0, "grep", 'if mkdir ~/killed 2>/dev/null; then head -c 10; kill -9 $$; fi\nexec /bin/grep "$@"')
    assert len(podrun.ok(*hosts.on(0), "logs", "--grep", "5$", "train").splitlines()) == 100, "it was started again"
    assert (hosts.home(0) / "killed").exists()
    hosts.program(0, "grep", "echo 'grep: out of memory' >&2; exit 2")
    failed = podrun(*hosts.on(0), "logs", "--grep", "5$", "train")
    assert failed.returncode == 255 and failed.stdout == b"" and b"cannot search the output" in failed.stderr, failed


# --timestamps


def stamped(output):
    """Lines of host 0 as (seconds since then, text)."""
    found = []
    for line in output.splitlines():
        time_of, text = re.fullmatch(rb"0: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (.*)", line).groups()
        found.append((time.time() - calendar.timegm(time.strptime(time_of.decode(), "%Y-%m-%dT%H:%M:%SZ")), text))
    return found


def check_ages(found, expected):
    assert [text for _, text in found] == [text for _, text in expected], found
    for (age, text), (right, _) in zip(found, expected):
        assert right - 10 < age < right + 300, (age, right, text)


def test_each_line_begins_with_its_time(podrun, hosts):
    ended_job(podrun, hosts, "echo one; echo two; echo error >&2; echo; printf three")
    note_times(hosts, 0, (90000, 4, 0), (5000, 8, 6), (1000, 14, 6))
    ended = podrun(*hosts.on(0), "logs", "--timestamps", "train")
    check_ages(stamped(ended.stdout), [(90000, b"one"), (5000, b"two"), (1000, b""), (1000, b"three")])
    check_ages(stamped(ended.stderr), [(5000, b"error")])
    check_ages(stamped(podrun.ok(*hosts.on(0), "logs", "-f", "--timestamps", "-n", "1", "--try", "1", "train")), [(1000, b"three")])
    check_ages(stamped(podrun.ok(*hosts.on(0), "logs", "--timestamps", "--since", "1h", "train")), [(1000, b""), (1000, b"three")])

    # After a reboot only the time of the file tells when the uptimes were.
    times = job_of(hosts, 0) / "times"
    os.utime(times, (time.time() - 40000,) * 2)
    with other_boot(hosts, 0):
        check_ages(stamped(podrun.ok(*hosts.on(0), "logs", "--timestamps", "-n", "3", "train")), [(44000, b"two"), (40000, b""), (40000, b"three")])


def test_equal_lines_of_other_times_are_joined(podrun, hosts):
    start(podrun, hosts.options, "echo step 1; echo step 2")
    for rank in hosts.ranks:
        wait_until((job_of(hosts, rank) / "complete").exists, what="all of its output is there")
        note_times(hosts, rank, (5000 + 10 * rank, 14, 0))
    shown = podrun.ok(*hosts.options, "logs", "--timestamps", "--dedup=log", "train")
    assert re.fullmatch(rb"all: \S+Z step 1\nall: \S+Z step 2\n", shown), shown


def test_times_are_followed_over_a_lost_connection(podrun, hosts):
    start(podrun, hosts.on(0), "echo old; printf part; until [ -e ~/go ]; do sleep 0.3; done; echo ' of it'; echo new")
    wait_until((job_of(hosts, 0) / "times").exists, what="its output was noted")
    note_times(hosts, 0, (5000, 8, 0))
    run = podrun.start(*hosts.on(0), "logs", "-f", "--timestamps", "train")
    run.wait_for_output(b"old")
    hosts.lose(0)
    (hosts.home(0) / "go").touch()
    check_ages(stamped(run.wait().stdout), [(5000, b"old"), (5000, b"part of it"), (0, b"new")])


def test_mistakes_are_answered_at_once(podrun):
    for words, message in {
        ("-f", "--try", "all", "a"): b"logs: --follow follows one start (leave out --try all)",
        ("--try", "0", "a"): b'--try: bad number "0"',
        ("--try", "last", "a"): b'--try: bad number "last"',
        ("--grep", "(", "a"): b'--grep: bad regular expression "("',
        ("--grep", "x*", "a"): b'--grep: bad regular expression "x*": it matches the empty text',
        ("--timestamps", "--grep", "x", "a"): b"logs: --grep finds lines without their times (leave out --timestamps)",
        ("--timestamps", "--json", "a"): b"logs: --json has the lines unchanged (leave out --timestamps)",
        ("--since", "noon", "a"): b'--since: bad time "noon" (expected a duration such as 10m or 2h, or a time of day such as 14:05)',
    }.items():
        ended = podrun("-H", "local", "logs", *words)
        assert ended.returncode == 2, ended
        assert ended.stderr.startswith(b"podrun: " + message), ended
