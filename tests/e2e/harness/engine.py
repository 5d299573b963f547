# SPDX-License-Identifier: Apache-2.0
"""The Docker engine and the images, started once for all tests and always stopped.

What is needed to use and to stop it is in the state file, which is there from before the first
thing is started until after the last is gone.
"""

import json
import os
import pathlib
import shutil
import tempfile
import uuid

from . import owners, processes, settings

ENGINE = settings.SOURCE / "scripts" / "lib" / "engine"
MAKE_IMAGE = settings.SOURCE / "docker" / "make-image"
JDKS = (17, 25)
# For capabilities that the engine does not know.
RUNTIME = settings.SOURCE / "tests" / "e2e" / "programs" / "runtime_with_capabilities.py"
YOUNG_CAPABILITIES = {"PERFMON", "BPF", "CHECKPOINT_RESTORE"}


class Engine:
    def __init__(self, state):
        self.state = state

    @classmethod
    def load(cls, path=settings.STATE):
        try:
            engine = cls(json.loads(pathlib.Path(path).read_text()))
        except FileNotFoundError:
            raise processes.Failed(f"{path} is missing: run engine_starts.py first, "
                                   "or the tests through ctest") from None
        os.environ[processes.TOKEN_NAME] = engine.state["token"]
        settings.use_copies(engine.state["programs"])
        return engine

    def save(self, path):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.state, indent=1))
        part.rename(path)

    def docker(self, *args, timeout=None, check=True):
        if args[0] == "run":
            args = ("run", *owners.label(), *args[1:])
        return processes.run(["docker", *args], timeout=timeout, check=check,
                             env={"DOCKER_HOST": self.state["docker_host"]})

    def capabilities(self, *names):
        """docker run's options for these, also where the engine is older than some of them."""
        version = self.docker("version", "-f", "{{.Server.Version}}").out
        unknown = YOUNG_CAPABILITIES.intersection(names) if int(version.split(".")[0]) < 23 else ()
        options = [f"--cap-add={name}" for name in names if name not in unknown]
        if unknown:
            options += ["--runtime=with-capabilities",
                        f"--env=FG_CAPABILITIES={','.join(sorted(unknown))}"]
        return options

    def image(self, jdk):
        """The image with that JDK, or None if this machine has no such JDK."""
        return self.state["images"].get(str(jdk))

    def add_image(self, name, jdk):
        """An image made when a test asks for it, of what make-image takes; its tag."""
        tag = f"{self.state['token']}:{name}"
        processes.run([MAKE_IMAGE, tag, jdk, settings.AGENT, settings.CLASSES], timeout=300,
                      check=True, env={"DOCKER_HOST": self.state["docker_host"]})
        return tag


def start(path):
    """Starts an engine, makes an image of each JDK there is, and writes the state file."""
    if pathlib.Path(path).exists():
        stop(path)
    token = "fge2e-" + uuid.uuid4().hex[:8]
    os.environ[processes.TOKEN_NAME] = token
    engine = Engine({"token": token, "engine_dir": None, "images": {},
                     "programs": f"/tmp/{token}.programs", "docker_host": settings.DOCKER_HOST})
    engine.save(path)
    copy_programs(engine.state["programs"])
    if not settings.DOCKER_HOST:
        engine.state["engine_dir"] = tempfile.mkdtemp(prefix="fgcollect-engine.", dir="/tmp")
        engine.save(path)
        started = processes.run([ENGINE, "start", engine.state["engine_dir"],
                                 f"--add-runtime=with-capabilities={RUNTIME}"], timeout=180,
                                check=True)
        engine.state["docker_host"] = started.out.strip()
    engine.save(path)
    for jdk in JDKS:
        home = settings.jdk_home(jdk)
        if home:
            tag = f"{token}:{jdk}"
            engine.state["images"][str(jdk)] = tag
            engine.save(path)
            processes.run([MAKE_IMAGE, tag, home, settings.AGENT, settings.CLASSES], timeout=300,
                          check=True, env={"DOCKER_HOST": engine.state["docker_host"]})
    return engine


def copy_programs(directory):
    """JVMs of other users read them too, and the checkout may be in a home that only its owner enters."""
    os.mkdir(directory, mode=0o755)
    for program in (settings.COLLECTOR, settings.AGENT):
        shutil.copy(program, directory)
    shutil.copytree(settings.CLASSES, pathlib.Path(directory) / settings.CLASSES.name)
    for folder, _, files in os.walk(directory):
        os.chmod(folder, 0o755)
        for name in files:
            place = pathlib.Path(folder) / name
            place.chmod(0o755 if os.access(place, os.X_OK) else 0o644)


def stop(path):
    """Stops what start started. Returns what is left nevertheless, as lines of text."""
    engine = Engine.load(path)
    directory, token = engine.state["engine_dir"], engine.state["token"]
    if directory:
        processes.run([ENGINE, "stop", directory], timeout=180, check=True)
    else:
        left = engine.docker("ps", "-aq", "--filter", f"label={token}").out.split()
        if left:
            engine.docker("rm", "-f", *left)
        for tag in engine.state["images"].values():
            engine.docker("rmi", "-f", tag, check=False)
    shutil.rmtree(engine.state["programs"], ignore_errors=True)
    pathlib.Path(path).unlink()
    return left_behind(directory, token)


def left_behind(directory, token):
    left = [f"process {pid}: {command_line(pid)}" for mark in (token, directory) if mark
            for pid in processes.marked_processes(mark)]
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        if (directory and directory in line) or token in line:
            left.append(f"mount {line}")
    left += [f"file {path}" for path in pathlib.Path("/tmp").glob(f"{token}*")]
    if directory and os.path.exists(directory):
        left.append(f"directory {directory}")
    return left


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "(gone)"
