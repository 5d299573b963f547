# SPDX-License-Identifier: Apache-2.0
"""A machine of its own, to install packages on: see machine-boot for what it is made of."""

import os
import pathlib
import signal

from . import processes


def children_of(pid):
    out = processes.run(["ps", "-o", "pid=", "--ppid", pid]).out
    return [int(word) for word in out.split()]


class Machine:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory) / "machine"
        self.directory.mkdir()
        boot = pathlib.Path(__file__).with_name("machine-boot")
        self.outside = processes.Background(
            ["unshare", "--mount", boot, self.directory, self.directory.parent.name],
            pathlib.Path(directory) / "machine.log")
        self.pid = None
        try:
            self.pid = processes.wait_until(self._first_process, self._trouble)
            processes.wait_until(self._is_up, self._trouble)
        except BaseException:
            self.stop()
            raise

    def _trouble(self):
        return f"systemd is up:\n{self.outside.text}"

    def _first_process(self):
        """systemd: the child of unshare, which is the child of machine-boot."""
        if self.outside.code is not None:
            raise processes.Failed(self._trouble())
        for child in children_of(self.outside.pid):
            for pid in children_of(child):
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "systemd\n":
                    return pid
        return None

    def _is_up(self):
        return self.run("systemctl", "is-system-running").out.strip() == "running"

    @property
    def log(self):
        return self.outside.text

    @property
    def root(self):
        return pathlib.Path(f"/proc/{self.pid}/root")

    def enter(self, *args):
        """The command line that runs args there."""
        return ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--cgroup", "--ipc", "--uts",
                "--root", "--wd", *args]

    def run(self, *args, check=False, **options):
        return processes.run(self.enter(*args), check=check, **options)

    def written(self):
        """What differs from the machine that it is made of: files and links, below /, not /tmp or /run."""
        upper = pathlib.Path(f"/proc/{self.outside.pid}/root{self.directory}/upper")
        return {str(path.relative_to(upper)) for path in upper.rglob("*")
                if path.is_symlink() or not path.is_dir()}

    def stop(self):
        """All of its processes end with its first one."""
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            self.outside.wait(20)
        except processes.Failed:
            self.outside.stop(signal.SIGKILL)
