# Signals the process tree, and stops it: TERM, up to $podrun_grace seconds, KILL. sudo signals the processes of other users.
# Processes that survive are named on the standard error of the command. Needs process_tree.sh and clock.sh.
#
# shellcheck disable=SC2046,SC2086  # pids, their lists and the words of a stat are to be split

podrun_kill() { [ -z "$2" ] || kill -s $1 $2; }
# Signals a process only if its start is unchanged: a sudo may take any time, and a pid may belong to another process then.
# shellcheck disable=SC2016  # it is expanded by the shell that sudo runs
podrun_kill_text='s=$1; shift; for p; do IFS= read -r x </proc/${p%:*}/stat && set -- ${x##*) } && [ ${20} = ${p#*:} ] && kill -s $s ${p%:*}; done'
# SIGNAL PID:START...: signals by sudo the processes that the supervisor may not signal. In the background, one sudo at a time.
podrun_signal_by_sudo() {
  podrun_signal=$1
  shift
  podrun_forbidden=
  for podrun_each; do
    if ! kill -s 0 ${podrun_each%:*} && [ -e /proc/${podrun_each%:*} ]; then podrun_forbidden="$podrun_forbidden $podrun_each"; fi
  done
  if [ -z "$podrun_forbidden" ]; then return; fi
  if [ "$podrun_sudo" ] && podrun_read_stat $podrun_sudo && [ $podrun_its_state != Z ]; then return; fi
  (exec sudo -n /bin/sh -c "$podrun_kill_text" podrun $podrun_signal $podrun_forbidden 4>&-) &
  podrun_sudo=$!
}

# SIGNAL: passes it on from the user to the command.
podrun_pass_signal() {
  podrun_clean_environment
  if podrun_has rest; then
    [ $1 != INT ] || podrun_interrupt_rest
    return
  fi
  podrun_find_self
  if [ "$podrun_own_group" ]; then podrun_signal_group $1
  else
    podrun_find_tree
    podrun_find_marked
    podrun_kill $1 "$podrun_pids"
  fi
  podrun_signal_by_sudo $1 $podrun_tree
}
# SIGNAL. Where nothing can be forked the shell may exit: then the whole group is killed.
podrun_signal_group() {
  trap "kill -s KILL 0" EXIT
  podrun_find_below_group
  kill -s $1 0
  trap - EXIT
}
# A background job of sh ignores INT, so it gets TERM.
podrun_interrupt_rest() {
  podrun_find_marked
  for podrun_pid in $podrun_pids; do
    podrun_signal=INT
    if grep -qs '^SigIgn:.*[2367abef]$' /proc/$podrun_pid/status; then podrun_signal=TERM; fi
    kill -s $podrun_signal $podrun_pid
  done
}

# Writes to the standard error of the command, in the background, as there may be no reader.
podrun_warn() { printf 'podrun: %s\n' "$*" >&4 & }
podrun_name_left() {
  if [ "$podrun_clients" ]; then podrun_warn "a container may be left behind: KILL ended$podrun_clients"; fi
  for podrun_each; do
    podrun_pid=${podrun_each%:*}
    podrun_read_name $podrun_pid || continue
    set -- $(ls -ld /proc/$podrun_pid)
    podrun_warn "left behind: pid $podrun_pid ($podrun_name) of $3"
  done
  sleep 0.2 || sleep 1
}
# Sets podrun_clients to the clients of a daemon that runs a container. They pass TERM on to it, but cannot pass on KILL.
podrun_find_clients() {
  podrun_clients=
  for podrun_each in $podrun_tree; do
    podrun_read_name ${podrun_each%:*} &&
    case $podrun_name in docker | nerdctl | podman) podrun_clients="$podrun_clients pid ${podrun_each%:*} ($podrun_name)" ;; esac
  done
}

# Sets podrun_left to the processes that survive KILL. On a busy host even KILL takes its time: then it is pending (0x100 in a mask), or
# the process is exiting (PF_EXITING, 4). A process in state D may wait forever.
podrun_find_survivors() {
  podrun_left=
  for podrun_each in $podrun_tree; do
    podrun_is_there $podrun_each || continue
    if [ $podrun_its_state != D ]; then
      [ $((podrun_its_flags & 4)) = 0 ] || continue
      if grep -qsE '^S(ig|hd)Pnd:.*[13579bdf][0-9a-f][0-9a-f]$' /proc/${podrun_each%:*}/status; then continue; fi
    fi
    podrun_left="$podrun_left $podrun_each"
  done
}
# Sends TERM to the processes that a signal to the group does not reach.
podrun_terminate_outside_group() {
  for podrun_each in $podrun_tree; do
    podrun_read_stat ${podrun_each%:*} || continue
    case $podrun_own_group:$podrun_its_group in "1:$podrun_group") ;; *) kill -s TERM ${podrun_each%:*} ;; esac
  done
}

# Sends TERM once (the group has it already); waits until the command has returned and no process is left, or the grace period has ended;
# then sends KILL for two seconds, as processes may still be starting others. All processes of the host are searched only when the known
# ones have ended, since a search takes a second on a host with thousands of processes.
podrun_stop() {
  podrun_find_tree
  podrun_terminate_outside_group
  podrun_signal_by_sudo TERM $podrun_tree
  podrun_pause=100
  podrun_slept=0
  if sleep 0.05; then podrun_pause=20 podrun_slept=5; fi
  podrun_start_timer $((podrun_grace * 100 - podrun_slept))
  while podrun_time_left; do
    if ! podrun_main_runs && ! podrun_one_is_there $podrun_tree; then
      podrun_find_tree
      [ "$podrun_tree" ] || break
    fi
    podrun_pause_in_time
  done
  podrun_find_tree
  podrun_find_clients
  podrun_start_timer 200
  while [ "$podrun_tree" ] && podrun_time_left; do
    # First suspended: a shell whose child is killed before it would report "Killed", or start another.
    for podrun_signal in STOP KILL; do
      for podrun_each in $podrun_tree; do kill -s $podrun_signal ${podrun_each%:*}; done
    done
    podrun_signal_by_sudo KILL $podrun_tree
    if [ $podrun_round -ge 3 ]; then podrun_sleep 20
    elif podrun_one_is_there $podrun_tree; then sleep 0.02; fi
    podrun_find_tree
  done
  podrun_left=
  if [ "$podrun_tree" ]; then
    podrun_sleep 20
    podrun_find_survivors
  fi
  [ -z "$podrun_left$podrun_clients" ] || podrun_name_left $podrun_left
}
# HUNDREDTHS of a second, by the monotonic clock; without /proc by counting pauses.
podrun_start_timer() {
  podrun_round=0
  podrun_rounds=$((($1 + podrun_pause - 1) / podrun_pause))
  podrun_until=
  if podrun_read_clock; then podrun_until=$((podrun_now + $1)); fi
}
podrun_time_left() {
  podrun_round=$((podrun_round + 1))
  if [ "$podrun_until" ] && podrun_read_clock; then [ $podrun_now -lt $podrun_until ] || [ $podrun_round -le 3 ]
  else [ $podrun_round -le $podrun_rounds ]; fi
}
podrun_pause_in_time() {
  if [ "$podrun_until" ] && [ $podrun_now -lt $podrun_until ] && [ $((podrun_until - podrun_now)) -lt 20 ]; then
    podrun_sleep $((podrun_until - podrun_now))
  else podrun_sleep 20; fi
}

# [WHY]: stops everything, the supervisor too. The group is killed even if nothing can be forked, or if a search takes too long or hangs
# on a process.
podrun_stop_all() {
  podrun_clean_environment
  podrun_find_self
  if podrun_has rest; then
    kill -s KILL $podrun_main
    podrun_main=
  fi
  if [ "$podrun_own_group" ]; then
    trap "kill -s KILL 0" EXIT
    [ -z "$podrun_main" ] || { sleep $((podrun_grace + 20)); kill -s KILL 0; } 4>&- &
    podrun_signal_group TERM
    trap "kill -s KILL 0" EXIT
  fi
  [ -z "$1" ] || podrun_warn "$1"
  podrun_stop
  podrun_remove_dir
  [ -z "$podrun_session" ] || pkill -KILL -s 0
  [ -z "$podrun_own_group" ] || kill -s KILL 0
  kill -s KILL $podrun_main
  kill -s KILL $podrun_sleep
  exit 137
}
