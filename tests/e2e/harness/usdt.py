# SPDX-License-Identifier: Apache-2.0
"""The notes of a file's USDT probes, and tracers that open them, as the kernel lets root do."""

import ctypes
import os
import pathlib
import struct

PT_LOAD, PT_GNU_RELRO = 1, 0x6474e552
PF_X, PF_W = 1, 2
SHT_PROGBITS = 1


class Point:
    def __init__(self, name, pc, base, semaphore, args):
        self.name, self.pc, self.base, self.semaphore, self.args = name, pc, base, semaphore, args


class File:
    """An ELF file of 64 bits, little-endian: its segments, sections and USDT points by name."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        self.machine, = struct.unpack_from("<H", self.data, 18)
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phsize, phnum, shsize, shnum, names = struct.unpack_from("<5H", self.data, 54)
        self.segments = [Segment(*struct.unpack_from("<IIQQQQQ", self.data, phoff + i * phsize))
                         for i in range(phnum)]
        heads = [struct.unpack_from("<IIQQQQ", self.data, shoff + i * shsize) for i in range(shnum)]
        self.sections = {self._text(heads[names][4] + head[0]): Section(*head[1:])
                         for head in heads}
        self.points = {point.name: point for point in self._read_notes("fgagent")}

    def _text(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def _read_notes(self, provider):
        section = self.sections[".note.stapsdt"]
        at, end = section.offset, section.offset + section.size
        while at < end:
            owner_len, length, kind = struct.unpack_from("<III", self.data, at)
            owner = self._text(at + 12)
            at += 12 + (owner_len + 3) // 4 * 4
            texts = self.data[at + 24:at + length].decode().split("\0")
            if (owner, kind, texts[0]) == ("stapsdt", 3, provider):
                yield Point(texts[1], *struct.unpack_from("<QQQ", self.data, at), texts[2])
            at += (length + 3) // 4 * 4

    def segment_of(self, addr):
        """The segment that has that address in the file (not beyond its bytes there), or None."""
        return next((s for s in self.segments if s.kind == PT_LOAD
                     and s.addr <= addr < s.addr + s.file_size), None)

    def offset_of(self, addr):
        segment = self.segment_of(addr)
        return addr - segment.addr + segment.offset


class Segment:
    def __init__(self, kind, flags, offset, addr, _physical, file_size, size):
        self.kind, self.flags, self.offset, self.addr = kind, flags, offset, addr
        self.file_size, self.size = file_size, size


class Section:
    def __init__(self, kind, _flags, addr, offset, size):
        self.kind, self.addr, self.offset, self.size = kind, addr, offset, size


SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
PERF_FLAG_FD_CLOEXEC = 8
DISABLED = 1
UPROBE_TYPE = pathlib.Path("/sys/bus/event_source/devices/uprobe/type")
libc = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """struct perf_event_attr as of Linux 4.20, 112 bytes of it."""
    _fields_ = [("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("config", ctypes.c_uint64),
                ("sample_period", ctypes.c_uint64), ("sample_type", ctypes.c_uint64),
                ("read_format", ctypes.c_uint64), ("flags", ctypes.c_uint64),
                ("wakeup_events", ctypes.c_uint32), ("bp_type", ctypes.c_uint32),
                ("config1", ctypes.c_uint64), ("config2", ctypes.c_uint64),
                ("branch_sample_type", ctypes.c_uint64), ("sample_regs_user", ctypes.c_uint64),
                ("sample_stack_user", ctypes.c_uint32), ("clockid", ctypes.c_int32),
                ("sample_regs_intr", ctypes.c_uint64), ("aux_watermark", ctypes.c_uint32),
                ("sample_max_stack", ctypes.c_uint16), ("reserved", ctypes.c_uint16)]


def perf_event_open(attributes, pid, cpu):
    attributes.size = ctypes.sizeof(attributes)
    number = SYS_PERF_EVENT_OPEN[os.uname().machine]
    fd = libc.syscall(number, ctypes.byref(attributes), pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)
    if fd < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"perf_event_open: {os.strerror(error)}")
    return fd


class Tracer:
    """A uprobe at a point of a file: of one process and disabled, or of all on each CPU."""

    def __init__(self, path, name, pid=None):
        file = File(path)
        point = file.points[name]
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fd_path = ctypes.create_string_buffer(f"/proc/self/fd/{opened}".encode())
        places = [(pid, -1)] if pid else [(-1, cpu) for cpu in os.sched_getaffinity(0)]
        semaphore = file.offset_of(point.semaphore) if point.semaphore else 0
        self.fds = [perf_event_open(Attributes(
            type=int(UPROBE_TYPE.read_text()), config=semaphore << 32,
            config1=ctypes.addressof(fd_path), config2=file.offset_of(point.pc),
            flags=DISABLED if pid else 0), *place) for place in places]
        os.close(opened)

    def count(self):
        return sum(struct.unpack("<Q", os.read(fd, 8))[0] for fd in self.fds)

    def close(self):
        for fd in self.fds:
            os.close(fd)
        self.fds = []
