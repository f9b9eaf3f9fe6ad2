#!/bin/sh
# Installs Debian or Ubuntu packages on every host:
#   podrun -s @install -- nfs-common python3-venv
# Prints nothing where all is well, else the last lines of apt-get. Waits up to 10 minutes for another apt.
set -u

if [ $# = 0 ]; then
  echo 'install.sh: no packages (podrun -s install.sh -- NAME...)' >&2
  exit 2
fi
as_root=
[ "$(id -u)" = 0 ] || as_root='sudo -n'

# sudo drops variables, so env sets them after it. Unattended-upgrades hold the lock for minutes on a new VM. needrestart could
# restart services under a running job.
apt_get() {
  said=$($as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -qq -y -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" 2>&1 </dev/null)
}

# DPkg::Lock::Timeout does not cover the lock of the package lists, which a new VM also holds for a while.
update() {
  tries=120
  until apt_get update; do
    case $said in *'Could not get lock'*) ;; *) return 1 ;; esac
    [ $((tries -= 1)) -gt 0 ] || return
    sleep 5
  done
}

# A new VM may have old package lists or none.
apt_get install "$@" || { update && apt_get install "$@"; } || {
  printf '%s\n' "$said" | tail -n 5 >&2
  exit 1
}
