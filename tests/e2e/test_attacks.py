# SPDX-License-Identifier: Apache-2.0
"""What a container or another user can do to the daemon; who has done nothing loses nothing."""

import json
import os
import pathlib
import re
import select
import signal
import socket
import time

from harness import collector, processes, settings
from harness.case import Case
from harness.marks import counted

HOSTILE_AGENT = settings.BUILD / "tests" / "e2e" / "hostile_agent"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
HANGING_PROCESS = settings.BUILD / "tests" / "e2e" / "hanging_process"
MANY_STACKS = settings.BUILD / "tests" / "e2e" / "many_stacks"
MIB = 1 << 20


class Client:
    """A client of the control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(settings.DEADLINE_SEC)
        self.socket.connect(str(path))

    def send(self, **request):
        self.socket.send(json.dumps(request).encode())

    def take(self):
        """The answer, and the bytes that came with it."""
        text, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 16, 1)
        content = b""
        for descriptor in descriptors:
            with open(descriptor, "rb") as stream:
                stream.seek(0)
                content = stream.read()
        return json.loads(text), content

    def ask(self, **request):
        self.send(**request)
        return self.take()[0]


@counted
class Attacks(Case):
    def attack(self, what, count, each, prefix=NOBODY):
        """Starts so many processes of a user that has nothing to do with the victims."""
        return self.background([*prefix, HOSTILE_AGENT, self.place.socket, what, count, each],
                               f"hostile-{what}")

    def victim(self, daemon):
        jvm = self.container("Mixed", options=("--user", "1000"))
        jvm.wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        return jvm

    def bytes_of_maps(self, daemon):
        total = 0
        for path in pathlib.Path(daemon.place.maps).iterdir():
            try:
                total += path.stat().st_blocks * 512
            except FileNotFoundError:
                pass
        return total

    def test_names_without_end_fill_no_disk(self):
        daemon = self.watch("--map-bytes", "32M")
        jvm = self.victim(daemon)
        hostile = self.attack("names", 20, 10_000)
        most = 0
        while hostile.code is None:
            most = max(most, self.bytes_of_maps(daemon))
            time.sleep(0.02)
        self.assertEqual(hostile.code, 0, hostile.text)
        row = daemon.jvm(jvm.pid)
        maps = daemon.list_json()["collector"]["perf_maps"]
        sent = 20 * 10_000 * 900
        print(f"sent {sent / MIB:.0f} MiB of names, at most {most / MIB:.1f} MiB in maps; {maps}")
        self.assertLess(most, 32 * MIB)
        self.assertGreater(most, 16 * MIB)
        processes.wait_until(lambda: len(daemon.list_json()["jvms"]) == 1,
                             lambda: f"all have ended: {daemon.list().text}")
        self.assertLess(self.bytes_of_maps(daemon), 26 * MIB)
        self.assertEqual(row["map_cut"], 0, row)
        self.assertGreater(row["map_bytes"], 0, row)
        ours = daemon.read_map(jvm.pid)
        self.assertRegex(ours, re.compile(r"^[0-9a-f]+ [0-9a-f]+ .*LMixed;", re.M))
        self.assertEqual(daemon.stop().code, 0)

    def parsers_of(self, daemon):
        """PIDs of the daemon's parsers: the children of the zygote, which is its child's child."""
        parents = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, _, rest = path.read_text().partition(" (")
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(pid)] = int(rest.rpartition(")")[2].split()[1])
        keepers = {pid for pid, parent in parents.items() if parent == daemon.pid}
        zygotes = {pid for pid, parent in parents.items() if parent in keepers}
        return [pid for pid, parent in parents.items() if parent in zygotes]

    def status_of(self, pid):
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        return dict(re.findall(r"^(\w+):\s*(.*)$", text, re.M))

    def test_parsers_that_die_cost_names_and_no_recording(self):
        """As if each file crashed whatever reads it. What the JVM's agent says needs no file."""
        daemon = self.watch()
        jvm = self.victim(daemon)
        out = self.directory / "crashed.folded"
        recording = self.background([settings.COLLECTOR, "record", "-d", "4", "-F", "199", "-o", out,
                                     *self.place.options()], "record")
        killed, checked = set(), False
        while recording.code is None:
            for pid in self.parsers_of(daemon):
                try:
                    if not checked:
                        status = self.status_of(pid)
                        uids = set(status["Uid"].split())
                        self.assertEqual(len(uids), 1, status)  # nobody else's, see rights.h
                        self.assertIn(int(uids.pop()), range(0x70000000, 0x78000000), status)
                        self.assertEqual(int(status["CapEff"], 16), 0, status)
                        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
                        checked = True
                    os.kill(pid, signal.SIGSEGV)
                    killed.add(pid)
                except (FileNotFoundError, ProcessLookupError):
                    pass
        self.assertEqual(recording.code, 0, recording.text)
        self.assertTrue(checked)
        parsers = daemon.list_json()["collector"]["parsers"]
        print(f"{len(killed)} parsers were killed: {parsers}")
        self.assertGreater(parsers["died"], 0, parsers)
        self.assertTrue(parsers["running"], parsers)
        self.assertIn("Mixed", out.read_text())  # its methods
        self.assertEqual(self.status_of(daemon.pid)["NoNewPrivs"], "1")
        # Another JVM's files, that nobody made anything die for, have names.
        other = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(other.pid)
        recorded = collector.record(self.place, "-p", other.pid, seconds=2)
        self.assertGreater(recorded.folded.with_method("KnownShare$Hot.run"), 0, str(recorded))
        self.assertEqual(daemon.jvm(jvm.pid)["state"], "current")
        self.assertEqual(daemon.stop().code, 0)
        processes.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists()
                                             for pid in self.parsers_of(daemon)), "parsers end")

    def turns_during(self, daemon, hostile):
        """The most processor time of a turn, and the longest answer, while that program runs."""
        longest = 0
        while hostile.code is None:
            began = time.monotonic()
            daemon.list_json()
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.1)
        self.assertEqual(hostile.code, 0, hostile.text)
        turns = daemon.list_json()["collector"]["turns"]
        print(f"a turn took {turns['longest_us'] / 1e3:.1f} ms at most, "
              f"{turns['longest_cpu_us'] / 1e3:.1f} ms of processor time, "
              f"an answer {longest * 1e3:.0f} ms; by stage, in us: {turns['longest_stage_us']}")
        return turns

    def hang(self, kind, name=None):
        """The PID of a process of another user that hangs by a file system of its own."""
        directory = self.directory / (name or kind)
        directory.mkdir(mode=0o755)
        self.addCleanup(processes.run, ["umount", "--lazy", directory])
        program = self.silent_program(["env", f"TMPDIR={directory}", HANGING_PROCESS, kind,
                                       directory], f"hanging-{name or kind}")
        processes.wait_until(lambda: "ready" in program.text or program.code is not None,
                             lambda: f"it hangs: {program.text}")
        return int(re.search(r"ready (\d+)", program.text)[1])

    # tests/source/test_loop.py holds the sources to this list.
    def test_what_the_loop_asks_for_answers_while_a_process_hangs(self):
        pid = self.hang("exec")
        for name in ("status", "statm", "cgroup", "comm", "uid_map", "mountinfo",
                     "timens_offsets", f"task/{pid}/status", f"task/{pid}/comm"):
            self.assertEqual(processes.run(["cat", f"/proc/{pid}/{name}"]).code, 0, name)
        self.assertEqual(processes.run(["stat", f"/proc/{pid}"]).code, 0)
        self.assertEqual(processes.run(["ls", f"/proc/{pid}/task"]).code, 0)
        descriptor = os.pidfd_open(pid)
        self.addCleanup(os.close, descriptor)
        self.assertEqual(select.select([descriptor], [], [], 0)[0], [])
        os.kill(pid, 0)

    # The loop stood until the server of the file system ended, which it need not do.
    def test_processes_that_hang_stop_nobody(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        out = self.directory / "beside.folded"
        recording = self.background([settings.COLLECTOR, "record", "-a", "-d", "4", "-F", "99",
                                     "-o", out, *self.place.options()], "record")
        in_exec, dialled = self.hang("exec"), self.hang("connect")
        longest = 0
        for what, pid in (("unanswered", in_exec), ("left_calls", dialled)):
            processes.wait_until(lambda w=what: daemon.list_json()["collector"]["guarded"][w] > 0,
                                 lambda p=pid: f"PID {p} is asked: {daemon.text}")
        while recording.code is None:
            began = time.monotonic()
            daemon.list_json()
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.1)
        self.assertEqual(recording.code, 0, recording.text)
        self.assertIn("Mixed", out.read_text())
        row = daemon.jvm(jvm.pid)
        self.assertEqual((row["state"], row["gaps"]), ("current", 0), row)
        began = time.monotonic()
        self.assertEqual(daemon.stop().code, 0)
        print(f"an answer took {longest * 1e3:.0f} ms at most, the end "
              f"{(time.monotonic() - began) * 1e3:.0f} ms")

    def end(self, daemon, signal_number):
        """How long the daemon's process is there after the signal: all of its threads."""
        began = time.monotonic()
        os.kill(daemon.pid, signal_number)
        daemon.wait()
        return time.monotonic() - began

    # A thread that reads such a page ended by no signal, nor does a program that has such a file open.
    def test_a_daemon_ends_while_a_file_system_holds_what_it_reads(self):
        for kind in ("pages", "flush"):
            for signal_number in (signal.SIGTERM, signal.SIGKILL):
                with self.subTest(kind=kind, signal=signal_number.name):
                    self.end_beside(kind, signal_number)

    def end_beside(self, kind, signal_number):
        daemon = self.watch()
        name = f"{kind}-{signal_number.name}"
        self.background([settings.COLLECTOR, "record", "-a", "-d", "60", "-F", "99", "-o",
                         self.directory / f"{name}.folded", *self.place.options()], name)
        processes.wait_until(lambda: daemon.list_json()["collector"]["kept"]["recordings"] == 1,
                             lambda: daemon.list().text)
        self.hang(kind, name)
        processes.wait_until(lambda: daemon.list_json()["collector"]["guarded"]["unanswered"] > 0,
                             lambda: f"it is read: {daemon.text}")
        began = time.monotonic()
        daemon.list_json()
        answered = time.monotonic() - began
        took = self.end(daemon, signal_number)
        print(f"{name}: an answer took {answered * 1e3:.0f} ms, the end {took * 1e3:.0f} ms")
        self.assertLess(answered, 1)
        self.assertLess(took, 3)

    # The loop waited for that file, and for nothing that SIGTERM ends.
    def test_a_file_system_in_a_perf_maps_place_stops_nobody(self):
        place = self.place.map_file(4194500)  # larger than a PID is here
        place.write_text("")
        self.addCleanup(processes.run, ["umount", "--lazy", place])
        program = self.silent_program([HANGING_PROCESS, "place", place], "hanging-place")
        processes.wait_until(lambda: "ready" in program.text or program.code is not None,
                             lambda: f"it hangs: {program.text}")
        daemon = self.watch()
        jvm = self.victim(daemon)
        self.assertRegex(daemon.read_map(jvm.pid), "Mixed")
        self.assertLess(self.end(daemon, signal.SIGTERM), 3)
        self.assertEqual(daemon.code, 0, daemon.text)

    def waiting_holders(self):
        """PIDs of processes that wait for the kernel, which opens a probe for them."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = path.read_text().rpartition(") ")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if name.endswith("(fgcollect-hold") and rest.startswith("D"):
                found.append(int(path.parent.name))
        return found

    # From the holder's wait until the lock is let go nothing on this host forks: no program is
    # started here meanwhile.
    def test_a_held_lock_of_mappings_keeps_no_daemon(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        directory = self.directory / "lock"
        directory.mkdir(mode=0o755)
        self.addCleanup(processes.run, ["umount", "--lazy", directory])
        maps = pathlib.Path(f"/proc/{jvm.pid}/maps").read_text()
        agent = re.search(r"/\S*libfgagent\S*", maps)[0]
        program = self.silent_program([HANGING_PROCESS, "lock", directory,
                                       f"/proc/{jvm.pid}/root{agent}"], "hanging-lock")
        processes.wait_until(lambda: "ready" in program.text or program.code is not None,
                             lambda: f"it hangs: {program.text}")
        client = Client(self.place.control)
        recording = self.background([settings.COLLECTOR, "record", "--kind", "alloc", "-p",
                                     jvm.pid, "-d", "60", "-o", self.directory / "lock.html",
                                     *self.place.options()], "lock-record")
        processes.wait_until(self.waiting_holders, lambda: f"a probe is opened: {daemon.text}")
        os.kill(recording.pid, signal.SIGKILL)  # nobody waits for a graph
        began = time.monotonic()
        client.ask(op="list", json=True)
        answered = time.monotonic() - began
        client.socket.close()  # or it would be waited for
        took = self.end(daemon, signal.SIGTERM)
        is_held = program.code is None
        os.kill(program.pid, signal.SIGKILL)
        print(f"an answer took {answered * 1e3:.0f} ms, the end {took * 1e3:.0f} ms")
        self.assertTrue(is_held, "the daemon ended before the lock was let go")
        self.assertEqual(daemon.code, 0, daemon.text)  # in good order, and not by its watch

    # Longer than a client may be silent.
    def test_a_daemon_that_was_stopped_takes_no_client_for_silent(self):
        daemon = self.watch()
        self.victim(daemon)
        recordings = [self.background([settings.COLLECTOR, "record", "-a", "-d", "4", "-F", "99",
                                       "-o", self.directory / f"{i}.folded",
                                       *self.place.options()], f"record{i}") for i in range(5)]
        processes.wait_until(lambda: daemon.list_json()["collector"]["kept"]["recordings"] == 5,
                             lambda: daemon.list().text)
        os.kill(daemon.pid, signal.SIGSTOP)
        time.sleep(11)
        os.kill(daemon.pid, signal.SIGCONT)
        for i, recording in enumerate(recordings):
            self.assertEqual(recording.wait().code, 0, recording.text)
            self.assertIn("Mixed", (self.directory / f"{i}.folded").read_text())
        self.assertEqual(daemon.stop().code, 0)

    # Bounds of turns are of processor time: others of this machine do not count. They are ten times
    # what is meant, and a tenth of what the attacks took before the work had budgets.
    def test_mappings_without_end_stall_nobody(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        turns = self.turns_during(daemon, self.attack("mappings", 50, 60_000))
        self.assertLess(turns["longest_cpu_us"], 200_000)
        self.assertEqual(daemon.jvm(jvm.pid)["state"], "current")
        self.assertEqual(daemon.stop().code, 0)

    def test_connections_without_end_stall_nobody(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        turns = self.turns_during(daemon, self.attack("reconnect", 20, 3000))
        self.assertLess(turns["longest_cpu_us"], 100_000)
        row = daemon.jvm(jvm.pid)
        self.assertEqual((row["state"], row["gaps"]), ("current", 0), row)
        self.assertEqual(daemon.stop().code, 0)

    def test_the_daemon_answers_others_while_a_large_graph_is_drawn(self):
        daemon = self.watch()
        for i in range(2):
            self.background([MANY_STACKS, 12], f"stacks{i}")
        client, other = Client(self.place.control), Client(self.place.control)
        begun = client.ask(op="record", all=True, hz=1999, duration_ns=3_000_000_000)
        self.assertIn("id", begun)
        processes.wait_until(lambda: client.ask(op="status", id=begun["id"])["done"], "it is done")
        client.send(op="render", id=begun["id"], suffix=".html")
        time.sleep(0.01)
        other.send(op="status", id=begun["id"])
        first = select.select([client.socket, other.socket], [], [], settings.DEADLINE_SEC)[0]
        self.assertEqual(first, [other.socket], "the graph is still being drawn")
        self.assertIn("being drawn", other.take()[0]["error"])
        answer, graph = client.take()
        self.assertEqual(answer, {"ok": True})
        print(f"{len(graph) >> 10} KiB drawn")
        self.assertGreater(len(graph), 100_000)
        self.assertEqual(client.ask(op="end", id=begun["id"]), {"ok": True})
        self.assertIn("does not know", client.ask(op="status", id=begun["id"])["error"])
        self.leave_while_it_is_drawn(client)
        self.assertEqual(daemon.list().code, 0)
        self.assertEqual(daemon.stop().code, 0)

    def leave_while_it_is_drawn(self, client):
        begun = client.ask(op="record", all=True, hz=1999, duration_ns=1_000_000_000)
        processes.wait_until(lambda: client.ask(op="status", id=begun["id"])["done"], "it is done")
        client.send(op="render", id=begun["id"], suffix=".html")
        client.socket.close()

    def resident(self, daemon):
        return daemon.list_json()["collector"]["memory"]["resident"]

    def most_during(self, daemon, hostile):
        """The most that the daemon's memory was, resident and accounted, while that program runs."""
        resident = accounted = 0
        while hostile.code is None:
            memory = daemon.list_json()["collector"]["memory"]
            resident = max(resident, memory["resident"])
            accounted = max(accounted, memory["accounted"])
            time.sleep(0.05)
        self.assertEqual(hostile.code, 0, hostile.text)
        print(f"at most {resident / MIB:.0f} MiB resident, {accounted / MIB:.0f} MiB accounted")
        return resident, accounted

    # Each took hundreds of MiB of which some were accounted, or 200 ms of a turn and more.
    def test_what_is_only_said_takes_no_memory(self):
        daemon = self.watch()
        jvm = self.victim(daemon)
        before = self.resident(daemon)
        for what, count, each in (("lines", 2, 60_000), ("frames", 10, 5), ("methods", 4, 20)):
            resident, _ = self.most_during(daemon, self.attack(what, count, each))
            self.assertLess(resident, before + 64 * MIB, what)
        turns = daemon.list_json()["collector"]["turns"]
        self.assertLess(turns["longest_cpu_us"], 100_000, turns)
        self.assertEqual(daemon.jvm(jvm.pid)["state"], "current")
        self.assertEqual(daemon.stop().code, 0)

    def test_memory_is_given_back(self):
        daemon = self.watch("--map-bytes", "8M")
        jvm = self.victim(daemon)
        before = self.resident(daemon)
        resident, accounted = self.most_during(daemon, self.attack("names", 8, 40_000))
        self.assertGreater(resident, before + 200 * MIB)
        self.assertGreater(accounted, (resident - before) * 0.8)
        processes.wait_until(lambda: self.resident(daemon) < before + 32 * MIB,
                             lambda: f"memory is given back: {daemon.list_json()['collector']}")
        self.assertEqual(daemon.jvm(jvm.pid)["state"], "current")
        self.assertEqual(daemon.stop().code, 0)

    def accounted_share(self, daemon):
        """How much of what malloc has given is accounted, and how much was given."""
        memory = daemon.list_json()["collector"]["memory"]
        return memory["accounted"] / memory["allocated"], memory["allocated"]

    # A count is 100 ms old at most, so that what is small may have come since.
    def test_what_malloc_has_given_is_accounted(self):
        daemon = self.watch("--map-bytes", "8M")
        processes.wait_until(lambda: self.accounted_share(daemon)[0] > 0.9, "it is when idle")
        idle = self.accounted_share(daemon)
        hostile = self.attack("names", 8, 40_000)
        shares = []
        while hostile.code is None:
            shares.append(self.accounted_share(daemon))
            time.sleep(0.1)
        large = [share for share, allocated in shares if allocated > 64 * MIB]
        print(f"idle {idle[0]:.2f}, at least {min(large):.2f} of {len(large)} looks, at most "
              f"{max(allocated for _, allocated in shares) / MIB:.0f} MiB given")
        self.assertGreater(len(large), 3)
        self.assertGreater(min(large), 0.9)
        processes.wait_until(lambda: self.accounted_share(daemon)[1] < idle[1] + 8 * MIB,
                             "memory is freed")
        self.assertGreater(self.accounted_share(daemon)[0], 0.9)
        self.assertEqual(daemon.stop().code, 0)

    def cgroup_with_limit(self, limit):
        """A cgroup of this test with a limit of memory."""
        root, name = pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        if not root.is_dir():
            root, name = pathlib.Path("/sys/fs/cgroup"), "memory.max"
        group = root / f"fgcollect-test-{self.place.directory.name}"
        group.mkdir()
        self.addCleanup(group.rmdir)
        if not (group / name).exists():
            self.skipTest("no memory controller here")
        (group / name).write_text(str(limit))
        return group

    # Without a budget the kernel ended the daemon within seconds.
    def test_a_limit_of_memory_is_kept_and_the_greediest_pays(self):
        group = self.cgroup_with_limit(400 * MIB)
        daemon = collector.Watch(self.place, "--map-bytes", "8M", prefix=(
            "sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"))
        self.addCleanup(daemon.stop)
        daemon.started()
        jvm = self.victim(daemon)
        before = daemon.jvm(jvm.pid)
        self.assertEqual(daemon.list_json()["collector"]["memory"]["limit"], 300 * MIB)
        hostile = self.attack("names", 14, 30_000)
        dropped = 0
        while hostile.code is None:     # who is forgotten is hung up on, and ends with an error
            dropped = max(dropped, daemon.list_json()["collector"]["kept"]["jvms_dropped"])
            time.sleep(0.05)
        row = daemon.jvm(jvm.pid)
        print(f"{dropped} processes were forgotten")
        self.assertGreater(dropped, 0)
        self.assertEqual(row["state"], "current")
        self.assertEqual((row["gaps"], row["map_cut"], row["resyncs"]),
                         (0, 0, before["resyncs"]), row)    # the victim was never forgotten
        self.assertRegex(daemon.read_map(jvm.pid),
                         re.compile(r"^[0-9a-f]+ [0-9a-f]+ .*LMixed;", re.M))
        self.assertEqual(daemon.stop().code, 0)
