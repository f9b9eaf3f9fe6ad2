# Prints `pid (name)` of what still runs of a command and may hold its output open: sh -c '<this>' podrun NONCE MARK
# That is a process with the mark whose stdout or stderr is a pipe or a socket, and not a file.
echo; printf %s "podrun1 $1 ready - - - - "; echo;
grep -lszE "^PODRUN_MARK=${2%.}[.]" /proc/[0-9]*/environ | while IFS=/ read -r a b pid c; do
  case $(ls -l /proc/$pid/fd/1 /proc/$pid/fd/2) in
    *pipe:* | *socket:*) IFS= read -r name </proc/$pid/comm && echo "$pid ($name)" ;;
  esac;
done 2>/dev/null
