# SPDX-License-Identifier: Apache-2.0
"""Where things are: from the environment that ctest sets, or guessed from this file's place."""

import glob
import os
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("FG_BINARY_DIR", SOURCE / "build"))
COLLECTOR = pathlib.Path(os.environ.get("FG_COLLECTOR", BUILD / "collector" / "fgcollect"))
AGENT = pathlib.Path(os.environ.get("FG_AGENT", BUILD / "jvmti-agent" / "libfgagent.so"))
CLASSES = pathlib.Path(os.environ.get("FG_JAVA_CLASSES", BUILD / "tests" / "java" / "classes"))
STATE = pathlib.Path(os.environ.get("FG_E2E_STATE", BUILD / "e2e" / "state.json"))

# An engine to be used instead of one of our own, for quick trials.
DOCKER_HOST = os.environ.get("FG_E2E_DOCKER_HOST")
# How long a JVM runs before the collector starts, where that is the point.
HEAD_START_SEC = float(os.environ.get("FG_E2E_HEAD_START_SEC", "5"))
# The longest that anything is waited for that should happen.
DEADLINE_SEC = float(os.environ.get("FG_E2E_DEADLINE_SEC", "180"))


def use_copies(directory):
    """The programs as they are in that directory, which every user of the machine may read."""
    global COLLECTOR, AGENT, CLASSES    # pylint: disable=global-statement
    directory = pathlib.Path(directory)
    COLLECTOR, AGENT, CLASSES = (directory / path.name for path in (COLLECTOR, AGENT, CLASSES))


def jdk_home(version):
    """The home of that JDK, or None: FG_JDK<version>, or the usual places."""
    named = os.environ.get(f"FG_JDK{version}")
    if named:
        return pathlib.Path(named)
    for pattern in (f"java-{version}-openjdk-*", f"temurin-{version}-jdk*", f"jdk-{version}*"):
        for home in sorted(glob.glob(f"/usr/lib/jvm/{pattern}")):
            if os.access(f"{home}/bin/java", os.X_OK):
                return pathlib.Path(home)
    return None
