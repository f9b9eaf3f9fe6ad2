# Lists the processes that have the accelerators of a host open, for podrun kill. Follows as_root.sh. Needs device_holders.sh.
# Words: none
# Variables of command.cpp: podrun_script PODRUN_RUN_ID
# Variables of kill_run.cpp: PODRUN_VICTIMS
# Variables of the host: HOME SUDO_UID
#
# Changes nothing. Works in dash, bash and busybox sh; needs /proc.
podrun_tell
podrun_tell "podrun-holders $PODRUN_RUN_ID"
podrun_open_devices any
podrun_list_holders
podrun_tell end
