# -c, between the working directory and hello: frees a TPU host of what an earlier run left. Lock files go only when no
# live process holds one of them or the accelerator (deleting one under a live process defeats the lock); the logs are
# evidence and move aside. The holder may be a user whose descriptors we cannot see: /proc/locks has it (maj:min:inode). Only
# files count, as anyone may put other things there. The logs go into a directory of an unguessable name: to a name that
# exists, mv would follow a planted symlink. Paths: openxla/xla, xla/stream_executor/tpu/tpu_initialize_util.cc.
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
podrun_locked() {
  set -- $(ls -di "$1") -; set -- $(grep -sE ":$1 " /proc/locks); [ "$5" ] || return;
  podrun_comm=; { IFS= read -r podrun_comm </proc/$5/comm; } 2>/dev/null; echo "pid $5 ($podrun_comm)";
};
for podrun_file in /tmp/libtpu_lockfile /tmp/libtpu_lock_*/libtpu_lockfile "$HOME/.libtpu_lockfile"; do
  [ -f "$podrun_file" ] || [ -L "$podrun_file" ] || continue;
  if [ -L "${podrun_file%/*}" ]; then continue; fi;
  podrun_holder=; [ "$podrun_su" ] || [ "$(id -u)" = 0 ] || podrun_holder=$(podrun_locked "$podrun_file"); [ -z "$podrun_holder" ] || podrun_refuse busy "$podrun_holder holds $podrun_file";
  $podrun_su rm -f -- "$podrun_file" 2>/dev/null || podrun_refuse busy "$podrun_file cannot be removed";
done;
if [ -e /tmp/tpu_logs ]; then
  podrun_old=/tmp/tpu_logs.$(date +%Y%m%d-%H%M%S).$podrun_nonce;
  if { $podrun_su mkdir -m 755 -- "$podrun_old" && $podrun_su mv -- /tmp/tpu_logs "$podrun_old/"; } 2>/dev/null; then :;
  else $podrun_su rmdir -- "$podrun_old" 2>/dev/null; if [ -e /tmp/tpu_logs ]; then podrun_refuse busy "/tmp/tpu_logs cannot be moved aside"; fi; fi;
fi;
