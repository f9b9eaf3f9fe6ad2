# Looks at processes in /proc: those with the mark of a run ($podrun_mark), and single ones. For the supervisor and holders.sh.
#
# shellcheck disable=SC2034,SC2046,SC2086,SC2154  # the other fragments read and set variables; pids need no quotes

# Sets podrun_stat to what follows the name in the stat of a process, see proc(5): state, parent, group, session, …; the 20th
# word is its start. (The name may contain anything, ") " too.)
podrun_read_stat() { IFS= read -r podrun_stat </proc/$1/stat && podrun_stat=${podrun_stat##*") "}; }
# Sets podrun_user to the number of its (effective) user.
podrun_read_user() { while read -r podrun_key _ podrun_user _; do if [ "$podrun_key" = Uid: ]; then return; fi; done </proc/$1/status; }
podrun_read_name() { podrun_name=; IFS= read -r podrun_name </proc/$1/comm; }

# /proc/PID/FILE...: sets podrun_pids to the pids in these, which grep prints. (grep reads the files, since a shell reads byte by
# byte.)
podrun_read_pids() {
  podrun_pids=
  for podrun_file; do
    podrun_file=${podrun_file#/proc/}
    podrun_pids="$podrun_pids ${podrun_file%%/*}"
  done
}
# Sets podrun_pids to the processes with the mark, which ends with a dot. (-z: lines end with NUL, as variables do there.)
podrun_find_marked() { podrun_read_pids $(grep -lszE "^PODRUN_MARK=${podrun_mark%.}[.]" /proc/[0-9]*/environ); }
