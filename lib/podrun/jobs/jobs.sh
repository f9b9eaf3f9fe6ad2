# Lists, stops or removes jobs of a host. Needs processes.sh, clock.sh, process_tree.sh, stop.sh and job_state.sh.
# Words: ACTION [JOB_NAME] [GRACE] [RUN_ID]
# Variables of command.cpp: PODRUN_RUN_ID PODRUN_HOST PODRUN_WORKER
# Variables of the host: HOME
#
# Actions: list [JOB_NAME] | stop JOB_NAME GRACE | remove JOB_NAME | take-back JOB_NAME GRACE RUN_ID. The last one stops and removes
# the job that a run has started. Prints "podrun-jobs $PODRUN_RUN_ID"; for each job lines "key value", see job_report.hpp, the first of
# them "job NAME"; then "end".
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
  if read -r _ podrun_start podrun_its_boot <"$podrun_job/supervisor" && [ "$podrun_its_boot" = "$podrun_boot" ]; then
    podrun_tell age $((podrun_up - podrun_start / 100))
  fi
  # By the monotonic clock, if the host was not rebooted.
  if read -r _ podrun_then podrun_its_boot podrun_time <"$podrun_job/status"; then
    if [ "$podrun_its_boot" = "$podrun_boot" ]; then podrun_tell ended $((podrun_up - ${podrun_then%.*}))
    else podrun_tell ended $((podrun_clock - podrun_time)); fi
  fi
}
# Prints how many bytes of its output are kept, and for how many seconds it has printed nothing.
podrun_tell_output() {
  podrun_bytes=0
  podrun_last=
  for podrun_words in $(stat -c %s:%Y -- "$podrun_job"/out.[0-9]* "$podrun_job"/err.[0-9]*); do
    if [ ${podrun_words%:*} = 0 ]; then continue; fi
    podrun_bytes=$((podrun_bytes + ${podrun_words%:*}))
    if [ ${podrun_words#*:} -gt ${podrun_last:-0} ]; then podrun_last=${podrun_words#*:}; fi
  done
  if [ "$podrun_last" ]; then podrun_tell output $((podrun_clock - podrun_last)); fi
  podrun_tell bytes $podrun_bytes
}
# PLACE'S DIRECTORY
podrun_tell_job() {
  podrun_find_job "$1"
  if [ -z "$podrun_job" ]; then return; fi
  podrun_name=${1%/*}
  podrun_tell job "${podrun_name##*/}"
  podrun_tell state "$podrun_state"
  podrun_tell number "$podrun_number"
  if [ -e "$podrun_job/stopped" ]; then podrun_tell stopped; fi
  case $podrun_state in ended*) [ -e "$podrun_job/complete" ] || podrun_tell open ;; esac
  podrun_tell_times
  podrun_tell_output
  podrun_words=$(tr '\000\n' '  ' <"$podrun_job/command")
  printf 'command %.300s\n' "$podrun_words"
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
  if podrun_runs "$podrun_job/pid"; then
    podrun_find_with_stat "[0-9]+ [0-9]+ $podrun_pid"
    podrun_set_tree $podrun_pids
  fi
  podrun_stop
  podrun_start_timer 300
  while podrun_runs "$podrun_job/supervisor" && podrun_time_left; do podrun_sleep 5; done
}

podrun_clean_environment
exec 4>&2 2>/dev/null
podrun_action=$1
podrun_job_name=$2
podrun_grace=$3
podrun_run_id=$4
podrun_place=$HOME/.podrun/jobs/$podrun_job_name/$podrun_here
podrun_tell
podrun_tell "podrun-jobs $PODRUN_RUN_ID"
case $podrun_action in
  list) for podrun_dir in "$HOME/.podrun/jobs"/${podrun_job_name:-*}/"$podrun_here"; do podrun_tell_job "$podrun_dir"; done ;;
  stop)
    podrun_find_job "$podrun_place"
    case $podrun_state in
      running | "lost "[0-9]*)
        : >"$podrun_job/stopped"
        podrun_stop_job ;;
      ended* | lost*) podrun_stop_job ;;
    esac
    podrun_tell_job "$podrun_place" ;;
  remove)
    podrun_find_job "$podrun_place"
    if [ "$podrun_job" ] && podrun_is_active; then podrun_tell_job "$podrun_place"
    elif [ -d "$podrun_place" ]; then
      rm -rf -- "$podrun_place" 2>&4 && podrun_tell job "$podrun_job_name" && podrun_tell state removed
      rmdir -- "${podrun_place%/*}"
    fi ;;
  take-back)
    podrun_find_numbers "$podrun_place"
    for podrun_nth in $podrun_numbers; do
      podrun_job=$podrun_place/$podrun_nth
      grep -qsxF -- "$podrun_run_id.job-$PODRUN_WORKER-$podrun_job_name." "$podrun_job/mark" || continue
      podrun_stop_job
      rm -rf -- "$podrun_job"
    done
    rmdir -- "$podrun_place" "${podrun_place%/*}" ;;
esac
podrun_tell end
