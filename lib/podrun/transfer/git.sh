# Runs git on this machine. If podrun ends before git, however it was killed, git and all that it started are stopped.
# Words: ARGUMENTS...
#
# Standard input is a pipe from podrun: a line when git has ended, or its end alone.

# PID: it is suspended first, so that it starts no others.
podrun_stop_git() {
  kill -s STOP "$1"
  # shellcheck disable=SC2013  # these are numbers, in one line
  for podrun_each in $(cat /proc/"$1"/task/*/children); do
    if [ "$podrun_each" != "$podrun_watch" ]; then (podrun_stop_git "$podrun_each"); fi
  done
  kill -s TERM "$1"
  kill -s CONT "$1"
}
podrun_watch_podrun() {
  exec >/dev/null 2>&1
  trap '' HUP TERM
  if read -r _ <&3; then return; fi
  read -r podrun_watch _ _ podrun_parent _ </proc/self/stat
  if [ "$podrun_parent" = $$ ]; then podrun_stop_git $$; fi
}

exec 3<&0 </dev/null
podrun_watch_podrun &
exec git "$@" 3<&-
