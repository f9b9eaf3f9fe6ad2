#!/bin/sh
# Tries torch on all hosts together: starts torch.distributed with one process on each host and sums all ranks over the network.
#   podrun -d -s @torch_hello
# Prints one line, equal on like hosts. Exits with 1 if the sum is wrong. An argument names another python than ~/venv/bin/python.
set -u

python=${1-}
[ "$python" ] || python=~/venv/bin/python
[ -x "$python" ] || [ $# -gt 0 ] || python=python3
exec "$python" -u - <<'PYTHON'
import datetime
import os
import sys

import torch
import torch.distributed

rank, hosts = int(os.environ["PODRUN_RANK"]), int(os.environ["PODRUN_NUM_HOSTS"])
os.environ["MASTER_ADDR"] = os.environ["PODRUN_HOST0"]
os.environ["MASTER_PORT"] = os.environ.get("PORT", "29500")
gpus = torch.cuda.device_count()
# If it hangs: the libraries may have chosen a wrong network, see NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME.
torch.distributed.init_process_group(
    "nccl" if gpus else "gloo", rank=rank, world_size=hosts, timeout=datetime.timedelta(minutes=2)
)
device = torch.device("cuda", 0) if gpus else torch.device("cpu")
total = torch.tensor([rank], device=device)
torch.distributed.all_reduce(total)

expected = hosts * (hosts - 1) // 2
names = f"{gpus} x {torch.cuda.get_device_name(0)}" if gpus else "no GPU"
right = int(total) == expected
print(
    f"torch {torch.__version__}: {hosts} processes over {torch.distributed.get_backend()}, {names} here,",
    f"sum {int(total)}" if right else f"sum {int(total)} IS WRONG, expected {expected}",
)
torch.distributed.destroy_process_group()
sys.exit(not right)
PYTHON
