# The supervisor: starts one command on a host when told, and leaves nothing of it behind, whatever ends us.
#
#   set -- NONCE MARK GRACE TICK TICKS DIRECTORY FLAGS [TEXT]; <this, one line>
#
# A shell reads it from standard input, with its parameters, as one line: see shell_line.hpp. No argument of a process
# carries it, or the text of the command. TEXT is what `go` would say, for a host that need not wait for others.
# GRACE and TICK are seconds; TICKS ticks without a line on standard input end the command. FLAGS: d make the run's
# directory, i make the command's standard input there (a FIFO), x tell its exit status in the output, c see cleanup.sh, r
# start nothing: see podrun_rest.
# Replies and lines: protocol.hpp.
#
# Every name begins with podrun_, so that no variable of the user is overwritten. Works in dash, bash and busybox sh; needs
# grep, sleep, ls and rm; for a directory mkdir, mkfifo and tee. Without /proc only what stays in the process group of the command can be ended.
#
# Five shells, which ignore every signal that can be ignored, since the command may signal its whole process group:
#
#   this one --- main: reads lines until go, runs the command
#            |     |- clock: says "tick" every TICK seconds
#            |     `- relay: passes on the lines from podrun after go
#            `-- watch: reads what these three say from one pipe; passes signals on, ends the command, has its status

podrun_nonce=$1 podrun_mark=$2 podrun_grace=$3 podrun_tick=$4 podrun_ticks=$5 podrun_cwd=$6 podrun_flags=$7 podrun_line=${8:+"go $8"};
podrun_dir= podrun_in=/dev/null podrun_own= podrun_session= podrun_scope= podrun_told= podrun_kin= podrun_asked= podrun_self=$$ podrun_main=$$;
podrun_interrupted= podrun_quit= podrun_status= podrun_over= podrun_sleep= podrun_i=0 podrun_n=${IFS#??} podrun_d="$";

# All but KILL, STOP, CHLD and CONT. (zsh knows no real-time signals, which come last.)
podrun_signals="1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 20 21 22 23 24 25 26 27 28 29 30 31
  34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64";
trap "" $podrun_signals 2>/dev/null;
podrun_say() { { echo; printf %s "podrun1 $podrun_nonce $*"; echo; } 2>/dev/null; };
# Removes the directory of the run; standard input is held open meanwhile, so that a feeder cannot hang in opening it.
podrun_tidy() { [ -z "$podrun_dir" ] || rm -rf -- "$podrun_dir" 5<>"$podrun_in"; };
podrun_none=125; case $podrun_flags in *x*) podrun_none=0 ;; esac;
podrun_refuse() { podrun_tidy; podrun_say "$@"; exit $podrun_none; };
# What follows the name in the stat of a process: state, parent, group, session.
podrun_read() { IFS= read -r podrun_stat </proc/$1/stat && podrun_stat=${podrun_stat##*") "}; };

# Is the process group ours alone? Then signals go to group 0. It is when we lead it, or when the shell or sudo that
# started us does, or the shell that started this sudo. Elsewhere (dropbear) group 0 would hit the server: only what
# carries the mark is signalled.
podrun_look() {
  set -- $podrun_stat;
  podrun_group=$3;
  case " $podrun_leaders " in *" $3 "*) podrun_own=1 ;; esac;
  case " $podrun_leaders " in *" $4 "*) podrun_session=$4 ;; esac;
};
podrun_lead() {
  podrun_comm=; IFS= read -r podrun_comm </proc/$1/comm;
  case $podrun_comm in sudo | *sh | busybox) podrun_leaders="$podrun_leaders $1" ;; esac;
  [ "$podrun_comm" = sudo ] && podrun_read $1 && set -- $podrun_stat && podrun_lead $2;
};
podrun_leaders=$$ podrun_stat= podrun_group=; podrun_lead $PPID 2>/dev/null; podrun_above=$podrun_leaders;
if podrun_read $$ 2>/dev/null; then podrun_look;
elif kill -0 -$$ 2>/dev/null; then
  podrun_own=1; echo "podrun: no /proc here: what leaves the process group of the command cannot be ended" >&2;
else podrun_refuse noproc; fi;

# The pids in /proc/PID/FILE. (Reading such files here would be slow, as shells read byte by byte.)
podrun_of() { while IFS=/ read -r podrun_1 podrun_2 podrun_3 podrun_4; do echo $podrun_3; done; };
# Those of what carries the mark, whose end is a dot, in a variable of its own (-z: lines end with NUL);
# those where what follows the state in their stat matches. (No name of a process is long enough to look like the
# numbers after it.)
podrun_marked() { grep -lszE "^PODRUN_MARK=${podrun_mark%.}[.]" /proc/[0-9]*/environ | podrun_of; };
podrun_where() { grep -lsE "[)] [A-WY] $1( -?[0-9]+){20}" /proc/[0-9]*/stat | podrun_of; };

# Other users processes that are children of the main shell or in our group: sudo and what it runs, which drops the mark.
# Not the sudo that we have asked ourselves.
podrun_strangers() {
  if [ "$podrun_own" ]; then set -- "[0-9]+ $podrun_group${podrun_main:+|$podrun_main [0-9]+}";
  elif [ "$podrun_main" ]; then set -- "$podrun_main [0-9]+"; else return; fi;
  for podrun_pid in $(podrun_where "($1)"); do
    if [ -O /proc/$podrun_pid ]; then continue; fi;
    podrun_read $podrun_pid && set -- $podrun_stat &&
    case "$2 $podrun_pid" in "$podrun_self "* | "$podrun_asked "* | *" $podrun_asked") ;; *) echo $podrun_pid ;; esac;
  done;
};
# Other processes of our session and of the systemd scope of this login: a daemon may have cleared its environment, or may
# not be dumped. Our own shells and tools are in our group; after the command has ended, what else is there has no parent.
# The shells that started us, the SSH server, and helpers of podrun, which are children of that server, do not belong to the
# command. The arguments are known already.
podrun_escaped() {
  [ "$podrun_own" ] && [ "$podrun_session" ] || return;
  podrun_known=" $* $podrun_above ";
  for podrun_pid in $(podrun_where "[0-9]+ [0-9]+ $podrun_session"; [ -z "$podrun_scope" ] || grep -hs . "$podrun_scope"); do
    case $podrun_known in *" $podrun_pid "*) continue ;; esac;
    podrun_read $podrun_pid && set -- $podrun_stat || continue;
    case $1$3 in
      [XZ]*) continue ;;
      ?$podrun_group) [ "$podrun_over" ] && [ -e /proc/$$ ] && podrun_below $2 && [ $podrun_up != $$ ] ;;
      *) podrun_below $2 ;;
    esac && echo $podrun_pid;
  done;
};
# Does a process with this parent descend from us, or has its parent ended?
podrun_below() {
  podrun_up=$1;
  until [ $podrun_up -le 1 ] || [ $podrun_up = $$ ]; do
    case " $podrun_asked $podrun_above " in *" $podrun_up "*) return 1 ;; esac;
    podrun_read $podrun_up || return 0; set -- $podrun_stat; podrun_up=$2;
  done;
};
# Of "PID:START" each those that are still the same process.
podrun_same() {
  for podrun_each; do
    podrun_read ${podrun_each%:*} && set -- $podrun_stat &&
    case $1 in Z) ;; *) if [ "${podrun_each#*:}" = "${20}" ]; then echo ${podrun_each%:*}; fi ;; esac;
  done;
};
# All that the command started, as far as it can be told, "PID:START" each: what carries the mark, what was found before
# (podrun_kin), strangers, what has escaped, and the children of all these.
podrun_family() {
  podrun_list=" " podrun_new="$(podrun_marked) $(podrun_same $podrun_kin) $(podrun_strangers)";
  podrun_new="$podrun_new $(podrun_escaped $podrun_new)";
  while [ "$podrun_new" ]; do
    podrun_any=;
    for podrun_pid in $podrun_new; do
      case $podrun_list in *" $podrun_pid "*) ;; *) podrun_list="$podrun_list$podrun_pid " podrun_any="$podrun_any|$podrun_pid" ;; esac;
    done;
    podrun_new=; [ -z "$podrun_any" ] || podrun_new=$(podrun_where "(${podrun_any#|})");
  done;
  for podrun_pid in $podrun_list; do podrun_read $podrun_pid && set -- $podrun_stat && echo $podrun_pid:${20}; done;
};

# Of the family given: its pids; those that no signal to our group reaches; those that we may not signal.
podrun_pids() { for podrun_pid; do echo ${podrun_pid%:*}; done; };
podrun_strays() {
  for podrun_pid; do
    podrun_pid=${podrun_pid%:*}; podrun_read $podrun_pid && set -- $podrun_stat &&
    { [ "$podrun_own" ] && [ "$3" = "$podrun_group" ] || echo $podrun_pid; };
  done;
};
podrun_deaf() {
  for podrun_each; do
    podrun_pid=${podrun_each%:*};
    if kill -s 0 $podrun_pid; then :; elif [ -e /proc/$podrun_pid ]; then echo $podrun_each; fi;
  done;
};

podrun_kill() { [ -z "$2" ] || kill -s $1 $2; };
# Signals those that we may not signal by sudo: in the background, one at a time and if they are still the same then, since
# nobody knows how long a sudo takes.
podrun_by_sudo="s=${podrun_d}1; shift; for p; do
  IFS= read -r x </proc/${podrun_d}{p%:*}/stat && set -- ${podrun_d}{x##*) } &&
  [ ${podrun_d}{20} = ${podrun_d}{p#*:} ] && kill -s ${podrun_d}s ${podrun_d}{p%:*}; done";
podrun_urge() {
  podrun_sig=$1; shift; set -- $(podrun_deaf "$@");
  if [ $# = 0 ]; then return; fi;
  if [ "$podrun_asked" ] && podrun_read $podrun_asked; then case $podrun_stat in Z*) ;; *) return ;; esac; fi;
  (exec sudo -n /bin/sh -c "$podrun_by_sudo" podrun $podrun_sig "$@" 4>&-) & podrun_asked=$!;
};
podrun_signal() {
  if [ "$podrun_own" ]; then kill -s $1 0; else podrun_kill $1 "$(podrun_marked)"; fi;
  podrun_look_up; podrun_urge $1 $(podrun_family);
};
# Who are we? And is the main shell still there? Its pid may be another process by now.
podrun_look_up() {
  IFS= read -r podrun_stat </proc/self/stat && podrun_self=${podrun_stat%% *};
  podrun_main_runs || podrun_main=;
};
podrun_main_runs() {
  if podrun_read $podrun_main; then set -- $podrun_stat; [ "$1" != Z ] && [ "$2" = $$ ];
  else [ "$podrun_main" ] && ! [ -e /proc/$$ ] && kill -s 0 $podrun_main; fi;
};

# To the standard error of the command, and waits for no reader.
podrun_tell() { printf "podrun: %s$podrun_n" "$*" >&4 & };
podrun_name() {
  if [ "$podrun_clients" ]; then podrun_tell "a container may be left behind: ended by KILL was$podrun_clients"; fi;
  for podrun_pid; do
    podrun_pid=${podrun_pid%:*}; IFS= read -r podrun_comm </proc/$podrun_pid/comm || continue;
    set -- $(ls -ld /proc/$podrun_pid);
    podrun_tell "left behind: pid $podrun_pid ($podrun_comm) of $3";
  done;
  sleep 0.2 || sleep 1;
};

# Of the family given: clients of a daemon that runs what they were to run. TERM they pass on, KILL they cannot.
podrun_clients() {
  for podrun_pid; do
    podrun_pid=${podrun_pid%:*}; IFS= read -r podrun_comm </proc/$podrun_pid/comm &&
    case $podrun_comm in docker | nerdctl | podman) printf " %s" "pid $podrun_pid ($podrun_comm)" ;; esac;
  done;
};

# TERM once to everything (our group has it already), up to GRACE seconds until the command has returned and nothing is
# left, then KILL. What is there even then is named.
podrun_finish() {
  podrun_kin=$(podrun_family); podrun_kill TERM "$(podrun_strays $podrun_kin)"; podrun_urge TERM $podrun_kin;
  podrun_rest=1; sleep 0.05 && podrun_rest=0.2;
  podrun_within $((podrun_grace * 100));
  while podrun_time; do
    podrun_main_runs || [ "$(podrun_marked)" ] || [ "$(podrun_family)" ] || break;
    sleep $podrun_rest;
  done;
  podrun_clients=$(podrun_clients $(podrun_family)); podrun_within 200;
  while podrun_kin=$(podrun_family); [ "$podrun_kin" ] && podrun_time; do
    kill -s KILL $(podrun_pids $podrun_kin); podrun_urge KILL $podrun_kin;
    [ $podrun_i -lt 3 ] || sleep $podrun_rest;
  done;
  [ -z "$podrun_kin$podrun_clients" ] || podrun_name $podrun_kin;
};
# Is there time left? In hundredths of a second by the clock that nobody sets; without /proc in rests.
podrun_within() { podrun_i=0 podrun_time=$1 podrun_until=; if podrun_now; then podrun_until=$((podrun_now + $1)); fi; };
podrun_now() { IFS=" " read -r podrun_now podrun_1 </proc/uptime && podrun_now=${podrun_now%.*}${podrun_now#*.}; };
podrun_time() {
  podrun_i=$((podrun_i + 1));
  if [ "$podrun_until" ] && podrun_now; then [ $podrun_now -lt $podrun_until ] || [ $podrun_i -le 3 ];
  elif [ $podrun_rest = 1 ]; then [ $podrun_i -le $((podrun_time / 100)) ];
  else [ $podrun_i -le $((podrun_time / 20)) ]; fi;
};

# For the watch, [WHY]: ends everything, and tells why. Where nothing can be forked, or a search hangs on a process, the
# group ends nevertheless.
podrun_end() {
  podrun_look_up;
  if [ "$podrun_own" ]; then
    trap "kill -s KILL 0" EXIT; kill -s TERM 0;
    [ -z "$podrun_main" ] || { sleep $((podrun_grace + 20)); kill -s KILL 0; } 4>&- &
  fi;
  [ -z "$1" ] || podrun_tell "$1";
  podrun_finish;
  podrun_tidy;
  [ -z "$podrun_session" ] || pkill -KILL -s 0;
  [ -z "$podrun_own" ] || kill -s KILL 0;
  kill -s KILL $podrun_main; kill -s KILL $podrun_sleep;
  exit 137;
};

# For what a command that has ended left: `sig INT` and the end of input are for what carries the mark. A background job of
# sh ignores INT, so that gets TERM.
podrun_rest() {
  exec 4>&2 2>/dev/null; podrun_own= podrun_main=;
  podrun_say ready - - - - ""; exec >/dev/null;
  while LC_ALL=C IFS= read -r podrun_line; do
    case $podrun_line in "sig INT") for podrun_pid in $(podrun_marked); do
      if grep -qs "^SigIgn:.*[2367abef]$podrun_d" /proc/$podrun_pid/status; then kill -s TERM $podrun_pid; else kill -s INT $podrun_pid; fi;
    done ;; esac;
  done;
  podrun_finish; exit 0;
};
case $podrun_flags in *r*) podrun_rest ;; esac;

# systemd gives each login a scope, a cgroup with a file that lists its processes. Sets podrun_scope to that file if the
# login is ours alone: the scope holds nothing but the SSH server of our connection, the shells that it started and us.
# (grep reads the file at once. Its contents may move between two reads of a shell.)
podrun_login() {
  while IFS= read -r podrun_path; do
    case ${podrun_path%%/*}${podrun_path##*/} in
      *:name=systemd:session-*.scope) set -- /systemd ;;
      0::session-*.scope) set -- "" /unified ;;
      *) continue ;;
    esac;
    for podrun_each; do
      podrun_scope=/sys/fs/cgroup$podrun_each/${podrun_path#*/}/cgroup.procs;
      if podrun_alone $(grep -hs . "$podrun_scope"); then return; fi;
    done;
  done </proc/self/cgroup;
  podrun_scope=;
};
# The parent of the server of a connection is the server that listens. A scope with that one too is the login of the user
# who started it. A chain with any other program (podrun with a host that is "local") is no login of ours.
podrun_alone() {
  podrun_all=" $* " podrun_chain= podrun_pid=$PPID;
  case $podrun_all in *" $$ "*) ;; *) return 1 ;; esac;
  while :; do
    podrun_comm=; IFS= read -r podrun_comm </proc/$podrun_pid/comm;
    case $podrun_comm in sshd*) podrun_chain=${podrun_chain}d ;; sudo | *sh | busybox) podrun_chain=${podrun_chain}s ;; *) return 1 ;; esac;
    case $podrun_all in *" $podrun_pid "*) ;; *) break ;; esac;
    podrun_above="$podrun_above $podrun_pid";
    podrun_read $podrun_pid || return 1; set -- $podrun_stat; podrun_pid=$2;
  done;
  case $podrun_chain in *ds*) return 1 ;; *dd) ;; *) return 1 ;; esac;
  for podrun_pid in $podrun_all; do
    case " $$ $podrun_above " in *" $podrun_pid "*) ;; *) if [ -e /proc/$podrun_pid ]; then return 1; fi ;; esac;
  done;
};
# Over --via (x) others may log in over the same connection later.
case $podrun_own,$podrun_session,$podrun_flags in ,* | *,,* | *x*) ;; *) podrun_login 2>/dev/null ;; esac;

case ${HOME:+h}$podrun_cwd in "h~") podrun_cwd=$HOME ;; "h~/"*) podrun_cwd=$HOME/${podrun_cwd#"~/"} ;; esac;
if [ "$podrun_cwd" ]; then
  [ -d "$podrun_cwd" ] || podrun_refuse nodir;
  CDPATH= cd -- "$podrun_cwd" >/dev/null 2>&1 || podrun_refuse noentry;
fi;
# Without these a command could not be ended, which would look as if it had been.
podrun_tools="sleep grep ls rm"; case $podrun_flags in *d*) podrun_tools="$podrun_tools mkdir mkfifo tee" ;; esac;
for podrun_tool in $podrun_tools; do command -v $podrun_tool >/dev/null 2>&1 || podrun_refuse notool $podrun_tool; done;
# The first place that is neither full nor read-only.
podrun_make() {
  podrun_dir=$1/podrun.$podrun_nonce podrun_in=/dev/null;
  mkdir -m 700 -- "$podrun_dir" || return 1;
  if { echo "$podrun_mark" >"$podrun_dir/podrun.in" && rm -- "$podrun_dir/podrun.in"; }; then
    case $podrun_flags in *i*) podrun_in=$podrun_dir/podrun.in; mkfifo -m 600 -- "$podrun_in" ;; esac && return;
  fi;
  rm -rf -- "$podrun_dir"; return 1;
};
case $podrun_flags in *d*)
  { podrun_make "${TMPDIR:-/tmp}" || podrun_make /dev/shm || podrun_make "$HOME"; } 2>/dev/null ||
  { podrun_dir= podrun_in=/dev/null; podrun_refuse notmp "${TMPDIR:-/tmp}"; } ;;
esac;
#cleanup#

# Lines for the watch. A line that is cut by the end of input is none. (In UTF-8 the read of bash loses bytes.)
podrun_pass() { case $1 in "" | hold | "sig "[A-Z]*) echo "$1" >&5 ;; esac; };
podrun_next() { LC_ALL=C IFS= read -r podrun_line; };

# The clock. When all is over the watch ends its sleep, and it ends too as the main shell has; another one may have ended
# the sleep before.
podrun_clock() {
  exec >&5 </dev/null 2>/dev/null;
  while :; do
    sleep $podrun_tick >/dev/null 5>&- & echo "sleep $!" || { kill -s KILL $!; exit; };
    wait $!; podrun_1=$?;
    if [ $podrun_1 = 0 ]; then echo tick; elif [ $podrun_1 -le 128 ] || ! podrun_main_runs; then exit; fi;
  done;
};

podrun_relay() {
  exec >/dev/null 2>&1;
  while podrun_next; do podrun_pass "$podrun_line"; done <&3;
  echo eof >&5;
};

# Tells the watch the status of the command; it says it to the one who has started us.
podrun_done() { echo "ended $1" >&5; exit; };

podrun_run() {
  exec 5>&1 >&6 6>&-;
  if IFS=" " read -r podrun_main podrun_1 </proc/self/stat; then :; else podrun_main=$(exec /bin/sh -c "echo ${podrun_d}PPID"); fi 2>/dev/null;
  echo "main $podrun_main" >&5;
  podrun_clock &
  podrun_say ready ${SSH_CONNECTION:-- - - -} "$podrun_dir";

  [ -z "$podrun_line" ] || podrun_told=1;
  while [ -z "$podrun_told" ] && podrun_next; do
    case $podrun_line in "go "*) podrun_told=1 ;; *) podrun_pass "$podrun_line" ;; esac;
  done;
  [ "$podrun_told" ] || podrun_done 125;
  exec 3<&0 </dev/null; echo told >&5;
  podrun_relay & podrun_relay=$!;

  # The command, in the foreground: a background job would have INT ignored. The SHLVL keeps bash from reading .bashrc
  # a second time (it does when started by sshd with SHLVL below 2).
  [ "${SHLVL:-0}" -gt 0 ] 2>/dev/null || { SHLVL=1; export SHLVL; };
  exec 4>&2 2>/dev/null;
  (
    trap - $podrun_signals 2>/dev/null;
    PODRUN_MARK=$podrun_mark; export PODRUN_MARK;
    eval "${podrun_line#go }";
    case $1 in */*) ;; *) command -v -- "$1" >/dev/null 2>&1 || { echo "$1: command not found" >&2; exit 127; } ;; esac;
    exec "$@"
  ) <"$podrun_in" 2>&4 3<&- 4>&- 5>&-;
  podrun_status=$?;

  # A command that writes dies by the broken pipe when podrun dies: let the relay see that end too, before it would be
  # taken for a normal one.
  [ $podrun_status = 0 ] || [ -z "$(podrun_marked)" ] || sleep 0.5 || sleep 1;
  kill -s KILL $podrun_relay; podrun_done $podrun_status;
};

# The watch: ends the command after TICKS ticks of silence, at the end of input, and where the main shell has been killed.
# After an interrupt its children end with the command, and when it has died of a QUIT (131). Otherwise background
# children stay, as with ssh.
podrun_watch() {
  exec 4>&2 >/dev/null 2>&1 6>&-;
  while podrun_next; do
    case $podrun_line in
      tick)
        podrun_sleep= podrun_i=$((podrun_i + 1));
        [ "$podrun_over" ] || podrun_main_runs || podrun_end;
        [ $podrun_i -lt $podrun_ticks ] || podrun_silence ;;
      "sleep "*) podrun_sleep=${podrun_line#* }; [ -z "$podrun_over" ] || kill -s KILL $podrun_sleep ;;
      "main "*) podrun_main=${podrun_line#* } ;;
      told) podrun_told=1 ;;
      "ended "*) podrun_status=${podrun_line#* } podrun_over=1; [ -z "$podrun_sleep" ] || kill -s KILL $podrun_sleep ;;
      eof) podrun_end ;;
      hold) podrun_i=-999999 ;;
      *)
        podrun_i=0;
        case $podrun_line in "sig INT") podrun_interrupted=1 ;; "sig QUIT") podrun_quit=1 ;; esac;
        case $podrun_line in "sig "*) podrun_signal "${podrun_line#sig }" ;; esac ;;
    esac;
  done;
  if [ "$podrun_quit" ] && [ "$podrun_status" = 131 ]; then podrun_interrupted=1; fi;
  if [ "$podrun_interrupted" ]; then [ -z "$podrun_own" ] || kill -s TERM 0; podrun_look_up; podrun_finish; fi;
  podrun_tidy; exit ${podrun_status:-137};
};
podrun_silence() {
  podrun_why=; [ -z "$podrun_told" ] || podrun_why="no word from podrun for $((podrun_tick * podrun_ticks)) s: this host ends the command";
  podrun_end "$podrun_why";
};

exec 6>&1; podrun_run | podrun_watch; podrun_status=$?;

# In one write: what still runs may print too. The printf of bash cuts its format at newlines, but no argument.
case $podrun_flags in *x*)
  if printf %s "~podrun1 $podrun_nonce exit $podrun_status$podrun_n" 2>/dev/null; then podrun_status=0; fi ;;
esac;
exit $podrun_status
