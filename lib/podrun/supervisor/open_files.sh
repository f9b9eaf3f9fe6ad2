# Finds the processes that have a file open, by the links in /proc/PID/fd; splits texts into lines. Needs processes.sh, and the variables
# of podrun_clean_environment.
#
# shellcheck disable=SC2086  # a text is to be split into its lines

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
