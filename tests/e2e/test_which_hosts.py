"""Manual, "Which hosts": where the list comes from, what it may say, and how it is narrowed."""

import pytest

from support import by_rank

HERE = ("--via", "env REACHED={host}")  # `env … /bin/sh`: any name is a host here


def hosts_of(podrun, *args, **options):
    """The hosts that took part, as {label: name}."""
    shown = by_rank(podrun.ok(*HERE, *args, "--", "echo $PODRUN_HOST", **options))
    return {rank: lines[0].decode() for rank, lines in sorted(shown.items())}


def in_order(names):
    return dict(enumerate(names.split()))


def refused(podrun, *args, **options):
    """The one line by which a wrong list is refused."""
    started = podrun.directory / "started"
    failed = podrun(*HERE, *args, "--", "touch", started, **options)
    assert failed.returncode == 2, failed
    assert not started.exists()
    assert failed.stderr.count(b"\n") == 1
    assert failed.stderr.startswith(b"podrun: ")
    return failed.stderr.decode()


@pytest.mark.smoke
@pytest.mark.parametrize(
    "written, names",
    [
        ("c,a,b", "c a b"),
        ("tpu-[0-2,7]", "tpu-0 tpu-1 tpu-2 tpu-7"),
        ("10.0.0.[2-4]", "10.0.0.2 10.0.0.3 10.0.0.4"),
        ("node[008-010]", "node008 node009 node010"),
        ("r[0-1]n[0-1]", "r0n0 r0n1 r1n0 r1n1"),
        ("x,n[1-2].zone,y", "x n1.zone n2.zone y"),
    ],
)
def test_lists_and_ranges(podrun, written, names):
    assert hosts_of(podrun, "-H", written) == in_order(names)


def test_hosts_option_may_be_repeated(podrun):
    assert hosts_of(podrun, "-H", "b", "--hosts", "a,c") == in_order("b a c")


def test_hosts_option_takes_one_argument_only(podrun):
    assert podrun.ok("-N", "-H", "local", "--", "echo", "hi") == b"hi\n"


def test_user_and_port(podrun):
    via = "env VIA={user}/{host}/{port}/{worker}"
    shown = podrun.ok("--via", via, "-H", "ann@tpu-1:2222,bob@[2001:db8::1]:22", "--", "printenv VIA || true; tr '\\0' '\\n' </proc/$PPID/environ | grep ^VIA=")
    values = {rank: lines[-1].rpartition(b"=")[2] for rank, lines in by_rank(shown).items()}
    assert values == {0: b"ann/tpu-1/2222/0", 1: b"bob/2001:db8::1/22/1"}


def test_four_ranks_here(podrun):
    assert by_rank(podrun.ok("-H", "local[0-3]", "--", "echo $PODRUN_RANK")) == {rank: [b"%d" % rank] for rank in range(4)}


def test_local_stands_among_other_hosts(podrun):
    assert sorted(hosts_of(podrun, "-H", "a,local,b")) == [0, 1, 2]


HOSTS_FILE = "# the pod\nb\n\na  # the second\ntpu-[1-2]\nc slots=8\n"


def test_hosts_file(podrun):
    file = podrun.directory / "pod.txt"
    file.write_text(HOSTS_FILE)
    for option in ["--hostfile", "--machinefile"]:
        assert hosts_of(podrun, option, file) == in_order("b a tpu-1 tpu-2 c")
    assert hosts_of(podrun, "-H", f"^{file}") == in_order("b a tpu-1 tpu-2 c")
    assert hosts_of(podrun, "-H", f"x,^{file}") == in_order("x b a tpu-1 tpu-2 c")


def test_hosts_from_standard_input(podrun):
    assert hosts_of(podrun, "-H", "-", input=HOSTS_FILE.encode()) == in_order("b a tpu-1 tpu-2 c")


@pytest.mark.parametrize("line", ["a:70000", "tpu-[3-1]", "tpu-[1-", "a:22x", "[2001:db8::1", "user@", "10.0.0.2 tpu0"])
def test_an_error_in_a_hosts_file_names_its_line(podrun, line):
    file = podrun.directory / "pod.txt"
    file.write_text(f"# fine\nfine\n{line}\n")
    assert f"{file}:3:" in refused(podrun, "--hostfile", file)


@pytest.mark.parametrize("entry", ["tpu-[3-1]", "tpu-[", "a:0", "a:65536", "a:22x", "@a"])
def test_an_error_in_a_list_names_the_entry(podrun, entry):
    assert entry in refused(podrun, "-H", f"fine,{entry}")


def test_an_explicit_choice_must_give_a_host(podrun):
    empty = podrun.directory / "empty.txt"
    empty.write_text("# nobody\n")
    (podrun.home / "podips.txt").write_text("a\n")
    assert str(empty) in refused(podrun, "--hostfile", empty)
    refused(podrun, "-H", "")
    refused(podrun, "-H", f"^{empty}")
    refused(podrun, "-H", "-", input=b"\n")
    refused(podrun, "-H", "a,b", "-x", "a,b")


def test_one_kind_of_choice_only(podrun):
    file = podrun.directory / "pod.txt"
    file.write_text("a\n")
    assert "--hostfile" in refused(podrun, "-H", "a", "--hostfile", file)


def test_no_hosts_anywhere(podrun):
    assert "-H" in refused(podrun)


# ~/podips.txt holds the other hosts: this machine is rank 0, they are 1, 2, …


def test_podips_numbers_the_others_from_one(podrun):
    (podrun.home / "podips.txt").write_text("a\nb\n")
    assert hosts_of(podrun) == {1: "a", 2: "b"}


def test_podips_with_this_machine(podrun):
    (podrun.home / "podips.txt").write_text("a\nb\n")
    for option in ["-i", "--include-local"]:
        hosts = hosts_of(podrun, option)
        assert list(hosts) == [0, 1, 2]
        assert (hosts[1], hosts[2]) == ("a", "b")


def test_an_explicit_choice_comes_before_podips(podrun):
    (podrun.home / "podips.txt").write_text("a\n")
    assert hosts_of(podrun, "-H", "b") == {0: "b"}


def test_include_local_adds_this_machine_in_front_of_a_list(podrun):
    hosts = hosts_of(podrun, "-H", "a,b", "-i")
    assert list(hosts) == [0, 1, 2]
    assert (hosts[1], hosts[2]) == ("a", "b")


def test_include_local_never_gives_this_machine_twice(podrun):
    assert list(hosts_of(podrun, "-H", "a,local", "-i")) == [0, 1]


# Narrowing


def test_exclude_keeps_the_labels_of_the_others(podrun):
    assert hosts_of(podrun, "-H", "a,b,c,d", "-x", "b") == {0: "a", 2: "c", 3: "d"}
    assert hosts_of(podrun, "-H", "n[0-9]", "--exclude-hosts", "n[1-8]") == {0: "n0", 9: "n9"}


def test_ranks_select_by_label(podrun):
    assert hosts_of(podrun, "-H", "a,b,c,d", "--workers", "0,2-3") == {0: "a", 2: "c", 3: "d"}
    assert hosts_of(podrun, "-H", "a,b,c,d", "--worker", "1") == {1: "b"}
    assert hosts_of(podrun, "-H", "a,b", "--worker", "all") == {0: "a", 1: "b"}


def test_ranks_and_exclude_together(podrun):
    assert hosts_of(podrun, "-H", "a,b,c,d", "--workers", "1-3", "-x", "c") == {1: "b", 3: "d"}


@pytest.mark.parametrize("option, value, named", [("-x", "zzz", "zzz"), ("-x", "a,n[7-8]", "n"), ("--workers", "1,9", "9"), ("--workers", "x", "x"), ("--workers", "", "--workers")])
def test_an_entry_that_matches_nothing_is_an_error(podrun, option, value, named):
    assert named in refused(podrun, "-H", "a,b", option, value).removeprefix("podrun: ")


def test_a_host_given_twice(podrun):
    assert "a" in refused(podrun, "-H", "a,b,a")
    assert "--allow-repeats" in refused(podrun, "-H", "a,b,a")
    assert hosts_of(podrun, "-H", "a,b,a", "--allow-repeats") == in_order("a b a")


def test_hosts_that_failed_or_were_silent_are_known_to_the_next_run(podrun):
    six = ("-H", "n[0-5]")
    assert "no run on these hosts is known" in refused(podrun, *six, "--workers", "failed")
    failed = podrun(*HERE, *six, "--", "[ $PODRUN_RANK != 2 ] || exit 3; [ $PODRUN_RANK = 4 ] || echo x")
    assert failed.returncode == 3
    assert hosts_of(podrun, *six, "--workers", "failed") == {2: "n2"}
    assert hosts_of(podrun, *six, "--workers", "silent") == {2: "n2", 4: "n4"}
    said = podrun(*HERE, *six, "--workers", "failed", "--", "true").stderr
    assert said.startswith(b"podrun: [2] failed in the run of "), said
    assert "worker 2 was n2" in refused(podrun, "-H", "m[0-5]", "--workers", "failed")


@pytest.mark.parametrize("text", ["ERROR: (gcloud.compute) no\n", "WARNING: old\nERROR: (gcloud.compute) no\n - a\n", "ERROR: (gcloud.compute) no\n- a\n- b\n"])
def test_a_message_of_gcloud_is_no_list(podrun, text):
    (podrun.directory / "list.yaml").write_text(text)
    for words in (["-H", "-"], ["--hostfile", "list.yaml"], ["--hosts-command", "cat list.yaml"], ["-H", text]):
        said = refused(podrun, *words, input=text.encode())
        assert said.endswith('gcloud failed: "(gcloud.compute) no" (run the command alone)\n') or words[1] == text and "error message" in said, said
