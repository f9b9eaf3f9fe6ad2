#!/bin/sh
# Shows the use of GPUs and TPUs on every host in a few lines without pids, so that -b folds equal hosts:
#   podrun -b -s @accelerators              with --sudo: processes of other users too
#   podrun -s @accelerators -- pids         with the pids of the processes
set -u

pids=
[ "${1-}" != pids ] || pids=yes
as_root=
if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then as_root='sudo -n'; fi

# Lines "USER PID NAME" become "held by USER: NAME (2 processes)", or one line for each process.
print_holders() {
  if [ "$pids" ]; then
    sort -u | awk '{ print "  held by " $1 ": " $3 ", pid " $2 }'
  else
    sort -u | awk '{ ++count[$1 ": " $3] }
      END { for (who in count) print "  held by " who (count[who] > 1 ? " (" count[who] " processes)" : "") }' | sort
  fi
}

describe() {  # PID...: reads pids
  while read -r pid; do
    [ -d "/proc/$pid" ] || continue
    user=$(stat -c %U "/proc/$pid" 2>/dev/null) || continue
    read -r name <"/proc/$pid/comm" || continue
    echo "$user $pid $name"
  done
}

# Memory in GiB and use in quarters: so equal work looks equal.
print_gpus() {
  nvidia-smi --query-gpu=name,memory.used,memory.total,utilization.gpu --format=csv,noheader,nounits 2>&1 |
    awk -F ', ' 'NF < 4 { print; next }
      { use = $4 < 5 ? "idle" : $4 < 38 ? "a quarter busy" : $4 < 63 ? "half busy" : $4 < 88 ? "three quarters busy" : "busy"
        line = sprintf("%s, %.0f of %.0f GiB, %s", $1, $2 / 1024, $3 / 1024, use)
        if (!(line in count)) order[++lines] = line
        ++count[line] }
      END { for (i = 1; i <= lines; ++i) print count[order[i]] " x " order[i] }'
  nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null | describe | print_holders
}

# Lines "PID DEVICE". The links of /proc/PID/fd name the device; only root sees those of other users.
open_devices() {
  $as_root ls -l /proc/[0-9]*/fd 2>/dev/null | awk '
    /^\/proc\// { split($0, part, "/"); pid = part[3] }
    / -> \/dev\/(accel|vfio\/)[0-9]+$/ { print pid, $NF }' | sort -u
}

# A group of /dev/vfio may be another device, passed through to a virtual machine; Google's vendor number is 0x1ae0.
is_tpu() {  # DEVICE
  [ -e "$1" ] || return
  case $1 in /dev/vfio/*) ;; *) return 0 ;; esac
  set -- /sys/kernel/iommu_groups/"${1##*/}"/devices/*/vendor
  [ ! -e "$1" ] || grep -q 0x1ae0 "$@"
}

print_tpus() {
  chips=0 kind=
  for device in /dev/accel[0-9]* /dev/vfio/[0-9]*; do
    is_tpu "$device" || continue
    chips=$((chips + 1)) kind=${device%%[0-9]*}
  done
  [ "$chips" -gt 0 ] || return
  held=$(open_devices)
  if [ ! "$held" ]; then
    echo "$chips x ${kind}N: free"
    [ "$as_root" ] || [ "$(id -u)" = 0 ] || echo '  (processes of other users cannot be seen; use --sudo)'
    return 0
  fi
  echo "$chips x ${kind}N: $(printf '%s\n' "$held" | cut -d ' ' -f 2 | sort -u | wc -l | tr -d ' ') in use"
  printf '%s\n' "$held" | cut -d ' ' -f 1 | describe | print_holders
  # tpu-info asks the libtpu of the running program. Of its tables, the one with memory and duty cycle is short.
  tpu_info=$(command -v tpu-info || echo ~/venv/bin/tpu-info)
  [ -x "$tpu_info" ] || return 0
  $limit "$tpu_info" 2>/dev/null | sed -n 's/.*[^0-9.]\([0-9.]* GiB \/ [0-9.]* GiB\)[^0-9]*\([0-9.]*%\).*/\1, \2 busy/p' |
    sort | uniq -c | sed 's/^ *\([0-9]*\) */  \1 x /'
}

limit=
if command -v timeout >/dev/null; then limit='timeout 20'; fi
found=
if command -v nvidia-smi >/dev/null; then
  print_gpus
  found=yes
fi
print_tpus || [ "$found" ] || echo 'no accelerator'
