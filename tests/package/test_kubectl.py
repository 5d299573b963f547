# SPDX-License-Identifier: Apache-2.0
"""The plug-in of kubectl asks for the pod that was named, whatever the pod's author has written."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from options import SOURCE

PLUGIN = SOURCE / "docker" / "kubernetes" / "kubectl-fgcollect"
STAND_IN = SOURCE / "tests" / "e2e" / "programs" / "kubernetes"
UID = "01234567-89ab-cdef-0123-456789abcdef"
HASH = "00112233445566778899aabbccddeeff"
MIRROR = {"kubernetes.io/config.mirror": HASH, "kubernetes.io/config.hash": HASH,
          "kubernetes.io/config.source": "file"}
COLLECTOR = {
    "metadata": {"name": "fgcollect-1", "namespace": "fgcollect",
                 "labels": {"app.kubernetes.io/name": "fgcollect",
                            "app.kubernetes.io/component": "collector"}},
    "spec": {"nodeName": "node-1"}, "docker": "node-1's",
    "status": {"phase": "Running", "containerStatuses": [{"name": "fgcollect", "ready": True}]}}
OTHER = {**COLLECTOR, "metadata": {**COLLECTOR["metadata"], "name": "fgcollect-2"},
         "spec": {"nodeName": "node-2"}, "docker": "node-2's"}


def pod_of(name, uid=UID, phase="Running", namespace="shop", labels=(), annotations=()):
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid, "labels": dict(labels),
                         "annotations": dict(annotations)},
            "spec": {"nodeName": "node-1", "containers": [{"name": "app"}]},
            "status": {"phase": phase}}


def workload_of(kind, name="web", selector=()):
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop"},
            "spec": {"selector": dict(selector)}}


class Plugin(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        docker = self.directory / "docker"  # by which the stand-in for kubectl has commands run
        docker.write_text('#!/bin/sh\necho "$*"\n')
        docker.chmod(0o755)

    def top_of(self, annotations):
        """What the plug-in has run for the table of a pod with these annotations."""
        return self.run_plugin([pod_of("web", annotations=annotations)], "top", "shop/web")

    def run_plugin(self, pods, *words, workloads=()):
        file = self.directory / "cluster.json"
        file.write_text(json.dumps({"pods": [*pods, COLLECTOR, OTHER], "workloads": workloads}))
        return subprocess.run(
            [PLUGIN, *words], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "FG_CLUSTER": str(file),
                 "PATH": f"{self.directory}:{STAND_IN}:{os.environ['PATH']}"})

    def assert_asks_for(self, uid, annotations):
        asked = self.top_of(annotations)
        self.assertEqual((asked.returncode, asked.stdout),
                         (0, f"exec node-1's fgcollect top --pod {uid}\n"), asked.stderr)

    def test_a_pod_is_known_by_its_uid(self):
        self.assert_asks_for(UID, {})

    def test_a_static_pod_is_known_by_the_hash_of_its_mirror(self):
        self.assert_asks_for(HASH, MIRROR)

    def test_the_hash_of_a_pod_that_is_no_mirror_is_nothing(self):
        for text in (HASH, "orders/victim", UID.replace("0", "1"), f"{HASH}\nnode-2\nRunning\napp"):
            self.assert_asks_for(UID, {"kubernetes.io/config.hash": text})

    def test_a_mirror_of_what_is_no_hash_is_refused(self):
        for text in ("orders/victim", UID, HASH.upper(), HASH[1:], f"{HASH}0", f"{HASH[1:]}\n{HASH}",
                     f"{HASH}\nnode-2\nRunning\napp", f"\n{HASH}", "*" * 32):
            for annotations in ({**MIRROR, "kubernetes.io/config.hash": text},
                                dict.fromkeys(MIRROR, text)):
                refused = self.top_of(annotations)
                self.assertEqual((refused.returncode, refused.stdout), (1, ""), text)
                self.assertIn("pod shop/web says that it is a static pod's mirror, and is none",
                              refused.stderr)

    PODS = (pod_of("web-0", "u0", "Pending", labels={"app": "web", "tier": "a/b"}),
            pod_of("web-1", "u1", labels={"app": "web", "tier": "a/b"}),
            pod_of("web-2", "u2", labels={"app": "web", "tier": "a/b"}),
            pod_of("cart-1", "u3", labels={"app": "cart"}))

    def ask(self, word, *options, workloads=()):
        return self.run_plugin(self.PODS, "top", word, *options, workloads=workloads)

    def test_a_workload_is_its_first_running_pod(self):
        labels = {"matchLabels": {"app": "web", "tier": "a/b"}}
        for kind, word in (("deployment", "deploy"), ("deployment", "deployments.apps"),
                           ("statefulset", "sts"), ("job", "job")):
            asked = self.ask(f"shop/{word}/web", workloads=[workload_of(kind, selector=labels)])
            self.assertEqual((asked.returncode, asked.stdout),
                             (0, "exec node-1's fgcollect top --pod u1\n"), asked.stderr)
            self.assertIn(f"the {kind} shop/web has several pods, of which this is web-1",
                          asked.stderr)

    def test_a_kind_is_no_namespace_and_the_namespace_may_be_an_option(self):
        labels = {"matchLabels": {"app": "cart"}}
        asked = self.ask("deploy/web", "-n", "shop",
                         workloads=[workload_of("deployment", selector=labels)])
        self.assertEqual((asked.stdout, asked.stderr),
                         ("exec node-1's fgcollect top --pod u3\n", ""))

    def test_a_pod_may_be_called_a_pod(self):
        for word in ("shop/pod/web-2", "shop/web-2"):
            self.assertEqual(self.ask(word).stdout, "exec node-1's fgcollect top --pod u2\n", word)

    def test_workloads_without_a_pod_are_told(self):
        for workload, why in ((workload_of("deployment", selector={"matchLabels": {"app": "no"}}),
                               "no pod of the deployment shop/web runs"),
                              (workload_of("deployment", selector={
                                  "matchLabels": {"app": "web"},
                                  "matchExpressions": [{"key": "a", "operator": "Exists"}]}),
                               "has expressions"),
                              (workload_of("job"), "cannot find the deployment shop/web")):
            asked = self.ask("shop/deploy/web", workloads=[workload])
            self.assertEqual((asked.returncode, asked.stdout), (1, ""))
            self.assertIn(why, asked.stderr)

    def test_what_is_no_kind_is_refused(self):
        for word, why in (("shop/cron/web", "cron: no kind that has pods"),
                          ("a/b/c/d", "KIND/NAME is needed"), ("shop//web", "is needed"),
                          ("shop/deploy/", "is needed")):
            asked = self.ask(word)
            self.assertEqual((asked.returncode, asked.stdout), (2, ""))
            self.assertIn(why, asked.stderr)


if __name__ == "__main__":
    unittest.main()
