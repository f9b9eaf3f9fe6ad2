# Prints `pid (name)` of each process that may hold the output of a command open. Needs processes.sh.
# Words: NONCE MARK
#
# Such a process has the mark, and its stdout or stderr is a pipe or a socket, or a terminal if the transport gives one to its
# programs (srun --unbuffered). The feeder of the command's input has its own output only. For a process in uninterruptible sleep the
# number of its context switches follows: a later search can tell from it whether the process has moved.
#
# shellcheck disable=SC2086  # pids need no quotes, and their list is to be split
podrun_nonce=$1
podrun_mark=$2
printf '\n%s\n' "podrun1 $podrun_nonce ready - - - - "
exec 2>/dev/null
podrun_clean_environment
case $(ls -l /proc/$$/fd/1) in */dev/pts/*) podrun_terminal=yes ;; *) podrun_terminal= ;; esac
podrun_find_marked
for podrun_pid in $podrun_pids; do
  podrun_read_stat $podrun_pid || continue
  case $podrun_terminal$(ls -l $podrun_proc/fd/1 $podrun_proc/fd/2) in
    *pipe:* | *socket:* | yes*/dev/pts/*) if grep -qs "/podrun[.]in" $podrun_proc/cmdline; then continue; fi ;;
    *) continue ;;
  esac
  podrun_read_name $podrun_pid || continue
  podrun_state=$(grep -hsE "^(State|voluntary_ctxt)" $podrun_proc/status)
  case $podrun_state in *"D (disk"*) podrun_stuck=" ${podrun_state##*[!0-9]}" ;; *) podrun_stuck= ;; esac
  printf '%s\n' "$podrun_pid ($podrun_name)$podrun_stuck"
done
