# SPDX-License-Identifier: Apache-2.0
"""The images of docker/: the page's steps work, and impossible cases are refused."""

import json
import os
import pathlib
import re
import struct

from harness import folded, owners, page, processes, settings
from harness.case import Case

DOCKER = settings.SOURCE / "docker"
BASES = ("eclipse-temurin:17-jre", "eclipse-temurin:17-jdk",
         "gcr.io/distroless/java17-debian12:nonroot",
         "gcr.io/distroless/java-base-debian12:nonroot")
OURS = ("fgcollect", "fgcollect-agent")
# Of <linux/capability.h>: the page's seven that stay, and two that are given up at the start.
CAPABILITIES = {"DAC_OVERRIDE": 1, "IPC_LOCK": 14, "SYS_PTRACE": 19, "SYSLOG": 34,
                "PERFMON": 38, "BPF": 39, "CHECKPOINT_RESTORE": 40}
GIVEN_UP = {"SETGID": 6, "SETUID": 7}
E_MACHINE, EM_AARCH64 = 18, 183
AGENT_PATH = "/opt/fgcollect/libfgagent.so"


def for_another_machine(path):
    """The bytes of an ELF file with its machine changed to aarch64."""
    data = bytearray(pathlib.Path(path).read_bytes())
    struct.pack_into("<H", data, E_MACHINE, EM_AARCH64)
    return data


class Images(Case):
    def setUp(self):
        super().setUp()
        self.env = {"DOCKER_HOST": self.engine.state["docker_host"],
                    # Debian's client has BuildKit without a plug-in.
                    "PATH": f"/usr/bin:{os.environ['PATH']}", "DOCKER_BUILDKIT": "0"}

    def run_program(self, *args, check=True, **env):
        return processes.run(args, check=check, env={**self.env, **env}, timeout=120)

    def docker(self, *args, check=True, **env):
        if args[0] == "run":
            args = ("run", *owners.label(), *args[1:])
        return self.run_program("docker", *args, check=check, **env)

    def build_images(self, collector=settings.COLLECTOR, agent=settings.AGENT, check=True, **env):
        return self.run_program(DOCKER / "build-images", collector, agent, check=check, **env)

    def build(self, dockerfile, **files):
        """Builds the Dockerfile in a directory with these files. Returns the finished command."""
        context = self.directory / "context"
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(dockerfile)
        for name, data in files.items():
            (context / name.replace("_", ".")).write_bytes(data)
        return self.docker("build", "--network", "none", "-t", "broken", context, check=False)

    def builders(self):
        """The classic builder, and BuildKit if the client has BuildKit."""
        (self.directory / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
        with_buildkit = self.docker("build", self.directory, check=False, DOCKER_BUILDKIT="1")
        return ("0", "1") if with_buildkit.code == 0 else ("0",)

    def layers(self, image):
        return self.docker("inspect", "-f", "{{.RootFS.Layers}}", image).out.strip()

    def test_the_same_files_give_the_same_layers(self):
        seen = {image: set() for image in OURS}
        builders = self.builders()
        for number, builder in enumerate((*builders, *builders)):
            self.docker("rmi", "-f", *OURS, check=False)
            if "1" in builders:
                self.docker("builder", "prune", "-af")
            copies = []
            for path in (settings.COLLECTOR, settings.AGENT):
                copy = self.directory / f"{path.name}.{number}"
                copy.write_bytes(path.read_bytes())
                copy.chmod(0o755)
                copies.append(copy)
            self.build_images(*copies, DOCKER_BUILDKIT=builder)
            for image in OURS:
                seen[image].add(self.layers(image))
        print(f"builders {builders}: {seen}")
        for image, layers in seen.items():
            self.assertEqual(len(layers), 1, f"{image}: {layers}")
        self.build_images(SOURCE_DATE_EPOCH="1000000000")
        self.assertNotIn(self.layers("fgcollect"), seen["fgcollect"])

    def test_compiled_and_prebuilt_images_are_run_alike(self):
        ends = {(DOCKER / "collector" / name).read_text().partition("\nUSER ")[2]
                for name in ("Dockerfile", "prebuilt.Dockerfile")}
        self.assertEqual(len(ends), 1, ends)
        self.assertIn("ENTRYPOINT", ends.pop())

    def checkout(self):
        """The directory that the page starts from: the repository, the built files, and an app."""
        place = self.directory / "checkout"
        (place / "build").mkdir(parents=True)
        (place / "my-app").mkdir()
        (place / "docker").symlink_to(DOCKER)
        for name, path in (("collector", settings.COLLECTOR), ("jvmti-agent", settings.AGENT)):
            (place / "build" / name).symlink_to(path.parent)
        self.run_program(settings.jdk_home(17) / "bin" / "jar", "--create", "--main-class",
                         "KnownShare", "--file", place / "my-app" / "app.jar",
                         "-C", settings.CLASSES, ".")
        return place

    def on_this_host(self, text):
        """The page's command with directories of the test instead of the host's directories."""
        self.graphs = self.directory / "graphs"
        self.graphs.mkdir(exist_ok=True)
        text = re.sub(r"(--cap-add [A-Z_]+[ \\\n]*)+", lambda match: " ".join(
            self.engine.capabilities(*re.findall(r"[A-Z_]{3,}", match[0]))) + " ", text)
        text = text.replace("    fgcollect\n", f"    {self.names_of_containers()}fgcollect\n")
        for path, ours in (("/run/fgcollect", self.place.run), ("/tmp", self.place.maps),
                           ("/var/lib/fgcollect", self.graphs)):
            text = text.replace(f"-v {path}:", f"-v {ours}:")
        return text

    def names_of_containers(self):
        """The page's options for hosts where /proc/1/root cannot be read, if this is such a host."""
        if os.path.exists("/proc/1/root/proc"):
            return ""
        data = self.docker("info", "-f", "{{.DockerRootDir}}").out.strip()
        return (f"-v {data}/containers:/var/lib/docker/containers:ro "
                "-v /sys/fs/cgroup:/sys/fs/cgroup:ro ")

    def follow_page(self):
        """Runs the page's commands. Returns what the commands printed, a text for each block."""
        checkout, printed = self.checkout(), []
        for name in ("fgcollect", "shop"):
            self.docker("rm", "-f", name, check=False)
            self.addCleanup(self.docker, "rm", "-f", name, check=False)
        for block in page.commands(DOCKER / "README.md"):
            finished = processes.run(["bash", "-euo", "pipefail", "-c", self.on_this_host(block)],
                                     env=self.env, cwd=checkout, timeout=180)
            self.assertEqual(finished.code, 0, str(finished))
            print(f"{finished.seconds:.1f} s: {block.splitlines()[0]}")
            printed.append(finished.text)
            if "--name shop" in block:
                self.wait_ready("shop")
        return printed

    def wait_ready(self, name):
        def ready_or_gone():
            state = self.docker("inspect", "-f", "{{.State.Running}}", name).out.strip()
            return state == "false" or "ready" in self.docker("logs", name).text
        processes.wait_until(ready_or_gone, f"{name} is ready")
        self.assertIn("ready", self.docker("logs", name).text)

    def assert_whole(self, text):
        quality = folded.Quality(text)
        print(quality.line)
        for share in (quality.named, quality.java_named, quality.rooted):
            self.assertGreaterEqual(share, 99.0, text)
        self.assertGreater(quality.samples, 5, text)

    def record(self, name):
        out = f"/var/lib/fgcollect/{name}.folded"
        finished = self.docker("exec", "fgcollect", "fgcollect", "record", "--container", name,
                               "-d", "3", "-o", out)
        self.assert_whole(finished.text)
        stacks = folded.Folded.read(self.graphs / f"{name}.folded")
        self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())
        self.assertEqual(stacks.count(lambda frame: frame.startswith("[kernel: hidden")), 0)

    def run_and_record(self, name):
        """Runs and records an image of the page for which the page has no command."""
        self.docker("rm", "-f", name, check=False)
        self.addCleanup(self.docker, "rm", "-f", name, check=False)
        self.docker("run", "--detach", "--name", name, "--network", "none", "--read-only",
                    "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
                    "-v", f"{self.place.run}:/run/fgcollect:ro", name)
        self.wait_ready(name)
        self.record(name)
        self.assertEqual(self.docker("exec", name, "/bin/sh", check=False).code, 126)
        self.docker("rm", "-f", name)

    def assert_rights(self, name):
        """The collector's container has the rights on the page, and no more rights."""
        pid = self.docker("inspect", "-f", "{{.State.Pid}}", name).out.strip()
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        values = dict(re.findall(r"^(\w+):\s+(\S+)$", status, re.MULTILINE))
        wanted = sum(1 << bit for bit in CAPABILITIES.values())
        for mask in ("CapEff", "CapPrm"):
            self.assertEqual(int(values[mask], 16), wanted, status)
        wanted += sum(1 << bit for bit in GIVEN_UP.values())
        self.assertEqual(int(values["CapBnd"], 16), wanted, status)
        self.assertEqual((values["NoNewPrivs"], values["Seccomp"]), ("1", "2"), status)
        mounts = pathlib.Path(f"/proc/{pid}/mounts").read_text().splitlines()
        root = next(line.split() for line in mounts if line.split()[1] == "/")
        self.assertIn("ro", root[3].split(","))

    def assert_doctor_finds_rights(self):
        """The doctor finds no fault in rights. Findings about JVMs of other tests do not matter."""
        finished = self.docker("exec", "fgcollect", "fgcollect", "doctor", "--json", check=False)
        findings = json.loads(finished.out)["findings"]
        wanted = {"perf-events", "rings", "capabilities", "system-calls", "kernel-symbols",
                  "pid-namespace", "agents-directory", "map-directory"}
        states = {(f["check"], f["state"]) for f in findings if f["check"] in wanted}
        self.assertEqual(states, {(check, "ok") for check in wanted}, finished.text)

    def test_page_as_it_is_written_records_every_example(self):
        self.run_program(DOCKER / "make-base", *BASES)
        printed = self.follow_page()
        self.assert_rights("fgcollect")
        self.assert_whole(next(text for text in printed if "quality:" in text))
        self.assert_doctor_finds_rights()
        self.assertIn("<!DOCTYPE html>", (self.graphs / "shop.html").read_text()[:100])
        self.docker("rm", "-f", "shop")
        for name in ("shop-distroless", "shop-jlink"):
            self.run_and_record(name)
        self.assertEqual(self.docker("exec", "fgcollect", "/bin/sh", check=False).code, 126)
        # Tools do not load what JDK_JAVA_OPTIONS names, but what JAVA_TOOL_OPTIONS does.
        for variable, picked_up in (("JDK_JAVA_OPTIONS", False), ("JAVA_TOOL_OPTIONS", True)):
            tool = self.docker("run", "--rm", "--network", "none", "-e", "JAVA_TOOL_OPTIONS=", "-e",
                               f"{variable}=-agentpath:{AGENT_PATH}", "--entrypoint", "keytool",
                               "shop", "-help")
            self.assertEqual("-agentpath" in tool.text, picked_up, tool.text)

    def test_agent_that_cannot_be_loaded_is_found_by_the_build(self):
        self.run_program(DOCKER / "make-base", BASES[0])
        text = (DOCKER / "examples" / "baked" / "Dockerfile").read_text()
        text = text.replace("--from=fgcollect-agent /", "")
        fatal = "Error occurred during initialization of VM"
        other = self.build(text, libfgagent_so=for_another_machine(settings.AGENT))
        self.assert_fails(other, 1, fatal, AGENT_PATH, "can't load AARCH64 .so on a AMD 64 platform")
        copied = f"COPY libfgagent.so {AGENT_PATH}\n"
        self.assertIn(copied, text)
        missing = self.build(text.replace(copied, ""))
        self.assert_fails(missing, 1, fatal, f"Could not find agent library {AGENT_PATH} in "
                          "absolute path", "cannot open shared object file")

    def test_files_for_another_machine_do_not_become_images(self):
        for name, path in (("collector", settings.COLLECTOR), ("agent", settings.AGENT)):
            other = self.directory / f"other-{path.name}"
            other.write_bytes(for_another_machine(path))
            other.chmod(0o755)
            finished = self.build_images(**{name: other}, check=False)
            self.assert_fails(finished, 1, other, "for this machine")
        finished = self.build_images(agent=self.directory / "none.so", check=False)
        self.assert_fails(finished, 1, "no agent at", "none.so", "build it first")
