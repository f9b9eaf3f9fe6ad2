#!/bin/sh
# Python's subprocess reports exit status 0 for a child that failed, and check=True raises nothing, where something else in the process has
# waited for the child: a handler of SIGCHLD that reaps all children, as programs have that are the first process of a container.
#
# Popen.wait() gets ECHILD from waitpid(2) and takes 0 for the status that it cannot know; one would expect an error, or None. It is so
# wherever Python does not yet wait when the child ends: here it reads the output, which another process still has open.
#
# Seen with Debian 12's python3.11 3.11.2-6+deb12u8, and with CPython 3.8 and 3.13:
#   without a handler: returncode 3, check=True: CalledProcessError
#   with a handler:    returncode 0, check=True: nothing
set -eu

version=3.11.2-6+deb12u8
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
apt-get -qq -o APT::Sandbox::User=root download "python3.11-minimal=$version" "libpython3.11-minimal=$version"
for package in *.deb; do dpkg-deb --extract "$package" .; done

cat >case.py <<'END'
import os
import signal
import subprocess


def reap(number, frame):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def look():
    words = ["sh", "-c", "sleep 0.5 & exit 3"]
    status = subprocess.run(words, stdout=subprocess.PIPE).returncode
    try:
        subprocess.run(words, stdout=subprocess.PIPE, check=True)
        raised = "nothing"
    except subprocess.CalledProcessError as error:
        raised = type(error).__name__
    return "returncode %d, check=True: %s" % (status, raised)


print("without a handler:", look())
signal.signal(signal.SIGCHLD, reap)
print("with a handler:   ", look())
END
PYTHONHOME=$place/usr "$place/usr/bin/python3.11" -S case.py | tee said
diff said - <<'END'
without a handler: returncode 3, check=True: CalledProcessError
with a handler:    returncode 0, check=True: nothing
END
