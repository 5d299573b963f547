# SPDX-License-Identifier: Apache-2.0
"""On the loop nothing of another process is asked for but what answers while the process hangs.

A process may hang in execve(2), and a file system may not answer; collector/base/process_stat.h says
what answers all the same. Whatever else is asked of processes is in the files below, each with the
thread or process that waits for it.
"""

import re
import unittest

import structure

# Of /proc/<pid>; tests/e2e/test_attacks.py holds the kernel to it.
ANSWERS = {"", "status", "statm", "cgroup", "comm", "uid_map", "mountinfo", "timens_offsets", "task",
           "task/%d/status", "task/%d/comm"}
PROC = re.compile(r'"/proc/%d/?([^"]*)"')
DOORS = re.compile(r"\b(root_file_open_root|root_file_open|root_file_open_at|root_file_open_regular|"
                   r"root_file_read|root_file_hand|reach_call|reach_hand|fstatat|process_stat_read_\w+|connect|dial_process|"
                   r"mount_namespace_read|mount_namespace_is_other|process_vm_readv|fstatfs|"
                   r"module_file_open|pidfd_getfd)\(|\b(SYS_perf_event_open)\b|\"(maps|root|exe)\"")

GUARDED = "in a guarded call"       # the file makes the call itself
WAITS = "on a thread, or in a process, of its own"
START = "of itself or of PID 1, before the loop begins"
OWN = "of this program's own socket, in a directory that others may not write to"
ALONE = "in a command that ends by itself"
MAY_WAIT = {
    "base/process_stat.c": GUARDED,
    "base/reach.c": WAITS,              # which makes the calls
    "base/root_file.c": WAITS,          # base/reach.h
    "cli/command_watch.c": START,
    "container/cgroup_tree.c": START,
    "container/container_names.c": START,
    "container/engines.c": WAITS,       # the reader of names
    "container/host_files.c": WAITS,    # the reader of names
    "container/jar_parser.c": GUARDED,
    "draw/graph_dir.c": WAITS,          # in its own directory; who draws
    "elf/debug_paths.c": WAITS,         # who loads tables
    "files/parser_file.c": WAITS,       # who loads tables
    "files/table_loader.c": WAITS,
    "files/module_file.c": GUARDED,     # its callers: files/opening.c, symbolize/lines_process.c
    "files/file_scope.c": GUARDED,      # its caller: files/opening.c
    "files/opening.c": GUARDED,
    "guard/mount_namespace.c": WAITS,   # its callers: guard/peers.c in guarded calls
    "guard/peers.c": GUARDED,
    "guard/reader.c": WAITS,
    "inspect/agent_holder.c": ALONE,
    "inspect/doctor_host.c": ALONE,
    "inspect/doctor_jvms.c": ALONE,
    "inspect/doctor_unconnected.c": ALONE,
    "inspect/jvm_release.c": ALONE,
    "intake/announcement.c": GUARDED,
    "intake/dial.c": GUARDED,
    "intake/listen.c": START,
    "loop/engine.c": START,
    "foreign/foreign_file.c": GUARDED,     # its caller: foreign/foreign_reader.c
    "foreign/foreign_reader.c": GUARDED,
    "maps/perf_map.c": GUARDED,
    "memory/page_map.c": GUARDED,
    "memory/space_reader.c": GUARDED,
    "process/start_class.c": GUARDED,
    "publish/publish_listener.c": OWN,
    "sample/sampler.c": WAITS,          # a task; of one process only without rights
    "sample/uprobe.c": GUARDED,         # its caller: probes/probe_box.c
    "sample/uprobe_line.c": WAITS,      # a task
    "serve/control_client.c": ALONE,
    "store/store_adopt.c": WAITS,       # in its own directory; who writes to the store
    "symbolize/lines_process.c": WAITS,
    "vm/program_texts.c": GUARDED,      # its caller: outside/outside_reader.c
    "wall/thread_files.c": WAITS,       # the clock of threads
}
CALLERS = {"files/module_file.c", "files/file_scope.c", "foreign/foreign_file.c",
           "sample/uprobe.c", "vm/program_texts.c"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def asked_in(text):
    """What a source asks of processes that may have to be waited for."""
    text = without_comments(text)
    return [path for path in PROC.findall(text) if path not in ANSWERS] + \
        [next(filter(None, found)) for found in DOORS.findall(text)]


def askers():
    for path in structure.sources("collector"):
        name = path.relative_to(structure.SOURCE / "collector").as_posix()
        if path.suffix == ".c" and "/bpf/" not in name:
            asked = asked_in(path.read_text())
            if asked:
                yield name, asked, path.read_text()


class Loop(unittest.TestCase):
    def test_what_may_have_to_be_waited_for_is_where_somebody_may_wait(self):
        for name, asked, _ in askers():
            with self.subTest(name):
                self.assertIn(name, MAY_WAIT, asked)

    def test_each_place_still_asks(self):
        self.assertEqual(set(MAY_WAIT) - {name for name, _, _ in askers()}, set())

    def test_a_guarded_call_is_made_in_its_file(self):
        for name, _, text in askers():
            if MAY_WAIT.get(name) == GUARDED and name not in CALLERS:
                with self.subTest(name):
                    self.assertRegex(text, r"\bguarded_(run|leave)\(")

    def test_what_is_asked_is_found(self):
        self.assertEqual(asked_in('snprintf(p, n, "/proc/%d/exe", pid);'), ["exe"])
        self.assertEqual(asked_in('snprintf(p, n, "/proc/%d/status", pid); /* "/proc/%d/exe" */'), [])
        self.assertEqual(asked_in("err = root_file_open_root(pid);"), ["root_file_open_root"])
        self.assertEqual(asked_in('openat(fd, "maps", O_RDONLY)'), ["maps"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
