# SPDX-License-Identifier: Apache-2.0
"""What other users can do to a daemon, and what it costs those who have done nothing: a table.

Each attack is tried anew with a daemon of its own, beside a JVM of another user, the victim. While it
lasts, the daemon is asked for its list, a recording is made of the victim, and a JVM of a third user
begins. After it, the data of both JVMs is looked at. A line of JSON for each attack, then a table for the documentation. With
--before PROGRAM the attacks are first tried on that fgcollect, and the table has both.

Needs root, a JDK 17, and FUSE and userfaultfd for the attacks that never answer.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from bench_place import collector, java, place, processes, settings

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent / "e2e"
HOSTILE_AGENT = settings.BUILD / "tests" / "e2e" / "hostile_agent"
SILENT_STACK = settings.BUILD / "tests" / "e2e" / "silent_stack"
RECORD_SEC = 6
PATIENCE_SEC = 30       # how long a daemon may take for an answer; then the try is over
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
THIRD = ("setpriv", "--reuid", "1001", "--regid", "1001", "--clear-groups")
VICTIM = ("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups")
MIB = 1 << 20

Attack = collections.namedtuple("Attack", "name what begin options all_processes")


class Try:
    """One daemon, one victim, one attack."""

    def __init__(self, here, program, attack):
        self.here, self.program, self.attack = here, program, attack
        self.running, self.ends = [], contextlib.ExitStack()
        self.graphs = here.directory / "graphs"
        self.graphs.mkdir()
        self.longest_answer, self.lost = 0.0, []
        self.daemon = self.victim = self.newcomer = None

    def start(self, args, name, **options):
        """A program that is ended after the attack, in the order of starting."""
        started = processes.Background(args, self.here.directory / f"{name}.log", **options)
        self.running.append(started)
        return started

    def hostile(self, what, count, each):
        return self.start([*NOBODY, HOSTILE_AGENT, self.here.socket, what, count, each], what)

    def start_daemon(self):
        known = subprocess.run([self.program, "--watch", "--help"], capture_output=True, text=True,
                               check=False).stdout
        options = []
        for option, value in self.attack.options:
            options += [option, value] if option in known else []
        self.daemon = processes.Background(
            [self.program, "--watch", *self.here.options(), "--output", self.graphs, "--http",
             "127.0.0.1:0", *options], self.here.directory / "watch.log")
        processes.wait_until(lambda: "watching at" in self.daemon.text, lambda: self.daemon.text)
        self.url = re.search(r"http://\S+(?=/metrics)", self.daemon.text)[0]

    def ask(self, timeout=PATIENCE_SEC):
        """What list --json says; None: no answer in time."""
        began = time.monotonic()
        try:
            answer = processes.run([self.program, "list", "--json", "--socket", self.here.socket],
                                   timeout=timeout)
        except processes.Failed:
            return None
        finally:
            self.longest_answer = max(self.longest_answer, time.monotonic() - began)
        return json.loads(answer.out) if answer.code == 0 else None

    def is_healthy(self):
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return answer.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def row(self, answer, jvm=None):
        pid = (jvm or self.victim).pid
        rows = [row for row in (answer or {}).get("jvms", []) if row["pid"] == pid]
        return rows[0] if rows else None

    def start_victim(self):
        self.victim = processes.Background([*VICTIM, *java(self.here, "KnownShare")],
                                           self.here.directory / "victim.log")
        processes.wait_until(lambda: "ready" in self.victim.text, lambda: self.victim.text)
        processes.wait_until(lambda: (self.row(self.ask()) or {}).get("state") == "current",
                             "the victim's code is known")

    def start_newcomer(self):
        self.newcomer = processes.Background([*THIRD, *java(self.here, "KnownShare")],
                                             self.here.directory / "newcomer.log")
        processes.wait_until(lambda: "ready" in self.newcomer.text, lambda: self.newcomer.text)

    def start_recording(self):
        self.out = self.here.directory / "victim.folded"
        who = ["-a"] if self.attack.all_processes else ["-p", self.victim.pid]
        self.recorder = processes.Background(
            [self.program, "record", *who, "-d", RECORD_SEC, "-F", 99, "-o", self.out,
             *self.here.options()], self.here.directory / "record.log")

    def end_recording(self):
        """What the recording lost, as a list of texts."""
        try:
            finished = self.recorder.wait(PATIENCE_SEC)
        except processes.Failed:
            self.recorder.stop(signal.SIGKILL)
            return [f"the recording: not over within {PATIENCE_SEC} s"]
        if finished.code != 0:
            return [f"the recording: {finished.text.strip().splitlines()[-1]}"]
        ours = collector.folded.Folded.read(self.out).of_root("KnownShare")
        lost, named = [], ours.count(lambda frame: frame == "start_thread")
        missing = re.search(r"(\d+) lost", finished.text)
        if missing and int(missing[1]):
            lost.append(f"{missing[1]} samples")
        if ours.samples < 20:
            lost.append(f"all but {ours.samples} samples")
        elif named < 0.98 * ours.samples:
            lost.append(f"{100 - 100 * named / ours.samples:.0f} % of stacks not whole")
        return lost

    def look_at_newcomer(self, answer):
        row = self.row(answer, self.newcomer)
        return [] if row and row["state"] == "current" and not row["gaps"] else \
            [f"a JVM that began meanwhile: {row['state'] if row else 'not known'}"]

    def look_at_victim(self, answer):
        """What is missing of the victim's data, as a list of texts."""
        row, lost = self.row(answer), []
        if not row:
            return ["all of its data"]
        if row["state"] != "current":
            lost.append(f"its code is {row['state']}")
        for key in ("gaps", "dropped", "map_cut", "lost_inline_tables", "rejected"):
            if row.get(key):
                lost.append(f"{key} {row[key]}")
        try:
            text = self.here.map_file(self.victim.pid).read_text(errors="replace")
        except OSError:
            text = ""
        if "KnownShare" not in text:
            lost.append("its perf map")
        return lost

    def look_at_host(self, disk, peak):
        """What the host lost, as a list of texts."""
        lines = len(self.daemon.text.splitlines())
        return ([f"{disk / MIB:.0f} MiB of disk"] if disk > 64 * MIB else []) + \
            ([f"{peak / MIB:.0f} MiB of memory"] if peak > 1024 * MIB else []) + \
            ([f"{lines} lines of the log"] if lines > 400 else [])

    def wait_until_whole(self):
        """Seconds from now until the daemon answers at once and knows all of the victim."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE_SEC:
            asked = time.monotonic()
            row = self.row(self.ask(10))
            if row and row["state"] == "current" and time.monotonic() - asked < 1 and \
                    self.is_healthy():
                return round(time.monotonic() - began, 1)
            if self.daemon.code is not None:
                break
            time.sleep(0.1)
        return None

    def during(self):
        """Asks until the attack is over, and at least as long as the recording lasts."""
        began, unhealthy, peak, disk = time.monotonic(), 0, 0, 0
        until = began + 60
        while time.monotonic() < until and self.daemon.code is None:
            self.ask()
            unhealthy += not self.is_healthy()
            with contextlib.suppress(OSError, AttributeError):
                status = pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text()
                peak = max(peak, int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10)
            disk = max(disk, self.disk())
            over = all(program.code is not None for program in self.running)
            if time.monotonic() - began > RECORD_SEC and (over or self.recorder.code is not None):
                break
            time.sleep(0.1)
        return unhealthy, peak, disk

    def run(self):
        row = {"attack": self.attack.name}
        self.start_daemon()
        try:
            self.start_victim()
            self.start_recording()
            time.sleep(0.5)
            self.attack.begin(self)
            self.start_newcomer()
            unhealthy, peak, disk = self.during()
            answer = self.ask()
            lost = self.end_recording()
            lost += self.lost + self.look_at_victim(answer) + self.look_at_newcomer(answer)
            lost += self.look_at_host(disk, peak)
            if unhealthy:
                lost.append(f"{unhealthy} probes of its health")
            if self.daemon.code is not None:
                lost.append(f"the daemon: ended with {self.daemon.code}")
            row |= {"longest_answer_s": round(self.longest_answer, 2),
                    "disk_mib": round(disk / MIB), "peak_rss_mib": round(peak / MIB),
                    "log_lines": len(self.daemon.text.splitlines()), "lost": lost}
            turns = (answer or {}).get("collector", {}).get("turns")
            row["worst_turn_ms"] = round(turns["longest_cpu_us"] / 1000, 1) if turns else None
            self.end_attack()
            row["whole_again_s"] = self.wait_until_whole()
        finally:
            self.end_attack()
            for program in (self.newcomer, self.victim, self.daemon):
                if program:
                    program.stop()
            self.ends.close()
        return row

    def end_attack(self):
        for program in self.running:
            program.stop(signal.SIGKILL)
        self.running = []

    def disk(self):
        total = 0
        with os.scandir(self.here.maps) as entries:
            for count, entry in enumerate(entries):
                with contextlib.suppress(OSError):
                    total += entry.stat().st_blocks * 512
                if count > 1000:    # those of the attack, which are empty
                    break
        return total

    def graphs_of_victim(self):
        return {path.name for path in self.graphs.iterdir() if f"-{self.victim.pid}." in path.name}


def hostile(what, count, each):
    return lambda t: t.hostile(what, count, each)


def silent_stacks(t):
    for i in range(4):
        program = t.start([SILENT_STACK], f"silent{i}")
        processes.wait_until(lambda p=program: "ready" in p.text or p.code is not None, "it spins")
        if program.code is not None:
            raise SystemExit(f"userfaultfd is not to be had here: {program.text}")


def silent_tmp(t):
    """The /tmp of a process, in which its perf map would be, answers nothing."""
    own = t.start(["unshare", "--mount", *NOBODY, *java(t.here, "Primes")], "own")
    processes.wait_until(lambda: "ready" in own.text, lambda: own.text)
    silent = t.start(["nsenter", "--target", own.pid, "--mount", sys.executable,
                      E2E / "silent_files.py", "/tmp"], "silent")
    t.running.insert(0, t.running.pop())
    processes.wait_until(lambda: "ready" in silent.text, lambda: silent.text)


def silent_libraries(t):
    sys.path.insert(0, str(E2E))
    from harness import library  # pylint: disable=import-outside-toplevel
    path = t.here.directory / "lib.so"
    mapped = library.write(path)
    directory = tempfile.mkdtemp(prefix="fgsilent-")
    os.chmod(directory, 0o755)
    t.ends.callback(os.rmdir, directory)
    t.ends.callback(subprocess.run, ["umount", "--lazy", directory], check=False)
    silent = t.start([sys.executable, E2E / "silent_files.py", directory, path, 6], "silent")
    processes.wait_until(lambda: "ready" in silent.text, lambda: silent.text)
    for i in range(6):
        t.start([*NOBODY, settings.BUILD / "tests/e2e/call_file", f"{directory}/file{i}",
                 library.TEXT_OFFSET, mapped], f"caller{i}")
    os.kill(silent.pid, signal.SIGUSR1)


def hanging(kind):
    def begin(t):
        directory = tempfile.mkdtemp(prefix="fghanging-")
        os.chmod(directory, 0o755)
        t.ends.callback(os.rmdir, directory)
        t.ends.callback(subprocess.run, ["umount", "--lazy", directory], check=False)
        program = t.start([settings.BUILD / "tests/e2e/hanging_process", kind, directory], kind)
        processes.wait_until(lambda: "ready" in program.text, lambda: program.text)
    return begin


def http_clients(kind, count):
    def begin(t):
        host, _, port = t.url.rpartition("/")[2].partition(":")
        t.start([sys.executable, E2E / "hanging_clients.py", kind, count, 12, host, port], kind)
    return begin


def end_period(t):
    os.kill(t.daemon.pid, signal.SIGHUP)
    time.sleep(1)


def short_jvms(t):
    """The victim has a history, then comes that of 456 others."""
    for _ in range(4):
        end_period(t)
    before = t.graphs_of_victim()
    if len(before) < 3:
        raise SystemExit(f"the victim has too little history to lose:\n{t.daemon.text}")
    program = t.hostile("short", 4, 114)
    processes.wait_until(lambda: program.code is not None, "they have ended")
    for _ in range(3):
        end_period(t)
    gone = before - t.graphs_of_victim()
    if gone:
        t.lost.append(f"{len(gone)} of {len(before)} graphs")


def many_files(t):
    os.chmod(t.here.maps, 0o1777)
    program = t.start([*NOBODY, sys.executable, "-c",
                       "import os, sys\nos.chdir(sys.argv[1])\nfor i in range(400000):\n"
                       "    os.close(os.open(f'perf-{i + 5000000}.map', os.O_CREAT | os.O_WRONLY))",
                       t.here.maps], "files")
    processes.wait_until(lambda: program.code is not None, "the files are there")


ATTACKS = [
    Attack("none", "nothing: what a recording takes by itself", lambda t: None, [], True),
    Attack("names", "20 processes send 172 MiB of names", hostile("names", 20, 10_000),
           [("--map-bytes", "32M")], False),
    Attack("mappings", "50 processes with 60,000 mappings each connect",
           hostile("mappings", 50, 60_000), [], False),
    Attack("mappings-all", "the same processes beside `record -a`",
           hostile("mappings", 50, 60_000), [], True),
    Attack("reconnect", "20 processes connect 3,000 times each", hostile("reconnect", 20, 3000), [],
           False),
    Attack("garbage", "20 processes connect 3,000 times each and send what no agent sends",
           hostile("garbage", 20, 3000), [], False),
    Attack("unfinished", "30 processes begin a message of 4,000 KiB and do not end it",
           hostile("unfinished", 30, 4000), [], False),
    Attack("slots", "4,200 processes connect once and stay", hostile("mappings", 4200, 1), [],
           False),
    Attack("lines", "100,000 methods with a thousand lines each that no class file can hold",
           hostile("lines", 1, 100_000), [], False),
    Attack("frames", "40 processes send inline tables of many frames in few bytes",
           hostile("frames", 40, 2), [], False),
    Attack("methods", "30 inline tables of 60,000 methods", hostile("methods", 1, 30), [], False),
    Attack("all", "14 processes send names, lines and frames without end", hostile("all", 14, 30),
           [], False),
    Attack("silent-stack", "4 stacks lie in memory that never answers", silent_stacks, [], True),
    Attack("silent-tmp", "the `/tmp` of a JVM never answers", silent_tmp, [], True),
    Attack("silent-libraries", "6 mapped libraries never answer", silent_libraries, [], True),
    Attack("hanging-exec", "a process does not come to the end of `execve`", hanging("exec"), [],
           True),
    Attack("hanging-connect", "a listening socket lies in a file system that does not answer",
           hanging("connect"), [], True),
    Attack("http-half", "300 HTTP clients send half a request", http_clients("half", 300), [],
           False),
    Attack("history", "456 short JVMs, room for 4 MiB of graphs", short_jvms,
           [("--keep-bytes", "4M"), ("--frequency", "99")], False),
    Attack("files", "400,000 files in the directory of perf maps", many_files, [], False),
]


def tries_of(program, attack, count):
    """The worst of so many tries."""
    worst = {"attack": attack.name, "tries": count, "lost": []}
    for _ in range(count):
        with place() as here:
            row = Try(here, program, attack).run()
        worst["lost"] += [text for text in row["lost"] if text not in worst["lost"]]
        for key in ("longest_answer_s", "worst_turn_ms", "disk_mib", "peak_rss_mib", "log_lines",
                    "whole_again_s"):
            both = [worst.get(key, 0), row[key]]
            worst[key] = None if None in both else max(both)
    return worst


def cells(row):
    """Worst turn or answer, what was lost, and the time until all is whole."""
    turn = row["worst_turn_ms"]
    whole = row["whole_again_s"]
    return [f"{turn} ms" if turn is not None else f"answer {row['longest_answer_s']} s",
            ", ".join(row["lost"]) or "nothing",
            "never" if whole is None else f"{whole:.1f} s"]


def print_table(attacks, before, after):
    print("\n| attack | tries |" + (" before: worst turn | the victim lost | whole again |" if before
                                     else "") + " worst turn | the victim lost | whole again |")
    print("|---|---|" + "---|" * (6 if before else 3))
    for attack in attacks:
        columns = [attack.what, str(after[attack.name]["tries"])]
        if before:
            columns += cells(before[attack.name])
        print("| " + " | ".join(columns + cells(after[attack.name])) + " |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--before", metavar="PROGRAM", help="an earlier fgcollect")
    arguments.add_argument("--tries", type=int, default=3)
    arguments.add_argument("attacks", nargs="*", help="names; all unless given")
    options = arguments.parse_args()
    chosen = [a for a in ATTACKS if not options.attacks or a.name in options.attacks]
    if not chosen or os.geteuid() != 0:
        sys.exit("run as root; attacks: " + " ".join(a.name for a in ATTACKS))
    results = {}
    for program in filter(None, (options.before, settings.COLLECTOR)):
        for attack in chosen:
            row = tries_of(program, attack, options.tries)
            results.setdefault(str(program), {})[attack.name] = row
            print(json.dumps({"program": str(program), **row}), flush=True)
    print_table(chosen, results.get(options.before), results[str(settings.COLLECTOR)])
    hurt = [row for row in results[str(settings.COLLECTOR)].values()
            if row["lost"] or row["whole_again_s"] is None]
    sys.exit(1 if hurt else 0)


if __name__ == "__main__":
    main()
