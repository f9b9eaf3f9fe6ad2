"""Manual, "Tasks": a git repository as the workdir."""

import base64
import http.server
import os
import signal
import subprocess
import threading

import pytest

from support import by_rank, marked_processes, processes, wait_until
from test_launch import launch, refused
from trees import write_tree

LOGIN = ("user", "t0k%en")
NO_GLOBAL = {"GIT_CONFIG_GLOBAL": "/dev/null"}


def commit(repository, text):
    """A commit with one file; its tag is the text."""
    write_tree(repository, {"f": text.encode()})
    for words in (["add", "f"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", text], ["tag", text]):
        subprocess.run(["git", "-C", repository, *words], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})


@pytest.mark.smoke
def test_a_repository_is_cloned_here_at_each_launch(podrun, pair):
    repository = podrun.directory / "repo"
    subprocess.run(["git", "init", "-q", repository], check=True)
    commit(repository, "v1")
    text = f"workdir:\n  url: file://{repository}\nrun: cat f; echo; ls -a\n"
    first = launch(podrun, pair, text)
    assert by_rank(first.stdout)[0] == [b"v1", b".", b"..", b"f"], first
    commit(repository, "v2.0")  # of another size: git takes a file of the same size and second for unchanged
    for command in ("launch", "exec"):
        assert by_rank(launch(podrun, pair, text, command=command).stdout)[1][0] == b"v2.0"
    old = launch(podrun, pair, text.replace("run:", "  ref: v1\nrun:"))
    assert by_rank(old.stdout)[0][0] == b"v1", old
    assert podrun.home.joinpath(".cache/podrun/clones").stat().st_mode & 0o77 == 0


def test_a_ref_like_a_commit_is_that_commit(podrun, pair):
    repository = podrun.directory / "repo"
    subprocess.run(["git", "init", "-q", repository], check=True)
    commit(repository, "v1")
    first = subprocess.run(["git", "-C", repository, "rev-parse", "v1"], check=True, capture_output=True, text=True).stdout.strip()
    commit(repository, "v2.0")
    text = f"workdir: {{{{url: 'file://{repository}', ref: '{{}}'}}}}\nrun: cat f\n"
    for ref in (first[:9], first[:7].upper(), first[:39], first.upper()):
        assert by_rank(launch(podrun, pair, text.format(ref)).stdout)[0] == [b"v1"], ref
    subprocess.run(["git", "-C", repository, "tag", "ABCDEF01", "v2.0"], check=True)
    assert launch(podrun, pair, text.format("ABCDEF01")).returncode == 2
    for kind in ("tag", "branch"):
        subprocess.run(["git", "-C", repository, kind, first[:9], "v2.0"], check=True)
        ended = launch(podrun, pair, text.format(first[:9]))
        assert ended.returncode == 2 and f"refs/tags/{first[:9]}".encode() in ended.stderr, ended
        assert by_rank(launch(podrun, pair, text.format(first)).stdout)[0] == [b"v1"]
        place = "heads" if kind == "branch" else "tags"
        assert by_rank(launch(podrun, pair, text.format(f"refs/{place}/{first[:9]}")).stdout)[0] == [b"v2.0"]
        subprocess.run(["git", "-C", repository, kind, "-d", first[:9]], check=True)


def test_a_repository_that_cannot_be_fetched_starts_nothing(podrun, pair):
    said = refused(podrun, pair, f"workdir: {{url: 'file://{podrun.directory}/none'}}\nrun: echo\n")
    assert said.startswith(f"podrun: {podrun.directory}/task.yaml:1: workdir: git: "), said
    said = refused(podrun, pair, "workdir: {url: a, ref: --upload-pack=x}\nrun: echo\n")
    assert said.endswith('bad ref "--upload-pack=x" (expected a branch, a tag or a commit)'), said


class GitServer:
    """Serves the repositories of a directory over HTTP, to one login. Notes who has its password meanwhile."""

    def __init__(self, directory):
        self.directory = directory
        self.leaks = set()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def url(self, login):
        return f"http://{login}127.0.0.1:{self._server.server_port}/repo"

    def end(self):
        self._server.shutdown()
        self._server.server_close()

    def look(self):
        self.leaks |= {process.command for process in processes() if b"t0k" in process.command}

    def _handler(server):  # pylint: disable=no-self-argument
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.look()
                word = base64.b64encode(":".join(LOGIN).encode()).decode()
                if self.headers.get("Authorization") != f"Basic {word}":
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="test"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                path, _, query = self.path.partition("?")
                variables = {
                    "GIT_PROJECT_ROOT": str(server.directory),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                }
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                answer = subprocess.run(["git", "http-backend"], input=body, env={**os.environ, **NO_GLOBAL, **variables}, capture_output=True, check=True).stdout
                self.wfile.write(b"HTTP/1.0 200 OK\r\n" + answer)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        return Handler


@pytest.fixture
def git_server(podrun):
    repository = podrun.directory / "served" / "repo"
    subprocess.run(["git", "init", "-q", repository], check=True)
    commit(repository, "v1")
    server = GitServer(podrun.directory / "served")
    yield server
    server.end()


def test_the_login_in_a_url_is_on_no_command_line_in_no_file_and_no_message(podrun, pair, git_server):
    helper = podrun.directory / "helper"
    helper.write_text(f'#!/bin/sh\n[ "$1" != store ] || touch {helper}.stored\necho username=another\necho password=wrong\n')
    helper.chmod(0o755)
    podrun.home.joinpath(".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n[core]\n\taskPass = true\n")
    text = "workdir: {{url: '{}'}}\nrun: cat f\n"
    ended = launch(podrun, pair, text.format(git_server.url("user:t0k%25en@")))
    assert by_rank(ended.stdout) == {rank: [b"v1"] for rank in pair.ranks}, ended
    said = ended.stderr
    for login in ("user:t0k%25en-wrong@", "t0k%25en@", "user:t0k@en@"):
        ended = launch(podrun, pair, text.format(git_server.url(login)))
        assert ended.returncode == 2, ended
        said += ended.stderr
    assert b"t0k" not in said and b"workdir is http://127.0.0.1:" in said, said
    assert git_server.leaks == set()
    files = [path for path in podrun.home.joinpath(".cache").rglob("*") if path.is_file()]
    assert files and [path for path in files if b"t0k" in path.read_bytes()] == []
    assert not helper.with_suffix(".stored").exists()


def test_a_helper_of_the_user_gives_the_password_for_a_user_in_the_url(podrun, pair, git_server):
    helper = podrun.directory / "helper"
    helper.write_text("#!/bin/sh\nif grep -qx username=user; then echo 'password=t0k%en'; fi\n")
    helper.chmod(0o755)
    podrun.home.joinpath(".gitconfig").write_text(f"[credential]\n\thelper = {helper}\n")
    ended = launch(podrun, pair, f"workdir: {{url: '{git_server.url('user@')}'}}\nrun: cat f\n")
    assert by_rank(ended.stdout) == {rank: [b"v1"] for rank in pair.ranks}, ended


def test_locks_of_a_git_that_was_killed_hold_up_no_later_one(podrun, pair):
    repository = podrun.directory / "repo"
    subprocess.run(["git", "init", "-q", repository], check=True)
    commit(repository, "v1")
    text = f"workdir: {{url: 'file://{repository}'}}\nrun: cat f\n"
    assert by_rank(launch(podrun, pair, text).stdout)[0] == [b"v1"]
    [tree] = podrun.home.glob(".cache/podrun/clones/*/tree")
    for name in ("config", "index", "shallow"):
        tree.joinpath(".git", f"{name}.lock").touch()
    commit(repository, "v2.0")
    assert by_rank(launch(podrun, pair, text).stdout)[0] == [b"v2.0"]


@pytest.fixture
def silent_server(podrun):
    """Options for git by which its ssh connects to nothing: their variables, and what marks its processes."""
    mark = f"silent-{os.getpid()}-{podrun.directory.name}"
    script = podrun.directory / "ssh"
    script.write_text(f'#!/bin/sh\nsh -c "sleep 1000; : {mark}"; : {mark}\n')
    script.chmod(0o755)
    yield {"GIT_SSH_COMMAND": f"{script} {mark}"}, mark
    for process in marked_processes(mark):
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_git_ends_with_podrun(podrun, pair, silent_server, number):
    environment, mark = silent_server
    task = podrun.directory / "task.yaml"
    task.write_text("workdir: {url: 'ssh://host/repo'}\nrun: cat f\n")
    run = podrun.start(*pair.options, "launch", task, env=environment)
    wait_until(lambda: any(b"sleep" in process.command for process in marked_processes(mark)), what="a git that waits for its server")
    run.signal(number)
    run.wait()
    wait_until(lambda: not marked_processes(mark), what="the end of git")


def test_a_git_that_takes_long_is_told_of(podrun, pair, silent_server):
    environment, _mark = silent_server
    task = podrun.directory / "task.yaml"
    task.write_text("workdir: {url: 'ssh://user@host/repo'}\nrun: cat f\n")
    words = (*pair.options, "launch", task)
    told = f"podrun: {task}:1: workdir: waiting for git to fetch ssh://host/repo\n".encode()
    run = podrun.start(*words, env=environment)
    wait_until(lambda: run.stderr == told, what="the notice")
    second = podrun.start(*words, env=environment)
    wait_until(lambda: b"waiting for another podrun that fetches ssh://host/repo\n" in second.stderr, what="the second notice")
    for each in (run, second):
        each.signal(signal.SIGTERM)
        each.wait()
    terminal = podrun.terminal(*words, env=environment)
    terminal.read_until(told.rstrip())
    terminal.type(b"\x03")
    terminal.wait()
