# SPDX-License-Identifier: Apache-2.0
"""The Helm chart makes what kustomize makes: same rights, arguments and volumes, for each overlay.

usage: test_helm.py [unittest's arguments]; exit 77 if Helm cannot be had
       test_helm.py --build      only builds Helm; exit 75 if Go's module proxy does not answer, 1 if
                                 something else is wrong, and why on stderr

FG_DOWNLOADS=a folder in which Helm stays.
"""

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import helm

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "e2e"))
from harness import manifests  # noqa: E402

KUBERNETES = SOURCE / "docker" / "kubernetes"
CHART = KUBERNETES / "helm" / "fgcollect"
OURS_ALONE = {"app.kubernetes.io/instance", "app.kubernetes.io/version",
              "app.kubernetes.io/managed-by", "helm.sh/chart"}
METRICS = ["metrics.enabled=true", "metrics.podMonitor.enabled=true"]
TLS = [*METRICS, "metrics.tls.enabled=true"]
# What kustomize's folders, one on the other, make, and the chart's switches for it.
SAME = {
    ("base",): [],
    ("overlays/store",): ["store.enabled=true"],
    ("overlays/push",): ["push.enabled=true"],
    ("overlays/probes",): ["probes.tracefs=true"],
    ("overlays/perf-maps",): ["perfMaps.onNode=true"],
    ("overlays/seccomp-localhost",): ["seccompProfile.type=Localhost",
                                      "seccompProfile.localhostProfile=fgcollect.json"],
    ("overlays/graphs",): ["graphs.enabled=true", "metrics.enabled=true",
                           "metrics.annotations=true", "metrics.from=null"],
    ("base", "components/metrics"): METRICS,
    ("overlays/push", "components/metrics"): ["push.enabled=true", *METRICS],
    ("overlays/store", "components/metrics", "components/metrics-tls"):
        ["store.enabled=true", *TLS],
}
EVERYTHING = [
    "store.enabled=true", "store.bytes=4G", "graphs.enabled=true", "graphs.path=/var/lib/graphs",
    "push.enabled=true", "push.labels.cluster=eu-1", "push.interval=30s", "push.spool.path=",
    "push.relabelConfigs[0].target_label=zone", "push.relabelConfigs[0].replacement=a",
    "probes.tracefs=true", "perfMaps.onNode=true", *TLS, "metrics.annotations=true",
    "metrics.podMonitor.labels.release=prometheus", "dashboard.enabled=true",
    "priorityClassName=system-node-critical", "imagePullSecrets[0].name=registry",
    "podAnnotations.team=platform", "image.repository=registry.example.org/fgcollect",
    "image.tag=v1", "extraArgs[0]=--kind=cpu\\,wall", "resources.limits.memory=2Gi"]


def run(*args):
    return subprocess.run([helm.build(os.environ["FG_DOWNLOADS"]), *args], capture_output=True,
                          text=True, timeout=60, check=False)


def options(settings):
    return [word for setting in settings for word in ("--set", setting)]


def render(settings, release="fgcollect", space="fgcollect"):
    finished = run("template", release, CHART, "--namespace", space, "--kube-version", "1.30.0",
                   *options(settings))
    if finished.returncode != 0:
        raise AssertionError(finished.stderr)
    return [document for document in yaml.safe_load_all(finished.stdout) if document]


def arguments(args):
    """Option -> its last value, however it is written."""
    found, rest = {}, list(args)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if not equals and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        found[option] = value
    return found


def plain(document):
    """What counts of a document, in one order and one way of writing."""
    document = copy.deepcopy(document)
    labels = document["metadata"]["labels"] if "labels" in document["metadata"] else {}
    for name in OURS_ALONE:
        labels.pop(name, None)
    if document["kind"] == "ConfigMap":
        document["metadata"].pop("labels", None)
        document["data"] = {name: yaml.safe_load(text) for name, text in document["data"].items()}
        document["metadata"]["name"] = "fgcollect-push"
    for container in manifests.containers(document):
        container["listens"] = sorted(word.partition("=")[2] for word in container["args"]
                                      if word.startswith("--http="))
        container["args"] = arguments(container["args"])
        for key in ("volumeMounts", "env"):
            container[key] = sorted(container[key], key=lambda entry: entry["name"])
        for probe in ("readinessProbe", "livenessProbe"):
            if probe in container:
                container[probe]["httpGet"].setdefault("scheme", "HTTP")
    if document["kind"] == "DaemonSet":
        template = document["spec"]["template"]
        template["spec"]["volumes"].sort(key=lambda entry: entry["name"])
        annotations = template["metadata"].get("annotations", {})
        annotations.pop("checksum/push", None)
        if not annotations:
            template["metadata"].pop("annotations", None)
    return document


def by_name(documents):
    return {(document["kind"], document["metadata"]["name"]): plain(document)
            for document in documents if document["kind"] != "Namespace"}


class Helm(unittest.TestCase):
    maxDiff = None

    def test_the_chart_makes_what_kustomize_makes(self):
        for folders, settings in SAME.items():
            with self.subTest(folders=folders):
                expected = []
                for folder in folders:
                    expected = manifests.build(KUBERNETES / folder, expected)
                expected = by_name(expected)
                found = by_name(render(settings))
                if ("ConfigMap", "fgcollect-push") in expected:
                    # The name without the hash that kustomize adds.
                    volumes = found["DaemonSet", "fgcollect"]["spec"]["template"]["spec"]["volumes"]
                    config = next(v for v in volumes if v["name"] == "push")["configMap"]
                    self.assertEqual(config.pop("name"), "fgcollect-push")
                    config["name"] = "fgcollect-push"
                self.assertEqual(set(found), set(expected))
                for name, document in expected.items():
                    self.assertEqual(found[name], document)

    def test_each_overlay_and_component_has_its_switches(self):
        folders = {f"{kind}/{path.name}" for kind in ("overlays", "components")
                   for path in (KUBERNETES / kind).iterdir()}
        tested = {folder for names in SAME for folder in names} - {"base"}
        self.assertEqual(folders - {"components/push"}, tested)  # overlays/push is that on the base

    def test_everything_at_once_is_whole_and_of_known_fields(self):
        for settings in ([], EVERYTHING):
            documents = render(settings, "flames", "profiling")
            self.assertEqual([fault for document in documents
                              for fault in manifests.faults_of(document)], [])
            self.assertEqual({document["metadata"]["namespace"] for document in documents},
                             {"profiling"})
            finished = run("lint", "--strict", CHART, *options(settings))
            self.assertEqual(finished.returncode, 0, finished.stdout)
        kinds = sorted(document["kind"] for document in documents)
        self.assertEqual(kinds, ["ConfigMap", "ConfigMap", "DaemonSet", "NetworkPolicy",
                                 "PodMonitor", "Role", "ServiceAccount"])
        spec = manifests.of_kind("DaemonSet", documents)["spec"]["template"]["spec"]
        container = spec["containers"][0]
        given = arguments(container["args"])
        self.assertEqual((given["--store"], given["--output"], given["--http"], given["--kind"]),
                         ("/var/lib/fgcollect", "/var/lib/graphs", "[$(POD_IP)]:9464", "cpu,wall"))
        self.assertEqual(given["--push-label"], "cluster=eu-1")
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, set(volumes))
        self.assertEqual(volumes["push-spool"]["emptyDir"], {"sizeLimit": "384Mi"})
        self.assertEqual(given["--push-spool-bytes"], "256M")
        self.assertEqual(container["image"], "registry.example.org/fgcollect:v1")
        monitor = manifests.of_kind("PodMonitor", documents)
        self.assertEqual(monitor["spec"]["podMetricsEndpoints"][0]["tlsConfig"]["serverName"],
                         "flames.profiling.svc")
        dashboard = next(d for d in documents if d["metadata"]["name"] == "flames-dashboard")
        json.loads(dashboard["data"]["fgcollect.json"])

    def test_changed_targets_start_the_collectors_anew(self):
        sums = []
        for url in ("otlp+http://a", "otlp+http://b"):
            daemon_set = manifests.of_kind("DaemonSet", render(
                ["push.enabled=true", f"push.targets[0].url={url}"]))
            sums.append(daemon_set["spec"]["template"]["metadata"]["annotations"]["checksum/push"])
        self.assertNotEqual(*sums)

    def test_wrong_values_are_refused_with_a_reason(self):
        for settings, says in (
                (["psuh.enabled=true"], "psuh"),
                (["push.enabled=true", "push.targets[0].url=https://h"], "push.targets.0.url"),
                (["push.enabled=true", "push.targets[0].url=otlp+https://u:p@h"],
                 "push.targets.0.url"),
                (["push.enabled=true", "push.targets=null"], "push.enabled needs push.targets"),
                (["push.spool.mebibytes=1"], "push.spool.mebibytes"),
                (["image.pullPolicy=Sometimes"], "image.pullPolicy"),
                (["metrics.podMonitor.enabled=true"], "needs metrics.enabled"),
                (["metrics.tls.enabled=true"], "metrics.tls.enabled needs metrics.enabled"),
                (["push.interval=5s"], "push.interval"), (["push.labels.a-b=c"], "a-b"),
                (["push.targets[0].url=otlp+https://h", "push.targets[0].username=u"], "password_file"),
                (["store.enabled=true", "store.age="], "store.age"),
                (["store.enabled=true", "graphs.enabled=true"], "the same directory")):
            finished = run("template", "x", CHART, "--kube-version", "1.30.0", *options(settings))
            self.assertNotEqual(finished.returncode, 0, settings)
            self.assertIn(says, finished.stderr)

    def test_a_list_of_no_ports_opens_none(self):
        rules = [document["spec"]["egress"] for document in
                 yaml.safe_load_all(run("template", "x", CHART, "--kube-version", "1.30.0", *options(
                     ["push.enabled=true", "push.targets[0].url=otlp+https://h", "push.ports=null"])).stdout)
                 if document and document["kind"] == "NetworkPolicy"]
        self.assertEqual([[port["port"] for port in rule["ports"]] for rule in rules[0]], [[53, 53]])

    def test_the_notes_name_what_is_still_to_do(self):
        # Helm shows them after an installation alone, which needs a cluster: here as a document's text.
        with tempfile.TemporaryDirectory() as directory:
            chart = pathlib.Path(directory) / "fgcollect"
            shutil.copytree(CHART, chart)
            (chart / "templates" / "NOTES.txt").rename(chart / "notes")
            (chart / "templates" / "notes.yaml").write_text(
                'text: {{ tpl (.Files.Get "notes") . | quote }}\n')
            finished = run("template", "flames", chart, "--namespace", "profiling",
                           "--kube-version", "1.30.0", "--show-only", "templates/notes.yaml",
                           *options(["push.enabled=true", *TLS]))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        notes = yaml.safe_load(finished.stdout)["text"]
        for text in ("flames.profiling.svc", "create secret generic fgcollect-push",
                     "--collector-namespace profiling"):
            self.assertIn(text, notes)


if __name__ == "__main__":
    try:
        helm.build(os.environ["FG_DOWNLOADS"])
    except helm.NotBuilt as error:
        print(f"no Helm: {error}", file=sys.stderr)
        is_needed = "--build" in sys.argv or os.environ.get("CI", "false") != "false"
        sys.exit(77 if not is_needed else 75 if isinstance(error, helm.NoAnswer) else 1)
    if "--build" in sys.argv:
        sys.exit(0)
    unittest.main()
