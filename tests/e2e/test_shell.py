"""podrun shell: each line is a run on real hosts, which are ready before the line is typed."""

import base64
import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time

import pytest

from support import wait_until, without_options

HOSTS = 64 if os.environ.get("PODRUN_FULL") else 2  # whose round trips are counted
PROMPT = rb"podrun [^\n>]*> $"
MARKS = re.compile(r"\x1b\[\?2004[hl]")  # of pastes
PLAIN = ("--color", "never", "--progress", "never")


def shell(podrun, *options, lines, status=0, **more):
    """Runs these lines of standard input; returns what the hosts have printed, sorted."""
    ended = podrun(*options, "shell", input="".join(line + "\n" for line in lines).encode(), **more)
    assert ended.returncode == status, ended
    return sorted(ended.stdout.decode().splitlines())


class Prompt:
    """podrun shell on a terminal."""

    def __init__(self, podrun, *options, **more):
        self.terminal = podrun.terminal(*PLAIN, *options, "shell", **more)
        self.shown = self.read_prompt(0)

    def read_prompt(self, begin):
        self.shown = self.terminal.read_until_match(PROMPT, begin).decode()
        return self.shown

    @property
    def prompt(self):
        """The last one."""
        return self.shown[self.shown.rindex("podrun ") :]

    def line(self, text):
        """Types a line; returns the lines that are shown after it, sorted, up to the next prompt."""
        begin = len(self.terminal.output)
        self.terminal.type(text.encode() + b"\n")
        shown = self.terminal.read_until_match(rb"\n[^\n]*" + PROMPT, begin).decode()
        self.shown = shown
        return sorted(line.strip("\r") for line in MARKS.sub("", shown).split("\n")[1:-1])

    def further(self, *lines):
        """Types lines, each of which is followed by the prompt for further lines."""
        for text in lines:
            begin = len(self.terminal.output)
            self.terminal.type(text.encode() + b"\n")
            self.terminal.read_until_match(rb"\n[^\n]*> $", begin)
            assert not re.search(PROMPT, self.terminal.output[begin:])

    def paste(self, text):
        """As a terminal does that marks pastes, then Enter."""
        begin = len(self.terminal.output)
        self.terminal.type(b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")
        self.terminal.read_until(text.rpartition("\n")[2].encode())
        self.terminal.type(b"\n")
        shown = self.terminal.read_until_match(rb"\n[^\n]*" + PROMPT, begin).decode()
        self.shown = shown
        return [line.strip("\r") for line in MARKS.sub("", shown).split("\n")]

    def press(self, key):
        """Returns what is shown up to the next prompt."""
        begin = len(self.terminal.output)
        self.terminal.type(key)
        return self.read_prompt(begin)

    def leave(self, status=0, keys=b"\x04"):
        self.terminal.type(keys)
        ended = self.terminal.wait()
        assert ended.returncode == status, ended
        assert self.terminal.settings_at_end == self.terminal.settings_at_start
        return ended


def is_clean(pod, rank):
    """Whether an isolated host has neither processes nor files of podrun."""
    return not pod.processes(rank) and b"podrun." not in pod.ssh(rank, "ls -A /tmp /dev/shm ~").stdout


# What is kept


@pytest.mark.smoke
def test_keeps_the_directory_and_variables_of_each_host(podrun, isolated):
    lines = [
        'cd /usr; export A="a  b" B=$PODRUN_RANK; PLAIN=1$B',
        "[ $PODRUN_RANK = 0 ] || cd lib",
        'echo "$PWD $A $B $PLAIN" $(env | grep -c PLAIN)',
        "unset A; cd -",
        'echo "${A-gone} $PWD"',
    ]
    expected = ["0: /root", "0: /usr a  b 0 10 0", "0: gone /root", "1: /usr", "1: /usr/lib a  b 1 11 0", "1: gone /usr"]
    assert shell(podrun, *isolated.options, lines=lines) == expected


def test_keeps_them_after_a_line_that_fails(podrun, isolated):
    lines = ["cd /usr; exit 3", "cd lib; false", "export A=1; set -eu; false", "pwd; echo $A"]
    assert shell(podrun, *isolated.on(0), "--no-label", lines=lines) == ["/usr/lib", "1"]


def test_takes_quotes_and_every_character(podrun, isolated):
    lines = ["""printf '%s\\n' 'a'"'"'b' "c\\"d" \\$HOME '`x`' "*" '~' !x %s ü""", "x=1; (exit 2) || { echo $x; }", "echo a | tr a b"]
    expected = ["a'b", 'c"d', "$HOME", "`x`", "*", "~", "!x", "%s", "ü", "1", "b"]
    assert shell(podrun, *isolated.on(0), "--no-label", lines=lines) == sorted(expected)


@pytest.mark.parametrize("users_shell", ["bash", "dash", "zsh", "fish", "tcsh"])
def test_works_with_the_users_shell(podrun, via, users_shell):
    env = {"SHELL": shutil.which(users_shell) or pytest.skip(f"{users_shell} is not installed")}
    ran_by = users_shell if users_shell in ("bash", "dash", "zsh") else "bash"
    lines = ["cd /var; cd /usr; export A='x y' UID", 'echo "$PWD $A $0 ${ZSH_VERSION+zsh} ${BASH_VERSION+bash}"; cd - >/dev/null; pwd; exit 7']
    expected = sorted([f"/usr x y {ran_by} " + {"zsh": "zsh ", "bash": " bash", "dash": " "}[ran_by], "/var"])
    ended = podrun(*via, "-H", "a", "--no-label", "shell", input="".join(line + "\n" for line in lines).encode(), env=env)
    assert (ended.returncode, sorted(ended.stdout.decode().splitlines()), ended.stderr) == (7, expected, b"podrun: exit 7: [0] a\n")


def test_keeps_what_was_where_too_much_is_exported(podrun, isolated):
    lines = ["cd /usr", "for i in 1 2 3 4 5 6 7 8 9 0; do export V$i=$(printf %0130000d 0); done; export V=$V1$V2$V3$V4$V5", "pwd; command -v env; echo $HOME"]
    ended = podrun(*isolated.on(0), "--no-label", "shell", input="".join(line + "\n" for line in lines).encode())
    assert ended.stdout.splitlines() == [b"/usr", b"/usr/bin/env", b"/root"]
    assert b"are those from before this line" in ended.stderr


def test_begins_as_the_options_say(podrun, isolated):
    lines = ["pwd; echo $A", "export A=2; cd /", "pwd; echo $A"]
    assert shell(podrun, *isolated.on(0), "--no-label", "-e", "A=1", "--chdir", "/usr", lines=lines) == ["/", "/usr", "1", "2"]


def test_checks_variables_as_a_run_does(podrun, isolated):
    for variable in ("PODRUN_MARK=x", "podrun_typed=x", "A=" + "x" * 110_000):
        ended = podrun(*isolated.on(0), "-e", variable, "shell", input=b"echo on\n")
        assert (ended.returncode, ended.stdout) == (2, b""), ended


def test_says_when_a_line_left_nothing_to_keep(podrun, isolated):
    ended = podrun(*isolated.on(0), "shell", input=b"cd /usr\ncd /; exec true\npwd\n")
    assert ended.stdout == b"0: /usr\n"
    assert b"podrun: [0] the shell was killed: directory and variables are those from before this line" in ended.stderr


def test_begins_at_home_where_the_directory_is_gone(podrun, isolated):
    ended = podrun(*isolated.on(0), "--no-label", "shell", input=b"mkdir /tmp/gone; cd /tmp/gone; rmdir /tmp/gone\npwd\n")
    assert ended.stdout == b"/root\n"
    assert b"podrun: no way into /tmp/gone: this line runs in /root\n" in ended.stderr


# Commands of several lines


@pytest.mark.smoke
def test_reads_commands_of_several_lines(podrun, isolated):
    lines = ["for i in 1 2; do", "  # a comment", "", "  echo $i", "done", "cat <<'E' &&", "a $i", "E", "  echo 'b", "c'", "echo d \\", "  e"]
    ended = podrun(*isolated.on(0), "--no-label", "shell", input="\n".join(lines).encode())
    assert (ended.returncode, ended.stdout) == (0, b"1\n2\na $i\nb\nc\nd e\n"), ended


def test_runs_nothing_of_a_command_that_is_cut(podrun, isolated):
    ended = podrun(*isolated.on(0), "shell", input=b"echo on\nif true; then\n  echo cut\n")
    assert (ended.returncode, ended.stdout) == (2, b"0: on\n"), ended
    assert b"podrun: the input ended within a command: nothing of it has run\n" in ended.stderr


def test_a_script_ends_at_a_syntax_error(podrun, isolated):
    ended = podrun(*isolated.options, "shell", input=b"cd /usr\nif true\n  echo body\nfi\necho after\n")
    assert (ended.returncode, ended.stdout) == (2, b""), ended
    assert b"syntax error" in ended.stderr
    assert ended.stderr.endswith(b"podrun: the shell ends here, after a syntax error\n")


def test_works_without_bash_here(podrun, isolated, directory):
    tools = directory / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("dash"))
    ended = podrun(*isolated.on(0), "--no-label", "shell", input=b"cat <<E\na\nE\nif true\nthen echo 'b\nc'; fi\n", env={"PATH": str(tools)})
    assert (ended.returncode, ended.stdout) == (0, b"a\nb\nc\n"), ended


def test_asks_for_further_lines(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.further("for i in 1 2", "do echo $i")
    assert prompt.line("done") == ["0: 1", "0: 2"]
    prompt.leave()
    prompt = Prompt(podrun, *isolated.on(0))
    shown = prompt.line("\x1b[A")
    assert shown[:2] == ["0: 1", "0: 2"], shown
    prompt.leave()


@pytest.mark.parametrize(
    "lines, key, says",
    [
        (("touch /tmp/begun && cat <<E", "text"), b"\x03", "^C"),
        (("if touch /tmp/begun", "then"), b"\x04", "the input ended within a command: nothing of it has run"),
    ],
    ids=["ctrl-c", "ctrl-d"],
)
def test_nothing_runs_of_a_command_that_is_not_completed(podrun, isolated, lines, key, says):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.further(*lines)
    assert says in prompt.press(key)
    assert prompt.line("ls /tmp/begun 2>&1 | grep -c No") == ["0: 1"]
    prompt.leave()


# Pastes


def test_a_paste_is_one_command(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    shown = prompt.paste("cd /usr\nfor i in 1 2; do\n\techo n$i\ndone\npwd")
    assert [line for line in shown if line.startswith("0: ")] == ["0: n1", "0: n2", "0: /usr"]
    assert prompt.prompt == "podrun [0] /usr> "
    prompt.leave()


def test_a_paste_waits_for_enter(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.terminal.type(b"\x1b[200~touch /tmp/pasted\n\x1b[201~")
    prompt.terminal.read_until(b"touch /tmp/pasted")
    assert "^C" in prompt.press(b"\x03")
    assert prompt.line("ls /tmp/pasted 2>&1 | grep -c No") == ["0: 1"]
    prompt.leave()


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("text", ["if [ -e /nowhere ]\n  touch /tmp/ran\nfi\ntouch /tmp/ran", "  touch /tmp/ran\nfi"])
def test_nothing_of_a_paste_with_a_syntax_error_runs(podrun, isolated, marked, text):
    prompt = Prompt(podrun, *isolated.on(0))
    if marked:
        prompt.paste(text)
    else:
        begin = len(prompt.terminal.output)
        prompt.terminal.type(text.encode() + b"\n")
        prompt.terminal.read_until_match(rb"\n[^\n]*" + PROMPT, begin)
    assert b"syntax error" in prompt.terminal.output
    assert prompt.line("ls /tmp/ran 2>&1 | grep -c No") == ["0: 1"]
    prompt.leave()


def test_a_paste_with_a_command_of_the_prompt_is_refused(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    shown = prompt.paste("touch /tmp/ran\n:workers 1\ntouch /tmp/ran")
    assert ":workers must be a line of its own, not part of a paste: nothing has run" in shown
    assert prompt.line("ls /tmp/ran 2>&1 | grep -c No") == ["0: 1", "1: 1"]
    prompt.leave()


# Lines of a file or pipe


def test_the_exit_status_is_that_of_the_last_line(podrun, isolated):
    assert shell(podrun, *isolated.on(0), lines=["exit 3", "true", "", "  # a comment"], status=0) == []
    assert shell(podrun, *isolated.on(0), lines=["true", "exit 3"], status=3) == []
    assert shell(podrun, *isolated.on(0), lines=[], status=0) == []
    assert podrun.ok(*isolated.on(0), "shell", input=b"echo no newline") == b"0: no newline\n"


def test_stops_where_no_host_is_reached(podrun):
    ended = podrun("-H", "127.0.0.1:129", "--retries", "0", "shell", input=b"echo x\n")
    assert ended.returncode == 255
    assert ended.stdout == b""
    assert b"connection refused" in ended.stderr


def test_a_script_runs_on_all_hosts_or_ends(podrun, pod, fault):
    ended = podrun("-H", "local,127.0.0.1:129", "--retries", "0", "shell", input=b"echo x\n")
    assert (ended.returncode, ended.stdout) == (255, b"")
    proxies = proxies_to(pod, fault)
    begun = podrun.start("-H", ",".join(proxy.address for proxy in proxies), "--retries", "0", "shell", stdin=subprocess.PIPE)
    begun.process.stdin.write(b"echo $PODRUN_RANK\n")
    begun.process.stdin.flush()
    begun.wait_for_output(b"1: 1")
    proxies[1].end()
    with contextlib.suppress(BrokenPipeError):  # where the loss is noticed first
        begun.process.stdin.write(b"echo again\n")
        begun.process.stdin.close()
    ended = begun.wait()
    assert ended.returncode == 255, ended
    assert b"again" not in ended.stdout
    assert b"podrun: the shell ends here, since not every host is connected\n" in ended.stderr


@pytest.mark.parametrize("line", [":workers 7", ":workers", ":nonsense", "true " + "x" * 100_000])
def test_a_script_ends_at_a_line_that_is_refused(podrun, isolated, line):
    ended = podrun(*isolated.options, "shell", input=f"echo on\n{line}\necho off\n".encode())
    assert ended.returncode == 2, ended
    assert sorted(ended.stdout.splitlines()) == [b"0: on", b"1: on"]
    assert ended.stderr.startswith(b"podrun: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("when", ["during a line", "between two lines"])
def test_a_signal_ends_a_script(podrun, isolated, number, when):
    lines = b"echo begun; sleep 1000\ntouch /tmp/ran\n" if when == "during a line" else b"echo begun\n"
    begun = podrun.start(*isolated.on(0), "shell", stdin=subprocess.PIPE)
    begun.process.stdin.write(lines)
    begun.process.stdin.flush()
    begun.wait_for_output(b"0: begun")
    while begun.process.poll() is None:  # the first may come while the first line ends, and is that line's then
        begun.signal(number)
        time.sleep(0.5)
    ended = begun.wait()
    assert ended.returncode == 128 + number, ended
    assert isolated.ssh(0, "ls /tmp/ran").returncode != 0
    wait_until(lambda: is_clean(isolated, 0), what="a clean host")


def test_refuses_options_that_make_no_sense(podrun):
    for options in (["--json"], ["--dry-run"], ["-I"], ["-s", "x"]):
        assert podrun("-H", "local", *options, "shell").returncode == 2, options
    assert podrun("-H", "-", "shell", input=b"a\n").returncode == 2


def test_keeps_the_output_of_each_line_in_outdir(podrun, isolated):
    out = podrun.directory / "out"
    shell(podrun, *isolated.on(0), "--outdir", out, lines=["echo one", "echo two"])
    [file] = out.glob("*.out")
    assert file.read_text() == "one\ntwo\n"


# The prompt


@pytest.mark.smoke
def test_the_prompt_names_hosts_and_failures(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    assert prompt.prompt == "podrun [0,1] ~> "
    assert prompt.line("echo $PODRUN_RANK") == ["0: 0", "1: 1"]
    prompt.line("exit $PODRUN_RANK")
    assert prompt.prompt == "podrun [0,1] ~ · [1] exit 1> "
    assert prompt.line("") == []
    assert prompt.prompt == "podrun [0,1] ~ · [1] exit 1> "
    assert prompt.line("true") == []
    assert prompt.prompt == "podrun [0,1] ~> "
    prompt.line("exit 3")
    prompt.leave(3)
    wait_until(lambda: is_clean(isolated, 0) and is_clean(isolated, 1), what="clean hosts")


def test_nothing_is_drawn_over_the_prompt(podrun, pod, fault):
    proxies = proxies_to(pod, fault)
    prompt = Prompt(podrun, "-H", ",".join(proxy.address for proxy in proxies), "-o", "ServerAliveInterval=1")
    begin = len(prompt.terminal.output)
    proxies[1].tell("cut rst")
    proxies[1].wait_for_connections(len(proxies[1].connections) + 1)
    end = time.monotonic() + 2
    while time.monotonic() < end:
        prompt.terminal._read(0.1)
    assert prompt.terminal.output[begin:] == b""
    prompt.leave()


def test_workers_narrows_the_hosts(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    assert prompt.line(":workers 1") == []
    assert prompt.prompt == "podrun [1] ~> "
    assert prompt.line("cd /usr; echo $PODRUN_NUM_HOSTS") == ["1: 1"]
    assert prompt.line(":workers 7") == [':workers: no host has worker number "7" (there are 0,1)']
    assert prompt.line(":workers x")[0].startswith(':workers: bad worker number "x"')
    assert prompt.line(":workers all") == []
    assert prompt.line("pwd") == ["0: /root", "1: /usr"]
    prompt.leave()


def test_answers_commands_of_its_own(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    prompt.line("[ $PODRUN_RANK = 0 ] || cd /usr")
    assert prompt.line(":hosts") == [f"  {rank} {isolated.hosts[rank]}  {place}" for rank, place in enumerate(["/root", "/usr"])]
    assert any(":workers SET" in line for line in prompt.line(":help"))
    assert prompt.line(":nonsense") == [":nonsense: no such command (:help lists them)"]
    assert prompt.line(":connect") == ["all hosts are connected"]
    assert prompt.line(": is a command of sh") == []
    prompt.leave(0, b"exit\n")


def test_the_prompt_shows_the_directory(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    prompt.line("cd /usr/lib")
    assert prompt.prompt == "podrun [0,1] /usr/lib> "
    prompt.line("cd $HOME; mkdir -p app; cd app")
    assert prompt.prompt == "podrun [0,1] ~/app> "
    prompt.line("[ $PODRUN_RANK = 0 ] || cd /")
    assert prompt.prompt == "podrun [0,1] 2 directories> "
    prompt.leave()


def test_says_how_to_get_a_terminal(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    said = "\n".join(prompt.line("top() { return 1; }; top") + prompt.line("vi() { :; }; vi")).encode()
    assert b"podrun: top needs a terminal: podrun ssh 0\n" in without_options(said)
    assert b"podrun: vi needs a terminal: podrun ssh 0 (Ctrl-C twice stops it here)" in without_options(said)
    prompt.leave()


def test_tab_completes_only_commands_of_the_prompt(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    begin = len(prompt.terminal.output)
    prompt.terminal.type(b"ls tra\t")
    prompt.terminal.read_until(b"(Tab completes only the commands that :help lists)")
    prompt.terminal.type(b"\t")
    prompt.terminal.read_until(b"\x07")
    assert prompt.terminal.output[begin:].count(b"(Tab completes") == 1
    prompt.press(b"\x03")
    assert prompt.line(":con\t") == ["all hosts are connected"]
    prompt.leave()


def test_lines_that_are_pasted_run_one_after_the_other(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.terminal.type(b"cd /usr\nsleep 0.3; pwd\necho last\n")
    prompt.terminal.read_until(b"0: last")
    assert prompt.terminal.output.index(b"0: /usr") < prompt.terminal.output.index(b"0: last")
    prompt.read_prompt(len(prompt.terminal.output) - 1)
    prompt.leave()


def test_history(podrun, isolated):
    file = podrun.home / ".local/state/podrun/shell_history"
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.line("echo first")
    prompt.line(" echo secret")
    prompt.line("echo second")
    assert prompt.line("\x1b[A") == ["0: second"]
    prompt.leave()
    assert file.read_text() == "echo first\necho second\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    prompt = Prompt(podrun, *isolated.on(0))
    assert prompt.line("\x1b[A\x1b[A") == ["0: first"]
    prompt.leave()


def test_a_line_can_be_edited(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    assert prompt.line("cho üb\x01e\x05!\x1b[D\x7fx") == ["0: üx!"]
    prompt.leave()


def test_asks_before_the_first_prompt(podrun, isolated):
    (podrun.home / ".ssh/known_hosts").unlink()
    terminal = podrun.terminal(*PLAIN, *isolated.options, "-o", "StrictHostKeyChecking=ask", "shell")
    terminal.read_until(b"(yes/no)? ")
    terminal.type(b"yes\n")
    terminal.read_until(b"podrun [0,1] ~> ")
    terminal.type(b"echo $PODRUN_RANK\n")
    terminal.read_until(b"1: 1")
    terminal.read_until_match(PROMPT, len(terminal.output) - 1)  # before it, Ctrl-D would be for the line discipline of the terminal
    terminal.type(b"\x04")
    assert terminal.wait().returncode == 0


# Ctrl-C and signals


def test_ctrl_c_ends_the_line(podrun, isolated):
    prompt = Prompt(podrun, *isolated.options)
    begin = len(prompt.terminal.output)
    # tail itself says so: a shell heeds an interrupt that comes while it starts a program only after the end of that.
    prompt.terminal.type(b"cd /usr; echo begun >/tmp/begun; tail -f /tmp/begun\n")
    prompt.terminal.read_until(b": begun", 2)
    prompt.press(b"\x03")
    assert b"exit 130" in prompt.terminal.output[begin:]
    assert prompt.line("pwd") == ["0: /usr", "1: /usr"]
    prompt.leave()
    wait_until(lambda: is_clean(isolated, 0) and is_clean(isolated, 1), what="clean hosts")


def test_a_second_ctrl_c_sends_term(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.terminal.type(b"trap '' INT; echo begun; while :; do sleep 0.1; done\n")
    prompt.terminal.read_until(b": begun")
    prompt.terminal.type(b"\x03")
    prompt.terminal.read_until(b"Ctrl-C again")
    prompt.press(b"\x03")
    assert prompt.line("echo on") == ["0: on"]
    prompt.leave()


def test_ctrl_c_clears_what_is_typed(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.terminal.type(b"touch /tmp/typed")
    prompt.terminal.read_until(b"touch /tmp/typed")
    assert "^C" in prompt.press(b"\x03")
    assert prompt.line("ls /tmp/typed 2>&1 | grep -c No") == ["0: 1"]
    prompt.leave()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_shell(podrun, isolated, number):
    prompt = Prompt(podrun, *isolated.on(0))
    os.kill(prompt.terminal.pid, number)
    ended = prompt.terminal.wait()
    assert ended.returncode == 128 + number
    assert prompt.terminal.settings_at_end == prompt.terminal.settings_at_start
    prompt = Prompt(podrun, *isolated.on(0))
    prompt.terminal.type(b"echo begun; sleep 1000\n")
    prompt.terminal.read_until(b": begun")
    os.kill(prompt.terminal.pid, number)
    assert prompt.terminal.wait().returncode == 128 + number
    wait_until(lambda: is_clean(isolated, 0), what="a clean host")


@pytest.mark.parametrize("when", ["at the prompt", "during a line"])
def test_leaves_nothing_behind_when_it_is_killed(podrun, isolated, when):
    prompt = Prompt(podrun, *isolated.options, "--grace", "1s")
    prompt.line("cd /usr; export SECRET=1")
    if when == "during a line":
        prompt.terminal.type(b"echo begun; sleep 1000 & sleep 1000\n")
        prompt.terminal.read_until(b": begun", 2)
    os.kill(prompt.terminal.pid, signal.SIGKILL)
    prompt.terminal.wait()
    wait_until(lambda: is_clean(isolated, 0) and is_clean(isolated, 1), seconds=20, what="clean hosts")


# Hosts that are lost


def proxies_to(pod, fault, *options, hosts=2):
    return [fault("--to", pod.addresses[rank], *options, "proxy", addresses=[f"127.0.0.{100 + rank}"]) for rank in range(hosts)]


def test_ctrl_d_while_a_line_runs_changes_nothing_at_the_next_prompt(podrun, isolated):
    prompt = Prompt(podrun, *isolated.on(0))
    begin = len(prompt.terminal.output)
    prompt.terminal.type(b"echo runs; sleep 0.5\n")
    prompt.terminal.read_until(b"0: runs")
    prompt.terminal.type(b"\x04")
    prompt.read_prompt(begin + 1)
    prompt.leave()


def test_a_host_that_is_lost_at_the_prompt_comes_back(podrun, pod, fault):
    proxies = proxies_to(pod, fault)
    prompt = Prompt(podrun, "-H", ",".join(proxy.address for proxy in proxies))
    prompt.line("cd /usr; export A=$PODRUN_RANK")
    before = len(proxies[1].connections)
    proxies[1].tell("cut rst")
    proxies[1].wait_for_connections(before + 1)  # a line that is sent before that may have begun there, and is not sent twice
    assert [line for line in prompt.line("echo $PWD $A") if not line.startswith("podrun:")] == ["0: /usr 0", "1: /usr 1"]
    assert prompt.prompt == "podrun [0,1] /usr> "
    prompt.leave()


def test_a_host_that_is_lost_again_and_again_at_one_prompt_comes_back(podrun, pod, fault):
    proxies = proxies_to(pod, fault)
    prompt = Prompt(podrun, "-H", ",".join(proxy.address for proxy in proxies), "--retries", "0")
    prompt.line("cd /usr")
    for _ in range(3):
        before = len(proxies[1].connections)
        proxies[1].tell("cut rst")
        proxies[1].wait_for_connections(before + 1)
    assert [line for line in prompt.line("pwd") if not line.startswith("podrun:")] == ["0: /usr", "1: /usr"]
    prompt.leave()


def test_a_host_whose_supervisor_is_gone_comes_back(podrun, isolated):
    """As after a sleep of this machine that the hosts took for its end."""
    prompt = Prompt(podrun, *isolated.options)
    prompt.line("cd /usr")
    before = isolated.processes(1)
    isolated.ssh(1, f"kill -9 {' '.join(map(str, before))}")
    wait_until(lambda: set(isolated.processes(1)) - set(before), what="a new supervisor")
    assert [line for line in prompt.line("pwd") if not line.startswith("podrun:")] == ["0: /usr", "1: /usr"]
    prompt.leave()


def test_a_host_that_stays_away_is_left_out(podrun, pod, fault):
    proxies = proxies_to(pod, fault)
    prompt = Prompt(podrun, "-H", ",".join(proxy.address for proxy in proxies), "--retries", "0", "--chdir", "/")
    proxies[1].end()
    shown = prompt.line("echo on")
    assert "0: on" in shown
    assert any("unreachable" in line for line in shown), shown
    assert prompt.prompt == "podrun [0] / · not connected [1]> "
    assert prompt.line("echo still on") == ["0: still on"]
    assert any("not connected: " in line for line in prompt.line(":hosts"))
    assert prompt.line(":workers 1") == [":workers: none of them is connected (:connect tries again)"]
    prompt.leave()


def test_connect_tries_again(podrun, directory):
    down = directory / "down"
    down.touch()
    script = directory / "via"
    script.write_text(f'#!/bin/sh\n[ $1 = a ] || [ ! -e {down} ] || exit 255\nshift\nexec "$@"\n')
    script.chmod(0o755)
    prompt = Prompt(podrun, "--via", f"{script} {{host}}", "-H", "a,b", "--retries", "0", "--chdir", "/")
    assert prompt.prompt == "podrun [0] / · not connected [1]> "
    prompt.line(":connect")
    assert prompt.prompt == "podrun [0] / · not connected [1]> "
    down.unlink()
    prompt.line(":connect")
    assert prompt.prompt == "podrun [0,1] /> "
    assert prompt.line("echo on") == ["0: on", "1: on"]
    prompt.leave()


def test_a_line_takes_one_round_trip(podrun, pods, fault):
    pod = pods("--hosts", str(HOSTS))
    pod.move_in(podrun)
    proxies = proxies_to(pod, fault, "--delay", "0.2", hosts=HOSTS)

    def round_trips():
        return [proxy.connections[-1]["round_trips"] for proxy in proxies]

    def settled():
        before = round_trips()
        time.sleep(0.3)
        return before if before == round_trips() else None

    prompt = Prompt(podrun, "-H", ",".join(proxy.address for proxy in proxies))
    counts = []
    for number in range(3):  # on a busy machine what belongs together may arrive in two pieces: the fewest count
        before = wait_until(settled, what="quiet connections")
        prompt.terminal.type(f"echo line {number}$((1)); sleep 1000\n".encode())
        prompt.terminal.read_until(f": line {number}1".encode(), HOSTS)
        counts.append([now - then for now, then in zip(round_trips(), before)])
        prompt.press(b"\x03")
    assert [min(of_host) for of_host in zip(*counts)] == [1] * HOSTS
    prompt.leave(130)


# What others write into the output of a line


def test_takes_the_report_of_another_host_for_output(podrun, isolated):
    state = base64.b64encode(b"/etc\0/\0FORGED=1\0end\0").decode()
    forged = [f"~podrun1 {'0' * 32} {state}", f"~podrun1 {'0' * 32} ."]
    lines = ["cd /usr", "printf '%s\\n' " + " ".join(f"'{line}'" for line in forged), "pwd; echo ${FORGED-kept}"]
    assert shell(podrun, *isolated.on(0), "--no-label", lines=lines) == sorted([*forged, "/usr", "kept"])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_of_the_host_gets_nothing_of_the_state(podrun, isolated):
    tmp = isolated.directory / "host" / "0" / "tmp"
    tmp.chmod(0o1777)
    lines = ["export MINE=s3cret; cd /usr", "echo begun; until [ -e /tmp/show ]; do sleep 0.1; done; cat /tmp/shared", 'echo "$MINE $PWD ${EVIL-none}"']
    begun = podrun.start(*isolated.on(0), "--no-label", "shell", stdin=subprocess.PIPE)
    begun.process.stdin.write("".join(line + "\n" for line in lines).encode())
    begun.process.stdin.close()
    begun.wait_for_output(b"begun")
    look = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /tmp/podrun.*/* 2>/dev/null; ls -A /tmp"
    seen = isolated.ssh(0, f"setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '{look}'").stdout
    assert b"s3cret" not in seen
    numbers = sorted(set(re.findall(rb"[0-9a-f]{32}", seen)))
    assert numbers, "the run's directory has one"
    state = base64.b64encode(b"/tmp\0/\0EVIL=1\0MINE=\0end\0")
    forged = b"".join(b"~podrun1 %s %s\n~podrun1 %s .\n" % (number, state, number) for number in numbers)
    (tmp / "shared").write_bytes(forged)
    (tmp / "show").touch()
    ended = begun.wait()
    for name in ("shared", "show"):
        (tmp / name).unlink()
    assert (ended.returncode, ended.stdout) == (0, b"begun\n" + forged + b"s3cret /usr none\n"), ended


def test_names_the_program_that_a_host_lacks(podrun, via, directory):
    tools = directory / "tools"
    tools.mkdir()
    for tool in ("sh", "grep", "ls", "rm", "sleep", "mkdir", "mkfifo", "tee", "env", "cat"):
        (tools / tool).symlink_to(shutil.which(tool))
    bare = directory / "bare"
    bare.write_text(f'#!/bin/sh\nPATH={tools}\nexport PATH\nshift; exec "$@"\n')
    bare.chmod(0o755)
    ended = podrun("--via", f"{bare} {{host}}", "-H", "a", "--retries", "0", "shell", input=b"echo on\n")
    assert (ended.returncode, ended.stdout) == (255, b""), ended
    assert b'no "base64" in $PATH there' in ended.stderr
