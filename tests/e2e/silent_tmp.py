# SPDX-License-Identifier: Apache-2.0
"""Mounts a file system on /tmp that never answers: whoever looks for a file there waits until this
program ends. To be run in a mount namespace of its own.

Of FUSE's protocol only the first exchange is spoken, without which the kernel refuses at once.
"""

import ctypes
import os
import struct
import time

INIT = 26
IN_HEADER = struct.Struct("IIQQIIII")
OUT_HEADER = struct.Struct("IiQ")
INIT_OUT = struct.Struct("IIIIHHIIHHI7I")

libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"silent", b"/tmp", b"fuse", 0, options.encode()) != 0:
    raise SystemExit(f"mount: {os.strerror(ctypes.get_errno())}")
request = os.read(device, 65536)
_, opcode, unique, *_ = IN_HEADER.unpack_from(request)
assert opcode == INIT, opcode
major, minor = struct.unpack_from("II", request, IN_HEADER.size)
answer = INIT_OUT.pack(major, min(minor, 31), 4096, 0, 16, 12, 4096, 1, 0, 0, 0, *[0] * 7)
os.write(device, OUT_HEADER.pack(OUT_HEADER.size + len(answer), 0, unique) + answer)
print("ready", flush=True)
while True:
    time.sleep(60)
