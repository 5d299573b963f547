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


class Plugin(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        docker = self.directory / "docker"  # by which the stand-in for kubectl has commands run
        docker.write_text('#!/bin/sh\necho "$*"\n')
        docker.chmod(0o755)

    def top_of(self, annotations):
        """What the plug-in has run for the table of a pod with these annotations."""
        pod = {"metadata": {"name": "web", "namespace": "shop", "uid": UID,
                            "annotations": annotations},
               "spec": {"nodeName": "node-1", "containers": [{"name": "app"}]},
               "status": {"phase": "Running"}}
        file = self.directory / "cluster.json"
        file.write_text(json.dumps({"pods": [pod, COLLECTOR, OTHER]}))
        return subprocess.run(
            [PLUGIN, "top", "shop/web"], capture_output=True, text=True, check=False,
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


if __name__ == "__main__":
    unittest.main()
