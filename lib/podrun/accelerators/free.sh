# Stops processes that have accelerators open, and lists which have one open then, for podrun kill: /bin/sh FILE GRACE VICTIMS, of
# <victims.sh as_root.sh processes.sh open_files.sh devices.sh lock_files.sh holders_of_host.sh this>.
#
# TERM to all of them, and CONT to what Ctrl-Z has suspended; up to GRACE seconds until none has an accelerator open; KILL to those
# that have, and to what they have started since. Then the lock files of libtpu go, if nothing has a TPU or one of them open:
# "unlocked PATH" for each, or "locked WHY".
#
# shellcheck disable=SC2086,SC2046  # pids, and words that programs print, are to be split

# Seconds that killed processes may need to close their accelerators.
podrun_after_kill=10

# PID:START...: those that are still the same process and have an accelerator open. A process that is being ended by the kernel
# (PF_EXITING, 4) shows no files any more, while the driver may still be closing them.
podrun_holding() {
  for podrun_each; do
    podrun_read_stat ${podrun_each%:*} || continue
    set -- $podrun_stat
    [ "${20}" = ${podrun_each#*:} ] || continue
    if [ $(($7 & 4)) != 0 ]; then [ $1 != Z ] || [ ${18} -gt 1 ] || continue
    else podrun_has_accelerator ${podrun_each%:*} || continue; fi
    echo $podrun_each
  done 2>/dev/null
}
# SIGNAL PID:START...: a pid may be another process's by now.
podrun_signal() {
  podrun_what=$1
  shift
  for podrun_each; do
    podrun_read_stat ${podrun_each%:*} || continue
    set -- $podrun_stat
    if [ "${20}" = ${podrun_each#*:} ]; then kill -s $podrun_what ${podrun_each%:*}; fi
  done 2>/dev/null
}
# Sets podrun_now, in hundredths of a second (and clock ticks), by the clock that nobody sets.
podrun_read_clock() { IFS=" " read -r podrun_now _ </proc/uptime && podrun_now=${podrun_now%.*}${podrun_now#*.}; }
# SECONDS: until none of podrun_left has an accelerator open.
podrun_wait_for() {
  podrun_read_clock
  podrun_until=$((podrun_now + $1 * 100))
  podrun_often=$((podrun_now + 100))
  while podrun_left=$(podrun_holding $podrun_left); [ "$podrun_left" ]; do
    podrun_read_clock
    if [ "$podrun_now" -ge $podrun_until ]; then return 1; fi
    if [ "$podrun_now" -lt $podrun_often ]; then sleep 0.2; else sleep 0.5; fi || sleep 1
  done
}
# Sets podrun_groups to the process groups of podrun_left, and podrun_users to their users.
podrun_find_groups() {
  podrun_groups=" "
  podrun_users=" "
  for podrun_each in $podrun_left; do
    podrun_read_stat ${podrun_each%:*} || continue
    set -- $podrun_stat
    podrun_groups="$podrun_groups$3 "
    set -- $(ls -ldn /proc/${podrun_each%:*})
    podrun_users="$podrun_users$3 "
  done 2>/dev/null
}
# Adds to podrun_left what its processes have started since TERM and has an accelerator open: of the same users, in the same
# process groups or below them.
podrun_add_children() {
  set -- $podrun_left
  podrun_left=" $*"
  for podrun_each in $(podrun_holdings | while read -r podrun_pid _; do echo $podrun_pid; done); do
    case $podrun_left in *" $podrun_each:"*) continue ;; esac
    podrun_read_stat $podrun_each || continue
    set -- $podrun_stat
    podrun_start=${20}
    [ $podrun_start -ge $podrun_term ] || continue
    podrun_up=$2
    podrun_group=$3
    set -- $(ls -ldn /proc/$podrun_each)
    case $podrun_users in *" $3 "*) ;; *) continue ;; esac
    case $podrun_groups in *" $podrun_group "*) podrun_up= ;; esac
    while [ "$podrun_up" ] && [ $podrun_up -gt 1 ]; do
      case $podrun_left in *" $podrun_up:"*) podrun_up= ;; *)
        podrun_read_stat $podrun_up || break
        set -- $podrun_stat
        podrun_up=$2 ;;
      esac
    done
    if [ -z "$podrun_up" ]; then podrun_left="$podrun_left $podrun_each:$podrun_start"; fi
  done 2>/dev/null
}
# More than once: what is killed may just have started something.
podrun_kill_rest() {
  podrun_add_children
  podrun_end=$((podrun_now + podrun_after_kill * 100))
  while [ "${podrun_left#" "}" ] && [ "$podrun_now" -lt $podrun_end ]; do
    podrun_signal KILL $podrun_left
    podrun_wait_for 1
    podrun_add_children
    podrun_read_clock
  done
}
podrun_unlock() {
  podrun_lock_holder=$(podrun_open_locks podrun_open_accelerators 2>/dev/null | head -n 1)
  case $podrun_lock_holder in
    *" /dev/"*) ;;
    ?*)
      podrun_read_name "${podrun_lock_holder%% *}"
      podrun_tell locked "pid ${podrun_lock_holder%% *} ($podrun_name) holds ${podrun_lock_holder#* }" ;;
    *)
      podrun_remove_locks 2>/dev/null | while IFS= read -r podrun_line; do
        case $podrun_line in
          "removed "*) podrun_tell unlocked "${podrun_line#* }" ;;
          *) podrun_tell locked "$podrun_line" ;;
        esac
      done ;;
  esac
}

podrun_grace=$1
shift
podrun_left=$(podrun_holding "$@")
if [ "$podrun_left" ]; then
  podrun_find_groups
  podrun_read_clock
  podrun_term=$podrun_now
  podrun_signal TERM $podrun_left
  podrun_signal CONT $podrun_left
  if ! podrun_wait_for $podrun_grace; then podrun_kill_rest; fi
fi
podrun_tell
podrun_tell "podrun-kill $PODRUN_RUN_ID"
podrun_unlock
podrun_list_holders
for podrun_each in $podrun_left; do podrun_tell_process ${podrun_each%:*}; done 2>/dev/null
podrun_tell end
