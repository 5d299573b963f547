# SPDX-License-Identifier: Apache-2.0
"""Docker, by its command: containers and a network of one run, all of which are removed again.

Everything that is made carries the run's label, so that what was made in the moment of an
interrupt is found as well.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import Failed

LABEL = "fgcollect.compare"
COMMAND_SECONDS = 120
LOG_LINES = 2000
OWN_ENGINE = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "lib" / "engine"


def call(args, seconds=COMMAND_SECONDS, env=None, **options):
    """A program's end. It is in a session of its own: Ctrl-C at a terminal is for us alone."""
    try:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run([str(a) for a in args], **{**pipes, **options}, text=True,
                              errors="replace", timeout=seconds, start_new_session=True,
                              env={**os.environ, **(env or {})})
    except FileNotFoundError:
        raise Failed(f"there is no program {args[0]}; install it") from None
    except subprocess.TimeoutExpired:
        raise Failed(f"'{' '.join(map(str, args[:3]))} ...' was still running after {seconds} s, "
                     "and was ended; is the machine overloaded?") from None


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


class Engine:
    """The engine that answers, or one of our own; run: the run's identifier."""

    def __init__(self, run):
        self.run, self.env = run, {}
        self.own_directory = None
        self.network = None     # None: containers share one network namespace

    def open(self):
        if call(["docker", "version"], 30).returncode == 0:
            return
        if not OWN_ENGINE.exists():
            raise Failed("no Docker engine answers ('docker version' fails); start it, or set "
                         "DOCKER_HOST")
        # Short: a Unix socket's path has at most 107 bytes.
        self.own_directory = tempfile.mkdtemp(prefix="fgcollect-engine.", dir="/tmp")
        started = call([OWN_ENGINE, "start", self.own_directory], 180)
        if started.returncode:
            raise Failed(f"no Docker engine answers, and none can be started: "
                         f"{last_line(started.stderr)}")
        self.env = {"DOCKER_HOST": started.stdout.strip()}

    def call(self, *args, seconds=COMMAND_SECONDS, **options):
        return call(["docker", *args], seconds, self.env, **options)

    def docker(self, what, *args, seconds=COMMAND_SECONDS, **options):
        """Its output; Failed says what could not be done."""
        finished = self.call(*args, seconds=seconds, **options)
        if finished.returncode:
            raise Failed(f"{what}: {last_line(finished.stderr or finished.stdout)}")
        return finished.stdout.strip()

    def has_image(self, name):
        return self.call("image", "inspect", name).returncode == 0

    def make_network(self):
        """A network without a way out. Where an engine can have none, why."""
        name = f"fgcompare-{self.run}"
        made = self.call("network", "create", "--internal", "--label", f"{LABEL}={self.run}", name)
        if made.returncode:
            return last_line(made.stderr)
        self.network = name
        return None

    def network_options(self, alias, owner):
        """Of docker run: as that name in the run's network, or in owner's namespace (or a new)."""
        if self.network:
            return ["--network", self.network, "--network-alias", alias]
        return ["--network", f"container:{owner}" if owner else "none"]

    def address(self, alias):
        return alias if self.network else "127.0.0.1"

    def close(self):
        """Removes what the run made. Returns what could not be, as lines of text."""
        left = []
        for kind, listing, removing in (
                ("container", ("ps", "-aq"), ("rm", "--force", "--volumes")),
                ("network", ("network", "ls", "-q"), ("network", "rm"))):
            with contextlib.suppress(Failed):
                listed = self.call(*listing, "--filter", f"label={LABEL}={self.run}")
                ids = listed.stdout.split() if listed.returncode == 0 else []
                if ids and self.call(*removing, *ids).returncode:
                    left.append(f"a {kind} could not be removed: docker {' '.join(removing)} "
                                f"{' '.join(ids)}")
        if self.own_directory:
            stopped = call([OWN_ENGINE, "stop", self.own_directory], 180)
            if stopped.returncode:
                left.append(f"the engine in {self.own_directory}: {last_line(stopped.stderr)}")
            else:
                shutil.rmtree(self.own_directory, ignore_errors=True)
        return left


class Container:
    """One that runs in the background; role: app, database or load."""

    def __init__(self, engine, row, role, image, options=(), args=()):
        self.engine, self.role = engine, role
        self.name = f"fgcompare-{engine.run}-{row}-{role}"
        engine.docker(f"cannot start the {role} container", "run", "--detach", "--name", self.name,
                      "--label", f"{LABEL}={engine.run}", "--label", f"configuration={row}",
                      "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL",
                      "--security-opt", "no-new-privileges", "--pull", "never",
                      *options, image, *args)

    def logs(self):
        """The end of what it wrote, in that order."""
        return self.engine.call("logs", "--tail", LOG_LINES, self.name, seconds=30,
                                stderr=subprocess.STDOUT).stdout

    def state(self):
        """{'Running': ..., 'ExitCode': ...}; {} if there is none any more."""
        finished = self.engine.call("inspect", "-f", "{{json .State}}", self.name, seconds=30)
        return json.loads(finished.stdout) if finished.returncode == 0 else {}

    def is_running(self):
        return self.state().get("Running", False)

    def remove(self):
        self.engine.call("rm", "--force", "--volumes", self.name)
