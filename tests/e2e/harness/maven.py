# SPDX-License-Identifier: Apache-2.0
"""Jars of Maven Central, which Maven finds by its own settings: fetched once, and kept in the build's
folder. Where they cannot be had, LookupError says why."""

import fcntl
import pathlib
import shutil
import tempfile

from . import processes, settings

FETCH_SEC = 600


def dependency(artifact):
    """One of a pom's, of group:artifact:version[:type]."""
    group, name, version, *kind = artifact.split(":")
    return (f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version>" + "".join(f"<type>{each}</type>" for each in kind) +
            "</dependency>")


def fetch(into, artifacts):
    if not shutil.which("mvn"):
        raise LookupError("no Maven, which would fetch what the test needs")
    with tempfile.TemporaryDirectory(prefix="maven.", dir=into.parent) as scratch:
        pom = pathlib.Path(scratch) / "pom.xml"
        pom.write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            f"<groupId>fgcollect</groupId><artifactId>{into.name}</artifactId><version>1</version>"
            f"<dependencies>{''.join(map(dependency, artifacts))}</dependencies></project>",
            encoding="utf-8")
        fetched = processes.run(["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies",
                                 f"-DoutputDirectory={scratch}/jars"], timeout=FETCH_SEC)
        if fetched.code != 0:
            raise LookupError(f"{artifacts[0]}: {fetched.text[-500:]}")
        (pathlib.Path(scratch) / "jars").rename(into)


def jars(name, *artifacts):
    """A directory with these artifacts and all that they need."""
    into = settings.BUILD / f"maven-{name}"
    with open(settings.BUILD / f"maven-{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not into.exists():
            fetch(into, artifacts)
    return into
