# The kinds of accelerators, which of their files a host has, and which processes have one open. Needs processes.sh and open_files.sh.

# FUNCTION: calls it with NAME FILES VENDOR UNITS for each kind; a new kind is a line here. FILES: what a process opens. VENDOR: the PCI
# vendor who makes the devices of a file, where files of that name may be others' (linux, pci_ids.h). UNITS: the files of single devices,
# where all devices of a host are opened by one file. accelerators.hpp has names for some.
podrun_each_kind() {
  "$1" TPU "/dev/accel[0-9]*"
  "$1" TPU "/dev/vfio/[0-9]*" 0x1ae0
  "$1" NVIDIA "/dev/nvidia[0-9]*"
  "$1" AMD /dev/kfd 0x1002 "/dev/dri/renderD[0-9]*"
}

# PATH: true if it is a file of an accelerator. Sets podrun_kind to the name of its kind.
podrun_is_accelerator() {
  podrun_kind=
  podrun_device=$1
  podrun_each_kind podrun_match_kind
  [ "$podrun_kind" ]
}
# shellcheck disable=SC2254  # a pattern
podrun_match_kind() {
  case $podrun_device in $2) if podrun_is_made_by "$3" "$podrun_device"; then podrun_kind=$1; fi ;; esac
}
# VENDOR PATH: false if the device of the file, or the devices of its group, are another's; true where that cannot be told.
podrun_is_made_by() {
  case $2 in
    /dev/vfio/*) set -- "$1" /sys/kernel/iommu_groups/"${2##*/}"/devices/*/vendor ;;
    /dev/dri/*) set -- "$1" /sys/class/drm/"${2##*/}"/device/vendor ;;
    *) return 0 ;;
  esac
  if [ -e "$2" ]; then
    podrun_vendor=$1
    shift
    grep -qs "$podrun_vendor" "$@"
  fi
}

# Sets podrun_devices to words "KIND PATH", one pair for each accelerator of the host.
podrun_find_devices() {
  podrun_devices=
  podrun_each_kind podrun_add_devices
}
# shellcheck disable=SC2086  # patterns
podrun_add_devices() {
  podrun_found=
  podrun_units=
  if [ -e "$2" ]; then podrun_add_files "$1" "$3" $4; fi
  if [ -z "$podrun_units" ]; then podrun_add_files "$1" "$3" $2; fi
  podrun_devices="$podrun_devices$podrun_found"
}
# KIND VENDOR FILE...
podrun_add_files() {
  podrun_its_kind=$1
  podrun_maker=$2
  shift 2
  for podrun_device; do
    [ -e "$podrun_device" ] || continue
    podrun_units=1
    if podrun_is_made_by "$podrun_maker" "$podrun_device"; then podrun_found="$podrun_found $podrun_its_kind $podrun_device"; fi
  done
}

# KIND [-e PATTERN...]: sets podrun_open to "PID PATH" for each accelerator of that kind ("any": of all) that a process has open, and each
# other file whose line of ls -l matches a pattern.
podrun_open_devices() {
  podrun_wanted=$1
  shift
  podrun_patterns=
  podrun_each_kind podrun_add_pattern
  podrun_open_files podrun_is_wanted -e "$podrun_patterns" "$@"
}
podrun_add_pattern() {
  case $podrun_wanted in any | "$1") podrun_patterns="$podrun_patterns${podrun_patterns:+$podrun_n}^l[^/]* -> ${2%[*]}" ;; esac
}
podrun_is_wanted() {
  case $1 in /dev/*) podrun_is_accelerator "$1" ;; esac
}

# LINES of ls -l: true if one is a link to an accelerator.
podrun_shows_accelerator() {
  podrun_kind=
  podrun_shown=$1
  podrun_each_kind podrun_match_link
  [ "$podrun_kind" ]
}
# shellcheck disable=SC2254  # a pattern
podrun_match_link() {
  case $podrun_shown in *" -> "${2%[*]}*) podrun_kind=$1 ;; esac
}
