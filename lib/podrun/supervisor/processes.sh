# Reads /proc: single processes, and the ones with the mark of a run ($podrun_mark).
#
# shellcheck disable=SC2034,SC2046,SC2086  # the other fragments read and set variables; pids need no quotes

# PID: sets podrun_its_state, podrun_its_parent, podrun_its_group, podrun_its_session, podrun_its_flags, podrun_its_threads and
# podrun_its_start from its stat, see proc(5), and podrun_proc to the directory that shows its files and words.
podrun_read_stat() {
  podrun_proc=/proc/$1
  podrun_read_last $podrun_proc/stat || return
  case $podrun_stat in Z*) podrun_read_thread $podrun_stat ;; esac
  set -- $podrun_stat
  podrun_its_state=$1 podrun_its_parent=$2 podrun_its_group=$3 podrun_its_session=$4
  podrun_its_flags=$7 podrun_its_threads=${18} podrun_its_start=${20}
}
# PID:START: true if the process still exists. Its pid may belong to another process by now.
podrun_is_same() { podrun_read_stat ${1%:*} && [ "$podrun_its_start" = "${1#*:}" ]; }
# PID:START: true if the process still exists and runs.
podrun_is_there() { podrun_is_same $1 && [ $podrun_its_state != Z ]; }
# FILE: sets podrun_stat to the words after the name. (The name may contain anything, ") " and newlines too.)
podrun_read_last() {
  podrun_stat=
  while IFS= read -r podrun_last; do podrun_stat=$podrun_last; done <$1
  podrun_stat=${podrun_stat##*") "}
  [ "$podrun_stat" ]
}
# The main thread of a process may end before the others. Then the process has state Z, but it runs on, and only the directories of
# the other threads show its files, words and environment. STAT of such a process: takes state and flags from a thread that runs.
podrun_read_thread() {
  if [ ${18} -le 1 ]; then return 0; fi
  for podrun_thread in "$podrun_proc"/task/[0-9]*; do
    podrun_read_last $podrun_thread/stat || continue
    case $podrun_stat in [XZ]*) continue ;; esac
    podrun_proc=$podrun_thread
    shift 7
    podrun_rest=$*
    set -- $podrun_stat
    podrun_stat="$1 $2 $3 $4 $5 $6 $7 $podrun_rest"
    return 0
  done
  podrun_stat=$*
}
# FILE: sets podrun_thread_files to patterns for this file of the threads of all processes whose main thread has ended.
podrun_find_threads() {
  podrun_read_pids $(grep -lsE "[)] Z( -?[0-9]+){16} ([2-9]|[1-9][0-9])" /proc/[0-9]*/stat)
  podrun_thread_files=
  for podrun_file in $podrun_pids; do podrun_thread_files="$podrun_thread_files /proc/$podrun_file/task/[0-9]*/$1"; done
}
# PID: sets podrun_user to its effective uid.
podrun_read_user() { while read -r podrun_key _ podrun_user _; do if [ "$podrun_key" = Uid: ]; then return; fi; done </proc/$1/status; }
podrun_read_name() { podrun_name=; IFS= read -r podrun_name </proc/$1/comm; }

# /proc/PID/FILE...: sets podrun_pids to the pids in these paths, which grep prints, each once. (grep reads the files, since a shell reads
# byte by byte.)
podrun_read_pids() {
  podrun_pids=
  podrun_before=
  for podrun_file; do
    podrun_file=${podrun_file#/proc/}
    podrun_file=${podrun_file%%/*}
    [ $podrun_file = "$podrun_before" ] || podrun_pids="$podrun_pids $podrun_file"
    podrun_before=$podrun_file
  done
}
# Sets podrun_pids to the processes with the mark, which ends with a dot. (-z: lines end with NUL, as variables do there.)
podrun_find_marked() {
  podrun_find_threads environ
  podrun_read_pids $(grep -lszE "^PODRUN_MARK=${podrun_mark%.}[.]" /proc/[0-9]*/environ $podrun_thread_files)
}
