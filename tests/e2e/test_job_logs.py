"""Which part of a job's output podrun logs shows: --try, --since, --grep, --timestamps."""

import contextlib
import json
import time
from pathlib import Path

from events import Events
from support import by_rank, wait_until
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


def test_mistakes_are_answered_at_once(podrun):
    for words, message in {
        ("-f", "--try", "all", "a"): b"logs: --follow follows one start (leave out --try all)",
        ("--try", "0", "a"): b'--try: bad number "0"',
        ("--try", "last", "a"): b'--try: bad number "last"',
        ("--since", "noon", "a"): b'--since: bad time "noon" (expected a duration such as 10m or 2h, or a time of day such as 14:05)',
    }.items():
        ended = podrun("-H", "local", "logs", *words)
        assert ended.returncode == 2, ended
        assert ended.stderr.startswith(b"podrun: " + message), ended
