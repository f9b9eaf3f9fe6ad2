# Finds out which processes this host is to stop: /bin/sh FILE GRACE VICTIMS. VICTIMS is a file with a line "WORKER PID:START..." for
# each host. The arguments become GRACE PID:START...
#
# shellcheck disable=SC2086,SC2153  # pids are to be split; PODRUN_WORKER is the run's variable
if [ "$1" != root ]; then
  podrun_victims=
  while read -r podrun_worker podrun_pids; do
    if [ "$podrun_worker" = "$PODRUN_WORKER" ]; then podrun_victims=$podrun_pids; fi
  done <"$2"
  set -- "$1" $podrun_victims
fi
