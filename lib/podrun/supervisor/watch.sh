# The watch, which stops the command, and two of the shells that write to it, by lines in one pipe. Needs stop.sh.
#     clock   "sleep PID", "tick"; "gone"                  every $podrun_tick seconds; the main shell has ended
#     relay   "", "sig NAME", "grace SECONDS", "suspended"; "eof"           lines from podrun after go; the end of them
#     main    "main PID"; "started", "ended STATUS"        itself; the command. Before go also lines from podrun
#
# shellcheck disable=SC2086  # pids and numbers need no quotes

# LINE: passes a line from podrun on to the watch.
podrun_pass() { case $1 in "" | suspended | "grace "[0-9]* | "sig "[A-Z]*) echo "$1" >&5 ;; esac; }
# False at the end of input, and for a line that the end cuts off. (In UTF-8 the read of bash loses bytes.)
podrun_read_line() { LC_ALL=C IFS= read -r podrun_line; }

# At the end the watch kills the sleep, and the clock exits, as the main shell has ended. While the main shell runs, another program killed
# the sleep. The clock looks for the end of the main shell, since "gone" then comes after everything that the main shell wrote to the pipe.
podrun_clock() {
  exec >&5 </dev/null 2>/dev/null
  while :; do
    command sleep $podrun_tick >/dev/null 5>&- &
    echo "sleep $!" || { kill -s KILL $!; exit; }
    wait $!
    podrun_slept=$?
    if [ $podrun_slept = 0 ] && podrun_main_runs; then echo tick
    elif [ $podrun_slept = 0 ]; then echo gone; exit
    elif [ $podrun_slept -le 128 ] || ! podrun_main_runs; then exit; fi
  done
}

podrun_relay() {
  exec >/dev/null 2>&1
  while podrun_read_line; do podrun_pass "$podrun_line"; done <&3
  echo eof >&5
}

# Stops the command after $podrun_ticks ticks without a line from podrun, at the end of input, and if the main shell was
# killed. When the command ends after an interrupt, or dies of a QUIT (131), its background children are stopped. Otherwise
# they stay, as with ssh.
podrun_watch() {
  exec 4>&2 >/dev/null 2>&1 6>&-
  podrun_silent=0
  podrun_started=
  podrun_ended=
  podrun_interrupted=
  podrun_quit=
  podrun_sleep=
  while podrun_read_line; do
    case $podrun_line in
      tick)
        podrun_sleep=
        podrun_silent=$((podrun_silent + 1))
        [ $podrun_silent -lt $podrun_ticks ] || podrun_stop_silent ;;
      "sleep "*)
        podrun_sleep=${podrun_line#* }
        [ -z "$podrun_ended" ] || kill -s KILL $podrun_sleep ;;
      "main "*) podrun_main=${podrun_line#* } ;;
      started) podrun_started=1 ;;
      "ended "*)
        podrun_status=${podrun_line#* }
        podrun_ended=1
        [ -z "$podrun_sleep" ] || kill -s KILL $podrun_sleep ;;
      eof) podrun_stop_all ;;
      gone) [ "$podrun_ended" ] || podrun_stop_all ;;
      suspended) podrun_silent=-999999 ;;
      "grace "*) podrun_grace=${podrun_line#* } ;;
      *)
        podrun_silent=0
        case $podrun_line in "sig INT") podrun_interrupted=1 ;; "sig QUIT") podrun_quit=1 ;; esac
        case $podrun_line in "sig "*) podrun_pass_signal "${podrun_line#sig }" ;; esac ;;
    esac
  done
  if [ "$podrun_dir$podrun_interrupted$podrun_quit" ]; then podrun_clean_environment; fi
  if [ "$podrun_quit" ] && [ "$podrun_status" = 131 ]; then podrun_interrupted=1; fi
  if [ "$podrun_interrupted" ]; then
    podrun_find_self
    [ -z "$podrun_own_group" ] || podrun_signal_group TERM
    podrun_stop
  fi
  podrun_remove_dir
  exit ${podrun_status:-137}
}
# Before the command has started, all processes are podrun's own and need no grace period.
podrun_stop_silent() {
  if [ "$podrun_started" ]; then set -- "no word from podrun for $((podrun_tick * podrun_ticks)) s: this host stops the command"
  elif ! podrun_has rest; then podrun_grace=0; fi
  podrun_stop_all "$1"
}
