"""Hosts that fail, stall, reboot and lose their connections under a training that checkpoints: what the soaks of restarts share."""

from contextlib import contextmanager

from homes import PodHomes
from pods import Pod
from restarts import LOCKED, Machines
from support import Podrun

HOSTS = 3
# Every host keeps its steps, and where it began: "start N", "step N", "checkpoint N". ~/fate says how a try ends.
TRAINING = (
    LOCKED
    + """
step=$(cat ~/checkpoint 2>/dev/null || echo 0)
echo "start $step" >>~/steps
while :; do
  sleep 0.1
  step=$((step + 1))
  echo "step $step" >>~/steps
  echo "step $step"
  if [ $((step % 5)) = 0 ]; then echo $step >~/checkpoint.new && mv ~/checkpoint.new ~/checkpoint && echo "checkpoint $step" >>~/steps; fi
  case $(cat ~/fate 2>/dev/null) in
    fail) rm ~/fate; exit 1 ;;
    kill) rm ~/fate; kill -9 $$ ;;
    stall) rm ~/fate; exec sleep 1000 ;;
  esac
done"""
)
FATES = ["fail", "fail", "stall", "kill", "reset", "lose"]


def befall(machines, what, rank):
    """One of FATES; a stall is one of all hosts."""
    if what == "reset":
        machines.reset(rank)
    elif what == "lose":
        machines.end_logins(rank)
    else:
        for each in range(HOSTS) if what == "stall" else [rank]:
            (machines.homes.home(each) / "fate").write_text(what)


@contextmanager
def isolated_machines(directory):
    pod = Pod(directory / "pod", "--isolated", "--hosts", str(HOSTS))
    try:
        (directory / "here").mkdir()
        podrun = Podrun(directory / "here")
        pod.move_in(podrun)
        machines = Machines(PodHomes(pod))
        yield podrun, machines
        machines.restore()
    finally:
        pod.down()
