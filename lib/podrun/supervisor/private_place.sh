# Where temporary files may be. They are run, or hold what the command gets, so nobody else may exchange them.
#
# shellcheck disable=SC2046  # the words of ls are to be split

# PLACE: true if nobody else can rename files in it: a directory of root or this user, or a sticky one.
podrun_is_private_place() {
  [ "$1" ] && set -- "$1" $(command ls -ldn -- "$1/.") || return
  [ "$4" = 0 ] || [ -O "$1/." ] || return
  case $2 in
    ?????????[tT]*) ;;
    ?????w* | ????????w*) return 1 ;;
  esac
}
