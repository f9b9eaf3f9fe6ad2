# Prints the digests of files, in the order in which their names come: set -- TARGET WORD...; <helper.sh sums.sh, one line>
# Standard input has their paths below TARGET, each with a NUL at its end. TARGET is as for push.sh, and is there. The WORDs are the
# program and its options.
cd -- "${HOME:-/}" || exit
case $1 in
  "~") ;;
  [~]/*) cd -- "./${1#??}" || exit ;;
  /*) cd -- "$1" || exit ;;
  *) cd -- "./$1" || exit ;;
esac
shift
if [ "$1" = openssl ] && ! openssl dgst -sha256 -r </dev/null >/dev/null 2>&1; then set -- sha256sum; fi
exec xargs -0 "$@"
