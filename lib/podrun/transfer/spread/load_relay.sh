# Starts a program in Python that podrun sends: relay.py, or relay_files.py. For push.sh and serve.sh.
# Words: none
#
# input    the size of the program, compressed by zlib, in a line; that; and what the program reads
# output   on descriptor 4: "relay ADDRESS" ($SSH_CONNECTION's, or "-") and the answers of the program; or "relay - WHY", and then standard
#          input goes to standard output as it is. A program that has begun and is killed is followed by "failed WHY".

# python3 -c reads no module from the current directory with -I. Its statuses once it runs: relay_limits.py. What a python3 that is not one
# prints is no part of the archive (descriptor 6). Whoever makes podrun.relay first decides: a python3 that has not begun by then is ended.
podrun_load_relay='import hashlib,mmap,os,resource,select,socket,ssl,struct,sys,threading,zlib;sys.version_info<(3,6)and sys.exit(1);os.mkdir(sys.argv[1]+"/podrun.relay");os.dup2(6,1);os.close(6);os.write(4,("relay %s\n"%(os.environ.get("SSH_CONNECTION")or"- - -").split()[2]).encode());b=sys.stdin.buffer;exec(compile(zlib.decompress(b.read(int(b.readline()))),"relay.py","exec"),{"__name__":"__main__","__file__":sys.argv[1]+"/relay.py"})'
# PID: ends it after its descendants, as the shell that waits for it goes on then. It is stopped first, so that it starts no others.
podrun_end_tree() {
  kill -s STOP "$1"
  # shellcheck disable=SC2013  # these are numbers, in one line
  for podrun_each in $(cat /proc/"$1"/task/*/children); do (podrun_end_tree "$podrun_each"); done
  kill -s KILL "$1"
}
podrun_relay() {
  if command -v python3 >/dev/null; then
    rm -rf -- "$podrun_directory/podrun.relay"
    exec 5<&0 6>&1
    python3 -I -S -c "$podrun_load_relay" "$podrun_directory" <&5 >/dev/null 2>&1 4>&4 5<&- 6>&6 &
    podrun_python=$!
    (sleep 20 && mkdir "$podrun_directory/podrun.relay" && true >"$podrun_directory/podrun.relay/late" && podrun_end_tree $podrun_python) </dev/null >/dev/null 2>&1 4>&- 5<&- 6>&- &
    podrun_late=$!
    wait $podrun_python 2>/dev/null
    podrun_status=$?
    podrun_end_tree $podrun_late 2>/dev/null
    exec 5<&- 6>&-
    case $podrun_status in
      0 | 3 | 4) return ;;
    esac
    if [ -e "$podrun_directory/podrun.relay/late" ]; then echo "relay - python3 did not start within 20 s there" >&4
    elif [ -e "$podrun_directory/podrun.relay" ]; then
      echo "failed python3 was ended there" >&4
      return 4
    else
      case $podrun_status in
        137 | 143) echo "relay - python3 was killed there (signal $((podrun_status - 128)))" >&4 ;;
        *) echo "relay - python3 does not start there, has no module ssl, or is older than 3.6" >&4 ;;
      esac
    fi
  else echo "relay - no python3 there" >&4; fi
  exec cat
}
