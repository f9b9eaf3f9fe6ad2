# Serves the files of this host that other hosts get in a push. Follows helper.sh. Needs load_relay.sh.
# Words: DIRECTORY
# Variables of the host: HOME
#
# DIRECTORY is the directory of the run, which gets an empty switch. Paths count from the home directory. Input and output: load_relay.sh,
# with relay_files.py.

podrun_directory=$1
cd -- "${HOME:-/}" || exit
: >"$podrun_directory/podrun.switch"
exec 4>&1 >/dev/null
podrun_relay
