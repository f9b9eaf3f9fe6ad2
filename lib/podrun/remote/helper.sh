# The beginning of a program that podrun starts beside a supervisor: set -- NONCE MARK ARGUMENT...; <this and the program, one line>
# It says hello first, since a shell that is sent its text on standard input may read ahead. What it starts carries the mark, and
# so ends with the run.
printf '\n%s\n' "podrun1 $1 ready - - - - "
umask 077
PODRUN_MARK=$2
export PODRUN_MARK
shift 2
podrun_clean_environment
