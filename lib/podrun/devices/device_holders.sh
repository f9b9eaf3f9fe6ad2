# Lists the processes that have the accelerators of a host open. Needs processes.sh, open_files.sh and device_kinds.sh. Others set podrun_su, see
# open_files.sh, podrun_is_root if this is root or podrun_su makes it root, and podrun_uid to the uid of the user.
# Answers: podrun-holders
#   uid number
#   sees_all flag
#   own_cgroup text
#   device* devices text
#   above* above pid
#   process@ holders pid:pid start:number uid:number age:seconds state:letter name:text
#     user text
#     command text
#     cgroup text
#     mark text
#     run_lives flag
#     holds@ devices text
#   mark_of_host* marks text
#   killed@ killed pid:pid name:text
#   removed_lock* removed_locks text
#   kept_lock text
#
# start: in clock ticks after boot; with the pid it names a process. state: D waits in the kernel, not even KILL ends it. command: its words,
# or the first 300 bytes of them. mark: of the run that started it, RUN.WORKER., RUN.job-WORKER-NAME. or RUN.watch.WORKER.; run_lives: that run has not ended.
# cgroup: of a container. kept_lock: why a lock file was not removed. above: podrun's shell and its ancestors.
#
# shellcheck disable=SC2010,SC2034,SC2086,SC2046  # ls reads links at once; pids, and words that programs print, are to be split

# The processes that podrun kill could not stop; otherwise none.
podrun_left=
# Prints a line. A script may define its own.
podrun_tell() { printf '%s\n' "$*"; }

# PID: true if it has an accelerator open. Sets podrun_list to its own list of files, which alone counts: a file name in the list of
# another process could contain lines that look like it.
podrun_has_accelerator() {
  podrun_list=
  podrun_read_stat $1 || return
  podrun_list=$($podrun_su ls -l $podrun_proc/fd 2>/dev/null)
  podrun_shows_accelerator "$podrun_list"
}

# Prints every accelerator, and every process of podrun_open that has one open. Lines by which podrun kill protects itself come only if a
# process is left.
podrun_list_holders() {
  podrun_marks=
  podrun_tell uid "$podrun_uid"
  if [ "$podrun_is_root" ]; then podrun_tell sees_all; fi
  podrun_find_devices
  for podrun_device in $podrun_devices; do
    case $podrun_device in /*) podrun_tell device "$podrun_device" ;; esac
  done
  if [ -z "$podrun_open$podrun_left" ]; then return; fi
  podrun_find_cgroup /proc/$$
  if [ "$podrun_cgroup" ]; then podrun_tell own_cgroup "$podrun_cgroup"; fi
  podrun_up=$$
  while [ "$podrun_up" -gt 1 ] && podrun_read_stat "$podrun_up" 2>/dev/null; do
    podrun_tell above "$podrun_up"
    podrun_up=$podrun_its_parent
  done
  podrun_told=" "
  podrun_listed=
  podrun_each_line podrun_tell_holder "$podrun_open" 2>/dev/null
}
# "PID PATH"
podrun_tell_holder() {
  podrun_is_accelerator "${1#* }" || return
  if [ "$podrun_listed" != "${1%% *}" ]; then
    podrun_listed=${1%% *}
    podrun_has_accelerator "$podrun_listed"
  fi
  case $podrun_list$podrun_n in *" -> ${1#* }$podrun_n"*) ;; *) return ;; esac
  case $podrun_told in *" $podrun_listed "*) ;; *)
    podrun_told="$podrun_told$podrun_listed "
    podrun_tell_process "$podrun_listed" ;;
  esac
  podrun_tell holds "$1"
}

# PID
podrun_tell_process() {
  podrun_read_stat "$1" || return
  podrun_read_name "$1"
  podrun_pid=$1
  podrun_state=$podrun_its_state
  podrun_start=$podrun_its_start
  IFS=" ." read -r podrun_now _ </proc/uptime
  podrun_age=$((podrun_now - podrun_start / 100))
  if [ $podrun_age -lt 0 ]; then podrun_age=0; fi
  podrun_read_user $podrun_pid || return
  podrun_tell process $podrun_pid $podrun_start $podrun_user $podrun_age $podrun_state "$podrun_name"
  # (The ls of busybox cuts names; a small busybox has no -c of stat.)
  set -- $(stat -c "%u %U" "/proc/$podrun_pid")
  if [ "$1" = $podrun_user ] && [ "$2" != UNKNOWN ]; then podrun_tell user $podrun_pid "$2"
  else podrun_tell user $podrun_pid "$(id -un $podrun_user || echo $podrun_user)"; fi
  podrun_words=$(tr '\000\n' '  ' <$podrun_proc/cmdline)
  podrun_tell command $podrun_pid "$(printf %.300s "$podrun_words")"
  podrun_find_cgroup $podrun_proc
  if [ "$podrun_cgroup" ]; then podrun_tell cgroup $podrun_pid "$podrun_cgroup"; fi
  podrun_find_marks
  podrun_find_mark $podrun_pid
  if [ "$podrun_mark" ]; then
    podrun_tell mark $podrun_pid "$podrun_mark"
    if podrun_is_supervised; then podrun_tell run_lives $podrun_pid; fi
  fi
}
# After podrun_list_holders: prints "mark_of_host MARK" for each mark that a process has, with or without an accelerator; for at most 64.
podrun_tell_marks() {
  podrun_find_marks
  podrun_told=" "
  podrun_count=0
  for podrun_each in $podrun_marks; do
    podrun_each=${podrun_each#*=}
    case $podrun_told in *" $podrun_each "*) continue ;; esac
    podrun_told="$podrun_told$podrun_each "
    podrun_tell mark_of_host "$podrun_each"
    podrun_count=$((podrun_count + 1))
    if [ $podrun_count = 64 ]; then break; fi
  done
}
# Sets podrun_marks to words "PID=MARK" of all processes that have a mark, unless it is set. (A shell drops the NUL that grep prints after
# each line /proc/PID/environ:PODRUN_MARK=MARK, or /proc/PID/task/TID/environ:PODRUN_MARK=MARK.)
podrun_find_marks() {
  if [ "$podrun_marks" ]; then return; fi
  podrun_marks=" "
  podrun_find_threads environ
  podrun_pattern="PODRUN_MARK=[A-Za-z0-9._=-]+"
  set -- "$($podrun_su grep -xHzsE "$podrun_pattern" /proc/[0-9]*/environ $podrun_thread_files)"
  IFS=/
  set -- $1
  IFS=$podrun_ifs
  if [ $# -gt 0 ]; then shift; fi
  while [ $# -ge 3 ]; do
    podrun_up=$2
    if [ "$3" = task ]; then shift 2; fi
    podrun_marks="$podrun_marks$podrun_up=${3#*=} "
    shift 3
  done
}
# PID: sets podrun_mark to the mark of the process or of its nearest ancestor with one: programs that set their title overwrite it.
podrun_find_mark() {
  podrun_mark=
  podrun_up=$1
  while [ "$podrun_up" -gt 1 ]; do
    for podrun_each in $podrun_marks; do
      case $podrun_each in "$podrun_up="*)
        podrun_mark=${podrun_each#*=}
        return ;;
      esac
    done
    podrun_read_stat "$podrun_up" || return
    podrun_up=$podrun_its_parent
  done
}
# /proc/PID: sets podrun_cgroup to the cgroup of this process if it is a container's.
podrun_find_cgroup() {
  podrun_cgroup=
  while IFS= read -r podrun_line; do
    case $podrun_line in *docker* | *libpod* | *containerd* | *kubepods* | *crio*)
      podrun_cgroup=${podrun_line#*:*:}
      break ;;
    esac
  done <$1/cgroup
}
# True if the supervisor of the run with podrun_mark still runs. It has no mark itself, and the command is its child.
podrun_is_supervised() {
  for podrun_each in $podrun_marks; do
    case ${podrun_each#*=} in "${podrun_mark%.}."*) ;; *) continue ;; esac
    podrun_each=${podrun_each%%=*}
    podrun_read_stat $podrun_each || continue
    podrun_up=$podrun_its_parent
    if [ "$podrun_up" -le 1 ]; then continue; fi
    podrun_read_name "$podrun_up" || continue
    case $podrun_name in
      *sh | busybox | sudo) case $podrun_marks in *" $podrun_up="*) ;; *) return 0 ;; esac ;;
    esac
  done
  return 1
}
