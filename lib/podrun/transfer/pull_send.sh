# Sends files as tar archives, one after another. Follows helper.sh.
# Words: PLACE
# Variables of the host: HOME
#
# Standard input has their paths, each with a NUL at its end. They begin with "./" and count from the home directory or, if PLACE
# is "/", from there. Only GNU tar knows TAR_OPTIONS, and only GNU tar may have another format by default and takes \n for a newline.
TAR_OPTIONS="--format=gnu --no-recursion --no-unquote"
export TAR_OPTIONS
podrun_place=$1
case $podrun_place in /) cd / ;; *) cd -- "${HOME:-/}" ;; esac || exit
exec xargs -0 tar -cf - --
