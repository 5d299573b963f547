# SPDX-License-Identifier: Apache-2.0
"""The example docs/examples/names.c that follows a JVM, and is asked for its map at any time."""

import subprocess

from . import processes, settings

NAMES = settings.BUILD / "tests" / "e2e" / "names_example"


def living(events, state, pid):
    """The map of all living code as the daemon's state has it now, a text."""
    return processes.run([NAMES, events, state, str(pid), "="], check=True).out


class Follower:
    def __init__(self, events, state, pid):
        self.child = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(NAMES), events, state, str(pid), "+"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=processes.environment())

    def map(self):
        """Its map once it has heard all that was said until now, a text as that of living()."""
        self.child.stdin.write("map\n")
        self.child.stdin.flush()
        lines = []
        while not lines or lines[-1] != "\n":
            line = self.child.stdout.readline()
            if not line:
                raise processes.Failed(f"the follower has ended with {self.child.wait()}")
            lines.append(line)
        return "".join(lines)

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()
