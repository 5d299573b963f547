# SPDX-License-Identifier: Apache-2.0
"""The images: of the agent, the application, the database and the load generator."""

import pathlib
import shutil
import tempfile

from . import Failed
from .engine import call, last_line

HERE = pathlib.Path(__file__).resolve().parents[1]
MAKE_BASE = HERE / "make-base"
AGENT_FILE = HERE.parent / "agent" / "Dockerfile"
PARTS = ("app", "database", "load")
DEFAULT_BASE = "debian:12-slim"
# Of this machine, when the base is made of what is installed on it.
PACKAGES = ("openjdk-17-jdk-headless", "tomcat10-common", "libh2-java", "libpostgresql-jdbc-java",
            "postgresql-15", "jmeter", "jmeter-http")
BUILD_SECONDS = 900
SAID_LINES = 12


def tag(part):
    return f"fgcollect-compare-{part}"


def make_agent(engine, library):
    """An image with the agent and nothing else."""
    with tempfile.TemporaryDirectory() as context:
        shutil.copyfile(library, pathlib.Path(context) / "libfgagent.so")
        (pathlib.Path(context) / "libfgagent.so").chmod(0o755)
        engine.docker("cannot make the agent's image", "build", "--quiet", "--tag", tag("agent"),
                      "--file", AGENT_FILE, context)


def make_base(engine):
    """A base image of what is installed here; the name has the versions in it."""
    made = call([MAKE_BASE, "--print", tag("base"), *PACKAGES])
    if made.returncode:
        raise Failed(f"cannot make a base image of this machine's packages: "
                     f"{last_line(made.stderr)}")
    name = made.stdout.strip()
    if not engine.has_image(name):
        made = call([MAKE_BASE, tag("base"), *PACKAGES], 600, engine.env)
        if made.returncode:
            raise Failed(f"cannot make a base image of this machine's packages: "
                         f"{last_line(made.stderr)}")
    return name


def build(engine, base, library, parts, say):
    """Images of those parts; base: the image they begin with, or 'local'."""
    is_local = base == "local"
    if is_local:
        say("making a base image of this machine's packages")
        base = make_base(engine)
    make_agent(engine, library)
    for part in parts:
        say(f"making the {part} image")
        # Without a registry there is no network to build in either, and nothing to fetch.
        args = ["--build-arg", f"BASE={base}"]
        if part == "app":
            args += ["--build-arg", f"AGENT={tag('agent')}"]
        if is_local:
            args += ["--network", "none"]
        built = engine.call("build", "--force-rm", "--tag", tag(part), *args, HERE / part,
                            seconds=BUILD_SECONDS)
        if built.returncode:
            log = "\n".join((built.stdout + built.stderr).splitlines()[-SAID_LINES:])
            raise Failed(f"cannot build the {part} image from {base}"
                         + ("" if is_local else " (without a registry or Debian's mirror use "
                            "--base local)") + f"; docker build ended with:\n{log}")
