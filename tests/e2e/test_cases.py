"""The files of tests/cases, as people bring them: each has a row in FOLDER.json, which says what podrun makes of it. A file without a row
fails; the failure shows the row that it would have."""

import json
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"
VIA = ["--via", "env X={host}{user}{port}"]  # so that pod/NAME is a host, and nothing is looked up


def rows(folder):
    return json.loads((CASES / f"{folder}.json").read_text())


def names(folder):
    return sorted(file.name for file in (CASES / folder).iterdir())


def each(*folders):
    return pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder in folders for name in names(folder)])


def text_of(host):
    """As in a host list: `me@tpu0:22 slots=8 ansible_host=10.0.0.2`."""
    text = (f"{host['user']}@" if "user" in host else "") + host["host"] + (f":{host['port']}" if "port" in host else "")
    address = host.get("address", host["host"])
    return text + (f" slots={host['slots']}" if "slots" in host else "") + (f" ansible_host={address}" if address != host["host"] else "")


def answer(completed):
    """The row of a host list: its hosts and what podrun notes, or its error."""
    if completed.returncode != 0:
        return {"error": completed.stderr.decode().strip().removeprefix("podrun: ")}
    said = json.loads(completed.stdout)
    return {"hosts": ", ".join(text_of(host) for host in said["hosts"]), **({"notes": said["notes"]} if said["notes"] else {})}


def row_of_list(podrun, folder, name):
    """A file that includes others is read where they are."""
    file = CASES / folder / name
    if b"#include" not in file.read_bytes():
        return answer(podrun(*VIA, "-H", "-", "hosts", "--json", input=file.read_bytes()))
    return answer(podrun(*VIA, "--hostfile", name, "hosts", "--json", cwd=file.parent))


def row_of_ssh_config(podrun, name, host):
    (podrun.directory / "config").write_bytes((CASES / "ssh" / name).read_bytes())
    return answer(podrun("-F", "config", "-H", host, "hosts", "--json"))


def row_of_task(podrun, name):
    (podrun.directory / "task.yaml").write_bytes((CASES / "sky" / name).read_bytes())
    (podrun.directory / "file").touch()
    completed = podrun("-H", "n1", "launch", "--dry-run", "task.yaml")
    said = [line.removeprefix("podrun: ") for line in completed.stderr.decode().splitlines()]
    if completed.returncode != 0:
        return {"error": "\n".join(said)}
    plan = completed.stdout.decode().partition("  0 n1 (-H)\n")[2].splitlines()
    return {"plan": [line for line in plan if "SKYPILOT_TASK_ID" not in line], **({"notes": said} if said else {})}


@pytest.mark.parametrize("folder", ["gcloud", "hosts", "sky", "ssh"])
def test_every_file_has_a_row(folder):
    assert sorted(rows(folder)) == names(folder)


@pytest.mark.smoke
@each("gcloud", "hosts")
def test_a_list_of_hosts_is_read_or_refused(podrun, folder, name):
    row = row_of_list(podrun, folder, name)
    assert row == rows(folder).get(name), json.dumps({name: row})


@each("gcloud", "hosts")
def test_a_list_says_the_same_from_anywhere(podrun, folder, name):
    file = CASES / folder / name
    by_file = answer(podrun(*VIA, "--hostfile", file, "hosts", "--json"))
    by_command = answer(podrun(*VIA, "--hosts-command", f"cd '{file.parent}' && cat {name}", "hosts", "--json", cwd=file.parent))
    row = rows(folder).get(name, {})
    assert by_command.get("hosts") == row.get("hosts"), by_command
    assert by_file.get("hosts") == row.get("hosts"), by_file


@pytest.mark.smoke
@each("ssh")
def test_an_ssh_config_is_read_or_refused(podrun, folder, name):
    expected = dict(rows(folder).get(name, {}))
    host = expected.pop("of", "n1")
    row = row_of_ssh_config(podrun, name, host)
    assert row == expected, json.dumps({name: {"of": host, **row}})


@pytest.mark.smoke
@each("sky")
def test_a_task_file_is_read_or_refused(podrun, folder, name):
    row = row_of_task(podrun, name)
    assert row == rows(folder).get(name), json.dumps({name: row})
