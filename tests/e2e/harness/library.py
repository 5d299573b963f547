# SPDX-License-Identifier: Apache-2.0
"""A shared library with as many symbols as one likes, whose first function spins for a while."""

import array
import platform
import struct

TEXT_OFFSET = 0x1000
# mov $1000000, %ecx; dec %ecx; jnz -2; ret
SPIN = b"\xb9\x40\x42\x0f\x00\xff\xc9\x75\xfc\xc3"
FUNCTION_BYTES = 16
STT_FUNC_GLOBAL = 0x12


def can_run():
    return platform.machine() == "x86_64"


def _symbols(count, name_bytes):
    """.symtab and .strtab: function_00000000, function_00000001 and so on, padded with x."""
    symbols = array.array("Q", bytes(24 * (count + 1)))
    info = 1 << 48 | STT_FUNC_GLOBAL << 32  # section 1
    step = name_bytes + 1
    symbols[3::3] = array.array("Q", range(info + 1, info + 1 + step * count, step))
    symbols[4::3] = array.array("Q", range(TEXT_OFFSET, TEXT_OFFSET + FUNCTION_BYTES * count,
                                           FUNCTION_BYTES))
    symbols[5::3] = array.array("Q", [FUNCTION_BYTES]) * count
    padding = "x" * (name_bytes - 17)
    names = "\0" + "".join([f"function_{i:08}{padding}\0" for i in range(count)])
    return symbols.tobytes(), names.encode()


def write(path, count=1, name_bytes=17, total_bytes=0):
    """Returns how many bytes are to be mapped at TEXT_OFFSET. total_bytes: at least, with a hole."""
    symtab, strtab = _symbols(count, name_bytes)
    section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    text_bytes = max(FUNCTION_BYTES * count, total_bytes - len(symtab) - len(strtab))
    symtab_at = (TEXT_OFFSET + text_bytes + 0xfff) & ~0xfff
    strtab_at = symtab_at + len(symtab)
    names_at = strtab_at + len(strtab)
    sections_at = (names_at + len(section_names) + 7) & ~7
    sections = b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in (
        (0,) * 10,
        (1, 1, 6, TEXT_OFFSET, TEXT_OFFSET, text_bytes, 0, 0, 16, 0),
        (7, 2, 0, 0, symtab_at, len(symtab), 3, 1, 8, 24),
        (15, 3, 0, 0, strtab_at, len(strtab), 0, 0, 1, 0),
        (23, 3, 0, 0, names_at, len(section_names), 0, 0, 1, 0)))
    with open(path, "wb") as out:
        out.write(b"\x7fELF\x02\x01\x01" + bytes(9))
        out.write(struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 1, 64, 5, 4))
        out.write(struct.pack("<IIQQQQQQ", 1, 5, TEXT_OFFSET, TEXT_OFFSET, TEXT_OFFSET, text_bytes,
                              text_bytes, 0x1000))
        out.seek(TEXT_OFFSET)
        out.write(SPIN)
        out.seek(symtab_at)
        out.write(symtab + strtab + section_names)
        out.seek(sections_at)
        out.write(sections)
    return 4096
