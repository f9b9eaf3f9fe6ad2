# Lists what has the accelerators of a host open, for podrun kill: script_command() without arguments, of <processes.sh as_root.sh
# open_files.sh devices.sh lock_files.sh holders_of_host.sh this>. Changes nothing. Works in dash, bash and busybox sh; needs /proc.
podrun_tell
podrun_tell "podrun-kill $PODRUN_RUN_ID"
podrun_find_open
podrun_list_holders
podrun_tell end
