# SPDX-License-Identifier: Apache-2.0
"""One configuration from start to end: its containers, the load, the recording, and its files."""

import contextlib
import dataclasses
import os
import pathlib
import re
import secrets
import signal
import subprocess
import time

from . import Failed, images, plain_file, requests
from .engine import Container, last_line

PORT = 8080
DATABASE_SAID = re.compile(r"^shop: (waiting .*|the database answered .*)$", re.MULTILINE)
START_SECONDS = 120         # of Tomcat, and of JMeter, beside what the database may take
LOAD_MARGIN_SECONDS = 120   # the load is ended by us; if we are killed it ends by itself
END_SECONDS = 30
RECORD_MARGIN_SECONDS = 60
TAIL_LINES = 15
MAX_CSV_BYTES = 1 << 30
MAX_LOG_BYTES = 1 << 20
# Past that share of requests that failed, what was measured is not the application's work.
MAX_FAILED_SHARE = 0.5


@dataclasses.dataclass
class Tools:
    """What every row is run with."""
    engine: object
    matrix: object
    fgcollect: pathlib.Path
    work: pathlib.Path      # this run's own, removed at its end
    out: pathlib.Path
    say: object


class Row:
    """say(text) tells the user; what is found out is in result, a dict that JSON can hold."""

    def __init__(self, tools, config):
        self.tools, self.config = tools, config
        self.engine = tools.engine
        self.stage = "start"
        self.containers = []
        self.out = tools.out / "configurations" / config.name
        self.work = tools.work / config.name
        self.results = self.work / "results"
        self.result = {"name": config.name, "title": config.title or config.name,
                       "database": config.database, "state": "failed", "files": {}}
        self.has_database = config.database == "postgresql" and not config.url

    def run(self):
        """The result; a row that fails is a result as well."""
        self.out.mkdir(parents=True)
        self.work.mkdir()
        for name in ("run", "maps", "results"):
            (self.work / name).mkdir()
        # By whoever the containers run as.
        self.results.chmod(0o777)
        try:
            self._measure()
            self.result["state"] = "done"
        except Failed as failed:
            self.result.update(stage=self.stage, reason=str(failed))
        finally:
            self._keep_logs()
            for container in self.containers:
                container.remove()
        return self.result

    def _measure(self):
        if self.has_database:
            self._start_database()
        self._start_app()
        self._start_load()
        self._record()
        self._end_load()
        self._read_requests()

    # The application and its database

    def _start_database(self):
        self.stage = "the database"
        self.password = secrets.token_hex(16)
        self._start("database", images.tag("database"), None,
                    [f"--env=POSTGRES_PASSWORD={self.password}", "--shm-size=128m"])

    def _start(self, role, image, owner, options, args=()):
        container = Container(self.engine, self.config.name, role, image,
                              [*self.engine.network_options(role, owner), *options], args)
        self.containers.append(container)
        return container

    def _variables(self):
        config = self.config
        variables = {"SHOP_POOL": config.pool, "SHOP_WAIT_SECONDS": config.database_wait}
        if config.database == "postgresql":
            variables["SHOP_DRIVER"] = "org.postgresql.Driver"
            variables["SHOP_URL"] = config.url or (
                f"jdbc:postgresql://{self.engine.address('database')}:5432/postgres")
        elif config.url:
            variables["SHOP_URL"] = config.url
        if self.has_database:
            variables.update(SHOP_USER="shop", SHOP_PASSWORD=self.password)
        agent = f"label=configuration:{config.name},label=comparison:{self.engine.run}"
        variables["FGAGENT_OPTS"] = ",".join(filter(None, (agent, config.agent_options)))
        if config.java_options:
            variables["JDK_JAVA_OPTIONS"] = config.java_options
        return {**variables, **config.env}

    def _start_app(self):
        self.stage = "the application"
        owner = self.containers[0].name if self.containers else None
        app = self._start("app", self.config.image or images.tag("app"), owner,
                          [f"--volume={self.work / 'run'}:/run/fgcollect:ro",
                           *[f"--env={name}={value}"
                             for name, value in self._variables().items()]])
        self.app = app
        limit = self.config.database_wait + START_SECONDS
        said = ""
        for _ in self._waiting(limit):
            logs = app.logs()
            waiting = DATABASE_SAID.findall(logs)
            if waiting and waiting[-1] != said:
                said = waiting[-1]
                self.tools.say(f"{self.config.name}: {said}")
            if self.config.ready in logs:
                break
            self._check_alive(app)
        else:
            raise Failed(f"the application did not write '{self.config.ready}' within {limit} s; "
                         "its log is below; is it slow, or does it say something else "
                         "(ready = in the matrix)?")
        self.result["database_said"] = said

    @staticmethod
    def _waiting(seconds, pause=0.5):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield
            time.sleep(pause)

    def _check_alive(self, *containers):
        for container in containers:
            state = container.state()
            if not state.get("Running"):
                code = state.get("ExitCode", "unknown")
                killed = ", killed for want of memory" if state.get("OOMKilled") else ""
                raise Failed(f"the {container.role} container ended with code {code}{killed}: "
                             f"{last_line(container.logs())}")

    # The load

    def _start_load(self):
        self.stage = "the load"
        load, record = self.tools.matrix.load, self.tools.matrix.record
        duration = load.warm_up + record.seconds + LOAD_MARGIN_SECONDS
        plan = [f"--volume={load.plan}:/opt/compare/plan.jmx:ro"] if load.plan else []
        properties = {"host": self.engine.address("app"), "port": PORT, "threads": load.threads,
                      "duration": duration, "per_minute": load.rate * 60 or 600000000}
        self.load = self._start(
            "load", images.tag("load"), self.containers[0].name,
            [f"--volume={self.results}:/results", *plan],
            [f"-J{name}={value}" for name, value in properties.items()])
        for _ in self._waiting(START_SECONDS):
            if self._has_requests():
                break
            self._check_alive(self.app, self.load)
        else:
            raise Failed(f"JMeter made no request within {START_SECONDS} s; its log is below")
        self.tools.say(f"{self.config.name}: under load, warming up for {load.warm_up} s")
        self._watch_for(load.warm_up)

    def _has_requests(self):
        return len(plain_file.begin(self.results / "requests.csv", 4096).splitlines()) > 1

    def _watch_for(self, seconds):
        """Lets time pass, and notices if something ends in it."""
        end = time.monotonic() + seconds
        while True:
            self._check_alive(*self.containers)
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(1, left))

    def _end_load(self):
        """JMeter hears a word on a port of its own; then it writes what it has and ends."""
        self.stage = "the end of the load"
        stop = "printf StopTestNow >/dev/udp/127.0.0.1/4445"
        for _ in self._waiting(END_SECONDS, 1):
            self.engine.call("exec", self.load.name, "/bin/bash", "-c", stop, seconds=30)
            if not self.load.is_running():
                return
        raise Failed(f"JMeter did not end within {END_SECONDS} s after it was told to")

    # The recording

    def _record(self):
        self.stage = "the recording"
        record, name = self.tools.matrix.record, self.config.name
        outputs = {kind: self.out / f"flamegraph.{kind}"
                   for kind in ("fgrec", "html", "svg", "folded")}
        self.tools.say(f"{name}: recording for {record.seconds} s")
        args = [self.tools.fgcollect, "record", "--container", self.app.name, "--label",
                f"configuration={name}", "-d", record.seconds, "-F", record.hz, "--title",
                self.result["title"], "--socket", self.work / "run" / "agent.sock", "--map-dir",
                self.work / "maps"]
        for path in outputs.values():
            args += ["-o", path]
        begin = time.time()
        text = self._follow(args, record.seconds + RECORD_MARGIN_SECONDS)
        self.window = (begin, begin + record.seconds)
        found = re.search(r"^quality: (([\d,]+) samples.*)$", text, re.MULTILINE)
        if not found:
            raise Failed(f"fgcollect gave no quality line: {last_line(text)}")
        self.result["quality"] = found.group(1)
        self.result["samples"] = int(found.group(2).replace(",", ""))
        self.result["warnings"] = [line for line in text.splitlines() if "warning" in line.lower()]
        if not self.result["samples"]:
            raise Failed("there are no samples: the JVM did nothing, or its agent did not connect "
                         "(is it in the image, and named by JAVA_TOOL_OPTIONS?)")
        self.result["cpus"] = self.result["samples"] / record.hz / record.seconds
        self._add_files(outputs)

    def _follow(self, args, limit):
        """fgcollect's output; it is ended if the application is, or by an interrupt."""
        log = self.work / "record.log"
        with open(log, "wb") as out:
            child = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True,
                                     env={**os.environ, "LC_ALL": "C.UTF-8"})
        try:
            # Seldom, since asking the engine takes some of the processors that are measured.
            for tick, _ in enumerate(self._waiting(limit, 0.1)):
                if child.poll() is not None:
                    break
                if tick % 20 == 0:
                    self._check_alive(*self.containers)
            else:
                raise Failed(f"fgcollect was still recording after {limit} s")
        finally:
            end_child(child)
        text = log.read_text(errors="replace")
        if child.returncode:
            raise Failed(f"fgcollect record ended with code {child.returncode}: {last_line(text)}")
        return text

    # What is kept

    def _read_requests(self):
        self.stage = "the results"
        kept = self.out / "requests.csv"
        plain_file.copy(self.results / "requests.csv", kept, MAX_CSV_BYTES)
        self._add_files({"csv": kept})
        found = requests.read(kept, *self.window)
        self.result["requests"] = found
        if not found["count"]:
            raise Failed("JMeter has no result of the time of the recording; its log is below")
        if found["failed"] > found["count"] * MAX_FAILED_SHARE:
            raise Failed(f"{found['failed']:,} of {found['count']:,} requests failed: "
                         f"{found['failures']}")
        self.result["cpu_ms"] = (1000 * self.result["cpus"] *
                                 self.tools.matrix.record.seconds / found["count"])

    def _add_files(self, files):
        for kind, path in files.items():
            self.result["files"][kind] = str(path.relative_to(self.tools.out))

    def _keep_logs(self):
        with contextlib.suppress(Failed, OSError):
            parts = [(container.role, container.logs()) for container in self.containers]
            parts.append(("jmeter.log", plain_file.begin(self.results / "jmeter.log", MAX_LOG_BYTES)
                          .decode(errors="replace")))
            with contextlib.suppress(OSError):
                parts.append(("fgcollect record",
                              (self.work / "record.log").read_text(errors="replace")))
            log = self.out / "log.txt"
            log.write_text("".join(f"==== {role}\n{text.rstrip()}\n\n" for role, text in parts))
            self._add_files({"log": log})
            if "reason" in self.result:
                self.result["log_tail"] = tail(parts, self.stage)


def tail(parts, stage):
    """The last lines of the log that has to do with that stage."""
    wanted = {"the load": "load", "the end of the load": "load", "the results": "load",
              "the database": "database", "the recording": "fgcollect record"}.get(stage, "app")
    text = dict(parts).get(wanted, "")
    return "\n".join(text.splitlines()[-TAIL_LINES:])


def end_child(child):
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
