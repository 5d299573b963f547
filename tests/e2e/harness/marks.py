# SPDX-License-Identifier: Apache-2.0
"""What an end-to-end test depends on, in a line before its class or its method.

CMake reads these lines and makes labels of ctest of them; Python takes them for what they are, and
does nothing. A mark of a class is one of each of its methods. tests/README.md says which size of the
suite runs which labels.
"""


def plain(marked):
    """The programs alone: no JVM, no container, no sample. Nothing else that runs changes it."""
    return marked


def tour(marked):
    """A command of the README or a kind of profile, on a JVM that others of the class share; judged
    by what is there and by states that are waited for, never by a time, a rate or a share."""
    return marked


def shared(marked):
    """The tests of the class share what the class has started, and are one test of ctest's. A tour
    is that too."""
    return marked


def measured(marked):
    """The verdict is a time, a share or a rate that was measured: alone on the machine, and what is
    missed is measured anew twice."""
    return marked


def counted(marked):
    """Measured too, in figures of the test's own processes: shares of their samples, what they know of
    themselves, their processor time and memory. A neighbour makes a recording smaller and changes none
    of these, so as many run at once as there are processors."""
    return marked


def alone(marked):
    """The machine for itself: settings of the kernel, ports or names that all share, agents that any
    collector of the machine would dial, or time of which a busy machine leaves too little."""
    return marked
