# -c, between the working directory and hello: frees a TPU host of what an earlier run left. Lock files go only when no
# live process holds one of them or the accelerator (deleting one under a live process defeats the lock); the logs are
# evidence and move aside. Paths: openxla/xla, xla/stream_executor/tpu/tpu_initialize_util.cc.
podrun_su=; [ "$(id -u)" = 0 ] || { sudo -n true && podrun_su="sudo -n"; } 2>/dev/null;
podrun_holder=$($podrun_su ls -l /proc/[0-9]*/fd 2>/dev/null |
  grep -e "^/proc/" -e " -> /dev/accel[0-9]" -e " -> /dev/vfio/[0-9]" -e " -> /tmp/libtpu_lock" -e "/[.]libtpu_lockfile$" |
  while read -r podrun_line; do
    case $podrun_line in
      /proc/*) podrun_pid=${podrun_line#/proc/}; podrun_pid=${podrun_pid%%/*}; continue ;;
      *" -> /dev/vfio/"*)
        set -- /sys/kernel/iommu_groups/${podrun_line##*/}/devices/*/vendor;
        if [ -e "$1" ]; then grep -q 0x1ae0 "$@" || continue; fi ;;
    esac;
    IFS= read -r podrun_comm </proc/$podrun_pid/comm;
    echo "pid $podrun_pid ($podrun_comm) holds ${podrun_line##* -> }"; break;
  done 2>/dev/null);
[ -z "$podrun_holder" ] || podrun_refuse busy "$podrun_holder";
for podrun_file in /tmp/libtpu_lockfile /tmp/libtpu_lock_*/libtpu_lockfile "$HOME/.libtpu_lockfile"; do
  if [ -e "$podrun_file" ]; then
    $podrun_su rm -f -- "$podrun_file" 2>/dev/null || podrun_refuse busy "$podrun_file cannot be removed";
  fi;
done;
if [ -e /tmp/tpu_logs ]; then
  if $podrun_su mv -- /tmp/tpu_logs "/tmp/tpu_logs.$(date +%Y%m%d-%H%M%S).$$" 2>/dev/null; then :;
  elif [ -e /tmp/tpu_logs ]; then podrun_refuse busy "/tmp/tpu_logs cannot be moved aside"; fi;
fi;
