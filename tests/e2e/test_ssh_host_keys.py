"""Manual, "SSH": host keys, known and new, changed and revoked."""

import re
import signal
import subprocess

import pytest

from events import events
from fault_table import DELIVER_EVERYTHING, LINES, NOTHING_STARTS, ROWS, check, plays, said_by_podrun, said_of_hosts
from pods import Pod, write_key
from support import by_rank, without_options

# The rows of docs/faults.md that are played here.
FAULTS = [
    "its host key is an RSA key of 1024 bits",
    "its host key has changed",
    "its host key has changed (`-o StrictHostKeyChecking=no`)",
    "its host key is not known (`-o StrictHostKeyChecking=yes`)",
    "its host key is not known, and a `@cert-authority` line is for it",
]

every_row_is_played = plays(FAULTS)

ALL = {rank: [b"host%d" % rank] for rank in range(8)}
KNOWN_HOSTS = ".ssh/known_hosts"


@pytest.fixture
def known_hosts(podrun, pod):
    return podrun.home / KNOWN_HOSTS


def hosts_of(podrun, pod, *args):
    return by_rank(podrun.ok(*pod.options, *args, "--", "echo $POD_HOST"))


def check_refused(name, podrun, pod, rank, *args):
    """That this host is refused as the table says: what was said of it."""
    failed = events(podrun, *pod.options, *args, "--retries", "0", "--", "touch", podrun.directory / "started")
    assert not (podrun.directory / "started").exists()
    text = said_of_hosts(failed)[rank]
    check(ROWS[name], text, failed.returncode, NOTHING_STARTS)
    return text


def refused(podrun, pod, *args, **options):
    """Runs a command for which some host is not trusted: {rank: cause}. Nothing may have been started."""
    started = podrun.directory / "started"
    failed = events(podrun, *pod.options, *args, "--", "touch", started, **options)
    assert failed.returncode == 255, failed.stderr
    assert not started.exists()
    return {rank: cause for rank, (_outcome, _stage, cause) in failed.failures.items()}


def found_by_ssh_keygen(known_hosts, address):
    """How many keys ssh would find for it."""
    name = "[{}]:{}".format(*address.split(":"))
    found = subprocess.run(["ssh-keygen", "-F", name, "-f", known_hosts], capture_output=True, check=False).stdout
    return sum(not line.startswith(b"#") for line in found.splitlines())


def fingerprint(public_key):
    return subprocess.run(["ssh-keygen", "-l", "-f", public_key], capture_output=True, text=True, check=True).stdout.split()[1]


def replace_key(known_hosts, address, other):
    """The file has another key for that host."""
    host, port = address.split(":")
    lines = known_hosts.read_text().splitlines()
    key = " ".join(other.with_suffix(".pub").read_text().split()[:2])
    known_hosts.write_text("".join(f"[{host}]:{port} {key}\n" if line.startswith(f"[{host}]:") else f"{line}\n" for line in lines))


# New keys


@pytest.mark.smoke
def test_a_new_key_is_accepted_and_written_once(podrun, pod, known_hosts):
    known_hosts.unlink()
    assert hosts_of(podrun, pod) == ALL
    written = known_hosts.read_text()
    assert written.count("\n") == 8
    assert all(found_by_ssh_keygen(known_hosts, address) == 1 for address in pod.addresses)
    assert hosts_of(podrun, pod) == ALL
    assert known_hosts.read_text() == written
    assert hosts_of(podrun, pod, "-o", "StrictHostKeyChecking=yes") == ALL


def test_the_directory_for_them_is_made(podrun, pod, known_hosts):
    key = podrun.home / ".ssh" / "id_ed25519"
    key.rename(podrun.directory / "key")
    for file in (podrun.home / ".ssh").iterdir():
        file.unlink()
    known_hosts.parent.rmdir()
    assert hosts_of(podrun, pod, "--identity", podrun.directory / "key") == ALL
    assert known_hosts.parent.stat().st_mode & 0o777 == 0o700
    assert known_hosts.read_text().count("\n") == 8


def test_a_new_key_is_added_after_what_is_there(podrun, pod, known_hosts):
    before = known_hosts.read_text().splitlines()[:3]
    known_hosts.write_text("# mine\n" + "\n".join(before))  # the last line has no end
    assert hosts_of(podrun, pod) == ALL
    after = known_hosts.read_text()
    assert after.startswith("# mine\n" + "\n".join(before) + "\n")
    assert after.count("\n") == 1 + 8


def test_new_keys_may_be_written_hashed(podrun, pod, known_hosts):
    known_hosts.unlink()
    assert hosts_of(podrun, pod, "-o", "HashKnownHosts=yes") == ALL
    lines = known_hosts.read_text().splitlines()
    assert len(lines) == 8 and all(line.startswith("|1|") for line in lines)
    assert all(found_by_ssh_keygen(known_hosts, address) == 1 for address in pod.addresses)


def test_other_files_for_known_hosts(podrun, pod, known_hosts):
    elsewhere = known_hosts.rename(podrun.directory / "known")
    new = podrun.directory / "new"
    files = ("-o", f"UserKnownHostsFile={new} {elsewhere}", "-o", "GlobalKnownHostsFile=/dev/null")
    assert hosts_of(podrun, pod, *files, "-o", "StrictHostKeyChecking=yes") == ALL
    known = elsewhere.read_text().splitlines()
    elsewhere.write_text("\n".join(known[:7]) + "\n")
    assert hosts_of(podrun, pod, *files) == ALL
    assert new.read_text().count("\n") == 1


def test_a_file_that_cannot_be_written_is_said_and_does_no_harm(podrun, pod, known_hosts):
    known_hosts.unlink()
    ended = podrun(*pod.options, "-o", "UserKnownHostsFile=/proc/nowhere/known_hosts", "--", "echo $POD_HOST")
    assert ended.returncode == 0
    assert by_rank(ended.stdout) == ALL
    assert b"/proc/nowhere/known_hosts" in ended.stderr


# StrictHostKeyChecking


def test_strict_refuses_a_key_that_is_not_known(podrun, pod, known_hosts):
    lines = known_hosts.read_text().splitlines(keepends=True)
    known_hosts.write_text("".join(lines[:5] + lines[6:]))
    said = check_refused(FAULTS[3], podrun, pod, 5, "-o", "StrictHostKeyChecking=yes")
    assert fingerprint(pod.directory / "host_keys" / "ed25519.pub") in said
    assert "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" in said
    assert known_hosts.read_text() == "".join(lines[:5] + lines[6:])


def test_no_accepts_what_is_new(podrun, pod, known_hosts):
    known_hosts.unlink()
    assert hosts_of(podrun, pod, "-o", "StrictHostKeyChecking=no") == ALL


def test_new_keys_are_named_in_one_line(podrun, pod, known_hosts):
    said = lambda *options: [line for line in podrun(*pod.options, *options, "--", "true").stderr.splitlines() if b"host key" in line]
    known_hosts.unlink()
    new = said()
    assert len(new) == 1 and re.fullmatch(rb"podrun: new host keys of 8 hosts: stored in \S+, and checked from now on", new[0]), new
    assert said() == []
    known_hosts.unlink()
    assert said("-q") == []
    known_hosts.unlink()
    assert re.search(rb"^podrun: new host key of \S+: stored", podrun(*pod.options, "--workers", "3", "--", "true").stderr)


def test_ask_without_a_terminal_refuses(podrun, pod, known_hosts):
    known_hosts.unlink()
    assert refused(podrun, pod, "-o", "StrictHostKeyChecking=ask") == dict.fromkeys(range(8), "host_key_unknown")
    assert not known_hosts.exists()


def ask(podrun, pod, answer):
    terminal = podrun.terminal(*pod.options, "--progress", "never", "-o", "StrictHostKeyChecking=ask", "--color", "never", "--", "echo $POD_HOST")
    terminal.read_until(b"yes")
    terminal.type(answer)
    return terminal.wait()


def test_ask_asks_once_for_all(podrun, pod, known_hosts):
    known_hosts.unlink()
    ended = ask(podrun, pod, b"yes\n")
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.count(b"?") == 1
    shown = ended.stdout.decode().splitlines()
    asked = [line for line in shown if fingerprint(pod.directory / "host_keys" / "ed25519.pub") in line]
    assert len(asked) == 8 and max(map(len, asked)) <= 80, asked
    for rank in range(8):
        assert f"{rank}: host{rank}" in shown
        assert sum(pod.hosts[rank] in line for line in asked) == 1
    assert known_hosts.read_text().count("\n") == 8


def test_ask_understands_any_spelling_and_asks_again(podrun, pod, known_hosts):
    known_hosts.unlink()
    terminal = podrun.terminal(*pod.options, *QUESTION)
    terminal.read_until(b"yes/no")
    terminal.type(b"hmm\n")
    terminal.read_until(b"Please answer yes or no: ")
    terminal.type(b" Yes \n")
    assert terminal.wait().returncode == 0


def test_ask_takes_no_for_an_answer(podrun, pod, known_hosts):
    known_hosts.unlink()
    ended = ask(podrun, pod, b"no\n")
    assert ended.returncode == 255
    assert b": host" not in ended.stdout
    assert not known_hosts.exists()
    assert b"and it was not accepted (" in ended.stdout and b"podrun asks" not in ended.stdout


QUESTION = ["--progress", "never", "-o", "StrictHostKeyChecking=ask", "--", "true"]


def test_ask_in_the_background_refuses(podrun, pod, known_hosts):
    known_hosts.unlink()
    # Below a session's leader, timeout makes a process group of its own.
    podrun.wrapper = ["sh", "-c", 'timeout -k 5 20 "$@"; exit $?', "sh"]
    ended = podrun.terminal(*pod.options, *QUESTION).wait()
    assert ended.returncode == 255, ended.stdout
    assert b"cannot ask questions in the background" in ended.stdout
    assert b"unreachable: [0-7] " in ended.stdout and b"yes/no" not in ended.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_ends_a_question(podrun, pod, known_hosts, number):
    known_hosts.unlink()
    terminal = podrun.terminal(*pod.options, *QUESTION)
    terminal.read_until(b"yes/no")
    assert terminal.settings != terminal.settings_at_start
    terminal.process.send_signal(number)
    assert terminal.wait(20).returncode == 128 + number
    assert terminal.settings_at_end == terminal.settings_at_start
    assert not known_hosts.exists()


# Changed and revoked keys, and how they are found


@pytest.mark.parametrize("strictness", ["accept-new", "yes"])
def test_a_changed_key_is_refused(podrun, pod, known_hosts, strictness):
    other = write_key(podrun.directory / "other")
    replace_key(known_hosts, pod.addresses[3], other)
    before = known_hosts.read_text()
    said = check_refused(FAULTS[1], podrun, pod, 3, "-o", f"StrictHostKeyChecking={strictness}")
    for key in (other.with_suffix(".pub"), pod.directory / "host_keys" / "ed25519.pub"):
        assert fingerprint(key) in said
    assert "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" in said
    assert known_hosts.read_text() == before
    remove = said[said.index("ssh-keygen -R") :]
    subprocess.run(["sh", "-c", remove], check=True, capture_output=True, env=podrun.env)
    assert hosts_of(podrun, pod) == ALL


def test_no_goes_on_with_a_changed_key_and_a_warning(podrun, pod, known_hosts):
    other = write_key(podrun.directory / "other")
    replace_key(known_hosts, pod.addresses[3], other)
    before = known_hosts.read_text()
    ended = podrun(*pod.options, "-o", "StrictHostKeyChecking=no", "--", "seq 20000")
    assert by_rank(ended.stdout) == dict.fromkeys(range(8), LINES)
    [warning] = [line for line in said_by_podrun(ended.stderr) if "WARNING" in line]
    check(ROWS[FAULTS[2]], warning, ended.returncode, DELIVER_EVERYTHING)
    for key in (other.with_suffix(".pub"), pod.directory / "host_keys" / "ed25519.pub"):
        assert fingerprint(key) in warning
    assert f"[{pod.hosts[3]}]:{pod.port}" in warning
    assert known_hosts.read_text() == before


def test_a_host_with_a_changed_key_gets_nothing_from_an_agent(podrun, pod, known_hosts, agent):
    key = podrun.home / ".ssh" / "id_ed25519"
    agent(key)
    key.unlink()
    assert hosts_of(podrun, pod) == ALL
    replace_key(known_hosts, pod.addresses[3], write_key(podrun.directory / "other"))
    ended = events(podrun, *pod.options, "-o", "StrictHostKeyChecking=no", "--", "true")
    assert ended.failures == {3: ("unreachable", "login", "permission_denied")}
    assert "the agent is not used, since the host key has changed" in ended.exits[3]["message"]


def test_a_host_with_a_certificate_is_not_taken_at_its_first_word(podrun, pod, known_hosts):
    authority = write_key(podrun.directory / "authority").with_suffix(".pub").read_text()
    plain = known_hosts.read_text().splitlines(keepends=True)
    known_hosts.write_text(f"@cert-authority 127.0.0.* {authority}" + "".join(plain[:5] + plain[6:]))
    said = check_refused(FAULTS[4], podrun, pod, 5)
    assert f"{known_hosts}:1 (@cert-authority)" in said and "--via 'ssh {host}'" in said
    known_hosts.write_text(f"@cert-authority 127.0.0.* {authority}" + "".join(plain))
    assert hosts_of(podrun, pod) == ALL


def test_a_short_rsa_key_is_refused(podrun, pods, tmp_path_factory):
    short = tmp_path_factory.mktemp("short") / "rsa"
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "1024", "-N", "", "-f", short], check=True)
    pod = pods("--hosts", "2", "--sshd", f"HostKey {short}")
    pod.move_in(podrun)
    known_hosts = podrun.home / KNOWN_HOSTS
    key = short.with_suffix(".pub").read_text()
    known_hosts.write_text("".join(f"[{host}]:{pod.port} {key}" for host in pod.hosts))
    check_refused(FAULTS[0], podrun, pod, 1)
    assert hosts_of(podrun, pod, "-o", "RequiredRSASize=1024") == {rank: ALL[rank] for rank in (0, 1)}


def test_a_revoked_key_is_refused(podrun, pod, known_hosts):
    key = (pod.directory / "host_keys" / "ed25519.pub").read_text()
    with known_hosts.open("a") as file:
        file.write(f"@revoked [{pod.hosts[2]}]:* {key}")
    assert refused(podrun, pod) == {2: "host_key_revoked"}


def test_hashed_names_are_found(podrun, pod, known_hosts):
    subprocess.run(["ssh-keygen", "-H", "-f", known_hosts], capture_output=True, check=True)
    assert all(line.startswith("|1|") for line in known_hosts.read_text().splitlines())
    assert hosts_of(podrun, pod, "-o", "StrictHostKeyChecking=yes") == ALL


def test_a_changed_key_is_found_behind_a_hashed_name(podrun, pod, known_hosts):
    replace_key(known_hosts, pod.addresses[3], write_key(podrun.directory / "other"))
    subprocess.run(["ssh-keygen", "-H", "-f", known_hosts], capture_output=True, check=True)
    assert refused(podrun, pod) == {3: "host_key_changed"}


def test_new_and_changed_keys_among_many_hashed_names(podrun, pod, known_hosts):
    replace_key(known_hosts, pod.addresses[3], write_key(podrun.directory / "other"))
    lines = known_hosts.read_text().splitlines(keepends=True)
    key = lines[0].partition(" ")[2]
    others = [f"other{number}.example {key}" for number in range(1500)]
    known_hosts.write_text("".join(lines[:5] + lines[6:] + others))
    subprocess.run(["ssh-keygen", "-H", "-f", known_hosts], capture_output=True, check=True)
    ended = events(podrun, *pod.options, "--skip-unreachable", "--", "echo $POD_HOST")
    assert ended.shown == {rank: line for rank, line in ALL.items() if rank != 3}
    assert ended.failures == {3: ("unreachable", "host_key", "host_key_changed")}
    assert known_hosts.read_text().count("\n") == 7 + 1500 + 1


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_the_kind_of_key_that_is_known_is_asked_for(podrun, pods, kind):
    pod = pods("--hosts", "2", "--host-keys", "ed25519,ecdsa,rsa")
    pod.move_in(podrun)
    known_hosts = podrun.home / KNOWN_HOSTS
    lines = [line for line in known_hosts.read_text().splitlines() if kind in line.split()[1]]
    assert len(lines) == 2
    known_hosts.write_text("\n".join(lines) + "\n")
    assert hosts_of(podrun, pod, "-o", "StrictHostKeyChecking=yes") == {rank: ALL[rank] for rank in (0, 1)}


def test_an_alias_for_all_hosts(podrun, pod, known_hosts):
    key = (pod.directory / "host_keys" / "ed25519.pub").read_text()
    known_hosts.write_text(f"the-pod {key}")
    assert hosts_of(podrun, pod, "-o", "HostKeyAlias=the-pod", "-o", "StrictHostKeyChecking=yes") == ALL


def test_forget_keys_of_a_recreated_pod(podrun, pods, tmp_path):
    first = Pod(tmp_path / "first", "--hosts", "3")
    first.move_in(podrun)
    first.down()
    second = Pod(tmp_path / "second", "--hosts", "3", "--port", str(first.port))
    try:
        known_hosts = podrun.home / KNOWN_HOSTS
        hashed = subprocess.run(["ssh-keygen", "-H", "-f", known_hosts], capture_output=True, check=True)
        assert hashed.returncode == 0
        other = f"another.example {(first.directory / 'host_keys' / 'ed25519.pub').read_text()}"
        with known_hosts.open("a") as file:
            file.write(other)
        key = ("--identity", second.directory / "user" / ".ssh" / "id_ed25519")
        assert refused(podrun, second, *key) == dict.fromkeys(range(3), "host_key_changed")
        checked = podrun(*second.options, *key, "check", "-v")
        assert b"  [0-2] unreachable: the host key has changed (-v shows the keys)\n" in checked.stdout
        assert b"if [0-2] were recreated: podrun hosts --forget-keys\n" in without_options(checked.stdout)
        assert checked.stderr.count(fingerprint(second.directory / "host_keys" / "ed25519.pub").encode()) >= 3
        podrun.ok(*second.options, "hosts", "--forget-keys")
        assert known_hosts.read_text() == other
        assert hosts_of(podrun, second, *key) == {rank: ALL[rank] for rank in range(3)}
    finally:
        second.down()
