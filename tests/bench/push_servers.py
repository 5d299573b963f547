# SPDX-License-Identifier: Apache-2.0
"""Profiles pushed to real servers, read back and compared with a store, also over outages.

  push_servers.py --pyroscope http://127.0.0.1:4040 --pyroscope-command ./run-pyroscope
                  --otel http://127.0.0.1:4318 --otel-file out.json --otel-command ./run-collector

The servers are yours, and their commands start them; each is ended by SIGTERM. A Collector writes
what it gets by its exporter `file`, with `append: true`. At least one server is needed.

Three stretches, each with a daemon that pushes to all servers, and writes a store beside: what the
store has is what the servers must have, each stack of each JVM and kind with its weight.

  steady   JVMs that rest most of the time, for --minutes
  outage   the same for a shorter time; the servers are stopped for --outage minutes. Nothing is lost
  overrun  during the same outage a second daemon keeps its spool for a minute alone. What is lost is
           what its counters say

A row says how many samples of processor time the store, the counters and a server have, and how many
of the stacks differ. Profiles that were under way when a server ended are in doubt, and a server may
have them or not; no other difference is allowed. Exit 1 if there is one.
"""

import argparse
import collections
import contextlib
import gzip
import json
import os
import pathlib
import shlex
import sys
import time
import urllib.error
import urllib.request

from bench_place import collector, java, place, processes, settings
from harness import push_server

FLAGS = ("-Xmx16m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
RECORDED = "cpu,wall,alloc,lock,exceptions"
# kind -> the type of Pyroscope's, and which value of our own pprof it is
KINDS = {
    "cpu": ("process_cpu:samples:count:cpu:nanoseconds", 0),
    "cpu time": ("process_cpu:cpu:nanoseconds:cpu:nanoseconds", 1),
    "wall": ("wall:wall:nanoseconds:wall:nanoseconds", 0),
    "alloc": ("memory:alloc_space:bytes:space:bytes", 0),
    "objects": ("memory:alloc_objects:count:space:bytes", 0),
    "lock": ("mutex:delay:nanoseconds:mutex:count", 0),
    "contentions": ("mutex:contentions:count:mutex:count", 0),
    "exceptions": ("exceptions:exceptions:count:exceptions:count", 0),
}
MINE = {"Resting.main": "Resting.java", "KnownShare$Hot.run": "KnownShare.java"}
SHARES = {"KnownShare$Hot.run": 0.6, "KnownShare$Warm.run": 0.3, "KnownShare$Cold.run": 0.1}

arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                    epilog="\n".join(__doc__.splitlines()[2:]),
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--pyroscope", metavar="URL")
arguments.add_argument("--pyroscope-command", metavar="COMMAND", type=shlex.split)
arguments.add_argument("--otel", metavar="URL")
arguments.add_argument("--otel-file", metavar="FILE", type=pathlib.Path)
arguments.add_argument("--otel-command", metavar="COMMAND", type=shlex.split)
arguments.add_argument("--jvms", type=int, default=20)
arguments.add_argument("--percent", type=float, default=2, help="of a CPU, that a JVM takes")
arguments.add_argument("--minutes", type=float, default=10)
arguments.add_argument("--outage", type=float, default=10, help="minutes")
arguments.add_argument("--only", choices=("steady", "outage"))
arguments.add_argument("--hz", type=int, default=99)
options = arguments.parse_args()
if not options.pyroscope and not options.otel:
    arguments.error("a server is needed")
if options.otel and not options.otel_file:
    arguments.error("--otel goes with --otel-file")


class Server:
    """A program that is started and ended."""

    def __init__(self, command, log):
        self.command, self.log, self.program = command, log, None

    def start(self):
        if self.command:
            self.program = processes.Background(self.command, self.log, start_new_session=True)
        processes.wait_until(self.is_ready, f"{self.name} is ready", timeout=300, every=1)

    def stop(self):
        """Returns how long the server took to end."""
        began = time.monotonic()
        if self.program:
            self.program.child.terminate()
            with contextlib.suppress(Exception):
                self.program.child.wait(150)
            if self.program.code is None:
                print(f"{self.name} does not end by SIGTERM and is killed", flush=True)
                self.program.child.kill()
                self.program.child.wait()
        return time.monotonic() - began


class Pyroscope(Server):
    name = "pyroscope"

    @property
    def target(self):
        return f"pyroscope+{options.pyroscope}"

    def is_ready(self):
        try:
            with urllib.request.urlopen(options.pyroscope + "/ready", timeout=5) as answer:
                return answer.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def ask(self, method, **query):
        query.setdefault("start", int((time.time() - 7200) * 1000))
        query.setdefault("end", int((time.time() + 600) * 1000))
        request = urllib.request.Request(
            f"{options.pyroscope}/querier.v1.QuerierService/{method}",
            data=json.dumps(query).encode(), headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def stacks(self, service, kind):
        """Stacks by their names with their weights, and the files of names."""
        found = self.ask("SelectMergeProfile", profileTypeID=KINDS[kind][0],
                         labelSelector=f'{{service_name="{service}"}}')
        texts = found.get("stringTable", [""])
        functions = {f["id"]: (texts[int(f.get("name", 0))], texts[int(f.get("filename", 0))])
                     for f in found.get("function", [])}
        places = {p["id"]: [functions[line["functionId"]] for line in p.get("line", [])]
                  for p in found.get("location", [])}
        stacks, files = collections.Counter(), {}
        for sample in found.get("sample", []):
            frames = [frame for at in sample["locationId"] for frame in places[at]]
            files.update(frames)
            stacks[tuple(name for name, _ in frames)] += int(sample["value"][0])
        return stacks, files

    def labels(self, service):
        """Labels that are the series', each of which all series of the service must have alike."""
        rows = self.ask("Series", matchers=[f'{{service_name="{service}"}}'])["labelsSet"]
        return {frozenset((pair["name"], pair["value"]) for pair in row["labels"]
                          if not pair["name"].startswith("__")) for row in rows}

    def flaws(self, services, begin, end):
        """What is wrong besides the weights."""
        wrong = []
        types = {row["ID"] for row in self.ask("ProfileTypes")["profileTypes"]}
        missing = {name for name, _ in KINDS.values()} - types
        if missing:
            wrong.append(f"types {sorted(missing)} are missing")
        known = self.ask("LabelValues", name="service_name")["names"]
        wrong += [f"service {name} is missing" for name in services if name not in known]
        if "env" not in self.ask("LabelNames")["names"]:
            wrong.append("the label env is missing")
        for service in services:
            labels = self.labels(service)
            if len(labels) != 1 or ("env", "bench") not in next(iter(labels)):
                wrong.append(f"labels of {service}: {[sorted(row) for row in labels]}")
        points = [int(point["timestamp"]) / 1000
                  for name in services[:1]
                  for series in self.ask("SelectSeries", profileTypeID=KINDS["cpu"][0], step=15,
                                         labelSelector=f'{{service_name="{name}"}}')["series"]
                  for point in series["points"]]
        if not points or min(points) < begin - 30 or max(points) > end + 30:
            wrong.append(f"times from {min(points, default=0) - begin:.0f} s on")
        return wrong


class Collector(Server):
    name = "otel"

    def __init__(self, command, log):
        super().__init__(command, log)
        self.read, self.at = collections.defaultdict(collections.Counter), 0
        self.files, self.attributes = collections.defaultdict(dict), {}

    @property
    def target(self):
        return f"otlp+{options.otel}"

    def is_ready(self):
        try:
            urllib.request.urlopen(options.otel, timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def read_on(self):
        """What the exporter has written since the last time."""
        with open(options.otel_file, "rb") as file:
            file.seek(self.at)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self.at += len(line)
                self.take(json.loads(line))

    def take(self, message):
        tables = message["dictionary"]
        texts = tables["stringTable"]

        def text(row, key):
            return texts[row.get(key, 0)]
        functions = [(text(row, "nameStrindex"), text(row, "filenameStrindex"))
                     for row in tables["functionTable"]]
        places = [[functions[line["functionIndex"]] for line in row.get("lines", [])]
                  for row in tables["locationTable"]]
        for resource in message["resourceProfiles"]:
            # The Collector writes texts of attributes as texts, or as numbers of the table.
            attributes = {}
            for row in resource["resource"]["attributes"]:
                value = row["value"]
                attributes[row["key"] if "key" in row else text(row, "keyStrindex")] = \
                    value["stringValue"] if "stringValue" in value \
                    else text(value, "stringValueStrindex")
            service = attributes["service.name"]
            self.attributes.setdefault(service, set()).add(frozenset(attributes.items()))
            for scope in resource["scopeProfiles"]:
                for profile in scope["profiles"]:
                    kind = (text(profile["sampleType"], "typeStrindex"),
                            text(profile["sampleType"], "unitStrindex"))
                    for sample in profile["samples"]:
                        frames = [frame for at in tables["stackTable"][sample["stackIndex"]]
                                  ["locationIndices"] for frame in places[at]]
                        self.files[service].update(frames)
                        self.read[service, kind][tuple(name for name, _ in frames)] += sum(
                            map(int, sample["values"]))

    def stacks(self, service, kind):
        self.read_on()
        name, unit = KINDS[kind][0].split(":")[1:3]
        # By OTLP a profile of cpu has samples alone.
        factor = 10**9 // options.hz if kind == "cpu time" else 1
        found = self.read[service, ("samples", "count") if kind == "cpu time" else (name, unit)]
        return (collections.Counter({stack: n * factor for stack, n in found.items()}),
                self.files[service])

    def flaws(self, services, _begin, _end):
        return [f"attributes of {name}: {self.attributes.get(name)}" for name in services
                if len(self.attributes.get(name, ())) != 1
                or ("env", "bench") not in next(iter(self.attributes[name]))]


class Stretch:
    """A daemon with JVMs of its own; what the servers have of it is known by its services."""

    def __init__(self, here, name, servers, *more, jvms):
        self.name, self.servers = name, servers
        directory = here.directory / name
        directory.mkdir()
        self.here, self.begin = collector.Place(directory), time.time()
        self.store, self.spool, self.more = directory / "store", directory / "spool", more
        self.services = [f"{name}-{os.getpid()}-{n}" for n in range(jvms)]
        # JVMs of others on this host are no part of it.
        self.rules = directory / "rules.yaml"
        self.rules.write_text(f"- {{source_labels: [service_name], action: keep, "
                              f"regex: '{name}-{os.getpid()}-.*'}}\n")
        self.daemon = None
        self.start_daemon()
        self.jvms = [processes.Background(
            ["nice", "-n", "5", *java(self.here, "Resting", f"percent={options.percent}", flags=FLAGS)],
            directory / f"{service}.log", env={"OTEL_SERVICE_NAME": service})
            for service in self.services]

    def start_daemon(self):
        targets = [word for server in self.servers for word in ("--push", server.target)]
        self.daemon = collector.Watch(
            self.here, *targets, "--kind", RECORDED, "-F", options.hz, "--store", self.store,
            "--push-spool", self.spool, "--push-label", "env=bench",
            "--push-relabel", self.rules, *self.more).started()

    def push(self):
        return self.daemon.list_json()["collector"]["push"]

    def settle(self, timeout=1800):
        processes.wait_until(lambda: not any(self.push()["profiles_waiting"].values()),
                             "nothing waits", timeout=timeout, every=1)

    def end(self):
        """Ends the JVMs, then the daemon, when all was sent."""
        for jvm in self.jvms:
            jvm.stop()
        period = self.push()["periods"]
        processes.wait_until(lambda: self.push()["periods"] >= period + 2, "the last period is over",
                             timeout=120, every=1)
        self.settle()
        self.counters = self.push()
        self.daemon.stop()
        for line in self.daemon.text.splitlines():
            if any(f": {server.target}: " in line for server in self.servers):
                print(f"{self.name} says {line}", flush=True)

    def stop(self):
        for program in [*self.jvms, self.daemon]:
            program.stop()

    def truth(self, pid, kind):
        finished = processes.run(
            [settings.COLLECTOR, "render", "--store", self.store, "--from", "-1d", "-p", pid,
             "--kind", kind.split()[0], "-f", "pb.gz", "-o", self.here.directory / "truth.pb.gz"])
        if finished.code != 0:
            raise processes.Failed(str(finished))
        data = gzip.decompress((self.here.directory / "truth.pb.gz").read_bytes())
        profile = push_server.decode(data, "pprof", is_file=True)
        texts = profile["string_table"]
        names = {f["id"]: texts[f["name"]] for f in profile["function"]}
        places = {p["id"]: [names[line["function_id"]] for line in p["line"]]
                  for p in profile["location"]}
        stacks = collections.Counter()
        for sample in profile["sample"]:
            stack = [name for at in sample["location_id"] for name in places[at]]
            stacks[tuple(stack)] += sample["value"][KINDS[kind][1]]
        return stacks

    def processes(self):
        """PID and kinds of each service."""
        finished = processes.run([settings.COLLECTOR, "history", "--store", self.store, "--json"])
        return {row["labels"]["service.name"]: (row["pid"], [k["kind"] for k in row["kinds"]])
                for row in json.loads(finished.out)["processes"]
                if "service.name" in row["labels"]}

    def rows(self):
        """A row for each server; returns whether all are as they should be."""
        found, good = self.processes(), True
        ends = ("sent", "refused", "in_doubt", "dropped_full", "dropped_old", "dropped_failed")
        for server in self.servers:
            count = {end: self.counters[f"samples_{end}"][server.target] for end in ends}
            profiles = {end: self.counters[f"profiles_{end}"][server.target] for end in ends}
            sums, totals, differing, stacks = collections.Counter(), collections.Counter(), 0, 0
            files, shares = {}, collections.Counter()
            for service in self.services:
                pid, kinds = found[service]
                for kind in KINDS:
                    if kind.split()[0] not in kinds:
                        continue
                    ours = self.truth(pid, kind)
                    theirs, names = server.stacks(service, kind)
                    files.update((k, v) for k, v in names.items() if k in MINE)
                    sums[kind] += sum(ours.values())
                    totals[kind] += sum(theirs.values())
                    stacks += len(ours)
                    differing += sum(ours[s] != theirs[s] for s in ours.keys() | theirs.keys())
                    if kind == "cpu":
                        for stack, n in theirs.items():
                            shares.update({name: n for name in SHARES if name in stack})
            lost = sum(count.values()) - count["sent"]
            surely = lost - count["in_doubt"]
            missing = sums["cpu"] - totals["cpu"]
            ok = surely <= missing <= lost and sum(count.values()) == sums["cpu"]
            if sum(profiles.values()) == profiles["sent"]:
                ok &= differing == 0
            wrong = server.flaws(self.services, self.begin, time.time())
            wrong += [f"{name} is in {files.get(name)}" for name, file in MINE.items()
                      if not (files.get(name) or "").endswith(file)]
            print(f"figure {self.name} {server.name}: store {sums['cpu']:,} samples of cpu, "
                  f"server {totals['cpu']:,}, "
                  + ", ".join(f"{end} {count[end]:,} ({profiles[end]:,} profiles)" for end in ends
                              if profiles[end])
                  + f"; {differing} of {stacks:,} stacks differ in {len(sums)} kinds; "
                  + ", ".join(f"{name.split('$')[1]} {shares[name] / max(1, sum(shares.values())):.3f}"
                              for name in SHARES)
                  + ("" if ok else "; WRONG"), flush=True)
            for kind in KINDS:
                print(f"  {kind}: {sums[kind]:,} in the store, {totals[kind]:,} in {server.name}")
            print("".join(f"  WRONG: {flaw}\n" for flaw in wrong), end="", flush=True)
            good &= ok and not wrong
        return good


def steady(here, servers):
    stretch = Stretch(here, "steady", servers, jvms=options.jvms)
    try:
        time.sleep(options.minutes * 60)
        stretch.end()
        return stretch.rows()
    finally:
        stretch.stop()


def outage(here, servers):
    stretches = [Stretch(here, "outage", servers, jvms=options.jvms),
                 Stretch(here, "overrun", servers, "--push-spool-age", "1m", jvms=2)]
    try:
        time.sleep(60)
        print("the servers end after "
              + ", ".join(f"{server.stop():.0f} s" for server in servers), flush=True)
        time.sleep(options.outage * 60)
        for stretch in stretches:
            print(f"{stretch.name}: waiting {stretch.push()['profiles_waiting']}, "
                  f"dropped {stretch.push()['profiles_dropped_old']}", flush=True)
        for server in servers:
            server.start()
        began = time.monotonic()
        for stretch in stretches:
            stretch.settle()
        print(f"nothing waits {time.monotonic() - began:.0f} s after the start", flush=True)
        time.sleep(30)
        for stretch in stretches:
            stretch.end()
        return all([stretch.rows() for stretch in stretches])
    finally:
        for stretch in stretches:
            stretch.stop()


def main():
    with place() as here:
        servers = []
        if options.pyroscope:
            servers.append(Pyroscope(options.pyroscope_command, here.directory / "pyroscope.log"))
        if options.otel:
            servers.append(Collector(options.otel_command, here.directory / "otel.log"))
        good = True
        try:
            for server in servers:
                server.start()
            if options.only != "outage":
                good &= steady(here, servers)
            if options.only != "steady" and options.outage > 0:
                good &= outage(here, servers)
        finally:
            for server in servers:
                server.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
