# SPDX-License-Identifier: Apache-2.0
"""Who started what, so that the next test ends what a test has left that was killed.

A test that ctest kills at its limit of time ends nothing of its own. Its containers would run until
the engine stops, and take the processors from all tests until then. So containers have a label, and
processes a variable, that names the process of the test that started them.
"""

import os
import pathlib
import signal

from . import processes

LABEL = "fgcollect.e2e.owner"
VARIABLE = "FG_E2E_OWNER"


def started(pid):
    """When a process began, in ticks since the machine did; None: there is none, or it has ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def own_name():
    """The name of this process, by which no later process of the same PID is called."""
    return f"{os.getpid()}.{started(os.getpid())}"


def label():
    """docker run's options for a container of this process."""
    return ("--label", f"{LABEL}={own_name()}")


def has_ended(name):
    pid, _, began = name.partition(".")
    return started(pid) != began


def end_containers(engine):
    """Removes containers whose test has ended. Returns their IDs."""
    rows = engine.docker("ps", "-a", "--no-trunc", "--filter", f"label={LABEL}", "--format",
                         '{{.ID}} {{.Label "' + LABEL + '"}}').out.splitlines()
    left = [identity for identity, name in map(str.split, rows) if has_ended(name)]
    if left:
        engine.docker("rm", "-f", *left, check=False)   # another test may be at it
    return left


def variable_of(pid):
    """What that process has in the variable, or None."""
    try:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((word.partition(b"=")[2].decode() for word in variables
                 if word.startswith(f"{VARIABLE}=".encode())), None)


def end_processes(token):
    """Kills processes of the run with that token whose test has ended. Returns their PIDs."""
    left = []
    for pid in processes.marked_processes(token):
        name, began = variable_of(pid), started(pid)
        if name and began and has_ended(name) and started(pid) == began:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            left.append(pid)
    return left


def begin(engine):
    """Before this process starts anything: what others have left is ended, which is told."""
    if os.environ.get(VARIABLE) == own_name():
        return
    os.environ[VARIABLE] = own_name()
    for what, left in (("container", end_containers(engine)),
                       ("process", end_processes(engine.state["token"]))):
        for name in left:
            print(f"left by a test that was killed, and ended now: {what} {name}")
