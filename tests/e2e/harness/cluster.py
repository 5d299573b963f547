# SPDX-License-Identifier: Apache-2.0
"""A node of Kubernetes as far as fgcollect sees one: pods are containers in cgroups of pods.

The collector's container has what the manifest of its DaemonSet says and nothing else: capabilities,
seccomp profile, read-only root, volumes, the node's PIDs, no shell. Volumes of the node are below
the test's own directory, as are files of ConfigMaps and Secrets, behind links as the kubelet makes
them.
"""

import json
import os
import pathlib
import re
import uuid

from . import containers, manifests, processes, settings

KUBERNETES = settings.SOURCE / "docker" / "kubernetes"
STAND_IN = settings.SOURCE / "tests" / "e2e" / "programs" / "kubernetes"
SPACE = "fgcollect"
LABELS = {"app.kubernetes.io/name": "fgcollect", "app.kubernetes.io/component": "collector"}
IMAGE = "fgcollect"


def make_collector_image(engine):
    """The collector's image as docker/ makes it."""
    # Debian's client builds without a plug-in.
    processes.run([settings.SOURCE / "docker" / "build-images", settings.COLLECTOR, settings.AGENT],
                  check=True, timeout=120,
                  env={"DOCKER_HOST": engine.state["docker_host"], "DOCKER_BUILDKIT": "0",
                       "PATH": f"/usr/bin:{os.environ['PATH']}"})


class Node:
    """Pods on one node, and the file that tells the stand-in for kubectl of them."""

    def __init__(self, case, name="node-1"):
        self.case, self.engine, self.name = case, case.engine, name
        self.directory = case.directory
        self.cluster = {"pods": []}
        self.network = "none"
        self.address = None     # of the collector's pod
        self.config_maps, self.secrets = {}, {}     # name -> file -> text
        self.file = self.directory / "cluster.json"
        if not self.engine.docker("images", "-q", IMAGE).out.strip():
            make_collector_image(self.engine)
        self.save()

    def save(self):
        self.file.write_text(json.dumps(self.cluster))

    def add(self, name, container, space="shop", labels=None, uid=None, **status):
        """A pod that kubectl is told of; container: Docker's, or None if none runs."""
        pod = {"metadata": {"name": name, "namespace": space, "labels": labels or {},
                            "uid": uid or str(uuid.uuid4())},
               "spec": {"nodeName": self.name, "containers": [{"name": "app"}]},
               "status": {"phase": "Running"}, "docker": container, **status}
        self.cluster["pods"].append(pod)
        self.save()
        return pod

    def cgroup_parent(self, uid):
        """As the kubelet names a pod's, for whichever driver Docker has."""
        driver = self.engine.docker("info", "-f", "{{.CgroupDriver}}").out.strip()
        if driver == "systemd":
            return f"kubepods-burstable-pod{uid.replace('-', '_')}.slice"
        self.case.addCleanup(remove_cgroups, f"kubepods/burstable/pod{uid}")
        return f"/kubepods/burstable/pod{uid}"

    def run_pod(self, name, *java_args, listens=False, agent=True, space="shop"):
        """A pod with one JVM in it; returns its container."""
        uid = str(uuid.uuid4())
        options, env = ["--cgroup-parent", self.cgroup_parent(uid)], {}
        if listens:
            options += ["--tmpfs", "/run/fgagent:mode=0777"]
            env["FGAGENT_OPTS"] = "socket=listen:/run/fgagent/%p.sock"
        if not agent:
            env["JAVA_TOOL_OPTIONS"] = ""
        container = containers.Container(
            self.engine, self.case.image(), None if listens else self.place_of("agents"),
            *java_args, env=env, options=options)
        self.case.addCleanup(container.rm)
        self.add(name, container.id, space=space, uid=uid)
        return container

    def place_of(self, volume):
        """Where a volume of the node, or an emptyDir, is here."""
        path = self.directory / "volumes" / volume
        path.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o755)
        path.chmod(0o755 if volume == "agents" else 0o777)
        return path

    def value_of(self, entry):
        """Of a variable; of what a pod may ask of itself, the manifest asks for its node alone."""
        if "value" in entry:
            return entry["value"]
        return {"spec.nodeName": self.name, "status.podIP": self.address}[
            entry["valueFrom"]["fieldRef"]["fieldPath"]]

    def expanded(self, container):
        """A container's arguments, with what $(NAME) stands for."""
        values = {entry["name"]: self.value_of(entry) for entry in container["env"]}
        return [re.sub(r"\$\((\w+)\)", lambda name: values[name[1]], text)
                for text in container["args"]]

    def put_files(self, place, files):
        """As the kubelet does: what is seen is links, and one rename changes all that they lead to."""
        new = place / f"..{uuid.uuid4().hex}"
        new.mkdir()
        for name, text in files.items():
            (new / name).write_text(text)
            (new / name).chmod(0o400)
            if not (place / name).is_symlink():
                (place / name).symlink_to(f"..data/{name}")
        (place / "..new").symlink_to(new.name)
        (place / "..new").rename(place / "..data")

    def put_secret(self, name, files):
        """A Secret that is made or changed; where a pod that runs has it mounted, its files are."""
        self.secrets[name] = files
        for place in self.directory.glob(f"volumes/secret.{name}"):
            self.put_files(place, files)

    def volume_of(self, volume):
        """Of the kernel's file systems there is one; all else of a node is below a directory."""
        if "secret" in volume:
            name = volume["secret"]["secretName"]
            assert name in self.secrets or volume["secret"].get("optional"), f"no Secret {name}"
            place = self.place_of(f"secret.{name}")
            self.put_files(place, self.secrets.get(name, {}))
            return place
        if "configMap" in volume:
            place = self.place_of(f"configmap.{volume['configMap']['name']}")
            self.put_files(place, self.config_maps[volume["configMap"]["name"]])
            return place
        if "emptyDir" in volume:    # which goes with its pod
            return self.place_of(f"{volume['name']}.{uuid.uuid4().hex}")
        path = volume.get("hostPath", {}).get("path", "")
        return path if path.startswith("/sys/") else self.place_of(volume["name"])

    def collector_options(self, without=(), folder="base"):
        """docker run's for what the manifest says; without: capabilities. Of folder, what is behind
        a + is a component."""
        documents = []
        for name in folder.split("+"):
            documents = manifests.build(KUBERNETES / name, documents)
        for document in documents:
            if document["kind"] == "ConfigMap":
                self.config_maps.setdefault(document["metadata"]["name"], document["data"])
        daemon_set = manifests.of_kind("DaemonSet", documents)
        spec = daemon_set["spec"]["template"]["spec"]
        container = spec["containers"][0]
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] and not security["privileged"]
        assert not security["allowPrivilegeEscalation"] and spec["hostPID"]
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        capabilities = [name for name in security["capabilities"]["add"] if name not in without]
        return ["--pid=host", f"--network={self.network}", "--read-only",
                f"--user={security['runAsUser']}:{security['runAsGroup']}",
                "--security-opt=no-new-privileges", f"--security-opt=seccomp={seccomp_profile()}",
                *[f"--cap-drop={name}" for name in security["capabilities"]["drop"]],
                *self.engine.capabilities(*capabilities),
                *[f"--env={entry['name']}={self.value_of(entry)}" for entry in container["env"]],
                *[f"--volume={self.volume_of(volumes[mount['name']])}:{mount['mountPath']}"
                  for mount in container["volumeMounts"]]], [*container["command"], *self.expanded(container)]

    def run_collector(self, name="fgcollect-x7k2p", without=(), options=(), folder="base"):
        """The collector's pod as the manifest in that folder has it; returns Docker's container."""
        given, command = self.collector_options(without, folder)
        uid = str(uuid.uuid4())
        started = self.engine.docker(
            "run", "--detach", "--entrypoint", command[0], "--label", self.engine.state["token"],
            f"--env={processes.TOKEN_NAME}={self.engine.state['token']}",
            "--cgroup-parent", self.cgroup_parent(uid), *given, *options, IMAGE, *command[1:])
        container = started.out.strip()
        self.case.addCleanup(self.engine.docker, "rm", "-f", container, check=False)
        pod = self.add(name, container, space=SPACE, labels=LABELS, uid=uid)
        pod["status"]["containerStatuses"] = [{"name": "fgcollect", "ready": True}]
        self.save()
        processes.wait_until(lambda: "watching at" in self.logs(container) or
                             not self.is_running(container),
                             lambda: f"the collector runs:\n{self.logs(container)}")
        return container

    def remove(self, container):
        """A collector's pod goes."""
        self.engine.docker("rm", "-f", container)
        self.cluster["pods"] = [pod for pod in self.cluster["pods"] if pod["docker"] != container]
        self.save()

    def is_running(self, container):
        return self.engine.docker("inspect", "-f", "{{.State.Running}}", container,
                                  check=False).out.strip() == "true"

    def logs(self, container):
        return self.engine.docker("logs", container).text

    def environment(self):
        return {"DOCKER_HOST": self.engine.state["docker_host"], "FG_CLUSTER": str(self.file),
                "PATH": f"{STAND_IN}:{os.environ['PATH']}"}

    def plugin(self, *args, **options):
        """kubectl fgcollect, in the test's own directory."""
        return processes.run([KUBERNETES / "kubectl-fgcollect", *args], cwd=self.directory,
                             env=self.environment(), **options)


def seccomp_profile():
    """The collector's own, as overlays/seccomp-localhost has it on the node."""
    return settings.SOURCE / "docker" / "collector" / "seccomp.json"


def remove_cgroups(path):
    """What the engine leaves of a pod's cgroups, in every hierarchy."""
    for hierarchy in [pathlib.Path("/sys/fs/cgroup"), *pathlib.Path("/sys/fs/cgroup").iterdir()]:
        at = hierarchy / path
        while at.is_dir() and at != hierarchy:
            try:
                at.rmdir()
            except OSError:
                break
            at = at.parent
