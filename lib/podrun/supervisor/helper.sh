# The beginning of a program that podrun starts beside a supervisor. NONCE and MARK come before the program's own words, which its head
# lists. It says hello first, since a shell that gets its text on standard input may read ahead. The processes that it starts carry
# the mark, and so end with the run.
printf '\n%s\n' "podrun1 $1 ready - - - - "
umask 077
PODRUN_MARK=$2
export PODRUN_MARK
shift 2
podrun_clean_environment
