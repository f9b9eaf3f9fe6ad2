"""The module podrun without hosts: a program in podrun's place prints the events that docs/json.md shows, whole, cut off or unknown."""

import asyncio
import contextlib
import gc
import io
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import podrun  # noqa: E402

SHOWN = [json.loads(line) for line in (ROOT / "docs/json.md").read_text(encoding="utf-8").splitlines() if re.match(r'\{"v":1,.*\}$', line)]
OF_RUN = ("start", "started", "line", "output_open", "exit", "summary")


def shown(*kinds):
    """The events of the page, of these kinds."""
    return [event for event in SHOWN if event.get("event") in kinds]


def first_run():
    """The run that the page tells of: its first start, the first of each event of a run, and all of the same two hosts."""
    start = next(event for event in SHOWN if event.get("event") == "start" and "command" in event)
    events = [start, *shown("started")]
    for event in shown("line", "output_open", "exit"):
        if event["worker"] in (0, 1):
            events.append(event)
    return [*events, next(event for event in shown("summary") if "final" not in event)]


def line(text, worker=0, stream="stdout", **more):
    return {"v": 1, "event": "line", "time": "2026-11-21T13:42:05.700Z", "worker": worker, "host": "tpu-%d" % worker, "stream": stream, "text": text, **more}


class Replay(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def program(self, text):
        """A program in Python in podrun's place; `say` prints an event."""
        path = self.directory / "podrun"
        head = "#!%s\nimport json, os, signal, sys, time\ndef say(event): print(json.dumps(event, separators=(',', ':')), flush=True)\n"
        path.write_text(head % sys.executable + textwrap.dedent(text), encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def pod(self, events=(), status=0, messages="", text=""):
        """A pod whose program prints these events, then does `text`, and exits with `status`."""
        replay = "for event in json.loads(%r): say(event)\nsys.stderr.write(%r)\n" % (json.dumps(list(events)), messages)
        return podrun.Pod("tpu-[0-1]", program=self.program(replay + text + "\nsys.exit(%d)\n" % status))

    # The events of the page

    def test_the_run_of_the_page(self):
        result = self.pod(first_run(), 255, "podrun: lost: [1] tpu-1: connection: no answer for 1 min\n").run("x")
        self.assertEqual((result.returncode, result.ok, len(result)), (255, False, 2))
        self.assertEqual((result[0].outcome, result[0].returncode, result[0].seconds), ("exited", 0, 67.881))
        self.assertEqual((result["tpu-1"].outcome, result[1].returncode, result[1].stage, result[1].cause), ("lost", 255, "connection", "no_answer"))
        self.assertEqual((result[1].stdout, result[1].stderr_bytes), ("step 100 loss 2.31\n", b"\xff\xd8\xff\xe0"))
        self.assertEqual(result[1].stderr, "\\xff\\xd8\\xff\\xe0")
        self.assertEqual([host.worker for host in result.failed], [1])
        self.assertEqual(result.first_failure, result[1])
        self.assertEqual([event["event"] for event in result.events], ["started", "output_open", "summary"])
        self.assertEqual(result.messages, ["podrun: lost: [1] tpu-1: connection: no answer for 1 min"])

    def test_every_event_of_the_page_is_understood(self):
        kinds = {event.get("event") for event in SHOWN}
        self.assertLessEqual(set(OF_RUN) | {"sent", "received", "stall", "waiting", "restart", "over", "sample", "state", "error"}, kinds)
        start, summary = first_run()[0], first_run()[-1]
        for event in SHOWN:
            if event.get("event") in (*OF_RUN, "sent", "received", "stall", "waiting", "restart", "over"):
                others = [] if event.get("event") in ("start", "summary") else [event]
                self.pod([start, *others, summary]).run("x")
            elif event.get("event") != "error":
                self.assertEqual(self.pod([event]).ask("ps"), event)
                self.assertEqual(self.pod([event, start, summary]).call("ps").result().objects, [event])

    def test_files(self):
        start = next(event for event in shown("start") if "files" in event)
        ended = dict(shown("exit")[0], outcome="exited", status=0)
        result = self.pod([start, *shown("sent"), ended, dict(first_run()[-1], status=0)]).push("app/", target="app")
        self.assertEqual((result[0].details["files"], result[0].details["bytes"]), (3, 5120))
        with self.assertRaises(podrun.RunFailed):
            self.pod([start, first_run()[-1]], 255).push("app/", target="app")

    def test_restarts_end_with_the_result_of_the_last_try(self):
        summary = dict(first_run()[-1], status=0)
        result = self.pod([shown("start")[-1], line("old", 4), *shown("restart"), first_run()[0], line("new"), summary, *shown("over")]).run("x")
        self.assertEqual([host.worker for host in result], [0, 1])
        self.assertEqual(result[0].stdout, "new\n")
        self.assertEqual([event["event"] for event in result.events], ["restart", "summary", "over"])

    def test_a_try_that_starts_nothing_is_the_last_one_too(self):
        unreachable = dict(first_run()[-2], outcome="unreachable", stage="connecting", cause="refused", message="connection refused")
        events = [first_run()[0], line("old"), *shown("restart"), first_run()[0], unreachable, dict(first_run()[-1], status=255), *shown("over")]
        result = self.pod(events, 255).run("x")
        self.assertEqual((result[0].stdout, result[1].describe()), ("", "[1] tpu-1: connecting: connection refused"))

    def test_how_a_host_ended(self):
        start, ended, summary = first_run()[0], first_run()[-2], first_run()[-1]
        ends = {
            "exited": (dict(status=3), 3), "signaled": (dict(signal=9), 137), "timed_out": ({}, 124), "stalled": ({}, 124), "lost": ({}, 255),
            "unreachable": ({}, 255), "not_started": ({}, None), "stopped": ({}, None),
        }
        for outcome, (more, status) in ends.items():
            result = self.pod([start, dict({"v": 1, "event": "exit", "worker": 1, "host": "tpu-1", "outcome": outcome}, **more), summary]).run("x")
            self.assertEqual((result[1].returncode, result[1].ok, result[1] in result.failed), (status, False, status is not None), outcome)

        def failed(worker, seconds):
            return dict(ended, worker=worker, outcome="exited", status=1, seconds=seconds)

        hosts = [dict(start["hosts"][0], worker=worker, host="tpu-%d" % worker) for worker in (3, 5)]
        both = [dict(start, hosts=hosts), failed(3, 2.5), failed(5, 1.5)]
        self.assertEqual(self.pod([*both, dict(summary, culprit=None)]).run("x").first_failure.worker, 5)
        self.assertEqual(self.pod([*both, dict(summary, culprit=3)]).run("x").first_failure.worker, 3)

    def test_samples(self):
        self.assertEqual(self.pod(shown("state", "sample")).ask("top", "-n", "1"), shown("state", "sample"))

    # Output

    def test_lines_keep_their_bytes(self):
        start, summary = first_run()[0], first_run()[-1]
        events = [line('a "b" \\ \u00e9 \x1b[0m'), line("piece", end="piece"), line(" of a line"), line("", stream="stderr"), line("no newline", end="eof")]
        result = self.pod([start, *events, summary]).run("x")
        self.assertEqual(result[0].stdout_bytes, 'a "b" \\ \u00e9 \x1b[0m\npiece of a line\nno newline'.encode())
        self.assertEqual(result[0].stderr_bytes, b"\n")

    def test_lines_come_while_the_run_goes_on(self):
        pod = self.pod(first_run()[:-1], text="sys.stdin.read()\nsay(%r)\n" % first_run()[-1])
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as go:
            run = pod.stream("x", input=go)
        lines = iter(run)
        first = next(lines)
        self.assertEqual((first.worker, first.host, first.stream, first.text, first.end), (1, "tpu-1", "stdout", "step 100 loss 2.31", "newline"))
        os.close(writer)
        self.assertEqual([(each.data, each.end) for each in lines], [(b"\xff\xd8\xff\xe0", "eof")])
        self.assertTrue(run.result().run_id)

    def test_a_result_has_the_lines_that_nobody_took(self):
        events = [first_run()[0], *(line(str(number)) for number in range(10)), first_run()[-1]]
        run = self.pod(events).stream("x")
        self.assertEqual(next(iter(run)).text, "0")
        self.assertEqual(run.result()[0].stdout, "".join("%d\n" % number for number in range(1, 10)))

        async def main():
            run = self.pod(events).stream("x")
            async for first in run:
                break
            return [first.text, *(await run)[0].stdout.split()]

        self.assertEqual(asyncio.run(main()), [str(number) for number in range(10)])

    def test_lines_that_have_come_are_given_before_more_is_awaited(self):
        run = self.waiting(events=first_run()[:-1]).stream("x")
        self.addCleanup(run.close)
        self.wait_until_it_waits()
        for first in run:
            break
        second = next(iter(run))
        self.assertEqual((first.text, second.data), ("step 100 loss 2.31", b"\xff\xd8\xff\xe0"))

    def test_print_shows_equal_output_once_and_nothing_that_acts_on_a_terminal(self):
        start, summary = first_run()[0], first_run()[-1]
        ended = [dict(event, outcome="exited", status=0) for event in shown("exit")]
        self.assertEqual(str(self.pod([start, line("same"), line("same", 1), *ended, summary]).run("x")), "[0-1] (2)\nsame")
        evil = self.pod([start, line("\x1b]0;x\x07\u202eok"), *ended, summary]).run("x")
        self.assertEqual(str(evil).splitlines()[1], "\\x1b]0;x\\x07\\u202eok")

    # What is wrong

    def test_wrong_usage(self):
        with self.assertRaisesRegex(podrun.UsageError, "^--timeout: bad duration"):
            self.pod(shown("error"), 2).run("x", timeout="soon")
        for wrong in ({}, {"command": ""}, {"command": []}, {"command": "x", "script": "y"}):
            with self.assertRaises(podrun.UsageError):
                self.pod().run(**wrong)
        for wrong in (lambda: self.pod().run("x", options="-k"), lambda: podrun.Pod(options="-k"), lambda: self.pod().run("x", args=["y"])):
            with self.assertRaises(podrun.UsageError):
                wrong()

    def test_a_stream_that_is_cut_off(self):
        for end in (1, 3):
            with self.assertRaisesRegex(podrun.Incomplete, "killed"):
                self.pod(first_run()[:end], messages="podrun: killed\n").run("x")
        with self.assertRaises(podrun.Incomplete):
            self.pod(text="os.kill(os.getpid(), signal.SIGKILL)").run("x")
        with self.assertRaisesRegex(podrun.PodrunError, "there is no job x") as error:
            self.pod([], 1, "podrun: there is no job x on these hosts\n").call("wait", "x").result()
        self.assertNotIsInstance(error.exception, podrun.Incomplete)
        with self.assertRaises(podrun.Incomplete):
            self.pod(first_run()[:2], text="sys.stdout.write('{\"v\":1,\"ev')").run("x")

    def test_what_a_later_podrun_adds_is_no_error(self):
        later = dict({"v": 1, "event": "weather", "sky": "blue"})
        ended = dict(first_run()[-2], outcome="abducted", by="aliens")
        ended.pop("cause", None)
        result = self.pod([*first_run()[:-2], later, ended, first_run()[-1]]).run("x")
        self.assertIn(later, result.events)
        self.assertEqual((result[1].outcome, result[1].returncode, result[1].details["by"]), ("abducted", None, "aliens"))
        with self.assertRaisesRegex(podrun.PodrunError, "version 1"):
            self.pod([dict(first_run()[0], v=2)]).run("x")

        with self.assertRaises(podrun.Incomplete):
            self.pod([later], text="os.kill(os.getpid(), signal.SIGKILL)").run("x")

    def test_output_that_is_no_event(self):
        for text in ("print('would run: true')", "say([1])", "say({'event': 'line'})", "say(%r)" % line("of no host", 7)):
            with self.assertRaisesRegex(podrun.PodrunError, "no event: .*(would run|1|line)"):
                self.pod(text=text + "\nfor _ in range(9): print('more')").run("x")

    def test_a_message_without_a_newline(self):
        self.assertEqual(self.pod(first_run(), messages="podrun: one\npodrun: two").run("x").messages, ["podrun: one", "podrun: two"])

    def test_a_cut_between_two_tries(self):
        with self.assertRaises(podrun.Incomplete):
            self.pod([first_run()[0], dict(first_run()[-1], status=0, final=False)]).run("x")

    def test_a_status_that_somebody_else_has_taken(self):
        """A handler of SIGCHLD that waits for any child, as that of a first process of a container."""

        def reap(number, frame):
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass

        self.addCleanup(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, reap))
        for _ in range(5):
            with self.assertRaises(podrun.RunFailed) as failed:
                self.pod(first_run(), 255).run("x", check=True)
            self.assertEqual(failed.exception.result.returncode, 255)

    def test_a_command_that_prints_no_event_and_succeeds(self):
        result = self.pod(messages="podrun: train runs on 1 host, kept by this machine\n").call("start", "train", "--restarts", "9").result()
        self.assertTrue(result.ok)
        self.assertEqual(len(result.messages), 1)

    def test_check(self):
        pod = self.pod(first_run(), 255)
        with self.assertRaises(podrun.RunFailed) as failed:
            pod.run("x", check=True)
        self.assertEqual(str(failed.exception), "[1] tpu-1: lost: no answer for 1 min")
        self.assertEqual(failed.exception.result[0].returncode, 0)

    def test_no_program(self):
        with self.assertRaises(FileNotFoundError):
            podrun.Pod(program=str(self.directory / "none")).run("x")

    def test_no_answer(self):
        with self.assertRaisesRegex(podrun.PodrunError, "nobody answered"):
            self.pod(first_run(), 255, "podrun: nobody answered\n").ask("ps")

    # What podrun is asked

    def test_words(self):
        pod = podrun.Pod([podrun.Host(0, "a", "ada", 22), "b"], workers="0", options=["--retries", "0"], program=self.program("say({'v': 1, 'words': sys.argv[1:]})"))

        def words(*args, **options):
            return pod.stream(*args, **options).result().objects[0]["words"]

        always = ["--json", "--no-gather", "--no-rank0", "--no-dedup"]
        hosts = ["--hosts=ada@a:22,b", "--workers=0", "--retries", "0"]
        self.assertEqual(words("a | b"), [*always, *hosts, "--", "a | b"])
        self.assertEqual(words(["/my prog"]), [*always, "--exec", *hosts, "--", "/my prog"])
        self.assertEqual(words(script="s.sh", args=["x"]), [*always, "--script=s.sh", *hosts, "--", "x"])
        self.assertEqual(words("x", timeout=0.5, fail_fast=True, options=["-k"])[4:], ["--timeout=500ms", "--fail-fast", *hosts, "-k", "--", "x"])
        self.assertEqual(words("x", outdir=Path("out"))[0], "--json=events")
        self.assertIn("--chdir=/tmp", words("x", cwd=Path("/tmp")))

    def test_a_host_as_a_word(self):
        for host, word in (((0, "a"), "a"), ((0, "fe80::1"), "fe80::1"), ((0, "::1", "ada", 22), "ada@[::1]:22"), ((0, "a", "ada"), "ada@a")):
            self.assertEqual(str(podrun.Host(*host)), word)

    def test_it_has_a_session_of_its_own(self):
        run = podrun.Pod(program=self.program("say({'v': 1, 'session': os.getsid(0), 'own': os.getpid()})")).stream("x")
        said = run.result().objects[0]
        self.assertEqual(said["session"], said["own"])

    def python(self, text, **options):
        """What a Python of its own that runs `text` leaves in the file whose path it gets."""
        said = self.directory / "said"
        environment = dict(os.environ, PYTHONPATH=options.pop("path", str(ROOT / "python")), SAID=str(said), PODRUN_PROGRAM=options.pop("program", ""))
        subprocess.run([sys.executable, "-c", textwrap.dedent(text)], env=environment, check=True, timeout=60, **options)
        return json.loads(said.read_text())

    def test_where_standard_descriptors_are_closed(self):
        program = self.program("say({'v': 1, 'input': sys.stdin.read(), 'env': open(sys.argv[1].split('=')[1]).read()})")
        said = self.python("""
            import json, os
            for descriptor in range(3):
                os.close(descriptor)
            import podrun
            said = podrun.Pod().stream("x", env={"A": "b"}, input="all of it").result().objects[0]
            open(os.environ["SAID"], "w").write(json.dumps(said))
        """, program=program)
        self.assertEqual((said["input"], said["env"]), ("all of it", "A=b\n"))

    def test_the_program_is_the_one_that_came_with_the_package(self):
        find = "import json, os, podrun; open(os.environ['SAID'], 'w').write(json.dumps(podrun.find_program()))"
        program = shutil.which("true")
        for library, place in (("target", "target/bin"), ("venv/lib/python3.9/site-packages", "venv/bin"), ("local/lib/python3/dist-packages", "local/bin")):
            (self.directory / place).mkdir(parents=True)
            shutil.copytree(str(ROOT / "python/podrun"), str(self.directory / library / "podrun"))
            brought = self.directory / place / "podrun"
            shutil.copy(program, str(brought))
            self.assertEqual(self.python(find, path=str(self.directory / library)), str(brought))
            if os.getuid() == 0:
                os.chown(str(brought), 12345, 12345)
                shutil.copy(program, str(self.directory / "podrun"))
                found = self.python("import os; os.environ['PATH'] = %r\n" % str(self.directory) + find, path=str(self.directory / library))
                self.assertEqual(found, str(self.directory / "podrun"), "a program of another user is none of ours")

    def test_values_of_variables_are_in_no_list_of_processes(self):
        pod = podrun.Pod(program=self.program("word = sys.argv[1]\nsay({'v': 1, 'words': sys.argv, 'env': open(word.split('=')[1]).read(), 'own': 'A' in os.environ})"))
        said = pod.stream("x", env={"A": "it's\ns3cret", "B": ""}).result().objects[0]
        self.assertEqual((said["env"], said["own"]), ("A='it'\"'\"'s\ns3cret'\nB=''\n", False))
        self.assertNotIn("s3cret", str(said["words"]))

    def test_input(self):
        program = self.program("say({'v': 1, 'input': sys.stdin.read(), 'words': sys.argv})")
        for wrong in ({"A B": "x"}, {"A": "\0"}, {"": "x"}, {"A=B": "x"}):
            with self.assertRaisesRegex(podrun.UsageError, "^env: "):
                podrun.Pod(program=program).stream("x", env=wrong)
        for given, text in ((None, ""), (bytearray(b"y"), "y"), ("\u00e9", "\u00e9"), (b"x" * 300000, "x" * 300000)):
            said = podrun.Pod(program=program).stream("cat", input=given).result().objects[0]
            self.assertEqual((said["input"], "--stdin" in said["words"]), (text, given is not None))

    # A notebook

    def test_a_cell_runs_on_every_host(self):
        magics, names = {}, {}

        class IPython:
            push = names.update

            def register_magic_function(self, function, kind, name):
                magics[name] = function

        os.environ["PODRUN_PROGRAM"] = self.program("sys.stderr.write('all: same\\n'); say({'v': 1, 'words': sys.argv[1:]})")
        self.addCleanup(os.environ.pop, "PODRUN_PROGRAM")
        podrun.load_ipython_extension(IPython())
        for first, cell, words in (
            ("-H tpu-[0-1] --workers '0' >smi", "nvidia-smi", ["-H", "tpu-[0-1]", "--workers", "0", "--", "nvidia-smi"]),
            ("", "a\nb", ["--", "a\nb"]),
            ("python3 -p pod", "print(1)", ["--exec", "-p", "pod", "--", "python3", "-c", "print(1)"]),
        ):
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                self.assertIsNone(magics["pod"](first, cell))
            result = names.pop("smi" if "smi" in first else "_pod")
            self.assertEqual(result.objects[0]["words"], ["--json", "--no-gather", "--no-rank0", "--dedup", "--escape", *words])
            self.assertEqual(shown.getvalue(), "all: same\n")

    # The end

    UNTIL_SIGNAL = """
        stops = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, frame: stops.append(number))
        open(os.path.join(os.path.dirname(sys.argv[0]), "waits"), "w").close()
        while len(stops) < {}: time.sleep(0.02)
        open(os.path.join(os.path.dirname(sys.argv[0]), "stopped"), "w").write(str(stops))
        say({})
    """

    def waiting(self, signals=1, events=None):
        summary = dict(first_run()[-1], status=130, interrupted_by=2)
        return self.pod(events or first_run()[:2], 130, text=textwrap.dedent(self.UNTIL_SIGNAL).format(signals, summary))

    def stops(self):
        """The signals that the program got."""
        deadline = time.monotonic() + 20
        while not (self.directory / "stopped").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        return json.loads((self.directory / "stopped").read_text() or "[]")

    def interrupt_soon(self, times=1):
        """Ctrl-C when the program waits for it."""

        def interrupt():
            while not (self.directory / "waits").exists():
                time.sleep(0.02)
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.addCleanup(thread.join)

    def wait_until_it_waits(self):
        while not (self.directory / "waits").exists():
            time.sleep(0.02)

    def test_ctrl_c_is_passed_on_each_time(self):
        for signals in (1, 2):
            with self.subTest(signals=signals):
                pod = self.waiting(signals)
                self.interrupt_soon(signals)
                with self.assertRaises(KeyboardInterrupt):
                    pod.run("x")
                self.assertEqual(self.stops(), [signal.SIGINT] * signals)
                for name in ("waits", "stopped"):
                    (self.directory / name).unlink()

    def test_ctrl_c_in_a_loop_without_a_block_is_passed_on_too(self):
        run = self.waiting().stream("x")
        self.interrupt_soon()
        with self.assertRaises(KeyboardInterrupt):
            for _ in run:
                pass
        self.assertEqual(self.stops(), [signal.SIGINT])

    def test_a_block_that_is_left_stops_it(self):
        with self.assertRaises(ZeroDivisionError), self.waiting().stream("x") as run:
            self.wait_until_it_waits()
            1 / 0
        self.assertEqual(self.stops(), [signal.SIGTERM])
        self.assertEqual(run.result().interrupted_by, 2)

    def test_a_run_that_is_forgotten_is_stopped(self):
        run = self.waiting().stream("x")
        self.wait_until_it_waits()
        with self.assertWarns(ResourceWarning):
            del run
            gc.collect()
        self.assertEqual(self.stops(), [signal.SIGTERM])

    def test_a_forked_child_stops_nothing(self):
        run = self.waiting().stream("x")
        self.wait_until_it_waits()
        child = os.fork()
        if child == 0:
            del run
            gc.collect()
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.2)
        self.assertFalse((self.directory / "stopped").exists())
        run.close()
        self.assertEqual(self.stops(), [signal.SIGTERM])

    def test_a_child_forked_during_a_start_keeps_no_run(self):
        popen, starts = subprocess.Popen, threading.Event()

        def slow_popen(*args, **options):
            process = popen(*args, **options)
            starts.set()
            time.sleep(0.5)
            return process

        self.addCleanup(setattr, subprocess, "Popen", popen)
        subprocess.Popen = slow_popen
        runs = []
        thread = threading.Thread(target=lambda: runs.append(self.waiting().stream("x")))
        thread.start()
        starts.wait(20)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            pipes = [os.readlink("/proc/self/fd/" + each) for each in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + each)]
            os.write(writer, json.dumps(pipes).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        of_child = json.loads(os.read(reader, 65536))
        os.close(reader)
        thread.join(20)
        pipe = os.readlink("/proc/self/fd/%d" % runs[0]._process.stdout.fileno())
        self.assertNotIn(pipe, of_child)
        runs[0].close()

    # asyncio

    def test_await(self):
        async def main():
            result = await self.pod(first_run(), 255).stream("x")
            self.assertEqual(result[1].stdout, "step 100 loss 2.31\n")
            both = await asyncio.gather(self.pod(first_run()).stream("x"), self.pod(first_run()).call("ps"))
            self.assertEqual([len(each) for each in both], [2, 2])
            async with self.pod(first_run()).stream("x") as run:
                self.assertEqual([each.worker async for each in run], [1, 1])
            with self.assertRaises(podrun.RunFailed):
                await self.pod(first_run(), 255).stream("x", check=True)

        asyncio.run(main())

    def test_a_run_has_one_reader_at_a_time(self):
        async def main():
            async with self.waiting().stream("x") as run:
                first = asyncio.ensure_future(run)
                await asyncio.sleep(0.2)
                with self.assertRaisesRegex(RuntimeError, "another task"):
                    async for _ in run:
                        pass
                first.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await first

        asyncio.run(main())

    def test_a_signal_handler_can_close_it(self):
        run = self.waiting().stream("x")
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, lambda number, frame: run.close()))
        self.wait_until_it_waits()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        self.assertEqual(list(run), [])
        self.assertEqual((self.stops(), run.result().interrupted_by), ([signal.SIGTERM], 2))

    def test_the_event_loop_and_another_task_can_close_it(self):
        async def main(close):
            run = self.waiting().stream("x")
            await asyncio.get_running_loop().run_in_executor(None, self.wait_until_it_waits)
            reading = asyncio.ensure_future(run)
            await asyncio.sleep(0.1)
            await close(run)
            self.assertEqual((await reading).interrupted_by, 2)

        async def in_the_loop(run):
            run.close()

        async def in_a_task(run):
            await run.aclose()

        for close in (in_the_loop, in_a_task):
            asyncio.run(asyncio.wait_for(main(close), 20))
            self.assertEqual(self.stops(), [signal.SIGTERM])
            for name in ("waits", "stopped"):
                (self.directory / name).unlink()

    def test_another_thread_can_close_it(self):
        run = self.waiting().stream("x")
        threads = [threading.Timer(0.5, run.close) for _ in range(2)]
        for thread in threads:
            self.wait_until_it_waits()
            thread.start()
        self.assertEqual(len(list(run)), 0)
        for thread in threads:
            thread.join(20)
            self.assertFalse(thread.is_alive())
        self.assertEqual(run.result().interrupted_by, 2)

    def test_a_cancelled_task_stops_it(self):
        async def main():
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.waiting().stream("x"), 1.5)

        asyncio.run(main())
        self.assertEqual(self.stops(), [signal.SIGTERM])

    def test_a_task_that_is_cancelled_twice_still_stops_it(self):
        async def main():
            run = self.waiting().stream("x")
            await asyncio.get_running_loop().run_in_executor(None, self.wait_until_it_waits)
            task = asyncio.ensure_future(run)
            await asyncio.sleep(0.1)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        self.assertEqual(self.stops(), [signal.SIGTERM])

    def test_an_async_block_that_is_left_stops_it(self):
        async def main():
            async with self.waiting().stream("x"):
                await asyncio.get_running_loop().run_in_executor(None, self.wait_until_it_waits)

        asyncio.run(main())
        self.assertEqual(self.stops(), [signal.SIGTERM])


if __name__ == "__main__":
    unittest.main()
