# SPDX-License-Identifier: Apache-2.0
"""What docs/examples uses of pynng, over Debian's libnng, by ctypes.

For tests that ask no registry of packages: a directory of its own, which PYTHONPATH names in pynng's
place. A socket lasts as long as its process, because libnng 1.5 does not always close one.
"""

import ctypes

NONBLOCK = 2                            # libnng dials until it is connected
TIMED_OUT = 5
LARGEST = 1 << 17                       # no message of the daemon is longer


class NNGException(Exception):
    pass


class Timeout(NNGException):
    pass


class _Id(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32)]


def _load():
    library = ctypes.CDLL("libnng.so.1")
    library.nng_socket_set.argtypes = [_Id, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.nng_socket_set_int.argtypes = [_Id, ctypes.c_char_p, ctypes.c_int]
    library.nng_socket_set_ms.argtypes = [_Id, ctypes.c_char_p, ctypes.c_int32]
    library.nng_dial.argtypes = [_Id, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
    library.nng_recv.argtypes = [_Id, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), ctypes.c_int]
    return library


class Sub0:
    """A SUB socket. Blocking calls have the names of pynng's; there are no others."""

    def __init__(self, *, dial=None, block_on_dial=None, recv_timeout=None, recv_buffer_size=None):
        self._nng, self._id = _load(), _Id()
        self._buffer = ctypes.create_string_buffer(LARGEST)
        self._check(self._nng.nng_sub0_open(ctypes.byref(self._id)))
        if recv_buffer_size is not None:
            self._check(self._nng.nng_socket_set_int(self._id, b"recv-buffer", recv_buffer_size))
        if recv_timeout is not None:
            self._check(self._nng.nng_socket_set_ms(self._id, b"recv-timeout", recv_timeout))
        if dial is not None:
            self._dial(dial, block_on_dial)

    def _dial(self, url, block):
        """As pynng does: if block is None, a first attempt that fails is followed by others."""
        for flags in {True: [0], False: [NONBLOCK]}.get(block, [0, NONBLOCK]):
            err = self._nng.nng_dial(self._id, url.encode(), None, flags)
            if err == 0:
                return
        self._check(err)

    @staticmethod
    def _check(err):
        if err == TIMED_OUT:
            raise Timeout
        if err:
            raise NNGException(f"libnng: {err}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """The socket ends with the process."""

    def subscribe(self, topic):
        name = topic.encode() if isinstance(topic, str) else topic
        self._check(self._nng.nng_socket_set(self._id, b"sub:subscribe", name, len(name)))

    def recv(self):
        size = ctypes.c_size_t(LARGEST)
        self._check(self._nng.nng_recv(self._id, self._buffer, ctypes.byref(size), 0))
        return self._buffer.raw[:size.value]
