"""podrun --restarts when hosts are lost, reset, exchanged or not free."""

import re
import shlex
import signal

import pytest

from homes import homes_of_pod
from restarts import FIRST_TRY_HANGS, LOCKED, Machines, Over, between_so_far, wait_for_event
from support import send, stand_still, wait_until

FINISHED = Over("finished", 2, 0)


@pytest.fixture
def machines(pods, podrun):
    """Three isolated hosts; runs use the first two."""
    with homes_of_pod(pods, podrun, hosts=3, more=("--devices", "accel0,nvidia0,kfd")) as homes:
        machines = Machines(homes)
        yield machines
        machines.restore()


# A host is gone


@pytest.mark.smoke
def test_a_host_that_was_reset_costs_no_restart(podrun, machines):
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.reset(1)
    ended = machines.ended(run)
    assert ended.over == FINISHED
    assert ended.tries[0].outcomes == {0: "stopped", 1: "lost"} and ended.tries[0].summary["final"] is False
    assert ended.causes == [("rebooted", [1])]
    assert ended.restarts[0]["counted"] is False and ended.restarts[0]["first"] == {"worker": 1, "outcome": "lost", "status": 255}
    assert ended.tries[1].shown == {rank: [b"up 1 rebooted"] for rank in (0, 1)}
    assert ended.tries[1].summary["final"] is False, "the hosts are looked at once more"
    assert "podrun: [1] rebooted: a lost host, not counted\n" in ended.stderr


@pytest.mark.parametrize("others", [1, 0], ids=["the others fail", "all end with 0"])
def test_a_host_that_saves_ends_with_0_and_reboots(podrun, machines, others):
    """As a spot host does that gets TERM before it goes."""
    command = LOCKED + f'[ "$PODRUN_RESTART" != 0 ] || {{ until [ -e ~/go ]; do sleep 0.1; done; [ $PODRUN_RANK = 1 ] || exit {others}; exit 0; }}'
    run = machines.start(podrun, "--restarts", "0", "--", command)
    machines.has_started(run)
    machines.on_host(1, "touch ~/go")
    wait_for_event(run, "exit")
    machines.change_identity(1)
    machines.end_logins(1)
    machines.on_host(0, "touch ~/go")
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("rebooted", [1])]
    assert ended.tries[0].outcomes == {0: "exited", 1: "exited"} and ended.restarts[0]["counted"] is False


def test_another_machine_in_the_place_of_a_host(podrun, machines):
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.reset(1, machine=True)
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("replaced", [1])]


def test_a_host_that_comes_back_is_waited_for(podrun, machines):
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.switch_off(1)
    waiting = wait_for_event(run, "waiting")
    assert waiting["worker"] == 1 and waiting["for"] == "host" and waiting["cause"] == "refused"
    assert 3500 < waiting["left_seconds"] <= 3600
    machines.switch_on(1)
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("lost", [1])]
    assert re.search(r"podrun: waiting for \[1\]: .*connection refused.*, (1 h|60 min) left\n", ended.stderr)


def test_a_host_that_never_comes_back(podrun, machines):
    run = machines.start(podrun, "--restarts", "3", "--wait-hosts", "3s", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.switch_off(1)
    ended = machines.ended(run)
    assert ended.over == Over("hosts_missing", 1, 255)
    assert "podrun: gave up after 3 s without [1] (--wait-hosts)\n" in ended.stderr


def test_the_first_failure_of_a_healthy_host_is_not_the_cause(podrun, machines):
    command = FIRST_TRY_HANGS.replace("exec sleep 1000", "{ until [ -e ~/fail ]; do sleep 0.1; done; exit 1; }")
    run = machines.start(podrun, "--restarts", "0", "--grace", "5", "--", command)
    machines.has_started(run)
    machines.freeze_logins(1)
    (machines.homes.home(0) / "fail").touch()
    run.wait_for_output(b'"event":"exit"')
    machines.reset(1)
    ended = machines.ended(run)
    assert ended.tries[0].exits[0]["status"] == 1
    assert ended.over == FINISHED and ended.causes == [("rebooted", [1])]
    assert ended.restarts[0]["first"] == {"worker": 0, "outcome": "exited", "status": 1}
    assert ended.restarts[0]["counted"] is False
    assert "podrun: [1] rebooted: a lost host, not counted (first seen: exit 1 [0])\n" in ended.stderr


def test_a_host_that_is_not_there_at_first(podrun, machines):
    run = machines.start(podrun, "--restarts", "1", "--", "true", hosts=("-H", machines.pod.addresses[0] + ",127.0.0.1:129", "--retries", "0"))
    ended = machines.ended(run)
    assert ended.over == Over("first_try", 0, 255)


@pytest.mark.deadline(120)
def test_connections_that_end_between_two_tries(podrun, machines):
    command = FIRST_TRY_HANGS.replace("exec sleep 1000", "{ sleep 1.2; exit 1; }")
    run = machines.start(podrun, "--restarts", "1", "--", command)
    wait_for_event(run, "restart")
    for rank in (0, 1):
        machines.end_logins(rank)
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.restarts[0]["cause"] == "exit" and len(ended.tries) == 2


# The old try is still there


@pytest.mark.parametrize("supervisor", ["killed", "without contact"])
def test_what_is_left_of_a_try_is_ended_first(podrun, machines, supervisor):
    command = FIRST_TRY_HANGS.replace("exec sleep 1000", "{ setsid sleep 1000 & exec sleep 1001; }")
    run = machines.start(podrun, "--restarts", "0", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2", "--", command)
    machines.has_started(run)
    old = {b"sleep\x001000\0", b"sleep\x001001\0"}
    wait_until(lambda: old <= set(machines.pod.processes(1).values()))
    machines.freeze_logins(1)
    if supervisor == "killed":  # and the connection breaks
        others = [pid for pid, words in machines.pod.processes(1).items() if words not in old]
        machines.on_host(1, "kill -9 " + " ".join(map(str, others)))
        machines.end_logins(1)
    machines.switch_off(1)
    wait_for_event(run, "waiting")
    assert old <= set(machines.pod.processes(1).values())
    machines.switch_on(1)
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("lost", [1])]


# It is another one


@pytest.mark.parametrize("from_stdin", [False, True], ids=["-H LIST", "-H -"])
def test_a_new_host_key_waits_for_a_person(podrun, machines, from_stdin):
    hosts = podrun.directory / "hosts"
    hosts.write_text("".join(f"{address}\n" for address in machines.pod.addresses[:2]))
    options = {"hosts": ("-H", "-", "--retries", "0"), "stdin": hosts.open("rb")} if from_stdin else {}
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS, **options)
    machines.has_started(run)
    machines.new_host_key(1)
    machines.reset(1)
    waiting = wait_for_event(run, "waiting")
    assert waiting["worker"] == 1 and waiting["cause"] == "host_key_changed"
    [advice] = wait_until(lambda: re.findall(rb"if \[1\] was recreated: podrun (.* --forget-keys)", run.stderr), what="the advice")
    assert b"waiting for [1]: its host key has changed" in run.stderr
    podrun.ok(*(machines.pod.on(0, 1) if from_stdin else ()), *shlex.split(advice.decode()))  # as it stands, where it can
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("rebooted", [1])]


ADDRESSES = FIRST_TRY_HANGS + '; echo $PODRUN_RANK $PODRUN_ADDRESSES $POD_HOST'


def test_a_new_address_in_the_list(podrun, machines):
    addresses = machines.pod.addresses
    hosts = podrun.directory / "hosts"
    hosts.write_text(f"{addresses[0]}\n{addresses[1]}\n")
    options = ("--hosts-command", f"cat {hosts}", "--retries", "0")
    run = machines.start(podrun, "--restarts", "0", "--orphan-timeout", "3s", "--", ADDRESSES, hosts=options)
    machines.has_started(run)
    machines.switch_off(1)
    wait_for_event(run, "waiting")
    hosts.write_text(f"{addresses[0]}\n{addresses[2]}\n")
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("replaced", [1])]
    both = " ".join(machines.pod.hosts[rank] for rank in (0, 2)).encode()
    assert ended.tries[1].shown == {
        0: [b"up 1 replaced", b"0 %s host0" % both],
        1: [b"up 1 replaced", b"1 %s host2" % both],
    }
    assert f"podrun: [1] is at {machines.pod.hosts[2]} now\n" in ended.stderr


def test_a_list_that_is_shorter(podrun, machines):
    hosts = podrun.directory / "hosts"
    both = "".join(f"{address}\n" for address in machines.pod.addresses[:2])
    hosts.write_text(both)
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS, hosts=("--hostfile", hosts, "--retries", "0"))
    machines.has_started(run)
    machines.switch_off(1)
    wait_for_event(run, "waiting")
    hosts.write_text(machines.pod.addresses[0] + "\n")
    told = b"podrun: the list of hosts has 1, the command runs on 2\n"
    wait_until(lambda: told in run.stderr, what="told of")
    assert run.process.poll() is None
    hosts.write_text(both)
    machines.switch_on(1)
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("lost", [1])] and ended.stderr.count(told.decode()) == 1


# It is not free


@pytest.mark.parametrize("device", ["accel0", "nvidia0", "kfd"])
def test_an_accelerator_that_a_stranger_holds(podrun, machines, device):
    run = machines.start(podrun, "--restarts", "0", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    pid = int(machines.on_host(1, f"setsid sleep 1002 </dev/{device} >/dev/null 2>&1 & echo $!"))
    machines.end_logins(1)
    waiting = wait_for_event(run, "waiting")
    assert waiting["worker"] == 1 and waiting["for"] == "device"
    assert waiting["message"] == f"pid {pid} (sleep) holds /dev/{device}; podrun kill frees it"
    assert pid in machines.pod.processes(1)
    machines.on_host(1, f"kill {pid}")
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.causes == [("lost", [1])]


def test_an_accelerator_that_a_daemon_had_before_the_first_try(podrun, machines):
    pid = int(machines.on_host(1, "setsid sleep 1002 </dev/accel0 >/dev/null 2>&1 & echo $!"))
    run = machines.start(podrun, "--restarts", "0", "--wait-hosts", "20s", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.end_logins(1)
    run.wait()
    machines.on_host(1, f"kill {pid}")
    ended = machines.ended(run)
    assert ended.over == FINISHED and ended.waits == []


@pytest.mark.full
def test_a_process_that_not_even_kill_ends(podrun, machines):
    fuse = machines.mount_that_hangs(1)
    command = FIRST_TRY_HANGS.replace("exec sleep 1000", "{ [ $PODRUN_RANK = 0 ] && sleep 2 && exit 1; cat ~/hangs/file; }")
    run = machines.start(podrun, "--restarts", "1", "--", command)
    machines.has_started(run)
    waiting = wait_for_event(run, "waiting", 60)
    assert waiting["worker"] == 1 and waiting["for"] == "process"
    assert re.fullmatch(r"pid \d+ \(cat\) does not end \(uninterruptible\)", waiting["message"]), waiting
    machines.on_host(1, f"kill -9 {fuse}")
    ended = machines.ended(run)
    assert ended.over == FINISHED


# Ctrl-C


def test_ctrl_c_while_it_waits(podrun, machines):
    run = machines.start(podrun, "--restarts", "1", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    machines.switch_off(1)
    wait_for_event(run, "waiting")
    run.signal(signal.SIGINT)
    ended = machines.ended(run)
    assert ended.over == Over("interrupted", 1, 130)


def test_ctrl_c_while_it_looks_at_the_hosts(podrun, machines):
    run = machines.start(podrun, "--restarts", "1", "-t", "300", "--", FIRST_TRY_HANGS)
    machines.has_started(run)
    server = [machines.pod.server(1)]
    machines.end_logins(1)
    send(signal.SIGSTOP, server)
    try:
        wait_for_event(run, "summary")
        wait_until(lambda: stand_still([run.pid]), what="the look at the host")
        assert not between_so_far(run, "waiting")
        run.signal(signal.SIGINT)
        run.wait()
    finally:
        send(signal.SIGCONT, server)
    ended = machines.ended(run)
    assert ended.over == Over("interrupted", 1, 130)
