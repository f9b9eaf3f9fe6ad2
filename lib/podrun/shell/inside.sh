# Evaluates a line of `podrun shell` in the user's shell: bash, zsh, dash, ksh or busybox sh.
# Started by line.sh.
# Words: FILE ENV SHELL NEWLINE
# Variables of line_state.cpp: podrun_kept podrun_plain podrun_typed
#
# At the end of the line the FILE has the directory, the previous directory, the environment, the word "plain", perhaps the environment
# after podrun_plain, and the word "end", each ended by NUL. ENV is the path of env(1), since the line may change PATH. env fails where too
# much is exported for any process: then "end" is missing.
#
# A line may be several, such as a loop or a paste. eval would run those before a syntax error, so SHELL, which is this shell, parses all
# of them first.
#
# shellcheck disable=SC2016,SC2034  # eval expands it, and uses podrun_shell

podrun_file=$1
podrun_env=$2
podrun_shell=$3
podrun_newline=$4
shift 4
podrun_line=$podrun_typed
podrun_names=$podrun_plain
podrun_save() {
  {
    printf '%s\0' "$PWD" "${OLDPWD-}"
    "$podrun_env" -0 && printf 'plain\0' && { eval "$podrun_names" || :; } && printf 'end\0'
  } >|"$podrun_file"
}
eval "$podrun_kept"
unset podrun_inside podrun_kept podrun_plain podrun_typed
trap podrun_save EXIT
trap 'exit 130' INT
trap 'exit 131' QUIT
trap 'exit 143' TERM
case $podrun_line in
  *"$podrun_newline"*) eval '"$podrun_shell" -n <<END'"$podrun_newline"'$podrun_line'"${podrun_newline}END" || exit 2 ;;
esac
eval "$podrun_line"
