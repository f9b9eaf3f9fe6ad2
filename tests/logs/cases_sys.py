from words import *

case("slurm-errors", "hafs-community/HAFS#101, facebookincubator/submitit#1708, SystemsGenetics/GEMmaker#242", "gpu", "err", [
    "slurmstepd: error: There was 1 oom_kill event in StepId=3495064.0. Not all tasks of this step survived it.",
    odd(4, None, "srun: error: gpu-node-4: task 4: Out Of Memory"),
    "srun: The step is broken off: its tasks have 32 seconds in which to end.",
    "slurmstepd: error: *** STEP 3495064.0 ON <<host>> CANCELLED AT <<t %Y-%m-%dT%H:%M:%S>> ***",
    "slurmstepd: error: *** JOB 608 ON <<host>> CANCELLED AT <<t %Y-%m-%dT%H:%M:%S>> DUE TO PREEMPTION ***",
    odd(2, "srun: error: <<host>>: task <<rank>>: Ended with exit code 1", "srun: error: <<host>>: task <<rank>>: Ended with exit code 137"),
    "submitit WARNING (<<t %Y-%m-%d %H:%M:%S,%3>>) - Nothing is done on SIGTERM",
    "slurmstepd: error: Could not get rid of MESSAGE_TASK_EXIT: Connection refused",
])

case("xid-journal", "NVIDIA/NVSentinel#155, leptonai/gpud#1209, pop-os/pop#3363", "gpu", "out", [
    "<<t %b %e %H:%M:%S>> <<host>> systemd[1]: Begin of systemd-udev-trigger.service - Walk Over The udev Devices...",
    "<<t %b %e %H:%M:%S>> <<host>> kernel: mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link ACTIVE",
    "<<t %b %e %H:%M:%S>> <<host>> kernel: [<<mono>>] NVRM: the open module of NVIDIA comes into the kernel for x86_64  570.158.01",
    "<<t %b %e %H:%M:%S>> <<host>> nvidia-persistenced[<<pid n>>]: Running (<<pid n>>)",
    "<<t %b %e %H:%M:%S>> <<host>> sshd[<<pid s>>]: Let in by publickey: user from 10.100.0.5 port <<port a>> ssh2: ED25519 SHA256:47DEQpj8HBSa",
    "<<t %b %e %H:%M:%S>> <<host>> systemd-logind[<<pid l>>]: Opened session <<nint 3 99 s>> for user user.",
    only(6, "[<<mono>>] NVRM: Xid (PCI:0000:44:00): 79, pid='<unknown>', name=<unknown>, the bus has lost its GPU."),
    only(1, "[<<mono>>] NVRM: Xid (PCI:0000:44:00): 48, pid='<unknown>', name=<unknown>, DBE (two bits are wrong)"),
    "[<<mono>>] nvidia-uvm: the UVM driver is in, its major number is 510.",
    "<<t %Y-%m-%dT%H:%M:%S.%6+00:00>> <<host>> containerd[<<pid c>>]: time=\"<<t %Y-%m-%dT%H:%M:%S.%9Z>>\" level=info msg=\"containerd begins\" revision=8165feab",
    "<<t %b %e %H:%M:%S>> <<host>> CRON[<<pid x>>]: (root) CMD (test -d /var/log/app || true)",
])

case("pip-install", "pytorch/pytorch#121646, phildougherty/sesame_csm_openai#13", "tpu", "out", [
    "Wanted: torch==2.4.1",
    "  Fetching torch-2.4.1-cp310-cp310-manylinux1_x86_64.whl.metadata (26 kB)",
    "Wanted: nvidia-cublas-cu12==12.1.3.1 (from torch==2.4.1)",
    "  Fetching nvidia_cublas_cu12-12.1.3.1-py3-none-manylinux1_x86_64.whl (410.6 MB)",
    "     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 410.6/410.6 MB <<d 45.9 60 .1f>> MB/s eta 0:00:00",
    odd(3, "Nothing needs to be done for: numpy in ./venv/lib/python3.10/site-packages (1.26.4)", "Nothing needs to be done for: numpy in ./venv/lib/python3.10/site-packages (2.0.1)"),
    "  Fetching nvidia_cuda_nvrtc_cu12-12.1.105-py3-none-manylinux1_x86_64.whl (23.7 MB)",
    "     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 23.7/23.7 MB <<d 98.4 30 .1f>> MB/s eta 0:00:00",
    "Wheels have to be made of these: antlr4-python3-runtime",
    "  Made the wheel of antlr4-python3-runtime: filename=antlr4_python3_runtime-4.9.3-py3-none-any.whl size=144554 sha256=<<hex 64 w>>",
    "  Kept in the folder: /tmp/pip-ephem-wheel-cache-<<tmp c>>/wheels/12/93/dd/1f6a127edc45659556564c5730f6d4e300888f4bca2d4c5a88",
    only(5, "ERROR: The packages are not in place, by an OSError: [Errno 28] No space left on device"),
    notby(5, "These packages go in now: mpmath, nvidia-cublas-cu12, torch"),
    notby(5, "All of them are in: mpmath-1.3.0 nvidia-cublas-cu12-12.1.3.1 torch-2.4.1"),
    "[notice] There is a younger pip than this: 23.0.1 -> 24.2",
])

case("apt-get", "GoogleCloudPlatform/ops-agent#2279, wazuh/wazuh#37580, csc/Hanlon#440", "tpu", "both", [
    "Hit:1 http://archive.ubuntu.com/ubuntu jammy InRelease",
    "Get:2 http://archive.ubuntu.com/ubuntu jammy-updates InRelease [128 kB]",
    "Get:3 http://security.ubuntu.com/ubuntu jammy-security/main amd64 Packages [2,082 kB]",
    "Got 2,210 kB in <<d 1.4 40 .0f>>s (<<d 1893 25 ,d>> kB/s)",
    "The lists are read...",
    "What needs what is worked out...",
    "NEW packages that will come in:",
    "  nfs-common",
    "0 renewed, 1 come in anew, 0 to go out and <<v 40 30 d>> left as they are.",
    err("debconf: this frontend does not start: Dialog"),
    err("debconf: (What Dialog draws needs a terminal of its own that is not dumb; a buffer of emacs will not do either.)"),
    err("debconf: instead of it comes frontend: Readline"),
    cr(["(Looking at the files ... ", "(Looking at the files ... 5%", "(Looking at the files ... 50%", "(Looking at the files ... 100%", "(Looking at the files ... <<v 81291 5 d>> of them belong to packages at present.)"], stream="out"),
    "About to open .../nfs-common_1%3a2.6.1-1ubuntu1.2_amd64.deb ...",
    odd(6, "Finishing off nfs-common (1:2.6.1-1ubuntu1.2) ...", "Finishing off nfs-common (1:2.6.1-1ubuntu1.1) ..."),
    only(2, "E: No lock was given on /var/lib/dpkg/lock-frontend. The one who has it is process <<pid a>> (unattended-upgr)"),
    "Running the triggers of man-db (2.10.2-1) ...",
])

case("conda-create", "freqtrade/freqtrade#4218, conda/conda#11493, xl-sr/CAL#32", "gpu", "out", [
    "Metadata of all packages (repodata.json): ...working... done",
    "Choosing versions: ...working... done",
    "",
    "## What Comes In ##",
    "",
    "    package                    |            build",
    "    ---------------------------|-----------------",
    "    bzip2-1.0.8                |       h0d85af4_4         155 KB  conda-forge",
    "Fetching And Unpacking Them",
    cr(["nspr-4.29            | 232 KB    |            |   0% ", "nspr-4.29            | 232 KB    | ####<<dpick 5|6|7>>      | <<d 45 20 .0f>>% ", "nspr-4.29            | 232 KB    | ########## | 100% "]),
    "First the preparation: ...working... done",
    odd(7, "Then a look at the files: ...working... done", "Then a look at the files: ...working... failed"),
    only(7, "CondaVerificationError: What lies for python at /opt/conda/pkgs/python-3.9.12 is not what it should be."),
    notby(7, "At last the change: ...working... done"),
])

case("gsutil-cp", "Flank/flank#9, #23", "tpu", "err", [
    "Copy of gs://bucket/ckpt/params.tar...",
    cr(["/ [0 files][    0.0 B/ 30.7 MiB]                                                ", "- [0 files][ <<d 10.1 20 .1f>> MiB/ 30.7 MiB]                                                ", "\\ [0 files][ <<d 24.0 10 .1f>> MiB/ 30.7 MiB]    <<d 1.4 20 .1f>> MiB/s                      ", "<<dpick /|-|\\>> [1 files][ 30.7 MiB/ 30.7 MiB]    <<d 1.1 20 .1f>> MiB/s                      "]),
    "All is done, it was 1 objects/30.7 MiB.                                     ",
    "Copy of gs://bucket/data/shard-<<vh 05d>>-of-00008 to file://./shard-<<vh 05d>>-of-00008",
    cr(["  ", ".", "..", "...", "Files done 1/1 | <<d 1.2 2 .1f>>GiB/1.2GiB | <<d 310.2 20 .1f>>MiB/s"]),
    "",
    "Throughput, mean: <<d 310.2 20 .1f>>MiB/s",
    only(3, "ERROR: (gcloud.storage.cp) HTTPError 403: whoever calls needs storage.objects.get access to this object, and it is not granted."),
])

case("rsync-progress", "rsync(1), unix.stackexchange.com/215271", "tpu", "out", [
    "the list of files comes in parts",
    "data/",
    "data/shard-00000.bin",
    cr(["         32,768   0%    0.00kB/s    0:00:00", "    <<d 105450000 20 ,d>>  45%   <<d 60.28 30 .2f>>MB/s    0:00:0<<nint 1 3>>", "    238,099,000 100%  <<d 146.38 30 .2f>>MB/s    0:00:0<<nint 1 4>> (xfr#1, to-chk=1/3)"]),
    odd(6, "data/shard-00001.bin", 'rsync: [sender] could not read all of "/data/shard-00001.bin": Input/output error (5)'),
    "",
    "sent 66 bytes  received 238,157,322 bytes  <<d 95262955.2 20 ,.2f>> bytes/sec",
    "size in all is 238,099,000  speedup is 1.00",
])

case("pytest", "scikit-hep/pyhf#1501, mosaicml/composer#847, pytorch/pytorch#47257", "gpu", "out", [
    "=============================== here they begin ================================",
    "platform linux -- Python 3.10.12, pytest-8.2.0, pluggy-1.5.0",
    "rootdir: /home/user/app",
    "plugins: xdist-3.6.1",
    "there are 63 items",
    "",
    "tests/test_data.py ........................                               [ 38%]",
    odd(4, "tests/test_dist.py .............                                         [ 58%]", "tests/test_dist.py .....F.......                                         [ 58%]"),
    "tests/test_model.py ..........................                           [100%]",
    "",
    block([4], [
        "=================================== FAILURES ===================================",
        "________________________________ test_all_reduce _______________________________",
        "    def test_all_reduce():",
        ">       assert x.sum() == 8",
        "E       assert 7 == 8",
        "tests/test_dist.py:41: AssertionError",
        "============================= what failed, briefly =============================",
        "FAILED tests/test_dist.py::test_all_reduce - assert 7 == 8",
    ]),
    odd(4, "============================== 63 passed in <<d 12.31 6 .2f>>s ===============================", "========================= 1 failed, 62 passed in 12.40s ========================="),
])

case("ninja-build", "Dao-AILab/flash-attention#1017, #420", "gpu", "out", [
    "-- What compiles CXX here is GNU 12.2.0",
    "-- Configured in (<<d 1.2 20 .1f>>s)",
    "-- The files to build with are in: /home/user/app/build",
    "Writing what ninja needs: /home/user/.cache/torch_extensions/py310_cu121/fused/build.ninja...",
    "[1/4] /usr/local/cuda/bin/nvcc -DTORCH_EXTENSION_NAME=fused -c fused_kernel.cu -o fused_kernel.cuda.o",
    "ptxas info    : Used 255 registers, 696 bytes cmem[0]",
    "[2/4] c++ -MMD -MF fused.o.d -DTORCH_EXTENSION_NAME=fused -c fused.cpp -o fused.o",
    odd(1, "[3/4] c++ -MMD -MF util.o.d -c util.cpp -o util.o", "FAILED: util.o"),
    only(1, "util.cpp:12:10: fatal error: cub/cub.cuh: No such file or directory"),
    notby(1, "[4/4] c++ fused.o fused_kernel.cuda.o util.o -shared -o fused.so"),
    only(1, "ninja: no more is built: a command failed."),
    "tmpxft_<<hex 8 a>>_00000000-7_fused_kernel.cudafe1.cpp",
])
