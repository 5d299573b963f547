# SPDX-License-Identifier: Apache-2.0
"""Recordings of allocations, locks and exceptions where something is wrong, missing or hostile."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

from harness import collector, processes, settings, truth, usdt
from harness.case import Case
from harness.folded import Folded
from harness.marks import counted, measured, shared
from harness.shared import SharedCase
from test_doctor import as_nobody
from test_packages import capabilities

SECONDS = 2
# Which a JVM allocates in a moment, when it runs at all.
ENOUGH_BYTES = 10e6
LIBRARIES = settings.BUILD / "tests" / "e2e"
AGENT = "/opt/fgcollect/libfgagent.so"      # in images
LINES = pathlib.Path("/sys/kernel/tracing/uprobe_events")
# Where a JVM has 4,000 samples or more, four standard deviations of a total are 6 %.
PER_CENT = 7
POINTS = 6
# Threads that never wait, one for each CPU, keep everything else of a small machine from running for
# seconds. That is between the kernel and them.
STORM = ("--cpuset-cpus", "0")
SMALL = ("sizes=64,1024", "mb=200", "seconds=3")
# What OpenJDK, the agent and the engine's own start call. Nothing of it traces another process.
CALLS = """
    execve exit exit_group read write readv writev pread64 pwrite64 open openat close
    close_range stat fstat lstat newfstatat statx lseek access faccessat faccessat2
    readlink readlinkat getcwd mkdir mkdirat unlink unlinkat rename ftruncate fallocate
    getdents64 fcntl flock dup dup2 pipe2 poll ppoll socket socketpair connect getsockname
    getpeername setsockopt getsockopt sendto recvfrom sendmsg recvmsg shutdown mmap
    mprotect munmap mremap madvise mincore brk futex set_robust_list set_tid_address rseq
    membarrier arch_prctl prctl clone clone3 kill tgkill rt_sigaction rt_sigprocmask
    rt_sigreturn sigaltstack sched_yield sched_getaffinity getrlimit prlimit64 setrlimit
    getrusage times sysinfo uname getpid gettid getppid getuid geteuid getgid getegid
    gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep restart_syscall
    getrandom statfs fstatfs ioctl eventfd2 epoll_ctl epoll_pwait epoll_create1 epoll_wait fchdir chdir fchmod
    process_vm_readv
""".split()


def open_without_waiting(path, flags):
    return os.open(path, flags | os.O_NONBLOCK)


def start_probed(case, *flags, program="Probed", options=(), **more):
    return case.container(*flags, program, options=options, **more).wait_for_line("ready")


class Probing:
    """What the classes below ask of recordings by probes."""

    @classmethod
    def setUpClass(cls):
        if not usdt.UPROBE_TYPE.exists():
            raise unittest.SkipTest(
                "the kernel has no uprobes for perf_event_open (CONFIG_UPROBE_EVENTS)")
        super().setUpClass()

    def record(self, *args, kind="alloc", least=ENOUGH_BYTES):
        return collector.record_until(self.place, lambda recording: recording.folded.samples > least,
                                      "--kind", kind, *args)

    def run_record(self, *args, prefix=(), kind="alloc", out="run.fgrec"):
        """Ends as it may."""
        return collector.fgcollect("record", "-d", SECONDS, "--kind", kind, *args, "-o",
                                   self.directory / out, *self.place.options(), prefix=prefix,
                                   timeout=SECONDS + settings.DEADLINE_SEC)

    def kind_of(self, kind, path):
        drawn = collector.fgcollect("render", "--kind", kind, path, "-o", "-", "--format", "folded")
        self.assertEqual(drawn.code, 0, str(drawn))
        return Folded(drawn.out)

    def recorder(self, pid, *args, kind="alloc", **more):
        recorder = truth.Recorder(self.place, pid, "--kind", kind, *args, **more)
        self.addCleanup(recorder.stop)
        return recorder

    def current(self, daemon, *containers):
        for container in containers:
            daemon.wait_for_jvm(container.pid)

    def wait_for(self, daemon, pid, probe, state):
        processes.wait_until(lambda: daemon.jvm(pid)["probes"][probe] == state,
                             lambda: f"{probe} is {state}: {daemon.jvm(pid)['probes']}")

    def assert_recorded(self, recording, program="Probed"):
        """As a recording of the class Probed has to be."""
        folded = recording.folded.of_root(program)
        self.assertGreater(folded.with_method("Probed.allocate"), 0.9 * folded.samples,
                           str(recording))
        self.assertGreater(folded.samples, ENOUGH_BYTES, str(recording))
        return folded


@shared
class OneJvmIsRecordedInManyWays(Probing, SharedCase):
    @classmethod
    def set_up_host(cls, host):
        cls.jvm = start_probed(host)

    def test_a_killed_collector_leaves_no_probe_on(self):
        daemon = self.watch()
        jvm = self.jvm
        self.current(daemon, jvm)
        recorder = self.recorder(jvm.pid, kind="alloc,lock,exceptions")
        recorder.wait_until_it_records(
            lambda: daemon.jvm(jvm.pid)["probes"]["alloc"] == "on"
            and daemon.jvm(jvm.pid)["probes"]["lock"] == "on")
        daemon.stop(signal.SIGKILL)
        recorder.wait()
        after = self.watch()
        self.current(after, jvm)
        self.wait_for(after, jvm.pid, "alloc", "off")
        self.wait_for(after, jvm.pid, "lock", "off")
        self.assert_recorded(self.record("-p", jvm.pid))

    def test_a_collector_that_ends_while_it_records_leaves_no_probe_on(self):
        """The kernel gives up the end of a uprobe if the thread that ends it is killed, and says so."""
        jvm = self.jvm
        with open("/dev/kmsg", "rb", buffering=0, opener=open_without_waiting) as messages:
            messages.seek(0, os.SEEK_END)
            for _ in range(2):
                daemon = self.watch()
                self.current(daemon, jvm)
                recorder = self.recorder(jvm.pid, kind="alloc,lock,exceptions")
                recorder.wait_until_it_records(
                    lambda: daemon.jvm(jvm.pid)["probes"]["alloc"] == "on"
                    and daemon.jvm(jvm.pid)["probes"]["lock"] == "on")
                self.assertEqual(daemon.stop().code, 0)
                recorder.wait()
            said = [message for message in iter(messages.read, None) if b"leaking uprobe" in message]
        self.assertEqual(said, [])
        after = self.watch()
        self.current(after, jvm)
        self.wait_for(after, jvm.pid, "alloc", "off")
        self.wait_for(after, jvm.pid, "lock", "off")

    # ---- rights ----

    def lines(self):
        return [line for line in LINES.read_text().splitlines() if "fgcollect_" in line]

    def test_few_capabilities_are_enough_where_tracefs_is_mounted(self):
        if not LINES.exists():
            subprocess.run(["mount", "-t", "tracefs", "tracefs", LINES.parent], check=True)
            self.addCleanup(subprocess.run, ["umount", LINES.parent], check=True)
        jvm = self.jvm
        for path in (self.place.run, self.place.maps, self.directory):
            os.chown(path, 65534, 65534)
        few = ("perfmon", "bpf", "dac_read_search", "sys_ptrace")
        before = self.lines()
        finished = self.run_record("-p", jvm.pid, kind="alloc,lock,exceptions",
                                   prefix=as_nobody(*few, "dac_override"))
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn(", 1 JVM armed", finished.text)
        folded = self.kind_of("alloc", self.directory / "run.fgrec")
        self.assertGreater(folded.with_method("Probed.allocate"), 0, str(finished))
        self.assertEqual(self.lines(), before)
        words = ",".join("+" + name.removeprefix("CAP_").lower() for name in capabilities())
        finished = self.run_record("-p", jvm.pid, prefix=[
            "setpriv", f"--bounding-set=-all,{words}", "--inh-caps=-all", "--no-new-privs"])
        self.assertIn(", 1 JVM armed", finished.text)   # as the package's service
        self.assertEqual(self.lines(), before)
        finished = self.run_record("-p", jvm.pid, prefix=as_nobody(*few))
        self.assertEqual(finished.code, 0, str(finished))
        if processes.has_uprobe_links():
            self.assertIn(", 1 JVM armed", finished.text)
        else:
            self.assertRegex(finished.text, r", 0 JVMs armed, 1 not: PID \d+: .*CAP_SYS_ADMIN")
            self.assertIn("CAP_DAC_OVERRIDE", finished.text)
        self.assertEqual(self.lines(), before)

    # ---- commands ----

    def top(self, kind, what, *args):
        """Of as many seconds as it takes to have that in it."""
        seconds, text = 1, ""
        while what not in text:
            self.assertLess(seconds, 100, text)
            finished = collector.fgcollect("top", "--once", "-d", seconds, "--kind", kind, *args,
                                           *self.place.options())
            self.assertEqual(finished.code, 0, str(finished))
            text, seconds = finished.out, 2 * seconds
        return text

    def check_top(self, jvm):
        text = self.top("alloc", " byte[]", "-p", jvm.pid)
        self.assertRegex(text, r"[KMG]iB .*alloc")
        table = json.loads(self.top("alloc", "Probed.allocate", "--json", "-p", jvm.pid))
        rows = {row["name"]: row for row in table["rows"]}
        self.assertGreater(rows["byte[]"]["self_percent"], 90, table)
        self.assertGreater(rows["Probed.allocate"]["total_percent"], 90, table)
        table = json.loads(self.top("lock", "Probed.await", "--json", "-p", jvm.pid))
        rows = {row["name"]: row for row in table["rows"]}
        self.assertGreater(rows["Probed.await"]["total_percent"], 10, table)

    def test_top_shows_them(self):
        jvm = self.jvm
        for has_daemon in (False, True):
            with self.subTest(has_daemon=has_daemon):
                if has_daemon:
                    self.current(self.watch(), jvm)
                self.check_top(jvm)

    def test_a_recording_without_a_daemon_is_as_one_with(self):
        jvm = self.jvm
        for has_daemon in (False, True):
            with self.subTest(has_daemon=has_daemon):
                if has_daemon:
                    self.current(self.watch(), jvm)
                self.assert_recorded(self.record("-p", jvm.pid))


class ProbeKinds(Probing, Case):
    def probed(self, *flags, **options):
        return start_probed(self, *flags, **options)

    def own_agent(self, change=lambda content: content):
        """A directory with a copy of the agent's file, and docker run's options to have it there."""
        directory = self.directory / "agent"
        directory.mkdir()
        directory.chmod(0o755)
        self.write_agent(directory / "libfgagent.so", change)
        return directory, ("--volume", f"{directory}:{pathlib.Path(AGENT).parent}:ro")

    @staticmethod
    def write_agent(path, change=lambda content: content):
        path.write_bytes(change(settings.AGENT.read_bytes()))
        path.chmod(0o755)

    @staticmethod
    def without_probes(content):
        """As an agent that says nothing of probes."""
        changed = content.replace(b"probes.alloc\0", b"prober.alloc\0")
        changed = changed.replace(b"probes.lock\0", b"prober.lock\0")
        assert changed != content
        return changed

    # ---- who has no probes ----

    def without_agent(self):
        return self.probed(options=("--env=JAVA_TOOL_OPTIONS=",))

    def test_a_jvm_without_the_agent_is_left_out_beside_one_with(self):
        self.without_agent()
        self.probed()
        recording = self.record("-a")
        self.assertIn(", 1 JVM armed", recording.finished.text)
        self.assertNotIn("is older", recording.finished.text)
        self.assertEqual(set(recording.folded.roots()), {"Probed"}, str(recording))
        self.assert_recorded(recording)

    def test_a_process_without_the_agent_is_told(self):
        jvm = self.without_agent()
        other = self.background(["sleep", "1000"], "asleep")
        for has_daemon in (False, True):
            if has_daemon:
                self.watch()
            finished = self.run_record("-p", jvm.pid)
            self.assertIn(f"there will be no samples: PID {jvm.pid} (java) is a JVM without the "
                          "agent: add -agentpath", finished.text)
            self.assertIn(", 0 JVMs armed", finished.text)
            finished = self.run_record("-p", jvm.pid, kind="cpu,lock")
            self.assertIn("names of Java code are read from outside, and there will be no alloc, lock or "
                          f"exceptions: PID {jvm.pid} (java)", finished.text)
            finished = self.run_record("-p", other.pid)
            self.assertIn(f"PID {other.pid} is no JVM, and so has no alloc", finished.text)

    def test_an_agent_before_the_probes_is_told(self):
        jvm = self.probed(options=self.own_agent(self.without_probes)[1])
        finished = self.run_record("-p", jvm.pid)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertRegex(finished.text, r"quality of alloc: .*, 0 JVMs armed, 1 not: PID \d+: its "
                                        "agent is older and has no probes")
        # The lock's points of libjvm are there all the same.
        finished = self.run_record("-p", jvm.pid, kind="lock,exceptions")
        self.assertRegex(finished.text, r"quality of lock: .*is older and has no probes")

    def test_an_agent_that_tells_of_no_deaths_is_told(self):
        """Other kinds are recorded all the same, and so are allocations without --live."""
        jvm = self.probed(options=self.own_agent(
            lambda content: content.replace(b"alloc_dead__sample\0", b"alloc_gone__sample\0"))[1])
        finished = self.run_record("-p", jvm.pid, "--live", kind="alloc,exceptions")
        self.assertEqual(finished.code, 0, str(finished))
        self.assertRegex(finished.text, r"quality of live: 0 .*, 0 JVMs armed, 1 not: PID \d+: its "
                                        "agent is older and does not tell which objects live")
        self.assert_recorded(self.record("-p", jvm.pid))

    def test_another_profiler_is_told_and_leaves_the_rest_of_the_recording(self):
        """Which has samples as soon as the other lets go."""
        daemon = self.watch()
        other = LIBRARIES / "libother_profiler.so"
        jvm = self.probed(f"-agentpath:{other}", options=("--volume", f"{other}:{other}:ro"))
        self.current(daemon, jvm)
        finished = self.run_record("-p", jvm.pid, kind="alloc,lock")
        self.assertEqual(finished.code, 0, str(finished))
        self.assertRegex(finished.text, r"quality of alloc: 0 .*, 0 JVMs armed, 1 not: PID \d+: "
                                        "another agent, maybe a profiler, has the JVM's capability")
        recorder = self.recorder(jvm.pid)
        recorder.wait_until_it_records()
        self.wait_for(daemon, jvm.pid, "alloc", "refused")
        os.kill(jvm.pid, signal.SIGQUIT)
        processes.wait_until(lambda: "let go" in jvm.logs(), "the other lets go")
        self.wait_for(daemon, jvm.pid, "alloc", "on")
        processes.wait_until(lambda: daemon.jvm(jvm.pid)["probes"]["alloc_events"] > 100,
                             "there are events")
        self.assertIn(", 1 JVM armed", recorder.finish().text)
        self.assertGreater(recorder.folded("alloc").with_method("Probed.allocate"), 10e6)

    # ---- several who record ----

    @measured
    def test_recordings_with_different_intervals_are_both_right(self):
        """The smallest interval counts for all, here that of another tool."""
        daemon = self.watch()
        container = self.container("-Xmx256m", "AllocTruth", *SMALL).wait_for_line("ready")
        self.current(daemon, container)
        recorders = [self.recorder(container.pid, "--alloc-interval", word, name=word)
                     for word in ("2m", "64k")]
        for recorder in recorders:
            recorder.wait_until_it_records()
        tracer = usdt.Tracer(container.root / AGENT.lstrip("/"), "alloc__arm_16k",
                             pid=container.pid)
        self.addCleanup(tracer.close)
        processes.wait_until(
            lambda: daemon.jvm(container.pid)["probes"]["alloc_interval_bytes"] == 16 << 10,
            "the smallest interval counts")
        program = truth.Program(container.logs, container.root / "tmp")
        turn = program.turn()
        for recorder in recorders:
            recorder.finish()
            self.assert_total(recorder, turn)

    def assert_total(self, recorder, turn, points=POINTS):
        known, alloc = turn.rows("alloc"), recorder.folded("alloc")
        found = truth.found(turn.sites(), recorder.folded("objects"), alloc)
        print(f"{recorder.out.name}: {found.amount / known.amount:.4f} of the bytes, "
              f"{truth.shares(found.amounts('class'))}")
        self.assertAlmostEqual(found.amount / known.amount, 1, delta=PER_CENT / 100)
        for column in ("class", "site"):
            self.assertLess(truth.worst_share(known.amounts(column), found.amounts(column)), points)

    @counted
    def test_two_collectors_at_one_file_do_not_disturb_each_other(self):
        """Two JVMs map one file of an image; each has a collector of its own."""
        (self.directory / "second").mkdir()
        second = collector.Place(self.directory / "second")
        daemons = self.watch(), self.watch(place=second)
        containers = [self.container("-Xmx256m", "AllocTruth", *SMALL, run_dir=daemon.place.run)
                      for daemon in daemons]
        recorders = []
        for daemon, container, word in zip(daemons, containers, ("64k", "16k")):
            container.wait_for_line("ready")
            daemon.wait_for_jvm(container.pid)
            recorder = truth.Recorder(daemon.place, container.pid, "--kind", "alloc",
                                      "--alloc-interval", word)
            self.addCleanup(recorder.stop)
            recorder.wait_until_it_records()
            self.wait_for(daemon, container.pid, "alloc", "on")
            recorders.append(recorder)
        for daemon, container, interval in zip(daemons, containers, (64, 16)):
            self.assertEqual(daemon.jvm(container.pid)["probes"]["alloc_interval_bytes"],
                             interval << 10)
        programs = [truth.Program(each.logs, each.root / "tmp") for each in containers]
        for program in programs:
            program.ask()
        turns = [program.told() for program in programs]
        for recorder, turn in zip(recorders, turns):
            recorder.finish()
            self.assert_total(recorder, turn)

    # ---- files that change, processes that end ----

    def test_an_agent_that_was_replaced_or_deleted_is_recorded(self):
        directory, options = self.own_agent()
        path = directory / "libfgagent.so"
        jvm = self.probed(options=options)
        self.write_agent(directory / "new", self.without_probes)
        (directory / "new").rename(path)
        self.assert_recorded(self.record("-p", jvm.pid))
        path.unlink()
        self.assert_recorded(self.record("-p", jvm.pid))

    def perf_events(self, pid):
        """How many perf events the process has open."""
        found = 0
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                found += os.readlink(entry) == "anon_inode:[perf_event]"
            except FileNotFoundError:
                pass
        return found

    def test_a_container_that_ends_leaves_no_event_open(self):
        daemon = self.watch()
        # One recording goes on, of whichever JVMs there are; the other one's JVM ends.
        going_on = self.recorder(None, "-a", kind="alloc,lock,exceptions", name="all")
        going_on.wait_until_it_records()
        before = self.perf_events(daemon.pid)
        jvm = self.probed()
        pid = jvm.pid
        self.current(daemon, jvm)
        of_one = self.recorder(pid, name="one")
        of_one.wait_until_it_records(lambda: daemon.jvm(pid)["probes"]["alloc"] == "on")
        self.wait_for(daemon, pid, "lock", "on")
        self.assertGreater(self.perf_events(daemon.pid), before)
        jvm.rm()
        finished = of_one.wait()
        self.assertEqual(finished.code, 0, str(finished))
        self.assertGreater(of_one.folded("alloc").with_method("Probed.allocate"), 0)
        self.assertIsNone(going_on.code, going_on.text)
        processes.wait_until(lambda: self.perf_events(daemon.pid) <= before,
                             lambda: f"{self.perf_events(daemon.pid)} events are open, not {before}")
        late = self.probed()
        self.current(daemon, late)
        self.wait_for(daemon, late.pid, "alloc", "on")
        going_on.finish()
        self.wait_for(daemon, late.pid, "alloc", "off")
        self.assertIsNone(daemon.code, daemon.text)

    def unmount(self, directory):
        return subprocess.run(["umount", directory], check=False, capture_output=True).returncode

    def test_the_file_system_of_a_jvm_that_has_ended_can_be_unmounted(self):
        """While the recording goes on: an open event would keep the file system busy."""
        directory = self.directory / "mounted"
        directory.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", directory], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", directory], check=False,
                        capture_output=True)
        agent = directory / "libfgagent.so"
        self.write_agent(agent)
        daemon = self.watch()
        command = self.java("Probed")
        jvm = self.background([command[0], f"-agentpath:{agent}=socket={self.place.socket}",
                               *command[1:]], "jvm")
        daemon.wait_for_jvm(jvm.pid)
        recorder = self.recorder(None, kind="alloc,lock,exceptions")
        recorder.wait_until_it_records()
        self.wait_for(daemon, jvm.pid, "alloc", "on")
        self.wait_for(daemon, jvm.pid, "lock", "on")
        self.assertNotEqual(self.unmount(directory), 0)
        jvm.stop(signal.SIGKILL)
        processes.wait_until(lambda: self.unmount(directory) == 0, "it is unmounted")
        self.assertIsNone(recorder.code, recorder.text)
        recorder.finish()

    def test_a_jvm_that_may_make_few_calls_is_recorded(self):
        """Its filter ends whoever makes another call; none is made where a point is hit."""
        profile = self.directory / "strict.json"
        profile.write_text(json.dumps({
            "defaultAction": "SCMP_ACT_KILL_PROCESS",
            "syscalls": [{"names": CALLS, "action": "SCMP_ACT_ALLOW"}]}))
        jvm = self.probed(options=("--security-opt", f"seccomp={profile}"))
        self.assert_recorded(self.record("-p", jvm.pid, kind="alloc"))
        recording = self.record("-p", jvm.pid, kind="lock", least=1e6)
        self.assertGreater(recording.folded.with_method("Probed.await"), 0, str(recording))
        self.assertTrue(jvm.is_running(), jvm.logs())

    def test_graphs_of_a_daemon_have_several_kinds(self):
        out = self.directory / "graphs"
        out.mkdir()
        daemon = self.watch("--kind", "cpu,alloc", "-o", out, "--format", "fgrec")
        jvm = self.probed()
        self.current(daemon, jvm)
        self.wait_for(daemon, jvm.pid, "alloc", "on")
        processes.wait_until(lambda: daemon.jvm(jvm.pid)["probes"]["alloc_events"] > 100,
                             "there are events")

        def graph_of_all():
            """Where the JVM has hardly run, a period has no samples of the CPU."""
            os.kill(daemon.pid, signal.SIGHUP)
            return next((graph for graph in out.glob("*-Probed-*.fgrec") if all(
                collector.fgcollect("render", "--kind", kind, graph, "-o", self.directory / "kind.folded")
                .code == 0 for kind in ("cpu", "alloc", "objects"))), None)

        graph = processes.wait_until(graph_of_all, lambda: f"a graph: {list(out.iterdir())}", every=1)
        for kind in ("cpu", "alloc", "objects"):
            self.assertGreater(self.kind_of(kind, graph).samples, 0, kind)
        drawn = collector.fgcollect("render", graph, "-o", self.directory / "page.html")
        self.assertEqual(drawn.code, 0, str(drawn))

    def test_what_does_not_go_together_is_refused(self):
        for args, code, text in (
                (("--kind", "alloc", "--unwind=fp"), 2, "need copies of stacks"),
                (("--kind", "exceptions", "--sampler", "perf"), 2, "are sampled by BPF"),
                (("--kind", "alloc", "--alloc-interval", "100k"), 2, "there are: 16k 64k 512k 2m"),
                (("--alloc-interval", "64k"), 2, "goes with --kind alloc"),
                (("--kind", "cpu,lock", "--live"), 2, "--live goes with --kind alloc"),
                (("--kind", "odours"), 2, "no such kind"),
                (("--kind", "alloc", "--capture", self.directory / "x"), 2,
                 "--capture does not go with --kind alloc")):
            with self.subTest(args=args):
                finished = collector.fgcollect("record", "-d", 1, *args, "-o",
                                               self.directory / "x.svg", *self.place.options())
                self.assert_fails(finished, code, text)

    # ---- who lies ----

    @measured
    def test_a_jvm_that_runs_over_points_by_itself_harms_no_other(self):
        daemon = self.watch()
        storm = LIBRARIES / "libprobe_storm.so"
        points = usdt.File(settings.AGENT).points
        addresses = ":".join(f"{points[name].pc:x}" for name in (
            "alloc__sample", "lock_enter__sample", "lock_entered__sample"))
        hostile = self.container(f"-agentpath:{storm}={addresses}", "Probed",
                                 options=("--volume", f"{storm}:{storm}:ro", *STORM))
        honest = self.container("-Xmx256m", "AllocTruth", *SMALL[:2], "seconds=6")
        for container in (hostile, honest):
            container.wait_for_line("ready")
        self.current(daemon, hostile, honest)
        recorder = self.recorder(None, "--alloc-interval", "64k", kind="alloc,lock")
        recorder.wait_until_it_records(
            lambda: all(daemon.jvm(each.pid)["probes"]["alloc"] == "on"
                        for each in (hostile, honest)))
        program = truth.Program(honest.logs, honest.root / "tmp")
        turn = program.turn()
        counts = daemon.list_json()["collector"]["recordings"]["probes"]
        print(counts)
        self.assertTrue(hostile.is_running(), hostile.logs())
        hostile.rm()
        turn.add(program.turn())  # what waits for the next sample comes with it
        finished = recorder.finish()
        print(finished.text)
        self.assertGreater(counts["senseless"], 1000, counts)
        self.assertGreater(counts["merged"], 100_000, counts)
        # Also where the reader comes late each container has its part of the ring buffer: all bytes are
        # there, in fewer samples. What is lost are parks of the one past its part.
        self.assert_total(recorder, turn, points=3 * POINTS)
        self.assertIsNone(daemon.code, daemon.text)

    @measured
    def test_a_jvm_that_tells_of_deaths_by_itself_harms_no_other(self):
        daemon = self.watch()
        storm = LIBRARIES / "libprobe_storm.so"
        points = usdt.File(settings.AGENT).points
        addresses = ":".join(f"{points[name].pc:x}"
                             for name in ("alloc__sample", "alloc_dead__sample"))
        hostile = self.container(f"-agentpath:{storm}={addresses}", "Probed",
                                 options=("--volume", f"{storm}:{storm}:ro", *STORM))
        honest = self.container("-Xmx512m", "LiveTruth", "keep=100", "drop=1")
        for container in (hostile, honest):
            container.wait_for_line("ready")
        self.current(daemon, hostile, honest)
        recorder = self.recorder(None, "--live", "--alloc-interval", "64k", kind="alloc")
        recorder.wait_until_it_records(
            lambda: all(daemon.jvm(each.pid)["probes"]["alloc"] == "on"
                        for each in (hostile, honest)))
        known = truth.Program(honest.logs, honest.root / "tmp").turn().rows("live").amount

        def are_deaths_told():
            row = daemon.jvm(honest.pid)["probes"]
            return row["alloc_watched"] << row["alloc_watch_level"] < 1.3 * known / (64 << 10)
        processes.wait_until(are_deaths_told, "the agent has told of deaths")
        finished = recorder.finish()
        print(finished.text)
        counts = daemon.list_json()["collector"]["recordings"]["probes"]
        print(counts)
        self.assertGreater(counts["live"]["lost"], 1000, counts)
        self.assertIn(", some may be dead: ", finished.text)
        if counts["lost"] == 0:
            found = recorder.folded("live").of_root("LiveTruth").samples
            self.assertGreater(found / known, 0.75)
            self.assertLess(found / known, 1.35)  # the wait ends below 1.3
        self.assertTrue(hostile.is_running(), hostile.logs())
        self.assertIsNone(daemon.code, daemon.text)
