"""A FUSE file system that answers nothing once it is mounted: hanging_fuse.py DIRECTORY PID-FILE [TYPE]. A process that opens a file there waits
in the kernel, and not even KILL ends it (state D) until this one is gone. Needs root, or a user namespace."""

import ctypes
import os
import struct
import sys

ANSWER = struct.pack("<IIIIHHI", 7, 22, 4096, 0, 1, 1, 4096)  # fuse_init_out of version 7.22

directory, pid_file, *kind = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
if libc.mount(b"hanging", os.fsencode(directory), os.fsencode(kind[0] if kind else "fuse"), 0, options.encode()) != 0:
    sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
first = os.read(device, 1 << 17)
unique = struct.unpack_from("<Q", first, 8)[0]
os.write(device, struct.pack("<IiQ", 16 + len(ANSWER), 0, unique) + ANSWER)
with open(pid_file + ".new", "w", encoding="ascii") as file:
    file.write(str(os.getpid()))
os.rename(pid_file + ".new", pid_file)
while True:
    os.read(device, 1 << 17)
