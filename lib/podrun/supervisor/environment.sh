# Gives podrun's own programs on a host an environment of their own: variables of the user's shell steer shells, coreutils, grep, tar,
# git and ld.so. The command of the user never runs in a shell that has called it.
# Words: none
#
# shellcheck disable=SC2086  # the text is to be split into its lines

# [NAME...]: keeps these variables, the ones named below, and podrun's (_p?? after cmake/Scripts.cmake). Sets podrun_n to a newline and
# podrun_ifs to IFS. A line within a value may look like a name; then that variable is unset too, or kept. (bash does not unset two of its
# own variables, and imports functions.)
podrun_clean_environment() {
  set +aefuvxC
  podrun_kept=" $* "
  podrun_ifs=$IFS
  podrun_n=${IFS#??}
  podrun_exported=$(export -p)
  set -f
  IFS=$podrun_n
  for podrun_name in $podrun_exported; do
    case $podrun_name in "export "* | "declare -x "* | "typeset -x "*) ;; *) continue ;; esac
    podrun_name=${podrun_name%%=*}
    podrun_name=${podrun_name##* }
    case $podrun_name in
      "" | *[!A-Za-z0-9_]*) ;;
      PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | PWD | IFS | SSH_CONNECTION | SUDO_UID | PODRUN_* | podrun_* | _p??) ;;
      *) case ${BASH_VERSION:+" SHELLOPTS BASHOPTS"}$podrun_kept in *" $podrun_name "*) ;; *) unset -v $podrun_name ;; esac ;;
    esac
  done 2>/dev/null
  if [ "$BASH_VERSION" ]; then
    # shellcheck disable=SC3044  # of bash
    for podrun_name in $(declare -Fx); do unset -f "${podrun_name##* }"; done
    # shellcheck disable=SC3045  # of bash
    export -n SHELLOPTS BASHOPTS
  fi
  IFS=$podrun_ifs
  set +f
  LC_ALL=C
  export LC_ALL
}
