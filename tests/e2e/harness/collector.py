# SPDX-License-Identifier: Apache-2.0
"""fgcollect as a user runs it."""

import json
import pathlib

from . import folded, processes, settings


class Place:
    """A directory of a test's own with a socket directory and one for maps."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.run, self.maps = self.directory / "run", self.directory / "maps"
        for path in (self.run, self.maps):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)

    @property
    def socket(self):
        return self.run / "agent.sock"

    @property
    def control(self):
        """The daemon's own socket, in a directory that no container is given."""
        return self.directory / "run-control" / self.socket.name

    def options(self):
        return ["--socket", self.socket, "--map-dir", self.maps]

    def map_file(self, pid):
        return self.maps / f"perf-{pid}.map"


def fgcollect(*args, timeout=None, env=None, prefix=(), **options):
    return processes.run([*prefix, settings.COLLECTOR, *args], timeout=timeout, env=env, **options)


class Recording:
    def __init__(self, finished, path):
        self.finished = finished
        self.folded = folded.Folded.read(path)
        self.quality = folded.Quality(finished.text)

    def __str__(self):
        return f"{self.finished}\n{self.folded.top()}"


def record(place, *args, seconds=5, hz=99):
    """Records to folded stacks; raises if fgcollect fails."""
    out = place.directory / "recorded.folded"
    finished = fgcollect("record", "-d", seconds, "-F", hz, *args, "-o", out, *place.options(),
                         timeout=seconds + settings.DEADLINE_SEC)
    if finished.code != 0:
        raise AssertionError(str(finished))
    return Recording(finished, out)


def record_until(place, claim, *args, hz=99):
    """Records 1 s, 2 s, 4 s, ... until claim(recording) holds; returns that recording. A machine that
    is busy takes longer, and a claim that never holds ends by ctest's limit of time, or after a minute
    of recording."""
    seconds = 1
    while True:
        recording = record(place, *args, seconds=seconds, hz=hz)
        if claim(recording):
            return recording
        if seconds > 60:
            raise AssertionError(f"what was waited for is not recorded:\n{recording}")
        seconds *= 2


class Watch(processes.Background):
    """The daemon. started() waits until it listens; before, `list` would do so in its stead."""

    def __init__(self, place, *args, prefix=()):
        self.place = place
        number = len(list(place.directory.glob("watch*.log")))
        super().__init__([*prefix, settings.COLLECTOR, "--watch", *place.options(), *args],
                         place.directory / f"watch{number}.log")

    def started(self):
        def ready():
            return self.code is not None or "watching at" in self.text
        processes.wait_until(ready, lambda: f"the daemon listens; it says:\n{self.text}")
        if self.code is not None:
            raise AssertionError(f"the daemon ended with {self.code}:\n{self.text}")
        return self

    def list(self, *args):
        return fgcollect("list", "--socket", self.place.socket, *args)

    def list_json(self):
        finished = self.list("--json")
        if finished.code != 0:
            raise AssertionError(str(finished))
        return json.loads(finished.out)

    def jvm(self, pid):
        """What list --json says of the JVM with that host PID, or None."""
        rows = [row for row in self.list_json()["jvms"] if row["pid"] == pid]
        return rows[0] if rows else None

    def wait_for_jvm(self, pid, state="current"):
        """Waits until all code of that JVM is known."""
        def known():
            row = self.jvm(pid)
            return row if row and row["state"] == state else None
        return processes.wait_until(known, lambda: f"JVM {pid} is {state}:\n{self.list().text}",
                                    of=None if state == "ended" else pid)

    def read_map(self, pid):
        path = self.place.map_file(pid)
        return path.read_text(errors="replace") if path.exists() else ""

