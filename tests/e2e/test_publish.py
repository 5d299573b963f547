# SPDX-License-Identifier: Apache-2.0
"""--publish: maps that subscribers make of events alone are the daemon's perf maps."""

import importlib.util
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

from harness import bindings, collector, processes, settings
from harness.case import Case
from harness.follower import Follower, living
from harness.marks import tour
from harness.perf_map import PerfMap
from harness.shared import SharedCase

EXAMPLES = settings.SOURCE / "docs" / "examples"


def program(name):
    """Of docs/examples, in C."""
    return settings.BUILD / "tests" / "e2e" / f"{name}_example"


def example():
    """The module docs/examples/publish.py, whose maps need no pynng."""
    spec = importlib.util.spec_from_file_location("publish_example", EXAMPLES / "publish.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_counted(text, name):
    """Whether compilations.py has counted some of that class."""
    return any(line.split()[1:] == [name] for line in text.splitlines())


def moment_ns():
    """Of the clock of the events: a moment to ask for, and no bound."""
    return time.monotonic_ns()


class Subscriber(threading.Thread):
    """A SUB socket of Debian's libnng; feeds the example's maps."""

    def __init__(self, url, topics, recv_buffer=4096):
        super().__init__(daemon=True)
        nng = bindings.stand_in()
        self.timeout, self.maps, self.ends = nng.Timeout, example().Maps(), False
        self.socket = nng.Sub0(dial=url, block_on_dial=False, recv_timeout=100,
                               recv_buffer_size=recv_buffer)
        for topic in topics:
            self.socket.subscribe(topic)

    def run(self):
        while not self.ends:
            try:
                self.maps.hear(self.socket.recv())
            except self.timeout:
                pass

    def stop(self):
        self.ends = True
        self.join()


class Publish(Case):
    def setUp(self):
        super().setUp()
        self.path = self.directory / "publish" / "events"
        self.url = f"ipc://{self.path}"

    def churn(self, seconds=4, idle=60):
        return self.background(self.java("Churn", str(seconds), "20", str(idle),
                                         agent=f"socket={self.place.socket}"), "jvm")

    def subscribe(self, *topics):
        subscriber = Subscriber(self.url, topics or example().TOPICS)
        subscriber.start()
        self.addCleanup(subscriber.stop)
        return subscriber

    def counters(self, daemon):
        return daemon.list_json()["collector"]["publish"]

    def wait_for(self, program, word):
        processes.wait_until(lambda: word in program.text, lambda: f"{word}: {program.text}")

    def wait_for_same(self, daemon, pid, ranges_of):
        """Until the subscriber's ranges are those of the daemon's perf map."""
        def same():
            want = set(PerfMap(daemon.read_map(pid)).entries)
            return want and ranges_of() == want
        processes.wait_until(same, lambda: f"the maps are the same; only one has "
                             f"{set(PerfMap(daemon.read_map(pid)).entries) ^ ranges_of()}")

    def ranges_of(self, subscriber, pid):
        return set(PerfMap(subscriber.maps.perf_map(pid)).entries)

    def test_maps_of_two_subscribers_are_the_daemons(self):
        daemon = self.watch("--publish", self.url)
        first, second = self.subscribe(), self.subscribe()
        jvm = self.churn()
        daemon.wait_for_jvm(jvm.pid)
        self.wait_for(jvm, "idle")
        for subscriber in (first, second):
            self.wait_for_same(daemon, jvm.pid, lambda: self.ranges_of(subscriber, jvm.pid))
            self.assertEqual(subscriber.maps.gaps, 0)
        row = daemon.jvm(jvm.pid)
        self.assertGreater(row["unloads"], 10, "nothing was dropped")
        self.assertEqual(self.counters(daemon)["subscribers"], 2)
        self.assertEqual(self.counters(daemon)["events_dropped"], 0)

    def test_late_subscriber_of_the_c_example_has_all_living_code(self):
        daemon = self.watch("--publish", self.url)
        jvm = self.churn(seconds=1)
        daemon.wait_for_jvm(jvm.pid)
        self.wait_for(jvm, "idle")
        finished = processes.run([program("publish"), self.url, str(jvm.pid), "4"], timeout=60)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("0 messages missed, all code is known", finished.err)
        living = {line[2:] for line in finished.out.splitlines() if line.startswith("+")}
        self.assertEqual(len(living), daemon.jvm(jvm.pid)["code_ranges"])
        known = set(daemon.read_map(jvm.pid).splitlines())
        self.assertEqual(living - known, set())

    def with_state(self):
        self.state = f"ipc://{self.directory / 'publish' / 'state'}"
        return self.watch("--publish", self.url, "--publish-state", self.state)

    def names(self, pid, *args):
        return [program("names"), self.url, self.state, str(pid), *args]

    def test_state_and_events_make_the_map_of_a_late_subscriber(self):
        daemon = self.with_state()
        jvm = self.churn(seconds=8)
        daemon.wait_for_jvm(jvm.pid)
        joined = processes.run(self.names(jvm.pid, "="), timeout=60)
        self.assertEqual(joined.code, 0, str(joined))
        follower = self.background(self.names(jvm.pid), "names")
        self.wait_for(follower, "Churn")
        self.wait_for(jvm, "idle")
        processes.wait_until(lambda: len(self.living(jvm.pid)) == daemon.jvm(jvm.pid)["code_ranges"],
                             lambda: "all living code is in the state")
        living = self.living(jvm.pid)
        self.assertEqual(living - set(daemon.read_map(jvm.pid).splitlines()), set())
        addr, _, name = sorted(living)[len(living) // 2].split(" ", 2)
        named = processes.run(self.names(jvm.pid, addr), timeout=60)
        self.assertEqual(named.out.strip(), f"{addr} {name}", str(named))
        self.assertEqual(self.counters(daemon)["answers_unsent"], 0)

    def living(self, pid):
        finished = processes.run(self.names(pid, "="), timeout=60)
        self.assertEqual(finished.code, 0, str(finished))
        return set(finished.out.splitlines()) - {""}

    def test_follower_has_the_daemons_map_while_code_comes_and_goes(self):
        daemon = self.with_state()
        jvm = self.churn(seconds=8)
        daemon.wait_for_jvm(jvm.pid)
        follower = Follower(self.url, self.state, jvm.pid)
        self.addCleanup(follower.stop)
        self.assertIn("\n", follower.map())
        self.wait_for(jvm, "idle")
        processes.wait_until(
            lambda: follower.map() == living(self.url, self.state, jvm.pid),
            lambda: "the follower's map is the daemon's, byte by byte", of=daemon)

    def test_map_after_cut_connections_is_the_daemons(self):
        """tests/bench/publish_map.py, which is run for ten minutes by hand."""
        bench = settings.SOURCE / "tests" / "bench" / "publish_map.py"
        finished = processes.run([sys.executable, bench, "--seconds", "12", "--cut-sec", "2",
                                  "--restarts", "1"], timeout=540)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("the subscriber's map and the daemon's are the same", finished.out)

    def test_jvm_without_an_agent_is_in_the_state_and_in_the_events(self):
        """Read from outside, since everything is recorded."""
        self.state = f"ipc://{self.directory / 'publish' / 'state'}"
        graphs = self.directory / "graphs"
        graphs.mkdir()
        daemon = self.watch("--publish", self.url, "--publish-state", self.state, "-a", "--output", graphs)
        jvm = self.background(self.java("Churn", "0", "20"), "jvm")
        daemon.wait_for_jvm(jvm.pid, "read from outside")
        follower = self.background(self.names(jvm.pid), "names")
        self.wait_for(follower, "Churn$Work")
        events = self.subscribe("jvm\n", "code.json\n")
        processes.wait_until(lambda: any("Churn$Work" in r[1] for j in events.maps.jvms.values()
                                         for r in j.ranges.values()),
                             lambda: "its code is in the events", of=jvm)
        processes.wait_until(lambda: daemon.jvm(jvm.pid)["sampled"]["samples"] > 0,
                             lambda: "its samples are counted", of=jvm)

    def pynng(self):
        try:
            return {"PYTHONPATH": str(bindings.pynng_directory())}
        except LookupError as error:
            self.skipTest(str(error))

    def test_compilations_are_counted_by_class_with_pynng(self):
        env = self.pynng()
        daemon = self.watch("--publish", self.url)
        counting = self.background([sys.executable, EXAMPLES / "compilations.py", self.url],
                                   "compilations", env=env)
        processes.wait_until(lambda: self.counters(daemon)["subscribers"] == 1,
                             lambda: f"it subscribes: {counting.text}", of=counting)
        jvm = self.churn(seconds=0)
        processes.wait_until(lambda: has_counted(counting.text, "Churn$Work"),
                             lambda: f"compilations are counted: {counting.text}", of=jvm)
        self.assertNotRegex(counting.text, "compilations, [1-9][0-9]* messages missed")

    def test_map_of_the_example_with_pynng_is_the_daemons(self):
        env = self.pynng()
        daemon = self.watch("--publish", self.url)
        jvm = self.churn(seconds=3)
        daemon.wait_for_jvm(jvm.pid)
        self.wait_for(jvm, "idle")

        def joined():
            return self.counters(daemon)["subscribers_joined"]

        def started():
            """It takes a signal from when it subscribes on."""
            before = joined()
            keeping = self.background([sys.executable, EXAMPLES / "publish.py", self.url, str(jvm.pid)],
                                      "keeping", env=env)
            processes.wait_until(lambda: joined() > before,
                                 lambda: f"it subscribes: {keeping.text}", of=keeping)
            return keeping

        def same():
            """The example tells its map at its end: another one is begun if it was too early."""
            keeping = started()
            processes.wait_until(lambda: "missed" in keeping.text, "all is quiet for once", of=keeping)
            before = set(PerfMap(daemon.read_map(jvm.pid)).entries)
            told = keeping.stop(signal.SIGINT).text
            own = [line for line in told.splitlines() if not line.endswith(" missed")]
            return own and set(PerfMap("\n".join(own)).entries) <= before and "1 whole" in told
        processes.wait_until(same, "the map is the daemon's", of=jvm)

    def test_agent_is_heard_and_played_by_libnng_alone(self):
        heard = self.background([program("hear_agent"), f"ipc://{self.directory}/pull"], "pull")
        self.background(self.java("Churn", "1", "20", "60", agent=f"socket={self.directory}/pull"), "jvm")
        self.wait_for(heard, "bytes FGW1")
        daemon = self.with_state()
        played = self.background([program("play_agent"), f"ipc://{self.place.socket}"], "push")
        self.wait_for(played, "said")
        daemon.wait_for_jvm(played.pid)
        self.assertEqual({line.split(" ", 2)[2] for line in self.living(played.pid)},
                         {"Lexample/Played;::run"})

    def test_stopped_subscriber_sees_gaps_and_costs_others_nothing(self):
        daemon = self.watch("--publish", self.url, "--memory", "64M")
        other = self.subscribe()
        stopped = self.background([sys.executable, "-c", STOPPED, self.url], "stopped")
        self.wait_for(stopped, "subscribed")
        processes.wait_until(lambda: self.counters(daemon)["subscribers"] == 2, lambda: "both are there")
        os.kill(stopped.pid, signal.SIGSTOP)
        jvms = [self.background(self.java("ManyMethods", agent=f"socket={self.place.socket}"),
                                f"many{n}") for n in range(2)]
        jvms.append(self.churn(seconds=8))
        self.wait_for(jvms[-1], "idle")
        before = self.counters(daemon)
        self.assertEqual(before["messages_unsent"], 0)
        self.assertLessEqual(before["kept_bytes"], 64 << 14)
        self.wait_for_same(daemon, jvms[-1].pid, lambda: self.ranges_of(other, jvms[-1].pid))
        self.assertEqual(other.maps.gaps, 0)
        os.kill(stopped.pid, signal.SIGCONT)
        self.wait_for(stopped, "missed")
        os.kill(stopped.pid, signal.SIGKILL)
        processes.wait_until(lambda: self.counters(daemon)["subscribers"] == 1,
                             lambda: "the killed subscriber is forgotten")

    def test_taken_paths_are_refused_and_stay(self):
        self.path.parent.mkdir()
        for make in (self.path.touch, lambda: self.path.symlink_to("/nowhere")):
            make()
            daemon = self.watch("--publish", self.url, started=False)
            processes.wait_until(lambda: daemon.code is not None, lambda: "the daemon ends")
            self.assertEqual(daemon.code, 1)
            self.assertIn("something that is no socket is there", daemon.text)
            self.path.unlink()

    def test_socket_of_another_daemon_is_refused_and_goes_on(self):
        first = self.watch("--publish", self.url)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)
        (self.directory / "other").mkdir()
        second = self.watch("--publish", self.url, place=collector.Place(self.directory / "other"),
                            started=False)
        processes.wait_until(lambda: second.code is not None, lambda: "the second daemon ends")
        self.assertEqual(second.code, 1)
        self.assertIn(f"another collector is running, PID {first.pid}", second.text)
        jvm = self.churn(seconds=0.5)
        subscriber = self.subscribe()
        first.wait_for_jvm(jvm.pid)
        self.wait_for(jvm, "idle")
        processes.wait_until(lambda: any(j.is_whole for j in subscriber.maps.jvms.values()),
                             lambda: f"the first daemon publishes; {self.counters(first)}")
        self.assertLessEqual(self.counters(first)["listeners_renewed"], 1)

    def test_places_of_others_and_bad_urls_are_refused(self):
        (self.directory / "link").symlink_to(self.place.run)
        for url, code, text in ((f"ipc://{self.place.run}/events", 1, "containers have"),
                                (f"ipc://{self.place.run}/below/events", 1, "containers have"),
                                (f"ipc://{self.directory}/link/events", 1, "containers have"),
                                ("ipc:///run/fgcollect/events", 1, "look for /run/fgcollect/agent.sock"),
                                ("tcp://127.0.0.1:1", 2, "ipc://"), ("ipc://x", 2, "ipc://"),
                                ("ipc:///tmp/", 2, "ipc://")):
            finished = collector.fgcollect("--watch", "--publish", url, *self.place.options(),
                                           timeout=60)
            self.assert_fails(finished, code, text)
        self.path.parent.mkdir(mode=0o777)
        self.path.parent.chmod(0o777)
        finished = collector.fgcollect("--watch", "--publish", self.url, *self.place.options(),
                                       timeout=60)
        self.assert_fails(finished, 1, "others may write to")

    def test_another_user_is_told_to_be_root(self):
        if os.geteuid() != 0:
            self.skipTest("not root")
        own = self.directory / "own"
        own.mkdir()
        place = collector.Place(own)
        for path in (own, place.run, place.maps):
            os.chown(path, 65534, 65534)
        finished = collector.fgcollect(
            "--watch", "--publish", "ipc:///run/fgcollect-publish-test/events", *place.options(),
            timeout=60, prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
        self.assert_fails(finished, 1, "cannot make the socket directory", "run as root",
                          "--publish")


@tour
class Examples(SharedCase):
    """Those of docs/publish.md that name, count and trace, on one JVM that compiles for ever."""

    @classmethod
    def set_up_host(cls, host):
        cls.events, cls.state = (f"ipc://{host.directory / 'publish' / name}"
                                 for name in ("events", "state"))
        cls.daemon = host.watch("--publish", cls.events, "--publish-state", cls.state)
        cls.jvm = host.container("Churn", "0", "40", "0", "60")
        cls.jvm.wait_for_line("ready")
        cls.pid = cls.jvm.pid
        cls.daemon.wait_for_jvm(cls.pid)

    def started(self, args, until, **options):
        """A program that runs until its output has what is looked for."""
        running = self.background(args, "example", **options)
        processes.wait_until(lambda: until(running.text), lambda: f"it says so: {running.text[-3000:]}",
                             of=running)
        return running

    def names(self, *args):
        return [program("names"), self.events, self.state, str(self.pid), *args]

    def test_each_new_method_is_told(self):
        self.started(self.names(), lambda text: "LChurn$Work;::" in text)

    def test_addresses_are_named_at_their_times(self):
        def map_now():
            return processes.run(self.names("="), check=True, timeout=120).out.splitlines()

        def is_named():
            """A method that has lived through all of it."""
            lines, at_ns, later = map_now(), moment_ns(), set(map_now())
            methods = [line for line in lines if line in later and "::" in line]
            if not methods:
                return False
            addr, _, name = methods[0].split(" ", 2)
            named = processes.run(self.names(addr, f"{addr}@{at_ns}"), check=True, timeout=120)
            return named.out.splitlines() == [f"{addr} {name}"] * 2
        processes.wait_until(is_named, "an address has its name", every=0.5)

    def test_compilations_are_counted_by_class(self):
        """Without pynng, which is PyPI's: test_compilations_are_counted_by_class_with_pynng."""
        self.started([sys.executable, EXAMPLES / "compilations.py", self.events],
                     lambda text: has_counted(text, "Churn$Work"),
                     env={"PYTHONPATH": str(bindings.STAND_IN)})

    def test_addresses_of_bpftrace_have_names(self):
        """The command of docs/publish.md."""
        if os.geteuid() != 0 or not shutil.which("bpftrace"):
            self.skipTest("bpftrace needs root, and Debian's package")
        command, = (line for line in (settings.SOURCE / "docs" / "publish.md").read_text().splitlines()
                    if line.startswith("bpftrace "))
        command = command.replace("names EVENTS STATE PID", " ".join(map(str, self.names())))
        named = self.background(["bash", "-c", command.replace("PID", str(self.pid))], "named",
                                start_new_session=True)
        self.addCleanup(end_group, named)
        processes.wait_until(lambda: "LChurn$Work;::" in named.text,
                             lambda: f"addresses have names: {named.text[-3000:]}", of=named)


def end_group(running):
    """Of a pipe of programs, in a session of its own."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


STOPPED = f"""
import sys, time
sys.path[:0] = [{str(pathlib.Path(__file__).parent)!r}]
from test_publish import Subscriber, example
subscriber = Subscriber(sys.argv[1], example().TOPICS, recv_buffer=8192)
subscriber.start()
while not subscriber.maps.instance:
    if not hasattr(subscriber, "told"):
        subscriber.told = True
        print("subscribed", flush=True)
    time.sleep(0.05)
while not subscriber.maps.gaps:
    time.sleep(0.05)
print("missed", subscriber.maps.gaps, flush=True)
time.sleep(1000)
"""
