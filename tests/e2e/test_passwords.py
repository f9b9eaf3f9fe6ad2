"""Logging in with a password, where no key helps: asked once, tried on one host first, shown nowhere. Real OpenSSH servers."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from events import events
from fault_table import NOTHING_STARTS, ONE_TRY, ROWS, check, plays, said_of_hosts
from pods import Pod
from support import by_rank

FAULTS = ["it shows a text and never answers the login"]  # rows of docs/faults.md
every_row_is_played = plays(FAULTS)
RIGHT = "open sesame"
EIGHT = range(8)
# What each way to take a password needs of sshd; PAM asks for it by keyboard-interactive.
WAYS = {
    "password": ("PasswordAuthentication yes", "UsePAM no"),
    "keyboard-interactive": ("PasswordAuthentication no", "KbdInteractiveAuthentication yes", "UsePAM yes"),
}
PAM = "auth required pam_unix.so\naccount required pam_permit.so\nsession required pam_permit.so\n"


def write_shadow(path):
    """An /etc/shadow in which root's password is the right one."""
    hashed = subprocess.run(["openssl", "passwd", "-6", RIGHT], capture_output=True, text=True, check=True).stdout.strip()
    path.write_text(f"root:{hashed}:19000::::::\n", encoding="ascii")


@pytest.fixture(scope="module")
def password_pods(tmp_path_factory):
    """A pod that takes a password in this way: its sshd has an /etc/shadow and a PAM service of its own."""
    if os.geteuid() != 0:
        pytest.skip("sshd checks a password as root only")
    running = {}

    def get(way):
        if way not in running:
            directory = tmp_path_factory.mktemp("passwords")
            write_shadow(directory / "shadow")
            (directory / "pam").write_text(PAM, encoding="ascii")
            options = ["PermitRootLogin yes", "AuthenticationMethods any", *WAYS[way]]
            own_files = f'mount --bind {directory}/shadow /etc/shadow && mount --bind {directory}/pam /etc/pam.d/sshd && exec "$@"'
            running[way] = Pod(
                directory / "pod", *(word for option in options for word in ("--sshd", option)), prefix=["unshare", "--mount", "sh", "-c", own_files, "sh"]
            )
        return running[way]

    yield get
    for pod in running.values():
        pod.down()


@pytest.fixture(params=WAYS)
def pod(request, password_pods, podrun):
    """Eight hosts that take the password; the user has their host keys, and no key of his own."""
    pod = password_pods(request.param)
    pod.move_in(podrun)
    for key in (podrun.home / ".ssh").glob("id_*"):
        key.unlink()
    (pod.directory / "log").write_text("", encoding="ascii")
    return pod


def failed_logins(pod):
    return len(re.findall(r"^(?:Failed password|(?:error: )?PAM: Authentication failure) for ", pod.log, re.MULTILINE))


def on_terminal(podrun, pod, *words):
    """`pod` has options, or is these."""
    return podrun.terminal(*getattr(pod, "options", pod), "--progress", "never", "--color", "never", *words)


@pytest.mark.smoke
def test_a_password_is_asked_for_once_and_a_wrong_one_is_tried_on_one_host(podrun, pod):
    terminal = on_terminal(podrun, pod, "--", "echo $POD_HOST")
    terminal.read_until(b"Password for root on 8 hosts: ")
    terminal.type(b"guess\n")
    terminal.read_until(b"Password for root on 8 hosts (it was wrong): ")
    assert failed_logins(pod) == 1
    terminal.type(RIGHT.encode() + b"\n")
    ended = terminal.wait()
    assert ended.returncode == 0, ended.stdout
    for rank in EIGHT:
        assert b"%d: host%d" % (rank, rank) in ended.stdout
    assert b"sesame" not in ended.stdout and b"guess" not in ended.stdout


def test_a_password_that_stays_wrong(podrun, pod):
    started = podrun.directory / "started"
    terminal = on_terminal(podrun, pod, "-o", "NumberOfPasswordPrompts=2", "--", "touch", started)
    for time in (1, 2):
        terminal.read_until(b"Password for root on 8 hosts", count=time)
        terminal.type(b"guess\n")
    ended = terminal.wait()
    assert ended.returncode == 255 and not started.exists()
    assert b"the password was wrong" in ended.stdout and b"ssh-copy-id" in ended.stdout
    assert failed_logins(pod) == 2


def test_no_password_and_an_interrupt(podrun, pod):
    terminal = on_terminal(podrun, pod, "--", "true")
    terminal.read_until(b"Password for root on 8 hosts: ")
    terminal.type(b"\n")
    assert terminal.wait().returncode == 255
    terminal = on_terminal(podrun, pod, "--", "true")
    terminal.read_until(b"Password for root on 8 hosts: ")
    terminal.type(b"gue\x03")
    assert terminal.wait().returncode == 130
    assert failed_logins(pod) == 0


@pytest.mark.parametrize(
    "options", [["BatchMode=yes"], ["PreferredAuthentications=publickey"], ["PasswordAuthentication=no", "ChallengeResponseAuthentication=no"]], ids=str
)
def test_no_question_where_the_user_wants_none(podrun, pod, options):
    words = [word for option in options for word in ("-o", option)]
    ended = on_terminal(podrun, pod, *words, "--", "true").wait()
    assert ended.returncode == 255
    assert b"Password for" not in ended.stdout and b"ssh-copy-id HOST gives a host your key" in ended.stdout


def test_without_a_terminal_it_says_how_to_get_in(podrun, pod):
    failed = podrun(*pod.options, "--", "true")
    assert failed.returncode == 255
    assert b"ssh-copy-id HOST gives a host your key; on Google Cloud, gcloud compute tpus tpu-vm ssh NAME --worker=all does, once" in failed.stderr
    assert b"(if the user name is wrong: -l USER); podrun asks for a password only on a terminal" in failed.stderr


def test_a_password_is_in_no_command_line_environment_or_trace(podrun, pod):
    mark = podrun.directory / "mark"
    terminal = on_terminal(podrun, pod, "-vv", "--outdir", podrun.directory / "out", "--", f"env; until [ -e {mark} ]; do sleep 0.1; done")
    terminal.read_until(b"Password for root")
    terminal.type(RIGHT.encode() + b"\n")
    terminal.read_until(b": POD_HOST=", count=8)
    process = Path(f"/proc/{terminal.pid}")
    for file in ("cmdline", "environ"):
        assert b"sesame" not in (process / file).read_bytes()
    mark.touch()
    ended = terminal.wait()
    assert ended.returncode == 0 and b"sesame" not in ended.stdout
    assert not any(b"sesame" in file.read_bytes() for file in (podrun.directory / "out").iterdir())


def test_a_password_after_a_key_that_is_not_enough(podrun, tmp_path):
    """On the second of two hosts the key is the first of two factors."""
    if os.geteuid() != 0:
        pytest.skip("sshd checks a password as root only")
    write_shadow(tmp_path / "shadow")
    own = ["unshare", "--mount", "sh", "-c", f'mount --bind {tmp_path}/shadow /etc/shadow && exec "$@"', "sh"]
    options = ("--sshd", "PermitRootLogin yes", "--sshd", "PasswordAuthentication yes", "--sshd", "1:AuthenticationMethods publickey,password")
    pod = Pod(tmp_path / "pod", "--hosts", "2", *options, prefix=own)
    try:
        pod.move_in(podrun)
        terminal = on_terminal(podrun, pod, "--", "echo $POD_HOST")
        terminal.read_until(b"Password for root@127.0.0.3: ")
        terminal.type(RIGHT.encode() + b"\n")
        ended = terminal.wait()
        assert ended.returncode == 0, ended.stdout
        assert b"0: host0" in ended.stdout and b"1: host1" in ended.stdout
    finally:
        pod.down()


def test_a_password_is_not_sent_to_a_host_whose_key_has_changed(podrun, pod):
    known = podrun.home / ".ssh" / "known_hosts"
    other = shutil.which("ssh-keygen") and (pod.directory / "user" / ".ssh" / "id_ed25519.pub").read_text(encoding="ascii").split()[1]
    known.write_text(re.sub(r"(ssh-ed25519) \S+", rf"\1 {other}", known.read_text(encoding="ascii")), encoding="ascii")
    ended = on_terminal(podrun, pod, "-o", "StrictHostKeyChecking=no", "--", "true").wait()
    assert ended.returncode == 255
    assert b"Password for" not in ended.stdout


def test_a_server_that_asks_for_more_than_a_password(podrun, fault):
    """No password is asked for in vain."""
    server = fault("asks-for-a-code").address
    failed = events(podrun, "-H", server, "--", "true")
    assert failed.failures == {0: ("unreachable", "login", "permission_denied")}
    ended = podrun.terminal("-H", server, "--progress", "never", "--", "true").wait()
    assert ended.returncode == 255 and b"Password for" not in ended.stdout
    assert b'the server asks for more than a password: "Verification code: "' in ended.stdout


# Logins that need the user, but no answer of his


def test_a_server_that_asks_no_question_is_answered_at_once(podrun, fault):
    server = fault("runs-after-no-question").address
    assert by_rank(podrun.ok("-H", server, "--", "echo in")) == {0: [b"in"]}
    ended = on_terminal(podrun, ("-H", server), "--", "echo in").wait()
    assert ended.returncode == 0 and b"Password for" not in ended.stdout
    assert podrun("-H", server, "-o", "BatchMode=yes", *ONE_TRY, "--", "true").returncode == 255


TEXTS = {"shows-an-address": b"Open https://login.example/1", "waits-after-no-question": b"Pushed a login request to your phone\\x1b[1m..."}


@pytest.mark.smoke
@pytest.mark.parametrize("behaviour", TEXTS)
def test_the_text_of_a_server_that_waits_is_shown_once(podrun, fault, behaviour):
    hosts = fault(behaviour, addresses=["127.0.0.98", "127.0.0.99"]).addresses
    terminal = on_terminal(podrun, ("-H", ",".join(hosts)), "-t", "60", *ONE_TRY, "--", "true")
    terminal.read_until(b"the server waits and says: " + TEXTS[behaviour])
    terminal.type(b"\x03")
    ended = terminal.wait()
    assert ended.returncode == 130 and ended.stdout.count(TEXTS[behaviour]) == 1
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|^podrun: all is well", ended.stdout.replace(b"^C", b""), re.MULTILINE)


@pytest.mark.parametrize("behaviour", TEXTS)
def test_a_login_that_times_out_repeats_what_the_server_said(podrun, fault, behaviour):
    failed = events(podrun, "-H", fault(behaviour).address, "-t", "3", *ONE_TRY, "--", "true")
    assert failed.failures == {0: ("unreachable", "login", "timed_out")}
    check(ROWS[FAULTS[0]], " ".join(said_of_hosts(failed)[0].split()), failed.returncode, NOTHING_STARTS)
    said = TEXTS[behaviour].decode().replace("\\x1b", "\x1b")  # JSON has its own escapes
    assert re.fullmatch(r"timed out after 3 s \(the server says: .*" + re.escape(said) + r"\)", failed.exits[0]["message"], re.DOTALL)
