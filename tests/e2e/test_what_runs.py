"""Manual, "What runs": the command that a host gets, its environment, directory and standard input."""

import fcntl
import os
import random
import re
import subprocess

import pytest

from conftest import private_mounts
from support import by_rank, processes, sha256, wait_until

ONE = ("-N", "-H", "local")
FOUR = ("-H", "local[0-3]")


# Words, and text


@pytest.mark.smoke
def test_words_arrive_exactly(podrun):
    words = ["a  b", "$HOME", "*", "~", "`id`", "$(id)", "'", '"', "\\", "", "-n", "é", "two\nlines", "\ttab", "!x", "a&&b", "{1,2}", "#"]
    printed = podrun.ok(*ONE, "--", "printf", "<%s>\\n", *words)
    assert printed.decode() == "".join(f"<{word}>\n" for word in words)


def test_a_word_of_any_bytes_arrives_exactly(podrun):
    word = bytes(range(1, 256))
    assert podrun.ok(*ONE, "--", "printf", "%s", word) == word


def test_words_of_200_kib_arrive(podrun):
    words = ["x" * 100_000, "y" * 100_000]
    assert podrun.ok(*ONE, "--", "printf", "%s", *words).decode() == "".join(words)


def test_dollar_home_is_not_expanded(podrun):
    assert podrun.ok(*ONE, "--", "echo", "$HOME") == b"$HOME\n"


def test_options_after_the_dashes_belong_to_the_command(podrun):
    assert podrun.ok(*ONE, "--", "echo", "-H", "--help", "--") == b"-H --help --\n"


def test_one_word_is_shell_text(podrun):
    assert podrun.ok(*ONE, "--", "cd / && x='a  b'; echo \"$x\" $(pwd) | tr / _") == b"a  b _\n"


def test_one_exact_word_is_a_program(podrun):
    program = podrun.directory / "my prog; $x"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    assert podrun.ok(*ONE, "--exec", "--", str(program)) == b"ran\n"
    assert podrun(*ONE, "--exec", "--", "A=b").returncode == 127
    assert podrun.ok(*ONE, "--exec", "--", "printf", "%s", "A=b") == b"A=b"
    for words in (["-s", str(program)], ["-s", str(program), "--", "x"], []):
        assert podrun(*ONE, "--exec", *words).stderr.startswith(b"podrun: --exec: ")


def test_a_bare_shell_operator_among_the_words_is_hinted_at_when_it_fails(podrun):
    failed = podrun(*ONE, "--", "ls", "/nonexistent", "|", "cat")
    assert failed.returncode != 0
    assert b"quot" in failed.stderr
    assert b"quot" not in podrun(*ONE, "--", "ls", "/nonexistent").stderr
    assert podrun(*ONE, "--", "echo", "|", "cat").stderr == b""


def test_leading_assignments_are_the_environment(podrun):
    assert podrun.ok(*ONE, "--", "A=1", "B=x  $y", "sh", "-c", 'echo "$A-$B"') == b"1-x  $y\n"
    assert podrun.ok(*ONE, "--", "A=1", 'echo "$A" | cat') == b"1\n"
    assert podrun.ok(*ONE, "--", "echo", "A=1") == b"A=1\n"


def test_one_word_is_shell_text_even_if_it_begins_with_an_assignment(podrun):
    assert podrun.ok(*ONE, "--", "x=1; echo $x") == b"1\n"
    assert podrun.ok(*ONE, "--", "A=1", "x=2; echo $A $x") == b"1 2\n"


def test_a_command_that_does_not_exist(podrun):
    missing = podrun(*ONE, "--", "no-such-command-here", "x")
    assert missing.returncode == 127
    assert b"no-such-command-here" in missing.stderr


# Text from standard input


@pytest.mark.smoke
def test_text_from_standard_input(podrun):
    assert podrun.ok(*ONE, input=b"cd /usr\nfor i in 1 2; do\n  echo $i $PWD\ndone") == b"1 /usr\n2 /usr\n"


def test_text_from_standard_input_is_not_the_input_of_its_commands(podrun):
    assert podrun.ok(*ONE, input=b"cat\nread x\necho done\n") == b"done\n"


@pytest.mark.parametrize("size", [200 << 10, 5 << 20], ids=["200 KiB", "5 MiB"])
def test_long_text_from_standard_input(podrun, size):
    line = b": 'a line of some length that does nothing'\n"
    text = b"echo begin\n" + line * (size // len(line)) + b"echo end"
    assert by_rank(podrun.ok("-H", "local[0-1]", input=text)) == {0: [b"begin", b"end"], 1: [b"begin", b"end"]}


def test_a_long_line_from_standard_input(podrun):
    word = b"x" * (200 << 10)
    assert podrun.ok(*ONE, input=b"echo " + word + b"\n") == word + b"\n"


# Scripts


def write_script(directory, text):
    script = directory / "a script"
    script.write_bytes(text)
    return script


def test_a_script_runs_by_its_first_line(podrun):
    script = write_script(podrun.directory, b"#!/usr/bin/python3\nimport sys; print(sys.argv[1:])\n")
    assert podrun.ok(*ONE, "-s", script, "--", "a  b", "$HOME", "") == b"['a  b', '$HOME', '']\n"
    assert podrun.ok(*ONE, "-s", script) == b"[]\n"


def test_a_script_without_that_line_runs_by_bin_sh(podrun):
    script = write_script(podrun.directory, b'readlink /proc/$$/exe; echo "$#:$1"\n')
    assert podrun.ok(*ONE, "-s", script, "--", "a b").decode() == f"{os.path.realpath('/bin/sh')}\n1:a b\n"


def test_a_script_gives_its_own_exit_status(podrun):
    assert podrun(*ONE, "-s", write_script(podrun.directory, b"exit 9\n")).returncode == 9


def test_a_script_may_be_long(podrun):
    line = b"# a line of some length that does nothing\n"
    script = write_script(podrun.directory, b"#!/bin/bash\n" + line * ((1 << 20) // len(line)) + b'echo "end $1"')
    assert by_rank(podrun.ok(*FOUR, "-s", script, "--", "1")) == {rank: [b"end 1"] for rank in range(4)}


def test_a_script_leaves_no_file_behind(podrun):
    script = write_script(podrun.directory, b'echo "$0"\n')
    place = podrun.ok(*ONE, "-s", script).strip()
    wait_until(lambda: not os.path.exists(place), 5, f"{place} removed")


# Environment


@pytest.mark.smoke
def test_env_option(podrun):
    value = "a  'b' \"c\" $HOME `id` \\ é\nnext line"
    assert podrun.ok(*ONE, "-e", f"A={value}", "--env", "B=", "--", "sh", "-c", 'printf "%s|%s" "$A" "${B-unset}"').decode() == value + "|"


def test_env_option_takes_the_value_from_here(podrun):
    value = b"\xff\xfe and 'more'"
    assert podrun.ok(*ONE, "-e", "HERE", "--", "printenv", "HERE", env={"HERE": value}) == value + b"\n"


def test_env_option_without_a_value_here_is_an_error(podrun):
    failed = podrun(*ONE, "-e", "NOT_SET_HERE", "--", "true")
    assert failed.returncode == 2
    assert b"NOT_SET_HERE" in failed.stderr


def test_the_environment_of_here_stays_here(podrun):
    assert podrun(*ONE, "--", "printenv", "HERE", env={"HERE": "x"}).returncode == 1


def test_env_file(podrun):
    file = podrun.directory / "job.env"
    file.write_text("# comment\n\nA=1\nexport B='x  $y'\nC=\"say \\\"hi\\\"\"\nD=a\\ b\nE=\nF=https://x/?a=b\n")
    show = 'for n in A B C D E F; do eval "printf \'%s|\' \\"\\${$n-unset}\\""; done'
    assert podrun.ok(*ONE, "--env-file", file, "--", "sh", "-c", show) == b'1|x  $y|say "hi"|a b||https://x/?a=b|'


@pytest.mark.parametrize("line", ["echo hi", "1A=x", "A=b c", "A='open", "A B=c", "=x"])
def test_env_file_error_names_its_line(podrun, line):
    file = podrun.directory / "job.env"
    file.write_text(f"GOOD=1\n\n{line}\n")
    failed = podrun(*ONE, "--env-file", file, "--", "touch", podrun.directory / "started")
    assert failed.returncode == 2
    assert f"{file}:3:".encode() in failed.stderr
    assert not (podrun.directory / "started").exists()


def test_leading_words_win_over_options_and_those_over_the_file(podrun):
    file = podrun.directory / "job.env"
    file.write_text("A=file\nB=file\nC=file\n")
    options = ["--env-file", file, "-e", "A=option", "-e", "B=option"]
    assert podrun.ok(*ONE, *options, "--", "A=word", "sh", "-c", 'echo "$A $B $C"') == b"word option file\n"


def test_values_win_over_rc_files(podrun):
    for name in [".profile", ".bash_profile"]:
        (podrun.home / name).write_text("export GIVEN=rc OTHER=rc\n")
    assert podrun.ok(*ONE, "--login", "-e", "GIVEN=mine", "--", 'echo "$GIVEN $OTHER"') == b"mine rc\n"


def test_values_never_show_in_a_process_list(podrun):
    file = podrun.directory / "job.env"
    file.write_text("FROM_FILE=secret-in-file\n")
    options = ["-e", "FROM_HERE", "-e", "SHOWN_HERE=secret-on-hosts", "--env-file", file]
    run = podrun.start(*FOUR, *options, "--", 'echo "$FROM_HERE $SHOWN_HERE $FROM_FILE"; sleep 1', env={"FROM_HERE": "secret-of-here"})
    seen = 0
    own = b"\0".join(os.fsencode(word) for word in run.process.args) + b"\0"  # also of a child that is about to become another program
    while run.process.poll() is None:
        seen += 1
        for process in processes():
            assert b"secret-of-here" not in process.command
            assert b"secret-in-file" not in process.command
            assert process.command == own or b"secret-on-hosts" not in process.command
    assert seen > 1
    assert by_rank(run.wait().stdout) == {rank: [b"secret-of-here secret-on-hosts secret-in-file"] for rank in range(4)}


def test_slots_of_the_list_reach_the_command(podrun):
    show = "echo ${PODRUN_SLOTS-none} $PODRUN_SLOTLIST"
    assert by_rank(podrun.ok("-H", "local0 slots=8, local1 slots=4", "--", show)) == {0: [b"8 8 4"], 1: [b"4 8 4"]}
    assert by_rank(podrun.ok("-H", "local0", "--", show)) == {0: [b"none"]}


def test_podrun_variables(podrun):
    show = "echo $PODRUN_RANK $PODRUN_NUM_HOSTS $PODRUN_WORKER $PODRUN_RUN_ID; echo \"$PODRUN_HOSTLIST\" | wc -l; echo ${PODRUN_HOST:?} ${PODRUN_HOST0:?}"
    shown = by_rank(podrun.ok(*FOUR, "--", show))
    run_id = shown[0][0].split()[3].decode()
    assert re.fullmatch(r"[0-9a-f]{32}", run_id)
    for rank in range(4):
        assert shown[rank][0].decode() == f"{rank} 4 {rank} {run_id}"
        assert shown[rank][1] == b"4"


def test_a_list_of_all_hosts_can_be_asked_for(podrun):
    """`-e NAME` is this run's list then, and no variable of this shell."""
    lists = by_rank(podrun.ok("-H", "local[0-1]", "-e", "PODRUN_HOSTLIST", "--", "env", env={"PODRUN_HOSTLIST": "of-here"}))
    assert all(b"PODRUN_HOSTLIST=local0" in lines for lines in lists.values())


def test_podrun_variables_of_some_of_the_hosts(podrun):
    shown = podrun.ok(*FOUR, "--workers", "1,3", "--", "echo $PODRUN_RANK $PODRUN_NUM_HOSTS $PODRUN_WORKER")
    assert by_rank(shown) == {1: [b"0 2 1"], 3: [b"1 2 3"]}


# Directory


def test_a_command_starts_at_home(podrun):
    here, home = podrun.ok(*ONE, "--", "pwd -P; cd && pwd -P").splitlines()
    assert here == home


def test_the_same_directory_as_here(podrun):
    place = podrun.directory / "a  'place'"
    place.mkdir()
    for option in ["-w", "--cwd"]:
        assert os.fsdecode(podrun.ok(*ONE, option, "--", "pwd", cwd=place)) == f"{place}\n"


def test_another_directory(podrun):
    assert podrun.ok(*ONE, "--chdir", "/usr/bin", "--", "pwd") == b"/usr/bin\n"


def test_a_missing_directory_on_one_host_stops_everything_before_the_start(podrun):
    place = podrun.directory / "parent" / "place"
    place.mkdir(parents=True)
    wrapper = podrun.directory / "c-misses-it"
    hide = 'mount -t tmpfs none "$0" && exec "$@"'
    wrapper.write_text(
        f"#!/bin/sh\nhost=$1; shift\n[ $host = c ] || exec \"$@\"\nexec {' '.join(private_mounts())} sh -c '{hide}' {place.parent} \"$@\"\n"
    )
    wrapper.chmod(0o755)
    started = podrun.directory / "started"
    failed = podrun("-H", "a,b,c,d", "--via", f"{wrapper} {{host}}", "--chdir", place, "--", "touch", started)
    assert failed.returncode == 255
    assert b"[2]" in failed.stderr and os.fsencode(place) in failed.stderr
    assert not started.exists()


# Login shell, sudo


def test_login_reads_the_profile(podrun):
    for name in [".profile", ".bash_profile"]:
        (podrun.home / name).write_text("export FROM_PROFILE=yes\n")
    assert podrun.ok(*ONE, "--login", "--", "printenv", "FROM_PROFILE") == b"yes\n"
    assert podrun.ok(*ONE, "--login", "--", "echo $FROM_PROFILE") == b"yes\n"
    assert podrun(*ONE, "--", "printenv", "FROM_PROFILE").returncode == 1


def test_sudo(podrun):
    if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("sudo asks for a password here")
    shown = podrun.ok(*ONE, "--sudo", "-e", "KEPT=a  b", "--", 'id -u; echo "$KEPT"; echo ${SUDO_USER:?}; echo $PODRUN_RANK')
    assert shown.splitlines()[:2] == [b"0", b"a  b"]
    assert shown.splitlines()[3] == b"0"


# Standard input of the command


@pytest.mark.smoke
def test_standard_input_is_copied_to_every_host(podrun):
    data = random.Random(1).randbytes(5_000_000)
    hashes = by_rank(podrun.ok(*FOUR, "-I", "--", "sha256sum", input=data))
    assert hashes == {rank: [f"{sha256(data)}  -".encode()] for rank in range(4)}


def test_standard_input_of_every_host_ends_where_ours_ends(podrun):
    assert by_rank(podrun.ok(*FOUR, "--stdin", "--", "wc", "-c", input=b"")) == {rank: [b"0"] for rank in range(4)}


def test_standard_input_goes_to_text_and_scripts_too(podrun):
    assert podrun.ok(*ONE, "-I", "--", "read a; echo got $a; cat", input=b"1\n2\n3") == b"got 1\n2\n3"
    assert podrun.ok(*ONE, "-I", "-s", write_script(podrun.directory, b"wc -c\n"), input=b"12345") == b"5\n"


def test_a_command_that_leaves_its_input_unread(podrun):
    data = bytes(5_000_000)
    assert podrun(*FOUR, "-I", "--", "true", input=data).returncode == 0
    assert podrun(*FOUR, "-I", "--", "sh", "-c", "head -c 10 >/dev/null; exit 4", input=data).returncode == 4


def test_one_host_that_reads_slowly_does_not_spoil_the_input_of_others(podrun):
    data = random.Random(2).randbytes(2_000_000)
    command = '[ "$PODRUN_RANK" != 1 ] || sleep 1; sha256sum'
    assert set(podrun.ok(*FOUR, "-N", "-I", "--", command, input=data).split()[::2]) == {sha256(data).encode()}


def test_standard_input_is_empty_without_the_option(podrun):
    assert podrun.ok(*ONE, "--", "wc", "-c", input=b"not for you") == b"0\n"


# -c removes what a killed TPU program left


def test_clean_up_removes_lock_files_and_moves_logs_aside(podrun_own_tmp):
    directory = podrun_own_tmp.directory
    (directory / "libtpu_lockfile").touch()
    (directory / "tpu_logs").mkdir()
    (directory / "tpu_logs" / "a.log").write_text("kept")
    listed = podrun_own_tmp.ok(*ONE, "-c", "--", "ls", "/tmp", cwd="/").split()
    assert b"libtpu_lockfile" not in listed
    assert b"tpu_logs" not in listed
    assert [file.read_text() for file in directory.glob("tpu_logs*/**/a.log")] == ["kept"]


def test_clean_up_with_nothing_to_do(podrun_own_tmp):
    assert podrun_own_tmp.ok(*ONE, "--clean-up", "--", "echo", "hi", cwd="/") == b"hi\n"


def test_clean_up_leaves_what_a_live_process_holds(podrun_own_tmp):
    directory = podrun_own_tmp.directory
    hold = 'sleep 60 >>/tmp/libtpu_lockfile & echo $! >/tmp/holder; "$@"; status=$?; kill $!; exit $status'
    podrun_own_tmp.wrapper += ["sh", "-c", hold, "sh"]
    failed = podrun_own_tmp(*ONE, "-c", "--", "touch", "/tmp/started", cwd="/")
    assert failed.returncode not in (0, 2)
    assert (directory / "holder").read_bytes().strip() in failed.stderr
    assert (directory / "libtpu_lockfile").exists()
    assert not (directory / "started").exists()


def test_clean_up_follows_no_planted_link(podrun_own_tmp):
    directory = podrun_own_tmp.directory
    for name in ("tpu_logs", "elsewhere", "other"):
        (directory / name).mkdir()
    (directory / "tpu_logs" / "a.log").write_text("kept")
    (directory / "other" / "libtpu_lockfile").touch()
    (directory / "libtpu_lock_x").symlink_to("other")
    # `date` plants what the name that was moved to could be guessed to be.
    plant = "for n in $(seq $(($$ - 300)) $$); do ln -s /tmp/elsewhere /tmp/tpu_logs.NOW.$n; done; echo NOW"
    (directory / "date").write_text(f"#!/bin/sh\n{plant}\n")
    (directory / "date").chmod(0o755)
    podrun_own_tmp.wrapper += ["sh", "-c", 'mount --bind /tmp/date "$(command -v date)" && exec "$@"', "sh"]
    podrun_own_tmp.ok(*ONE, "-c", "--", "true", cwd="/")
    assert len([*directory.glob("tpu_logs.NOW.*")]) > 300, "it was asked"
    assert [*(directory / "elsewhere").iterdir()] == []
    assert (directory / "other" / "libtpu_lockfile").exists()
    assert not (directory / "tpu_logs").exists()


def test_clean_up_leaves_a_lock_that_another_user_holds(podrun_own_tmp):
    directory = podrun_own_tmp.directory
    lock = directory / "libtpu_lock_x" / "libtpu_lockfile"
    lock.parent.mkdir()
    lock.parent.chmod(0o777)
    directory.chmod(0o777)
    podrun_own_tmp.wrapper += ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"]
    with open(lock, "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        failed = podrun_own_tmp(*ONE, "-c", "--", "touch", "/tmp/started", cwd="/")
        assert failed.returncode == 255
        assert f"pid {os.getpid()} (".encode() in failed.stderr and b"holds /tmp/libtpu_lock_x/libtpu_lockfile" in failed.stderr
        assert lock.exists() and not (directory / "started").exists()
    podrun_own_tmp.ok(*ONE, "-c", "--", "true", cwd="/")
    assert not lock.exists()


def test_clean_up_is_not_blocked_by_a_directory(podrun_own_tmp):
    (podrun_own_tmp.directory / "libtpu_lock_x" / "libtpu_lockfile").mkdir(parents=True)
    assert podrun_own_tmp.ok(*ONE, "-c", "--", "echo", "hi", cwd="/") == b"hi\n"


def test_standard_input_may_be_non_blocking(podrun):
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    run = podrun.start(*ONE, "-I", "--", "sh", "-c", "echo up; wc -c", stdin=ours)
    os.close(ours)
    run.wait_for_output(b"up\n")
    os.write(theirs, b"x" * 5000)
    os.close(theirs)
    assert run.wait().stdout == b"up\n5000\n"


def test_standard_input_that_cannot_be_read_is_refused(podrun, tmp_path):
    directory = os.open(tmp_path, os.O_RDONLY)
    refused = podrun.start(*ONE, "-I", "--", "cat", stdin=directory).wait()
    os.close(directory)
    assert refused.returncode == 2
    assert b"--stdin" in refused.stderr and b"directory" in refused.stderr
