# Sends files as tar archives, one after another. Follows helper.sh.
# Words: PLACE [PROGRAM]
# Variables of the host: HOME
#
# Standard input has their paths, each with a NUL at its end. They begin with "./" and count from the home directory or, if PLACE
# is "/", from there. Only GNU tar knows TAR_OPTIONS, and only GNU tar may have another format by default and takes \n for a newline.
#
# PROGRAM: where other users can exchange what the paths name, pull_send.py, which sends only files that are still those of the list; then
# DEVICE:INODE:OWNER and a space are before each path. tar cannot tell what it has opened. Without Python, it sends what has the names.
TAR_OPTIONS="--format=gnu --no-recursion --no-unquote"
export TAR_OPTIONS
podrun_place=$1
podrun_program=$2
case $podrun_place in /) cd / ;; *) cd -- "${HOME:-/}" ;; esac || exit
[ "$podrun_program" ] || exec xargs -0 tar -cf - --
if python3 -I -S -c "import tarfile" </dev/null >/dev/null 2>&1; then exec python3 -I -S -c "$podrun_program"; fi
# shellcheck disable=SC2016  # it is expanded by the shell that xargs runs
xargs -0 /bin/sh -c 'for each; do printf "%s\0" "${each#* }"; done' sh | xargs -0 tar -cf - --
