# The supervisor: starts one command on a host when told, and leaves no process of it, whatever ends the supervisor.
#
# Words: NONCE MARK GRACE TICK TICKS CWD FLAGS SUFFIX [LINE] [PREPARATIONS...]
# Variables of link.cpp: podrun_options podrun_tmout
# Variables of shell_quote.hpp: podrun_n
# Variables of the host: HOME TMPDIR SSH_CONNECTION
# Variables for command.cpp: podrun_dir
#
# A shell reads it from standard input, with its words: see link.hpp. No argument of a process carries it or
# the text of the command. LINE is the text of `go`, for a host that need not wait for others. A PREPARATION is sh text that must
# succeed before the host is ready. The NONCE begins the lines for podrun. It must not stand in an argument of a process or in a file
# name, since others could copy it into the output of the command. The SUFFIX, another random number, ends the names of files.
# GRACE and TICK are seconds; TICKS ticks without a line on standard input stop the command. Replies and lines: protocol.hpp.
# The text of `go` may read podrun_dir, the run's directory.
#
# Every name begins with podrun_, so that no variable of the user is overwritten (with _p after cmake/Scripts.cmake). Works in dash, bash and busybox sh; needs
# grep, sleep, ls and rm; for a directory mkdir, mkfifo and tee. The shells that may start the command have its environment, where bash
# has functions of the user's: `command` ignores them. Without /proc only processes that stay in the process group of the
# command can be stopped.
#
# Five shells, which ignore every signal that can be ignored, since the command may signal its whole process group:
#
#   this one --- main: reads lines until go, runs the command
#            |     |- clock: says "tick" every TICK seconds
#            |     `- relay: passes on the lines from podrun after go
#            `-- watch: reads what these three say from one pipe; passes signals on, stops the command, has its status
#
# Descriptors: 3 lines from podrun, after go; 4 standard error of the command; 5 the pipe to the watch; 6 standard output;
# 7 standard error of the command, in the shell that waits for the others.
#
# shellcheck disable=SC2046,SC2086  # what ls prints, numbers, signals and the words of $SSH_CONNECTION are to be split

podrun_nonce=$1
podrun_mark=$2
podrun_grace=$3
podrun_tick=$4
podrun_ticks=$5
podrun_cwd=$6
podrun_flags=$7
podrun_suffix=$8
podrun_line=${9:+go $9}
shift 9
podrun_dir=
podrun_made=
podrun_input=/dev/null
podrun_own_group=
podrun_session=
podrun_scope=
podrun_main=
podrun_sudo=
podrun_tree=
podrun_status=

# All but KILL, STOP, CHLD and CONT. (zsh knows no real-time signals, which come last.)
podrun_signals="1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 20 21 22 23 24 25 26 27 28 29 30 31 34 35 36 37 38 39 40 41 42 43 44"
podrun_signals="$podrun_signals 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64"
trap "" $podrun_signals 2>/dev/null

# Flags: directory  make the run's directory
#        input      make the command's standard input there, a FIFO
#        exit-line  print the command's exit status in the output
#        names      say in the hello how the host calls itself
#        rest       start nothing: signals and the end are for processes with the mark, which an ended command has left
podrun_has() { case $podrun_flags in *$1*) ;; *) return 1 ;; esac; }

podrun_say() { printf '\n%s\n' "podrun1 $podrun_nonce $*" 2>/dev/null; }
podrun_refuse() {
  podrun_remove_dir
  podrun_say "$@"
  if podrun_has exit-line; then exit 0; fi
  exit 125
}

# PLACE...: makes the run's directory in the first place that is neither full nor read-only, and where nobody else can exchange it. Its
# name is the same on all hosts, so that their errors are too; but a second one in the same place needs a name that nobody can guess.
podrun_make_dir() {
  for podrun_place; do
    podrun_is_private_place "$podrun_place" || continue
    podrun_dir=$podrun_place/podrun.${podrun_mark%%.*}
    command mkdir -m 700 -- "$podrun_dir" || {
      podrun_dir=$podrun_place/podrun.$podrun_suffix
      command mkdir -m 700 -- "$podrun_dir" || continue
    }
    podrun_made=$podrun_dir/.$podrun_suffix
    podrun_input=$podrun_dir/podrun.in
    if echo "$podrun_mark" >"$podrun_made"; then
      if ! podrun_has input; then
        podrun_input=/dev/null
        return
      fi
      command mkfifo -m 600 -- "$podrun_input" && return
    fi
    command rm -rf -- "$podrun_dir"
  done
  podrun_dir=
  podrun_made=
  podrun_refuse notmp "$1"
}
# Once its own is gone, the directory of this name is another supervisor's: of the next attempt, or of a host on the same machine.
# The FIFO is open meanwhile, so that a feeder cannot hang in opening it.
podrun_remove_dir() {
  if [ -e "$podrun_made" ]; then
    podrun_remove_staging 2>/dev/null
    command rm -rf -- "$podrun_dir" 5<>"$podrun_input" || command rm -rf -- "$podrun_dir" || echo "$podrun_mark" >"$podrun_made"
  fi
}
# Kills push.sh, which may still run, and removes its staging directory. The shells of push.sh have no mark, only the programs that they
# start have one. So the process group is killed where push.sh leads it; a loop that survives ends when podrun.extracting is removed.
podrun_remove_staging() {
  rm -f -- "$podrun_dir/podrun.extracting"
  if read -r podrun_pid <"$podrun_dir/podrun.push"; then
    podrun_read_stat $podrun_pid && [ $podrun_its_group = $podrun_pid ] && kill -s KILL -- -$podrun_pid
    kill -s KILL $podrun_pid
    podrun_find_marked
    podrun_kill KILL "$podrun_pids"
  fi
  [ ! -L "$podrun_dir/staging" ] || (cd -P -- "$podrun_dir/staging" && podrun_empty_staging)
}
# Others may have exchanged the directory with this name. So the files of push.sh are removed from inside; by name, only an empty directory.
podrun_empty_staging() {
  set -- $(ls -ldni .)
  if IFS= read -r podrun_line <"$podrun_dir/podrun.staging" && [ "$1 $2 $4" = "$podrun_line" ]; then rm -rf -- new run sums held; fi
  case $PWD in */.podrun.*) rmdir -- "../${PWD##*/}" ;; esac
}

podrun_enter() {
  case ${HOME:+h}$1 in "h~") set -- "$HOME" ;; "h~/"*) set -- "$HOME/${1#"~/"}" ;; esac
  [ -d "$1" ] || podrun_refuse nodir
  CDPATH='' cd -- "$1" >/dev/null 2>&1 || podrun_refuse noentry
}

# PREPARATION...: runs each in a subshell. Reports the number and the last line of the first that fails. Standard input is podrun's.
podrun_prepare() {
  podrun_number=0
  for podrun_preparation; do
    podrun_said=$(podrun_clean_environment; eval "$podrun_preparation" 2>&1 </dev/null) ||
    podrun_refuse unprepared $podrun_number "$(printf %.1000s "${podrun_said##*"$podrun_n"}")"
    podrun_number=$((podrun_number + 1))
  done
}

# Without these programs a command could not be stopped, but would seem to be.
podrun_need() { for podrun_tool; do command -v $podrun_tool >/dev/null 2>&1 || podrun_refuse notool $podrun_tool; done; }

podrun_not_found() {
  echo "$1: command not found" >&2
  exit 127
}

# Gives the command back the options of bash that the environment has set: see link.hpp.
podrun_set_options() {
  if [ -z "$podrun_options" ]; then return; fi
  IFS=:
  for podrun_each in $podrun_options; do set -o $podrun_each; done
}

# The command, in the foreground: a background job would have INT ignored. The SHLVL keeps bash from reading .bashrc a second
# time (it does when started by sshd with SHLVL below 2).
# shellcheck disable=SC2120  # the text of go sets the parameters
podrun_run_command() {
  [ "${SHLVL:-0}" -gt 0 ] 2>/dev/null || { SHLVL=1; export SHLVL; }
  exec 4>&2 2>/dev/null
  (
    trap - $podrun_signals 2>/dev/null
    [ -z "$podrun_tmout" ] || { TMOUT=$podrun_tmout; export TMOUT; }
    PODRUN_MARK=$podrun_mark
    export PODRUN_MARK
    eval "${podrun_line#go }"
    case $1 in
      */*) ;;
      # Only a shell knows these, and dash has its own messages for them.
      cd | export | source | . | alias | unset | ulimit | umask | eval) podrun_not_found "$1" ;;
      *) command -v -- "$1" >/dev/null 2>&1 || podrun_not_found "$1" ;;
    esac
    podrun_set_options
    exec "$@"
  ) <"$podrun_input" 2>&4 3<&- 4>&- 5>&-
  podrun_status=$?
}

# STATUS: the command's. The watch exits with it.
podrun_end() {
  echo "ended $1" >&5
  exit
}

# Sets podrun_names to a word for the hello: the host's name, IPv4 addresses, and global IPv6 addresses as 32 digits. (kube-proxy may give a
# host thousands of addresses, of services.)
# shellcheck disable=SC2013  # words are wanted
podrun_find_names() {
  IFS= read -r podrun_names </proc/sys/kernel/hostname
  case $podrun_names in *[!A-Za-z0-9._-]*) podrun_names= ;; esac
  podrun_names=names=$podrun_names
  for podrun_each in $(command grep -hsE "[|]-- |/32 host LOCAL" /proc/net/fib_trie); do
    case $podrun_each in
      *.*) podrun_address=$podrun_each ;;
      LOCAL) case "$podrun_names," in *",$podrun_address,"*) ;; *) podrun_names=$podrun_names,$podrun_address ;; esac ;;
    esac
    [ ${#podrun_names} -lt 500 ] || break
  done
  while read -r podrun_address _ _ podrun_scope _; do
    if [ ${#podrun_names} -lt 1000 ] && [ "$podrun_scope" = 00 ]; then podrun_names=$podrun_names,$podrun_address; fi
  done </proc/net/if_inet6
}

podrun_main_shell() {
  exec 5>&1 >&6 6>&-
  if IFS=" " read -r podrun_main _ </proc/self/stat; then :; else podrun_main=$(exec /bin/sh -c 'echo $PPID'); fi 2>/dev/null
  echo "main $podrun_main" >&5
  podrun_clock &
  podrun_names=
  if podrun_has names; then podrun_find_names; fi
  podrun_say ready $podrun_names ${SSH_CONNECTION:-- - - -} "$podrun_dir"
  if podrun_has rest; then
    exec 3<&0
    podrun_relay
    exit
  fi

  # With TEXT the line is there already.
  while :; do
    case $podrun_line in "go "*) break ;; *) podrun_pass "$podrun_line" ;; esac
    podrun_read_line || podrun_end 125
  done
  exec 3<&0 </dev/null
  echo started >&5
  podrun_relay &
  podrun_relay=$!
  # shellcheck disable=SC2119
  podrun_run_command

  # When podrun dies, a command that writes dies of the broken pipe. The relay must see podrun's end too, or the command would seem to have
  # ended normally.
  if [ $podrun_status != 0 ]; then
    podrun_clean_environment
    podrun_find_marked
    [ -z "$podrun_pids" ] || sleep 0.5 || sleep 1
  fi
  kill -s KILL $podrun_relay
  podrun_end $podrun_status
}

# Where standard error is closed or descriptors are short, a redirection that fails would end this shell.
true >&2 || exec 2>/dev/null
trap podrun_remove_dir 0
if podrun_find_group 2>/dev/null; then :
elif kill -0 -$$ 2>/dev/null; then
  podrun_own_group=1
  echo "podrun: no /proc here: processes that leave the process group of the command cannot be stopped" >&2
else podrun_refuse noproc; fi
if podrun_has rest; then podrun_own_group=; fi
# Over --via (exit-line) others may log in over the same connection later.
if [ "$podrun_own_group" ] && [ "$podrun_session" ] && ! podrun_has exit-line; then podrun_find_scope 2>/dev/null; fi

if [ "$podrun_cwd" ]; then podrun_enter "$podrun_cwd"; fi
podrun_need sleep grep ls rm
if podrun_has directory; then
  podrun_need mkdir mkfifo tee
  podrun_make_dir "${TMPDIR:-/tmp}" /dev/shm "$HOME" 2>/dev/null
  [ "$podrun_dir" ] || podrun_refuse notmp "${TMPDIR:-/tmp}"
fi
podrun_prepare "$@"

# A shell may report "Killed" for main, which the watch kills at the end: not on the standard error of the command. (The braces are
# for bash 5.2.)
exec 6>&1 7>&2 2>/dev/null
{ podrun_main_shell; } 2>&7 7>&- | podrun_watch 2>&7 7>&-
podrun_status=$?

# One write, as other processes may print too. echo is part of every shell; printf may be a program, whose arguments everybody can see.
if podrun_has exit-line && echo "~podrun1 $podrun_nonce exit $podrun_status" 2>/dev/null; then podrun_status=0; fi
exit $podrun_status
