# SPDX-License-Identifier: Apache-2.0
"""JVMs in containers are recorded by name, with their true shares."""

import time

from harness import collector, folded, settings
from harness.case import Case
from harness.marks import counted

# Leaves that belong to a phase of Mixed for certain, for samples whose stack is cut before the
# phase's own frame (native code without frame pointers on top).
MIXED_LEAVES = {
    "Compress": ("deflate", "longest_match", "fill_window", "compress_block", "_tr_", "build_tree",
                 "slide_hash", "adler32", "crc32", "java/util/zip/Deflater.",
                 "libz.so", "[unknown: libz"),
    "Digest": ("sha256_impl", "sun/security/provider/SHA2."),
    "Regex": ("java/util/regex/",),
    "Streams": ("java/util/stream/",),
    "Maps": ("java/util/HashMap.merge", "java/util/TreeMap.", "java/util/Collections.sort"),
}
MIXED_WANTED = {"Maps": 0.30, "Regex": 0.20, "Streams": 0.20, "Digest": 0.15, "Compress": 0.15}


def mixed_phase(frames):
    """The phase that a stack of Mixed belongs to, or None."""
    names = [folded.JAVA_SUFFIX.sub("", frame) for frame in frames]
    for phase in MIXED_WANTED:
        if f"Mixed${phase}.run" in names:
            return phase
    for phase, leaves in MIXED_LEAVES.items():
        if any(name.startswith(leaves) for name in names[1:]):
            return phase
    return None


# Samples of a program's own methods by which a share is judged.
ENOUGH = 200


@counted
class Containers(Case):
    def recorded(self, program):
        return collector.record_until(
            self.place, lambda recording: recording.folded.of_root(program).count(
                lambda name: name.startswith(program)) > 2 * ENOUGH, hz=399)

    def assert_share(self, part, samples, wanted, what, recording):
        self.assertGreater(samples, ENOUGH, f"too few samples\n{recording}")
        off = abs(part / samples - wanted)
        allowed = folded.tolerance(wanted, samples)
        print(f"{what}: {part / samples:.4f} of {samples} samples, true {wanted:.4f}, "
              f"off {off:.4f}, allowed {allowed:.4f}")
        self.assertLessEqual(off, allowed, f"{what}\n{recording}")

    def assert_named(self, recording):
        quality = recording.quality
        print(quality.line)
        self.assertGreater(quality.java_named, 99.0, str(recording))
        # The same from the stacks: unknown frames of any kind are at least the Java ones.
        unknown = recording.folded.with_unknown()
        self.assertGreaterEqual(
            (100 - quality.java_named) / 100 * recording.folded.samples, 0)
        print(f"samples with any unnamed frame: {unknown} of {recording.folded.samples}")

    def known_share(self, jdk):
        jvm = self.container("KnownShare", jdk=jdk).wait_for_line("ready")
        recording = self.recorded("KnownShare")
        truth = folded.printed_shares(jvm.end())
        stacks = recording.folded.of_root("KnownShare")
        ours = stacks.count(lambda name: name.startswith("KnownShare"))
        for phase, wanted in truth.items():
            part = stacks.with_method(f"KnownShare${phase.capitalize()}.run")
            self.assert_share(part, ours, wanted, phase, recording)
        self.assert_named(recording)

    def primes(self, jdk):
        self.container("Primes", jdk=jdk).wait_for_line("ready")
        recording = self.recorded("Primes")
        stacks = recording.folded.of_root("Primes")
        self.assert_share(stacks.with_method("Primes.countPrimes"), stacks.samples, 1.0,
                          "countPrimes", recording)
        self.assert_named(recording)

    def mixed(self, jdk):
        jvm = self.container("Mixed", jdk=jdk).wait_for_line("ready")
        recording = self.recorded("Mixed")
        truth = folded.printed_shares(jvm.end())
        counts = dict.fromkeys(MIXED_WANTED, 0)
        for frames, count in recording.folded.of_root("Mixed").stacks:
            phase = mixed_phase(frames)
            if phase:
                counts[phase] += count
        for phase, count in counts.items():
            self.assert_share(count, sum(counts.values()), truth[phase.lower()], phase, recording)
        self.assert_named(recording)
        self.assertEqual(recording.folded.kinds(), {"j", "k", "plain"}, str(recording))

    def test_known_shares_are_measured_17(self):
        self.known_share(17)

    def test_known_shares_are_measured_25(self):
        self.known_share(25)

    def test_primes_are_recorded_by_name_17(self):
        self.primes(17)

    def test_primes_are_recorded_by_name_25(self):
        self.primes(25)

    def test_mixed_work_is_recorded_by_name_17(self):
        self.mixed(17)

    def test_mixed_work_is_recorded_by_name_25(self):
        self.mixed(25)

    def test_two_jvms_in_one_container_are_told_apart(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        jvm.exec("java", "-cp", "/opt/app", "Primes", detach=True, agent=True)
        daemon = self.watch()
        pids = jvm.host_pids()
        self.assertEqual(len(pids), 2, pids)
        for pid in pids:
            daemon.wait_for_jvm(pid)
        recording = collector.record(self.place, seconds=3, hz=399)
        for program, method in (("KnownShare", "KnownShare$Hot.run"),
                                ("Primes", "Primes.countPrimes")):
            stacks = recording.folded.of_root(program)
            self.assertGreater(stacks.with_method(method), 0, str(recording))
        self.assertEqual(recording.folded.of_root("Primes").count(
            lambda name: name.startswith("KnownShare")), 0, str(recording))
        self.assert_named(recording)

        other = next(pid for pid in pids if pid != jvm.pid)
        alone = collector.record(self.place, "-p", other, seconds=1, hz=299)
        self.assertEqual(set(alone.folded.roots()), {"Primes"}, str(alone))
        both = collector.record(self.place, "--container", jvm.id, seconds=1, hz=299)
        self.assertEqual(set(both.folded.roots()), {"Primes", "KnownShare"}, str(both))

    def test_jvm_started_before_the_collector_is_complete(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        time.sleep(settings.HEAD_START_SEC)
        recording = self.recorded("KnownShare")
        stacks = recording.folded.of_root("KnownShare")
        ours = stacks.count(lambda name: name.startswith("KnownShare"))
        self.assert_share(stacks.with_method("KnownShare$Hot.run"), ours, 0.6, "hot", recording)
        self.assert_named(recording)
        self.assertTrue(jvm.is_running(), jvm.logs())
