# SPDX-License-Identifier: Apache-2.0
"""Processes without a JVM: other runtimes, named by their own perf maps, and the kernel."""

import os
import pathlib
import re
import shutil
import sys

from harness import collector, folded, processes
from harness.case import Case
from harness.marks import counted
from harness.side_by_side import SideBySide

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
SECONDS = 2.5
HZ = 399
LIFE_SEC = 60
UNNAMED_SHARE = 0.001


def stacks_of(recording, pid):
    part = folded.Folded("")
    part.stacks = [(f, c) for f, c in recording.folded.stacks if f[0].endswith(f"-{pid}")]
    return part


def unnamed_share(stacks, wanted=lambda frame: True):
    """The share of frames without a name. Each frame counts as often as it was sampled."""
    frames = [(f, c) for stack, c in stacks.stacks for f in stack if wanted(f)]
    total = sum(c for _, c in frames)
    unnamed = sum(c for f, c in frames if f.startswith("[unknown"))
    return unnamed / total if total else 1


@counted
class Runtimes(Case):
    def program(self, name):
        found = shutil.which(name)
        if not found:
            self.skipTest(f"no {name} on this machine")
        return found

    def running(self, *args, name, **options):
        started = self.background(args, name, **options)
        self.addCleanup(pathlib.Path(f"/tmp/perf-{started.pid}.map").unlink, missing_ok=True)
        processes.wait_until(lambda: "ready" in started.text or started.code is not None,
                             lambda: f"ready: {started.text}")
        return started

    def record(self):
        return collector.record(self.place, "-a", "--show-pid", seconds=SECONDS, hz=HZ)

    def assert_shares(self, stacks, shares, said):
        """shares: {part of a frame's name: share of the samples that have such a frame}."""
        hits = {name: stacks.count(lambda frame, name=name: name in frame) for name in shares}
        total = sum(hits.values())
        self.assertGreater(total, 50, said)
        for name, share in shares.items():
            self.assertAlmostEqual(hits[name] / total, share, msg=f"{name} in {hits}: {said}",
                                   delta=folded.tolerance(share, total))

    def assert_named(self, stacks, said):
        share = unnamed_share(stacks)
        print(f"{stacks.samples} samples, {100 * share:.3f} % of their frames unnamed")
        self.assertLess(share, UNNAMED_SHARE, f"{stacks.top()}\n{said}")

    NODE_SHARES = {"shareForty": .4, "shareThirty": .3, "shareTwenty": .2, "shareTen": .1}

    def test_node_is_named_by_its_own_map(self):
        # Without the file's name V8 leaves a log of its own wherever it is started.
        node = self.running(self.program("node"), "--perf-basic-prof", "--no-logfile-per-isolate",
                            "--logfile=/dev/null", PROGRAMS / "shares.js", LIFE_SEC, name="node")
        recording = self.record()
        stacks = stacks_of(recording, node.pid)
        self.assert_named(stacks, recording)
        self.assert_shares(stacks, self.NODE_SHARES, recording)
        # From V8's own code down to the process's entry.
        rooted = sum(c for f, c in stacks.stacks
                     if any("node::Start" in frame for frame in f) and f[1] == "_start")
        self.assertGreater(rooted, .9 * stacks.samples, stacks.top())

    def test_any_process_is_recorded_by_its_pid(self):
        node = self.running(self.program("node"), "--perf-basic-prof", "--no-logfile-per-isolate",
                            "--logfile=/dev/null", PROGRAMS / "shares.js", LIFE_SEC, name="node")
        self.background(["sleep", LIFE_SEC], "asleep")
        for daemon in (False, True):
            if daemon:
                self.watch()
            recording = self.record_one(node.pid)
            stacks = recording.folded
            self.assertEqual({f[0] for f, _ in stacks.stacks}, {"node"}, recording)
            self.assert_named(stacks, recording)
            self.assert_shares(stacks, self.NODE_SHARES, recording)
            self.assertNotIn("JVM", recording.finished.text)
        finished = collector.fgcollect("list", "-p", node.pid, *self.place.options())
        self.assert_fails(finished, 1, "no JVM with the agent has the PID")

    def test_a_jvm_without_the_agent_is_recorded_and_told_of(self):
        jvm = self.running(*self.java("KnownShare"), name="plain")
        for daemon in (False, True):
            if daemon:
                self.watch()
            recording = self.record_one(jvm.pid)
            self.assertIn("names of Java code are read from outside", recording.finished.text)
            self.assertIn(f"PID {jvm.pid} (java) is a JVM without the agent: add "
                          "-agentpath:/opt/fgcollect/libfgagent.so", recording.finished.text)
            stacks = recording.folded
            native = sum(c for f, c in stacks.stacks if "JavaCalls::call_helper" in f)
            self.assertGreater(native, .9 * stacks.samples, stacks.top())

    def record_one(self, pid):
        return collector.record(self.place, "-p", pid, seconds=SECONDS, hz=HZ)

    def test_node_in_a_container_is_named_by_its_map_there(self):
        node = self.program("node")
        mounts = [f"--volume={path}:{path}:ro" for path in ("/usr", "/lib", "/lib64")
                  if os.path.isdir(path)]
        token = self.engine.state["token"]
        identity = self.engine.docker(
            "run", "--detach", "--label", token, f"--env={processes.TOKEN_NAME}={token}",
            "--user", "103:103", "--read-only", "--tmpfs", "/tmp", "--network", "none",
            "--cap-drop", "ALL", "--security-opt", "no-new-privileges", *mounts,
            f"--volume={PROGRAMS}:/programs:ro", "--entrypoint", node, self.image(),
            "--perf-basic-prof", "/programs/shares.js", LIFE_SEC).out.strip()
        self.addCleanup(self.engine.docker, "rm", "-f", identity)
        processes.wait_until(
            lambda: "ready" in self.engine.docker("logs", identity).text,
            lambda: f"ready: {self.engine.docker('logs', identity).text}")
        pid = int(self.engine.docker("inspect", "-f", "{{.State.Pid}}", identity).out)
        sides = SideBySide(self, SECONDS, HZ)
        recording = self.record()
        stacks = stacks_of(recording, pid)
        self.assert_named(stacks, recording)
        sides.compare("Node.js in a container", stacks, pid)
        self.assert_shares(stacks, self.NODE_SHARES, recording)

    def test_python_is_named_by_its_own_map(self):
        python = self.running(os.environ["FG_PYTHON312"], "-X", "perf", PROGRAMS / "shares.py",
                              LIFE_SEC, name="python")
        recording = self.record()
        stacks = stacks_of(recording, python.pid)
        self.assert_named(stacks, recording)
        self.assert_shares(stacks, {"py::share_sixty:": .6, "py::share_forty:": .4}, recording)

    def test_erlang_is_named_by_its_own_map(self):
        erl = self.program("erl")
        processes.run([self.program("erlc"), "-o", self.directory, PROGRAMS / "shares.erl"],
                      check=True)
        # beam.smp takes the place of the script that starts it.
        beam = self.running(erl, "+JPperf", "true", "-noshell", "-pa", self.directory, "-run",
                            "shares", "main", LIFE_SEC, name="erlang", env={"HOME": "/tmp"})
        recording = self.record()
        stacks = stacks_of(recording, beam.pid)
        self.assert_named(stacks, recording)
        self.assert_shares(stacks, {"$shares:sixty/0": .6, "$shares:forty/0": .4}, recording)

    def test_every_kernel_frame_is_named(self):
        self.background(["dd", "if=/dev/zero", "of=/dev/null", "bs=512"], "dd")
        self.background(["find", "/usr", "-type", "f", "-newer", "/", "-size", "+1"], "find")
        recording = self.record()
        frames = [f for stack, _ in recording.folded.stacks for f in stack if f.endswith("_[k]")]
        unnamed = [stack for stack, _ in recording.folded.stacks
                   if any("no kernel symbol" in f or f.startswith("[kernel") for f in stack)]
        print(f"{len(frames)} kernel frames, {len(set(frames))} different")
        self.assertGreater(len(frames), 100, recording)
        self.assertLess(len(unnamed), UNNAMED_SHARE * len(frames), unnamed[:3])

    def test_bpf_programs_that_come_and_go_are_named(self):
        filters = self.running(sys.executable, PROGRAMS / "bpf_filters.py", LIFE_SEC, name="bpf")
        if filters.code is not None:
            self.skipTest(filters.text)
        recording = self.record()
        names = set(re.findall(r"bpf_prog_[0-9a-f]{16}_(fgtest_\d)", str(
            [f for stack, _ in recording.folded.stacks for f in stack])))
        self.assertGreater(len(names), 3, recording)
        stacks = stacks_of(recording, filters.pid)
        self.assertLess(unnamed_share(stacks), UNNAMED_SHARE * 10, stacks.top())
