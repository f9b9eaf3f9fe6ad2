# Keeps the name of a job for a run until the run has started it. Follows helper.sh. Needs processes.sh and job_state.sh.
# Words: NAME PLACE RUN DIRECTORY [WAIT]
# Variables of the host: HOME
#
# Prints "claimed", "taken STATE PLACE" when the job runs or is being started (PLACE: that of another list), or "missing PROGRAM" (or "missing /proc/FILE") where no job can be
# kept, and goes on until its standard input ends. DIRECTORY is the run's; its link `job` leads to the directory of this start. If WAIT is
# not empty, it waits for a line first.
#
# If two runs want the name at the same moment, the run that creates the link with the lower number gets it. A link is created
# together with its text, so no run takes a new claim for an old one.
#
# shellcheck disable=SC2034,SC2086  # job_state.sh reads and sets them; pids need no quotes

podrun_name=$1
podrun_place=$HOME/.podrun/jobs/$podrun_name/$2
podrun_run=$3
podrun_directory=$4
podrun_wait=$5
podrun_own=
podrun_give_up() {
  if [ "$podrun_own" ] && ! [ -e "$podrun_place/$podrun_own/supervisor" ]; then rm -rf -- "${podrun_place:?}/$podrun_own"; fi
  rm -f -- "$podrun_place/$podrun_own.claim"
  podrun_drop_place "$podrun_place"
}
podrun_refuse_taken() {
  podrun_give_up
  echo "taken $podrun_state${1:+ in }$1"
  exit 1
}
# PLACE'S DIRECTORY
podrun_refuse_active() {
  podrun_find_job "$1"
  if podrun_is_active; then
    if [ "$1" = "$podrun_place" ]; then podrun_refuse_taken; else podrun_refuse_taken "${1##*/}"; fi
  fi
}
podrun_refuse_other() { podrun_refuse_taken "${1##*/}"; }
podrun_claim() {
  podrun_note_place "$podrun_place" || return
  podrun_each_place "${podrun_place%/*}" "${podrun_place##*/}" podrun_refuse_active
  podrun_own=1
  podrun_find_numbers "$podrun_place"
  for podrun_nth in $podrun_numbers; do
    if [ $podrun_nth -ge $podrun_own ]; then podrun_own=$((podrun_nth + 1)); fi
  done
  podrun_identity=$(podrun_identify $$ $podrun_run)
  trap 'podrun_give_up; exit 1' HUP INT TERM
  until ln -s -- "$podrun_identity" "$podrun_place/$podrun_own.claim" 2>/dev/null; do
    if ! [ -L "$podrun_place/$podrun_own.claim" ]; then
      podrun_note_place "$podrun_place"
      ln -s -- "$podrun_identity" "$podrun_place/$podrun_own.claim"
      return
    fi
    podrun_own=$((podrun_own + 1))
  done
  podrun_find_numbers "$podrun_place"
  for podrun_nth in $podrun_numbers; do
    if [ $podrun_nth -ge $podrun_own ]; then continue; fi
    podrun_read_state "$podrun_place/$podrun_nth"
    if podrun_is_active; then podrun_refuse_taken; fi
  done
  # Another run may have claimed another place of this host meanwhile.
  podrun_has_job=1
  podrun_each_other "${podrun_place%/*}" "${podrun_place##*/}" podrun_refuse_other
  mkdir -- "$podrun_place/$podrun_own" "$podrun_place/$podrun_own/files" && ln -s -- "$podrun_place/$podrun_own" "$podrun_directory/job"
}
podrun_ends_at_logout() {
  [ "$(id -u)" != 0 ] &&
    case $(busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager KillUserProcesses 2>/dev/null) in
      "b true") ;;
      *) return 1 ;;
    esac
}
podrun_refuse_without() {
  echo "missing $1"
  exit 1
}
# Programs that start.sh, job.sh, jobs.sh and logs.sh use. docs/jobs.md lists them.
podrun_need() { for podrun_tool; do command -v $podrun_tool >/dev/null 2>&1 || podrun_refuse_without $podrun_tool; done; }
[ -z "$podrun_wait" ] || read -r podrun_wait || exit
podrun_need cat cp date env grep head id ln mkdir mkfifo mv printf readlink rm rmdir sed setsid sleep sort split stat tail tr wc
[ -e /proc/self/stat ] || podrun_refuse_without /proc
[ "$podrun_boot" ] || podrun_refuse_without /proc/sys/kernel/random/boot_id
if podrun_ends_at_logout; then
  echo "taken logout"
  exit 1
fi
podrun_check_home
podrun_claim || {
  podrun_give_up
  exit 1
}
echo claimed
cat >/dev/null 2>&1
podrun_give_up
