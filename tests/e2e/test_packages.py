# SPDX-License-Identifier: Apache-2.0
"""The Debian package and the tarball: their contents, and what they change on a machine."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from harness import collector, processes, settings
from harness.case import Case
from harness.folded import Folded
from harness.machine import Machine
from harness.marks import alone

UNIT = settings.SOURCE / "collector" / "fgcollect.service"
FAKE_AGENTS = settings.BUILD / "tests" / "agent"
GIVEN_UP = ["CAP_SETGID", "CAP_SETUID"]
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def capabilities():
    """The capabilities of the service: ["CAP_PERFMON", ...]."""
    return " ".join(re.findall(r"^CapabilityBoundingSet=(.*)", UNIT.read_text(), re.M)).split()


class Packages(Case):
    def packages(self, name, kinds="DEB;TGZ", prefix=()):
        """Has CPack make packages of the built files: {suffix: path}."""
        place = self.directory / name
        processes.run([*prefix, "cpack", "--config", settings.BUILD / "CPackConfig.cmake", "-G", kinds,
                       "-B", place], check=True, timeout=120)
        return {path.suffix: path for path in place.glob("fgcollect*")}

    def unpack(self, package):
        place = self.directory / f"unpacked{package.suffix}"
        place.mkdir()
        if package.suffix == ".deb":
            processes.run(["dpkg-deb", "-x", package, place], check=True)
        else:
            processes.run(["tar", "-C", place, "--strip-components=1", "-xf", package], check=True)
        return place

    @alone
    def test_both_are_the_same_again_and_have_the_portable_agent(self):
        packages = self.packages("one")
        again = self.packages("two", prefix=(
            "unshare", "--user", "--map-user=1000", "--map-group=1000"))
        for suffix in (".deb", ".gz", ".sha256"):
            one, two = (hashlib.sha256(made[suffix].read_bytes()).hexdigest()
                        for made in (packages, again))
            self.assertEqual(one, two, suffix)
        agents = []
        for suffix, agent, program in ((".deb", "opt/fgcollect/libfgagent.so", "usr/bin/fgcollect"),
                                       (".gz", "lib/fgcollect/libfgagent.so", "bin/fgcollect")):
            place = self.unpack(packages[suffix])
            agents.append(place / agent)
            for path in (place / program, place / agent):
                self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o77), (0, 0o55 if
                                 path.name == "fgcollect" else 0o44), path)
            checked = processes.run([sys.executable, settings.SOURCE / "tests/agent/check_elf.py",
                                     place / agent])
            self.assertEqual(checked.code, 0, str(checked))
            version = processes.run([place / program, "--version"], check=True).out
            self.assertEqual(version, processes.run([settings.COLLECTOR, "--version"]).out)
            self.assertIn(f"_{version.split()[1]}_" if suffix == ".deb"
                          else f"-{version.split()[1]}-", packages[suffix].name)
        for agent in agents:
            for libc in ("glibc", "musl"):
                played = processes.run([FAKE_AGENTS / f"fake_agent_{libc}", "stream", agent])
                self.assertEqual(played.code, 0, str(played))
        control = processes.run(["dpkg-deb", "-f", packages[".deb"]], check=True).out
        for library in ("libbpf1", "libc6", "libdw1", "libelf1", "libgnutls30", "libjansson4",
                        "libmicrohttpd12", "libsqlite3-0", "libcurl4", "libyaml-0-2", "libnng1",
                        "libncursesw6", "libsystemd0"):
            self.assertRegex(control, rf"Depends:.*\b{library}\b")

    def jvm_on(self, machine):
        """Starts a JVM of another user on the machine, with the package's agent, and waits until it
        is warm."""
        shutil.copytree(settings.CLASSES, machine.root / "srv/classes")
        java = settings.jdk_home(17) / "bin" / "java"
        jvm = self.background(
            machine.enter(*AS_NOBODY, java, "-agentpath:/opt/fgcollect/libfgagent.so",
                          "-cp", "/srv/classes", "KnownShare"), "jvm")
        processes.wait_until(lambda: "ready" in jvm.text, lambda: f"the JVM is warm:\n{jvm.text}")
        return jvm

    def wait_until_current(self, machine):
        def known():
            listed = json.loads(machine.run("fgcollect", "list", "--json", check=True).out)
            return [row["state"] for row in listed["jvms"]] == ["current"]
        processes.wait_until(known, lambda: str(machine.run("fgcollect", "list")))

    def main_pid(self, machine):
        shown = machine.run("systemctl", "show", "-p", "MainPID", "--value", "fgcollect").out
        return int(shown)

    def check_service(self, machine):
        """The service runs with exactly the rights that its unit gives, but for those that it gives
        up once its parsers are nobody's."""
        active = machine.run("systemctl", "is-active", "fgcollect")
        self.assertEqual(active.out, "active\n", machine.log)
        status = (machine.root / f"proc/{self.main_pid(machine)}/status").read_text()
        effective = int(re.search(r"^CapEff:\s*(\w+)", status, re.M)[1], 16)
        names = processes.run(["capsh", f"--decode={effective:x}"], check=True).out
        self.assertEqual(sorted(names.strip().split("=")[1].upper().split(",")),
                         sorted(set(capabilities()) - set(GIVEN_UP)))
        zygote = machine.run("pgrep", "-x", "fgcollect-zygot", check=True).out.strip()
        owner = (machine.root / f"proc/{zygote}/status").read_text()
        uids = re.search(r"^Uid:\s*(.*)$", owner, re.M)[1].split()
        self.assertEqual(len(set(uids)), 1, owner)
        self.assertIn(int(uids[0]), range(0x70000000, 0x78000000), owner)
        self.assertRegex(owner, r"\nCapPrm:\t0+\n")
        for line in ("NoNewPrivs:\t1", "Seccomp:\t2"):
            self.assertIn(line, status)

    def check_recording(self, machine):
        recorded = machine.run("fgcollect", "record", "-d", "3", "-o", "/srv/x.folded")
        self.assertEqual(recorded.code, 0, str(recorded))
        folded = Folded.read(machine.root / "srv/x.folded")
        self.assertGreater(folded.with_method("KnownShare$Hot.run"), 0, str(recorded))
        self.assertIn("100.0 % of Java named", recorded.text)
        self.assertGreater(folded.with_method("JavaMain"), 0.9 * folded.samples, folded.top())

    def check_graphs(self, machine):
        """The service uses the options in /etc/default."""
        (machine.root / "etc/default/fgcollect").write_text(
            'FGCOLLECT_OPTIONS="-o /var/lib/fgcollect --format folded -F 99"\n')
        machine.run("systemctl", "restart", "fgcollect", check=True)
        self.wait_until_current(machine)
        machine.run("sleep", "1")
        machine.run("systemctl", "reload", "fgcollect", check=True)
        graphs = machine.root / "var/lib/fgcollect"
        processes.wait_until(lambda: list(graphs.glob("*KnownShare*.folded")),
                             lambda: f"a graph:\n{machine.log}")

    def check_tarball(self, machine):
        """Installs the tarball as the page on installation says. The agent of the older JVM
        connects again."""
        for command in ("tar -C /usr/local --strip-components=1 -xzf /srv/fgcollect.tar.gz",
                        "systemd-tmpfiles --create fgcollect.conf", "systemctl daemon-reload",
                        "systemctl enable --now fgcollect"):
            machine.run(*command.split(), check=True)
        self.check_service(machine)
        self.wait_until_current(machine)
        machine.run("systemctl", "disable", "--now", "fgcollect", check=True)
        for command in ("tar -tzf /srv/fgcollect.tar.gz | sed 's|^[^/]*/||' | grep -v '/$' | "
                        "(cd /usr/local && xargs -d '\\n' rm -f --)",
                        "rm -rf /usr/local/share/doc/fgcollect /usr/local/lib/fgcollect"):
            machine.run("sh", "-c", command, check=True)
        left = [path for path in (machine.root / "usr/local").rglob("*fg[ac]*") if not path.is_dir()]
        self.assertEqual(left, [])

    def maps_on(self, machine):
        return sorted(path.name for path in (machine.root / "tmp").glob("perf-*.map"))

    @alone
    def test_the_package_serves_and_leaves_nothing(self):
        packages = self.packages("made")
        machine = Machine(self.directory)
        self.addCleanup(machine.stop)
        shutil.copy(packages[".deb"], machine.root / "srv/fgcollect.deb")
        shutil.copy(packages[".gz"], machine.root / "srv/fgcollect.tar.gz")
        before = machine.written()
        machine.run("dpkg", "-i", "/srv/fgcollect.deb", check=True)
        self.check_service(machine)
        jvm = self.jvm_on(machine)
        self.wait_until_current(machine)
        self.check_recording(machine)
        self.assertEqual(len(self.maps_on(machine)), 1)
        theirs = machine.root / "tmp/perf-1.map"
        theirs.write_text("1000 10 not_ours\n")

        # A new version: another process, the same directory, and agents find their way back.
        pid, place = self.main_pid(machine), os.stat(machine.root / "run/fgcollect").st_ino
        machine.run("dpkg", "-i", "/srv/fgcollect.deb", check=True)
        self.assertNotEqual(self.main_pid(machine), pid)
        self.assertEqual(os.stat(machine.root / "run/fgcollect").st_ino, place)
        self.check_graphs(machine)

        # Removed, it keeps options and graphs; the JVM does not mind.
        machine.run("dpkg", "-r", "fgcollect", check=True)
        self.assertEqual(machine.run("pgrep", "-x", "fgcollect").code, 1)
        self.assertTrue((machine.root / "etc/default/fgcollect").exists())
        self.assertTrue((machine.root / "var/lib/fgcollect").exists())
        self.assertIsNone(jvm.code)
        machine.run("dpkg", "-P", "fgcollect", check=True)
        left = {path for path in machine.written() - before
                if not path.startswith(("var/lib/dpkg/", "var/log/", "srv/", "var/cache/ldconfig/"))}
        self.assertEqual(left, set())
        self.assertEqual([path for place in ("run", "tmp", "etc", "opt", "var/lib")
                          for path in (machine.root / place).glob("*fgcollect*")], [])
        self.assertEqual(self.maps_on(machine), ["perf-1.map"])
        self.assertIsNone(jvm.code)
        self.check_tarball(machine)
        jvm.stop(signal.SIGKILL)

    def with_capabilities(self, names):
        """A prefix that runs a command as root with only these capabilities, as systemd does."""
        words = ",".join("+" + name.removeprefix("CAP_").lower() for name in names)
        return ["setpriv", f"--bounding-set=-all,{words}", "--inh-caps=-all", "--no-new-privs"]

    def without(self, name):
        return self.with_capabilities([each for each in capabilities() if each != name])

    def record_with(self, prefix, *args):
        out = self.directory / "with.folded"
        out.unlink(missing_ok=True)
        finished = collector.fgcollect("record", "-d", 1, "-F", 199, *args, "-o", out, *self.place.options(),
                                       prefix=prefix)
        return finished, out.read_text() if out.exists() else ""

    def program_of_nobodys(self):
        """Starts a process whose program only its owner may read. The process has the file's name.
        """
        place = self.directory / "own"
        place.mkdir()
        program = place / "fg-own-python"
        shutil.copy(os.path.realpath("/usr/bin/python3"), program)
        program.chmod(0o500)
        for path in (program, place):
            os.chown(path, 65534, 65534)
        child = subprocess.Popen([*AS_NOBODY, program, "-S", "-c", "while True: sum(range(1000))"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        processes.wait_until(
            lambda: os.readlink(f"/proc/{child.pid}/exe") == str(program), "the program runs")
        return program

    def test_each_capability_of_the_service_is_needed(self):
        self.assertEqual(sorted(capabilities()), sorted(
            ["CAP_PERFMON", "CAP_BPF", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE",
             "CAP_CHECKPOINT_RESTORE", "CAP_SYSLOG", *GIVEN_UP]), "each is taken away in this test or the next one")
        self.container("KnownShare").wait_for_line("ready")
        everything = self.with_capabilities(capabilities())
        finished, text = self.record_with(everything)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertIn("KnownShare$Hot.run", text)
        self.assertNotIn("permission denied", text)
        self.assertNotIn("parsers have root's UID", finished.text)
        self.assertIn(", by BPF (", finished.text)
        finished, _ = self.record_with(self.without("CAP_BPF"))
        self.assertIn(", by perf (CAP_BPF is missing)", finished.text)
        for name in GIVEN_UP:
            finished, _ = self.record_with(self.without(name))
            self.assertEqual(finished.code, 0, str(finished))
            self.assertIn("parsers have root's UID", finished.text)

        finished, _ = self.record_with(self.without("CAP_PERFMON"))
        self.assert_fails(finished, 1, "perf_event_open", "CAP_PERFMON")
        _, text = self.record_with(self.without("CAP_SYS_PTRACE"))
        self.assertIn("[unknown: libjvm.so, permission denied]", text)

        program = self.program_of_nobodys()
        python = ("-a", "--comm", program.name)
        finished, text = self.record_with(everything, *python)
        self.assertIn("_PyEval", text, str(finished))
        finished, text = self.record_with(self.without("CAP_DAC_OVERRIDE"), *python)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertNotIn("_PyEval", text)
        program.unlink()
        _, text = self.record_with(everything, *python)
        self.assertIn("_PyEval", text)
        finished, text = self.record_with(self.without("CAP_CHECKPOINT_RESTORE"), *python)
        self.assertEqual(finished.code, 0, str(finished))
        self.assertNotIn("_PyEval", text)

    @alone
    def test_agents_that_listen_and_kernel_symbols_need_theirs(self):
        jvm = self.listening_container("KnownShare").wait_for_line("ready")
        refused = f"PID {jvm.pid}: its agent listens at /tmp/.fgagent-1.sock in its container, " \
                  "but cannot be reached: permission denied"

        def listed(prefix):
            return collector.fgcollect("list", *self.place.options(), prefix=prefix).text

        def kernel_symbols(prefix):
            report = collector.fgcollect("doctor", "--json", *self.place.options(), prefix=prefix)
            return [finding["state"] for finding in json.loads(report.out)["findings"]
                    if finding["check"] == "kernel-symbols"]
        everything = self.with_capabilities(capabilities())
        self.assertNotIn(refused, listed(everything))
        self.assertIn(refused, listed(self.without("CAP_DAC_OVERRIDE")))
        self.assertEqual(kernel_symbols(everything), ["ok"])
        self.assertNotEqual(kernel_symbols(self.without("CAP_SYSLOG")), ["ok"])
