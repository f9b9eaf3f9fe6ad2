"""Manual, "Configuration": what config.yaml says, who wins, `podrun config` and `podrun ssh`."""

import json
import re
from pathlib import Path

import pytest

from support import by_rank

ROOT = Path(__file__).parents[2]
VIA = "env REACHED={host}"  # `env … /bin/sh`: any name is a host here


def configure(podrun, text):
    """Writes the configuration of the test's own $HOME."""
    file = podrun.home / ".config" / "podrun" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)
    return file


def refused(podrun, *args, **options):
    """The one line by which it is refused, without "podrun: "."""
    failed = podrun(*args, **options)
    assert failed.returncode == 2, failed
    assert [json.loads(line)["event"] for line in failed.stdout.splitlines()] == ["error"] * ("--json" in args)
    assert failed.stderr.count(b"\n") == 1
    return failed.stderr.decode().removeprefix("podrun: ").rstrip("\n")


def settings(podrun, *args):
    """What `podrun config` shows, as {key or value of a list: where it came from}."""
    shown = {}
    for line in podrun.ok("config", *args).decode().splitlines():
        if match := re.fullmatch(r"(\S.*?|  - .*?) +# (.*)", line):
            shown[match[1].strip()] = match[2]
    return shown


def test_json_of_the_configuration(podrun):
    configure(podrun, LAYERS + "    env: {TOKEN: geheim}\n")
    shown = json.loads(podrun.ok("config", "--json", "-p", "train", "-e", "OTHER=geheim"))
    assert shown["found"] and shown["file"].endswith("config.yaml") and [pod["name"] for pod in shown["pods"]] == ["train"]
    options = shown["options"]
    assert options["grace"] == {"value": "2s", "from": "pods.train (config.yaml:10)"}
    assert options["login"]["value"] is True and options["sudo"] == {"value": False, "from": "default"}
    assert set(options["env"]["value"]) == {"TOKEN", "OTHER"} and options["fanout"]["value"] == "128"


def hosts_of(podrun, *args):
    """The hosts that took part, as {rank: name}."""
    shown = by_rank(podrun.ok("--via", VIA, *args, "--", "echo $PODRUN_HOST"))
    return {rank: lines[0].decode() for rank, lines in sorted(shown.items())}


# Precedence

LAYERS = """\
defaults:
  grace: 1s
  retries: 5
  login: true
  label: host
  chdir: /tmp
pods:
  train:
    hosts: a,b
    grace: 2s
    cwd: true
"""


@pytest.mark.smoke
@pytest.mark.parametrize(
    "args, expected",
    [
        ([], {"grace: 1s": "config.yaml:2", "retries: 5": "config.yaml:3", "fanout: 128": "default", "sudo: false": "default"}),
        (["-p", "train"], {"grace: 2s": "pods.train (config.yaml:10)", "retries: 5": "config.yaml:3", "pod: train": "command line"}),
        (["-p", "train", "--grace", "3s"], {"grace: 3s": "command line", "retries: 5": "config.yaml:3"}),
        (["--no-login"], {"login: false": "command line"}),
        (["-N"], {"no-label: true": "command line", "label: rank": None, "label: host": None}),
        (["--label", "both"], {"label: both": "command line"}),
        (["-p", "train"], {"cwd: true": "pods.train (config.yaml:11)"}),
        (["-p", "train", "--chdir", "/"], {"chdir: /": "command line", "cwd: true": None, "cwd: false": None}),
        (["--no-cwd"], {"cwd: false": "command line", "chdir: /tmp": None}),
    ],
    ids=str,
)
def test_command_line_over_pod_over_defaults(podrun, args, expected):
    configure(podrun, LAYERS)
    shown = settings(podrun, *args)
    assert {key: shown.get(key) for key in expected} == expected


def test_the_defaults_have_their_effect(podrun):
    configure(podrun, "defaults:\n  label: host\n  chdir: /usr\n  env: {GREETING: hello}\n")
    assert podrun.ok("-H", "local", "--", 'echo "$GREETING $PWD"') == b"local: hello /usr\n"
    assert podrun.ok("-N", "-H", "local", "--chdir", "/tmp", "--", "pwd") == b"/tmp\n"


def test_the_order_of_the_environment(podrun):
    (podrun.directory / "cli.env").write_text("C=file\nD=file\nE=file\n")
    file = configure(
        podrun,
        "defaults:\n  env: {A: default, B: default, C: default, D: default, E: default}\n"
        "pods:\n  p:\n    hosts: local\n    env-file: pod.env\n    env: {B: pod, C: pod, D: pod, E: pod}\n",
    )
    (file.parent / "pod.env").write_text("A=podfile\nB=podfile\n")
    shown = podrun.ok("-N", "-p", "p", "--env-file", "cli.env", "-e", "D=option", "-e", "E=option", "--", "E=word", "sh", "-c", "echo $A $B $C $D $E")
    assert shown == b"podfile pod file option word\n"


def test_values_of_variables_are_not_shown(podrun):
    configure(podrun, "pods:\n  p:\n    hosts: local\n    env: {TOKEN: geheim, FROM_HERE: }\n")
    for args in (["config", "-p", "p", "-e", "OTHER=geheim"], ["-p", "p", "--dry-run", "--", "true"]):
        shown = podrun.ok(*args, env={"FROM_HERE": "geheim"})
        assert b"TOKEN" in shown and b"FROM_HERE" in shown and b"geheim" not in shown
    assert podrun.ok("-N", "-p", "p", "--", "echo $TOKEN $FROM_HERE", env={"FROM_HERE": "x"}) == b"geheim x\n"
    assert refused(podrun, "-p", "p", "--", "true").startswith('~/.config/podrun/config.yaml:4: env: "FROM_HERE" is not set here')


# Which hosts

PODS = """\
defaults: {pod: train}
pods:
  train: {hosts: 'tpu-[0-2]', user: ann}
  slices:
    hosts: ['a[0-1]', b]
  file: {hostfile: lab.txt}
  list: {hosts: 'x, ^lab.txt,y'}
"""


def test_pods_name_hosts(podrun):
    file = configure(podrun, PODS)
    (file.parent / "lab.txt").write_text("lab1\nlab2\n")
    assert hosts_of(podrun) == {0: "tpu-0", 1: "tpu-1", 2: "tpu-2"}
    assert hosts_of(podrun, "--pod", "slices") == {0: "a0", 1: "a1", 2: "b"}
    assert hosts_of(podrun, "-p", "slices", "-x", "a1") == {0: "a0", 2: "b"}
    assert hosts_of(podrun, "-p", "file") == {0: "lab1", 1: "lab2"}
    assert hosts_of(podrun, "-p", "list") == {0: "x", 1: "lab1", 2: "lab2", 3: "y"}
    assert b"config.yaml:5" in podrun.ok("hosts", "-p", "slices")


def test_an_explicit_choice_beats_the_default_pod_and_all_that_belongs_to_it(podrun):
    configure(podrun, PODS)
    assert hosts_of(podrun, "-H", "q") == {0: "q"}
    assert "user: ann" in settings(podrun)
    assert not any("ann" in key for key in settings(podrun, "-H", "q"))


def test_a_pod_of_the_metadata_server_asks_nobody_else(podrun):
    (podrun.home / "podips.txt").write_text("a\n")
    configure(podrun, "pods:\n  here:\n    metadata: true\n")
    line = refused(podrun, "-p", "here", "--via", VIA, "--", "true", env={"GCE_METADATA_HOST": "127.0.0.1:129"})
    assert "metadata" in line and "SLURM" not in line


def test_what_is_wrong_with_the_choice_of_a_pod(podrun):
    assert refused(podrun, "-p", "train", "--", "true").startswith('--pod: no pod "train": ~/.config/podrun/config.yaml is not there')
    configure(podrun, PODS)
    assert refused(podrun, "-p", "trian", "--", "true") == (
        '--pod: no pod "trian" in ~/.config/podrun/config.yaml (did you mean train? it has train, slices, file, list)'
    )
    assert "give one" in refused(podrun, "-p", "train", "-H", "a", "--", "true")
    assert "given twice" in refused(podrun, "-p", "train", "-p", "file", "--", "true")


# Errors in the file: (text, the message after the path)

WRONG = [
    ("defaults:\n  grace: x\n", '2: grace: bad duration "x" (expected '),
    ("defaults:\n  fan-out: 3\n", '2: unknown key "fan-out" (did you mean fanout?)'),
    ("pods:\n  p:\n    host: a\n", '3: unknown key "host" (did you mean hosts?)'),
    ("defaults:\n  no-login: true\n", '2: unknown key "no-login" (write login: false)'),
    ("defaults:\n  dry-run: true\n", "2: dry-run: it belongs to one run"),
    ("defaults:\n  ranks: 0-3\n", "2: ranks: it belongs to one run"),
    ("defaults:\n  help: true\n", '2: unknown key "help"'),
    ("defaults:\n  login: perhaps\n", '2: login: bad value "perhaps" (expected true or false)'),
    ("defaults:\n  login:\n", "2: login: its value is missing"),
    ("defaults:\n  retries: [1, 2]\n", "2: retries: a list (expected one value)"),
    ("defaults:\n  user: {a: b}\n", "2: user: a map (expected one value)"),
    ("defaults:\n  metadata: true\n", "2: metadata: it belongs to a pod"),
    ("defaults:\n  hosts: a\n  pod: p\n", "3: pod: line 2 has hosts already (give one of them)"),
    ("defaults:\n  hosts: 'a[0'\n", "2: hosts: "),
    ("defaults:\n  hosts: []\n", "2: hosts: its value is missing"),
    ("defaults:\n  hosts: '-'\n", '2: hosts: "-" is standard input (give it on the command line)'),
    ("defaults:\n  exclude-hosts: nobody\n", '2: exclude-hosts: "nobody" matches no host'),
    ("defaults:\n  via: env\n", '2: via: "env" '),
    ("defaults:\n  ssh-option: [StrictHostKeyCheking=yes]\n", "2: ssh-option: unknown keyword "),
    ("defaults:\n  pod: nobody\n", '2: pod: no pod "nobody" in '),
    ("defaults:\n  pod: p\npods:\n  p: {user: a}\n", '4: pod "p" has no hosts'),
    ("defaults:\n  pod: p\npods:\n  p: {pod: p}\n", "4: pod: a pod has no pod"),
    ("defaults:\n  pod: p\npods:\n  p: {metadata: maybe}\n", '4: metadata: bad value "maybe"'),
    ("defaults:\n  env: {'A B': x}\n", "2: env: bad name "),
    ("pods:\n  p:\n    env:\n      1A: secret\n", '4: env: bad name "1A" (expected '),
    ("defaults:\n  grace: 1\n  grace: 2\n", '3: "grace" is there twice'),
    ("defaults:\n\tgrace: 1\n", "2: "),
    ("defaults: [\n", "2: not YAML: "),
]


@pytest.mark.parametrize("text, line", WRONG, ids=[line for _text, line in WRONG])
def test_what_is_wrong_is_named_with_its_line(podrun, text, line):
    configure(podrun, text)
    hosts = () if re.search(" hosts|pod:", text) else ("-H", "local")
    assert refused(podrun, *hosts, "--", "true").startswith("~/.config/podrun/config.yaml:" + line)


def test_help_and_version_need_no_configuration(podrun):
    assert b"\nExamples:" in podrun.terminal().wait().stdout
    assert b"\nCommon options:" in podrun.ok("--help")
    configure(podrun, "nonsense\n")
    assert b"--pod" in podrun.ok("--help")
    podrun.ok("--version")


def test_a_file_that_others_may_write_is_refused(podrun):
    file = configure(podrun, "defaults: {grace: 1s}\n")
    file.chmod(0o666)
    assert refused(podrun, "-H", "local", "--", "true").endswith(f"(chmod go-w {file})")
    file.chmod(0o644)
    podrun.ok("-H", "local", "--", "true")


def test_a_file_that_cannot_be_reached_is_an_error(podrun):
    file = configure(podrun, "defaults: {grace: 1s}\n")
    file.unlink()
    file.symlink_to(file.name)
    assert refused(podrun, "-H", "local", "--", "true").startswith('cannot read "~/.config/podrun/config.yaml": Too many levels')


def test_the_configuration_home(podrun):
    file = configure(podrun, "defaults: {grace: 1s}\n")
    assert settings(podrun)["grace: 1s"] == "config.yaml:1"
    shown = podrun.ok("config", env={"XDG_CONFIG_HOME": str(podrun.directory)}).decode()
    assert shown.startswith(f"# no {podrun.directory}/podrun/config.yaml: ")
    assert podrun.ok("config").decode().startswith("# ~/.config/podrun/config.yaml\n")
    file.unlink()
    assert podrun.ok("config").decode().startswith("# no ~/.config/podrun/config.yaml: ")


def test_what_podrun_config_shows_can_stand_in_the_file(podrun):
    args = ["--via", VIA, "-H", "tpu-[0-1],^all hosts.txt", "-H", "b", "-o", "Port=22", "-o", "User=a", "--label", "none", "-vv", "--dedup=log", "--user", "~"]
    shown = podrun.ok("config", *args).decode()
    configure(podrun, "defaults:\n" + "".join(f"  {line}\n" for line in shown.splitlines()))
    values = lambda text: [line.partition("  #")[0].rstrip() for line in text.splitlines()[1:]]
    assert values(podrun.ok("config").decode()) == values(shown)


def test_the_example_is_right(podrun):
    example = (ROOT / "examples" / "config.yaml").read_text()
    file = configure(podrun, example)
    (file.parent / "lab.txt").write_text("lab1\n")
    pods = re.findall(r"^  ([\w-]+):$", example.partition("\npods:")[2], re.M)
    assert len(pods) == 5
    for pod in pods:
        assert f"pod: {pod}" in settings(podrun, "-p", pod)
    assert settings(podrun)["hosts: tpu-[0-15]"] == "pods.train (config.yaml:12)"
    assert settings(podrun, "-p", "here")["metadata: true"] == "pods.here (config.yaml:30)"
    assert "- slice1-[0-3]" in settings(podrun, "-p", "two-slices")
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert example.partition("\n")[2].strip() in page


# podrun ssh


@pytest.fixture
def ssh(podrun):
    """A stand-in for ssh that prints its words and which signals it ignores."""
    program = podrun.directory / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" 'for word; do echo "<$word>"; done\n' "grep SigIgn /proc/self/status\nexit 7\n")
    program.chmod(0o755)
    podrun.env["PATH"] = f"{program.parent}:{podrun.env['PATH']}"
    return program


def words_of(completed):
    assert completed.returncode == 7, completed
    return re.findall(r"<(.*)>", completed.stdout.decode())


@pytest.mark.smoke
def test_ssh_is_told_what_podrun_knows(podrun, ssh):
    configure(
        podrun,
        "pods:\n  p:\n    hosts: ['a', 'bob@b:2222', '2001:db8::1']\n    user: ann\n    port: 22022\n    identity: ~/key\n    jump: bastion\n"
        "    ssh-option: {ServerAliveInterval: 5, ConnectTimeout: 9}\n",
    )
    key = str(podrun.home / "key")
    options = ["-o", "ConnectTimeout=3", "-o", "ProxyJump=bastion", "-o", "ServerAliveInterval=5", "-o", "ConnectTimeout=9"]
    assert words_of(podrun("-p", "p", "-o", "ConnectTimeout=3", "ssh", "0")) == [*options, "-l", "ann", "-p", "22022", "-i", key, "a"]
    assert words_of(podrun("ssh", "-p", "p", "-o", "ConnectTimeout=3", "b", "uptime")) == [*options, "-l", "bob", "-p", "2222", "-i", key, "b", "uptime"]
    assert words_of(podrun("ssh", "-p", "p", "2"))[-1] == "2001:db8::1"
    assert words_of(podrun("-H", "a", "-F", "none", "ssh", "0")) == ["-F", "none", "a"]


def test_what_stands_behind_the_rank_is_for_ssh(podrun, ssh):
    for words in (["-L", "8080:localhost:80"], ["nvidia-smi", "-L"], ["-v", "--", "ls", "-l"], ["--help"], ["ssh", "1", "-V"], ["", "a  b"]):
        assert words_of(podrun("ssh", "-H", "a,b", "1", *words)) == ["b", *words]


def test_ssh_tries_the_key_of_gcloud(podrun, ssh):
    keys = podrun.home / ".ssh"
    keys.mkdir()
    for name in ("config", "id_ed25519", "id_rsa"):
        (keys / name).touch()
    assert words_of(podrun("-H", "a", "ssh", "0")) == ["a"]
    (keys / "google_compute_engine").touch()
    defaults = [word for name in ("id_rsa", "id_ed25519", "google_compute_engine") for word in ("-i", str(keys / name))]
    assert words_of(podrun("-H", "a", "-o", "Compression=yes", "ssh", "0")) == ["-o", "Compression=yes", *defaults, "a"]
    assert words_of(podrun("-H", "a", "--identity", "/k", "ssh", "0")) == ["-i", "/k", "a"]
    assert words_of(podrun("-H", "a", "-o", "IdentityFile=/k", "ssh", "0")) == ["-o", "IdentityFile=/k", "a"]
    (keys / "config").write_text("Host a\n  IdentityFile /k\n")
    assert words_of(podrun("-H", "a", "ssh", "0")) == ["a"]
    (keys / "config").write_text("Port x\n")
    assert words_of(podrun("-H", "a", "ssh", "0")) == ["a"], "ssh says what is wrong"


def test_ssh_is_told_the_connect_timeout_of_the_command_line(podrun, ssh):
    assert words_of(podrun("-H", "a", "-t", "2m", "-o", "ConnectTimeout=3", "ssh", "0")) == ["-o", "ConnectTimeout=120", "-o", "ConnectTimeout=3", "a"]
    configure(podrun, "defaults:\n  connect-timeout: 5s\n  login: true\n")
    assert words_of(podrun("-H", "a", "ssh", "0")) == ["a"]


SENSELESS = "-e=A=b -w --chdir=/ --sudo --login -s=x -I -c -d -0 -b --json --outdir=x --serial=1 -u=1 -k --retries=1".split()


@pytest.mark.parametrize("option", SENSELESS)
def test_ssh_refuses_what_it_cannot_use(podrun, ssh, option):
    name, _, value = option.partition("=")
    assert re.match(r"ssh: --[\w-]+ has no meaning here \(leave it out\)", refused(podrun, "-H", "a", *[name, value][: 1 + bool(value)], "ssh", "0"))


def test_ssh_starts_with_default_signals(podrun, ssh):
    ignored = re.search(rb"SigIgn:\s*(\w+)", podrun("ssh", "-H", "a", "0").stdout)[1]
    assert int(ignored, 16) & (1 << 12 | 1 << 24) == 0  # PIPE, XFSZ


def test_ssh_shows_what_it_would_start(podrun, ssh):
    assert podrun.ok("ssh", "--dry-run", "-H", "a", "0", "echo", "a  b") == b"ssh a echo 'a  b'\n"
    assert b"podrun: ssh a\n" == podrun("-v", "-H", "a", "ssh", "0").stderr


def test_what_ssh_cannot_do(podrun, ssh):
    assert refused(podrun, "-H", "a", "ssh").startswith("ssh: which host?")
    assert refused(podrun, "-H", "a", "ssh", "--", "0").startswith("ssh: which host?")
    assert refused(podrun, "-H", "a,b", "ssh", "7").startswith('ssh: no host has this worker number or name: "7" (there are 0,1')
    assert "this machine" in refused(podrun, "-H", "a,local", "ssh", "1")
    assert refused(podrun, "--via", "kubectl exec -i {host} --", "-H", "a", "ssh", "0").endswith("(start it yourself: kubectl exec -i a -- /bin/sh)")
    assert "standard input" in refused(podrun, "-H", "-", "ssh", "0", input=b"a\n")
    assert "several" in refused(podrun, "-H", "a,a", "--allow-repeats", "ssh", "a")


def test_without_ssh(podrun):
    failed = podrun("-H", "a", "ssh", "0", env={"PATH": "/nowhere"})
    assert failed.returncode == 127
    assert failed.stderr.startswith(b"podrun: ssh: cannot start it: ")


def test_ssh_to_a_real_host(podrun, pod):
    configure(
        podrun,
        f"pods:\n  real:\n    hostfile: {pod.list}\n    identity: ~/.ssh/id_ed25519\n"
        f"    ssh-option:\n      UserKnownHostsFile: {podrun.home}/.ssh/known_hosts\n"
        "      StrictHostKeyChecking: yes\n      BatchMode: yes\n      IdentityAgent: none\n",
    )
    done = podrun("ssh", "-p", "real", "1", "echo $POD_HOST; exit 3")
    assert (done.returncode, done.stdout) == (3, b"host1\n"), done
    assert podrun("ssh", "-p", "real", pod.hosts[2], "-T", "cat", input=b"text\n").stdout == b"text\n"
    assert podrun.ok("-p", "real", "--workers", "1", "-N", "--", "echo $POD_HOST") == b"host1\n"
