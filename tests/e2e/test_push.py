# SPDX-License-Identifier: Apache-2.0
"""Profiles that are pushed arrive whole, once, and under the right names, whatever servers do."""

import base64
import json
import os
import signal

from harness import certificates, collector, processes
from harness.case import Case
from harness.folded import tolerance
from harness.proxy import Proxy
from harness.push_server import Answer, PushServer


class Push(Case):
    def setUp(self):
        super().setUp()
        self.server = self.new_server()
        self.spool = self.directory / "spool"

    def new_server(self, **options):
        server = PushServer(**options)
        self.addCleanup(server.stop)
        return server

    def watch_push(self, *args, protocol="pyroscope", **options):
        targets = [word for name in protocol.split() for word in ("--push", self.server.url(name))]
        return self.watch("--push-interval", "10s", "-F", 99, *targets, *args, **options)

    def watch_config(self, text, **options):
        """A daemon with one target, of which the file says more."""
        path = self.directory / "push.yaml"
        path.write_text(f"targets:\n- url: {text}")
        return self.watch("--push-config", path, "--push-interval", "10s", "-F", 99, **options)

    def host_jvm(self, *args, env=None):
        jvm = self.background(self.java(*args, agent=f"socket={self.place.socket}"),
                              f"java-{args[0]}", env={**os.environ, **(env or {})})
        processes.wait_until(lambda: "ready" in jvm.text, "the JVM is warm")
        return jvm

    def counters(self, daemon):
        listed = json.loads(daemon.list("--json").out)["collector"]
        return {**listed["push"], "balances": listed["balances"]}

    def assert_all_accounted_for(self, counters):
        """Each profile and each sample is in one place."""
        self.assertEqual(self.assert_balances({"push": counters, **counters}),
                         {"pushed profiles", "pushed samples"})

    def count(self, daemon, name):
        return sum(self.counters(daemon)[name].values())

    def wait_for_count(self, daemon, name, least, timeout=60):
        processes.wait_until(lambda: self.count(daemon, name) >= least,
                             lambda: f"{name}: {self.count(daemon, name)} of {least}\n"
                                     f"{daemon.text}", timeout)

    def settled(self, daemon):
        """The counters at a moment when nothing waits."""
        def without_waiting():
            counters = self.counters(daemon)
            return counters if not any(counters["profiles_waiting"].values()) else None
        return processes.wait_until(without_waiting, "all are sent")

    def assert_no_errors(self):
        self.assertEqual(self.server.errors, [])

    def stored(self, store, pid):
        finished = collector.fgcollect("history", "--store", store, "--json")
        self.assertEqual(finished.code, 0, str(finished))
        rows = {row["pid"]: row for row in json.loads(finished.out)["processes"]}
        return {kind["kind"]: kind["samples"] for kind in rows[pid]["kinds"]}

    def test_both_protocols_carry_each_sample_under_its_names(self):
        store = self.directory / "store"
        daemon = self.watch_push("--kind", "cpu,wall,offcpu,alloc,lock,exceptions", "--store", store,
                                 "--push-label", "env=test", protocol="otlp pyroscope")
        jvm = self.host_jvm("KnownShare", env={"OTEL_SERVICE_NAME": "known"})
        self.wait_for_count(daemon, "samples_sent", 1000)
        daemon.stop()
        self.assert_no_errors()
        profiles = self.server.profiles
        pyroscope = [p for p in profiles if "__name__" in p.labels]
        otlp = [p for p in profiles if "__name__" not in p.labels]
        stored = self.stored(store, jvm.pid)
        for found, what in ((pyroscope, "service_name"), (otlp, "service.name")):
            mine = [p for p in found if p.labels[what] == "known"]
            cpu = [p for p in mine if p.types[0] == ("samples", "count")]
            self.assertEqual(sum(p.total("samples") for p in cpu), stored["cpu"])
            wall = [p for p in mine if p.types[0] == ("wall", "nanoseconds")]
            self.assertEqual(sum(p.total("wall") for p in wall), stored["wall"] * 1000)
            hot = sum(p.with_frame("KnownShare$Hot.run") for p in cpu)
            samples = sum(p.total("samples") for p in cpu)
            self.assertAlmostEqual(hot / samples, 0.6, delta=0.05 + tolerance(0.6, samples))
            self.assertEqual({p.labels["env"] for p in found}, {"test"})
            for profile in cpu:
                self.assertEqual(profile.period, ("cpu", "nanoseconds", 10**9 // 99))
                self.assertIn(("[jit]", ""), profile.modules)
                self.assertEqual(profile.files["KnownShare$Hot.run"], "KnownShare.java")
                self.assertLessEqual(profile.duration_ns, 11 * 10**9)
            # One series a kind, whatever threads there are.
            self.assertEqual(len({tuple(sorted(p.labels.items())) for p in cpu}), 1)
        self.assertTrue(any(build for p in profiles for _, build in p.modules))
        cpu = [p for p in pyroscope if p.family == "process_cpu"]
        self.assertEqual({tuple(p.types) for p in cpu},
                         {(("samples", "count"), ("cpu", "nanoseconds"))})
        self.assertEqual(sum(p.total("cpu") for p in cpu),
                         sum(p.total("samples") for p in cpu) * (10**9 // 99))
        self.assertLessEqual({"process_cpu", "wall", "off_cpu"}, {p.family for p in pyroscope})
        self.assertTrue(all(p.labels["__delta__"] == "false" for p in pyroscope))
        types = {kind for p in otlp for kind in p.frame_types.values()}
        self.assertLessEqual({"jvm", "native", "kernel"}, types)
        self.assertTrue(all(p.quality["fgcollect.quality.weight"] > 0 for p in otlp))

    def test_nothing_is_lost_over_an_outage(self):
        daemon = self.watch_push("--push-spool", self.spool, protocol="otlp pyroscope")
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 2)
        self.server.stop()
        before = self.count(daemon, "profiles_sent")
        self.wait_for_count(daemon, "profiles_waiting", 6)
        self.assertGreaterEqual(self.count(daemon, "lag_sec"), 20)  # of two targets
        self.assertEqual(self.count(daemon, "profiles_sent"), before)
        self.assertEqual(daemon.text.count("profiles wait, in the spool"), 2, daemon.text)
        self.server.start()
        self.wait_for_count(daemon, "profiles_sent", before + 6)
        counters = self.settled(daemon)
        self.assertEqual(set(counters["lag_sec"].values()), {0})
        self.assert_all_accounted_for(counters)
        self.assertEqual(counters["samples_sent"], counters["samples_made"])
        processes.wait_until(lambda: self.server.total() == self.count(daemon, "samples_sent"),
                             "the server has what was sent")
        for protocol in (False, True):
            starts = [p.start_ns for p in self.server.profiles if ("__name__" in p.labels) == protocol]
            # They begin in order; of the few that are under way at once, one may overtake another.
            self.assertTrue(all(abs(sorted(starts).index(start) - n) <= 3 for n, start in enumerate(starts)), starts)
            self.assertEqual(starts[0], min(starts))
        self.assertEqual(daemon.text.count("takes profiles again"), 2, daemon.text)
        self.assert_no_errors()

    def test_a_killed_daemon_leaves_its_spool_to_the_next_one(self):
        daemon = self.watch_push("--push-spool", self.spool)
        self.server.stop()
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_waiting", 2)
        waiting = self.count(daemon, "samples_waiting")
        os.kill(daemon.pid, signal.SIGKILL)
        processes.wait_until(lambda: daemon.child.poll() is not None, "the daemon is gone")
        self.server.start()
        daemon = self.watch_push("--push-spool", self.spool)
        self.assertGreaterEqual(self.count(daemon, "samples_found"), waiting)
        processes.wait_until(lambda: self.server.total() + self.count(daemon, "samples_in_doubt")
                             >= waiting, "they are sent")
        self.assert_all_accounted_for(self.counters(daemon))
        self.assert_no_errors()

    def test_what_an_outage_costs_past_the_spool_is_counted(self):
        daemon = self.watch_push("--push-spool", self.spool, "--push-spool-age", "1m")
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 1)
        self.server.stop()
        self.wait_for_count(daemon, "profiles_dropped_old", 2, timeout=150)
        self.server.start()
        sent = self.count(daemon, "profiles_sent")
        self.wait_for_count(daemon, "profiles_sent", sent + 2, timeout=90)
        counters = self.settled(daemon)
        self.assert_all_accounted_for(counters)
        for of in ("profiles", "samples"):
            self.assertEqual(sum(counters[f"{of}_made"].values()),
                             sum(counters[f"{of}_sent"].values()) +
                             sum(counters[f"{of}_dropped_old"].values()))
        processes.wait_until(lambda: self.server.total() == self.count(daemon, "samples_sent"),
                             "the server has what was sent")
        self.assert_no_errors()

    def test_each_answer_of_a_server_has_its_counter_and_is_said_once(self):
        # One after another, because after a failure one request is under way at a time. Only the
        # last two are beside each other.
        self.server.answers = [
            Answer(429, "slow down", {"Retry-After": "1"}), Answer(401), Answer(500, "oops"),
            Answer(how="reset"), Answer(how="hang"), Answer(413, "too large\x1b[2J"),
            Answer(400, "bad"), Answer(400, "bad"),
        ]
        path = self.directory / "push.yaml"
        path.write_text(f"targets:\n- url: {self.server.url('pyroscope')}\n  timeout: 1s\n")
        daemon = self.watch("--push-config", path, "--push-interval", "10s", "--push-spool",
                            self.spool, "--kind", "cpu,wall,offcpu")
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_refused", 3)
        self.wait_for_count(daemon, "profiles_in_doubt", 3)
        self.wait_for_count(daemon, "profiles_sent", 2)
        counters = self.counters(daemon)
        self.assert_all_accounted_for(counters)
        self.assertEqual(sum(counters["failed_tries"].values()), 2)
        self.assertEqual(sum(counters["profiles_refused"].values()), 3)
        self.assertEqual(sum(counters["profiles_in_doubt"].values()), 3)
        for text in ("answers 429: slow down; a limit of the server is reached",
                     "answers 401; are token, password and tenant right?", "takes profiles again",
                     "answers 413: too large?[2J", "answers 500: oops; whether the profile has",
                     "answers 400: bad"):
            self.assertEqual(daemon.text.count(text), 1, f"{text}\n{daemon.text}")
        self.assertEqual(daemon.text.count("whether the profile has arrived is not known"), 1)
        self.assertEqual(len(list(self.spool.glob("*/*.refused"))), 3)
        self.assertIn("answers 413", "".join(p.read_text() for p in self.spool.glob("*/*.why")))
        first, second = (when for when, _ in self.server.seen[:2])
        self.assertGreater(second - first, 0.9, "the server is obeyed")

    def test_a_server_that_answers_late_has_several_at_once(self):
        self.server.delay = 0.5
        daemon = self.watch_push("--kind", "cpu,wall,alloc,lock,exceptions")
        for _ in range(3):
            self.host_jvm("Resting")
        self.wait_for_count(daemon, "profiles_sent", 20)
        self.assertGreater(self.server.most_under_way, 2)
        self.assertLessEqual(self.server.most_under_way, 16)
        daemon.stop()
        self.assert_no_errors()

    def test_a_server_that_is_not_ready_has_one_profile_in_doubt(self):
        self.server.answer, self.server.ready = Answer(500), 503
        daemon = self.watch_push("--kind", "cpu,wall,offcpu", "--push-spool", self.spool)
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "failed_tries", 3)
        self.assertEqual(set(self.server.questions), {"/ready"})
        self.assertEqual(self.count(daemon, "profiles_in_doubt"), 1)
        self.server.answer, self.server.ready = Answer(), 200
        self.wait_for_count(daemon, "profiles_sent", 5)
        counters = self.settled(daemon)
        self.assert_all_accounted_for(counters)
        self.assertEqual(sum(counters["profiles_in_doubt"].values()), 1)
        self.assert_no_errors()

    def test_a_server_that_hangs_holds_up_nobody_else(self):
        other = self.new_server()
        self.server.answer = Answer(how="hang")
        store = self.directory / "store"
        daemon = self.watch_push("--push", other.url("otlp"), "--store", store,
                                 "--push-spool", self.spool)
        self.host_jvm("KnownShare")
        processes.wait_until(lambda: len(other.profiles) >= 2, "the other server has profiles")
        processes.wait_until(lambda: len(self.server.seen) >= 1, "the server hangs")
        counters = json.loads(daemon.list("--json").out)["collector"]
        self.assertEqual(counters["store"]["windows_dropped"], 0)
        self.assertEqual(counters["push"]["graphs_dropped"], 0)
        daemon.stop()
        self.assertEqual(other.errors, [])

    def test_an_answer_without_end_is_left(self):
        self.server.answer = Answer(how="endless")
        daemon = self.watch_push()
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 2)

    def test_what_is_there_is_sent_at_the_end(self):
        daemon = self.watch("--push", self.server.url("pyroscope"), "--push-interval", "60s",
                            "-F", 99)
        jvm = self.host_jvm("KnownShare")
        daemon.wait_for_jvm(jvm.pid)
        processes.wait_until(lambda: json.loads(daemon.list("--json").out)["collector"]["watch"]
                             ["samples"] > 200, "there are samples")
        daemon.stop()
        self.assertGreater(self.server.total(), 200)
        self.assert_no_errors()

    def test_without_a_spool_what_is_lost_at_the_end_is_said(self):
        daemon = self.watch_push()
        self.server.stop()
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_waiting", 1)
        daemon.stop()
        self.assertRegex(daemon.text, r"up to [1-9]\d* profiles with [1-9]\d* samples of processor "
                                      r"time are lost")

    def test_credentials_are_read_again_when_they_change(self):
        files = certificates.make(self.directory / "certificates")
        self.server.stop()
        self.server = self.new_server(certificate=(files / "server.pem", files / "server.key",
                                                   files / "ca.pem"))
        (files / "used.pem").write_bytes((files / "other.pem").read_bytes())
        token = files / "token"
        token.write_text("first\n")
        config = self.directory / "push.yaml"
        config.write_text(f"""targets:
- url: {self.server.url("pyroscope", "https")}
  tenant: shop
  bearer_token_file: {token}
  ca_file: {files}/used.pem
  cert_file: {files}/client.pem
  key_file: {files}/client.key
""")
        daemon = self.watch("--push-config", config, "--push-interval", "10s")
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "failed_tries", 1)
        self.assertIn("certificate", daemon.text)
        (files / "used.pem").write_bytes((files / "ca.pem").read_bytes())
        self.wait_for_count(daemon, "profiles_sent", 1)
        token.write_text("second\n")
        sent = self.count(daemon, "profiles_sent")
        self.wait_for_count(daemon, "profiles_sent", sent + 1)
        headers = [headers for _, headers in self.server.seen]
        self.assertEqual((headers[0]["Authorization"], headers[0]["X-Scope-OrgID"]),
                         ("Bearer first", "shop"))
        self.assertEqual(headers[-1]["Authorization"], "Bearer second")
        self.assertEqual(self.count(daemon, "profiles_in_doubt"), 0)
        self.assert_no_errors()

    def test_users_and_tenants_are_read_again_when_they_change(self):
        password, tenant = self.directory / "password", self.directory / "tenant"
        password.write_text("wrong\n")
        tenant.write_text(" \n")
        daemon = self.watch_config(f"""{self.server.url("pyroscope")}
  username: 12345
  password_file: {password}
  tenant_file: {tenant}
""")
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "failed_tries", 1)
        self.assertIn(f"{tenant}: is empty; profiles wait", daemon.text)
        self.assertEqual(self.server.seen, [])
        self.server.answers = [Answer(401)]
        tenant.write_text("shop\n")
        processes.wait_until(lambda: "answers 401; are token, password and tenant right?"
                             in daemon.text, "the password is wrong")
        password.write_text("right\n")
        self.wait_for_count(daemon, "profiles_sent", 1)
        tenant.write_text("other\n")
        sent = self.count(daemon, "profiles_sent")
        self.wait_for_count(daemon, "profiles_sent", sent + 1)
        headers = [headers for _, headers in self.server.seen]
        users = [base64.b64decode(h["Authorization"].removeprefix("Basic ")).decode()
                 for h in (headers[0], headers[-1])]
        self.assertEqual(users, ["12345:wrong", "12345:right"])
        self.assertEqual([h["X-Scope-OrgID"] for h in (headers[0], headers[-1])],
                         ["shop", "other"])
        self.assertEqual(daemon.text.count("takes profiles again"), 1, daemon.text)
        self.assert_all_accounted_for(self.counters(daemon))
        self.assert_no_errors()

    def new_proxy(self, **options):
        proxy = Proxy(**options)
        self.addCleanup(proxy.stop)
        return proxy

    def test_the_proxy_of_the_environment_is_used(self):
        proxy = self.new_proxy()
        daemon = self.watch_push(prefix=["env", f"http_proxy=http://{proxy.address}"])
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 1)
        self.assertEqual({line.split("/push.v1")[0] for line in proxy.asked},
                         {f"POST http://127.0.0.1:{self.server.port}"})
        self.assert_no_errors()

    def test_a_proxy_that_wants_a_user_has_profiles_wait(self):
        files = certificates.make(self.directory / "certificates")
        self.server.stop()
        self.server = self.new_server(certificate=(files / "server.pem", files / "server.key"))
        proxy = self.new_proxy(user="u:right")
        daemon = self.watch_config(f"""{self.server.url("pyroscope", "https")}
  ca_file: {files}/ca.pem
""", prefix=["env", f"https_proxy=http://{proxy.address}"])
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "failed_tries", 1)
        self.assertIn("407", daemon.text)
        self.assertEqual(self.server.seen, [])
        proxy.user = None
        self.wait_for_count(daemon, "profiles_sent", 1)
        self.assertEqual({line for line in proxy.asked}, {f"CONNECT 127.0.0.1:{self.server.port}"})
        self.assertEqual(self.count(daemon, "profiles_in_doubt"), 0)
        self.assert_no_errors()

    def test_a_spool_that_nobody_can_write_is_refused_at_the_start(self):
        finished = collector.fgcollect("--watch", "--push", self.server.url("otlp"), "--push-spool",
                                       "/proc/spool", "--socket", self.place.socket)
        self.assert_fails(finished, 1, "--push-spool /proc/spool: ")

    def test_a_spool_that_becomes_read_only_has_profiles_wait_in_memory(self):
        daemon = self.watch_push("--push-spool", self.spool)
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 1)
        self.settled(daemon)
        self.server.stop()
        directory = next(path for path in self.spool.iterdir() if path.is_dir())
        self.addCleanup(processes.run, ["chattr", "-i", directory])
        processes.run(["chattr", "+i", directory], check=True)
        self.wait_for_count(daemon, "memory_bytes", 1)
        self.wait_for_count(daemon, "profiles_waiting", 2)
        self.assertEqual(daemon.text.count("not permitted: profiles wait in memory; is there room, "
                                           "and may the daemon write?"), 1, daemon.text)
        self.server.start()
        counters = self.settled(daemon)
        self.assert_all_accounted_for(counters)
        self.assertEqual(counters["samples_sent"], counters["samples_made"])
        self.assertEqual(sum(counters["memory_bytes"].values()), 0)
        self.assert_no_errors()

    def test_a_spool_that_becomes_read_only_with_profiles_on_it_holds_up_nothing(self):
        daemon = self.watch_push("--push-spool", self.spool)
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 1)
        self.server.stop()
        self.wait_for_count(daemon, "profiles_waiting", 2)
        directory = next(path for path in self.spool.iterdir() if path.is_dir())
        self.addCleanup(processes.run, ["chattr", "-i", directory])
        processes.run(["chattr", "+i", directory], check=True)
        self.wait_for_count(daemon, "memory_bytes", 1)
        self.server.start()
        counters = self.settled(daemon)
        self.assert_all_accounted_for(counters)
        self.assertEqual(counters["samples_sent"], counters["samples_made"])
        left = {path.name for path in directory.iterdir()} - {"url"}
        self.assertGreaterEqual(len(left), 2)
        self.assertEqual(self.count(daemon, "undeleted_files"), len(left))
        self.assertEqual(daemon.text.count("cannot be removed"), 1, daemon.text)
        processes.run(["chattr", "-i", directory], check=True)
        daemon.stop()
        self.assertEqual({path.name for path in directory.iterdir()}, {"url"})
        self.assert_no_errors()

    def test_stacks_deeper_than_servers_take_are_cut_visibly(self):
        daemon = self.watch_push(protocol="otlp pyroscope")
        self.host_jvm("Recursion", "1500")
        self.wait_for_count(daemon, "profiles_sent", 2)
        self.assertGreater(self.counters(daemon)["stacks_cut"], 0)
        daemon.stop()
        for protocol in (False, True):
            mine = [p for p in self.server.profiles if ("__name__" in p.labels) == protocol]
            self.assertEqual(max(p.depth for p in mine), 1000)
            cut = [names for p in mine for names, _ in p.stacks if len(names) == 1000]
            self.assertTrue(cut)
            self.assertEqual({names[-1] for names in cut},
                             {"[truncated: deeper than 1000 frames]"})
            self.assertTrue(any("Recursion.burn" in names for names in cut), "the leaf stays")
        self.assert_no_errors()

    def test_more_stacks_than_servers_take_become_several_profiles(self):
        daemon = self.watch("--push-interval", "60s", "-F", 997, "--push",
                            self.server.url("pyroscope"), "--push", self.server.url("otlp"))
        self.host_jvm("Paths")
        processes.wait_until(lambda: self.counters(daemon)["profiles_split"] > 0,
                             "a period has too many stacks", timeout=200)
        counters = self.settled(daemon)
        self.assert_all_accounted_for(counters)
        self.assertEqual(self.server.total(), sum(counters["samples_made"].values()))
        pieces = {}
        for profile in self.server.profiles:
            pieces.setdefault((profile.start_ns, "__name__" in profile.labels), []).append(
                {tuple(names) for names, _ in profile.stacks})
        for protocol in (False, True):
            most = max((found for at, found in pieces.items() if at[1] == protocol), key=len)
            self.assertGreater(sum(map(len, most)), 16000)
        self.assert_no_errors()

    def test_rules_choose_and_rename(self):
        rules = self.directory / "rules.yaml"
        rules.write_text("""relabel_configs:
- source_labels: [__meta_fgcollect_title]
  regex: Primes
  action: drop
- source_labels: [__meta_fgcollect_label_team, service_name]
  regex: (.+);(.+)
  target_label: service_name
  replacement: $1/$2
- regex: node
  action: labeldrop
""")
        daemon = self.watch_push("--push-relabel", rules)
        self.host_jvm("Primes")
        self.host_jvm("KnownShare", env={"OTEL_RESOURCE_ATTRIBUTES": "team=core"})
        self.wait_for_count(daemon, "profiles_sent", 1)
        processes.wait_until(lambda: self.counters(daemon)["series_unwanted"] > 0, "one is dropped")
        self.assertEqual({p.labels["service_name"] for p in self.server.profiles},
                         {"core/KnownShare"})
        self.assertFalse(any("node" in p.labels for p in self.server.profiles))
        self.assert_no_errors()

    def test_each_pool_of_threads_has_a_series_if_asked_for(self):
        store = self.directory / "store"
        daemon = self.watch_push("--push-threads", "--store", store, protocol="otlp pyroscope")
        jvm = self.host_jvm("Threads", "20", env={"OTEL_SERVICE_NAME": "pools"})
        self.wait_for_count(daemon, "samples_sent", 1000)
        daemon.stop()
        self.assert_no_errors()
        stored = self.stored(store, jvm.pid)["cpu"]
        for service, thread in (("service_name", "thread"), ("service.name", "thread.name")):
            of_pools = {}
            for profile in self.server.profiles:
                if profile.labels.get(service) == "pools":
                    of_pools.setdefault(profile.labels[thread], []).append(profile)
            totals = {pool: sum(p.total("samples") for p in found)
                      for pool, found in of_pools.items()}
            self.assertEqual(sum(totals.values()), stored)
            self.assertGreater(totals["worker-*"], 0.5 * stored, totals)
            self.assertFalse({"worker-000", "worker-019"} & set(totals), totals)
            elsewhere = sum(p.with_frame("Threads$Worker.run") for pool, found in of_pools.items()
                            if pool != "worker-*" for p in found)
            self.assertLess(elsewhere, 0.01 * stored, totals)

    def test_a_clock_that_differs_is_said_once(self):
        self.server.clock_ahead = 3600
        daemon = self.watch_push()
        self.host_jvm("KnownShare")
        self.wait_for_count(daemon, "profiles_sent", 2)
        self.assertEqual(daemon.text.count("s ahead of this host's"), 1, daemon.text)
        self.assertAlmostEqual(sum(self.counters(daemon)["clock_skew_sec"].values()), 3600, delta=5)

    def test_wrong_options_are_refused(self):
        path = self.directory / "push.yaml"
        path.write_text("targets:\n- url: otlp+http://h\n  bearer_token: secret\n")
        for args, text in ((("--push", "http://h"), "is needed in front"),
                           (("--push", "otlp+http://u:p@h"), "belong into files"),
                           (("--push-label", "a=b"), "goes with --push URL"),
                           (("--push-config", path), "push.yaml:3: bearer_token: no such key"),
                           (("--push-interval", "5s"), "from 10s to 60s")):
            finished = collector.fgcollect("--watch", *args, "--socket", self.place.socket)
            self.assert_fails(finished, 2, text)
