# SPDX-License-Identifier: Apache-2.0
"""Files that a container has written, read without being led elsewhere or made to wait.

What runs in the container chooses what lies at a path: a link to a file of the host's, a pipe that
never ends. Only a regular file, at that very path, is read, and no more of it than asked for.
"""

import os
import stat

from . import Failed


def open_plain(path):
    """Opened for reading bytes; FileNotFoundError if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Failed(f"{path.name}, written by the container, cannot be read: "
                     f"{error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Failed(f"{path.name}, written by the container, is no regular file")
    return os.fdopen(descriptor, "rb")


def begin(path, most):
    """Its first bytes; none if there is no such file."""
    try:
        with open_plain(path) as file:
            return file.read(most)
    except FileNotFoundError:
        return b""


def copy(path, to, most):
    """Failed if there is none, or if it has more bytes than that."""
    try:
        with open_plain(path) as source, open(to, "wb") as out:
            left = most
            while left > 0 and (data := source.read(min(left, 1 << 20))):
                out.write(data)
                left -= len(data)
            if left <= 0:
                raise Failed(f"{path.name}, written by the container, has more than {most:,} bytes;"
                             " record for a shorter time, or give the load a rate")
    except FileNotFoundError:
        raise Failed(f"there is no {path.name}; the container did not write it") from None
