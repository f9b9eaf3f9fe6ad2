# The supervisor of a job, which outlives podrun: podrun_supervise DIRECTORY LIMIT starts the command, $podrun_command, in a session of
# its own, stores its output in DIRECTORY, and writes its exit status there. Needs job_state.sh, which describes the files. The supervisor
# does not have podrun's mark; the command gets $podrun_job_mark.
#
# shellcheck disable=SC2034,SC2046,SC2086  # the text of the command reads variables; pids and numbers need no quotes

# STREAM: copies standard input to files. split(1) writes at once. Where it cannot write (a full disk), the command's output is
# dropped for a while, so that the command goes on. A gap of one byte marks the place.
podrun_write() {
  podrun_clean_environment
  exec 5<&0
  podrun_begin=0
  until split -b 67108864 -a 4 - "$podrun_job/$1.$(printf %015d $podrun_begin)."; do
    [ -d "$podrun_job" ] || exec cat <&5 >/dev/null
    podrun_find_end "$1"
    podrun_begin=$((podrun_end + 1))
    cat <&5 >/dev/null &
    sleep 5
    kill -s KILL $!
    wait $!
  done
}
# STREAM: sets podrun_end to the position after its last byte.
podrun_find_end() {
  podrun_end=$podrun_begin
  for podrun_file in "$podrun_job/$1".[0-9]*; do :; done
  if [ -e "$podrun_file" ]; then
    podrun_find_base "$podrun_file"
    podrun_end=$((podrun_base + $(wc -c <"$podrun_file")))
  fi
}
# Notes when it has printed. Beyond about 64 kB, every second entry goes.
podrun_note_output() {
  podrun_begin=0
  podrun_find_end out
  podrun_out=$podrun_end
  podrun_find_end err
  if [ "$podrun_noted" = "$podrun_out $podrun_end" ]; then return; fi
  podrun_noted="$podrun_out $podrun_end"
  IFS=" " read -r podrun_up _ </proc/uptime
  echo "$podrun_up $podrun_noted" >>"$podrun_job/times"
  podrun_entries=$((podrun_entries + 1))
  if [ $podrun_entries -gt 2000 ]; then
    sed -n 'n;p' "$podrun_job/times" >"$podrun_job/times.new" && mv -f -- "$podrun_job/times.new" "$podrun_job/times"
    podrun_entries=1000
  fi
}
podrun_note_new_output() {
  podrun_found=$(stat -c %n:%s -- "$podrun_job"/out.[0-9]* "$podrun_job"/err.[0-9]*)
  if [ "$podrun_found" = "$podrun_seen" ]; then return; fi
  podrun_seen=$podrun_found
  podrun_note_output
}
# Ends the command if the start is not committed in time: it may have been started on a part of the hosts only.
podrun_end_uncommitted() {
  if [ "$podrun_is_committed" ] || [ -e "$podrun_job/committed" ]; then
    podrun_is_committed=1
    return
  fi
  IFS=" ." read -r podrun_up _ </proc/uptime
  if [ $podrun_up -lt $podrun_late ]; then return; fi
  : >"$podrun_job/stopped"
  podrun_mark=$podrun_job_mark
  podrun_find_marked
  [ -z "$podrun_pids" ] || kill -s $podrun_signal $podrun_pids
  podrun_signal=KILL
}
# Runs beside the command: every two seconds it removes old output, notes new output, and looks whether the start was committed.
podrun_look_after() {
  podrun_noted="0 0"
  podrun_entries=0
  podrun_seen=
  podrun_is_committed=
  podrun_signal=TERM
  IFS=" ." read -r podrun_up _ </proc/uptime
  podrun_late=$((podrun_up + 60))
  while sleep 2 && [ -d "$podrun_job" ] && [ -e /proc/$$ ]; do
    podrun_prune out
    podrun_prune err
    podrun_note_new_output
    podrun_end_uncommitted
  done
}
# STREAM: removes its oldest files beyond the limit.
podrun_prune() {
  set -- "$podrun_job/$1".[0-9]*
  while [ $# -gt $podrun_limit ]; do
    rm -f -- "$1"
    shift
  done
}

podrun_give_up() {
  echo "podrun: the supervisor of the job has given up" >&2
  exit 1
}
podrun_supervise() {
  podrun_signals="1 2 3 13 15 24 25"
  trap "" $podrun_signals
  podrun_job=$1
  podrun_limit=$2

  mkfifo -- "$podrun_job/out.in" "$podrun_job/err.in" || podrun_give_up
  podrun_write out <"$podrun_job/out.in" 2>/dev/null &
  podrun_writers=$!
  podrun_write err <"$podrun_job/err.in" 2>/dev/null &
  podrun_writers="$podrun_writers $!"
  # Before 3 and 4 are open: mksh and yash keep copies of descriptors that are closed for a loop.
  { podrun_clean_environment; podrun_look_after; } 2>/dev/null &
  podrun_looker=$!
  exec 3>"$podrun_job/out.in" 4>"$podrun_job/err.in"
  rm -f -- "$podrun_job/out.in" "$podrun_job/err.in"
  podrun_put "$podrun_job/supervisor" "$(podrun_identify $$ -)" || podrun_give_up
  exec 2>/dev/null

  # In the foreground: a background job would have INT ignored. The text writes the pid, which the command then has, and empties the
  # file of a large environment. No program runs after the eval, since the variables are the command's.
  # shellcheck disable=SC2016  # it is expanded by the shell that becomes the command
  podrun_text='
    podrun_dir=$1/files podrun_pid=$1/pid podrun_boot=$2 podrun_text=$podrun_command
    IFS= read -r podrun_stat </proc/$$/stat
    (set -- ${podrun_stat##*") "}; echo "$$ ${20} $podrun_boot" >"$podrun_pid.new" && mv -f -- "$podrun_pid.new" "$podrun_pid")
    umask "$3"
    unset podrun_command
    eval "$podrun_text"
    if [ -e "$podrun_dir/podrun.environment" ]; then true >|"$podrun_dir/podrun.environment"; fi 2>/dev/null
    command -v -- "$1" >/dev/null || {
      echo "$1: command not found" >&2
      exit 127
    }
    exec "$@"'
  # podrun stop leaves its mark before it looks for the supervisor; so one of them sees the other.
  if [ -e "$podrun_job/stopped" ]; then podrun_status=143
  else
    podrun_status=0
    (
      trap - $podrun_signals
      PODRUN_MARK=$podrun_job_mark
      export PODRUN_MARK
      podrun_umask_of_command=$podrun_umask
      unset podrun_job_mark podrun_umask
      exec setsid /bin/sh -c "$podrun_text" podrun "$podrun_job" "$podrun_boot - $podrun_machine" "$podrun_umask_of_command"
    ) >&3 2>&4 3>&- 4>&- || podrun_status=$?
  fi
  exec 3>&- 4>&-
  podrun_clean_environment
  rm -f -- "$podrun_job/files/podrun.environment"
  IFS=" " read -r podrun_up _ </proc/uptime
  until podrun_put "$podrun_job/status" "$podrun_status $podrun_up $podrun_boot $(date +%s)" || ! [ -d "$podrun_job" ]; do sleep 5; done
  wait $podrun_writers
  kill -s KILL $podrun_looker
  podrun_noted=$(tail -n 1 "$podrun_job/times")
  podrun_noted=${podrun_noted#* }
  [ "$podrun_noted" ] || podrun_noted="0 0"
  podrun_note_output
  podrun_put "$podrun_job/complete" yes
  podrun_remove_old_starts "${podrun_job%/*}"
}
# PLACE'S DIRECTORY: keeps the last three starts, and the first that has failed.
podrun_remove_old_starts() {
  podrun_place=$1
  podrun_find_numbers "$podrun_place"
  set -- $(printf '%s\n' $podrun_numbers | sort -nu)
  podrun_first=
  while [ $# -gt 3 ]; do
    podrun_nth=$1
    shift
    podrun_read_state "$podrun_place/$podrun_nth"
    if podrun_is_active; then continue; fi
    case $podrun_first$podrun_state in
      "ended 0 "*) ;;
      "ended "*)
        if ! [ -e "$podrun_place/$podrun_nth/stopped" ]; then
          podrun_first=$podrun_nth
          continue
        fi ;;
    esac
    rm -rf -- "${podrun_place:?}/$podrun_nth"
  done
}
