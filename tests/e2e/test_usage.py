"""Manual, "In one screen": the grammar of the command line, and what wrong use is told."""

import re

import pytest

HERE = ("-H", "local")


def refused(podrun, *args, **options):
    """The one line by which wrong use is refused, without "podrun: "."""
    failed = podrun(*args, **options)
    assert failed.returncode == 2, failed
    assert failed.stdout == b""
    assert not (podrun.directory / "started").exists()
    line = failed.stderr.decode()
    assert line.startswith("podrun: ") and line.endswith("\n") and line.count("\n") == 1, line
    return line.removeprefix("podrun: ").rstrip("\n")


# The first words


@pytest.mark.smoke
def test_the_first_word_is_a_podrun_command(podrun):
    assert refused(podrun, "echo", "hi") == '"echo" is not a podrun command; to run it on every host: podrun -- echo hi'
    assert refused(podrun, "chek") == '"chek" is not a podrun command (did you mean podrun check?); to run it on every host: podrun -- chek'


def test_the_suggested_spelling_can_be_pasted(podrun):
    assert refused(podrun, "echo", "a  b", "$HOME").endswith("podrun -- echo 'a  b' '$HOME'")
    assert refused(podrun, *HERE, "touch", "started").startswith('"touch" is not a podrun command')
    line = "start: the command stands after --: podrun -H local start train -- touch started --now"
    assert refused(podrun, "-H", "local", "start", "train", "touch", "started", "--now") == line


def test_a_command_needs_words(podrun):
    assert "--" in refused(podrun, *HERE, "--")


@pytest.mark.parametrize("text", [b"", b"\n", b" \n\t\n"], ids=repr)
def test_blank_text_on_standard_input_is_an_error(podrun, text):
    assert "standard input" in refused(podrun, *HERE, input=text)


def test_on_a_terminal_nothing_is_an_error_and_bare_podrun_is_the_help(podrun):
    bare = podrun.terminal().wait()
    assert b"\nExamples:" in bare.stdout
    assert podrun.terminal(*HERE).wait().returncode == 2


def test_standard_input_has_one_consumer(podrun):
    refused(podrun, "-H", "-", "-I", "--", "touch", "started", input=b"local\n")
    refused(podrun, "-H", "-", input=b"touch started\n")
    refused(podrun, "-I", *HERE, input=b"touch started\n")


def test_a_script_and_its_arguments(podrun):
    assert "no-such-script" in refused(podrun, *HERE, "-s", "no-such-script")
    assert str(podrun.directory) in refused(podrun, *HERE, "-s", podrun.directory)


# Wrong use of each option: (words, what the line must name)

WRONG = [
    (["--frobnicate"], "--frobnicate"),
    (["--host", "local"], "--host"),
    (["--jsno"], "did you mean --json?"),
    (["--conect-timeout=5"], "did you mean --connect-timeout?"),
    (["-J", ""], "--jump: "),
    (["-J", "a,,b"], "--jump: "),
    (["-H"], "--hosts"),
    (["--hostfile", "no-such-file"], "no-such-file"),
    (["-x", "nobody"], "nobody"),
    (["--workers", "7"], "7"),
    (["--workers", "1-"], "1-"),
    (["--worker", "first"], "first"),
    (["--via", ""], "--via"),
    (["--via", "env"], "{host}"),
    (["--via", "env {host} 'open"], "--via"),
    (["--via", "env {host} {nothing}"], "{nothing}"),
    (["-e", "1A=x"], "1A"),
    (["-e", "=x"], "--env"),
    (["-e", "UNSET_HERE"], "UNSET_HERE"),
    (["--env-file", "no-such-file"], "no-such-file"),
    (["--chdir", ""], "--chdir"),
    (["-w", "--chdir", "/"], "--chdir"),
    (["--label", "colour"], "colour"),
    (["--color", "sometimes"], "sometimes"),
    (["-f", "0"], "--fanout"),
    (["-f", "many"], "many"),
    (["--serial", "0"], "--serial"),
    (["-t", "soon"], "soon"),
    (["-t", "0"], "--connect-timeout"),
    (["-u", "-5"], "-5"),
    (["-u", "5 minutes"], "5 minutes"),
    (["--grace", "1x"], "1x"),
    (["--orphan-timeout", ""], "--orphan-timeout"),
    (["--skip-unreachable=maybe"], "maybe"),
    (["-s", "no-such-script"], "no-such-script"),
]


@pytest.mark.parametrize("words, named", WRONG, ids=[" ".join(words) for words, _named in WRONG])
def test_wrong_use_is_named_with_the_way_out(podrun, words, named):
    hosts = () if words[0] in ("-H", "--hostfile") else HERE
    line = refused(podrun, *hosts, *words, "--", "touch", podrun.directory / "started")
    assert named in line
    speaks_for_itself = r"there is no file|no such file|is not closed"
    assert re.search(rf"\(.+\)|; |{speaks_for_itself}", line), f"no way out in: {line}"


def test_control_characters_in_what_was_typed_are_not_sent_to_the_terminal(podrun):
    shown = podrun.terminal("-H", "a\x1b[2Jb,a\x1b[2Jb", "--", "true").wait()
    assert shown.returncode == 2
    assert b"\x1b[2J" not in shown.stdout


RECREATED = 'mkdir d && cd d && rmdir ../d && mkdir ../d && exec "$@"'  # podrun's current directory then has no name
NEEDS_CURRENT_DIRECTORY = [
    ["push", ".", "app"],
    ["push", "--delete", "./", "app"],
    ["push", "../file", "app"],
    ["push", "--dry-run", ".", "app"],
    ["pull", "app", "results"],
    ["pull", "--dry-run", "app", "."],
    ["launch", "{directory}/task.yaml"],
    ["launch", "--dry-run", "{directory}/task.yaml"],
    ["exec", "{directory}/task.yaml"],
    ["launch", "../task.yaml"],
    ["--outdir", "logs", "--", "touch started"],
    ["-s", "../file"],
    ["--env-file", "../file", "--", "touch started"],
    ["-F", "../file", "--", "touch started"],
    ["-w", "--", "touch started"],
]


@pytest.mark.parametrize("words", NEEDS_CURRENT_DIRECTORY, ids=" ".join)
def test_a_relative_path_is_refused_if_the_current_directory_is_gone(podrun, words):
    (podrun.directory / "file").write_text("")
    (podrun.directory / "task.yaml").write_text("workdir: .\nrun: touch started\n")
    podrun.wrapper = ["sh", "-c", RECREATED, "sh"]
    error = refused(podrun, "-H", "127.0.0.1:129", "--retries", "0", *(word.format(directory=podrun.directory) for word in words))
    assert "the current directory is gone" in error


def test_other_paths_need_no_current_directory(podrun):
    (podrun.directory / "script").write_text("echo ran\n")
    podrun.wrapper = ["sh", "-c", RECREATED, "sh"]
    assert podrun.ok(*HERE, "-N", "--outdir", podrun.directory / "logs", "-s", podrun.directory / "script") == b"ran\n"


# Durations


@pytest.mark.parametrize("duration", ["100", "100s", "5m", "2h"])
def test_durations(podrun, duration):
    assert podrun.ok("-N", *HERE, "-u", duration, "--", "echo", "hi") == b"hi\n"


# Version and help


def test_version(podrun):
    for option in ["-V", "--version"]:
        assert re.fullmatch(rb"podrun \d+\.\d+\.\d+.*\n", podrun.ok(option))
    assert podrun.ok("version") == podrun.ok("-V")
    assert re.fullmatch(rb"podrun .*\nlibssh \d.*, OpenSSL \d.*\nLinux \S+ \S+\n", podrun.ok("version", "-v"))


def test_help_is_one_screen_with_commands_and_common_options(podrun):
    text = podrun.ok("--help").decode()
    assert podrun.ok("-h").decode() == podrun.ok("help").decode() == text
    lines = text.splitlines()
    assert len(lines) <= 50 and max(map(len, lines)) <= 80
    for name in ["hosts", "check", "push", "start", "logs", "kill", "config", "ssh"]:
        assert re.search(rf"^  {name} +[A-Z]", text, re.M)
    for option in ["--hosts", "--pod", "--dedup", "--timeout", "--fail-fast", "--dry-run"]:
        assert option in text


COMMANDS = ["hosts", "check", "config", "ssh", "help"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_its_own_page(podrun, name):
    short = podrun.ok(name, "--help").decode()
    assert f"podrun {name} [" in short and f"\nMore: podrun {name} --help all (every option)" in short
    assert podrun.ok("-H", "a", name, "-h").decode() == short
    page = podrun.ok(name, "--help", "all").decode()
    assert podrun.ok("help", name).decode().startswith(page.partition("\nMore: ")[0])
    assert f"podrun {name} [" in page
    shows = lambda option: re.search(rf"^  (-.,)?{option}\b", page, re.M) is not None
    assert shows("--wait TIME") == (name == "check")
    assert shows("--save") == (name == "hosts")
    assert shows("--gather") == (name == "config")
    assert max(map(len, page.splitlines())) <= 80


def test_help_of_the_users_command(podrun):
    page = podrun.ok("help", "run").decode()
    assert "--gather" in page and "Ctrl-C" in page and "--wait TIME" not in page


def test_help_searches(podrun):
    assert podrun.ok("help", "hang").startswith(b"podrun help ")
    assert b"key" in podrun.ok("help", "host", "key")


def test_help_of_what_is_no_command(podrun):
    assert refused(podrun, "help", "chek") == 'help: nothing about "chek" (did you mean check? see podrun help; podrun help pages)'


def listed(podrun, *words):
    return re.findall(r"^  (\S+)", podrun.ok(*words).decode(), re.M)


def test_the_pages_of_docs_are_in_the_program_and_fit_80_columns(podrun):
    pages = listed(podrun, "help", "pages")
    assert {"tutorial", "tasks", "jobs", "json", "exit", "kill", "json-schema"} <= set(pages)
    for name in pages:
        text = podrun.ok("help", name).decode()
        # Code stays as it is, so that it can be copied.
        assert [line for line in text.splitlines() if len(line) > 80 and not line.startswith("    ")] == [] or name.endswith("-schema")
        named = re.findall(r"podrun help ([a-z-]+)", text)
        for other in named:
            podrun.ok("help", other)
        for example in re.findall(r"(?:-s @|podrun example )(?!lists)([a-z_]+)", text):
            podrun.ok("example", example)


def test_a_page_is_below_the_page_of_its_command(podrun):
    text = podrun.ok("help", "kill").decode()
    assert text.index("Usage:") < text.index("\n# `podrun kill`")
    assert podrun.ok("push", "--help").decode().endswith("\nMore: podrun push --help all (every option), podrun help files\n")
    assert podrun.ok("push", "--help", "all").decode().endswith("\nMore: podrun help files\n")


def test_nothing_names_a_file_that_a_copied_program_does_not_have(podrun):
    texts = [podrun.ok("help", name) for name in ["all", "man", *listed(podrun, "help", "pages")]]
    texts += [podrun.ok("example", name) for name in listed(podrun, "example")]
    for text in texts:
        assert re.findall(rb"\b(?:docs|examples|tests)/[a-z].*|README.*|CHANGELOG.*", text) == []


def test_examples_run_by_name_and_can_be_read(podrun):
    assert podrun.ok("example", "stacks").startswith(b"#!/bin/sh\n# Shows where a stuck run is")
    assert podrun(*HERE, "-s", "@install").stderr.startswith(b"0: install.sh: ")
    assert refused(podrun, *HERE, "-s", "@stakcs") == '--script: no example "stakcs" (did you mean stacks? podrun example lists them)'
    assert refused(podrun, "example", "x") == 'example: no example "x" (podrun example lists them)'


@pytest.mark.parametrize(
    "words, error",
    [
        (["hosts", "--gather"], "hosts: --gather has no meaning here (leave it out)"),
        (["hosts", "--wait", "5m"], "hosts: --wait is an option of podrun check (podrun check --wait ...)"),
        (["--save", "--", "true"], "--save is an option of podrun hosts (podrun hosts --save)"),
        (["check", "--jsno"], 'check: unknown option "--jsno" (did you mean --json? see podrun check --help)'),
    ],
)
def test_an_option_of_another_command_is_refused(podrun, words, error):
    assert refused(podrun, *HERE, *words) == error


def test_full_help_is_grouped_and_names_every_option(podrun):
    text = podrun.ok("help", "all").decode()
    options = """--hosts --hostfile --exclude-hosts --workers --include-local --allow-repeats --via --env --env-file --cwd --chdir --clean-up --login --sudo
        --stdin --script --label --color --fanout --serial --connect-timeout --timeout --fail-fast --skip-unreachable --grace --orphan-timeout --dry-run
        --verbose --version --help"""
    assert [option for option in options.split() if not re.search(rf"{option}\b", text)] == []
    headings = [line for line in text.splitlines() if re.fullmatch(r"[A-Z].*:", line)]
    assert len(headings) >= 4
    assert max(map(len, text.splitlines())) <= 100


def test_every_boolean_has_its_no(podrun):
    for option in ["login", "sudo", "stdin", "cwd", "clean-up", "include-local", "allow-repeats", "skip-unreachable", "fail-fast"]:
        assert podrun.ok("-N", *HERE, f"--{option}", f"--no-{option}", "--", "echo", "hi") == b"hi\n"


def test_dry_run_shows_hosts_and_exact_text_and_starts_nothing(podrun):
    started = podrun.directory / "started"
    shown = podrun.ok("--via", "env REACHED={host}", "-H", "tpu-[0-1]", "--dry-run", "--", "touch", started, "a  b")
    assert b"tpu-0" in shown and b"tpu-1" in shown
    assert b"touch" in shown and b"'a  b'" in shown
    assert not started.exists()
    text = podrun.ok("--via", "env REACHED={host}", "-H", "tpu-[0-1]", "--dry-run", "--", f"cd / && touch {started}")
    assert f"cd / && touch {started}".encode() in text
    assert not started.exists()


def test_verbose_says_what_is_being_done(podrun):
    quiet, verbose, protocol = (podrun("-N", *HERE, *option, "--", "echo", "hi") for option in ([], ["-v"], ["-vv"]))
    assert {quiet.stdout, verbose.stdout, protocol.stdout} == {b"hi\n"}
    assert len(quiet.stderr) < len(verbose.stderr) < len(protocol.stderr)
