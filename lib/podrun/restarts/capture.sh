# Shows what the processes of a command that prints nothing are doing. Each program has a limit: nvidia-smi hangs when the driver does.
# Follows helper.sh. Needs processes.sh and private_place.sh.
# Words: TIME WORKER [SCRIPT]
# Variables of the host: TMPDIR HOME
#
# TIME: seconds for all of it. WORKER: the number of this host. SCRIPT: the text of a script that is run in place of all this, with the
# pids of the command as arguments; its first line may name an interpreter, else it is /bin/sh. The last line is "podrun-captured".
#
# shellcheck disable=SC2016,SC2086  # text for another shell; pids are to be split

# SECONDS PROGRAM...: runs it, and kills it where it has not ended then. Its errors are a part of the answer.
podrun_limit() {
  podrun_longest=$1
  shift
  "$@" </dev/null 2>&1 &
  podrun_pid=$!
  (
    trap 'kill -s KILL $!; exit' TERM
    sleep $podrun_longest &
    wait $! && kill -s KILL $podrun_pid
  ) >/dev/null 2>&1 </dev/null &
  podrun_killer=$!
  wait $podrun_pid 2>/dev/null
  podrun_ended=$?
  kill -s TERM $podrun_killer 2>/dev/null
  wait $podrun_killer 2>/dev/null
  if [ $podrun_ended = 137 ]; then echo "(no end within $podrun_longest s)"; fi
}
podrun_time_is_left() {
  IFS=" ." read -r podrun_up _ </proc/uptime
  [ $podrun_up -lt $podrun_end ]
}
# PID: its Python stacks, and what the kernel says of it (its stack only to root).
podrun_show_process() {
  podrun_read_stat $1 || return
  podrun_read_name $1
  echo "== pid $1 ($podrun_name), state $podrun_its_state, $podrun_its_threads threads"
  tr '\000\n' '  ' <$podrun_proc/cmdline | tail -c 300
  echo
  case $podrun_name in
    python* | pt_main*) if command -v py-spy >/dev/null; then podrun_limit 20 py-spy dump --pid $1; fi ;;
  esac
  for podrun_file in wchan stack syscall; do
    if [ -r $podrun_proc/$podrun_file ]; then
      echo "-- $podrun_file"
      podrun_limit 5 head -n 40 $podrun_proc/$podrun_file
      echo
    fi
  done
}
# PID: asks the flight recorder of PyTorch to write its file. Opening the pipe waits where nobody reads it.
podrun_record_flight() {
  podrun_pipe=$(tr '\000' '\n' </proc/$1/environ | sed -n 's/^TORCH_NCCL_DEBUG_INFO_PIPE_FILE=//p')
  podrun_rank=$(tr '\000' '\n' </proc/$1/environ | sed -n 's/^RANK=//p')
  if [ -p "$podrun_pipe$podrun_rank.pipe" ]; then
    podrun_limit 5 sh -c 'echo 1 >"$1"' sh "$podrun_pipe$podrun_rank.pipe"
    echo "-- asked PyTorch's flight recorder"
  fi
}
podrun_show_all() {
  for podrun_each; do
    podrun_time_is_left || break
    podrun_show_process $podrun_each
    podrun_record_flight $podrun_each
  done
  echo "== kernel"
  podrun_limit 5 dmesg | tail -n 200 | grep -E "Xid|oom|Out of memory|hung|blocked for|NVRM|I/O error|nfs:" | tail -n 20
  echo "== accelerators"
  for podrun_program in nvidia-smi tpu-info; do
    if command -v $podrun_program >/dev/null && podrun_time_is_left; then podrun_limit 15 $podrun_program; fi
  done
}
# PID...: the file of the script is gone before it runs, so that nothing of it is left where it is killed.
podrun_run_script() {
  for podrun_each in "${TMPDIR:-/tmp}" /dev/shm "$HOME"; do
    podrun_place=
    podrun_is_private_place "$podrun_each" || continue
    podrun_place=$(mktemp -d "$podrun_each/podrun.XXXXXXXX") && break
  done
  if [ -z "$podrun_place" ]; then
    echo "podrun: no place for the script of --on-stall: others may change ${TMPDIR:-/tmp}, /dev/shm and ${HOME:-the home directory}"
    return
  fi
  printf '%s\n' "$podrun_script" >"$podrun_place/on-stall"
  chmod 700 "$podrun_place/on-stall"
  exec 7<"$podrun_place/on-stall"
  rm -rf -- "$podrun_place"
  case $podrun_script in
    "#!"*) podrun_limit $podrun_time /proc/self/fd/7 "$@" ;;
    *) podrun_limit $podrun_time /bin/sh /proc/self/fd/7 "$@" ;;
  esac
}

podrun_time=$1
PODRUN_WORKER=$2
podrun_script=$3
export PODRUN_WORKER
IFS=" ." read -r podrun_up _ </proc/uptime
podrun_end=$((podrun_up + podrun_time - 45))
podrun_mark=${PODRUN_MARK%.}.
podrun_find_marked 2>/dev/null
set --
for podrun_pid in $podrun_pids; do if [ -e /proc/$podrun_pid ]; then set -- "$@" $podrun_pid; fi; done
if [ "$podrun_script" ]; then podrun_run_script "$@"
else podrun_show_all "$@"; fi 2>/dev/null
echo "podrun-captured"
