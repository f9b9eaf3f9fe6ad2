# The preparation of -c, in a subshell of the supervisor: removes the leftovers of an earlier run on a TPU host, unless a live process has a
# TPU or a lock file open. The logs are evidence and move aside. Needs open_files.sh, device_kinds.sh and lock_files.sh.
# Words: none
# Variables of main.sh: podrun_suffix
# Variables of environment.sh: podrun_ifs podrun_n
# Variables of processes.sh: podrun_its_parent podrun_name podrun_thread_files
# Variables of the host: HOME

podrun_clean_up() {
  podrun_su=
  podrun_is_root=1
  if [ "$(id -u)" != 0 ]; then
    if sudo -n true 2>/dev/null; then podrun_su="sudo -n"; else podrun_is_root=; fi
  fi
  podrun_holder=$(podrun_find_holder 2>/dev/null)
  if [ "$podrun_holder" ]; then
    echo "$podrun_holder"
    exit 1
  fi
  podrun_remove_locks || exit
  if [ -e /tmp/tpu_logs ]; then podrun_move_logs; fi
}

# Prints the first process found with a TPU or a lock file open.
podrun_find_holder() {
  podrun_open_locks podrun_open_devices TPU
  if [ -z "$podrun_open" ]; then return; fi
  podrun_first=${podrun_open%%"$podrun_n"*}
  podrun_read_name "${podrun_first%% *}"
  podrun_find_job_of "${podrun_first%% *}"
  echo "pid ${podrun_first%% *} ($podrun_name) holds ${podrun_first#* }${podrun_its_job:+ for the job $podrun_its_job}"
}

# Moves the logs into a directory with an unguessable name: if the name existed, mv would follow a planted symlink.
podrun_move_logs() {
  podrun_old=/tmp/tpu_logs.$(date +%Y%m%d-%H%M%S).$podrun_suffix
  if { $podrun_su mkdir -m 755 -- "$podrun_old" && $podrun_su mv -- /tmp/tpu_logs "$podrun_old/"; } 2>/dev/null; then return; fi
  $podrun_su rmdir -- "$podrun_old" 2>/dev/null
  if [ -e /tmp/tpu_logs ]; then
    echo "/tmp/tpu_logs cannot be moved aside"
    exit 1
  fi
}

podrun_clean_up
