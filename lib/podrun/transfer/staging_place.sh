# The staging directory of a push: the way to the target, through no link that other users can change, and a directory there that nobody
# else can exchange. For push.sh, which sets TARGET and NAME.
# Words: none
#
# shellcheck disable=SC2015,SC2046,SC2086,SC2164,SC3013  # numbers, flags and the output of ls are to be split; / can be entered; -ef has a way out

# Sets podrun_identity to the inode, the mode and the owner of the current directory.
podrun_identify() {
  set -- $(ls -ldni .)
  podrun_identity="$1 $2 $4"
}
# True if others can rename files in the current directory; members of the user's own group do not count. With an ACL (+), the bits of the group are
# the most that any other user may do.
podrun_others_may_rename() {
  set -- $(ls -ldn .)
  [ "$3" = 0 ] || [ -O . ] || return 0
  case $1 in
    ?????????[tT]*) return 1 ;;
    ????????w* | ?????w????+*) return 0 ;;
    ?????w*) [ "$4 $(id -un)" != "$(id -g) $(id -gn)" ] ;;
    *) return 1 ;;
  esac
}
# PART: goes into a directory. Returns 1 with the reason in podrun_said; so if that leads elsewhere.
podrun_go_into() {
  podrun_find_place
  podrun_said=${podrun_here%/}/$1
  cd -P -- "./$1" 2>/dev/null || { podrun_said="$podrun_said: cannot be entered"; return 1; }
  podrun_find_place
  [ "$podrun_here" = "$podrun_said" ] || { podrun_said="$podrun_said: was renamed or replaced by a link meanwhile"; return 1; }
}
# PART, a link: puts its target in front of podrun_rest.
podrun_follow() {
  podrun_links=$((podrun_links + 1))
  [ $podrun_links -le 40 ] || podrun_fail "${PWD%/}/$1: too many links"
  set -- "$1" $(ls -ldn -- "./$1")
  if podrun_others_may_rename || { [ "$4" != 0 ] && [ "$4" != "$podrun_user" ]; }; then
    podrun_fail "${PWD%/}/$1: a link that other users can change ($podrun_hint)"
  fi
  command -v readlink >/dev/null || podrun_fail "no \"readlink\" in \$PATH there"
  podrun_text=$(readlink -- "./$1" && echo .) || podrun_fail "${PWD%/}/$1: cannot be read"
  podrun_rest=${podrun_text%??}/$podrun_rest
  case $podrun_rest in /*) cd -P / || exit ;; esac
}

# Goes along podrun_rest, and leaves the missing part in it. Does not follow links that others can change.
podrun_walk() {
  podrun_links=0
  while [ "$podrun_rest" ]; do
    podrun_part=${podrun_rest%%/*}
    podrun_after=${podrun_rest#"$podrun_part"}
    podrun_after=${podrun_after#/}
    case $podrun_part in
      "" | .) podrun_rest=$podrun_after && continue ;;
      ..) cd -P .. && podrun_rest=$podrun_after && continue ;;
    esac
    if [ -d "./$podrun_part" ] && [ -L "./$podrun_part" ]; then
      podrun_rest=$podrun_after
      podrun_follow "$podrun_part"
    elif [ -d "./$podrun_part" ]; then
      podrun_go_into "$podrun_part" || podrun_fail "$podrun_said"
      podrun_rest=$podrun_after
    elif [ -e "./$podrun_part" ] || [ -L "./$podrun_part" ]; then
      podrun_part=${podrun_target%"$podrun_after"}
      podrun_fail "${podrun_part%/}: not a directory"
    else break; fi
  done
}
# The target is the directory that is entered, or the missing directories below the one that is entered, which podrun_rest has.
podrun_enter() {
  cd -P -- "${HOME:-/}" || podrun_fail "no home directory"
  case $podrun_target in
    "~") podrun_target=. ;;
    [~]/*) podrun_target=${podrun_target#??} ;;
    /*) cd -P / || exit ;;
  esac
  set -- $(ls -ldn -- "$podrun_directory")
  podrun_user=$3
  podrun_rest=$podrun_target
  podrun_walk
  podrun_kind=directory
  if [ "$podrun_rest" ]; then podrun_kind=missing
  elif podrun_has delete; then podrun_keep_home; fi
}
podrun_keep_home() {
  podrun_home=$(cd -P -- "${HOME:-/}" && echo "$PWD/")
  case $PWD in
    /) podrun_fail "--delete refuses the root directory" ;;
  esac
  case $podrun_home in
    "$PWD"/*) podrun_fail "--delete refuses the home directory, and what it is in" ;;
  esac
}
# TARGET is a file's new name: the directory that it is in is the target.
podrun_split_name() {
  case $podrun_target in
    */) return ;;
    "~" | "" | . | .. | */. | */..) return ;;
  esac
  if [ -d "$HOME/${podrun_target#"~/"}" ] || case $podrun_target in /*) [ -d "$podrun_target" ] ;; *) false ;; esac; then return; fi
  podrun_is_name=1
  case $podrun_target in
    /*/*) podrun_target=${podrun_target%/*} ;;
    /*) podrun_target=/ ;;
    */*) podrun_target=${podrun_target%/*} ;;
    *) podrun_target="~" ;;
  esac
}

# PATH: where its file system is mounted.
podrun_mount() {
  podrun_line=$(df -P -- "$1")
  echo "${podrun_line##* }"
}
# Makes the staging directory in the target, or beside it where the target is not writable.
podrun_make_staging() {
  podrun_said=
  for podrun_place in . ..; do
    if [ $podrun_place = .. ]; then
      if [ $podrun_kind != directory ] || [ "$(podrun_mount .)" != "$(podrun_mount ..)" ]; then break; fi
      podrun_rest=${PWD##*/}
      cd -P .. || break
    fi
    touch -r . -- "$podrun_directory/podrun.time"
    ln -s -- "${PWD%/}/$podrun_name" "$podrun_directory/staging" || podrun_fail "$podrun_directory: cannot be written"
    if podrun_mkdir=$(mkdir -m 700 -- "$podrun_name" 2>&1); then
      podrun_enter_staging
      return
    fi
    podrun_said=${podrun_said:-${PWD%/}/$podrun_name: ${podrun_mkdir##*: }}
    rm -f -- "$podrun_directory/staging"
  done
  podrun_fail "$podrun_said"
}
# Nobody else may have exchanged it since. Where file systems show owners or modes that differ from the ones that were set, its parent must be safe.
podrun_enter_staging() {
  podrun_open=
  if podrun_others_may_rename; then podrun_open=1; fi
  podrun_go_into "$podrun_name" || podrun_fail "$podrun_said"
  podrun_identify
  case $podrun_open:$podrun_identity in
    1:*" drwx--"[-S]---*) if ! [ -O . ] || ! [ /proc/$$/cwd -ef . ]; then podrun_refuse_place; fi ;;
    1:*) podrun_refuse_place ;;
  esac
  printf '%s\n' "$podrun_identity" >"$podrun_directory/podrun.staging"
  printf %s "$podrun_rest" >"$podrun_directory/podrun.target"
  podrun_said=$(mkdir new sums held 2>&1 && ln -s -- "$podrun_directory" run 2>&1) || {
    rmdir new sums held "../$podrun_name"
    podrun_fail "$PWD: ${podrun_said##*: }"
  }
  podrun_staging=$podrun_name
}
podrun_refuse_place() {
  rmdir -- "../$podrun_name"
  podrun_fail "${PWD%/*}: other users can rename what is in it, and no private directory can be made there (change its owner or mode)"
}
# NAME: whether there is a staging directory of this user beside this one. Another user can make a directory of that name, or move one of
# this user to it, but cannot make the link in it.
podrun_is_staging() {
  set -- "$1" $(ls -ldn -- "../.podrun.$1" 2>/dev/null)
  [ "$2 $4" = "${podrun_identity#* }" ] && [ -L "../.podrun.$1/run" ]
}
# In a subshell: goes from the staging directory to the target, or to the directory that it will be in.
podrun_go_to_target() {
  if podrun_has look; then return; fi
  cd -P .. || exit
  if [ $podrun_kind = directory ] && [ "$podrun_rest" ]; then
    podrun_go_into "$podrun_rest" || { echo "$podrun_said"; exit 1; }
  fi
}
