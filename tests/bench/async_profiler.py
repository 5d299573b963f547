# SPDX-License-Identifier: Apache-2.0
"""async-profiler from Maven Central, as users have it: loaded at the start, or into a running JVM.

Maven finds it by its own settings; the file is kept in the build folder and fetched once.
"""

import os
import pathlib
import platform
import shutil
import zipfile

from bench_place import processes, settings

VERSION = os.environ.get("FG_ASYNC_PROFILER_VERSION", "4.5")
DIRECTORY = settings.BUILD / "tests" / "bench" / f"async-profiler-{VERSION}"
MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


def library():
    """The path of its library; LookupError if it cannot be had."""
    path = DIRECTORY / "libasyncProfiler.so"
    if path.exists():
        return path
    if not shutil.which("mvn"):
        raise LookupError("no async-profiler: fetching it needs Maven (apt-get install maven)")
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    fetched = processes.run(
        ["mvn", "-q", "-B", "dependency:copy", f"-DoutputDirectory={DIRECTORY}",
         f"-Dartifact=tools.profiler:async-profiler:{VERSION}"], timeout=300)
    archive = DIRECTORY / f"async-profiler-{VERSION}.jar"
    if fetched.code != 0 or not archive.exists():
        raise LookupError(f"no async-profiler {VERSION}: {fetched.text[-500:]}")
    member = f"{MACHINES[platform.machine()]}/libasyncProfiler.so"
    with zipfile.ZipFile(archive) as opened:
        path.write_bytes(opened.read(member))
    path.chmod(0o755)
    return path


def command(jdk, pid, text):
    """Has that JVM, of that JDK and of our user, do what the agent's options say."""
    # In quotes, or jcmd takes what has a = for an option of its own.
    done = processes.run([pathlib.Path(settings.jdk_home(jdk)) / "bin" / "jcmd", pid,
                          "JVMTI.agent_load", library(), f'"{text}"'], check=True)
    if "return code: 0" not in done.out:
        raise processes.Failed(f"async-profiler: {text}\n{done}")


def start(jdk, pid, hz, options=""):
    """Attaches to that JVM, of that JDK and of our user, and has it sample processors."""
    command(jdk, pid, f"start,event=cpu,interval={1_000_000_000 // hz}{options}")


def stop(jdk, pid, out, form="collapsed"):
    """Ends it; what it found is in out then."""
    command(jdk, pid, f"stop,file={out},{form}")
