# SPDX-License-Identifier: Apache-2.0
"""What a page shows first, in Chromium: runs of plumbing as one box, and the hot spot.

usage: test_first_screen.py FOLD_TO_HTML [unittest's arguments]
"""

import tempfile
import unittest

from chromium import Browser
from page_case import PageCase, make_page

CALL = ["org/jruby/runtime/callsite/CachingCallSite.call_[j]",
        "org/jruby/internal/runtime/methods/InterpretedIRMethod.call_[j]",
        "org/jruby/ir/interpreter/InterpreterEngine.interpret_[j]"]
LANGUAGES = {
    "JRuby": [*CALL, "org/jruby/RubyArray$INVOKER$i$0$0$each.call_[i]"],
    "Truffle": ["com/oracle/truffle/runtime/OptimizedCallTarget.callRoot_[j]",
                "com/oracle/truffle/js/nodes/function/JSFunctionCallNode.execute_[i]"],
    "Clojure": ["clojure/lang/RestFn.invoke_[j]", "clojure/lang/AFn.applyToHelper_[1]", "clojure/lang/Var.invoke_[j]"],
    "Groovy": ["org/codehaus/groovy/runtime/callsite/CallSiteArray.defaultCall_[j]",
               "groovy/lang/MetaClassImpl.invokeMethod_[j]"],
    "method handles": ["java/lang/invoke/LambdaForm$DMH.0x0000.invokeStatic_[j]",
                       "java/lang/invoke/Invokers$Holder.invokeExact_MT_[j]", "java/lang/reflect/Method.invoke_[j]"],
}
START = ["clone3", "start_thread", "thread_native_entry_[v]", "Thread::call_run_[v]"]
WAIT = ["Unsafe_Park_[v]", "Parker::park_[v]", "do_syscall_64_[k]", "schedule_[k]", "[blocked: futex]_[w]"]
TREE = ("(t => { const all = {}, path = ['']; for (let i = 1; i < t.count; i++) {"
        "path[i] = (t.parent[i] ? path[t.parent[i]] + ';' : '') + t.keys[t.key[i]].name;"
        "if (t.total[i] > 0) all[path[i]] = [t.self[i], t.total[i]]; } return all; })(app.tree)")


class FirstScreen(unittest.TestCase):
    press, text, middle_of, open_menu_of, search = (PageCase.press, PageCase.text, PageCase.middle_of,
                                                    PageCase.open_menu_of, PageCase.search)

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="fg-page-")
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.directory.cleanup()

    def setUp(self):
        self.browser.events.clear()

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def show(self, *stacks, fragment="", how=()):
        """A page of (frames, count or counts)."""
        text = "".join(f"{';'.join(frames)} {count}\n" for frames, count in stacks)
        page = make_page(self.directory.name, self.id().rpartition(".")[2], text, *how)
        self.browser.open(page, fragment)

    def tree(self):
        return self.browser.run(TREE)

    def says(self, text):
        """What stands below the graph first."""
        self.assertEqual(self.text("#details")[:len(text)], text)

    def table(self):
        self.browser.run("go({tab: 'top'})")
        return self.browser.run("Object.fromEntries(functionRows(app.made).map(r => [r.name.name, [r.self, r.total]]))")

    # plumbing

    def test_36_rows_of_an_interpreter_are_one(self):
        self.show((["app_[#]", "a/Main.run_[j]", *CALL * 12, "org/jruby/RubyArray.each_[j]"], 10))
        self.assertEqual(self.tree(), {
            "app": [0, 10], "app;a/Main.run": [0, 10], "app;a/Main.run;[JRuby: 36 frames]": [0, 10],
            "app;a/Main.run;[JRuby: 36 frames];org/jruby/RubyArray.each": [10, 10]})
        self.press("[data-flag=plumbing]")
        self.assertEqual(self.browser.run("app.graph.levels.length"), 40)
        self.assertEqual(self.browser.run("location.hash"), "#plumbing=0")

    def test_dispatch_of_each_language_is_plumbing(self):
        for name, frames in LANGUAGES.items():
            self.show((["app_[#]", "a/Main.run_[j]", *frames, "a/Main.work_[j]"], 7))
            run = f"app;a/Main.run;[{name}: {len(frames)} frames]"
            self.assertEqual(self.tree(), {"app": [0, 7], "app;a/Main.run": [0, 7], run: [0, 7],
                                           run + ";a/Main.work": [7, 7]}, name)
            self.assertIn(name, self.browser.run("document.querySelector('[data-flag=plumbing]').title"))

    def test_runs_of_several_kinds_are_one(self):
        self.show((["app_[#]", *LANGUAGES["Groovy"], *LANGUAGES["method handles"], "a/Main.work_[j]"], 7))
        self.assertIn("app;[Groovy, method handles: 5 frames];a/Main.work", self.tree())

    def test_what_plumbing_does_itself_is_seen(self):
        self.show((["app_[#]", *CALL], 5), (["app_[#]", *CALL, *CALL[:1]], 2),
                  (["app_[#]", *CALL * 2, "a/Main.work_[j]"], 3))
        run, interpret = "app;[JRuby: 6 frames]", "org/jruby/ir/interpreter/InterpreterEngine.interpret"
        self.assertEqual(self.tree(), {"app": [0, 10], run: [0, 10], f"{run};{interpret}": [5, 5],
                                       run + ";org/jruby/runtime/callsite/CachingCallSite.call": [2, 2],
                                       run + ";a/Main.work": [3, 3]})

    def test_tables_have_functions_and_no_runs(self):
        self.show((["app_[#]", *CALL * 2], 5), (["app_[#]", *CALL, "a/Main.work_[j]"], 3))
        rows = self.table()
        self.assertEqual(rows["org/jruby/ir/interpreter/InterpreterEngine.interpret"], [5, 8])
        self.assertEqual(rows["a/Main.work"], [3, 3])
        self.assertFalse([name for name in rows if "frames]" in name])

    def test_a_frame_alone_keeps_its_name(self):
        self.show((["app_[#]", "a/Main.run_[j]", "java/lang/reflect/Method.invoke_[j]", "a/Main.work_[j]"], 7))
        self.assertIn("app;a/Main.run;java/lang/reflect/Method.invoke;a/Main.work", self.tree())

    def test_labels_are_no_frames(self):
        label = "org.apache.catalina.startup.Bootstrap"
        self.show(([f"{label}_[#]", "org/apache/catalina/A.a_[j]", "a/Main.run_[j]"], 7),
                  (["clone3_[#]", "start_thread_[#]", "work"], 3), fragment="#frameworks=1")
        self.assertEqual(self.tree(), {label: [0, 7], f"{label};org/apache/catalina/A.a": [0, 7],
                                       f"{label};org/apache/catalina/A.a;a/Main.run": [7, 7], "clone3": [0, 3],
                                       "clone3;start_thread": [0, 3], "clone3;start_thread;work": [3, 3]})

    def test_frameworks_and_plumbing_are_runs_together(self):
        spring = [f"org/springframework/F{at}.call_[j]" for at in range(3)]
        self.show((["app_[#]", *spring, *LANGUAGES["method handles"], "a/Main.work_[j]"], 7), fragment="#frameworks=1")
        self.assertIn("app;[method handles, Spring: 6 frames];a/Main.work", self.tree())

    def test_threads_begin_only_at_the_beginning(self):
        self.show((["app_[#]", *START, "WorkerThread::run_[v]", "mark_[v]"], 4),
                  (["app_[#]", "java/lang/Thread.run_[j]", "a/Main.run_[j]", "java/util/concurrent/FutureTask.run_[j]",
                    "java/util/concurrent/Executors$RunnableAdapter.call_[j]", "a/Main.work_[j]"], 3))
        tree = self.tree()
        self.assertIn("app;[thread start: 4 frames];WorkerThread::run;mark", tree)
        self.assertIn("app;java/lang/Thread.run;a/Main.run;java/util/concurrent/FutureTask.run;"
                      "java/util/concurrent/Executors$RunnableAdapter.call;a/Main.work", tree)

    def test_what_lies_under_a_wait_is_plumbing_and_what_ran_is_not(self):
        self.show((["app_[#]", "a/Main.lock_[j]", *WAIT], 4),
                  (["app_[#]", "a/Main.read_[j]", *WAIT], 3), (["app_[#]", "a/Main.read_[j]", *WAIT[:3]], 2),
                  how=())
        tree = self.tree()
        self.assertIn("app;a/Main.lock;[waiting: 4 frames];[blocked: futex]", tree)
        # The system call was also seen to run, so that it has a box.
        self.assertIn("app;a/Main.read;Unsafe_Park;Parker::park;do_syscall_64;schedule;[blocked: futex]", tree)
        self.press("[data-flag=javaOnly]")
        self.assertIn("app;a/Main.lock;[blocked: futex]", self.tree())

    def test_who_is_runnable_stands_beside_the_wait(self):
        self.show((["app_[#]", "a/Main.lock_[j]", *WAIT], 4), (["app_[#]", "a/Main.lock_[j]", *WAIT[:4], "[runnable]_[w]"], 3))
        lock = "app;a/Main.lock"
        self.assertEqual(self.tree(), {"app": [0, 7], lock: [0, 7], f"{lock};[runnable]": [3, 3],
                                       f"{lock};[waiting: 4 frames]": [0, 4],
                                       f"{lock};[waiting: 4 frames];[blocked: futex]": [4, 4]})
        self.show((["app_[#]", "a/Main.lock_[j]", *LANGUAGES["method handles"], *WAIT], 4),
                  (["app_[#]", "a/Main.lock_[j]", *LANGUAGES["method handles"], *WAIT[:4], "[runnable]_[w]"], 3))
        lock += ";[method handles: 3 frames]"
        self.assertEqual([self.tree().get(lock + below) for below in (";[runnable]", ";[waiting: 4 frames]")], [[3, 3], [0, 4]])

    def test_runs_go_together_with_all_other_folding(self):
        stacks = [(["app_[#]", *START, "a/Main.run_[j]", *CALL, "a/Main.run_[1]", *CALL * 2, "a/Main.go_[j]", "memcpy"], 4),
                  (["app_[#]", "a/Main.run_[0]", *CALL], 3)]
        self.show(*stacks)
        own = "app.tree.self.reduce((sum, n) => sum + n, 0)"
        for flags in ("recursion", "javaOnly", "split", "reversed", "frameworks"):
            self.browser.run(f"go({{ {flags}: true }})")
            self.assertEqual(self.browser.run(f"[app.tree.total[0], {own}]"), [7, 7], flags)
            doubled = self.browser.run(
                "(t => { const seen = new Set(); for (let i = 1; i < t.count; i++)"
                "seen.add(t.parent[i] + ' ' + t.key[i]); return t.count - 1 - seen.size; })(app.tree)")
            self.assertEqual(doubled, 0, flags)

    def test_search_finds_what_is_folded(self):
        self.show((["app_[#]", *CALL * 2, "a/Main.work_[j]"], 3), (["app_[#]", "a/Main.work_[j]"], 1))
        self.search("InterpreterEngine")
        self.assertEqual(self.text("#matched"), "75.00% of samples, 1 frame")
        self.assertEqual(self.browser.run("app.graph.matches().map(i => app.tree.keys[app.tree.key[i]].name)"),
                         ["[JRuby: 6 frames]"])

    def test_address_is_of_a_run_however_long(self):
        self.show((["app_[#]", *CALL * 2, "a/Main.work_[j]"], 3), (["app_[#]", "a/Main.work_[j]"], 1))
        zoomed = "app.graph.tree.keys[app.graph.tree.key[app.graph.zoomed]].name"
        self.browser.run("zoomTo(app.graph, app.tree.depth.indexOf(3))")
        self.assertEqual(self.browser.run(zoomed), "a/Main.work")
        fragment, depth = self.browser.run("[location.hash, app.graph.tree.depth[app.graph.zoomed]]")
        self.show((["app_[#]", *CALL * 5, "a/Main.work_[j]"], 3), (["app_[#]", "a/Main.work_[j]"], 1), fragment=fragment)
        self.assertEqual(self.browser.run(f"[{zoomed}, app.graph.tree.depth[app.graph.zoomed]]"), ["a/Main.work", depth])

    def test_comparison_folds_both_sides(self):
        self.show((["app_[#]", *CALL * 2, "a/Main.work_[j]"], "40 10"), (["app_[#]", *CALL], "10 40"), how=("compare",))
        self.assertEqual(self.browser.run("[app.tree.total[0], app.wholeBefore]"), [50, 50])
        self.assertIn("app;[JRuby: 6 frames];a/Main.work", self.tree())

    # the hot spot

    def tall(self, *more, fragment=""):
        deep = ["app_[#]"] + [f"a/Deep.f{at}_[j]" for at in range(120)]
        self.show((deep[:90] + ["a/Hot.spot_[j]"], 50), (deep, 30), *more, fragment=fragment)

    SEEN = ("(g => { const b = g.boxOf(g.hot); return [g.tree.keys[g.tree.key[g.hot]].name,"
            "b.y >= g.host.scrollTop && b.y + ROW <= g.host.scrollTop + g.shown]; })(app.graph)")

    def test_stacks_taller_than_the_window_open_at_the_hot_spot(self):
        self.tall()
        self.assertEqual(self.browser.run(self.SEEN), ["a/Hot.spot", True])
        self.says("Hot spot: a/Hot.spot, total 62.50%, self 62.50% \u2013 all (80")
        self.press("[data-flag=icicle]")
        self.assertEqual(self.browser.run(self.SEEN), ["a/Hot.spot", True])
        # What is zoomed to, and callers first, begin at their base.
        self.browser.run("zoomTo(app.graph, 1)")
        self.assertEqual(self.browser.run("app.graph.hot"), -1)
        self.browser.run("go({zoom: '', reversed: true})")
        self.assertEqual(self.browser.run("app.graph.hot"), -1)

    def test_where_the_user_has_scrolled_to_stays(self):
        self.tall()
        self.browser.run("app.graph.host.scrollTop = 400")
        self.search("Deep")
        self.assertEqual(self.browser.run("app.graph.host.scrollTop"), 400)
        self.browser.run("go({icicle: true})")
        self.assertNotEqual(self.browser.run("app.graph.host.scrollTop"), 400)

    def test_a_key_and_a_button_go_to_the_hot_spot(self):
        picked = "app.graph.picked >= 0 ? app.graph.tree.keys[app.graph.tree.key[app.graph.picked]].name : ''"
        for state in ("app.graph.host.scrollTop = 0", "zoomTo(app.graph, 1)", "go({tab: 'top'})", "go({reversed: true})"):
            self.tall()
            self.browser.run(state)
            self.browser.run("showHot()")
            self.assertEqual(self.browser.run(picked), "a/Hot.spot", state)
            self.assertEqual(self.browser.run(self.SEEN), ["a/Hot.spot", True], state)
        self.tall()
        self.browser.key("h")
        self.assertEqual(self.browser.run(picked), "a/Hot.spot")
        self.tall()
        self.press("#hot")
        self.assertEqual(self.browser.run(picked), "a/Hot.spot")

    def test_a_hot_spot_is_the_programs_own_with_what_it_calls(self):
        self.show((["app_[#]", "a/Main.run_[j]", "a/Shop.search_[j]", "java/util/HashMap.get_[j]", "a/Item.hashCode_[j]"], 20),
                  (["app_[#]", "a/Main.run_[j]", "a/Shop.search_[j]", "java/util/HashMap.get_[j]"], 40),
                  (["app_[#]", "a/Main.run_[j]", "a/Shop.search_[j]", "org/springframework/F.f_[j]", "memcpy"], 25),
                  (["app_[#]", "a/Main.run_[j]", "a/Shop.search_[j]"], 5), (["app_[#]", "a/Main.run_[j]", "do_syscall_64_[k]"], 10))
        self.says("Hot spot: a/Shop.search, total 90.00%, self 5.00% \u2013 widest top: java/util/HashMap.get, self 40.00% \u2013 all (100")

    def test_a_hot_spot_is_one_function_in_all_places(self):
        self.show(*((["app_[#]", f"a/Caller.c{at}_[j]", "a/Shop.search_[1]" if at % 2 else "a/Shop.search_[j]"], 5) for at in range(8)),
                  (["app_[#]", "a/Other.o_[j]"], 20), (["app_[#]", "a/Last.l_[j]", "a/Shop.search_[i]"], 6))
        self.says("Hot spot: a/Shop.search, total 69.70%, self 69.70%")
        self.assertEqual(self.browser.run("(t => t.keys[t.key[t.parent[app.graph.hot]]].name)(app.tree)"), "a/Last.l")
        self.browser.run("go({ split: true })")
        self.says("Hot spot: a/Shop.search, total 69.70%, self 69.70%")

    def test_where_no_function_has_much_the_hot_spot_is_the_end_of_the_trunk(self):
        trunk = ["app_[#]", "a/Main.run_[j]", "java/lang/Thread.run_[j]", "a/Plan.parse_[j]", "java/util/Optional.map_[j]"]
        self.show(*((trunk + [f"a/Step.s{at}_[j]"], 5) for at in range(12)), (trunk[:2] + ["a/Main.rest_[j]"], 5),
                  (["app_[#]", *START, "CompileBroker::compiler_thread_loop_[v]"], 80))
        self.says("[JIT compiler] 55.17%; hot spot: a/Plan.parse, total 41.38%")

    def test_without_a_function_of_its_own_a_program_has_that_of_a_library(self):
        self.show((["app_[#]", "java/lang/Thread.run_[j]", "org/jruby/RubyArray.each_[j]", "java/util/HashMap.get_[j]"], 9),
                  (["app_[#]", "java/lang/Thread.run_[j]", "java/util/HashMap.get_[j]"], 5))
        self.says("Hot spot: org/jruby/RubyArray.each, total 64.29%")
        self.show((["app_[#]", "java/lang/Thread.run_[j]", "java/util/HashMap.get_[j]"], 5))
        self.says("Hot spot: java/util/HashMap.get, total 100.00%")

    def test_a_program_without_java_has_a_hot_spot(self):
        self.show((["shell_[#]", "main", "work", "do_syscall_64_[k]", "copy_user_[k]"], 9),
                  (["shell_[#]", "main", "std::sort(int*, int*)"], 3), (["shell_[#]", "main"], 1))
        self.says("Hot spot: work, total 69.23% \u2013 widest top: copy_user")

    def test_what_the_jvm_does_is_said_beside_the_hot_spot(self):
        compiler = ["app_[#]", *START, "CompileBroker::compiler_thread_loop_[v]", "Compile::Code_Gen_[v]"]
        self.show((compiler, 60), (["app_[#]", "a/Shop.search_[j]"], 39),
                  (["app_[#]", *START, "WorkerThread::run_[v]", "mark_[v]"], 1))
        self.says("[JIT compiler] 60.00%; hot spot: a/Shop.search, total 39.00%, self 39.00%")
        self.browser.run("go({ javaOnly: true })")
        self.says("[JIT compiler] 60.00%; hot spot: a/Shop.search, total 39.00%, self 39.00%")
        self.show((compiler, 60))
        self.says("Widest top: Compile::Code_Gen, self 100.00%")

    def test_stacks_that_the_window_has_room_for_stand_on_its_edge(self):
        self.show((["app_[#]", "a/Hot.spot_[j]"], 50))
        self.assertEqual(self.browser.run("app.graph.host.scrollTop"), 0)
        self.assertEqual(self.text("#details"), "Hot spot: a/Hot.spot, total 100.00%, self 100.00% \u2013 all (50 samples, 100.00%)")

    def test_a_run_or_a_note_is_no_top_while_there_is_another(self):
        self.show((["app_[#]", "[truncated: snapshot ended]_[#]"], 50), (["app_[#]", *CALL, "a/Hot.spot_[j]"], 3),
                  (["app_[#]", *CALL], 40))
        self.says("Hot spot: org/jruby/ir/interpreter/InterpreterEngine.interpret, total 43.01%, self 43.01%")
        self.show((["app_[#]", "[truncated: snapshot ended]_[#]"], 50))
        self.assertIn("Widest top: [truncated: snapshot ended], self 100.00%", self.text("#details"))

    def test_a_top_that_waits_is_the_function_that_waits(self):
        self.show((["app_[#]", "a/Pool.take_[j]", "[blocked: futex]_[w]"], 50))
        self.says("Hot spot: a/Pool.take, total 100.00%, self 100.00% \u2013 most in [blocked: futex], 100.00%")

    # what is written on boxes

    def test_a_wide_box_has_its_share_and_a_narrow_one_has_the_name_alone(self):
        written = ("(() => { const out = []; const pen = { fillRect() {}, fillText: (text, x) => text && out.push([text, Math.round(x)]) };"
                   "const g = app.graph; for (const level of g.levels) level.nodes.forEach((i, at) => level.w[at] >= LABEL_FROM &&"
                   "g.paintLabel(pen, i, { x: level.x[at], y: 0, w: level.w[at], ink: LABEL_INK }));"
                   "return [out, g.width]; })()")
        self.show((["app_[#]", "a/Wide.w_[j]"], 72), (["app_[#]", "a/Next.n_[j]"], 20), (["app_[#]", "a/Slim.s_[j]"], 8))
        out, width = self.browser.run(written)
        texts = [text for text, x in out]
        self.assertEqual(sorted(text for text in texts if "%" in text), ["100.0%", "100.0%", "20.0%", "72.0%"])
        self.assertIn("a/Slim.s", texts)
        edges = [x for text, x in out if text == "100.0%"]
        self.assertEqual(edges, [round(width - 5)] * 2)
        self.show((["app_[#]", "a/Wide.w_[j]"], "100 200"), (["app_[#]", "a/Next.n_[j]"], "100 100"), how=("compare",))
        shares = [text for text, x in self.browser.run(written)[0] if "%" in text]
        self.assertEqual(sorted(shares), ["+16.67%", "\u221216.67%"])

    def test_callers_have_the_room_that_callees_leave(self):
        self.tall(fragment="#tab=sandwich&focus=a/Hot.spot")
        callers, callees, pane = self.browser.run(
            "[app.callers.host, app.callees.host, page.panes.sandwich].map(host => host.clientHeight)")
        self.assertEqual(callees, self.browser.run("ROW"))
        self.assertGreater(callers, 0.8 * pane)
        self.browser.run("go({focus: 'a/Deep.f0'})")       # both are taller than a half, or have it
        callers, callees = self.browser.run("[app.callers.host, app.callees.host].map(host => host.clientHeight)")
        self.assertGreater(callees, 0.8 * pane)
        self.assertEqual(callers, self.browser.run("2 * ROW"))


if __name__ == "__main__":
    unittest.main()
