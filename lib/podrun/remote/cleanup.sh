# The preparation of -c: removes what an earlier run left on a TPU host. Lock files go only when no live process holds one of them
# or the accelerator, since deleting one under a live process defeats the lock. The logs are evidence and move aside. Needs
# open_files.sh and the supervisor. Paths: openxla/xla, xla/stream_executor/tpu/tpu_initialize_util.cc.
#
# shellcheck disable=SC2086,SC2046,SC2154  # pids, and words that programs print, are to be split; the supervisor sets the rest

podrun_fail() {
  printf '%s\n' "$*"
  exit 1
}

podrun_clean_up() {
  podrun_su=
  [ "$(id -u)" = 0 ] || { sudo -n true && podrun_su="sudo -n"; } 2>/dev/null
  podrun_holder=$(podrun_accelerator_holder 2>/dev/null)
  [ -z "$podrun_holder" ] || podrun_fail "$podrun_holder"
  for podrun_file in /tmp/libtpu_lockfile /tmp/libtpu_lock_*/libtpu_lockfile "$HOME/.libtpu_lockfile"; do
    podrun_remove_lock "$podrun_file"
  done
  if [ -e /tmp/tpu_logs ]; then podrun_move_logs; fi
}

# The first process found with a lock file or an accelerator open; a group of /dev/vfio counts if its devices are of Google
# (0x1ae0).
podrun_accelerator_holder() {
  podrun_open_files -e " -> /dev/accel[0-9]" -e " -> /dev/vfio/[0-9]" -e " -> /tmp/libtpu_lock" -e "/[.]libtpu_lockfile$" |
    while read -r podrun_pid podrun_file; do
      case $podrun_file in /dev/vfio/*)
        set -- /sys/kernel/iommu_groups/"${podrun_file##*/}"/devices/*/vendor
        if [ -e "$1" ]; then grep -q 0x1ae0 "$@" || continue; fi ;;
      esac
      podrun_read_name "$podrun_pid"
      echo "pid $podrun_pid ($podrun_name) holds $podrun_file"
      break
    done
}

# Only a file counts, as anyone may put other things there.
podrun_remove_lock() {
  [ -f "$1" ] || [ -L "$1" ] || return
  if [ -L "${1%/*}" ]; then return; fi
  podrun_holder=
  [ "$podrun_su" ] || [ "$(id -u)" = 0 ] || podrun_holder=$(podrun_lock_holder "$1")
  [ -z "$podrun_holder" ] || podrun_fail "$podrun_holder holds $1"
  $podrun_su rm -f -- "$1" 2>/dev/null || podrun_fail "$1 cannot be removed"
}
# The holder may belong to a user whose descriptors cannot be seen here; /proc/locks has its pid and maj:min:inode.
podrun_lock_holder() {
  set -- $(ls -di "$1") -
  set -- $(grep -sE ":$1 " /proc/locks)
  [ "$5" ] || return
  podrun_read_name $5 2>/dev/null
  echo "pid $5 ($podrun_name)"
}

# Into a directory of an unguessable name: to a name that exists, mv would follow a planted symlink.
podrun_move_logs() {
  podrun_old=/tmp/tpu_logs.$(date +%Y%m%d-%H%M%S).$podrun_nonce
  if { $podrun_su mkdir -m 755 -- "$podrun_old" && $podrun_su mv -- /tmp/tpu_logs "$podrun_old/"; } 2>/dev/null; then return; fi
  $podrun_su rmdir -- "$podrun_old" 2>/dev/null
  if [ -e /tmp/tpu_logs ]; then podrun_fail "/tmp/tpu_logs cannot be moved aside"; fi
}

podrun_clean_up
