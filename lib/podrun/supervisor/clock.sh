# Time on a host.
#
# shellcheck disable=SC2034  # other fragments read podrun_now

# Sets podrun_now, in hundredths of a second, by the monotonic clock. Fails without /proc.
podrun_read_clock() { IFS=" " read -r podrun_now _ </proc/uptime && podrun_now=${podrun_now%.*}${podrun_now#*.}; }
# HUNDREDTHS of a second, fewer than 100. Some sleep programs know only seconds.
podrun_sleep() { sleep 0.$(($1 / 10))$(($1 % 10)) || sleep 1; }
