# SPDX-License-Identifier: Apache-2.0
"""The DaemonSet's rights are enough, and all are needed. kubectl fgcollect copies files home."""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import time

from harness import cluster, folded, manifests, processes, settings
from harness.case import Case
from harness.marks import alone, plain

OVERLAYS = sorted(path.parent for path in cluster.KUBERNETES.glob("*/kustomization.yaml")) + \
    sorted(path.parent for path in cluster.KUBERNETES.glob("overlays/*/kustomization.yaml"))
TRACEFS = pathlib.Path("/sys/kernel/tracing")
EXAMPLES = sorted((cluster.KUBERNETES / "examples").glob("*.yaml"))
# What the restricted policy asks of a container, its pod's settings counting for it; images since
# Kubernetes 1.33.
RESTRICTED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image",
                      "persistentVolumeClaim", "projected", "secret"}
# The file's name and version; what follows is packed.
FGREC_HEAD_BYTES = 8
# A little locked memory, as on a node of many CPUs: rings do not fit into it.
LITTLE_MEMORY = ["--ulimit=memlock=65536:65536"]


def is_restricted(spec):
    """Whether a pod's spec stays within the limits of the restricted policy."""
    pod = spec.get("securityContext", {})
    volumes = {kind for volume in spec.get("volumes", []) for kind in volume if kind != "name"}
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        security = {**pod, **container.get("securityContext", {})}
        if (security.get("allowPrivilegeEscalation") is not False or
                security.get("runAsNonRoot") is not True or
                security.get("capabilities", {}).get("drop") != ["ALL"] or
                security.get("seccompProfile", {}).get("type") != "RuntimeDefault"):
            return False
    return volumes <= RESTRICTED_VOLUMES and not {"hostPID", "hostNetwork"} & set(spec)


class Kubernetes(Case):
    def setUp(self):
        super().setUp()
        self.node = cluster.Node(self)

    def record(self, *args, seconds=2, check=True):
        """Records by kubectl fgcollect. Returns the folded stacks and the finished command."""
        out = self.directory / "home.folded"
        finished = self.node.plugin("record", *args, "-F", "199", "-d", seconds, "-o", out)
        if check:
            self.assertEqual(finished.code, 0, str(finished))
        return folded.Folded.read(out) if finished.code == 0 else None, finished

    def start_record(self, *args):
        """Starts a recording of a minute. Returns when samples are being taken."""
        running = self.background(
            [cluster.KUBERNETES / "kubectl-fgcollect", "record", *args, "-d", "60", "-o",
             self.directory / "home.folded"],
            "plugin", env=self.node.environment(), start_new_session=True)
        processes.wait_until(lambda: self.recordings() or running.code is not None,
                             lambda: f"a recording runs: {running.text}")
        return running

    def collector_pod(self):
        return next(pod for pod in self.node.cluster["pods"]
                    if pod["metadata"]["namespace"] == cluster.SPACE)

    def recordings(self):
        """The number of fgcollect record processes in the collector's container."""
        listed = self.engine.docker("top", self.collector_pod()["docker"], "-eo", "pid,args").out
        return listed.count("record --pod")

    def assert_left(self, *expected):
        """Only the expected files are in the directory for results, and no recording runs."""
        names = {path.name for path in self.directory.iterdir()}
        self.assertEqual(names - {"run", "maps", "volumes", "cluster.json", "plugin.log"},
                         set(expected))
        processes.wait_until(lambda: not self.recordings(), "no recording runs any more")

    @plain
    def test_manifests_are_whole_and_of_known_fields(self):
        for folder in OVERLAYS:
            documents = manifests.build(folder)
            self.assertEqual([], [fault for document in documents
                                  for fault in manifests.faults_of(document)], folder)
        for path in EXAMPLES:
            for document in manifests.read(path):
                self.assertEqual([], manifests.faults_of(document), path)
                for_pods = document["kind"] == "Deployment"
                if for_pods:
                    self.assertEqual(is_restricted(document["spec"]["template"]["spec"]),
                                     path.name != "host-path.yaml", path)
        broken = manifests.build(cluster.KUBERNETES / "base")
        spec = manifests.of_kind("DaemonSet", broken)["spec"]["template"]["spec"]
        spec["hostPid"] = spec.pop("hostPID")
        self.assertEqual(["DaemonSet.spec.template.spec.hostPid: unknown"],
                         [fault for document in broken for fault in manifests.faults_of(document)])

    @plain
    def test_the_plug_in_is_a_clean_script(self):
        finished = processes.run(["shellcheck", cluster.KUBERNETES / "kubectl-fgcollect"])
        self.assertEqual(finished.code, 0, str(finished))

    @alone
    def test_the_manifests_rights_are_enough_for_whole_profiles(self):
        self.node.run_collector(options=LITTLE_MEMORY)
        for name, listens in (("orders-1", False), ("orders-12", True)):
            self.node.run_pod(name, "KnownShare", listens=listens).wait_for_line("ready")
        for pod in ("shop/orders-1", "shop/orders-12"):
            stacks, finished = self.record(pod)
            quality = folded.Quality(finished.err)
            print(quality.line)
            for share in (quality.java_named, quality.named, quality.rooted):
                self.assertGreater(share, 99.0, f"{finished}\n{stacks.top()}")
            # Both pods run one class, and the node knows no names of pods: the later one has its PID.
            self.assertEqual({re.sub(r"-\d+$", "", root) for root in stacks.roots()},
                             {"KnownShare"}, stacks.top())
            self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())
        finished = self.node.plugin("record", "shop/orders-1", "-d", "1", "-o", "out.html")
        self.assertEqual((finished.code, finished.out), (0, "out.html\n"), str(finished))
        self.assertTrue((self.directory / "out.html").read_text().rstrip().endswith("</html>"))
        finished = self.node.plugin("record", "shop/orders-1", "-d", "1", "-o", "out.fgrec")
        self.assertEqual(finished.code, 0, str(finished))
        packed = (self.directory / "out.fgrec").read_bytes()[FGREC_HEAD_BYTES:]
        # A string, its length before it: the host is the node, not the collector's pod.
        name = self.node.name.encode()
        self.assertIn(b"\x04host\x01" + bytes([len(name)]) + name, gzip.decompress(packed))
        finished = self.node.plugin("record", "shop/orders-1", "-d1", "-o-", "--format=folded")
        self.assertIn("KnownShare", folded.Folded(finished.out).roots(), str(finished))
        finished = self.node.plugin("list", "shop/orders-1")
        self.assertIn("KnownShare", finished.out, str(finished))
        self.assertEqual(len([line for line in finished.out.splitlines() if "KnownShare" in line]),
                         1, str(finished))
        finished = self.node.plugin("list", "--json")
        of_node = json.loads(finished.out)
        self.assertEqual(of_node["node"], self.node.name)
        self.assertIn("KnownShare", json.dumps(of_node["list"]), str(finished))
        finished = self.node.plugin("top", "shop/orders-1", "--once", "-d", "1")
        self.assertIn("KnownShare$Hot.run", finished.out, str(finished))
        waits, finished = self.record("shop/orders-1", "--kind", "wall", "--short-waits", "--waker")
        self.assertIn("threads by BPF, short waits by BPF", finished.err)
        self.assertTrue(any(frames[-1] == "[blocked: futex]_[w]" for frames, _ in waits.stacks))
        finished = self.node.plugin("top", "shop/orders-1", "--once", "-d", "1", "--kind", "wall")
        self.assertIn("threads (wall), read 20 times a second", finished.out, str(finished))
        finished = self.node.plugin("doctor", "--node", self.node.name)
        self.assertIn(f"node {self.node.name}\n", finished.out)
        for what in ("perf-events", "rings", "capabilities", "system-calls", "kernel-symbols"):
            self.assertRegex(finished.out, rf"(?m)^ok +{what}:", str(finished))
            self.assertNotRegex(finished.out, rf"(?m)^PROBLEM +{what}:", str(finished))
        self.assert_left("home.folded", "out.html", "out.fgrec")

    def start_deleted(self):
        """Starts a program, and deletes its file. Libraries that Java programs unpack are deleted
        so."""
        path = self.directory / "gone"
        shutil.copy("/usr/bin/perl", path)
        started = self.background([path, "-e", "$| = 1; print 'ready'; while (1) { -e '/'; }"],
                                  "plugin")
        processes.wait_until(lambda: "ready" in started.text, "it runs")
        path.unlink()

    def record_node(self, container):
        """The stacks of the program without a file, and of the kernel below it."""
        return self.engine.docker("exec", container, "fgcollect", "record", "-a", "--comm", "gone",
                                  "-F", "199", "-d", "1", "-o", "-", "--format", "folded").text

    def seen_without(self, capability):
        """What recordings of two pods, and of the node, say when the collector lacks the
        capability."""
        container = self.node.run_collector(without=(capability,), options=LITTLE_MEMORY)
        if capability == "IPC_LOCK":
            # BPF's ring buffer is no locked memory; perf's are.
            text = self.engine.docker("exec", container, "fgcollect", "doctor", "--sampler", "perf",
                                      check=False).text
            self.node.remove(container)
            return text
        dialling = self.record("shop/orders-1", seconds=1, check=False)[1]
        text = dialling.err + self.node.logs(container)
        if capability == "DAC_OVERRIDE":
            text += self.record("shop/orders-12", seconds=1, check=False)[1].err
        if capability in ("SYSLOG", "CHECKPOINT_RESTORE"):
            text += self.record_node(container)
        self.node.remove(container)
        return text

    @alone
    def test_each_capability_is_needed(self):
        for name, listens in (("orders-1", False), ("orders-12", True)):
            self.node.run_pod(name, "KnownShare", listens=listens).wait_for_line("ready")
        self.start_deleted()
        container = self.node.run_collector(options=LITTLE_MEMORY)
        text = self.record_node(container)
        self.assertRegex(text, "gone;.*main;perl_run;.*_\\[k\\]")
        self.assertNotRegex(text, "hidden|file is gone")
        self.node.remove(container)
        needed = {"PERFMON": "perf_event_open: Permission denied",
                  "BPF": r"by perf \(CAP_BPF is missing\)",
                  "SYS_PTRACE": "quality: .* 0.0 % named",
                  "SYSLOG": r"\[kernel: hidden without CAP_SYSLOG\]",
                  "DAC_OVERRIDE": "could not be reached: permission denied",
                  "IPC_LOCK": "rings for samples on all CPUs (cannot be had|are smaller)",
                  "CHECKPOINT_RESTORE": "file is gone",
                  "SETUID": "parsers have root's UID", "SETGID": "parsers have root's UID"}
        base = manifests.build(cluster.KUBERNETES / "base")
        security = manifests.containers(manifests.of_kind("DaemonSet", base))[0]["securityContext"]
        self.assertEqual(set(needed), set(security["capabilities"]["add"]))
        for capability, expected in needed.items():
            text = self.seen_without(capability)
            print(f"without {capability}: {expected}")
            self.assertRegex(text, expected, capability)

    def record_probes(self, pod):
        out = self.directory / "home.fgrec"
        finished = self.node.plugin("record", pod, "--kind", "alloc,lock", "--alloc-interval",
                                    "64k", "-d", 6, "-o", out)
        self.assertEqual(finished.code, 0, str(finished))
        print(finished.text)
        return finished.text

    def test_allocations_and_locks_are_recorded_with_or_without_an_overlay(self):
        collector = self.node.run_collector()
        self.node.run_pod("orders-1", "Probed").wait_for_line("ready")
        self.assertRegex(self.record_probes("shop/orders-1"), ", 1 JVM armed"
                         if processes.has_uprobe_links() else r"0 JVMs armed.*CAP_SYS_ADMIN")
        self.node.remove(collector)
        if not TRACEFS.joinpath("uprobe_events").exists():
            processes.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True)
            self.addCleanup(processes.run, ["umount", TRACEFS], check=True)
        again = self.node.run_collector("fgcollect-x7k2q", folder="overlays/probes")
        self.addCleanup(self.engine.docker, "rm", "-f", again, check=False) # before the umount
        text = self.record_probes("shop/orders-1")
        self.assertIn(", 1 JVM armed", text)
        self.assertRegex(text, r"quality of alloc: [\d.]+ [MG]iB, .*, 0 lost")
        self.assertRegex(text, r"quality of lock: [1-9][\d.,]* m?s, .*, 0 lost")

    def home(self, name, *args):
        """What a command over the store brings home."""
        finished = self.node.plugin(*args, "-o", self.directory / name)
        self.assertEqual(finished.code, 0, str(finished))
        return folded.Folded.read(self.directory / name)

    def test_what_was_is_asked_of_the_nodes_store(self):
        self.node.run_collector(folder="overlays/store")
        pod = self.node.run_pod("orders-1", "KnownShare")
        self.node.run_pod("other-1", "Probed").wait_for_line("ready")
        pod.wait_for_line("ready")
        def titles(pod):
            finished = self.node.plugin("history", f"shop/{pod}", "--from", "-1h", "--json")
            self.assertEqual(finished.code, 0, str(finished))
            return {row["title"] for row in json.loads(finished.out)["history"]["processes"]}
        for name in ("orders-1", "other-1"):
            processes.wait_until(lambda: titles(name), f"there is a window of {name}", timeout=60)
        self.assertEqual(titles("orders-1"), {"KnownShare"})
        shown = self.node.plugin("history", "--from", "-1h").out
        self.assertRegex(shown, r"(?s)node node-1\n.*KnownShare")
        self.assertIn("Probed", shown)
        stacks = self.home("home.folded", "render", "shop/orders-1", "--from=-1h")
        self.assertEqual(set(stacks.roots()), {"KnownShare"}, stacks.top())
        self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())
        uid = next(each for each in self.node.cluster["pods"]
                   if each["metadata"]["name"] == "orders-1")["metadata"]["uid"]
        self.node.cluster["pods"] = [each for each in self.node.cluster["pods"]
                                     if each["metadata"]["name"] != "orders-1"]
        self.node.save()
        gone = self.home("gone.folded", "render", uid, "--node", "node-1", "--from", "-1h")
        self.assertGreaterEqual(gone.samples, stacks.samples)
        finished = self.node.plugin("diff", uid, "--node", "node-1", "--before-from", "-1h",
                                    "--before-to", "now", "--from", "-1h", "-o",
                                    self.directory / "diff.svg")
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("</svg>", (self.directory / "diff.svg").read_text())
        self.node.cluster["exec"] = "cut"
        self.node.save()
        before = (self.directory / "gone.folded").read_text()
        finished = self.node.plugin("render", uid, "--node", "node-1", "--from", "-1h", "-o",
                                    self.directory / "gone.folded")
        self.assert_fails(finished, 1, "nothing was written")
        self.assertEqual((self.directory / "gone.folded").read_text(), before)

    def assert_refused(self, *args, says, code=1):
        finished = self.node.plugin(*args)
        self.assert_fails(finished, code, *says)
        self.assertEqual(finished.out, "", str(finished))

    @plain
    def test_the_plug_in_knows_which_options_have_a_value(self):
        text = "".join((settings.SOURCE / "collector" / "options" / name).read_text()
                       for name in ("record.txt", "top.txt", "draw.txt", "history.txt"))
        options = re.findall(r"^(?:-\w, )?(--[a-z-]+) \S", text, re.M)
        self.assertGreater(len(options), 30)
        refused = {"--pid", "--pod", "--process"}
        for option in sorted(set(options) - refused):
            self.assert_refused("record", "shop/x", option, says=(f"{option} needs a value",), code=2)

    def test_what_cannot_be_recorded_is_said_and_nothing_is_written(self):
        self.node.run_collector()
        self.node.run_pod("plain-1", "KnownShare", agent=False).wait_for_line("ready")
        self.node.run_pod("plain-12", "KnownShare").wait_for_line("ready")
        elsewhere = self.node.add("far-1", None)
        elsewhere["spec"]["nodeName"] = "node-2"
        self.node.add("new-1", None)["spec"].pop("nodeName")
        self.node.add("job-1", None)["status"]["phase"] = "Succeeded"
        self.node.save()
        for args, says in (
                (("shop/none",), ('pods "none" not found', "cannot find the pod shop/none")),
                (("shop/far-1",), ("node node-2 has no collector", "taints")),
                (("shop/new-1",), ("has no node yet",)),
                (("shop/job-1",), ("has ended (Succeeded)",)),
                (("shop/plain-12", "-c", "side"), ("has no container side; it has: app",)),
                (("shop/plain-12", "--collector-namespace", "x"), ("in namespace x",)),
                (("shop/plain-12", "--jvm", "Nobody"), ("no JVM fits",)),
                (("shop/plain-12", "-e", "nonsense"), ("no such event",)),
                (("shop/plain-12", "-o", "/proc/x/y.svg"), ("cannot write into",))):
            self.assert_refused("record", *args, "-d", "1", says=says)
        for args in ((), ("record",), ("record", "a/b/c"), ("record", "shop/x", "-o", "x.png"),
                     ("record", "shop/x", "-p", "1"), ("record", "shop/x", "-o"),
                     ("record", "shop/x", "-o", "a.svg", "-o", "b.svg"), ("frobnicate",),
                     ("record", "shop/x", "-o", "-"), ("list", "shop/x", "--node", "n")):
            self.assert_refused(*args, says=("kubectl fgcollect help",), code=2)
        status = self.collector_pod()["status"]
        status["containerStatuses"][0]["ready"] = False
        self.node.save()
        self.assert_refused("record", "shop/plain-12",
                            says=("does not work", "ready: false", "logs fgcollect-x7k2p says"))
        status["phase"] = "Pending"  # it has no log yet
        self.node.save()
        self.assert_refused("record", "shop/plain-12",
                            says=("(Pending, ready", "describe pod fgcollect-x7k2p says"))
        self.assert_left()

    def test_a_connection_that_breaks_leaves_the_file_as_it_was(self):
        self.node.run_collector()
        self.node.run_pod("orders-1", "KnownShare").wait_for_line("ready")
        out = self.directory / "home.folded"
        out.write_text("old")
        for kind, says in (("cut", "bytes have come"), ("changed", "not what was sent"),
                           ("dead", "failed (exit 137)")):
            self.node.cluster["exec"] = kind
            self.node.save()
            _, finished = self.record("shop/orders-1", seconds=1, check=False)
            self.assert_fails(finished, 1, says, "nothing was written")
            self.assertEqual(out.read_text(), "old")
        self.node.cluster["exec"] = "whole"
        self.node.save()
        running = self.start_record("shop/orders-1")
        os.kill(running.pid, signal.SIGKILL)  # and with it all that holds the connection
        running.wait()
        processes.wait_until(lambda: not self.recordings(), "the recording ends with its reader")
        self.assertEqual(out.read_text(), "old")

    def test_a_collector_that_is_replaced_hands_over_what_it_has(self):
        container = self.node.run_collector()
        self.node.run_pod("orders-1", "KnownShare").wait_for_line("ready")
        running = self.start_record("shop/orders-1")
        time.sleep(2)  # of a minute
        self.engine.docker("kill", "--signal", "TERM", container)  # its container ends with it
        finished = running.wait()
        self.assertEqual(finished.code, 0, str(finished))
        stacks = folded.Folded.read(self.directory / "home.folded")
        self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())

    def test_ctrl_c_and_a_container_that_ends_keep_what_there_is(self):
        self.node.run_collector()
        pod = self.node.run_pod("orders-1", "KnownShare").wait_for_line("ready")
        for end in (lambda r: os.killpg(r.pid, signal.SIGINT),
                    lambda r: (pod.rm(), os.killpg(r.pid, signal.SIGINT))):
            running = self.start_record("shop/orders-1")
            time.sleep(3)  # of a minute
            end(running)
            finished = running.wait()
            self.assertEqual(finished.code, 0, str(finished))
            self.assertRegex(str(finished), r"samples of .* cores, 1 JVM\n")
            stacks = folded.Folded.read(self.directory / "home.folded")
            self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())
            self.assert_left("home.folded")
            (self.directory / "home.folded").unlink()
        self.assert_refused("record", "shop/orders-1", "-d", "1", says=("no JVM fits --pod",))
