# Lists the files of a host that the words of a pull name. Follows helper.sh.
# Words: LINKS [PATHS...]
# Variables of the host: HOME
#
# Each of the PATHS is a path or a pattern of the shell, as pull_word() makes it: "./a" counts from the home directory, "/a" is absolute, a
# last ".." has "/" after it, and no two slashes stand together. So "//" and a newline, which end each record, are in no path. LINKS: "links"
# asks where links lead, "-" does not.
#
#   n NUMBER                 the word at this place names nothing
#   m PATH                   a word names this path; all of these come before the output of find
#   f MODE SIZE MTIME:ID PATH   such a path, or one below it: st_mode in hex, bytes, seconds since 1970, DEVICE:INODE:OWNER:GROUP
#   g TYPE MODE SIZE MTIME:ID PATH   the same by find, where it has -printf, since not every stat prints all bytes of a name: %y %m %s %T@
#   u USER:GROUP             the user of the host; before the next ones, and only without LINKS
#   h MODE:OWNER:GROUP       a directory that such a path is in
#   w                        the home directory is in such a path; only with LINKS
#   l PATH NUL TARGET        where such a path leads, if it is a link; all of these come after the output of find
#   t PROGRAM                this program is missing, and that is all
#   e STATUS                 the end; not 0: find or stat has reported errors on standard error; 126, 127: one of them did not run
#
# Works in dash, bash and busybox sh, with GNU and busybox tools.
# shellcheck disable=SC2086  # a pattern is to be expanded

podrun_links=$1
shift
cd -- "${HOME:-/}" || exit
podrun_needed="find stat xargs tar"
if [ "$podrun_links" = links ]; then podrun_needed="find stat xargs readlink"; fi
for podrun_tool in $podrun_needed; do
  command -v "$podrun_tool" >/dev/null 2>&1 || { printf 't %s//\n' "$podrun_tool"; exit; }
done

podrun_exists() { [ -e "$1" ] || [ -L "$1" ]; }
# tar drops everything before the last "..", so such a path becomes an absolute one. (The dot keeps newlines at the end.)
podrun_resolve() {
  podrun_rest=${podrun_word##*/../}
  podrun_parent=$(cd -P -- "${podrun_word%"$podrun_rest"}" >/dev/null 2>&1 && printf '%s.' "$PWD") || return
  podrun_parent=${podrun_parent%.}
  podrun_word=${podrun_parent%/}/$podrun_rest
}

# Each word is replaced by the paths that it names. A word that names an existing path is not a pattern.
podrun_number=0
podrun_words=$#
IFS=
while [ "$podrun_number" -lt "$podrun_words" ]; do
  podrun_word=$1
  shift
  case $podrun_word in */../*) podrun_resolve || podrun_word= ;; esac
  if podrun_exists "$podrun_word"; then set -- "$@" "$podrun_word"
  elif podrun_exists $podrun_word; then set -- "$@" $podrun_word
  else printf 'n %s//\n' "$podrun_number"; fi
  podrun_number=$((podrun_number + 1))
done

# [PATH...]: prints the directories that they are in, up to the home directory.
podrun_above() {
  podrun_last=
  printf './.\0'
  for podrun_each; do
    podrun_each=${podrun_each%/*}
    [ "$podrun_each" != "$podrun_last" ] || continue
    podrun_last=$podrun_each
    while case $podrun_each in . | "") false ;; esac; do
      printf '%s/.\0' "$podrun_each"
      podrun_each=${podrun_each%/*}
    done
  done
}

# The dot keeps newlines at the end of a target.
# shellcheck disable=SC2016  # it is expanded by the shell that find runs
podrun_print_links='for l; do t=$(readlink "$l" && echo .); printf "l %s\0%s//\n" "$l" "${t%??}"; done'
podrun_status=0
if [ $# != 0 ]; then
  printf 'm %s//\n' "$@"
  if [ "$podrun_links" = - ]; then
    stat -L -c "u %u:%g//" /proc/self
    podrun_above "$@" | xargs -0 stat -c "h %f:%u:%g//"
  else
    podrun_home=$(pwd -P)/
    for podrun_each; do
      if [ -L "$podrun_each" ] || ! [ -d "$podrun_each" ]; then continue; fi
      podrun_at=$(cd -P -- "$podrun_each" && pwd) || continue
      case $podrun_home in "${podrun_at%/}"/*) printf 'w//\n' ;; esac
    done
  fi 2>/dev/null
  # shellcheck disable=SC2016  # it is expanded by the shell that xargs runs
  printf '%s\0' "$@" | xargs -0 /bin/sh -c 'if find / -maxdepth 0 -printf "%y %m %s %T@ %p %D %i %U %G" >/dev/null 2>&1; then exec find "$@" -printf "g %y %m %s %T@:%D:%i:%U:%G %p//\n"; fi; exec find "$@" -exec stat -c "f %f %s %Y:%d:%i:%u:%g %n//" {} +' sh
  podrun_status=$?
  if [ "$podrun_links" = links ]; then
    # shellcheck disable=SC2016
    printf '%s\0' "$@" | xargs -0 /bin/sh -c 'p=$1; shift; exec find "$@" -type l -exec /bin/sh -c "$p" sh {} +' sh "$podrun_print_links" || podrun_status=$?
  fi
fi
printf 'e %s//\n' "$podrun_status"
