# Starts a job in the directory that claim.sh has made, as /bin/sh FILES/podrun.start, where FILES is the directory `files` in there. Exits
# with 0 when the command has been started. Needs processes.sh, job_state.sh and job.sh.
# Words: JOB LIMIT [KEPT]
# Variables of job_start.cpp: podrun_command podrun_shown
# Variables of command.cpp: PODRUN_RUN_ID PODRUN_WORKER
# Variables for command.cpp: podrun_dir
#
# JOB is its name. LIMIT pieces of 64 MiB of each stream are kept. KEPT, if not empty: the command is podrun, which runs the job's own
# command on other hosts, with this grace period. The command comes in variables, since others see the arguments of a
# process: podrun_command is sh text that exports the command's environment and sets the parameters to its words, see command.hpp.
# Its $podrun_dir is FILES here and in job.sh, no longer the directory of the run. podrun_shown is the command, for people. Only the shell
# that becomes the command, and the one that notes the names of its variables, have these values in their environment, so they cannot
# steer podrun's own programs.
#
# shellcheck disable=SC2034  # the text of the command reads podrun_dir
if [ "$1" = supervise ]; then
  shift
  podrun_supervise "$@"
  exit
fi
podrun_files=${0%/*}
podrun_job=${podrun_files%/*}
podrun_fail() {
  echo "podrun: $1" >&2
  exit 125
}
PODRUN_JOB=$1
podrun_limit=$2
podrun_kept=$3
export PODRUN_JOB
if [ -e "$podrun_job/stopped" ]; then podrun_fail "podrun stop has stopped the job while it was being started"; fi
podrun_umask=$(umask)
umask 077
podrun_job_mark=$PODRUN_RUN_ID.job-$PODRUN_WORKER-$PODRUN_JOB.
podrun_put "$podrun_job/mark" "$podrun_job_mark" && podrun_put "$podrun_job/command" "$podrun_shown" || exit 125
if [ "$podrun_kept" ]; then podrun_put "$podrun_job/kept" "$podrun_kept" && : >"$podrun_job/tries" && : >"$podrun_job/doing" && : >"$podrun_job/hosts" || exit 125; fi
(
  podrun_path=$PATH
  podrun_dir=$podrun_files
  eval "$podrun_command"
  PATH=$podrun_path
  env | sed -n '/^podrun_/d; s/^\([A-Za-z_][A-Za-z_0-9]*\)=.*/\1/p' | sort -u >"$podrun_job/environment"
) || exit

# A background job of sh would have INT ignored, so setsid(1) itself forks if it can.
podrun_leave() {
  unset PODRUN_MARK podrun_shown
  export podrun_job_mark podrun_umask
  exec setsid $podrun_fork /bin/sh "$podrun_files/podrun.start" supervise "$podrun_job" "$podrun_limit" </dev/null >/dev/null 2>"$podrun_job/errors"
}
if setsid -f true 2>/dev/null; then
  podrun_fork=-f
  (podrun_leave)
else
  podrun_fork=
  (podrun_leave) &
fi
# True if the command has been started, and the values of a large environment are no longer in a file.
podrun_is_started() { [ -e "$podrun_job/status" ] || { [ -e "$podrun_job/pid" ] && ! [ -s "$podrun_files/podrun.environment" ]; }; }
podrun_clean_environment
podrun_round=0
until podrun_is_started; do
  podrun_round=$((podrun_round + 1))
  if [ $podrun_round -gt 200 ] || grep -qs "^podrun: " "$podrun_job/errors"; then
    podrun_fail "the job's supervisor does not start: $(grep -v "^podrun: " "$podrun_job/errors" | tail -n 1)"
  fi
  sleep 0.05 || sleep 1
done
