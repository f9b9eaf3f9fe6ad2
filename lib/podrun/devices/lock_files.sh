# The lock files of libtpu. Its source names their paths: openxla/xla, xla/stream_executor/tpu/tpu_initialize_util.cc. Deleting
# one under a live process defeats the lock. Needs processes.sh and open_files.sh. podrun_is_root is set by others, if this is root or
# podrun_su makes it root.
#
# shellcheck disable=SC2086,SC2046  # pids, and words that programs print, are to be split

# podrun_open_devices KIND: adds the processes that have a lock file open.
podrun_open_locks() { "$@" -e "^l[^/]* -> /tmp/libtpu_lock" -e "/[.]libtpu_lockfile$"; }

# Removes the lock files that no process holds, with a line "removed PATH" for each. Fails at the first that is held or cannot be removed;
# then the last line says why. Only files with a name of one line count, as anyone may put other things there.
podrun_remove_locks() {
  for podrun_file in /tmp/libtpu_lockfile /tmp/libtpu_lock_*/libtpu_lockfile "$HOME/.libtpu_lockfile"; do
    [ -f "$podrun_file" ] || [ -L "$podrun_file" ] || continue
    if [ -L "${podrun_file%/*}" ]; then continue; fi
    case $podrun_file in *"$podrun_n"*) continue ;; esac
    podrun_holder=
    [ "$podrun_is_root" ] || podrun_holder=$(podrun_lock_holder "$podrun_file")
    if [ "$podrun_holder" ]; then
      echo "$podrun_holder holds $podrun_file"
      return 1
    fi
    if $podrun_su rm -f -- "$podrun_file" 2>/dev/null; then echo "removed $podrun_file"
    else
      echo "$podrun_file cannot be removed"
      return 1
    fi
  done
}
# PATH: prints its holder. The user may not see the holder's descriptors, but /proc/locks has its pid and maj:min:inode.
podrun_lock_holder() {
  set -- $(ls -di "$1") -
  set -- $(grep -sE ":$1 " /proc/locks)
  [ "$5" ] || return
  podrun_read_name $5 2>/dev/null
  echo "pid $5 ($podrun_name)"
}
