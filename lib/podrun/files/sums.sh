# Prints the digests of files, in the order in which their names come: set -- TARGET PROGRAM; <helper.sh sums.sh, one line>
# Standard input has their paths below TARGET, each with a NUL at its end. TARGET is as for push.sh, and is there.
CDPATH=
cd -- "${HOME:-/}" || exit
case $1 in
  "~") ;;
  [~]/*) cd -- "./${1#??}" || exit ;;
  /*) cd -- "$1" || exit ;;
  *) cd -- "./$1" || exit ;;
esac
exec xargs -0 "$2" --
