"""Which part of a job's output podrun logs shows: --try, --since, --grep, --timestamps."""

import json

from support import by_rank, wait_until
from test_jobs import hosts, start, start_short, wait_for_end  # pylint: disable=unused-import


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


def test_mistakes_are_answered_at_once(podrun):
    for words, message in {
        ("-f", "--try", "all", "a"): b"logs: --follow follows one start (leave out --try all)",
        ("--try", "0", "a"): b'--try: bad number "0"',
        ("--try", "last", "a"): b'--try: bad number "last"',
    }.items():
        ended = podrun("-H", "local", "logs", *words)
        assert ended.returncode == 2, ended
        assert ended.stderr.startswith(b"podrun: " + message), ended
