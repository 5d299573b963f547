# SPDX-License-Identifier: Apache-2.0
"""usage: silent_files.py DIRECTORY [FILE COUNT]

Mounts a file system on DIRECTORY that does not answer. With FILE it has that file COUNT times, as
file0, file1 and so on, and answers until SIGUSR1; from then on no file can be read further. Without
FILE it does not even say which files there are. Whoever asks waits until this program ends.
"""

import ctypes
import os
import pathlib
import signal
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, INIT, BATCH_FORGET = 1, 2, 3, 14, 15, 26, 42
ROOT = 1
ENOENT, ENOSYS = 2, 38
IN_HEADER = struct.Struct("IIQQIIII")
OUT_HEADER = struct.Struct("IiQ")
INIT_OUT = struct.Struct("IIIIHHIIHHI7I")
ATTR = struct.Struct("QQQQQQIIIIIIIIII")
KEEP_CACHE = 2
LONG = 3600     # seconds that the kernel may believe what it was told


class Files:
    def __init__(self, directory, path=None, count=0):
        self.bytes = pathlib.Path(path).read_bytes() if path else b""
        self.count, self.is_silent = int(count), path is None
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"silent", os.fsencode(directory), b"fuse", 0, options.encode()) != 0:
            raise SystemExit(f"mount: {os.strerror(ctypes.get_errno())}")

    def attributes(self, node):
        is_file = node != ROOT
        mode = stat.S_IFREG | 0o755 if is_file else stat.S_IFDIR | 0o755
        return ATTR.pack(node, len(self.bytes) if is_file else 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0,
                         0, 4096, 0)

    def look_up(self, name):
        names = [f"file{i}" for i in range(self.count)]
        if name not in names:
            return -ENOENT, b""
        node = names.index(name) + 2
        return 0, struct.pack("QQQQII", node, 0, LONG, LONG, 0, 0) + self.attributes(node)

    def answer(self, opcode, node, body):
        """The error, and the bytes of the answer; None: there is to be no answer."""
        if opcode == INIT:
            major, minor = struct.unpack_from("II", body)
            return 0, INIT_OUT.pack(major, min(minor, 31), 0, 0, 16, 12, 4096, 1, 0, 0, 0, *[0] * 7)
        if opcode in (FORGET, BATCH_FORGET) or self.is_silent and opcode in (LOOKUP, READ):
            return None
        if opcode == LOOKUP:
            return self.look_up(body.rstrip(b"\0").decode())
        if opcode == GETATTR:
            return 0, struct.pack("QII", LONG, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            return 0, struct.pack("QII", 0, KEEP_CACHE, 0)
        if opcode == READ:
            _, offset, size = struct.unpack_from("QQI", body)
            return 0, self.bytes[offset:offset + size]
        return -ENOSYS, b""

    def serve(self):
        while True:
            request = os.read(self.device, 1 << 17)
            _, opcode, unique, node, *_ = IN_HEADER.unpack_from(request)
            answer = self.answer(opcode, node, request[IN_HEADER.size:])
            if answer:
                error, body = answer
                os.write(self.device,
                         OUT_HEADER.pack(OUT_HEADER.size + len(body), error, unique) + body)
            if opcode == INIT:
                print("ready", flush=True)

    def fall_silent(self, *_):
        self.is_silent = True
        print("silent", flush=True)


files = Files(*sys.argv[1:])
signal.signal(signal.SIGUSR1, files.fall_silent)
files.serve()
