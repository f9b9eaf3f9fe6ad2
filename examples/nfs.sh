#!/bin/sh
# Mounts an NFS share on every host:
#   podrun -s @nfs -- 10.164.0.2:/nfs_share /nfs_share
# Prints nothing where all is well. Does nothing where the share is mounted, so run it again after hosts rebooted.
set -u

fail() {
  echo "nfs.sh: $*" >&2
  exit 1
}

if [ $# != 2 ]; then
  echo 'nfs.sh: two arguments are needed (podrun -s nfs.sh -- SERVER:/PATH DIR)' >&2
  exit 2
fi
share=${1%/} dir=${2%/}
server=${share%%:/*} path=${share#*:}
PATH=$PATH:/usr/sbin:/sbin  # a command over SSH may have no sbin
as_root=
[ "$(id -u)" = 0 ] || as_root='sudo -n'

# Read, and not tested by looking into the directory, which hangs while the server does not answer.
mounted=
shown=$(printf '%s\n' "$dir" | sed 's/ /\\040/g')
while read -r source target _; do
  [ "$target" != "$shown" ] || mounted=$source  # the last mount on a directory hides the others
done </proc/self/mounts
case $mounted in
  "$share" | "$share/") exit 0 ;;
  ?*) fail "$mounted is mounted on $dir (take another directory, or: sudo umount $dir)" ;;
esac

# The server has the files already, at another path at most.
case " ${PODRUN_HOST-} $(hostname -I 2>/dev/null) " in
  *" $server "*)
    [ "$path" = "$dir" ] && exit 0
    $as_root mkdir -p "$dir" && exec $as_root mount --bind "$path" "$dir"
    exit 1 ;;
esac

# Unattended-upgrades hold apt's lock for minutes on a new VM; its package lists may be old or missing.
apt_get() {
  $as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -qq -y -o DPkg::Lock::Timeout=600 "$@" >/dev/null 2>&1 </dev/null
}
if ! command -v mount.nfs >/dev/null; then
  apt_get install nfs-common || { apt_get update && apt_get install nfs-common; } ||
    fail 'nfs-common cannot be installed (podrun -s @install -- nfs-common shows why)'
fi

# retry=0: without it, mount tries again for two minutes after a failure.
$as_root mkdir -p "$dir" && exec $as_root mount -t nfs -o retry=0 "$share" "$dir"
