# Prints `pid (name)` of what still runs of a command and may hold its output open: set -- NONCE MARK; <this>
# That is a process with the mark whose stdout or stderr is a pipe or a socket, and not a file; the feeder of the
# command's input has only its own. A process in uninterruptible sleep is followed by the number of its context
# switches, which tells a look later whether it has moved.
echo; printf %s "podrun1 $1 ready - - - - "; echo;
grep -lszE "^PODRUN_MARK=${2%.}[.]" /proc/[0-9]*/environ | while IFS=/ read -r a b pid c; do
  case $(ls -l /proc/$pid/fd/1 /proc/$pid/fd/2) in
    *pipe:* | *socket:*) if grep -qs "/podrun[.]in" /proc/$pid/cmdline; then continue; fi ;;
    *) continue ;;
  esac;
  IFS= read -r name </proc/$pid/comm || continue;
  state=$(grep -hsE "^(State|voluntary_ctxt)" /proc/$pid/status);
  case $state in *"D (disk"*) echo "$pid ($name)" ${state##*:} ;; *) echo "$pid ($name)" ;; esac;
done 2>/dev/null
