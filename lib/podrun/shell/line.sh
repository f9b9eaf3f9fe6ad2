# Runs one line of `podrun shell` as the command of a run, inside the supervisor's shell, which it ends with the line's status.
# Words: none
# Variables of line_state.cpp: podrun_kept podrun_plain podrun_typed podrun_inside podrun_id podrun_l
# Variables of main.sh: podrun_dir
# Variables of shell_quote.hpp: podrun_n
# Variables of the host: SHELL
#
# podrun_kept is sh text that brings back the directory and the variables that earlier lines have left. A shell of its own runs
# podrun_inside, the text of inside.sh, which evaluates the line podrun_typed and stores the state at its end; podrun_plain is sh text that
# shows the variables that are not exported, by env(1), since arguments of a process are no place for values. This shell prints the state
# for podrun, on lines with podrun_id. podrun_l is -l for a login shell. No argument of a process has the typed line, so that it can name
# itself, as in `pkill -f`.
#
# shellcheck disable=SC2016,SC2086  # the shell inside expands it; podrun_l is an option or nothing

case ${SHELL##*/} in
  bash | zsh | dash | ash | ksh* | mksh | sh) podrun_shell=$SHELL ;;
  *) podrun_shell=$(command -v bash || command -v sh) ;;
esac
podrun_file=$podrun_dir/podrun.shell
podrun_env=$(command -v env)
export podrun_inside podrun_kept podrun_plain podrun_typed

# An interrupt ends the shell inside, not the report.
trap : INT QUIT TERM
"$podrun_shell" $podrun_l -c 'eval "$podrun_inside"' "${podrun_shell##*/}" "$podrun_file" "$podrun_env" "$podrun_shell" "$podrun_n"
podrun_status=$?

# Short lines, each by one write, as other processes may print too. By echo, which is part of every shell: podrun_id must not become an
# argument of a process, which everybody on the host can see.
if [ -s "$podrun_file" ]; then
  base64 -w 3000 <"$podrun_file" | while IFS= read -r podrun_part; do echo "~podrun1 $podrun_id $podrun_part"; done
  echo "~podrun1 $podrun_id ."
fi
exit $podrun_status
