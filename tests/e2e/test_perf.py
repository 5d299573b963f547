# SPDX-License-Identifier: Apache-2.0
"""perf reads fgcollect's maps, and names as much with them as with the JVM's own maps."""

import pathlib

from harness import processes
from harness.case import Case
from harness.marks import counted


class PerfScript:
    """The samples of a process with frames in generated code, and how many have all such frames
    named."""

    def __init__(self, text, map_name):
        self.samples = self.named = 0
        for sample in text.split("\n\n"):
            frames = [line for line in sample.splitlines() if map_name in line]
            if frames:
                self.samples += 1
                self.named += not any("[unknown]" in line for line in frames)

    def __repr__(self):
        return f"{self.named} of {self.samples} JIT samples named"


@counted
class Perf(Case):
    def test_perf_names_with_our_map_as_many_as_with_the_jvms(self):
        jvm = self.container("Mixed", env={"FGAGENT_OPTS": "framepointer=auto"})
        jvm.wait_for_line("ready")
        pid = jvm.pid
        # perf looks in /tmp alone.
        ours = pathlib.Path(f"/tmp/perf-{pid}.map")
        self.addCleanup(ours.unlink, missing_ok=True)
        self.place.maps = ours.parent
        daemon = self.watch()
        processes.wait_until(lambda: "Mixed$" in daemon.read_map(pid), "Mixed in our map")

        data = self.directory / "perf.data"
        processes.run(["perf", "record", "-q", "-g", "-F", "199", "-a", "-o", data, "--", "sleep",
                       "2.5"], check=True)
        theirs = jvm.jcmd_map()
        with_ours = self.script(data, pid)
        daemon.stop()
        ours.write_text(theirs)
        with_theirs = self.script(data, pid)

        print(f"our map: {with_ours}; the JVM's own: {with_theirs}")
        self.assertGreater(with_ours.samples, 100)
        self.assertEqual(with_ours.samples, with_theirs.samples)
        self.assertGreaterEqual(with_ours.named, with_theirs.named)

    def script(self, data, pid):
        finished = processes.run(["perf", "script", "-f", "-i", data, "--pid", pid,
                                  "-F", "comm,pid,tid,time,event,ip,sym,dso"], check=True)
        return PerfScript(finished.out, f"perf-{pid}.map")
