# Finds the processes that have a file open, by the links in /proc/PID/fd. For devices.sh and check.sh.

# FUNCTION -e PATTERN...: "PID PATH" for each descriptor whose line of ls -l matches a pattern, if FUNCTION accepts its path.
# $podrun_su: "sudo -n", which sees the descriptors of other users, or empty.
podrun_open_files() {
  podrun_accepts=$1
  shift
  $podrun_su ls -l /proc/[0-9]*/fd 2>/dev/null | grep -e "^/proc/" "$@" | while read -r podrun_line; do
    case $podrun_line in
      /proc/*)
        podrun_pid=${podrun_line#/proc/}
        podrun_pid=${podrun_pid%%/*} ;;
      *) if $podrun_accepts "${podrun_line##* -> }"; then echo "$podrun_pid ${podrun_line##* -> }"; fi ;;
    esac
  done 2>/dev/null
}
