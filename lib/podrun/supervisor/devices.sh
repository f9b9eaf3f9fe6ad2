# Accelerators as files, and the processes that have one open. Needs open_files.sh.

# PATH: true if it is an accelerator. A group of /dev/vfio is one if Google (0x1ae0) makes its devices.
podrun_is_accelerator() {
  case $1 in
    /dev/vfio/[0-9]*)
      set -- /sys/kernel/iommu_groups/"${1##*/}"/devices/*/vendor
      if [ -e "$1" ]; then grep -q 0x1ae0 "$@"; fi ;;
    /dev/vfio/*) return 1 ;;
  esac
}
# [-e PATTERN...]: sets podrun_open to "PID PATH" for each TPU that a process has open, and each other file whose line of ls -l matches
# a pattern.
podrun_open_accelerators() {
  podrun_open_files podrun_is_accelerator -e "^l[^/]* -> /dev/accel[0-9]" -e "^l[^/]* -> /dev/vfio/[0-9]" "$@"
}
# podrun_open_accelerators: adds the processes that have a GPU open. (One search of all processes, which takes a host the longest.)
podrun_open_gpus() { "$@" -e "^l[^/]* -> /dev/nvidia[0-9]" -e "^l[^/]* -> /dev/kfd$"; }
