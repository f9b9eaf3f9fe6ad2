#!/bin/sh
# Tries jax on all hosts together: starts jax.distributed, counts the devices and sums all ranks over the network.
#   podrun -icd -s @jax_hello
# Prints one line, equal on all hosts. Exits with 1 if the sum is wrong. An argument names another python than ~/venv/bin/python.
set -u

python=${1-}
[ "$python" ] || python=~/venv/bin/python
[ -x "$python" ] || [ $# -gt 0 ] || python=python3
exec "$python" -u - <<'PYTHON'
import collections
import glob
import os
import sys

import jax
import numpy

# On a TPU, jax asks the metadata server who takes part: all hosts of the slice must run this. JAX_PLATFORMS=cpu tries without it.
has_tpu = bool(glob.glob("/dev/accel[0-9]*") or glob.glob("/dev/vfio/[0-9]*")) and not glob.glob("/dev/nvidia[0-9]*")
if has_tpu and os.environ.get("JAX_PLATFORMS", "tpu").startswith("tpu"):
    jax.distributed.initialize()
else:
    host = os.environ["PODRUN_HOST0"]
    host = f"[{host}]" if ":" in host else host
    jax.distributed.initialize(
        coordinator_address=f"{host}:{os.environ.get('PORT', '8476')}",
        num_processes=int(os.environ["PODRUN_NUM_HOSTS"]),
        process_id=int(os.environ["PODRUN_RANK"]),
    )

# Each device has its process's number; the sum of the whole array needs the network.
devices = jax.devices()
mesh = jax.sharding.Mesh(numpy.array(devices), ("devices",))
split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("devices"))
everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
own = numpy.full(1, jax.process_index(), numpy.int32)
ranks = jax.make_array_from_callback((len(devices),), split, lambda _: own)
total = int(jax.jit(lambda x: x.sum(), out_shardings=everywhere)(ranks))

expected = sum(device.process_index for device in devices)
kinds = collections.Counter(device.device_kind for device in devices)
print(
    f"jax {jax.__version__}: {jax.process_count()} processes,",
    " and ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items())) + ",",
    f"sum {total}" if total == expected else f"sum {total} IS WRONG, expected {expected}",
)
sys.exit(total != expected)
PYTHON
