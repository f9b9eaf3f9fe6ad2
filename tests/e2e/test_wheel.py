"""The wheel of a release (cmake/wheel), made here from the program under test: its bytes, and where pip puts them."""

import base64
import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = "9.8.7"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """What cmake --install makes, as far as a wheel has it."""
    prefix = tmp_path_factory.mktemp("prefix")
    for directory in ("bin", "share/doc/podrun/licences/common-licenses"):
        (prefix / directory).mkdir(parents=True)
    shutil.copy(os.environ["PODRUN_BIN"], prefix / "bin/podrun")
    subprocess.run(["strip", prefix / "bin/podrun"], check=True)
    shutil.copy(ROOT / "cmake/copyright", prefix / "share/doc/podrun")
    for name in ("fmt", "common-licenses/GPL-3"):
        (prefix / "share/doc/podrun/licences" / name).write_text(name)
    return prefix


def build(prefix, directory, **env):
    directory.mkdir()
    umask = os.umask(int(env.pop("umask", "022"), 8))
    try:
        subprocess.run([ROOT / "cmake/wheel", VERSION, prefix, directory], check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1795268522", **env})
    finally:
        os.umask(umask)
    [wheel] = directory.iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(prefix, tmp_path_factory):
    return build(prefix, tmp_path_factory.mktemp("wheel") / "one")


def test_the_same_bytes_twice(prefix, wheel, tmp_path):
    os.utime(prefix / "bin/podrun", (0, 0))
    again = build(prefix, tmp_path / "two", TZ="Asia/Tokyo", umask="077", LC_ALL="C")
    assert again.name == wheel.name and again.read_bytes() == wheel.read_bytes()


def test_what_is_in_it(wheel):
    machine = os.uname().machine
    assert wheel.name == f"podrun-{VERSION}-py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}.whl"
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: (archive.read(entry), entry.external_attr >> 16) for entry in archive.infolist()}
    info = f"podrun-{VERSION}.dist-info"
    sources = {f"podrun/{path.name}" for path in (ROOT / "python/podrun").glob("*.py")}
    assert files.keys() == sources | {"podrun/py.typed", f"podrun-{VERSION}.data/scripts/podrun"} | {
        f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/copyright", "licenses/licences/fmt", "licenses/licences/common-licenses/GPL-3")
    }
    assert files[f"podrun-{VERSION}.data/scripts/podrun"][1] == 0o100755
    rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(files[f"{info}/RECORD"][0].decode()))}
    assert rows.pop(f"{info}/RECORD") == ("", "") and rows.keys() == files.keys() - {f"{info}/RECORD"}
    for name, (digest, size) in rows.items():
        content = files[name][0]
        assert (digest, int(size)) == ("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode(), len(content))
    metadata = files[f"{info}/METADATA"][0].decode()
    assert "\n\n# podrun\n\n**For Linux**" in metadata and metadata.count("\nLicense-File: ") == 3


def installed(wheel, *options, python=sys.executable):
    """Installs it without a network; the Python that has it."""
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-warn-script-location", *options, wheel], check=True)
    return python


def answers(*words, env=None):
    return subprocess.run(list(map(os.fspath, words)), check=True, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **(env or {})}).stdout


def test_a_virtual_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = installed(wheel, python=tmp_path / "venv/bin/python")
    program = tmp_path / "venv/bin/podrun"
    assert answers(program, "--version") == answers(python, "-m", "podrun", "--version") != ""
    assert answers(python, "-c", "import podrun; print(podrun.find_program())") == f"{program}\n"
    assert answers(python, "-m", "podrun", "-N", "-H", "local", "--", "echo", "a  b") == "a  b\n"
    assert answers(python, "-c", "import podrun; print(podrun.run('echo hi', hosts='local', check=True)[0].stdout)", env={"HOME": str(tmp_path)}) == "hi\n\n"


def test_a_directory(wheel, tmp_path):
    """pip install --target, which puts the program beside the package, and on no path."""
    python = installed(wheel, "--target", tmp_path / "there")
    find = (python, "-c", "import podrun; print(podrun.find_program())")
    assert answers(*find, env={"PYTHONPATH": str(tmp_path / "there")}) == f"{tmp_path}/there/bin/podrun\n"


def test_a_users_own(wheel, tmp_path, monkeypatch):
    env = {"HOME": str(tmp_path), "PYTHONUSERBASE": str(tmp_path / "user")}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    installed(wheel, "--user", "--break-system-packages")
    assert answers(sys.executable, "-c", "import podrun; print(podrun.find_program())", env=env) == f"{tmp_path}/user/bin/podrun\n"


def test_a_program_that_cannot_run_is_said(wheel, tmp_path):
    installed(wheel, "--target", tmp_path / "there")
    (tmp_path / "there/bin/podrun").chmod(0o644)
    failed = subprocess.run([sys.executable, "-m", "podrun"], capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path / "there"), "PATH": "/nowhere"})
    assert failed.returncode == 1 and failed.stderr.startswith("podrun: the program is neither") and failed.stderr.count("\n") == 1
