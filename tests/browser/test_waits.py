# SPDX-License-Identifier: Apache-2.0
"""Threads that wait, in the page: their states, idle ones, and that the page and the collector agree.

usage: test_waits.py FOLD_TO_HTML [unittest's arguments]
"""

import os
import pathlib
import random
import re
import subprocess
import unittest

from page_case import PageCase, make_page

COLLECTOR = os.environ["FG_COLLECTOR"]
IDLE_FRAMES = pathlib.Path(__file__).resolve().parent.parent.parent / "collector" / "profile" / "idle_frames.c"
PERIOD_US = 50000
START = ["clone3", "start_thread", "thread_native_entry(Thread*)", "Thread::call_run()"]
JAVA = ["java/lang/Thread.run_[j]"]
POOL = [*JAVA, "java/util/concurrent/ThreadPoolExecutor.runWorker_[j]"]
PARK = ["java/util/concurrent/locks/LockSupport.park_[j]", "Unsafe_Park", "Parker::park(bool, long)",
        "futex_wait_[k]", "[blocked: futex]_[w]"]
TASK = [*POOL, "org/app/OrderService.handle_[j]"]
STACKS = {
    "idle": [*POOL, "java/util/concurrent/ThreadPoolExecutor.getTask_[j]",
             "java/util/concurrent/LinkedBlockingQueue.take_[j]", *PARK],
    "query": [*TASK, "org/app/OrderStore.find_[j]", "java/net/SocketInputStream.read_[j]", "read",
              "tcp_recvmsg_[k]", "[blocked: read]_[w]"],
    "lock": [*TASK, "org/app/Cart.total_[j]", *PARK],
    "price": [*TASK, "org/app/Price.round_[j]"],
    "queue": [*TASK, "org/app/Price.round_[j]", "[runnable]_[w]"],
    "gc idle": [*START, "WorkerThread::run", "PosixSemaphore::wait()", "futex_wait_[k]", "[blocked: futex]_[w]"],
    "gc": [*START, "WorkerThread::run", "G1EvacuateRegionsTask::work(unsigned int)"],
    "gc waits": [*START, "WorkerThread::run", "TaskTerminator::offer_termination()", "futex_wait_[k]",
                 "[blocked: futex]_[w]"],
}
SORT_OF = {"idle": "idle", "gc idle": "idle", "query": "blocked", "lock": "blocked", "gc waits": "blocked",
           "price": "running", "gc": "running", "queue": "runnable"}


def make_looks(seed=1):
    """(ms, tid, thread, name of its stack), 20 a second of each thread for 6 s"""
    pick, looks = random.Random(seed), []
    busy = ["query"] * 5 + ["lock"] * 2 + ["price"] * 4 + ["queue"]
    for ms in range(0, 6000, 50):
        for worker in range(6):
            is_busy = worker < 2 and pick.random() < 0.6
            looks.append((ms, 1000 + worker, f"http-nio-8080-exec-{worker}",
                          pick.choice(busy) if is_busy else "idle"))
        for worker in range(4):
            what = pick.choice(["gc", "gc waits"]) if 2000 <= ms < 2200 else "gc idle"
            looks.append((ms, 2000 + worker, f"GC Thread#{worker}", what))
    return looks


def text_of(looks):
    return "kind\twall\tmicroseconds\n" + "".join(
        f"{ms}\t100\t{tid}\t{thread}\tshop.jar\tabcdef0123456789\t"
        f"{';'.join(['shop.jar_[#]', *STACKS[what]])} {PERIOD_US}\n" for ms, tid, thread, what in looks)


def patterns():
    """What the collector's list has of idle frames."""
    table = re.search(r"idle_frames\[\] = \{(.*?)NULL", IDLE_FRAMES.read_text(), re.S)[1]
    return re.findall(r'"(.*?)"', table)


def hidden_by_collector(folded):
    """Of folded stacks the count in [idle]."""
    out = subprocess.run([COLLECTOR, "render", "-f", "folded", "--hide-idle"], input=folded.encode(),
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    return sum(int(line.rpartition(" ")[2]) for line in out.splitlines() if ";[idle]_[w]" in line)


class Waits(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.looks = make_looks()
        cls.page = make_page(cls.directory.name, "wall", text_of(cls.looks), "times")

    def sum_of(self, *sorts, test=lambda look: True):
        return PERIOD_US * sum(SORT_OF[look[3]] in sorts and test(look) for look in self.looks)

    def render(self, name, folded, *options):
        page = pathlib.Path(self.directory.name) / f"{name}.html"
        subprocess.run([COLLECTOR, "render", "--kind", "wall", "-o", page, *options],
                       input=folded.encode(), check=True)
        return page

    def test_idle_threads_are_hidden_at_first_and_the_number_is_said(self):
        self.assertEqual(self.total(), self.sum_of("running", "runnable", "blocked"))
        idle, all_of_it = self.sum_of("idle"), PERIOD_US * len(self.looks)
        self.assertEqual(self.text("#sort-idle"),
                         f"idle {idle / 1e6:.1f} s ({100 * idle / all_of_it:.1f}%), hidden")
        self.assertNotIn("hidden", self.text("#sort-blocked"))
        self.assertIn("Parked virtual threads are not among them", self.text(".sorts"))
        self.shoot("waits")
        self.press("#sort-idle")
        self.assertEqual(self.total(), all_of_it)
        self.assertEqual(self.browser.run("location.hash"), "#idle=1")
        self.shoot("waits-idle")

    def test_each_state_can_be_hidden(self):
        for name in ("running", "runnable", "blocked"):
            self.press(f"#sort-{name}")
            others = {"running", "runnable", "blocked"} - {name}
            self.assertEqual(self.total(), self.sum_of(*others))
            self.assertEqual(self.browser.run("location.hash"), f"#{name}=0")
            self.press(f"#sort-{name}")
        self.press("#sort-running")
        self.press("#sort-runnable")
        self.press("#sort-blocked")
        self.assertEqual(self.total(), 0)

    def test_states_go_together_with_time_filters_search_and_tables(self):
        self.browser.run("go({from: 128, to: 144})")     # from 2 s to 2.25 s
        self.choose("pool", "GC Thread#*")
        of_gc = lambda look: look[1] >= 2000 and 2000 <= look[0] < 2250
        self.assertEqual(self.total(), self.sum_of("running", "blocked", test=of_gc))
        self.press("#sort-blocked")
        self.assertEqual(self.total(), self.sum_of("running", test=of_gc))
        self.assertEqual(self.browser.run("app.made.weights.sums[SORTS.indexOf('blocked')]"),
                         self.sum_of("blocked", test=of_gc))
        self.browser.run("go(newState())")
        self.press("#sort-blocked")
        self.search("Price")
        part = self.sum_of("running", "runnable", test=lambda look: look[3] in ("price", "queue"))
        self.assertRegex(self.text("#matched"),
                         f"^{100 * part / self.sum_of('running', 'runnable'):.2f}% of ")
        self.search("")
        self.press("#tab-top")
        names = self.browser.run("[...document.querySelectorAll('tbody .link')].map(l => l.textContent)")
        self.assertIn("org/app/Price.round", names)
        self.assertNotIn("[blocked: read]", names)

    def test_strip_shows_what_is_not_hidden(self):
        busy = "app.strip.counts.reduce((sum, n) => sum + n, 0)"
        self.assertEqual(self.browser.run(busy), self.sum_of("running", "runnable", "blocked"))
        self.press("#sort-idle")
        self.assertEqual(self.browser.run(busy), PERIOD_US * len(self.looks))

    def test_chores_of_the_jvm_are_shares_of_what_ran(self):
        ran = self.sum_of("running")
        gc = self.sum_of("running", test=lambda look: look[3] == "gc")
        self.assertIn(f"collecting garbage{100 * gc / ran:.{1 if gc < 0.1 * ran else 0}f}%", self.text(".quality"))

    def test_java_is_first_and_a_button_shows_the_rest(self):
        names = ("[...app.tree.key].filter((key, i) => i > 0 && app.tree.total[i] > 0)"
                 ".map(key => app.tree.keys[key].name)")
        self.assertNotIn("futex_wait", self.browser.run(names))
        self.press("[data-flag=javaOnly]")
        self.assertNotIn("futex_wait", self.browser.run(names))
        self.assertIn("[waiting: 2 frames]", self.browser.run(names))
        self.assertIn("Unsafe_Park", self.browser.run(names))
        self.assertEqual(self.browser.run("location.hash"), "#javaOnly=0")
        self.press("[data-flag=plumbing]")
        self.assertIn("futex_wait", self.browser.run(names))
        self.assertNotIn("[waiting: 2 frames]", self.browser.run(names))

    def test_functions_are_methods_that_wait_and_not_why(self):
        self.press("#tab-top")
        rows = self.browser.run("Object.fromEntries(functionRows(app.made).map(r => [r.name.name, r.self]))")
        self.assertFalse([name for name in rows if name.startswith("[blocked")], rows)
        reads = PERIOD_US * sum(look[3] == "query" for look in self.looks)
        self.assertEqual(rows["java/net/SocketInputStream.read"], reads)
        self.assertEqual(sum(rows.values()), self.total())

    def test_java_only_keeps_why_threads_wait(self):
        found = self.browser.run(
            "(t => { const all = {}; for (let i = 1; i < t.count; i++) if (t.self[i] > 0) {"
            "const name = i => t.keys[t.key[i]].name;"
            "all[name(t.parent[i]) + ' ' + name(i)] = t.self[i]; } return all; })(app.tree)")
        waits = PERIOD_US * sum(look[3] == "gc waits" for look in self.looks)
        reads = PERIOD_US * sum(look[3] == "query" for look in self.looks)
        self.assertEqual(found["[GC] [blocked: futex]"], waits)
        self.assertEqual(found["java/net/SocketInputStream.read [blocked: read]"], reads)
        self.assertEqual(sum(found.values()), self.total())

    def test_page_and_collector_agree_on_what_is_idle(self):
        names = [pattern.replace("*", "Any") for pattern in patterns()]
        names += [name.replace("/", ".") for name in names] + [name.rpartition("/")[2] for name in names]
        names += [f"{name}(int, long)" for name in names] + [f"{name}X" for name in names] + [f"x{name}" for name in names]
        loops = ["java/util/TimerThread.mainLoop", "WorkerThread::run", "ZDirector::run_thread", "*::run_service"]
        waits = ["java/lang/Object.wait", "java/lang/Object.wait0", "PosixSemaphore::wait()", "Monitor::wait(long)",
                 "task;java/lang/Object.wait", "java/lang/Thread.sleep"]
        stacks = [f"{name};park" for name in names] + [f"{a};{b}" for a in loops for b in waits] + \
            [f"{b};{a}" for a in loops for b in waits]
        for at, stack in enumerate(stacks):
            stacks[at] = f"app_[#];{stack};[blocked: futex]_[w] {1 + at}\n"
        stacks.append("app;a/B.lock;[blocked: futex]_[w];[woken by pool]_[w];unpark_[w];"
                      "java/util/concurrent/ThreadPoolExecutor.getTask_[w] 99999\n")
        folded = "".join(stacks).replace("_[#]", "") + "app;a/Pool.getTask;[runnable]_[w] 7\napp;os::signal_wait 9\n"
        self.browser.open(self.render("agree", folded))
        idle = self.browser.run("app.made.weights.sums[IDLE]")
        self.assertEqual(idle, hidden_by_collector(folded))
        self.assertGreater(idle, 0)
        # What a waker did is not idle.
        self.assertEqual(idle, hidden_by_collector("".join(stacks[:-1]).replace("_[#]", "")))
        self.assertLess(idle, self.browser.run("app.data.all.reduce((sum, n) => sum + n, 0)"))

    def test_page_begins_as_the_command_line_said(self):
        folded = "app;a/Pool.rest_[j];[blocked: futex]_[w] 8000000\napp;a/B.c_[j];[blocked: read]_[w] 4000000\n" \
            "app;a/B.c_[j];[runnable]_[w] 2000000\napp;a/B.c_[j] 1000000\n"
        for options, total in (((), 15), (("--idle-frame", "a/Pool.*"), 7), (("--state", "running,runnable"), 3),
                               (("--idle-frame", "a/Pool.*", "--no-hide-idle"), 15)):
            self.browser.open(self.render("options", folded, *options))
            self.assertEqual(self.total(), total * 1000000, options)
            self.assertEqual(self.browser.run("location.hash"), "")

    def test_page_of_threads_that_run_has_no_switches(self):
        self.browser.open(make_page(self.directory.name, "cpu", "app_[#];a/B.getTask_[j] 3\n"))
        self.assertIsNone(self.browser.run("document.querySelector('.sorts')"))
        self.assertEqual(self.total(), 3)

    def test_comparison_hides_idle_on_both_sides(self):
        pool = "app_[#];java/util/concurrent/ThreadPoolExecutor.getTask_[j];[blocked: futex]_[w]"
        self.browser.open(make_page(self.directory.name, "compared",
                                    f"{pool} 700 900\napp_[#];a/B.c_[j] 50 30\n", "compare"))
        self.assertEqual(self.browser.run("[app.tree.total[0], app.wholeBefore]"), [30, 50])


if __name__ == "__main__":
    unittest.main()
