# SPDX-License-Identifier: Apache-2.0
"""A tour: each command of the README and each kind of profile once, on real JVMs in containers.

The program Tour does a little of everything, each in a method of its own. A test looks for what is
there: this method, that class, a file that opens, a counter of 0. A recording that is too short for
it on a busy machine is made again, longer.
"""

import json
import pathlib
import re
import signal
import subprocess
import urllib.request
import xml.etree.ElementTree

from harness import collector, processes, settings
from harness.folded import JAVA_SUFFIX, Folded
from harness.marks import tour
from harness.push_server import PushServer
from harness.shared import SharedCase

EXAMPLE = settings.BUILD / "tests" / "e2e" / "publish_example"
WAITS = ("Tour.sleepOften", "Tour.waitForTheMonitor", "Tour.waitForTheLock")


class OneJvm(SharedCase):
    """A daemon, and the program in a container."""
    jdk = 17

    @classmethod
    def set_up_host(cls, host):
        cls.daemon = host.watch(*cls.daemon_options(host))
        cls.name = host.directory.name.replace(".", "-") + "-tour"
        cls.jvm = host.container("Tour", image=cls.image_of(host), options=["--name", cls.name])
        cls.jvm.wait_for_line("ready")
        cls.pid = cls.jvm.pid
        cls.daemon.wait_for_jvm(cls.pid)

    @classmethod
    def image_of(cls, host):
        return host.image(cls.jdk)

    def tearDown(self):
        if not self.jvm.is_running():
            self.fail(f"the JVM has ended:\n{self.jvm.logs()[-4000:]}")
        super().tearDown()

    @classmethod
    def daemon_options(cls, _host):
        return ()


class Kinds(OneJvm):
    """Of one JVM and the next JDK's, each kind of profile: what is known of the program is there."""

    def of_kind(self, kind, methods, *args, leaves=()):
        """A recording with these methods, and with each of these leaves behind one of them."""
        def has_leaves(recording):
            found = {frames[-1] for frames, _ in recording.folded.stacks
                     if any(JAVA_SUFFIX.sub("", frame) in methods for frame in frames)}
            return found.issuperset(leaves)
        return self.records(methods, "-p", self.pid, "--kind", kind, *args, also=has_leaves)

    def test_time_on_processors(self):
        recording = self.of_kind("cpu", ["Tour.compute"])
        self.assertEqual(set(recording.folded.roots()), {"Tour"}, str(recording))

    def test_all_time_of_threads(self):
        self.of_kind("wall", ["Tour.compute", *WAITS], leaves=["[blocked: futex]_[w]"])

    def test_time_that_threads_wait(self):
        self.of_kind("offcpu", WAITS)

    def test_short_waits_with_who_ends_them(self):
        self.of_kind("offcpu", WAITS, "--short-waits", "--waker")

    def test_allocations_by_class(self):
        self.of_kind("alloc", ["Tour.allocate"], "--alloc-interval", "16k", leaves=["Tour$Piece_[c]"])

    def test_waits_for_locks(self):
        self.of_kind("lock", ["Tour.waitForTheMonitor", "Tour.waitForTheLock"],
                     leaves=["java.lang.Object_[c]", "java.util.concurrent.locks.ReentrantLock_[c]"])

    def test_exceptions_by_class(self):
        self.of_kind("exceptions", ["Tour.throwOften"], leaves=["Tour$Oops_[c]"])

    def test_probes_are_off_when_nobody_records(self):
        processes.wait_until(
            lambda: set(self.daemon.jvm(self.pid)["probes"][kind]
                        for kind in ("alloc", "lock")) == {"off"},
            lambda: f"probes are off: {self.daemon.jvm(self.pid)['probes']}")

    def test_several_kinds_in_one_file(self):
        path = self.directory / "all.fgrec"
        wanted = {"cpu": "Tour.compute", "wall": "Tour.sleepOften", "alloc": "Tour.allocate",
                  "lock": "Tour.waitForTheMonitor", "exceptions": "Tour.throwOften"}
        for seconds in (2, 8, 32):
            self.run_well("record", "-p", self.pid, "-d", seconds, "--kind", ",".join(wanted), "-o",
                          path, *self.place.options(), timeout=120)
            if all(self.drawn(path, "--kind", kind).with_method(method)
                   for kind, method in wanted.items()):
                return
        self.fail("not each kind has its method")


@tour
class KindsOn17(Kinds):
    jdk = 17


@tour
class KindsOn25(Kinds):
    jdk = 25


@tour
class Commands(OneJvm):
    """What one types."""

    def out(self, name):
        return self.directory / name

    def record_to(self, *names, args=(), seconds=2):
        paths = [self.out(name) for name in names]
        outputs = [word for path in paths for word in ("-o", path)]
        self.run_well("record", "-d", seconds, *args, *outputs, *self.place.options())
        return paths

    def test_list_has_the_jvm(self):
        row = self.daemon.jvm(self.pid)
        self.assertEqual((row["pid"], row["inner_pid"], row["container"], row["state"]),
                         (self.pid, 1, self.jvm.id, "current"))
        self.assertEqual(row["lost_events"] if "lost_events" in row else 0, 0)
        text = self.daemon.list().out
        for part in (str(self.pid), self.jvm.id[:12], "Tour"):
            self.assertIn(part, text)

    def test_the_perf_map_has_its_methods(self):
        processes.wait_until(lambda: "LTour;::compute" in self.daemon.read_map(self.pid)
                             or "Tour.compute" in self.daemon.read_map(self.pid)
                             or "Tour::compute" in self.daemon.read_map(self.pid),
                             lambda: f"the method is in the map:\n{self.daemon.read_map(self.pid)}")

    def test_record_by_each_name_of_it(self):
        for args in (("-p", self.pid), ("--container", self.name), ("--container", self.jvm.id[:12]),
                     ("--jvm", "^Tour$"), ("-a",)):
            with self.subTest(args[0]):
                self.records(["Tour.compute"], *args)

    def test_every_format_opens(self):
        recording = self.records(["Tour.compute"], "-p", self.pid)
        stacks = self.out("x.folded")
        stacks.write_text("".join(f"{';'.join(frames)} {count}\n"
                                  for frames, count in recording.folded.stacks))
        for suffix, opens in (("svg", lambda text: xml.etree.ElementTree.fromstring(text)),
                              ("html", lambda text: self.assertIn("</html>", text)),
                              ("speedscope.json", json.loads), ("firefox.json", json.loads),
                              ("perf.txt", lambda text: self.assertIn("Tour.compute", text))):
            path = self.out(f"y.{suffix}")
            self.run_well("render", stacks, "-o", path)
            opens(path.read_text())
        self.run_well("render", stacks, "-o", self.out("y.pb.gz"))
        self.assertTrue(self.drawn(self.out("y.pb.gz")).with_method("Tour.compute"))

    def test_diff_of_two_recordings(self):
        before, = self.record_to("before.fgrec", args=("-p", self.pid))
        after, = self.record_to("after.fgrec", args=("-p", self.pid, "--kind", "cpu"))
        drawing = self.out("diff.svg")
        self.run_well("diff", before, after, "-o", drawing)
        xml.etree.ElementTree.parse(drawing)
        rows = json.loads(self.run_well("diff", before, after, "--top", 5, "--json").out)
        self.assertTrue(rows)

    def test_top_names_what_runs(self):
        for seconds in (2, 8, 32):
            table = json.loads(self.run_well("top", "--once", "--json", "-d", seconds, "-p", self.pid,
                                             *self.place.options(), timeout=120).out)
            names = {row["name"] for row in table["rows"]}
            if "Tour.compute" in names:
                return
        self.fail(f"the method is not among {names}")

    def test_doctor_has_no_fault_of_the_jvm(self):
        def faults():
            finished = collector.fgcollect("doctor", "--json", *self.place.options())
            return [finding for finding in json.loads(finished.out)["findings"]
                    if str(self.pid) in finding["object"] and finding["state"] == "problem"]
        # On a host that is busy enough, doctor has no answer of the daemon in time.
        processes.wait_until(lambda: not faults(), lambda: f"no fault is found: {faults()}", every=1)

    def test_what_perf_records_is_drawn_with_the_map(self):
        data, text = self.out("perf.data"), self.out("perf.txt")
        link = pathlib.Path(f"/tmp/perf-{self.pid}.map")     # where perf looks
        processes.wait_until(lambda: "compute" in self.daemon.read_map(self.pid), "the map is there")
        link.write_text(self.daemon.read_map(self.pid))
        self.addCleanup(link.unlink, missing_ok=True)
        for seconds in ("1", "4", "16"):
            processes.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "199", "-p", self.pid,
                           "-o", data, "--", "sleep", seconds], check=True)
            text.write_text(processes.run(["perf", "script", "-f", "-i", data], check=True).out)
            if "Tour" in text.read_text():
                break
        stacks = self.out("z.folded")
        self.run_well("render", text, "-o", stacks)
        # HotSpot may have inlined the method into the thread's own, of which a map has one name.
        self.assertRegex(stacks.read_text(), r";Tour\S*_\[j\] ")

    def test_a_capture_replays_without_the_jvm(self):
        """That all stacks are the same to the byte, is shown by test_capture.py."""
        capture, live, again = self.out("x.fgcapture"), self.out("live.folded"), self.out("b.folded")
        self.run_well("record", "-d", 1, "-p", self.pid, "--capture", capture, "-o", live,
                      *self.place.options())
        self.run_well("replay", capture, "-o", again)
        self.assertEqual(Folded.read(live).samples, Folded.read(again).samples)
        self.assertEqual(Folded.read(live).roots(), Folded.read(again).roots())

    def test_an_interrupted_recording_is_kept(self):
        out = self.out("cut.folded")
        recorder = self.background([settings.COLLECTOR, "record", "-d", "600", "-p", self.pid,
                                    "--progress", "-o", out, *self.place.options()], "record")
        processes.wait_until(lambda: recorder.code is not None or recorder.text.count("recording ") > 1,
                             lambda: f"it records: {recorder.text}")
        finished = recorder.stop(signal.SIGINT)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("quality:", finished.text)
        self.assertTrue(out.exists())

    def test_a_terminal_shows_top(self):
        screen, options = self.out("tmux"), [str(o) for o in self.place.options()]

        def tmux(*args):
            return subprocess.run(["tmux", "-S", screen, *args], check=True, text=True,
                                  stdout=subprocess.PIPE, timeout=60).stdout
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30",
             " ".join([str(settings.COLLECTOR), "top", *options]))
        self.addCleanup(subprocess.run, ["tmux", "-S", screen, "kill-server"], check=False)
        processes.wait_until(lambda: "Tour.compute" in tmux("capture-pane", "-p"),
                             lambda: f"the method is shown:\n{tmux('capture-pane', '-p')}")
        tmux("send-keys", "q")


@tour
class Daemon(OneJvm):
    """What the daemon keeps, serves and sends."""

    @classmethod
    def daemon_options(cls, host):
        cls.server = PushServer()
        cls.addClassCleanup(cls.server.stop)
        cls.store, cls.graphs = host.directory / "store", host.directory / "graphs"
        cls.events = f"ipc://{host.directory / 'publish' / 'events'}"
        cls.graphs.mkdir()
        return ("-F", 99, "--store", cls.store, "--store-window", "1s", "-o", cls.graphs, "--http",
                "127.0.0.1:0", "--publish", cls.events, "--push", cls.server.url("pyroscope"),
                "--push-interval", "10s", "--kind", "cpu,alloc")

    def get(self, path):
        address = re.search(r"http://[\d.]+:\d+", self.daemon.text)[0]
        with urllib.request.urlopen(address + path, timeout=60) as answer:
            return answer.read().decode()

    def stored(self):
        rows = json.loads(self.run_well("history", "--store", self.store, "--json").out)["processes"]
        return {row["pid"]: sum(kind["samples"] for kind in row["kinds"]) for row in rows}

    def test_the_store_answers_after_a_while(self):
        processes.wait_until(lambda: self.stored().get(self.pid, 0) > 0, "samples are stored")

        def computes():
            out = self.directory / "x.folded"
            self.run_well("render", "--store", self.store, "--from", "-1h", "-p", self.pid, "-o", out)
            return Folded.read(out).with_method("Tour.compute")
        processes.wait_until(computes, "the method is in the store", every=1)

    def test_the_page_and_its_answers_are_served(self):
        self.assertIn("</html>", self.get("/"))
        self.assertIn("fgcollect_jvm_code_loads_total", self.get("/metrics"))
        processes.wait_until(
            lambda: self.pid in {row["pid"] for row in
                                 json.loads(self.get("/api/v1/processes"))["processes"]},
            "the process is listed", every=0.5)

    def test_events_are_published(self):
        for seconds in ("3", "12", "48"):
            finished = processes.run([EXAMPLE, self.events, str(self.pid), seconds], timeout=120)
            self.assertEqual(finished.code, 0, str(finished))
            if ", all code is known" in finished.err:
                break
        self.assertIn("0 messages missed, all code is known", finished.err)
        living = {line[2:] for line in finished.out.splitlines() if line.startswith("+")}
        self.assertTrue(any("Tour" in line for line in living), str(finished))

    def test_profiles_are_pushed(self):
        def has_come():
            return any(profile.with_frame("Tour.compute") for profile in self.server.profiles)
        processes.wait_until(has_come, lambda: f"a profile has come: {self.daemon.text}", timeout=120)
        self.assertEqual(self.server.errors, [])

    def test_nothing_was_lost(self):
        counters = self.daemon.list_json()["collector"]
        self.assertEqual(counters["store"]["windows_failed"], 0, counters["store"])
        self.assertEqual(counters["publish"]["events_dropped"], 0, counters["publish"])


@tour
class Alone(SharedCase):
    """A command by itself; an agent that listens; JVMs that come and go."""

    @classmethod
    def set_up_host(cls, host):
        cls.jvm = host.container("Tour")
        cls.listening = host.listening_container("Tour")
        cls.jvm.wait_for_line("ready")
        cls.listening.wait_for_line("ready")

    def test_a_recording_leaves_no_socket(self):
        self.records(["Tour.compute"], "-p", self.jvm.pid)
        self.assertEqual([path.name for path in self.place.run.iterdir()], [])

    def test_an_agent_that_listens_is_dialled(self):
        self.records(["Tour.compute"], "-p", self.listening.pid)

    def test_perf_rings_serve_where_bpf_may_not(self):
        self.records(["Tour.compute"], "-p", self.jvm.pid, "--sampler", "perf")

    def test_a_daemon_meets_who_comes_and_says_who_went(self):
        place = collector.Place(self.directory)
        daemon = self.watch(place=place)
        jvm = self.background(self.java("Tour", agent=f"socket={place.socket}"), "jvm")
        daemon.wait_for_jvm(jvm.pid)
        processes.wait_until(lambda: "compute" in daemon.read_map(jvm.pid), "the map has it")
        jvm.stop()
        processes.wait_until(
            lambda: (daemon.jvm(jvm.pid) or {"state": "ended"})["state"] == "ended", "it has ended")
        self.assertIn("compute", daemon.read_map(jvm.pid))
        finished = daemon.stop()
        self.assertEqual(finished.code, 0, str(finished))
        self.assertFalse(place.socket.exists())
