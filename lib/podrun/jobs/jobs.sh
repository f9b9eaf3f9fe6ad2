# Lists, stops or removes jobs of a host. Needs processes.sh, clock.sh, process_tree.sh, stop.sh and job_state.sh.
# Words: ACTION [JOB_NAMES] [GRACE] [RUN_ID]
# Answers: podrun-jobs
#   job* jobs name:text
#     place text
#     state text
#     number number
#     kept numbers
#     stopped flag
#     open flag
#     kept_here seconds
#     tries number
#     doing text
#     age seconds
#     ended seconds
#     output seconds
#     bytes number
#     command text
#     last text
# Variables of command.cpp: PODRUN_RUN_ID PODRUN_HOST PODRUN_WORKER
# Variables of the host: HOME
#
# Actions: list [JOB_NAMES] | stop JOB_NAMES GRACE | remove JOB_NAMES | commit JOB_NAME GRACE RUN_ID | take-back JOB_NAME GRACE RUN_ID.
# JOB_NAMES: separated by blanks; empty: all. The last two keep the job that a run has started,
# and wait a second for an early end; or stop and remove it. Seconds are ago: the start, the end
# and the last output. open: it has ended, but processes that it left have its output open. kept: the starts whose output is there.
#
# shellcheck disable=SC2034,SC2086,SC2046  # others read and set variables; pids and numbers need no quotes

case $PODRUN_HOST in
  */*) podrun_here=$PODRUN_WORKER-$(printf %s "$PODRUN_HOST" | tr / _) ;;
  *) podrun_here=$PODRUN_WORKER-$PODRUN_HOST ;;
esac
podrun_tell() { printf '%s\n' "$*"; }

podrun_tell_times() {
  IFS=" ." read -r podrun_up _ </proc/uptime
  podrun_clock=$(date +%s)
  if read -r _ podrun_start podrun_its_boot _ <"$podrun_job/supervisor" && [ "$podrun_its_boot" = "$podrun_boot" ]; then
    podrun_tell age $((podrun_up - podrun_start / 100))
  fi
  # By the monotonic clock, if the host was not rebooted.
  if read -r _ podrun_then podrun_its_boot podrun_time <"$podrun_job/status"; then
    if [ "$podrun_its_boot" = "$podrun_boot" ]; then podrun_tell ended $((podrun_up - ${podrun_then%.*}))
    else podrun_tell ended $((podrun_clock - podrun_time)); fi
  fi
}
# After podrun_tell_times. (The last output needs a moment to be written.)
podrun_is_open() {
  if [ -e "$podrun_job/complete" ]; then return 1; fi
  set -- $podrun_state
  [ "$4" != "$podrun_boot" ] || [ $((podrun_up - ${3%.*})) -gt 1 ]
}
# Prints how many bytes of its output are kept, and for how many seconds it has printed nothing: by the monotonic clock, if the host was not
# rebooted.
podrun_tell_output() {
  podrun_bytes=0
  podrun_last=
  for podrun_words in $(stat -c %s:%Y -- "$podrun_job"/out.[0-9]* "$podrun_job"/err.[0-9]*); do
    if [ ${podrun_words%:*} = 0 ]; then continue; fi
    podrun_bytes=$((podrun_bytes + ${podrun_words%:*}))
    if [ ${podrun_words#*:} -gt ${podrun_last:-0} ]; then podrun_last=${podrun_words#*:}; fi
  done
  podrun_noted=
  if read -r _ _ podrun_its_boot _ <"$podrun_job/supervisor" && [ "$podrun_its_boot" = "$podrun_boot" ]; then
    podrun_noted=$(tail -n 1 "$podrun_job/times")
  fi
  if [ "$podrun_noted" ]; then podrun_tell output $((podrun_up - ${podrun_noted%%.*}))
  elif [ "$podrun_last" ]; then podrun_tell output $((podrun_clock - podrun_last)); fi
  podrun_tell bytes $podrun_bytes
}
# The last line that it has printed, preferably to stderr.
podrun_tell_last_line() {
  for podrun_stream in err out; do
    set -- "$podrun_job/$podrun_stream".[0-9]*
    while [ $# -gt 1 ]; do shift; done
    podrun_words=$(tail -n 1 "$1" | tr '\000\r' '  ')
    [ -z "$podrun_words" ] || break
  done
  podrun_tell last "$(printf %.300s "$podrun_words")"
}
# PLACE'S DIRECTORY, after podrun_find_job: the numbers of the starts that are kept, in no order.
podrun_tell_kept() {
  podrun_kept=
  for podrun_nth in $podrun_numbers; do
    if [ -e "$1/$podrun_nth/supervisor" ]; then podrun_kept="$podrun_kept $podrun_nth"; fi
  done
  podrun_tell kept $podrun_kept
}
# PLACE'S DIRECTORY
podrun_tell_job() {
  podrun_find_job "$1"
  if [ -z "$podrun_job" ]; then return; fi
  podrun_name=${1%/*}
  podrun_tell job "${podrun_name##*/}"
  if [ "${1##*/}" != "$podrun_here" ]; then podrun_tell place "${1##*/}"; fi
  podrun_tell state "$podrun_state"
  podrun_tell number "$podrun_number"
  podrun_tell_kept "$1"
  if [ -e "$podrun_job/stopped" ]; then podrun_tell stopped; fi
  if read -r podrun_words <"$podrun_job/kept"; then
    podrun_tell kept_here "$podrun_words"
    read -r podrun_words <"$podrun_job/tries" && podrun_tell tries "$podrun_words"
    read -r podrun_words <"$podrun_job/doing" && podrun_tell doing "$podrun_words"
  fi
  podrun_tell_times
  case $podrun_state in ended*) podrun_is_open && podrun_tell open ;; esac
  podrun_tell_output
  podrun_words=$(tr '\000\n' '  ' <"$podrun_job/command")
  podrun_tell command "$(printf %.300s "$podrun_words")"
}

# Stops everything that the command has started, as stop.sh stops the process tree of a run. The session of the
# command belongs to it: no pid is reused while it is the number of a session. The supervisor ends soon after the last of them.
podrun_stop_job() {
  podrun_mark=
  read -r podrun_mark <"$podrun_job/mark"
  podrun_own_group=
  podrun_ended=
  podrun_main=
  podrun_sudo=
  podrun_tree=
  if [ -z "$podrun_mark" ]; then return; fi
  podrun_pause=20
  podrun_start_timer 500
  until [ -e "$podrun_job/pid" ] || [ -e "$podrun_job/status" ] || ! podrun_runs "$podrun_job/supervisor"; do
    podrun_time_left || break
    podrun_sleep 5
  done
  if podrun_runs "$podrun_job/pid"; then
    podrun_find_with_stat "[0-9]+ [0-9]+ $podrun_pid"
    podrun_set_tree $podrun_pids
  fi
  podrun_stop
  podrun_start_timer 300
  while podrun_runs "$podrun_job/supervisor" && podrun_time_left; do podrun_sleep 5; done
}

# PLACE'S DIRECTORY. A job that is being started finds the mark before its command runs.
podrun_stop_one() {
  podrun_find_job "$1"
  case $podrun_state in
    starting)
      mkdir -p -- "$podrun_job"
      : >"$podrun_job/stopped"
      podrun_read_state "$podrun_job" ;;
    running | "lost "[0-9]*) : >"$podrun_job/stopped" ;;
  esac
  case $podrun_state in running | ended* | lost*) podrun_stop_job ;; esac
  podrun_tell_job "$1"
}
# PLACE'S DIRECTORY
podrun_remove_one() {
  podrun_find_job "$1"
  if [ "$podrun_job" ] && podrun_is_active; then podrun_tell_job "$1"
  elif [ -d "$1" ]; then
    podrun_name=${1%/*}
    rm -rf -- "$1" 2>&4 && podrun_tell job "${podrun_name##*/}" && podrun_tell state removed
    podrun_drop_place "$1"
  fi
}
# PLACE'S DIRECTORY: sets podrun_jobs to the starts of this run.
podrun_find_own() {
  podrun_jobs=
  podrun_find_numbers "$1"
  for podrun_nth in $podrun_numbers; do
    case "$podrun_jobs " in *" $podrun_nth "*) continue ;; esac
    if grep -qsxF -- "$podrun_run_id.job-$PODRUN_WORKER-$podrun_job_names." "$1/$podrun_nth/mark"; then podrun_jobs="$podrun_jobs $podrun_nth"; fi
  done
}
# PLACE'S DIRECTORY
podrun_commit() {
  podrun_find_own "$1"
  for podrun_nth in $podrun_jobs; do
    podrun_job=$1/$podrun_nth
    : >"$podrun_job/committed" || continue
    podrun_pause=20
    podrun_start_timer 100
    until [ -e "$podrun_job/complete" ] || ! podrun_time_left; do podrun_sleep 10; done
    podrun_tell_job "$1"
    podrun_tell_last_line
  done
}
# PLACE'S DIRECTORY
podrun_take_back() {
  podrun_find_own "$1"
  for podrun_nth in $podrun_jobs; do
    podrun_job=$1/$podrun_nth
    podrun_stop_job
    rm -rf -- "$podrun_job"
  done
  podrun_drop_place "$1"
}

# NAME'S DIRECTORY
podrun_act() {
  case $podrun_action in
    list) podrun_each_place "$1" "$podrun_here" podrun_tell_job ;;
    stop) podrun_each_place "$1" "$podrun_here" podrun_stop_one ;;
    remove) podrun_each_place "$1" "$podrun_here" podrun_remove_one ;;
    commit) podrun_commit "$1/$podrun_here" ;;
    take-back) podrun_take_back "$1/$podrun_here" ;;
  esac
}

podrun_clean_environment
umask 077
podrun_check_home
exec 4>&2 2>/dev/null
podrun_action=$1
podrun_job_names=$2
podrun_grace=$3
podrun_run_id=$4
podrun_tell
podrun_tell "podrun-jobs $PODRUN_RUN_ID"
if [ "$podrun_job_names" ]; then
  for podrun_each_name in $podrun_job_names; do podrun_act "$HOME/.podrun/jobs/$podrun_each_name"; done
else
  for podrun_directory in "$HOME/.podrun/jobs"/*; do podrun_act "$podrun_directory"; done
fi
podrun_tell end
