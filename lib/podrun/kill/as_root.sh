# Starts the script again as root where sudo(8) asks for no password: only root sees what the processes of other users have open.
# Its words are then root UID RUN-ID MARK HOME VICTIMS WORD..., where each WORD is one of its own. Sets podrun_is_root if it is root,
# podrun_su to nothing, podrun_uid to the uid of the user, podrun_victims to $PODRUN_VICTIMS, and the parameters to WORD.... See
# script_command(). Needs processes.sh.
#
# shellcheck disable=SC2034  # others read variables
podrun_clean_environment
podrun_su=
podrun_is_root=
if [ "$1" = root ]; then
  podrun_is_root=1
  podrun_uid=$2
  PODRUN_RUN_ID=$3
  PODRUN_MARK=$4
  HOME=$5
  podrun_victims=$6
  export PODRUN_MARK
  shift 6
else
  podrun_victims=$PODRUN_VICTIMS
  unset PODRUN_VICTIMS
  podrun_read_user $$
  if [ "$podrun_user" = 0 ]; then podrun_is_root=1; fi
  podrun_uid=${SUDO_UID:-$podrun_user}
  if [ -z "$podrun_is_root" ] && sudo -n /bin/sh -c : 2>/dev/null; then
    printf '%s\n' "$podrun_script" |
      sudo -n /bin/sh -s root "$podrun_uid" "$PODRUN_RUN_ID" "$PODRUN_MARK" "$HOME" "$podrun_victims" "$@"
    exit
  fi
fi
