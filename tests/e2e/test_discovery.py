"""Manual, "Which hosts": the lists that are found, and `podrun hosts`."""

import json
import os
import subprocess
import time

import pytest

from metadata import Metadata, unused_address
from support import by_rank, limit, wait_until

OLD = {  # real machines' answers
    "worker-network-endpoints": "t1v-n-0f996b37-w-0:12345:127.0.8.26,t1v-n-0f996b37-w-1:12346:127.0.8.27,t1v-n-0f996b37-w-2:12347:127.0.8.25,t1v-n-0f996b37-w-3:12348:127.0.8.28",
    "agent-worker-number": "2",
    "accelerator-type": "v4-32",
    "tpu-env": "ACCELERATOR_TYPE: 'v4-32'\nCHIPS_PER_HOST_BOUNDS: '2,2,1'\nHOST_BOUNDS: '1,1,4'\nNODE_ID: 'my-tpu-1'\nPREEMPTIBLE: 'false'\nTYPE: 'V4'\nWORKER_ID: '2'\nZONE: 'us-central2-b'\n",
}
UNKNOWN_NAMES = {"worker-network-endpoints": "unknown:unknown:10.164.0.41,unknown:unknown:10.164.0.22", "agent-worker-number": "0"}
NEW = {
    "worker-network-endpoints": "instance-20260826-215213",
    "tpu-env": "TPU_ACCELERATOR_TYPE: 'v6e-1'\nHOST_BOUNDS: '1,1,1'\nNODE_ID: 'v6e'\nTPU_WORKER_ID: '0'\n",
}
V7X = {"worker-network-endpoints": "v7x-w-1,v7x-w-0", "worker-id": "1", "accelerator-type": "v7x-16"}


@pytest.fixture
def asking(podrun):
    """podrun that asks the metadata server, where it is told of one."""
    del podrun.env["TPU_SKIP_MDS_QUERY"]
    return podrun


@pytest.fixture
def metadata(asking):
    """Starts a metadata server and tells podrun of it."""
    running = []

    def start(*args):
        running.append(Metadata(*args))
        asking.env["GCE_METADATA_HOST"] = running[-1].address
        return running[-1]

    yield start
    for each in running:
        each.end()


def shown(podrun, *args, **options):
    """What `podrun hosts` says, as {rank: name}; `!` is behind a host without ssh."""
    return ranks_of(podrun.ok(*args, "hosts", "--json", **options))


def ranks_of(answer):
    return {host["worker"]: host["host"] + "!" * host.get("local", False) for host in json.loads(answer or '{"hosts":[]}')["hosts"]}


def refused(podrun, *args, **options):
    failed = podrun(*args, "hosts", **options)
    assert failed.returncode == 2, failed
    assert failed.stderr.count(b"\n") == 1 and failed.stdout == b""
    return failed.stderr.decode()


def without_hosts(podrun, *args, **options):
    """What `podrun hosts` tried, and the error."""
    failed = podrun(*args, "hosts", **options)
    assert failed.returncode == 2 and failed.stdout == b""
    *tried, error = failed.stderr.decode().splitlines()
    return "\n".join(tried), error


# Hosts from the environment

VARIABLES = [
    ({"PODRUN_HOSTS": "b,a,tpu-[0-1]"}, {0: "b", 1: "a", 2: "tpu-0", 3: "tpu-1"}),
    ({"PODRUN_HOSTFILE": "pod.txt"}, {0: "d", 1: "c"}),
    ({"SLURM_JOB_NODELIST": "nid[00001,00011-00012],b"}, {0: "nid00001", 1: "nid00011", 2: "nid00012", 3: "b"}),
    ({"SLURM_JOB_NODELIST": "a", "SLURM_JOB_NODELIST_HET_GROUP_0": "a", "SLURM_JOB_NODELIST_HET_GROUP_1": "c[1-2]"}, {0: "a", 1: "c1", 2: "c2"}),
    ({"SLURM_JOB_NODELIST": "a,localhost"}, {0: "a", 1: "localhost!"}),
    ({"SKYPILOT_NODE_IPS": "10.0.0.9\n10.0.0.1\n"}, {0: "10.0.0.9", 1: "10.0.0.1"}),
    ({"TPU_WORKER_HOSTNAMES": "w-1,w-0", "TPU_WORKER_ID": "0"}, {1: "w-0"}),
    ({"TPU_PROCESS_ADDRESSES": "10.0.0.9:8471,10.0.0.8:8471", "TPU_WORKER_HOSTNAMES": "x"}, {0: "10.0.0.9", 1: "10.0.0.8"}),
]


@pytest.mark.smoke
@pytest.mark.parametrize("env, hosts", VARIABLES, ids=[" ".join(env) for env, _ in VARIABLES])
def test_variables(podrun, env, hosts):
    (podrun.directory / "pod.txt").write_text("d\nc\n")
    (podrun.home / "podips.txt").write_text("never\n")
    assert shown(podrun, env=env) == hosts
    assert podrun.ok("hosts", env=env).splitlines()[-1].split()[-1].decode().startswith((*env, "pod.txt:"))


def test_variables_with_this_machine(podrun):
    env = {"TPU_WORKER_HOSTNAMES": "w-0,w-1,w-2", "TPU_WORKER_ID": "1"}
    assert shown(podrun, "-i", env=env) == {0: "w-0", 1: "w-1!", 2: "w-2"}
    assert shown(podrun, "-i", env={"SLURM_JOB_NODELIST": "a"}) == {0: "local!", 1: "a"}
    assert "TPU_WORKER_HOSTNAMES" in refused(podrun, "-i", env={"TPU_WORKER_HOSTNAMES": "w-0,w-1"})


def test_what_is_found_runs(podrun):
    output = podrun.ok("--via", "env X={host}", "--", "echo $PODRUN_HOST", env={"SLURM_JOB_NODELIST": "n[08-09]"})
    assert by_rank(output) == {0: [b"n08"], 1: [b"n09"]}


@pytest.mark.parametrize(
    "env",
    [
        {"PODRUN_HOSTS": "a:x"},
        {"PODRUN_HOSTS": "-"},
        {"PODRUN_HOSTFILE": "no-such-file"},
        {"SLURM_JOB_NODELIST": "a[1-"},
        {"SKYPILOT_NODE_IPS": "a b@c"},
        {"TPU_WORKER_HOSTNAMES": "a,,b"},
        {"TPU_WORKER_ID": "2", "TPU_WORKER_HOSTNAMES": "a,b"},
        {"TPU_PROCESS_ADDRESSES": "[::1"},
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(podrun, env):
    (podrun.home / "podips.txt").write_text("never\n")
    assert refused(podrun, env=env).startswith(f"podrun: {next(iter(env))}: ")


@pytest.mark.smoke
def test_no_hosts_says_what_was_looked_for_and_how_to_go_on(podrun):
    for options in [(), ("-i",)]:
        tried, error = without_hosts(podrun, *options)
        places = "PODRUN_HOSTS PODRUN_HOSTFILE SLURM_JOB_NODELIST SKYPILOT_NODE_IPS TPU_WORKER_HOSTNAMES ~/podips.txt ~/.config/podrun/podips.txt ~/.config/tpux/podips.txt".split()
        assert all(place in tried for place in [*places, "metadata server"]), tried
        assert all(advice in error for advice in ["-H tpu-[0-3]", "--hostfile", "-H local", "looked in"]) and len(error) < 280, error
        run = podrun(*options, "--", "true")
        assert run.returncode == 2 and run.stderr.decode().replace(", listed by podrun hosts", "") == error + "\n"
    assert "TPU_WORKER_HOSTNAMES: set, but empty" in without_hosts(podrun, env={"TPU_WORKER_HOSTNAMES": ""})[1]


def test_standard_input_without_hosts(podrun):
    assert refused(podrun, "-H", "-", input=b"\n") == 'podrun: -H: standard input has no host (did the command before "|" fail?)\n'


def test_a_list_of_one_localhost_says_nothing(podrun):
    (podrun.home / "podips.txt").write_text("a\n")
    assert shown(podrun, env={"TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0"}) == {1: "a"}


def test_podips_in_the_configuration_directory(podrun):
    for name in ["tpux", "podrun"]:
        (podrun.directory / name).mkdir()
        (podrun.directory / name / "podips.txt").write_text(f"of-{name}\n")
        assert shown(podrun, env={"XDG_CONFIG_HOME": str(podrun.directory)}) == {1: f"of-{name}"}


# The metadata server

METADATA = [
    (OLD, (), {0: "127.0.8.26", 1: "127.0.8.27", 3: "127.0.8.28"}),
    (OLD, ("-i",), {0: "127.0.8.26", 1: "127.0.8.27", 2: "127.0.8.25!", 3: "127.0.8.28"}),
    (UNKNOWN_NAMES, (), {1: "10.164.0.22"}),
    (NEW, ("-i",), {0: "instance-20260826-215213!"}),
    (V7X, (), {0: "v7x-w-1"}),
    (V7X, ("-i",), {0: "v7x-w-1", 1: "v7x-w-0!"}),
    ({"worker-network-endpoints": OLD["worker-network-endpoints"]}, (), {0: "127.0.8.26", 1: "127.0.8.27", 2: "127.0.8.25", 3: "127.0.8.28"}),
]


@pytest.mark.smoke
@pytest.mark.parametrize("attributes, options, hosts", METADATA)
def test_metadata(asking, metadata, attributes, options, hosts):
    metadata(attributes)
    # More than once, since on a busy machine not every key is answered within the 1 s that there is.
    wait_until(lambda: ranks_of(asking(*options, "hosts", "--json").stdout) == hosts, what=f"{hosts} found")


def test_metadata_tells_its_accelerator(asking, metadata):
    server = metadata(OLD)
    listed = asking("hosts")
    assert f"metadata server {server.address}: 4 hosts of a v4-32".encode() in listed.stderr
    assert listed.stdout.splitlines()[0].split() == [b"0", b"127.0.8.26", b"127.0.8.26", b"metadata", b"server", server.address.encode()]


def test_metadata_uses_no_proxy(asking, metadata):
    metadata(UNKNOWN_NAMES)
    proxies = {name: f"http://{unused_address()}" for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]}
    assert shown(asking, env=proxies) == {1: "10.164.0.22"}


def test_metadata_is_not_asked_where_it_is_not_wanted(asking, metadata):
    server = metadata(OLD)
    assert "TPU_SKIP_MDS_QUERY" in without_hosts(asking, env={"TPU_SKIP_MDS_QUERY": "1"})[0]
    (asking.home / "podips.txt").write_text("a\n")
    assert shown(asking) == {1: "a"}
    assert server.asked == []


def test_metadata_knows_one_slice_of_several(asking, metadata):
    metadata({**UNKNOWN_NAMES, "tpu-env": "MEGASCALE_NUM_SLICES: '2'\n"})
    # More than once, since on a busy machine the answer may take longer than the 1 s that there is.
    wait_until(lambda: b"one of 2 slices" in asking("hosts").stderr, what="the slice is known")
    ran = asking("--via", "env X={host}", "--", "true")
    assert ran.returncode == 0 and b"one of 2 slices" in ran.stderr


@pytest.mark.timed
@pytest.mark.parametrize("behaviour, reason", [("portal", "Metadata-Flavor"), ("hang", "no answer within 1000 ms"), ("trickle", "no answer within 1000 ms"), (None, "no TPU VM")])
def test_metadata_that_does_not_answer(asking, metadata, behaviour, reason):
    server = metadata({}, behaviour)
    started = time.monotonic()
    _tried, line = without_hosts(asking)
    assert reason in line and server.address in line
    assert time.monotonic() - started < limit(5), "1 s in all, and what a busy machine takes"


def test_metadata_that_is_not_there(asking):
    address = unused_address()
    assert f"metadata server {address}: " in without_hosts(asking, env={"GCE_METADATA_IP": address})[1]


@pytest.mark.parametrize("attributes, named", [({"worker-network-endpoints": "a:b"}, '"a:b"'), ({**UNKNOWN_NAMES, "agent-worker-number": "2"}, "0-1"), ({"worker-network-endpoints": "a,-b"}, '"-b"')])
def test_metadata_that_is_wrong(asking, metadata, attributes, named):
    server = metadata(attributes)
    line = refused(asking)
    assert server.address in line and named in line


# podrun hosts


def test_hosts_show_their_addresses(podrun):
    listed = podrun.ok("-H", "local,me@localhost:2223,10.0.0.1,no-such-host.invalid", "hosts").decode().splitlines()
    assert [line.split()[1:-1] for line in listed] == [["local", "this", "machine"], ["me@localhost:2223", listed[1].split()[2]], ["10.0.0.1", "10.0.0.1"], ["no-such-host.invalid", "?"]]
    assert listed[1].split()[2] in ("127.0.0.1", "::1")


def test_the_name_of_a_hosts_file_is_not_sent_to_the_terminal(podrun):
    (podrun.directory / "h\x1b[31m").write_text("a\n")
    for args in (["hosts"], ["--dry-run", "--", "true"]):
        assert rb"h\x1b[31m:1" in podrun.ok("--hostfile", "h\x1b[31m", *args)


def test_standard_output_that_cannot_be_written(podrun):
    for task in (["hosts", "-H", "a"], ["config"]):
        with open("/dev/full", "wb") as full:
            failed = subprocess.run(podrun.arguments(task), env=podrun.env, stdout=full, stderr=subprocess.PIPE, timeout=limit(60))
        assert (failed.returncode, failed.stderr) == (1, b"podrun: cannot write standard output: No space left on device\n")


def test_hosts_for_programs(podrun):
    (podrun.home / "podips.txt").write_text("me@10.0.0.1:2223\n")
    listed = podrun("hosts", "--json", "-i")
    assert listed.stderr == b""
    answer = json.loads(listed.stdout)
    assert answer["v"] == 1
    assert answer["hosts"] == [
        {"worker": 0, "host": "local", "local": True, "source": "-i"},
        {"worker": 1, "host": "10.0.0.1", "user": "me", "port": 2223, "address": "10.0.0.1", "source": "~/podips.txt:1"},
    ]
    assert answer["tried"][0] == {"where": "PODRUN_HOSTS", "result": "not set"}
    assert answer["tried"][-1] == {"where": "~/podips.txt", "result": "1 host"}


SAVED = [
    ((), {"SKYPILOT_NODE_IPS": "10.0.0.9\n10.0.0.1\n"}),
    ((), {"TPU_WORKER_HOSTNAMES": "w-0,w-1,w-2", "TPU_WORKER_ID": "1"}),
    (("-i",), {"TPU_WORKER_HOSTNAMES": "w-0,w-1,w-2", "TPU_WORKER_ID": "0"}),
    (("-i",), {"SLURM_JOB_NODELIST": "a,localhost,b"}),
]


@pytest.mark.smoke
@pytest.mark.parametrize("options, env", SAVED)
def test_saved_hosts_have_the_same_ranks(podrun, options, env):
    before = json.loads(podrun.ok(*options, "hosts", "--json", env=env))["hosts"]
    saved = podrun(*options, "hosts", "--save", env=env)
    file = podrun.home / "podips.txt"
    assert saved.returncode == 0 and str(file).encode() in saved.stderr
    assert file.stat().st_mode & 0o7777 == 0o644
    after = json.loads(podrun.ok(*options, "hosts", "--json"))["hosts"]
    assert [host["worker"] for host in after] == [host["worker"] for host in before]
    others = [[host["host"] for host in hosts if not host.get("local")] for hosts in (before, after)]
    assert others[0] == others[1]
    assert [host.get("local") for host in after] == [host.get("local") for host in before]


def test_saving_replaces_only_by_force_and_only_the_whole_list(podrun):
    file = podrun.home / "podips.txt"
    file.write_text("mine\n")
    assert "--force" in refused(podrun, "-H", "a,b", "--save")
    assert file.read_text() == "mine\n"
    assert "--workers" in refused(podrun, "-H", "a,b", "--workers", "1", "--save", "--force")
    podrun.ok("-H", "a,b", "hosts", "--save", "--force")
    assert shown(podrun) == {0: "a", 1: "b"}
    assert os.listdir(podrun.home) == ["podips.txt"]


def test_saving_where_nothing_can_be_written(podrun):
    (podrun.home / "podips.txt").mkdir()
    assert "podips.txt" in refused(podrun, "-H", "a", "--save", "--force")
    assert os.listdir(podrun.home) == ["podips.txt"]


def test_saving_keeps_a_symlink(podrun):
    (podrun.home / "lists").mkdir()
    (podrun.home / "lists" / "pod").write_text("mine\n")
    (podrun.home / "podips.txt").symlink_to("lists/pod")
    podrun.ok("-H", "a,b", "hosts", "--save", "--force")
    assert (podrun.home / "podips.txt").is_symlink()
    assert (podrun.home / "lists" / "pod").read_text().endswith("a\nb\n")
    assert os.listdir(podrun.home / "lists") == ["pod"]


def test_saving_says_which_host_this_machine_is(podrun):
    assert "there is no other host to write" in refused(podrun, "-H", "local", "--save")
    assert not (podrun.home / "podips.txt").exists()
    assert podrun("-H", "a,localhost,b", "hosts", "--save").stderr.endswith(b": 3 hosts; this machine is worker 1, with -i\n")
    assert podrun("-H", "localhost,b", "hosts", "--save", "--force").stderr.endswith(b": 1 host beside this machine, which is worker 0 with -i\n")


DESCRIBED = """acceleratorType: v4-16
health: HEALTHY
name: projects/p/locations/z/nodes/my-tpu
networkEndpoints:
- accessConfig:
    externalIp: 34.1.2.3
  ipAddress: 10.130.0.27
  port: 8470
- accessConfig: {}
  ipAddress: 10.130.0.26
  port: 8470
state: READY
"""
DESCRIBED_JSON = json.dumps([{"name": "a", "networkEndpoints": [{"ipAddress": "10.130.0.27", "port": 8470}]}, {"name": "b", "networkEndpoints": [{"ipAddress": "10.130.0.26"}]}], indent=2)


@pytest.mark.smoke
@pytest.mark.parametrize("text", [DESCRIBED, DESCRIBED_JSON], ids=["yaml", "json"])
def test_the_description_of_a_tpu(podrun, text):
    assert shown(podrun, "-H", "-", input=text.encode()) == {0: "10.130.0.27", 1: "10.130.0.26"}
    podrun.ok("-H", "-", "hosts", "--save", input=text.encode())
    assert shown(podrun) == {0: "10.130.0.27", 1: "10.130.0.26"}


def test_the_description_of_a_tpu_that_is_not_ready(podrun):
    assert "its state is CREATING" in refused(podrun, "-H", "-", input=b"name: my-tpu\nstate: CREATING\n")
