# Looks at a host for podrun check, and changes nothing there. Needs processes.sh, memory.sh, open_files.sh and device_kinds.sh.
# Words: PYTHON [DIRECTORY]
# Answers: podrun-check
#   looking_at text
#   time text
#   memory_total kib
#   memory_available kib
#   memory_limit* memory_limits text
#   device* devices kind:word path:text
#   sees_own flag
#   own_user text
#   held* holders device:word pid:pid user:word kind:word job:word command:text
#   live_job* live_jobs text
#   pci* pci text
#   gpu* gpu_lines text
#   gpus_to_see number
#   disk* df_lines role:word line:text
#   hangs* hangs text
#   read_only* read_only text
#   values{} kernel open_files processes locked_memory python python_path python_error jax jaxlib libtpu torch
#   values{} commit branch changes git_error gpu_error
# Variables of command.cpp: PODRUN_RUN_ID
# Variables of the host: HOME SUDO_USER
#
# held: an accelerator that a process has open, or the file of all of a kind; job: - for none. live_job: its supervisor runs. pci: ids of Google's devices, also those in a
# vfio group. gpus_to_see: NVIDIA's devices that this user may open, once nvidia-smi has ended. changes: the number of changed files, and a
# digest of the changes. hangs, read_only: directories.
#
# Steps that may hang (a lost file system, a driver) come last. Each says first what it is looking at, and has a time limit if timeout(1)
# exists. Contains no single quotes and no backslashes. Works in dash, bash and busybox sh; without /proc it reports less.
podrun_clean_environment LD_LIBRARY_PATH PYTHONHOME PYTHONPATH PYTHONUSERBASE PYENV_ROOT PYENV_VERSION VIRTUAL_ENV XDG_CONFIG_HOME
GIT_OPTIONAL_LOCKS=0
export GIT_OPTIONAL_LOCKS
python=$1
directory=$2
say() { printf %s "$*$podrun_n"; }
say "${podrun_n}podrun-check $PODRUN_RUN_ID"
say time "$(date +%s.%N)"
say kernel "$(uname -r -m)"

if timeout 1 true 2>/dev/null; then within() { timeout "$@"; }; else within() { shift; "$@"; }; fi
why() { case $1 in 124 | 137 | 143) echo takes longer than 20 s ;; *) echo "ends with status $1" ;; esac; }
in_home() { case ${HOME:+h}$1 in "h~") say "$HOME" ;; "h~/"*) say "$HOME/${1#"~/"}" ;; *) say "$1" ;; esac; }

# (The ulimit of dash knows neither -u nor the unit of the others.)
while read -r a b c d rest; do
  case "$a $b $c" in
    "Max open files") say open_files "$d" ;;
    "Max locked memory") say locked_memory "$d" ;;
    "Max processes "*) say processes "$c" ;;
  esac
done 2>/dev/null </proc/self/limits
while read -r name size _; do
  case $name in MemTotal:) say memory_total "$size" ;; MemAvailable:) say memory_available "$size" ;; esac
done 2>/dev/null </proc/meminfo
podrun_find_limits
# shellcheck disable=SC2086  # directories without blanks
set -- $podrun_limited
while [ $# -gt 1 ]; do
  if podrun_read_limit "$1" "$2"; then say memory_limit "$podrun_value"; fi
  shift 2
done

podrun_find_devices
# shellcheck disable=SC2086  # pairs of words
set -- $podrun_devices
while [ $# -gt 1 ]; do
  say device "$1 $2"
  shift 2
done
# The PCI id tells the kind of TPU; all devices of Google are listed, network cards too.
case $podrun_devices in *TPU*)
  for vendor in /sys/bus/pci/devices/*/vendor; do
    read -r id <"$vendor" && [ "$id" = 0x1ae0 ] && read -r id <"${vendor%vendor}device" && say pci "$id"
  done 2>/dev/null ;;
esac
# Lists the processes that have an accelerator open, once for each device. Only root sees the processes of other users.
if [ "$podrun_devices" ]; then
  if [ "$(id -u)" != 0 ]; then say sees_own; fi
  say own_user "${SUDO_USER:-$(id -un 2>/dev/null || id -u)}"
  podrun_su=
  # PID: true if a supervisor of jobs is above it.
  is_supervised() {
    up=$1
    while [ "$up" -gt 1 ]; do
      if grep -zqsx supervise "/proc/$up/cmdline"; then return; fi
      podrun_read_stat "$up" || return
      up=$podrun_its_parent
    done
    return 1
  }
  # "PID DEVICE"
  say_held() {
    device=${1#* }
    [ -e "$device" ] && podrun_is_accelerator "$device" || return
    # Its own list counts: a file name in the list of another process could contain lines that look like it.
    # shellcheck disable=SC2010  # one link, as ls shows it
    podrun_read_stat "${1%% *}" && ls -l "$podrun_proc/fd" | grep -q " -> $device$" || return
    IFS= read -r name <"/proc/${1%% *}/comm" || return
    # shellcheck disable=SC2046  # the third word is the owner
    set -- "${1%% *}" $(ls -ld "/proc/${1%% *}")
    podrun_find_job_of "$1"
    say held "$device $1 $4 $podrun_kind ${podrun_its_job:--} $name"
    if [ "$podrun_its_job" ] && is_supervised "$1"; then say live_job "$podrun_its_job"; fi
  }
  podrun_open_devices any
  podrun_each_line say_held "$podrun_open" 2>/dev/null
fi

# ROLE DIRECTORY: the last line of df, and whether the directory is writable.
disk() {
  say looking_at "the file system of $2"
  lines=$(within 5 df -Pk -- "$2" 2>/dev/null)
  case $? in
    0) say disk "$1 ${lines##*"$podrun_n"}"; if [ "$1" != root ] && ! [ -w "$2" ]; then say read_only "$2"; fi ;;
    124 | 137 | 143) say hangs "$2" ;;
  esac
}
disk root /
disk tmp /tmp
if [ "$HOME" ]; then disk home "$HOME"; fi

# A batch system may let this user open some of the GPUs only; nvidia-smi lists these.
case $podrun_devices in *NVIDIA*)
  say looking_at nvidia-smi
  if command -v nvidia-smi >/dev/null; then
    lines=$(within 20 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null) || say gpu_error "$(why $?)"
    say_gpu() { say gpu "$1"; }
    podrun_each_line say_gpu "$lines"
    count=0
    for device in /dev/nvidia[0-9]*; do if [ -r "$device" ]; then count=$((count + 1)); fi; done
    say gpus_to_see $count
  fi ;;
esac

# The versions of packages stand in their metadata; nothing of them is imported.
python=$(in_home "$python")
say looking_at "$python"
path=$(command -v -- "$python")
if [ "$path" ]; then
  say python_path "$path"
  # Not as a here-document: some shells write that to a file in $TMPDIR.
  within 20 "$python" -c 'import sys
sys.path = [path for path in sys.path if path]
print("python", sys.version.split()[0])
try:
    from importlib import metadata
except ImportError:
    sys.exit()
for name in ("jax", "jaxlib", "libtpu-nightly", "libtpu", "torch"):
    try:
        print(name.split("-")[0], metadata.version(name))
    except Exception:
        pass' 2>/dev/null || say python_error "$(why $?)"
fi

if [ "$directory" ]; then
  directory=$(in_home "$directory")
  say looking_at "git in $directory"
  ask_git() { within 20 git "$@"; }
  # Equal changes have equal bytes, whatever the git of a host is configured to do and however large the repository is.
  # (An old git ignores a -c that it does not know.)
  list_changes() {
    ask_git -c core.quotePath=true -c status.renames=false -c diff.renames=false status --porcelain -unormal
  }
  show_changes() {
    set -- -c core.quotePath=true -c diff.noprefix=false -c diff.mnemonicPrefix=false -c diff.relative=false
    set -- "$@" -c diff.indentHeuristic=true -c diff.interHunkContext=0 -c diff.suppressBlankEmpty=false
    ask_git "$@" diff --full-index --no-color --no-ext-diff --no-textconv --no-renames --diff-algorithm=myers -U3 HEAD
  }
  if ! CDPATH="" cd -- "$directory" 2>/dev/null; then say git_error no such directory
  elif ! command -v git >/dev/null; then say git_error git is not installed
  elif ! commit=$(ask_git rev-parse -q --verify HEAD 2>/dev/null); then
    reason=$(ask_git rev-parse --verify HEAD 2>&1) || reason=${reason:-"$(why $?)"}
    reason=${reason#*fatal: }
    say git_error "${reason%%"$podrun_n"*}"
  elif ! changes=$(list_changes 2>/dev/null); then say git_error git status fails, or takes longer than 20 s
  else
    say commit "$commit"
    say branch "$(ask_git symbolic-ref -q --short HEAD)"
    if [ "$changes" ]; then
      hash=$({ { say "$changes"; show_changes || echo failed >&3; } | git hash-object --stdin; } 3>&1 2>/dev/null)
      case $hash in
        "" | *failed*) say git_error git diff fails, or takes longer than 20 s ;;
        *) say changes "$(say "$changes" | grep -c .) $hash" ;;
      esac
    else say changes 0; fi
  fi
fi
say end
