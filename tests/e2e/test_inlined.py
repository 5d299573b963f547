# SPDX-License-Identifier: Apache-2.0
"""Inlined methods have their own names and shares, as if they were not inlined."""

from harness import collector
from harness.case import Case
from harness.folded import JAVA_SUFFIX, printed_shares
from harness.marks import counted

SECONDS = (6, 12, 24)  # a machine with other work leaves less to one thread
HZ = 1999
LEAST_SAMPLES = 5000
WANTED = {"burnA": 0.5, "burnB": 0.3, "burnC": 0.2}
ALONE = ["dontinline,Inlined.*"]
INLINED = ["inline,Inlined.burn*", "dontinline,Inlined.caller"]


def burning(frames):
    """Which of the three methods the stack is in, and the frames from that method to the root."""
    for i in reversed(range(len(frames))):
        name = JAVA_SUFFIX.sub("", frames[i])
        if name.startswith("Inlined.burn"):
            return name.removeprefix("Inlined."), frames[i::-1]
    return None, frames


@counted
class Inlined(Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.watch()

    def recorded(self, jdk, commands):
        """The folded stacks of the program's main thread."""
        options = " ".join(f"-XX:CompileCommand={command}" for command in commands)
        jvm = self.container("Inlined", jdk=jdk, env={"JDK_JAVA_OPTIONS": options})
        jvm.wait_for_line("ready")
        self.daemon.wait_for_jvm(jvm.pid)
        for seconds in SECONDS:
            recording = collector.record(self.place, "--container", jvm.id, seconds=seconds, hz=HZ)
            if recording.folded.samples > LEAST_SAMPLES:
                break
        shares = printed_shares(jvm.end())
        for name, share in WANTED.items():
            self.assertAlmostEqual(shares[name], share, delta=0.005)
        return recording.folded

    def assert_shares(self, folded):
        """Each of the three methods has its share within two points. Hardly any sample is
        elsewhere."""
        samples = dict.fromkeys([*WANTED, None], 0)
        for frames, count in folded.stacks:
            samples[burning(frames)[0]] += count
        print(samples)
        self.assertGreater(folded.samples, LEAST_SAMPLES)
        for name, share in WANTED.items():
            self.assertAlmostEqual(samples[name] / folded.samples, share, delta=0.02,
                                   msg=f"{name}\n{folded.top()}")
        self.assertLess(samples[None] / folded.samples, 0.02, folded.top())

    def assert_called(self, folded, suffix):
        """Nearly all samples are in one of the three methods, with this suffix, and with caller()
        below."""
        right = sum(count for frames, count in folded.stacks
                    for name, below in [burning(frames)]
                    if name and below[:2] == [f"Inlined.{name}{suffix}", "Inlined.caller_[j]"])
        self.assertGreater(right / folded.samples, 0.98, folded.top())

    def assert_alone(self, jdk):
        folded = self.recorded(jdk, ALONE)
        self.assert_shares(folded)
        self.assert_called(folded, "_[j]")

    def assert_inlined(self, jdk):
        folded = self.recorded(jdk, INLINED)
        self.assert_shares(folded)
        self.assert_called(folded, "_[i]")

    def test_methods_alone_have_their_shares_17(self):
        self.assert_alone(17)

    def test_methods_alone_have_their_shares_25(self):
        self.assert_alone(25)

    def test_inlined_methods_have_their_shares_17(self):
        self.assert_inlined(17)

    def test_inlined_methods_have_their_shares_25(self):
        self.assert_inlined(25)
