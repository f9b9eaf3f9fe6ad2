"""Manual, "SSH": who logs in where, with which key."""

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import suppress

import pytest

from events import events
from fault_table import NOTHING_STARTS, ONE_TRY, ROWS, check, plays, said_of_hosts
from pods import write_key
from support import SANITIZED, by_rank, peak_memory, wait_until

# The row of docs/faults.md that is played here.
FAULTS = ["it takes none of the signatures of the user's RSA key"]

every_row_is_played = plays(FAULTS)

EIGHT = range(8)
ME = getpass.getuser()


def refused(podrun, *args, **options):
    """Runs a command that nobody can log in for: its events. Nothing may have been started."""
    started = podrun.directory / "started"
    failed = events(podrun, *args, "--", "touch", started, **options)
    assert failed.returncode == 255, failed.stderr
    assert not started.exists()
    return failed


def denied(*ranks):
    return dict.fromkeys(ranks, ("unreachable", "login", "permission_denied"))


def hosts_of(podrun, *args):
    return by_rank(podrun.ok(*args, "--", "echo $POD_HOST"))


ALL = {rank: [b"host%d" % rank] for rank in EIGHT}


def use_key(podrun, pod, kind, passphrase=""):
    """The user's only key is a new one, with which one can log in."""
    shutil.rmtree(podrun.home / ".ssh")
    key = write_key(podrun.home / ".ssh" / f"id_{kind}", kind, passphrase)
    pod.allow(f"{key}.pub")
    return key


# User and port


def test_user_and_port_of_options_and_lists(podrun, pod):
    plain = ",".join(pod.hosts[:2])
    named = ",".join(f"{ME}@{address}" for address in pod.addresses[:2])
    two = {rank: ALL[rank] for rank in (0, 1)}
    assert hosts_of(podrun, "-H", plain, "--port", str(pod.port), "-l", ME) == two
    assert hosts_of(podrun, "-H", named, "--port", "1", "--user", "nobody-here") == two  # the list is nearer
    assert hosts_of(podrun, "-H", plain, "-o", f"Port={pod.port}", "-o", f"User {ME}") == two


def test_a_wrong_user(podrun, pod):
    failed = refused(podrun, "-H", f"{pod.addresses[0]},nobody-here@{pod.addresses[1]},{pod.addresses[2]}")
    assert failed.failures == denied(1)
    assert "nobody-here" in failed.exits[1]["message"] and "publickey" in failed.exits[1]["message"]


def test_a_wrong_port(podrun, pod):
    failed = refused(podrun, "-H", ",".join(pod.hosts[:2]), "--port", "1", "--retries", "0")
    assert failed.failures == dict.fromkeys((0, 1), ("unreachable", "connecting", "refused"))


def test_a_name_that_does_not_exist(podrun, pod):
    failed = refused(podrun, "-H", f"{pod.addresses[0]},no-such-host.invalid", "--retries", "0")
    assert failed.failures.keys() == {1} and failed.exits[1]["stage"] == "name_lookup"


# Keys


@pytest.mark.smoke
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_key_types(podrun, pod, kind):
    key = use_key(podrun, pod, kind)
    assert hosts_of(podrun, *pod.options) == ALL
    elsewhere = key.rename(podrun.directory / "key")
    assert hosts_of(podrun, *pod.options, "--identity", elsewhere) == ALL


def test_the_key_of_gcloud_is_found(podrun, pod):
    key = use_key(podrun, pod, "ed25519")
    key.rename(key.with_name("google_compute_engine"))
    key.with_suffix(".pub").rename(key.with_name("google_compute_engine.pub"))
    assert hosts_of(podrun, *pod.options) == ALL


def test_a_wrong_key(podrun, pod):
    wrong = write_key(podrun.directory / "wrong")
    failed = refused(podrun, *pod.options, "--identity", wrong, "-o", "IdentitiesOnly=yes")
    assert failed.failures == denied(*EIGHT)
    assert str(wrong) in failed.exits[0]["message"] and "publickey" in failed.exits[0]["message"]


def test_without_any_key(podrun, pod):
    (podrun.home / ".ssh" / "id_ed25519").unlink()
    assert refused(podrun, *pod.options).failures == denied(*EIGHT)


def test_an_identity_that_is_missing(podrun, pod):
    failed = podrun(*pod.options, "--identity", "/nowhere/key", "--", "true")
    assert failed.returncode in (2, 255)
    assert b"/nowhere/key" in failed.stderr


def test_a_key_among_many_is_used_before_the_server_has_enough(podrun, pod):
    others = [write_key(podrun.directory / f"other{number}") for number in range(8)]  # sshd takes six
    right = podrun.home / ".ssh" / "id_ed25519"
    options = [word for key in [*others[:4], right] for word in ("--identity", key)]
    assert hosts_of(podrun, *pod.options, *options) == ALL


def test_a_certificate(podrun, pods, tmp_path_factory):
    authority = tmp_path_factory.mktemp("ca") / "ca"
    write_key(authority)
    pod = pods("--hosts", "2", "--sshd", f"TrustedUserCAKeys {authority}.pub")
    pod.move_in(podrun)
    key = podrun.home / ".ssh" / "id_ed25519"
    key.unlink()
    key.with_suffix(".pub").unlink()
    write_key(key)
    assert refused(podrun, *pod.options).failures == denied(0, 1)
    subprocess.run(["ssh-keygen", "-q", "-s", authority, "-I", "test", "-n", ME, f"{key}.pub"], check=True)
    assert hosts_of(podrun, *pod.options) == {0: [b"host0"], 1: [b"host1"]}
    certificate = key.with_name("id_ed25519-cert.pub").rename(podrun.directory / "certificate")
    assert hosts_of(podrun, *pod.options, "-o", f"CertificateFile={certificate}") == {0: [b"host0"], 1: [b"host1"]}


# Agent


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_key_in_the_agent(podrun, pod, agent, kind):
    key = use_key(podrun, pod, kind)
    agent(key)
    shutil.rmtree(key.parent)
    assert hosts_of(podrun, *pod.options) == ALL


def test_the_named_key_of_an_agent_that_has_too_many(podrun, pod, agent):
    for number in range(8):
        agent(write_key(podrun.directory / f"other{number}"))
    key = use_key(podrun, pod, "ed25519", passphrase="not known here")
    agent_key = podrun.directory / "plain"
    shutil.copy(key, agent_key)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "not known here", "-N", "", "-f", agent_key], check=True)
    agent(agent_key)
    agent_key.unlink()
    assert hosts_of(podrun, *pod.options, "--identity", key) == ALL


@pytest.fixture
def agent_behind(podrun):
    """An agent that first lists a key that nobody can read, then those of the agent in $SSH_AUTH_SOCK."""
    before, path = podrun.env["SSH_AUTH_SOCK"], podrun.directory / "odd_agent"

    def message(connection):
        size = connection.recv(4, socket.MSG_WAITALL)
        return connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)

    def framed(text):
        return len(text).to_bytes(4, "big") + text

    def serve(connection):
        with connection, socket.socket(socket.AF_UNIX) as real:
            real.connect(before)
            while request := message(connection):
                real.sendall(framed(request))
                answer = message(real)
                if request[0] == 11:  # SSH_AGENTC_REQUEST_IDENTITIES
                    count = int.from_bytes(answer[1:5], "big") + 1
                    answer = answer[:1] + count.to_bytes(4, "big") + framed(b"") + framed(b"odd") + answer[5:]
                connection.sendall(framed(answer))

    def accept(listening):
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listening.accept()[:1], daemon=True).start()

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        podrun.env["SSH_AUTH_SOCK"] = str(path)
        yield
        listening.shutdown(socket.SHUT_RDWR)


def test_a_key_after_one_that_cannot_be_read(podrun, pod, agent, agent_behind):
    key = use_key(podrun, pod, "ed25519")
    agent(key)
    key.unlink()
    assert hosts_of(podrun, *pod.on(0)) == {0: ALL[0]}
    other = write_key(podrun.directory / "other")
    subprocess.run(["ssh-add", "-q", "-D"], env={**os.environ, "SSH_AUTH_SOCK": str(podrun.directory / "agent")}, check=True)
    agent(other)
    message = refused(podrun, *pod.on(0)).exits[0]["message"]
    assert "not offered: the agent's \"odd\", which podrun cannot use" in message and "RSA" not in message


def test_identities_only_leaves_the_agent_alone(podrun, pod, agent):
    key = use_key(podrun, pod, "ed25519")
    agent(key)
    wrong = write_key(podrun.directory / "wrong")
    refused(podrun, *pod.options, "--identity", wrong, "-o", "IdentitiesOnly=yes")


def test_an_agent_that_is_gone_does_no_harm(podrun, pod):
    assert by_rank(podrun.ok(*pod.options, "--", "echo $POD_HOST", env={"SSH_AUTH_SOCK": "/nowhere/agent"})) == ALL


def test_key_files_do_where_the_agent_hangs(podrun, pod, hanging_agent):
    assert by_rank(podrun.ok(*pod.options, "-t", "4", *ONE_TRY, "--", "echo $POD_HOST")) == ALL


def test_an_agent_that_hangs_is_named_where_the_key_files_do_not_do(podrun, pod, hanging_agent):
    (podrun.home / ".ssh" / "id_ed25519").unlink()
    write_key(podrun.home / ".ssh" / "id_ed25519")
    failed = refused(podrun, *pod.options, "-t", "4")
    assert f'the agent: agent "{hanging_agent}": no answer for 2 s' in failed.exits[0]["message"]


@pytest.mark.parametrize("limit", [90, 100, 120, 160])
def test_agent_logins_under_a_limit_of_open_files(podrun, pods, agent, limit):
    pod = pods("--hosts", "60")
    pod.move_in(podrun)
    agent(podrun.home / ".ssh" / "id_ed25519")
    (podrun.home / ".ssh" / "id_ed25519").unlink()
    podrun.wrapper = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"]
    assert by_rank(podrun.ok(*pod.options, *ONE_TRY, "--", "echo up")) == dict.fromkeys(range(60), [b"up"])


# Algorithms of keys


def test_an_rsa_key_for_a_server_that_takes_ed25519_only(podrun, fault, agent):
    host = ("-H", fault("takes-ed25519-only").address)
    rsa = write_key(podrun.home / ".ssh" / "id_rsa", "rsa")
    failed = events(podrun, *host, *ONE_TRY, "--", "true")
    text = said_of_hosts(failed)[0]
    check(ROWS[FAULTS[0]], text, failed.returncode, NOTHING_STARTS)
    assert f"not offered: {rsa}, since" in text
    agent(rsa)
    rsa.unlink()
    assert "not offered: the agent's " in refused(podrun, *host).exits[0]["message"]


def test_only_keys_with_accepted_algorithms_are_offered(podrun, pod):
    rsa = use_key(podrun, pod, "rsa")
    for accepted in ("ssh-ed25519", "-rsa-*"):
        failed = refused(podrun, *pod.options, "-o", f"PubkeyAcceptedAlgorithms={accepted}")
        assert f"not offered: {rsa}, by PubkeyAcceptedAlgorithms" in failed.exits[0]["message"]
    for accepted in ("rsa-sha2-256", "^rsa-sha2-256", "+ssh-rsa"):
        assert hosts_of(podrun, *pod.options, "-o", f"PubkeyAcceptedAlgorithms={accepted}") == ALL
    failed = refused(podrun, *pod.options, "-o", "RequiredRSASize=4096")
    assert "by PubkeyAcceptedAlgorithms or RequiredRSASize" in failed.exits[0]["message"]


def test_a_dsa_key_in_the_configuration_is_no_news(podrun, pod):
    try:
        dsa = write_key(podrun.home / ".ssh" / "id_dsa", "dsa")
    except subprocess.CalledProcessError:
        pytest.skip("this ssh-keygen makes no DSA keys")
    config = podrun.home / ".ssh" / "config"
    config.write_text(f"IdentityFile {dsa}\nIdentityFile ~/.ssh/id_ed25519\n")
    config.chmod(0o600)
    assert str(dsa).encode() not in podrun(*pod.options, "--", "true").stderr
    ended = podrun("-v", *pod.options, "--", "true")
    assert f'podrun: "{dsa}" is a DSA key'.encode() in ended.stderr and ended.returncode == 0


# Passphrases


@pytest.mark.parametrize("strictness, why", [("accept-new", "needs its passphrase"), ("ask", "StrictHostKeyChecking is ask")])
def test_nothing_is_asked_in_batch_mode(podrun, pod, strictness, why):
    use_key(podrun, pod, "ed25519", passphrase="correct horse")
    options = ("-o", f"StrictHostKeyChecking={strictness}", "-o", "BatchMode=yes", "--progress", "never")
    ended = podrun.terminal(*pod.options, *options, "--", "true").wait()
    assert ended.returncode == 255
    assert f"{why}, and BatchMode is yes".encode() in ended.stdout and b"?" not in ended.stdout and b"Passphrase" not in ended.stdout


def test_an_encrypted_key_without_a_terminal(podrun, pod):
    key = use_key(podrun, pod, "ed25519", passphrase="correct horse")
    message = refused(podrun, *pod.options).exits[0]["message"]
    assert str(key) in message and "passphrase" in message


def test_a_passphrase_is_asked_for_once(podrun, pod):
    use_key(podrun, pod, "ed25519", passphrase="correct horse")
    terminal = podrun.terminal(*pod.options, "--progress", "never", "--color", "never", "--", "echo $POD_HOST")
    terminal.read_until(b"Passphrase for")
    terminal.type(b"wrong\n")
    terminal.read_until(b"Passphrase for", count=2)
    terminal.type(b"correct horse\n")
    ended = terminal.wait()
    assert ended.returncode == 0, ended.stdout
    for rank in EIGHT:
        assert b"%d: host%d" % (rank, rank) in ended.stdout
    assert ended.stdout.count(b"Passphrase for") == 2
    assert b"correct horse" not in ended.stdout


def test_a_passphrase_that_stays_wrong(podrun, pod):
    use_key(podrun, pod, "ed25519", passphrase="correct horse")
    started = podrun.directory / "started"
    terminal = podrun.terminal(*pod.options, "--progress", "never", "--", "touch", started)
    for attempt in range(3):  # as many as ssh allows
        terminal.read_until(b"Passphrase for", count=attempt + 1)
        terminal.type(b"wrong\n")
    ended = terminal.wait()
    assert ended.returncode == 255
    assert not started.exists()
    assert b"needs its passphrase, which was not given (ssh-add it first)" in ended.stdout
    assert b"on a terminal" not in ended.stdout, "it is on one"


def test_an_interrupt_at_the_passphrase_cancels(podrun, pod):
    use_key(podrun, pod, "ed25519", passphrase="correct horse")
    terminal = podrun.terminal(*pod.options, "--progress", "never", "--", "true")
    terminal.read_until(b"Passphrase for")
    terminal.type(b"\x03")
    assert terminal.wait(5).returncode == 130


# Messages that no server should send in a login

OUT_OF_TURN = r"login: the server sends a message out of turn \(type {}\)"
DENIED = r"login: permission denied for \S+ \(offered: .+; the server {}\)"
# The outcome: with the key of a file, which is not offered first, and with one of the agent.
REPLIES = {
    "succeeds-before-the-service": OUT_OF_TURN.format(52),
    "succeeds-at-an-offer": (r"\w.*: closed by the server\b.*", OUT_OF_TURN.format(52)),
    "takes-another-key": OUT_OF_TURN.format(60),
    "lists-no-methods": DENIED.format("accepts nothing podrun knows"),
    "lists-odd-methods": DENIED.format("accepts publickey"),
    "lists-nothing": ("login: invalid SSH_MSG_USERAUTH_FAILURE message", DENIED.format("accepts nothing podrun knows")),
    "wants-more-than-a-key": DENIED.format("wants more: publickey, keyboard-interactive"),
    "says-too-much": "login: the server does not speak SSH",
    "leaves-with-escapes": "login: closed by the server: \x1b\\]0;owned\x07\x1b\\[31mred\ufffd1m",
}


NO_PASSWORD = ("-o", "PasswordAuthentication=no", "-o", "KbdInteractiveAuthentication=no")


@pytest.mark.smoke
@pytest.mark.parametrize("with_agent", [False, True], ids=["file", "agent"])
def test_odd_replies_to_a_login(podrun, fault, agent, with_agent):
    key = write_key(podrun.home / ".ssh" / "id_ed25519")
    authorized = shutil.copy(f"{key}.pub", podrun.directory / "authorized_keys")
    behaviours = ",".join([*REPLIES, "runs-behind-a-banner"])
    hosts = fault("--authorized-keys", authorized, behaviours, addresses=[f"127.0.0.{100 + rank}" for rank in range(len(REPLIES) + 1)]).addresses
    if with_agent:
        agent(key)
        shutil.rmtree(key.parent)
    words = ("-H", ",".join(hosts), "-t", "20", *ONE_TRY, "--skip-unreachable", "--", "echo in")
    ended = events(podrun, *words)
    said = said_of_hosts(ended)
    for rank, expected in enumerate(REPLIES.values()):
        expected = expected if isinstance(expected, str) else expected[with_agent]
        assert re.fullmatch("unreachable: " + expected, said.pop(rank)), ended.exits[rank]
    assert not said and ended.returncode == 255
    assert ended.shown == {len(REPLIES): [b"in"]}
    # No server acts on the terminal, or makes a line of its own that looks like podrun's.
    shown = podrun.terminal("--progress", "never", "--color", "never", *NO_PASSWORD, *words).wait().stdout
    assert b"owned" in shown
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|^podrun: all is well", shown, re.MULTILINE)


@pytest.fixture
def flooded(podrun, fault):
    """A proxy in front of a server that answers a login with banners without end."""
    write_key(podrun.home / ".ssh" / "id_ed25519")
    return fault("--to", fault("floods-with-banners").address, "proxy")


def test_banners_without_end_take_no_memory(podrun, flooded):
    run = podrun.start("-H", flooded.address, "-t", "60", *ONE_TRY, "--", "true")
    wait_until(lambda: sum(connection["down"] for connection in flooded.connections) > 30e6, what="30 MB of banners")
    assert SANITIZED or peak_memory(run.pid) < 30e6
    run.signal(signal.SIGINT)
    assert run.wait(5).returncode == 130


@pytest.mark.full
def test_banners_without_end_are_waited_for_no_longer(podrun, flooded):
    failed = events(podrun, "-H", flooded.address, "-t", "3", *ONE_TRY, "--", "true")
    assert failed.failures == {0: ("unreachable", "login", "timed_out")}
