# SPDX-License-Identifier: Apache-2.0
"""Socket filters that are loaded, kept busy and unloaded, one after the other, for so many seconds.

Each has a name of its own, fgtest_0 to fgtest_9. Ends with 77 where there is no such right.
"""

import ctypes
import os
import platform
import socket
import struct
import sys
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_LOAD, SOCKET_FILTER, SO_ATTACH_BPF = 5, 1, 50

libc = ctypes.CDLL(None, use_errno=True)


def instruction(code, dst=0, imm=0):
    return struct.pack("<BBhi", code, dst, 0, imm)


# r0 = 1; add and multiply it; return 65535: accepted.
PROGRAM = (instruction(0xb7, imm=1) +
           b"".join(instruction(0x07 if i % 2 else 0x27, imm=7 * i + 3) for i in range(3900)) +
           instruction(0xb7, imm=65535) + instruction(0x95))


def load(name):
    code = ctypes.create_string_buffer(PROGRAM, len(PROGRAM))
    licence = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("<IIQQIIQII16s", SOCKET_FILTER, len(PROGRAM) // 8, ctypes.addressof(code),
                       ctypes.addressof(licence), 0, 0, 0, 0, 0, name).ljust(128, b"\0")
    fd = libc.syscall(SYS_BPF, PROG_LOAD, ctypes.create_string_buffer(attr, len(attr)), len(attr))
    if fd < 0:
        print("bpf:", os.strerror(ctypes.get_errno()), flush=True)
        sys.exit(77)
    return fd


end = time.time() + float(sys.argv[1])
turn = 0
while time.time() < end:
    fd = load(b"fgtest_%d" % (turn % 10))
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    right.setsockopt(socket.SOL_SOCKET, SO_ATTACH_BPF, fd)
    os.close(fd)
    if turn == 0:
        print("ready", flush=True)
    turn += 1
    until = time.time() + 0.3
    while time.time() < until:
        for _ in range(100):
            left.send(b"x")
            right.recv(1)
    left.close()
    right.close()
