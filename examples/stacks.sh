#!/bin/sh
# Shows where a stuck run is: the stacks of your python processes on every host, or of all whose command line matches an argument.
#   podrun -b -s @stacks [-- PATTERN [SIGNAL]]
# Uses py-spy, else gdb. Pids, thread ids and addresses are left out and equal stacks appear once, so that -b folds equal hosts.
# With SIGNAL (USR1), the program prints its stacks itself, if it has called faulthandler.register(signal.SIGUSR1). This is done
# only on request, since other programs take USR1 for something else.
# shellcheck disable=SC2012,SC2086  # names in /proc are plain; $limit and $as_root are several words or none
set -u

pattern=${1-} signal=${2-}
me=$(id -u)
as_root=  # one may look into one's own processes only where ptrace_scope is 0: https://docs.kernel.org/admin-guide/LSM/Yama.html
if [ "$me" != 0 ] && sudo -n true 2>/dev/null; then as_root='sudo -n'; fi
limit=
if command -v timeout >/dev/null; then limit='timeout 60'; fi

# The pids above this shell: their command lines may have the pattern too.
own=" $$ " parent=$$
while [ "$parent" -gt 1 ]; do
  parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$parent/status") || break
  own="$own$parent "
done

# Lines "PID PROGRAM", by one process for all of /proc.
programs() {
  ls -l /proc/[0-9]*/exe 2>/dev/null |
    sed -n -e 's/ (deleted)$//' -e 's|.* /proc/\([0-9]*\)/exe -> .*/\([^/]*\)$|\1 \2|p'
}

is_wanted() {  # PID PROGRAM
  case $own in *" $1 "*) return 1 ;; esac
  [ "$me" = 0 ] || [ -O "/proc/$1" ] || return 1
  case $2 in
    sh | dash | bash | busybox | zsh | fish | podrun | ssh | sshd | sudo | gdb | py-spy) return 1 ;;  # they carry others' words
    python*) [ "$pattern" ] || return 0 ;;
    *) [ "$pattern" ] || return 1 ;;
  esac
  { tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null | grep -qe "$pattern"  # the process may have ended
}

# The program and its script without the directory, which are equal on all hosts.
title() {  # PID
  tr '\0' '\n' <"/proc/$1/cmdline" | awk 'NR == 1 || !/^-/ { sub(".*/", ""); printf "%s%s", sep, $0; sep = " "; if (NR > 1) exit }'
}

# What follows makes a paragraph of each thread: "main thread:" or "thread NAME:", then its frames.

by_py_spy() {  # PID
  $limit $as_root "$py_spy" dump --pid "$1" 2>&1 </dev/null | sed -E -e '/^(Process|Python) /d' \
    -e "s/^Thread ($1|0x[0-9A-Fa-f]+|[0-9]+) \\([^)]*\\): \"MainThread\"/main thread:/" \
    -e 's/^Thread [^ ]+ \([^)]*\)(: "(.*)")?$/thread \2:/' -e 's/^thread :/thread:/' -e '/^thread /s/[0-9]+/N/g'
}

# gdb does not see the lines of a python program. One "(python)" stands for all frames of the interpreter in a row; the frames that
# every thread begins with are left out.
by_gdb() {  # PID
  $limit $as_root gdb -nx -q -batch -p "$1" -iex 'set debuginfod enabled off' -ex 'set print address off' \
    -ex 'set print frame-arguments none' -ex 'set width 0' -ex 'thread apply all backtrace 60' 2>&1 </dev/null |
    sed -n -E -e '/^(Thread |#[0-9]|$|.*Operation not permitted)/!d' -e "s/^Thread .*(LWP|process) $1\\).*/main thread:/" \
      -e 's/^Thread [^"]*("([^"]*)".*)?:$/thread \2:/' -e '/^thread /s/[0-9]+/N/g' \
      -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?/    /' -e 's/ \([^()]*\)/ /' -e 's/ from .*\// from /' -e 's/ +/ /g' -e 's/^ /    /' \
      -e 's/ $//' -e p |
    awk '/^    (_start|start_thread|clone3?|__libc_start_[a-z_]*)( |$)/ { next }
      /^    (_?Py|\?\?|[a-z_]*vectorcall)/ && !/^    PyThread_/ { if (!inside) print "    (python)"; inside = 1; next }
      { inside = 0; print }'
}

# faulthandler writes to standard error, or to a file that the program has chosen.
by_signal() {  # PID
  number=31
  while [ "$(kill -l "$number")" != "${signal#SIG}" ]; do
    [ $((number -= 1)) -gt 0 ] || { echo "(no signal $signal)"; return; }
  done
  caught=$(sed -n 's/^SigCgt:[[:space:]]*........//p' "/proc/$1/status")  # without the real-time signals
  if [ $((0x$caught >> (number - 1) & 1)) = 0 ]; then
    echo "(it does not catch $signal: call faulthandler.register(signal.SIG${signal#SIG}) in the program)"
    return
  fi
  file=$(readlink "/proc/$1/fd/2")
  if [ ! -f "$file" ]; then
    kill -s "${signal#SIG}" "$1" && echo "($signal sent: the stacks are in the output of the run)"
    return
  fi
  size=$(wc -c <"$file")
  kill -s "${signal#SIG}" "$1" && sleep 1
  tail -c "+$((size + 1))" "$file" |
    sed -E -e 's/^Current thread 0x[0-9a-f]+.*/main thread:/' -e 's/^Thread 0x[0-9a-f]+.*/thread:/' -e 's/^ +File /    /'
}

stacks() {  # PID
  if [ "$signal" ]; then by_signal "$1"; return; fi
  py_spy=$(command -v py-spy)
  [ "$py_spy" ] || {  # beside the python of a virtual environment
    py_spy=$(tr '\0' '\n' <"/proc/$1/cmdline" | head -n 1)
    py_spy=${py_spy%/*}/py-spy
  }
  if [ -x "$py_spy" ]; then
    by_py_spy "$1"
  elif command -v gdb >/dev/null; then
    by_gdb "$1"
  else
    echo '(neither py-spy nor gdb is here: podrun -s @install -- gdb)'
  fi
}

# Sorts the threads of a process, the main thread first, each kind of stack once: threads are numbered differently on each host.
fold_threads() {
  awk 'function flush() { if (text != "") print (text ~ /^main/ ? 0 : 1) text; text = "" }
    /^$/ { flush(); next } /^(main )?thread/ { flush() } { text = text (text == "" ? "" : "\001") $0 } END { flush() }' |
    LC_ALL=C sort -u | cut -c 2- | tr '\001' '\n'
}

programs | while read -r pid program; do
  is_wanted "$pid" "$program" || continue
  { title "$pid"; echo; stacks "$pid" | fold_threads; } 2>/dev/null | tr '\n' '\001'
  echo
done | LC_ALL=C sort -u | tr '\001' '\n' | sed '/^$/d' | grep . || echo "no ${pattern:-python} process"
