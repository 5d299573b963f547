# SPDX-License-Identifier: Apache-2.0
"""JVMs in containers, as they run in production: uid 103, PID 1, nothing allowed."""

import pathlib

from . import processes


class Container:
    """A running container; rm() removes it. Needs no more than what README asks of users.

    run_dir: what it sees as /run/fgcollect; None: nothing of the host at all.
    reads: directories of the host that it sees at the same place. options: more of docker run's.
    """

    def __init__(self, engine, image, run_dir, *java_args, env=None, reads=(), options=()):
        self.engine = engine
        variables = {processes.TOKEN_NAME: engine.state["token"], **(env or {})}
        # A private /tmp: the JVM's own files, and room for jcmd's socket and map.
        self.id = engine.docker(
            "run", "--detach", "--label", engine.state["token"], "--user", "103:103",
            "--read-only", "--tmpfs", "/tmp", "--network", "none", "--cap-drop", "ALL",
            "--security-opt", "no-new-privileges",
            *([f"--volume={run_dir}:/run/fgcollect:ro"] if run_dir else []),
            *[f"--volume={path}:{path}:ro" for path in reads],
            *[f"--env={name}={value}" for name, value in variables.items()],
            *options, image, *java_args).out.strip()

    @property
    def pid(self):
        """The host's PID of its PID 1."""
        return int(self.engine.docker("inspect", "-f", "{{.State.Pid}}", self.id).out)

    @property
    def root(self):
        return pathlib.Path(f"/proc/{self.pid}/root")

    def is_running(self):
        state = self.engine.docker("inspect", "-f", "{{.State.Running}}", self.id, check=False)
        return state.out.strip() == "true"

    def logs(self):
        return self.engine.docker("logs", self.id).text

    def wait_for_line(self, text):
        def seen():
            return text in self.logs() or not self.is_running()
        processes.wait_until(seen, lambda: f"'{text}' in the container's output:\n{self.logs()}")
        if text not in self.logs():
            raise processes.Failed(f"the container ended without '{text}':\n{self.logs()}")
        return self

    def exec(self, *args, detach=False, agent=False, check=True):
        """Runs a program in the container; without the agent unless told otherwise."""
        return self.engine.docker("exec", *(["--detach"] if detach else []),
                                  *([] if agent else ["--env=JAVA_TOOL_OPTIONS="]), self.id, *args,
                                  check=check)

    def host_pids(self):
        """Host PIDs of all its processes."""
        rows = self.engine.docker("top", self.id, "-eo", "pid").out.split()[1:]
        return [int(row) for row in rows]

    def jcmd_map(self):
        """The JVM's own map, made by attaching to it; the file in the container is removed."""
        self.exec("jcmd", "1", "Compiler.perfmap")
        made = self.root / "tmp" / "perf-1.map"
        text = made.read_text(errors="replace")
        made.unlink()
        return text

    def wait_end(self, timeout=None):
        self.engine.docker("wait", self.id, timeout=timeout)
        return self.logs()

    def end(self):
        """Its PID 1 is told to end; returns all that it said, its last words too."""
        self.engine.docker("stop", "--time", "20", self.id)
        return self.logs()

    def rm(self):
        self.engine.docker("rm", "-f", self.id, check=False)
