# Sends the output of a job. Follows helper.sh. Needs processes.sh and job_state.sh.
# Words: NAME PLACE DIRECTORY [FOLLOW] [TAIL] [NUMBER] OUT ERR [SINCE] [GREP] [TIMES]
# Variables of the host: HOME
#
# Prints "job N"; then frames: "out POSITION BYTES" or "err POSITION BYTES", a newline, and as many bytes; at the end "state
# STATE" and a newline. An empty frame says where a stream begins. With GREP frames read "out POSITION BYTES NEXT": as many bytes of matching lines,
# found from POSITION up to NEXT.
#
#   DIRECTORY  the run's, whose file podrun.end gets sh text that exits as the job did, with FOLLOW
#   FOLLOW     1: send until the job has ended; empty: send the output so far
#   TAIL       number of last lines of each stream; empty: all
#   NUMBER     the start of the job; empty: the newest
#   OUT ERR    first byte of each stream
#   SINCE      only the output of this many seconds, to two seconds; empty: all
#   GREP       only lines that match this expression of grep -E; empty: all
#   TIMES      say first, and whenever it has changed, when the output came, in lines "at AGE OUT ERR": AGE seconds ago it had these sizes. The
#              number of the last entries of N/times that are read first; empty: none
#
# shellcheck disable=SC2086  # numbers need no quotes

# PROGRAM WORD...: if a signal ends it, the frame is too short, and the next header would be read as its rest. So this shell is killed
# too, and podrun asks again. (141 is PIPE: head takes no more than it needs.)
podrun_run() {
  "$@"
  podrun_ended=$?
  if [ $podrun_ended -gt 128 ] && [ $podrun_ended != 141 ]; then kill -s KILL $$; fi
  return $podrun_ended
}
podrun_search_failed() {
  echo "podrun: cannot search the output (is there room in $podrun_directory?)" >&4
  exit 1
}
# FILE, empty or the next one: sends the matching lines of at most 1 MiB of descriptor 3 and FILE. A line that may go on waits: then false.
podrun_send_matches() {
  podrun_piece=$podrun_directory/podrun.piece.$$
  podrun_run tail -c +$((podrun_position - podrun_base + 1)) /proc/self/fd/3 | podrun_run head -c 1048576 >"$podrun_piece"
  podrun_size=$(($(wc -c <"$podrun_piece")))
  podrun_goes_on=
  case $podrun_next in
    "") [ "$podrun_is_last" ] || podrun_goes_on=1 ;;
    "$podrun_end")
      podrun_run head -c $((1048576 - podrun_size)) "$1" >>"$podrun_piece"
      podrun_size=$(($(wc -c <"$podrun_piece")))
      [ "$podrun_is_last" ] || podrun_goes_on=1 ;;
  esac
  # The rest after the last newline, and the x.
  printf x >>"$podrun_piece" || podrun_search_failed
  podrun_whole=$((podrun_size + 1 - $(podrun_run tail -n 1 "$podrun_piece" | wc -c)))
  if [ $podrun_size = 1048576 ]; then
    if [ $podrun_whole = 0 ]; then podrun_whole=$podrun_size; fi
  elif [ -z "$podrun_goes_on" ]; then podrun_whole=$podrun_size; fi
  if [ $podrun_whole = 0 ]; then return 1; fi
  podrun_run head -c $podrun_whole "$podrun_piece" | podrun_run grep -aE -e "$podrun_grep" >"$podrun_piece.found" 2>&4
  if [ $? -gt 1 ]; then podrun_search_failed; fi
  printf '%s\n' "$podrun_stream $podrun_position $(($(wc -c <"$podrun_piece.found"))) $((podrun_position + podrun_whole))"
  podrun_run cat "$podrun_piece.found"
  podrun_position=$((podrun_position + podrun_whole))
  podrun_pause=0.1
  podrun_quiet=0
}
# FILE, empty or the next one: sends $podrun_file, open as descriptor 3, from podrun_position on.
podrun_send_file() {
  podrun_size=$(wc -c </proc/self/fd/3)
  podrun_end=$((podrun_base + podrun_size))
  if [ $podrun_end -le $podrun_position ]; then return; fi
  if [ $podrun_position -lt $podrun_base ]; then podrun_position=$podrun_base; fi
  if [ "$podrun_grep" ]; then
    while [ $podrun_position -lt $podrun_end ] && podrun_send_matches "$1"; do :; done
    return
  fi
  printf '%s\n' "$podrun_stream $podrun_position $((podrun_end - podrun_position))"
  podrun_run tail -c +$((podrun_position - podrun_base + 1)) /proc/self/fd/3 | podrun_run head -c $((podrun_end - podrun_position))
  podrun_position=$podrun_end
  podrun_pause=0.1
  podrun_quiet=0
}
# STREAM POSITION: sends the output from this byte on; sets podrun_position to the byte after it. (A file ends where the next one
# begins, or a gap before that.)
podrun_send() {
  podrun_stream=$1
  podrun_position=$2
  set -- "$podrun_job/$1".[0-9]*
  while [ $# -gt 0 ]; do
    podrun_file=$1
    shift
    [ -e "$podrun_file" ] || continue
    podrun_next=
    if [ $# -gt 0 ]; then
      podrun_find_base "$1"
      podrun_next=$podrun_base
      if [ $podrun_next -le $podrun_position ]; then continue; fi
    fi
    podrun_find_base "$podrun_file"
    podrun_end=0
    podrun_send_file "$1" 3<"$podrun_file"
    if [ $podrun_position -lt $podrun_end ]; then break; fi
  done 2>/dev/null
}
podrun_print_last_files() {
  [ -z "$1" ] || cat "$1"
  head -c $podrun_size "$2"
}
# STREAM LINES: sets podrun_position to the first byte of the last lines (with GREP: of those that match), where they are in the last two
# files.
podrun_find_tail() {
  podrun_position=0
  podrun_lines=$2
  set -- "$podrun_job/$1".[0-9]*
  while [ $# -gt 2 ]; do shift; done
  if ! [ -e "$1" ]; then return; fi
  if [ $# = 1 ]; then set -- "" "$1"; fi
  podrun_find_base "$2"
  podrun_size=$(($(wc -c <"$2")))
  if [ "$podrun_grep" ]; then
    podrun_lines=$(podrun_print_last_files "$1" "$2" | grep -naE -e "$podrun_grep" | tail -n "$podrun_lines" | sed -n '1s/:.*//p')
    podrun_lines=${podrun_lines:+"+$podrun_lines"}
  fi
  podrun_position=$((podrun_base + podrun_size - $(podrun_print_last_files "$1" "$2" | tail -n "${podrun_lines:-0}" | wc -c)))
}
podrun_is_of_this_boot() {
  podrun_its_boot=$podrun_boot
  read -r _ _ podrun_its_boot _ 2>/dev/null <"$podrun_job/supervisor"
  [ "$podrun_its_boot" = "$podrun_boot" ]
}
# Sends what is new in N/times; some of it again. After a reboot the time of the file is that of its last entry.
podrun_send_times() {
  if [ -z "$podrun_times" ]; then return; fi
  podrun_noted=$(tail -n 1 "$podrun_job/times")
  if [ "$podrun_noted" = "$podrun_sent_note" ]; then return; fi
  podrun_sent_note=$podrun_noted
  IFS=" ." read -r podrun_up _ </proc/uptime
  if ! podrun_is_of_this_boot; then podrun_up=$((${podrun_noted%%.*} + $(date +%s) - $(stat -c %Y "$podrun_job/times"))); fi
  tail -n $podrun_times "$podrun_job/times" | while IFS=" ." read -r podrun_then _ podrun_noted; do
    printf '%s\n' "at $((podrun_up - podrun_then)) $podrun_noted"
  done
  podrun_times=10
}
# Sets podrun_since_out and podrun_since_err to the sizes of the output when SINCE began. After a reboot only the uptime is known.
podrun_find_since() {
  podrun_since_out=0
  podrun_since_err=0
  IFS=" ." read -r podrun_up _ </proc/uptime
  podrun_limit=$((podrun_up - podrun_since))
  if ! podrun_is_of_this_boot; then
    if [ $podrun_limit -lt 0 ]; then return; fi
    podrun_since_out=1000000000000000
    podrun_since_err=$podrun_since_out
  else
    while IFS=" ." read -r podrun_up _ podrun_noted_out podrun_noted_err && [ $podrun_up -le $podrun_limit ]; do
      podrun_since_out=$podrun_noted_out
      podrun_since_err=$podrun_noted_err
    done 2>/dev/null <"$podrun_job/times"
  fi
}
podrun_pause_longer() {
  sleep $podrun_pause || sleep 1
  case $podrun_pause in 0.1) podrun_pause=0.2 ;; 0.2) podrun_pause=0.4 ;; *) podrun_pause=0.8 ;; esac
}
# True if all output has been sent, after the command has ended. Its remaining processes may have its output open forever.
podrun_is_sent() {
  if [ -e "$podrun_job/complete" ]; then return; fi
  if [ $podrun_pause != 0.8 ]; then return 1; fi
  podrun_quiet=$((podrun_quiet + 1))
  [ $podrun_quiet -gt 3 ] && podrun_state="$podrun_state open"
}
podrun_write_end() {
  set -- $podrun_state
  case $1 in
    ended) echo "exit $2" ;;
    *) echo "exit 255" ;;
  esac >"$podrun_directory/podrun.end"
}

podrun_name=$1
podrun_place=$HOME/.podrun/jobs/$podrun_name/$2
podrun_directory=$3
podrun_follow=$4
podrun_tail=$5
podrun_number=$6
podrun_out=$7
podrun_err=$8
podrun_since=$9
podrun_grep=${10}
podrun_times=${11}
podrun_is_last=
podrun_sent_note=
exec 4>&2
if [ "$podrun_number" ]; then podrun_job=$podrun_place/$podrun_number
else podrun_find_job "$podrun_place"; fi
if ! [ -d "$podrun_job" ]; then
  printf '%s\n' "state none"
  exit
fi
printf '%s\n' "job $podrun_number"
if [ "$podrun_tail" ]; then
  podrun_find_tail out "$podrun_tail"
  podrun_out=$podrun_position
  podrun_find_tail err "$podrun_tail"
  podrun_err=$podrun_position
fi
if [ "$podrun_since" ]; then
  podrun_find_since
  if [ $podrun_out -lt $podrun_since_out ]; then podrun_out=$podrun_since_out; fi
  if [ $podrun_err -lt $podrun_since_err ]; then podrun_err=$podrun_since_err; fi
fi
printf '%s\n' "out $podrun_out 0" "err $podrun_err 0"
podrun_pause=0.1
podrun_quiet=0
while :; do
  # The state is read before the files, so that all output up to the end is sent after it.
  podrun_read_state "$podrun_job"
  podrun_complete=
  if [ -e "$podrun_job/complete" ]; then podrun_complete=1; fi
  podrun_send_times 2>/dev/null
  podrun_send out $podrun_out
  podrun_out=$podrun_position
  podrun_send err $podrun_err
  podrun_err=$podrun_position
  if [ -z "$podrun_follow" ] || ! [ -d "$podrun_job" ]; then break; fi
  case $podrun_state in
    ended*) if [ "$podrun_complete" ] || podrun_is_sent; then break; fi ;;
    *) podrun_is_active || break ;;
  esac
  podrun_pause_longer
done
if [ "$podrun_grep" ]; then
  podrun_is_last=1
  podrun_send out $podrun_out
  podrun_send err $podrun_err
fi
if [ "$podrun_follow" ]; then podrun_write_end; fi
printf '%s\n' "state $podrun_state"
