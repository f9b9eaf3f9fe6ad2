"""Another user of the host. He exchanges names in a directory that a push goes to: nothing outside is changed, nothing of his runs. He puts
lines of a reply into what his processes show: no reply changes."""

import json
import os
import pwd
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys

import pytest

from conftest import private_mounts
from events import Events
from homes import ViaHomes, homes_of_pod
from support import wait_until
from trees import Directory, Link, assert_same, read_tree, write_tree

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a second account")
OTHER = pwd.getpwnam("games")
NEW = {"c": b"3", "more/deep/b": b"2", "sub/a": b"new"}
OLD = {"sub/a": b"old", "sub/stale": b"x"}


def let_write(path, uid):
    """Gives a user the right to write by an ACL, as `setfacl -m u:UID:rwx` does. The layout is that of Linux, posix_acl_xattr.h."""
    user, group, mask, other, named, nobody = 1, 4, 16, 32, 2, 0xFFFFFFFF
    entries = [(user, 7, nobody), (named, 7, uid), (group, 5, nobody), (mask, 7, nobody), (other, 5, nobody)]
    os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))


class Attacked:
    """A host whose directory `work` the other user may write to: it is his, or one of his group, or an ACL lets him."""

    def __init__(self, podrun, owner, *names):
        self.podrun = podrun
        self.homes = ViaHomes(podrun, *names or "a")
        self.app = write_tree(podrun.directory / "app", NEW)
        self.outside = write_tree(podrun.directory / "outside", {"a": b"precious", "stale": b"precious", "new/x": b"precious"})
        self.before = read_tree(self.outside)
        self.homes.write("work", OLD)
        self.work = self.homes.home(0) / "work"
        for rank in self.homes.ranks:
            work = self.homes.home(rank) / "work"
            os.chown(work, OTHER.pw_uid if owner == "his" else 0, 0 if owner == "root's with an ACL" else OTHER.pw_gid)
            work.chmod(0o2775 if owner == "his group's" else 0o755)
            if owner == "root's with an ACL":
                let_write(work, OTHER.pw_uid)

    def command(self, text):
        """Of the other user, in `work`; root opens that directory for him, since those above are private to the tests. $1 is the link's text."""
        setpriv = [shutil.which("setpriv"), f"--reuid={OTHER.pw_uid}", f"--regid={OTHER.pw_gid}", "--clear-groups"]
        return [*setpriv, "sh", "-c", text, "sh", os.fspath(self.outside)]

    def attack(self, text, rank=0):
        subprocess.run(self.command(text), cwd=self.homes.home(rank) / "work", check=True)

    def start(self, *options, source="app/", target="work"):
        return self.podrun.start("--json", *self.homes.options, "push", *options, source, target)

    def push(self, *options, **words):
        return Events(self.start(*options, **words).wait(60))

    def has_changed_nothing_outside(self):
        assert_same(self.before, read_tree(self.outside))


@pytest.fixture(params=["his", "his group's", "root's with an ACL"])
def attacked(request, podrun):
    return Attacked(podrun, request.param)


@pytest.mark.smoke
def test_the_staging_directory_is_exchanged_for_a_link_while_files_come(attacked):
    attacked.homes.hold(0, "tar")
    run = attacked.start()
    attacked.homes.wait_until_held(0, "tar")
    attacked.attack('for each in .podrun.*; do mv "$each" moved && ln -s "$1" "$each"; done')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode in (1, 255), ended.stderr
    attacked.has_changed_nothing_outside()


def test_the_staging_directory_is_exchanged_for_a_directory_of_another_user(attacked):
    attacked.homes.hold(0, "tar")
    run = attacked.start()
    attacked.homes.wait_until_held(0, "tar")
    text = 'printf "touch %s/ran\\n" "$1" >"$each/podrun.check"; cp "$each/podrun.check" "$each/podrun.switch"; chmod 555 "$each"'
    attacked.attack(f'for each in .podrun.*; do mv "$each" moved && mkdir -m 777 "$each" && {{ {text}; }}; done')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode in (1, 255), ended.stderr
    attacked.has_changed_nothing_outside()


@pytest.mark.parametrize("options", [(), ("--delete",)], ids=["", "delete"])
def test_a_directory_is_exchanged_for_a_link_in_the_switch(attacked, options):
    program = "rm" if options else "mv"
    if options:  # the first step of a switch that deletes
        wait = 'case $* in *stale*) : >"$own/held.rm"; until [ -e "$own/go" ]; do sleep 0.1; done ;; esac'
        attacked.homes.program(0, "rm", f'own=${{0%/*}}\n{wait}\nexec {shutil.which("rm")} "$@"')
        attacked.homes.write("work", {"a stale": b"first of all"})
    else:
        attacked.homes.hold(0, "mv")
    run = attacked.start(*options)
    attacked.homes.wait_until_held(0, program)
    attacked.attack('mv sub moved && ln -s "$1" sub')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode in (0, 1), ended.stderr
    attacked.has_changed_nothing_outside()


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_no_link_is_entered_where_names_lie(attacked, shell):
    """The other user moves the destination, and puts directories with the names of what was moved in its place."""
    attacked.podrun.wrapper = [*private_mounts(), "sh", "-c", 'mount --bind "$0" /bin/sh && exec "$@"', shutil.which(shell)]
    attacked.homes.write("work/app", {**OLD, "a stale": b"first of all"})
    for path in (attacked.work / "app", *(attacked.work / "app").rglob("*")):
        os.chown(path, OTHER.pw_uid, OTHER.pw_gid)
    wait = 'case $* in *stale*) : >"$own/held.rm"; until [ -e "$own/go" ]; do sleep 0.1; done ;; esac'
    attacked.homes.program(0, "rm", f'own=${{0%/*}}\n{wait}\nexec {shutil.which("rm")} "$@"')
    run = attacked.start("--delete", target="work/app")
    attacked.homes.wait_until_held(0, "rm")
    decoys = 'for each in moved/.podrun.*; do mkdir "app/${each#moved/}"; done'
    attacked.attack(f'mv app moved && mkdir -p app/sub && {decoys}; mv moved/sub moved/old && ln -s "$1" moved/sub')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode == 1, ended.stderr
    attacked.has_changed_nothing_outside()


def test_modes_and_times_are_not_set_through_a_link(attacked):
    assert attacked.push().returncode == 0
    (attacked.app / "c").chmod(0o644)
    (attacked.app / "sub").chmod(0o711)
    (attacked.app / "sub" / "a").chmod(0o640)
    os.utime(attacked.app / "sub" / "a", (1, 1))
    attacked.homes.hold(0, "tar")
    write_tree(attacked.app, {"first": b"so that something is sent"})
    run = attacked.start("--checksum")
    attacked.homes.wait_until_held(0, "tar")
    attacked.attack('mv sub moved && ln -s "$1" sub; mv c moved.c && ln -s "$1/a" c')
    attacked.homes.let_go()
    assert Events(run.wait(60)).returncode in (0, 1, 255)
    attacked.has_changed_nothing_outside()


def test_another_user_who_exchanges_names_all_the_time_gets_nothing(attacked):
    loop = """while :; do
      for each in .podrun.* sub; do
        [ -e "$each" ] && [ ! -L "$each" ] && mv "$each" "moved$each" && ln -s "$1" "$each" && rm "$each"
        mv "moved$each" "$each"
      done
    done 2>/dev/null"""
    with subprocess.Popen(attacked.command(loop), cwd=attacked.work, start_new_session=True) as attacker:
        try:
            for _ in range(5):
                ended = attacked.push("--checksum", "--delete")
                assert ended.returncode in (0, 1, 255), ended.stderr
                attacked.has_changed_nothing_outside()
        finally:
            os.killpg(attacker.pid, signal.SIGKILL)


SOURCES = ["work", "work/", "work/sub", "work/sub/", "work/sub/a", "work/s*/a", "~/work/../work/sub"]


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_that_another_user_puts_in_the_place_of_files_is_pulled(attacked, source):
    got = write_tree(attacked.podrun.directory / "got", {})
    attacked.homes.hold(0, "python3")
    run = attacked.podrun.start("--json", *attacked.homes.options, "pull", source, "got")
    attacked.homes.wait_until_held(0, "python3")
    attacked.attack('mv sub moved && ln -s "$1" sub')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode == 1, ended.stderr
    assert b"work/sub/a: changed while it was being copied (run the command again)" in ended.stderr
    assert not [path for path in got.rglob("*") if path.is_file()]


@pytest.mark.parametrize("python", [True, False], ids=["python", "tar"])
def test_a_tree_that_another_user_may_change_is_pulled_as_any_other(podrun, python):
    attacked = Attacked(podrun, "his")
    tree = {"a": b"1", "l": Link(b"a"), "empty": b"", "x" * 200: b"long", "odd \n'\\": b"odd", b"\xff": b"2", "big": b"b" * 3_000_001}
    os.link(write_tree(attacked.work / "tree", tree) / "a", attacked.work / "tree" / "hard link")
    got = write_tree(podrun.directory / "got", {})
    text = f': >"${{0%/*}}/started"; exec {sys.executable} "$@"' if python else "exit 1"
    attacked.homes.program(0, "python3", text)
    ended = podrun(*attacked.homes.options, "pull", "work/tree", "got")
    assert ended.returncode == 0, ended.stderr
    assert_same(read_tree(attacked.work / "tree"), read_tree(got / "0-a" / "tree"))
    assert (attacked.homes.bin(0) / "started").exists() == python


def test_a_tree_of_ones_own_is_pulled_by_tar(podrun):
    homes = ViaHomes(podrun, "a")
    homes.write("work", OLD)
    homes.program(0, "python3", ': >"${0%/*}/started"; exit 1')
    write_tree(podrun.directory / "got", {})
    assert podrun(*homes.options, "pull", "work", "got").returncode == 0
    assert not (homes.bin(0) / "started").exists()


@pytest.mark.parametrize("source", ["shared", "shared/"])
def test_no_digest_of_what_another_user_puts_into_the_source_is_taken(podrun, source):
    homes = ViaHomes(podrun, "a")
    shared = write_tree(podrun.directory / "shared", {"sub/a": b"theirs"})
    private = write_tree(podrun.directory / "private", {"a": b"secret"})
    for path in (shared / "sub/a", private / "a"):
        os.utime(path, (1, 1))
    assert podrun(*homes.options, "push", source, "work").returncode == 0
    homes.hold(0, "xargs")
    run = podrun.start("--json", *homes.options, "push", "--checksum", source, "work")
    homes.wait_until_held(0, "xargs")
    (shared / "sub").rename(shared / "moved")
    (shared / "sub").symlink_to(private)
    homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode == 255, ended.stderr
    assert b"shared/sub/a: changed while it was being copied (run the command again)" in ended.stderr


PROGRAMS = "cat chmod cp df find grep gzip id ln ls mkdir mv readlink rm rmdir sed sha256sum sort stat tar touch xargs".split()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_directory_is_a_link_to_elsewhere_while_a_program_runs(podrun, program):
    """Each time, and a directory again before the next one."""
    attacked = Attacked(podrun, "his")
    for place in (attacked.app, attacked.work, attacked.outside):
        write_tree(place / ("" if place == attacked.outside else "sub"), {"kept": b"kept", "mode": b"mode"})
    for place, mode in (("sub", 0o711), ("sub/mode", 0o600)):
        (attacked.app / place).chmod(mode)
    attacked.before = read_tree(attacked.outside)
    sub = shlex.quote(os.fspath(attacked.work / "sub"))
    exchange = f"/bin/mv {sub} {sub}.moved && /bin/ln -s {attacked.outside} {sub}"
    back = f"[ ! -L {sub} ] || {{ /bin/rm {sub} && /bin/mv {sub}.moved {sub}; }}"
    attacked.homes.program(0, program, f'{exchange}\n{shutil.which(program)} "$@"\nstatus=$?\n{back}\nexit $status')
    ended = attacked.push("--checksum", "--delete")
    assert ended.returncode in (0, 1, 255), ended.stderr
    attacked.has_changed_nothing_outside()


def test_a_link_of_another_user_is_not_followed_to_the_destination(attacked):
    attacked.attack('ln -s "$1" link')
    ended = attacked.push(target="work/link")
    assert ended.returncode == 255
    assert b"work/link: a link that other users can change (name the directory that it leads to)" in ended.stderr
    attacked.has_changed_nothing_outside()


def test_a_link_of_root_that_another_user_can_exchange_is_not_followed(attacked):
    (attacked.work / "link").symlink_to("sub")
    ended = attacked.push(target="work/link")
    assert ended.returncode == 255
    assert b"work/link: a link that other users can change (name the directory that it leads to)" in ended.stderr
    attacked.homes.wait_until_clean()


def test_a_link_of_another_user_is_not_kept(attacked):
    attacked.attack('mv sub moved && ln -s "$1" sub')
    ended = attacked.push("--keep-dir-links")
    assert ended.returncode == 255
    assert b"work/sub: a link that other users can change (leave out --keep-dir-links)" in ended.stderr
    attacked.has_changed_nothing_outside()
    assert (attacked.work / "sub").is_symlink()
    attacked.homes.wait_until_clean()


def test_a_directory_behind_a_kept_link_is_exchanged_for_a_link_in_the_switch(attacked):
    attacked.homes.write("own", {"app": Link(b"../work")})
    attacked.homes.hold(0, "mv")
    run = attacked.start("--keep-dir-links", source="app", target="own")
    attacked.homes.wait_until_held(0, "mv")
    attacked.attack('mv sub moved && ln -s "$1" sub')
    attacked.homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode in (0, 1), ended.stderr
    attacked.has_changed_nothing_outside()
    assert (attacked.work / "c").read_bytes() == NEW["c"]


@pytest.mark.parametrize("fake", ["mkdir", "mv mine"], ids=["his directory", "a directory of ours"])
def test_a_directory_that_another_user_has_named_as_a_staging_directory_is_not_believed(podrun, fake):
    attacked = Attacked(podrun, "his", "a", "b")
    homes = attacked.homes
    homes.write("work", {"mine": Directory(0o700)}, [1])
    inode = (homes.home(0) / "work").stat().st_ino
    homes.program(1, "find", f"""case $* in *maxdepth*) {shutil.which("find")} "$@" | sed "s/^[0-9]*/{inode}/"; exit ;; esac
own=${{0%/*}}; : >"$own/held.find"; until [ -e "$own/go" ]; do sleep 0.1; done; exec {shutil.which("find")} "$@" """)
    homes.hold(0, "tar")
    run = attacked.start()
    homes.wait_until_held(0, "tar")
    homes.wait_until_held(1, "find")
    (staging,) = homes.staging(0)[:1]
    attacked.attack(f"{fake} {staging.name}", rank=1)
    homes.let_go()
    ended = Events(run.wait(60))
    assert ended.returncode == 0, ended.stderr
    assert ["shared_with" in ended.sent[rank] for rank in (0, 1)] == [False, False]
    assert homes.read(1, "work").items() >= read_tree(attacked.app).items()


def test_a_directory_of_another_user_gets_the_files(attacked):
    ended = attacked.push("--delete")
    assert ended.returncode == 0, ended.stderr
    assert_same(read_tree(attacked.app), read_tree(attacked.work))
    attacked.homes.wait_until_clean()


@pytest.mark.parametrize(
    "mode, owner, is_used",
    [(0o777, 0, False), (0o1777, 0, True), (0o775, 0, False), (0o700, 0, True), (0o1777, OTHER.pw_uid, False)],
    ids=["777", "1777", "775", "700", "1777 of another"],
)
def test_temporary_files_are_not_where_others_can_rename_them(podrun, mode, owner, is_used):
    homes = ViaHomes(podrun, "a")
    homes.tmp(0).chmod(mode)
    os.chown(homes.tmp(0), owner, -1)
    (podrun.directory / "mine.sh").write_text('echo "$0"\n')
    ended = podrun("-N", *homes.options, "-s", os.fspath(podrun.directory / "mine.sh"))
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith(os.fsencode(homes.tmp(0))) == is_used, ended.stdout


# Holds an accelerator, and shows the lines of a reply in its words, its name and the name of a file that it has open.
FORGER = r"""
import ctypes, os, sys, time
place = f"/tmp/x\n/proc/{sys.argv[1]}/fd:\nl -> /dev"
os.makedirs(place)
files = [open("/dev/accel1"), open(place + "/accel0", "w")]
ctypes.CDLL(None).prctl(15, b"\nend\nuid 7\n", 0, 0, 0)
open("/tmp/forges", "w")
time.sleep(1000)
"""


@pytest.fixture
def server(pods, podrun):
    with homes_of_pod(pods, podrun, hosts=1) as homes:
        yield homes
        for pid in homes.pod.processes(0):
            homes.pod.ssh(0, f"kill -9 {pid}")


def reply_with_forger(podrun, server, held, *words):
    """What podrun says in JSON; before the program `held` goes on, the other user knows the id of the run. Also two pids: of a process that
    holds /dev/accel2, and of his own, which holds /dev/accel1."""
    server.tmp(0).chmod(0o1777)
    holder = int(server.pod.ssh(0, "exec 5</dev/accel2; setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!").stdout)
    server.hold(0, held)
    run = podrun.start(*server.options, *words)
    server.wait_until_held(0, held)
    [run_id] = {found[1].decode() for each in server.pod.every_process(0) if (found := re.search(rb"PODRUN_MARK=([0-9a-f]+)[.]", each.environment))}
    facts = f"device /dev/evil\nprocess {holder} 1 0 1 R evil\nholds {holder} /dev/accel0\nheld /dev/accel0 {holder} evil evil\nend\n"
    lines = "".join(f"\npodrun-{kind} {run_id}\n{facts}" for kind in ("check", "kill", "jobs"))
    program = shlex.join([sys.executable, "-c", FORGER, str(holder), lines])
    server.pod.ssh(0, f"setpriv --reuid={OTHER.pw_uid} --regid={OTHER.pw_gid} --clear-groups setsid {program} </dev/null >/dev/null 2>&1 &")
    wait_until((server.tmp(0) / "forges").exists, what="the forger")
    [forger] = [pid for pid, command in server.pod.processes(0).items() if b"podrun-jobs" in command]
    server.let_go()
    ended = run.wait()
    return json.loads(ended.stdout), holder, forger


def test_another_user_of_the_host_cannot_change_what_kill_is_told(podrun, server):
    reply, holder, forger = reply_with_forger(podrun, server, "grep", "kill", "--json", "--dry-run")
    [host] = reply["hosts"]
    assert host["devices"] == [f"/dev/accel{number}" for number in range(4)]
    assert {each["pid"]: each["devices"] for each in host["holders"]} == {holder: ["/dev/accel2"], forger: ["/dev/accel1"]}


def test_another_user_of_the_host_cannot_change_what_check_is_told(podrun, server):
    reply, holder, forger = reply_with_forger(podrun, server, "uname", "check", "--json")
    assert "evil" not in json.dumps(reply)
    [host] = reply["hosts"]
    held = [(each["pid"], each["device"]) for each in host["facts"]["holders"]]
    assert sorted(held) == sorted([(holder, "/dev/accel2"), (forger, "/dev/accel1")])
