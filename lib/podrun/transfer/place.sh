# Finds the current directory of this shell.
# Words: none
#
# bash works out $PWD from names, which others can exchange meanwhile; other shells with a version may. dash and busybox
# sh ask the system, as pwd(1) does.

podrun_find_place() {
  podrun_here=$PWD
  if [ "$BASH_VERSION$KSH_VERSION$YASH_VERSION$ZSH_VERSION" ]; then
    podrun_here=$(env pwd -P && echo .)
    podrun_here=${podrun_here%??}
  fi
}
