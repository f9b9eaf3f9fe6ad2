# Memory of containers and Slurm jobs: /proc/meminfo and /proc/vmstat describe the whole machine. Linux, cgroup-v2.rst and
# cgroup-v1/memory.rst
#
# shellcheck disable=SC2034,SC2086  # others read variables; lists of directories without blanks are to be split

# TEXT: true if it is a number that shells can add. (Drivers report 2^64-1 for a device that is gone, and dash exits if it adds that.
# A limit of cgroup v1 that is not set is 2^63 less a page.)
podrun_is_number() { case $1 in "" | *[!0-9]* | ??????????????????*) return 1 ;; esac; }
# FILE...: sets podrun_value to the first line of the first one; fails unless that is a number.
podrun_read_number() {
  podrun_value=
  read -r podrun_value 2>/dev/null <$1
  podrun_is_number "$podrun_value"
}
# Sets podrun_limited to "LIMIT-FILE DIRECTORY ..." for each cgroup that may limit the memory of this process, the nearest first. (Where a
# container sees only its own cgroup, the path may name directories that are not there.)
podrun_find_limits() {
  podrun_limited=
  while IFS=: read -r _ podrun_key podrun_each; do
    case ",$podrun_key," in
      ,,) podrun_add_limits /sys/fs/cgroup memory.max ;;
      *,memory,*) podrun_add_limits /sys/fs/cgroup/memory memory.limit_in_bytes ;;
    esac
  done 2>/dev/null </proc/self/cgroup
}
# ROOT FILE: adds those of podrun_each and its ancestors.
podrun_add_limits() {
  case $podrun_each in *" "*) return ;; /*) ;; *) podrun_each= ;; esac
  while :; do
    if podrun_read_number "$1$podrun_each/$2"; then podrun_limited="$podrun_limited $2 $1$podrun_each"; fi
    if [ -z "$podrun_each" ]; then break; fi
    podrun_each=${podrun_each%/*}
  done
}
# [LIMIT-FILE DIRECTORY ...]: sets podrun_kills to the file that counts kills for want of memory: a neighbour's are no news of this cgroup.
podrun_choose_kills() {
  case ${1-} in
    "") podrun_kills=/proc/vmstat ;;
    memory.max) podrun_kills=$2/memory.events ;;
    *) podrun_kills=$2/memory.oom_control ;;
  esac
}
# LIMIT-FILE DIRECTORY: sets podrun_value to LIMIT,USED,CACHE,CACHE in bytes, where CACHE can be taken back.
podrun_read_limit() {
  podrun_read_number $2/$1 || return
  podrun_rest=$podrun_value
  podrun_read_number $2/memory.current || podrun_read_number $2/memory.usage_in_bytes || return
  podrun_rest=$podrun_rest,$podrun_value
  while read -r podrun_key podrun_value; do
    case $1:$podrun_key in
      memory.max:inactive_file | *_in_bytes:total_inactive_file) podrun_rest=$podrun_rest,$podrun_value ;;
      memory.max:active_file | *_in_bytes:total_active_file) podrun_rest=$podrun_rest,$podrun_value; break ;;
    esac
  done 2>/dev/null <$2/memory.stat
  podrun_value=$podrun_rest
}
