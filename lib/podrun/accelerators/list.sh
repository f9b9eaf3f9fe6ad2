# Lists what has the accelerators of a host open, for podrun kill: /bin/sh FILE, of <as_root.sh processes.sh open_files.sh
# devices.sh holders_of_host.sh this>. Changes nothing. Works in dash, bash and busybox sh; needs /proc.
podrun_tell
podrun_tell "podrun-kill $PODRUN_RUN_ID"
podrun_list_holders
podrun_tell end
