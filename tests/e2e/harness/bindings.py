# SPDX-License-Identifier: Apache-2.0
"""pynng of PyPI, fetched once into the build's folder, for the examples in Python.

It has a libnng of its own, newer than Debian's. Where it cannot be had, LookupError says why. Tests
that ask no registry have the module stand_in/pynng.py in its place, over Debian's libnng.
"""

import fcntl
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from . import settings

DIRECTORY = settings.BUILD / "pynng"
PACKAGE = "pynng==0.9.0"
STAND_IN = settings.SOURCE / "tests" / "e2e" / "stand_in"
FETCH_SEC = 300


def run(args):
    """What it said, and its exit status. Past its time all of it ends: pip may be a script that has
    another program do it."""
    with subprocess.Popen(args, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as child:
        try:
            return child.communicate(timeout=FETCH_SEC)[0], child.returncode
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)


def fetch():
    pip = shutil.which("pip3") or shutil.which("pip")
    if not pip:
        raise LookupError("no pip, which would fetch pynng")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory(prefix="pynng.", dir=DIRECTORY.parent) as directory:
        try:
            said, status = run([pip, "install", "--quiet", "--target", f"{directory}/new",
                                "--only-binary=:all:", "--python-version", version, PACKAGE])
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LookupError(f"{PACKAGE} of PyPI: {error}") from error
        if status != 0:
            raise LookupError(f"{PACKAGE} of PyPI: {(said.strip().splitlines() or ['it failed'])[-1]}")
        (pathlib.Path(directory) / "new").rename(DIRECTORY)


def pynng_directory():
    """What PYTHONPATH has to have."""
    with open(DIRECTORY.parent / "pynng.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not DIRECTORY.exists():
            fetch()
    return DIRECTORY


def stand_in():
    """The module that takes pynng's place."""
    spec = importlib.util.spec_from_file_location("pynng_stand_in", STAND_IN / "pynng.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
