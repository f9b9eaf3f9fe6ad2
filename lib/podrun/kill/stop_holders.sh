# Stops processes that have accelerators open, and then lists those that still have one open, for podrun kill. Follows as_root.sh. Needs
# clock.sh, lock_files.sh and device_holders.sh.
# Words: GRACE
# Variables of command.cpp: podrun_script PODRUN_RUN_ID
# Variables of kill_run.cpp: PODRUN_VICTIMS
# Variables of the host: HOME SUDO_UID
#
# $PODRUN_VICTIMS has these processes, "PID:START...". They get TERM, and CONT in case Ctrl-Z has suspended them. After at most GRACE
# seconds those that still have an accelerator open get KILL, with the processes that they have started since. Then the lock files of
# libtpu are removed, if no process has a TPU or one of them open.
#
# shellcheck disable=SC2086,SC2046,SC3013  # pids, and words that programs print, are to be split; a sh without -ef asks ls each time

# Seconds that killed processes may need to close their accelerators.
podrun_after_kill=10
# "PID:DESCRIPTOR:DEVICE ...": where processes have an accelerator open.
podrun_known=
podrun_killed=

# Sets podrun_open to the accelerators and the lock files that processes have open.
podrun_find_open() { podrun_open_locks podrun_open_devices any; }
# PID:START...: sets podrun_left to the processes that still exist and have an accelerator open. A process that the kernel is ending
# (PF_EXITING, 4) shows no files any more, while the driver may still be closing them.
podrun_keep_holding() {
  podrun_left=
  for podrun_each; do
    podrun_is_same $podrun_each || continue
    if [ $((podrun_its_flags & 4)) != 0 ]; then [ $podrun_its_state != Z ] || [ $podrun_its_threads -gt 1 ] || continue
    else podrun_knows ${podrun_each%:*} || podrun_learn ${podrun_each%:*} || continue; fi
    podrun_left="$podrun_left $podrun_each"
  done 2>/dev/null
}
# PID, whose stat was just read: true if a known descriptor still has an accelerator open. (Starts no program, so it costs little.)
podrun_knows() {
  for podrun_where in $podrun_known; do
    case $podrun_where in "$1:"*)
      podrun_where=${podrun_where#*:}
      if [ $podrun_proc/fd/${podrun_where%%:*} -ef ${podrun_where#*:} ]; then return; fi ;;
    esac
  done
  return 1
}
# PID: true if it has an accelerator open. Remembers the descriptor, once for each process. (In a container a device may be another file, so that
# -ef is false.)
podrun_learn() {
  podrun_has_accelerator $1 || return
  podrun_pid=$1
  podrun_each_line podrun_learn_descriptor "$podrun_list"
  return 0
}
podrun_learn_descriptor() {
  case $podrun_known in *" $podrun_pid:"*) return ;; esac
  podrun_shows_accelerator "$1" || return
  podrun_where=${1%% -> *}
  podrun_where=$podrun_pid:${podrun_where##* }:${1##* -> }
  case $podrun_where in *[!a-z0-9:/]*) ;; *) podrun_known="$podrun_known $podrun_where" ;; esac
}
# SIGNAL PID:START...: signals these processes. Sets podrun_signalled to the time.
podrun_signal() {
  podrun_read_clock
  podrun_signalled=$podrun_now
  podrun_what=$1
  shift
  for podrun_each; do
    if podrun_is_same $podrun_each; then kill -s $podrun_what ${podrun_each%:*}; fi
  done 2>/dev/null
}
# TIME: waits until then, or until none of podrun_left has an accelerator open.
podrun_wait_until() {
  while podrun_keep_holding $podrun_left; [ "$podrun_left" ]; do
    podrun_read_clock
    podrun_pause=$(($1 - podrun_now))
    if [ $podrun_pause -le 0 ]; then return 1; fi
    podrun_longest=50
    if [ $((podrun_now - podrun_signalled)) -lt 10 ]; then podrun_longest=5
    elif [ $((podrun_now - podrun_signalled)) -lt 100 ]; then podrun_longest=20; fi
    if [ $podrun_pause -gt $podrun_longest ]; then podrun_pause=$podrun_longest; fi
    podrun_sleep $podrun_pause
  done
}
# Sets podrun_groups to the process groups of podrun_left, and podrun_users to their users.
podrun_find_groups() {
  podrun_groups=" "
  podrun_users=" "
  for podrun_each in $podrun_left; do
    podrun_read_stat ${podrun_each%:*} || continue
    podrun_groups="$podrun_groups$podrun_its_group "
    podrun_read_user ${podrun_each%:*} && podrun_users="$podrun_users$podrun_user "
  done 2>/dev/null
}
# Adds to podrun_left the processes that its processes have started since TERM and that have an accelerator open: of the same users, in
# the same process groups or below them.
podrun_add_children() {
  set -f
  set -- $podrun_open
  set +f
  for podrun_each; do
    case $podrun_each in *[!0-9]*) continue ;; esac
    case $podrun_left in *" $podrun_each:"*) continue ;; esac
    podrun_read_stat $podrun_each || continue
    podrun_start=$podrun_its_start
    [ $podrun_start -ge $podrun_term ] || continue
    podrun_up=$podrun_its_parent
    podrun_group=$podrun_its_group
    podrun_read_user $podrun_each || continue
    case $podrun_users in *" $podrun_user "*) ;; *) continue ;; esac
    case $podrun_groups in *" $podrun_group "*) podrun_up= ;; esac
    while [ "$podrun_up" ] && [ $podrun_up -gt 1 ]; do
      case $podrun_left in *" $podrun_up:"*) podrun_up= ;; *)
        podrun_read_stat $podrun_up || break
        podrun_up=$podrun_its_parent ;;
      esac
    done
    if [ -z "$podrun_up" ] && podrun_has_accelerator $podrun_each; then podrun_left="$podrun_left $podrun_each:$podrun_start"; fi
  done 2>/dev/null
}
# PID:START...: adds lines "PID NAME" to podrun_killed, while the processes still have names.
podrun_note_killed() {
  for podrun_each; do
    podrun_read_name ${podrun_each%:*} && podrun_killed="$podrun_killed$podrun_n${podrun_each%:*} $podrun_name"
  done 2>/dev/null
}
# Kills more than once: a killed process may just have started another.
podrun_kill_left() {
  podrun_read_clock
  podrun_end=$((podrun_now + podrun_after_kill * 100))
  while [ "$podrun_left" ] && [ "$podrun_now" -lt $podrun_end ]; do
    podrun_note_killed $podrun_left
    podrun_signal KILL $podrun_left
    podrun_find_open
    podrun_keep_holding $podrun_left
    # Most of the time the first search has found nothing and nothing is left: then it was the last one.
    if [ "$podrun_open$podrun_left" ]; then
      podrun_wait_until $((podrun_signalled + 100))
      podrun_find_open
      podrun_add_children
    fi
    podrun_read_clock
  done
}
# GRACE: stops podrun_left. Searches for the processes that these have started half a second before KILL, which makes orphans of them, and
# while other hosts on the same machine still sleep. Processes that start even later are found after KILL if they are in a process group of
# podrun_left.
podrun_stop_left() {
  podrun_find_groups
  podrun_signal TERM $podrun_left
  podrun_term=$podrun_signalled
  podrun_signal CONT $podrun_left
  podrun_until=$((podrun_term + $1 * 100))
  if ! podrun_wait_until $((podrun_until - 50)); then
    podrun_find_open
    podrun_add_children
    if ! podrun_wait_until $podrun_until; then
      podrun_kill_left
      return
    fi
  fi
  podrun_find_open
}
# Removes the lock files if podrun_open names no process with a TPU or one of them.
podrun_unlock() {
  podrun_lock_holder=
  podrun_each_line podrun_note_lock_holder "$podrun_open"
  case $podrun_lock_holder in
    *" /dev/"*) ;;
    ?*)
      podrun_read_name "${podrun_lock_holder%% *}"
      podrun_tell kept_lock "pid ${podrun_lock_holder%% *} ($podrun_name) holds ${podrun_lock_holder#* }" ;;
    *)
      podrun_each_line podrun_tell_lock "$(podrun_remove_locks 2>/dev/null)" ;;
  esac
}
# "PID PATH": sets podrun_lock_holder to the first with a TPU or a lock file.
podrun_note_lock_holder() {
  podrun_is_accelerator "${1#* }"
  case $podrun_lock_holder:$podrun_kind in : | :TPU) podrun_lock_holder=$1 ;; esac
}
podrun_tell_killed() { podrun_tell killed "$1"; }
podrun_tell_lock() { case $1 in "removed "*) podrun_tell removed_lock "${1#* }" ;; *) podrun_tell kept_lock "$1" ;; esac; }

podrun_grace=$1
podrun_keep_holding $podrun_victims
if [ "$podrun_left" ]; then podrun_stop_left $podrun_grace; else podrun_find_open; fi
podrun_tell
podrun_tell "podrun-holders $PODRUN_RUN_ID"
podrun_unlock
podrun_each_line podrun_tell_killed "$podrun_killed"
podrun_list_holders
for podrun_each in $podrun_left; do podrun_tell_process ${podrun_each%:*}; done 2>/dev/null
podrun_tell end
