# Ends what an earlier try of a command has left on a host, and says in what state the host is. Needs processes.sh, clock.sh,
# process_tree.sh, stop.sh, open_files.sh, device_kinds.sh, lock_files.sh and memory.sh.
# Words: MARK GRACE
# Answers: podrun-settled
#   boot text
#   machine text
#   oom number
#   left* left pid:pid state:letter name:text
#   holder* holders pid:pid device:word name:text
# Variables of command.cpp: PODRUN_RUN_ID
#
# MARK: of the try, as in PODRUN_MARK; "-": there was none. GRACE: seconds between TERM and KILL. A process of the try is left if KILL has
# not ended it. A holder has an accelerator, or a lock file of libtpu, open.
#
# shellcheck disable=SC2034,SC2086  # the fragments read variables; pids need no quotes

podrun_tell() { printf '%s\n' "$*"; }
# FILE: sets podrun_words to its first line.
podrun_read_first() {
  podrun_words=
  read -r podrun_words <"$1"
}
# Ends the processes with the mark as a supervisor does. The supervisor, which may run on without contact, then has nothing left to stop.
podrun_end_try() {
  podrun_own_group=
  podrun_ended=
  podrun_main=
  podrun_sudo=
  podrun_tree=
  podrun_above=$$
  podrun_left=
  podrun_find_marked
  if [ "$podrun_pids" ]; then podrun_stop; fi
  for podrun_each in $podrun_left; do
    podrun_read_stat ${podrun_each%:*} || continue
    podrun_read_name ${podrun_each%:*}
    podrun_tell left ${podrun_each%:*} $podrun_its_state "$podrun_name"
  done
}
# "PID PATH"
podrun_tell_holder() {
  podrun_read_name "${1%% *}"
  podrun_tell holder "$1" "$podrun_name"
}

podrun_clean_environment
exec 4>&2 2>/dev/null
podrun_mark=$1
podrun_grace=$2
podrun_tell
podrun_tell "podrun-settled $PODRUN_RUN_ID"
podrun_read_first /proc/sys/kernel/random/boot_id && podrun_tell boot "$podrun_words"
podrun_read_first /etc/machine-id && podrun_tell machine "$podrun_words"
podrun_find_limits
podrun_choose_kills $podrun_limited
podrun_tell oom "$(sed -n 's/^oom_kill //p' "$podrun_kills")"
if [ "$podrun_mark" != - ]; then podrun_end_try; fi
podrun_su=
if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then podrun_su="sudo -n"; fi
podrun_open_locks podrun_open_devices any
podrun_each_line podrun_tell_holder "$podrun_open"
podrun_tell end
