# Finds the processes that have a file open, by the links in /proc/PID/fd, and their jobs; splits texts into lines. Needs processes.sh, and the variables
# of podrun_clean_environment.
#
# shellcheck disable=SC2034,SC2086  # others read variables; a text is to be split into its lines

# FUNCTION TEXT: calls it with each line.
podrun_each_line() {
  podrun_function=$1
  set -f
  IFS=$podrun_n
  set -- $2
  IFS=$podrun_ifs
  set +f
  for podrun_line; do $podrun_function "$podrun_line"; done
}

# FUNCTION -e PATTERN...: sets podrun_open to lines "PID PATH", one for each file that a process has open, if its line of ls -l
# matches a pattern and FUNCTION accepts its path. $podrun_su: "sudo -n", which sees the descriptors of other users, or empty.
podrun_open_files() {
  podrun_accepts=$1
  shift
  podrun_open=
  podrun_pid=
  podrun_find_threads fd
  podrun_each_line podrun_add_open "$($podrun_su ls -l /proc/[0-9]*/fd $podrun_thread_files 2>/dev/null | grep -e "^/proc/" "$@")" 2>/dev/null
}
podrun_add_open() {
  case $1 in
    /proc/*)
      podrun_file=${1#/proc/}
      if [ "$podrun_pid" != "${podrun_file%%/*}" ]; then podrun_seen=/; fi
      podrun_pid=${podrun_file%%/*} ;;
    *)
      podrun_file=${1##* -> }
      case $podrun_seen in *"//$podrun_file//"*) return ;; esac
      podrun_seen="$podrun_seen/$podrun_file//"
      if $podrun_accepts "$podrun_file"; then podrun_open="$podrun_open${podrun_open:+$podrun_n}$podrun_pid $podrun_file"; fi ;;
  esac
}
# PID: sets podrun_its_job to the name of the podrun job that started it, by its mark or that of an ancestor; empty: none, or it cannot be read.
podrun_find_job_of() {
  podrun_its_job=
  podrun_up=$1
  while [ "$podrun_up" -gt 1 ]; do
    podrun_its_job=$(grep -zsxE "PODRUN_MARK=[0-9a-f]+[.]job-[0-9]+-[A-Za-z0-9._-]+[.]" "/proc/$podrun_up/environ")
    if [ "$podrun_its_job" ]; then break; fi
    podrun_read_stat "$podrun_up" || break
    podrun_up=$podrun_its_parent
  done
  podrun_its_job=${podrun_its_job#*.job-*-}
  podrun_its_job=${podrun_its_job%.}
}
