# Copies its standard input to a file or FIFO on the host. Follows helper.sh.
# Words: PATH
#
# tee opens the FIFO itself, and so carries the mark while it waits there.
podrun_path=$1
exec tee -- "$podrun_path" >/dev/null
