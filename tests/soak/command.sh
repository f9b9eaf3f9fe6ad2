# A host's part in a run of the soak: sh command.sh PAYLOAD ACTION [HOST:STATUS...]. It prints PAYLOAD.<number>.out and .err; the
# hosts that are named end with that status. Endless actions end only by a signal, and `tree` resists it in every way it can.
payload=$1.$((PODRUN_WORKER % 8)) action=$2
shift 2
status=0
for each in "$@"; do [ "${each%:*}" != "$PODRUN_WORKER" ] || status=${each#*:}; done

say() { cat "$payload.err" >&2; cat "$payload.out"; }

case $action:$status in
  [ft][lir]*:[1-9]*) say; sleep 0.5 ;;  # the others go on
  end:*) say ;;
  slow:*) sleep 0.7; say; sleep 0.7 ;;
  hold:*) say; sleep 4 & ;;  # the output is open for longer than podrun waits
  leave:*) say; sleep 2 >/dev/null 2>&1 & ;;
  input:*) cat ;;
  flood:*) exec yes "$PODRUN_WORKER" ;;
  ticks:*)
    say
    tick=0
    while :; do echo "tick $PODRUN_WORKER $tick"; tick=$((tick + 1)); sleep 0.2; done ;;
  tree:*)
    say
    exec 2>/dev/null  # a shell may have its say about what is killed
    trap '' INT HUP
    sh -c 'trap "" INT HUP TERM; while :; do sleep 1; done' &
    setsid sleep 5001 &
    nohup sleep 5002 >/dev/null &
    bash -c 'set -m; sleep 5003 & wait' &
    while :; do wait; sleep 1; done ;;
esac
exit "$status"
