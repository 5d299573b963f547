# SPDX-License-Identifier: Apache-2.0
"""pynng of PyPI, fetched once into the build's folder, for the examples in Python.

It has a libnng of its own, newer than Debian's. Where it cannot be had, LookupError says why.
"""

import fcntl
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import settings

DIRECTORY = settings.BUILD / "pynng"
PACKAGE = "pynng==0.9.0"
FETCH_SEC = 300


def fetch():
    pip = shutil.which("pip3") or shutil.which("pip")
    if not pip:
        raise LookupError("no pip, which would fetch pynng")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory(prefix="pynng.", dir=DIRECTORY.parent) as directory:
        try:
            done = subprocess.run(
                [pip, "install", "--quiet", "--target", f"{directory}/new", "--only-binary=:all:",
                 "--python-version", version, PACKAGE], timeout=FETCH_SEC, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LookupError(f"{PACKAGE} of PyPI: {error}") from error
        if done.returncode != 0:
            said = done.stdout.strip().splitlines() or ["it failed"]
            raise LookupError(f"{PACKAGE} of PyPI: {said[-1]}")
        (pathlib.Path(directory) / "new").rename(DIRECTORY)


def pynng_directory():
    """What PYTHONPATH has to have."""
    with open(DIRECTORY.parent / "pynng.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not DIRECTORY.exists():
            fetch()
    return DIRECTORY
