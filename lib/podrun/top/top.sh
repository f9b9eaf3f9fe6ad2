# Samples a host for podrun top, and changes nothing there. Follows helper.sh. Needs processes.sh, memory.sh, open_files.sh, device_kinds.sh
# and device_holders.sh.
# Words: [GPU] SECONDS
#
#   GPU      1: ask nvidia-smi
#   SECONDS  between two answers of nvidia-smi
#
# A tick is a line on standard input: LETTERS MOUNTS PIDS, where "-" stands for no letter, no index of a mount or no pid, and commas
# separate. Each gets one line of raw counters, "f WORD...", without a fork. Letters ask for more: s, counters that cost more to read; c, the
# clock; h, the holders of accelerators; g, nvidia-smi again, after it has ended. Clock, holders, MOUNTS and nvidia-smi are answered later, each
# by a process of its own with the uptime as the second word of its lines, so that one that hangs costs only its own figures. podrun asks for
# none again before it is answered. See frames.hpp.
#
# shellcheck disable=SC2013,SC2034,SC2086  # words of grep have no blanks; device_holders.sh reads variables; lists of files without blanks are to be split

podrun_gpu=$1
podrun_seconds=$2
renice 19 $$ >/dev/null 2>&1

podrun_read_uptime() { podrun_up=; IFS=" " read -r podrun_up podrun_idle 2>/dev/null </proc/uptime; }
# Sets podrun_nics, podrun_links and podrun_blocks to directories: network interfaces with a device (those on top of others would count twice; a
# container may have only these), InfiniBand ports, disks.
podrun_choose_counters() {
  podrun_nics=
  podrun_links=
  podrun_blocks=
  podrun_others=
  for podrun_each in /sys/class/net/*; do
    case $podrun_each in *" "* | */lo | "/sys/class/net/*") continue ;; esac
    if [ -e $podrun_each/device ]; then podrun_nics="$podrun_nics $podrun_each"; else podrun_others="$podrun_others $podrun_each"; fi
  done
  podrun_nics=${podrun_nics:-$podrun_others}
  for podrun_each in /sys/class/infiniband/*/ports/*; do
    case $podrun_each in *" "*) continue ;; esac
    if [ -e $podrun_each/counters/port_rcv_data ]; then podrun_links="$podrun_links $podrun_each"; fi
  done
  for podrun_each in /sys/block/*; do
    case $podrun_each in *" "* | */sr[0-9]* | */fd[0-9]*) continue ;; esac
    if [ -e $podrun_each/device ]; then podrun_blocks="$podrun_blocks $podrun_each"; fi
  done
  podrun_amd=
  for podrun_each in /sys/class/drm/card*/device; do
    if podrun_read_number $podrun_each/gpu_busy_percent; then podrun_amd="$podrun_amd $podrun_each"; fi
  done
}

# Says what does not change: "s WORD...", "m INDEX TYPE PATH" for each file system.
podrun_tell_host() {
  podrun_cores=0
  while read -r podrun_key podrun_each; do
    case $podrun_key in cpu) ;; cpu[0-9]*) podrun_cores=$((podrun_cores + 1)) ;; *) break ;; esac
  done 2>/dev/null </proc/stat
  podrun_line="s cores=$podrun_cores user=$podrun_uid"
  podrun_tpus=0
  podrun_cards=0
  podrun_find_devices
  for podrun_each in $podrun_devices; do
    case $podrun_each in TPU) podrun_tpus=$((podrun_tpus + 1)) ;; NVIDIA) podrun_cards=$((podrun_cards + 1)) ;; esac
  done
  podrun_line="$podrun_line tpus=$podrun_tpus nvidia=$podrun_cards"
  for podrun_each in /sys/bus/pci/devices/*; do
    podrun_vendor=
    read -r podrun_vendor <$podrun_each/vendor
    case $podrun_vendor in 0x1ae0 | 0x10de) ;; *) continue ;; esac
    podrun_id=
    podrun_class=
    read -r podrun_id <$podrun_each/device
    read -r podrun_class <$podrun_each/class
    case $podrun_vendor$podrun_class in
      0x1ae0*) podrun_line="$podrun_line tpu=$podrun_id" ;;
      0x10de0x03*) podrun_line="$podrun_line gpu=$podrun_id" ;;
    esac
  done 2>/dev/null
  printf '%s\n' "$podrun_line"
  for podrun_each in /proc/driver/nvidia/gpus/*/information; do
    while read -r podrun_key podrun_value; do
      case $podrun_key in Model:) printf 'n %s\n' "$podrun_value"; break 2 ;; esac
    done <$podrun_each
  done 2>/dev/null
}
# File systems with files of users; none is touched here, since one may hang. A device that is mounted again counts once.
podrun_tell_mounts() {
  podrun_count=0
  podrun_seen=" "
  while read -r podrun_source podrun_path podrun_type _; do
    case $podrun_path in *\\* | /etc/* | /snap/* | /var/lib/docker/* | /var/lib/kubelet/* | /boot* | /run/* | /proc/* | /sys/*) continue ;; esac
    case $podrun_type:$podrun_path in
      ext[234]:* | xfs:* | btrfs:* | zfs:* | f2fs:* | bcachefs:* | nfs:* | nfs4:* | cifs:* | smb3:* | lustre:* | gpfs:* | beegfs:* | ceph:* | 9p:*) ;;
      fuse.glusterfs:* | fuse.ceph*:* | fuse.juicefs:* | virtiofs:* | overlay:/ | tmpfs:/ | tmpfs:/tmp | tmpfs:/dev/shm) ;;
      *) continue ;;
    esac
    case $podrun_type:$podrun_path in tmpfs:* | overlay:*) podrun_source=$podrun_path ;; esac
    case $podrun_seen in *" $podrun_source "*) continue ;; esac
    podrun_seen="$podrun_seen$podrun_source "
    printf '%s\n' "m $podrun_count $podrun_type $podrun_path"
    eval "podrun_mount_$podrun_count=\$podrun_path"
    podrun_count=$((podrun_count + 1))
    if [ $podrun_count = 8 ]; then break; fi
  done 2>/dev/null </proc/mounts
}

podrun_add_memory() {
  while read -r podrun_key podrun_value podrun_each; do
    case $podrun_key in
      MemTotal:) podrun_line="$podrun_line M$podrun_value" ;;
      MemAvailable:) podrun_line="$podrun_line A$podrun_value" ;;
      SwapTotal:) podrun_line="$podrun_line S$podrun_value" ;;
      SwapFree:) podrun_line="$podrun_line F$podrun_value"; break ;;
    esac
  done 2>/dev/null </proc/meminfo
  set -- $podrun_limited
  podrun_pressure=/proc/pressure/memory
  if [ $# -gt 0 ]; then
    podrun_line="$podrun_line F"
    podrun_pressure=$2/memory.pressure
  fi
  while [ $# -gt 1 ]; do
    if podrun_read_limit $1 $2; then podrun_line="$podrun_line m$podrun_value"; fi
    shift 2
  done
  for podrun_each in /proc/pressure/cpu $podrun_pressure; do
    read -r _ podrun_key _ 2>/dev/null <$podrun_each || continue
    podrun_key=${podrun_key#avg10=}
    case $podrun_each in
      */cpu) podrun_line="$podrun_line pc$podrun_key" ;;
      *) podrun_line="$podrun_line pm$podrun_key" ;;
    esac
  done
}
podrun_add_traffic() {
  podrun_in=0
  podrun_out=0
  for podrun_each in $podrun_nics; do
    podrun_read_number $podrun_each/statistics/rx_bytes && podrun_in=$((podrun_in + podrun_value))
    podrun_read_number $podrun_each/statistics/tx_bytes && podrun_out=$((podrun_out + podrun_value))
  done
  for podrun_each in $podrun_links; do
    podrun_read_number $podrun_each/counters/port_rcv_data && podrun_in=$((podrun_in + 4 * podrun_value))
    podrun_read_number $podrun_each/counters/port_xmit_data && podrun_out=$((podrun_out + 4 * podrun_value))
  done
  if [ "$podrun_nics$podrun_links" ]; then podrun_line="$podrun_line n$podrun_in,$podrun_out"; fi
  podrun_in=0
  podrun_out=0
  for podrun_each in $podrun_blocks; do
    read -r _ _ podrun_key _ _ _ podrun_value _ <$podrun_each/stat || continue
    if ! podrun_is_number "$podrun_key" || ! podrun_is_number "$podrun_value"; then continue; fi
    podrun_in=$((podrun_in + podrun_key))
    podrun_out=$((podrun_out + podrun_value))
  done 2>/dev/null
  if [ "$podrun_blocks" ]; then podrun_line="$podrun_line d$podrun_in,$podrun_out"; fi
}
# For each AMD GPU: "aBUSY,USED,TOTAL,MICROWATTS,MILLIDEGREES", where what cannot be read is empty.
podrun_add_amd() {
  for podrun_each in $podrun_amd; do
    podrun_rest=
    for podrun_file in gpu_busy_percent mem_info_vram_used mem_info_vram_total hwmon/hwmon*/power1_average hwmon/hwmon*/temp1_input; do
      podrun_read_number $podrun_each/$podrun_file
      podrun_rest="$podrun_rest,$podrun_value"
    done
    podrun_line="$podrun_line a${podrun_rest#,}"
  done
}
podrun_add_stat() {
  podrun_value=
  read -r _ podrun_value 2>/dev/null </proc/stat
  set -- $podrun_value 0 0 0 0 0 0 0 0
  podrun_line="$podrun_line c$1,$2,$3,$4,$5,$6,$7,$8"
  while read -r podrun_key podrun_value; do
    case $podrun_key in oom_kill) podrun_line="$podrun_line o$podrun_value"; break ;; esac
  done 2>/dev/null <$podrun_kills
  podrun_count=0
  for podrun_each in $podrun_links; do
    podrun_count=$((podrun_count + 1))
    if [ $podrun_count -gt 32 ]; then break; fi
    podrun_key=
    podrun_value=
    read -r podrun_key <$podrun_each/state
    read -r podrun_value _ <$podrun_each/rate
    podrun_file=${podrun_each#/sys/class/infiniband/}
    podrun_line="$podrun_line L${podrun_file%%/*},${podrun_key##* },$podrun_value"
  done 2>/dev/null
  podrun_count=0
  for podrun_each in $podrun_nics; do
    podrun_count=$((podrun_count + 1))
    if [ $podrun_count -gt 32 ]; then break; fi
    podrun_key=
    podrun_value=
    read -r podrun_key <$podrun_each/operstate
    podrun_read_number $podrun_each/speed
    podrun_line="$podrun_line N${podrun_each##*/},$podrun_key,$podrun_value"
  done 2>/dev/null
}
# PIDS with commas: adds those that have ended.
podrun_add_gone() {
  IFS=,
  for podrun_each in $1; do
    case $podrun_each in "" | *[!0-9]*) ;; *) [ -e /proc/$podrun_each ] || podrun_line="$podrun_line x$podrun_each" ;; esac
  done
  IFS=$podrun_ifs
}
# LETTERS PIDS
podrun_answer() {
  podrun_read_uptime
  podrun_line="f ${podrun_up:+u$podrun_up i$podrun_idle}"
  podrun_value=
  read -r podrun_value _ 2>/dev/null </proc/loadavg && podrun_line="$podrun_line l$podrun_value"
  podrun_add_memory
  podrun_add_traffic
  podrun_add_amd
  case $1 in *s*) podrun_add_stat ;; esac
  podrun_add_gone "$2"
  printf '%s\n' "$podrun_line"
}

# INDEX: prints "d UPTIME INDEX rw|ro LINE", with the last line of df.
podrun_tell_mount() {
  IFS=$podrun_ifs
  case $1 in [0-7]) ;; *) return ;; esac
  podrun_mount=
  eval "podrun_mount=\$podrun_mount_$1"
  podrun_key=-
  while read -r _ podrun_path _ podrun_value _; do
    if [ "$podrun_path" = "$podrun_mount" ]; then podrun_key=${podrun_value%%,*}; fi
  done 2>/dev/null </proc/mounts
  podrun_lines=$(df -Pk -- "$podrun_mount" 2>/dev/null)
  podrun_read_uptime
  printf '%s\n' "d $podrun_up $1 $podrun_key ${podrun_lines##*"$podrun_n"}"
}
podrun_tell_clock() {
  podrun_value=$(date +%s.%N)
  podrun_read_uptime
  printf '%s\n' "c $podrun_up $podrun_value"
}
# "t UPTIME PORT...": the ports from 8431 to 8447 on which a process listens (state 0A). libtpu has its metrics service there,
# TPU_RUNTIME_METRICS_PORTS.
podrun_tell_ports() {
  podrun_line=
  for podrun_each in $(grep -hosE ":20(EF|F[0-9A-F]) [0-9A-F]+:0000 0A" /proc/net/tcp /proc/net/tcp6); do
    case $podrun_each in :20??) ;; *) continue ;; esac
    podrun_value=$((0x${podrun_each#:}))
    case $podrun_line in *" $podrun_value"*) ;; *) podrun_line="$podrun_line $podrun_value" ;; esac
  done
  printf '%s\n' "t $podrun_up$podrun_line"
}
# Lines "h UPTIME KEY VALUE", see device_holders.sh, after "h UPTIME begin".
podrun_tell() { printf '%s\n' "h $podrun_up $*"; }
podrun_tell_holders() {
  podrun_read_uptime
  if [ $podrun_tpus -gt 0 ]; then podrun_tell_ports; fi
  printf '%s\n' "h $podrun_up begin"
  podrun_open_devices any
  podrun_list_holders
  podrun_tell_marks
  podrun_tell end
}
# One nvidia-smi that repeats itself: a new one would take up to seconds of the driver each time. "g UPTIME" when it starts; lines
# "g UPTIME ROW", with the rows of all GPUs in turn, or what it complains about. A driver before 535 has other names for the last fields.
podrun_watch_gpus() {
  podrun_read_uptime
  printf '%s\n' "g $podrun_up"
  podrun_fields=index,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu,clocks.sm,clocks.max.sm,ecc.errors.uncorrected.volatile.total
  for podrun_each in clocks_event_reasons.active clocks_throttle_reasons.active; do
    nvidia-smi --query-gpu=$podrun_fields,$podrun_each --format=csv,noheader,nounits -l $podrun_seconds 2>&1 | {
      while IFS= read -r podrun_line; do
        case $podrun_line in *" is not a valid field to query"*) exit 3 ;; esac
        podrun_read_uptime
        printf 'g %s %.300s\n' "$podrun_up" "$podrun_line" || exit 1
      done
    }
    [ $? = 3 ] || break
  done
  podrun_read_uptime
  printf '%s\n' "g $podrun_up has ended"
}
# Kills what this script has started and what hangs, such as nvidia-smi. Other programs of podrun with the same mark may run on.
podrun_stop_own() {
  podrun_mark=$PODRUN_MARK
  podrun_find_marked
  for podrun_pid in $podrun_pids; do
    podrun_up=$podrun_pid
    while [ $podrun_up -gt 1 ] && podrun_read_stat $podrun_up; do
      podrun_up=$podrun_its_parent
      if [ $podrun_up = $$ ]; then kill -s KILL $podrun_pid; break; fi
    done
  done
}

podrun_su=
podrun_is_root=
podrun_read_user $$ 2>/dev/null
podrun_uid=$podrun_user
if [ "$podrun_uid" = 0 ]; then podrun_is_root=1; fi
podrun_choose_counters
podrun_find_limits
podrun_choose_kills $podrun_limited
podrun_tell_host
podrun_tell_mounts
if [ "$podrun_gpu" ] && [ $podrun_cards -gt 0 ]; then podrun_watch_gpus & fi
while read -r podrun_letters podrun_mounts podrun_pids; do
  podrun_answer "$podrun_letters" "$podrun_pids"
  case $podrun_letters in *c*) podrun_tell_clock & ;; esac
  case $podrun_letters in *g*) podrun_watch_gpus & ;; esac
  case $podrun_letters in *h*) podrun_tell_holders 2>/dev/null & ;; esac
  IFS=,
  for podrun_mount in $podrun_mounts; do podrun_tell_mount "$podrun_mount" & done
  IFS=$podrun_ifs
done
podrun_stop_own 2>/dev/null
