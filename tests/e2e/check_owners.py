# SPDX-License-Identifier: Apache-2.0
"""What a killed test has left is ended by the next test, and what a living test uses is not."""

import os
import subprocess
import sys
import unittest
import uuid

from harness import owners, processes

# As a test that starts a program which outlives it: that is in a session of its own.
TEST = """
import os, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from harness import owners
os.environ[owners.VARIABLE] = owners.own_name()
program = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL)
print(program.pid, owners.own_name(), flush=True)
time.sleep(1000)
"""


class FakeEngine:
    """Docker with containers {ID: the name of the owner}."""

    def __init__(self, containers):
        self.containers, self.state = containers, {"token": "none"}

    def docker(self, *args, check=True):
        del check
        if args[0] == "rm":
            for identity in args[2:]:
                del self.containers[identity]
        rows = "".join(f"{identity} {name}\n" for identity, name in self.containers.items())
        return processes.Finished(args, 0, rows, "", 0)


class Owners(unittest.TestCase):
    def setUp(self):
        self.token = uuid.uuid4().hex
        self.test = subprocess.Popen([sys.executable, "-B", "-c", TEST, os.path.dirname(__file__)],
                                     stdout=subprocess.PIPE, text=True,
                                     env={**os.environ, processes.TOKEN_NAME: self.token})
        self.addCleanup(self.kill)
        pid, self.name = self.test.stdout.readline().split()
        self.program = int(pid)
        self.addCleanup(self.end_program)

    def kill(self):
        self.test.kill()
        self.test.wait()
        self.test.stdout.close()

    def end_program(self):
        if self.program in processes.marked_processes(self.token):
            os.kill(self.program, 9)

    def test_a_program_is_killed_when_its_test_has_ended(self):
        self.assertEqual(owners.end_processes(self.token), [])
        self.assertFalse(owners.has_ended(self.name))
        self.test.kill()    # and nobody waits for it: a zombie has ended too
        processes.wait_until(lambda: processes.has_ended(self.test.pid), "the test is killed")
        self.assertEqual(owners.end_processes("of another run"), [])
        self.assertEqual(owners.end_processes(self.token), [self.program])

    def test_a_container_is_removed_when_its_test_has_ended(self):
        engine = FakeEngine({"a": self.name, "b": owners.own_name(), "c": self.name})
        self.assertEqual(owners.end_containers(engine), [])
        self.test.kill()
        processes.wait_until(lambda: processes.has_ended(self.test.pid), "the test is killed")
        self.assertEqual(owners.end_containers(engine), ["a", "c"])
        self.assertEqual(list(engine.containers), ["b"])

    def test_a_later_process_of_the_same_pid_is_another(self):
        pid, _, began = owners.own_name().partition(".")
        self.assertTrue(owners.has_ended(f"{pid}.{int(began) - 1}"))


unittest.main()
