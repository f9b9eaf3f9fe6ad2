# Finds the process tree of the command: everything that it is known to have started. Needs processes.sh. Functions set
# variables and print nothing, since each $(...) is a process, and many hosts may share a machine.
#
# Set by others:       podrun_main     pid of the main shell, whose child the command is; empty: it has ended
#                      podrun_sudo     pid of the sudo by which the supervisor signals
#                      podrun_ended    not empty: the command has ended
#                      podrun_tree     at first: empty, or processes that belong to it
# podrun_find_group:   podrun_group    the process group of the supervisor; podrun_own_group is 1 if it is the supervisor's own
#                      podrun_session  its session, if that began with it
#                      podrun_above    the shells, sudos and servers that started it, and itself
# podrun_find_scope:   podrun_scope    the file that lists the processes of its login, if the login is for it alone
# podrun_find_self:    podrun_self     pid of the watch
# podrun_find_tree:    podrun_tree     the process tree: "PID:START" each, since a pid may become another process
#
# shellcheck disable=SC2086,SC2046  # pids, their lists and the words of a stat are to be split

# Signals go to group 0 if the process group is the supervisor's own: its leader is the supervisor, the shell or sudo that
# started it, or the shell that started this sudo. Elsewhere (dropbear) group 0 would hit the server, so that only processes
# with the mark are signalled.
podrun_find_group() {
  podrun_above=$$
  podrun_find_parent $PPID
  podrun_read_stat $$ || return
  podrun_group=$podrun_its_group
  case " $podrun_above " in *" $podrun_group "*) podrun_own_group=1 ;; esac
  case " $podrun_above " in *" $podrun_its_session "*) podrun_session=$podrun_its_session ;; esac
}
podrun_find_parent() {
  podrun_read_name $1
  case $podrun_name in sudo | *sh | busybox) podrun_above="$podrun_above $1" ;; esac
  [ "$podrun_name" = sudo ] && podrun_read_stat $1 && podrun_find_parent $podrun_its_parent
}

# systemd gives each login a scope, a cgroup with a file that lists its processes. (grep reads that file at once. Its contents
# may move between two reads of a shell.)
podrun_find_scope() {
  while IFS= read -r podrun_path; do
    case ${podrun_path%%/*}${podrun_path##*/} in
      *:name=systemd:session-*.scope) set -- /systemd ;;
      0::session-*.scope) set -- "" /unified ;;
      *) continue ;;
    esac
    for podrun_each; do
      podrun_scope=/sys/fs/cgroup$podrun_each/${podrun_path#*/}/cgroup.procs
      if podrun_own_login $(command grep -hs . "$podrun_scope"); then return; fi
    done
  done </proc/self/cgroup
  podrun_scope=
}
# PID...: true if the login with these processes is for the supervisor alone. It is if they are the SSH server of its connection, the
# shells that the server started, and the supervisor. The parent of this server is the server that listens: if the login has it too,
# it is the login of the user who started the server. With any other program in between (podrun itself, for a host that is "local") the
# login has other purposes too.
podrun_own_login() {
  podrun_all=" $* "
  podrun_chain=
  podrun_pid=$PPID
  case $podrun_all in *" $$ "*) ;; *) return 1 ;; esac
  while :; do
    podrun_read_name $podrun_pid
    case $podrun_name in
      sshd*) podrun_chain=${podrun_chain}d ;;
      sudo | *sh | busybox) podrun_chain=${podrun_chain}s ;;
      *) return 1 ;;
    esac
    case $podrun_all in *" $podrun_pid "*) ;; *) break ;; esac
    podrun_above="$podrun_above $podrun_pid"
    podrun_read_stat $podrun_pid || return 1
    podrun_pid=$podrun_its_parent
  done
  case $podrun_chain in *ds*) return 1 ;; *dd) ;; *) return 1 ;; esac
  for podrun_pid in $podrun_all; do
    case " $podrun_above " in *" $podrun_pid "*) ;; *) if [ -e /proc/$podrun_pid ]; then return 1; fi ;; esac
  done
}

# The pid of the main shell may be another process by now.
podrun_find_self() {
  IFS= read -r podrun_stat </proc/self/stat && podrun_self=${podrun_stat%% *}
  podrun_main_runs || podrun_main=
}
podrun_main_runs() {
  if podrun_read_stat $podrun_main; then [ "$podrun_its_state" != Z ] && [ "$podrun_its_parent" = $$ ]
  else [ "$podrun_main" ] && ! [ -e /proc/$$ ] && kill -s 0 $podrun_main; fi
}

# "PARENT GROUP SESSION": sets podrun_pids to the processes that run and match, also those whose main thread has ended. (No name is long
# enough to look like the numbers after it.)
podrun_find_with_stat() { podrun_read_pids $(podrun_grep_stat -l "$1"); }
podrun_grep_stat() { grep -sE $1 "[)] ([A-WY] $2( -?[0-9]+){14}|Z $2( -?[0-9]+){13} ([2-9]|[1-9][0-9]))" /proc/[0-9]*/stat; }
# Sets podrun_others to the processes of other users that are children of the main shell or in its group: sudo and what it runs,
# since sudo drops the mark.
podrun_find_others() {
  podrun_others=
  if [ "$podrun_own_group" ]; then set -- "[0-9]+ $podrun_group${podrun_main:+|$podrun_main [0-9]+}"
  elif [ "$podrun_main" ]; then set -- "$podrun_main [0-9]+"
  else return; fi
  podrun_find_with_stat "($1) [0-9]+"
  for podrun_pid in $podrun_pids; do
    if [ -O /proc/$podrun_pid ]; then continue; fi
    podrun_is_of_command $podrun_pid && podrun_others="$podrun_others $podrun_pid"
  done
}
# PID: false for a sudo that started the supervisor or by which it signals, and for a process that has ended.
podrun_is_of_command() {
  case " $podrun_above " in *" $1 "*) return 1 ;; esac
  podrun_read_stat $1 || return
  case "$podrun_its_parent $1" in "$podrun_self "* | "$podrun_sudo "* | *" $podrun_sudo") return 1 ;; esac
}
# Adds to podrun_tree the processes below the group that have left it, or are of other users. They may have no mark (sudo, su -, env -i),
# and a signal to the group may end their parents, so they must be found before it. Reads no file of a process that can hang.
podrun_find_below_group() {
  podrun_find_with_stat "[0-9]+ $podrun_group [0-9]+"
  for podrun_pid in $(podrun_list_once $podrun_pids >/dev/null; podrun_list_others $podrun_pids; podrun_list_below); do
    podrun_is_of_command $podrun_pid || continue
    if [ $podrun_its_group = $podrun_group ] && [ -O /proc/$podrun_pid ]; then continue; fi
    case "$podrun_tree " in *" $podrun_pid:$podrun_its_start "*) ;; *) podrun_tree="$podrun_tree $podrun_pid:$podrun_its_start" ;; esac
  done
}
# PID...: sets podrun_detached to further processes of the session and of the scope, since a daemon may have cleared its
# environment, or may not be dumped. The shells that started the supervisor, the SSH server, and helpers of podrun, which are
# children of that server, do not belong to the command; nor do the shells and tools of the supervisor, which are in its group.
# After the command has ended, its processes in the group have no parent.
podrun_find_detached() {
  podrun_detached=
  [ "$podrun_own_group" ] && [ "$podrun_session" ] || return
  podrun_known=" $* $podrun_above "
  podrun_find_with_stat "[0-9]+ [0-9]+ $podrun_session"
  [ -z "$podrun_scope" ] || podrun_pids="$podrun_pids $(grep -hs . "$podrun_scope")"
  for podrun_pid in $podrun_pids; do
    case $podrun_known in *" $podrun_pid "*) continue ;; esac
    podrun_read_stat $podrun_pid || continue
    case $podrun_its_state$podrun_its_group in
      [XZ]*) continue ;;
      ?$podrun_group) [ "$podrun_ended" ] && [ -e /proc/$$ ] && podrun_descends $podrun_its_parent && [ $podrun_up != $$ ] ;;
      *) podrun_descends $podrun_its_parent ;;
    esac && podrun_detached="$podrun_detached $podrun_pid"
  done
}
# PARENT: true if a process with this parent descends from the supervisor, or if its parent has ended.
podrun_descends() {
  podrun_up=$1
  until [ $podrun_up -le 1 ] || [ $podrun_up = $$ ]; do
    case " $podrun_sudo $podrun_above " in *" $podrun_up "*) return 1 ;; esac
    podrun_read_stat $podrun_up || return 0
    podrun_up=$podrun_its_parent
  done
}

# Sets podrun_tree to the processes with the mark, the ones found before, the ones of other users, the detached ones, and the children of
# all these.
podrun_find_tree() {
  podrun_find_marked
  podrun_new=$podrun_pids
  for podrun_each in $podrun_tree; do if podrun_is_there $podrun_each; then podrun_new="$podrun_new ${podrun_each%:*}"; fi; done
  podrun_find_others
  podrun_new="$podrun_new $podrun_others"
  podrun_find_detached $podrun_new
  podrun_find_below $podrun_new $podrun_detached
  podrun_set_tree $podrun_list
}
# PID...: sets podrun_list to these and all their descendants.
podrun_find_below() { podrun_list=$(podrun_list_once "$@"; podrun_list_below); }
# The following print pids. They run in one subshell, which has a variable for each pid that is known: a search in a list of thousands
# would take seconds, and a pattern of them is too long for grep.
podrun_prefix=podrun_listed_
podrun_list_once() {
  for podrun_pid; do
    [ $(($podrun_prefix$podrun_pid)) = 1 ] || echo $podrun_pid
    eval $podrun_prefix$podrun_pid=1
  done
}
podrun_list_others() { for podrun_pid; do [ -O /proc/$podrun_pid ] || echo $podrun_pid; done; }
# The descendants of all that are known.
podrun_list_below() {
  podrun_all=
  IFS=$podrun_n
  for podrun_each in $(podrun_grep_stat -o "[1-9][0-9]* [1-9][0-9]* [0-9]+"); do
    IFS=" "
    podrun_pid=${podrun_each#/proc/}
    podrun_pid=${podrun_pid%%/*}
    set -- ${podrun_each#*") "}
    [ $(($podrun_prefix$podrun_pid)) = 1 ] || podrun_all="$podrun_all $podrun_pid:$2"
  done
  IFS=" "
  podrun_new=1
  while [ "$podrun_new" ]; do
    podrun_new=
    for podrun_each in $podrun_all; do
      podrun_pid=${podrun_each%:*}
      [ $(($podrun_prefix${podrun_each#*:} - $podrun_prefix$podrun_pid)) = 1 ] || continue
      podrun_list_once $podrun_pid
      podrun_new=1
    done
  done
}
# PID...: sets podrun_tree to these.
podrun_set_tree() {
  podrun_tree=
  for podrun_pid; do podrun_read_stat $podrun_pid && podrun_tree="$podrun_tree $podrun_pid:$podrun_its_start"; done
}

podrun_one_is_there() {
  for podrun_each; do if podrun_is_there $podrun_each; then return; fi; done
  return 1
}
