# Lists the processes of a host for its page of podrun top. Follows helper.sh.
# Words: none
#
# Prints "uptime SECONDS TICKS PAGE": clock ticks of a second and bytes of a page; then lines "/proc/PID/stat:TEXT" (without threads of
# the kernel; old kernels print a line end in a name as it is), lines of ls that name the owners, and "end". A host with very many processes lists only a part of them.
exec 2>/dev/null
IFS=" " read -r podrun_up _ </proc/uptime
printf '%s\n' "uptime $podrun_up $(getconf CLK_TCK || echo 100) $(getconf PAGE_SIZE || echo 4096)"
grep -HvE "[)] [A-Z] [02] 0 0 [-0-9 ]*$" /proc/[0-9]*/stat | head -c 163840
echo
# shellcheck disable=SC2012  # names of processes are numbers
ls -ld /proc/[0-9]* | head -c 81920
printf '\n%s\n' end
