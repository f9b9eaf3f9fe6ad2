# Finds the processes that have a file open, by the links in /proc/PID/fd. For devices.sh and check.sh.

# FUNCTION -e PATTERN...: "PID PATH", once, for the descriptors whose line of ls -l matches a pattern, if FUNCTION accepts the path.
# $podrun_su: "sudo -n", which sees the descriptors of other users, or empty.
podrun_open_files() {
  podrun_accepts=$1
  shift
  $podrun_su ls -l /proc/[0-9]*/fd 2>/dev/null | grep -e "^/proc/" "$@" | while read -r podrun_line; do
    case $podrun_line in
      /proc/*)
        podrun_pid=${podrun_line#/proc/}
        podrun_pid=${podrun_pid%%/*}
        podrun_seen=/ ;;
      *)
        podrun_file=${podrun_line##* -> }
        case $podrun_seen in *"//$podrun_file//"*) continue ;; esac
        podrun_seen="$podrun_seen/$podrun_file//"
        if $podrun_accepts "$podrun_file"; then echo "$podrun_pid $podrun_file"; fi ;;
    esac
  done 2>/dev/null
}
