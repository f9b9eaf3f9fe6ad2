"""The first minutes with podrun: what a newcomer types, and the answer that ends the problem; completion; the man page."""

import json
import os
import re
import signal
import subprocess

import pytest

from support import limit, wait_until

HERE = ("-H", "local")
THREE = ("-H", "local[0-2]")


def said(podrun, *args, **options):
    """What podrun itself says on standard error, without its name."""
    return [line.removeprefix("podrun: ") for line in podrun(*args, **options).stderr.decode().splitlines() if line.startswith("podrun: ")]


def test_bare_podrun_shows_six_examples(podrun):
    screen = podrun.terminal().wait().stdout.decode().replace("\r", "")
    assert screen.count("\n  podrun") >= 6
    assert len(screen.splitlines()) <= 20


def test_help_is_as_wide_as_the_terminal(podrun):
    for columns in (60, 80, 120):
        script = ["script", "-qc", f"stty cols {columns}; {podrun.arguments([])[0]} help all", "/dev/null"]
        shown = subprocess.run(script, env=podrun.env, capture_output=True, timeout=limit(20), check=True).stdout
        longest = max(map(len, shown.decode().replace("\r", "").splitlines()))
        assert max(columns, 80) - 20 < longest <= max(columns, 80)


def test_every_page_has_examples(podrun):
    for name in ("run", "hosts", "check", "config", "ssh", "help", "completion"):
        assert b"\nExamples:\n  podrun" in podrun.ok("help", name) or name == "completion"


def test_version_names_the_commit(podrun):
    assert re.fullmatch(rb"podrun \d+\.\d+\.\d+( \([0-9a-f]{12}\))?\n", podrun.ok("version"))


@pytest.mark.smoke
@pytest.mark.parametrize(
    "words, answer",
    [
        (("ls", "-la"), '"ls" is not a podrun command; to run it on every host: podrun -- ls -la'),
        (("python", "-c", "print(1)"), '"python" is not a podrun command; to run it on every host: podrun -- python -c \'print(1)\''),
        (("cd", "/tmp"), "\"cd\" needs a shell, which one quoted text gets: podrun -- 'cd /tmp'"),
        (("-w", "host[1-8]", "uptime"), "-w runs in the same directory as here; hosts are given by -H: -H 'host[1-8]'"),
        (("-a", "uptime"), "-a: podrun runs on every host (leave it out)"),
        (("--worker=all", "--command=uptime"), "--command: the command stands after --: podrun --worker=all -- uptime"),
        (("--dedup", "log", "--", "uptime"), "--dedup log: write --dedup=log"),
        (("run", "--", "uptime"), 'podrun needs no "run": podrun -- uptime'),
        (("all", "-m", "shell", "-a", "uptime -p"), "-m shell -a is Ansible's; podrun runs shell text: podrun -- 'uptime -p'"),
        (("-h", "good.txt", "uptime"), "-h prints help; a file of hosts is read by --hostfile good.txt"),
        (("-H", "good.txt", "--", "uptime"), '--hosts: "good.txt" is a file (to read the hosts from it: --hostfile good.txt)'),
        (("setup.sh",), '"setup.sh" is a file here; to run it on every host as a script: podrun -s setup.sh'),
    ],
)
def test_habits_of_other_tools_are_answered(podrun, words, answer):
    for name in ("good.txt", "setup.sh"):
        (podrun.directory / name).write_text("a\n")
    refused = podrun(*words)
    assert (refused.returncode, refused.stdout, refused.stderr.decode()) == (2, b"", f"podrun: {answer}\n")


def test_a_port_is_no_pod(podrun):
    [line] = said(podrun, "-p", "2222", "--", "uptime")
    assert "--port 2222" in line


def test_a_script_that_is_only_here(podrun):
    (podrun.directory / "setup.sh").write_text("echo ran\n")
    for words in (("./setup.sh",), ("bash", "setup.sh"), ("./setup.sh", "a")):
        assert any("podrun -s " in line for line in said(podrun, *HERE, "--", *words))
    assert podrun.ok("-N", *HERE, "-s", "setup.sh") == b"ran\n"


def test_a_script_from_standard_input(podrun):
    script = b"#!/bin/sh\necho \"$1 $#\"\n"
    assert podrun.ok("-N", *THREE, "-s", "-", "--", "a b", "c", input=script) == 3 * b"a b 2\n"
    assert said(podrun, "-s", "-", "-H", "-", input=script)[0].startswith("standard input cannot be read twice")


def test_a_home_that_the_shell_here_has_expanded(podrun):
    [*_, line] = said(podrun, *HERE, "--", f"{podrun.home}/venv/bin/python", "-V")
    assert line.endswith("podrun -- '~/venv/bin/python -V'")


def test_a_tilde_that_no_shell_has_expanded(podrun):
    assert any(line.endswith("podrun -- 'cat ~/x'") for line in said(podrun, *HERE, "--", "cat", "~/x"))


def test_a_word_that_only_a_shell_knows_is_not_found(podrun):
    ended = podrun("-N", *HERE, "--", "cd", "/tmp")
    assert ended.returncode == 127
    assert ended.stderr.startswith(b"cd: command not found\n")


@pytest.mark.smoke
def test_standard_input_that_was_not_sent(podrun):
    note = "standard input was not sent (-I sends it to every host)"
    assert said(podrun, *HERE, "--", "cat", input=b"data\n") == [note]
    (podrun.directory / "data").write_text("data\n")
    with open(podrun.directory / "data", "rb") as data:
        run = podrun.start(*HERE, "--", "cat", stdin=data)
        assert run.wait().stderr.decode() == f"podrun: {note}\n"
    assert said(podrun, *HERE, "-I", "--", "cat", input=b"data\n") == []
    assert said(podrun, *HERE, "--", "cat", input=b"") == []


def test_sudo_drops_variables(podrun):
    sudo = podrun.directory / "sudo"
    sudo.write_text("#!/bin/sh\nexit 0\n")
    sudo.chmod(0o755)
    path = {"PATH": f"{podrun.directory}:{os.environ['PATH']}"}
    assert said(podrun, *HERE, "-e", "PATH", "--", "A=b", "sudo", "true", env=path)[-1].startswith("sudo drops ")


def test_the_first_failure_is_told_at_once_off_a_terminal(podrun):
    run = podrun.start(*THREE, "--grace", "1", "--", "[ $PODRUN_RANK != 1 ] || exit 3; exec sleep 100")
    told = b"podrun: [1] exit 3; 2 still running (-k stops the others at the first failure)\n"
    wait_until(lambda: told in run.stderr, 20, "the first failure is told")
    run.signal(2)
    run.signal(15)
    assert run.wait().stderr.count(b"still running") == 1


@pytest.mark.smoke
def test_completion_in_bash(podrun):
    directory = os.path.dirname(podrun.arguments([])[0])
    script = 'source <(podrun completion bash); COMP_WORDS=(podrun hosts --sa) COMP_CWORD=2; _podrun; echo "${COMPREPLY[*]}"'
    env = {**podrun.env, "PATH": f"{directory}:{os.environ['PATH']}"}
    assert subprocess.run(["bash", "-c", script], env=env, capture_output=True, check=True, timeout=limit(20)).stdout == b"--save\n"


def test_completion_of_a_value_in_bash(podrun):
    path = f"PATH={os.path.dirname(podrun.arguments([])[0])}:$PATH; source <(podrun completion bash);"
    complete = lambda words, at: subprocess.run(["bash", "-c", f'{path} COMP_WORDS=({words}) COMP_CWORD={at}; _podrun; echo "${{COMPREPLY[*]}}"'], env={**podrun.env, "PATH": os.environ["PATH"]}, capture_output=True, check=True, timeout=limit(20)).stdout
    assert complete("podrun --dedup = ''", 3) == b"log numbers\n"
    assert complete("podrun -p ''", 2) == b"\n"


def test_completion_in_fish(podrun):
    directory = os.path.dirname(podrun.arguments([])[0])
    env = {**podrun.env, "PATH": f"{directory}:{os.environ['PATH']}"}
    script = "podrun completion fish | source; complete -C 'podrun --label b'"
    assert subprocess.run(["fish", "-c", script], env=env, capture_output=True, check=True, cwd=podrun.directory, timeout=limit(20)).stdout == b"both\n"


def test_completion_in_zsh(podrun):
    directory = os.path.dirname(podrun.arguments([])[0])
    env = {**podrun.env, "PATH": f"{directory}:{os.environ['PATH']}"}
    script = "autoload -Uz compinit; compinit -D -u; source <(podrun completion zsh); whence -w _podrun; print $_comps[podrun]"
    shown = subprocess.run(["zsh", "-fc", script], env=env, capture_output=True, check=True, timeout=limit(20)).stdout
    assert shown == b"_podrun: function\n_podrun\n"


def test_the_man_page_is_one(podrun):
    page = podrun.ok("help", "man")
    shown = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, env={**podrun.env, "MANWIDTH": "80"}, timeout=limit(20))
    if shown.returncode == 0:
        assert shown.stderr == b"" and b"--skip-unreachable" in shown.stdout
    assert page.startswith(b".TH PODRUN 1 ")


# Waiting


@pytest.mark.smoke
def test_a_first_attempt_that_fails_is_told_off_a_terminal(podrun):
    run = podrun.start("-H", "local,127.0.0.1:129", "--retries", "50", "--", "true")
    wait_until(lambda: b"podrun: [1] 127.0.0.1: attempt 1 of 51: connecting: connection refused at port 129\n" in run.stderr, what="told")
    run.signal(signal.SIGINT)
    assert run.wait().returncode == 130
    assert run.stderr.count(b"attempt 1 of") == 1


def test_lines_that_differ_only_in_their_times_are_remarked_on(podrun):
    steps = "for i in $(seq 80); do echo \"$(date +%H:%M:%S.%N) $$ INFO step $i\"; sleep 0.1; done"
    run = podrun.start(*THREE, "-d", "--", steps)
    remark = b"podrun: the lines of the hosts differ only in timestamps, pids and the like; --dedup=log shows them once\n"
    wait_until(lambda: remark in run.stderr, what="remarked on")
    run.signal(signal.SIGTERM)
    run.wait()
    assert run.stderr.count(remark) == 1


# Hosts


def test_internal_addresses_that_are_saved_outside(podrun):
    private = b"private network that this machine does not seem to be on (--external"
    assert private in podrun("-H", "10.201.77.1,10.201.77.2", "hosts", "--save").stderr
    assert private not in podrun("-H", "127.0.0.2,10.201.77.2", "hosts", "--save", "--force").stderr


def hosts_of(podrun, *args, **options):
    return [host["host"] for host in json.loads(podrun.ok(*args, "hosts", "--json", **options))["hosts"]]


@pytest.mark.smoke
def test_hosts_from_a_command(podrun):
    assert hosts_of(podrun, "--hosts-command", "echo tpu-0; echo tpu-1") == ["tpu-0", "tpu-1"]
    assert podrun.ok("-N", "--hosts-command", "echo local", "--", "echo", "hi") == b"hi\n"
    described = json.dumps({"networkEndpoints": [{"ipAddress": "10.0.0.1", "accessConfig": {"externalIp": "34.0.0.1"}}]})
    assert hosts_of(podrun, "--hosts-command", f"echo '{described}'") == ["10.0.0.1"]
    assert hosts_of(podrun, "--hosts-command", f"echo '{described}'", "--external") == ["34.0.0.1"]
    assert hosts_of(podrun, "-H", "-", "--external", input=described.encode()) == ["34.0.0.1"]


def test_a_command_for_hosts_that_fails(podrun):
    for command, why in (("echo no such TPU >&2; exit 3", "exit 3: no such TPU"), ("true", "it printed no host"), ("kill -9 $$", "it did not end by itself")):
        [line] = said(podrun, "--hosts-command", command, "hosts")
        assert line == f"--hosts-command: {why} ({command})"
    assert said(podrun, "--hosts-command", "echo 'networkEndpoints: []'", "hosts")[0].startswith("--hosts-command: no networkEndpoints (")
    assert "both choose the hosts" in said(podrun, "--hosts-command", "echo a", "-H", "b", "hosts")[0]
    assert said(podrun, "-H", "b", "--cache", "1h", "hosts") == ["--cache: it belongs to --hosts-command (leave it out)"]


@pytest.mark.smoke
def test_the_output_of_a_command_for_hosts_is_kept(podrun):
    asked = podrun.directory / "asked"
    config = podrun.home / ".config/podrun/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"pods:\n  train:\n    hosts-command: 'echo >>{asked}; echo tpu-7'\n    cache: 10m\n")
    for _again in range(2):
        assert hosts_of(podrun, "-p", "train") == ["tpu-7"]
    assert asked.read_text() == "\n"
    [kept] = (podrun.home / ".cache/podrun").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    os.utime(kept, (0, 0))
    assert hosts_of(podrun, "-p", "train") == ["tpu-7"]
    assert asked.read_text() == "\n\n"


def test_only_a_private_file_of_ours_is_taken_for_kept_output(podrun):
    def listed():
        return hosts_of(podrun, "--hosts-command", "echo tpu-7", "--cache", "10m")

    def restore():
        assert listed() == ["tpu-7"]
        kept.write_bytes(planted)
        assert listed() == ["tpu-66"]  # what stands in the file is believed again

    def another_owner(path):
        if os.geteuid() == 0:
            os.chown(path, 12345, 12345)
        else:
            path.chmod(0o644)

    def a_link(path):
        path.rename(elsewhere / path.name)
        path.symlink_to(elsewhere / path.name)

    def a_pipe(path):
        path.unlink()
        os.mkfifo(path, 0o600)

    planted = b"echo tpu-7\0tpu-66\n"
    elsewhere = podrun.directory / "elsewhere"
    elsewhere.mkdir()
    assert listed() == ["tpu-7"]
    [kept] = (podrun.home / ".cache/podrun").iterdir()
    restore()
    for spoil in (
        lambda: kept.chmod(0o620),
        lambda: kept.chmod(0o604),
        lambda: another_owner(kept),
        lambda: a_link(kept),
        lambda: a_pipe(kept),
        lambda: kept.parent.chmod(0o755),
        lambda: kept.parent.chmod(0o770),
    ):
        spoil()
        assert listed() == ["tpu-7"]
        restore()
    a_link(kept.parent)  # a directory of somebody's choice: neither read nor written
    assert listed() == ["tpu-7"]
    assert (elsewhere / "podrun" / kept.name).read_bytes() == planted


def test_hosts_may_stand_apart_by_anything(podrun):
    assert hosts_of(podrun, "-H", "a; b\nc d,e") == ["a", "b", "c", "d", "e"]
