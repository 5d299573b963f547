# SPDX-License-Identifier: Apache-2.0
"""What is installed is whole: links of pages lead to files that are installed too."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from options import SOURCE

BINARY_DIR = pathlib.Path(os.environ["FG_BINARY_DIR"])
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        subprocess.run(["cmake", "--install", BINARY_DIR, "--prefix", cls.prefix], check=True,
                       stdout=subprocess.DEVNULL)
        cls.doc = cls.prefix / "share" / "doc" / "fgcollect"

    def test_links_of_installed_pages_lead_to_installed_files(self):
        count, dangling = 0, []
        for page in self.doc.rglob("*.md"):
            text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
            for link in LINK.findall(text):
                if re.match(r"[a-z]+:", link):
                    continue
                count += 1
                if not (page.parent / link).exists():
                    dangling.append(f"{page.relative_to(self.doc)}: {link}")
        self.assertEqual(dangling, [])
        self.assertGreater(count, 200)

    def test_the_plug_in_of_kubectl_is_in_path(self):
        plugin = self.prefix / "bin" / "kubectl-fgcollect"
        self.assertTrue(os.access(plugin, os.X_OK))
        self.assertEqual(plugin.read_bytes(),
                         (SOURCE / "docker" / "kubernetes" / "kubectl-fgcollect").read_bytes())

    def test_the_seccomp_profile_and_the_manifests_are_there(self):
        for path in ("docker/collector/seccomp.json", "docker/kubernetes/base/kustomization.yaml",
                     "docker/examples", "docker/kubernetes/helm/fgcollect/Chart.yaml"):
            self.assertTrue((self.doc / path).exists(), path)

    def test_the_agent_is_given_in_one_variable_everywhere(self):
        """Which other one there is, and when to take it, docs/fleet.md alone says."""
        count = 0
        for path in self.doc.rglob("*"):
            if not path.is_file() or path.suffix in (".svg", ".png"):
                continue
            for name in re.findall(r"([A-Z][A-Z_]+)[\"']?[=:] *[\"']?-agentpath", path.read_text()):
                self.assertEqual(name, "JAVA_TOOL_OPTIONS", path)
                count += 1
        self.assertGreater(count, 8)


if __name__ == "__main__":
    unittest.main()
