"""A push into a directory of another user of the host, who exchanges names in it meanwhile: nothing outside is changed, nothing of his runs."""

import os
import pwd
import shutil
import subprocess

import pytest

from events import Events
from homes import ViaHomes
from trees import assert_same, read_tree, write_tree

NEW = {"sub/a": b"new", "more/deep/b": b"2", "c": b"3"}
# Renames the staging directory, and a directory of the target, and puts his own in their places.
ATTACK = """
cd "$1" || exit
while :; do
  for each in .podrun.* sub; do
    [ -e "$each" ] && [ ! -L "$each" ] || continue
    mv "$each" "moved.$each" 2>/dev/null && if [ "$each" != sub ] && [ -e "$3" ]; then cp -R own "$each"; else ln -s "$2" "$each"; fi
    rm -rf "$each"; mv "moved.$each" "$each" 2>/dev/null
  done
done
"""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root, for a second account")


@pytest.fixture
def host(podrun):
    return ViaHomes(podrun, "a")


@needs_root
@pytest.mark.parametrize("group", [False, True], ids=["his directory", "a directory of his group"])
def test_another_user_gets_nothing_by_exchanging_directories(podrun, host, group):
    other = pwd.getpwnam("games")
    app = write_tree(podrun.directory / "app", NEW)
    outside = write_tree(podrun.directory / "outside", {"a": b"precious", "new/x": b"precious"})
    before = read_tree(outside)
    host.write("work", {"sub/a": b"old", "sub/stale": b"x"})
    work = host.home(0) / "work"
    own = write_tree(work / "own", {"podrun.check": b"touch %s/ran" % os.fsencode(outside), "podrun.switch": b"touch %s/ran" % os.fsencode(outside)})
    for each in [work, *work.rglob("*")]:
        os.chown(each, 0 if group and each == work else other.pw_uid, other.pw_gid)
    work.chmod(0o2775 if group else 0o755)
    for each in [work, *work.parents]:
        if each != work and podrun.directory in [each, *each.parents]:
            each.chmod(0o755)
    assert own.exists()
    setpriv = [shutil.which("setpriv"), f"--reuid={other.pw_uid}", f"--regid={other.pw_gid}", "--clear-groups"]
    with subprocess.Popen([*setpriv, "sh", "-c", ATTACK, "sh", work, outside, work / "own"], stderr=subprocess.DEVNULL) as attacker:
        try:
            for _ in range(8):
                ended = Events(podrun("--json", *host.options, "push", "--checksum", os.fspath(app) + "/", "work"))
                assert ended.returncode in (0, 1, 255), ended.stderr
                assert_same(before, read_tree(outside))
        finally:
            attacker.kill()
