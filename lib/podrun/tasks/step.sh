# Stands in front of the text of `setup` or `run` of a task, in one file for bash.
# Words: none
# Variables of task.cpp: podrun_names
# Variables of command.cpp: PODRUN_RANK PODRUN_NUM_HOSTS PODRUN_HOSTLIST PODRUN_ADDRESSES
#
# Most .bashrc return at once in a shell that is not interactive. So an interactive bash reads it, and this one takes over the
# variables and functions. The interactive bash could not run the task itself: it ignores TERM, and after INT it goes on with the next
# line. podrun_names lists the variables that keep the task's values.
#
# shellcheck disable=SC1090,SC2016  # files of the host; bash -c expands it

podrun_state=$0.bashrc
bash -i -c 'unset -v PWD OLDPWD SHLVL $1; export -n SHELLOPTS BASHOPTS; unset -f command_not_found_handle; shopt -p extglob >&3; export -p >&3; declare -f >&3' bash "$podrun_names" 3>"$podrun_state" >/dev/null 2>&1 </dev/null
. "$podrun_state" 2>/dev/null
command rm -f -- "$podrun_state"

# conda may be in $PATH alone, and then cannot activate anything.
case $(type conda 2>/dev/null) in
  "conda is /"*)
    podrun_conda=$(conda info --base 2>/dev/null)/etc/profile.d/conda.sh
    if [ -r "$podrun_conda" ]; then . "$podrun_conda"; fi ;;
esac

SKYPILOT_NODE_RANK=$PODRUN_RANK
SKYPILOT_NODE_IPS=${PODRUN_ADDRESSES:-$PODRUN_HOSTLIST}
SKYPILOT_NUM_NODES=$PODRUN_NUM_HOSTS
SKYPILOT_NUM_GPUS_PER_NODE=${SKYPILOT_NUM_GPUS_PER_NODE:-$(nvidia-smi -L 2>/dev/null | command grep -c "^GPU ")}
SKYPILOT_SETUP_NODE_RANK=$SKYPILOT_NODE_RANK
SKYPILOT_SETUP_NODE_IPS=$SKYPILOT_NODE_IPS
SKYPILOT_SETUP_NUM_GPUS_PER_NODE=$SKYPILOT_NUM_GPUS_PER_NODE
PYTHONUNBUFFERED=${PYTHONUNBUFFERED:-1}
export SKYPILOT_NODE_RANK SKYPILOT_NODE_IPS SKYPILOT_NUM_NODES SKYPILOT_NUM_GPUS_PER_NODE
export SKYPILOT_SETUP_NODE_RANK SKYPILOT_SETUP_NODE_IPS SKYPILOT_SETUP_NUM_GPUS_PER_NODE PYTHONUNBUFFERED

command mkdir -p -- ~/sky_workdir || exit
CDPATH='' cd -- ~/sky_workdir >/dev/null || exit
unset podrun_names podrun_state podrun_conda
