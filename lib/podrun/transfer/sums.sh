# Prints the digests of files, in the order of their paths on standard input. Follows helper.sh.
# Words: TARGET PROGRAM...
# Variables of the host: HOME
#
# The paths are below TARGET, each with a NUL at its end. TARGET is a directory that exists, as for push.sh. PROGRAM stands for
# the program and its options.
podrun_target=$1
shift
cd -- "${HOME:-/}" || exit
case $podrun_target in
  "~") ;;
  [~]/*) cd -- "./${podrun_target#??}" || exit ;;
  /*) cd -- "$podrun_target" || exit ;;
  *) cd -- "./$podrun_target" || exit ;;
esac
if [ "$1" = openssl ] && ! openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then set -- sha256sum; fi
exec xargs -0 "$@"
