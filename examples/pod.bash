# Shared by the examples. When sourced, it installs the packages that building needs and builds podrun, unless $PODRUN_BIN names one.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [[ -n ${PODRUN_BIN-} ]]; then
  PATH=$(cd "$(dirname "$PODRUN_BIN")" && pwd):$PATH
else
  echo 'Installing packages and building (two or three minutes) …' >&2
  "$root"/.ci/packages --build
  log=$(mktemp)
  # With -O1 the build takes two thirds of the time.
  (cd "$root" && cmake --preset release -B build/examples -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' && cmake --build build/examples) \
    >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  rm "$log"
  PATH=$root/build/examples/apps/podrun:$PATH
fi

# Brings up a pod of $1 hosts, with more options of it behind that, gone again at the end: real OpenSSH servers on this machine's loopback. Leaves us in ~/llama of
# a $HOME whose key the hosts know, with their list in the file hosts.
bring_up_pod() {
  pod=$(mktemp -d -t pod.XXXX)
  trap '"$root"/tests/pod/pod down "$pod"; rm -rf "$pod"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  "$root"/tests/pod/pod up "$pod" --hosts "$@"
  export HOME=$pod/user PATH
  unset SSH_AUTH_SOCK
  mkdir -p ~/llama
  cd ~/llama
  cp "$pod/pod.txt" hosts
}

# A shell's command line, as if it were typed.
show() {
  echo
  echo "\$ $*"
  local status=0
  eval "$*" || status=$?
  [[ $status == 0 ]] || echo "(exit status $status)"
}
