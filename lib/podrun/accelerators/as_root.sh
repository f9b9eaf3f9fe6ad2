# Starts the script again as root where sudo(8) asks for no password: only root sees what the processes of other users have open.
# /bin/sh FILE ARGUMENT... becomes /bin/sh -s root UID USER RUN-ID MARK HOME ARGUMENT... with the file as its standard input. Sets
# podrun_uid and podrun_user to the user's own; the arguments are ARGUMENT... after this.
if [ "$1" = root ]; then
  podrun_uid=$2
  podrun_user=$3
  PODRUN_RUN_ID=$4
  PODRUN_MARK=$5
  HOME=$6
  export PODRUN_MARK
  shift 6
else
  podrun_uid=${SUDO_UID:-$(id -u)}
  podrun_user=${SUDO_USER:-$(id -un 2>/dev/null)}
  if [ "$(id -u)" != 0 ] && sudo -n /bin/sh -c : 2>/dev/null; then
    exec sudo -n /bin/sh -s root "$podrun_uid" "$podrun_user" "$PODRUN_RUN_ID" "$PODRUN_MARK" "$HOME" "$@" <"$0"
  fi
fi
