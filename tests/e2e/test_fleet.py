# SPDX-License-Identifier: Apache-2.0
"""What a fleet needs of docker/kubernetes: profiles that are pushed over outages and rollouts, the
agent next to images without one, metrics and their dashboard."""

import json
import math
import os
import re
import ssl
import time
import urllib.error
import urllib.request
import uuid

import yaml

from harness import certificates, cluster, containers, folded, manifests, processes, settings
from harness.case import Case
from harness.marks import plain
from harness.prometheus import Prometheus, scrape_config
from harness.push_server import PushServer

EXAMPLES = cluster.KUBERNETES / "examples"
DASHBOARD = cluster.KUBERNETES / "helm" / "fgcollect" / "files" / "dashboard.json"
WHOLE = "overlays/store+components/push+components/metrics+components/metrics-tls"
UNTOUCHED = "eclipse-temurin:17-jre"
INJECTOR = "fgcollect-injector"
MISSING = ("Could not find agent library /opt/fgcollect/libfgagent.so in absolute path, with error: "
           "/opt/fgcollect/libfgagent.so: cannot open shared object file: No such file or directory")
TOKEN = "a-token-that-nobody-else-sees"
SECRET = "/etc/fgcollect/secret"


def pod_spec(documents):
    return manifests.of_kind("DaemonSet", documents)["spec"]["template"]["spec"]


class Fleet(Case):
    def setUp(self):
        super().setUp()
        self.node = cluster.Node(self)

    def new_server(self):
        files = certificates.make(self.directory / "certificates", "DNS:localhost")
        server = PushServer(certificate=(files / "server.pem", files / "server.key"))
        self.addCleanup(server.stop)
        self.node.network = "host"
        self.node.config_maps["fgcollect-push"] = {
            "push.yaml": yaml.safe_dump({"targets": [{
                "url": f"pyroscope+https://localhost:{server.port}",
                "bearer_token_file": f"{SECRET}/token", "ca_file": f"{SECRET}/ca.pem"}]}),
            "relabel.yaml": "relabel_configs:\n- {target_label: zone, replacement: a}\n"}
        return server, {"token": TOKEN + "\n", "ca.pem": (files / "ca.pem").read_text()}

    def count(self, container, name):
        listed = self.engine.docker("exec", container, "fgcollect", "list", "--json").out
        return sum(json.loads(listed)["collector"]["push"][name].values())

    def wait_for_count(self, container, name, least=1):
        processes.wait_until(lambda: self.count(container, name) >= least,
                             lambda: f"{name} is {least}:\n{self.node.logs(container)}")
        return self.count(container, name)

    def test_profiles_are_pushed_with_a_secret_and_outlive_the_pod(self):
        server, secret = self.new_server()
        container = self.node.run_collector(folder="overlays/push")
        self.node.run_pod("orders-1", "KnownShare").wait_for_line("ready")
        self.wait_for_count(container, "profiles_waiting")
        self.assertRegex(self.node.logs(container), rf"{SECRET}/[a-z.]+: No such file or directory; "
                         "profiles wait, in the spool")
        self.assertEqual(server.seen, [])   # nothing is said without the token
        self.node.put_secret("fgcollect-push", secret)
        self.wait_for_count(container, "profiles_sent")
        server.stop()
        self.wait_for_count(container, "profiles_waiting")
        described = self.engine.docker("inspect", container).out
        self.assertNotIn(TOKEN, described)
        self.assertNotIn(TOKEN, self.node.logs(container))
        self.engine.docker("stop", "--time", "20", container)
        self.node.remove(container)
        server.start()
        again = self.node.run_collector("fgcollect-x7k2q", folder="overlays/push")
        found = self.wait_for_count(again, "profiles_found")
        self.wait_for_count(again, "profiles_sent", found)
        self.assertEqual(server.errors, [])
        self.assertEqual({headers["Authorization"] for _, headers in server.seen},
                         {f"Bearer {TOKEN}"})
        mine = [p for p in server.profiles if p.labels["service_name"] == "KnownShare"]
        self.assertEqual({(p.labels["node"], p.labels["zone"]) for p in mine}, {("node-1", "a")})
        self.assertGreater(sum(p.with_frame("KnownShare$Hot.run") for p in mine), 0)

    @plain
    def test_push_adds_to_whatever_it_stands_on(self):
        for below in ("base", "overlays/store", "overlays/graphs", "overlays/probes"):
            documents = manifests.build(cluster.KUBERNETES / below)
            before = pod_spec(documents)
            documents = manifests.build(cluster.KUBERNETES / "components" / "push", documents)
            after = pod_spec(documents)
            old, new = before["containers"][0], after["containers"][0]
            self.assertEqual(new["args"][:len(old["args"])], old["args"])
            self.assertEqual(new["volumeMounts"][:len(old["volumeMounts"])], old["volumeMounts"])
            self.assertEqual({**new, "args": 0, "volumeMounts": 0},
                             {**old, "args": 0, "volumeMounts": 0})
            self.assertEqual({mount["name"] for mount in new["volumeMounts"]},
                             {volume["name"] for volume in after["volumes"]})
            policy = manifests.of_kind("NetworkPolicy", documents)["spec"]
            self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
            ports = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
            self.assertEqual(ports, {53, 443, 4040, 4318})
            self.assertEqual("ingress" in policy, below == "overlays/graphs")

    def make_untouched_images(self):
        """An image without the agent, and one of an init container that has it."""
        env = {"DOCKER_HOST": self.engine.state["docker_host"], "DOCKER_BUILDKIT": "0",
               "PATH": f"/usr/bin:{os.environ['PATH']}"}
        docker = settings.SOURCE / "docker"
        processes.run([docker / "make-base", UNTOUCHED, "busybox:stable"], check=True, env=env,
                      timeout=120)
        processes.run(["docker", "build", "-t", INJECTOR, docker / "examples" / "injector"],
                      check=True, env=env, timeout=120)

    def mounts(self, container):
        return [f"--volume={self.node.place_of(mount['name'])}:{mount['mountPath']}"
                f"{':ro' if mount.get('readOnly') else ''}"
                for mount in container["volumeMounts"] if mount["mountPath"] != "/tmp"]

    def run_init(self, spec):
        container = spec["initContainers"][0]
        self.engine.docker("run", "--rm", "--user=103:103", "--read-only", "--cap-drop=ALL",
                           "--network=none", "--security-opt=no-new-privileges",
                           *self.mounts(container), container["image"])

    def run_app(self, spec, name, *java):
        """The application's container as the example has it, of an image that has no agent."""
        uid, container = str(uuid.uuid4()), spec["containers"][0]
        started = containers.Container(
            self.engine, UNTOUCHED, None, *java, reads=[settings.CLASSES],
            env={entry["name"]: entry["value"] for entry in container["env"]},
            options=["--cgroup-parent", self.node.cgroup_parent(uid), *self.mounts(container)])
        self.addCleanup(started.rm)
        self.node.add(name, started.id, uid=uid)
        return started

    def exit_code(self, container):
        return int(self.engine.docker("wait", container.id).out)

    def test_an_image_without_the_agent_gets_it_from_an_init_container(self):
        self.make_untouched_images()
        spec = manifests.of_kind("Deployment", manifests.read(EXAMPLES / "injected.yaml"))
        spec = spec["spec"]["template"]["spec"]
        known_share = ("java", "-cp", settings.CLASSES, "KnownShare")
        # Not there yet: the JVM does not start. An init container has it there before.
        without = self.run_app(spec, "billing-0", *known_share)
        self.assertEqual(self.exit_code(without), 1)
        self.assertIn(MISSING, without.logs())
        self.run_init(spec)
        place = self.node.place_of("fgagent") / "libfgagent.so"
        self.assertEqual(place.stat().st_mode & 0o777, 0o755)
        self.node.run_collector()
        app = self.run_app(spec, "billing-1", *known_share).wait_for_line("ready")
        out = self.directory / "home.folded"
        finished = self.node.plugin("record", "shop/billing-1", "-d", "2", "-F", "199", "-o", out)
        self.assertEqual(finished.code, 0, str(finished))
        stacks, quality = folded.Folded.read(out), folded.Quality(finished.err)
        self.assertGreater(quality.java_named, 99.0, str(finished))
        self.assertEqual(set(stacks.roots()), {"KnownShare"}, stacks.top())
        self.assertGreater(stacks.with_method("KnownShare$Hot.run"), 0, stacks.top())
        # What else of the JDK runs in the container says so, and has the agent too.
        said = app.exec("keytool", "-help", agent=True, check=False).err
        self.assertIn("Picked up JAVA_TOOL_OPTIONS: -agentpath:/opt/fgcollect/libfgagent.so", said)

    @plain
    def test_examples_that_inject_differ_in_where_the_agent_comes_from_alone(self):
        specs = [manifests.of_kind("Deployment", manifests.read(EXAMPLES / name))["spec"]
                 for name in ("injected.yaml", "image-volume.yaml")]
        for spec in specs:
            pod = spec["template"]["spec"]
            pod.pop("initContainers", None)
            pod["volumes"] = [v for v in pod["volumes"] if v["name"] != "fgagent"]
        self.assertEqual(*specs)

    def start_whole(self):
        """A collector with store, push and metrics by TLS. Returns it and the scrape's settings."""
        name = "fgcollect.fgcollect.svc"
        files = certificates.make(self.directory / "certificates", f"DNS:{name},IP:127.0.0.1")
        server = PushServer()
        self.addCleanup(server.stop)
        self.node.network, self.node.address = "host", "127.0.0.1"
        self.node.config_maps["fgcollect-push"] = {
            "push.yaml": yaml.safe_dump({"targets": [{"url": server.url("pyroscope")}]}),
            "relabel.yaml": "relabel_configs: []\n"}
        self.node.put_secret("fgcollect-http", {
            "tls.crt": (files / "server.pem").read_text(),
            "tls.key": (files / "server.key").read_text(), "token": TOKEN,
            "ca.crt": (files / "ca.pem").read_text()})
        container = self.node.run_collector(folder=WHOLE)
        documents = []
        for folder in WHOLE.split("+"):
            documents = manifests.build(cluster.KUBERNETES / folder, documents)
        return container, scrape_config(manifests.of_kind("PodMonitor", documents),
                                        "127.0.0.1:9464", self.node.name, files / "ca.pem")

    def status_of(self, path, ca_file, token=None):
        request = urllib.request.Request(f"https://127.0.0.1:9464{path}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            context = ssl.create_default_context(cafile=ca_file)
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_prometheus_has_an_answer_to_each_query_of_the_dashboard(self):
        container, config = self.start_whole()
        self.node.run_pod("orders-1", "KnownShare").wait_for_line("ready")
        ca_file = config["tls_config"]["ca_file"]
        self.assertEqual([self.status_of("/metrics", ca_file), self.status_of("/healthz", ca_file),
                          self.status_of("/api/v1/store", ca_file),
                          self.status_of("/api/v1/store", ca_file, TOKEN)], [200, 200, 401, 200])
        prometheus = Prometheus(self, config)
        self.wait_for_count(container, "profiles_sent")
        sent = time.time()
        # A rate needs two values, and what the first profile brought has to be among both.
        processes.wait_until(
            lambda: any(value >= 3 for _, value in prometheus.query(
                f"count_over_time(up[{max(1, int(time.time() - sent))}s])")), "three scrapes more")
        queries = [target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"]
                   for target in panel.get("targets", [])]
        self.assertGreater(len(queries), 60)
        names = {labels["__name__"] for labels, _ in prometheus.query('{__name__=~"fgcollect_.*"}')}
        for query in queries:
            self.assertEqual(set(re.findall(r"\$\w+", query)) - {"$instance", "$__rate_interval"},
                             set())
            asked = set(re.findall(r"\bfgcollect_\w+", query))
            self.assertTrue(asked and asked <= names, asked - names)
            for instance, is_there in ((self.node.name, True), ("another", False)):
                text = query.replace("$instance", instance).replace("$__rate_interval", "10s")
                rows = prometheus.query(text)
                self.assertEqual(bool(rows), is_there, text)
                self.assertFalse(any(math.isnan(value) for _, value in rows), text)

    @plain
    def test_the_dashboard_is_laid_out(self):
        dashboard = json.loads(DASHBOARD.read_text())
        cells, ids = set(), set()
        for panel in dashboard["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            own = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                   for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(own & cells, f"{panel['title']} lies on another panel")
            cells |= own
            ids.add(panel["id"])
            for target in panel.get("targets", []):
                self.assertEqual(target["datasource"]["uid"], "${datasource}")
            labels = [target["refId"] for target in panel.get("targets", [])]
            self.assertEqual(len(labels), len(set(labels)), panel["title"])
            self.assertTrue(panel["type"] == "row" or panel["description"], panel["title"])
        self.assertEqual(len(ids), len(dashboard["panels"]))
        self.assertEqual([variable["name"] for variable in dashboard["templating"]["list"]],
                         ["datasource", "instance"])
