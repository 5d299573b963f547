# SPDX-License-Identifier: Apache-2.0
"""fgcollect doctor finds the faults of hosts and containers that were broken on purpose.

In each test the fault is named with a remedy, and the remedy makes the fault go away.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

from harness import collector, owners, processes, settings
from harness.case import Case
from harness.marks import alone

PERFMON, PTRACE, READ, SYSLOG = "perfmon", "sys_ptrace", "dac_read_search", "syslog"

# All calls but these, as a container's profile may have it.
PROFILE = {"defaultAction": "SCMP_ACT_ALLOW"}


def forbidding(*names):
    return {**PROFILE, "syscalls": [{"names": [*names], "action": "SCMP_ACT_ERRNO"}]}


def as_nobody(*capabilities):
    """A prefix that runs a command as an ordinary user with these capabilities."""
    names = ",".join(["-all", *(f"+{name}" for name in capabilities)])
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            f"--inh-caps={names}", f"--ambient-caps={names}", f"--bounding-set={names}"]


@contextlib.contextmanager
def setting(name, value):
    """Changes a kernel setting until the `with` is left."""
    path = pathlib.Path("/proc/sys") / name.replace(".", "/")
    before = path.read_text()
    path.write_text(f"{value}\n")
    try:
        yield
    finally:
        path.write_text(before)


class Doctor(Case):
    def ask(self, *args, prefix=()):
        """The findings of the doctor. Findings about JVMs of other tests do not matter."""
        options = args or self.place.options()
        finished = collector.fgcollect("doctor", "--json", *options, prefix=prefix)
        self.assertTrue(finished.out, str(finished))
        report = json.loads(finished.out)
        self.assertEqual(finished.code, 0 if report["whole"] else 1)
        problems = [f for f in report["findings"] if f["state"] == "problem"]
        self.assertEqual(report["whole"], not problems)
        for finding in problems:
            print(f"{finding['check']}: {finding['object']} {finding['what']}\n"
                  f"    fix: {finding['fix']}")
            self.assertTrue(finding["fix"])
        return report["findings"]

    def state_of(self, check, *args, prefix=(), says=(), about=""):
        """The worst state of the check. says: words that the finding or its fix must contain."""
        return self.state_in(self.ask(*args, prefix=prefix), check, says, about)

    def state_in(self, findings, check, says=(), about=""):
        """As state_of, for findings of an earlier report."""
        found = [f for f in findings if f["check"] == check and about in f["object"]]
        states = [f["state"] for f in found]
        worst = next((s for s in ("problem", "note", "ok") if s in states), None)
        for words in says:
            self.assertTrue(any(words in f["what"] + " | " + f.get("fix", "") for f in found
                                if f["state"] == worst), f"'{words}' in {found}")
        return worst

    def test_host_without_faults_passes(self):
        findings = self.ask()
        for check in ("perf-events", "sample-rate", "rings", "sampler", "exec-events", "threads",
                      "short-waits", "uprobes", "capabilities", "system-calls", "kernel-symbols", "pid-namespace", "agents-directory", "map-directory"):
            self.assertEqual(self.state_in(findings, check), "ok", check)

    def test_user_without_rights_is_told_which(self):
        self.assertEqual(
            self.state_of("perf-events", prefix=as_nobody(),
                          says=["perf_event_paranoid is", "CAP_PERFMON"]), "problem")
        self.assertEqual(self.state_of("capabilities", prefix=as_nobody(), about="PTRACE",
                                       says=["CAP_SYS_PTRACE"]), "problem")
        findings = self.ask(prefix=as_nobody(PERFMON, PTRACE, READ, SYSLOG))
        for check in ("perf-events", "capabilities", "kernel-symbols"):
            self.assertEqual(self.state_in(findings, check), "ok")

    def test_what_waits_are_without_bpf_is_told(self):
        findings = self.ask(prefix=as_nobody(PERFMON, PTRACE, READ, SYSLOG))
        for check, words in (("threads", ["by /proc (CAP_BPF is missing)", "grant CAP_BPF"]),
                             ("short-waits", ["cannot be had: CAP_BPF is missing", "Linux 6.18"])):
            self.assertEqual(self.state_in(findings, check, says=words), "note")
        findings = self.ask("--sampler", "perf", *self.place.options())
        for check, words in (("threads", ["by /proc, not by BPF, as was asked for"]),
                             ("short-waits", ["as was asked for"])):
            self.assertEqual(self.state_in(findings, check, says=words), "ok")

    def test_rights_for_probe_points_are_told(self):
        """Kernels without the fix for CVE-2025-38466 take CAP_PERFMON."""
        findings = self.ask(prefix=as_nobody(PERFMON, PTRACE, READ, SYSLOG))
        if self.state_in(findings, "uprobes") == "note":
            self.state_in(findings, "uprobes", says=["CAP_SYS_ADMIN is missing", "CAP_DAC_OVERRIDE"])
        findings = self.ask(prefix=as_nobody(PERFMON, PTRACE, READ, SYSLOG, "sys_admin"))
        self.assertEqual(self.state_in(findings, "uprobes", says=["can be opened by"]), "ok")

    @alone
    def test_hidden_kernel_symbols_are_told(self):
        with setting("kernel.kptr_restrict", 2):
            self.assertEqual(
                self.state_of("kernel-symbols", says=["kptr_restrict is 2",
                                                      "sysctl kernel.kptr_restrict=1"]), "problem")
        with setting("kernel.kptr_restrict", 1):
            self.assertEqual(self.state_of("kernel-symbols"), "ok")

    @alone
    def test_low_sample_rate_is_told(self):
        with setting("kernel.perf_event_max_sample_rate", 50):
            self.assertEqual(
                self.state_of("sample-rate",
                              says=["50", "sysctl kernel.perf_event_max_sample_rate=100000"]),
                "problem")
        with setting("kernel.perf_event_max_sample_rate", 100000):
            self.assertEqual(self.state_of("sample-rate"), "ok")

    @alone
    def test_little_locked_memory_is_told(self):
        prefix = ["prlimit", "--memlock=65536", *as_nobody(PERFMON, PTRACE, READ)]
        with setting("kernel.perf_event_mlock_kb", 64):
            self.assertEqual(self.state_of("rings", prefix=prefix,
                                           says=["kernel.perf_event_mlock_kb"]), "problem")
        with setting("kernel.perf_event_mlock_kb", 1 << 17):
            self.assertEqual(self.state_of("rings", prefix=prefix), "ok")

    def in_container(self, *options, profile=None):
        """A prefix that runs a command in a container of its own, with the rights that README asks
        for."""
        path = self.directory / "seccomp.json"
        path.write_text(json.dumps(profile or PROFILE))
        reads = [settings.COLLECTOR.parent, "/usr", "/lib", "/lib64"]
        return ["env", f"DOCKER_HOST={self.engine.state['docker_host']}", "docker", "run", "--rm",
                *owners.label(), "--label", self.engine.state["token"], "--user", "0",
                "--network", "none",
                # Docker 20.10 does not know of CAP_PERFMON.
                *[f"--cap-add={name}" for name in ("sys_admin", PTRACE, READ, SYSLOG)],
                f"--security-opt=seccomp={path}", f"--volume={self.directory}:{self.directory}",
                *[f"--volume={path}:{path}:ro" for path in reads], *options,
                "--entrypoint", "/usr/bin/env", self.image()]

    def test_seccomp_profile_of_a_container_is_told(self):
        prefix = self.in_container("--pid=host", profile=forbidding("perf_event_open"))
        self.assertEqual(self.state_of("perf-events", prefix=prefix, says=[
            "seccomp filter", "--security-opt seccomp="]), "problem")
        self.assertEqual(self.state_of("perf-events", prefix=self.in_container("--pid=host")), "ok")

    def test_long_names_that_a_seccomp_profile_hides_are_told(self):
        remedy = "let the seccomp profile allow openat2 and process_vm_readv"
        prefix = self.in_container("--pid=host", profile=forbidding("process_vm_readv"))
        self.assertEqual(self.state_of("system-calls", prefix=prefix, says=[
            "process_vm_readv is not allowed; this process runs under a seccomp filter",
            "names of threads past 15 bytes", remedy]), "problem")
        prefix = self.in_container("--pid=host", profile=forbidding("process_vm_readv", "openat2"))
        self.assertEqual(self.state_of("system-calls", prefix=prefix, says=[
            "process_vm_readv is not allowed", "openat2 is not allowed", remedy]), "problem")
        self.assertEqual(self.state_of("system-calls", prefix=self.in_container("--pid=host")), "ok")

    def test_that_programs_begin_unheard_is_told(self):
        """The host has no trace file system, and the command has no right to mount one."""
        prefix = ["unshare", "--mount", "sh", "-c",
                  "umount -q -l /sys/kernel/tracing; umount -q -l /sys/kernel/debug; "
                  'exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$@"', "sh"]
        self.assertEqual(self.state_of("exec-events", prefix=prefix, says=[
            "sched_process_exec", "/sys/kernel/tracing:ro"]), "note")
        self.assertEqual(self.state_of("perf-events", prefix=prefix), "ok")

    def test_pid_namespace_of_a_container_is_told(self):
        self.assertEqual(self.state_of("pid-namespace", prefix=self.in_container(),
                                       says=["--pid=host"]), "problem")
        self.assertEqual(self.state_of("pid-namespace", prefix=self.in_container("--pid=host")),
                         "ok")

    def test_pids_of_another_container_are_noted(self):
        node = self.container("KnownShare").wait_for_line("ready")
        self.assertEqual(self.state_of("pid-namespace", says=["are another container's"],
                                       prefix=self.in_container(f"--pid=container:{node.id}")),
                         "note")

    def test_socket_directory_for_root_alone_is_told(self):
        self.place.run.chmod(0o700)
        self.assertEqual(self.state_of("agents-directory", says=["0700", "chmod 755"]), "problem")
        self.place.run.chmod(0o755)
        self.assertEqual(self.state_of("agents-directory"), "ok")

    def test_file_in_the_sockets_place_is_told(self):
        self.place.socket.write_text("")
        self.assertEqual(self.state_of("agents-socket", says=["no socket", "remove it"]), "problem")
        self.place.socket.unlink()
        self.assertIsNone(self.state_of("agents-socket"))

    def test_full_map_directory_is_told(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "fg", self.place.maps], check=True)
        try:
            self.assertEqual(self.state_of("map-directory", says=["64 KiB", "--map-dir"]), "problem")
            subprocess.run(["mount", "-o", "remount,size=64m", self.place.maps], check=True)
            self.assertEqual(self.state_of("map-directory"), "ok")
            subprocess.run(["mount", "-o", "remount,ro", self.place.maps], check=True)
            self.assertEqual(self.state_of("map-directory", says=["Read-only"]), "problem")
        finally:
            subprocess.run(["umount", self.place.maps], check=True)

    def test_jvm_without_the_agent_is_told(self):
        jvm = self.container("KnownShare", env={"JAVA_TOOL_OPTIONS": ""}).wait_for_line("ready")
        about = f"PID {jvm.pid} "
        self.assertEqual(self.state_of("jvm", about=about, says=[
            "without the agent", "-agentpath:/opt/fgcollect/libfgagent.so"]), "problem")
        # Nothing but what the fix says.
        jvm = self.container("KnownShare").wait_for_line("ready")
        self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} "), "ok")

    def test_container_without_the_directory_is_told(self):
        empty = self.directory / "empty"
        empty.mkdir()
        self.watch()
        jvm = self.container("KnownShare", run_dir=empty).wait_for_line("ready")
        self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} ", says=[
            "no socket at /run/fgcollect/agent.sock", f"-v {self.place.run}:/run/fgcollect:ro"]),
            "problem")
        jvm = self.container("KnownShare").wait_for_line("ready")
        self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} "), "ok")

    def test_agent_that_is_late_is_not_taken_for_one_without_the_directory(self):
        jvm = self.container("KnownShare").wait_for_line("ready")
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} ", says=[
                "sees the socket's directory", "fgcollect --watch"]), "note")
        finally:
            os.kill(jvm.pid, signal.SIGCONT)

    def test_directory_that_was_made_anew_is_told(self):
        daemon = self.watch()
        old = self.place.directory / "old"
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.stop()
        os.rename(self.place.run, old)  # the container still has that one
        (old / "agent.sock").unlink(missing_ok=True)
        other = subprocess.Popen([sys.executable, "-c",
                                  "import socket,sys,time; s=socket.socket(socket.AF_UNIX);"
                                  "s.bind(sys.argv[1]); time.sleep(60)", old / "agent.sock"])
        try:
            self.place.run.mkdir(mode=0o755)
            self.watch()
            processes.wait_until((old / "agent.sock").exists, "the other socket")
            self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} ", says=[
                "not the collector's", "start the container again"]), "problem")
        finally:
            other.terminate()
            other.wait()
        jvm = self.container("KnownShare").wait_for_line("ready")
        self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} "), "ok")

    def test_map_in_a_container_is_told(self):
        daemon = self.watch()
        jvm = self.container("KnownShare").wait_for_line("ready")
        daemon.wait_for_jvm(jvm.pid)
        planted = jvm.root / "tmp" / "perf-1.map"
        planted.write_text("")
        about = f"PID {jvm.pid} "
        processes.wait_until(lambda: self.state_of("jvm", about=about) == "problem", "it is told")
        fix = next(f["fix"] for f in self.ask() if about in f["object"] and "fix" in f)
        self.assertEqual(fix, f"rm /proc/{jvm.pid}/root/tmp/perf-1.map")
        subprocess.run(fix.split(), check=True)
        processes.wait_until(lambda: self.state_of("jvm", about=about) == "ok", "it is well")

    def test_jvm_of_a_version_that_can_crash_is_told(self):
        fake, real = self.directory / "release", settings.jdk_home(17) / "release"
        fake.write_text('JAVA_VERSION="1.8.0_302"\n')
        command = [str(word) for word in self.java("KnownShare")]
        jvm = self.background(
            ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2"; shift 2; exec "$@"', "sh",
             fake, real, *command], "jvm")
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM is ready")
        about = f"PID {jvm.pid} "
        self.assertEqual(self.state_of("jvm", about=about, says=["1.8.0_302", "8u382"]), "problem")
        self.assertFalse(any("1.8.0" in f["what"] for f in self.ask() if about not in f["object"]))

    def test_jdk8_that_can_crash_is_told_by_its_own_files(self):
        home = settings.jdk_home(8)
        jvm = self.background(  # a program of its own that stays; not on a network
            ["unshare", "--net", home / "bin" / "java",
             f"-agentpath:{settings.AGENT}=socket={self.place.socket}",
             "sun.rmi.registry.RegistryImpl", "0"], "jvm")
        processes.wait_until(lambda: "update to 8u382" in jvm.text, lambda: f"it runs: {jvm.text}")
        self.assertEqual(self.state_of("jvm", about=f"PID {jvm.pid} ", says=["1.8.0_", "8u382"]),
                         "problem")

    def test_report_is_for_people_too(self):
        self.place.run.chmod(0o700)
        finished = collector.fgcollect("doctor", *self.place.options())
        self.assertEqual(finished.code, 1)
        self.assertIn("PROBLEM  agents-directory: ", finished.out)
        self.assertIn("fix: chmod 755 it", finished.out)
        self.assertIn("profiles will not be whole", finished.out)
