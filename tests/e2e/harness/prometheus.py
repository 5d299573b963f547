# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that asks what a PodMonitor says, of one target, each second."""

import json
import socket
import urllib.parse
import urllib.request

import yaml

from . import processes


def free_port():
    with socket.socket() as at:
        at.bind(("127.0.0.1", 0))
        return at.getsockname()[1]


def scrape_config(monitor, address, node, ca_file):
    """As the Prometheus Operator makes it, but for how targets are found."""
    endpoint = monitor["spec"]["podMetricsEndpoints"][0]
    config = {"job_name": "fgcollect", "metrics_path": endpoint["path"],
              "scheme": endpoint["scheme"], "honor_labels": endpoint["honorLabels"],
              "static_configs": [{"targets": [address],
                                  "labels": {"__meta_kubernetes_pod_node_name": node}}],
              "relabel_configs": [{"source_labels": rule["sourceLabels"],
                                   "target_label": rule["targetLabel"]}
                                  for rule in endpoint["relabelings"]]}
    if "tlsConfig" in endpoint:
        config["tls_config"] = {"ca_file": str(ca_file),
                                "server_name": endpoint["tlsConfig"]["serverName"]}
    return config


class Prometheus:
    def __init__(self, case, config):
        place = case.directory / "prometheus"
        place.mkdir()
        self.port = free_port()
        (place / "prometheus.yml").write_text(yaml.safe_dump(
            {"global": {"scrape_interval": "1s"}, "scrape_configs": [config]}))
        self.program = case.background(
            ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"], "prometheus")
        processes.wait_until(lambda: self.query("up == 1"),
                             lambda: f"the target is up: {self.program.text}{self.targets()}")

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}",
                                        timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:     # it starts
            return {}

    def targets(self):
        return [target.get("lastError") for target in self.get("targets").get("activeTargets", [])]

    def query(self, text):
        """[(labels, value)]"""
        found = self.get("query?" + urllib.parse.urlencode({"query": text})).get("result", [])
        return [(row["metric"], float(row["value"][1])) for row in found]
