"""The files of a release ($PODRUN_DIST, the directory build/dist). `.ci/run --full` makes them."""

import hashlib
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

DIST = Path(os.environ.get("PODRUN_DIST", "/nonexistent"))
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
pytestmark = pytest.mark.skipif("PODRUN_DIST" not in os.environ, reason="needs $PODRUN_DIST")


def archive(architecture):
    [path] = DIST.glob(f"podrun-*-linux-{architecture}.tar.gz")
    with tarfile.open(path) as members:
        return {member.name.removeprefix(path.name.removesuffix(".tar.gz") + "/"): member for member in members}


@pytest.mark.parametrize("architecture", DEBIAN)
def test_an_archive_has_the_program_its_man_page_and_completions(architecture):
    members = archive(architecture)
    assert members["bin/podrun"].mode == 0o755
    for name in ("man/man1/podrun.1.gz", "bash-completion/completions/podrun", "zsh/vendor-completions/_podrun", "fish/vendor_completions.d/podrun.fish"):
        assert members[f"share/{name}"].size > 0


@pytest.mark.parametrize("architecture", DEBIAN)
def test_an_archive_names_no_user_and_has_one_time(architecture):
    members = archive(architecture).values()
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
    assert len({member.mtime for member in members}) == 1


@pytest.mark.parametrize("architecture", DEBIAN)
def test_an_archive_has_the_licence_of_every_library(architecture):
    linked = set(re.findall(r"/usr/lib/\S+?\.a\b", (DIST.parent / "static/build.ninja").read_text()))
    assert len(linked) > 10
    owners = subprocess.run(["dpkg", "-S", *linked], capture_output=True, check=True, text=True).stdout.splitlines()
    packages = {re.split("-dev[:,]", owner)[0] for owner in owners}
    headers_only = {"libasio", "libcli11", "libfmt", "nlohmann-json3"}
    licences = {name.rsplit("/", 1)[-1] for name in archive(architecture) if "/licences/" in name}
    assert packages | headers_only | {"libc6", "libstdc++6", "LGPL-2.1", "GPL-3"} <= licences


@pytest.mark.parametrize("architecture", DEBIAN)
def test_a_debian_package_depends_on_nothing(architecture):
    [path] = DIST.glob(f"podrun_*_{DEBIAN[architecture]}.deb")
    fields = subprocess.run(["dpkg-deb", "--field", path], capture_output=True, check=True, text=True).stdout
    assert f"Architecture: {DEBIAN[architecture]}" in fields.splitlines() and "Depends:" not in fields


def test_every_file_has_its_checksum():
    sums = dict(reversed(line.split("  ")) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DIST.iterdir() if path.name != "SHA256SUMS"}
    assert sums == files and len(files) == 6
