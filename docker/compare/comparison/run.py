# SPDX-License-Identifier: Apache-2.0
"""All rows one after the other, their differences, and the index; whatever happens, an end."""

import dataclasses
import json
import os
import pathlib
import platform
import shutil
import signal
import tempfile
import time

from . import Failed, graphs, images, packages, page
from .engine import Engine
from .row import Row, Tools

SHARED = ("containers share one network namespace, because this engine makes no network: {}")


class Interrupted(BaseException):
    """SIGINT or SIGTERM."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def _interrupt(number, _frame):
    # Once; what follows is clean-up, which is to be left alone.
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    raise Interrupted(number)


def catch_signals():
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, _interrupt)


def make_out(path):
    """The directory of the results: a new one, or an empty one."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise Failed(f"{path} is not empty; choose another directory with -o, or remove it")
    except OSError as error:
        raise Failed(f"{path} cannot be the directory of the results: {error.strerror}") from None


def needed_parts(matrix):
    needs_database = any(row.database == "postgresql" and not row.url for row in matrix.rows)
    needed = {"load": True, "database": needs_database,
              "app": any(not row.image for row in matrix.rows)}
    return [part for part in images.PARTS if needed[part]]


class Run:
    """options: what the command line says; say(text) tells the user."""

    def __init__(self, matrix, options, say):
        self.matrix, self.options, self.say = matrix, options, say
        self.out = pathlib.Path(options.output)
        self.engine = Engine(os.urandom(4).hex())
        self.results, self.pairs, self.packages = [], [], []
        self.began = time.strftime("%Y-%m-%d %H:%M:%S %Z")

    def _prepare(self):
        self.engine.open()
        base = self.options.base or ("local" if self.engine.own_directory else images.DEFAULT_BASE)
        images.build(self.engine, base, self.options.agent, needed_parts(self.matrix), self.say)
        if self.options.network == "shared":
            return
        why = self.engine.make_network()
        if why and self.options.network == "bridge":
            raise Failed(f"the engine makes no network: {why}; try --network shared")
        if why:
            self.say(SHARED.format(why))

    def _rows(self, work):
        tools = Tools(self.engine, self.matrix, self.options.fgcollect, work, self.out, self.say)
        for config in self.matrix.rows:
            row = Row(tools, config)
            self.results.append(row.result)
            self.say(f"{config.name}: {row.result['title']}")
            row.run()
            if row.result["state"] == "failed":
                self.say(f"{config.name}: FAILED in {row.result['stage']}: {row.result['reason']}")
            else:
                found = row.result["requests"]
                self.say(f"{config.name}: {found['per_second']:,.1f} requests/s, "
                         f"95 % within {found['p95_ms']:,} ms; quality: {row.result['quality']}")
        self.pairs = graphs.compare(tools, self.results)
        self.packages = packages.table(self.out, self.results)

    def _write_report(self):
        known = {result["name"] for result in self.results}
        for result in self.results:
            if result["state"] == "failed" and "reason" not in result:
                result.update(state="not run", reason="interrupted")
        for row in self.matrix.rows:
            if row.name not in known:
                self.results.append({"name": row.name, "title": row.title or row.name, "files": {},
                                     "state": "not run", "reason": "interrupted before its turn"})
        load = dataclasses.asdict(self.matrix.load)
        load["plan"] = str(load["plan"]) if load["plan"] else None
        report = {"title": self.options.title, "began": self.began, "host": platform.node(),
                  "cpus": os.cpu_count(), "load": load,
                  "record": dataclasses.asdict(self.matrix.record),
                  "configurations": self.results, "differences": self.pairs,
                  "packages": self.packages}
        (self.out / "comparison.json").write_text(json.dumps(report, indent=1) + "\n")
        (self.out / "index.html").write_text(page.page(report), encoding="utf-8")

    def __call__(self):
        """The exit code: 0 if every row was measured."""
        catch_signals()
        os.umask(0o022)     # containers have to pass through directories of ours
        make_out(self.out)
        # Short: the collector's socket is in it, whose path has at most 107 bytes.
        work = pathlib.Path(tempfile.mkdtemp(prefix="fgcompare.", dir="/tmp"))
        code = 1
        try:
            self._prepare()
            self._rows(work)
            code = 0 if all(r["state"] == "done" for r in self.results) and \
                not any("reason" in pair for pair in self.pairs) else 1
        except Interrupted as interrupted:
            code = 128 + interrupted.number
            self.say("interrupted: cleaning up")
        finally:
            for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(one, signal.SIG_IGN)
            left = self.engine.close()
            shutil.rmtree(work, ignore_errors=True)
            for line in left:
                self.say(line)
            if self.results:
                self._write_report()
                self.say(f"the index is {self.out / 'index.html'}")
            else:
                self.out.rmdir()
        return code or (1 if left else 0)
