# The state of a job on a host. A job has a directory ~/.podrun/jobs/NAME/PLACE there; PLACE is WORKER-HOST, so that hosts that
# share a home directory stay apart. A host may have other places: of another list, where it has another number or name. Each start has a
# number N = 1, 2, …; the newest counts. ~/.podrun/machines/HOSTNAME/NAME has an empty file PLACE for each place of that machine, since a
# home directory may have thousands. Needs processes.sh.
#
#   N.claim       a symbolic link to "PID START BOOT RUN MACHINE": the program that keeps N for a run that is about to start the job
#   N/supervisor  "PID START BOOT - MACHINE": the job's supervisor (job.sh)
#   N/pid         "PID START BOOT - MACHINE": the job's command
#   N/status      "STATUS UPTIME BOOT TIME": the command has ended, TIME seconds after the epoch
#   N/complete    all output is in the files
#   N/committed   it was started on all hosts; without this it ends after a minute
#   N/stopped     podrun stop has stopped it, or has said that it must not start
#   N/kept        the command is podrun, which runs the job's own command on other hosts, with this grace period;  hosts  these: "WORKER NAME";  tries  how
#                 often it has begun there;  doing  a line about the hosts, for people, and what Enter would print
#   N/times       "UPTIME OUT ERR" whenever it has printed: the sizes of its output then, every two seconds at most
#   N/command     its words, for people;  environment  the names of its variables;  mark  its PODRUN_MARK;  files/  its scripts
#   N/out.B.SSSS  its output from byte B on, in pieces of 64 MiB with the suffixes aaaa, aaab, …;  err.B.SSSS
#
# START is in clock ticks after boot, see proc(5), stat: with BOOT and the pid it names a process of MACHINE, "HOSTNAME/PID NAMESPACE": a
# machine keeps its name over a reboot, and its boot and namespace when it is renamed. A file gets its name when it is complete, so that a
# crash leaves the old state or the new one.
#
# shellcheck disable=SC2034,SC2086  # other fragments read the variables; pids need no quotes

podrun_boot=
read -r podrun_boot 2>/dev/null </proc/sys/kernel/random/boot_id
podrun_machine=
read -r podrun_machine 2>/dev/null </proc/sys/kernel/hostname
podrun_machine=$podrun_machine/$(readlink /proc/self/ns/pid)
podrun_born=
podrun_read_stat 1 && podrun_born=$podrun_its_start

# Refuses where the directory of jobs is a link that leads nowhere, such as to a disk that is not mounted: then no job is known.
podrun_check_home() {
  for podrun_each in "$HOME/.podrun" "$HOME/.podrun/jobs"; do
    if [ -L "$podrun_each" ] && ! [ -d "$podrun_each/." ]; then
      printf '%s\n' "$podrun_each is a link to $(readlink "$podrun_each"), where no directory is (make that directory, or remove the link)" >&2
      exit 1
    fi
  done
}

# PID RUN: "PID START BOOT RUN MACHINE"
podrun_identify() {
  podrun_read_stat $1 || return
  echo $1 $podrun_its_start $podrun_boot $2 $podrun_machine
}
# FILE TEXT...: writes it as a whole.
podrun_put() {
  podrun_file=$1
  shift
  echo "$*" >"$podrun_file.new" && mv -f -- "$podrun_file.new" "$podrun_file"
}
# PID START BOOT - [MACHINE]: true if the process still runs. Sets podrun_pid, podrun_rebooted if the host was rebooted since, and
# podrun_elsewhere to the name of another machine, whose process it is.
podrun_lives() {
  podrun_pid=$1
  podrun_rebooted=
  podrun_elsewhere=
  if [ "$5" ] && [ "$3${5#*/}" != "$podrun_boot${podrun_machine#*/}" ] && podrun_is_elsewhere "$@"; then
    podrun_elsewhere=${5%%/*}
    return 1
  fi
  if [ "$3" != "$podrun_boot" ]; then
    podrun_rebooted=1
    return 1
  fi
  podrun_is_there "$1:$2" 2>/dev/null
}
# The same words: true if another machine has it, or a container with this one's name: one that began after this one did. (A container that
# was started again has none of its earlier processes.)
podrun_is_elsewhere() {
  [ "${5%%/*}" != "${podrun_machine%%/*}" ] || { [ "$3" = "$podrun_boot" ] && [ "$podrun_born" ] && [ "$2" -gt "$podrun_born" ]; }
}
# FILE: true if the process that it names still runs.
podrun_runs() {
  podrun_words=
  read -r podrun_words 2>/dev/null <"$1"
  set -- $podrun_words
  podrun_elsewhere=
  [ $# -ge 3 ] && podrun_lives "$@"
}
# DIRECTORY/N: true if the claim on this number still holds. An earlier claim of this run ($podrun_run) does not. (Whether
# that of another machine does cannot be seen.)
podrun_run=
podrun_is_claimed() {
  podrun_words=$(readlink "$1.claim") || return
  set -- $podrun_words
  podrun_elsewhere=
  [ $# -ge 3 ] && [ "$4" != "$podrun_run" ] && { podrun_lives "$@" || [ "$podrun_elsewhere" ]; }
}

# DIRECTORY/N: sets podrun_state:
#   starting | running | ended STATUS UPTIME BOOT TIME | lost rebooted | lost PID (the command runs without its supervisor) | lost
#   elsewhere HOSTNAME (another machine with this home has it, and it has not ended)
podrun_read_state() {
  if podrun_read_status "$1"; then return; fi
  if ! [ -e "$1/supervisor" ]; then
    podrun_state=lost
    if podrun_is_claimed "$1"; then podrun_state=${podrun_elsewhere:+elsewhere }${podrun_elsewhere:-starting}; fi
  elif podrun_runs "$1/supervisor"; then podrun_state=running
  # The job may have ended since its status was first read.
  elif podrun_read_status "$1"; then :
  elif [ "$podrun_elsewhere" ]; then podrun_state="elsewhere $podrun_elsewhere"
  elif [ "$podrun_rebooted" ]; then podrun_state="lost rebooted"
  elif podrun_runs "$1/pid"; then podrun_state="lost $podrun_pid"
  else podrun_state=lost; fi
}
podrun_read_status() { read -r podrun_state 2>/dev/null <"$1/status" && podrun_state="ended $podrun_state"; }
podrun_is_active() { case $podrun_state in starting | running | "lost "[0-9]* | elsewhere*) ;; *) return 1 ;; esac; }

# PLACE'S DIRECTORY: sets podrun_numbers to the taken ones, in no order; some occur twice.
podrun_find_numbers() {
  podrun_numbers=
  for podrun_each in "$1"/[1-9]*; do
    podrun_each=${podrun_each##*/}
    podrun_each=${podrun_each%.claim}
    case $podrun_each in *[!0-9]*) ;; *) podrun_numbers="$podrun_numbers $podrun_each" ;; esac
  done
}
# PLACE'S DIRECTORY: sets podrun_job to the newest start that has a supervisor or is claimed (empty: there is none), its number to
# podrun_number, and podrun_state.
podrun_find_job() {
  podrun_job=
  podrun_state=
  podrun_number=0
  podrun_find_numbers "$1"
  for podrun_nth in $podrun_numbers; do
    if [ $podrun_nth -le $podrun_number ]; then continue; fi
    if [ -e "$1/$podrun_nth/supervisor" ] || podrun_is_claimed "$1/$podrun_nth"; then podrun_number=$podrun_nth; fi
  done
  if [ $podrun_number = 0 ]; then return; fi
  podrun_job=$1/$podrun_number
  podrun_read_state "$podrun_job"
}
# PLACE'S DIRECTORY...: sets podrun_starter to the run that has started its newest job; empty: not known.
podrun_find_starter() {
  podrun_find_job "$1"
  podrun_starter=
  read -r podrun_starter 2>/dev/null <"$podrun_job/mark"
  podrun_starter=${podrun_starter%%.*}
}
# NAME'S DIRECTORY, PLACE, FUNCTION: calls it with the directory of the place, then as podrun_each_other.
podrun_each_place() {
  podrun_find_starter "$1/$2"
  podrun_own_starter=$podrun_starter
  podrun_has_job=$podrun_job
  $3 "$1/$2"
  podrun_each_other "$@"
}
# The same words: calls it with the directories of other lists in which this machine has a job: one that runs, or any if the place has
# none. A job of the same run is that of another host on this machine.
podrun_each_other() {
  podrun_find_machine "$1"
  for podrun_other in "$podrun_on"/* "$1"/*-"${2#*-}"; do
    # The first pattern has led to this place already.
    if [ "${podrun_other%/*}" = "$1" ] && [ -e "$podrun_on/${podrun_other##*/}" ]; then continue; fi
    podrun_other=$1/${podrun_other##*/}
    if [ "$podrun_other" != "$1/$2" ] && podrun_is_of_host "$podrun_other" "$2"; then $3 "$podrun_other"; fi
  done
}
# PLACE'S DIRECTORY: notes that this machine has it, or removes it where it is empty.
podrun_note_place() {
  podrun_find_machine "${1%/*}"
  mkdir -p -- "$1" "$podrun_on" && : >"$podrun_on/${1##*/}"
}
podrun_drop_place() {
  rmdir -- "$1"
  podrun_find_machine "${1%/*}"
  [ -e "$1" ] || rm -f -- "$podrun_on/${1##*/}"
  rmdir -- "$podrun_on" "${podrun_on%/*}" "${podrun_on%/*/*}" "${1%/*}"
} 2>/dev/null
# NAME'S DIRECTORY: sets podrun_on to that of its places on this machine.
podrun_find_machine() { podrun_on=${1%/*/*}/machines/${podrun_machine%%/*}/${1##*/}; }
# PLACE'S DIRECTORY, PLACE. (A kept job is of this machine alone, whatever list it is in. The same host has another number there, or it is
# another machine with this home and this name in a list. local0 and local1 are two hosts of one list.)
podrun_is_of_host() {
  podrun_find_starter "$1"
  if [ -e "$podrun_job/kept" ]; then return 1; fi
  if [ -z "$podrun_job" ] || { [ "$podrun_own_starter" ] && [ "$podrun_starter" = "$podrun_own_starter" ]; }; then return 1; fi
  case ${1##*/}:$2 in
    *-local[0-9]*:*-"${1##*-}") ;;
    *-local[0-9]*:*-local[0-9]*) return 1 ;;
  esac
  case $podrun_state in
    elsewhere*)
      podrun_words=${1##*/}
      [ "${podrun_words#*-}" = "${2#*-}" ] ;;
    *)
      if podrun_is_active; then return; fi
      if [ "$podrun_has_job" ]; then return 1; fi
      podrun_runs "$podrun_job/supervisor"
      set -- $podrun_words
      [ "$5" ] && [ -z "$podrun_elsewhere" ] ;;
  esac
}

# FILE of output: sets podrun_base to the position of its first byte.
podrun_find_base() {
  podrun_letters=abcdefghijklmnopqrstuvwxyz
  podrun_rest=${1##*.}
  podrun_index=0
  while [ "$podrun_rest" ]; do
    podrun_before=${podrun_letters%%"${podrun_rest%"${podrun_rest#?}"}"*}
    podrun_index=$((podrun_index * 26 + ${#podrun_before}))
    podrun_rest=${podrun_rest#?}
  done
  podrun_base=${1%.*}
  podrun_base=${podrun_base##*.}
  podrun_base=$((1$podrun_base - 1000000000000000 + podrun_index * 67108864))
}
