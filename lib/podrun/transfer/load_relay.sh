# Starts a program in Python that podrun sends: relay.py, or relay_files.py. For push.sh and serve.sh.
# Words: none
#
# input    the size of the program, compressed by zlib, in a line; that; and what the program reads
# output   on descriptor 4: "relay ADDRESS" ($SSH_CONNECTION's, or "-") and the answers of the program; or "relay - WHY", and then standard
#          input goes to standard output as it is

# python3 -c reads no module from the current directory with -I. Its statuses once it runs: relay_limits.py.
podrun_load_relay='import hashlib,mmap,os,select,socket,ssl,struct,sys,threading,zlib;sys.version_info<(3,6)and sys.exit(1);os.write(4,("relay %s\n"%(os.environ.get("SSH_CONNECTION")or"- - -").split()[2]).encode());b=sys.stdin.buffer;exec(compile(zlib.decompress(b.read(int(b.readline()))),"relay.py","exec"),{"__name__":"__main__","__file__":sys.argv[1]+"/relay.py"})'
podrun_relay() {
  if command -v python3 >/dev/null; then
    python3 -I -S -c "$podrun_load_relay" "$podrun_directory" 2>/dev/null
    podrun_status=$?
    case $podrun_status in
      0 | 3 | 4) return ;;
      137 | 143) echo "relay - python3 was killed there (signal $((podrun_status - 128)))" >&4 ;;
      *) echo "relay - python3 does not start there, has no module ssl, or is older than 3.6" >&4 ;;
    esac
  else echo "relay - no python3 there" >&4; fi
  exec cat
}
