# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: the end-to-end tests' harness, a place of their own, busy JVMs."""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

# pylint: disable=wrong-import-position,unused-import
from harness import collector, processes, settings  # noqa: E402,F401


@contextlib.contextmanager
def place():
    """A directory of the benchmark's own; what was started in it is to be ended before."""
    directory = tempfile.mkdtemp(prefix="fgbench.", dir="/tmp")
    os.chmod(directory, 0o755)
    try:
        yield collector.Place(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def java(place_of_test, *args, agent=True, jdk=17, flags=()):
    """The command line of a JVM on the host, its agent at this place's socket."""
    home = settings.jdk_home(jdk)
    if not home:
        sys.exit(f"no JDK {jdk}: set FG_JDK{jdk} to its home")
    loaded = [f"-agentpath:{settings.AGENT}=socket={place_of_test.socket}"] if agent else []
    return [home / "bin" / "java", *loaded, *flags, "-cp", settings.CLASSES, *args]


@contextlib.contextmanager
def busy_jvms(place_of_test, program="Mixed", count=None, jdk=17):
    """As many JVMs as there are CPUs, each keeping one busy, past their warm-up."""
    running = []
    try:
        for number in range(count or os.cpu_count()):
            running.append(processes.Background(java(place_of_test, program, jdk=jdk),
                                                place_of_test.directory / f"java{number}.log"))
        for jvm in running:
            processes.wait_until(lambda jvm=jvm: "ready" in jvm.text, "a JVM is warm")
        yield running
    finally:
        for jvm in running:
            jvm.stop()
