# A push on one host, up to the switch: lists the files of the host, stages the files that podrun sends, and checks that they can be
# switched. Follows helper.sh. Needs place.sh, load_relay.sh and staging_place.sh.
# Words: DIRECTORY TARGET NAME FLAGS [PATHS...]
# Variables of the host: HOME
#
# DIRECTORY is the directory of the run. TARGET counts from the home directory. NAME is the end of the staging directory's name,
# .podrun.NAME. Each PATH below the target is listed, with everything in it. Flags:
#   all       list everything below the target
#   file      TARGET may be the new name of the one PATH
#   look      stage nothing
#   delete    the home directory may not be the target or in it
#
# output   "target KIND DIGEST FORMAT COMPRESSION INODE ROOM"   KIND: directory or missing; with -name, TARGET is the PATH's new name; ROOM:
#          of the file system, see scan_reply.cpp
#          the list, as scan_reply.hpp reads it             then "listed", or "error WORDS", and that is all
# input    "links delete|- [INDEX LINK...]", in words of sh: links below the target that podrun would keep if they lead to directories
# output   "links [0|1|2...]": for each LINK 1 if it leads to a directory, which podrun.link.INDEX then has, 2 if that is on another file
#          system than the target, else 0; then the first line again, and the list of the files in these directories
#          These two may be repeated.
# input    "stage BYTES directly|spread [NAME...]", and if no NAME is given a tar archive up to the end, with so many bytes in files;
#          "nothing" and the end
# output   to NAMEs: "shared NAME" and that is all, or "alone", and the archive may come;   "staged DIGEST [WORDS]", or "error WORDS"
#
# With "spread", the archive comes in frames: load_relay.sh has what it says, reads and starts in front of tar, which is relay.py. Standard
# input stays open until "staged DIGEST" or "error WORDS".
#
# The first DIGEST is the program, the fastest one there for many bytes; the second one is the digest of archive.hpp.
#
# The archive has new/, the files to be moved, and run/podrun.check and run/podrun.switch, sh texts that switch_text.cpp makes; run
# is a link to DIRECTORY, so these texts are never stored below TARGET. In DIRECTORY, the link `staging` names the staging directory,
# podrun.staging has its inode, mode and owner, and podrun.target is the way to the target from the directory that the staging directory is in.
#
# Another user may be able to rename whatever is in the target, or the target itself. So this shell enters its staging directory once and
# stays there: nobody can exchange its current directory. It goes elsewhere in subshells, by way of "..", without following links.
#
# Works in dash, bash and busybox sh, with GNU and busybox tools.
# shellcheck disable=SC2015,SC2046,SC2086,SC2164,SC3013  # numbers, flags and the output of ls are to be split; / can be entered; -ef has a way out

podrun_directory=$1
# For sort: others might write to the one that the host has.
TMPDIR=$1
export TMPDIR
podrun_target=$2
podrun_name=.podrun.$3
podrun_flags=$4
shift 4
podrun_staging=
podrun_hint="name the directory that it leads to"
podrun_through=

podrun_has() { case " $podrun_flags " in *" $1 "*) ;; *) return 1 ;; esac; }
# TEXT: its last line that gives a reason. Of a long line, the begin and the end, which has the reason.
podrun_last_line() {
  podrun_line=$(printf '%s\n' "$1" | grep -vE "Exiting with failure status|Error exit delayed")
  podrun_line=${podrun_line##*"$podrun_n"}
  printf '%s\n' "${podrun_line:-a program failed without a word}" | sed 's/^\(.\{300\}\).*\(.\{200\}\)$/\1...\2/'
}
podrun_fail() {
  podrun_remove_staging
  podrun_leave 1 "error $*"
}
# STATUS WORDS: the last words. The supervisor need not look for this shell any more.
podrun_leave() {
  true >"$podrun_directory/podrun.push"
  printf '%s\n' "$2"
  exit $1
}
# The directory that it is in keeps its time.
podrun_remove_staging() {
  case $PWD in
    */"${podrun_staging:-/}")
      rm -rf -- new run sums held
      cd -P .. && rmdir -- "$podrun_staging" && rm -f -- "$podrun_directory/staging"
      touch -r "$podrun_directory/podrun.time" -- .
      podrun_staging= ;;
  esac
}

# On standard error, a last line "podrun" says that it failed.
podrun_find() { find "$@" || echo podrun >&2; }
# [PATH...]: lists each of these and its contents.
podrun_list() {
  if [ $podrun_format = gnu ]; then
    printf '%s .\0\0' "${podrun_self#* }"
    if podrun_has all; then podrun_find . -mindepth 1 -path "./.podrun.????????????????" -prune -o -printf "%y %m %s %T@ %p\0%l\0"
    elif [ $# != 0 ]; then podrun_find $podrun_through "$@" -printf "%y %m %s %T@ %p\0%l\0"; fi
  else
    stat -c "%f %s %Y %n//" .
    if podrun_has all; then set -- .; fi
    [ $# = 0 ] || podrun_find $podrun_through "$@" -path "./.podrun.????????????????" -prune -o -exec stat -c "%f %s %Y %n//" {} +
    echo "end//"
    [ $# = 0 ] || podrun_find $podrun_through "$@" -path "./.podrun.????????????????" -prune -o -type l -exec /bin/sh -c "$podrun_print_links" sh {} +
  fi
  printf 'end\0\0'
}
# shellcheck disable=SC2016  # it is expanded by the shell that find runs
podrun_print_links='for l; do t=$(readlink "$l"; echo .); printf "%s\0%s\0" "$l" "${t%??}"; done'
podrun_list_existing() {
  for podrun_each; do
    shift
    if [ -e "./$podrun_each" ] || [ -L "./$podrun_each" ]; then set -- "$@" "./$podrun_each"; fi
  done
  if [ $podrun_compression = none ]; then podrun_list "$@"
  else podrun_list "$@" | gzip -1 || [ $? = 2 ] || printf 'gzip: failed\npodrun\n' >&2; fi
}
# The list to standard output; why it is not complete to podrun_said. A file may vanish meanwhile. Other text on standard error counts only
# if a program failed: the dynamic linker warns there too.
podrun_say_list() {
  exec 3>&1
  podrun_said=$(exec 2>&1 && podrun_go_to_target && podrun_list_existing "$@" >&3) || podrun_fail "$podrun_said"
  exec 3>&-
  case $podrun_n$podrun_said$podrun_n in
    *"${podrun_n}podrun$podrun_n"*) podrun_check_list ;;
  esac
  echo listed
}
podrun_check_list() {
  podrun_reasons=$(printf '%s\n' "$podrun_said" | grep -E "^(find|stat|gzip): ")
  podrun_said=$(printf '%s\n' "$podrun_reasons" | grep -v "No such file or directory")
  if [ -z "$podrun_reasons" ] || [ "$podrun_said" ]; then podrun_fail "$(podrun_last_line "${podrun_said#find: }")"; fi
}

# INDEX LINK: prints the answer of "links" for it. In a subshell.
podrun_resolve() {
  podrun_go_to_target
  if ! [ -d "./$2" ]; then echo 0 && return; fi
  podrun_base=${PWD%/}/
  podrun_mounted=$(podrun_mount .)
  podrun_hint="leave out --keep-dir-links"
  podrun_target=$2
  podrun_rest=$2
  podrun_walk
  [ -z "$podrun_rest" ] || podrun_fail "$2: vanished meanwhile"
  case $podrun_word in
    delete)
      case ${PWD%/}/ in "$podrun_base"*) podrun_fail "$2: leads into the destination, where --delete may delete ($podrun_hint)" ;; esac
      case $podrun_base in "${PWD%/}"/*) podrun_fail "$2: leads above the destination, where --delete may delete ($podrun_hint)" ;; esac ;;
  esac
  podrun_find_place
  printf %s "$podrun_here" >"$podrun_directory/podrun.link.$1" || podrun_fail "$podrun_directory: cannot be written"
  if [ "$podrun_mounted" = "$(podrun_mount .)" ]; then echo 1; else echo 2; fi
}
# [INDEX LINK...]
podrun_keep_links() {
  podrun_answer=links
  podrun_left=$#
  while [ $podrun_left -gt 0 ]; do
    podrun_said=$(podrun_resolve "$1" "$2" 2>/dev/null) || podrun_fail "${podrun_said#error }"
    podrun_answer="$podrun_answer $podrun_said"
    if [ "$podrun_said" != 0 ]; then set -- "$@" "$2"; fi
    shift 2
    podrun_left=$((podrun_left - 2))
  done
  printf '%s\n' "$podrun_answer" "$podrun_header"
  podrun_flags=${podrun_flags% all}
  podrun_through=-H
  podrun_say_list "$@"
}

# DIRECTORY...: must be writable, or be made so. podrun.check calls it.
podrun_need_writable() {
  for podrun_each; do
    if [ -w "$podrun_each" ]; then continue; fi
    if [ -O "$podrun_each" ] && touch -c -r "$podrun_each" -- "$podrun_each" 2>/dev/null; then continue; fi
    echo "$podrun_each: cannot be written"
    exit 1
  done
}
# Extracts into a private directory. Without root busybox tar sets no modes: then open(2) and mkdir(2) set them.
podrun_extract() { umask 0 && tar -xpf - && cat >/dev/null; }
# BYTES: chooses by size. openssl takes 9 ms to start, in which sha256sum has read 4 MB.
podrun_choose_digest() {
  podrun_short=$podrun_digest
  if [ "$podrun_digest" = b2sum ] || ! command -v sha256sum >/dev/null; then return; fi
  podrun_short=sha256sum
  if [ $1 -lt 4000000 ] || ! openssl dgst -sha256 -r </dev/null >/dev/null; then podrun_digest=sha256sum; fi
}
# Print the files of 16 MiB and more, and the others, in the order of their paths, each with a NUL.
podrun_find_large() { find . -type f -perm -400 -size +16777215c "$@" -print0 | sort -z; }
podrun_find_small() { find . -type f -perm -400 ! -size +16777215c -print0 | sort -z; }
# While tar extracts: the digests of large files that seem to be complete, while they are still in memory, with the sizes that they had
# before. tar sets a file's time at its end. A digest counts if the file still has its size.
# shellcheck disable=SC2016  # it is expanded by the shell that xargs runs
podrun_sum_early='d=$1 w=$2 p=$3; shift 3; for f; do if ! [ -e "$w" ]; then exit; fi; [ -e "$d/$f" ] || { mkdir -p -- "$d/${f%/*}" && n=$(stat -c %s "$f") && { $p <"$f"; echo "$n"; } >"$d/$f"; }; done'
podrun_sum_while_extracting() {
  cd -P new || return
  while [ -e "$podrun_directory/podrun.extracting" ]; do
    podrun_find_large ! -newer "$podrun_directory/podrun.push" |
      xargs -0 -r /bin/sh -c "$podrun_sum_early" sh ../sums "$podrun_directory/podrun.extracting" "$podrun_digest"
    sleep 0.5 || sleep 1
  done
}
# BYTES: the digest of the digests of all files that can be read. (A program may print an escaped path, with a backslash before the
# digest.)
# shellcheck disable=SC2016
podrun_sum_late='d=$1 p=$2; shift 2; for f; do { read -r s _ && read -r n && [ "$n" = "$(stat -c %s "$f")" ]; } 2>/dev/null <"$d/$f" || s=$($p <"$f"); echo "${s%% *}"; done'
podrun_sum_files() {
  cd -P new && {
    [ $1 -lt 16777216 ] || podrun_find_large | xargs -0 -r /bin/sh -c "$podrun_sum_late" sh ../sums "$podrun_digest"
    podrun_find_small | xargs -0 -r $podrun_digest
  } | sed -n 's/^\\\{0,1\}\([0-9a-f]\{64,\}\).*/\1/p' | $podrun_short
}
# BYTES directly|spread
podrun_stage() {
  podrun_choose_digest $1 2>/dev/null
  podrun_early=
  if [ $1 -ge 268435456 ] && true >"$podrun_directory/podrun.extracting"; then
    podrun_sum_while_extracting >/dev/null 2>&1 &
    podrun_early=$!
  fi
  exec 4>&1
  if [ "$2" = spread ]; then podrun_said=$(podrun_relay | podrun_extract 2>&1 4>&-)
  else podrun_said=$(podrun_extract 2>&1 4>&-); fi
  podrun_status=$?
  exec 4>&-
  if [ "$podrun_early" ]; then
    rm -f -- "$podrun_directory/podrun.extracting"
    wait $podrun_early
  fi
  [ $podrun_status = 0 ] || podrun_fail "$(podrun_last_line "$podrun_said")"
  podrun_sum=$(podrun_sum_files $1 2>"$podrun_directory/podrun.errors")
  podrun_said=
  if [ -s "$podrun_directory/podrun.errors" ]; then podrun_said=" $(podrun_last_line "$(cat "$podrun_directory/podrun.errors")")"; fi
  podrun_sum=${podrun_sum%% *}$podrun_said
  [ -e "$podrun_directory/podrun.switch" ] || podrun_fail "the archive is not complete"
  [ "$podrun_directory/staging" -ef . ] || podrun_fail "the staging directory was renamed or replaced"
  # shellcheck source=/dev/null
  podrun_said=$(podrun_go_to_target && . "$podrun_directory/podrun.check") || podrun_fail "$podrun_said"
  podrun_leave 0 "staged $podrun_sum"
}

echo $$ >"$podrun_directory/podrun.push"
podrun_is_name=
if podrun_has file; then podrun_split_name; fi
podrun_enter 2>/dev/null
if [ "$podrun_is_name" ]; then podrun_kind="$podrun_kind-name"; fi
podrun_digest=sha256sum
if grep -qw sha_ni /proc/cpuinfo 2>/dev/null && command -v openssl >/dev/null; then podrun_digest="openssl dgst -sha256 -r"
elif b2sum </dev/null >/dev/null 2>&1; then podrun_digest=b2sum; fi
podrun_format=gnu
if ! podrun_self=$(find . -maxdepth 0 -printf "%i %y %m %s %T@" 2>/dev/null); then
  podrun_format=stat
  podrun_self=$(ls -id .)
fi
podrun_has look || podrun_make_staging 2>/dev/null
podrun_compression=none
if command -v gzip >/dev/null 2>&1; then podrun_compression=gzip; fi
for podrun_tool in tar find sort xargs sed ${podrun_digest%% *}; do
  command -v $podrun_tool >/dev/null 2>&1 || podrun_fail "no \"$podrun_tool\" in \$PATH there"
done
podrun_header="target $podrun_kind ${podrun_digest%% *} $podrun_format $podrun_compression ${podrun_self%% *} $(stat -f -c '%b*%f*%S' . 2>/dev/null)"
echo "$podrun_header"
case $podrun_kind in
  missing*)
    set --
    podrun_flags=${podrun_flags% all} ;;
esac
podrun_say_list "$@"

while read -r podrun_word podrun_bytes podrun_way podrun_others || podrun_word= && [ "$podrun_word" = links ]; do
  podrun_word=$podrun_bytes
  eval "podrun_keep_links $podrun_way $podrun_others"
done
case $podrun_word in
  stage)
    for podrun_each in $podrun_others; do
      podrun_is_staging "$podrun_each" || continue
      podrun_remove_staging
      : >"$podrun_directory/podrun.switch"
      podrun_leave 0 "shared $podrun_each"
    done
    [ -z "$podrun_others" ] || echo alone
    podrun_stage $podrun_bytes $podrun_way ;;
  nothing)
    podrun_remove_staging
    : >"$podrun_directory/podrun.switch"
    podrun_leave 0 "staged -" ;;
  *)
    podrun_remove_staging
    podrun_leave 0 ;;
esac
